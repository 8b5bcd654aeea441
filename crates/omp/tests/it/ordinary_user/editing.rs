//! Commands of the user that need a terminal, in a real tmux: an editor, and a prompt for a password.

use omp_testkit::{Script, Turn};

use super::HOME;
use super::pane::Pane;
use super::person::{Person, Who};

/// Stands in the title of a command's terminal.
const OPEN: &str = "esc esc ends it";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_editor_and_a_password_in_tmux() {
    let person = Person::new(Who::Ordinary, HOME, Script::new([Turn::text("Done.")])).await.unwrap();
    tokio::task::block_in_place(|| {
        let pane = Pane::start(&person);
        pane.types("omp --model mock/mock-model\r");
        let idle = |screen: &str| !screen.contains(OPEN) && screen.contains("%/200k");
        pane.until("the prompt", idle);
        pane.types("!vim -Nu NONE -i NONE ~/note.txt\r");
        pane.until("vim", |screen| screen.contains(OPEN) && screen.contains('~'));
        pane.types("ihello from tmux");
        pane.until("what was typed", |screen| screen.contains("hello from tmux"));
        pane.types("\x1b:wq\r");
        pane.until("the prompt", idle);
        pane.types("!read -s -p 'Password: ' word; echo ${#word}-letters\r");
        pane.until("the question", |screen| screen.contains(OPEN) && screen.contains("Password:"));
        pane.types("hunter2\r");
        pane.until("the answer", |screen| idle(screen) && screen.contains("7-letters"));
        pane.types("go\r");
        pane.until("the model", |screen| screen.contains("Done."));
        pane.types("/exit\r");
        pane.until("the end", |screen| screen.contains("omp --resume"));
        pane.command("echo back", "back");
    });
    assert_eq!(person.shell("cat ~/note.txt"), "hello from tmux\n");
    let found = person.shell("grep -rl hunter2 ~/.omp ~/project || true");
    assert_eq!(found, "", "the password was written");
}

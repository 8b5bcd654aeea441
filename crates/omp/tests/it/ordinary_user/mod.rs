//! The binary on realistic machines: no root, a used home folder, an ssh-agent, a session bus, tmux, other shells, users
//! without a name, no user namespaces. In each of them the demo, a session with every tool and `omp doctor` must succeed.

mod always;
mod editing;
mod every_tool;
mod pane;
pub mod person;
mod routine;

use pane::Pane;
use person::{Person, Who};

const HOME: &str = "omp-test-";

/// Disables user namespaces for the following command only: the limit belongs to the namespace that is entered here, and the
/// command has no rights to raise it.
pub const NO_NAMESPACES: &str = "echo 0 > /proc/sys/user/max_user_namespaces && \
    exec setpriv --ambient-caps -all --inh-caps -all --bounding-set -all \"$@\"";

async fn person(who: Who) -> Option<Person> {
    Person::new(who, HOME, every_tool::script()).await
}

/// Runs the demo, a session with every tool, and doctor.
async fn all_green(person: &Person) {
    let demo = person.omp(&["demo"]).run().await.exits(0);
    assert!(demo.stdout.contains("All four tests pass"), "{demo}");
    let session = person.with_model(&["-p", "go"]).run().await.exits(0);
    assert_eq!(session.stdout, format!("{}\n", every_tool::CLOSING), "{session}");
    every_tool::all_worked(person);
    person.omp(&["doctor"]).run().await.exits(0);
}

#[tokio::test]
async fn with_an_ssh_agent_and_a_bus() {
    let person = person(Who::Ordinary).await.unwrap();
    all_green(&person).await;
}

#[tokio::test]
async fn with_a_tmpdir_of_ones_own() {
    let person = person(Who::Ordinary).await.unwrap();
    let tmp = person.scene.workspace.tmp().display().to_string();
    all_green(&person.set("TMPDIR", &tmp)).await;
}

#[tokio::test]
async fn with_nothing_but_a_home_and_a_path() {
    let mut person = person(Who::Ordinary).await.unwrap();
    person.env.retain(|name, _| ["HOME", "PATH"].contains(&name.as_str()) || name.contains("BASE_URL"));
    person.env.insert("PI_NO_TITLE".into(), "1".into());
    all_green(&person).await;
}

#[tokio::test]
async fn with_zsh_as_login_shell() {
    let person = person(Who::Ordinary).await.unwrap();
    all_green(&person.set("SHELL", "/bin/zsh")).await;
}

#[tokio::test]
async fn with_fish_as_login_shell() {
    let person = person(Who::Ordinary).await.unwrap();
    all_green(&person.set("SHELL", "/usr/bin/fish")).await;
}

#[tokio::test]
async fn in_a_home_with_spaces() {
    let person = Person::new(Who::Ordinary, "omp test of some one ", every_tool::script()).await.unwrap();
    all_green(&person).await;
}

#[tokio::test]
async fn as_a_user_without_a_passwd_entry() {
    let Some(person) = person(Who::Unnamed).await else { return };
    all_green(&person).await;
}

#[tokio::test]
async fn as_root() {
    let Some(person) = person(Who::Root).await else { return };
    all_green(&person).await;
}

#[tokio::test]
async fn without_user_namespaces() {
    let person = person(Who::Ordinary).await.unwrap();
    let words = ["unshare", "--user", "--map-current-user", "--keep-caps", "sh", "-c", NO_NAMESPACES, "sh"];
    let person = person.behind(&words);
    // Checks that user namespaces are disabled as intended.
    let tried = person.command(words[0]).args(&words[1..]).args(["unshare", "--user", "true"]).output().unwrap();
    assert!(!tried.status.success());
    all_green(&person).await;
}

#[tokio::test]
async fn in_a_nested_user_namespace() {
    let person = person(Who::Ordinary).await.unwrap();
    all_green(&person.behind(&["unshare", "--user", "--map-current-user"])).await;
}

#[tokio::test]
async fn as_root_of_a_nested_user_namespace() {
    let person = person(Who::Ordinary).await.unwrap();
    all_green(&person.behind(&["unshare", "--user", "--map-root-user"])).await;
}

/// Types keys in a real tmux, at the prompt of a real shell.
async fn all_green_in_tmux(shell: &str) {
    let person = Person::new(Who::Ordinary, HOME, every_tool::script_with_question()).await.unwrap();
    let person = person.set("SHELL", shell);
    tokio::task::block_in_place(|| {
        let pane = Pane::start(&person);
        pane.command("omp demo", "All four tests pass");
        pane.command("omp doctor", "");
        pane.types("omp --model mock/mock-model\r");
        pane.until("the prompt", |screen| screen.contains("%/200k"));
        pane.types("go\r");
        pane.until("the question", |screen| screen.contains("enter choose"));
        pane.answers("\r", "the last answer", |screen| screen.contains(every_tool::CLOSING));
        pane.types("/exit\r");
        pane.until("the end", |screen| screen.contains("Resume with: omp --resume"));
        pane.command("echo back", "back");
    });
    every_tool::all_worked(&person);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_tmux() {
    all_green_in_tmux("/bin/bash").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_tmux_with_zsh() {
    all_green_in_tmux("/bin/zsh").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_tmux_with_fish() {
    all_green_in_tmux("/usr/bin/fish").await;
}

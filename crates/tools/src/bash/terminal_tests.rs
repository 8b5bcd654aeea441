//! Tests of commands in a terminal, with a screen that answers what it is shown.
#![cfg(unix)]

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};

use omp_agent::ToolOutput;
use omp_types::{CommandScreen, ScreenEvent, ScreenFuture, ScreenSize};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::*;

type Answers = VecDeque<(&'static str, ScreenEvent)>;

/// A screen of 40 rows and 120 columns. Each answer is given once its text was shown.
#[derive(Default)]
pub(super) struct FakeScreens {
    answers: Mutex<Answers>,
}

struct FakeScreen {
    answers: Answers,
    shown: String,
    changed: Notify,
}

impl FakeScreens {
    pub(super) fn quiet() -> Arc<dyn CommandScreens> {
        Arc::new(Self::default())
    }

    fn answering(answers: &[(&'static str, ScreenEvent)]) -> Arc<dyn CommandScreens> {
        Arc::new(Self { answers: Mutex::new(answers.iter().cloned().collect()) })
    }
}

impl CommandScreens for FakeScreens {
    fn open<'a>(&'a self, _command: &'a str) -> ScreenFuture<'a, Box<dyn CommandScreen>> {
        Box::pin(async {
            let answers = std::mem::take(&mut *self.answers.lock().unwrap());
            Box::new(FakeScreen { answers, shown: String::new(), changed: Notify::new() }) as Box<dyn CommandScreen>
        })
    }
}

impl CommandScreen for FakeScreen {
    fn size(&self) -> ScreenSize {
        ScreenSize { rows: 40, columns: 120 }
    }

    fn show(&mut self, output: &[u8]) -> String {
        let text = String::from_utf8_lossy(output).into_owned();
        self.shown += &text;
        self.changed.notify_one();
        text
    }

    fn next(&mut self) -> ScreenFuture<'_, ScreenEvent> {
        Box::pin(async {
            loop {
                if self.answers.front().is_some_and(|(cue, _)| self.shown.contains(cue)) {
                    return self.answers.pop_front().unwrap().1;
                }
                self.changed.notified().await;
            }
        })
    }

    fn close(self: Box<Self>) -> String {
        String::new()
    }
}

pub(super) fn with_screen(parts: BashParts) -> BashParts {
    BashParts { screens: Some(FakeScreens::quiet()), ..parts }
}

fn parts_in(folder: &Path, variables: &[(&str, &str)]) -> BashParts {
    let base = [("PATH", "/usr/local/bin:/usr/bin:/bin")];
    BashParts::uncontained(folder, base.into_iter().chain(variables.iter().copied()).collect())
}

fn text_of(output: &ToolOutput) -> String {
    omp_types::text_of(&output.content)
}

fn typed(keys: &str) -> ScreenEvent {
    ScreenEvent::Input(keys.as_bytes().to_vec())
}

#[tokio::test]
async fn a_terminal_only_where_the_user_has_a_screen() {
    let folder = tempfile::tempdir().unwrap();
    for (variables, screen, no_pty, pty, offered, expect) in [
        (&[][..], true, false, true, true, "terminal\n40 120\n"),
        (&[("PI_NO_PTY", "0")], true, false, true, true, "terminal\n40 120\n"),
        (&[], true, false, false, true, "none\n"),
        (&[], false, false, true, false, "none\n"),
        (&[], true, true, true, false, "none\n"),
        (&[("PI_NO_PTY", "1")], true, false, true, false, "none\n"),
    ] {
        let script = "if [ -t 1 ]; then printf '\\033[1mterminal\\033[0m\\r\\n'; stty size; else echo none; fi";
        let screens = screen.then(FakeScreens::quiet);
        let tool = Bash::new(BashParts { screens, no_pty, ..parts_in(folder.path(), variables) }).into_tool();
        let cx = ToolCx::detached("call");
        let output = crate::scratch::run(&*tool, json!({"command": script, "pty": pty}), &cx).await.unwrap();
        let (schema, text) = (tool.parameters()["properties"]["pty"].clone(), text_of(&output));
        assert_eq!(schema["type"] == "boolean", offered, "{variables:?} {screen} {no_pty}");
        assert!(text.starts_with(expect) && text.contains("\nWall time: "), "{variables:?} {screen} {no_pty}: {text}");
    }
}

#[tokio::test]
async fn a_terminal_changes_neither_state_nor_ends() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    let options = BashOptions { background_after: Some(Duration::from_millis(1)), ..BashOptions::default() };
    let parts = with_screen(BashParts { options, ..parts_in(folder.path(), &[("EDITOR", "nano")]) });
    let bash = Bash::new(parts);
    let (shell, tool) = (bash.user_shell(), bash.into_tool());
    let cx = ToolCx::detached("call");
    let run = async |arguments: Value| {
        let output = crate::scratch::run(&*tool, arguments, &cx).await.unwrap();
        (output.is_error, text_of(&output))
    };
    let in_terminal = async |command: &str| run(json!({"command": command, "pty": true, "timeout": 60})).await;
    assert!(in_terminal("cd sub; export MINE=1").await.1.contains("The shell is now in "));
    let (failed, text) = in_terminal("basename \"$PWD\"; echo $TERM $EDITOR $PAGER $CI $MINE; exit 3").await;
    assert!(failed && text.starts_with("sub\nxterm-256color nano 1\n"), "programs may ask here: {text}");
    assert!(text.ends_with("Command exited with code 3"), "{text}");
    let after = shell.run("echo $TERM $EDITOR $PAGER $CI $MINE", &cx.cancel, &|_| {}).await.unwrap();
    assert_eq!(after.output, "dumb true cat true 1\n", "but not afterwards");
    let deaf = "trap '' TERM HUP; echo deaf; while :; do sleep 0.01; done";
    let (failed, text) = run(json!({"command": deaf, "pty": true, "timeout": 3})).await;
    assert!(failed && text.starts_with("deaf\n") && text.ends_with("Command timed out after 3 seconds"), "{text}");
}

#[tokio::test]
async fn keys_and_sizes_reach_the_command_and_the_user_can_leave() {
    let folder = tempfile::tempdir().unwrap();
    let script = "stty -echo; trap 'stty size' WINCH; printf 'name? '; read -r name; echo \"hello $name\"; \
                  until [ \"$s\" = '12 34' ]; do s=$(stty size); done; echo resized; sleep 300";
    let size = ScreenSize { rows: 12, columns: 34 };
    let answers =
        [("name? ", typed("omp\r")), ("hello omp", ScreenEvent::Resized(size)), ("resized", ScreenEvent::HandedBack)];
    let parts = BashParts { screens: Some(FakeScreens::answering(&answers)), ..parts_in(folder.path(), &[]) };
    let (tool, cx) = (Bash::new(parts).into_tool(), ToolCx::detached("call"));
    let output = crate::scratch::run(&*tool, json!({"command": script, "pty": true}), &cx).await.unwrap();
    let text = text_of(&output);
    assert!(output.is_error && text.starts_with("name? hello omp\n") && text.contains("resized\n"), "{text}");
    assert!(text.contains("\n\nThe user ended the command after "), "{text}");
    assert_eq!(output.details.unwrap()["aborted"], true);
}

#[tokio::test]
async fn input_that_nobody_reads_does_not_stop_the_output() {
    let folder = tempfile::tempdir().unwrap();
    let much = ScreenEvent::Input(vec![b'x'; 300_000]);
    let answers = [("begun", much.clone()), ("begun", much), ("99999", ScreenEvent::HandedBack)];
    let parts = BashParts { screens: Some(FakeScreens::answering(&answers)), ..parts_in(folder.path(), &[]) };
    let (tool, cx) = (Bash::new(parts).into_tool(), ToolCx::detached("call"));
    let script = "stty raw -echo; echo begun; seq 100000; sleep 300";
    let output = crate::scratch::run(&*tool, json!({"command": script, "pty": true}), &cx).await.unwrap();
    assert!(text_of(&output).contains("The user ended the command"), "{}", text_of(&output));
}

#[tokio::test]
async fn the_users_commands_get_a_terminal_when_they_need_one() {
    let folder = tempfile::tempdir().unwrap();
    let cancel = CancellationToken::new();
    let run =
        async |parts: BashParts, command: &str| Bash::new(parts).user_shell().run(command, &cancel, &|_| {}).await;
    let parts = |screen: bool| BashParts {
        screens: screen.then(FakeScreens::quiet),
        ..parts_in(folder.path(), &[("SHELL", "/bin/bash")])
    };
    // `man` is a function here: it is known by its name, whatever it is.
    let man = "man() { [ -t 0 ] && echo terminal || echo none; }; man";
    let tty = "[ -t 0 ] && echo terminal || echo none";
    for (command, screen, no_pty, expect) in [
        (man, true, false, Some("terminal\n")),
        (tty, true, false, Some("none\n")),
        (&*format!("pty {tty}"), true, false, Some("terminal\n")),
        (man, false, false, Some("none\n")),
        (tty, true, true, Some("none\n")),
        (man, true, true, None),
        ("pty true", true, true, None),
    ] {
        let ran = run(BashParts { no_pty, ..parts(screen) }, command).await;
        match (ran, expect) {
            (Ok(ran), Some(expect)) => assert_eq!(ran.output.replace('\r', ""), expect, "{command}"),
            (Err(problem), None) => {
                let problem = problem.to_string();
                assert!(
                    problem.contains("needs a terminal, which `--no-pty`") && problem.contains("\nhint: "),
                    "{problem}"
                );
            }
            (ran, _) => panic!("{command}: {ran:?}"),
        }
    }
    let failed = run(parts(true), "echo 'x: a terminal is required'; exit 1").await.unwrap();
    assert!(failed.notices.iter().any(|notice| notice.starts_with("hint: `!pty echo ")), "{failed:?}");
}

//! Tests commands in an editor's terminal, simulated by real processes with the editor's environment.
#![cfg(unix)]

use std::path::Path;
use std::sync::Mutex;

use omp_exec::{Child, ChildEnv, Spawn};
use omp_types::{Access, AccessMap, EditorCommand, EditorExit, EditorFuture, EditorOutput, EditorTerminal};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::*;

/// The requests sent to the editor.
type Log = Arc<Mutex<Vec<String>>>;

struct FakeEditor {
    log: Log,
    refuses: bool,
    keeps: usize,
}

struct FakeTerminal {
    log: Log,
    keeps: usize,
    output: Arc<Mutex<String>>,
    exit: watch::Receiver<Option<EditorExit>>,
    kill: CancellationToken,
}

impl EditorTerminals for FakeEditor {
    fn start<'a>(
        &'a self,
        call: &'a str,
        command: EditorCommand,
    ) -> EditorFuture<'a, Result<Arc<dyn EditorTerminal>, String>> {
        self.log.lock().unwrap().push(format!("start {call}"));
        Box::pin(async move {
            if self.refuses {
                return Err("no room".to_owned());
            }
            let editors = ChildEnv::default().set("OPENAI_API_KEY", "sk-editor").set("EDITORS_OWN", "1");
            let env = command.env.into_iter().fold(editors, |env, (name, value)| env.set(name, value));
            let spawn =
                Spawn::new(command.program, env, &omp_exec::Containment::of_user()).args(command.args).cwd(command.cwd);
            let child = spawn.start().map_err(|error| error.to_string())?;
            let (sender, exit) = watch::channel(None);
            let (kill, output) = (CancellationToken::new(), Arc::<Mutex<String>>::default());
            tokio::spawn(play(child, sender, kill.clone(), output.clone()));
            let terminal = FakeTerminal { log: self.log.clone(), keeps: self.keeps, output, exit, kill };
            Ok(Arc::new(terminal) as Arc<dyn EditorTerminal>)
        })
    }
}

async fn play(
    mut child: Child,
    exit: watch::Sender<Option<EditorExit>>,
    kill: CancellationToken,
    output: Arc<Mutex<String>>,
) {
    let mut buffer = [0; 4096];
    let signal = |name: &str| EditorExit { code: None, signal: Some(name.to_owned()) };
    loop {
        tokio::select! {
            () = kill.cancelled() => {
                let hear = |bytes: &[u8]| output.lock().unwrap().push_str(&String::from_utf8_lossy(bytes));
                child.stop(Duration::from_millis(100), hear).await;
                exit.send_replace(Some(signal("SIGKILL")));
                return;
            }
            read = child.read(&mut buffer) => match read.unwrap() {
                0 => break,
                read => output.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..read])),
            },
        }
    }
    let ended = child.finish().await.unwrap().exit;
    let told = match ended.signal {
        Some(9) => signal("SIGKILL"),
        _ => EditorExit { code: Some(ended.code), signal: None },
    };
    exit.send_replace(Some(told));
}

impl EditorTerminal for FakeTerminal {
    fn output(&self) -> EditorFuture<'_, Result<EditorOutput, String>> {
        Box::pin(async {
            let whole = self.output.lock().unwrap().clone();
            let start = whole.len().saturating_sub(self.keeps);
            Ok(EditorOutput { text: whole[start..].to_owned(), truncated: start > 0, exit: self.exit.borrow().clone() })
        })
    }

    fn exit(&self) -> EditorFuture<'_, Result<EditorExit, String>> {
        Box::pin(async {
            let mut exit = self.exit.clone();
            let ended = exit.wait_for(Option::is_some).await.map_err(|_| "gone".to_owned())?;
            ended.clone().ok_or_else(|| "gone".to_owned())
        })
    }

    fn kill(&self) -> EditorFuture<'_, Result<(), String>> {
        self.log.lock().unwrap().push("kill".to_owned());
        self.kill.cancel();
        Box::pin(async { Ok(()) })
    }
}

impl Drop for FakeTerminal {
    fn drop(&mut self) {
        self.log.lock().unwrap().push("release".to_owned());
        self.kill.cancel();
    }
}

fn editor() -> FakeEditor {
    FakeEditor { log: Log::default(), refuses: false, keeps: usize::MAX }
}

fn bash_with(folder: &Path, editor: FakeEditor) -> (Bash, Log) {
    let (parts, log) = parts_with(folder, editor);
    (Bash::new(parts), log)
}

fn parts_with(folder: &Path, editor: FakeEditor) -> (BashParts, Log) {
    let env: Env = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("OPENAI_API_KEY", "sk-secret")].into_iter().collect();
    let log = editor.log.clone();
    (BashParts { editor: Some(Arc::new(editor)), ..BashParts::uncontained(folder, env) }, log)
}

async fn says(bash: &Bash, arguments: Value) -> String {
    match crate::scratch::run(bash, arguments, &ToolCx::detached("call")).await {
        Err(error) => format!("ERROR {error}"),
        Ok(output) => {
            let text: String = output.content.iter().filter_map(Content::as_text).collect();
            let shown = text.lines().filter(|line| !line.starts_with("Wall time: ") && !line.is_empty());
            format!("{}{}", if output.is_error { "FAILED " } else { "" }, shown.collect::<Vec<_>>().join("\n"))
        }
    }
}

fn taken(log: &Log) -> Vec<String> {
    std::mem::take(&mut log.lock().unwrap())
}

#[tokio::test]
async fn results_read_as_those_of_our_own_processes() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    std::fs::create_dir(at.join("sub")).unwrap();
    let (bash, log) = bash_with(&at, editor());
    for (arguments, expect) in [
        (json!({"command": "echo hi"}), "hi".to_owned()),
        (json!({"command": "true"}), "(no output)".to_owned()),
        (json!({"command": "echo out; echo err >&2; exit 3"}), "FAILED out\nerr\nCommand exited with code 3".into()),
        (
            json!({"command": "kill -9 $$"}),
            "FAILED (no output)\nCommand exited with code 137 (killed by signal 9)".into(),
        ),
        (json!({"command": "pwd", "cwd": "sub"}), at.join("sub").display().to_string()),
        (json!({"command": "echo $X", "env": {"X": "a b"}}), "a b".into()),
        (json!({"command": "cat; echo \"[$OPENAI_API_KEY$EDITORS_OWN] $TERM\""}), "[] dumb".into()),
        (json!({"command": "printf '\\033[31mred\\033[0m\\r\\nx'"}), "red\nx".into()),
    ] {
        assert_eq!(says(&bash, arguments.clone()).await, expect, "{arguments}");
        assert_eq!(taken(&log), ["start call", "release"], "{arguments}");
    }
}

#[tokio::test]
async fn the_shell_goes_on_from_one_terminal_to_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    std::fs::create_dir(at.join("sub")).unwrap();
    let (bash, _) = bash_with(&at, editor());
    let sub = at.join("sub").display().to_string();
    let moved = says(&bash, json!({"command": "cd sub; export KEPT=1; greet() { echo hello; }"})).await;
    assert_eq!(moved, format!("(no output)\nThe shell is now in {sub}"));
    assert_eq!(says(&bash, json!({"command": "pwd; echo $KEPT; greet"})).await, format!("{sub}\n1\nhello"));
    let users = bash.user_shell().run("echo $KEPT", &CancellationToken::new(), &|_| ()).await.unwrap();
    assert_eq!(users.output, "1\n");
}

#[tokio::test]
async fn a_timeout_kills_and_keeps_what_was_printed() {
    let folder = tempfile::tempdir().unwrap();
    let (bash, log) = bash_with(folder.path(), editor());
    let said = says(&bash, json!({"command": "echo before; sleep 300", "timeout": 1})).await;
    assert_eq!(said, "FAILED before\nCommand timed out after 1 seconds");
    assert_eq!(taken(&log), ["start call", "kill", "release"]);
}

#[tokio::test]
async fn a_cancel_gives_the_terminal_back() {
    let folder = tempfile::tempdir().unwrap();
    let (bash, log) = bash_with(folder.path(), editor());
    let cx = ToolCx::detached("call");
    let mark = folder.path().join("running");
    let command = json!({"command": format!("echo begun; touch {}; sleep 300", mark.display())});
    let stop = async {
        while !mark.exists() {
            tokio::task::yield_now().await;
        }
        cx.cancel.cancel();
    };
    let (ended, ()) = tokio::join!(crate::scratch::run(&bash, command, &cx), stop);
    let ended = ended.unwrap();
    let text = omp_types::text_of(&ended.content);
    assert!(ended.is_error && text.starts_with("begun\n") && text.contains("Interrupted after "), "{text}");
    assert_eq!(taken(&log), ["start call", "kill", "release"]);
}

#[tokio::test]
async fn what_the_editor_cannot_do_is_done_here() {
    let folder = tempfile::tempdir().unwrap();
    let (bash, log) = bash_with(folder.path(), FakeEditor { refuses: true, ..editor() });
    assert_eq!(says(&bash, json!({"command": "echo hi"})).await, "hi");
    assert_eq!(taken(&log), ["start call"]);
    let (parts, log) = parts_with(folder.path(), editor());
    let options = BashOptions { jobs: true, ..BashOptions::default() };
    let bash = Bash::new(BashParts { options, ..parts });
    assert!(says(&bash, json!({"command": "true", "async": true})).await.contains("background"));
    assert_eq!(taken(&log), [""; 0]);
}

#[tokio::test]
async fn a_lost_beginning_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let (bash, _) = bash_with(folder.path(), FakeEditor { keeps: 4, ..editor() });
    let said = says(&bash, json!({"command": "echo one; echo two"})).await;
    assert_eq!(said, "[the editor kept only the end of the output]\ntwo");
}

#[tokio::test]
async fn contained_commands_stay_out_of_the_editor_unless_the_user_wants_them_there() {
    let folder = tempfile::tempdir().unwrap();
    for (wanted, expect) in [(false, 0), (true, 1)] {
        let (parts, log) = parts_with(folder.path(), editor());
        let map = AccessMap { workspace: folder.path().canonicalize().unwrap(), ..AccessMap::default() };
        let containment = Containment::new(Access::new(map));
        let bash = Bash::new(BashParts { uncontained_in_editor: wanted, containment, ..parts });
        says(&bash, json!({"command": "true"})).await;
        let started = log.lock().unwrap().iter().filter(|line| line.starts_with("start")).count();
        assert_eq!(started, expect, "{:?}", log.lock().unwrap());
    }
}

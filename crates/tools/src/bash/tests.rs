//! Runs commands through the tool as the agent loop does, in a real shell and a real folder.
#![cfg(unix)]

use std::path::Path;
use std::time::{Duration, Instant};

use omp_agent::{AnyTool, Effect, Tier};
use serde_json::{Value, json};

use super::terminal_tests::{FakeScreens, with_screen};
use super::*;
use crate::artifacts::ArtifactFile;
use crate::output_sink::OutputSink;

fn bash_in(folder: &Path) -> Bash {
    Bash::new(parts_in(folder))
}

fn parts_in(folder: &Path) -> BashParts {
    let env: Env = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("OPENAI_API_KEY", "sk-secret")].into_iter().collect();
    BashParts::uncontained(folder, env)
}

async fn call(bash: &Bash, arguments: Value) -> Result<ToolOutput, ToolError> {
    crate::scratch::run(bash, arguments, &ToolCx::detached("call")).await
}

fn text_of(output: &ToolOutput) -> String {
    output.content.iter().filter_map(Content::as_text).collect()
}

/// Returns the text with the duration replaced.
async fn says(folder: &Path, arguments: Value) -> String {
    match call(&bash_in(folder), arguments).await {
        Err(error) => format!("ERROR {error}"),
        Ok(output) => {
            let text = text_of(&output);
            let shown =
                text.lines().map(|line| if line.starts_with("Wall time: ") { "Wall time: T seconds" } else { line });
            format!("{}{}", if output.is_error { "FAILED " } else { "" }, shown.collect::<Vec<_>>().join("\n"))
        }
    }
}

#[tokio::test]
async fn results_read_as_the_model_expects() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    std::fs::create_dir(at.join("sub")).unwrap();
    std::fs::write(at.join("file"), "").unwrap();
    let shown = at.display();
    for (arguments, expect) in [
        (json!({"command": "echo hi"}), "hi\n\n\nWall time: T seconds".to_owned()),
        (json!({"command": "true"}), "(no output)\n\nWall time: T seconds".into()),
        (
            json!({"command": "echo out; echo err >&2; exit 3"}),
            "FAILED out\nerr\n\n\nWall time: T seconds\n\nCommand exited with code 3".into(),
        ),
        (
            json!({"command": "kill -9 $$"}),
            "FAILED (no output)\n\nWall time: T seconds\n\nCommand exited with code 137 (killed by signal 9)".into(),
        ),
        (json!({"command": "pwd", "cwd": "sub"}), format!("{shown}/sub\n\n\nWall time: T seconds")),
        (json!({"command": "cd sub && pwd"}), format!("{shown}/sub\n\n\nWall time: T seconds")),
        (json!({"command": "echo $X", "env": {"X": "a b"}}), "a b\n\n\nWall time: T seconds".into()),
        (json!({"command": "cat; echo \"[$OPENAI_API_KEY]\""}), "[]\n\n\nWall time: T seconds".into()),
        (json!({"command": "printf '\\033[31mred\\033[0m\\r\\nx'"}), "red\nx\n\nWall time: T seconds".into()),
        (json!({"command": "x", "cwd": "gone"}), format!("ERROR Working directory does not exist: {shown}/gone")),
        (json!({"command": "x", "cwd": "file"}), format!("ERROR Working directory is not a directory: {shown}/file")),
        (json!({"command": "x", "env": {"1X": ""}}), "ERROR Invalid bash env name: 1X".into()),
        (json!({"command": " "}), "ERROR The command is empty".into()),
        (json!({"command": "a\u{0}b"}), "ERROR The command contains a NUL character, which no shell accepts".into()),
    ] {
        assert_eq!(says(&at, arguments.clone()).await, expect, "{arguments}");
    }
    assert!(says(&at, json!({"command": "x".repeat(200_000)})).await.contains("hint: write it to a file"));
    assert!(says(&at, json!({"command": 5})).await.starts_with("ERROR Invalid arguments"));
}

#[tokio::test]
async fn a_timeout_keeps_what_was_printed() {
    let folder = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let output =
        call(&bash_in(folder.path()), json!({"command": "echo before; sleep 300", "timeout": 0.1})).await.unwrap();
    let text = text_of(&output);
    assert!(output.is_error && text.starts_with("before\n"), "{text}");
    assert!(
        text.ends_with("The timeout was set to 1 seconds (0.1 is out of bounds).\n\nCommand timed out after 1 seconds"),
        "{text}"
    );
    assert_eq!(output.details.unwrap()["timedOut"], true);
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[tokio::test]
async fn output_is_shown_while_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let bash = bash_in(folder.path());
    let script = "echo one; until [ -e go ]; do sleep 0.01; done; echo two";
    let (spawn, _turn) = bash
        .runner
        .session
        .begin(script, folder.path(), &BTreeMap::new(), true, &omp_exec::Containment::of_user())
        .await;
    let child = spawn.start().unwrap();
    let sink = OutputSink::new(bash.runner.artifacts.clone(), "bash");
    // The command ends only after its first line was shown.
    let show = |text: &str| {
        assert!(text.starts_with("one\n"), "{text}");
        std::fs::write(folder.path().join("go"), "").unwrap();
    };
    let cancel = tokio_util::sync::CancellationToken::new();
    let finished = run::to_the_end(child, sink, Duration::from_secs(30), &cancel, show).await.unwrap();
    assert_eq!(finished.summary.text, "one\ntwo\n");
}

#[tokio::test]
async fn background_processes_are_told_of_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let bash = bash_in(folder.path());
    let output = call(&bash, json!({"command": "sleep 300 & echo started"})).await.unwrap();
    assert!(text_of(&output).contains("Background processes are still running"), "{}", text_of(&output));
    assert_eq!(bash.runner.reaper.groups().len(), 1);
}

#[tokio::test]
async fn cancelling_ends_the_command() {
    for pty in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (bash, cx) = (Bash::new(with_screen(parts_in(folder.path()))).into_tool(), ToolCx::detached("call"));
        let script =
            "trap '' TERM HUP; [ -t 1 ] && touch terminal; echo begun; echo $$ > pid; while :; do sleep 0.01; done";
        let cancel = async {
            let pid = loop {
                match std::fs::read_to_string(folder.path().join("pid")) {
                    Ok(pid) if pid.ends_with('\n') => break pid.trim().to_owned(),
                    _ => tokio::time::sleep(Duration::from_millis(5)).await,
                }
            };
            cx.cancel.cancel();
            pid
        };
        let (result, pid) =
            tokio::join!(crate::scratch::run(&*bash, json!({"command": script, "pty": pty}), &cx), cancel);
        let result = result.unwrap();
        let text = omp_types::text_of(&result.content);
        assert!(result.is_error && text.starts_with("begun\n"), "{text}");
        assert!(text.ends_with(" s; the output above is what the command printed until then"), "{text}");
        assert_eq!(result.details.unwrap()["aborted"], true);
        assert_eq!(folder.path().join("terminal").exists(), pty);
        let (look, cx) = (json!({"command": format!("kill -0 {pid}")}), ToolCx::detached("look"));
        let gone = async {
            while crate::scratch::run(&*bash, look.clone(), &cx).await.is_ok_and(|output| !output.is_error) {}
        };
        tokio::time::timeout(Duration::from_secs(30), gone).await.unwrap();
    }
}

/// Stores artifacts in a folder.
struct InFolder(std::path::PathBuf);

impl Artifacts for InFolder {
    fn create(&self, tool: &str) -> std::io::Result<ArtifactFile> {
        let file = std::fs::File::create_new(self.0.join(format!("0.{tool}.log")))?;
        Ok(ArtifactFile { id: "0".into(), file: Box::new(file) })
    }
}

/// Returns the peak memory of this process in bytes.
#[cfg(target_os = "linux")]
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
}

/// Runs one test in its own process, so that other tests do not affect its memory.
#[cfg(target_os = "linux")]
async fn run_alone(name: &str) {
    let spawn = omp_exec::Spawn::new(
        std::env::current_exe().unwrap(),
        omp_exec::ChildEnv::unattended(&Env::default()),
        &omp_exec::Containment::of_user(),
    );
    let run = spawn.args(["--exact", name]).capture(64 * 1024, Duration::from_secs(300)).await.unwrap();
    let said = String::from_utf8_lossy(&run.output);
    assert!(run.exit.is_some_and(|exit| exit.code == 0) && said.contains("1 passed"), "{said}");
}

/// Stores the full log on disk while it runs; the log is removed with the folder.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_gigabyte_takes_bounded_memory() {
    if !std::env::args().any(|argument| argument == "--exact") {
        return run_alone("bash::tests::a_gigabyte_takes_bounded_memory").await;
    }
    const SIZE: u64 = 1_000_000_000;
    const LINE: u64 = 32;
    let folder = tempfile::tempdir().unwrap();
    let bash = with_options(folder.path(), &BashOptions::default(), &[]);
    let before = peak_memory();
    let command = format!("echo first; yes 0123456789abcdef0123456789abcde | head -c {}; printf 'last.\n'", SIZE - 12);
    let output = call(&bash, json!({"command": command})).await.unwrap();
    let grown = peak_memory() - before;
    assert!(grown < 24 * 1024 * 1024, "grew by {grown} bytes");
    let truncation = output.details.as_ref().unwrap()["meta"]["truncation"].clone();
    assert_eq!((truncation["totalBytes"].as_u64(), truncation["artifactId"].as_str()), (Some(SIZE), Some("0")));
    assert_eq!(std::fs::metadata(folder.path().join("0.bash.log")).unwrap().len(), SIZE);
    let text = text_of(&output);
    let (head, tail) = text.split_once("\n[… ").unwrap();
    assert!(text.len() < 52 * 1024 && head.starts_with("first\n0123"), "{}", &text[..200]);
    let (gap, tail) = tail.split_once(" left out. Full: artifact://0]\n").unwrap();
    let shown = truncation["outputLines"].as_u64().unwrap();
    let total = truncation["totalLines"].as_u64().unwrap();
    assert_eq!(total, (SIZE - 12).div_ceil(LINE) + 1);
    assert!(gap.starts_with(&format!("{} lines (", omp_stdx::format::grouped(total - shown))), "{gap}");
    assert!(tail.contains("last.\n\n\nWall time: "), "{}", &tail[tail.len() - 200..]);
}

#[test]
fn approval_asks_for_the_worst() {
    let bash = bash_in(Path::new("/"));
    let plain = crate::scratch::approval(&bash, &json!({"command": "ls"}));
    assert_eq!((plain.tier, plain.force_prompt), (Tier::Exec, false));
    let worst = crate::scratch::approval(&bash, &json!({"command": "rm -rf /"}));
    assert!(worst.force_prompt && worst.reason.is_some());
}

#[test]
fn walls_answer_for_what_they_keep() {
    use omp_exec::Rung;
    use omp_types::{Access, AccessMap, ContainMode, NetworkMode};
    let folder = tempfile::tempdir().unwrap();
    let asks = |network, mode, at_most, command: &str| {
        let map = AccessMap { mode, network, workspace: folder.path().to_owned(), ..AccessMap::default() };
        let containment = Containment::new(Access::new(map)).at_most(at_most);
        let is_full = containment.rung() == Some(Rung::Full);
        let bash = Bash::new(BashParts { containment, ..parts_in(folder.path()) });
        (is_full, crate::scratch::approval(&bash, &json!({"command": command})).force_prompt)
    };
    let (on, off) = (NetworkMode::On, NetworkMode::Off);
    let (reads, writes) = (ContainMode::ReadOnly, ContainMode::WorkspaceWrite);
    for (mode, network, command, harmless) in [
        (writes, off, "kill -9 -1", false),
        (writes, on, "shutdown now", true),
        // The command would delete the workspace, including files that undo does not store.
        (writes, on, "rm -rf /", false),
        (reads, on, "rm -rf /", true),
        (writes, on, "curl x | sh", false),
        (writes, off, "curl x | sh", true),
        (writes, NetworkMode::Allowlist, "curl x | sh", false),
        (reads, on, "rm -rf /; curl x | sh", false),
    ] {
        // On a system without full containment every command needs approval.
        let (is_full, asked) = asks(network, mode, Rung::Full, command);
        assert_eq!(asked, !(is_full && harmless), "{command} {mode:?} {network:?} {is_full}");
        assert!(asks(network, mode, Rung::Landlock, command).1, "{command}");
        assert!(asks(network, ContainMode::Off, Rung::Full, command).1, "{command}");
    }
}

#[test]
fn approval_tells_what_a_command_does() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    std::os::unix::fs::symlink("/etc", at.join("link")).unwrap();
    let above = at.parent().unwrap().to_owned();
    let bash = bash_in(&at);
    let run = |text: &str, whole| Effect::Run { words: text.split(' ').map(str::to_owned).collect(), whole };
    let unknown = |text: &str| Effect::Unknown(format!("unknown: {text}"));
    let possible = |text: &str| Effect::Unknown(text.into());
    for (arguments, expect) in [
        (json!({"command": "ls -l"}), vec![run("ls -l", true)]),
        (
            json!({"command": "sudo cat $X > out 2>&1 </dev/null"}),
            vec![run("sudo cat $X", false), run("cat $X", false), Effect::Write(at.join("out"))],
        ),
        (json!({"command": "cat <link/hosts"}), vec![run("cat", true), Effect::Read("/etc/hosts".into())]),
        (json!({"command": "ls > out", "cwd": "/"}), vec![run("ls", true), Effect::Write("/out".into())]),
        (
            json!({"command": "cd sub && ls > out"}),
            vec![run("cd sub", true), run("ls", true), Effect::Write(at.join("sub/out"))],
        ),
        (
            json!({"command": "mkdir -p sub && cd sub && touch a | tee b > c"}),
            vec![
                run("mkdir -p sub", true),
                run("cd sub", true),
                run("touch a", true),
                run("tee b", true),
                Effect::Write(at.join("sub/c")),
                Effect::Write(at.join("sub")),
                Effect::Write(at.join("sub/a")),
                Effect::Write(at.join("sub/b")),
            ],
        ),
        (
            json!({"command": "ls; cd x; ls > out"}),
            vec![run("ls", true), run("cd x", true), possible("may write: `out`")],
        ),
        (json!({"command": "eval $X"}), vec![run("eval $X", false), unknown("text that `eval` runs")]),
        (json!({"command": "cp a out"}), vec![run("cp a out", true), Effect::Write(at.join("out"))]),
        (json!({"command": "cp a link"}), vec![run("cp a link", true), Effect::Write("/etc/a".into())]),
        (json!({"command": "cp a $X"}), vec![run("cp a $X", false), possible("may write: `$X`")]),
        (
            json!({"command": "ls | tee link/x /dev/stderr"}),
            vec![run("ls", true), run("tee link/x /dev/stderr", true), Effect::Write("/etc/x".into())],
        ),
        (
            json!({"command": "cd sub && sort -o out a"}),
            vec![run("cd sub", true), run("sort -o out a", true), Effect::Write(at.join("sub/out"))],
        ),
        (json!({"command": "tar xf a -C out"}), vec![run("tar xf a -C out", true), Effect::Write(at.join("out"))]),
        (
            json!({"command": "tar xf a -C link -C out"}),
            vec![run("tar xf a -C link -C out", true), Effect::Write("/etc/out".into())],
        ),
        (
            json!({"command": "env --chdir=link tee x > y"}),
            vec![
                run("env --chdir=link tee x", true),
                run("tee x", true),
                Effect::Write(at.join("y")),
                Effect::Write("/etc/x".into()),
            ],
        ),
        (
            json!({"command": "env -iClink tee x"}),
            vec![run("env -iClink tee x", true), run("tee x", true), Effect::Write("/etc/x".into())],
        ),
        (
            json!({"command": "touch new/../../y link/../y"}),
            vec![run("touch new/../../y link/../y", true), Effect::Write(above.join("y")), Effect::Write("/y".into())],
        ),
        (
            json!({"command": "git -C sub status; rm ../y"}),
            vec![run("git -C sub status", true), run("rm ../y", true), Effect::Write(above.join("y"))],
        ),
        (
            json!({"command": "make -C sub > out; rm ../y"}),
            vec![
                run("make -C sub", true),
                run("rm ../y", true),
                Effect::Write(at.join("out")),
                Effect::Write(above.join("y")),
            ],
        ),
        (
            json!({"command": "git -C sub bundle create ../../y HEAD"}),
            vec![run("git -C sub bundle create ../../y HEAD", true), Effect::Write(above.join("y"))],
        ),
        (
            json!({"command": "npm --prefix sub i; (cd sub && make); rm ../y"}),
            vec![
                run("npm --prefix sub i", true),
                run("cd sub", true),
                run("make", true),
                run("rm ../y", true),
                Effect::Write(above.join("y")),
                unknown("what `--prefix` makes `npm` do"),
            ],
        ),
        (
            json!({"command": "find link -execdir tee x ;"}),
            vec![run("find link -execdir tee x", true), run("tee x", true), possible("may write: `x`")],
        ),
        (
            json!({"command": "ln -s /etc new; ls > new/x"}),
            vec![
                run("ln -s /etc new", true),
                run("ls", true),
                Effect::Write(at.join("new/x")),
                Effect::Write(at.join("new")),
                possible("may write: any file, through a link that this command creates"),
            ],
        ),
        (json!({"command": "rm ~+/a"}), vec![run("rm ~+/a", false), possible("may write: `~+/a`")]),
        (
            json!({"command": "ls", "env": {"LD_PRELOAD": "x"}}),
            vec![run("ls", true), unknown("what the variable `LD_PRELOAD` changes")],
        ),
        (json!({"command": "cat </dev/tcp/host/80"}), vec![run("cat", true), Effect::Connect { host: "host".into() }]),
    ] {
        assert_eq!(crate::scratch::approval(&bash, &arguments).effects, expect, "{arguments}");
    }
}

#[tokio::test]
async fn names_that_commands_leave_behind_are_not_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let bash = bash_in(folder.path());
    let is_unknown = || {
        let effects = crate::scratch::approval(&bash, &json!({"command": "git status"})).effects;
        effects.iter().any(|effect| matches!(effect, Effect::Unknown(_)))
    };
    assert!(!is_unknown());
    call(&bash, json!({"command": "git() { echo other; }"})).await.unwrap();
    assert!(is_unknown());
}

#[test]
fn views_tell_how_it_ended() {
    let bash = bash_in(Path::new("/"));
    let details = json!({"timeoutSeconds": 300, "wallTimeMs": 1500.0, "exitCode": 2});
    let arguments = json!({"command": "make\nmake test", "cwd": "sub", "timeout": 60});
    let view = AnyTool::render(&bash, &arguments, Outcome::Done { details: &details, is_error: true });
    assert_eq!((view.title.as_str(), view.notes.join(", ").as_str()), ("$ make", "exit 2, in sub, timeout 60s, 1.5s"));
    let below: Vec<_> = view
        .blocks
        .iter()
        .filter_map(|block| match block {
            omp_view::Block::Code { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(below, ["make test"], "the first line is the title");
    assert_eq!(AnyTool::render(&bash, &arguments, Outcome::Running).status, omp_view::Status::Running);
}

#[tokio::test]
async fn the_shell_goes_on_from_call_to_call() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(at.join("sub/deep")).unwrap();
    let bash = bash_in(&at);
    let at = at.display();
    for (arguments, expect) in [
        (json!({"command": "export A=1; cd sub"}), format!("(no output)\n\nThe shell is now in {at}/sub")),
        (json!({"command": "echo $A $PWD"}), format!("1 {at}/sub\n\n")),
        (json!({"command": "cd deep && pwd"}), format!("{at}/sub/deep\n\n")),
        (json!({"command": "pwd", "cwd": "sub/deep"}), format!("{at}/sub/deep\n\n")),
        (json!({"command": "pwd; exit 7"}), format!("{at}/sub\n\n\n\nCommand exited with code 7")),
        (
            json!({"command": "rmdir \"$PWD/deep\"; cd ..; rmdir sub; cd /"}),
            "(no output)\n\nThe shell is now in /".into(),
        ),
    ] {
        let text = text_of(&call(&bash, arguments.clone()).await.unwrap());
        let kept: Vec<&str> = text.lines().filter(|line| !line.starts_with("Wall time: ")).collect();
        assert_eq!(kept.join("\n"), expect, "{arguments}");
    }
}

#[tokio::test]
async fn a_folder_that_has_gone_is_left() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    let bash = bash_in(folder.path());
    call(&bash, json!({"command": "cd sub"})).await.unwrap();
    std::fs::remove_dir(folder.path().join("sub")).unwrap();
    let text = text_of(&call(&bash, json!({"command": "echo still here"})).await.unwrap());
    assert!(text.starts_with("still here\n") && text.ends_with("the shell is back in the working folder."), "{text}");
}

fn with_options(folder: &Path, options: &BashOptions, offered: &[&str]) -> Bash {
    Bash::new(with_artifacts(folder, options, offered))
}

fn with_artifacts(folder: &Path, options: &BashOptions, offered: &[&str]) -> BashParts {
    BashParts {
        artifacts: Arc::new(InFolder(folder.to_owned())),
        options: options.clone(),
        jobs: Arc::new(Jobs::new(1)),
        offered: offered.iter().map(|name| (*name).to_owned()).collect(),
        ..parts_in(folder)
    }
}

#[tokio::test]
async fn settings_are_minded() {
    let folder = tempfile::tempdir().unwrap();
    let options = BashOptions { intercept: crate::toolbox::default_intercepts(), ..BashOptions::default() };
    let bash = with_options(folder.path(), &options, &["read"]);
    let blocked = call(&bash, json!({"command": "cat file"})).await.unwrap_err().to_string();
    assert!(blocked.starts_with("Blocked: ") && blocked.ends_with("Original command: cat file"), "{blocked}");
    // Removing a suffix does not hide a command from the rules.
    let rule = InterceptRule { pattern: "^git log$".into(), tool: "read".into(), message: "no".into() };
    let strict = BashOptions { intercept: vec![rule], ..BashOptions::default() };
    let strict = with_options(folder.path(), &strict, &["read"]);
    let blocked = call(&strict, json!({"command": "git log 2>&1 | head -3"})).await.unwrap_err().to_string();
    assert_eq!(blocked, "Blocked: no\n\nOriginal command: git log 2>&1 | head -3");
    let fixed = text_of(&call(&bash, json!({"command": "git --version 2>&1 | head -1"})).await.unwrap());
    assert!(fixed.contains("`2>&1 | head -1` was removed"), "{fixed}");
}

#[test]
fn the_plan_has_the_command_that_runs() {
    let folder = tempfile::tempdir().unwrap();
    let rule = InterceptRule { pattern: "^git log$".into(), tool: "read".into(), message: "no".into() };
    let options = BashOptions { intercept: vec![rule], ..BashOptions::default() };
    let bash = with_options(folder.path(), &options, &["read"]);
    let check = |command: &str, runs: &[&str], refusal: Option<&str>| {
        let planned = AnyTool::plan(&bash, Arc::new(json!({"command": command}))).unwrap();
        let effects = planned.approval().effects.iter();
        let shown: Vec<String> = effects
            .filter_map(|effect| match effect {
                Effect::Run { words, .. } => Some(words.join(" ")),
                _ => None,
            })
            .collect();
        assert_eq!(shown, runs, "{command}");
        assert_eq!(planned.foreseen_error().map(|error| error.to_string()).as_deref(), refusal, "{command}");
    };
    check("git status 2>&1 | head -3", &["git status"], None);
    check("cd src && git status | head", &["cd src", "git status"], None);
    check("yes | head -3", &["yes", "head -3"], None);
    check("git log | head", &["git log"], Some("Blocked: no\n\nOriginal command: git log | head"));
}

#[tokio::test]
async fn noise_goes_to_the_artifact() {
    let folder = tempfile::tempdir().unwrap();
    let bash = with_options(folder.path(), &BashOptions::default(), &[]);
    let script =
        "#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8 9; do echo \"test case_$i ... ok\"; done\necho 'test bad ... FAILED'\n";
    std::fs::write(folder.path().join("cargo"), script).unwrap();
    let text = text_of(&call(&bash, json!({"command": "chmod +x cargo; ./cargo test"})).await.unwrap());
    let expect = "[… 9 lines of success or progress]\ntest bad ... FAILED\n[raw output: artifact://0]\n";
    assert!(text.starts_with(expect), "{text}");
    let raw = std::fs::read_to_string(folder.path().join("0.bash-original.log")).unwrap();
    assert_eq!(raw.lines().count(), 10);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_fork_bomb_is_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let bash = with_options(folder.path(), &BashOptions { max_processes: 50, ..BashOptions::default() }, &[]);
    let bomb = "f() { [ $1 -gt 0 ] && { f $(($1-1)) & f $(($1-1)) & }; sleep 300; }; f 8";
    let output = call(&bash, json!({"command": bomb})).await.unwrap();
    assert!(
        output.is_error && text_of(&output).contains("it exceeded the limit of 50 processes"),
        "{}",
        text_of(&output)
    );
    assert!(text_of(&call(&bash, json!({"command": "echo alive"})).await.unwrap()).starts_with("alive\n"));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_command_that_takes_too_much_is_told_which_limit_it_met() {
    let folder = tempfile::tempdir().unwrap();
    let options = BashOptions { max_memory: 200, max_file_size: 2, ..BashOptions::default() };
    let bash = with_options(folder.path(), &options, &[]);
    for (command, told) in [
        ("python3 -c 'x = bytearray(600 << 20); import time; time.sleep(300)'", "the limit of 200 MiB of memory"),
        ("head -c 3000000 /dev/zero > big", "`bash.maxFileSize`"),
    ] {
        let output = call(&bash, json!({"command": command})).await.unwrap();
        assert!(output.is_error && text_of(&output).contains(told), "{}", text_of(&output));
    }
    assert_eq!(std::fs::metadata(folder.path().join("big")).unwrap().len(), 2 << 20);
    assert!(text_of(&call(&bash, json!({"command": "echo alive"})).await.unwrap()).starts_with("alive\n"));
}

#[tokio::test]
async fn what_is_offered_follows_the_settings() {
    let folder = tempfile::tempdir().unwrap();
    for (jobs, screen, want) in [
        (false, false, "command cwd env timeout"),
        (true, false, "async command cwd env timeout"),
        (true, true, "async command cwd env pty timeout"),
    ] {
        let options = BashOptions { jobs, ..BashOptions::default() };
        let screens = screen.then(FakeScreens::quiet);
        let parts = BashParts { screens, ..with_artifacts(folder.path(), &options, &[]) };
        let schema = Bash::new(parts).into_tool().parameters();
        let mut names: Vec<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names.join(" "), want);
        assert_eq!(schema["required"], json!(["command"]));
    }
}

#[tokio::test]
async fn nobody_is_said_to_be_asked_where_nobody_is() {
    use omp_types::{Access, AccessMap};
    let folder = tempfile::tempdir().unwrap();
    for (attended, asked) in [(true, 3), (false, 0)] {
        let map = AccessMap { workspace: folder.path().to_owned(), ..AccessMap::default() };
        let parts = with_artifacts(folder.path(), &BashOptions::default(), &[]);
        let containment = Containment::new(Access::new(map));
        let tool = Bash::new(BashParts { attended, containment, ..parts }).into_tool();
        let schema = tool.parameters()["properties"].to_string();
        assert_eq!(schema.matches("the user is asked").count(), asked, "{schema}");
        assert_eq!(schema.matches("nobody can be asked").count(), 3 - asked, "{schema}");
    }
}

#[tokio::test]
async fn the_shell_is_the_one_that_was_set() {
    let folder = tempfile::tempdir().unwrap();
    let options = |path: &str| BashOptions { shell_path: Some(path.to_owned()), ..BashOptions::default() };
    let sh = with_options(folder.path(), &options("/bin/sh"), &[]);
    let text = text_of(&call(&sh, json!({"command": "echo $0; export A=1; cd /"})).await.unwrap());
    assert!(text.starts_with("/bin/sh\n"), "{text}");
    assert!(text_of(&call(&sh, json!({"command": "echo $A$PWD"})).await.unwrap()).starts_with("1/\n"));
    let gone = with_options(folder.path(), &options("/gone/shell"), &[]);
    let error = call(&gone, json!({"command": "true"})).await.unwrap_err().to_string();
    assert!(error.starts_with("cannot start `/gone/shell`"), "{error}");
}

#[tokio::test]
async fn the_user_types_into_the_same_shell() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    let options = BashOptions { intercept: crate::toolbox::default_intercepts(), ..BashOptions::default() };
    let bash = with_options(folder.path(), &options, &["read"]);
    let (shell, cancel) = (bash.user_shell(), CancellationToken::new());
    let typed = shell.run("cd sub && export MINE=1; cat /dev/null; exit 4", &cancel, &|_| {}).await.unwrap();
    assert_eq!((typed.exit_code, typed.cancelled, typed.truncated), (Some(4), false, false));
    assert!(typed.notices[0].starts_with("The shell is now in ") && typed.notices[0].ends_with("/sub"), "{typed:?}");
    let seen = text_of(&call(&bash, json!({"command": "echo $MINE; basename $PWD"})).await.unwrap());
    assert!(seen.starts_with("1\nsub\n"), "{seen}");
    let long = shell.run("seq 100000", &cancel, &|_| {}).await.unwrap();
    assert_eq!((long.truncated, long.artifact_id.as_deref()), (true, Some("0")));
    let [all, shown] = long.sizes.unwrap();
    assert!(all.0 > shown.0 && all.1 > shown.1, "{all:?} {shown:?}");
    assert!(shell.run(" ", &cancel, &|_| {}).await.is_err());
    // Output printed before the end is kept.
    let end_it = |text: &str| {
        assert_eq!(text, "begun\n");
        cancel.cancel();
    };
    let ended = shell.run("echo begun; sleep 300", &cancel, &end_it).await.unwrap();
    assert_eq!((ended.output.as_str(), ended.exit_code, ended.cancelled), ("begun\n", None, true));
}

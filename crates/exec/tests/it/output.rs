//! Tests of a child's output, of what it inherits and of how its exit is reported.

use std::time::Duration;

use omp_exec::{ProcessLimits, Reaper, SpawnError, Stderr};

use crate::{eventually, read_all, run, shell, shell_with};

#[tokio::test]
async fn both_streams_come_in_order() {
    let (text, finished) = run(shell("for i in 1 2 3; do echo out$i; echo err$i >&2; done; exit 7")).await;
    assert_eq!(text, "out1\nerr1\nout2\nerr2\nout3\nerr3\n");
    assert_eq!((finished.exit.code, finished.exit.signal), (7, None));
    assert!(finished.leftover.is_none());
}

#[tokio::test]
async fn a_killed_process_reports_its_signal() {
    let (_, finished) = run(shell("kill -9 $$")).await;
    assert_eq!((finished.exit.code, finished.exit.signal), (137, Some(9)));
}

#[tokio::test]
async fn standard_input_is_empty() {
    assert_eq!(run(shell("cat; echo done")).await.0, "done\n");
}

#[tokio::test]
async fn keys_are_not_inherited() {
    let given = [("ANTHROPIC_API_KEY", "secret-a"), ("OPENAI_API_KEY", "secret-b"), ("MINE", "kept")];
    let (text, _) = run(shell_with("env", &given)).await;
    assert!(!text.contains("secret-"), "{text}");
    assert!(text.contains("MINE=kept") && text.contains("GIT_PAGER=cat") && text.contains("TERM=dumb"), "{text}");
}

#[tokio::test]
async fn there_is_no_terminal() {
    assert_eq!(run(shell("(exec < /dev/tty) 2>/dev/null || echo none")).await.0, "none\n");
}

#[tokio::test]
async fn the_folder_is_where_it_starts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    assert_eq!(run(shell("pwd").cwd(&path)).await.0, format!("{}\n", path.display()));
}

#[tokio::test]
async fn limits_hold() {
    let limits = ProcessLimits { open_files: Some(17), ..ProcessLimits::default() };
    assert_eq!(run(shell("ulimit -n").limits(limits)).await.0, "17\n");
}

#[tokio::test]
async fn what_cannot_start_says_why() {
    let missing =
        omp_exec::Spawn::new("no-such-program-here", omp_exec::ChildEnv::default(), &omp_exec::Containment::of_user())
            .start()
            .unwrap_err();
    assert!(matches!(missing, SpawnError::NotFound { .. }), "{missing}");
    assert!(missing.to_string().contains("hint:"), "{missing}");
    let folder = shell("true").cwd("/no/such/folder").start().unwrap_err();
    assert!(matches!(folder, SpawnError::BadFolder { .. }), "{folder}");
}

#[tokio::test]
async fn a_background_process_does_not_hold_the_call() {
    let started = std::time::Instant::now();
    let (text, finished) = run(shell("sleep 300 & echo started")).await;
    assert_eq!(text, "started\n");
    assert!(started.elapsed() < crate::PATIENCE);
    let leftover = finished.leftover.expect("sleep is still there");
    let reaper = Reaper::default();
    reaper.adopt(leftover);
    assert_eq!(reaper.groups().len(), 1);
}

#[tokio::test]
async fn a_kept_server_may_go_on_printing() {
    let folder = tempfile::tempdir().unwrap();
    let script = "(while [ ! -e stop ]; do echo tick; sleep 0.01; done; echo ended > log) & echo up";
    let mut child = shell(script).cwd(folder.path()).start().unwrap();
    let mut buffer = [0; 64];
    assert!(child.read(&mut buffer).await.unwrap() > 0);
    let reaper = Reaper::default();
    reaper.adopt(child.finish().await.unwrap().leftover.expect("the loop runs"));
    std::fs::write(folder.path().join("stop"), "").unwrap();
    eventually(|| folder.path().join("log").exists()).await;
    eventually(|| reaper.groups().is_empty()).await;
}

#[tokio::test]
async fn capture_is_bounded() {
    let captured = shell("head -c 1000000 /dev/zero; echo err >&2").stderr(Stderr::Discarded);
    let captured = captured.capture(1000, crate::PATIENCE).await.unwrap();
    assert_eq!((captured.output.len(), captured.truncated, captured.exit.unwrap().code), (1000, true, 0));
    let late = shell("echo first; sleep 300").capture(1000, Duration::from_millis(300)).await.unwrap();
    assert!(late.exit.is_none());
}

#[tokio::test]
async fn nothing_is_read_ahead() {
    let mut child = shell("yes").start().unwrap();
    let mut buffer = [0; 10];
    assert_eq!(child.read(&mut buffer).await.unwrap(), 10);
    drop(child);
    let mut quiet = shell("exec >&- 2>&-; sleep 0.05").start().unwrap();
    assert_eq!(read_all(&mut quiet).await, "");
    assert_eq!(quiet.finish().await.unwrap().exit.code, 0);
}

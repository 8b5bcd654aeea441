//! Tests of children in a terminal: they see it, its size and its input, and they end like all others.

use std::time::Duration;

use omp_exec::{Child, ProcessLimits, Pty, Spawn, SpawnError, TerminalSize};

use crate::{PATIENCE, read_all, shell};

fn start(script: &str) -> (Child, Pty) {
    shell(script).start_in_terminal(TerminalSize { rows: 30, columns: 90 }).unwrap()
}

/// Reads until `mark` was printed.
async fn read_to(child: &mut Child, mark: &str) -> String {
    let (mut text, mut buffer) = (String::new(), [0; 1024]);
    while !text.contains(mark) {
        let read = tokio::time::timeout(PATIENCE, child.read(&mut buffer)).await.unwrap().unwrap();
        assert!(read > 0, "ended before {mark:?}: {text:?}");
        text.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
    }
    text
}

#[tokio::test]
async fn programs_find_a_terminal() {
    let script = "tty; stty size; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo all; echo typed >/dev/tty; exit 7";
    let (mut child, _pty) = start(script);
    let text = read_all(&mut child).await;
    assert!(text.starts_with("/dev/"), "{text:?}");
    assert!(text.ends_with("\r\n30 90\r\nall\r\ntyped\r\n"), "{text:?}");
    let finished = child.finish().await.unwrap();
    assert_eq!((finished.exit.code, finished.leftover.is_none()), (7, true));
}

#[tokio::test]
async fn what_is_typed_is_read() {
    let (mut child, mut pty) = start("printf 'name? '; read -r name; echo \"hello $name\"");
    read_to(&mut child, "name? ").await;
    pty.write(b"omp\r").await.unwrap();
    assert!(read_all(&mut child).await.ends_with("hello omp\r\n"));
    assert_eq!(child.finish().await.unwrap().exit.code, 0);
}

#[tokio::test]
async fn a_new_size_is_told() {
    let (mut child, pty) = start("trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.01; done");
    read_to(&mut child, "ready").await;
    pty.resize(TerminalSize { rows: 12, columns: 34 }).unwrap();
    assert!(read_all(&mut child).await.contains("12 34"));
    let (mut child, pty) = start("trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.01; done");
    read_to(&mut child, "ready").await;
    pty.resize(TerminalSize { rows: 1, columns: 9999 }).unwrap();
    assert!(read_all(&mut child).await.contains("5 400"), "sizes no program can use are not given to it");
}

#[tokio::test]
async fn the_interrupt_key_interrupts() {
    let (mut child, mut pty) = start("echo ready; sleep 300");
    read_to(&mut child, "ready").await;
    pty.write(b"\x03").await.unwrap();
    read_all(&mut child).await;
    assert_eq!(child.finish().await.unwrap().exit.code, 130);
}

#[tokio::test]
async fn the_deaf_are_killed() {
    let (mut child, _pty) = start("trap '' TERM HUP INT; echo ready; while :; do sleep 0.01; done");
    read_to(&mut child, "ready").await;
    child.stop(Duration::from_millis(50), |_| {}).await;
    assert_eq!(child.finish().await.unwrap().exit.signal, Some(9));
}

#[tokio::test]
async fn much_output_arrives_whole() {
    let (mut child, _pty) = start("i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i+1)); done");
    let text = read_all(&mut child).await;
    assert_eq!((text.lines().count(), text.lines().last()), (20000, Some("19999")));
}

#[tokio::test]
async fn limits_and_marks_hold_here_too() {
    let limits = ProcessLimits { open_files: Some(77), ..ProcessLimits::default() };
    let spawn = shell("ulimit -n; echo \"[$OMP_SPAWN]\"").limits(limits);
    let (mut child, _pty) = spawn.start_in_terminal(TerminalSize::default()).unwrap();
    let text = read_all(&mut child).await;
    assert!(text.starts_with("77\r\n[") && !text.contains("[]"), "{text:?}");
}

#[tokio::test]
async fn what_cannot_start_is_told() {
    let spawn = Spawn::new("/no/such/program", omp_exec::ChildEnv::default(), &omp_exec::Containment::of_user());
    let error = spawn.start_in_terminal(TerminalSize::default()).err();
    assert!(matches!(error, Some(SpawnError::NotFound { .. })), "{error:?}");
}

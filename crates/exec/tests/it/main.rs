//! Tests of children with a real shell: order and end of output, death of whole trees, and what is not inherited.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests are not recognised as tests")]

#[cfg(target_os = "linux")]
mod contain;
mod output;
#[cfg(target_os = "linux")]
mod programs;
mod session;
mod terminal;
#[cfg(target_os = "linux")]
mod trees;

use std::time::Duration;

use omp_exec::{Child, ChildEnv, Containment, Finished, Shell, Spawn};
use omp_types::Env;

/// Generous: reached only if something hangs.
const PATIENCE: Duration = Duration::from_secs(60);

fn shell(command: &str) -> Spawn {
    shell_with(command, &[])
}

fn shell_with(command: &str, variables: &[(&str, &str)]) -> Spawn {
    let base = [("PATH", "/usr/local/bin:/usr/bin:/bin")];
    let env: Env = base.into_iter().chain(variables.iter().copied()).collect();
    Shell::choose(&env).spawn(command, ChildEnv::unattended(&env), &Containment::of_user())
}

async fn read_all(child: &mut Child) -> String {
    let (mut text, mut buffer) = (Vec::new(), [0; 1024]);
    loop {
        match tokio::time::timeout(PATIENCE, child.read(&mut buffer)).await.unwrap().unwrap() {
            0 => return String::from_utf8(text).unwrap(),
            read => text.extend_from_slice(&buffer[..read]),
        }
    }
}

async fn run(spawn: Spawn) -> (String, Finished) {
    let mut child = spawn.start().unwrap();
    let text = read_all(&mut child).await;
    (text, child.finish().await.unwrap())
}

/// Polls until `done`: the kernel does not report the end of a process that is not our child.
async fn eventually(mut done: impl FnMut() -> bool) {
    let wait = async {
        while !done() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("it never came true");
}

//! After a session no process is left but the watchdog, which ends with omp.

use std::time::Duration;

use omp_testkit::{Script, Turn, Wire};
use serde_json::json;

use crate::harness::{Scene, within};
use crate::rpc::{Client, Process};

/// Starts two processes that outlive the command, one of which ignores signals, and prints their ids.
const LEAVES: &str = "sleep 300 & echo $!; (trap '' TERM HUP; exec sleep 300) & echo $!";

/// Sessions of one process, with commands that leave processes running.
async fn worked() -> (Scene, Client) {
    let turns = Script::generate(4, |number| match number % 2 {
        0 => Turn::call("bash", json!({"command": LEAVES})),
        _ => Turn::text("ok"),
    });
    let scene = Scene::new(Wire::Completions, turns).await;
    let mut client = Client::start(&scene, &[]).await;
    watchdog(&client).await;
    for _ in 0..2 {
        client.prompt("go").await;
        let left = leave(&mut client).await;
        assert_eq!(client.ask(json!({"type": "new_session"})).await["success"], true);
        for process in left {
            ends(process).await;
        }
    }
    (scene, client)
}

/// Starts processes that run as long as their session, and returns them.
async fn leave(client: &mut Client) -> Vec<Process> {
    let printed = client.ask(json!({"type": "bash", "command": LEAVES})).await["data"]["output"].take();
    let left: Vec<_> = printed.as_str().unwrap().lines().map(|pid| Process(pid.parse().unwrap())).collect();
    assert!(left.len() == 2 && left.iter().all(Process::lives), "{printed}");
    left
}

/// Returns the one child that stays. The shell that reads the start files runs beside it until it is done.
async fn watchdog(client: &Client) -> Process {
    let alone = async {
        loop {
            match client.process().children()[..] {
                [pid] => break pid,
                _ => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    };
    let pid = within(alone).await;
    let typed = command_line(pid);
    assert!(typed.starts_with("/bin/sh -c ") && typed.contains(" omp-watchdog "), "{typed}");
    Process(pid)
}

fn command_line(pid: u32) -> String {
    String::from_utf8_lossy(&std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default()).replace('\0', " ")
}

/// The process is not our child, so its end can only be polled.
async fn ends(process: Process) {
    within(async {
        while process.lives() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn after_the_last_session_only_the_watchdog_is_left_and_goes_with_omp() {
    let (_scene, client) = worked().await;
    let watchdog = watchdog(&client).await;
    assert_eq!(watchdog.children(), [0; 0], "it starts nothing while omp lives");
    assert_eq!(client.finish().await, Some(0));
    ends(watchdog).await;
}

#[tokio::test]
async fn the_watchdog_of_a_killed_omp_ends_what_is_left_and_then_itself() {
    let (_scene, mut client) = worked().await;
    let mut left = leave(&mut client).await;
    left.push(watchdog(&client).await);
    client.kill().await;
    for process in left {
        ends(process).await;
    }
}

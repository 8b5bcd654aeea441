//! Measures what containment adds to a command: at most 5 ms at the median.
//!
//! Run it with `cargo bench -p omp-exec --bench contain`. Contained and uncontained commands alternate, so that system load
//! affects both.

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a bench prints what it measures")]

use std::time::{Duration, Instant};

use omp_contain::{MapSources, default_map};
use omp_exec::{ChildEnv, Containment, Rung, Spawn};
use omp_types::{Access, ContainMode, Env, NetworkMode};

const RUNS: usize = 300;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().join("home");
    std::fs::create_dir_all(folder.path().join("temp")).expect("a folder");
    for made in ["work/.git/hooks", "work/.claude", ".ssh", ".aws", ".gnupg", ".kube", ".config/gcloud", ".mozilla"] {
        std::fs::create_dir_all(home.join(made)).expect("a folder");
    }
    // The hooks that git creates, and a few files that decide what is run.
    for hook in 0..14 {
        std::fs::write(home.join(format!("work/.git/hooks/{hook}.sample")), "x".repeat(2_000)).expect("a file");
    }
    for file in ["work/.git/config", "work/.claude/settings.json", "work/.envrc"] {
        std::fs::write(home.join(file), "").expect("a file");
    }
    runtime.block_on(commit(&home));
    for (rung, network, is_tracked) in [
        (Rung::Full, NetworkMode::On, false),
        (Rung::Full, NetworkMode::On, true),
        (Rung::Full, NetworkMode::Off, false),
        (Rung::Landlock, NetworkMode::On, true),
    ] {
        let mut contained = containment(&home, network).at_most(rung);
        if is_tracked {
            contained = contained.with_past(omp_undo::open_past);
        }
        contained.check().expect("this system can contain");
        let mut times: [Vec<Duration>; 2] = Default::default();
        for _ in 0..RUNS {
            for (containment, times) in [Containment::of_user(), contained.clone()].iter().zip(&mut times) {
                times.push(runtime.block_on(run(containment, &home)));
            }
        }
        let laid_out = runtime.block_on(async { median((0..RUNS).map(|_| laying_out(&contained)).collect()) });
        let [free, held] = times.map(median);
        let (added, ratio) = (held.saturating_sub(free), held.as_secs_f64() / free.as_secs_f64());
        println!(
            "{}, network {network:?}, tracked files {is_tracked}: free {free:?}, contained {held:?}: {added:?} more ({ratio:.2} times; limit 5 ms), of that {laid_out:?} in omp itself",
            rung.name(),
        );
    }
}

/// Commits the guarded files, so that they are tracked.
async fn commit(home: &std::path::Path) {
    let env = ChildEnv::default().set("PATH", "/usr/local/bin:/usr/bin:/bin").set("HOME", home.display().to_string());
    let script = "git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -qm one";
    let spawn = Spawn::new("/bin/sh", env, &Containment::of_user()).args(["-c", script]).cwd(home.join("work"));
    spawn.capture(4_096, Duration::from_secs(30)).await.expect("git");
}

fn containment(home: &std::path::Path, network: NetworkMode) -> Containment {
    // As usual, the home folder is not inside a folder that commands may write to.
    let temp = home.with_file_name("temp").display().to_string();
    let env: Env = [("PATH", "/usr/bin:/bin"), ("TMPDIR", &temp)].into_iter().collect();
    let (workspace, agent) = (home.join("work"), home.join(".omp/agent"));
    Containment::new(Access::new(default_map(&MapSources {
        mode: ContainMode::WorkspaceWrite,
        network,
        workspace: &workspace,
        cwd: &workspace,
        home,
        agent: &agent,
        env: &env,
        writable: Vec::new(),
        hidden: Vec::new(),
        shown: Vec::new(),
        sockets: Vec::new(),
        hosts: Vec::new(),
    })))
}

/// Measures the work before a command starts and after it ends: rules, watches, checks and restores.
fn laying_out(containment: &Containment) -> Duration {
    let began = Instant::now();
    drop(containment.prepare(&[], "").expect("a cage"));
    began.elapsed()
}

async fn run(containment: &Containment, home: &std::path::Path) -> Duration {
    let began = Instant::now();
    let env = ChildEnv::default().set("PATH", "/usr/bin:/bin");
    let spawn = Spawn::new("/bin/sh", env, containment).args(["-c", "echo x"]).cwd(home.join("work"));
    let captured = spawn.capture(64, Duration::from_secs(30)).await.expect("a process");
    assert_eq!(captured.output, b"x\n");
    began.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

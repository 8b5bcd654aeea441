//! What `omp-shell` reads in a script, held against what real shells run: thousands of generated scripts are run where
//! every program only writes its name down. A program that ran without having been seen is a hole in every rule.

mod scripts;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use omp_exec::{ChildEnv, Limits, Spawn};
use omp_types::Env;
use scripts::{PROGRAMS, Scripts};

use super::PATIENCE;

/// Of a hundred scripts at most so many may be beyond telling, or the comparison would mean little.
const MOST_UNKNOWN: usize = 15;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bash_runs_nothing_that_was_not_seen() {
    compare("/bin/bash", 5_000, 7).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nor_does_dash() {
    compare("/bin/dash", 1_000, 11).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nor_does_zsh() {
    compare("/bin/zsh", 1_000, 13).await;
}

async fn compare(shell: &str, count: usize, seed: u64) {
    if !Path::new(shell).exists() {
        return;
    }
    let stage = Stage::build(shell);
    let scripts: Vec<String> = Scripts::new(seed).take(count).collect();
    let logs = stage.run(&scripts).await;
    let (mut unknown, mut ran_something, mut holes) = (0, 0, String::new());
    for (script, log) in scripts.iter().zip(&logs) {
        let read = omp_shell::read(script);
        ran_something += usize::from(!log.is_empty());
        if !read.unknown.is_empty() {
            unknown += 1;
            continue;
        }
        let seen: BTreeSet<&str> = read.commands.iter().filter_map(omp_shell::Command::program).collect();
        for line in log.lines().filter(|line| !seen.contains(line)) {
            let _ = writeln!(holes, "--- {line:?} ran in\n{script}\n");
        }
    }
    assert!(holes.is_empty(), "{shell}: {}", holes.chars().take(6_000).collect::<String>());
    assert!(unknown * 100 <= count * MOST_UNKNOWN, "{shell}: {unknown} of {count} were unknown");
    assert!(ran_something * 100 >= count * 80, "{shell}: only {ran_something} of {count} ran anything");
}

/// A folder with programs that write down that they ran, and nothing else.
struct Stage {
    folder: tempfile::TempDir,
    shell: PathBuf,
}

impl Stage {
    fn build(shell: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for sub in ["bin", "scripts", "logs", "work"] {
            fs::create_dir(folder.path().join(sub)).unwrap();
        }
        for name in PROGRAMS {
            program(folder.path(), name, "");
        }
        // Wrappers do what the real ones do, as far as the scripts use them.
        program(
            folder.path(),
            "env",
            "while :; do case $1 in -i) shift;; -u) shift 2;; *=*) export \"$1\"; shift;; *) break;; esac; done; exec \"$@\"",
        );
        program(
            folder.path(),
            "sudo",
            "while :; do case $1 in -u) shift 2;; -n) shift;; *) break;; esac; done; exec \"$@\"",
        );
        program(
            folder.path(),
            "timeout",
            "while :; do case $1 in -k|-s) shift 2;; -*) shift;; *) break;; esac; done; shift; exec \"$@\"",
        );
        program(
            folder.path(),
            "nice",
            "while :; do case $1 in -n) shift 2;; -*) shift;; *) break;; esac; done; exec \"$@\"",
        );
        program(folder.path(), "nohup", "exec \"$@\"");
        program(folder.path(), "stdbuf", "while :; do case $1 in -*) shift;; *) break;; esac; done; exec \"$@\"");
        program(
            folder.path(),
            "xargs",
            "while :; do case $1 in -n|-P|-I) shift 2;; -*) shift;; *) break;; esac; done; \"$@\" x",
        );
        program(
            folder.path(),
            "find",
            "while [ $# -gt 0 ]; do case $1 in -exec) shift; set -- \"$@\"; r=; c=$1; shift; while [ \"$1\" != ';' ] && [ \"$1\" != + ]; do shift; done; \"$c\" x;; esac; shift; done",
        );
        for (name, real) in [("bash", "/bin/bash"), ("sh", "/bin/dash")] {
            program(folder.path(), name, &format!("exec {real} \"$@\""));
        }
        Self { folder, shell: shell.into() }
    }

    /// Runs the scripts, many with one start of the shell; gives what each of them ran.
    async fn run(&self, scripts: &[String]) -> Vec<String> {
        let root = self.folder.path();
        for (at, script) in scripts.iter().enumerate() {
            fs::write(root.join(format!("scripts/{at}")), script).unwrap();
            fs::write(root.join(format!("logs/{at}")), "").unwrap();
        }
        let half = scripts.len() / 2;
        tokio::join!(self.run_range(0, half), self.run_range(half, scripts.len()));
        (0..scripts.len()).map(|at| fs::read_to_string(root.join(format!("logs/{at}"))).unwrap()).collect()
    }

    async fn run_range(&self, from: usize, to: usize) {
        let root = self.folder.path();
        let env: Env = [("PATH", root.join("bin").to_str().unwrap()), ("HOME", root.join("work").to_str().unwrap())]
            .into_iter()
            .collect();
        // Each script is text that a subshell evaluates, so that a syntax error ends no other.
        let driver = "cd \"$1/work\" || exit 1; n=$2; while [ \"$n\" -lt \"$3\" ]; do \
                      ( LOG=\"$1/logs/$n\"; export LOG; IFS= read -r -d '' text <\"$1/scripts/$n\"; eval \"$text\" ) \
                      </dev/null >/dev/null 2>&1; n=$((n+1)); done";
        let driver = if self.shell.ends_with("dash") {
            driver.replace("IFS= read -r -d '' text <\"$1/scripts/$n\"; eval \"$text\"", ". \"$1/scripts/$n\"")
        } else {
            driver.to_owned()
        };
        let spawn = Spawn::new(&self.shell, ChildEnv::attended(&env), &omp_exec::Containment::none())
            .args(["-c", &driver, "driver", root.to_str().unwrap(), &from.to_string(), &to.to_string()])
            .limits(Limits::default());
        let captured = spawn.capture(10_000, PATIENCE * 5).await.unwrap();
        assert!(captured.exit.is_some_and(|exit| exit.code == 0), "{}", String::from_utf8_lossy(&captured.output));
    }
}

fn program(root: &Path, name: &str, then: &str) {
    let path = root.join("bin").join(name);
    let text = format!("#!/bin/dash\necho {name} >>\"$LOG\"\n{then}\n");
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

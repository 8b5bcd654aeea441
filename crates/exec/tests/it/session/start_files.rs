//! Tests of the user's start files: read once, within their time limit, with no process left running.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use omp_exec::{Shell, ShellSession};
use omp_types::Env;

use super::{run, session};
use crate::eventually;

fn session_within(limit: Duration, shell: &str, home: &Path) -> Arc<ShellSession> {
    let base = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("SHELL", shell), ("HOME", home.to_str().unwrap())];
    let env: Env = base.into_iter().collect();
    Arc::new(ShellSession::new(Shell::choose(&env), &env, home.canonicalize().unwrap()).start_limit(limit))
}

fn write(home: &Path, file: &str, text: &str) {
    std::fs::write(home.join(file), text).unwrap();
}

#[tokio::test]
async fn each_is_read_once() {
    let count = "echo rc >> reads; counted() { echo yes; }; alias a='echo alias'\n";
    for (profile, text) in [
        (".profile", "[ -n \"$BASH_VERSION\" ] && . \"$HOME/.bashrc\"\n"),
        (".bash_profile", "source ~/linked\n"),
        (".profile", "echo none\n"),
        (".bash_profile", "trap 'true mine' DEBUG\n. ~/.bashrc\n"),
        (".bash_login", "set -e; if true; then . ./.bashrc; fi; set +e\n"),
    ] {
        let home = tempfile::tempdir().unwrap();
        write(home.path(), ".bashrc", count);
        write(home.path(), profile, &format!("echo profile >> reads\n{text}"));
        std::os::unix::fs::symlink(home.path().join(".bashrc"), home.path().join("linked")).unwrap();
        let session = session("/bin/bash", home.path());
        session.read_start_files();
        let beside = super::session("/bin/bash", home.path());
        let both = tokio::join!(run(&session, "counted; a", &[]), run(&beside, "counted", &[]));
        assert_eq!(both, ("yes\nalias\n=0".to_owned(), "yes\n=0".to_owned()), "{profile}: {text}");
        let reads = std::fs::read_to_string(home.path().join("reads")).unwrap();
        assert_eq!(reads, "profile\nrc\n", "{profile}: {text}");
    }
}

#[tokio::test]
async fn one_that_hangs_or_ends_the_shell_is_told_of_once() {
    for (text, expect) in [
        ("sleep 300\n", "took longer than 0 seconds and were skipped"),
        ("exit 3\n", "ended the shell with exit code 3"),
        ("exec sh -c 'exit 0'\n", "ended the shell with exit code 0"),
    ] {
        let home = tempfile::tempdir().unwrap();
        write(home.path(), ".bashrc", &format!("echo x >> reads\n{text}"));
        let session = session_within(Duration::from_millis(700), "/bin/bash", home.path());
        session.read_start_files();
        assert_eq!(run(&session, "echo up", &[]).await, "up\n=0", "{text}");
        let told = session.take_notices();
        assert!(told.len() == 1 && told[0].contains(expect), "{told:?}");
        assert_eq!(run(&session, "echo up", &[]).await, "up\n=0", "{text}");
        assert!(session.take_notices().is_empty());
        assert_eq!(std::fs::read_to_string(home.path().join("reads")).unwrap(), "x\n", "{text}");
    }
}

#[tokio::test]
async fn a_slow_one_counts() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), ".bashrc", "read -t 1.3 x < <(sleep 3)\nslow() { echo known; }\nexport PATH=$PATH:/opt/slow\n");
    let session = session("/bin/bash", home.path());
    let told = run(&session, "slow; echo ${PATH##*:}", &[]).await;
    assert_eq!((told.as_str(), session.take_notices().len()), ("known\n/opt/slow\n=0", 0));
}

/// Daemons that leave their group, session and parent, as agents do.
#[tokio::test]
async fn what_they_have_started_is_ended() {
    let daemon = "env -i setsid sh -c 'setsid sh -c \"echo \\$\\$ >>~/pids; exec sleep 300\" & exit 0' HOME=$HOME\n";
    let home = tempfile::tempdir().unwrap();
    let daemon = daemon.replace("~/", &format!("{}/", home.path().display()));
    let agent = "if command -v ssh-agent >/dev/null; then eval $(ssh-agent) >/dev/null; echo $SSH_AGENT_PID >>~/pids; \
                 echo $SSH_AUTH_SOCK >~/socket; fi\n";
    write(
        home.path(),
        ".bashrc",
        &format!("{daemon}{agent}sleep 300 & echo $! >>~/pids\nwhile [ ! -s ~/pids ]; do :; done\n"),
    );
    let session = session("/bin/bash", home.path());
    assert_eq!(run(&session, "echo \"[$SSH_AUTH_SOCK$SSH_AGENT_PID]\"", &[]).await, "[]\n=0");
    let pids = std::fs::read_to_string(home.path().join("pids")).unwrap();
    let pids: Vec<u32> = pids.lines().map(|pid| pid.parse().unwrap()).collect();
    assert!(pids.len() >= 2);
    let is_dead = |pid: &u32| !std::fs::exists(format!("/proc/{pid}")).unwrap();
    eventually(|| pids.iter().all(is_dead)).await;
    if let Ok(socket) = std::fs::read_to_string(home.path().join("socket")) {
        assert!(!Path::new(socket.trim()).exists(), "an agent that is asked to end takes its socket along");
    }
}

#[tokio::test]
async fn variables_that_functions_need_are_known() {
    let home = tempfile::tempdir().unwrap();
    write(
        home.path(),
        ".bashrc",
        "greeting='hello  there'; words=(a b); greet() { echo \"$greeting ${words[1]}\"; }\n",
    );
    let session = session("/bin/bash", home.path());
    assert_eq!(run(&session, "greet; greeting=bye", &[]).await, "hello  there b\n=0");
    assert_eq!(run(&session, "greet", &[]).await, "bye b\n=0");
    if Path::new("/bin/zsh").exists() {
        std::fs::create_dir(home.path().join("fns")).unwrap();
        write(home.path(), "fns/lazy", "echo loaded\n");
        write(home.path(), ".zshrc", "fpath+=(~/fns); autoload -Uz lazy\n");
        let session = super::session("/bin/zsh", home.path());
        assert_eq!(run(&session, "lazy", &[]).await, "loaded\n=0");
        assert_eq!(run(&session, "lazy", &[]).await, "loaded\n=0");
    }
}

//! Tests of the state that one command leaves to the next.

mod kinds;
mod start_files;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use omp_exec::{Containment, Shell, ShellSession};
use omp_types::Env;

use crate::read_all;

fn session(shell: &str, home: &Path) -> Arc<ShellSession> {
    session_with(shell, home, &[])
}

fn session_with(shell: &str, home: &Path, more: &[(&str, &str)]) -> Arc<ShellSession> {
    let home_text = home.to_str().unwrap();
    let base = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("SHELL", shell), ("HOME", home_text), ("KEPT", "omp's")];
    let env: Env = base.into_iter().chain(more.iter().copied()).collect();
    Arc::new(ShellSession::new(Shell::choose(&env), &env, home.canonicalize().unwrap()))
}

/// Runs one command in the session; returns output and exit code.
async fn run(session: &Arc<ShellSession>, command: &str, extra: &[(&str, &str)]) -> String {
    let extra: BTreeMap<_, _> = extra.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let (spawn, turn) = session.begin(command, &session.cwd(), &extra, true, &Containment::of_user()).await;
    let mut child = spawn.start().unwrap();
    let text = read_all(&mut child).await;
    let exit = child.finish().await.unwrap().exit;
    turn.expect("nobody else is here").end();
    format!("{text}={}", exit.code)
}

fn shells() -> impl Iterator<Item = &'static str> {
    ["/bin/bash", "/usr/bin/bash", "/bin/zsh", "/usr/bin/zsh"].into_iter().filter(|shell| Path::new(shell).exists())
}

#[tokio::test]
async fn state_goes_on() {
    for shell in shells() {
        let home = tempfile::tempdir().unwrap();
        let session = session(shell, home.path());
        let at = home.path().canonicalize().unwrap();
        for (command, expect) in [
            ("mkdir -p sub/deep; cd sub", "=0".to_owned()),
            ("pwd", format!("{}/sub\n=0", at.display())),
            ("export A='x y' B=$'two\\nlines'; exit 7", "=7".into()),
            ("echo \"$A|$B\"", "x y|two\nlines\n=0".into()),
            ("greet() { echo \"hello $1\"; }; alias hi='echo aliased'", "=0".into()),
            ("greet you", "hello you\n=0".into()),
            ("hi", "aliased\n=0".into()),
            ("unset A; set -e; cd deep; false; echo never", "=1".into()),
            ("echo \"[$A]\"; basename \"$PWD\"; echo $#", "[]\ndeep\n0\n=0".into()),
            ("kill -9 $$", "=137".into()),
            ("greet again; basename \"$PWD\"", "hello again\ndeep\n=0".into()),
            ("set -C; cd ..", "=0".into()),
            ("basename \"$PWD\"", "sub\n=0".into()),
        ] {
            assert_eq!(run(&session, command, &[]).await, expect, "{shell}: {command}");
        }
    }
}

/// Whatever a variable contains, the next command has the value that a program of the previous one would have got.
#[tokio::test]
async fn variables_come_through_as_they_are() {
    let home = tempfile::tempdir().unwrap();
    let session = session_with("/bin/bash", home.path(), &[("odd.name", "handed on")]);
    let odd = "export Q='\"'\\''`$x\\!\\' N=$'a\\nb\\n' T=$'\\t\\e[1m\\x7f\\r' U='ä→😀' E= S='  a  b ' D=$'x\\ndeclare -x NOT=\"1\"'; \
        declare -x UNSET; declare -ax LIST=(1 2); declare -ix I=3; declare -rx R=4; LOCAL=5";
    let shown = "/usr/bin/env -0 | LC_ALL=C /usr/bin/sort -z | \
        LC_ALL=C /bin/grep -zaE '^(Q|N|T|U|E|S|D|I|R|LIST|UNSET|NOT|LOCAL|odd[.]name)=' | /usr/bin/tr '\\0' '|'";
    let during = run(&session, &format!("{odd}; {shown}"), &[]).await;
    assert!(
        during.contains("Q=")
            && during.contains("I=3")
            && during.contains("odd.name=handed on")
            && !during.contains("LOCAL="),
        "{during}"
    );
    for _ in 0..2 {
        assert_eq!(run(&session, shown, &[]).await, during);
    }
    // Exported functions as well.
    run(&session, "f() { echo from f; }; export -f f", &[]).await;
    for _ in 0..2 {
        assert_eq!(run(&session, "/bin/bash -c f", &[]).await, "from f\n=0");
    }
    assert_eq!(run(&session, shown, &[]).await, during);
    // A trace of the command shows nothing of this.
    assert_eq!(run(&session, "set -x; true", &[]).await, "++ true\n=0");
}

#[tokio::test]
async fn variables_of_one_call_stay_there() {
    let home = tempfile::tempdir().unwrap();
    let session = session("/bin/bash", home.path());
    run(&session, "export KEPT=before", &[]).await;
    assert_eq!(run(&session, "echo $KEPT $NEW", &[("KEPT", "now"), ("NEW", "n")]).await, "now n\n=0");
    assert_eq!(run(&session, "echo $KEPT $NEW", &[]).await, "before\n=0");
}

#[tokio::test]
async fn a_second_command_runs_beside_the_first() {
    let home = tempfile::tempdir().unwrap();
    let session = session("/bin/bash", home.path());
    run(&session, "export A=1", &[]).await;
    let (_, first) = session.begin("true", home.path(), &BTreeMap::new(), true, &Containment::of_user()).await;
    assert!(first.is_some());
    let (spawn, second) =
        session.begin("echo $A; export A=2", home.path(), &BTreeMap::new(), true, &Containment::of_user()).await;
    assert!(second.is_none());
    assert_eq!(read_all(&mut spawn.start().unwrap()).await, "1\n");
    drop(first);
    assert_eq!(run(&session, "echo $A", &[]).await, "1\n=0");
}

#[tokio::test]
async fn the_users_own_aliases_are_known() {
    for (shell, file) in [("/bin/bash", ".bashrc"), ("/bin/zsh", ".zshrc")] {
        if !Path::new(shell).exists() {
            continue;
        }
        let home = tempfile::tempdir().unwrap();
        let rc = "case $- in *i*) ;; *) return ;; esac\necho welcome\nalias hey='echo from alias'\nalias rm='rm -i'\n\
                  mine() { echo from function; }\nexport PATH=$PATH:/opt/mine\n";
        std::fs::write(home.path().join(file), rc).unwrap();
        let session = session(shell, home.path());
        let told = run(&session, "hey; mine; touch f; rm f; ls; case $PATH in */opt/mine) echo path;; esac", &[]).await;
        assert_eq!(told, "from alias\nfrom function\npath\n=0", "{shell}");
    }
}

#[tokio::test]
async fn the_profile_is_read_once_unless_forbidden() {
    for (shell, profile) in [("/bin/bash", ".profile"), ("/bin/zsh", ".zprofile")] {
        if !Path::new(shell).exists() {
            continue;
        }
        let home = tempfile::tempdir().unwrap();
        let text = "echo read >> reads\nexport FROM_PROFILE=yes KEPT=profile OPENAI_API_KEY=sk PATH=/opt/first:$PATH\n";
        std::fs::write(home.path().join(profile), text).unwrap();
        let look = "case $PATH in *:/opt/first*) p=${PATH%%:*};; esac; echo \"$FROM_PROFILE|$KEPT|$OPENAI_API_KEY|$p\"";
        let with = session(shell, home.path());
        assert_eq!(run(&with, look, &[]).await, "yes|omp's||/usr/local/bin\n=0", "{shell}");
        // A login shell would have read the profile again; the one that runs the command is not a login shell.
        run(&with, "export FROM_PROFILE=changed", &[]).await;
        assert_eq!(run(&with, look, &[]).await, "changed|omp's||/usr/local/bin\n=0", "{shell}");
        run(&session(shell, home.path()), "true", &[]).await;
        assert_eq!(std::fs::read_to_string(home.path().join("reads")).unwrap(), "read\n", "{shell}");
        for name in ["PI_BASH_NO_LOGIN", "CLAUDE_BASH_NO_LOGIN"] {
            let without = session_with(shell, home.path(), &[(name, "1")]);
            assert_eq!(run(&without, look, &[]).await, "|omp's||\n=0", "{shell} {name}");
        }
    }
}

#[tokio::test]
async fn options_of_the_start_file_hold_for_every_command() {
    let rows = [
        ("/bin/bash", ".bashrc", "shopt -s nullglob extglob; set -o pipefail", "false | true"),
        ("/bin/zsh", ".zshrc", "setopt null_glob pipefail", "false | true"),
    ];
    for (shell, file, options, failing) in rows.into_iter().filter(|(shell, ..)| Path::new(shell).exists()) {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join(file), options).unwrap();
        let session = session(shell, home.path());
        for _ in 0..2 {
            assert_eq!(run(&session, "f() { :; }; echo *.none", &[]).await, "\n=0", "{shell}");
            assert_eq!(run(&session, failing, &[]).await, "=1", "{shell}");
        }
        // An option that one command sets is not set in another.
        run(&session, "set +o pipefail; alias x=y", &[]).await;
        assert_eq!(run(&session, failing, &[]).await, "=1", "{shell}");
    }
}

/// A command knows the path of its state files, and may be contained while omp, which reads them, is not.
#[tokio::test]
async fn what_a_command_puts_in_the_place_of_its_state_is_not_read() {
    let home = tempfile::tempdir().unwrap();
    let session = session("/bin/bash", home.path());
    assert_eq!(run(&session, "export OWN=1", &[]).await, "=0");
    let state = session.folder().unwrap().join("env").display().to_string();
    for planted in [
        // The environment of the process that opens it, including provider keys.
        format!("ln -s /proc/self/environ {state}"),
        format!("mkfifo {state}; trap - EXIT"),
        format!("mkdir {state}; trap - EXIT"),
    ] {
        assert_eq!(run(&session, &format!("{planted}; exit 0"), &[]).await, "=0", "{planted}");
        assert_eq!(
            run(&session, &format!("rm -rf {state}; echo \"$OWN $KEPT\""), &[]).await,
            "1 omp's\n=0",
            "{planted}"
        );
    }
}

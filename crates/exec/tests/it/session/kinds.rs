//! Tests for every kind of shell: the command is in no argument, and large variables and unusual folders do no harm.

use std::path::Path;
use std::sync::Arc;

use omp_exec::{Shell, ShellSession};
use omp_types::Env;

use super::{run, session, shells};

fn session_of(shell: &str, home: &Path, more: &[(&str, &str)]) -> Arc<ShellSession> {
    let base = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("HOME", home.to_str().unwrap())];
    let env: Env = base.into_iter().chain(more.iter().copied()).collect();
    Arc::new(ShellSession::new(Shell::at(shell, &env), &env, home.canonicalize().unwrap()))
}

fn kinds() -> impl Iterator<Item = &'static str> {
    ["/bin/bash", "/bin/zsh", "/bin/dash", "/bin/sh", "/usr/bin/fish"]
        .into_iter()
        .filter(|shell| Path::new(shell).exists())
}

#[tokio::test]
async fn a_command_is_not_found_by_its_own_words() {
    for shell in kinds() {
        let home = tempfile::tempdir().unwrap();
        let session = session_of(shell, home.path(), &[]);
        let needle = format!("needle-of-{}", home.path().file_name().unwrap().to_str().unwrap());
        let last = if shell.ends_with("fish") { "$last_pid" } else { "$!" };
        // `pkill -f` must end the process that is meant, and neither this shell nor an earlier one.
        let command = format!(
            "mkfifo up never; sh -c 'echo >up; read y <never; : {needle}' & read x <up; echo {last}; pgrep -f '{needle}'; pgrep -f 'no {needle}'"
        );
        let told = run(&session, &command, &[]).await;
        let lines: Vec<&str> = told.lines().collect();
        assert!(lines.len() == 3 && lines[0] == lines[1] && lines[2] == "=1", "{shell}: {told}");
    }
}

#[tokio::test]
async fn errors_count_lines_from_the_commands_first() {
    let home = tempfile::tempdir().unwrap();
    for (shell, expect) in [("/bin/bash", "bash: line 2: nope"), ("/bin/zsh", "2: command not found: nope")] {
        let session = session_of(shell, home.path(), &[]);
        let told = run(&session, "true\nnope", &[]).await;
        assert!(told.contains(expect), "{told}");
        assert_eq!(
            run(&session, "echo \"$# [${OMP_COMMAND-}${OMP_SETUP-}${OMP_FD-}]\"; exit 7", &[]).await,
            "0 []\n=7"
        );
    }
}

#[tokio::test]
async fn a_command_that_cannot_be_parsed_fails_alone() {
    for shell in kinds() {
        let home = tempfile::tempdir().unwrap();
        let session = session_of(shell, home.path(), &[]);
        for broken in ["echo \"unterminated", "echo $(", "if true; then", "f() { case $1 in @(a|b)) ;"] {
            let told = run(&session, broken, &[]).await;
            assert!(!told.ends_with("=0") && !told.contains("OMP_"), "{shell}: {told}");
            assert_eq!(run(&session, "echo fine", &[]).await, "fine\n=0", "{shell} after {broken}");
        }
    }
}

#[tokio::test]
async fn a_variable_too_large_for_programs_stays_in_the_shell() {
    for shell in kinds().filter(|shell| !shell.ends_with("fish")) {
        let home = tempfile::tempdir().unwrap();
        let session = session_of(shell, home.path(), &[]);
        let make = "B=xxxxxxxxxxxxxxxx; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do B=$B$B; done; export B=\"$B'\"; export SMALL=1";
        assert_eq!(run(&session, make, &[]).await, "=0", "{shell}");
        assert_eq!(session.oversized(), [("B".to_owned(), 262_145)], "{shell}");
        let size = "echo \"${#B} $SMALL\"; export SMALL=2; cd /";
        assert_eq!(run(&session, size, &[]).await, "262145 1\n=0", "{shell}");
        // As in any shell, no program can be started, and the shell continues.
        let told = run(&session, "/bin/ls; echo \"after $SMALL $PWD\"", &[]).await;
        assert!(
            told.to_lowercase().contains("argument list too long") && told.ends_with("after 2 /\n=0"),
            "{shell}: {told}"
        );
        assert_eq!(run(&session, "unset B", &[]).await, "=0", "{shell}");
        assert_eq!(session.oversized(), [], "{shell}");
        assert_eq!(run(&session, "/bin/echo \"[$B] $SMALL\"", &[]).await, "[] 2\n=0", "{shell}");
    }
}

#[tokio::test]
async fn a_command_may_be_larger_than_an_argument() {
    for shell in kinds() {
        let home = tempfile::tempdir().unwrap();
        let session = session_of(shell, home.path(), &[]);
        let text = "some words that go on\n".repeat(20_000);
        let command = match shell.ends_with("fish") {
            true => format!("printf %s '{text}' | wc -c"),
            false => format!("cat <<'END' | wc -c\n{text}END"),
        };
        let told = run(&session, &command, &[]).await;
        assert_eq!(told.trim_start(), format!("{}\n=0", text.len()), "{shell}");
    }
}

#[tokio::test]
async fn state_goes_on_in_other_shells_too() {
    for shell in kinds() {
        let home = tempfile::tempdir().unwrap();
        let odd = home.path().join("it's a \"home\" für $x");
        std::fs::create_dir(&odd).unwrap();
        let session = session_of(shell, &odd, &[("TMPDIR", odd.to_str().unwrap()), ("LANG", "C.UTF-8")]);
        let set = if shell.ends_with("fish") { "set -gx A 'x  y'" } else { "export A='x  y'" };
        assert_eq!(run(&session, &format!("{set}; mkdir sub; cd sub"), &[]).await, "=0", "{shell}");
        let told = run(&session, "echo \"$A\"; basename \"$PWD\"; exit 3", &[]).await;
        assert_eq!(told, "x  y\nsub\n=3", "{shell}");
    }
}

/// What `source venv/bin/activate` does.
const ACTIVATE: &str = "deactivate () {\n    if [ -n \"${_OLD_PATH:-}\" ] ; then\n        PATH=\"${_OLD_PATH:-}\"\n        \
    export PATH\n        unset _OLD_PATH\n    fi\n    hash -r 2> /dev/null\n    unset VIRTUAL_ENV\n    unset -f deactivate\n}\n\
    _OLD_PATH=\"$PATH\"\nPATH=\"/opt/venv/bin:$PATH\"\nexport PATH VIRTUAL_ENV=/opt/venv\n";

#[tokio::test]
async fn variables_that_are_not_exported_go_on() {
    for shell in shells() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("activate"), ACTIVATE).unwrap();
        let session = session(shell, home.path());
        for (command, expect) in [
            (". ./activate", "=0"),
            ("echo \"${PATH%%:*} $VIRTUAL_ENV\"", "/opt/venv/bin /opt/venv\n=0"),
            ("deactivate; echo \"${PATH%%:*}[$VIRTUAL_ENV]\"", "/usr/local/bin[]\n=0"),
            (
                "echo \"${PATH%%:*}[$_OLD_PATH]\"; type deactivate >/dev/null 2>&1 || echo gone",
                "/usr/local/bin[]\ngone\n=0",
            ),
            ("own='a b'; list=(1 'two three'); typeset -A map; map[k]=v; IFS=:; n=$((1 + 1))", "=0"),
            ("echo \"$own|${list[*]}|${map[k]}|$n\"; sh -c 'echo [$own]'", "a b|1 two three|v|2\n[]\n=0"),
            ("unset own list; echo \"[$own${list[*]}]${map[k]}\"", "[]v\n=0"),
            ("echo \"[$own${list[*]}]\"", "[]\n=0"),
        ] {
            assert_eq!(run(&session, command, &[]).await, expect, "{shell}: {command}");
        }
    }
}

//! Tests with a real Python.

use std::sync::Mutex as Plain;

use super::*;
use crate::artifacts::NoArtifacts;

struct Stage {
    python: UserPython,
    _folder: tempfile::TempDir,
}

fn stage() -> Stage {
    let folder = tempfile::tempdir().unwrap();
    let env: Env = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("OPENAI_API_KEY", "sk-secret")].into_iter().collect();
    let python = UserPython::new(env, folder.path().to_owned(), Arc::new(NoArtifacts), Containment::of_user());
    Stage { python, _folder: folder }
}

impl Stage {
    async fn run(&self, code: &str) -> UserCommand {
        self.python.run(code, &CancellationToken::new(), &|_| {}).await.unwrap()
    }
}

#[tokio::test]
async fn variables_stay_and_the_last_value_is_shown() {
    let stage = stage();
    for (code, output, exit_code) in [
        ("x = 20", "", 0),
        ("def double(y):\n    return 2 * y\ndouble(x) + 2", "42\n", 0),
        ("print('a'); 'b'", "a\n'b'\n", 0),
        ("None", "", 0),
        ("_", "'b'\n", 0),
        ("import os; os.environ.get('OPENAI_API_KEY', 'no key')", "'no key'\n", 0),
        ("import subprocess; _ = subprocess.run(['echo', 'child'])", "child\n", 0),
        ("raise SystemExit(3)", "", 1),
        ("'still here'", "'still here'\n", 0),
        ("print('é' * 3, flush=True)", "ééé\n", 0),
    ] {
        let ran = stage.run(code).await;
        assert_eq!((ran.output.as_str(), ran.exit_code), (output, Some(exit_code)), "{code}");
    }
}

#[tokio::test]
async fn errors_show_the_line_and_nothing_of_the_driver() {
    let stage = stage();
    let ran = stage.run("def f():\n    return 1 / 0\nf()").await;
    assert_eq!(ran.exit_code, Some(1));
    assert!(ran.output.contains("return 1 / 0") && ran.output.contains("ZeroDivisionError"), "{}", ran.output);
    assert!(!ran.output.contains("<string>"), "{}", ran.output);
    let ran = stage.run("x ===").await;
    assert!(ran.output.contains("SyntaxError"), "{}", ran.output);
    let ran = stage.run("input()").await;
    assert!(ran.output.contains("EOFError"), "{}", ran.output);
}

#[tokio::test]
async fn an_interrupt_ends_the_cell_and_keeps_the_variables() {
    let stage = stage();
    stage.run("kept = 7").await;
    let cancel = CancellationToken::new();
    let seen = Plain::new(String::new());
    let ran = stage
        .python
        .run("print('begun', flush=True)\nimport time\ntime.sleep(300)", &cancel, &|text| {
            seen.lock().unwrap().push_str(text);
            cancel.cancel();
        })
        .await
        .unwrap();
    assert!(ran.cancelled && ran.output.starts_with("begun\n"), "{ran:?}");
    assert!(seen.lock().unwrap().contains("begun"));
    assert_eq!(stage.run("kept").await.output, "7\n");
}

#[tokio::test]
async fn a_python_that_dies_is_started_anew() {
    let stage = stage();
    let ran = stage.run("import os; print('last words', flush=True); os._exit(9)").await;
    assert_eq!(ran.exit_code, None);
    assert_eq!(ran.notices, [RESTARTED]);
    assert_eq!(stage.run("1 + 1").await.output, "2\n");
}

#[tokio::test]
async fn what_cannot_be_interrupted_is_ended() {
    let stage = stage();
    let cancel = CancellationToken::new();
    let stubborn = "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('begun', flush=True)\n\
        while True: time.sleep(1)";
    let ran = stage.python.run(stubborn, &cancel, &|_| cancel.cancel()).await.unwrap();
    assert_eq!((ran.exit_code, ran.notices.as_slice()), (None, [RESTARTED.to_owned()].as_slice()));
    assert_eq!(stage.run("'again'").await.output, "'again'\n");
}

#[tokio::test]
async fn what_is_printed_is_shown_at_once_whatever_it_holds() {
    let stage = stage();
    let cancel = CancellationToken::new();
    let code = "import os, time, __main__\nos.write(1, __main__.end_mark[:1] + b'begun\\n')\ntime.sleep(300)";
    let cancel_it = |_: &str| cancel.cancel();
    let ran = stage.python.run(code, &cancel, &cancel_it);
    let ran = timeout(Duration::from_secs(60), ran).await.expect("nothing was shown").unwrap();
    assert!(ran.cancelled && ran.output.contains("begun\n"), "{ran:?}");
    // The prefix of an end mark is not lost if it turns out to be none.
    let ran = stage.run("import os, __main__; _ = os.write(1, __main__.end_mark[:9] + b'end')").await;
    assert!(ran.output.ends_with("end"), "{ran:?}");
}

#[tokio::test]
async fn much_output_is_cut_and_told() {
    let stage = stage();
    let ran = stage.run("for i in range(200000): print('line', i)").await;
    assert!(ran.truncated && ran.output.len() < 60 * 1024, "{}", ran.output.len());
    assert!(ran.output.contains("line 199999"));
}

#[tokio::test]
async fn without_python_it_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let env: Env = [("PATH", folder.path().to_str().unwrap())].into_iter().collect();
    let python = UserPython::new(env, folder.path().to_owned(), Arc::new(NoArtifacts), Containment::of_user());
    let error = python.run("1", &CancellationToken::new(), &|_| {}).await.unwrap_err();
    assert!(error.contains("python3") && error.contains("hint:"), "{error}");
}

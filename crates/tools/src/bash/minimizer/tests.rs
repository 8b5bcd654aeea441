//! Realistic outputs before and after.

use super::*;

#[track_caller]
fn check(command: &str, raw: &str, expect: &str) {
    let minimizer = Minimizer::of(command, &MinimizerOptions::default()).expect("the command is known");
    assert_eq!(minimizer.shorten(raw).as_deref(), Some(expect), "{command}");
}

fn many(count: usize, line: impl Fn(usize) -> String) -> String {
    (1..=count).map(|number| line(number) + "\n").collect()
}

#[test]
fn cargo_keeps_the_failure_whole() {
    let failure = "test parse::bad ... FAILED\n\nfailures:\n\n---- parse::bad stdout ----\n\nthread 'parse::bad' \
                   panicked at src/lib.rs:9:5:\nassertion `left == right` failed\n  left: 1\n right: 2\n\n\nfailures:\n    \
                   parse::bad\n\ntest result: FAILED. 30 passed; 1 failed; 0 ignored; finished in 0.01s\n";
    let raw = many(12, |number| format!("   Compiling dep{number} v1.0.{number}"))
        + "    Finished `test` profile in 3.2s\n\nrunning 31 tests\n"
        + &many(30, |number| format!("test parse::case_{number} ... ok"))
        + failure;
    let expect = "[… 12 lines of success or progress]\n    Finished `test` profile in 3.2s\n\nrunning 31 tests\n\
                  [… 30 lines of success or progress]\n"
        .to_owned()
        + failure;
    check("cargo +nightly test --lib", &raw, &expect);
    check("cd x && RUST_LOG=1 cargo test", &raw, &expect);
}

#[test]
fn a_warning_among_the_compiled_stays() {
    let warning = "warning: unused variable: `x`\n --> src/main.rs:2:9\n  |\n2 |     let x = 1;\n  |         ^\n";
    let raw = many(10, |number| format!("   Compiling crate-with-a-long-name-{number} v0.{number}.0"))
        + warning
        + &many(10, |number| format!("   Compiling another-crate-of-it-{number} v0.{number}.0"));
    check(
        "cargo build",
        &raw,
        &format!("[… 10 lines of success or progress]\n{warning}[… 10 lines of success or progress]\n"),
    );
}

#[test]
fn other_runners() {
    let pytest_end = "tests/test_b.py::test_x FAILED   [100%]\nE   assert 1 == 2\n= 1 failed, 20 passed in 0.12s =\n";
    let raw = many(20, |number| format!("tests/test_a.py::test_{number} PASSED   [ {number}%]")) + pytest_end;
    check("python -m pytest -v", &raw, &format!("[… 20 lines of success or progress]\n{pytest_end}"));

    let jest_end = "FAIL src/b.test.ts\n  ● adds\n    expect(received).toBe(expected)\nTests: 1 failed, 12 passed\n";
    let raw = many(12, |number| format!("PASS src/component-{number}.test.ts ({number} ms)")) + jest_end;
    for command in ["npx jest", "npm test", "pnpm exec vitest run"] {
        check(command, &raw, &format!("[… 12 lines of success or progress]\n{jest_end}"));
    }

    let go_end = "--- FAIL: TestB (0.00s)\n    b_test.go:7: got 1, want 2\nFAIL\nFAIL\texample.com/b\t0.004s\n";
    let raw = many(15, |number| format!("=== RUN   TestCase{number}\n--- PASS: TestCase{number} (0.00s)")) + go_end;
    check("go test -v ./...", &raw, &format!("[… 30 lines of success or progress]\n{go_end}"));

    let ctest_end = "The following tests FAILED:\n\t  3 - c (Failed)\nErrors while running CTest\n";
    let raw =
        many(9, |n| format!("      Start  {n}: unit_{n}\n {n}/9 Test  #{n}: unit_{n} ........   Passed    0.01 sec"));
    check("ctest", &(raw + ctest_end), &format!("[… 18 lines of success or progress]\n{ctest_end}"));
}

#[test]
fn packages_compilers_and_git() {
    let raw = many(14, |number| format!("npm warn deprecated package-{number}@1.0.0: no longer supported"))
        + "\nadded 210 packages in 4s\n";
    check("npm install", &raw, "[… 14 lines of success or progress]\n\nadded 210 packages in 4s\n");

    let raw =
        many(9, |number| format!("Collecting pkg{number}\n  Downloading pkg{number}-1.0-py3-none-any.whl (12 kB)"))
            + "ERROR: No matching distribution found for pkg10\n";
    let expect = "[… 18 lines of success or progress]\nERROR: No matching distribution found for pkg10\n";
    check("pip install -r r.txt", &raw, expect);

    let error = "src/f7.c:3:10: error: expected ';' before 'return'\nmake: *** [Makefile:4: f7.o] Error 1\n";
    let raw = many(9, |number| format!("gcc -O2 -Wall -c src/f{number}.c -o f{number}.o")) + error;
    check("make -j4", &raw, &format!("[… 9 lines of success or progress]\n{error}"));

    let raw = many(40, |number| format!("Receiving objects:  {number}% (410/1000), 1.02 MiB | 2.00 MiB/s"))
        + "fatal: early EOF\n";
    check("git clone https://example.com/x", &raw, "[… 40 lines of success or progress]\nfatal: early EOF\n");

    let raw = many(9, |number| format!("Unpacking lib{number} (1.0) ...")) + "E: Sub-process failed\n";
    check("sudo apt-get install -y x", &raw, "[… 9 lines of success or progress]\nE: Sub-process failed\n");
}

#[test]
fn what_is_unknown_filtered_or_short_is_left_alone() {
    let options = MinimizerOptions::default();
    for command in
        ["ls", "cargo run", "git show", "git log", "cargo test | grep ok", "cargo test > log", "echo cargo test"]
    {
        assert!(Minimizer::of(command, &options).is_none(), "{command}");
    }
    let minimizer = Minimizer::of("cargo test", &options).unwrap();
    assert_eq!(minimizer.shorten(&many(7, |number| format!("test t{number} ... ok"))), None);
    let code = many(200, |number| format!("warning: number {number}")) + &many(9, |n| format!("test t{n} ... ok"));
    assert_eq!(minimizer.shorten(&code), None);
}

#[test]
fn lists_choose_programs() {
    let with = |only: &[&str], except: &[&str]| MinimizerOptions {
        only: only.iter().map(|name| (*name).to_owned()).collect(),
        except: except.iter().map(|name| (*name).to_owned()).collect(),
        ..MinimizerOptions::default()
    };
    assert!(Minimizer::of("cargo test", &with(&["cargo"], &[])).is_some());
    assert!(Minimizer::of("cargo test", &with(&["pytest"], &[])).is_none());
    assert!(Minimizer::of("cargo test", &with(&[], &["cargo"])).is_none());
    assert!(Minimizer::of("cargo test", &MinimizerOptions { enabled: false, ..MinimizerOptions::default() }).is_none());
}

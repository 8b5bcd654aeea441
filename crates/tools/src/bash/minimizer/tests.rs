//! Tests realistic outputs before and after shortening.

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
fn rspec_examples_count_only_when_they_add_up() {
    let failures = "\nFailures:\n\n  1) Sum overflows\n     Failure/Error: expect(sum).to eq(2)\n\n       expected: 2\n            \
                    got: 1\n     # ./spec/sum_spec.rb:9:in `block (2 levels) in <top (required)>'\n\nFinished in 0.02 \
                    seconds (files took 0.1 seconds to load)\n15 examples, 1 failure, 1 pending\n\nFailed \
                    examples:\n\nrspec ./spec/sum_spec.rb:8 # Sum overflows\n";
    let tree = |extra: &str| {
        "Randomized with seed 1\n\nSum\n".to_owned()
            + &many(12, |number| format!("  adds the numbers of case {number} without losing any of them"))
            + extra
            + "  overflows (FAILED - 1)\n  of money\n    rounds\n    converts (PENDING: no rates yet)\n"
            + failures
    };
    let expect = "Randomized with seed 1\n\nSum\n[… 12 lines of success or progress]\n  overflows (FAILED - 1)\n  of \
                  money\n[… 1 line of success or progress]\n    converts (PENDING: no rates yet)\n"
        .to_owned()
        + failures;
    check("bundle exec rspec -fd", &tree(""), &expect);
    check(
        "rspec",
        &tree("printed at the margin\n"),
        &expect.replace("  overflows (F", "printed at the margin\n  overflows (F"),
    );
    let minimizer = Minimizer::of("rspec", &MinimizerOptions::default()).unwrap();
    for printed in ["  from /app/sum.rb:3\n", "    {debug: true}\n  }\n"] {
        assert_eq!(minimizer.shorten(&tree(printed)), None, "{printed}");
    }
    assert_eq!(minimizer.shorten(&tree("").replace("15 examples", "many examples")), None);
}

#[test]
fn minitest_and_bundler() {
    let end = "SumTest#test_overflow = 0.00 s = F\n\n  1) Failure:\nSumTest#test_overflow [test/sum_test.rb:9]:\nExpected: \
               2\n  Actual: 1\n\n13 runs, 13 assertions, 1 failures, 0 errors, 0 skips\n";
    let raw = many(20, |number| format!("SumTest#test_case_{number} = 0.01 s = .")) + end;
    check("bin/rails test -v", &raw, &format!("[… 20 lines of success or progress]\n{end}"));

    let end = "Gem::Ext::BuildError: ERROR: Failed to build gem native extension.\n";
    let raw = many(9, |number| format!("Using gem-{number} 1.0.{number}\nInstalling other-{number} 2.0")) + end;
    check("bundle install", &raw, &format!("[… 18 lines of success or progress]\n{end}"));
}

#[test]
fn tsc_keeps_errors_and_what_they_stop() {
    let errors = "packages/b/src/x.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.\n\
                  /w/node_modules/a/index.d.ts(1,1): error TS2304: Cannot find name 'Buffer'.\n\
                  [10:00:01 AM] Skipping build of project 'packages/c/tsconfig.json' because its dependency \
                  'packages/b' has errors\n[10:00:01 AM] Project 'packages/c/tsconfig.json' can't be built because its \
                  dependency 'packages/b' has errors\n\nFound 2 errors.\n";
    let raw = many(6, |number| {
        format!(
            "[10:00:00 AM] Project 'packages/p{number}/tsconfig.json' is out of date because output file \
             'packages/p{number}/dist/x.js' does not exist\n[10:00:00 AM] Building project \
             '/w/packages/p{number}/tsconfig.json'...\nTSFILE: /w/packages/p{number}/dist/x.js\n\
             /w/node_modules/typescript/lib/lib.es{number}.d.ts"
        )
    }) + errors;
    check("npx tsc -b --verbose", &raw, &format!("[… 24 lines of success or progress]\n{errors}"));
}

#[test]
fn compilers_keep_diagnostics() {
    let error = "main.c: In function 'main':\nmain.c:3:5: error: expected ';' before 'return'\n    3 |     return 0;\n      |     \
                 ^~~~~~\nIn file included from main.c:1:\na.h:2:9: warning: \"N\" redefined\n";
    let raw = many(5, |number| {
        format!(
            "COLLECT_GCC_OPTIONS='-v' '-o' 'program{number}' '-mtune=generic' '-march=x86-64'\n\
             ignoring nonexistent directory \"/usr/lib/gcc/x86_64-linux-gnu/{number}/include-fixed\"\n\
             LIBRARY_PATH=/usr/lib/gcc/x86_64-linux-gnu/{number}/:/lib/:/usr/lib/"
        )
    }) + error;
    for command in ["gcc -v main.c", "clang -v main.c -o program", "/usr/bin/c++ -v main.cc"] {
        check(command, &raw, &format!("[… 15 lines of success or progress]\n{error}"));
    }
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

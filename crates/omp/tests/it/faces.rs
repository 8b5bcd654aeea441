//! `omp read`, `omp grep` and `omp find` as people and scripts use them.

use omp_testkit::TempWorkspace;
use serde_json::Value;

use crate::harness::Omp;

fn workspace() -> TempWorkspace {
    TempWorkspace::new(&[
        ("src/main.rs", "fn main() {\n    greet();\n}\n"),
        ("src/greet.rs", "pub fn greet() {}\n"),
        ("notes.txt", "nothing\n"),
        (".ignore", "target\n"),
        ("target/out.rs", "fn greet() {}\n"),
    ])
    .unwrap()
}

async fn check(args: &[&str], code: i32, expect: &[&str], never: &[&str]) {
    let workspace = workspace();
    let ran = Omp::bare(&workspace).args(args).run().await.exits(code);
    for words in expect {
        assert!(ran.stdout.contains(words), "{args:?} {words}: {ran}");
    }
    for words in never {
        assert!(!ran.stdout.contains(words), "{args:?} {words}: {ran}");
    }
    assert_eq!(ran.stderr, "", "{ran}");
}

#[tokio::test]
async fn what_is_found_is_printed() {
    check(&["read", "src/main.rs"], 0, &["[src/main.rs#", "1:fn main() {", "2:    greet();"], &[]).await;
    check(&["read", "src/main.rs:2"], 0, &["2:    greet();"], &[]).await;
    check(&["read", "src"], 0, &["main.rs", "greet.rs"], &[]).await;
    check(&["grep", "greet"], 0, &["[src/greet.rs#", "*2:    greet();", " 1:fn main()"], &["out.rs"]).await;
    check(&["search", "GREET", "-i", "src/*.rs", "-C0"], 0, &["*2:    greet();"], &["fn main"]).await;
    check(&["grep", "greet", "--no-ignore", "target"], 0, &["target/out.rs"], &[]).await;
    check(&["grep", "greet", "--skip", "1"], 0, &["[Matches 2-2 of 2 in 2 files]"], &[]).await;
    check(&["find", "*.rs"], 0, &["src/main.rs\n", "src/greet.rs\n"], &["notes", "out.rs"]).await;
    check(&["find", "*.rs", "notes.txt", "--limit", "1"], 0, &["2 older files left out (limit 1)"], &[]).await;
    check(&["find", "*ignore", "--no-hidden"], 1, &["No files found"], &[]).await;
}

#[tokio::test]
async fn nothing_found_is_one() {
    check(&["grep", "no such thing"], 1, &["No matches found\n"], &[]).await;
    check(&["find", "*.none"], 1, &["No files found matching pattern\n"], &[]).await;
}

#[tokio::test]
async fn what_cannot_be_looked_for_is_two() {
    let workspace = workspace();
    for (args, words) in [
        (&["read", "src/gone.zig"][..], "gone.zig"),
        (&["read"][..], "<PATH>"),
        (&["read", ""], "the path is empty"),
        (&["read", "/dev/null"], "/dev/null"),
        (&["read", "src/main.rs:999"], "999"),
        (&["grep", "["], "Invalid regex"),
        (&["grep", "a(?=b)"], "look-ahead"),
        (&["grep", " "], "Pattern must not be empty"),
        (&["grep", "x", ""], "`paths` must contain non-empty paths or globs"),
        (&["grep", "x", "/dev/null"], "/dev/null is a character device"),
        (&["grep", "x", "--skip", "-1"], "unknown flag `-1`"),
        (&["grep", "x", "-C", "many"], "--context"),
        (&["grep", "x", "gone"], "Path not found: gone"),
        (&["find", "gone/"], "Path not found: gone"),
        (&["find"], "<GLOB>"),
        (&["find", "x", "--limit", "0"], "Limit must be a positive number"),
        (&["find", "x", "--limit", "few"], "--limit"),
        (&["find", ""], "`paths` must contain non-empty globs or paths"),
        (&["find", "/"], "Searching from root directory '/' is not allowed"),
        (&["find", "[z-a]"], "is not a valid glob"),
        (&["find", "notes.txt/*.rs"], "Path is not a directory: notes.txt"),
        (&["grep", "x", "--nonsense"], "--nonsense"),
    ] {
        let ran = Omp::bare(&workspace).args(args).run().await.exits(2);
        assert!(ran.stderr.contains(words) && ran.stdout.is_empty(), "{args:?}: {ran}");
    }
}

#[tokio::test]
async fn scripts_get_json() {
    let workspace = workspace();
    for (args, code, pointer, expect) in [
        (&["grep", "--json", "greet"][..], 0, "/totalMatches", Value::from(2)),
        (&["grep", "--json", "nonsense"], 1, "/matchCount", 0.into()),
        (&["find", "--json", "notes.*"], 0, "/files/0", "notes.txt".into()),
        (&["find", "--json", "notes.*"], 0, "/text", "notes.txt".into()),
        (&["read", "--json", "notes.txt:raw"], 0, "/text", "nothing".into()),
    ] {
        let ran = Omp::bare(&workspace).args(args).run().await.exits(code);
        let printed: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran}"));
        assert_eq!(printed.pointer(pointer), Some(&expect), "{args:?}: {ran}");
    }
}

#[tokio::test]
async fn settings_for_models_do_not_turn_the_commands_off() {
    let workspace = workspace();
    workspace.write_config_yml("search: { enabled: false, contextBefore: 0 }\n").unwrap();
    let ran = Omp::bare(&workspace).args(["grep", "greet", "src/main.rs"]).run().await.exits(0);
    assert!(ran.stdout.contains("*2:") && !ran.stdout.contains(" 1:"), "{ran}");
}

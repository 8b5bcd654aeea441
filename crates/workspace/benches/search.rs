//! Compares our search with `rg` on a generated tree of 100,000 files: `cargo bench -p omp-workspace`.
//!
//! Both run in turn on the same warm tree; the best and the median of several rounds are printed with their ratio.
#![allow(clippy::print_stdout, clippy::disallowed_methods, clippy::unwrap_used, reason = "a bench is its own program")]

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use omp_workspace::{Found, PageRequest, PathResolver, Pattern, Target, Walk};

const FILES: usize = 100_000;
const ROUNDS: usize = 9;

fn main() {
    // `cargo test --all-targets` starts benches too, without this flag.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    if Command::new("rg").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("rg is not installed: nothing to compare with");
        return;
    }
    let tree = tempfile::tempdir().unwrap();
    generate(tree.path());
    println!(
        "{FILES} files, {ROUNDS} rounds\n{:<28} {:>22} {:>22}   best median",
        "pattern", "rg best/median", "ours best/median"
    );
    for (pattern, ignore_case) in [
        ("no_such_literal_anywhere", false),
        ("needle_in_the_stack", false),
        ("NEEDLE_IN_THE_STACK", true),
        (r"fn \w+_stack\(", false),
        (r"\w+_in_\w+_stack", false),
        ("return", false),
    ] {
        compare(tree.path(), pattern, ignore_case);
    }
}

fn compare(tree: &Path, pattern: &str, ignore_case: bool) {
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        theirs.push(timed(|| run_rg(tree, pattern, ignore_case)));
        ours.push(timed(|| run_ours(tree, pattern, ignore_case)));
    }
    let lines: Vec<u64> = [&theirs, &ours].map(|runs| runs[0].1).into();
    assert_eq!(lines[0], lines[1], "both must find the same");
    let (theirs, ours) = (summary(theirs), summary(ours));
    let ratio = |ours: Duration, theirs: Duration| ours.as_secs_f64() / theirs.as_secs_f64();
    let show = |(best, median): (Duration, Duration)| format!("{best:.1?} / {median:.1?}");
    println!(
        "{:<28} {:>22} {:>22}   {:.2} {:.2}",
        if ignore_case { format!("{pattern} (i)") } else { pattern.to_owned() },
        show(theirs),
        show(ours),
        ratio(ours.0, theirs.0),
        ratio(ours.1, theirs.1),
    );
}

fn timed(work: impl FnOnce() -> u64) -> (Duration, u64) {
    let started = Instant::now();
    let found = work();
    (started.elapsed(), found)
}

fn summary(mut runs: Vec<(Duration, u64)>) -> (Duration, Duration) {
    runs.sort();
    (runs[0].0, runs[runs.len() / 2].0)
}

fn run_rg(tree: &Path, pattern: &str, ignore_case: bool) -> u64 {
    let mut rg = Command::new("rg");
    rg.args(["--no-config", "--hidden", "--line-number", "--no-heading"]);
    if ignore_case {
        rg.arg("-i");
    }
    let output = rg.arg("--").arg(pattern).arg(".").current_dir(tree).output().unwrap();
    output.stdout.iter().filter(|byte| **byte == b'\n').count() as u64
}

fn run_ours(tree: &Path, pattern: &str, ignore_case: bool) -> u64 {
    let target = Target::parse(".", &PathResolver::new(tree, None)).unwrap();
    let walk = Walk { targets: vec![target], hidden: true, gitignore: true };
    let pattern = Pattern::new(pattern, ignore_case).unwrap();
    let found = Found::count(&pattern, &walk, &|| false);
    let request = PageRequest { skip: 0, limit: 100, before: 1, after: 3, max_columns: 1024 };
    assert!(found.page(&pattern, &request, &|| false).shown <= 100);
    found.total_matches()
}

/// Source-like files of about 1.5 KB in folders of 50, three levels deep; one in a thousand holds the needle.
fn generate(root: &Path) {
    const WORDS: &[&str] =
        &["let", "fn", "value", "return", "self", "match", "stack", "index", "result", "buffer", "if", "while"];
    let mut seed = 42u64;
    let mut random = move || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize
    };
    for number in 0..FILES {
        let folder = root.join(format!("area{}/part{}/mod{}", number / 5000, number / 500 % 10, number / 50 % 10));
        if number % 50 == 0 {
            std::fs::create_dir_all(&folder).unwrap();
        }
        let mut text = String::new();
        for line in 0..30 + random() % 20 {
            for _ in 0..3 + random() % 8 {
                text.push_str(WORDS[random() % WORDS.len()]);
                text.push(' ');
            }
            writeln!(text, "// {line}").unwrap();
        }
        if number % 1000 == 7 {
            writeln!(text, "fn needle_in_the_stack() {{}}").unwrap();
        }
        std::fs::write(folder.join(format!("file{number}.rs")), text).unwrap();
    }
}

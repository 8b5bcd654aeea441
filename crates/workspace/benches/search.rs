//! Compares `search` and `find` with `rg` on a generated tree of 100,000 files: `cargo bench -p omp-workspace --bench
//! search`.
//!
//! The programs run alternately on the same tree. "cold" is the first scan of a fresh process, for omp as well as for `rg`;
//! "warm" is a query answered from the scan cache, in a process that has walked before. With `-- again`, only the first and
//! the second scan are compared.
#![allow(clippy::print_stdout, clippy::disallowed_methods, clippy::unwrap_used, reason = "a bench is its own program")]

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use omp_workspace::{
    MatchedFiles, PageRequest, PathResolver, PathTarget, Pattern, ScanCache, ScanPolicy, Walk, fuzzy_files,
};

const FILES: usize = 100_000;
const ROUNDS: usize = 9;
const NEVER: omp_workspace::StopCheck<'static> = &|| false;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--worker") {
        let question = Question::from_arguments(&arguments[at + 2..]);
        println!("{}", question.ask(Path::new(&arguments[at + 1]), &ScanCache::default()));
        return;
    }
    // `cargo test --all-targets` starts benches too, without this flag.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    if Command::new("rg").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("rg is not installed: nothing to compare with");
        return;
    }
    let tree = tempfile::tempdir().unwrap();
    generate(tree.path());
    if arguments.iter().any(|argument| argument == "again") {
        second_scans(tree.path());
        return;
    }
    println!("{FILES} files, {ROUNDS} rounds: best / median, and the ratio of each to rg's");
    println!("{:<34} {:>19} {:>19} {:>11} {:>19} {:>11}", "", "rg", "cold", "", "warm", "");
    for question in [
        Question::search("no_such_literal_anywhere", false),
        Question::search("needle_in_the_stack", false),
        Question::search("NEEDLE_IN_THE_STACK", true),
        Question::search(r"fn \w+_stack\(", false),
        Question::search(r"\w+_in_\w+_stack", false),
        Question::search("return", false),
        Question::find("*.toml"),
        Question::find("**/file*77.rs"),
        Question::find("area1*/**/*.rs"),
        Question::find("*.rs"),
    ] {
        question.compare(tree.path());
    }
    second_scans(tree.path());
}

/// A query that is run by omp and by `rg`.
struct Question {
    kind: &'static str,
    text: String,
    ignore_case: bool,
}

impl Question {
    fn search(text: &str, ignore_case: bool) -> Self {
        Self { kind: "search", text: text.into(), ignore_case }
    }

    fn find(text: &str) -> Self {
        Self { kind: "find", text: text.into(), ignore_case: false }
    }

    fn from_arguments(arguments: &[String]) -> Self {
        match &arguments[..3] {
            [kind, text, _] if kind == "find" => Self::find(text),
            [_, text, ignore_case] => Self::search(text, ignore_case == "true"),
            _ => unreachable!("three were taken"),
        }
    }

    fn compare(&self, tree: &Path) {
        let scans = lasting();
        self.ask(tree, &scans);
        let (mut theirs, mut cold, mut warm) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            theirs.push(timed(|| self.ask_rg(tree)));
            cold.push(timed(|| self.ask_fresh_process(tree)));
            warm.push(timed(|| self.ask(tree, &scans)));
        }
        let found: Vec<u64> = [&theirs, &cold, &warm].map(|runs| runs[0].1).into();
        assert!(found.iter().all(|one| *one == found[0]), "all must find the same: {found:?}");
        let (theirs, cold, warm) = (summary(theirs), summary(cold), summary(warm));
        let show = |(best, median): (Duration, Duration)| format!("{} / {}", millis(best), millis(median));
        let ratio = |ours: (Duration, Duration)| {
            let of = |ours: Duration, theirs: Duration| ours.as_secs_f64() / theirs.as_secs_f64();
            format!("{:.2} / {:.2}", of(ours.0, theirs.0), of(ours.1, theirs.1))
        };
        let name = format!("{} {}{}", self.kind, self.text, if self.ignore_case { " (i)" } else { "" });
        println!(
            "{name:<34} {:>19} {:>19} {:>11} {:>19} {:>11}",
            show(theirs),
            show(cold),
            ratio(cold),
            show(warm),
            ratio(warm)
        );
    }

    fn ask_rg(&self, tree: &Path) -> u64 {
        let mut rg = Command::new("rg");
        rg.args(["--no-config", "--hidden"]).current_dir(tree);
        match self.kind {
            "find" => rg.args(["--files", "-g"]).arg(&self.text),
            _ => {
                rg.args(["--line-number", "--no-heading"]).args(self.ignore_case.then_some("-i"));
                rg.arg("--").arg(&self.text).arg(".")
            }
        };
        rg.output().unwrap().stdout.iter().filter(|byte| **byte == b'\n').count() as u64
    }

    fn ask_fresh_process(&self, tree: &Path) -> u64 {
        let mut worker = Command::new(std::env::current_exe().unwrap());
        worker.arg("--worker").arg(tree).args([self.kind, &self.text, &self.ignore_case.to_string()]);
        String::from_utf8(worker.output().unwrap().stdout).unwrap().trim().parse().unwrap()
    }

    fn ask(&self, tree: &Path, scans: &ScanCache) -> u64 {
        let paths = PathResolver::new(tree, None);
        let typed = if self.kind == "find" { self.text.as_str() } else { "." };
        let walk = Walk { targets: vec![PathTarget::parse(typed, &paths).unwrap()], hidden: true, gitignore: true };
        if self.kind == "find" {
            return walk.newest(1000, scans, NEVER, &|_| {}).total as u64;
        }
        let pattern = Pattern::new(&self.text, self.ignore_case).unwrap();
        let found = MatchedFiles::count(&pattern, &walk, scans, NEVER);
        let request = PageRequest { skip: 0, limit: 100, before: 1, after: 3, max_columns: 1024 };
        assert!(found.page(&pattern, &request, NEVER).shown <= 100);
        found.total_matches()
    }
}

/// Compares the first scan with the second, identical one.
fn second_scans(tree: &Path) {
    println!("\n{:<34} {:>9} {:>9}   times faster (medians)", "the same scan again", "first", "second");
    let pick = |scans: &ScanCache| fuzzy_files(scans, tree, "mod7file77", 50, NEVER).total as u64;
    type Scan<'a> = Box<dyn Fn(&ScanCache) -> u64 + 'a>;
    let scans: [(&str, Scan<'_>); 4] = [
        ("find *.toml", Box::new(|scans| Question::find("*.toml").ask(tree, scans))),
        ("find **/file*77.rs", Box::new(|scans| Question::find("**/file*77.rs").ask(tree, scans))),
        ("find *.rs", Box::new(|scans| Question::find("*.rs").ask(tree, scans))),
        ("fuzzy mod7file77", Box::new(pick)),
    ];
    for (name, ask) in scans {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let scans = lasting();
            first.push(timed(|| ask(&scans)));
            second.push(timed(|| ask(&scans)));
        }
        let (first, second) = (summary(first).1, summary(second).1);
        let times = first.as_secs_f64() / second.as_secs_f64();
        println!("{name:<34} {:>9} {:>9}   {times:.1}", millis(first), millis(second));
    }
}

const HOUR: Duration = Duration::from_secs(3600);

/// Keeps scans for as long as the bench runs, so that a slow machine measures the same case.
fn lasting() -> ScanCache {
    ScanCache::new(ScanPolicy { ttl: HOUR, empty_recheck: HOUR, ..ScanPolicy::default() })
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

fn millis(time: Duration) -> String {
    format!("{:.1}ms", time.as_secs_f64() * 1000.0)
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

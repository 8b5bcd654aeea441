//! Times one edit of a 50,000-line file in each language, from planning to the file on disk: `cargo bench -p
//! omp-workspace --bench edit`. Ends with an error when the median is not under 50 ms.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench is its own program")]

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use omp_workspace::hashline::{self, HashlineOptions, HashlinePlanner};
use omp_workspace::patch::{FileOp, PatchOp, PatchPlanner, parse_envelope, parse_hunks};
use omp_workspace::replace::{ReplacePlanner, TextEdit};
use omp_workspace::{EditRules, FileEdit, PathResolver, TextFile, commit_changes};

const LINES: usize = 50_000;
const ROUNDS: usize = 15;
const MOST: Duration = Duration::from_millis(50);

fn main() {
    // `cargo test --all-targets` starts benches too, without this flag.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let paths = PathResolver::new(folder.path(), None);
    let content = (0..LINES).fold(String::new(), |mut text, line| {
        writeln!(text, "    let value_{line} = compute(value_{}, {line});", line / 2).unwrap();
        text
    });
    let tag = TextFile::parse(content.as_bytes()).tag();
    let line = |at: usize| content.lines().nth(at).unwrap().to_owned();
    let rules = EditRules::default();
    let hashline = format!("[f#{tag}]\n40000:new();\n100!\n25000↓between();");
    let exact = TextEdit { old_text: line(40_000), new_text: "new();".into(), all: false };
    let similar =
        TextEdit { old_text: line(40_000).replace("compute", "comptue"), new_text: "new();".into(), all: false };
    let hunk = format!("@@\n {}\n-{}\n+new();\n", line(39_999), line(40_000));
    let envelope = format!("*** Begin Patch\n*** Update File: f\n{hunk}*** End Patch");
    let replace = |edit: &TextEdit| {
        ReplacePlanner { files: &paths, last_seen: &|_: &Path| None, rules }
            .plan("f", std::slice::from_ref(edit))
            .unwrap()
    };
    let file = folder.path().join("f");
    measure("hashline", &file, &content, || {
        HashlinePlanner { files: &paths, seen: &|_, _| None, options: HashlineOptions::default() }
            .plan(hashline::parse(&hashline).unwrap())
            .unwrap()
    });
    measure("replace, exact", &file, &content, || replace(&exact));
    measure("replace, similar", &file, &content, || replace(&similar));
    let patch = |ops: &[FileOp]| PatchPlanner { files: &paths, last_seen: &|_: &Path| None, rules }.plan(ops).unwrap();
    measure("patch", &file, &content, || {
        let op = PatchOp::Update { hunks: parse_hunks(&hunk).unwrap(), rename: None };
        patch(&[FileOp { path: "f".into(), op }])
    });
    measure("apply_patch", &file, &content, || patch(&parse_envelope(&envelope).unwrap()));
}

fn measure(name: &str, file: &Path, content: &str, plan: impl Fn() -> Vec<FileEdit>) {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            std::fs::write(file, content).unwrap();
            let start = Instant::now();
            let edits = plan();
            commit_changes(edits.iter().flat_map(FileEdit::changes).collect()).unwrap();
            let diff = edits[0].diff().0;
            let time = start.elapsed();
            assert!(!diff.changes().is_empty());
            time
        })
        .collect();
    times.sort();
    let median = times[ROUNDS / 2];
    println!("{name:<18} best {:>8.2?}  median {median:>8.2?}  worst {:>8.2?}", times[0], times[ROUNDS - 1]);
    assert!(median < MOST, "{name} took {median:?}");
}

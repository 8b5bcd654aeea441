//! Measures discovery with 200 rules, 100 skills and 20 context files: `cargo bench -p omp-config --bench discover`.
//!
//! The first run reads every file, later runs only check for changes. A session start may cost 20 ms.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench is its own program")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use omp_config::{Catalogue, Places, discover};

const ROUNDS: usize = 21;

fn main() {
    // `cargo test --all-targets` starts benches too, without this flag.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let cwd = generate(&root);
    let (home, agent) = (root.join("home"), root.join("home/.omp/agent"));
    let places = Places { home: &home, agent: &agent, cwd: &cwd };
    let empty = root.join("empty");
    fs::create_dir_all(&empty).unwrap();
    let nothing = Places { home: &empty, agent: &empty, cwd: &empty };

    let (found, first) = timed(&places);
    let counts = (found.rules.len(), found.skills.len(), found.context_files.len());
    println!("{counts:?} rules, skills, context files; warnings: {}", found.warnings.len());
    println!("first look    {:>9.3} ms", millis(first));
    for (name, places) in [("later looks", &places), ("empty folder", &nothing)] {
        let mut times: Vec<Duration> = (0..ROUNDS).map(|_| timed(places).1).collect();
        times.sort();
        println!("{name:13} {:>9.3} ms median, {:.3} best", millis(times[ROUNDS / 2]), millis(times[0]));
    }
}

fn timed(places: &Places<'_>) -> (Catalogue, Duration) {
    let start = Instant::now();
    let found = discover(places);
    (found, start.elapsed())
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Returns the working folder, 19 levels below the repository's root.
fn generate(root: &Path) -> std::path::PathBuf {
    let old = SystemTime::now() - Duration::from_secs(3600);
    let write = |name: &str, text: String| {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
    };
    fs::create_dir_all(root.join("home/repo/.git")).unwrap();
    for number in 0..200 {
        let head = format!("description: Rule {number}\nglobs: ['src/**/*.rs', '*.toml']\nalwaysApply: false");
        let body = "Prefer small functions and names that explain themselves.\n".repeat(20);
        let folder = ["repo/.omp/rules", ".omp/agent/rules", "repo/.cursor/rules", "repo/.clinerules"][number % 4];
        write(&format!("home/{folder}/rule-{number}.md"), format!("---\n{head}\n---\n\n{body}"));
    }
    for number in 0..100 {
        let head = format!("name: skill-{number}\ndescription: What skill {number} is for, in one sentence or two.");
        let body = "A step of the work, told at length.\n".repeat(100);
        let folder = ["repo/.omp/skills", ".omp/agent/skills", "repo/.claude/skills", ".agents/skills"][number % 4];
        write(&format!("home/{folder}/skill-{number}/SKILL.md"), format!("---\n{head}\n---\n\n{body}"));
    }
    let mut folder = "home/repo".to_owned();
    write(&format!("{folder}/AGENTS.md"), "How we work here.\n".repeat(50));
    for depth in 1..20 {
        folder = format!("{folder}/d{depth}");
        write(&format!("{folder}/AGENTS.md"), "How we work in this folder.\n".repeat(50));
    }
    root.join(folder)
}

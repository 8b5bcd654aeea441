//! Measures what 200 rules, 100 skills and 20 context files add to a whole print run: at most 20 ms over a run with none.
//!
//! `cargo bench -p omp --bench start [-- path of omp]`. Both runs alternate, so that other load of the machine affects both.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench talks to a person and starts the program it measures"
)]

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use omp_testkit::{MockProvider, Script, Server, TempWorkspace, Turn, Wire};

const ROUNDS: usize = 41;
/// Context files: one in each folder down to the working folder, and the user's.
const FOLDERS: usize = 19;

fn main() {
    // `cargo test --all-targets` starts benches too, without this flag.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let given = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let omp = given.unwrap_or_else(|| env!("CARGO_BIN_EXE_omp").to_owned());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let script = Script::generate(2 * ROUNDS + 2, |_| Turn::text("ok"));
    let server = runtime.block_on(Server::start(script)).unwrap();
    let places = [Place::new(&server, false), Place::new(&server, true)];
    let mut times = [Vec::new(), Vec::new()];
    // Warms up the disk cache.
    for place in &places {
        place.run(&omp);
    }
    for _ in 0..ROUNDS {
        places.iter().zip(&mut times).for_each(|(place, times)| times.push(place.run(&omp)));
    }
    let [empty, full] = times.map(median);
    let over = full.saturating_sub(empty).as_secs_f64() * 1000.0;
    println!(
        "a print run: with nothing {empty:?}, with 200 rules, 100 skills, 20 context files {full:?}: {over:.1} ms over it (limit 20)"
    );
}

struct Place {
    workspace: TempWorkspace,
    cwd: PathBuf,
}

impl Place {
    fn new(server: &Server, full: bool) -> Self {
        let workspace = TempWorkspace::new(&[]).unwrap();
        workspace.write_provider(&MockProvider::new(&server.base_url(), Wire::Completions.api())).unwrap();
        let mut cwd = workspace.project();
        std::fs::create_dir_all(cwd.join(".git")).unwrap();
        (1..FOLDERS).for_each(|depth| cwd.push(format!("d{depth}")));
        std::fs::create_dir_all(&cwd).unwrap();
        let place = Self { workspace, cwd };
        if full {
            place.fill();
        }
        place
    }

    fn fill(&self) {
        let own = [self.cwd.join(".omp"), self.workspace.agent_dir()];
        for number in 0..200 {
            let condition =
                if number % 4 == 0 { format!("condition: 'forbidden_{number}\\s*\\('\n") } else { String::new() };
            let head = format!("description: Rule {number}\nglobs: ['src/**/*.{number}']\n{condition}");
            let text = format!("---\n{head}---\n{}", "Say so and so. ".repeat(40));
            write(own[number % 2].join(format!("rules/rule{number}.md")), &text);
        }
        for number in 0..100 {
            let text = format!("---\nname: skill{number}\ndescription: Does {number}\n---\n{}", "Step. ".repeat(200));
            write(own[number % 2].join(format!("skills/skill{number}/SKILL.md")), &text);
        }
        let guidance = "Guidance. ".repeat(60);
        self.cwd.ancestors().take(FOLDERS).for_each(|folder| write(folder.join("AGENTS.md"), &guidance));
        write(self.workspace.agent_dir().join("AGENTS.md"), &guidance);
    }

    fn run(&self, omp: &str) -> Duration {
        let mut command = Command::new(omp);
        command.args(["-p", "hi", "--model", "mock/mock-model", "--no-session"]).current_dir(&self.cwd);
        command.env_clear().envs(self.workspace.env()).stdin(Stdio::null()).stdout(Stdio::null());
        let start = Instant::now();
        assert!(command.status().unwrap().success());
        start.elapsed()
    }
}

fn write(path: PathBuf, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

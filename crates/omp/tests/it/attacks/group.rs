//! Cases as their files tell them, and the names that stand for places in them.

use std::path::{Path, PathBuf};

use omp_testkit::Turn;
use serde::Deserialize;
use serde_json::{Value, json};

use super::world::World;
use crate::harness::QUICK_RETRIES;

/// What the user would have to set for anything to happen.
const NO_GUARDS: &str = "containment: { mode: 'off' }\n";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    #[serde(skip)]
    pub name: String,
    /// The user's own `config.yml`.
    #[serde(default)]
    config: String,
    /// Kept also in the control run.
    #[serde(default)]
    pub always: String,
    #[serde(default)]
    pub env: Vec<(String, String)>,
    /// What is said of it where there are no namespaces to keep it, by `docs/security.md` and by `omp doctor`.
    pub without_namespaces: Option<String>,
    /// Shell, run by the test, for all cases; with each case's own names.
    #[serde(default)]
    pub stage: String,
    /// How often the model does it all over.
    #[serde(default = "once")]
    pub rounds: usize,
    pub attacks: Vec<Attack>,
}

fn once() -> usize {
    1
}

/// In every text `@W` is the workspace, `@H` the home, `@A` omp's own folder, `@N` the name of the case, `@O` a folder of
/// its own outside, `@M` a mark that its programs leave, `@S` its secret, which ends with `@K`, `@P` the port and `@U` the socket of the
/// attacker, `@R` the folder around all, `@T` where every omp of this user keeps its temporary folders.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attack {
    /// In the list of `docs/security.md`.
    pub number: u8,
    pub name: String,
    /// Shell, run by the test before omp starts: what the attacker has prepared.
    #[serde(default)]
    pub stage: String,
    /// Shell, run by the test beside omp until all is over, with the secret as `NEIGHBOUR_KEY`.
    #[serde(default)]
    pub beside: String,
    /// What the model calls.
    #[serde(default)]
    pub calls: Vec<Call>,
    /// Places that must stay as they are, besides `@O`.
    #[serde(default)]
    pub watch: Vec<String>,
    /// Texts that neither the model nor anybody who reads the output may get.
    #[serde(default)]
    pub never: Vec<String>,
    /// One question has all of these.
    #[serde(default)]
    pub asked: Vec<String>,
    /// How it is known that the test can fail.
    #[serde(default)]
    pub control: Control,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub enum Call {
    Bash(String),
    Other { tool: String, with: Value },
}

#[derive(Deserialize, Default, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// The effect is there without containment, with trust and a yes to every question.
    #[default]
    Happens,
    /// This, run by the test, sets the trap off.
    Shell(String),
    /// Another run of omp does, with trust and a yes to everything.
    Run(AnotherRun),
    /// Nothing of omp could have this effect, whatever is set: why.
    Never(String),
}

#[derive(Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct AnotherRun {
    /// Shell, run by the test before it.
    #[serde(default)]
    pub first: String,
    /// Below the workspace.
    #[serde(default)]
    pub folder: String,
    /// What the user says: what this shell prints.
    #[serde(default = "greeting")]
    pub says: String,
}

fn greeting() -> String {
    "echo go".to_owned()
}

impl Group {
    pub fn load(name: &str) -> Self {
        let file = folder().join(name).with_extension("yml");
        let text = std::fs::read_to_string(&file).unwrap();
        let group: Self = serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for (one, other) in group.attacks.iter().flat_map(|one| group.attacks.iter().map(move |other| (one, other))) {
            let differ = std::ptr::eq(one, other) || !one.name.contains(&other.name);
            assert!(differ, "what happens could not be told apart: {} {}", one.name, other.name);
        }
        Self { name: name.to_owned(), ..group }
    }

    /// No case of it could be seen to go off.
    pub fn has_no_control(&self) -> bool {
        self.attacks.iter().all(|attack| matches!(attack.control, Control::Never(_)))
    }

    pub fn config(&self) -> String {
        format!("{QUICK_RETRIES}{}{}", self.always, self.config)
    }

    pub fn without_guards(&self) -> String {
        format!("{QUICK_RETRIES}{}{NO_GUARDS}", self.always)
    }

    /// What the model says, case by case.
    pub fn turns(&self, world: &World) -> Vec<Turn> {
        let rounds = (0..self.rounds).flat_map(|_| &self.attacks);
        let calls = rounds.flat_map(|attack| attack.calls.iter().map(move |call| (attack, call)));
        let turns = calls.map(|(attack, call)| match call {
            // The shell stays where a command has left it.
            Call::Bash(command) => {
                Turn::call("bash", json!({"command": world.fill(attack, command), "cwd": world.fill(attack, "@W")}))
            }
            Call::Other { tool, with } => {
                let filled = world.fill(attack, &with.to_string());
                Turn::call(tool, serde_json::from_str(&filled).unwrap())
            }
        });
        turns.chain([Turn::text("Done.")]).collect()
    }

    /// The questions show what would happen.
    pub fn truthful(&self, world: &World, questions: &[String]) {
        for attack in self.attacks.iter().filter(|attack| !attack.asked.is_empty()) {
            let parts: Vec<String> = attack.asked.iter().map(|part| world.fill(attack, part)).collect();
            let told = questions.iter().any(|question| parts.iter().all(|part| question.contains(part)));
            assert!(told, "{} {}: nobody was asked about {parts:?}\n{questions:#?}", attack.number, attack.name);
        }
    }
}

/// The names of all groups.
pub fn files() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = entries.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/attacks/cases")
}

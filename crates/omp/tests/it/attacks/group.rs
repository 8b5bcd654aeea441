//! The attack cases as parsed from their files, and the placeholders in them.

use std::path::{Path, PathBuf};

use omp_testkit::Turn;
use serde::Deserialize;
use serde_json::{Value, json};

use super::world::World;
use crate::harness::QUICK_RETRIES;

/// The settings that a user would need for an attack to succeed.
const NO_GUARDS: &str = "containment: { mode: 'off' }\n";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    #[serde(skip)]
    pub name: String,
    /// The user's own `config.yml`.
    #[serde(default)]
    config: String,
    /// Settings that also apply in the control run.
    #[serde(default)]
    pub always: String,
    #[serde(default)]
    pub env: Vec<(String, String)>,
    /// What `docs/security.md` and `omp doctor` say about this group on systems without namespaces.
    pub without_namespaces: Option<String>,
    /// A shell script for all cases, run by the test with each case's own placeholders.
    #[serde(default)]
    pub stage: String,
    /// How often the model repeats all calls.
    #[serde(default = "once")]
    pub rounds: usize,
    pub attacks: Vec<Attack>,
}

fn once() -> usize {
    1
}

/// In every text `@W` is the workspace, `@H` the home, `@A` omp's own folder, `@N` the name of the case, `@O` its own folder
/// outside, `@M` a marker file that its programs leave, `@S` its secret, which ends with `@K`, `@P` the port and `@U` the
/// socket of the attacker, `@R` the folder around all, `@T` where every omp of this user keeps its temporary folders.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attack {
    /// The number in the list of `docs/security.md`.
    pub number: u8,
    pub name: String,
    /// A shell script that the test runs before omp starts: the attacker's preparation.
    #[serde(default)]
    pub stage: String,
    /// A shell script that the test runs beside omp until the end, with the secret as `NEIGHBOUR_KEY`.
    #[serde(default)]
    pub beside: String,
    /// The tool calls of the model.
    #[serde(default)]
    pub calls: Vec<Call>,
    /// Paths that must not change, besides `@O`.
    #[serde(default)]
    pub watch: Vec<String>,
    /// Texts that must reach neither the model nor the output.
    #[serde(default)]
    pub never: Vec<String>,
    /// One question must contain all of these.
    #[serde(default)]
    pub asked: Vec<String>,
    /// How the test shows that it can fail.
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
    /// Without a sandbox, with trust and with every question approved, the attack succeeds.
    #[default]
    Happens,
    /// This script, run by the test, triggers the trap.
    Shell(String),
    /// Another run of omp, with trust and every question approved, triggers the trap.
    Run(AnotherRun),
    /// omp cannot cause this effect with any settings; holds the reason.
    Never(String),
}

#[derive(Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct AnotherRun {
    /// A shell script that the test runs before.
    #[serde(default)]
    pub first: String,
    /// A folder below the workspace.
    #[serde(default)]
    pub folder: String,
    /// A shell command whose output is the user's prompt.
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

    /// Whether no case of the group can be shown to succeed.
    pub fn has_no_control(&self) -> bool {
        self.attacks.iter().all(|attack| matches!(attack.control, Control::Never(_)))
    }

    pub fn config(&self) -> String {
        format!("{QUICK_RETRIES}{}{}", self.always, self.config)
    }

    pub fn without_guards(&self) -> String {
        format!("{QUICK_RETRIES}{}{NO_GUARDS}", self.always)
    }

    /// Returns the model's turns, case by case.
    pub fn turns(&self, world: &World) -> Vec<Turn> {
        let rounds = (0..self.rounds).flat_map(|_| &self.attacks);
        let calls = rounds.flat_map(|attack| attack.calls.iter().map(move |call| (attack, call)));
        let turns = calls.map(|(attack, call)| match call {
            // The shell keeps its folder between commands.
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

    /// Checks that the questions show what would happen.
    pub fn truthful(&self, world: &World, questions: &[String]) {
        for attack in self.attacks.iter().filter(|attack| !attack.asked.is_empty()) {
            let parts: Vec<String> = attack.asked.iter().map(|part| world.fill(attack, part)).collect();
            let told = questions.iter().any(|question| parts.iter().all(|part| question.contains(part)));
            assert!(told, "{} {}: nobody was asked about {parts:?}\n{questions:#?}", attack.number, attack.name);
        }
    }
}

/// Returns the names of all groups.
pub fn files() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> = entries.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/attacks/cases")
}

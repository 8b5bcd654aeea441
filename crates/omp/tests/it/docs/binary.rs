//! The features of the binary, as the binary itself reports them.

use std::collections::{BTreeMap, BTreeSet};

use omp_session::TERMINAL_ONLY;
use omp_testkit::{Turn, Wire};
use serde_json::{Value, json};

use crate::harness::{Omp, Scene};
use crate::rpc::Client;
use crate::seat::{Seat, at_a_seat};

/// Names of settings that only other versions have.
const REFERENCE: &str = include_str!("../../../../config/data/reference-settings.txt");

/// The source that reads a variable when omp is built.
const BUILT_IN: &str = include_str!("../../../src/modes/update.rs");

/// Every name that a page may mention.
#[derive(Default)]
pub struct Binary {
    pub settings: BTreeSet<String>,
    /// Settings whose entries have names chosen by the user.
    pub maps: BTreeSet<String>,
    pub groups: BTreeSet<String>,
    /// Settings without a group that other versions have.
    pub reference: BTreeSet<String>,
    pub flags: BTreeSet<String>,
    /// `sessions`, `sessions list`
    pub subcommands: BTreeSet<String>,
    pub slash: BTreeSet<String>,
    /// Tools with all names of their parameters, at any depth.
    pub tools: BTreeMap<String, BTreeSet<String>>,
    pub variables: BTreeSet<String>,
    pub actions: BTreeSet<String>,
}

impl Binary {
    pub async fn ask() -> Self {
        let scene = Scene::new(Wire::Completions, [(); 5].map(|()| Turn::text("One."))).await;
        let mut binary = Self::default();
        binary.ask_settings(&scene).await;
        binary.ask_help(&scene, &[]).await;
        binary.ask_session(&scene).await;
        let keys = omp_types::PROVIDER_KEYS.iter().flat_map(|(_, variables)| variables.iter().copied());
        let variables = omp_types::ENV_VARS.iter().map(|variable| variable.name);
        binary.variables = variables.chain(keys).chain(build_variables()).map(str::to_owned).collect();
        binary.actions = actions();
        binary
    }

    async fn ask_settings(&mut self, scene: &Scene) {
        let listed = Omp::bare(&scene.workspace).args(["config", "list", "--json"]).run().await.exits(0).stdout;
        let listed: Value = serde_json::from_str(&listed).unwrap();
        self.settings =
            listed["settings"].as_array().unwrap().iter().map(|it| it["key"].as_str().unwrap().to_owned()).collect();
        let schema = Omp::bare(&scene.workspace).args(["config", "schema"]).run().await.exits(0).stdout;
        let schema: Value = serde_json::from_str(&schema).unwrap();
        self.maps = self.settings.iter().filter(|key| is_map(&schema, key)).cloned().collect();
        let first = |key: &String| key.split('.').next().unwrap_or_default().to_owned();
        self.groups = self.settings.iter().filter(|key| key.contains('.')).map(first).collect();
        for line in REFERENCE.lines() {
            let Some((group, names)) = line.split_once(':') else { continue };
            match group.is_empty() {
                true => {
                    self.reference.extend(names.split_whitespace().map(|name| name.trim_end_matches('*').to_owned()))
                }
                false => drop(self.groups.insert(group.to_owned())),
            }
        }
        assert!(self.settings.len() > 100, "{:?}", self.settings);
    }

    /// Whether a key is a setting, a group, a pattern, or an entry of a map.
    pub fn is_setting(&self, key: &str) -> bool {
        if let Some((start, _)) = key.split_once('*') {
            return self.settings.iter().any(|known| known.starts_with(start));
        }
        self.settings.contains(key)
            || self.settings.iter().any(|known| known.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')))
            || self.maps.iter().any(|map| key.strip_prefix(map.as_str()).is_some_and(|rest| rest.starts_with('.')))
    }

    async fn ask_help(&mut self, scene: &Scene, words: &[String]) {
        let asked: &[&str] = if words.is_empty() { &["--help", "all"] } else { &["--help"] };
        let help = Omp::bare(&scene.workspace).args(words).args(asked).run().await.exits(0).stdout;
        let mut in_commands = false;
        let mut below = Vec::new();
        for line in help.lines() {
            if !line.starts_with(' ') {
                in_commands = line == "Commands:";
            }
            let options = line.trim_start();
            if options.starts_with('-') {
                let names = options.split("  ").next().unwrap_or_default();
                let flags = names.split([' ', ',', '[', ']', '=']).filter_map(|word| word.strip_prefix("--"));
                self.flags.extend(flags.filter(|flag| !flag.is_empty()).map(str::to_owned));
            }
            if let Some((_, aliases)) = aliases_in(line) {
                let words = aliases.split([',', ']', ' ']).filter_map(|word| word.strip_prefix("--"));
                self.flags.extend(words.map(str::to_owned));
            }
            if let Some(name) = line.strip_prefix("  ").filter(|line| in_commands && !line.starts_with(' ')) {
                let name = name.split_whitespace().next().unwrap_or_default();
                below.extend((name != "help").then(|| name.to_owned()));
                if let Some((_, aliases)) = aliases_in(line) {
                    let aliases = aliases.trim_end_matches(']').split(", ");
                    self.subcommands.extend(aliases.filter(|alias| !alias.starts_with('-')).map(str::to_owned));
                }
            }
        }
        for name in below {
            let all: Vec<String> = words.iter().cloned().chain([name]).collect();
            self.subcommands.insert(all.join(" "));
            Box::pin(self.ask_help(scene, &all)).await;
        }
    }

    /// Reads the slash commands and tools, with everything enabled.
    async fn ask_session(&mut self, scene: &Scene) {
        let all = "async: { enabled: true }\ncalc: { enabled: true }\nrenderMermaid: { enabled: true }\ncheckpoint: { enabled: true }\n";
        scene.workspace.write_config_yml(all).unwrap();
        let mut client = Client::start(scene, &[]).await;
        let commands = client.ask(json!({"type": "get_available_commands"})).await;
        for command in commands["data"]["commands"].as_array().unwrap() {
            self.slash.insert(command["name"].as_str().unwrap().to_owned());
            let aliases = command["aliases"].as_array().into_iter().flatten();
            self.slash.extend(aliases.map(|alias| alias.as_str().unwrap().to_owned()));
        }
        self.slash.extend(TERMINAL_ONLY.iter().map(|name| (*name).to_owned()));
        client.prompt("hi").await;
        assert_eq!(client.finish().await, Some(0));
        self.take_tools(scene);
        for variant in ["replace", "patch", "apply_patch"] {
            scene.omp(&["-p", "hi"]).env("PI_EDIT_VARIANT", variant).run().await.exits(0);
            self.take_tools(scene);
        }
        // Some parameters are offered only at a terminal.
        at_a_seat(|| {
            let seat = Seat::ready(scene, &[]);
            seat.says("hi", "One.");
            seat.leaves();
        })
        .await;
        self.take_tools(scene);
    }

    fn take_tools(&mut self, scene: &Scene) {
        let body = scene.last_request().json().unwrap();
        for tool in body["tools"].as_array().unwrap() {
            let name = tool["function"]["name"].as_str().unwrap().to_owned();
            properties(&tool["function"]["parameters"], self.tools.entry(name).or_default());
        }
    }
}

fn aliases_in(line: &str) -> Option<(&str, &str)> {
    line.split_once("[aliases: ").or_else(|| line.split_once("[alias: "))
}

/// Whether a key of a YAML block is one of omp's settings, and not of `models.yml` or another file.
pub fn is_group_of_settings(key: &str) -> bool {
    let first = key.split('.').next().unwrap_or_default();
    // `hooks` and `providers` are keys of other files too.
    let elsewhere = ["hooks", "providers", "app", "name", "description", "condition"].contains(&first);
    let line = |line: &str| line.strip_prefix(first).is_some_and(|rest| rest.starts_with(':'));
    !elsewhere && !first.is_empty() && REFERENCE.lines().any(line)
}

fn is_map(schema: &Value, key: &str) -> bool {
    let at = key.split('.').fold(schema, |schema, part| &schema["properties"][part]);
    let open = |schema: &Value| schema["additionalProperties"].is_object() || schema["additionalProperties"] == true;
    open(at) || at["type"] == "object" && at["properties"].is_null()
}

fn properties(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(object) => {
            for (key, value) in object {
                if key == "properties" {
                    found.extend(value.as_object().into_iter().flatten().map(|(name, _)| name.clone()));
                }
                properties(value, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| properties(item, found)),
        _ => {}
    }
}

/// Variables that are read when omp is built, not when it runs.
fn build_variables() -> impl Iterator<Item = &'static str> {
    let read = BUILT_IN.split("option_env!(\"").skip(1);
    read.filter_map(|rest| rest.split_once('"').map(|(name, _)| name))
}

/// Reads the key actions from the page that another test compares with the application.
fn actions() -> BTreeSet<String> {
    let page = include_str!("../../../../../docs/keybindings.md");
    let rows =
        page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`').map(|(name, _)| name.to_owned()));
    rows.filter(|name| name.starts_with("app.") || name.starts_with("tui.")).collect()
}

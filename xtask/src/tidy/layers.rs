//! A crate depends only on lower layers, and a heavy dependency is used by one crate, as set in `xtask/layers.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Violation;
use super::manifest::{Manifest, line_of};
use super::workspace::Workspace;

const PATH: &str = "xtask/layers.toml";
const MAP: &str = "ARCHITECTURE.md";
/// Test crates that tests of every layer may use.
const TEST_KIT: &str = "omp-testkit";
/// Test crates that tests above the session may use.
const SESSION_TEST_KIT: &str = "omp-session-testkit";
const SESSION: &str = "omp-session";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Layers {
    layer: BTreeMap<String, CrateLayer>,
    #[serde(default)]
    must_not_know: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    only_in: BTreeMap<String, Vec<String>>,
}

/// A number, or "dev" for crates that are not part of omp.
#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(untagged)]
enum CrateLayer {
    Number(u8),
    Outside(Dev),
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Dev {
    Dev,
}

pub fn check(workspace: &Workspace) -> Vec<Violation> {
    let layers: Layers = match toml::from_str(workspace.text(PATH).unwrap_or_default()) {
        Ok(layers) => layers,
        Err(error) => return vec![violation(PATH, 0, error.to_string(), "fix the file")],
    };
    let mut found = listing(workspace, &layers);
    found.extend(off_the_map(workspace, &layers));
    for (folder, manifest) in &workspace.members {
        let path = format!("{folder}/Cargo.toml");
        let text = workspace.text(&path).unwrap_or_default();
        found.extend(broken(&layers, manifest).into_iter().map(|(dependency, what)| {
            violation(&path, line_of(text, dependency), what, "pass in what it needs, or move it to a lower layer")
        }));
    }
    found
}

/// Exactly the crates of the workspace are listed.
fn listing(workspace: &Workspace, layers: &Layers) -> Vec<Violation> {
    let names: Vec<&str> = workspace.members.values().map(|manifest| manifest.name.as_str()).collect();
    let missing =
        names.iter().filter(|name| !layers.layer.contains_key(**name)).map(|name| format!("`{name}` has no layer"));
    let gone =
        layers.layer.keys().filter(|name| !names.contains(&name.as_str())).map(|name| format!("there is no `{name}`"));
    missing
        .chain(gone)
        .map(|what| violation(PATH, 0, what, "list every crate of the workspace, and no other"))
        .collect()
}

/// The code map lists every crate with its layer.
fn off_the_map(workspace: &Workspace, layers: &Layers) -> Vec<Violation> {
    let map = workspace.text(MAP).unwrap_or_default();
    let entry = |(name, layer): (&String, &CrateLayer)| match layer {
        CrateLayer::Number(number) => Some(format!("**{number} — `{}`.**", name.trim_start_matches("omp-"))),
        CrateLayer::Outside(_) => None,
    };
    let missing = layers.layer.iter().filter_map(entry).filter(|entry| !map.contains(entry));
    missing.map(|entry| violation(MAP, 0, format!("there is no {entry}"), "say what the crate is for")).collect()
}

fn broken<'a>(layers: &Layers, manifest: &'a Manifest) -> Vec<(&'a str, String)> {
    let Some(own) = layers.layer.get(&manifest.name) else { return Vec::new() };
    let banned = layers.must_not_know.get(&manifest.name);
    let ordinary = manifest.dependencies.iter().map(|name| (name, false));
    let for_tests = manifest.dev_dependencies.iter().map(|name| (name, true));
    let mut found = Vec::new();
    for (name, in_tests) in ordinary.chain(for_tests) {
        let homes = layers.only_in.get(name);
        if layers.layer.get(name).is_some_and(|other| !may_use(*own, *other))
            && !(in_tests && may_test_with(layers, *own, name))
        {
            found.push((name.as_str(), format!("`{name}` is not in a lower layer than `{}`", manifest.name)));
        } else if !in_tests && banned.is_some_and(|banned| banned.contains(name)) {
            found.push((name.as_str(), format!("`{}` must not know `{name}`", manifest.name)));
        } else if !in_tests && homes.is_some_and(|homes| !homes.contains(&manifest.name)) {
            found.push((name.as_str(), format!("`{name}` lives in another crate")));
        }
    }
    found
}

fn may_use(own: CrateLayer, other: CrateLayer) -> bool {
    match (own, other) {
        (CrateLayer::Number(own), CrateLayer::Number(other)) => other < own,
        (CrateLayer::Number(_), CrateLayer::Outside(_)) => false,
        (CrateLayer::Outside(_), _) => true,
    }
}

fn may_test_with(layers: &Layers, own: CrateLayer, name: &str) -> bool {
    let is_above_session = || layers.layer.get(SESSION).is_some_and(|session| may_use(own, *session));
    name == TEST_KIT || name == SESSION_TEST_KIT && is_above_session()
}

fn violation(path: &str, line: usize, what: String, hint: &'static str) -> Violation {
    Violation { path: path.to_owned(), line, rule: "layer", what, hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYERS: &str = "[layer]\nomp-low = 0\nomp-mid = 1\nomp-top = 2\nomp-testkit = \"dev\"\n\
                          omp-session = 1\nomp-session-testkit = \"dev\"\n\
                          [must_not_know]\nomp-top = [\"omp-low\"]\n[only_in]\nheavy = [\"omp-low\"]\n";

    fn found(name: &str, rest: &str) -> Vec<String> {
        let mut files: BTreeMap<String, String> = ["low", "mid", "top", "session", "testkit", "session-testkit"]
            .map(|name| (format!("crates/{name}/Cargo.toml"), format!("[package]\nname = \"omp-{name}\"\n")))
            .into();
        files.insert(format!("crates/{name}/Cargo.toml"), format!("[package]\nname = \"omp-{name}\"\n{rest}"));
        files.insert(PATH.to_owned(), LAYERS.to_owned());
        files.insert(MAP.to_owned(), "**0 — `low`.** **1 — `mid`.** **1 — `session`.** **2 — `top`.**".to_owned());
        check(&Workspace::of(files)).into_iter().map(|v| format!("{}:{} {}", v.path, v.line, v.what)).collect()
    }

    #[test]
    fn order_is_kept() {
        for (name, rest, want) in [
            ("mid", "[dependencies]\nomp-low = \"1\"\n", None),
            ("mid", "[dev-dependencies]\nomp-testkit = \"1\"\nheavy = \"1\"\n", None),
            ("top", "[dev-dependencies]\nomp-low = \"1\"\n", None),
            ("top", "[dev-dependencies]\nomp-session-testkit = \"1\"\n", None),
            (
                "mid",
                "[dev-dependencies]\nomp-session-testkit = \"1\"\n",
                Some(":4 `omp-session-testkit` is not in a lower layer than `omp-mid`"),
            ),
            ("low", "[dependencies]\nheavy = \"1\"\n", None),
            ("low", "[dependencies]\nomp-mid = \"1\"\n", Some(":4 `omp-mid` is not in a lower layer than `omp-low`")),
            (
                "mid",
                "[dependencies]\nomp-testkit = \"1\"\n",
                Some(":4 `omp-testkit` is not in a lower layer than `omp-mid`"),
            ),
            (
                "mid",
                "[dev-dependencies]\nomp-top = \"1\"\n",
                Some(":4 `omp-top` is not in a lower layer than `omp-mid`"),
            ),
            ("top", "[dependencies]\nomp-low = \"1\"\n", Some(":4 `omp-top` must not know `omp-low`")),
            ("mid", "[dependencies]\nheavy = \"1\"\n", Some(":4 `heavy` lives in another crate")),
        ] {
            let want: Vec<String> = want.iter().map(|what| format!("crates/{name}/Cargo.toml{what}")).collect();
            assert_eq!(found(name, rest), want, "{name} {rest}");
        }
    }

    #[test]
    fn every_crate_is_listed() {
        let files = [(PATH, "[layer]\nomp-gone = 1\n"), ("crates/new/Cargo.toml", "[package]\nname = \"omp-new\"\n")];
        let found: Vec<_> = check(&Workspace::of(files)).into_iter().map(|violation| violation.what).collect();
        assert_eq!(found, ["`omp-new` has no layer", "there is no `omp-gone`", "there is no **1 — `gone`.**"]);
    }
}

//! The parts of a `Cargo.toml` that the rules need.

use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub struct Manifest {
    pub name: String,
    /// Ordinary and build dependencies, of every target.
    pub dependencies: BTreeSet<String>,
    pub dev_dependencies: BTreeSet<String>,
    pub has_features: bool,
}

impl Manifest {
    /// A manifest that does not parse is empty: cargo itself reports it better.
    pub fn parse(text: &str) -> Self {
        let table: toml::Table = text.parse().unwrap_or_default();
        let mut manifest =
            Self { name: name(&table), has_features: keys(&table, "features").next().is_some(), ..Self::default() };
        let targets = table.get("target").and_then(toml::Value::as_table);
        let of_targets = targets.into_iter().flat_map(|targets| targets.values()).filter_map(toml::Value::as_table);
        for section in std::iter::once(&table).chain(of_targets) {
            manifest.dependencies.extend(keys(section, "dependencies").chain(keys(section, "build-dependencies")));
            manifest.dev_dependencies.extend(keys(section, "dev-dependencies"));
        }
        manifest
    }
}

/// The keys of one table.
pub fn keys<'a>(table: &'a toml::Table, section: &str) -> impl Iterator<Item = String> + 'a {
    table.get(section).and_then(toml::Value::as_table).into_iter().flat_map(|section| section.keys().cloned())
}

fn name(table: &toml::Table) -> String {
    let package = table.get("package").and_then(toml::Value::as_table);
    package.and_then(|package| package.get("name")).and_then(toml::Value::as_str).unwrap_or_default().to_owned()
}

/// The number of the line that starts with `key`, counted from 1.
pub fn line_of(text: &str, key: &str) -> usize {
    let starts = |line: &str| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(['.', ' ', '=']));
    text.lines().position(starts).map_or(1, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_tables_count() {
        let manifest = Manifest::parse(
            "[package]\nname = \"x\"\n[dependencies]\na.workspace = true\n[build-dependencies]\nb = \"1\"\n\
             [dev-dependencies]\nc = \"1\"\n[target.'cfg(unix)'.dependencies]\nd = \"1\"\n",
        );
        assert_eq!(manifest.name, "x");
        assert_eq!(manifest.dependencies.into_iter().collect::<Vec<_>>(), ["a", "b", "d"]);
        assert_eq!(manifest.dev_dependencies.into_iter().collect::<Vec<_>>(), ["c"]);
    }
}

//! Lists all settings with their values and sources.

use serde_json::{Value, json};

use super::{SettingsDesk, shown};

/// Longer values are cut in the list; `get` shows them in full.
const WIDEST: usize = 40;

impl SettingsDesk {
    /// Lists every setting with its value and source; with `changed`, only those that are set.
    pub fn list(&self, changed: bool) -> String {
        let keys: Vec<String> = self.known().settings().iter().map(|setting| setting.key.to_owned()).collect();
        let rows = keys.iter().map(|key| (key, self.value(key)));
        let rows = rows.filter(|(_, (_, from))| !changed || from.layer.is_some());
        if self.json {
            let rows = rows.map(|(key, (value, from))| self.as_json(key, &value, &from));
            let others = self.others();
            let told =
                json!({"settings": rows.collect::<Vec<_>>(), "unused": others.unused, "unknown": others.unknown});
            return format!("{told}\n");
        }
        // A map whose entries are settings too is listed by its entries.
        let is_told_below = |key: &str| keys.iter().any(|other| other.starts_with(&format!("{key}.")));
        let rows: Vec<[String; 3]> = rows
            .filter(|(key, _)| !is_told_below(key))
            .map(|(key, (value, from))| [key.clone(), cell(&value), self.told_from(&from)])
            .collect();
        let mut text = table(&rows);
        let others = self.others();
        for (what, keys) in [("Used by other versions only", others.unused), ("Unknown", others.unknown)] {
            if !keys.is_empty() {
                text.push_str(&format!("\n{what}: {}\n", keys.join(", ")));
            }
        }
        text
    }

    /// Returns the unused and unknown keys of the files. Only names, because values may be private.
    fn others(&self) -> Others {
        let mut others = Others::default();
        for (key, _) in self.settings.origins() {
            match self.known().find(&key) {
                None => others.unknown.push(key),
                Some(omp_config::Named::Unused) => others.unused.push(key),
                Some(_) => {}
            }
        }
        others
    }
}

#[derive(Default)]
struct Others {
    unused: Vec<String>,
    unknown: Vec<String>,
}

fn cell(value: &Value) -> String {
    let text = shown(value).replace('\n', " ");
    match text.chars().count() {
        0 => "–".to_owned(),
        count if count > WIDEST => format!("{}…", text.chars().take(WIDEST - 1).collect::<String>()),
        _ => text,
    }
}

fn table(rows: &[[String; 3]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (keys, values) = (width(0), width(1));
    rows.iter().map(|[key, value, from]| format!("{key:keys$}  {value:values$}  {from}\n")).collect()
}

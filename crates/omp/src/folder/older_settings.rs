//! Settings that older versions of the program omp follows stored in `agent.db`; read once, never changed.
//!
//! The table `settings` has a row per setting (`key`, `value` as JSON); older versions had one row with all of them in
//! `data`. Nothing else in the database is read, because it also holds credentials.

use std::path::Path;

use omp_workspace::sqlite::{is_sqlite, stored_texts};
use serde_json::{Map, Value};

/// Returns `None` if the database is missing or empty.
pub fn stored(agent_folder: &Path) -> Result<Option<Value>, String> {
    let path = agent_folder.join("agent.db");
    if !is_sqlite(&path) {
        return Ok(None);
    }
    let failed = |error| {
        format!(
            "settings of an older version in {} were not imported: {error}\n\
             hint: close the program that uses the file, or set them again with `omp config set`",
            path.display()
        )
    };
    if let Some(rows) = stored_texts(&path, "settings", ["key", "value"]).map_err(failed)? {
        let read = |[key, value]: [String; 2]| Some((key, serde_json::from_str(&value).ok()?));
        return Ok(whole(rows.into_iter().filter_map(read).collect()));
    }
    let rows = stored_texts(&path, "settings", ["id", "data"]).map_err(failed)?.unwrap_or_default();
    let first = rows.into_iter().find(|[id, _]| id == "1");
    Ok(match first.and_then(|[_, data]| serde_json::from_str(&data).ok()) {
        Some(Value::Object(fields)) => whole(fields),
        _ => None,
    })
}

fn whole(settings: Map<String, Value>) -> Option<Value> {
    (!settings.is_empty()).then_some(Value::Object(settings))
}

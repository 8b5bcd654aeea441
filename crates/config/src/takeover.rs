//! Imports the configuration of an older version if there is no `config.yml` yet: a `settings.json`, and settings from a
//! database.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::migrate::migrate;
use crate::save;
use crate::settings::{ConfigError, merge, read_settings};

/// Writes `config.yml` from the `settings.json` beside it, which is renamed, and from a database, whose values override it.
/// Returns messages about what was done. An invalid `settings.json` is an error, like an invalid `config.yml`: it may
/// contain a policy.
///
/// `stored` is called only if there is no `config.yml`. The database also belongs to another program, so its problems are
/// reported but do not stop omp.
pub fn take_over(
    config: &Path,
    stored: impl FnOnce() -> Result<Option<Value>, String>,
) -> Result<Vec<String>, ConfigError> {
    if config.symlink_metadata().is_ok() {
        return Ok(Vec::new());
    }
    let old = config.with_file_name("settings.json");
    let mut told = Vec::new();
    let stored = stored().unwrap_or_else(|problem| {
        told.push(problem);
        None
    });
    let stored = stored.map(migrate).filter(|stored| stored.as_object().is_some_and(|fields| !fields.is_empty()));
    let has_file = old.is_file();
    if !has_file && stored.is_none() {
        return Ok(told);
    }
    let failed = |problem: String| ConfigError::new(&old, problem);
    let mut settings = match has_file {
        true => migrate(read_settings(&old)?.map(|read| read.value).unwrap_or_default()),
        false => Value::Null,
    };
    let from_database = stored.is_some();
    if let Some(stored) = stored {
        merge(&mut settings, stored);
    }
    let text = save::page(&settings).map_err(failed)?;
    write_new(config, &text).map_err(|error| ConfigError::new(config, format!("it cannot be created: {error}")))?;
    let config = config.display();
    if from_database {
        told.push(format!("imported settings from agent.db into {config}; agent.db was not changed"));
    }
    if has_file {
        let kept = free_name(&old);
        std::fs::rename(&old, &kept).map_err(|error| failed(format!("it cannot be renamed: {error}")))?;
        told.push(format!("imported settings.json into {config}; the old file is now {}", kept.display()));
    }
    Ok(told)
}

/// Writes all or nothing, and never over a file that another process has created meanwhile.
fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error.error),
    }
}

/// Returns `settings.json.bak`, with a number if that name is taken.
fn free_name(old: &Path) -> PathBuf {
    let named = |number: usize| match number {
        0 => old.with_extension("json.bak"),
        number => old.with_extension(format!("json.bak{number}")),
    };
    (0..100).map(named).find(|name| !name.exists()).unwrap_or_else(|| named(0))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::{Value, json};

    use super::*;
    use crate::Settings;

    fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(dir.path().join(name), text).unwrap();
        }
        let config = dir.path().join("config.yml");
        (dir, config)
    }

    #[test]
    fn the_old_file_becomes_the_new_one_once() {
        let old = r#"{"queueMode": "all", "theme": "nord", "retry": {"maxRetries": 5}, "extensions": ["a"],
            "odd key: #": {"no": "yes"}, "empty": {}, "list": [{"a": 1}]}"#;
        let (dir, config) = folder(&[("settings.json", old)]);
        let told = take_over(&config, || Ok(None)).unwrap();
        assert!(told.len() == 1 && told[0].ends_with("settings.json.bak"), "{told:?}");
        assert_eq!(fs::read_to_string(dir.path().join("settings.json.bak")).unwrap(), old);
        assert!(!dir.path().join("settings.json").exists());
        let mut settings = Settings::default();
        settings.load_global(&config).unwrap();
        assert_eq!(settings.get::<String>("steeringMode").as_deref(), Some("all"));
        assert_eq!(settings.get::<u32>("retry.maxRetries"), Some(5));
        assert_eq!(settings.get::<Value>("odd key: #"), Some(json!({"no": "yes"})));
        assert_eq!(settings.get::<Value>("list"), Some(json!([{"a": 1}])));
        assert!(take_over(&config, || panic!("it is not asked again")).unwrap().is_empty());
        insta::assert_snapshot!(fs::read_to_string(&config).unwrap(), @r#"
        theme:
          dark: nord
          light: nord
        retry:
          maxRetries: 5
        extensions: ["a"]
        "odd key: #":
          "no": "yes"
        empty: {}
        list: [{"a":1}]
        steeringMode: all
        "#);
    }

    #[test]
    fn what_is_there_already_is_not_touched() {
        let (dir, config) = folder(&[("settings.json", "{}"), ("config.yml", "a: 1\n")]);
        assert!(take_over(&config, || panic!("it is not asked")).unwrap().is_empty());
        assert!(dir.path().join("settings.json").exists());
        let (dir, config) = folder(&[("settings.json", "{}"), ("settings.json.bak", "older")]);
        assert!(take_over(&config, || Ok(None)).unwrap()[0].ends_with("settings.json.bak1"));
        assert_eq!(fs::read_to_string(dir.path().join("settings.json.bak")).unwrap(), "older");
    }

    #[test]
    fn what_a_database_says_goes_before_the_file() {
        let stored = json!({"queueMode": "all", "retry": {"maxRetries": 9}, "own.key": [1]});
        let (dir, config) = folder(&[("settings.json", r#"{"retry": {"maxRetries": 5, "enabled": false}}"#)]);
        let told = take_over(&config, || Ok(Some(stored.clone()))).unwrap();
        assert!(told.len() == 2 && told[0].contains("agent.db") && told[1].contains("settings.json.bak"), "{told:?}");
        let both = "retry:\n  maxRetries: 9\n  enabled: false\nown:\n  key: [1]\nsteeringMode: all\n";
        assert_eq!(fs::read_to_string(&config).unwrap(), both);
        assert!(!dir.path().join("settings.json").exists());

        let (dir, config) = folder(&[]);
        assert_eq!(take_over(&config, || Ok(Some(stored))).unwrap().len(), 1);
        let alone = "retry:\n  maxRetries: 9\nown:\n  key: [1]\nsteeringMode: all\n";
        assert_eq!(fs::read_to_string(&config).unwrap(), alone);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_database_that_says_nothing_or_cannot_be_read_stops_nobody() {
        for (stored, told) in [
            (Ok(None), vec![]),
            (Ok(Some(json!({}))), vec![]),
            (Ok(Some(json!({"a": null}))), vec![]),
            (Ok(Some(json!([1]))), vec![]),
            (Err("it is locked".to_owned()), vec!["it is locked".to_owned()]),
        ] {
            let (_dir, config) = folder(&[]);
            assert_eq!(take_over(&config, || stored).unwrap(), told);
            assert!(!config.exists());
        }
    }

    #[test]
    fn a_broken_one_is_told_and_stays() {
        let (dir, config) = folder(&[("settings.json", "{\"a\": ")]);
        let error = take_over(&config, || Ok(None)).unwrap_err().to_string();
        assert!(error.contains("settings.json") && error.contains("hint:"), "{error}");
        assert!(dir.path().join("settings.json").exists() && !config.exists());
    }
}

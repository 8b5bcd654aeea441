//! A `settings.json` that an older version left, taken over where there is no `config.yml` yet.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::migrate::migrate;
use crate::save;
use crate::settings::{ConfigError, read_settings};

/// Writes `config.yml` from the `settings.json` beside it, and puts that one away. `None` when there is nothing to do.
/// A broken one is an error, as a broken `config.yml` is: it may hold a policy.
pub fn take_over(config: &Path) -> Result<Option<PathBuf>, ConfigError> {
    let old = config.with_file_name("settings.json");
    if config.symlink_metadata().is_ok() || !old.is_file() {
        return Ok(None);
    }
    let failed = |problem: String| ConfigError { path: old.clone(), problem };
    let settings = migrate(read_settings(&old)?.unwrap_or_default());
    let text = save::page(&settings).map_err(failed)?;
    write_new(config, &text).map_err(|error| failed(format!("config.yml cannot be written from it: {error}")))?;
    let kept = free_name(&old);
    std::fs::rename(&old, &kept).map_err(|error| failed(format!("it cannot be put away: {error}")))?;
    Ok(Some(kept))
}

/// Whole or not at all, and never over a file that another process has made meanwhile.
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

/// `settings.json.bak`, or with a number where that is taken.
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
        assert_eq!(take_over(&config).unwrap(), Some(dir.path().join("settings.json.bak")));
        assert_eq!(fs::read_to_string(dir.path().join("settings.json.bak")).unwrap(), old);
        assert!(!dir.path().join("settings.json").exists());
        let mut settings = Settings::default();
        settings.load_global(&config).unwrap();
        assert_eq!(settings.get::<String>("steeringMode").as_deref(), Some("all"));
        assert_eq!(settings.get::<u32>("retry.maxRetries"), Some(5));
        assert_eq!(settings.get::<Value>("odd key: #"), Some(json!({"no": "yes"})));
        assert_eq!(settings.get::<Value>("list"), Some(json!([{"a": 1}])));
        assert_eq!(take_over(&config).unwrap(), None);
        insta::assert_snapshot!(fs::read_to_string(&config).unwrap(), @"");
    }

    #[test]
    fn what_is_there_already_is_not_touched() {
        let (dir, config) = folder(&[("settings.json", "{}"), ("config.yml", "a: 1\n")]);
        assert_eq!(take_over(&config).unwrap(), None);
        assert!(dir.path().join("settings.json").exists());
        let (dir, config) = folder(&[("settings.json", "{}"), ("settings.json.bak", "older")]);
        assert_eq!(take_over(&config).unwrap(), Some(dir.path().join("settings.json.bak1")));
        assert_eq!(fs::read_to_string(dir.path().join("settings.json.bak")).unwrap(), "older");
    }

    #[test]
    fn a_broken_one_is_told_and_stays() {
        let (dir, config) = folder(&[("settings.json", "{\"a\": ")]);
        let error = take_over(&config).unwrap_err().to_string();
        assert!(error.contains("settings.json") && error.contains("hint:"), "{error}");
        assert!(dir.path().join("settings.json").exists() && !config.exists());
    }
}

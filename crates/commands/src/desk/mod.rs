//! Shows and changes settings from a shell (`omp config`) and in a session (`/settings`). The crates that declare the
//! settings know their meaning; `omp-config` knows how to edit the file.

mod listing;
mod told;

use std::path::{Path, PathBuf};

use omp_config::{Known, Layer, Named, RENAMED_SETTINGS, Settings, parse_value, save_setting};
use omp_types::SettingKind;
use serde_json::{Value, json};

/// A message about the change, or why the file could not be written.
pub type WriteResult = Result<String, String>;

/// The settings of a folder; changes are written to the user's file.
pub struct SettingsDesk {
    pub settings: Settings,
    /// The user's settings file.
    pub file: PathBuf,
    pub cwd: PathBuf,
    pub home: PathBuf,
    /// Whether to reply in JSON.
    pub json: bool,
}

impl SettingsDesk {
    fn known(&self) -> &Known {
        self.settings.known()
    }

    /// Returns the current name of a setting; an error if it is unknown.
    pub fn key(&self, key: &str) -> Result<String, String> {
        let renamed = RENAMED_SETTINGS.iter().find(|(old, _)| *old == key).map(|(_, new)| *new);
        let key = renamed.unwrap_or(key);
        match self.known().find(key) {
            Some(Named::Setting(_) | Named::Entry(_)) => Ok(key.to_owned()),
            Some(Named::Unused) => Err(format!(
                "this version of omp does not use the setting `{key}`\nhint: `omp config list` lists the settings it uses"
            )),
            None => Err(self.unknown(key)),
        }
    }

    fn unknown(&self, key: &str) -> String {
        let hint = match (self.known().group(key), self.known().nearest(key)) {
            (Some(inner), _) => format!("it is a group; use `omp config get {}`", inner.key),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => "`omp config list` shows every setting".to_owned(),
        };
        format!("unknown setting `{key}`\nhint: {hint}")
    }

    /// Returns the effective value and its source.
    fn value(&self, key: &str) -> (Value, ValueOrigin<'_>) {
        let default = || match self.known().find(key) {
            Some(Named::Setting(setting)) => setting.default_value(),
            _ => Value::Null,
        };
        match self.settings.get::<Value>(key).filter(|value| !value.is_null()) {
            Some(value) => {
                let origin = self.settings.origin(key);
                (value, ValueOrigin { layer: origin.map(|it| it.layer), file: origin.and_then(|it| it.file) })
            }
            None => (default(), ValueOrigin { layer: None, file: None }),
        }
    }

    pub fn get(&self, key: &str) -> Result<String, String> {
        let key = self.key(key)?;
        let (value, from) = self.value(&key);
        Ok(match self.json {
            true => format!("{}\n", self.as_json(&key, &value, &from)),
            false => format!("{}\n", shown(&value)),
        })
    }

    pub fn set(&self, key: &str, text: &str) -> Result<WriteResult, String> {
        let key = self.key(key)?;
        let value = self.read(&key, text)?;
        Ok(save_setting(&self.file, &key, &value).map_err(|error| error.to_string()).map(|()| self.done(&key, &value)))
    }

    fn read(&self, key: &str, text: &str) -> Result<Value, String> {
        let former = match self.known().find(key) {
            Some(Named::Setting(setting)) => setting.current_word(&Value::from(text)),
            _ => None,
        };
        let kind = match self.known().find(key) {
            Some(Named::Setting(setting)) => Some(setting.kind),
            Some(Named::Entry(map)) => map.kind.entry(),
            _ => None,
        };
        let parsed = parse_value(text);
        let value = match (kind, parsed) {
            // A word may look like a number or another YAML value.
            (Some(SettingKind::Text | SettingKind::OneOf(_)), _) => Value::from(text),
            (Some(kind), Ok(Value::String(words))) if kind.is_list() => {
                words.split(',').map(str::trim).filter(|word| !word.is_empty()).map(Value::from).collect()
            }
            (_, Ok(value)) => value,
            (_, Err(problem)) => {
                return Err(format!(
                    "`{text}` is not a valid value: {problem}\nhint: values are YAML; quote those that contain spaces"
                ));
            }
        };
        match kind.filter(|kind| former.is_none() && !kind.accepts(&value)) {
            Some(kind) => {
                Err(format!("`{text}` is not a valid value for `{key}`\nhint: it must be {}", kind.expected()))
            }
            None if value.is_null() => Err(format!("`{key}` needs a value\nhint: `omp config reset {key}` removes it")),
            None => Ok(value),
        }
    }

    pub fn reset(&self, key: &str) -> Result<WriteResult, String> {
        // An unknown name may be what the user wants to remove.
        let key = match self.key(key) {
            Ok(known) if self.in_users_file(&known) || !self.in_users_file(key) => known,
            Err(problem) if !self.in_users_file(key) => return Err(problem),
            _ => key.to_owned(),
        };
        let saved = save_setting(&self.file, &key, &Value::Null).map_err(|error| error.to_string());
        let default = match self.known().find(&key) {
            Some(Named::Setting(setting)) => setting.default_value(),
            _ => Value::Null,
        };
        Ok(saved.map(|()| self.done(&key, &default)))
    }

    /// Whether the user's settings file has the key, valid or not.
    fn in_users_file(&self, key: &str) -> bool {
        let mut raw = Settings::default();
        raw.load_global(&self.file).is_ok() && raw.get::<Value>(key).is_some()
    }

    /// Returns a warning if a stronger layer overrides the user's file.
    pub fn stronger(&self, key: &str) -> Option<String> {
        let (stands, from) = self.value(key);
        let stronger = from.layer.is_some_and(|layer| layer != Layer::Global);
        stronger.then(|| format!("here `{key}` is {}, from {}", shown(&stands), self.told_from(&from)))
    }

    fn done(&self, key: &str, value: &Value) -> String {
        match self.json {
            true => format!("{}\n", json!({"key": key, "value": value, "file": self.file})),
            false => format!("{key} = {} ({})\n", shown(value), self.told(&self.file)),
        }
    }

    /// Lists every file in use, strongest last.
    pub fn files(&self) -> String {
        let mut files = vec![json!({"from": Layer::Global.name(), "path": self.file, "exists": self.file.exists()})];
        for name in ["settings.json", "config.yml"] {
            let path = self.cwd.join(".omp").join(name);
            files.push(json!({"from": Layer::Project.name(), "path": path, "exists": path.exists()}));
        }
        let overlays = self.settings.files().filter(|(layer, _)| *layer == Layer::Overlay);
        files.extend(overlays.map(|(layer, path)| json!({"from": layer.name(), "path": path, "exists": true})));
        format!("{}\n", Value::Array(files))
    }

    fn as_json(&self, key: &str, value: &Value, from: &ValueOrigin<'_>) -> Value {
        let mut told = json!({"key": key, "value": value, "from": from.name()});
        if let Some(file) = from.file {
            told["file"] = json!(file);
        }
        told
    }

    fn told_from(&self, from: &ValueOrigin<'_>) -> String {
        match from.file {
            Some(file) => format!("{} ({})", from.name(), self.told(file)),
            None => from.name().to_owned(),
        }
    }

    fn told(&self, path: &Path) -> String {
        if let Ok(rest) = path.strip_prefix(&self.cwd) {
            return rest.display().to_string();
        }
        path.strip_prefix(&self.home).map_or(path.display().to_string(), |rest| format!("~/{}", rest.display()))
    }
}

/// The source of a value; no layer means the default.
struct ValueOrigin<'a> {
    layer: Option<Layer>,
    file: Option<&'a Path>,
}

impl ValueOrigin<'_> {
    fn name(&self) -> &'static str {
        self.layer.map_or("default", Layer::name)
    }
}

/// Formats text as it is and other values as JSON, which is YAML too.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

//! Settings in layers: global `config.yml`, project files, `--config` overlays, runtime overrides.
//!
//! Values are kept as read, including unknown keys; each crate reads the keys it owns, with [`Settings::of`] if they have a
//! default. A project layer comes from a repository, so code that reads a setting that guards the user calls
//! [`Settings::user`] and treats the project's value as a request.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use omp_stdx::key_places::{KeyPlaces, LineColumn, yaml_problem};
use omp_stdx::plain_file;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::known::Known;
use crate::migrate::migrate;
use crate::screen::{Complaint, Screen};

/// Larger files are not settings files.
const MAX_BYTES: u64 = 4 << 20;

/// The origin of a value, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    Global,
    Project,
    Overlay,
    Runtime,
}

impl Layer {
    /// The name shown to users.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Global => "user",
            Layer::Project => "project",
            Layer::Overlay => "--config",
            Layer::Runtime => "command line",
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("cannot read settings from {}: {problem}\nhint: fix the file or move it away", at(path, *place))]
pub struct ConfigError {
    pub path: PathBuf,
    /// The position in the file, if known.
    pub place: Option<LineColumn>,
    pub problem: String,
}

impl ConfigError {
    pub(crate) fn new(path: &Path, problem: impl Into<String>) -> Self {
        Self { path: path.to_owned(), place: None, problem: problem.into() }
    }
}

/// Formats a position as `file:line:column`, which editors and terminals recognize.
pub(crate) fn at(path: &Path, place: Option<LineColumn>) -> String {
    match place {
        Some(place) => format!("{}:{place}", path.display()),
        None => path.display().to_string(),
    }
}

/// The origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin<'a> {
    pub layer: Layer,
    /// The file, if the layer is one.
    pub file: Option<&'a Path>,
}

#[derive(Clone, Debug)]
struct Source {
    layer: Layer,
    file: Option<PathBuf>,
    /// Text of the file.
    text: Arc<str>,
    value: Value,
}

#[derive(Clone, Debug, Default)]
pub struct Settings {
    known: Known,
    sources: Vec<Source>,
    merged: Value,
    /// The merged settings without the project's.
    users: Value,
    projects: Value,
    complaints: Vec<Complaint>,
}

impl Settings {
    /// Invalid values are dropped and reported as complaints.
    pub fn new(known: Known) -> Self {
        Self { known, ..Self::default() }
    }

    /// Loads the user's own file. An invalid file is an error: a guess could undo a policy of the user.
    pub fn load_global(&mut self, path: &Path) -> Result<(), ConfigError> {
        if let Some(read) = read_settings(path)? {
            self.push_file(Layer::Global, path, read);
        }
        Ok(())
    }

    /// Loads the settings in the folder's `.omp`. An invalid file is skipped and returned as a warning.
    pub fn load_project(&mut self, folder: &Path) -> Vec<ConfigError> {
        let mut problems = Vec::new();
        let own = folder.join(".omp");
        // Most projects have none, so one check replaces four.
        let is_absent = own.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
        for name in ["settings.json", "config.yml"].iter().filter(|_| !is_absent) {
            let path = own.join(name);
            match read_project_settings(folder, &path) {
                Ok(Some(read)) => self.push_file(Layer::Project, &path, read),
                Ok(None) => {}
                Err(problem) => problems.push(problem),
            }
        }
        problems
    }

    /// Loads a file named on the command line, which must exist.
    pub fn load_overlay(&mut self, path: &Path) -> Result<(), ConfigError> {
        let read = read_settings(path)?.ok_or_else(|| ConfigError::new(path, "no such file"))?;
        self.push_file(Layer::Overlay, path, read);
        Ok(())
    }

    /// Sets one key for this process only.
    pub fn set_runtime(&mut self, key: &str, value: Value) {
        let nested =
            key.rsplit('.').fold(value, |inner, part| Value::Object(Map::from_iter([(part.to_owned(), inner)])));
        self.push(Layer::Runtime, None, nested);
    }

    /// Returns the effective value of a dotted key, or `None` if it is unset or has another type.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        read_key(&self.merged, key)
    }

    /// Returns the value from all layers except the project's.
    pub fn user<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        read_key(&self.users, key)
    }

    /// Returns the value from the project's layer alone.
    pub fn project<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        read_key(&self.projects, key)
    }

    /// Returns the origin of the effective value of a dotted key.
    pub fn origin(&self, key: &str) -> Option<Origin<'_>> {
        let strongest = self.sources.iter().rev().find(|source| read_key::<Value>(&source.value, key).is_some())?;
        Some(Origin { layer: strongest.layer, file: strongest.file.as_deref() })
    }

    /// Returns every key that is set, dotted, with its origin.
    pub fn origins(&self) -> Vec<(String, Layer)> {
        let mut keys = Vec::new();
        leaves(&self.merged, "", &mut keys);
        let known = |key: String| self.origin(&key).map(|origin| origin.layer).map(|layer| (key, layer));
        keys.into_iter().filter_map(known).collect()
    }

    /// Returns the value of a dotted key in each file named on the command line, in order.
    pub fn overlays(&self, key: &str) -> impl Iterator<Item = (&Path, Value)> {
        let overlays = self.sources.iter().filter(|source| source.layer == Layer::Overlay);
        overlays.filter_map(move |source| Some((source.file.as_deref()?, read_key(&source.value, key)?)))
    }

    /// Returns the position of a list item as `file:line:column`, for error messages. Searches the effective list: the
    /// project's, or that of the user's strongest file.
    pub fn place_of_item(&self, key: &str, of_project: bool, item: impl Fn(&Value) -> bool) -> Option<String> {
        let is_asked = |source: &&Source| (source.layer == Layer::Project) == of_project;
        let found = self.sources.iter().rev().filter(is_asked).find_map(|source| {
            let list = read_key::<Value>(&source.value, key)?;
            Some((source, list))
        });
        let (source, list) = found?;
        let index = list.as_array()?.iter().position(item)?;
        let place = KeyPlaces::of(&source.text).nearest(&format!("{key}[{index}]"));
        Some(at(source.file.as_deref()?, place))
    }

    pub fn known(&self) -> &Known {
        &self.known
    }

    /// Returns the files that were read, weakest first.
    pub fn files(&self) -> impl Iterator<Item = (Layer, &Path)> {
        self.sources.iter().filter_map(|source| Some((source.layer, source.file.as_deref()?)))
    }

    /// Returns the problems of the files, in reading order.
    pub fn complaints(&self) -> &[Complaint] {
        &self.complaints
    }

    /// Complaints include the position in the file.
    fn push_file(&mut self, layer: Layer, file: &Path, read: ReadSettings) {
        let known = self.complaints.len();
        self.push(layer, Some(file), read.value);
        if let Some(source) = self.sources.last_mut() {
            source.text = read.text.as_str().into();
        }
        if self.complaints.len() > known {
            let places = KeyPlaces::of(&read.text);
            for complaint in &mut self.complaints[known..] {
                complaint.place = places.nearest(&complaint.path());
            }
        }
    }

    fn push(&mut self, layer: Layer, file: Option<&Path>, value: Value) {
        let mut value = migrate(value);
        let screen = Screen { known: &self.known, layer, file, users: &self.users };
        self.complaints.extend(screen.clean(&mut value));
        merge(&mut self.merged, value.clone());
        merge(if layer == Layer::Project { &mut self.projects } else { &mut self.users }, value.clone());
        self.sources.push(Source { layer, file: file.map(Path::to_owned), text: Arc::default(), value });
    }
}

fn leaves(value: &Value, above: &str, keys: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let key = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
                leaves(value, &key, keys);
            }
        }
        _ => keys.push(above.to_owned()),
    }
}

/// Does not follow a link out of the project: its target is not the project's file.
fn read_project_settings(folder: &Path, path: &Path) -> Result<Option<ReadSettings>, ConfigError> {
    let outside = |target: PathBuf| folder.canonicalize().is_ok_and(|folder| !target.starts_with(folder));
    if path.canonicalize().is_ok_and(outside) {
        return Err(ConfigError::new(path, "it is a symbolic link that leads outside the project"));
    }
    read_settings(path)
}

/// A settings file with its text, in which positions can be found.
pub(crate) struct ReadSettings {
    pub value: Value,
    text: String,
}

pub(crate) fn read_settings(path: &Path) -> Result<Option<ReadSettings>, ConfigError> {
    let Some(text) = read_plain_file(path).map_err(|problem| ConfigError::new(path, problem))? else {
        return Ok(None);
    };
    if text.trim().is_empty() {
        return Ok(None);
    }
    let value: Value = serde_saphyr::from_str(&text).map_err(|error| {
        let (place, why) = yaml_problem(&error);
        ConfigError { path: path.to_owned(), place, problem: format!("not valid YAML: {why}") }
    })?;
    match value {
        Value::Object(_) => Ok(Some(ReadSettings { value, text })),
        Value::Null => Ok(None),
        _ => Err(ConfigError::new(path, "the file must contain `name: value` lines")),
    }
}

/// Returns `None` if the file does not exist. A pipe is not opened, because a repository could block omp with one.
pub(crate) fn read_plain_file(path: &Path) -> Result<Option<String>, String> {
    match plain_file::read_text(path, MAX_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => {
            Err(format!("it has more than {} MB", MAX_BYTES >> 20))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// A key may be nested (`tools: {approvalMode: …}`) or dotted (`tools.approvalMode: …`).
fn read_key<T: DeserializeOwned>(settings: &Value, key: &str) -> Option<T> {
    let value = settings.get(key).or_else(|| key.split('.').try_fold(settings, |value, part| value.get(part)))?;
    serde_json::from_value(value.clone()).ok()
}

/// Merges objects key by key; other values are replaced.
pub(crate) fn merge(base: &mut Value, over: Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                merge(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (base, over) => *base = over,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn layered(layers: &[(Layer, Value)]) -> Settings {
        let mut settings = Settings::default();
        for (layer, value) in layers {
            settings.push(*layer, None, value.clone());
        }
        settings
    }

    #[test]
    fn later_layers_win_key_by_key() {
        let settings = layered(&[
            (Layer::Global, json!({"tools": {"approvalMode": "write", "approval": {"bash": "prompt"}}, "unknown": 1})),
            (Layer::Project, json!({"tools": {"approvalMode": "yolo"}})),
        ]);
        assert_eq!(settings.get::<String>("tools.approvalMode").as_deref(), Some("yolo"));
        assert_eq!(settings.get::<String>("tools.approval.bash").as_deref(), Some("prompt"));
        assert_eq!(settings.get::<u32>("unknown"), Some(1));
        let origins = ["tools.approvalMode", "tools.approval.bash", "retry.maxRetries"]
            .map(|key| settings.origin(key).map(|origin| origin.layer));
        assert_eq!(origins, [Some(Layer::Project), Some(Layer::Global), None]);
        assert!(settings.origins().contains(&("tools.approvalMode".to_owned(), Layer::Project)));
        assert_eq!(settings.user::<String>("tools.approvalMode").as_deref(), Some("write"));
        assert_eq!(settings.project::<String>("tools.approvalMode").as_deref(), Some("yolo"));
    }

    #[test]
    fn runtime_overrides_are_strongest_and_keys_may_be_dotted() {
        let mut settings = layered(&[(Layer::Global, json!({"tools.approvalMode": "always-ask"}))]);
        assert_eq!(settings.get::<String>("tools.approvalMode").as_deref(), Some("always-ask"));
        settings.set_runtime("retry.maxRetries", json!(0));
        assert_eq!(settings.get::<u32>("retry.maxRetries"), Some(0));
    }

    #[test]
    fn broken_global_file_is_an_error_and_is_not_touched() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.yml");
        for broken in ["a: [1, 2", "- just\n- a list\n", "\"text\""] {
            std::fs::write(&path, broken).unwrap();
            let error = Settings::default().load_global(&path).unwrap_err().to_string();
            assert!(error.contains("config.yml") && error.contains("hint:"), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), broken);
        }
    }

    #[test]
    fn mistakes_are_told_with_their_line_and_column() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.yml");
        for (broken, place) in [("a: 1\nb: [1, 2\nc: 3\n", "3:2"), ("a: 'x\n", "2:1")] {
            std::fs::write(&path, broken).unwrap();
            let error = Settings::default().load_global(&path).unwrap_err().to_string();
            assert!(error.contains(&format!("config.yml:{place}: not valid YAML: ")), "{error}");
            assert_eq!(error.lines().count(), 2, "{error}");
        }
        let number = omp_types::SettingKind::Number { least: 0.0, most: 9.0 };
        let known = Known::new([omp_types::Setting::new("", "retry.maxRetries", number, "", "")]);
        for (text, expect) in [
            ("# mine\nretry:\n  maxRetries: three\n", ":3:3: `retry.maxRetries` is ignored: "),
            ("retry.maxRetries: three\n", ":1:1: `retry.maxRetries` is ignored: "),
            ("# mine\nretry: {maxRetrys: 3}\n", ":2:9: unknown setting `retry.maxRetrys`"),
        ] {
            std::fs::write(&path, text).unwrap();
            let mut settings = Settings::new(known.clone());
            settings.load_overlay(&path).unwrap();
            let told: Vec<String> = settings.complaints().iter().map(ToString::to_string).collect();
            assert_eq!(told.len(), 1, "{told:?}");
            assert!(told[0].contains(expect) && told[0].contains("\nhint: "), "{told:?}");
        }
    }

    #[test]
    fn what_is_no_settings_file_is_refused_unread() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.yml");
        let refusal = |path: &Path| Settings::default().load_global(path).unwrap_err().to_string();
        assert!(refusal(dir.path()).contains("not a regular file"));
        std::fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert!(refusal(&path).contains("more than 4 MB"));
    }

    #[test]
    fn missing_and_empty_files_are_fine_but_a_named_overlay_must_exist() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.yml");
        let mut settings = Settings::default();
        settings.load_global(&path).unwrap();
        std::fs::write(&path, "# nothing\n").unwrap();
        settings.load_global(&path).unwrap();
        assert!(settings.load_overlay(&dir.path().join("other.yml")).is_err());
    }

    #[test]
    fn a_broken_project_file_is_a_warning() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(".omp")).unwrap();
        std::fs::write(dir.path().join(".omp/config.yml"), "a: [").unwrap();
        std::fs::write(dir.path().join(".omp/settings.json"), r#"{"theme": "x"}"#).unwrap();
        let mut settings = Settings::default();
        assert_eq!(settings.load_project(dir.path()).len(), 1);
        assert_eq!(settings.get::<String>("theme.dark").as_deref(), Some("x"));
        let file = dir.path().join(".omp/settings.json");
        assert_eq!(settings.origin("theme.dark").unwrap().file, Some(&*file));
        assert_eq!(settings.files().collect::<Vec<_>>(), [(Layer::Project, &*file)]);
    }

    #[test]
    fn a_dotted_name_and_an_empty_group_do_not_hide_what_is_weaker_or_stronger() {
        let settings = layered(&[
            (Layer::Global, json!({"tools.approvalMode": "write", "retry": {"enabled": false}})),
            (Layer::Overlay, json!({"tools": {"approvalMode": "yolo"}, "retry": null})),
        ]);
        assert_eq!(settings.get::<String>("tools.approvalMode").as_deref(), Some("yolo"));
        assert_eq!(settings.get::<bool>("retry.enabled"), Some(false));
    }

    #[test]
    fn maps_of_the_user_merge_over_files() {
        let settings = layered(&[
            (Layer::Global, json!({"modelRoles": {"default": "a", "smol": "b"}})),
            (Layer::Project, json!({"modelRoles": {"default": "evil"}})),
            (Layer::Overlay, json!({"modelRoles": {"smol": "c"}})),
        ]);
        assert_eq!(settings.user::<Value>("modelRoles"), Some(json!({"default": "a", "smol": "c"})));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_project_is_not_followed() {
        let (outside, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(outside.path().join("x.yml"), "a: 1\n").unwrap();
        std::fs::create_dir(dir.path().join(".omp")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("x.yml"), dir.path().join(".omp/config.yml")).unwrap();
        let mut settings = Settings::default();
        let problems = settings.load_project(dir.path());
        assert!(problems[0].to_string().contains("leads outside the project"));
        assert_eq!(settings.get::<u32>("a"), None);
    }

    #[test]
    fn values_of_lists_have_their_places() {
        let folder = tempfile::tempdir().unwrap();
        let (mine, over) = (folder.path().join("config.yml"), folder.path().join("over.yml"));
        std::fs::write(&mine, "tools:\n  deny: [a, b]\n  ask:\n    - c\n    - 'd e'\n").unwrap();
        std::fs::write(&over, "tools.deny: [x]\n").unwrap();
        let project = folder.path().join("p");
        std::fs::create_dir_all(project.join(".omp")).unwrap();
        std::fs::write(project.join(".omp/config.yml"), "\n\ntools: {deny: [a]}\n").unwrap();
        let mut settings = Settings::default();
        settings.load_global(&mine).unwrap();
        assert!(settings.load_project(&project).is_empty());
        let place = |settings: &Settings, key: &str, of_project: bool, item: &str| {
            let place = settings.place_of_item(key, of_project, |value| value == item)?;
            Some(place.strip_prefix(&format!("{}/", folder.path().display())).unwrap_or(&place).to_owned())
        };
        for (key, of_project, item, expect) in [
            ("tools.deny", false, "b", Some("config.yml:2:13")),
            ("tools.ask", false, "d e", Some("config.yml:5:7")),
            ("tools.deny", true, "a", Some("p/.omp/config.yml:3:16")),
            ("tools.ask", true, "c", None),
            ("tools.deny", false, "x", None),
        ] {
            assert_eq!(place(&settings, key, of_project, item).as_deref(), expect, "{key} {item}");
        }
        settings.load_overlay(&over).unwrap();
        assert_eq!(place(&settings, "tools.deny", false, "x").as_deref(), Some("over.yml:1:14"));
        assert_eq!(place(&settings, "tools.deny", false, "a"), None, "that list does not count");
    }
}

//! `models.yml`: the user's own providers and models, and changes to built-in ones.
//!
//! A mistake in one provider takes away that provider only. Everything found wrong is kept in [`ModelsFile::problems`]
//! to be shown, and the built-in models work whatever the file says.

mod fields;
mod jsonc;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub(crate) use fields::{AuthMode, DiscoveryKind, ProviderFields, set_header};

/// Larger files are refused.
const MAX_BYTES: u64 = 4 << 20;

/// What the file says, as far as it could be understood.
#[derive(Clone, Debug, Default)]
pub struct ModelsFile {
    /// The file that was read, if there was one.
    pub path: Option<PathBuf>,
    pub problems: Vec<ModelsFileProblem>,
    /// In the order of the file.
    pub(crate) providers: Vec<(String, ProviderFields)>,
    /// `provider/id` to canonical id.
    pub(crate) same_as: BTreeMap<String, String>,
    /// `provider/id` of models that stand for themselves only.
    pub(crate) excluded: BTreeSet<String>,
}

/// Something in the file that did not work as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelsFileProblem {
    /// Whether something was left out because of it; otherwise it is only worth a remark.
    pub is_error: bool,
    /// For the user, with a `hint:` where there is one.
    pub message: String,
}

impl fmt::Display for ModelsFileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// How the text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Yaml,
    /// JSON with comments and trailing commas.
    Jsonc,
}

impl ModelsFile {
    /// Reads the file. One that does not exist is empty; in place of a missing `models.yml` an older `models.json` or
    /// `models.jsonc` beside it is read, and left as it is.
    pub fn read(path: &Path) -> Self {
        let older = ["json", "jsonc"].map(|extension| path.with_extension(extension));
        let candidates = std::iter::once(path).chain(older.iter().map(PathBuf::as_path));
        for candidate in candidates {
            match read_text(candidate) {
                Ok(None) => continue,
                Ok(Some(text)) => return Self::parse(candidate, &text),
                Err(why) => {
                    let mut file = Self { path: Some(candidate.to_owned()), ..Self::default() };
                    let hint = "hint: built-in models still work; mend the file or move it away";
                    file.error(format!("{} cannot be read: {why}\n{hint}", candidate.display()));
                    return file;
                }
            }
        }
        Self::default()
    }

    fn parse(path: &Path, text: &str) -> Self {
        let mut file = Self { path: Some(path.to_owned()), ..Self::default() };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match parse_value(text, format_of(path)) {
            Ok(value) => file.interpret(value, text),
            Err((line, why)) => {
                let line = line.map(|line| format!(":{line}")).unwrap_or_default();
                file.error(format!(
                    "{}{line}: {why}\nhint: built-in models still work; correct the file to get its providers back",
                    path.display()
                ));
            }
        }
        file
    }

    fn interpret(&mut self, value: Value, text: &str) {
        let root = match without_nulls(value) {
            Value::Object(root) => root,
            Value::Null => return,
            _ => return self.error(self.at("expected a mapping with `providers:`")),
        };
        self.warn_unknown("", &root, &["providers", "equivalence"]);
        match root.get("providers") {
            None => {}
            Some(Value::Object(providers)) => {
                for (name, provider) in providers {
                    self.add_provider(name, provider, text);
                }
            }
            Some(_) => self.error(self.at("`providers` must be a mapping of provider names")),
        }
        if let Some(equivalence) = root.get("equivalence") {
            self.read_equivalence(equivalence);
        }
    }

    fn add_provider(&mut self, name: &str, value: &Value, text: &str) {
        let place = match line_of_key(text, name) {
            Some(line) => format!("line {line}: providers.{name}"),
            None => format!("providers.{name}"),
        };
        match typed::<ProviderFields>(value).and_then(|provider| {
            provider.validate()?;
            Ok(provider)
        }) {
            Ok(provider) => {
                self.warn_unknown_fields(&format!("providers.{name}"), value);
                self.providers.push((name.to_owned(), provider));
            }
            Err(why) => self.error(self.at(&format!("{place}{why}"))),
        }
    }

    fn warn_unknown_fields(&mut self, place: &str, provider: &Value) {
        let Value::Object(provider) = provider else { return };
        self.warn_unknown(place, provider, fields::PROVIDER_KEYS);
        let models = provider.get("models").and_then(Value::as_array).into_iter().flatten();
        for (index, model) in models.enumerate() {
            self.warn_unknown_model(&format!("{place}.models[{index}]"), model);
        }
        let overrides = provider.get("modelOverrides").and_then(Value::as_object).into_iter().flatten();
        for (id, model) in overrides {
            self.warn_unknown_model(&format!("{place}.modelOverrides.{id}"), model);
        }
    }

    fn warn_unknown_model(&mut self, place: &str, model: &Value) {
        let Value::Object(model) = model else { return };
        self.warn_unknown(place, model, fields::MODEL_KEYS);
        if let Some(Value::Object(cost)) = model.get("cost") {
            self.warn_unknown(&format!("{place}.cost"), cost, fields::COST_KEYS);
        }
    }

    fn warn_unknown(&mut self, place: &str, object: &Map<String, Value>, known: &[&str]) {
        for key in object.keys().filter(|key| !known.contains(&key.as_str())) {
            let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
            let message = self.at(&format!("{place}unknown key `{key}` is ignored"));
            let near = crate::resolve::nearest(key, known.iter().copied(), 1).pop();
            let hint = near.map(|near| format!("\nhint: did you mean `{near}`?")).unwrap_or_default();
            self.problems.push(ModelsFileProblem { is_error: false, message: message + &hint });
        }
    }

    fn read_equivalence(&mut self, value: &Value) {
        #[derive(Default, serde::Deserialize)]
        #[serde(default, expecting = "a mapping")]
        struct Equivalence {
            overrides: BTreeMap<String, String>,
            exclude: BTreeSet<String>,
        }
        match typed::<Equivalence>(value) {
            Ok(equivalence) => {
                self.same_as = equivalence.overrides;
                self.excluded = equivalence.exclude;
            }
            Err(why) => self.error(self.at(&format!("equivalence{why}"))),
        }
    }

    fn at(&self, what: &str) -> String {
        let path = self.path.as_deref().unwrap_or(Path::new("models.yml"));
        format!("{}: {what}", path.display())
    }

    fn error(&mut self, message: String) {
        self.problems.push(ModelsFileProblem { is_error: true, message });
    }
}

/// `None` when there is no such file. Only regular files are read: a pipe would make us wait for ever.
fn read_text(path: &Path) -> Result<Option<String>, String> {
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    if !metadata.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    if metadata.len() > MAX_BYTES {
        return Err(format!("it is larger than {} MB", MAX_BYTES >> 20));
    }
    let bytes = omp_stdx::plain_file::read(path, MAX_BYTES).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map(Some).map_err(|_| "it is not UTF-8 text".to_owned())
}

fn format_of(path: &Path) -> Format {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json" | "jsonc") => Format::Jsonc,
        _ => Format::Yaml,
    }
}

/// The error is a line, if it is known, and a sentence that shows nothing of the file, since there may be keys in it.
fn parse_value(text: &str, format: Format) -> Result<Value, (Option<u64>, String)> {
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    match format {
        Format::Yaml => serde_saphyr::from_str(text).map_err(|error| {
            let line = error.location().map(|location| location.line()).filter(|line| *line > 0);
            let why = error.without_snippet().to_string();
            (line, format!("not valid YAML: {}", why.lines().next().unwrap_or_default()))
        }),
        Format::Jsonc => serde_json::from_str(&jsonc::to_json(text))
            .map_err(|error| (Some(error.line() as u64), format!("not valid JSON: {error}"))),
    }
}

/// A key without a value is as good as absent.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}

/// Reads a value into a type; the error starts with the path to what is wrong.
fn typed<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let dot = if path.starts_with('[') { "" } else { "." };
        match path.as_str() {
            "." => format!(": {}", error.inner()),
            _ => format!("{dot}{path}: {}", error.inner()),
        }
    })
}

/// Where a provider starts, for people to find it.
fn line_of_key(text: &str, key: &str) -> Option<usize> {
    let starts_with_key = |line: &str| {
        let line = line.trim_start();
        let rest = line.strip_prefix(key).or_else(|| {
            let quoted = line.strip_prefix(['"', '\''])?.strip_prefix(key)?;
            quoted.strip_prefix(['"', '\''])
        });
        rest.is_some_and(|rest| rest.trim_start().starts_with(':'))
    };
    text.lines().position(starts_with_key).map(|index| index + 1)
}

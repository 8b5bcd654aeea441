//! `models.yml`: the user's own providers and models, and overrides of built-in ones.
//!
//! A mistake in one provider disables only that provider. All problems are collected in [`ModelsFile::problems`] for
//! display, and the built-in models work regardless of the file.

mod fields;
mod jsonc;
#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use omp_stdx::key_places::{KeyPlaces, LineColumn, expected_value, yaml_problem};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub(crate) use fields::{AuthMode, DiscoveryKind, ProviderFields, set_header};

/// Larger files are refused.
const MAX_BYTES: u64 = 4 << 20;
/// Hint for mistakes without a specific remedy.
const CORRECT: &str = "the provider is ignored until this is fixed; see docs/models.md";

/// The parsed content of the file, as far as it is valid.
#[derive(Clone, Debug, Default)]
pub struct ModelsFile {
    /// The file that was read, if there was one.
    pub path: Option<PathBuf>,
    pub problems: Vec<ModelsFileProblem>,
    /// In file order.
    pub(crate) providers: Vec<(String, ProviderFields)>,
    /// Maps `provider/id` to the canonical ID.
    pub(crate) same_as: BTreeMap<String, String>,
    /// `provider/id` of models that have no canonical ID.
    pub(crate) excluded: BTreeSet<String>,
}

/// A problem found in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelsFileProblem {
    /// Whether something was left out because of the problem; otherwise it is only a warning.
    pub is_error: bool,
    /// Message for the user, with a `hint:` if there is one.
    pub message: String,
}

impl fmt::Display for ModelsFileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Syntax of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextFormat {
    Yaml,
    /// JSON with comments and trailing commas.
    Jsonc,
}

impl ModelsFile {
    /// Reads the file. A missing file counts as empty; if `models.yml` is missing, an older `models.json` or `models.jsonc`
    /// next to it is read and left unchanged.
    pub fn read(path: &Path) -> Self {
        let older = ["json", "jsonc"].map(|extension| path.with_extension(extension));
        let candidates = std::iter::once(path).chain(older.iter().map(PathBuf::as_path));
        for candidate in candidates {
            match read_text(candidate) {
                Ok(None) => continue,
                Ok(Some(text)) => return Self::parse(candidate, &text),
                Err(why) => {
                    let mut file = Self { path: Some(candidate.to_owned()), ..Self::default() };
                    let hint = "hint: built-in models still work; fix the file or move it away";
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
        let format = format_of(path);
        match parse_value(text, format) {
            Ok(value) => file.interpret(value, &ModelsText { text, format, places: OnceCell::new() }),
            Err((place, why)) => {
                let place = place.map(|place| format!(":{place}")).unwrap_or_default();
                file.error(format!(
                    "{}{place}: {why}\nhint: built-in models still work; fix the file to use its providers",
                    path.display()
                ));
            }
        }
        file
    }

    fn interpret(&mut self, value: Value, source: &ModelsText<'_>) {
        let root = match without_nulls(value) {
            Value::Object(root) => root,
            Value::Null => return,
            _ => return self.wrong(source, "", "expected a mapping with `providers:`"),
        };
        self.warn_unknown(source, "", &root, &["providers", "equivalence"]);
        match root.get("providers") {
            None => {}
            Some(Value::Object(providers)) => {
                for (name, provider) in providers {
                    self.add_provider(name, provider, source);
                }
            }
            Some(_) => self.wrong(source, "providers", "`providers` must be a mapping of provider names"),
        }
        if let Some(equivalence) = root.get("equivalence") {
            self.read_equivalence(equivalence, source);
        }
    }

    fn add_provider(&mut self, name: &str, value: &Value, source: &ModelsText<'_>) {
        // Checked first, because a missing field may be misspelt.
        self.warn_unknown_fields(source, &format!("providers.{name}"), value);
        match typed::<ProviderFields>(value).and_then(|provider| {
            provider.validate()?;
            Ok(provider)
        }) {
            Ok(provider) => self.providers.push((name.to_owned(), provider)),
            Err(why) => self.wrong_below(source, &format!("providers.{name}"), &why),
        }
    }

    fn warn_unknown_fields(&mut self, source: &ModelsText<'_>, place: &str, provider: &Value) {
        let Value::Object(provider) = provider else { return };
        self.warn_unknown(source, place, provider, fields::PROVIDER_KEYS);
        let models = provider.get("models").and_then(Value::as_array).into_iter().flatten();
        for (index, model) in models.enumerate() {
            self.warn_unknown_model(source, &format!("{place}.models[{index}]"), model);
        }
        let overrides = provider.get("modelOverrides").and_then(Value::as_object).into_iter().flatten();
        for (id, model) in overrides {
            self.warn_unknown_model(source, &format!("{place}.modelOverrides.{id}"), model);
        }
    }

    fn warn_unknown_model(&mut self, source: &ModelsText<'_>, place: &str, model: &Value) {
        let Value::Object(model) = model else { return };
        self.warn_unknown(source, place, model, fields::MODEL_KEYS);
        if let Some(Value::Object(cost)) = model.get("cost") {
            self.warn_unknown(source, &format!("{place}.cost"), cost, fields::COST_KEYS);
        }
    }

    fn warn_unknown(&mut self, source: &ModelsText<'_>, above: &str, object: &Map<String, Value>, known: &[&str]) {
        for key in object.keys().filter(|key| !known.contains(&key.as_str())) {
            let (dot, said) = if above.is_empty() { ("", "") } else { (".", ": ") };
            let place = source.places().nearest(&format!("{above}{dot}{key}"));
            let hint = match crate::resolve::nearest(key, known.iter().copied(), 1).pop() {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the keys here are {}", known.join(", ")),
            };
            let message = self.at(place, &format!("{above}{said}unknown key `{key}` is ignored\nhint: {hint}"));
            self.problems.push(ModelsFileProblem { is_error: false, message });
        }
    }

    fn read_equivalence(&mut self, value: &Value, source: &ModelsText<'_>) {
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
            Err(why) => self.wrong_below(source, "equivalence", &why),
        }
    }

    /// `why` starts with the path below `above`, up to a colon.
    fn wrong_below(&mut self, source: &ModelsText<'_>, above: &str, why: &str) {
        let below = why.split_once(": ").map_or(why, |(path, _)| path);
        self.wrong(source, &format!("{above}{below}"), &format!("{above}{why}"));
    }

    fn wrong(&mut self, source: &ModelsText<'_>, key: &str, what: &str) {
        let hint = if what.contains("\nhint: ") { String::new() } else { format!("\nhint: {CORRECT}") };
        let message = self.at(source.places().nearest(key), &format!("{what}{hint}"));
        self.error(message);
    }

    fn at(&self, place: Option<LineColumn>, what: &str) -> String {
        let path = self.path.as_deref().unwrap_or(Path::new("models.yml")).display();
        match place {
            Some(place) => format!("{path}:{place}: {what}"),
            None => format!("{path}: {what}"),
        }
    }

    fn error(&mut self, message: String) {
        self.problems.push(ModelsFileProblem { is_error: true, message });
    }
}

/// Returns `None` if there is no such file. Only regular files are read, because a pipe would block forever.
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

fn format_of(path: &Path) -> TextFormat {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json" | "jsonc") => TextFormat::Jsonc,
        _ => TextFormat::Yaml,
    }
}

/// The text of the file, for locating problems.
struct ModelsText<'a> {
    text: &'a str,
    format: TextFormat,
    places: OnceCell<KeyPlaces>,
}

impl ModelsText<'_> {
    /// Computed once, when the first problem is found.
    fn places(&self) -> &KeyPlaces {
        self.places.get_or_init(|| match self.format {
            TextFormat::Yaml => KeyPlaces::of(self.text),
            TextFormat::Jsonc => KeyPlaces::of(&jsonc::to_json(self.text)),
        })
    }
}

/// The error is a position, if known, and a sentence that quotes nothing from the file, because the file may contain keys.
fn parse_value(text: &str, format: TextFormat) -> Result<Value, (Option<LineColumn>, String)> {
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    match format {
        TextFormat::Yaml => serde_saphyr::from_str(text).map_err(|error| {
            let (place, why) = yaml_problem(&error);
            (place, format!("not valid YAML: {why}"))
        }),
        TextFormat::Jsonc => serde_json::from_str(&jsonc::to_json(text)).map_err(|error| {
            let place = LineColumn { line: error.line() as u64, column: error.column() as u64 };
            let why = error.to_string();
            let said = format!(" at line {} column {}", place.line, place.column);
            (Some(place), format!("not valid JSON: {}", why.strip_suffix(&said).unwrap_or(&why)))
        }),
    }
}

/// Removes keys without a value, which count as absent.
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

/// Deserializes a value; the error starts with the path to the invalid part.
fn typed<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let dot = if path.starts_with('[') { "" } else { "." };
        match path.as_str() {
            "." => format!(": {}", in_plain_words(error.inner())),
            _ => format!("{dot}{path}: {}", in_plain_words(error.inner())),
        }
    })
}

/// Formats the error without Rust type names and without the value, which may be a key.
fn in_plain_words(error: &serde_json::Error) -> String {
    let why = error.to_string();
    let is_of_type = why.starts_with("invalid type: ") || why.starts_with("invalid value: ");
    match why.rsplit_once(", expected ") {
        Some((_, expected)) if is_of_type => expected_value(expected),
        _ => why.replacen("unknown variant `", "unknown value `", 1),
    }
}

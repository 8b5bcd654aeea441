//! `omp config`: the settings from a shell. What they mean is known by the crates that declare them; how a file is
//! changed is known by `omp-config`.

mod listing;
mod page;
mod schema;
mod told;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use omp_config::{
    Choices, Dirs, Known, Layer, Named, Places, RENAMED_SETTINGS, Settings, discover_chosen, parse_value, save_setting,
    told_complaints,
};
use omp_headless::Exit;
use omp_types::{Env, SettingKind};
use serde_json::{Value, json};

use crate::complain;
use crate::compose::{Problem, Setup, working_folder};
use crate::run::{print, print_quoted, warn};
use crate::sources_cli;
use crate::unused::Unused;

pub use page::markdown;
#[cfg(test)]
pub use page::{PAGE_BEGIN, PAGE_END};

const EXAMPLES: &str = "\
Examples:
  omp config list --changed                  list settings that are set, and in which file
  omp config get tools.approvalMode          print one value
  omp config set tools.approvalMode write    change your config.yml; comments are kept
  omp config set disabledProviders '[a, b]'  values are written in YAML
  omp config reset tools.approvalMode        go back to the default
  $EDITOR \"$(omp config path)\"               edit your config.yml
  omp config sources                         list the files omp found here, and what they are for
  omp config schema > config.schema.json     for completion in editors, see docs/config.md

Exit codes: 0 done, 1 the file could not be written, 2 unknown setting or invalid value.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,

    /// Print one JSON value
    #[arg(long, global = true)]
    json: bool,

    /// Read more settings from this file, which win over config.yml (repeatable)
    #[arg(long, global = true, value_name = "FILE")]
    config: Vec<PathBuf>,

    /// Use the settings of this folder instead of the current one
    #[arg(long, global = true, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
}

#[derive(Subcommand, Debug)]
enum ConfigCommand {
    /// List every setting, its value and where it comes from
    List(listing::ListArgs),
    /// Print the value of a setting
    Get { key: String },
    /// Change a setting in your config.yml
    Set {
        key: String,
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Remove a setting from your config.yml, which restores its default
    Reset { key: String },
    /// Print the path of your config.yml; with --json, of every settings file in use
    Path,
    /// Print a JSON Schema of config.yml, for editors
    Schema,
    /// List rules, skills, commands, context files and servers found here, and which of them are not used
    Sources,
}

pub fn run(args: ConfigArgs, env: &Env) -> Result<Exit, Problem> {
    let dirs = Dirs::from_env(env)?;
    let cwd = working_folder(args.cwd.as_deref())?;
    if let ConfigCommand::Schema = args.command {
        return print(&format!("{:#}\n", schema::schema(&crate::settings_list::known())));
    }
    let file = dirs.settings_file();
    if let (ConfigCommand::Path, false) = (&args.command, args.json) {
        return print(&format!("{}\n", file.display()));
    }
    let (settings, mut warnings) = Setup::settings(&dirs, &cwd, &args.config)?;
    warnings.extend(told_complaints(settings.complaints()));
    if let ConfigCommand::Sources = args.command {
        warn(&warnings);
        let places = Places { home: &dirs.home, agent: &dirs.agent, cwd: &cwd };
        let found = discover_chosen(&places, &Choices::read(&settings, &dirs.home).with_environment(env, &dirs.home));
        let unused = Unused::of(&found, &settings, &dirs.agent, &cwd);
        if args.json {
            return print(&format!("{:#}\n", sources_cli::json(&found, &unused)));
        }
        warn(&found.warnings);
        return print_quoted(&sources_cli::text(&found, &unused, &dirs.home));
    }
    let desk = Desk { settings, file, cwd, home: dirs.home, json: args.json };
    let told = match args.command {
        ConfigCommand::List(list) => {
            // What is wrong in the files belongs to the list.
            warn(&warnings);
            desk.list(&list)
        }
        ConfigCommand::Get { key } => desk.get(&key)?,
        ConfigCommand::Set { key, value } => match desk.set(&key, &value)? {
            Ok(told) => desk.warned(&key, told),
            Err(problem) => return Ok(complain(&problem, Exit::Failed)),
        },
        ConfigCommand::Reset { key } => match desk.reset(&key)? {
            Ok(told) => desk.warned(&key, told),
            Err(problem) => return Ok(complain(&problem, Exit::Failed)),
        },
        ConfigCommand::Path | ConfigCommand::Schema | ConfigCommand::Sources => desk.files(),
    };
    print(&told)
}

/// What was done, or why the file could not be written.
type Written = Result<String, String>;

pub struct Desk {
    settings: Settings,
    /// The user's own.
    file: PathBuf,
    cwd: PathBuf,
    home: PathBuf,
    json: bool,
}

impl Desk {
    fn known(&self) -> &Known {
        self.settings.known()
    }

    /// Today's name of a setting; an error for what is none.
    fn key(&self, key: &str) -> Result<String, Problem> {
        let renamed = RENAMED_SETTINGS.iter().find(|(old, _)| *old == key).map(|(_, new)| *new);
        let key = renamed.unwrap_or(key);
        match self.known().find(key) {
            Some(Named::Setting(_) | Named::Entry(_)) => Ok(key.to_owned()),
            Some(Named::Unused) => Err(format!(
                "this omp does not use the setting `{key}`\nhint: `omp config list` shows those that it uses"
            )),
            None => Err(self.unknown(key)),
        }
    }

    fn unknown(&self, key: &str) -> Problem {
        let hint = match (self.known().group(key), self.known().nearest(key)) {
            (Some(inner), _) => format!("it is a group: `omp config get {}`", inner.key),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => "`omp config list` shows every setting".to_owned(),
        };
        format!("there is no setting `{key}`\nhint: {hint}")
    }

    /// The value that counts and where it comes from.
    fn value(&self, key: &str) -> (Value, From<'_>) {
        let default = || match self.known().find(key) {
            Some(Named::Setting(setting)) => setting.default_value(),
            _ => Value::Null,
        };
        match self.settings.get::<Value>(key).filter(|value| !value.is_null()) {
            Some(value) => {
                let origin = self.settings.origin(key);
                (value, From { layer: origin.map(|it| it.layer), file: origin.and_then(|it| it.file) })
            }
            None => (default(), From { layer: None, file: None }),
        }
    }

    fn get(&self, key: &str) -> Result<String, Problem> {
        let key = self.key(key)?;
        let (value, from) = self.value(&key);
        Ok(match self.json {
            true => format!("{}\n", self.as_json(&key, &value, &from)),
            false => format!("{}\n", shown(&value)),
        })
    }

    fn set(&self, key: &str, text: &str) -> Result<Written, Problem> {
        let key = self.key(key)?;
        let value = self.read(&key, text)?;
        Ok(save_setting(&self.file, &key, &value).map_err(|error| error.to_string()).map(|()| self.done(&key, &value)))
    }

    fn read(&self, key: &str, text: &str) -> Result<Value, Problem> {
        let kind = match self.known().find(key) {
            Some(Named::Setting(setting)) => Some(setting.kind),
            Some(Named::Entry(map)) => map.kind.entry(),
            _ => None,
        };
        let parsed = parse_value(text);
        let value = match (kind, parsed) {
            // A word may look like a number, or like the beginning of something else.
            (Some(SettingKind::Text | SettingKind::OneOf(_)), _) => Value::from(text),
            (Some(kind), Ok(Value::String(words))) if kind.is_list() => {
                words.split(',').map(str::trim).filter(|word| !word.is_empty()).map(Value::from).collect()
            }
            (_, Ok(value)) => value,
            (_, Err(problem)) => {
                return Err(format!("`{text}` is no value: {problem}\nhint: values are YAML; quote those with blanks"));
            }
        };
        match kind.filter(|kind| !kind.accepts(&value)) {
            Some(kind) => Err(format!("`{text}` is no value for `{key}`\nhint: it must be {}", kind.expected())),
            None if value.is_null() => {
                Err(format!("`{key}` needs a value\nhint: `omp config reset {key}` takes it out"))
            }
            None => Ok(value),
        }
    }

    fn reset(&self, key: &str) -> Result<Written, Problem> {
        // A name that is none may well be what somebody wants to get rid of.
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

    /// As it is written there, whatever it is worth.
    fn in_users_file(&self, key: &str) -> bool {
        let mut raw = Settings::default();
        raw.load_global(&self.file).is_ok() && raw.get::<Value>(key).is_some()
    }

    fn warned(&self, key: &str, told: String) -> String {
        let key = self.key(key).unwrap_or_else(|_| key.to_owned());
        warn(self.stronger(&key).as_slice());
        told
    }

    /// What counts here nevertheless, where that comes from a stronger layer than the user's file.
    fn stronger(&self, key: &str) -> Option<String> {
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

    /// Every file that counts, strongest last.
    fn files(&self) -> String {
        let mut files = vec![json!({"from": Layer::Global.name(), "path": self.file, "exists": self.file.exists()})];
        for name in ["settings.json", "config.yml"] {
            let path = self.cwd.join(".omp").join(name);
            files.push(json!({"from": Layer::Project.name(), "path": path, "exists": path.exists()}));
        }
        let overlays = self.settings.files().filter(|(layer, _)| *layer == Layer::Overlay);
        files.extend(overlays.map(|(layer, path)| json!({"from": layer.name(), "path": path, "exists": true})));
        format!("{}\n", Value::Array(files))
    }

    fn as_json(&self, key: &str, value: &Value, from: &From<'_>) -> Value {
        let mut told = json!({"key": key, "value": value, "from": from.name()});
        if let Some(file) = from.file {
            told["file"] = json!(file);
        }
        told
    }

    fn told_from(&self, from: &From<'_>) -> String {
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

/// Where a value comes from; no layer means the default.
struct From<'a> {
    layer: Option<Layer>,
    file: Option<&'a Path>,
}

impl From<'_> {
    fn name(&self) -> &'static str {
        self.layer.map_or("default", Layer::name)
    }
}

/// Text as it is, everything else as JSON, which is YAML too.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

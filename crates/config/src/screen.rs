//! Checks the content of a file against the known settings: reports typos, and drops invalid values and settings that a
//! project may not change.

use std::fmt;
use std::path::{Path, PathBuf};

use omp_stdx::key_places::LineColumn;
use omp_types::{Reach, Setting};
use serde_json::Value;

use crate::known::{Known, Named};
use crate::settings::{Layer, at};

/// A file with more mistakes is not a settings file. All mistakes below this limit are kept, because any one may prevent the
/// start.
const MOST: usize = 10_000;
/// Limits the reported complaints.
const MOST_TOLD: usize = 20;

/// A setting in a file that does not count, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    pub layer: Layer,
    pub file: Option<PathBuf>,
    /// The position of the key in the file, if it was found.
    pub place: Option<LineColumn>,
    pub key: String,
    pub what: Wrong,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// There is no such setting, but one with a similar name.
    Misspelt { meant: String },
    /// There is neither such a setting nor such a group. `near` is a setting whose last word is similar.
    Unknown { near: Option<String> },
    /// The value is invalid; describes the expected one.
    Value { expected: String },
    /// One item of a list is invalid: its index, and the expected value. The whole list is ignored.
    Item { at: usize, item: String, expected: String },
    /// Only the user may set this.
    NotByProject,
    /// The user has disabled it.
    SwitchedOff,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        match &self.file {
            Some(file) => write!(f, "{}: ", at(file, self.place))?,
            None => write!(f, "{}: ", self.layer.name())?,
        }
        match &self.what {
            Wrong::Misspelt { meant } => write!(f, "unknown setting `{key}`\nhint: did you mean `{meant}`?"),
            Wrong::Unknown { near: Some(near) } => {
                write!(f, "unknown setting `{key}` is ignored\nhint: did you mean `{near}`?")
            }
            Wrong::Unknown { near: None } => {
                write!(f, "unknown setting `{key}` is ignored\nhint: `omp config list` lists the settings")
            }
            Wrong::Value { expected } => {
                write!(
                    f,
                    "`{key}` is ignored: it must be {expected}\nhint: correct it, or remove it to use the default"
                )
            }
            Wrong::Item { item, expected, .. } => {
                write!(f, "`{key}` is ignored: `{item}` in it must be {expected}\nhint: correct it, or remove it")
            }
            Wrong::NotByProject => {
                write!(f, "`{key}` is ignored: a project cannot set it\nhint: set it in your own config.yml")
            }
            Wrong::SwitchedOff => {
                write!(
                    f,
                    "`{key}` is ignored: you turned it off, and a project cannot turn it on\n\
                     hint: turn it on in your own config.yml"
                )
            }
        }
    }
}

impl Complaint {
    /// The message if omp refuses to start because of it.
    pub fn refusal(&self) -> String {
        let key = &self.key;
        let (what, hint) = match &self.what {
            Wrong::Value { expected } => {
                (format!("`{key}` must be {expected}"), "correct it, or remove it to use the default")
            }
            Wrong::Item { item, expected, .. } => {
                (format!("`{item}` in `{key}` must be {expected}"), "correct it, or remove it")
            }
            _ => return self.to_string(),
        };
        let place = self.file.as_deref().map_or(self.layer.name().to_owned(), |file| at(file, self.place));
        let why = match key.starts_with("containment") {
            true => "commands could access more than you intended",
            false => "calls could run that should need your approval",
        };
        format!("{place}: {what}; omp does not start, because {why}\nhint: {hint}")
    }

    /// Returns the path to search for in the file.
    pub(crate) fn path(&self) -> String {
        match &self.what {
            Wrong::Item { at, .. } => format!("{}[{at}]", self.key),
            _ => self.key.clone(),
        }
    }
}

/// Formats complaints as sentences for the user; all settings that a project may not set are combined in one per file.
pub fn told(complaints: &[Complaint]) -> Vec<String> {
    let mut told = Vec::new();
    let mut done: Vec<&Option<PathBuf>> = Vec::new();
    for complaint in complaints {
        let is_alike = |other: &&Complaint| other.what == Wrong::NotByProject && other.file == complaint.file;
        let keys: Vec<String> = complaints.iter().filter(is_alike).map(|other| format!("`{}`", other.key)).collect();
        match &complaint.file {
            Some(file) if complaint.what == Wrong::NotByProject && keys.len() > 1 => {
                if !done.contains(&&complaint.file) {
                    done.push(&complaint.file);
                    told.push(format!(
                        "{}: a project cannot set these, so they are ignored: {}\nhint: set them in your own config.yml",
                        file.display(),
                        keys.join(", ")
                    ));
                }
            }
            _ => told.push(complaint.to_string()),
        }
    }
    if told.len() > MOST_TOLD {
        let more = told.len() - MOST_TOLD;
        told.truncate(MOST_TOLD);
        told.push(format!("{more} more problems in settings are not listed\nhint: correct these first"));
    }
    told
}

/// The data for checking the values of one layer.
pub struct Screen<'a> {
    pub known: &'a Known,
    pub layer: Layer,
    pub file: Option<&'a Path>,
    /// The user's settings so far.
    pub users: &'a Value,
}

impl Screen<'_> {
    /// Removes invalid settings from `value`.
    pub fn clean(&self, value: &mut Value) -> Vec<Complaint> {
        let mut complaints = Vec::new();
        if !self.known.settings().is_empty() && self.layer != Layer::Runtime {
            self.group(value, "", &mut complaints);
        }
        complaints.truncate(MOST);
        complaints
    }

    fn group(&self, value: &mut Value, above: &str, complaints: &mut Vec<Complaint>) {
        let Value::Object(fields) = value else { return };
        fields.retain(|name, value| {
            let key = if above.is_empty() { name.clone() } else { format!("{above}.{name}") };
            if let Some(meant) = self.meant(&key, value) {
                *value = meant;
            }
            match self.verdict(&key, value) {
                Verdict::Fine => true,
                Verdict::Group => {
                    let before = complaints.len();
                    self.group(value, &key, complaints);
                    let is_known = self.known.find(&key).is_some() || self.known.has_group(&key);
                    if above.is_empty() && complaints.len() == before && !is_known {
                        complaints.push(self.complaint(key, Wrong::Unknown { near: None }));
                    }
                    true
                }
                Verdict::Wrong(what) => {
                    let stays = matches!(what, Wrong::Misspelt { .. } | Wrong::Unknown { .. });
                    complaints.push(self.complaint(key, what));
                    stays
                }
            }
        });
    }

    fn complaint(&self, key: String, what: Wrong) -> Complaint {
        Complaint { layer: self.layer, file: self.file.map(Path::to_owned), place: None, key, what }
    }

    fn meant(&self, key: &str, value: &Value) -> Option<Value> {
        match self.known.find(key)? {
            Named::Setting(setting) => setting.kind.meant(value),
            _ => None,
        }
    }

    fn verdict(&self, key: &str, value: &Value) -> Verdict {
        match self.known.find(key) {
            Some(Named::Setting(setting)) => self.declared(setting, value),
            Some(Named::Entry(map)) => match map.kind.entry().filter(|kind| !kind.accepts(value)) {
                Some(kind) => Verdict::Wrong(Wrong::Value { expected: kind.expected() }),
                None => Verdict::Fine,
            },
            Some(Named::Unused) => Verdict::Fine,
            None if value.is_object() => Verdict::Group,
            None => match (self.known.group(key), self.known.nearest(key)) {
                (Some(inner), _) => {
                    let expected = format!("a group of settings, such as `{}`", inner.key);
                    Verdict::Wrong(Wrong::Value { expected })
                }
                (None, Some(meant)) => Verdict::Wrong(Wrong::Misspelt { meant }),
                (None, None) if key.contains('.') || self.known.has_group(key) => Verdict::Fine,
                (None, None) => Verdict::Wrong(Wrong::Unknown { near: self.known.near_tail(key) }),
            },
        }
    }

    fn declared(&self, setting: &Setting, value: &Value) -> Verdict {
        let of_project = self.layer == Layer::Project;
        if of_project && setting.reach == Reach::User {
            return Verdict::Wrong(Wrong::NotByProject);
        }
        // The entries of a map are checked one by one.
        if setting.kind.is_map() && value.is_object() {
            return Verdict::Group;
        }
        if let Some((at, expected)) = setting.kind.wrong_item(value) {
            let item = match &value[at] {
                Value::String(text) if !text.is_empty() => text.clone(),
                other => other.to_string(),
            };
            return Verdict::Wrong(Wrong::Item { at, item, expected });
        }
        if let Err(expected) = setting.check(value) {
            return Verdict::Wrong(Wrong::Value { expected });
        }
        let users = || setting.key.split('.').try_fold(self.users, |value, part| value.get(part));
        let switches_on = of_project && setting.reach == Reach::OffStays && *value == Value::Bool(true);
        match switches_on && users() == Some(&Value::Bool(false)) {
            true => Verdict::Wrong(Wrong::SwitchedOff),
            false => Verdict::Fine,
        }
    }
}

enum Verdict {
    Fine,
    /// Its entries are checked one by one.
    Group,
    Wrong(Wrong),
}

#[cfg(test)]
mod tests {
    use omp_types::{ListItem, SettingKind};
    use serde_json::json;

    use super::*;

    fn known() -> Known {
        let number = SettingKind::Number { least: 0.0, most: 9.0 };
        Known::new([
            Setting::new("", "retry.maxRetries", number, "", ""),
            Setting::new("", "tools.approval", SettingKind::MapOf(&["deny", "allow"]), "", ""),
            Setting::new("", "modelRoles", SettingKind::Map, "", "").by_user(),
            Setting::new("", "modelRoles.default", SettingKind::Text, "", "").by_user(),
            Setting::new("", "hooks", SettingKind::Map, "", ""),
            Setting::new("", "shellPath", SettingKind::Text, "", "").by_user(),
            Setting::new("", "bash.enabled", SettingKind::Bool, "", "").off_stays(),
            Setting::new("", "network", SettingKind::OneOf(&["on", "off", "listed"]), "", ""),
            Setting::new("", "level", SettingKind::OneOf(&["low", "high"]), "", ""),
            Setting::new("", "containment.hidden", SettingKind::ListOf(ListItem::Path), "", ""),
        ])
    }

    #[track_caller]
    fn check(layer: Layer, mut value: Value, left: Value, said: &[&str]) {
        let known = known();
        let users = json!({"bash": {"enabled": false}});
        let screen = Screen { known: &known, layer, file: Some(Path::new("f.yml")), users: &users };
        let told: Vec<String> = screen.clean(&mut value).iter().map(ToString::to_string).collect();
        assert_eq!((value, told), (left, said.iter().map(|text| format!("f.yml: {text}")).collect()));
    }

    #[test]
    fn off_and_on_need_no_quotes() {
        check(Layer::Global, json!({"network": false}), json!({"network": "off"}), &[]);
        check(Layer::Global, json!({"network": true}), json!({"network": "on"}), &[]);
        let wrong =
            "`level` is ignored: it must be one of low, high\nhint: correct it, or remove it to use the default";
        check(Layer::Global, json!({"level": false}), json!({}), &[wrong]);
    }

    #[test]
    fn what_is_right_or_not_ours_stays_unsaid() {
        for value in [
            json!({"retry": {"maxRetries": 3, "fallbackChains": {"a": ["b"]}}, "advisor": {"enabled": 1}}),
            json!({"$schema": "x", "retry": {"nothing": {"like": "it"}}, "modelRoles": {"default": "a", "own": "b"}}),
            json!({"tools": {"approval": {"bash": "deny", "my.tool": "allow"}}}),
            json!({"hooks": {"PreToolUse": [{"matcher": "Bash"}]}}),
        ] {
            check(Layer::Global, value.clone(), value, &[]);
        }
    }

    #[test]
    fn slips_are_told_and_left_where_they_are() {
        let value = json!({"retry": {"maxRetrys": 3}, "retri": {"maxRetries": 1}, "shellpath": "x"});
        let told = [
            "unknown setting `retry.maxRetrys`\nhint: did you mean `retry.maxRetries`?",
            "unknown setting `retri.maxRetries`\nhint: did you mean `retry.maxRetries`?",
            "unknown setting `shellpath`\nhint: did you mean `shellPath`?",
        ];
        check(Layer::Overlay, value.clone(), value, &told);
    }

    #[test]
    fn names_at_the_top_that_nobody_knows_are_told() {
        let value = json!({"aproval": "x", "company": {"endpoint": "x"}, "frobnicate": [1], "advisor": {"new": 1}});
        let told = [
            "unknown setting `aproval` is ignored\nhint: did you mean `tools.approval`?",
            "unknown setting `company` is ignored\nhint: `omp config list` lists the settings",
            "unknown setting `frobnicate` is ignored\nhint: `omp config list` lists the settings",
        ];
        check(Layer::Global, value.clone(), value, &told);
    }

    #[test]
    fn values_that_are_none_are_left_out() {
        check(
            Layer::Global,
            json!({"retry": {"maxRetries": "three"}, "shellPath": 1, "modelRoles": {"default": 1, "x": "y"}, "bash": true}),
            json!({"retry": {}, "modelRoles": {"x": "y"}}),
            &[
                "`retry.maxRetries` is ignored: it must be a number from 0 to 9\nhint: correct it, or remove it to use the default",
                "`shellPath` is ignored: it must be text\nhint: correct it, or remove it to use the default",
                "`modelRoles.default` is ignored: it must be text\nhint: correct it, or remove it to use the default",
                "`bash` is ignored: it must be a group of settings, such as `bash.enabled`\nhint: correct it, or remove it to use the default",
            ],
        );
        check(
            Layer::Global,
            json!({"tools": {"approval": {"bash": "dney", "read": "allow"}}}),
            json!({"tools": {"approval": {"read": "allow"}}}),
            &[
                "`tools.approval.bash` is ignored: it must be one of deny, allow\nhint: correct it, or remove it to use the default",
            ],
        );
    }

    #[test]
    fn a_project_does_not_decide_what_is_the_users() {
        check(
            Layer::Project,
            json!({"shellPath": "./evil", "modelRoles": {"default": "x"}, "bash": {"enabled": true}}),
            json!({"bash": {}}),
            &[
                "`shellPath` is ignored: a project cannot set it\nhint: set it in your own config.yml",
                "`modelRoles` is ignored: a project cannot set it\nhint: set it in your own config.yml",
                "`bash.enabled` is ignored: you turned it off, and a project cannot turn it on\n\
                 hint: turn it on in your own config.yml",
            ],
        );
        check(Layer::Overlay, json!({"bash": {"enabled": true}}), json!({"bash": {"enabled": true}}), &[]);
    }

    #[test]
    fn what_a_project_may_not_set_is_told_in_one_sentence() {
        let complaint = |key: &str, what: Wrong| Complaint {
            layer: Layer::Project,
            file: Some("/p/.omp/config.yml".into()),
            place: (key == "theme").then_some(LineColumn { line: 2, column: 1 }),
            key: key.to_owned(),
            what,
        };
        let complaints = [
            complaint("shellPath", Wrong::NotByProject),
            complaint("theme", Wrong::Value { expected: "a text".to_owned() }),
            complaint("undo.enabled", Wrong::NotByProject),
        ];
        let expect = [
            "/p/.omp/config.yml: a project cannot set these, so they are ignored: `shellPath`, `undo.enabled`\n\
             hint: set them in your own config.yml",
            "/p/.omp/config.yml:2:1: `theme` is ignored: it must be a text\n\
             hint: correct it, or remove it to use the default",
        ];
        assert_eq!(told(&complaints), expect);
        assert_eq!(told(&complaints[..1]), [complaints[0].to_string()]);
    }

    #[test]
    fn there_is_an_end_to_what_is_told_but_no_mistake_is_lost() {
        let mut fields: serde_json::Map<String, Value> =
            (0..100).map(|n| (format!("retry{n}"), json!({"maxRetries": 1}))).collect();
        fields.insert("zz".to_owned(), json!(1));
        fields.insert("network".to_owned(), json!("x"));
        let screen = Screen { known: &known(), layer: Layer::Global, file: None, users: &Value::Null };
        let complaints = screen.clean(&mut Value::Object(fields));
        assert!(complaints.iter().any(|complaint| complaint.key == "network"), "{complaints:?}");
        let told = told(&complaints);
        assert_eq!(told.len(), MOST_TOLD + 1);
        let more = complaints.len() - MOST_TOLD;
        assert!(more > 80 && told[MOST_TOLD].starts_with(&format!("{more} more problems")), "{told:?}");
    }

    #[test]
    fn a_value_that_does_not_belong_into_a_list_is_named() {
        for (item, shown) in [
            (json!("./src"), "./src"),
            (json!("~dev/x"), "~dev/x"),
            (json!("$HOME/lib"), "$HOME/lib"),
            (json!(""), "\"\""),
            (json!(3), "3"),
            (Value::Null, "null"),
        ] {
            let known = known();
            let screen = Screen { known: &known, layer: Layer::Global, file: None, users: &Value::Null };
            let mut value = json!({"containment": {"hidden": ["~/fine", item]}});
            let complaints = screen.clean(&mut value);
            assert_eq!(value, json!({"containment": {}}));
            let [complaint] = &complaints[..] else { panic!("{complaints:?}") };
            assert_eq!(complaint.path(), "containment.hidden[1]");
            assert_eq!(
                complaint.refusal(),
                format!(
                    "user: `{shown}` in `containment.hidden` must be a path that starts with / or ~/; omp does not start, \
                     because commands could access more than you intended\nhint: correct it, or remove it"
                )
            );
        }
    }
}

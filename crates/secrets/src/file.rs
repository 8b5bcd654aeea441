//! `secrets.yml`: additional secrets that the user wants to hide.

use std::path::Path;

use omp_stdx::plain_file;
use serde::Deserialize;

use crate::found::{FoundSecret, SecretEntry, SecretKind, SecretMode, SecretOrigin};

/// Size limit of the file.
const LONGEST_FILE: u64 = 1 << 20;
/// Limit on entries per file.
const MOST_ENTRIES: usize = 2_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    r#type: WrittenKind,
    content: String,
    #[serde(default)]
    mode: WrittenMode,
    replacement: Option<String>,
    #[serde(default)]
    flags: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum WrittenKind {
    Plain,
    Regex,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WrittenMode {
    #[default]
    Obfuscate,
    Replace,
}

/// Returns the entries of a file; none if there is no file. Unreadable entries are reported, and the rest is used. The
/// reports never quote the file, because it contains secrets.
pub fn load(path: &Path) -> (Vec<FoundSecret>, Vec<String>) {
    let told =
        |why: &str| format!("{}: {why}\nhint: its secrets are not hidden until you fix the file", path.display());
    let text = match read(path) {
        Ok(Some(text)) => text,
        Ok(None) => return Default::default(),
        Err(error) => return (Vec::new(), vec![told(&error)]),
    };
    if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Default::default();
    }
    let listed: Vec<serde_json::Value> = match serde_saphyr::from_str(&text) {
        Ok(listed) => listed,
        Err(_) => return (Vec::new(), vec![told("it is not a YAML list of entries with `type` and `content`")]),
    };
    let (mut found, mut warnings) = (Vec::new(), Vec::new());
    if listed.len() > MOST_ENTRIES {
        warnings.push(told(&format!("only the first {MOST_ENTRIES} of {} entries are used", listed.len())));
    }
    for (index, value) in listed.into_iter().take(MOST_ENTRIES).enumerate() {
        let number = index + 1;
        match serde_json::from_value::<Written>(value) {
            Ok(written) if written.content.is_empty() => {
                warnings.push(told(&format!("entry {number} has no content")));
            }
            Ok(written) => found.push(entry(written, format!("secrets.yml entry {number}"))),
            Err(_) => warnings.push(told(&format!(
                "entry {number} is invalid: it needs `type` (plain, regex) and `content` (a string; put numbers in quotes), and can have `mode` (obfuscate, replace), `replacement` and `flags`"
            ))),
        }
    }
    (found, warnings)
}

/// Merges in the order environment, user file, project file: the later of equal entries wins, but a credential of omp itself
/// stays one.
pub fn merge(lists: impl IntoIterator<Item = Vec<FoundSecret>>) -> Vec<FoundSecret> {
    let mut merged: Vec<FoundSecret> = Vec::new();
    for found in lists.into_iter().flatten() {
        let is_named = matches!(found.entry.kind, SecretKind::Named(_));
        let both_named = |known: &FoundSecret| is_named && matches!(known.entry.kind, SecretKind::Named(_));
        let is_same = |known: &&mut FoundSecret| {
            known.entry.content == found.entry.content && (!both_named(known) || known.entry.kind == found.entry.kind)
        };
        match merged.iter_mut().find(is_same) {
            // An entry that is hidden everywhere takes precedence over one hidden only after a name.
            Some(known) if is_named && !both_named(known) => {}
            Some(known) if known.origin == SecretOrigin::Held => known.entry = found.entry,
            Some(known) => *known = found,
            None => merged.push(found),
        }
    }
    merged
}

fn read(path: &Path) -> Result<Option<String>, String> {
    match plain_file::read_text(path, LONGEST_FILE) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::FileTooLarge => {
            Err(format!("it has more than {} KiB", LONGEST_FILE >> 10))
        }
        Err(error) => Err(error.to_string()),
    }
}

fn entry(written: Written, name: String) -> FoundSecret {
    let mode = match written.mode {
        WrittenMode::Obfuscate => SecretMode::Obfuscate,
        WrittenMode::Replace => SecretMode::Replace(written.replacement),
    };
    let (kind, content) = match written.r#type {
        WrittenKind::Plain => (SecretKind::Plain, written.content),
        WrittenKind::Regex => {
            let (pattern, flags) = literal(&written.content).unwrap_or((written.content.clone(), String::new()));
            (SecretKind::Regex(flags + &written.flags), pattern)
        }
    };
    FoundSecret { name, entry: SecretEntry { kind, content, mode }, origin: SecretOrigin::File }
}

/// Parses `/pattern/flags`, with `\/` for a slash.
fn literal(content: &str) -> Option<(String, String)> {
    let (pattern, flags) = content.strip_prefix('/')?.rsplit_once('/')?;
    let is_flags = flags.chars().all(|flag| flag.is_ascii_lowercase());
    (is_flags && !pattern.is_empty()).then(|| (pattern.replace("\\/", "/"), flags.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(text: &str) -> (Vec<FoundSecret>, Vec<String>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secrets.yml");
        std::fs::write(&path, text).unwrap();
        load(&path)
    }

    #[track_caller]
    fn check(text: &str, expect: &str, warnings: usize) {
        let (found, told) = loaded(text);
        let shown = found.iter().map(|found| {
            let SecretEntry { kind, content, mode } = &found.entry;
            let kind = match kind {
                SecretKind::Plain => String::new(),
                SecretKind::Named(name) => format!("{name}= "),
                SecretKind::Regex(flags) => format!("/{flags} "),
            };
            let mode = match mode {
                SecretMode::Obfuscate => String::new(),
                SecretMode::Replace(with) => format!(" -> {}", with.as_deref().unwrap_or("same length")),
            };
            format!("{kind}{content}{mode}")
        });
        assert_eq!(shown.collect::<Vec<_>>().join("; "), expect);
        assert_eq!(told.len(), warnings, "{told:?}");
        assert!(told.iter().all(|told| !told.contains("sesame")), "{told:?}");
    }

    #[test]
    fn entries_are_read_as_the_page_has_them() {
        check("- type: plain\n  content: sesame\n", "sesame", 0);
        check("- {type: plain, content: hunter2, mode: replace, replacement: '**'}\n", "hunter2 -> **", 0);
        check("- {type: plain, content: hunter2, mode: replace}\n", "hunter2 -> same length", 0);
        check("- {type: regex, content: 'AKIA[0-9A-Z]{16}'}\n", "/ AKIA[0-9A-Z]{16}", 0);
        check("- {type: regex, content: 'a+', flags: i}\n", "/i a+", 0);
        check("- type: regex\n  content: \"/bearer\\\\s+[a-z\\\\/=-]+/i\"\n", "/i bearer\\s+[a-z/=-]+", 0);
        check("", "", 0);
        check("# nothing\n", "", 0);
    }

    #[test]
    fn what_is_wrong_is_told_without_quoting_it() {
        check("sesame: open\n", "", 1);
        check("- [sesame\n", "", 1);
        check("- {type: plain}\n- {type: plain, content: good-one}\n", "good-one", 1);
        check("- {type: sesame, content: sesame}\n", "", 1);
        check("- {type: plain, content: ''}\n", "", 1);
        check("- {type: plain, content: x, sesame: y}\n", "", 1);
    }

    #[test]
    fn a_project_overrides_the_user_and_files_the_environment() {
        let of = |content: &str, mode: SecretMode, origin| {
            vec![FoundSecret {
                name: "n".into(),
                entry: SecretEntry { kind: SecretKind::Plain, content: content.into(), mode },
                origin,
            }]
        };
        let merged = merge([
            of("held", SecretMode::Obfuscate, SecretOrigin::Held),
            of("both", SecretMode::Obfuscate, SecretOrigin::File),
            of("both", SecretMode::Replace(None), SecretOrigin::File),
            of("held", SecretMode::Replace(None), SecretOrigin::File),
        ]);
        assert_eq!(merged.len(), 2);
        assert!(merged.iter().all(|found| found.entry.mode == SecretMode::Replace(None)));
        assert_eq!(merged[0].origin, SecretOrigin::Held);
    }
}

//! Reads the file of another program as JSON lines and derives the session ID.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde_json::Value;
use uuid::{Builder, Uuid};

use super::Program;
use crate::problem::{Damage, Report};

/// Size limit of a source, which is held in memory during the import.
const LARGEST: u64 = 512 * 1024 * 1024;

pub(super) struct ImportSource {
    pub lines: Vec<SourceLine>,
    pub report: Report,
}

pub(super) struct SourceLine {
    /// Counted from 1.
    pub number: u32,
    pub value: Value,
}

impl ImportSource {
    /// Reads the file. Lines that are not JSON objects are reported and skipped.
    pub fn read(path: &Path) -> io::Result<Self> {
        let found = std::fs::metadata(path)?;
        if !found.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        if found.len() > LARGEST {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 512 MiB"));
        }
        let mut bytes = Vec::new();
        File::open(path)?.take(LARGEST).read_to_end(&mut bytes)?;
        let mut source = Self { lines: Vec::new(), report: Report::default() };
        for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match serde_json::from_str::<Value>(&String::from_utf8_lossy(line)) {
                Ok(value) if value.is_object() => source.lines.push(SourceLine { number, value }),
                Ok(_) => source.report.add(number, Damage::NotImported("it is not an object".into())),
                Err(error) => source.report.add(number, Damage::NotImported(error.to_string())),
            }
        }
        Ok(source)
    }
}

/// Returns the source's own ID if it is unique, otherwise one derived from its name.
pub(super) fn session_id(program: Program, path: &Path, source: &ImportSource) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let first = |keys: &[&str]| source.lines.iter().find_map(|line| own_id(&line.value, keys));
    let own = match program {
        // Lines copied from a resumed session contain that session's ID; the file name has the right one.
        Program::Claude => Some(stem.clone()),
        Program::Codex => {
            first(&["session_meta"]).or_else(|| Some(stem.get(stem.len().checked_sub(36)?..)?.to_owned()))
        }
        Program::Pi => first(&["session"]),
    };
    let own = own.filter(|id| !id.is_empty()).unwrap_or(stem);
    match Uuid::parse_str(&own) {
        Ok(id) => id.to_string(),
        Err(_) => {
            let hash = <sha2::Sha256 as sha2::Digest>::digest(format!("{}:{own}", program.name()));
            let mut bytes = [0; 16];
            bytes.copy_from_slice(&hash[..16]);
            Builder::from_random_bytes(bytes).into_uuid().to_string()
        }
    }
}

fn own_id(line: &Value, kinds: &[&str]) -> Option<String> {
    let kind = line.get("type").and_then(Value::as_str).unwrap_or_default();
    let holder = if kind == "session_meta" { line.get("payload")? } else { line };
    // The first line of older Codex files has no type.
    let named =
        kinds.contains(&kind) || (kinds == ["session_meta"] && kind.is_empty() && line.get("instructions").is_some());
    named.then(|| holder.get("id").and_then(Value::as_str).map(str::to_owned)).flatten()
}

/// Returns the text of a field, or an empty string if it is missing.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn number(value: &Value, key: &str) -> u64 {
    value.get(key).and_then(Value::as_u64).unwrap_or_default()
}

//! Checks once a day, in the background, whether a newer omp was released. The result is saved to a file and shown at the
//! next start. Only interactive sessions check, and only if a URL is known.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use omp_http::{Client, HttpConfig};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::folder::FolderSetup;
use crate::folder::settings_list;

const FILE: &str = "update-check.json";
const EVERY: Duration = Duration::from_secs(24 * 60 * 60);
const TIME_LIMIT: Duration = Duration::from_secs(5);
const MOST_BYTES: usize = 256 << 10;
const LONGEST_VERSION: usize = 32;
/// The address that a release build was given. `startup.updateUrl` overrides it.
const ADDRESS: Option<&str> = option_env!("OMP_UPDATE_URL");
const RUNNING: &str = env!("CARGO_PKG_VERSION");

/// The result of the last check.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct KnownRelease {
    /// The time of the last check, in seconds since 1970.
    checked: u64,
    latest: Option<String>,
}

/// Returns the line about a newer version, from the last check. If that was long ago, checks again in the background.
pub fn news(setup: &FolderSetup) -> Option<String> {
    if !setup.settings.of(settings_list::SETTINGS).get::<bool>("startup.checkUpdate") {
        return None;
    }
    let file = setup.dirs.agent.join(FILE);
    let known = read(&file);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let address: Option<String> = setup.settings.get("startup.updateUrl");
    let address = address.filter(|address| !address.is_empty()).or(ADDRESS.map(str::to_owned));
    if let Some(address) = address.filter(|_| now.abs_diff(known.checked) >= EVERY.as_secs()) {
        let client = Client::new(&setup.env, HttpConfig { connect_timeout: Some(TIME_LIMIT), ..HttpConfig::default() });
        let before = known.latest.clone();
        tokio::spawn(check(client, address, file, now, before));
    }
    known
        .latest
        .filter(|latest| is_newer(latest, RUNNING))
        .map(|latest| format!("omp {latest} is out; you run {RUNNING}"))
}

/// A failed check counts too, so that there is at most one a day.
async fn check(client: Client, address: String, file: PathBuf, now: u64, before: Option<String>) {
    let answer = client.get_bytes(&address, &[], TIME_LIMIT, MOST_BYTES).await;
    let latest = answer.ok().and_then(|bytes| version_in(&bytes)).or(before);
    // Without the file the next start asks again.
    let _ = write(&file, &KnownRelease { checked: now, latest });
}

fn read(file: &Path) -> KnownRelease {
    let text = std::fs::read(file).unwrap_or_default();
    let known: KnownRelease = serde_json::from_slice(&text).unwrap_or_default();
    KnownRelease { latest: known.latest.as_deref().and_then(version), ..known }
}

/// Replaces the file at once, because another omp may read it.
fn write(file: &Path, known: &KnownRelease) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let new = tempfile::NamedTempFile::new_in(folder)?;
    serde_json::to_writer(&new, known)?;
    new.persist(file).map(drop).map_err(|error| error.error)
}

/// Reads the version from what registries and release pages answer: `version` or `tag_name` of an object, or plain text.
fn version_in(bytes: &[u8]) -> Option<String> {
    match serde_json::from_slice::<Value>(bytes) {
        Ok(Value::Object(fields)) => {
            let named = ["version", "tag_name"].iter().find_map(|name| fields.get(*name)?.as_str());
            version(named?)
        }
        _ => version(std::str::from_utf8(bytes).ok()?),
    }
}

/// Returns the version without a leading `v`, if it is one.
fn version(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.strip_prefix('v').unwrap_or(text);
    let known = |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '-' | '+');
    let fits = text.len() <= LONGEST_VERSION
        && text.chars().all(known)
        && text.starts_with(|char: char| char.is_ascii_digit());
    fits.then(|| text.to_owned())
}

fn is_newer(latest: &str, running: &str) -> bool {
    rank(latest) > rank(running)
}

/// The numbers, and whether it is a release: `1.0.0-rc.1` comes before `1.0.0`.
fn rank(version: &str) -> ([u64; 3], bool) {
    let version = version.split('+').next().unwrap_or_default();
    let (numbers, early) = version.split_once('-').map_or((version, false), |(numbers, _)| (numbers, true));
    let mut ranked = [0; 3];
    for (place, number) in ranked.iter_mut().zip(numbers.split('.')) {
        *place = number.parse().unwrap_or(0);
    }
    (ranked, !early)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        for (latest, running, newer) in [
            ("0.4.0", "0.3.0", true),
            ("0.10.0", "0.9.9", true),
            ("1.0.0", "1.0.0-rc.1", true),
            ("1.0.0-rc.1", "1.0.0", false),
            ("0.3.0", "0.3.0", false),
            ("0.3.0", "0.3.0+build", false),
            ("0.2.9", "0.3.0", false),
            ("1", "0.9.9", true),
        ] {
            assert_eq!(is_newer(latest, running), newer, "{latest} {running}");
        }
    }

    #[test]
    fn answers_are_read_and_never_trusted() {
        for (answer, latest) in [
            (r#"{"name":"omp","version":"0.4.0"}"#, Some("0.4.0")),
            (r#"{"tag_name":"v1.2.3-rc.1"}"#, Some("1.2.3-rc.1")),
            ("v0.4.0\n", Some("0.4.0")),
            (r#"{"version":7}"#, None),
            (r#"{"version":"0.4.0\u001b[31m"}"#, None),
            ("<html>", None),
            ("", None),
            ("0.4.0 and much more text than any version has", None),
        ] {
            assert_eq!(version_in(answer.as_bytes()).as_deref(), latest, "{answer}");
        }
    }

    #[test]
    fn the_file_is_read_back_and_a_broken_one_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("made").join(FILE);
        assert_eq!(read(&file), KnownRelease::default());
        let known = KnownRelease { checked: 7, latest: Some("0.4.0".to_owned()) };
        write(&file, &known).unwrap();
        assert_eq!(read(&file), known);
        std::fs::write(&file, r#"{"checked":7,"latest":"\u001b]0;x"}"#).unwrap();
        assert_eq!(read(&file), KnownRelease { checked: 7, latest: None });
        std::fs::write(&file, "{").unwrap();
        assert_eq!(read(&file), KnownRelease::default());
    }
}

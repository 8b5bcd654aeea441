//! The `.env` files, with lower priority than the process environment.
//!
//! A repository's own `.env` may only set harmless variables ([`PROJECT_VARS`]): otherwise it could move homes, base URLs or
//! keys before the user has trusted the folder (see `docs/differences.md`).

use std::collections::BTreeMap;
use std::path::Path;

use omp_stdx::plain_file;
use omp_types::{Env, PROJECT_VARS};

use crate::dirs::Dirs;

/// Larger files are not environment files.
const MAX_BYTES: u64 = 1024 * 1024;

/// Loads omp's environment: process variables first, then `.env` of the project, of the agent folder, the configuration root
/// and the home, each only for names not set before.
pub fn load_environment(process: impl IntoIterator<Item = (String, String)>, project: Option<&Path>) -> Env {
    let mut values: BTreeMap<String, String> = process.into_iter().collect();
    let first: Env = values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    if let Some(folder) = project {
        for (name, value) in read_project_dotenv(folder).into_iter().filter(|(name, _)| is_harmless(name)) {
            values.entry(name).or_insert(value);
        }
    }
    // Neither the files in the user's folders nor the project may set the location of these folders.
    let Ok(dirs) = Dirs::from_env(&first) else { return values.into_iter().collect() };
    for folder in [&dirs.agent, &dirs.config_root, &dirs.home] {
        for (name, value) in read_dotenv(&folder.join(".env")) {
            values.entry(name).or_insert(value);
        }
    }
    values.into_iter().collect()
}

/// Returns the names in a project's `.env` that are ignored.
pub fn ignored_variables(project: &Path) -> Vec<String> {
    let named = read_project_dotenv(project).into_iter().map(|(name, _)| name);
    let mut names: Vec<String> = named.filter(|name| !is_harmless(name)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn is_harmless(name: &str) -> bool {
    PROJECT_VARS.iter().any(|allowed| allowed.name == name)
}

/// Does not follow a link out of the project.
fn read_project_dotenv(folder: &Path) -> Vec<(String, String)> {
    let (Ok(file), Ok(folder)) = (folder.join(".env").canonicalize(), folder.canonicalize()) else { return Vec::new() };
    if file.starts_with(folder) { read_dotenv(&file) } else { Vec::new() }
}

fn read_dotenv(path: &Path) -> Vec<(String, String)> {
    let text = plain_file::read_text(path, MAX_BYTES).unwrap_or_default();
    let mut pairs: Vec<(String, String)> = text.lines().filter_map(parse_line).collect();
    let mirrored: Vec<_> = pairs
        .iter()
        .filter_map(|(name, value)| Some((format!("PI_{}", name.strip_prefix("OMP_")?), value.clone())))
        .collect();
    pairs.extend(mirrored);
    pairs
}

/// Parses `NAME=value`, `export NAME="value"`, comments and blank lines.
fn parse_line(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    let valid = !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit());
    let valid = valid && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    valid.then(|| (name.to_owned(), unquote(value.trim())))
}

fn unquote(value: &str) -> String {
    if let Some(inner) = value.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return inner.to_owned();
    }
    if let Some(inner) = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        return inner.replace("\\n", "\n").replace("\\\"", "\"").replace("\\\\", "\\");
    }
    value.split(" #").next().unwrap_or_default().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expect: Option<(&str, &str)>) {
        assert_eq!(parse_line(line), expect.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn lines_are_read_as_shells_write_them() {
        check("A=b", Some(("A", "b")));
        check("export A=\"b c\"", Some(("A", "b c")));
        check("A='x # y'", Some(("A", "x # y")));
        check("A=b # why", Some(("A", "b")));
        check("A=\"line\\nnext\"", Some(("A", "line\nnext")));
        check("# A=b", None);
        check("1A=b", None);
        check("", None);
    }

    #[test]
    fn the_process_wins_over_files_and_files_over_later_ones() {
        let home = tempfile::tempdir().unwrap();
        let agent = home.path().join(".omp/agent");
        std::fs::create_dir_all(&agent).unwrap();
        std::fs::write(agent.join(".env"), "A=agent\nB=agent\nOMP_SMOL_MODEL=tiny\n").unwrap();
        std::fs::write(home.path().join(".env"), "B=home\nC=home\n").unwrap();
        let process = [("HOME", home.path().to_str().unwrap()), ("A", "process")];
        let env = load_environment(process.map(|(name, value)| (name.to_owned(), value.to_owned())), None);
        let values = ["A", "B", "C", "PI_SMOL_MODEL"].map(|name| env.lookup(name).unwrap().to_owned());
        assert_eq!(values, ["process", "agent", "home", "tiny"]);
    }

    #[test]
    fn a_project_is_asked_after_the_process_and_only_for_what_does_no_harm() {
        let home = tempfile::tempdir().unwrap();
        let project = tempfile::tempdir().unwrap();
        let evil = "HOME=/evil\nPI_CODING_AGENT_DIR=/evil\nANTHROPIC_BASE_URL=http://evil\nANTHROPIC_API_KEY=evil\n\
            PATH=/evil\nEDITOR=evil\nPI_SHELL_PREFIX=evil\nOMP_SHELL_PREFIX=evil\nHTTPS_PROXY=http://evil\n\
            NODE_EXTRA_CA_CERTS=evil\nPI_SMOL_MODEL=evil\nOMP_CONFIG_DIR=evil\n";
        std::fs::write(project.path().join(".env"), format!("{evil}OMP_EDIT_VARIANT=patch\nPI_NO_TITLE=project\n"))
            .unwrap();
        std::fs::create_dir_all(home.path().join(".omp/agent")).unwrap();
        std::fs::write(home.path().join(".omp/agent/.env"), "PI_EDIT_VARIANT=replace\nPI_NO_PTY=1\n").unwrap();
        let process = [("HOME", home.path().to_str().unwrap()), ("PI_NO_TITLE", "process")];
        let env =
            load_environment(process.map(|(name, value)| (name.to_owned(), value.to_owned())), Some(project.path()));
        let values = ["PI_EDIT_VARIANT", "PI_NO_TITLE", "PI_NO_PTY"].map(|name| env.lookup(name).unwrap());
        assert_eq!(values, ["patch", "process", "1"]);
        assert!(env.iter().all(|(_, value)| !value.contains("evil")), "{env:?}");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_project_is_not_read() {
        let (outside, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(outside.path().join("x"), "PI_NO_TITLE=1\n").unwrap();
        std::os::unix::fs::symlink(outside.path().join("x"), project.path().join(".env")).unwrap();
        assert!(load_environment([], Some(project.path())).lookup("PI_NO_TITLE").is_none());
    }
}

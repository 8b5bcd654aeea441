//! The version to pack: from `git describe`, or Cargo's version without git.

use std::io::ErrorKind;
use std::path::Path;

use super::{command, error};

/// Timestamp of files if there is no commit: 1980-01-01, the earliest that all archive formats support.
const NO_TIME: u64 = 315_532_800;

#[derive(Debug, PartialEq, Eq)]
pub struct ReleaseVersion {
    /// The version, usable in a file name.
    pub name: String,
    /// The time of the commit, in seconds since 1970.
    pub seconds: u64,
    /// The day of the commit, for people.
    pub day: String,
}

impl ReleaseVersion {
    pub fn of(root: &Path, of_cargo: &str) -> Result<Self, String> {
        let without_git = Self { name: of_cargo.to_owned(), seconds: NO_TIME, day: String::new() };
        if !root.join(".git").exists() {
            return Ok(without_git);
        }
        let Some(described) = git(root, &["describe", "--tags", "--always", "--dirty"])? else {
            return Ok(without_git);
        };
        let time = git(
            root,
            &["show", "--no-patch", "--no-show-signature", "--format=%ct %cd", "--date=format:%Y-%m-%d", "HEAD"],
        )?;
        let time = time.unwrap_or_default();
        let (seconds, day) = time.split_once(' ').unwrap_or_default();
        let seconds = seconds.parse().map_err(|_| {
            error(format!("git printed no time of the last commit, but `{time}`"), "try `git show HEAD`")
        })?;
        Ok(Self { name: file_name(&described), seconds, day: day.to_owned() })
    }
}

/// Returns `None` if git is not installed.
fn git(root: &Path, words: &[&str]) -> Result<Option<String>, String> {
    let mut command = command("git", root);
    // Git sets these variables for its hooks. They can name another repository.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(name);
    }
    let shown = format!("git {}", words.join(" "));
    let output = match command.args(words).output() {
        Ok(output) => output,
        Err(why) if why.kind() == ErrorKind::NotFound => return Ok(None),
        Err(why) => return Err(error(format!("cannot start `{shown}`: {why}"), "check that git runs here")),
    };
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let what = format!("cannot determine the version: `{shown}` failed: {}", said.trim());
        return Err(error(what, "commit something, or fix what git reports"));
    }
    Ok(Some(String::from_utf8_lossy(&output.stdout).trim().to_owned()))
}

/// Turns `v1.2.0` into `1.2.0`, and characters that are not allowed in file names into `-`.
fn file_name(described: &str) -> String {
    let number = described.strip_prefix('v').filter(|rest| rest.starts_with(|char: char| char.is_ascii_digit()));
    let fits = |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '_' | '+' | '-');
    number.unwrap_or(described).chars().map(|char| if fits(char) { char } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tags_fit_into_names_of_files() {
        for (described, want) in [
            ("v1.2.0", "1.2.0"),
            ("v1.2.0-3-gabc1234-dirty", "1.2.0-3-gabc1234-dirty"),
            ("abc1234", "abc1234"),
            ("vanilla", "vanilla"),
            ("release/1 ü", "release-1--"),
        ] {
            assert_eq!(file_name(described), want);
        }
    }

    #[test]
    fn git_tells_the_version() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let told = || ReleaseVersion::of(root, "0.1.0");
        let without = ReleaseVersion { name: "0.1.0".into(), seconds: NO_TIME, day: String::new() };
        assert_eq!(told().unwrap(), without);

        run(root, &["init", "--quiet"]);
        let problem = told().unwrap_err();
        assert!(
            problem.starts_with("error: cannot determine the version") && problem.contains("\nhint: "),
            "{problem}"
        );

        std::fs::write(root.join("a"), "1").unwrap();
        run(root, &["add", "a"]);
        run(root, &["commit", "--quiet", "-m", "first"]);
        let first = told().unwrap();
        assert_eq!((first.seconds, first.day.as_str()), (1_000_000_000, "2001-09-09"));
        assert!(first.name.len() >= 7 && first.name.bytes().all(|byte| byte.is_ascii_hexdigit()), "{first:?}");

        run(root, &["tag", "v0.2.0"]);
        assert_eq!(told().unwrap().name, "0.2.0");
        std::fs::write(root.join("a"), "22").unwrap();
        assert_eq!(told().unwrap().name, "0.2.0-dirty");
        run(root, &["commit", "--quiet", "-a", "-m", "second"]);
        let second = told().unwrap().name;
        assert!(second.starts_with("0.2.0-1-g"), "{second}");
    }

    /// Runs git without the settings of this machine.
    fn run(root: &Path, words: &[&str]) {
        let mut command = command("git", root);
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(name);
        }
        let nowhere = root.join("no-such-settings");
        command.env("GIT_CONFIG_GLOBAL", &nowhere).env("GIT_CONFIG_SYSTEM", &nowhere).env("HOME", root);
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "user").env(format!("GIT_{who}_EMAIL"), "user@example.com");
            command.env(format!("GIT_{who}_DATE"), "1000000000 +0000");
        }
        let output = command.args(words).output().unwrap();
        assert!(output.status.success(), "{words:?} {}", String::from_utf8_lossy(&output.stderr));
    }
}

//! `/move`: moves the session to another working folder, with everything that belongs to it.

use std::path::{Path, PathBuf};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{Session, SlashCommand, SlashReply, Wish};

use crate::session::{NOT_KEPT, WORKING};

pub struct MoveCommand {
    pub cwd: PathBuf,
    pub home: PathBuf,
}

impl SlashCommand for MoveCommand {
    fn name(&self) -> &str {
        "move"
    }

    fn description(&self) -> &str {
        "Move this session to another folder and continue there"
    }

    fn arguments(&self) -> Option<&str> {
        Some("<folder>")
    }

    fn switches_session(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            if session.works().await {
                return Err(WORKING.to_owned());
            }
            let file = session.snapshot().file.clone().ok_or(NOT_KEPT)?;
            let cwd = target(arguments, &self.cwd, &self.home)?;
            if cwd == self.cwd {
                return Ok(SlashReply::Text(format!("the session is already in {}", cwd.display())));
            }
            // A session without messages has no file, so there is nothing to move.
            Ok(SlashReply::Switch(match file.exists() {
                true => Wish::Move { file, cwd },
                false => Wish::New { cwd: Some(cwd), parent: None },
            }))
        }
        .boxed()
    }
}

/// Parses the whole argument as one path, quoted or not, of a folder that can be entered.
fn target(typed: &str, cwd: &Path, home: &Path) -> Result<PathBuf, String> {
    let bare = typed.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(typed);
    if bare.is_empty() {
        return Err("no folder given\nhint: usage: /move <folder>".to_owned());
    }
    let folder = match bare.strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with('/') => home.join(&rest[1..]),
        _ => cwd.join(bare),
    };
    let unusable = |why: &dyn std::fmt::Display| {
        format!("cannot move the session to {}: {why}\nhint: give a folder that exists", folder.display())
    };
    let found = folder.canonicalize().map_err(|error| unusable(&error))?;
    if !found.is_dir() {
        return Err(unusable(&"it is not a folder"));
    }
    std::fs::read_dir(&found).map_err(|error| unusable(&error))?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_is_one_folder() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let (cwd, home) = (root.join("here"), root.join("home"));
        for folder in ["here", "home/my work", "there"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        std::fs::write(root.join("here/file"), "").unwrap();
        let check = |typed: &str, expect: Result<&str, &str>| match (target(typed, &cwd, &home), expect) {
            (Ok(found), Ok(expect)) => assert_eq!(found, root.join(expect), "{typed}"),
            (Err(problem), Err(expect)) => assert!(problem.contains(expect), "{typed}: {problem}"),
            (found, _) => panic!("{typed}: {found:?}"),
        };
        check("../there", Ok("there"));
        check("\"../there\"", Ok("there"));
        check(root.join("there").to_str().unwrap(), Ok("there"));
        check("~", Ok("home"));
        check("~/my work", Ok("home/my work"));
        check(".", Ok("here"));
        check("", Err("no folder given"));
        check("\"\"", Err("no folder given"));
        check("file", Err("it is not a folder"));
        check("../nowhere", Err("No such file"));
        check("~nobody", Err("~nobody"));
    }
}

//! The prompts of a command line, with the files that the user attaches by `@`.
//!
//! The user may send any file they name, hidden or not. A symbolic link in the workspace is different: under a harmless name
//! it may lead to keys or other files outside.

use std::path::{Component, Path, PathBuf};

use omp_commands::NAMES;
use omp_types::{AccessMap, Content, Touch};

use crate::folder::FolderSetup;

pub fn prompts(words: &[String], piped: Option<String>, setup: &FolderSetup) -> Result<Vec<Vec<Content>>, String> {
    let named: Vec<&str> = words.iter().filter_map(|word| word.strip_prefix('@')).collect();
    if !named.is_empty() {
        let map = setup.access().map();
        named.iter().try_for_each(|name| refuse_link(name, &setup.cwd, &map))?;
    }
    let is_command = |word: &str| is_command(word, setup);
    omp_headless::build_prompts(words, piped, &setup.cwd, &is_command).map_err(|error| error.to_string())
}

/// Returns the prompts of interactive mode, where a slash command cannot be sent together with files.
pub fn talk_prompts(words: &[String], setup: &FolderSetup) -> Result<Vec<Vec<Content>>, String> {
    match command_with_files(words) {
        Some(command) => Err(format!(
            "`{command}` cannot be sent together with files\nhint: leave the files out, or attach them to a separate message"
        )),
        None => prompts(words, None, setup),
    }
}

/// Returns the slash command that files are attached to. An existing path is not a command.
fn command_with_files(words: &[String]) -> Option<&str> {
    let (files, messages): (Vec<&String>, Vec<&String>) =
        words.iter().filter(|word| !word.trim().is_empty()).partition(|word| word.starts_with('@') && word.len() > 1);
    let word = messages.first()?.split_whitespace().next().filter(|_| !files.is_empty())?;
    let name = word.strip_prefix('/')?;
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|char| char.is_ascii_alphanumeric() || "-_:".contains(char));
    (is_name && !Path::new(word).exists()).then_some(word)
}

/// Whether a word calls a slash command, built in or from a file. A skill may be named anywhere in a message.
fn is_command(word: &str, setup: &FolderSetup) -> bool {
    let Some(name) = word.strip_prefix('/') else { return false };
    let is_brought = || {
        let found = setup.catalogue();
        found.commands.iter().chain(&found.prompts).any(|file| file.name == name)
    };
    NAMES.contains(&name) || is_brought()
}

fn refuse_link(name: &str, cwd: &Path, map: &AccessMap) -> Result<(), String> {
    let path = plain(&cwd.join(name));
    // A missing file is reported when it is opened.
    let Ok(real) = path.canonicalize() else { return Ok(()) };
    let leads_out = (path.starts_with(cwd) || path.starts_with(&map.workspace)) && !real.starts_with(&map.workspace);
    match map.allows(Touch::Read, &real).and_then(|()| map.allows_through(&path, &real)) {
        Err(denied) if leads_out => {
            Err(format!("cannot attach {name}: it is a link, and {denied}\nhint: attach {} instead", real.display()))
        }
        _ => Ok(()),
    }
}

/// Removes `.` and `..` lexically.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_command_takes_no_files_in_the_terminal() {
        let of = |line: &str| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            command_with_files(&words).map(str::to_owned)
        };
        for line in ["/nope @a.txt", "@a.txt /nope now", "@a @b /skill:x"] {
            assert!(of(line).is_some_and(|command| line.contains(&command)), "{line}");
        }
        for line in ["/nope", "@a.txt see /nope", "@a.txt /tmp", "@a.txt /usr/bin/env", "@ /nope", "@a.txt"] {
            assert_eq!(of(line), None, "{line}");
        }
    }

    #[test]
    fn the_user_names_keys_and_a_link_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for made in ["home/.ssh", "work/own"] {
            std::fs::create_dir_all(root.join(made)).unwrap();
        }
        std::fs::write(root.join("home/.ssh/id"), "PRIVATE").unwrap();
        std::fs::write(root.join("home/plain"), "").unwrap();
        symlink(root.join("home/.ssh/id"), root.join("work/notes.md")).unwrap();
        symlink(root.join("home/.ssh"), root.join("work/own/docs")).unwrap();
        symlink(root.join("home/plain"), root.join("work/plain.md")).unwrap();
        let work = root.join("work");
        let map = AccessMap { workspace: work.clone(), hidden: vec![root.join("home/.ssh")], ..AccessMap::default() };
        let absolute = root.join("home/.ssh/id").display().to_string();
        for (name, sent) in [
            ("notes.md", false),
            ("own/../notes.md", false),
            ("own/docs/id", false),
            ("plain.md", false),
            ("../home/plain", true),
            ("../home/.ssh/id", true),
            (&absolute, true),
            ("missing", true),
        ] {
            let answer = refuse_link(name, &work, &map);
            assert_eq!(answer.is_ok(), sent, "{name}: {answer:?}");
            let real = root.join(if name == "plain.md" { "home/plain" } else { "home/.ssh/id" }).display().to_string();
            assert!(answer.err().is_none_or(|why| why.contains(&real) && why.contains("hint:")), "{name}");
        }
        // Without a sandbox no link is refused.
        assert_eq!(refuse_link("notes.md", &work, &AccessMap::open(&work)), Ok(()));
    }
}

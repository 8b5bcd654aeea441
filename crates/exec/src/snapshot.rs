//! What the user's interactive shell knows: aliases, functions and PATH, read once from its start file.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use omp_types::{Env, vars};

use crate::{ChildEnv, Shell, Stderr};

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    /// Shell code that makes the functions and aliases again.
    pub(crate) definitions: String,
    path: String,
}

/// A start file that takes longer is done without.
const PATIENCE: Duration = Duration::from_secs(2);
const MAX_BYTES: usize = 512 * 1024;
/// Different shells and start files remembered.
const MAX_KEPT: usize = 8;
const BEGIN: &str = "@omp-snapshot-begins@";
const PATH_LINE: &str = "@omp-snapshot-path@";

type Key = (PathBuf, PathBuf, SystemTime);

/// The snapshot for `shell`, from memory while the start file has not changed. `None` when there is nothing to read or
/// reading it failed.
pub(crate) async fn of(shell: &Shell, env: &Env) -> Option<Arc<Snapshot>> {
    static KEPT: LazyLock<Mutex<HashMap<Key, Arc<Snapshot>>>> = LazyLock::new(Mutex::default);
    let file = start_file(shell, env)?;
    let key = (shell.program.clone(), file.clone(), std::fs::metadata(&file).ok()?.modified().ok()?);
    if let Some(kept) = KEPT.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Some(kept.clone());
    }
    let taken = Arc::new(take(shell, env).await?);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.len() >= MAX_KEPT {
        kept.clear();
    }
    kept.insert(key, taken.clone());
    Some(taken)
}

fn start_file(shell: &Shell, env: &Env) -> Option<PathBuf> {
    let home = env.get(vars::HOME).map(PathBuf::from)?;
    let file = if shell.is_bash() {
        home.join(".bashrc")
    } else if shell.is_zsh() {
        env.get(vars::ZDOTDIR).map_or(home, PathBuf::from).join(".zshrc")
    } else {
        return None;
    };
    file.is_file().then_some(file)
}

async fn take(shell: &Shell, env: &Env) -> Option<Snapshot> {
    let script =
        format!("echo; echo {BEGIN}; {}; echo; printf '%s%s\\n' {PATH_LINE} \"$PATH\"", shell.dump_definitions()?);
    let home = env.get(vars::HOME)?;
    let spawn = crate::Spawn::new(&shell.program, ChildEnv::unattended(env)).args(["-i", "-c", &script]);
    let captured = spawn.cwd(home).stderr(Stderr::Discarded).capture(MAX_BYTES, PATIENCE).await.ok()?;
    if captured.truncated || captured.exit.is_none_or(|exit| exit.code != 0) {
        return None;
    }
    parse(&String::from_utf8_lossy(&captured.output))
}

fn parse(output: &str) -> Option<Snapshot> {
    let (_, after) = output.split_once(&format!("\n{BEGIN}\n"))?;
    let (definitions, path) = after.rsplit_once(&format!("\n{PATH_LINE}"))?;
    let definitions = definitions.split_inclusive('\n').filter(|line| !asks(line)).collect();
    Some(Snapshot { definitions, path: path.trim_end_matches('\n').to_owned() })
}

/// `alias rm='rm -i'` and its like would wait for an answer that nobody gives.
fn asks(line: &str) -> bool {
    let Some((name, value)) = line.strip_prefix("alias ").and_then(|alias| alias.split_once('=')) else { return false };
    matches!(name.trim_start_matches("-- "), "rm" | "cp" | "mv" | "ln") && value.contains(" -i")
}

impl Snapshot {
    /// `current` wins; folders that only the interactive shell has come after.
    pub(crate) fn merged_path(&self, current: &str) -> String {
        let mut folders: Vec<&str> = current.split(':').filter(|folder| !folder.is_empty()).collect();
        for folder in self.path.split(':').filter(|folder| folder.starts_with('/')) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders.join(":")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_is_left_out_and_paths_are_joined() {
        let output = "motd\n\n@omp-snapshot-begins@\nf () \n{ \n    :\n}\nalias ll='ls -l'\nalias rm='rm -i'\n\n\
                      @omp-snapshot-path@/a:/b:rel\n";
        let snapshot = parse(output).unwrap();
        assert_eq!(snapshot.definitions, "f () \n{ \n    :\n}\nalias ll='ls -l'\n");
        assert_eq!(snapshot.merged_path("/b:/c"), "/b:/c:/a");
        assert_eq!(parse("nothing of ours"), None);
    }
}

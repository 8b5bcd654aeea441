//! Finds the session files of other programs, and which of them are already imported.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use omp_types::{Env, vars};
use serde_json::Value;

use super::Program;
use crate::folder::SessionsDir;

/// Maximum folder depth that is searched.
const DEEPEST: usize = 6;
/// Maximum number of files that are checked.
const MOST: usize = 20_000;
/// Number of bytes at the start of a file that are searched for the working folder.
const HEAD: u64 = 256 * 1024;

/// A session of another program.
#[derive(Clone, Debug)]
pub struct Importable {
    pub program: Program,
    pub path: PathBuf,
    pub modified: SystemTime,
    /// `None` if the start of the file does not name it.
    pub cwd: Option<String>,
}

/// Returns the sessions of a program on this machine, newest first.
pub fn importable(program: Program, env: &Env) -> Vec<Importable> {
    let mut found = Vec::new();
    for folder in folders(program, env) {
        collect(program, &folder, DEEPEST, &mut found);
    }
    found.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    found
}

fn folders(program: Program, env: &Env) -> Vec<PathBuf> {
    let home = if cfg!(windows) { env.get(vars::USERPROFILE) } else { env.get(vars::HOME) };
    let below_home = |name: &str| home.map(|home| Path::new(home).join(name));
    let given = |var| env.get(var).map(PathBuf::from);
    let (base, names): (_, &[&str]) = match program {
        Program::Claude => (given(vars::CLAUDE_CONFIG_DIR).or_else(|| below_home(".claude")), &["projects"]),
        Program::Codex => {
            (given(vars::CODEX_HOME).or_else(|| below_home(".codex")), &["sessions", "archived_sessions"])
        }
        Program::Pi => (below_home(".pi"), &["agent/sessions"]),
    };
    base.iter().flat_map(|base| names.iter().map(|name| base.join(name))).collect()
}

fn collect(program: Program, folder: &Path, depth: usize, found: &mut Vec<Importable>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        if kind.is_dir() && depth > 1 {
            collect(program, &path, depth - 1, found);
        } else if kind.is_file() && found.len() < MOST && is_session(program, &path) {
            let modified = entry.metadata().and_then(|data| data.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
            let cwd = cwd_of(&path);
            found.push(Importable { program, path, modified, cwd });
        }
    }
}

/// Transcripts of sub-agents are part of other sessions and excluded.
fn is_session(program: Program, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".jsonl")
        && match program {
            Program::Claude => !name.starts_with("agent-") && !path.iter().any(|part| part == "subagents"),
            Program::Codex => name.starts_with("rollout-"),
            Program::Pi => true,
        }
}

fn cwd_of(path: &Path) -> Option<String> {
    let lines = BufReader::new(File::open(path).ok()?.take(HEAD)).split(b'\n');
    lines.map_while(Result::ok).find_map(|line| {
        let line: Value = serde_json::from_slice(&line).ok()?;
        let cwd = line.get("cwd").or_else(|| line.get("payload")?.get("cwd"))?;
        cwd.as_str().map(str::to_owned)
    })
}

/// Returns the file of an imported session by ID, in any folder.
pub(super) fn imported(sessions: &SessionsDir, id: &str) -> Option<PathBuf> {
    let end = format!("_{id}.jsonl");
    let in_folder = |folder: &Path| {
        let files = std::fs::read_dir(folder).ok()?;
        files.flatten().map(|file| file.path()).find(|path| path.to_string_lossy().ends_with(&end))
    };
    in_folder(sessions.root()).or_else(|| {
        let folders = std::fs::read_dir(sessions.root()).ok()?;
        folders.flatten().filter(|entry| entry.path().is_dir()).find_map(|entry| in_folder(&entry.path()))
    })
}

//! The git folders of the workspace, and the files in them that decide what git runs.

use std::path::{Path, PathBuf};

use omp_stdx::real_path::of as real;

/// `commondir` says where all the others are read from.
const GUARDED_OF_GIT: &[&str] = &["hooks", "config", "config.worktree", "info/attributes", "commondir"];
/// A larger pointer or settings file is not read.
const LARGEST: u64 = 1 << 20;
/// Maximum submodule folders that are scanned, repositories that are guarded, and settings files that are read.
const MOST: usize = 1_000;

#[derive(Debug, Default)]
pub(crate) struct GuardedRepository {
    /// The top of the work tree.
    top: PathBuf,
    /// Git folders that commands may write to; those of a worktree are outside.
    folders: Vec<PathBuf>,
    /// The file that points to them.
    pointer: Option<PathBuf>,
    home: PathBuf,
}

impl GuardedRepository {
    pub(crate) fn of(workspace: &Path, home: &Path) -> Self {
        let home = home.to_owned();
        let Some(top) = top_of(workspace) else {
            return Self { folders: vec![workspace.join(".git")], top: workspace.to_owned(), pointer: None, home };
        };
        let top = real(top);
        let dot_git = top.join(".git");
        let led = led_to(&dot_git);
        let pointer = led.is_some().then(|| dot_git.clone());
        let folder = real(&led.unwrap_or(dot_git));
        // Otherwise whoever created the folder could name any other as its repository, and make that writable.
        if !is_own(&folder, &top) {
            return Self { folders: Vec::new(), top, pointer, home };
        }
        let common = short_file(&folder.join("commondir")).map(|common| real(&folder.join(common.trim_end())));
        let of_worktree = folder.parent().and_then(Path::parent);
        let common = common.filter(|common| Some(common.as_path()) == of_worktree || common.starts_with(&top));
        Self { folders: common.into_iter().chain([folder]).collect(), top, pointer, home }
    }

    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    pub(crate) fn guarded(&self) -> Vec<PathBuf> {
        let mut guarded: Vec<PathBuf> = self.pointer.iter().cloned().collect();
        for folder in &self.folders {
            guarded.extend(GUARDED_OF_GIT.iter().map(|name| folder.join(name)));
            for module in modules(folder) {
                guarded.extend(GUARDED_OF_GIT.iter().map(|name| module.join(name)));
            }
        }
        guarded.extend(inner_repositories(&self.top, &self.folders).iter().flat_map(NestedRepository::guarded));
        guarded.extend(self.named_by_settings());
        guarded
    }

    /// Hook folders, and further settings files.
    fn named_by_settings(&self) -> Vec<PathBuf> {
        let of_user = [".gitconfig", ".config/git/config"].map(|name| self.home.join(name));
        let of_folders = self.folders.iter().flat_map(|folder| ["config", "config.worktree"].map(|it| folder.join(it)));
        let mut waiting: Vec<PathBuf> = of_user.into_iter().chain(of_folders).collect();
        let (mut named, mut seen) = (Vec::new(), Vec::new());
        while let Some(file) = waiting.pop() {
            if seen.contains(&file) || seen.len() > MOST {
                continue;
            }
            let beside = file.parent().unwrap_or(&self.top).to_owned();
            for (key, value) in short_file(&file).as_deref().map(settings).unwrap_or_default() {
                let within = |base: &Path| match value.strip_prefix("~/") {
                    Some(below) => self.home.join(below),
                    None => base.join(&value),
                };
                match key {
                    GitSettingKey::HooksPath => named.push(within(&self.top)),
                    // Creating something for a missing one would break git.
                    GitSettingKey::Include if within(&beside).exists() => {
                        named.push(within(&beside));
                        waiting.push(within(&beside));
                    }
                    GitSettingKey::Include => {}
                }
            }
            seen.push(file);
        }
        named
    }
}

/// A repository within another.
#[derive(Debug)]
pub(crate) struct NestedRepository {
    /// The folder, or the file that points to it.
    pub(crate) dot_git: PathBuf,
    /// The folder with its settings.
    #[cfg_attr(not(unix), expect(dead_code, reason = "nothing is looked at afterwards"))]
    pub(crate) folder: PathBuf,
    /// A worktree of the outer repository, which `git worktree remove` removes. Nothing of it is mounted; it is checked
    /// afterwards.
    pub(crate) is_worktree: bool,
}

impl NestedRepository {
    /// With links resolved.
    #[cfg(unix)]
    pub(crate) fn real_folder(&self) -> PathBuf {
        real(&self.folder)
    }

    /// If `.git` is a file, it is included.
    pub(crate) fn guarded(&self) -> Vec<PathBuf> {
        if self.is_worktree {
            return Vec::new();
        }
        match self.dot_git.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            true => GUARDED_OF_GIT.iter().map(|name| self.dot_git.join(name)).collect(),
            false => {
                let folder = real(&self.folder);
                let led_to = GUARDED_OF_GIT.iter().map(|name| folder.join(name));
                led_to.chain([self.dot_git.clone()]).collect()
            }
        }
    }
}

/// The repositories that git enters by itself, and those within them.
pub(crate) fn inner_repositories(top: &Path, folders: &[PathBuf]) -> Vec<NestedRepository> {
    let mut found: Vec<NestedRepository> = Vec::new();
    let mut waiting: Vec<(PathBuf, PathBuf)> =
        folders.iter().map(|folder| (top.to_owned(), folder.to_owned())).collect();
    while let Some((top, git)) = waiting.pop() {
        for link in crate::gitlinks::of(&git) {
            let dot_git = top.join(&link).join(".git");
            let is_new = dot_git.symlink_metadata().is_ok() && found.iter().all(|inner| inner.dot_git != dot_git);
            if !is_new || found.len() >= MOST {
                continue;
            }
            let folder = led_to(&dot_git).unwrap_or_else(|| dot_git.clone());
            waiting.push((top.join(&link), folder.clone()));
            let is_worktree = folders.iter().any(|git| real(&folder).parent() == Some(&real(&git.join("worktrees"))));
            found.push(NestedRepository { dot_git, folder, is_worktree });
        }
    }
    found
}

/// The nearest folder with a repository.
pub(crate) fn top_of(workspace: &Path) -> Option<&Path> {
    workspace.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok())
}

/// The git folder of the repository at `top`, with links resolved.
#[cfg(unix)]
pub(crate) fn folder_of(top: &Path) -> PathBuf {
    let dot_git = top.join(".git");
    real(&led_to(&dot_git).unwrap_or(dot_git))
}

/// The target of a `.git` file.
fn led_to(dot_git: &Path) -> Option<PathBuf> {
    led_by(dot_git, &short_file(dot_git)?)
}

/// The target of a `.git` file with this text.
pub(crate) fn led_by(dot_git: &Path, text: &str) -> Option<PathBuf> {
    let path = text.strip_prefix("gitdir:")?.trim();
    Some(dot_git.parent()?.join(path)).filter(|_| !path.is_empty())
}

/// The text of a `.git` file; `None` for anything else, including a link.
#[cfg(unix)]
pub(crate) fn pointer_text(dot_git: &Path) -> Option<String> {
    omp_stdx::plain_file::read_itself(dot_git, LARGEST).ok().and_then(|bytes| String::from_utf8(bytes).ok())
}

/// Whether the git folder is inside `top`, or refers back to it as that of a worktree or a submodule does.
fn is_own(git: &Path, top: &Path) -> bool {
    let worktree = || short_file(&git.join("gitdir")).map(|text| real(&git.join(text.trim())));
    let submodule = || top.ancestors().skip(1).any(|above| git.starts_with(above.join(".git/modules")));
    git.starts_with(top) || worktree().is_some_and(|known| known == top.join(".git")) || submodule()
}

/// The git folders of submodules, whose names may contain slashes.
fn modules(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.join("modules")];
    let mut seen = 0;
    while let Some(folder) = waiting.pop() {
        seen += 1;
        if seen > MOST {
            break;
        }
        if folder.join("HEAD").is_file() {
            waiting.push(folder.join("modules"));
            found.push(folder);
            continue;
        }
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        waiting.extend(entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|it| it.path()));
    }
    found
}

/// A repository may have anything in its place, including a pipe.
fn short_file(path: &Path) -> Option<String> {
    omp_stdx::plain_file::read_text(path, LARGEST).ok()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GitSettingKey {
    HooksPath,
    Include,
}

/// Paths to other files in git's settings, in any section: guarding one too many is better than missing one.
fn settings(text: &str) -> Vec<(GitSettingKey, String)> {
    let line = |line: &str| {
        let line = line.trim();
        // A setting may be on the same line as its section.
        let line = line.rsplit_once(']').filter(|_| line.starts_with('[')).map_or(line, |(_, rest)| rest.trim());
        let (key, value) = line.split_once('=')?;
        let key = match key.trim().to_ascii_lowercase().as_str() {
            "hookspath" => GitSettingKey::HooksPath,
            "path" => GitSettingKey::Include,
            _ => return None,
        };
        let value = value.trim().trim_matches('"');
        (!value.is_empty()).then(|| (key, value.to_owned()))
    };
    text.lines().filter_map(line).take(MOST).collect()
}

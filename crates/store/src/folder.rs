//! Locates the sessions of a working folder.
//!
//! Two naming schemes for the folder are in use and both are read; new sessions are stored where the reference program 17.2
//! expects them (see `docs/session-format.md`).

use std::path::{Path, PathBuf};

use omp_types::{Env, vars};

use crate::blob::hex_hash;

/// Maximum length of a path component in bytes, on all common file systems.
const LONGEST_NAME: usize = 255;
/// Number of hex digits that replace the cut part of a name.
const SHORT_HASH: usize = 16;

/// The root folder of all sessions, or the one given with `--session-dir`.
#[derive(Clone, Debug)]
pub struct SessionsDir {
    root: PathBuf,
    home: Option<PathBuf>,
    temp: PathBuf,
    /// With `--session-dir`, all sessions are in that one folder.
    flat: bool,
}

impl SessionsDir {
    /// Uses `<agent folder>/sessions`, with one subfolder per working folder.
    pub fn new(agent_dir: &Path, env: &Env) -> Self {
        let home = if cfg!(windows) { env.get(vars::USERPROFILE) } else { env.get(vars::HOME) };
        Self {
            root: agent_dir.join("sessions"),
            home: home.map(|home| canonical(Path::new(home))),
            temp: canonical(Path::new(env.get(vars::TMPDIR).unwrap_or("/tmp"))),
            flat: false,
        }
    }

    /// Uses `dir` for all sessions, regardless of their working folder.
    pub fn flat(dir: PathBuf) -> Self {
        Self { root: dir, home: None, temp: PathBuf::new(), flat: true }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder of archived sessions: these are opened like others but listed separately.
    pub fn archived(&self) -> Self {
        Self { root: self.beside("archive"), ..self.clone() }
    }

    /// Returns the folder of deleted sessions, which are kept until the next cleanup.
    pub fn trashed(&self) -> Self {
        Self { root: self.beside("trash"), ..self.clone() }
    }

    /// Returns the file that caches session metadata, so that a listing need not open all sessions.
    pub(crate) fn index_file(&self) -> PathBuf {
        match self.root.parent() {
            Some(above) if !self.flat => above.join("session-index.json"),
            _ => self.root.join(".session-index.json"),
        }
    }

    fn beside(&self, name: &str) -> PathBuf {
        match self.root.parent() {
            Some(above) if !self.flat => above.join(name).join("sessions"),
            _ => self.root.join(name),
        }
    }

    pub(crate) fn is_flat(&self) -> bool {
        self.flat
    }

    /// Returns the folder for new sessions of `cwd`.
    pub fn session_dir_for(&self, cwd: &Path) -> PathBuf {
        if self.flat { self.root.clone() } else { self.root.join(bounded(self.short_name(&canonical(cwd)))) }
    }

    /// Returns the folders that may hold sessions of `cwd`, the one for new sessions first.
    pub fn folders_of(&self, cwd: &Path) -> Vec<PathBuf> {
        let mut folders = vec![self.session_dir_for(cwd)];
        if !self.flat {
            for place in [canonical(cwd), cwd.to_owned()] {
                let folder = self.root.join(bounded(long_name(&place)));
                if !folders.contains(&folder) {
                    folders.push(folder);
                }
            }
        }
        folders
    }

    /// Returns a name relative to the home folder or the temporary folder, otherwise the full path.
    fn short_name(&self, cwd: &Path) -> String {
        if let Some(below) = self.home.as_ref().and_then(|home| cwd.strip_prefix(home).ok()) {
            return format!("-{}", dashed(below));
        }
        match cwd.strip_prefix(&self.temp) {
            Ok(below) if below.as_os_str().is_empty() => "-tmp".to_owned(),
            Ok(below) => format!("-tmp-{}", dashed(below)),
            Err(_) => long_name(cwd),
        }
    }
}

/// Returns the older form of the name: the whole path between two pairs of dashes.
fn long_name(cwd: &Path) -> String {
    let path = dashed(cwd);
    format!("--{}--", path.strip_prefix('-').unwrap_or(&path))
}

/// Limits the length of a name: keeps the start of a longer one and adds a hash to make it unique.
fn bounded(name: String) -> String {
    if name.len() <= LONGEST_NAME {
        return name;
    }
    let hash = hex_hash(name.as_bytes());
    let kept = name.floor_char_boundary(LONGEST_NAME - SHORT_HASH - 1);
    format!("{}-{}", &name[..kept], &hash[..SHORT_HASH])
}

fn dashed(path: &Path) -> String {
    path.to_string_lossy().replace(['/', '\\', ':'], "-")
}

/// Resolves links; returns the path unchanged if it does not exist.
pub(crate) fn canonical(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sessions() -> SessionsDir {
        let env = [("HOME", "/nowhere/home"), ("TMPDIR", "/nowhere/tmp/")].into_iter().collect();
        SessionsDir::new(Path::new("/agent"), &env)
    }

    fn check(cwd: &str, names: &[&str]) {
        let expect: Vec<_> = names.iter().map(|name| Path::new("/agent/sessions").join(name)).collect();
        assert_eq!(sessions().folders_of(Path::new(cwd)), expect, "{cwd}");
    }

    #[test]
    fn folders_are_named_as_the_reference_program_names_them() {
        check("/nowhere/home", &["-", "--nowhere-home--"]);
        check("/nowhere/home/project", &["-project", "--nowhere-home-project--"]);
        check("/nowhere/home/my proj.x/sub", &["-my proj.x-sub", "--nowhere-home-my proj.x-sub--"]);
        check("/nowhere/home/a\\b:c", &["-a-b-c", "--nowhere-home-a-b-c--"]);
        check("/nowhere/tmp", &["-tmp", "--nowhere-tmp--"]);
        check("/nowhere/tmp/t-x/y", &["-tmp-t-x-y", "--nowhere-tmp-t-x-y--"]);
        check("/nowhere/homely", &["--nowhere-homely--"]);
        check("/srv/data", &["--srv-data--"]);
        check("/", &["----"]);
    }

    #[test]
    fn a_name_that_is_too_long_is_cut_but_stays_its_own() {
        let deep = |last: &str| format!("/srv/{}/{last}", "é".repeat(200));
        let name = |cwd: &str| {
            let folder = sessions().session_dir_for(Path::new(cwd));
            folder.file_name().unwrap().to_str().unwrap().to_owned()
        };
        assert!(name(&deep("a")).len() <= 255 && name(&deep("a")).starts_with("--srv-éé"));
        assert_ne!(name(&deep("a")), name(&deep("b")));
        assert_eq!(name(&deep("a")), name(&deep("a")));
    }

    #[test]
    fn a_given_folder_holds_all_sessions() {
        let flat = SessionsDir::flat("/given".into());
        assert_eq!(flat.folders_of(Path::new("/srv")), [Path::new("/given")]);
    }

    #[test]
    fn links_lead_to_the_folder_they_point_at() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().join("home");
        std::fs::create_dir_all(home.join("project")).unwrap();
        std::os::unix::fs::symlink(home.join("project"), temp.path().join("link")).unwrap();
        let env = [("HOME", home.to_str().unwrap())].into_iter().collect();
        let sessions = SessionsDir::new(Path::new("/agent"), &env);
        assert_eq!(sessions.session_dir_for(&temp.path().join("link")), Path::new("/agent/sessions/-project"));
    }
}

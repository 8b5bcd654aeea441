//! A temporary project, home folder and agent folder for a test.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use omp_types::{Env, vars};
use tempfile::TempDir;

use crate::provider::{MOCK_MODEL, MOCK_PROVIDER, MockProvider};

/// `project/`, `home/` and `tmp/` in one temporary folder; the agent folder is `home/.omp/agent`.
pub struct TempWorkspace {
    /// Dropping this removes everything.
    _folder: TempDir,
    root: PathBuf,
    home: PathBuf,
}

impl TempWorkspace {
    /// Creates a project from `(path, content)` pairs.
    pub fn new(files: &[(&str, &str)]) -> io::Result<Self> {
        let folder = TempDir::with_prefix("omp-test-")?;
        // macOS returns a path through a symlink, which does not match the paths that omp prints.
        let root = folder.path().canonicalize()?;
        let home = root.join("home");
        Self::made(Self { _folder: folder, root, home }, files)
    }

    /// Like [`Self::new`], with the home folder below `parent`: the project is `~/project`, as for most users.
    pub fn at_home(parent: &Path, prefix: &str, files: &[(&str, &str)]) -> io::Result<Self> {
        let folder = TempDir::with_prefix_in(prefix, parent)?;
        let root = folder.path().canonicalize()?;
        let home = root.clone();
        Self::made(Self { _folder: folder, root, home }, files)
    }

    fn made(workspace: Self, files: &[(&str, &str)]) -> io::Result<Self> {
        for folder in [workspace.project(), workspace.agent_dir(), workspace.tmp()] {
            std::fs::create_dir_all(folder)?;
        }
        for (path, content) in files {
            workspace.write(path, content)?;
        }
        Ok(workspace)
    }

    pub fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    pub fn home(&self) -> PathBuf {
        self.home.clone()
    }

    pub fn agent_dir(&self) -> PathBuf {
        self.home().join(".omp").join("agent")
    }

    pub fn tmp(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// Returns the full path of a project file.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.project().join(relative)
    }

    pub fn write(&self, relative: &str, content: impl AsRef<[u8]>) -> io::Result<PathBuf> {
        write_under(&self.project(), relative, content.as_ref())
    }

    pub fn read(&self, relative: &str) -> io::Result<String> {
        std::fs::read_to_string(self.path(relative))
    }

    /// Writes `models.yml` so that `mock/mock-model` is this provider.
    pub fn write_provider(&self, provider: &MockProvider) -> io::Result<PathBuf> {
        self.write_models_yml(&provider.models_yml())
    }

    pub fn write_models_yml(&self, yaml: &str) -> io::Result<PathBuf> {
        write_under(&self.agent_dir(), "models.yml", yaml.as_bytes())
    }

    pub fn write_config_yml(&self, yaml: &str) -> io::Result<PathBuf> {
        write_under(&self.agent_dir(), "config.yml", yaml.as_bytes())
    }

    /// Returns the environment for a process that is isolated from the machine's user.
    pub fn env(&self) -> BTreeMap<String, String> {
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let pairs = [
            (vars::HOME.name, text(self.home())),
            (vars::USERPROFILE.name, text(self.home())),
            (vars::PI_CODING_AGENT_DIR.name, text(self.agent_dir())),
            (vars::TMPDIR.name, text(self.tmp())),
            (vars::PATH.name, SYSTEM_PATH.to_owned()),
            (vars::NO_COLOR.name, "1".to_owned()),
            // On some systems a proxy of the machine would intercept requests to the fake server.
            (vars::NO_PROXY.name, "127.0.0.1,localhost".to_owned()),
        ];
        pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Returns the same environment as a value, for code that takes it as a parameter.
    pub fn env_snapshot(&self) -> Env {
        self.env().into_iter().collect()
    }

    /// Returns arguments for the omp binary: the mock model, this project, then `more`.
    pub fn args(&self, more: &[&str]) -> Vec<OsString> {
        let model = format!("{MOCK_PROVIDER}/{MOCK_MODEL}");
        let mut args: Vec<OsString> =
            vec!["--model".into(), model.into(), "--cwd".into(), self.project().into_os_string()];
        args.extend(more.iter().map(OsString::from));
        args
    }

    /// Returns the session files anywhere under the agent folder, sorted by path.
    pub fn session_files(&self) -> io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        let mut folders = vec![self.agent_dir().join("sessions")];
        while let Some(folder) = folders.pop() {
            let entries = match std::fs::read_dir(&folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                entries => entries?,
            };
            for entry in entries {
                let entry = entry?;
                match entry.file_type()?.is_dir() {
                    true => folders.push(entry.path()),
                    false if entry.path().extension().is_some_and(|end| end == "jsonl") => found.push(entry.path()),
                    false => {}
                }
            }
        }
        found.sort();
        Ok(found)
    }
}

#[cfg(unix)]
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/opt/homebrew/bin";
#[cfg(not(unix))]
const SYSTEM_PATH: &str = r"C:\Windows\System32;C:\Windows;C:\Program Files\Git\bin";

fn write_under(folder: &Path, relative: &str, content: &[u8]) -> io::Result<PathBuf> {
    let path = folder.join(relative);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(&path, content)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use omp_types::Api;

    #[test]
    fn everything_lies_inside_and_vanishes() {
        let workspace = TempWorkspace::new(&[("src/a.rs", "fn a() {}\n")]).unwrap();
        let root = workspace.root.clone();
        assert_eq!(workspace.read("src/a.rs").unwrap(), "fn a() {}\n");
        workspace.write_provider(&MockProvider::new("http://127.0.0.1:1", Api::AnthropicMessages)).unwrap();
        workspace.write_config_yml("theme: dark\n").unwrap();
        assert!(workspace.agent_dir().join("models.yml").is_file());
        for name in ["HOME", "TMPDIR", "PI_CODING_AGENT_DIR"] {
            assert!(Path::new(&workspace.env()[name]).starts_with(&root), "{name}");
        }
        drop(workspace);
        assert!(!root.exists());
    }

    #[test]
    fn a_project_can_lie_in_the_home_folder() {
        let parent = tempfile::tempdir().unwrap();
        let workspace = TempWorkspace::at_home(parent.path(), "some one ", &[("a", "1")]).unwrap();
        let home = workspace.home();
        assert!(home.file_name().unwrap().to_string_lossy().starts_with("some one "));
        assert_eq!(workspace.project(), home.join("project"));
        assert_eq!(workspace.agent_dir(), home.join(".omp/agent"));
        drop(workspace);
        assert!(!home.exists());
    }

    #[test]
    fn session_files_are_found_in_any_folder() {
        let workspace = TempWorkspace::new(&[]).unwrap();
        assert_eq!(workspace.session_files().unwrap(), Vec::<PathBuf>::new());
        let sessions = workspace.agent_dir().join("sessions");
        write_under(&sessions, "--a--/1_x.jsonl", b"").unwrap();
        write_under(&sessions, "--a--/note.txt", b"").unwrap();
        assert_eq!(workspace.session_files().unwrap(), [sessions.join("--a--/1_x.jsonl")]);
    }

    #[test]
    fn arguments_name_the_mock_model_first() {
        let workspace = TempWorkspace::new(&[]).unwrap();
        let args = workspace.args(&["-p", "hi"]);
        assert_eq!(args[1], "mock/mock-model");
        assert_eq!(args[4..], ["-p", "hi"]);
    }
}

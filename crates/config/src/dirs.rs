//! The folders omp reads and writes, derived from the environment.

use std::path::{Path, PathBuf};

use omp_types::{Env, vars};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dirs {
    pub home: PathBuf,
    /// `~/.omp`
    pub config_root: PathBuf,
    /// `~/.omp/agent`: settings, sessions, blobs, credentials.
    pub agent: PathBuf,
}

impl Dirs {
    /// `PI_CODING_AGENT_DIR` names the agent folder itself, `PI_CONFIG_DIR` the folder below the home.
    pub fn from_env(env: &Env) -> Result<Self, String> {
        let home = env
            .get(vars::HOME)
            .or_else(|| env.get(vars::USERPROFILE))
            .map(PathBuf::from)
            .ok_or("the home folder is unknown: HOME is not set\nhint: set HOME to a folder omp may write to")?;
        let config_root = home.join(env.get(vars::PI_CONFIG_DIR).unwrap_or(".omp"));
        let agent = match env.get(vars::PI_CODING_AGENT_DIR) {
            Some(path) => expand_home(path, &home),
            None => config_root.join("agent"),
        };
        Ok(Self { home, config_root, agent })
    }

    pub fn settings_file(&self) -> PathBuf {
        self.agent.join("config.yml")
    }

    /// Custom providers and model overrides.
    pub fn models_file(&self) -> PathBuf {
        self.agent.join("models.yml")
    }

    pub fn sessions(&self) -> PathBuf {
        self.agent.join("sessions")
    }

    pub fn blobs(&self) -> PathBuf {
        self.agent.join("blobs")
    }
}

fn expand_home(path: &str, home: &Path) -> PathBuf {
    match path.strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with('/') => home.join(&rest[1..]),
        _ => PathBuf::from(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(env: &[(&str, &str)], agent: &str) {
        let env: Env = env.iter().copied().collect();
        assert_eq!(Dirs::from_env(&env).unwrap().agent, PathBuf::from(agent));
    }

    #[test]
    fn the_agent_folder_follows_the_environment() {
        check(&[("HOME", "/h")], "/h/.omp/agent");
        check(&[("HOME", "/h"), ("PI_CONFIG_DIR", ".other")], "/h/.other/agent");
        check(&[("HOME", "/h"), ("PI_CODING_AGENT_DIR", "/data/a")], "/data/a");
        check(&[("HOME", "/h"), ("PI_CODING_AGENT_DIR", "~/a")], "/h/a");
        check(&[("USERPROFILE", "/u")], "/u/.omp/agent");
    }

    #[test]
    fn a_missing_home_is_explained() {
        assert!(Dirs::from_env(&Env::default()).unwrap_err().contains("hint:"));
    }
}

//! Exports sessions as HTML pages: the tools that render the cards, the secrets to redact, the path of the file.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use omp_agent::ToolSet;
use omp_commands::PageWriter;
use omp_config::Dirs;
use omp_export::{ExportOptions, SystemContext, default_path, export};
use omp_llm::Registry;
use omp_secrets::Veil;
use omp_session::Session;
use omp_store::{BlobStore, EntryId};
use omp_tools::{ToolOptions, Toolbox};
use omp_types::{Env, Secrets, vars};

use crate::cli::demo;
use crate::folder::{FolderProblem, FolderSetup};

/// The arguments of `edit` depend on its language, and a session may have seen several.
const EDIT_LANGUAGES: [&str; 4] = ["hashline", "replace", "patch", "apply_patch"];

/// Returns all secrets known in this run: from the environment, the flags, `models.yml` and `secrets.yml`.
pub fn secrets(registry: &Registry, redactor: Arc<Veil>) -> Secrets {
    let mut secrets = Secrets::default();
    registry.secrets().iter().for_each(|secret| secrets.add(secret));
    secrets.and(redactor)
}

/// The surroundings that an export needs.
#[derive(Clone)]
pub struct Exporter {
    agent: PathBuf,
    home: PathBuf,
    cwd: PathBuf,
    env: Env,
    secrets: Secrets,
}

impl Exporter {
    pub fn of(setup: &FolderSetup, secrets: Secrets) -> Self {
        Self::in_folder(&setup.dirs, setup.cwd.clone(), setup.env.clone(), secrets)
    }

    /// Creates an exporter that writes pages into `cwd`.
    pub fn in_folder(dirs: &Dirs, cwd: PathBuf, env: Env, secrets: Secrets) -> Self {
        Self { agent: dirs.agent.clone(), home: dirs.home.clone(), cwd, env, secrets }
    }

    /// Exports a running session, including its system prompt.
    pub fn export(&self, session: &Session, to: Option<&Path>) -> Result<PathBuf, FolderProblem> {
        let Some(file) = session.snapshot().file.clone() else {
            return Err("Cannot export in-memory session to HTML\nhint: run without --no-session".to_owned());
        };
        if !file.exists() {
            return Err(match session.leaf() {
                Some(_) => {
                    format!(
                        "the session file no longer exists: {}\nhint: `/dump` shows the conversation",
                        file.display()
                    )
                }
                None => "nothing to export: this session has no messages yet\nhint: send a message first".to_owned(),
            });
        }
        let (tools, system_prompt) = (session.tools(), session.system_prompt());
        let told = SystemContext { system_prompt: &system_prompt, tools: &tools };
        self.write(&file, to, Some(told), session.leaf())
    }

    /// Writes the page of a session file.
    pub fn write(
        &self,
        file: &Path,
        to: Option<&Path>,
        told: Option<SystemContext<'_>>,
        leaf: Option<EntryId>,
    ) -> Result<PathBuf, FolderProblem> {
        let to = to.map_or_else(|| default_path(file, &self.cwd), |to| self.cwd.join(to));
        let mut drawing: Vec<ToolSet> = told.iter().map(|told| told.tools.clone()).collect();
        drawing.extend(EDIT_LANGUAGES.map(|language| self.tools(language)));
        let blobs = BlobStore::new(&self.agent);
        let options = ExportOptions { blobs, drawing: &drawing, told, leaf, secrets: &self.secrets };
        export(file, &to, &options).map_err(|error| error.to_string())?;
        Ok(to)
    }

    /// Returns all tools regardless of the current settings, because the session may have used any of them.
    fn tools(&self, edit_language: &str) -> ToolSet {
        let others = self.env.iter().filter(|(name, _)| *name != vars::PI_EDIT_VARIANT.name);
        let toolbox = Toolbox {
            env: others.chain([(vars::PI_EDIT_VARIANT.name, edit_language)]).collect(),
            options: ToolOptions::read(&|key| key.ends_with(".enabled").then(|| true.into())),
            attended: true,
            ..Toolbox::uncontained(self.cwd.clone(), self.home.clone(), demo::model(Duration::ZERO).0)
        };
        ToolSet::new(toolbox.tools())
    }
}

impl PageWriter for Exporter {
    fn write_page(&self, session: &Session, to: Option<&Path>) -> Result<PathBuf, String> {
        self.export(session, to)
    }
}

//! The slash commands of a session, and what they need from the program.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_commands::{CommandPlace, ModelDirectory, ResolvedModel, SessionFolder, TrustReport, file_commands};
use omp_config::{ContextFile, Dirs, Settings, Skill, repository_root};
use omp_llm::{Registry, takes_service_tier};
use omp_session::SlashCommand;
use omp_tools::{FoldersResource, NamedFolder, Resource};
use omp_types::{Env, Model};
use tokio::sync::Mutex;

use crate::cli::{RunArgs, doctor};
use crate::folder::FolderSetup;
use crate::folder::settings_list::SETTINGS;
use crate::folder::trust;

/// The model registry that all sessions of the host share.
pub struct SharedModels(pub Arc<Mutex<Registry>>);

impl ModelDirectory for SharedModels {
    fn list_text(&self) -> BoxFuture<'_, String> {
        async move { self.0.lock().await.list_text(None) }.boxed()
    }

    fn resolve<'a>(&'a self, pattern: &'a str) -> BoxFuture<'a, Result<ResolvedModel, String>> {
        async move {
            let found = self.0.lock().await.resolve(pattern).map_err(|error| error.to_string())?;
            Ok(ResolvedModel { model: found.model, thinking: found.thinking })
        }
        .boxed()
    }

    fn forget_key<'a>(&'a self, provider: &'a str) -> BoxFuture<'a, ()> {
        async move { self.0.lock().await.auth().forget_key(provider) }.boxed()
    }

    fn takes_service_tier(&self, model: &Model) -> bool {
        takes_service_tier(model)
    }
}

/// The folder of a session, read again for every command that needs it.
pub struct FolderOnDisk {
    pub args: RunArgs,
    pub env: Env,
    pub dirs: Dirs,
    pub cwd: PathBuf,
}

impl FolderOnDisk {
    fn setup(&self) -> Result<FolderSetup, String> {
        FolderSetup::new(&RunArgs { cwd: Some(self.cwd.clone()), ..self.args.clone() }, &self.env)
    }
}

impl SessionFolder for FolderOnDisk {
    fn read_settings(&self) -> Result<Settings, String> {
        FolderSetup::settings(&self.dirs, &self.cwd, &self.args.config).map(|(settings, _)| settings)
    }

    fn read_trust(&self) -> Result<TrustReport, String> {
        let setup = self.setup()?;
        Ok(TrustReport { decision: setup.trust(), explained: trust::explained(&setup) })
    }

    fn context_files(&self) -> Result<Vec<ContextFile>, String> {
        Ok(self.setup()?.catalogue().context_files.clone())
    }

    fn examine(&self, local: bool) -> BoxFuture<'_, Result<String, String>> {
        async move { Ok(doctor::report(&self.setup()?, local).await.text()) }.boxed()
    }

    fn check_may_trust(&self) -> Result<(), String> {
        trust::refuse_children(&self.env)
    }
}

/// Returns the commands defined in files of the user and the project.
pub fn of_files(setup: &FolderSetup, models: Arc<dyn ModelDirectory>) -> Vec<Arc<dyn SlashCommand>> {
    let place = CommandPlace {
        cwd: setup.cwd.clone(),
        root: repository_root(&setup.cwd),
        env: setup.env.clone(),
        containment: setup.containment().clone(),
        shell: setup.settings.user("shellPath"),
        trust: setup.trust(),
        models,
    };
    let key = "skills.enableSkillCommands";
    let on = setup.settings.of(SETTINGS).user(key) && setup.settings.project(key) != Some(false);
    file_commands(setup.catalogue(), &Arc::new(place), on)
}

/// `skill://`: serves each skill's folder under the skill's name.
pub fn skills_resource(setup: &FolderSetup) -> Arc<dyn Resource> {
    let folder = |skill: &Skill| NamedFolder {
        name: skill.name.clone(),
        folder: skill.folder.clone(),
        main_file: "SKILL.md".to_owned(),
    };
    Arc::new(FoldersResource { scheme: "skill", folders: setup.catalogue().skills.iter().map(folder).collect() })
}

//! Decides which secrets a session hides: the credentials omp uses, those of the environment unless `secrets.environment` is
//! off, and with `secrets.enabled` those listed in `secrets.yml`.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use omp_config::{Item, ItemKind, ItemSource, Level, Provider, repository_root};
use omp_llm::Registry;
use omp_secrets::{FoundSecret, HidingWriter, SecretMode, Veil, VeilKey, load, merge, of_env};
use omp_tools::{ArtifactFile, Artifacts};

use crate::folder::FolderSetup;

/// The description of a key that came from a flag or a file.
const GIVEN: &str = "a key of models.yml or of a flag";
const FILE: &str = "secrets.yml";

/// Returns the veil of a session, and warnings about the files of secrets. An unrecorded session creates no key file, but
/// its placeholders are the same in every run, so that a recording of it can be replayed.
pub fn veil(setup: &FolderSetup, registry: &Registry, is_recorded: bool) -> (Arc<Veil>, Vec<String>) {
    let wanted = SecretSources { environment: is_environment_hidden(setup), files: is_enabled(setup) };
    let (found, mut warnings) = found(setup, registry, wanted);
    if found.is_empty() {
        return (Arc::default(), warnings);
    }
    let agent = &setup.dirs.agent;
    let (key, told) = if is_recorded { VeilKey::of_agent(agent) } else { VeilKey::without_writing(agent) };
    warnings.extend(told);
    let (veil, told) = Veil::new(key, found);
    warnings.extend(told);
    (Arc::new(veil), warnings)
}

/// Returns a veil that hides every possible secret regardless of the settings, for pages, dumps and logs that others read.
/// The session reports problems with the files.
pub fn redactor(setup: &FolderSetup, registry: &Registry) -> Arc<Veil> {
    let (found, _) = found(setup, registry, SecretSources { environment: true, files: true });
    Arc::new(Veil::new(VeilKey::random(), found).0)
}

/// Describes a key that the user enters while sessions run.
pub fn given(key: &str) -> Option<FoundSecret> {
    FoundSecret::held("a key given in this run", key)
}

/// Returns the project's list of secrets as an item that needs trust: it could hide text from the model or replace it.
/// Returns `None` if there is no list or lists are disabled.
pub fn project_list(setup: &FolderSetup) -> Option<Item> {
    let path = project_file(setup);
    if !is_enabled(setup) || !path.is_file() {
        return None;
    }
    let (listed, _) = load(&path);
    let replaced = listed.iter().filter(|found| matches!(found.entry.mode, SecretMode::Replace(_))).count();
    let does = format!("hides {} values from the model, {replaced} of them permanently", listed.len());
    let source = ItemSource { provider: Provider::Native, level: Level::Project, path };
    Some(Item::of_effect(ItemKind::Secrets, FILE, &source, &repository_root(&setup.cwd), vec![does]))
}

/// Removes secrets from the artifacts that tools store beside the session.
pub fn veiled(artifacts: Arc<dyn Artifacts>, veil: Arc<Veil>) -> Arc<dyn Artifacts> {
    Arc::new(VeiledArtifacts { artifacts, veil })
}

struct VeiledArtifacts {
    artifacts: Arc<dyn Artifacts>,
    veil: Arc<Veil>,
}

impl Artifacts for VeiledArtifacts {
    fn create(&self, tool: &str) -> io::Result<ArtifactFile> {
        let ArtifactFile { id, file } = self.artifacts.create(tool)?;
        Ok(ArtifactFile { id, file: Box::new(HidingWriter::new(file, self.veil.clone())) })
    }

    fn list(&self) -> io::Result<Vec<(u64, PathBuf)>> {
        self.artifacts.list()
    }

    fn folder(&self) -> Option<PathBuf> {
        self.artifacts.folder()
    }
}

/// Where to look for secrets, besides the credentials that omp holds.
#[derive(Clone, Copy)]
struct SecretSources {
    environment: bool,
    files: bool,
}

fn is_environment_hidden(setup: &FolderSetup) -> bool {
    setup.settings.of(omp_secrets::SETTINGS).get("secrets.environment")
}

fn is_enabled(setup: &FolderSetup) -> bool {
    setup.settings.of(omp_secrets::SETTINGS).get("secrets.enabled")
}

fn project_file(setup: &FolderSetup) -> PathBuf {
    setup.cwd.join(".omp").join(FILE)
}

fn found(setup: &FolderSetup, registry: &Registry, wanted: SecretSources) -> (Vec<FoundSecret>, Vec<String>) {
    let held = registry.secrets().iter().filter_map(|key| FoundSecret::held(GIVEN, key)).collect();
    let mut lists = vec![of_env(&setup.env, wanted.environment), held];
    let mut warnings = Vec::new();
    if wanted.files {
        let trusted = project_list(setup).filter(|list| setup.trust().may_run(list)).map(|list| list.path);
        for path in [Some(setup.dirs.agent.join(FILE)), trusted].into_iter().flatten() {
            let (listed, told) = load(&path);
            lists.push(listed);
            warnings.extend(told);
        }
    }
    (merge(lists), warnings)
}

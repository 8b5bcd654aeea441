//! Which secrets a session hides: the credentials omp works with, those of the environment unless `secrets.environment`
//! says otherwise, and with `secrets.enabled` what `secrets.yml` lists.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use omp_config::{Item, ItemKind, ItemSource, Level, Provider, repository_root};
use omp_llm::Registry;
use omp_secrets::{FoundSecret, HidingWriter, SecretMode, Veil, VeilKey, load, merge, of_env};
use omp_tools::{ArtifactFile, Artifacts};

use crate::folder::FolderSetup;

/// How a key is called that came by flag or by file.
const GIVEN: &str = "a key of models.yml or of a flag";
const FILE: &str = "secrets.yml";

/// The veil of a session, and what is wrong in the files of secrets. A session that is kept nowhere makes no key, but its
/// placeholders are the same in every run as well: a recording of it can be played again.
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

/// Knows everything that may be a secret, whatever the settings say: for pages, dumps and logs, which others read. What
/// is wrong with the files is told by the session.
pub fn redactor(setup: &FolderSetup, registry: &Registry) -> Arc<Veil> {
    let (found, _) = found(setup, registry, SecretSources { environment: true, files: true });
    Arc::new(Veil::new(VeilKey::random(), found).0)
}

/// A key that the user gives while sessions run.
pub fn given(key: &str) -> Option<FoundSecret> {
    FoundSecret::held("a key given in this run", key)
}

/// The project's list, which could hide from the model what it should see, or have it read another text: the user is
/// asked about it first. `None` where there is none, or where lists are not used.
pub fn project_list(setup: &FolderSetup) -> Option<Item> {
    let path = project_file(setup);
    if !is_enabled(setup) || !path.is_file() {
        return None;
    }
    let (listed, _) = load(&path);
    let replaced = listed.iter().filter(|found| matches!(found.entry.mode, SecretMode::Replace(_))).count();
    let does = format!("hides {} texts from the model, {replaced} of them for good", listed.len());
    let source = ItemSource { provider: Provider::Native, level: Level::Project, path };
    Some(Item::of_effect(ItemKind::Secrets, FILE, &source, &repository_root(&setup.cwd), vec![does]))
}

/// What tools keep beside the session, without secrets in it.
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

/// Where secrets are looked for, besides the credentials that omp holds.
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

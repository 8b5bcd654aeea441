//! Creates the hooks of a session from the files of the user and the project.

use std::sync::Arc;

use omp_config::{Declared, Item, ItemSource, Level, Provider, Settings, TrustDecision};
use omp_hooks::{Hook, HookSetup, HookTrust, Hooks, read};
use omp_session::{SessionHooks, StartSource, Wish};
use serde_json::{Value, json};

use crate::folder::FolderSetup;

/// Caps the hook warnings shown when a session starts, because a repository may contain any number of hooks.
const MOST_WARNINGS: usize = 20;

/// Returns the hooks as a session feature, if any may run.
pub fn sets(hooks: &Arc<Hooks>) -> Vec<Arc<dyn SessionHooks>> {
    if hooks.run_any() { vec![hooks.clone()] } else { Vec::new() }
}

/// Returns all hooks that were found, with warnings about faulty and untrusted ones.
pub fn hooks(setup: &FolderSetup) -> (Arc<Hooks>, Vec<String>) {
    let catalogue = setup.catalogue();
    let mut declared = catalogue.hooks.clone();
    declared.extend(of_overlays(&setup.settings));
    let found = read(&declared);
    let runner = HookSetup {
        env: setup.env.clone(),
        containment: setup.containment().clone(),
        trust: Arc::new(OfFolder(setup.trust())),
        disabled: setup.settings.of(omp_hooks::SETTINGS).user("disableAllHooks")
            || catalogue.settings.iter().any(is_disabled_for_claude),
    };
    let hooks = Arc::new(Hooks::new(found.hooks, runner));
    let warnings = found.warnings.into_iter().take(MOST_WARNINGS).chain(hooks.untrusted()).collect();
    (hooks, warnings)
}

/// Returns hooks of settings files named on the command line. They are trusted in any folder, because the user named the
/// file.
fn of_overlays(settings: &Settings) -> Vec<Declared> {
    let mut declared = Vec::new();
    for (path, hooks) in settings.overlays("hooks") {
        let Value::Object(events) = hooks else { continue };
        for (event, entries) in events {
            // Invalid values become empty objects, which are reported where hooks are parsed.
            let entries = if let Value::Array(entries) = entries { entries } else { vec![entries] };
            for (at, mut value) in entries.into_iter().enumerate() {
                if !value.is_object() {
                    value = json!({});
                }
                value["event"] = event.as_str().into();
                let source = ItemSource { provider: Provider::Native, level: Level::User, path: path.to_owned() };
                declared.push(Declared { name: format!("{event}:{at}:{}", path.display()), value, source });
            }
        }
    }
    declared
}

/// A repository's hooks are commands written by others, so they need trust.
#[derive(Debug)]
struct OfFolder(Arc<TrustDecision>);

impl HookTrust for OfFolder {
    fn may_run(&self, hook: &Hook) -> bool {
        let Hook { source, event, matcher, command, .. } = hook;
        self.0.may_run(&Item::hook(source, event.name(), matcher, command, self.0.root()))
    }
}

/// Whether the user disabled hooks in Claude Code's settings. A repository's setting is ignored, because it could disable
/// hooks that protect the user.
fn is_disabled_for_claude(settings: &Declared) -> bool {
    let is_users = settings.source.provider == Provider::Claude && settings.source.level == Level::User;
    is_users && settings.value.get("disableAllHooks") == Some(&Value::Bool(true))
}

/// Returns the source that hooks receive at the start of a session. `first`: the first session of this process.
pub fn source(wish: &Wish, first: bool) -> StartSource {
    match wish {
        Wish::New { .. } if first => StartSource::Startup,
        Wish::New { .. } => StartSource::Clear,
        _ => StartSource::Resume,
    }
}

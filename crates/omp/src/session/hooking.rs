//! The hooks of a session, from what was found in the user's and the project's files.

use std::sync::Arc;

use omp_config::{Declared, Item, ItemSource, Level, Provider, Settings, TrustDecision};
use omp_hooks::{Hook, HookSetup, HookTrust, Hooks, read};
use omp_session::{SessionHooks, StartSource, Wish};
use serde_json::{Value, json};

use crate::folder::FolderSetup;

/// Warnings about hooks that are told when a session starts; a repository may bring any number of them.
const MOST_WARNINGS: usize = 20;

/// Those that take part in the session, if any may run.
pub fn sets(hooks: &Arc<Hooks>) -> Vec<Arc<dyn SessionHooks>> {
    if hooks.run_any() { vec![hooks.clone()] } else { Vec::new() }
}

/// All that were found, with what is wrong with them and which are not trusted.
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

/// Hooks of settings files named on the command line. They are trusted wherever they lie: the user named the file.
fn of_overlays(settings: &Settings) -> Vec<Declared> {
    let mut declared = Vec::new();
    for (path, hooks) in settings.overlays("hooks") {
        let Value::Object(events) = hooks else { continue };
        for (event, entries) in events {
            // What is no list, or no object in one, is told as what it is where hooks are read.
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

/// A repository's hooks are other people's commands.
#[derive(Debug)]
struct OfFolder(Arc<TrustDecision>);

impl HookTrust for OfFolder {
    fn may_run(&self, hook: &Hook) -> bool {
        let Hook { source, event, matcher, command, .. } = hook;
        self.0.may_run(&Item::hook(source, event.name(), matcher, command, self.0.root()))
    }
}

/// The user's own word in Claude Code's settings. A repository's would switch off what guards the user.
fn is_disabled_for_claude(settings: &Declared) -> bool {
    let is_users = settings.source.provider == Provider::Claude && settings.source.level == Level::User;
    is_users && settings.value.get("disableAllHooks") == Some(&Value::Bool(true))
}

/// How hooks are told that a session began. `first`: of this run of the program.
pub fn source(wish: &Wish, first: bool) -> StartSource {
    match wish {
        Wish::New { .. } if first => StartSource::Startup,
        Wish::New { .. } => StartSource::Clear,
        _ => StartSource::Resume,
    }
}

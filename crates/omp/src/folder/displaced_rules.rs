//! Handles a project's rule that has the name of a rule of the user's or of omp's own. It applies only in a trusted folder;
//! otherwise a repository could disable the rules that watch the model.

use omp_config::{Item, ItemKind, Level, Provider, Rule, repository_root};
use omp_rules::{RuleSettings, builtin_rules};

use crate::folder::FolderSetup;

/// Returns the rules that apply here. A rule that comes with omp is replaced by a rule of the same name.
pub fn counting(setup: &FolderSetup) -> Vec<Rule> {
    let mut rules = setup.catalogue().rules.clone();
    let both = displacing(setup);
    if !both.is_empty() {
        let trust = setup.trust();
        for (rule, displaced) in both.into_iter().filter(|(rule, own)| !trust.may_run(&item(setup, rule, own))) {
            if let Some(place) = rules.iter_mut().find(|known| known.source == rule.source) {
                *place = displaced;
            }
        }
    }
    let own = builtin_rules().into_iter().filter(|own| rules.iter().all(|rule| rule.name != own.name));
    rules.extend(own.collect::<Vec<_>>());
    rules
}

/// Returns the items that need the user's approval.
pub fn items(setup: &FolderSetup) -> Vec<Item> {
    displacing(setup).iter().map(|(rule, displaced)| item(setup, rule, displaced)).collect()
}

/// Returns each rule of the project with the rule that it replaces.
fn displacing(setup: &FolderSetup) -> Vec<(Rule, Rule)> {
    let catalogue = setup.catalogue();
    let own = if RuleSettings::read(&setup.settings).builtin { builtin_rules() } else { Vec::new() };
    let of_project = catalogue.rules.iter().filter(|rule| rule.source.level == Level::Project);
    let with_other = of_project.filter_map(|rule| {
        let displaced = catalogue.displaced_rules.iter().chain(&own).find(|other| other.name == rule.name)?;
        Some((rule.clone(), displaced.clone()))
    });
    with_other.collect()
}

fn item(setup: &FolderSetup, rule: &Rule, displaced: &Rule) -> Item {
    let whose = match displaced.source.provider {
        Provider::Builtin => format!("omp's own rule {}", displaced.name),
        _ => format!("your rule {}", displaced.source.path.display()),
    };
    let does = vec![format!("replaces {whose}")];
    Item::of_effect(ItemKind::Rule, &rule.name, &rule.source, &repository_root(&setup.cwd), does)
}

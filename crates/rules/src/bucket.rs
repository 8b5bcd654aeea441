//! Sorts rules: watched on the stream, included in the prompt in full, or listed by name.

use std::collections::HashSet;
use std::sync::Arc;

use omp_config::{Level, Provider, Rule};

use crate::condition::Condition;
use crate::gate::FileGate;
use crate::scope::{Scope, glob};
use crate::settings::{InterruptMode, RuleSettings};
use crate::watch::{Watch, WatchedRule};

/// Limit on watched rules.
const MAX_WATCHED: usize = 1000;
/// Limit on conditions per rule.
const MAX_CONDITIONS: usize = 64;
/// Memory limit for all compiled conditions in bytes, because a repository may contain any number.
const MAX_SIZE: usize = 16 << 20;

#[derive(Clone, Debug, Default)]
pub struct Buckets {
    /// Watched on the stream; the model does not see them until it breaks one.
    pub ttsr: Arc<Watch>,
    /// Included in the prompt in full.
    pub always: Vec<Rule>,
    /// Named in the prompt and readable through `rule://`.
    pub rulebook: Vec<Rule>,
    /// Messages for the user.
    pub warnings: Vec<String>,
}

impl Buckets {
    /// Returns the rules readable through `rule://`: name and text.
    pub fn readable(&self) -> Vec<(String, String)> {
        self.rulebook.iter().chain(&self.always).map(|rule| (rule.name.clone(), rule.content.clone())).collect()
    }
}

/// Each rule goes into at most one bucket. Of rules with the same name the first counts.
pub fn bucket(rules: &[Rule], settings: &RuleSettings) -> Buckets {
    let mut buckets = Buckets::default();
    let mut watched = Watched::default();
    let mut seen = HashSet::new();
    for rule in rules.iter().filter(|rule| is_wanted(rule, settings)) {
        if !seen.insert(rule.name.as_str()) {
            continue;
        }
        let has_condition = !rule.condition.is_empty() || !rule.ast_condition.is_empty();
        if has_condition && settings.enabled {
            let (is_watched, told) = watched.add(rule);
            let about = |why: String| format!("rule `{}` ({}): {why}", rule.name, rule.source.path.display());
            buckets.warnings.extend(told.into_iter().map(about));
            if is_watched {
                continue;
            }
        }
        if rule.always_apply {
            buckets.always.push(rule.clone());
        } else if rule.description.as_ref().is_some_and(|description| !description.is_empty()) {
            buckets.rulebook.push(rule.clone());
        }
    }
    buckets.ttsr = Arc::new(Watch::new(watched.entries));
    buckets
}

/// The watched rules, and their size.
#[derive(Default)]
struct Watched {
    entries: Vec<WatchedRule>,
    size: usize,
}

impl Watched {
    /// Returns whether the rule is watched, and warnings about it.
    fn add(&mut self, rule: &Rule) -> (bool, Vec<String>) {
        let (entry, mut warnings) = entry(rule);
        let Some(entry) = entry else { return (false, warnings) };
        let size = self.size + entry.conditions.iter().map(|condition| condition.size).sum::<usize>();
        if self.entries.len() >= MAX_WATCHED {
            warnings.push(format!("it is ignored, because {MAX_WATCHED} rules are already active"));
            return (false, warnings);
        }
        if size > MAX_SIZE {
            warnings.push(
                "it is ignored: the conditions of all rules together are too large\nhint: use smaller repetitions, such as `x{1,20}` instead of `x{1,2000}`"
                    .to_owned(),
            );
            return (false, warnings);
        }
        self.size = size;
        self.entries.push(entry);
        (true, warnings)
    }
}

fn is_wanted(rule: &Rule, settings: &RuleSettings) -> bool {
    let named = |names: &[String]| names.iter().any(|name| name.trim() == rule.name);
    let is_builtin = rule.source.provider == Provider::Builtin;
    let is_projects = rule.source.level == Level::Project;
    !(named(&settings.disabled)
        || (is_projects && named(&settings.disabled_by_project))
        || (is_builtin && !settings.builtin))
}

/// Returns `None` if nothing of the rule can be watched, and warnings about the rule.
fn entry(rule: &Rule) -> (Option<WatchedRule>, Vec<String>) {
    let mut warnings = Vec::new();
    if rule.condition.len().max(rule.ast_condition.len()) > MAX_CONDITIONS {
        warnings.push(format!("only the first {MAX_CONDITIONS} of its conditions are used"));
    }
    let mut conditions = Vec::new();
    for pattern in rule.condition.iter().take(MAX_CONDITIONS) {
        match Condition::new(pattern) {
            Ok(condition) => conditions.push(condition),
            Err(why) => warnings.push(format!("condition `{pattern}` is ignored: {why}")),
        }
    }
    let patterns = rule.ast_condition.iter().take(MAX_CONDITIONS).map(|pattern| pattern.trim().to_owned());
    let structure: Vec<String> = patterns.filter(|pattern| !pattern.is_empty()).collect();
    if conditions.is_empty() && structure.is_empty() {
        return (None, warnings);
    }
    let (scope, told) = Scope::new(&rule.scope);
    warnings.extend(told);
    if !scope.is_reachable() {
        warnings.push("its scope excludes every stream, so it never fires".to_owned());
        return (None, warnings);
    }
    let interrupt = rule.interrupt_mode.as_deref().and_then(|name| {
        let mode = InterruptMode::from_name(name);
        if mode.is_none() {
            warnings.push(format!("unknown interruptMode `{name}`\nhint: use never, prose-only, tool-only or always"));
        }
        mode
    });
    let (gate, told) = gate(&rule.globs);
    warnings.extend(told);
    let watched = WatchedRule { rule: Arc::new(rule.clone()), conditions, structure, scope, gate, interrupt };
    (Some(watched), warnings)
}

/// Returns a warning for each invalid pattern.
fn gate(patterns: &[String]) -> (Option<FileGate>, Vec<String>) {
    let (mut globs, mut warnings) = (Vec::new(), Vec::new());
    let mut any = false;
    for pattern in patterns.iter().filter(|pattern| !pattern.trim().is_empty()) {
        any = true;
        match glob(pattern) {
            Ok(glob) => globs.push(glob),
            Err(why) => warnings.push(format!("{why}; it is ignored")),
        }
    }
    (any.then(|| FileGate::new(globs)), warnings)
}

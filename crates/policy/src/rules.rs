//! All rules together: deny beats ask beats allow, and allow rules have to cover every effect of the call.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use omp_agent::Effect;
use omp_config::Settings;
use omp_shell::Forbids;
use omp_types::AccessMap;
use serde_json::Value;

use crate::paths::RulePlaces;
use crate::rule::{ApprovalRule, RuleLevel, RuleSource};
use crate::settings::POLICY_SETTINGS;

/// More rules than this are a mistake.
const MOST: usize = 2000;

/// The user's and the project's rules on what calls do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApprovalRules {
    list: Vec<ApprovalRule>,
    places: RulePlaces,
    /// The access map that restricts the calls, whatever they do.
    map: Option<Arc<AccessMap>>,
}

/// A line of the settings that is not a valid rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleProblem {
    /// The problem and its reason, with a `hint:`.
    pub told: String,
    /// Whether ignoring the rule would allow more than the user wanted.
    pub loosens: bool,
}

/// The result of the rules for a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ruling<'a> {
    Deny(&'a ApprovalRule),
    Ask(&'a ApprovalRule),
    /// Whether the rule applies to the call is not known before it runs.
    Unclear(&'a ApprovalRule),
    /// Each effect is covered by one of these.
    Allow(Vec<&'a ApprovalRule>),
    Silent,
}

impl ApprovalRules {
    pub fn new(places: RulePlaces) -> Self {
        Self { list: Vec::new(), places, map: None }
    }

    /// Sets the access map under which calls run: a call cannot break a rule about what the map denies.
    #[must_use]
    pub fn within(mut self, map: Arc<AccessMap>) -> Self {
        self.map = Some(map);
        self
    }

    /// A project's rules can deny and ask; only the user's rules can allow.
    pub fn from_settings(settings: &Settings, places: RulePlaces) -> (Self, Vec<RuleProblem>) {
        let mut rules = Self::new(places);
        let mut problems = Vec::new();
        for level in [RuleLevel::Deny, RuleLevel::Ask, RuleLevel::Allow] {
            let users = settings.of(POLICY_SETTINGS).user::<Vec<Value>>(level.key());
            let projects = match level {
                RuleLevel::Allow => None,
                _ => settings.project::<Vec<Value>>(level.key()),
            };
            let lines = users.iter().map(|line| (RuleSource::User, line));
            for (source, line) in lines.chain(projects.iter().flatten().map(|line| (RuleSource::Project, line))) {
                let no_text = || "it is not a string\nhint: put it in quotes".to_owned();
                let added = line.as_str().ok_or_else(no_text).and_then(|line| rules.add(level, source, line));
                if let Err(problem) = added {
                    let loosens = level > RuleLevel::Allow && source == RuleSource::User;
                    let told = format!("{line} in `{}` is not a valid rule: {problem}", level.key());
                    problems.push(RuleProblem { told, loosens });
                }
            }
        }
        (rules, problems)
    }

    pub fn add(&mut self, level: RuleLevel, source: RuleSource, text: &str) -> Result<(), String> {
        let rule = ApprovalRule::parse(level, source, text, &self.places)?;
        if self.list.contains(&rule) {
            return Ok(());
        }
        if self.list.len() >= MOST {
            return Err(format!("there are already {MOST} rules"));
        }
        self.list.push(rule);
        Ok(())
    }

    /// Removes every rule with this text.
    pub fn remove(&mut self, level: RuleLevel, text: &str) -> bool {
        let before = self.list.len();
        self.list.retain(|rule| !(rule.level == level && rule.text == text && rule.source != RuleSource::Project));
        self.list.len() < before
    }

    pub fn iter(&self) -> impl Iterator<Item = &ApprovalRule> {
        self.list.iter()
    }

    pub fn places(&self) -> &RulePlaces {
        &self.places
    }

    pub(crate) fn ruling(&self, tool: &str, effects: &[Effect]) -> Ruling<'_> {
        let deny = self.speaks(RuleLevel::Deny, tool, effects);
        if let Some((rule, true)) = deny {
            return Ruling::Deny(rule);
        }
        let ask = self.speaks(RuleLevel::Ask, tool, effects);
        if let Some((rule, true)) = ask {
            return Ruling::Ask(rule);
        }
        if let Some((rule, _)) = deny.or(ask) {
            return Ruling::Unclear(rule);
        }
        match self.covered(tool, effects) {
            Some(rules) => Ruling::Allow(rules),
            None => Ruling::Silent,
        }
    }

    /// The rule of a level that applies to the call, and whether that is certain.
    pub(super) fn speaks(&self, level: RuleLevel, tool: &str, effects: &[Effect]) -> Option<(&ApprovalRule, bool)> {
        let mut perhaps = None;
        let behind_links = self.behind_links(effects);
        for rule in self.list.iter().filter(|rule| rule.level == level) {
            if rule.names(tool) {
                return Some((rule, true));
            }
            for effect in effects.iter().chain(&behind_links) {
                match rule.forbids(effect) {
                    // Whatever the call does, the map prevents it from breaking this rule.
                    Forbids::Perhaps if matches!(effect, Effect::Unknown(_)) && self.is_out_of_reach(rule) => {}
                    Forbids::Yes => return Some((rule, true)),
                    Forbids::Perhaps => perhaps = perhaps.or(Some((rule, false))),
                    Forbids::No => {}
                }
            }
        }
        perhaps
    }

    fn is_out_of_reach(&self, rule: &ApprovalRule) -> bool {
        self.map.as_deref().is_some_and(|map| rule.is_out_of_reach(map))
    }

    /// The real programs behind links: a link to `rm` counts as `rm`.
    fn behind_links(&self, effects: &[Effect]) -> Vec<Effect> {
        let real = |effect: &Effect| {
            let Effect::Run { words, whole } = effect else { return None };
            let typed = words.first().filter(|typed| typed.contains('/'))?;
            let real = self.places.folder().join(typed).canonicalize().ok()?;
            let is_other = real.file_name() != Path::new(typed).file_name();
            let mut words = words.clone();
            words[0] = real.to_str().filter(|_| is_other)?.to_owned();
            Some(Effect::Run { words, whole: *whole })
        };
        effects.iter().filter_map(real).collect()
    }

    /// The allow rules that together cover the whole call. Reading is allowed in every mode and needs none.
    pub(super) fn covered(&self, tool: &str, effects: &[Effect]) -> Option<Vec<&ApprovalRule>> {
        let allows = || self.list.iter().filter(|rule| rule.level == RuleLevel::Allow);
        if let Some(rule) = allows().find(|rule| rule.names(tool)) {
            return Some(vec![rule]);
        }
        let meant = self.meant(effects);
        let mut by: Vec<&ApprovalRule> = Vec::new();
        for effect in effects {
            match allows().find(|rule| rule.allows(tool, effect)) {
                Some(rule) if by.contains(&rule) => {}
                Some(rule) => by.push(rule),
                None if is_free(effect) || only_starts(effect, effects) => {}
                None if matches!(effect, Effect::Write(path) if meant.contains(path)) => {}
                None => return None,
            }
        }
        (!by.is_empty()).then_some(by)
    }

    /// Files in the workspace written by a program whose purpose is to write them: a rule that allows `cp` includes this.
    /// Files elsewhere, and files that only an option writes (`sort -o`), need a rule of their own.
    pub(crate) fn meant(&self, effects: &[Effect]) -> BTreeSet<PathBuf> {
        let mut files = BTreeSet::new();
        for effect in effects {
            if let Effect::Run { words, whole: true } = effect {
                files.extend(self.written_by(words));
            }
        }
        files.retain(|file| file.starts_with(&self.places.workspace));
        files
    }

    fn written_by(&self, words: &[String]) -> Vec<PathBuf> {
        let command = omp_shell::ShellCommand::of(words.iter().map(String::as_str));
        let mut files = Vec::new();
        for written in command.written().iter().filter(|written| written.meant) {
            let folder = lexical(&self.places.folder().join(&written.path.text));
            files.extend(written.inside.iter().map(|name| folder.join(&name.text)));
            files.push(folder);
        }
        files
    }

    /// Whether an allow rule names the command, not only the tool.
    pub(crate) fn names_command(&self, effect: &Effect) -> bool {
        self.list.iter().any(|rule| rule.level == RuleLevel::Allow && rule.names_command(effect))
    }

    /// Whether an allow rule already covers the effect.
    pub(crate) fn covers(&self, tool: &str, effect: &Effect) -> bool {
        let mut allows = self.list.iter().filter(|rule| rule.level == RuleLevel::Allow);
        allows.any(|rule| rule.allows(tool, effect))
    }
}

/// Reading, and effects that containment asks about by itself.
pub(super) fn is_free(effect: &Effect) -> bool {
    matches!(effect, Effect::Read(_) | Effect::Follow { .. } | Effect::Use(_))
}

/// The path with `.` and `..` resolved lexically.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// Whether the effect only starts another command of the same call, without giving it more rights.
fn only_starts(effect: &Effect, all: &[Effect]) -> bool {
    let Effect::Run { words, whole: true } = effect else { return false };
    let starts = |other: &Effect| match other {
        Effect::Run { words: inner, .. } => !inner.is_empty() && inner.len() < words.len() && words.ends_with(inner),
        _ => false,
    };
    let is_plain = words.first().is_some_and(|program| omp_shell::only_starts(program));
    is_plain && all.iter().any(starts)
}

#[cfg(test)]
mod tests;

//! Decides about a call: asks the policy for a verdict, puts the question to the user if needed, writes rules for "always",
//! and records the decision.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use omp_agent::{Approval, Effect, Outcome, PlannedCall, Tier};
use omp_policy::{
    ApprovalMode, DecidedBy, EditedRules, Policy, RuleLevel, RuleOffer, RulePlaces, RuleScope, RuleSource, Verdict,
    VerdictKind, offers,
};
use omp_stdx::sanitize::on_one_line;
use omp_stdx::truncate::rows_shown;
use omp_store::Custom;
use omp_types::{Access, ToolCall};
use omp_view::View;
use serde::Serialize;
use serde_json::Value;

use crate::access::{Loans, Wishes};
use crate::call_files::CallFiles;
use crate::control::Control;
use crate::desk::{Answer, QuestionKind};
use crate::event::SessionEvent;
use crate::features::{HookPermission, PERMISSION};
use crate::plan;
use crate::refused::Asked;
use crate::secrets;

/// Type of the session file entries that record decisions about calls.
pub const DECISION_ENTRY: &str = "approval_decision";
/// Decisions kept in memory; the oldest is dropped. The session file has all of them.
const MOST_DECISIONS: usize = 500;
/// Lines that describe the effects of a call.
const MOST_LINES: usize = 100;
const LONGEST_LINE: usize = 1000;

/// Decisions about a call that do not come from the policy.
#[derive(Clone, Copy, Default)]
pub(crate) struct Permission<'a> {
    pub hook: Option<&'a HookPermission>,
    /// Why the running command wants the user to be asked.
    pub asked: Option<&'a str>,
}

/// Stores the rules that the user wants to keep permanently.
pub trait RuleKeeper: Send + Sync {
    /// An error is a sentence for the user.
    fn keep(&self, level: RuleLevel, rule: &str) -> Result<(), String>;

    /// Stores a rule that allows calls in this project only, outside of the project.
    fn keep_here(&self, rule: &str) -> Result<(), String>;

    /// Returns `false` if the rule does not exist.
    fn forget(&self, level: RuleLevel, rule: &str) -> Result<bool, String>;

    /// Adds a value to a list in the user's settings, which applies to every session from now on.
    fn keep_listed(&self, setting: &'static str, value: &str) -> Result<(), String>;
}

/// What the user should know before approving a call.
#[derive(Clone, Debug, Default)]
pub struct CallDetails {
    /// Where the tool comes from, unless it is built into omp.
    pub origin: Option<&'static str>,
    pub effects: Vec<Effect>,
    /// The effects in words, one per line, in the same order. A line more says how many are left out.
    pub lines: Vec<String>,
    /// The effects that need access which is not open. The reason begins with them.
    pub denied: Vec<Effect>,
    /// The command line that the call runs.
    pub command: Option<String>,
    /// The files that the call names, as full paths.
    pub files: Vec<PathBuf>,
    /// The change that the call would make, if the tool can show it.
    pub preview: Option<View>,
    /// Rules that "always" can add, the narrowest first.
    pub offers: Vec<RuleOffer>,
    /// `None` if the offers are not rules that could be edited.
    pub edited: Option<EditedRules>,
}

impl CallDetails {
    /// Whether the user can edit the rules that "always" adds.
    pub fn can_be_edited(&self) -> bool {
        self.edited.is_some() && !self.offers.is_empty()
    }

    /// Whether a rule can be kept for this project only: access that containment opens is opened everywhere.
    pub fn has_project_scope(&self) -> bool {
        self.edited.is_some()
    }

    /// The answers that add rules, with their texts.
    pub fn answers_with_rules(&self) -> Vec<(String, Answer)> {
        let answer = |words: &str, level: RuleLevel, scope: RuleScope, offer: &RuleOffer| {
            (format!("{words}: {}", offer.text()), Answer::Always { level, rules: offer.rules.clone(), scope })
        };
        let allow = |words: &'static str, scope: RuleScope| {
            self.offers.iter().map(move |offer| answer(words, RuleLevel::Allow, scope, offer))
        };
        let denied = self.offers.first().map(|offer| answer("Always deny", RuleLevel::Deny, RuleScope::User, offer));
        let here = allow("Always allow in this project", RuleScope::Project).filter(|_| self.has_project_scope());
        let for_now = allow("Allow for this session", RuleScope::Session);
        allow("Always allow", RuleScope::User).chain(denied).chain(for_now).chain(here).collect()
    }

    /// Checks that rules written by the user parse and cover the call; an error says what is wrong with them.
    pub fn check_edited(&self, rules: &[String]) -> Result<(), String> {
        match &self.edited {
            Some(edited) => edited.check(rules),
            None => Err("the rules of this request cannot be changed".to_owned()),
        }
    }
}

/// What was decided about a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decided {
    pub call_id: String,
    pub tool: String,
    pub effects: Vec<String>,
    /// `run`, `ask` or `deny`
    pub verdict: &'static str,
    /// The rule, setting or mode that decided.
    pub by: String,
    /// The answer of the user, if the user was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    pub ran: bool,
}

/// The decisions of this run, and the store for rules.
pub(crate) struct Approvals {
    pub keeper: Option<Arc<dyn RuleKeeper>>,
    /// What calls may touch.
    pub access: Access,
    pub decided: VecDeque<Decided>,
    /// What calls that were approved read and write.
    pub files: CallFiles,
}

impl Approvals {
    pub fn new(keeper: Option<Arc<dyn RuleKeeper>>, access: Access) -> Self {
        Self { keeper, access, decided: VecDeque::new(), files: CallFiles::default() }
    }
}

/// Decides whether a call runs. If not, returns the text for the model. Access that the user granted for this call is added
/// to its loans.
pub(crate) async fn decide(
    control: &Arc<Control>,
    planned: &PlannedCall<'_>,
    permission: Permission<'_>,
    loans: &mut Loans,
) -> Result<(), String> {
    let (call, approval) = (planned.call(), planned.approval());
    let access = control.approvals().access.clone();
    let mut wishes = Wishes::of(access.clone(), &approval.effects);
    wishes.home = control.policy().rules.places().home.clone();
    wishes.is_critical = approval.force_prompt;
    let verdict = wishes.verdict(judged(control, call, approval, permission, &access));
    let lines = effect_lines(&approval.effects, planned.arguments(), control.policy().rules.places());
    let lines = secrets::hide_lines(&control.veil, lines);
    let mut answer = None;
    let decision = match &verdict.kind {
        VerdictKind::Run => Ok(()),
        VerdictKind::Deny { reason } => Err(format!("`{}` was not run: {reason}.", call.name)),
        // Access that is denied must not be probed.
        VerdictKind::Ask { .. }
            if wishes.is_empty()
                && let Some(error) = planned.foreseen_error() =>
        {
            return Err(error.to_string());
        }
        VerdictKind::Ask { reason } if !control.attended => {
            answer = Some("nobody to ask".to_owned());
            let policy = control.policy().clone();
            let asked = Asked {
                policy: &policy,
                plans: control.plans(),
                verdict: &verdict,
                reason: reason.as_deref(),
                wishes: &wishes,
                offers: &secrets::without_secrets(&control.veil, offers(&policy, &call.name, approval)),
            };
            let refused = asked.refused(&call.name, &lines);
            let told = Err(refused.for_model());
            control.outlet.send(SessionEvent::Refused(refused)).await;
            told
        }
        VerdictKind::Ask { reason } => {
            let details = details(control, planned, &wishes, lines.clone());
            let kind = QuestionKind::Approve {
                call_id: call.id.clone(),
                tool: call.name.clone(),
                arguments: planned.arguments().clone(),
                reason: reason.as_deref().map(|reason| on_one_line(reason).into_owned()),
                details: Arc::new(details),
            };
            let message = format!("omp needs your permission to use {}", call.name);
            let said = control.asked_aloud(PERMISSION, &message, control.desk.put(kind)).await;
            answer = Some(answer_text(said.as_ref()));
            let decision = obey(control, said, &wishes);
            if decision.is_ok() && !wishes.is_empty() {
                loans.insert(call.id.clone(), wishes.lend(&call.id));
            }
            decision
        }
    };
    let by_mode = matches!(verdict.by, DecidedBy::Mode(_));
    // Every mode allows reading, so there is no decision to record: the call entry is enough.
    if approval.tier > Tier::Read || !by_mode || verdict.kind != VerdictKind::Run {
        let ran = decision.is_ok();
        let (call_id, tool) = (call.id.clone(), call.name.clone());
        let (verdict, by) = (verdict.kind.as_str(), verdict.by.to_string());
        log(control, Decided { call_id, tool, effects: lines, verdict, by, answer, ran });
    }
    decision
}

fn details(control: &Control, planned: &PlannedCall<'_>, wishes: &Wishes, lines: Vec<String>) -> CallDetails {
    let (call, approval, preview) = (planned.call(), planned.approval(), planned.preview());
    let view = control.tools().view(&call.name, planned.arguments(), Outcome::Running);
    let policy = control.policy();
    let named = view.iter().chain(&preview).flat_map(|view| &view.files);
    CallDetails {
        origin: call.name.starts_with("mcp__").then_some("MCP server tool"),
        effects: approval.effects.clone(),
        lines,
        denied: wishes.denied(&approval.effects),
        files: named.map(|file| full_path(&file.path, policy.rules.places().folder())).collect(),
        command: view.and_then(|view| view.command),
        preview,
        offers: match wishes.is_empty() {
            true => secrets::without_secrets(&control.veil, offers(&policy, &call.name, approval)),
            false => wishes.offers(),
        },
        edited: wishes.is_empty().then(|| EditedRules::of(&policy, &call.name, approval)),
    }
}

/// Computes the access map on a blocking thread, because it may have to wait for a slow disk.
pub(crate) async fn access_made(control: &Control) {
    let access = control.approvals().access.clone();
    if !access.is_made() {
        // If computing the map fails, the resulting map allows nothing.
        let _ = tokio::task::spawn_blocking(move || access.map()).await;
    }
}

/// Applies the permission of a hook: a hook may require a question, or skip one that only the mode would ask.
fn judged(
    control: &Control,
    call: &ToolCall,
    approval: &Approval,
    permission: Permission<'_>,
    access: &Access,
) -> Verdict {
    let mut policy = control.policy().clone();
    if approval.is_contained {
        policy.rules = policy.rules.within(access.map());
    }
    let verdict = |policy: &Policy| {
        let verdict = match control.plans() {
            true => plan::verdict(policy, &call.name, approval),
            false => policy.verdict(&call.name, approval),
        };
        secrets::verdict(&control.veil, call, approval, verdict)
    };
    let usual = verdict(&policy);
    if let Some(reason) = permission.asked.filter(|_| usual.kind == VerdictKind::Run) {
        return Verdict::ask(Some(reason.to_owned()), DecidedBy::Command);
    }
    match permission.hook {
        Some(HookPermission::Ask { reason }) if usual.kind == VerdictKind::Run => {
            Verdict::ask(Some(reason.clone()), DecidedBy::Hook)
        }
        Some(HookPermission::Allow) if usual.kind != VerdictKind::Run && !approval.force_prompt => {
            let spared = verdict(&Policy { mode: ApprovalMode::Auto, ..policy });
            if spared.kind == VerdictKind::Run { Verdict::run(DecidedBy::Hook) } else { spared }
        }
        _ => usual,
    }
}

/// Records that a call was refused by something other than the policy.
pub(crate) fn refused(control: &Control, call: &ToolCall, by: &DecidedBy) {
    log(
        control,
        Decided {
            call_id: call.id.clone(),
            tool: call.name.clone(),
            effects: Vec::new(),
            verdict: "deny",
            by: by.to_string(),
            answer: None,
            ran: false,
        },
    );
}

/// How the text about a refused call begins.
const REFUSED: &str = "The user refused this call";

/// Returns what the user said, if `told` is what the model is told about a call that the user refused.
pub fn words_of_refusal(told: &str) -> Option<&str> {
    match told.strip_prefix(REFUSED)? {
        "." => Some(""),
        rest => rest.strip_prefix(" and said: ").or_else(|| rest.strip_prefix(", ")),
    }
}

fn obey(control: &Control, answer: Option<Answer>, wishes: &Wishes) -> Result<(), String> {
    let refused = |words: &str| Err(format!("{REFUSED} and said: {words}"));
    match answer {
        Some(Answer::Yes) => Ok(()),
        Some(Answer::Text(text)) => refused(&text),
        Some(Answer::Choices(choices)) => refused(&choices.join(", ")),
        Some(Answer::Always { level, rules, scope }) => {
            if !wishes.keep(control, level, &rules, scope) {
                for problem in rules.iter().filter_map(|rule| add_rule(control, level, rule, scope).err()) {
                    control.tell(problem);
                }
            }
            match level {
                RuleLevel::Allow => Ok(()),
                _ => Err(format!("{REFUSED}, now and always: {}", rules.join(", "))),
            }
        }
        Some(Answer::No) | None => Err(format!("{REFUSED}.")),
    }
}

/// Adds a rule, effective immediately. If it cannot be stored, it still applies to this session and the error says so.
pub(crate) fn add_rule(control: &Control, level: RuleLevel, rule: &str, scope: RuleScope) -> Result<(), String> {
    let no_rule = |problem: String| format!("`{rule}` is not a valid rule: {problem}");
    // Check that the rule parses before it is written.
    control.policy().rules.clone().add(level, RuleSource::User, rule).map_err(no_rule)?;
    let keeper = control.approvals().keeper.clone();
    let none = || Err("rules are not saved here".to_owned());
    let (kept, source) = match scope {
        RuleScope::Session => (Ok(()), RuleSource::Session),
        RuleScope::Project => (keeper.map_or_else(none, |keeper| keeper.keep_here(rule)), RuleSource::UserHere),
        RuleScope::User => (keeper.map_or_else(none, |keeper| keeper.keep(level, rule)), RuleSource::User),
    };
    let source = if kept.is_ok() { source } else { RuleSource::Session };
    control.policy().rules.add(level, source, rule).map_err(no_rule)?;
    kept.map_err(|problem| format!("the rule `{rule}` applies to this session only: {problem}"))
}

pub(crate) fn remove_rule(control: &Control, level: RuleLevel, rule: &str) -> Result<(), String> {
    let theirs = |known: &omp_policy::ApprovalRule| {
        known.level == level && known.text == rule && known.source == RuleSource::Project
    };
    if control.policy().rules.iter().any(theirs) {
        return Err(format!("`{rule}` is the project's rule\nhint: remove it from the project's .omp/config.yml"));
    }
    let keeper = control.approvals().keeper.clone();
    let forgotten = keeper.map_or(Ok(false), |keeper| keeper.forget(level, rule))?;
    match control.policy().rules.remove(level, rule) || forgotten {
        true => Ok(()),
        false => Err(format!("no such rule: `{} {rule}`\nhint: /permissions lists the rules", level.as_str())),
    }
}

fn answer_text(answer: Option<&Answer>) -> String {
    match answer {
        Some(Answer::Yes) => "yes".to_owned(),
        Some(Answer::No) => "no".to_owned(),
        Some(Answer::Text(text)) => format!("no: {}", shortened(text)),
        Some(Answer::Choices(choices)) => format!("no: {}", shortened(&choices.join(", "))),
        Some(Answer::Always { level, rules, scope }) => {
            let scope = match scope {
                RuleScope::Session => "for this session",
                RuleScope::Project => "always in this project",
                RuleScope::User => "always",
            };
            format!("{scope} {}: {}", level.as_str(), shortened(&rules.join(", ")))
        }
        None => "dismissed".to_owned(),
    }
}

fn log(control: &Control, decided: Decided) {
    if let Ok(data) = serde_json::to_value(&decided) {
        let entry = Custom { custom_type: DECISION_ENTRY.to_owned(), data: Some(data) };
        // If this cannot be written, the entry of the call cannot be written either, and that ends the run.
        drop(control.recorder().note(entry));
    }
    let mut approvals = control.approvals();
    if approvals.decided.len() >= MOST_DECISIONS {
        approvals.decided.pop_front();
    }
    approvals.decided.push_back(decided);
}

/// Describes the effects of a call, one line each. If a path was typed differently, the typed form comes before the real
/// path.
fn effect_lines(effects: &[Effect], arguments: &Value, places: &RulePlaces) -> Vec<String> {
    let typed = ["path", "file_path", "notebook_path"].iter().find_map(|name| arguments.get(name)?.as_str());
    let paths = effects.iter().filter(|effect| matches!(effect, Effect::Read(_) | Effect::Write(_))).count();
    let typed = typed.filter(|_| paths == 1);
    let shown = rows_shown(effects.len(), MOST_LINES);
    let mut lines: Vec<String> =
        effects.iter().take(shown).map(|effect| shortened(&on_one_line(&effect_line(effect, typed, places)))).collect();
    if effects.len() > shown {
        lines.push(format!("… and {} more", effects.len() - shown));
    }
    lines
}

fn effect_line(effect: &Effect, typed: Option<&str>, places: &RulePlaces) -> String {
    let place = |path: &Path| {
        let shown = path.strip_prefix(&places.workspace).unwrap_or(path).display().to_string();
        match typed.filter(|typed| !is_same(typed, path, places.folder())) {
            Some(typed) => format!("{typed} -> {}", path.display()),
            None => shown,
        }
    };
    match effect {
        Effect::Run { words, whole } => {
            let words: Vec<String> = words.iter().map(|word| omp_shell::quoted(word)).collect();
            format!("runs: {}{}", words.join(" "), if *whole { "" } else { " … (not all of it is known)" })
        }
        Effect::Read(path) => format!("reads: {}", place(path)),
        Effect::Write(path) => format!("writes: {}", place(path)),
        Effect::Connect { host } => format!("connects to: {host}"),
        Effect::Follow { link, to } => format!("follows the link: {} -> {}", link.display(), to.display()),
        Effect::Use(service) => format!("uses: {service}"),
        Effect::Unknown(what) => what.clone(),
    }
}

/// Whether the typed path means `real`. A selector after a colon is not part of the path.
fn is_same(typed: &str, real: &Path, folder: &Path) -> bool {
    let joined = |typed: &str| full_path(typed, folder) == real;
    joined(typed) || typed.match_indices(':').any(|(at, _)| joined(&typed[..at]))
}

fn full_path(typed: &str, folder: &Path) -> PathBuf {
    folder.join(typed.trim().trim_start_matches("./"))
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_LINE) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

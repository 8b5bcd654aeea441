//! The hooks of a session: selects those for an event, runs them concurrently and combines their answers.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use omp_config::Level;
use omp_contain::Containment;
use omp_session::{HookPermission, HookPoint, HookReply, HookScene, SessionHooks};
use omp_types::{Env, vars};
use serde_json::Value;

use crate::answer::{self, HookAnswer};
use crate::background::{self, Background};
use crate::condition;
use crate::event::HookEvent;
use crate::input::{self, HookInput};
use crate::read::Hook;
use crate::run::{self, HookMachine, Where};
use crate::shapes;

/// Maximum hooks that run concurrently; the others wait.
const AT_ONCE: usize = 16;
/// Maximum characters of the command that names a hook for the user.
const LONGEST_NAME: usize = 60;

/// Whether a hook of a project may run, with its current text and the current files it names.
pub trait HookTrust: fmt::Debug + Send + Sync {
    fn may_run(&self, hook: &Hook) -> bool;
}

/// All hooks of the user and of the project.
#[derive(Clone, Debug)]
pub struct Hooks {
    hooks: Vec<Hook>,
    machine: HookMachine,
    trust: Arc<dyn HookTrust>,
    /// For each hook, whether the user was already notified that it does not run, or need not be.
    is_told: Arc<[AtomicBool]>,
    /// The user has disabled all hooks.
    disabled: bool,
    background: Arc<Background>,
}

/// The inputs of [`Hooks`].
#[derive(Clone, Debug)]
pub struct HookSetup {
    pub env: Env,
    pub containment: Containment,
    pub trust: Arc<dyn HookTrust>,
    /// `disableAllHooks`
    pub disabled: bool,
}

impl Hooks {
    pub fn new(hooks: Vec<Hook>, runner: HookSetup) -> Self {
        let HookSetup { env, containment, trust, disabled } = runner;
        let mut hooks = Self {
            hooks,
            machine: HookMachine::new(env, containment),
            trust,
            is_told: Arc::default(),
            disabled,
            background: Arc::default(),
        };
        // Hooks that are not trusted at the start are reported when the session begins.
        hooks.is_told = hooks.hooks.iter().map(|hook| AtomicBool::new(!hooks.trusts(hook))).collect();
        hooks
    }

    /// Whether any hook can run.
    pub fn run_any(&self) -> bool {
        !self.disabled && self.hooks.iter().any(|hook| self.trusts(hook))
    }

    /// Checked right before a hook runs, because its files may have changed since the session began.
    fn trusts(&self, hook: &Hook) -> bool {
        hook.source.level == Level::User || self.trust.may_run(hook)
    }

    /// A sentence for the user about hooks that are ignored because they are not trusted.
    pub fn untrusted(&self) -> Option<String> {
        let left: Vec<&Hook> = self.hooks.iter().filter(|hook| !self.disabled && !self.trusts(hook)).collect();
        let first = left.first()?;
        let named: Vec<String> =
            left.iter().take(5).map(|hook| format!("{} `{}`", hook.event.name(), short(&hook.command))).collect();
        let more = left.len().saturating_sub(named.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Some(format!(
            "hooks of this project were not run, because they are not trusted: {}{more} ({})\nhint: /hooks lists them",
            named.join(", "),
            first.source.path.display()
        ))
    }

    /// Lists every hook with its source and whether it runs.
    pub fn listing(&self) -> String {
        if self.hooks.is_empty() {
            return "no hooks are set up\nhint: see docs/hooks.md".to_owned();
        }
        let mut lines = Vec::new();
        if self.disabled {
            lines.push("no hook runs: `disableAllHooks` is on".to_owned());
        }
        if self.machine.containment.access().is_some() {
            lines.push("hooks run in the sandbox like the session's commands".to_owned());
        }
        for hook in &self.hooks {
            let whose = match (hook.source.level, self.trusts(hook)) {
                (Level::User, _) => "yours",
                (Level::Project, true) => "the project's, trusted",
                (Level::Project, false) => "the project's, not trusted: does not run",
            };
            let matcher = if hook.matcher.is_empty() { "*" } else { &hook.matcher };
            let (event, seconds) = (hook.event.name(), hook.timeout.as_secs_f64());
            let mut later =
                if hook.event == HookEvent::SubagentStop { ", once there are sub-agents" } else { "" }.to_owned();
            later.extend(hook.condition.iter().map(|rule| format!(" if {rule}")));
            let beside = if hook.in_background { "in the background; " } else { "" };
            lines.push(format!(
                "{event} {matcher}{later}: {}\n  {whose}; {beside}{seconds} s; {}",
                hook.command.trim(),
                hook.source.path.display()
            ));
        }
        lines.join("\n")
    }

    async fn tell(&self, scene: &HookScene, point: &HookPoint<'_>) -> HookReply {
        let wanted = |event: HookEvent| self.hooks.iter().any(|hook| hook.event == event);
        let is_prompt = matches!(point, HookPoint::Prompt { .. });
        let mut answers = if is_prompt { self.background.take() } else { Vec::new() };
        if self.disabled || !wanted(HookEvent::of(point)) {
            return settled(answers);
        }
        let told = input::told(scene, point);
        let (chosen, changed) = self.chosen(&told, Path::new(&scene.cwd));
        answers.push(HookAnswer { notices: changed, ..HookAnswer::default() });
        let mut inputs = told.inputs;
        let too_many = if chosen.is_empty() { 0 } else { inputs.len().saturating_sub(shapes::MOST_FILES) };
        inputs.truncate(shapes::MOST_FILES);
        let pairs = inputs.iter().flat_map(|input| chosen.iter().map(move |hook| (hook, input)));
        let runs: Vec<(&ChosenHook<'_>, &Value)> = pairs.filter(|(chosen, input)| self.is_for(chosen, input)).collect();
        let (beside, waited): (Vec<_>, Vec<_>) = runs.into_iter().partition(|(chosen, _)| chosen.hook.in_background);
        answers.extend(beside.into_iter().filter_map(|(hook, input)| self.start_beside(hook, input)));
        for some in waited.chunks(AT_ONCE) {
            let started = some.iter().map(|(hook, input)| self.one(hook, input, point));
            answers.extend(join_all(started).await);
        }
        if too_many > 0 && told.event == HookEvent::PreToolUse {
            let reason =
                format!("hooks received only the first {} files; {too_many} more are affected", shapes::MOST_FILES);
            answers.push(HookAnswer { permission: Some(HookPermission::Ask { reason }), ..HookAnswer::default() });
        }
        settled(answers)
    }

    /// The hooks for an event, each command once, and notices about those that are no longer trusted.
    fn chosen<'a>(&'a self, told: &HookInput<'_>, cwd: &Path) -> (Vec<ChosenHook<'a>>, Vec<String>) {
        let mut chosen: Vec<ChosenHook<'_>> = Vec::new();
        let mut changed = Vec::new();
        for (hook, is_told) in self.hooks.iter().zip(&*self.is_told) {
            if hook.event != told.event || !hook.matches.fits(&told.names) {
                continue;
            }
            let project = hook.project.clone().unwrap_or_else(|| cwd.to_owned());
            if chosen.iter().any(|known| is_same(known, hook, &project)) {
                continue;
            }
            if self.trusts(hook) {
                let place = Where { cwd: cwd.to_owned(), project, plugin: hook.plugin.clone() };
                chosen.push(ChosenHook { hook, place });
            } else if !is_told.swap(true, Ordering::Relaxed) {
                changed.push(no_longer_trusted(hook));
            }
        }
        (chosen, changed)
    }

    fn is_for(&self, chosen: &ChosenHook<'_>, input: &Value) -> bool {
        let home = self.machine.env.get(vars::HOME).map(Path::new);
        chosen.hook.condition.as_deref().is_none_or(|rule| condition::fits(rule, input, &chosen.place.cwd, home))
    }

    /// Starts a background hook. Returns an answer with the reason if that is not possible.
    fn start_beside(&self, chosen: &ChosenHook<'_>, input: &Value) -> Option<HookAnswer> {
        let (machine, hook, place) = (self.machine.clone(), chosen.hook.clone(), chosen.place.clone());
        let input = input.clone();
        let is_started = self.background.start(async move { answered(&machine, &hook, &place, &input).await });
        let text = || {
            let (name, most) = (name_of(chosen.hook), background::MOST);
            format!("{name} was not run: {most} hooks already run in the background\nhint: give it a shorter `timeout`")
        };
        (!is_started).then(|| HookAnswer { notices: vec![text()], ..HookAnswer::default() })
    }

    async fn one(&self, chosen: &ChosenHook<'_>, input: &Value, point: &HookPoint<'_>) -> HookAnswer {
        let mut answer = answered(&self.machine, chosen.hook, &chosen.place, input).await;
        // Converted to our format now, while the hook's input is known.
        if let (HookPoint::BeforeCall { call }, Some(updated)) = (point, answer.updated.take()) {
            let ours = Value::Object(call.arguments.clone());
            match shapes::amended(&call.name, &ours, &input["tool_input"], &updated) {
                Ok(changed) => answer.updated = Some(changed).filter(|changed| *changed != ours),
                Err(why) => {
                    let name = name_of(chosen.hook);
                    answer.blocked = Some(format!("{name} made the call invalid: {why}"))
                }
            }
        }
        answer
    }
}

/// Runs the hook and parses its answer.
async fn answered(machine: &HookMachine, hook: &Hook, place: &Where, input: &Value) -> HookAnswer {
    let name = name_of(hook);
    let bytes = format!("{input}\n").into_bytes();
    match run::run(machine, place, &hook.command, hook.timeout, &bytes).await {
        Ok(ran) => answer::read(hook.event, &name, &ran, hook.timeout.as_secs_f64()),
        Err(why) => HookAnswer { notices: vec![format!("{name} could not be run: {why}")], ..HookAnswer::default() },
    }
}

/// The name of the hook shown to the user.
fn name_of(hook: &Hook) -> String {
    format!("the {} hook `{}`", hook.event.name(), short(&hook.command))
}

/// Whether two hooks would run the same for a call, so that only one of them runs. A hook with less time or a narrower
/// condition does not replace another: a project's hook could replace the user's guard.
fn is_same(known: &ChosenHook<'_>, hook: &Hook, project: &Path) -> bool {
    let (one, other) = (known.hook, hook);
    let key = |hook: &Hook| (hook.timeout, hook.condition.clone(), hook.in_background, hook.plugin.clone());
    one.command == other.command && known.place.project == project && key(one) == key(other)
}

struct ChosenHook<'a> {
    hook: &'a Hook,
    place: Where,
}

fn no_longer_trusted(hook: &Hook) -> String {
    format!(
        "the {} hook `{}` was not run: it, or a file that it runs, has changed since it was trusted\nhint: `omp trust explain` shows it, `omp trust add` allows it",
        hook.event.name(),
        short(&hook.command)
    )
}

/// Combines the answers. If two hooks want different arguments, the call is blocked.
fn settled(answers: Vec<HookAnswer>) -> HookReply {
    let (mut reply, mut updated) = answer::together(answers);
    updated.dedup();
    if updated.len() > 1 && reply.blocked.is_none() {
        reply.blocked = Some("two hooks changed its arguments in different ways".to_owned());
    }
    reply.amended = updated.pop();
    reply
}

fn short(command: &str) -> String {
    let line = command.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(LONGEST_NAME) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

impl SessionHooks for Hooks {
    fn fire<'a>(&'a self, scene: &'a HookScene, point: HookPoint<'a>) -> BoxFuture<'a, HookReply> {
        async move { self.tell(scene, &point).await }.boxed()
    }

    fn wants(&self, point: &HookPoint<'_>) -> bool {
        let (event, names) = (HookEvent::of(point), input::names(point));
        !self.disabled && self.hooks.iter().any(|hook| hook.event == event && hook.matches.fits(&names))
    }

    fn named(&self, point: &HookPoint<'_>) -> String {
        let event = HookEvent::of(point);
        let hooks = self.hooks.iter().filter(|hook| hook.event == event && self.trusts(hook));
        let commands: Vec<String> = hooks.take(3).map(|hook| format!("`{}`", short(&hook.command))).collect();
        format!("hooks of {}: {}", event.name(), commands.join(", "))
    }
}

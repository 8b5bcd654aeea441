//! The hooks of a session: which of them an event is for, all of them at once, their answers together.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, join_all};
use omp_config::Level;
use omp_contain::Containment;
use omp_session::{HookPermission, HookPoint, HookReply, HookScene, SessionHooks};
use omp_types::Env;
use serde_json::Value;

use crate::answer::{self, Answer};
use crate::event::Event;
use crate::input::{self, Told};
use crate::read::Hook;
use crate::run::{self, Machine, Where};
use crate::shapes;

/// Hooks that run side by side; the others wait for them.
const AT_ONCE: usize = 16;
/// Characters of a command by which the user knows a hook.
const LONGEST_NAME: usize = 60;

/// Whether a hook that a project brings along may run, as it and the files it names are now.
pub trait HookTrust: fmt::Debug + Send + Sync {
    fn may_run(&self, hook: &Hook) -> bool;
}

/// All hooks there are, of the user and of the project.
#[derive(Clone, Debug)]
pub struct Hooks {
    hooks: Vec<Hook>,
    machine: Machine,
    trust: Arc<dyn HookTrust>,
    /// For each hook: whether nobody need be told that it does not run, or has been.
    is_told: Arc<[AtomicBool]>,
    /// The user wants none of them to run.
    disabled: bool,
}

/// With what hooks are run.
#[derive(Clone, Debug)]
pub struct Runner {
    pub env: Env,
    pub containment: Containment,
    pub trust: Arc<dyn HookTrust>,
    /// `disableAllHooks`
    pub disabled: bool,
}

impl Hooks {
    pub fn new(hooks: Vec<Hook>, runner: Runner) -> Self {
        let Runner { env, containment, trust, disabled } = runner;
        let mut hooks =
            Self { hooks, machine: Machine::new(env, containment), trust, is_told: Arc::default(), disabled };
        // What is not trusted from the start is told when the session begins.
        hooks.is_told = hooks.hooks.iter().map(|hook| AtomicBool::new(!hooks.trusts(hook))).collect();
        hooks
    }

    /// Whether any would ever run.
    pub fn run_any(&self) -> bool {
        !self.disabled && self.hooks.iter().any(|hook| self.trusts(hook))
    }

    /// Asked right before a hook runs: what it runs may have been changed since the session began.
    fn trusts(&self, hook: &Hook) -> bool {
        hook.source.level == Level::User || self.trust.may_run(hook)
    }

    /// Which are left out because they are not trusted, as a sentence for the user.
    pub fn untrusted(&self) -> Option<String> {
        let left: Vec<&Hook> = self.hooks.iter().filter(|hook| !self.disabled && !self.trusts(hook)).collect();
        let first = left.first()?;
        let named: Vec<String> =
            left.iter().take(5).map(|hook| format!("{} `{}`", hook.event.name(), short(&hook.command))).collect();
        let more = left.len().saturating_sub(named.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Some(format!(
            "hooks of this project were not run, because it is not trusted: {}{more} ({})\nhint: /hooks lists them",
            named.join(", "),
            first.source.path.display()
        ))
    }

    /// Every hook with where it comes from and whether it runs.
    pub fn listing(&self) -> String {
        if self.hooks.is_empty() {
            return "no hooks are set up\nhint: docs/hooks.md tells how".to_owned();
        }
        let mut lines = Vec::new();
        if self.disabled {
            lines.push("no hook runs: `disableAllHooks` is on".to_owned());
        }
        if self.machine.containment.access().is_some() {
            lines.push("hooks are contained like the session's commands".to_owned());
        }
        for hook in &self.hooks {
            let whose = match (hook.source.level, self.trusts(hook)) {
                (Level::User, _) => "yours",
                (Level::Project, true) => "the project's, trusted",
                (Level::Project, false) => "the project's, not trusted: does not run",
            };
            let matcher = if hook.matcher.is_empty() { "*" } else { &hook.matcher };
            let (event, seconds) = (hook.event.name(), hook.timeout.as_secs_f64());
            let later = if hook.event == Event::SubagentStop { ", once there are sub-agents" } else { "" };
            lines.push(format!(
                "{event} {matcher}{later}: {}\n  {whose}; {seconds} s; {}",
                hook.command.trim(),
                hook.source.path.display()
            ));
        }
        lines.join("\n")
    }

    async fn tell(&self, scene: &HookScene, point: &HookPoint<'_>) -> HookReply {
        let wanted = |event: Event| self.hooks.iter().any(|hook| hook.event == event);
        if self.disabled || !wanted(Event::of(point)) {
            return HookReply::default();
        }
        let told = input::told(scene, point);
        let (chosen, changed) = self.chosen(&told, Path::new(&scene.cwd));
        if chosen.is_empty() {
            return HookReply { notices: changed, ..HookReply::default() };
        }
        let mut inputs = told.inputs;
        let too_many = inputs.len().saturating_sub(shapes::MOST_FILES);
        inputs.truncate(shapes::MOST_FILES);
        let mut answers = vec![Answer { notices: changed, ..Answer::default() }];
        let runs: Vec<(&Chosen<'_>, &Value)> =
            inputs.iter().flat_map(|input| chosen.iter().map(move |hook| (hook, input))).collect();
        for some in runs.chunks(AT_ONCE) {
            let started = some.iter().map(|(hook, input)| self.one(hook, input, told.event, scene, point));
            answers.extend(join_all(started).await);
        }
        if too_many > 0 && told.event == Event::PreToolUse {
            let reason =
                format!("hooks were told of the first {} files only; {too_many} more are touched", shapes::MOST_FILES);
            answers.push(Answer { permission: Some(HookPermission::Ask { reason }), ..Answer::default() });
        }
        settled(answers)
    }

    /// The hooks an event is for, each command once, and what is to be told of those that are no longer trusted.
    fn chosen<'a>(&'a self, told: &Told<'_>, cwd: &Path) -> (Vec<Chosen<'a>>, Vec<String>) {
        let mut chosen: Vec<Chosen<'_>> = Vec::new();
        let mut changed = Vec::new();
        for (hook, is_told) in self.hooks.iter().zip(&*self.is_told) {
            if hook.event != told.event || !hook.matches.fits(&told.names) {
                continue;
            }
            let project = hook.project.clone().unwrap_or_else(|| cwd.to_owned());
            if chosen.iter().any(|known| known.hook.command == hook.command && known.project == project) {
                continue;
            }
            if self.trusts(hook) {
                chosen.push(Chosen { hook, project });
            } else if !is_told.swap(true, Ordering::Relaxed) {
                changed.push(no_longer_trusted(hook));
            }
        }
        (chosen, changed)
    }

    async fn one(
        &self,
        chosen: &Chosen<'_>,
        input: &Value,
        event: Event,
        scene: &HookScene,
        point: &HookPoint<'_>,
    ) -> Answer {
        let hook = chosen.hook;
        let name = format!("the {} hook `{}`", event.name(), short(&hook.command));
        let place = Where { cwd: Path::new(&scene.cwd), project: chosen.project.clone() };
        let bytes = format!("{input}\n").into_bytes();
        let mut answer = match run::run(&self.machine, &place, &hook.command, hook.timeout, &bytes).await {
            Ok(ran) => answer::read(event, &name, &ran, hook.timeout.as_secs_f64()),
            Err(why) => Answer { notices: vec![format!("{name} could not be run: {why}")], ..Answer::default() },
        };
        // Into our shape at once, while it is known what the hook was told.
        if let (HookPoint::BeforeCall { call }, Some(updated)) = (point, answer.updated.take()) {
            let ours = Value::Object(call.arguments.clone());
            match shapes::amended(&call.name, &ours, &input["tool_input"], &updated) {
                Ok(changed) => answer.updated = Some(changed).filter(|changed| *changed != ours),
                Err(why) => {
                    answer.blocked = Some(format!("{name} changed the call in a way that cannot be carried out: {why}"))
                }
            }
        }
        answer
    }
}

struct Chosen<'a> {
    hook: &'a Hook,
    project: PathBuf,
}

fn no_longer_trusted(hook: &Hook) -> String {
    format!(
        "the {} hook `{}` was not run: it, or a file that it runs, has changed since it was trusted\nhint: `omp trust explain` shows it, `omp trust add` allows it",
        hook.event.name(),
        short(&hook.command)
    )
}

/// Two hooks that want different arguments cannot both be obeyed.
fn settled(answers: Vec<Answer>) -> HookReply {
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
        let (event, names) = (Event::of(point), input::names(point));
        !self.disabled && self.hooks.iter().any(|hook| hook.event == event && hook.matches.fits(&names))
    }

    fn named(&self, point: &HookPoint<'_>) -> String {
        let event = Event::of(point);
        let hooks = self.hooks.iter().filter(|hook| hook.event == event && self.trusts(hook));
        let commands: Vec<String> = hooks.take(3).map(|hook| format!("`{}`", short(&hook.command))).collect();
        format!("hooks of {}: {}", event.name(), commands.join(", "))
    }
}

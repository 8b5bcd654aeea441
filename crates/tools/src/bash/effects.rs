//! Determines the effects of a call before it runs: the commands it starts, the files it writes, and what is unknown.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use omp_agent::{Approval, Effect, Planned, Tier};
use omp_exec::{Containment, Rung};
use omp_shell::{Danger, Redirect, RedirectKind, Severity, ShellCommand, ShellScript, ShellWord, Stand, WrittenPlace};
use omp_types::{Access, ContainMode, NetworkMode};
use omp_workspace::real_location;

use super::BashParams;
use super::command::{TypedLine, leading_cd};
use crate::files::Files;

/// Functions and aliases that earlier commands defined in the shell, which persists between calls.
#[derive(Default)]
pub(super) struct LeftInShell {
    names: Mutex<BTreeSet<String>>,
}

impl LeftInShell {
    pub(super) fn note(&self, defined: &[String]) {
        const MOST: usize = 1_000;
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MOST.saturating_sub(names.len());
        names.extend(defined.iter().take(room).cloned());
    }

    fn is_among<'a>(&self, mut words: impl Iterator<Item = &'a ShellWord>) -> Option<String> {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        words.find(|word| names.contains(&word.text)).map(|word| word.text.clone())
    }
}

/// The state of the tool that determines the effects of a call.
pub(super) struct EffectContext<'a> {
    pub files: &'a Files,
    /// The current folder of the shell.
    pub shell_folder: &'a Path,
    pub left: &'a LeftInShell,
    pub containment: &'a Containment,
    /// Whether containment enforces the map; it does not for commands in an editor's terminal.
    pub is_contained: bool,
}

/// A parsed command line with the data used to judge it.
pub struct CommandPlan {
    pub(super) params: BashParams,
    pub(super) line: TypedLine,
    /// Functions and aliases that the command defines.
    pub(super) defined: Vec<String>,
    /// All paths that the command is known to write.
    pub(super) writes: Vec<WrittenPath>,
}

/// `params` have the command that runs, `line` says how it differs from the typed one.
pub(super) fn plan(params: BashParams, line: TypedLine, setting: &EffectContext<'_>) -> Planned<CommandPlan> {
    let EffectContext { files, shell_folder, left, containment, .. } = *setting;
    let script = omp_shell::read(&params.command);
    let critical = script.critical(|danger| is_harmless(danger, containment));
    let mut effects = commands(&script);
    let folders = Folders::of(&params, files, shell_folder, &script);
    let opened = script.commands.iter().enumerate();
    let redirected: Vec<Effect> = opened.clone().flat_map(|(at, command)| folders.redirected(at, command)).collect();
    let written: Vec<Effect> = opened.flat_map(|(at, command)| folders.written(at, command)).collect();
    let writes = writes(&redirected, &written, &params, &folders.shell);
    effects.extend(redirected);
    effects.extend(written);
    effects.extend(through_new_links(&script, &folders));
    effects.extend(asked_for(&params, &folders.shell));
    effects.extend(services(&params, containment));
    effects.extend(script.unknown.iter().map(|what| unknown(what)));
    effects.extend(environment(&params));
    let programs = script.commands.iter().filter_map(|command| command.words.first());
    let shadowed = left.is_among(programs);
    effects.extend(shadowed.map(|name| unknown(&format!("what `{name}` is: an earlier command defined it"))));
    let mut seen = BTreeSet::new();
    effects.retain(|effect| seen.insert(format!("{effect:?}")));
    let approval = Approval {
        force_prompt: critical.is_some_and(|found| found.severity == Severity::Critical),
        reason: critical.map(|found| found.reason.to_owned()),
        effects,
        is_contained: setting.is_contained,
        is_fully_contained: setting.is_contained && containment.rung() == Some(Rung::Full),
        ..Tier::Exec.into()
    };
    Planned::new(approval, CommandPlan { params, line, defined: script.defined.into_iter().collect(), writes })
}

/// A file that is written, or a folder that is written in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WrittenPath {
    pub path: PathBuf,
    pub is_folder: bool,
    /// A program creates, changes or deletes the path. Otherwise the shell needs it to exist, or the call asked for it.
    pub by_program: bool,
}

fn writes(redirected: &[Effect], written: &[Effect], params: &BashParams, shell: &BaseFolder<'_>) -> Vec<WrittenPath> {
    let effects = redirected.iter().map(|effect| (effect, false)).chain(written.iter().map(|effect| (effect, true)));
    let known = effects.filter_map(|(effect, by_program)| match effect {
        Effect::Write(path) => Some(WrittenPath { path: path.clone(), is_folder: false, by_program }),
        _ => None,
    });
    let asked = params.write.iter().filter_map(|typed| shell.named(typed).map(|path| (path, typed)));
    let asked = asked.map(|(path, typed)| WrittenPath { path, is_folder: typed.ends_with('/'), by_program: false });
    known.chain(asked).collect()
}

fn asked_for(params: &BashParams, folder: &BaseFolder<'_>) -> Vec<Effect> {
    let effect = |typed: &String| match folder.named(typed) {
        Some(path) => Effect::Write(path),
        None => may_write(typed),
    };
    // Reading a path that is not hidden needs no approval.
    let read = params.read.iter().filter_map(|typed| folder.named(typed)).map(Effect::Read);
    params.write.iter().map(effect).chain(read).collect()
}

/// Returns the requested services that are closed.
fn services(params: &BashParams, containment: &Containment) -> Vec<Effect> {
    let Some(map) = containment.access().map(Access::map) else { return Vec::new() };
    let closed = params.sockets.iter().filter(|name| map.service(name).is_some_and(|service| map.is_closed(service)));
    closed.cloned().map(Effect::Use).collect()
}

/// Whether containment protects what the command endangers. Lower rungs leave gaps.
fn is_harmless(danger: Danger, containment: &Containment) -> bool {
    let Some(map) = containment.access().map(Access::map).filter(|_| containment.rung() == Some(Rung::Full)) else {
        return false;
    };
    match danger {
        Danger::Machine => true,
        Danger::Everything => map.mode == ContainMode::ReadOnly,
        Danger::Network => map.network == NetworkMode::Off,
        Danger::Processes | Danger::Work => false,
    }
}

/// Returns all commands: the ones at the end of a long line are judged like the first. The parser has its own limit.
fn commands(script: &ShellScript) -> Vec<Effect> {
    let started = script.commands.iter().filter(|command| !command.words.is_empty());
    let run = |command: &ShellCommand| Effect::Run {
        words: command.words.iter().map(shown).collect(),
        whole: command.is_whole(),
    };
    started.map(run).collect()
}

/// Marks an unknown word, because `X` of `xargs -I X git X` looks like any other word.
fn shown(word: &ShellWord) -> String {
    let shows = word.known || word.text.contains(['$', '`', '*', '?', '[', '{', '~', '(', '…']);
    if shows { word.text.clone() } else { format!("{}…", word.text) }
}

fn environment(params: &BashParams) -> Option<Effect> {
    let is_risky = |name: &str, value: &str| {
        omp_shell::changes_what_runs(name) || value.contains("$(") || value.contains("${") || value.contains('`')
    };
    let variables = params.env.iter().flatten();
    let (name, _) = variables.into_iter().find(|(name, value)| is_risky(name, value))?;
    Some(unknown(&format!("what the variable `{name}` changes")))
}

/// Whether the target is a standard stream or a device that stores nothing.
fn is_stream(target: &str) -> bool {
    const DEVICES: [&str; 9] = ["stdin", "stdout", "stderr", "tty", "null", "zero", "full", "random", "urandom"];
    let device = target.strip_prefix("/dev/");
    let descriptor = target.strip_prefix("/proc/self/fd/").or_else(|| target.strip_prefix("/dev/fd/"));
    device.is_some_and(|device| DEVICES.contains(&device))
        || descriptor.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The working folders of a script's commands.
struct Folders<'a> {
    /// The shell's folder, which the script does not change.
    shell: BaseFolder<'a>,
    /// The folder in which the script starts.
    start: BaseFolder<'a>,
    stands: Vec<Stand>,
}

impl<'a> Folders<'a> {
    fn of(params: &BashParams, files: &'a Files, shell_folder: &Path, script: &ShellScript) -> Self {
        let own = params.cwd.as_deref().map(|cwd| files.resolve(cwd).ok().map(|path| path.absolute));
        let begins = BaseFolder { files, path: own.unwrap_or_else(|| Some(shell_folder.to_owned())) };
        let led = leading_cd(&params.command).map(|(folder, _)| begins.step(&folder, folder.starts_with('~')));
        let is_led = led.is_some();
        let start = led.unwrap_or(begins);
        let shell = BaseFolder { files, path: start.path.clone().filter(|_| !script.moves(is_led)) };
        Self { shell, start, stands: script.stands(is_led) }
    }

    fn at(&self, steps: Option<&Vec<ShellWord>>) -> BaseFolder<'a> {
        let lost = BaseFolder { files: self.start.files, path: None };
        let step = |folder: BaseFolder<'a>, word: &ShellWord| match word.known {
            true => folder.step(&word.text, word.home),
            false => BaseFolder { path: None, ..folder },
        };
        steps.map_or(lost, |steps| steps.iter().fold(self.start.clone(), step))
    }

    /// Effects of the files that the shell opens for the command.
    fn redirected(&self, at: usize, command: &ShellCommand) -> Vec<Effect> {
        let folder = self.at(self.stands.get(at).and_then(|stand| stand.redirects.as_ref()));
        command.redirects.iter().filter_map(|redirect| folder.effect(redirect)).collect()
    }

    /// Effects of the files that the command itself is known to write.
    fn written(&self, at: usize, command: &ShellCommand) -> Vec<Effect> {
        let folder = self.at(self.stands.get(at).and_then(|stand| stand.own.as_ref()));
        command.written().iter().flat_map(|written| folder.writes(written)).collect()
    }
}

/// The folder that relative targets are resolved against.
#[derive(Clone)]
struct BaseFolder<'a> {
    files: &'a Files,
    /// `None` if the folder is unknown.
    path: Option<PathBuf>,
}

impl BaseFolder<'_> {
    fn step(&self, to: &str, is_home: bool) -> Self {
        let path = match is_home {
            true => self.files.resolve(to).ok().map(|path| path.absolute),
            false if Path::new(to).is_absolute() => Some(PathBuf::from(to)),
            false => self.path.as_ref().map(|path| path.join(to)),
        };
        Self { path, files: self.files }
    }

    fn effect(&self, redirect: &Redirect) -> Option<Effect> {
        let Redirect { kind, target, .. } = redirect;
        if matches!(kind, RedirectKind::Descriptor | RedirectKind::Text) || keeps_nothing(target) {
            return None;
        }
        if let Some(host) = target.text.strip_prefix("/dev/tcp/").or_else(|| target.text.strip_prefix("/dev/udp/")) {
            let host = host.split('/').next().unwrap_or_default();
            return Some(Effect::Connect { host: host.to_owned() });
        }
        if target.known && is_stream(&target.text) {
            return None;
        }
        // The commands inside a process substitution report their own effects.
        if !target.known && matches!(target.text.as_str(), "<(…)" | ">(…)") {
            return None;
        }
        if *kind != RedirectKind::Read {
            return Some(self.write(target));
        }
        let unknown = || Effect::Unknown(format!("may read: `{}`", target.text));
        Some(self.locate(target).map_or_else(unknown, Effect::Read))
    }

    fn write(&self, target: &ShellWord) -> Effect {
        self.locate(target).map_or_else(|| may_write(&target.text), Effect::Write)
    }

    /// If the path is a folder, the files in it are written, otherwise the path itself.
    fn writes(&self, written: &WrittenPlace) -> Vec<Effect> {
        if keeps_nothing(&written.path) {
            return Vec::new();
        }
        let folder = self.locate(&written.path).filter(|path| path.is_dir());
        match folder.filter(|_| !written.inside.is_empty()) {
            Some(folder) => {
                let file = |name: &ShellWord| Effect::Write(real(&folder.join(&name.text)));
                written.inside.iter().map(file).collect()
            }
            None => vec![self.write(&written.path)],
        }
    }

    /// Resolves a path of the argument `write`, without shell expansion.
    fn named(&self, typed: &str) -> Option<PathBuf> {
        let typed = typed.trim();
        let absolute = match typed.starts_with('~') || Path::new(typed).is_absolute() {
            true => self.files.resolve(typed).ok()?.absolute,
            false => self.path.as_ref().filter(|_| !typed.is_empty())?.join(typed),
        };
        Some(real(&absolute))
    }

    fn locate(&self, target: &ShellWord) -> Option<PathBuf> {
        if !target.known {
            return None;
        }
        let absolute = if target.home {
            self.files.resolve(&target.text).ok()?.absolute
        } else if Path::new(&target.text).is_absolute() {
            PathBuf::from(&target.text)
        } else {
            self.path.as_ref()?.join(&target.text)
        };
        Some(real(&absolute))
    }
}

/// Detects writes through links that the same command line creates, because their targets cannot be resolved before it runs.
fn through_new_links(script: &ShellScript, folders: &Folders<'_>) -> Option<Effect> {
    let makes_links = |command: &ShellCommand| {
        matches!(command.program(), Some("ln" | "gln" | "link"))
            || (matches!(command.program(), Some("cp" | "gcp"))
                && command
                    .words
                    .iter()
                    .any(|word| matches!(word.text.as_str(), "-s" | "-l" | "--symbolic-link" | "--link")))
    };
    let commands = script.commands.iter().enumerate();
    let (makers, others): (Vec<_>, Vec<_>) = commands.partition(|(_, command)| makes_links(command));
    let links: Vec<PathBuf> = makers
        .into_iter()
        .flat_map(|(at, command)| folders.written(at, command))
        .filter_map(|effect| match effect {
            Effect::Write(path) => Some(path),
            _ => None,
        })
        .collect();
    let by_programs = others.iter().flat_map(|(at, command)| folders.written(*at, command));
    let by_redirects = others.iter().flat_map(|(at, command)| folders.redirected(*at, command));
    let leads = |effect: &Effect| match effect {
        Effect::Write(path) => links.iter().any(|link| path.starts_with(link)),
        _ => false,
    };
    let is_through = !links.is_empty() && by_programs.chain(by_redirects).any(|effect| leads(&effect));
    is_through.then(|| Effect::Unknown("may write: any file, through a link that this command creates".to_owned()))
}

fn unknown(what: &str) -> Effect {
    Effect::Unknown(format!("unknown: {what}"))
}

/// A file that is written under a name that is not known before the command runs.
fn may_write(typed: &str) -> Effect {
    Effect::Unknown(format!("may write: `{typed}`"))
}

/// Resolves the path even if a folder in it does not exist yet: the command may create it, and then `..` leaves it again.
fn real(path: &Path) -> PathBuf {
    let mut walked = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                walked = real_location(&walked);
                walked.pop();
            }
            part => walked.push(part),
        }
    }
    real_location(&walked)
}

fn keeps_nothing(target: &ShellWord) -> bool {
    target.known && matches!(target.text.as_str(), "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty")
}

//! `omp` at a terminal: connects the application to this machine.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_commands::KeyFile;
use omp_config::{Layer, Saver};
use omp_headless::Exit;
use omp_interactive::{
    App, COST_SETTINGS, CostLines, GitChanges, Habits, KeyPlaces, Keymap, Leave, Left, Look, PictureWishes, Secret,
    SetupHost, Start, StatusLook, Stored, StoredSetting, Surroundings,
};
use omp_session::TimeLimit;
use omp_tui::{Cells, Rgb, Terminal, TerminalEnv, TerminalOptions, Theme, Themes};
use omp_types::{Env, Setting, vars};
use omp_undo::{GitCounter, GitCounts};
use serde_json::Value;

use crate::cli::{OutputMode, RunArgs};
use crate::folder::settings_list;
use crate::folder::unused::Unused;
use crate::folder::{FolderProblem, FolderSetup};
use crate::modes::attached;
use crate::modes::first_run::FirstRun;
use crate::modes::plain::prompt_parts;
use crate::modes::redraws;
use crate::modes::status_command::StatusCommand;
use crate::modes::update;
use crate::modes::write_log;
use crate::output::{complain, print, warn};
use crate::session::host::Host;
use crate::startup;

/// Work that takes longer than this triggers a notification; before, the user is likely still looking.
const LONG: Duration = Duration::from_secs(2);

/// How long counting changed files may take, in the background.
const COUNTING: Duration = Duration::from_secs(1);

/// Whether input and output are terminals and neither `-p` nor another mode was asked for.
pub fn wanted(args: &RunArgs) -> bool {
    let is_talk = !args.print && args.mode == OutputMode::Text;
    is_talk && std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

pub async fn run(mut args: RunArgs, setup: FolderSetup) -> Result<Exit, FolderProblem> {
    let limit = TimeLimit::begin(args.max_time);
    let choose_session = args.session.resume.as_deref() == Some("");
    if choose_session {
        args.session.resume = None;
    } else if args.session.resume.is_none() && args.session.fork.is_none() {
        // `--no-session` overrides this.
        args.session.r#continue |= setup.settings.of(settings_list::SETTINGS).get::<bool>("autoResume");
    }
    let prompts = match args.messages.is_empty() {
        true => Vec::new(),
        false => attached::talk_prompts(&args.messages, &setup)?,
    };
    let host = Arc::new(Host::new(args.clone(), &setup, true).in_terminal().waking().at_once(&setup));
    let house = Arc::new(House::new(&args, &setup, host.clone()));
    let wish = host.wish(&setup)?;
    let (look, mut warnings) = {
        let _part = startup::part("look");
        look(&setup, &house)
    };
    // Prints the timings before the application takes over the screen.
    if startup::told() {
        return Ok(Exit::Success);
    }
    let options = TerminalOptions { env: terminal_env(&setup), mouse: false };
    let terminal = Terminal::open(options).map_err(|error| format!("the terminal cannot be used: {error}"))?;
    let log = setup.env.get(vars::PI_TUI_WRITE_LOG).map(|path| setup.cwd.join(path));
    let (tty, problem) = write_log::with_log(Box::new(terminal), log.as_deref(), host.secrets());
    warnings.extend(problem);
    let start = Start {
        wish,
        prompts,
        choose_session,
        folder: setup.cwd.clone(),
        home: setup.dirs.home.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        warnings,
        unused: Unused::here(&setup).line(),
        update: update::news(&setup),
        limit,
    };
    let left = omp_interactive::run(App {
        tty,
        host: host.clone(),
        surroundings: house.clone(),
        prompt: prompt_parts(&setup, host.clone()),
        look,
        start,
    })
    .await;
    warn(&host.last_words());
    warn(&house.saver.flush().iter().map(ToString::to_string).collect::<Vec<_>>());
    said_goodbye(left)
}

fn said_goodbye(left: Left) -> Result<Exit, FolderProblem> {
    // A closed terminal shows nothing.
    if let Some(id) = left.session.as_ref().filter(|_| left.why != Leave::HungUp) {
        print(&format!("Resume with: omp --resume {id}\n"))?;
    }
    match left.why {
        Leave::Wanted => Ok(Exit::Success),
        Leave::Interrupted => Ok(Exit::Interrupted),
        Leave::Terminated => Ok(Exit::Terminated),
        Leave::HungUp => Ok(Exit::HungUp),
        Leave::TimeUp => Ok(complain(TimeLimit::REACHED, Exit::Limit)),
        Leave::Failed => Err(left.problem.unwrap_or_else(|| "no session".to_owned())),
    }
}

fn look(setup: &FolderSetup, house: &House) -> (Look, Vec<String>) {
    let (keymap, mut warnings) = Keymap::load(&[&setup.dirs.agent]);
    let (theme, problem) = house.suited(background(&setup.env));
    warnings.extend(problem);
    warnings.extend(house.themes.problems().iter().map(|it| format!("{}: {}", it.file.display(), it.message)));
    let hidden: bool = setup.settings.of(omp_interactive::SETTINGS).get("hideThinkingBlock");
    let costs = setup.settings.of(COST_SETTINGS);
    let costs = CostLines { turns: costs.get("display.showTokenUsage"), misses: costs.get("display.cacheMissMarker") };
    let redraws = match setup.env.flag(vars::PI_DEBUG_REDRAW) {
        true => redraws::log(&setup.dirs.config_root.join("logs")).map_err(|problem| warnings.push(problem)).ok(),
        false => None,
    };
    let habits = Habits::read(LONG, |key| setup.settings.get(key));
    let (status, problems) = StatusLook::read(|key| setup.settings.get(key));
    warnings.extend(problems);
    let pictures = picture_wishes(setup);
    (Look { theme, keymap, thoughts: !hidden, costs, pictures, redraws, habits, status }, warnings)
}

/// The setting applies unless a variable overrides it.
fn terminal_env(setup: &FolderSetup) -> TerminalEnv {
    let (off, on) = (vars::PI_NO_HYPERLINKS, vars::PI_FORCE_HYPERLINKS);
    let is_said = [off, on].into_iter().any(|var| setup.env.get(var).is_some());
    let wanted: Option<String> = setup.settings.get("tui.hyperlinks").filter(|_| !is_said);
    let links = match wanted.as_deref() {
        Some("off") => Some((off.name, "1")),
        Some("always") => Some((on.name, "1")),
        _ => None,
    };
    setup.env.iter().chain(links).collect()
}

/// Guesses the background from an environment variable, before the terminal has answered.
fn background(env: &Env) -> Option<Rgb> {
    let number: u8 = env.get(vars::COLORFGBG)?.rsplit(';').next()?.trim().parse().ok()?;
    Some(if matches!(number, 7 | 15) { Rgb(255, 255, 255) } else { Rgb(0, 0, 0) })
}

fn picture_wishes(setup: &FolderSetup) -> PictureWishes {
    let settings = setup.settings.of(omp_interactive::SETTINGS);
    PictureWishes {
        shown: settings.get("terminal.showImages"),
        live: settings.get("tui.maxInlineImages"),
        largest: Cells {
            columns: settings.get("tui.maxInlineImageColumns"),
            rows: settings.get("tui.maxInlineImageRows"),
        },
        seed: std::process::id(),
        diagrams: settings.get("tui.renderMermaid"),
    }
}

/// The functions of this machine that the application calls.
struct House {
    themes: Themes,
    chosen: Mutex<ChosenThemes>,
    saver: Saver,
    args: RunArgs,
    env: Env,
    host: Arc<Host>,
    keys: FirstRun,
    counter: GitCounter,
    status_command: Mutex<Option<StatusCommand>>,
}

/// The themes and models that the user has chosen, including changes in this run.
struct ChosenThemes {
    dark: Option<String>,
    light: Option<String>,
    roles: BTreeMap<String, String>,
    favorites: Vec<String>,
}

impl ChosenThemes {
    fn keep(&mut self, key: &str, value: &Value) {
        if key == "favoriteModels" {
            self.favorites = serde_json::from_value(value.clone()).unwrap_or_default();
        }
        let value = value.as_str().map(str::to_owned);
        match (key, key.strip_prefix("modelRoles.")) {
            ("theme.dark", _) => self.dark = value,
            ("theme.light", _) => self.light = value,
            (_, Some(role)) => match value {
                Some(model) => drop(self.roles.insert(role.to_owned(), model)),
                None => drop(self.roles.remove(role)),
            },
            _ => {}
        }
    }
}

impl House {
    fn chosen(&self) -> MutexGuard<'_, ChosenThemes> {
        self.chosen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the user's theme for a background.
    fn suited(&self, background: Option<Rgb>) -> (Arc<Theme>, Option<String>) {
        let chosen = self.chosen();
        self.themes.choose(background, chosen.dark.as_deref(), chosen.light.as_deref())
    }

    fn new(args: &RunArgs, setup: &FolderSetup, host: Arc<Host>) -> Self {
        Self {
            themes: Themes::load(&setup.dirs.agent.join("themes")),
            chosen: Mutex::new(ChosenThemes {
                dark: setup.settings.get("theme.dark"),
                light: setup.settings.get("theme.light"),
                roles: setup.settings.of(omp_llm::SETTINGS).user("modelRoles"),
                favorites: setup.settings.of(omp_llm::SETTINGS).get("favoriteModels"),
            }),
            saver: Saver::new(setup.dirs.settings_file()),
            args: args.clone(),
            env: setup.env.clone(),
            host,
            keys: FirstRun::of(setup),
            counter: GitCounter::default(),
            status_command: Mutex::new(StatusCommand::of(setup)),
        }
    }
}

impl Surroundings for House {
    fn branch(&self, folder: &Path) -> Option<String> {
        omp_workspace::checked_out(folder)
    }

    fn git_changes(&self, folder: &Path) -> GitChanges {
        let GitCounts { unstaged, staged, untracked } = self.counter.count(folder, COUNTING);
        GitChanges { unstaged, staged, untracked }
    }

    fn status_look(&self) -> Result<(StatusLook, Vec<String>), String> {
        if let Some(error) = self.saver.flush().first() {
            return Err(error.to_string());
        }
        let setup = FolderSetup::new(&self.args, &self.env)?;
        *self.status_command.lock().unwrap_or_else(PoisonError::into_inner) = StatusCommand::of(&setup);
        Ok(StatusLook::read(|key| setup.settings.get(key)))
    }

    fn status_command(&self, facts: Value, folder: PathBuf) -> BoxFuture<'static, Result<String, String>> {
        let command = self.status_command.lock().unwrap_or_else(PoisonError::into_inner).clone();
        async move {
            match command {
                Some(command) => command.run(&facts, &folder).await,
                None => Ok(String::new()),
            }
        }
        .boxed()
    }

    fn host_name(&self) -> String {
        omp_store::host_name().unwrap_or_default()
    }

    fn themes(&self) -> Vec<String> {
        self.themes.names().into_iter().map(str::to_owned).collect()
    }

    fn theme(&self, name: &str) -> Result<Arc<Theme>, String> {
        self.themes
            .get(name)
            .ok_or_else(|| format!("unknown theme \"{name}\"\nhint: the themes are {}", self.themes.names().join(", ")))
    }

    fn theme_for(&self, background: Rgb) -> Option<Arc<Theme>> {
        Some(self.suited(Some(background)).0)
    }

    fn roles(&self) -> Vec<(String, String)> {
        self.chosen().roles.clone().into_iter().collect()
    }

    fn favorite_models(&self) -> Vec<String> {
        self.chosen().favorites.clone()
    }

    fn setting_list(&self) -> Vec<Setting> {
        settings_list::settings()
    }

    fn settings(&self) -> Result<Stored, String> {
        if let Some(error) = self.saver.flush().first() {
            return Err(error.to_string());
        }
        let settings = FolderSetup::new(&self.args, &self.env)?.settings;
        Ok(Box::new(move |key| {
            let value = settings.get(key)?;
            let from = settings.origin(key).map_or(Layer::Global, |origin| origin.layer).name();
            Some(StoredSetting { value, from })
        }))
    }

    fn key_places(&self) -> KeyPlaces {
        KeyPlaces { providers: self.host.key_providers(), file: self.keys.shown_path() }
    }

    fn keep_key(&self, provider: &str, key: &Secret) -> Result<String, String> {
        let variable = self.keys.keep_key(provider, &key.0)?;
        self.host.give_key(provider, &key.0);
        Ok(format!("Saved the key for {provider} as {variable} in {}; it is used from now on.", self.keys.shown_path()))
    }

    fn keep_setting(&self, key: &str, value: Value) -> Result<(), String> {
        self.saver.save(key, &value).map_err(|error| error.to_string())?;
        self.chosen().keep(key, &value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_may_have_said_whether_it_is_light() {
        for (value, light) in [("0;15", Some(true)), ("15;default;0", Some(false)), ("0;7", Some(true)), ("x", None)] {
            let env: Env = [("COLORFGBG", value)].into_iter().collect();
            assert_eq!(background(&env).map(Rgb::is_light), light, "{value}");
        }
    }
}

//! `omp` at a terminal: the application with this machine around it.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use omp_config::Layer;
use omp_headless::{Exit, build_prompts};
use omp_interactive::{
    App, CostLines, KeyPlaces, Keymap, Leave, Left, Look, PictureWishes, Secret, SetupHost, Start, Stored,
    StoredSetting, Surroundings,
};
use omp_session::TimeLimit;
use omp_tui::{Cells, Rgb, Terminal, TerminalOptions, Theme, Themes};
use omp_types::{Env, vars};
use serde_json::Value;

use crate::cli::{Mode, RunArgs};
use crate::complain;
use crate::compose::{Problem, Setup};
use crate::first_run::FirstRun;
use crate::host::Host;
use crate::plain::prompt_parts;
use crate::redraws;
use crate::run::{print, warn};

/// Work that took longer than this is worth a notification.
const LONG: Duration = Duration::from_secs(10);

/// A person sits at both ends and did not ask for one answer.
pub fn wanted(args: &RunArgs) -> bool {
    let is_talk = !args.print && args.mode == Mode::Text;
    is_talk && std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

pub async fn run(mut args: RunArgs, setup: Setup) -> Result<Exit, Problem> {
    let limit = TimeLimit::begin(args.max_time);
    let choose_session = args.session.resume.as_deref() == Some("");
    if choose_session {
        args.session.resume = None;
    }
    let prompts = match args.messages.is_empty() {
        true => Vec::new(),
        false => build_prompts(&args.messages, None, &setup.cwd).map_err(|error| error.to_string())?,
    };
    let host = Arc::new(Host::new(args.clone(), &setup, true).in_terminal());
    let house = House::new(&args, &setup, host.clone());
    let wish = host.wish(&setup)?;
    let (look, warnings) = look(&setup, &house);
    let start = Start {
        wish,
        prompts,
        choose_session,
        folder: setup.cwd.clone(),
        home: setup.dirs.home.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        warnings,
        limit,
    };
    let options = TerminalOptions { env: setup.env.iter().collect(), mouse: false };
    let terminal = Terminal::open(options).map_err(|error| format!("the terminal cannot be used: {error}"))?;
    let left = omp_interactive::run(App {
        tty: Box::new(terminal),
        host: host.clone(),
        surroundings: Arc::new(house),
        prompt: prompt_parts(&setup),
        look,
        start,
    })
    .await;
    warn(&host.last_words());
    said_goodbye(left)
}

fn said_goodbye(left: Left) -> Result<Exit, Problem> {
    // A terminal that is gone shows nothing.
    if let Some(id) = left.session.as_ref().filter(|_| left.why != Leave::HungUp) {
        print(&format!("Go on with: omp --resume {id}\n"))?;
    }
    match left.why {
        Leave::Wanted => Ok(Exit::Success),
        Leave::Interrupted => Ok(Exit::Interrupted),
        Leave::Terminated => Ok(Exit::Terminated),
        Leave::HungUp => Ok(Exit::HungUp),
        Leave::TimeUp => Ok(complain(TimeLimit::REACHED, Exit::Limit)),
        Leave::Failed => Err(left.problem.unwrap_or_else(|| "there is no session".to_owned())),
    }
}

fn look(setup: &Setup, house: &House) -> (Look, Vec<String>) {
    let (keymap, mut warnings) = Keymap::load(&[&setup.dirs.agent]);
    let (theme, problem) = house.suited(None);
    warnings.extend(problem);
    warnings.extend(house.themes.problems().iter().map(|it| format!("{}: {}", it.file.display(), it.message)));
    let hidden: bool = setup.settings.get("hideThinkingBlock").unwrap_or(false);
    let costs = CostLines {
        turns: setup.settings.get("display.showTokenUsage").unwrap_or(true),
        misses: setup.settings.get("display.cacheMissMarker").unwrap_or(true),
    };
    let redraws = match setup.env.flag(vars::PI_DEBUG_REDRAW) {
        true => redraws::log(&setup.dirs.config_root.join("logs")).map_err(|problem| warnings.push(problem)).ok(),
        false => None,
    };
    (Look { theme, keymap, thoughts: !hidden, costs, pictures: picture_wishes(setup), redraws, long: LONG }, warnings)
}

fn picture_wishes(setup: &Setup) -> PictureWishes {
    let usual = PictureWishes::default();
    let count = |key: &str, usual: usize| setup.settings.get(key).unwrap_or(usual);
    PictureWishes {
        shown: setup.settings.get("terminal.showImages").unwrap_or(usual.shown),
        live: count("tui.maxInlineImages", usual.live),
        largest: Cells {
            columns: count("tui.maxInlineImageColumns", usual.largest.columns),
            rows: count("tui.maxInlineImageRows", usual.largest.rows),
        },
        seed: std::process::id(),
    }
}

/// What the application asks of this machine.
struct House {
    themes: Themes,
    chosen: Mutex<Chosen>,
    settings: PathBuf,
    args: RunArgs,
    env: Env,
    host: Arc<Host>,
    keys: FirstRun,
}

/// What the user has chosen, in this run too.
struct Chosen {
    dark: Option<String>,
    light: Option<String>,
    roles: BTreeMap<String, String>,
}

impl Chosen {
    fn keep(&mut self, key: &str, value: &Value) {
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
    fn chosen(&self) -> MutexGuard<'_, Chosen> {
        self.chosen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The theme for a background, as the user has chosen.
    fn suited(&self, background: Option<Rgb>) -> (Arc<Theme>, Option<String>) {
        let chosen = self.chosen();
        self.themes.choose(background, chosen.dark.as_deref(), chosen.light.as_deref())
    }

    fn new(args: &RunArgs, setup: &Setup, host: Arc<Host>) -> Self {
        Self {
            themes: Themes::load(&setup.dirs.agent.join("themes")),
            chosen: Mutex::new(Chosen {
                dark: setup.settings.get("theme.dark"),
                light: setup.settings.get("theme.light"),
                roles: setup.settings.user("modelRoles").unwrap_or_default(),
            }),
            settings: setup.dirs.settings_file(),
            args: args.clone(),
            env: setup.env.clone(),
            host,
            keys: FirstRun::of(setup),
        }
    }
}

impl Surroundings for House {
    fn branch(&self, folder: &Path) -> Option<String> {
        checked_out(folder)
    }

    fn themes(&self) -> Vec<String> {
        self.themes.names().into_iter().map(str::to_owned).collect()
    }

    fn theme(&self, name: &str) -> Result<Arc<Theme>, String> {
        self.themes
            .get(name)
            .ok_or_else(|| format!("there is no theme \"{name}\"\nhint: there are {}", self.themes.names().join(", ")))
    }

    fn theme_for(&self, background: Rgb) -> Option<Arc<Theme>> {
        Some(self.suited(Some(background)).0)
    }

    fn roles(&self) -> Vec<(String, String)> {
        self.chosen().roles.clone().into_iter().collect()
    }

    fn settings(&self) -> Result<Stored, String> {
        let settings = Setup::new(&self.args, &self.env)?.settings;
        Ok(Box::new(move |key| {
            let value = settings.get(key)?;
            let from = settings.origin(key).unwrap_or(Layer::Global).name();
            Some(StoredSetting { value, from })
        }))
    }

    fn key_places(&self) -> KeyPlaces {
        KeyPlaces { providers: self.host.key_providers(), file: self.keys.key_file_told() }
    }

    fn keep_key(&self, provider: &str, key: &Secret) -> Result<String, String> {
        let variable = self.keys.keep_key(provider, &key.0)?;
        self.host.give_key(provider, &key.0);
        Ok(format!(
            "The key for {provider} is kept as {variable} in {} and counts from now on.",
            self.keys.key_file_told()
        ))
    }

    fn keep_setting(&self, key: &str, value: Value) -> Result<(), String> {
        omp_config::save_setting(&self.settings, key, &value).map_err(|error| error.to_string())?;
        self.chosen().keep(key, &value);
        Ok(())
    }
}

/// The branch of the repository around a folder, or the beginning of the commit that is checked out without one.
fn checked_out(folder: &Path) -> Option<String> {
    let marker = folder.ancestors().map(|folder| folder.join(".git")).find(|marker| marker.exists())?;
    let git = match marker.is_dir() {
        true => marker,
        // A worktree names the folder of its own.
        false => {
            let text = std::fs::read_to_string(&marker).ok()?;
            marker.parent()?.join(text.strip_prefix("gitdir:")?.trim())
        }
    };
    let head = std::fs::read_to_string(git.join("HEAD")).ok()?;
    let head = head.trim();
    match head.strip_prefix("ref:") {
        Some(name) => Some(name.trim().trim_start_matches("refs/heads/").to_owned()),
        None => head.get(..8).map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_branch_of_the_repository_around_a_folder() {
        let temp = tempfile::tempdir().unwrap();
        let inner = temp.path().join("src/deep");
        std::fs::create_dir_all(&inner).unwrap();
        assert_eq!(checked_out(&inner), None);
        let git = temp.path().join(".git");
        std::fs::create_dir(&git).unwrap();
        assert_eq!(checked_out(&inner), None, "a broken repository has no branch");
        for (head, expect) in [
            ("ref: refs/heads/main\n", Some("main")),
            ("ref: refs/heads/a/b\n", Some("a/b")),
            ("0123456789abcdef\n", Some("01234567")),
            ("", None),
        ] {
            std::fs::write(git.join("HEAD"), head).unwrap();
            assert_eq!(checked_out(&inner).as_deref(), expect, "{head:?}");
        }
        let worktree = temp.path().join("tree");
        std::fs::create_dir_all(worktree.join("of")).unwrap();
        std::fs::write(worktree.join(".git"), "gitdir: of\n").unwrap();
        std::fs::write(worktree.join("of/HEAD"), "ref: refs/heads/side\n").unwrap();
        assert_eq!(checked_out(&worktree).as_deref(), Some("side"));
    }
}

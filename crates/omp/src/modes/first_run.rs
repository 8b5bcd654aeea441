//! The first run on this machine: finds keys and model servers, and stores a key.
//!
//! Keys are stored in `.env` of the agent folder, one per line. The process environment overrides this file. Only the user
//! can read it, and its other lines are left unchanged.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_commands::{DroppedKey, KeyFile};
use omp_config::Dirs;
use omp_headless::Exit;
use omp_interactive::{
    FoundKey, FoundServer, Provider, SetupEnd, SetupFindings, SetupHost, SetupIo, run_setup, run_setup_in_text,
};
use omp_llm::{Registry, discover};
use omp_tui::{Terminal, TerminalOptions, Themes};
use omp_types::{Env, PROVIDER_KEYS, is_served, vars};
use tokio::sync::mpsc;

use crate::cli::{ModelArgs, RunArgs};
use crate::folder::settings_list::SETTINGS;
use crate::folder::{FolderProblem, FolderSetup};
use crate::modes::plain;
use crate::modes::run;
use crate::output::{print, warn};

/// Increased when the pages ask something new. Stored as `setupVersion`.
const VERSION: u64 = 1;
/// The providers that most people have a key for.
const BEST_KNOWN: [&str; 6] = ["anthropic", "openai", "google", "openrouter", "xai", "deepseek"];

pub struct FirstRun {
    env: Env,
    dirs: Dirs,
}

impl FirstRun {
    pub fn of(setup: &FolderSetup) -> Self {
        Self { env: setup.env.clone(), dirs: setup.dirs.clone() }
    }

    /// Whether to show the pages without being asked: the user has not declined them, and no model is available.
    pub async fn is_due(&self, setup: &FolderSetup, args: &ModelArgs) -> bool {
        let settings = setup.settings.of(SETTINGS);
        let wanted: bool = settings.get("startup.setupWizard");
        let seen = settings.get::<u64>("setupVersion") >= VERSION;
        if !wanted || seen || !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return false;
        }
        // This check loads nothing; most starts end here.
        let has_choice = args.model.is_some() || args.api_key.is_some();
        if has_choice || !keys_in(&self.env).is_empty() || self.dirs.models_file().exists() {
            return false;
        }
        let registry = setup.registry(args);
        registry.available().is_empty() && discover(&setup.client(None), &registry).await.models.is_empty()
    }

    fn key_file(&self) -> PathBuf {
        self.dirs.agent.join(".env")
    }

    async fn ended(&self, setup: &FolderSetup, end: SetupEnd) -> Result<Option<Exit>, FolderProblem> {
        match end {
            SetupEnd::Demo => run::demo(&setup.env).await.map(Some),
            SetupEnd::Ready => {
                let saved = omp_config::save_setting(&self.dirs.settings_file(), "setupVersion", &VERSION.into());
                warn(&saved.err().map(|error| error.to_string()).into_iter().collect::<Vec<_>>());
                Ok(None)
            }
            SetupEnd::Left => {
                print("Nothing is set up yet. Run `omp setup` to try again; see also docs/providers.md.\n")?;
                Ok(None)
            }
        }
    }

    /// Returns the environment including keys stored since the start.
    fn refreshed(&self) -> Env {
        let pairs = self.env.iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        omp_config::load_environment(pairs, None)
    }

    async fn found(&self) -> SetupFindings {
        let env = self.refreshed();
        let args = RunArgs { cwd: Some(self.dirs.home.clone()), ..RunArgs::default() };
        let Ok(setup) = FolderSetup::new(&args, &env) else { return SetupFindings::default() };
        let registry = setup.registry(&ModelArgs::default());
        let discovered = discover(&setup.client(None), &registry).await;
        let servers = by_provider(discovered.models.iter().map(|model| &*model.provider));
        let keys = keys_in(&env);
        let has_models_file = setup.dirs.models_file().exists();
        let available = registry.available();
        let listed = available.iter().map(|model| &*model.provider).filter(|provider| {
            has_models_file
                && !keys.iter().any(|key| key.provider == *provider)
                && !servers.iter().any(|it| it.name == *provider)
        });
        SetupFindings {
            listed: by_provider(listed),
            keys,
            servers,
            providers: providers(&registry),
            themes: Themes::load(&self.dirs.agent.join("themes")).names().into_iter().map(str::to_owned).collect(),
            key_file: self.shown_path(),
        }
    }
}

impl KeyFile for FirstRun {
    fn shown_path(&self) -> String {
        let home = self.dirs.home.display().to_string();
        let key_file = self.key_file().display().to_string();
        key_file.strip_prefix(&home).map_or(key_file.clone(), |rest| format!("~{rest}"))
    }

    fn drop_key(&self, provider: &str) -> Result<DroppedKey, String> {
        let (_, variables) = PROVIDER_KEYS
            .iter()
            .find(|(name, _)| *name == provider)
            .ok_or_else(|| format!("unknown provider `{provider}`\nhint: /logout lists the providers with a key"))?;
        let file = self.key_file();
        let failed = |error: io::Error| format!("cannot remove the key from {}: {error}", file.display());
        let text = read(&file).map_err(failed)?;
        let elsewhere = |name: &&&str| self.env.lookup(name).is_some_and(|value| value_in(&text, name) != Some(value));
        let outside = variables.iter().find(elsewhere).copied();
        let mut dropped = Vec::new();
        for variable in *variables {
            if drop_line(&file, variable).map_err(failed)? {
                dropped.push(*variable);
            }
        }
        Ok(DroppedKey { variables: dropped, outside })
    }

    fn providers(&self) -> Vec<&'static str> {
        let text = std::fs::read_to_string(self.key_file()).unwrap_or_default();
        let is_kept = |variables: &[&str]| variables.iter().any(|name| text.lines().any(|line| sets(line, name)));
        PROVIDER_KEYS.iter().filter(|(_, variables)| is_kept(variables)).map(|(name, _)| *name).collect()
    }
}

impl SetupHost for FirstRun {
    fn look(&self) -> BoxFuture<'_, SetupFindings> {
        self.found().boxed()
    }

    fn keep_key(&self, provider: &str, key: &str) -> Result<String, String> {
        let variable = key_variable(provider).ok_or_else(|| format!("unknown provider `{provider}`"))?;
        let file = self.key_file();
        keep_line(&file, variable, key).map(|()| variable.to_owned()).map_err(|error| {
            format!("cannot save the key in {}: {error}\nhint: set {variable} in your shell instead", file.display())
        })
    }

    fn keep_theme(&self, name: &str) -> Result<(), String> {
        // Sets the theme for dark and light backgrounds.
        let keep = |key| omp_config::save_setting(&self.dirs.settings_file(), key, &name.into());
        keep("theme.dark").and_then(|()| keep("theme.light")).map_err(|error| error.to_string())
    }
}

/// `omp setup`.
pub async fn run(env: &Env) -> Result<Exit, FolderProblem> {
    let setup = FolderSetup::new(&RunArgs::default(), env)?;
    let is_screen = io::stdin().is_terminal() && io::stdout().is_terminal() && env.get(vars::TERM) != Some("dumb");
    let demo = match is_screen {
        true => at_terminal(&setup).await?,
        false => in_text(&setup, &mut plain::lines()).await?,
    };
    Ok(demo.unwrap_or(Exit::Success))
}

/// Shows the pages on the full screen. Returns an exit code if the user chose the demo and it has run.
pub async fn at_terminal(setup: &FolderSetup) -> Result<Option<Exit>, FolderProblem> {
    let host = FirstRun::of(setup);
    let themes = Themes::load(&setup.dirs.agent.join("themes"));
    let named = |key: &str| setup.settings.get::<String>(key);
    let (theme, _) = themes.choose(None, named("theme.dark").as_deref(), named("theme.light").as_deref());
    let options = TerminalOptions { env: setup.env.iter().collect(), mouse: false };
    let mut terminal = Terminal::open(options).map_err(|error| format!("the terminal cannot be used: {error}"))?;
    let end = run_setup(&mut terminal, &theme, &host).await;
    // Restores the terminal for the code that runs next.
    drop(terminal);
    host.ended(setup, end).await
}

/// Shows the pages as plain lines. Returns an exit code if the user chose the demo and it has run.
pub async fn in_text(setup: &FolderSetup, lines: &mut mpsc::Receiver<String>) -> Result<Option<Exit>, FolderProblem> {
    let host = FirstRun::of(setup);
    let io = SetupIo { lines, out: io::stdout(), hide: &hide_typing };
    let end =
        run_setup_in_text(io, &host).await.map_err(|error| format!("cannot write to standard output: {error}"))?;
    host.ended(setup, end).await
}

/// Returns the environment including keys stored on the pages.
pub fn environment_again(setup: &FolderSetup) -> Env {
    FirstRun::of(setup).refreshed()
}

/// Counts the models of each provider.
fn by_provider<'a>(providers: impl Iterator<Item = &'a str>) -> Vec<FoundServer> {
    let mut found: Vec<FoundServer> = Vec::new();
    for provider in providers {
        match found.iter_mut().find(|server| server.name == provider) {
            Some(server) => server.models += 1,
            None => found.push(FoundServer { name: provider.to_owned(), models: 1 }),
        }
    }
    found
}

/// Returns the providers whose keys are set, each once.
fn keys_in(env: &Env) -> Vec<FoundKey> {
    let served = PROVIDER_KEYS.iter().filter(|(provider, _)| is_served(provider));
    let found = served.filter_map(|(provider, variables)| {
        let variable = variables.iter().find(|name| env.lookup(name).is_some())?;
        Some(FoundKey { provider: (*provider).to_owned(), variable: (*variable).to_owned() })
    });
    found.collect()
}

/// Returns the providers that omp supports and that take a key.
pub fn providers(registry: &Registry) -> Vec<Provider> {
    let mut names: Vec<String> = registry.all().iter().map(|model| model.provider.to_string()).collect();
    names.sort();
    names.dedup();
    let known = |name: &String| BEST_KNOWN.iter().position(|best| best == name).unwrap_or(BEST_KNOWN.len());
    names.sort_by_key(known);
    let provider = |name: String| Some(Provider { variable: key_variable(&name)?.to_owned(), name });
    names.into_iter().filter_map(provider).collect()
}

/// Returns the variable for the key of a provider. Tokens of other programs cannot be typed in.
fn key_variable(provider: &str) -> Option<&'static str> {
    let (_, variables) = PROVIDER_KEYS.iter().find(|(name, _)| *name == provider && is_served(name))?;
    variables.iter().find(|name| name.ends_with("_KEY")).or(variables.first()).copied()
}

/// Sets one variable in an `.env` file; other variables and comments are kept.
fn keep_line(file: &std::path::Path, variable: &str, value: &str) -> io::Result<()> {
    let mut text = without(&read(file)?, variable);
    text.push_str(&format!("{variable}='{value}'\n"));
    replace(file, &text)
}

/// Removes one variable from an `.env` file. Returns `false` if it was not set.
fn drop_line(file: &std::path::Path, variable: &str) -> io::Result<bool> {
    let before = read(file)?;
    let is_there = before.lines().any(|line| sets(line, variable));
    if is_there {
        replace(file, &without(&before, variable))?;
    }
    Ok(is_there)
}

fn read(file: &std::path::Path) -> io::Result<String> {
    match std::fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        other => other,
    }
}

fn sets(line: &str, variable: &str) -> bool {
    let line = line.trim();
    let name = line.strip_prefix("export ").unwrap_or(line).split_once('=').map(|(name, _)| name.trim());
    name == Some(variable)
}

fn value_in<'a>(text: &'a str, variable: &str) -> Option<&'a str> {
    let (_, value) = text.lines().find(|line| sets(line, variable))?.split_once('=')?;
    Some(value.trim().trim_matches(['\'', '"']))
}

fn without(text: &str, variable: &str) -> String {
    text.lines().filter(|line| !sets(line, variable)).flat_map(|line| [line, "\n"]).collect()
}

fn replace(file: &std::path::Path, text: &str) -> io::Result<()> {
    // Follows a symbolic link that the user has created.
    let target = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let folder = target.parent().unwrap_or(std::path::Path::new("."));
    std::fs::create_dir_all(folder)?;
    // Created with private permissions and moved into place atomically.
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    new.write_all(text.as_bytes())?;
    new.as_file().sync_all()?;
    new.persist(&target).map(drop).map_err(|error| error.error)
}

#[cfg(unix)]
fn hide_typing(hidden: bool) {
    use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};
    let stdin = std::io::stdin();
    // If standard input is not a terminal, nothing is echoed anyway.
    if let Ok(mut modes) = tcgetattr(&stdin) {
        modes.local_flags.set(LocalFlags::ECHO, !hidden);
        let _ = tcsetattr(&stdin, SetArg::TCSANOW, &modes);
    }
}

#[cfg(not(unix))]
fn hide_typing(_: bool) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_line_among_others_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("agent/.env");
        keep_line(&file, "A_KEY", "one").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "A_KEY='one'\n");
        std::fs::write(&file, "# mine\nexport A_KEY=\"old\"\nB=2").unwrap();
        keep_line(&file, "A_KEY", "new$1#x").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "# mine\nB=2\nA_KEY='new$1#x'\n");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_key_is_taken_out_and_the_rest_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".env");
        assert!(!drop_line(&file, "A_KEY").unwrap() && !file.exists());
        std::fs::write(&file, "# mine\nexport A_KEY=\"old\"\nB=2").unwrap();
        assert!(drop_line(&file, "A_KEY").unwrap());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "# mine\nB=2\n");
        assert!(!drop_line(&file, "A_KEY").unwrap());
    }

    #[test]
    fn what_is_kept_is_found_again() {
        let home = tempfile::tempdir().unwrap();
        let env: Env = [("HOME", home.path().to_str().unwrap())].into_iter().collect();
        let setup =
            FolderSetup::new(&RunArgs { cwd: Some(home.path().to_owned()), ..RunArgs::default() }, &env).unwrap();
        let first = FirstRun::of(&setup);
        assert_eq!(first.keep_key("anthropic", "sk-ant-1").unwrap(), "ANTHROPIC_API_KEY");
        assert_eq!(
            keys_in(&first.refreshed()),
            [FoundKey { provider: "anthropic".to_owned(), variable: "ANTHROPIC_API_KEY".to_owned() }]
        );
        assert!(first.keep_key("nobody", "x").is_err());
        assert_eq!(KeyFile::providers(&first), ["anthropic"]);
        let dropped = first.drop_key("anthropic").unwrap();
        assert_eq!(dropped, DroppedKey { variables: vec!["ANTHROPIC_API_KEY"], outside: None });
        assert!(KeyFile::providers(&first).is_empty() && first.drop_key("nobody").is_err());
        let providers = providers(&setup.registry(&ModelArgs::default()));
        assert_eq!(providers[0].name, "anthropic");
        assert!(providers.len() > 20 && providers.iter().all(|one| !one.variable.is_empty()));
    }
}

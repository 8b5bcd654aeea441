//! The configuration of a folder: its settings, rules, prompts, trust and sandbox. It is read once and shared by all
//! sessions made from the same blueprint.

pub mod containing;
mod displaced_rules;
mod older_settings;
mod prompt_parts;
pub mod settings_list;
pub mod trust;
pub mod unused;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use omp_agent::{AnyTool, ToolRole};
use omp_config::{
    Catalogue, Choices, Complaint, ConfigError, Dirs, Layer, Places, Settings, Wrong, discover_chosen, told_complaints,
};
use omp_contain::workspace_of;
use omp_exec::{Containment, Shell};
use omp_rules::{Buckets, RuleSettings, bucket};
use omp_session::{
    Environment, INCLUDE_WORKSPACE_TREE, LookAround, PROMPT_SETTINGS, SessionHeader, StreamRules, SystemPrompt,
};
use omp_types::{Access, AccessMap, Env, vars};

use crate::cli::{ApprovalFlag, PromptArgs, RunArgs, ToolArgs};
use crate::startup;
use prompt_parts::Ahead;
pub use prompt_parts::AskedPrompt;
use trust::FolderTrust;

/// An error message for the user; nothing was changed.
pub type FolderProblem = String;

/// Caps the number of rule warnings shown when a session starts.
const MOST_RULE_WARNINGS: usize = 20;
/// Caps the size of a system prompt file named by a flag.
const LARGEST_PROMPT_FILE: u64 = 4 << 20;

/// The folder of a session and its configuration. Clones share cached lookups.
#[derive(Clone)]
pub struct FolderSetup {
    pub env: Env,
    pub dirs: Dirs,
    /// The folder omp was started in, or `--cwd`. Commands start here, and the search for settings and context starts here.
    pub cwd: PathBuf,
    /// The folder that sandbox, approval and undo cover: the repository, or `cwd` if there is none.
    pub workspace: PathBuf,
    pub settings: Settings,
    /// Problems in the settings that do not stop the run.
    pub warnings: Vec<String>,
    /// See [`FolderSetup::trust`].
    pub folder_trust: FolderTrust,
    catalogue: Arc<OnceLock<Catalogue>>,
    /// `--no-rules`
    no_rules: bool,
    buckets: Arc<OnceLock<Buckets>>,
    containment: Arc<OnceLock<Containment>>,
    /// A scan of the project that was started before the session.
    opening: Arc<Ahead>,
    read: Instant,
}

impl FolderSetup {
    pub fn new(args: &RunArgs, env: &Env) -> Result<Self, FolderProblem> {
        if args.tools.trust {
            trust::refuse_children(env)?;
        }
        let dirs = Dirs::from_env(env)?;
        let cwd = working_folder(args.cwd.as_deref())?;
        let (mut settings, mut warnings) = Self::settings(&dirs, &cwd, &args.config)?;
        if let Some(mode) = approval_flag(&args.tools) {
            settings.set_runtime("tools.approvalMode", mode.into());
        }
        if args.prompt.no_skills {
            settings.set_runtime("skills.enabled", false.into());
        }
        if !args.prompt.skills.is_empty() {
            settings.set_runtime("skills.includeSkills", args.prompt.skills.clone().into());
        }
        if let Some(wrong) = settings.complaints().iter().find(|complaint| loosens(complaint)) {
            return Err(wrong.refusal());
        }
        warnings.extend(told_complaints(settings.complaints()));
        let scope = settings.of(omp_contain::SETTINGS).user("containment.workspace");
        let workspace = workspace_of(&cwd, &dirs.home, scope);
        Ok(Self {
            env: env.clone(),
            dirs,
            cwd,
            workspace,
            settings,
            warnings,
            folder_trust: FolderTrust::of(&args.tools),
            catalogue: Arc::default(),
            no_rules: args.prompt.no_rules,
            buckets: Arc::default(),
            containment: Arc::default(),
            opening: Arc::default(),
            read: Instant::now(),
        })
    }

    /// Returns a copy for a new session: trust is read again, everything else is reused.
    pub fn again(&self, args: &RunArgs) -> Self {
        // The trust decisions may have changed, and the rules depend on them.
        Self { folder_trust: FolderTrust::of(&args.tools), buckets: Arc::default(), ..self.clone() }
    }

    /// Returns a copy that hides these credentials from child processes.
    pub fn keeping_back(&self, secrets: Vec<String>) -> Self {
        Self { env: self.env.clone().keeping_back(secrets), ..self.clone() }
    }

    /// Whether the folder was read so recently that nobody expects later changes to be seen.
    pub fn is_fresh(&self) -> bool {
        self.read.elapsed() < Duration::from_secs(5)
    }

    /// Starts discovery of the user's and the repository's files in the background, while startup continues.
    pub fn discover_ahead(&self) {
        let (catalogue, places) = (self.catalogue.clone(), self.places());
        containing::aside("omp-discovery", move || {
            catalogue.get_or_init(|| places.discovered());
        });
    }

    /// Starts to scan the project in the background, for a prompt that follows at once.
    pub fn look_around_ahead(&self) {
        if !self.has_no_prompt() {
            self.opening.begin(self.cwd.clone(), self.with_tree());
        }
    }

    /// Reads the settings of a folder, with warnings about its files.
    pub fn settings(dirs: &Dirs, cwd: &Path, overlays: &[PathBuf]) -> Result<(Settings, Vec<String>), FolderProblem> {
        let told = |error: ConfigError| error.to_string();
        let _part = startup::part("settings");
        let stored = || older_settings::stored(&dirs.agent);
        let mut warnings = omp_config::take_over(&dirs.settings_file(), stored).map_err(told)?;
        let mut settings = Settings::new(settings_list::known());
        settings.load_global(&dirs.settings_file()).map_err(told)?;
        warnings.extend(settings.load_project(cwd).iter().map(ToString::to_string));
        for overlay in overlays {
            settings.load_overlay(&cwd.join(overlay)).map_err(told)?;
        }
        Ok((settings, warnings))
    }

    /// Creates a setup that reads none of the user's files and writes only to the given folder.
    pub fn isolated(args: &RunArgs, env: &Env, folder: &Path) -> Result<Self, FolderProblem> {
        let home = folder.display().to_string();
        let kept = env.iter().filter(|(name, _)| !name.starts_with("PI_") && *name != vars::HOME.name);
        let env: Env = kept.chain([(vars::HOME.name, home.as_str())]).collect();
        Self::new(args, &env)
    }

    /// Returns what discovery found for the user and the repository. Discovery runs once.
    pub fn catalogue(&self) -> &Catalogue {
        let _part = self.catalogue.get().is_none().then(|| startup::part("discovery"));
        self.catalogue.get_or_init(|| self.places().discovered())
    }

    fn places(&self) -> FolderDiscovery {
        FolderDiscovery {
            dirs: self.dirs.clone(),
            cwd: self.cwd.clone(),
            choices: Choices::read(&self.settings, &self.dirs.home).with_environment(&self.env, &self.dirs.home),
        }
    }

    /// The rules, sorted by how they are used.
    pub fn rules(&self) -> &Buckets {
        self.buckets.get_or_init(|| {
            if self.no_rules {
                return Buckets::default();
            }
            bucket(&displaced_rules::counting(self), &RuleSettings::read(&self.settings))
        })
    }

    /// Returns warnings about rules. They are capped, because a repository may contain any number of rules.
    fn told_of_rules(&self) -> Vec<String> {
        let warnings = &self.rules().warnings;
        let mut told: Vec<String> = warnings.iter().take(MOST_RULE_WARNINGS).cloned().collect();
        if warnings.len() > told.len() {
            let more = warnings.len() - told.len();
            told.push(format!("{more} more warnings about rules\nhint: `omp ttsr list` shows all of them"));
        }
        told
    }

    /// Returns the rules that watch the model's output in a session.
    pub fn stream_rules(&self) -> StreamRules {
        StreamRules {
            watch: self.rules().ttsr.clone(),
            settings: RuleSettings::read(&self.settings),
            home: Some(self.dirs.home.clone()),
        }
    }

    /// Returns the sandbox for the child processes of the session. It is decided once.
    pub fn containment(&self) -> &Containment {
        self.containment.get_or_init(|| {
            let _part = startup::part("containment");
            containing::decided(&self.settings, &self.dirs, &self.workspace, &self.cwd, &self.env)
        })
    }

    /// The access map that the file tools obey.
    pub fn access(&self) -> Access {
        self.containment().access().cloned().unwrap_or_else(|| Access::new(AccessMap::open(self.workspace.clone())))
    }

    /// Resolves the prompt flags and reads the files that they name.
    pub fn asked_prompt(&self, args: &PromptArgs) -> Result<AskedPrompt, FolderProblem> {
        if self.has_no_prompt() {
            return Ok(AskedPrompt::default());
        }
        let text_or_file = |text: &str| self.text_or_file(text, args.started_in.as_deref());
        Ok(AskedPrompt {
            replace: args.system_prompt.as_deref().map(text_or_file).transpose()?,
            append: args.append_system_prompt.as_deref().map(text_or_file).transpose()?,
        })
    }

    pub fn system_prompt(
        &self,
        asked: AskedPrompt,
        session: &SessionHeader,
        tools: &[Arc<dyn AnyTool>],
    ) -> Result<SystemPrompt, FolderProblem> {
        if self.has_no_prompt() {
            return Ok("".into());
        }
        let can_read = tools.iter().any(|tool| tool.role() == Some(ToolRole::Reader));
        let shell = Shell::choose(&self.env);
        let environment = Environment {
            cwd: self.cwd.clone(),
            os: std::env::consts::OS.to_owned(),
            shell: shell.program.file_stem().map(|name| name.to_string_lossy().into_owned()),
            // The date comes from the session file, so that it stays the same when the session is resumed.
            began: session.timestamp.split_once('T').map(|(day, _)| day.to_owned()),
        };
        let parts = prompt_parts::parts(self.catalogue(), self.rules(), environment, asked, can_read);
        SystemPrompt::new(&parts).map_err(|error| error.to_string())
    }

    /// Returns warnings about the files that the prompt is made from.
    pub fn prompt_warnings(&self) -> Vec<String> {
        if self.has_no_prompt() {
            return Vec::new();
        }
        [self.catalogue().warnings.clone(), self.told_of_rules()].concat()
    }

    /// Returns the scan of the project that the first prompt includes.
    pub fn look_around(&self) -> Option<LookAround> {
        let (opening, cwd, with_tree) = (self.opening.clone(), self.cwd.clone(), self.with_tree());
        (!self.has_no_prompt()).then(|| prompt_parts::look_around(opening, cwd, with_tree))
    }

    fn with_tree(&self) -> bool {
        self.settings.of(PROMPT_SETTINGS).get(INCLUDE_WORKSPACE_TREE)
    }

    fn has_no_prompt(&self) -> bool {
        self.env.get(vars::NULL_PROMPT) == Some("true")
    }

    /// Returns the value itself, or the content of the file it names.
    fn text_or_file(&self, value: &str, started_in: Option<&Path>) -> Result<String, FolderProblem> {
        let here = self.cwd.join(value);
        // A session that was moved, or that belongs to another folder, uses the prompt file named at startup.
        let there = started_in.map(|folder| folder.join(value)).filter(|path| !here.is_file() && path.is_file());
        let path = there.unwrap_or(here);
        if value.contains('\n') || !path.is_file() {
            return if names_a_file(value) { Err(no_prompt_file(value, &path)) } else { Ok(value.to_owned()) };
        }
        omp_stdx::plain_file::read_text(&path, LARGEST_PROMPT_FILE)
            .map_err(|error| format!("cannot read the prompt file {}: {error}", path.display()))
    }
}

/// Which folders discovery scans, and its settings.
struct FolderDiscovery {
    dirs: Dirs,
    cwd: PathBuf,
    choices: Choices,
}

impl FolderDiscovery {
    fn discovered(&self) -> Catalogue {
        discover_chosen(&Places { home: &self.dirs.home, agent: &self.dirs.agent, cwd: &self.cwd }, &self.choices)
    }
}

/// Whether a value is one word that looks like a path. A prompt has more words.
fn names_a_file(value: &str) -> bool {
    let is_path = value.contains('/') || [".md", ".txt"].iter().any(|end| value.to_ascii_lowercase().ends_with(end));
    is_path && !value.contains(char::is_whitespace)
}

fn no_prompt_file(value: &str, path: &Path) -> FolderProblem {
    let why = match (path.is_dir(), path.exists()) {
        (true, _) => "is a folder",
        (_, true) => "is not a regular file",
        (_, false) => "does not exist",
    };
    format!(
        "the prompt file `{value}` {why}\nhint: paths are relative to the working folder; a value with a space is taken as text"
    )
}

/// Whether ignoring a faulty setting would remove a restriction that the user has set. The run stops on such a setting.
fn loosens(complaint: &Complaint) -> bool {
    let meant = match &complaint.what {
        Wrong::Misspelt { meant } => meant,
        _ => &complaint.key,
    };
    let guards = meant.starts_with("tools.approval") || meant == "tools.deny" || meant == "tools.ask";
    complaint.layer != Layer::Project && (guards || meant.starts_with("containment"))
}

pub fn working_folder(flag: Option<&Path>) -> Result<PathBuf, FolderProblem> {
    let hint = if flag.is_some() { "give `--cwd` a folder that exists" } else { "start omp in a folder that exists" };
    existing_folder(flag, hint)
}

/// Returns the canonical path of a folder that the user names, or of the current one.
pub fn existing_folder(flag: Option<&Path>, hint: &str) -> Result<PathBuf, FolderProblem> {
    let folder = match flag {
        // An absolute path works even if the current folder no longer exists.
        Some(flag) if flag.is_absolute() => flag.to_owned(),
        _ => {
            let current = std::env::current_dir().map_err(|error| {
                format!("the working folder cannot be used: {error}\nhint: change to a folder that exists")
            })?;
            flag.map_or_else(|| current.clone(), |flag| current.join(flag))
        }
    };
    let unusable = |why: &dyn std::fmt::Display| format!("cannot work in {}: {why}\nhint: {hint}", folder.display());
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::PermissionDenied => format!(
            "cannot work in {}: no permission to enter {}\nhint: get access (`chmod u+rx`), or use another folder",
            folder.display(),
            closed_folder(&folder).display()
        ),
        _ => unusable(&error),
    };
    let found = folder.canonicalize().map_err(failed)?;
    if !found.is_dir() {
        return Err(unusable(&"it is not a folder"));
    }
    // A folder without search permission is useless.
    found.join(".").metadata().map_err(failed)?;
    Ok(found)
}

/// Returns the outermost ancestor of `folder` that cannot be entered.
fn closed_folder(folder: &Path) -> &Path {
    let is_closed =
        |folder: &&Path| folder.join(".").metadata().is_err_and(|error| error.kind() == ErrorKind::PermissionDenied);
    folder.ancestors().filter(is_closed).last().unwrap_or(folder)
}

fn approval_flag(args: &ToolArgs) -> Option<&'static str> {
    match args.approval_mode {
        _ if args.auto_approve => Some("auto"),
        Some(ApprovalFlag::AskAll) => Some("ask-all"),
        Some(ApprovalFlag::AskWrites) => Some("ask-writes"),
        Some(ApprovalFlag::Write) => Some("write"),
        Some(ApprovalFlag::Auto) => Some("auto"),
        None => None,
    }
}

//! Restricts what a child process may touch, with kernel containment and limits. It fails closed and reports why.
//!
//! [`Containment`] is the decision of a session; every process that `omp-exec` starts gets one. The parent prepares
//! everything ([`Containment::prepare`]), the child only makes system calls ([`Cage::enter`]).

#[cfg(unix)]
mod aside;
mod caches;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;
// Tested on every system, as it only needs text and a socket.
#[cfg(unix)]
mod git_config;
mod gitlinks;
mod kept;
#[cfg(any(target_os = "macos", test))]
#[cfg_attr(not(target_os = "macos"), expect(dead_code, reason = "used on macOS only"))]
mod macos;
mod map;
mod repository;
mod rung;
#[cfg(any(target_os = "macos", test))]
mod seatbelt;
mod settings;
mod signing;
mod workspace;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use omp_egress::{Egress, Upstream};
use omp_stdx::real_path;
use omp_types::{Access, AccessMap, ContainMode, NetworkMode, OpenPast};
use tokio::sync::mpsc;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
use elsewhere as platform;
#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(target_os = "macos")]
use macos as platform;

#[cfg(unix)]
pub use git_config::settings_in;
pub use kept::{Deed, SetAside, TreeGuard};
#[cfg(target_os = "linux")]
pub use linux::{Herald, scope_thread};
pub use map::{MapSources, default_map, own_temp_folder, services};
pub use platform::{Cage, explain};
pub use rung::{Missing, ProbedSupport, Rung};
pub use settings::SETTINGS;
pub use signing::{Signing, SigningDesk};
pub use workspace::workspace_of;

/// How the children of a session are contained. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Containment {
    access: Option<Access>,
    /// The rung that is tried first; lower ones are for tests.
    at_most: Rung,
    /// The proxy for named hosts.
    egress: Option<Arc<Egress>>,
    /// Signs commits for children, which cannot access keys.
    signing: Option<Arc<dyn Signing>>,
    /// The caches created for commands.
    caches: Arc<caches::SessionCaches>,
    /// Changes by commands that the kernel could not prevent.
    #[cfg(unix)]
    asides: Arc<aside::Asides>,
    /// Decides which commands can see each other.
    #[cfg(target_os = "linux")]
    families: Arc<linux::Families>,
    /// Writable paths that the command names.
    #[cfg(target_os = "linux")]
    named: Vec<PathBuf>,
}

/// Why a child may not start: the configured protection cannot be enforced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContainmentRefused {
    #[error(
        "the command was not run: the sandbox `{mode}` is not available here: {why}\nhint: {fix}; `containment.mode: off` in config.yml runs commands without a sandbox"
    )]
    NoRung { mode: &'static str, why: String, fix: String },
    #[error(
        "the command was not run: `containment.network: allowlist` needs a network namespace for each command, which is not available here: {why}\nhint: {fix}; `containment.network: off` runs commands without network"
    )]
    NoOwnNetwork { why: String, fix: String },
    #[error(
        "the command was not run: the sandbox could not be set up: {0}\nhint: `omp doctor` shows what this system supports"
    )]
    Layout(String),
}

impl Containment {
    /// No containment, for programs that the user started: they may do what the user may. Its uses are listed, with reasons,
    /// in `xtask/exceptions.toml`.
    pub fn of_user() -> Self {
        Self::none()
    }

    /// No containment for the model's commands either: the user has switched it off, or the system does not support it and
    /// the user was told. Its uses are listed, with reasons, in `xtask/exceptions.toml`.
    pub fn switched_off() -> Self {
        Self::none()
    }

    fn none() -> Self {
        Self {
            access: None,
            at_most: Rung::default(),
            egress: None,
            signing: None,
            caches: Arc::default(),
            #[cfg(unix)]
            asides: Arc::default(),
            #[cfg(target_os = "linux")]
            families: Arc::default(),
            #[cfg(target_os = "linux")]
            named: Vec::new(),
        }
    }

    /// Enforces the map by the strongest means of this system. A map whose mode is `off` contains nothing.
    pub fn new(access: Access) -> Self {
        let egress = Some(Arc::new(Egress::new(access.clone())));
        #[cfg(unix)]
        let asides = aside::Asides::of(access.clone());
        Self {
            access: Some(access),
            egress,
            #[cfg(unix)]
            asides,
            ..Self::none()
        }
    }

    /// Reaches named hosts through this machine's upstream proxy.
    #[must_use]
    pub fn through(mut self, upstream: Upstream) -> Self {
        self.egress = self.access.clone().map(|access| Arc::new(Egress::new(access).through(upstream)));
        self
    }

    /// Adds a signer of commits for commands.
    #[must_use]
    pub fn signed_by(mut self, signing: Arc<dyn Signing>) -> Self {
        self.signing = Some(signing);
        self
    }

    /// Adds access to git's history, so that git can replace tracked files.
    #[must_use]
    pub fn with_past(self, open: OpenPast) -> Self {
        #[cfg(target_os = "linux")]
        self.asides.tracked.open_by(open);
        #[cfg(not(target_os = "linux"))]
        let _ = open;
        self
    }

    /// Limits the means to this rung.
    #[must_use]
    pub fn at_most(mut self, rung: Rung) -> Self {
        self.at_most = rung;
        self
    }

    /// The containment for one call, including what is lent to it.
    #[must_use]
    pub fn for_call(&self, call: &str) -> Self {
        let access = self.access.as_ref().map(|access| Access::new(access.map_of(call).as_ref().clone()));
        Self { access, ..self.clone() }
    }

    /// The containment for one command that is known to write to `writes`: it may create, replace and remove the paths
    /// outside the workspace that it names and the user has allowed.
    #[must_use]
    pub fn for_command(self, command: &str, writes: &[PathBuf]) -> Self {
        #[cfg(target_os = "linux")]
        {
            let map = self.access.as_ref().filter(|_| self.is_on()).map(Access::map).unwrap_or_default();
            let named = map.writable.iter().filter(|path| aside::is_named(path, &map, command, writes));
            Self { named: named.cloned().collect(), ..self }
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (command, writes);
            self
        }
    }

    /// What the children may touch; `None` if they are not contained.
    pub fn access(&self) -> Option<&Access> {
        self.access.as_ref()
    }

    /// The proxy, which is used if only named hosts are reachable.
    pub fn egress(&self) -> Option<&Arc<Egress>> {
        let is_used = self.is_on() && self.access.as_ref()?.network() == NetworkMode::Allowlist;
        self.egress.as_ref().filter(|_| is_used)
    }

    /// Where commands request signatures. `None` if nothing is contained, or if they could not commit anyway.
    pub fn desk(&self) -> Option<Arc<SigningDesk>> {
        let signing = self.signing.as_ref()?;
        let may_commit = self.access.as_ref()?.mode() == ContainMode::WorkspaceWrite;
        signing.desk(self.rung().filter(|_| may_commit)?)
    }

    /// What was signed for commands since the last call, as sentences.
    pub fn take_signed(&self) -> Vec<String> {
        self.signing.as_ref().map(|signing| signing.take_signed()).unwrap_or_default()
    }

    /// Whether children may touch less than the user.
    pub fn is_on(&self) -> bool {
        self.access.as_ref().is_some_and(|access| access.mode() != ContainMode::Off)
    }

    /// The rung by which the mode is enforced.
    pub fn rung(&self) -> Option<Rung> {
        self.is_on().then(|| standing().rung().min(self.at_most))
    }

    /// Protections of the configured mode that are missing here although commands run, for the user.
    pub fn shortfalls(&self) -> Vec<String> {
        match self.rung() {
            Some(Rung::Landlock | Rung::Namespaces) => standing().missing.iter().map(ToString::to_string).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether commands can run at all with the configured map.
    pub fn check(&self) -> Result<(), ContainmentRefused> {
        let Some(access) = self.access.as_ref().filter(|access| access.mode() != ContainMode::Off) else {
            return Ok(());
        };
        let rung = standing().rung().min(self.at_most);
        if rung == Rung::None {
            return Err(standing().refusal(mode_name(access.mode())));
        }
        if access.network() == NetworkMode::Allowlist && rung == Rung::Landlock {
            return Err(standing().no_own_network());
        }
        Ok(())
    }

    /// Prepares the containment of one child, with `own` folders of omp that it may write to; `runs` is its command as
    /// text. `None` if nothing is contained. The [`TreeGuard`] has to live as long as any process of the child's tree.
    pub fn prepare(&self, own: &[PathBuf], runs: &str) -> Result<Option<(Cage, TreeGuard)>, ContainmentRefused> {
        self.check()?;
        let Some(rung) = self.rung() else { return Ok(None) };
        let mut map = self.access.as_ref().map(Access::map).unwrap_or_default();
        if !own.is_empty() {
            let (own, map) = (own.iter().map(|path| real_path::of(path)), Arc::make_mut(&mut map));
            // The temp folder may be inside a hidden folder, such as the one for the session's sockets.
            map.shown.extend(own.clone());
            map.writable.extend(own);
        }
        if let Some(desk) = self.desk() {
            let map = Arc::make_mut(&mut map);
            map.shown.push(real_path::of(&desk.folder));
            map.sockets.push(real_path::of(&desk.socket));
        }
        let shared = map.clone();
        let caches = self.caches.make(&map, runs);
        let (mut kept, open) = self.kept(&mut map, rung, runs);
        kept.caches = Some(caches);
        let mut cage = Cage::new(&map, rung, shared, &open).map_err(ContainmentRefused::Layout)?;
        #[cfg(target_os = "linux")]
        cage.in_families(&self.families);
        let egress = self.egress.as_ref().filter(|_| map.network == NetworkMode::Allowlist);
        kept.way_out =
            egress.map(|egress| cage.let_out(egress, &map)).transpose().map_err(ContainmentRefused::Layout)?;
        Ok(Some((cage, kept)))
    }

    /// Whether a command creates `path` itself, because its parent folder is opened.
    pub fn opens_around(&self, path: &Path) -> bool {
        #[cfg(target_os = "linux")]
        {
            let (map, session) = (self.access.as_ref().map(Access::map).unwrap_or_default(), self.asides.session_map());
            let around = aside::OpenRules { map: &map, session: session.as_deref(), named: &self.named };
            let mut roots = map.writable.iter().filter(|root| path.starts_with(root));
            let has_mounts = self.rung() >= Some(Rung::Namespaces) && map.mode == ContainMode::WorkspaceWrite;
            has_mounts && roots.any(|root| around.folder(root).is_some())
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = path;
            false
        }
    }

    /// A program looked for a cache of the map that did not exist: it is created for all later commands.
    pub fn want_cache(&self, cache: &Path) {
        self.caches.want(cache);
    }

    /// What commands have created, changed or removed since the last call although it decides what runs, and what was done
    /// about it.
    pub fn take_set_aside(&self) -> Vec<SetAside> {
        #[cfg(unix)]
        {
            self.asides.look();
            self.asides.take()
        }
        #[cfg(not(unix))]
        Vec::new()
    }

    /// Sends each of them at once, in addition to [`Self::take_set_aside`]. Only the last receiver gets them.
    pub fn hear_set_aside(&self) -> mpsc::Receiver<SetAside> {
        #[cfg(unix)]
        {
            self.asides.hear()
        }
        #[cfg(not(unix))]
        mpsc::channel(1).1
    }

    /// Returns the guard, and the git settings that are not mounted although they are guarded.
    #[cfg(target_os = "linux")]
    fn kept(&self, map: &mut Arc<AccessMap>, rung: Rung, runs: &str) -> (TreeGuard, Vec<PathBuf>) {
        if map.mode != ContainMode::WorkspaceWrite {
            return Default::default();
        }
        self.asides.look();
        aside::guard_inner(map);
        let mut open = Vec::new();
        if rung >= Rung::Namespaces {
            open = aside::open_outside(map, self.asides.session_map().as_deref(), &self.named);
        }
        let watch = aside::PlannedWatch::new(map.clone(), &self.asides);
        let watch = match rung < Rung::Namespaces {
            true => watch.put_back_all(),
            // Other commands leave the user's own changes of these files alone, however long they run.
            false => watch.put_back_some(aside::names_git(runs)),
        };
        aside::leave_tracked(map, watch.loose(), &self.asides.tracked);
        open.extend(aside::open_for_lent(map));
        // A worktree is removed with everything that git keeps of it.
        open.extend(watch.settings().iter().filter(|file| !is_of_worktree(file)).cloned());
        leave_open(map, watch.pointers());
        (TreeGuard { _watch: Some(watch.begin()), ..TreeGuard::default() }, open)
    }

    /// Seatbelt rules apply to paths, existing or not; repositories that commands create are scanned.
    #[cfg(target_os = "macos")]
    fn kept(&self, map: &mut Arc<AccessMap>, _rung: Rung, _runs: &str) -> (TreeGuard, Vec<PathBuf>) {
        self.asides.look();
        aside::guard_inner(map);
        let watch = aside::PlannedWatch::new(map.clone(), &self.asides);
        let open = watch.settings().to_vec();
        leave_open(map, watch.pointers());
        Arc::make_mut(map).guarded.retain(|guard| !map::is_in_missing_repository(guard) && !open.contains(guard));
        (TreeGuard { _watch: Some(watch.begin()), ..TreeGuard::default() }, open)
    }

    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    fn kept(&self, _map: &mut Arc<AccessMap>, _rung: Rung, _runs: &str) -> (TreeGuard, Vec<PathBuf>) {
        Default::default()
    }
}

/// Excludes the pointer files from the mounts: they are checked instead, and their folders may be moved.
#[cfg(unix)]
fn leave_open(map: &mut Arc<AccessMap>, pointers: &[PathBuf]) {
    if !pointers.is_empty() {
        Arc::make_mut(map).guarded.retain(|guard| !pointers.contains(guard));
    }
}

/// Whether the path has the form `.git/worktrees/name/config.worktree`.
#[cfg(target_os = "linux")]
fn is_of_worktree(settings: &Path) -> bool {
    settings.ancestors().nth(2).is_some_and(|folder| folder.ends_with("worktrees"))
}

/// The capabilities of this system, detected once by trying them.
pub fn standing() -> &'static ProbedSupport {
    static STANDING: std::sync::LazyLock<ProbedSupport> = std::sync::LazyLock::new(platform::probe);
    &STANDING
}

pub fn mode_name(mode: ContainMode) -> &'static str {
    match mode {
        ContainMode::Off => "off",
        ContainMode::ReadOnly => "read-only",
        ContainMode::WorkspaceWrite => "workspace-write",
    }
}

/// The hidden paths in the form that mounts and rules need.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "laid out on Linux only"))]
#[derive(Debug, Default)]
pub(crate) struct Hidden {
    /// Split into as many paths as are needed to exclude what is shown. None is inside another, since that is hidden
    /// already, and none contains the workspace.
    pub(crate) pieces: Vec<PathBuf>,
    /// Hidden folders that contain something shown.
    pub(crate) opened: Vec<PathBuf>,
}

#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "laid out on Linux only"))]
impl Hidden {
    pub(crate) fn of(map: &AccessMap) -> Self {
        let real = map.hidden.iter().filter_map(|path| real_path::existing(path));
        let mut rest = outermost(real.filter(|path| !map.workspace.starts_with(path)).collect());
        let mut hidden = Self::default();
        while let Some(path) = rest.pop() {
            if map.shown.iter().any(|shown| path.starts_with(shown)) {
                continue;
            }
            if !(path.is_dir() && map.shown.iter().any(|shown| shown.starts_with(&path))) {
                hidden.pieces.push(path);
                continue;
            }
            // A link is not content of the folder: its target is hidden by its own name, or not at all.
            rest.extend(entries(&path).filter(|path| !path.is_symlink()));
            hidden.opened.push(path);
        }
        hidden.pieces = outermost(hidden.pieces);
        hidden
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// Removes paths that are inside another.
fn outermost(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    // A folder sorts before its content.
    paths.sort();
    paths.dedup_by(|inner, outer| inner.starts_with(outer));
    paths
}

/// Writable folders, none inside another unless something guarded is between them.
#[cfg_attr(not(any(target_os = "linux", target_os = "macos")), expect(dead_code, reason = "nothing is laid out"))]
pub(crate) fn writable_roots(map: &AccessMap) -> Vec<PathBuf> {
    let mut roots = map.writable.clone();
    if map.mode == ContainMode::WorkspaceWrite {
        roots.push(map.workspace.clone());
    }
    roots.sort();
    roots.dedup();
    let all = roots.clone();
    roots.retain(|root| {
        let outer = all.iter().filter(|outer| *outer != root && root.starts_with(outer));
        let guarded_between = |outer: &PathBuf| {
            map.guarded.iter().any(|guard| root.starts_with(guard) && guard.starts_with(outer) && guard != root)
        };
        outer.clone().count() == 0 || outer.clone().all(guarded_between)
    });
    roots
}

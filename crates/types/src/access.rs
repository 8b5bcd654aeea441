//! The access rules: one map for the kernel's containment and for the file tools.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use serde::{Deserialize, Serialize};

mod names;
mod promised;

pub use names::folded_path;
use promised::Promised;

/// How far child processes and file tools may reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContainMode {
    /// Everything that the user may access.
    Off,
    ReadOnly,
    /// Writes only in the workspace, its temp folder and named caches.
    #[default]
    WorkspaceWrite,
}

impl ContainMode {
    pub fn as_str(self) -> &'static str {
        match self {
            ContainMode::Off => "off",
            ContainMode::ReadOnly => "read-only",
            ContainMode::WorkspaceWrite => "workspace-write",
        }
    }
}

/// The network access of child processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkMode {
    #[default]
    On,
    Off,
    /// Named hosts, through the egress proxy.
    Allowlist,
}

/// How much of a repository belongs to a session that starts in one of its folders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkspaceScope {
    /// The whole repository. git changes files anywhere in its tree: with less, a checkout would change only some of them.
    #[default]
    Repository,
    /// Only the folder in which omp was started.
    Folder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Touch {
    Read,
    Write,
}

/// Every path is absolute, with links resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessMap {
    pub mode: ContainMode,
    pub workspace: PathBuf,
    /// Writable paths besides the workspace: a temp folder, caches, paths that the user allowed.
    pub writable: Vec<PathBuf>,
    /// Paths that must not be read: keys, credentials, browser profiles.
    pub hidden: Vec<PathBuf>,
    /// Readable although inside a hidden path, or reachable only through a link in the workspace.
    pub shown: Vec<PathBuf>,
    /// Not writable although inside a writable path, even before they exist.
    pub guarded: Vec<PathBuf>,
    /// Links to guarded paths: they must not be replaced, whatever happens to their targets.
    pub links: Vec<PathBuf>,
    pub network: NetworkMode,
    /// Hosts that `NetworkMode::Allowlist` allows.
    pub hosts: Vec<String>,
    /// Sockets that may be connected to although they lead outside (docker, ssh-agent, D-Bus).
    pub sockets: Vec<PathBuf>,
    /// Services behind sockets, open or not.
    pub services: Vec<Service>,
    /// Folders of programs, packages and caches that a link in the workspace may lead to.
    pub familiar: Vec<PathBuf>,
    /// Entries of `writable` that did not exist: a command cannot create them, because the parent folder stays closed.
    pub caches: Vec<UnusedCache>,
}

/// The cache of a package manager or compiler that this user has not used yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnusedCache {
    pub path: PathBuf,
    /// If this folder does not exist either, nothing is created.
    pub home: PathBuf,
    /// Commands that name one of these programs need the cache.
    pub programs: &'static [&'static str],
    /// Whether the workspace is a project of such a program, so that any command may need it.
    pub is_expected: bool,
}

/// The names of all services that can be opened.
pub const SERVICES: &[&str] =
    &["ssh-agent", "gpg-agent", "docker", "podman", "dbus", "x11", "wayland", "tmux", "git-credential-cache"];

/// A program on this machine that others reach by a socket, with the files they need for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Service {
    /// The name in settings: `ssh-agent`.
    pub name: &'static str,
    /// The existing sockets.
    pub sockets: Vec<PathBuf>,
    /// Existing files without secrets: known hosts, settings, public keys.
    pub files: Vec<PathBuf>,
    /// Files that a client may want and that stay hidden, because they hold credentials.
    pub withheld: Vec<PathBuf>,
}

impl Service {
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.sockets.iter().chain(&self.files)
    }
}

/// Why an access is denied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    #[error("{} may not be read: it is hidden from the model", .0.display())]
    Hidden(PathBuf),
    #[error("{} may not be written: it decides what runs or is allowed", .0.display())]
    Guarded(PathBuf),
    #[error("{} may not be written: it is outside the workspace", .0.display())]
    Outside(PathBuf),
    #[error("{} may not be written: this session is read-only", .0.display())]
    ReadOnly(PathBuf),
    #[error("{} may not be read: a link in the workspace leads there, out of the workspace", .0.display())]
    Link(PathBuf),
}

impl Denied {
    /// Returns the real path.
    pub fn path(&self) -> &Path {
        match self {
            Denied::Hidden(path)
            | Denied::Guarded(path)
            | Denied::Outside(path)
            | Denied::ReadOnly(path)
            | Denied::Link(path) => path,
        }
    }
}

impl AccessMap {
    /// Creates a map without restrictions.
    pub fn open(workspace: impl Into<PathBuf>) -> Self {
        Self { mode: ContainMode::Off, workspace: workspace.into(), ..Self::default() }
    }

    /// `real` must have its links resolved.
    pub fn allows(&self, touch: Touch, real: &Path) -> Result<(), Denied> {
        let within = |roots: &[PathBuf]| roots.iter().any(|root| names::is_allowed_by(root, real));
        match (self.mode, touch) {
            (ContainMode::Off, _) => Ok(()),
            _ if self.hidden.iter().any(|root| names::is_denied_by(root, real)) && !within(&self.shown) => {
                Err(Denied::Hidden(real.to_owned()))
            }
            (_, Touch::Read) => Ok(()),
            (ContainMode::ReadOnly, Touch::Write) if !within(&self.writable) => Err(Denied::ReadOnly(real.to_owned())),
            _ if self.is_guarded(real) || self.links.iter().any(|link| link == real) => {
                Err(Denied::Guarded(real.to_owned()))
            }
            _ if within(&self.writable) || names::is_allowed_by(&self.workspace, real) => Ok(()),
            _ => Err(Denied::Outside(real.to_owned())),
        }
    }

    /// Whether the file tools may read `real` by the name `named`, which may be a link or lead through one.
    ///
    /// A repository can contain links to anything. A link is accepted only if its target is in the repository, or in a
    /// folder of programs and caches.
    pub fn allows_through(&self, named: &Path, real: &Path) -> Result<(), Denied> {
        let within = |roots: &[PathBuf]| roots.iter().any(|root| names::is_allowed_by(root, real));
        let is_own_name = named == real || !named.starts_with(&self.workspace);
        let is_inside = || {
            names::is_allowed_by(&self.workspace, real)
                || [&self.writable, &self.shown, &self.familiar].into_iter().any(|roots| within(roots))
        };
        match self.mode {
            ContainMode::Off => Ok(()),
            _ if is_own_name || is_inside() => Ok(()),
            _ => Err(Denied::Link(real.to_owned())),
        }
    }

    pub fn service(&self, name: &str) -> Option<&Service> {
        self.services.iter().find(|service| service.name == name)
    }

    /// Whether commands cannot access some part of the service.
    pub fn is_closed(&self, service: &Service) -> bool {
        service.paths().any(|path| self.allows(Touch::Read, path).is_err())
    }

    /// Allows access to `real` and nothing else: guarded paths below it stay guarded.
    pub fn open_to(&mut self, touch: Touch, real: &Path) {
        if touch == Touch::Read || self.hidden.iter().any(|hidden| real.starts_with(hidden)) {
            self.shown.push(real.to_owned());
        }
        // The root is never opened for writing: a user who approves it has not read the question.
        if touch == Touch::Write && real.parent().is_some() {
            self.guarded.retain(|guard| guard != real);
            self.links.retain(|link| link != real);
            self.writable.push(real.to_owned());
        }
    }

    /// A path that is writable inside a guarded one is not guarded.
    fn is_guarded(&self, real: &Path) -> bool {
        let guards = self.guarded.iter().filter(|guard| names::is_denied_by(guard, real));
        let Some(guard) = guards.max_by_key(|guard| guard.components().count()) else {
            // This also covers a repository that was just created and that no rule names.
            let freed = |free: &PathBuf| names::is_allowed_by(free, real) && names::decides_for_git(free);
            return names::decides_for_git(real) && !self.writable.iter().any(freed);
        };
        let freed = |free: &PathBuf| names::is_allowed_by(free, real) && free.starts_with(guard) && free != guard;
        !self.writable.iter().any(freed)
    }
}

/// The map of a session, extended by what the user allows.
///
/// It may still be under construction when the session starts: readers wait for it.
#[derive(Clone, Debug, Default)]
pub struct Access(Arc<Promised>);

#[derive(Debug, Default)]
struct HeldMap {
    map: Arc<AccessMap>,
    lent: Vec<Lent>,
    /// Paths that ended calls may have written, since the last query.
    returned: VecDeque<PathBuf>,
    /// All such paths of the session.
    ever: VecDeque<PathBuf>,
    next: u64,
}

/// Limits the ended loans that were not queried; the oldest is dropped.
const MOST_RETURNED: usize = 64;
/// Limits the paths lent for writing that are remembered for the session; the oldest is dropped.
const MOST_REMEMBERED: usize = 1_000;

#[derive(Debug)]
struct Lent {
    id: u64,
    call: String,
    touch: Touch,
    path: PathBuf,
}

/// Additional access for one call; dropping this ends it.
#[derive(Debug)]
pub struct Loan {
    access: Access,
    id: u64,
}

impl Access {
    pub fn new(map: AccessMap) -> Self {
        Self(Arc::new(Promised::kept(map)))
    }

    /// Creates access with these modes; `make` builds the map on first use.
    pub fn promised(
        mode: ContainMode,
        network: NetworkMode,
        make: impl FnOnce() -> AccessMap + Send + 'static,
    ) -> Self {
        Self(Arc::new(Promised::new(mode, network, Box::new(make))))
    }

    /// Whether the map is ready without waiting.
    pub fn is_made(&self) -> bool {
        self.0.get().is_some()
    }

    /// Returns the mode, which is known from the start.
    pub fn mode(&self) -> ContainMode {
        self.0.get().map_or_else(|| self.0.mode(), |held| read(held).map.mode)
    }

    /// Returns the network mode, which is known from the start.
    pub fn network(&self) -> NetworkMode {
        self.0.get().map_or_else(|| self.0.network(), |held| read(held).map.network)
    }

    /// Returns the current map, without loans to calls.
    pub fn map(&self) -> Arc<AccessMap> {
        self.read().map.clone()
    }

    /// Returns the current map with the loans to this call.
    pub fn map_of(&self, call: &str) -> Arc<AccessMap> {
        let held = self.read();
        let mut map = held.map.clone();
        for lent in held.lent.iter().filter(|lent| lent.call == call) {
            Arc::make_mut(&mut map).open_to(lent.touch, &lent.path);
        }
        map
    }

    /// Returns a separate, fixed copy of the map with the loans to this call; `None` if it has none.
    pub fn of_call(&self, call: &str) -> Option<Access> {
        let has_loans = self.read().lent.iter().any(|lent| lent.call == call);
        has_loans.then(|| Access::new(self.map_of(call).as_ref().clone()))
    }

    /// Checks access without loans to calls.
    pub fn check(&self, touch: Touch, real: &Path) -> Result<(), Denied> {
        self.read().map.allows(touch, real)
    }

    /// Lets one call access `real`, whatever the map says.
    #[must_use]
    pub fn lend(&self, call: &str, touch: Touch, real: &Path) -> Loan {
        let mut held = self.write();
        held.next += 1;
        let id = held.next;
        if touch == Touch::Write && !held.ever.iter().any(|path| path == real) {
            held.ever.truncate(MOST_REMEMBERED - 1);
            held.ever.push_front(real.to_owned());
        }
        held.lent.push(Lent { id, call: call.to_owned(), touch, path: real.to_owned() });
        Loan { access: self.clone(), id }
    }

    /// Returns the current map with the write loans to running calls, and the loans to calls that ended since the last
    /// query.
    pub fn map_with_loans(&self) -> Arc<AccessMap> {
        let mut held = self.write();
        let mut map = held.map.clone();
        let mut paths: Vec<PathBuf> = std::mem::take(&mut held.returned).into();
        paths.extend(held.lent.iter().filter(|lent| lent.touch == Touch::Write).map(|lent| lent.path.clone()));
        for path in paths {
            Arc::make_mut(&mut map).open_to(Touch::Write, &path);
        }
        map
    }

    /// Whether the user has allowed some call of this session to write there: what the call left is intended.
    pub fn was_lent(&self, real: &Path) -> bool {
        self.read().ever.iter().any(|path| real.starts_with(path))
    }

    pub fn change(&self, change: impl FnOnce(&mut AccessMap)) {
        change(Arc::make_mut(&mut self.write().map));
    }

    /// Changes the map; a map that is still under construction gets the change at once when it is built, so this does not
    /// wait.
    pub fn change_early(&self, change: impl FnOnce(&mut AccessMap) + Send + 'static) {
        if let Some(too_late) = self.0.change_early(Box::new(change)) {
            self.change(too_late);
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, HeldMap> {
        read(self.0.wait())
    }

    fn write(&self) -> RwLockWriteGuard<'_, HeldMap> {
        self.0.wait().write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(held: &RwLock<HeldMap>) -> RwLockReadGuard<'_, HeldMap> {
    held.read().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Loan {
    fn drop(&mut self) {
        let mut held = self.access.write();
        let Some(at) = held.lent.iter().position(|lent| lent.id == self.id) else { return };
        let lent = held.lent.remove(at);
        if lent.touch == Touch::Write {
            held.returned.truncate(MOST_RETURNED - 1);
            held.returned.push_front(lent.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(mode: ContainMode) -> AccessMap {
        AccessMap {
            mode,
            workspace: "/w/app".into(),
            writable: vec!["/tmp/omp".into()],
            hidden: vec!["/users/u/.ssh".into(), "/w/app/.env.keys".into()],
            guarded: vec!["/w/app/.git/hooks".into()],
            ..AccessMap::default()
        }
    }

    #[track_caller]
    fn check(mode: ContainMode, touch: Touch, path: &str, expect: Result<(), fn(PathBuf) -> Denied>) {
        let expect = expect.map_err(|denied| denied(path.into()));
        assert_eq!(map(mode).allows(touch, Path::new(path)), expect, "{mode:?} {touch:?} {path}");
    }

    #[test]
    fn who_may_touch_what() {
        use ContainMode::{Off, ReadOnly, WorkspaceWrite};
        use Touch::{Read, Write};
        check(WorkspaceWrite, Write, "/w/app/src/main.rs", Ok(()));
        check(WorkspaceWrite, Write, "/w/app-evil/x", Err(Denied::Outside));
        check(WorkspaceWrite, Write, "/tmp/omp/x", Ok(()));
        check(WorkspaceWrite, Write, "/w/app/.git/hooks/pre-commit", Err(Denied::Guarded));
        check(WorkspaceWrite, Read, "/w/app/.git/hooks/pre-commit", Ok(()));
        check(WorkspaceWrite, Read, "/users/u/.ssh/id", Err(Denied::Hidden));
        check(WorkspaceWrite, Read, "/w/app/.env.keys", Err(Denied::Hidden));
        check(WorkspaceWrite, Read, "/etc/passwd", Ok(()));
        check(ReadOnly, Write, "/w/app/src/main.rs", Err(Denied::ReadOnly));
        check(ReadOnly, Write, "/tmp/omp/x", Ok(()));
        check(Off, Read, "/users/u/.ssh/id", Ok(()));
    }

    #[test]
    fn other_spellings_of_what_is_kept_are_kept_as_well() {
        use ContainMode::WorkspaceWrite;
        use Touch::{Read, Write};
        check(WorkspaceWrite, Read, "/users/u/.SSH/id", Err(Denied::Hidden));
        check(WorkspaceWrite, Read, "/users/u/.ssh", Err(Denied::Hidden));
        check(WorkspaceWrite, Read, "/users/u/.ssh-keys", Ok(()));
        check(WorkspaceWrite, Write, "/w/app/.Git/HOOKS/pre-commit", Err(Denied::Guarded));
        check(WorkspaceWrite, Write, "/w/app/.git/hooks-of-mine/x", Ok(()));
        // On a case-sensitive system, allowed paths must match exactly.
        if cfg!(target_os = "linux") {
            check(WorkspaceWrite, Write, "/w/APP/src/main.rs", Err(Denied::Outside));
        }
    }

    #[test]
    fn a_folder_within_something_guarded_can_be_freed() {
        let mut map = map(ContainMode::WorkspaceWrite);
        map.guarded.push("/w/app/.omp".into());
        map.writable.push("/w/app/.omp/local".into());
        assert_eq!(map.allows(Touch::Write, Path::new("/w/app/.omp/local/x")), Ok(()));
        assert!(map.allows(Touch::Write, Path::new("/w/app/.omp/config.yml")).is_err());
    }

    #[test]
    fn what_the_user_allows_is_known_to_all_who_hold_the_map() {
        let access = Access::new(map(ContainMode::WorkspaceWrite));
        let other = access.clone();
        access.change(|map| map.writable.push("/srv".into()));
        assert_eq!(other.check(Touch::Write, Path::new("/srv/x")), Ok(()));
    }

    #[test]
    fn a_map_is_made_when_it_is_asked_for_and_has_what_was_changed_before() {
        let (begin, may_begin) = std::sync::mpsc::channel();
        let access = Access::promised(ContainMode::ReadOnly, NetworkMode::Off, move || {
            may_begin.recv().unwrap();
            AccessMap { network: NetworkMode::Off, ..map(ContainMode::ReadOnly) }
        });
        assert_eq!((access.mode(), access.network()), (ContainMode::ReadOnly, NetworkMode::Off));
        access.change_early(|map| map.writable.push("/early".into()));
        let other = access.clone();
        let waits = std::thread::spawn(move || other.check(Touch::Write, Path::new("/early/x")));
        assert!(!access.is_made());
        begin.send(()).unwrap();
        assert_eq!(waits.join().unwrap(), Ok(()));
        assert!(access.is_made());
        access.change_early(|map| map.writable.push("/late".into()));
        assert_eq!(access.map().writable, ["/tmp/omp", "/early", "/late"].map(PathBuf::from));
        assert_eq!((access.mode(), access.network()), (ContainMode::ReadOnly, NetworkMode::Off));
    }

    #[test]
    fn where_a_map_cannot_be_made_nothing_may_be_touched() {
        let access = Access::promised(ContainMode::WorkspaceWrite, NetworkMode::On, || panic!("on purpose"));
        let other = access.clone();
        assert!(std::thread::spawn(move || other.map()).join().is_err());
        for touch in [Touch::Read, Touch::Write] {
            assert!(access.check(touch, Path::new("/w/app/x")).is_err(), "{touch:?}");
        }
        assert_eq!(access.map().network, NetworkMode::Off);
    }

    #[test]
    fn what_is_lent_is_for_one_call_and_goes_with_the_loan() {
        use Touch::{Read, Write};
        let access = Access::new(map(ContainMode::WorkspaceWrite));
        let (hook, key) = (Path::new("/w/app/.git/hooks/a"), Path::new("/users/u/.ssh/id"));
        let loans = [access.lend("a", Write, hook), access.lend("a", Read, key)];
        let of_a = access.map_of("a");
        assert_eq!((of_a.allows(Write, hook), of_a.allows(Read, key)), (Ok(()), Ok(())));
        for other in ["/w/app/.git/hooks/b", "/srv/x"] {
            assert!(of_a.allows(Write, Path::new(other)).is_err(), "{other}");
        }
        assert!(of_a.allows(Write, key).is_err() && of_a.allows(Read, Path::new("/users/u/.ssh/other")).is_err());
        for map in [access.map(), access.map_of("b")] {
            assert!(map.allows(Write, hook).is_err() && map.allows(Read, key).is_err());
        }
        assert!(access.check(Write, hook).is_err() && access.check(Read, key).is_err());
        let own = access.of_call("a").unwrap();
        assert_eq!((own.check(Write, hook), own.check(Read, key)), (Ok(()), Ok(())));
        assert!(access.of_call("b").is_none());
        drop(loans);
        assert!(access.of_call("a").is_none() && access.map_of("a").allows(Write, hook).is_err());
    }

    #[test]
    fn what_was_lent_for_writing_is_remembered() {
        let access = Access::new(map(ContainMode::WorkspaceWrite));
        let hook = Path::new("/w/app/.git/hooks/a");
        drop([access.lend("a", Touch::Write, hook), access.lend("a", Touch::Read, Path::new("/srv/read"))]);
        assert!(access.was_lent(hook) && access.check(Touch::Write, hook).is_err());
        assert!(!access.was_lent(Path::new("/w/app/.git/hooks/b")) && !access.was_lent(Path::new("/srv/read")));
    }

    #[test]
    fn a_link_leads_within_the_workspace_or_to_places_of_programs() {
        let mut map = map(ContainMode::WorkspaceWrite);
        map.familiar.push("/usr".into());
        let check = |map: &AccessMap, named: &str, real: &str, expect: bool| {
            let answer = map.allows_through(Path::new(named), Path::new(real));
            assert_eq!(answer.is_ok(), expect, "{named} -> {real}: {answer:?}");
        };
        check(&map, "/w/app/link", "/w/app/src/a", true);
        check(&map, "/w/app/target/x", "/tmp/omp/x", true);
        check(&map, "/w/app/.venv/bin/python", "/usr/bin/python3", true);
        check(&map, "/w/app/notes.md", "/users/u/notes.md", false);
        check(&map, "/w/app/link", "/w/other/x", false);
        // By its own name, or through a link outside the repository.
        check(&map, "/users/u/notes.md", "/users/u/notes.md", true);
        check(&map, "/users/u/link", "/srv/x", true);
        map.open_to(Touch::Read, Path::new("/users/u/notes.md"));
        check(&map, "/w/app/notes.md", "/users/u/notes.md", true);
        check(&AccessMap::open("/w/app"), "/w/app/link", "/srv/x", true);
    }

    #[test]
    fn a_service_is_closed_while_anything_of_it_is_hidden() {
        let mut map = map(ContainMode::WorkspaceWrite);
        let hosts = PathBuf::from("/users/u/.ssh/known_hosts");
        let agent = Service {
            name: "ssh-agent",
            files: vec![hosts.clone()],
            sockets: vec!["/t/agent".into()],
            ..Service::default()
        };
        map.services.push(agent.clone());
        assert!(map.is_closed(&agent) && map.service("ssh-agent") == Some(&agent) && map.service("docker").is_none());
        map.open_to(Touch::Read, &hosts);
        assert!(!map.is_closed(&agent));
        assert!(!map.is_closed(&Service::default()));
    }

    #[test]
    fn the_whole_system_is_never_lent() {
        let mut map = map(ContainMode::WorkspaceWrite);
        map.open_to(Touch::Write, Path::new("/"));
        assert!(map.allows(Touch::Write, Path::new("/etc/passwd")).is_err());
        assert!(map.writable.iter().all(|path| path != Path::new("/")));
    }

    #[test]
    fn a_repository_within_runs_nothing_that_was_not_allowed_by_name() {
        let mut map = map(ContainMode::WorkspaceWrite);
        let config = Path::new("/w/app/sub/.git/config");
        assert_eq!(map.allows(Touch::Write, config), Err(Denied::Guarded(config.into())));
        assert_eq!(map.allows(Touch::Write, Path::new("/w/app/sub/.git/index")), Ok(()));
        map.writable.push("/w/app/sub/.git".into());
        assert!(map.allows(Touch::Write, config).is_err(), "the folder around it says nothing of it");
        map.open_to(Touch::Write, config);
        assert_eq!(map.allows(Touch::Write, config), Ok(()));
    }

    #[test]
    fn what_is_guarded_can_be_opened_by_its_own_name_only() {
        let mut map = map(ContainMode::WorkspaceWrite);
        map.open_to(Touch::Write, Path::new("/w/app"));
        assert!(map.allows(Touch::Write, Path::new("/w/app/.git/hooks/a")).is_err());
        map.open_to(Touch::Write, Path::new("/w/app/.git/hooks"));
        assert_eq!(map.allows(Touch::Write, Path::new("/w/app/.git/hooks/a")), Ok(()));
    }
}

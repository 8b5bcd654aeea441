//! Derives from the settings what the child processes of a session may access.

use std::path::{Path, PathBuf};

use omp_config::{Dirs, Settings, TrustState};
use omp_contain::{Containment, MapSources, Rung, default_map, services, standing};
use omp_egress::{Upstream, problem_of_rule};
use omp_session::{Safeguards, SandboxState, UndoState};
use omp_types::{Access, AccessMap, ContainMode, Env, NetworkMode, SERVICES};

use crate::folder::FolderSetup;

const SOCKETS: &str = "containment.sockets";

/// Returns the sandbox for the user's settings. If this system does not support the default mode, there is no sandbox and
/// [`warnings`] reports it; a mode that the user has chosen is not dropped.
pub fn decided(settings: &Settings, dirs: &Dirs, workspace: &Path, cwd: &Path, env: &Env) -> Containment {
    let chosen: Option<ContainMode> = settings.user("containment.mode");
    let own = settings.of(omp_contain::SETTINGS);
    let mode = chosen.unwrap_or_else(|| own.default("containment.mode"));
    if mode == ContainMode::Off || (chosen.is_none() && standing().rung() == Rung::None) {
        return Containment::switched_off();
    }
    let network: NetworkMode = own.user("containment.network");
    let (upstream, _) = Upstream::from_env(env);
    let lists = Lists::of(settings, dirs, mode, network);
    let signs = own.user("containment.signing");
    let (own_dirs, own_env, workspace, cwd) = (dirs.clone(), env.clone(), workspace.to_owned(), cwd.to_owned());
    let map = move || lists.map(&own_dirs, &workspace, &cwd, &own_env);
    let containment =
        Containment::new(Access::promised(mode, network, map)).through(upstream).with_past(omp_undo::open_past);
    if signs { signing(containment, dirs, env) } else { containment }
}

/// Adds signing of commits that contained commands make.
#[cfg(unix)]
fn signing(containment: Containment, dirs: &Dirs, env: &Env) -> Containment {
    let (Some(access), Ok(program)) = (containment.access().cloned(), std::env::current_exe()) else {
        return containment;
    };
    let signer = omp_exec::Signer::new(access, dirs.home.clone(), env.clone(), program);
    containment.signed_by(std::sync::Arc::new(signer))
}

/// There is no sandbox on these systems.
#[cfg(not(unix))]
fn signing(containment: Containment, _dirs: &Dirs, _env: &Env) -> Containment {
    containment
}

/// Starts to build the access map, which the first call needs, in a thread. Call this once the session is open: on a slow
/// disk it would delay what the first request needs.
pub fn make_ahead(containment: &Containment) {
    if let Some(access) = containment.access().filter(|access| !access.is_made()).cloned() {
        aside("omp-map", move || drop(access.map()));
    }
}

/// The user's settings for the sandbox.
struct Lists {
    mode: ContainMode,
    network: NetworkMode,
    writable: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    shown: Vec<PathBuf>,
    sockets: Vec<PathBuf>,
    services: Vec<String>,
    hosts: Vec<String>,
}

impl Lists {
    fn of(settings: &Settings, dirs: &Dirs, mode: ContainMode, network: NetworkMode) -> Self {
        let listed = |key: &str| settings.of(omp_contain::SETTINGS).user::<Vec<String>>(key);
        let paths = |key: &str| listed(key).iter().filter_map(|path| full(path, dirs)).collect::<Vec<PathBuf>>();
        let services = listed(SOCKETS).into_iter().filter(|name| SERVICES.contains(&name.as_str())).collect();
        Self {
            mode,
            network,
            writable: paths("containment.writable"),
            hidden: paths("containment.hidden"),
            shown: paths("containment.shown"),
            sockets: paths(SOCKETS),
            services,
            hosts: listed("containment.hosts"),
        }
    }

    /// Builds the access map. Stats hundreds of files.
    fn map(self, dirs: &Dirs, workspace: &Path, cwd: &Path, env: &Env) -> AccessMap {
        let Self { mode, network, writable, hidden, shown, mut sockets, services: named, hosts } = self;
        if !named.is_empty() {
            let services =
                services(&dirs.home, env).into_iter().filter(|service| named.iter().any(|it| it == service.name));
            sockets.extend(services.flat_map(|service| service.paths().cloned().collect::<Vec<_>>()));
        }
        default_map(&MapSources {
            mode,
            network,
            workspace,
            cwd,
            home: &dirs.home,
            agent: &dirs.agent,
            env,
            writable,
            hidden,
            shown,
            sockets,
            hosts,
        })
    }
}

/// Starts to detect what this system supports, while the rest of startup continues.
pub fn look_ahead(setup: &FolderSetup) {
    if setup.settings.user("containment.mode") != Some(ContainMode::Off) {
        aside("omp-probe", || {
            standing();
        });
    }
}

/// Runs work in a thread whose result is needed later. If no thread can be started, the work is done when it is needed.
pub fn aside(name: &str, work: impl FnOnce() + Send + 'static) {
    const STACK: usize = 512 * 1024;
    drop(std::thread::Builder::new().name(name.into()).stack_size(STACK).spawn(work));
}

/// The active safeguards, for front ends to show.
pub fn safeguards(setup: &FolderSetup, files_are_kept: bool) -> Safeguards {
    let decision = setup.trust();
    Safeguards {
        containment: Some(contained(setup.containment())),
        trusted: decision.is_for_run() || *decision.state() == TrustState::Trusted,
        undo: UndoState { enabled: files_are_kept },
    }
}

fn contained(containment: &Containment) -> SandboxState {
    let access = containment.access().cloned().unwrap_or_else(|| Access::new(AccessMap::open("")));
    SandboxState {
        mode: access.mode(),
        network: access.network(),
        rung: containment.rung().unwrap_or(Rung::None).name(),
        missing: containment.shortfalls(),
        refused: containment.check().err().map(|refused| refused.to_string()),
    }
}

/// Warnings about the sandbox that are shown when a session starts.
pub fn warnings(setup: &FolderSetup) -> Vec<String> {
    let containment = setup.containment();
    if containment.is_on() {
        let refused = containment.check().err().map(|refused| refused.to_string());
        let hosts: Vec<String> = setup.settings.of(omp_contain::SETTINGS).user("containment.hosts");
        let no_rules = hosts.iter().filter_map(|rule| problem_of_rule(rule));
        let is_proxied = containment.egress().is_some();
        let proxies = if is_proxied { Upstream::from_env(&setup.env).1 } else { Vec::new() };
        return refused.into_iter().chain(containment.shortfalls()).chain(no_rules).chain(proxies).collect();
    }
    let chosen: Option<ContainMode> = setup.settings.user("containment.mode");
    let missing = standing_unless(chosen);
    missing.map(|why| format!("commands run without a sandbox: {why}\nhint: `omp doctor` shows what is missing; `containment.mode: off` hides this warning")).into_iter().collect()
}

fn standing_unless(chosen: Option<ContainMode>) -> Option<String> {
    (chosen.is_none() && standing().rung() == Rung::None)
        .then(|| standing().missing.iter().map(|missing| missing.why.clone()).collect::<Vec<_>>().join("; "))
}

/// Returns the full path. Invalid paths were rejected when the settings were read.
fn full(path: &str, dirs: &Dirs) -> Option<PathBuf> {
    match path.strip_prefix("~/") {
        Some(rest) => Some(dirs.home.join(rest)),
        None => Some(PathBuf::from(path)).filter(|path| path.is_absolute()),
    }
}

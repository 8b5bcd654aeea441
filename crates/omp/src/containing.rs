//! From the settings to what the children of a session may touch.

use std::path::{Path, PathBuf};

use omp_config::{Dirs, Settings, TrustState};
use omp_contain::{Containment, MapSources, Rung, Upstream, default_map, problem_of_rule, services, standing};
use omp_session::{Contained, Kept, Safeguards};
use omp_types::{Access, AccessMap, ContainMode, Env, NetworkMode, SERVICES};

use crate::compose::{Problem, Setup};

const SOCKETS: &str = "containment.sockets";

/// What the user has set. A default that this system cannot keep is done without, which [`warnings`] tells; a mode that
/// the user chose is not.
pub fn decided(settings: &Settings, dirs: &Dirs, workspace: &Path, cwd: &Path, env: &Env) -> Containment {
    let chosen: Option<ContainMode> = settings.user("containment.mode");
    let mode = chosen.unwrap_or_default();
    if mode == ContainMode::Off || (chosen.is_none() && standing().rung() == Rung::None) {
        return Containment::none();
    }
    let network: NetworkMode = settings.user("containment.network").unwrap_or_default();
    let listed = |key: &str| settings.user::<Vec<String>>(key).unwrap_or_default();
    let paths = |key: &str| listed(key).iter().filter_map(|path| full(path, dirs)).collect::<Vec<PathBuf>>();
    let names = listed(SOCKETS);
    let mut sockets = paths(SOCKETS);
    if names.iter().any(|name| SERVICES.contains(&name.as_str())) {
        let services =
            services(&dirs.home, env).into_iter().filter(|service| names.iter().any(|it| it == service.name));
        sockets.extend(services.flat_map(|service| service.paths().cloned().collect::<Vec<_>>()));
    }
    let map = default_map(&MapSources {
        mode,
        network,
        workspace,
        cwd,
        home: &dirs.home,
        agent: &dirs.agent,
        env,
        writable: paths("containment.writable"),
        hidden: paths("containment.hidden"),
        shown: paths("containment.shown"),
        sockets,
        hosts: settings.user("containment.hosts").unwrap_or_default(),
    });
    let (upstream, _) = Upstream::from_env(env);
    let containment = Containment::new(Access::new(map)).through(upstream);
    match settings.user::<bool>("containment.signing").unwrap_or(true) {
        true => signing(containment, dirs, env),
        false => containment,
    }
}

/// With signatures for commits of the model's commands.
#[cfg(unix)]
fn signing(containment: Containment, dirs: &Dirs, env: &Env) -> Containment {
    let (Some(access), Ok(program)) = (containment.access().cloned(), std::env::current_exe()) else {
        return containment;
    };
    let signer = omp_exec::Signer::new(access, dirs.home.clone(), env.clone(), program);
    containment.signed_by(std::sync::Arc::new(signer))
}

/// Nothing is contained there.
#[cfg(not(unix))]
fn signing(containment: Containment, _dirs: &Dirs, _env: &Env) -> Containment {
    containment
}

/// Begins to find out what this system can do, while the rest of the start goes on.
pub fn look_ahead(setup: &Setup) {
    const STACK: usize = 256 * 1024;
    if setup.settings.user("containment.mode") != Some(ContainMode::Off) {
        let thread = std::thread::Builder::new().name("omp-probe".into()).stack_size(STACK);
        // Where no thread can be started, it is found out when it is needed.
        drop(thread.spawn(standing));
    }
}

/// What keeps the user from harm, for the faces of a session.
pub fn safeguards(setup: &Setup, files_are_kept: bool) -> Safeguards {
    let decision = setup.trust();
    Safeguards {
        containment: Some(contained(setup.containment())),
        trusted: decision.is_for_run() || *decision.state() == TrustState::Trusted,
        undo: Kept { enabled: files_are_kept },
    }
}

fn contained(containment: &Containment) -> Contained {
    let map = containment.access().map(Access::map).unwrap_or_else(|| AccessMap::open("").into());
    Contained {
        mode: map.mode,
        network: map.network,
        rung: containment.rung().unwrap_or(Rung::None).name(),
        missing: containment.shortfalls(),
        refused: containment.check().err().map(|refused| refused.to_string()),
    }
}

/// What the user is to know of it when a session starts.
pub fn warnings(setup: &Setup) -> Vec<String> {
    let containment = setup.containment();
    if containment.is_on() {
        let refused = containment.check().err().map(|refused| refused.to_string());
        let hosts: Vec<String> = setup.settings.user("containment.hosts").unwrap_or_default();
        let no_rules = hosts.iter().filter_map(|rule| problem_of_rule(rule));
        let is_proxied = containment.egress().is_some();
        let proxies = if is_proxied { Upstream::from_env(&setup.env).1 } else { Vec::new() };
        return refused.into_iter().chain(containment.shortfalls()).chain(no_rules).chain(proxies).collect();
    }
    let chosen: Option<ContainMode> = setup.settings.user("containment.mode");
    let missing = standing_unless(chosen);
    missing.map(|why| format!("commands are not contained: {why}\nhint: `omp doctor` tells what is missing; `containment.mode: off` keeps this quiet")).into_iter().collect()
}

fn standing_unless(chosen: Option<ContainMode>) -> Option<String> {
    (chosen.is_none() && standing().rung() == Rung::None)
        .then(|| standing().missing.iter().map(|missing| missing.why.clone()).collect::<Vec<_>>().join("; "))
}

/// A word that is neither a service nor a path opens nothing, which is better known at once.
pub fn check_sockets(settings: &Settings) -> Result<(), Problem> {
    let listed: Vec<String> = settings.user(SOCKETS).unwrap_or_default();
    let is_known = |word: &str| SERVICES.contains(&word) || word.starts_with("~/") || Path::new(word).is_absolute();
    match listed.iter().find(|word| !is_known(word)) {
        Some(word) => Err(format!(
            "`{word}` in {SOCKETS} is neither a service nor the path of a socket\nhint: the services are {}; a path begins \
             with / or ~/",
            SERVICES.join(", ")
        )),
        None => Ok(()),
    }
}

fn full(path: &str, dirs: &Dirs) -> Option<PathBuf> {
    match path.strip_prefix("~/") {
        Some(rest) => Some(dirs.home.join(rest)),
        None => Some(PathBuf::from(path)).filter(|path| path.is_absolute()),
    }
}

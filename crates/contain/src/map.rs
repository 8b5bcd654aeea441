//! The default map of what a session's children may touch.

mod caches;
mod familiar;
mod links;
mod looks;
mod services;

use std::path::{Path, PathBuf};

use omp_types::{AccessMap, ContainMode, Env, NetworkMode, vars};

pub use services::services;

use crate::repository::{GuardedRepository, top_of};
use crate::rung::Rung;
use crate::workspace::is_of_home;
use caches::Caches;
use looks::Looks;

/// The inputs of the map.
#[derive(Clone, Debug)]
pub struct MapSources<'a> {
    pub mode: ContainMode,
    pub network: NetworkMode,
    /// The result of [`crate::workspace_of`].
    pub workspace: &'a Path,
    /// The folder that omp was started in: the workspace, or one within it.
    pub cwd: &'a Path,
    pub home: &'a Path,
    /// omp's own folder, which holds its credentials and settings.
    pub agent: &'a Path,
    pub env: &'a Env,
    /// Writable paths set by the user.
    pub writable: Vec<PathBuf>,
    pub hidden: Vec<PathBuf>,
    /// Exceptions from the hidden paths.
    pub shown: Vec<PathBuf>,
    /// Additionally allowed sockets, and files that clients of a service need.
    pub sockets: Vec<PathBuf>,
    pub hosts: Vec<String>,
}

/// Keys, credentials and browser profiles below the home folder.
const HIDDEN: &[&str] = &[
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".kube",
    ".config/gcloud",
    ".config/gh/hosts.yml",
    ".config/glab-cli",
    ".config/hub",
    ".config/op",
    ".config/sops",
    ".config/age",
    ".config/rclone",
    ".config/doctl",
    ".config/git/credentials",
    ".docker/config.json",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".claude/.credentials.json",
    ".claude.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".config/github-copilot",
    ".local/share/opencode/auth.json",
    ".pi/agent/auth.json",
    // omp itself reads provider keys from it.
    ".env",
    ".omp/.env",
    ".gemini/.env",
    ".qwen/oauth_creds.json",
    ".copilot/config.json",
    ".factory/auth.json",
    ".config/cursor/auth.json",
    ".config/goose/secrets.yaml",
    ".cache/huggingface/token",
    ".cache/huggingface/stored_tokens",
    ".pgpass",
    ".mylogin.cnf",
    ".boto",
    ".s3cfg",
    ".oci",
    ".databrickscfg",
    ".config/containers/auth.json",
    ".config/hcloud",
    ".config/composer/auth.json",
    ".composer/auth.json",
    ".fly",
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    ".cache/mozilla",
    "snap/firefox",
    "Library/Keychains",
    "Library/Application Support/Google/Chrome",
    "Library/Application Support/Firefox",
    ".bash_history",
    ".zsh_history",
    ".psql_history",
    ".mysql_history",
    ".node_repl_history",
    ".python_history",
];

/// Credentials in omp's own folder, and copies of files of every workspace, possibly hidden ones.
const HIDDEN_OF_AGENT: &[&str] = &[
    "auth.json",
    "agent.db",
    "agent.db-wal",
    "agent.db-shm",
    "secrets.yml",
    "secrets.yaml",
    "secrets.key",
    ".env",
    "models.yml",
    "models.yaml",
    "models.json",
    "undo",
];

/// Files that a shell or the login program reads when the user next opens one.
const START_FILES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".config/fish",
    ".gitconfig",
    ".config/git",
    ".inputrc",
    ".vimrc",
    ".config/nvim",
    ".tmux.conf",
    ".xprofile",
    ".config/autostart",
    ".config/systemd",
    ".local/bin",
    ".cargo/bin",
    ".cargo/config.toml",
    ".omp",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/config.toml",
    // Hidden if they exist. If not, creating one would decide who may log in, or what other programs run.
    ".ssh",
    ".aws/config",
    ".kube/config",
    ".npmrc",
    ".docker/config.json",
];

/// Files in a project that decide what runs or what is allowed.
const GUARDED: &[&str] = &[
    ".omp",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".mcp.json",
    ".husky",
    ".envrc",
    ".vscode/settings.json",
    ".vscode/tasks.json",
    ".vscode/launch.json",
    ".cursor/mcp.json",
    ".idea/workspace.xml",
];

/// Sockets that lead out of the sandbox, and folders of them.
const SOCKETS: &[&str] = &[
    "/run/docker.sock",
    "/var/run/docker.sock",
    "/run/podman",
    "/run/containerd",
    "/run/crio",
    "/run/dbus",
    "/run/systemd/private",
    "/run/systemd/io.system.ManagedOOM",
    "/run/snapd.socket",
    "/run/libvirt",
    "/run/lxd.socket",
    "/var/lib/lxd/unix.socket",
    "/var/lib/incus/unix.socket",
    "/run/buildkit",
    "/run/k3s/containerd",
    "/run/screen",
    "/tmp/.X11-unix",
    "/tmp/.ICE-unix",
    "/tmp/screens",
];

/// Sockets below the home folder: some hand out passwords, the others run commands.
const SOCKETS_OF_HOME: &[&str] = &[
    ".cache/git/credential",
    ".git-credential-cache",
    ".docker/run",
    ".docker/desktop",
    ".colima",
    ".rd",
    ".1password",
    ".screen",
    ".local/share/wezterm",
];

/// Sockets in the temp folders, followed by the user id or by anything.
const SOCKETS_OF_TEMP: &[&str] = &["tmux-", "emacs", "zellij-", "ssh-*", "nvim.*", "vscode-git-*", "vscode-ipc-*"];

/// Name resolvers, which send the requested name to the network.
const RESOLVERS: &[&str] = &[
    "/run/systemd/resolve/io.systemd.Resolve",
    "/run/systemd/resolve/io.systemd.Resolve.Monitor",
    "/run/nscd",
    "/run/avahi-daemon",
];

/// Variables with the address of a socket: a path, `unix:path=…`, or a path before a comma.
const SOCKET_VARIABLES: &[&str] = &[
    "SSH_AUTH_SOCK",
    "DBUS_SESSION_BUS_ADDRESS",
    "TMUX",
    "GPG_AGENT_INFO",
    "DOCKER_HOST",
    "NVIM",
    "NVIM_LISTEN_ADDRESS",
    "VSCODE_IPC_HOOK_CLI",
    "VSCODE_GIT_IPC_HANDLE",
    "EMACS_SOCKET_NAME",
    "KITTY_LISTEN_ON",
    "ALACRITTY_SOCKET",
    "WEZTERM_UNIX_SOCKET",
    "I3SOCK",
    "SWAYSOCK",
];

/// The map for `sources`, with all links resolved.
pub fn default_map(sources: &MapSources<'_>) -> AccessMap {
    let workspace = omp_stdx::real_path::of(sources.workspace);
    let named = NamedPaths::of(sources, &workspace);
    // A project may have any number of files, and some file systems read all names before they return one.
    let is_project = |folder: &Path| workspace.starts_with(folder) || folder.starts_with(&workspace);
    let looks = Looks::ahead(named.all(), |folder| folder == sources.home || !is_project(folder));
    let all_real = |paths: &[PathBuf]| {
        // Only absolute paths are meaningful here.
        sorted(paths.iter().filter(|path| path.is_absolute()).map(|path| looks.real(path)).collect())
    };
    let NamedPaths { mut guarded, hidden, sockets, familiar, caches } = named;
    let repository = GuardedRepository::of(&workspace, sources.home);
    let mut writable: Vec<PathBuf> = sources.writable.clone();
    let mut missing = Vec::new();
    if sources.mode == ContainMode::WorkspaceWrite {
        writable.push(temp_folder(sources.env));
        writable.push("/dev/shm".into());
        let found = caches.find(sources, &looks);
        writable.extend(found.writable);
        missing = found.missing;
        // In the repository of the home folder git could write to the repository but not to its work tree, so neither is
        // allowed.
        let is_whole = top_of(&workspace).is_none_or(|top| top == workspace || !is_of_home(top, sources.home));
        writable.extend(repository.folders().iter().filter(|_| is_whole).cloned());
    }
    guarded.extend(repository.guarded());
    let writable = all_real(&writable);
    let is_reached =
        |path: &Path| writable.iter().chain([&workspace]).any(|root| path.starts_with(root) && path != root);
    let mut links = Vec::new();
    let ends: Vec<PathBuf> =
        guarded.iter().map(|guard| links::follow(guard, &looks, &is_reached, &mut links)).collect();
    guarded.extend(ends);
    let allowed: Vec<PathBuf> = sources.sockets.iter().map(|path| looks.real(path)).collect();
    // An allowed socket is shown in its folder, and nothing else of that.
    let sockets = sockets.iter().map(|path| looks.real(path)).filter(|path| !allowed.contains(path));
    let hidden: Vec<PathBuf> = hidden.into_iter().chain(sockets).collect();
    // A path that the user names is opened by its own name; opening its parent folder leaves it guarded.
    let freed = all_real(&sources.writable);
    let is_guard = |path: &PathBuf| !workspace.starts_with(path) && !freed.contains(path);
    // The temp folder may be inside the hidden folder for the session's sockets.
    let hidden = all_real(&hidden);
    let temp = looks.real(&temp_folder(sources.env));
    let temp = Some(temp).filter(|temp| hidden.iter().any(|path| temp.starts_with(path) && temp != path));
    let shown: Vec<PathBuf> = sources.shown.iter().chain(&allowed).cloned().chain(temp).collect();
    AccessMap {
        mode: sources.mode,
        writable,
        hidden: hidden.into_iter().filter(|path| !workspace.starts_with(path)).collect(),
        shown: all_real(&shown),
        guarded: all_real(&guarded).into_iter().filter(is_guard).collect(),
        links,
        workspace,
        network: sources.network,
        hosts: sources.hosts.clone(),
        sockets: allowed,
        services: services::found(sources.home, sources.env, &looks),
        familiar: all_real(&familiar),
        caches: missing,
    }
}

/// The known paths, as written.
struct NamedPaths {
    guarded: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    sockets: Vec<PathBuf>,
    familiar: Vec<PathBuf>,
    caches: Caches,
}

impl NamedPaths {
    fn of(sources: &MapSources<'_>, workspace: &Path) -> Self {
        let below = |folder: &Path, names: &[&str]| names.iter().map(|name| folder.join(name)).collect::<Vec<_>>();
        let cwd = omp_stdx::real_path::of(sources.cwd);
        let mut guarded: Vec<PathBuf> =
            settled_folders(workspace, &cwd).iter().flat_map(|folder| below(folder, GUARDED)).collect();
        guarded.extend(below(sources.home, START_FILES));
        guarded.push(sources.agent.to_owned());
        let own = own_temp_folder(sources.env);
        // This is also the fallback path of an omp that could use no other.
        guarded.extend(own.file_name().map(|name| temp_folder(sources.env).join(name)));
        guarded.push(own);
        let mut hidden = below(sources.home, HIDDEN);
        hidden.extend(below(sources.agent, HIDDEN_OF_AGENT));
        hidden.extend(named(sources.env, "GNUPGHOME").map(PathBuf::from));
        hidden.extend(sources.hidden.iter().cloned());
        let resolvers = RESOLVERS.iter().filter(|_| sources.network != NetworkMode::On).map(PathBuf::from);
        let sockets = sockets(sources).into_iter().chain(resolvers).collect();
        let familiar = familiar::places(sources.home, sources.env);
        Self { guarded, hidden, sockets, familiar, caches: Caches::of(sources) }
    }

    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        let named = [&self.guarded, &self.hidden, &self.sockets, &self.familiar];
        named.into_iter().flatten().chain(self.caches.paths()).chain(self.caches.marks())
    }
}

/// The folders from the one omp was started in up to the workspace: programs look for settings in all of them.
///
/// An empty folder within the workspace is excluded: programs that set up a project there need it empty.
fn settled_folders(workspace: &Path, cwd: &Path) -> Vec<PathBuf> {
    let is_empty = || std::fs::read_dir(cwd).is_ok_and(|mut entries| entries.next().is_none());
    let below = cwd.ancestors().take_while(|folder| folder.starts_with(workspace) && *folder != workspace);
    let below = below.skip(usize::from(cwd != workspace && is_empty())).map(Path::to_owned);
    [workspace.to_owned()].into_iter().chain(below).collect()
}

/// Whether the path is in a repository that commands may create: its content is scanned afterwards.
pub(crate) fn is_in_missing_repository(guard: &Path) -> bool {
    let in_git = guard.ancestors().skip(1).find(|outer| outer.file_name().is_some_and(|name| name == ".git"));
    in_git.is_some_and(|folder| !folder.is_dir())
}

/// The folder for temporary folders of every omp of this user. Shells read files in them, including those of the user, so
/// commands may write only to the ones that are passed to them.
pub fn own_temp_folder(env: &Env) -> PathBuf {
    #[cfg(unix)]
    let name = format!("omp-{}", nix::unistd::geteuid());
    #[cfg(not(unix))]
    let name = "omp";
    own_place(env, crate::standing().rung()).join(name)
}

/// On the Landlock rung no mount can protect it, so this is the home's cache folder if that exists: commands can write to
/// the temp folder.
fn own_place(env: &Env, rung: Rung) -> PathBuf {
    let home = env.get(vars::HOME).map(PathBuf::from).filter(|home| home.is_absolute() && rung == Rung::Landlock);
    let cache = home.map(|home| home.join(".cache")).filter(|cache| cache.is_dir());
    cache.unwrap_or_else(|| temp_folder(env))
}

/// Compares the name only.
#[cfg(unix)]
pub(crate) fn is_own_temp_folder(path: &Path) -> bool {
    path.file_name() == own_temp_folder(&Env::default()).file_name()
}

fn temp_folder(env: &Env) -> PathBuf {
    let set = env.get(vars::TMPDIR).map(PathBuf::from).filter(|folder| folder.is_absolute());
    set.unwrap_or_else(|| if cfg!(windows) { "C:\\Windows\\Temp".into() } else { "/tmp".into() })
}

fn named<'a>(env: &'a Env, name: &str) -> Option<&'a str> {
    env.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
}

fn sockets(sources: &MapSources<'_>) -> Vec<PathBuf> {
    let env = sources.env;
    let mut sockets: Vec<PathBuf> = SOCKETS.iter().map(PathBuf::from).collect();
    sockets.extend(SOCKETS_OF_HOME.iter().map(|name| sources.home.join(name)));
    for (name, value) in env.iter() {
        if name == "XDG_RUNTIME_DIR" {
            sockets.push(value.into());
        }
        if SOCKET_VARIABLES.contains(&name) {
            sockets.extend(socket_of(value));
        }
    }
    #[cfg(unix)]
    {
        let user = nix::unistd::geteuid();
        sockets.push(format!("/run/user/{user}").into());
        let mut folders = vec![PathBuf::from("/tmp"), temp_folder(env)];
        folders.dedup();
        sockets.extend(folders.iter().flat_map(|folder| sockets_in_temp(folder, &user.to_string())));
    }
    sockets.retain(|path| path.components().count() > 2);
    sockets
}

/// The path in a value such as `unix:path=/run/bus,guid=…`.
fn socket_of(value: &str) -> Option<PathBuf> {
    value.split([',', ';']).find_map(|piece| {
        let piece = piece.trim_start_matches("unix:").trim_start_matches("path=").trim_start_matches("//");
        piece.starts_with('/').then(|| PathBuf::from(piece))
    })
}

/// Agents of other logins have random names there, so the folder is listed.
#[cfg(unix)]
fn sockets_in_temp(folder: &Path, user: &str) -> Vec<PathBuf> {
    const MOST: usize = 100_000;
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST);
    let is_of = |name: &str| {
        SOCKETS_OF_TEMP.iter().any(|known| match known.strip_suffix('*') {
            Some(begin) => name.starts_with(begin),
            None => name.strip_prefix(known) == Some(user),
        })
    };
    let found = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_of)).map(|entry| entry.path());
    found.chain(["tmux-", "emacs"].map(|name| folder.join(format!("{name}{user}")))).collect()
}

fn sorted(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort();
    paths.dedup();
    paths
}

#[cfg(test)]
mod tests;

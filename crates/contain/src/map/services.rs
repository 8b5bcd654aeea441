//! Named services of this machine, each with what its clients need: one word in the settings opens all of that, but no
//! private key.

use std::path::{Path, PathBuf};

use omp_stdx::plain_file;
use omp_types::{Env, SERVICES, Service};

use super::looks::Looks;

/// Maximum bytes read from a settings file of ssh or docker.
const LARGEST: u64 = 1 << 20;
/// Maximum files that one service shows, and maximum settings files of ssh that are read.
const MOST: usize = 200;

/// The services that exist on this machine, with real paths.
pub fn services(home: &Path, env: &Env) -> Vec<Service> {
    found(home, env, &Looks::default())
}

/// The services, using earlier path checks.
pub(super) fn found(home: &Path, env: &Env, looks: &Looks) -> Vec<Service> {
    let places = ServicePlaces { home, env, looks };
    let found = SERVICES.iter().map(|name| real_of(places.service(name), looks));
    found.filter(|service| service.paths().next().is_some()).collect()
}

struct ServicePlaces<'a> {
    home: &'a Path,
    env: &'a Env,
    looks: &'a Looks,
}

impl ServicePlaces<'_> {
    fn service(&self, name: &'static str) -> Service {
        let (sockets, files) = match name {
            "ssh-agent" => self.ssh(),
            "gpg-agent" => self.gpg(),
            "docker" => return self.docker(),
            "podman" => (self.beside(&["/run/podman/podman.sock"], &[], &["podman/podman.sock"]), Vec::new()),
            "dbus" => {
                let named = self.socket_in("DBUS_SESSION_BUS_ADDRESS").into_iter();
                let usual = self.beside(&["/run/dbus/system_bus_socket"], &[], &["bus"]);
                (named.chain(usual).collect(), Vec::new())
            }
            "x11" => (vec!["/tmp/.X11-unix".into()], self.path_in("XAUTHORITY").into_iter().collect()),
            "wayland" => {
                let display = self.get("WAYLAND_DISPLAY").unwrap_or("wayland-0");
                (self.runtime().into_iter().map(|folder| folder.join(display)).collect(), Vec::new())
            }
            "tmux" => (self.socket_in("TMUX").into_iter().collect(), Vec::new()),
            "git-credential-cache" => {
                (self.beside(&[], &[".cache/git/credential/socket", ".git-credential-cache/socket"], &[]), Vec::new())
            }
            _ => (Vec::new(), Vec::new()),
        };
        Service { name, sockets, files, withheld: Vec::new() }
    }

    /// The agent, the known hosts, the settings and the public keys.
    fn ssh(&self) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let folder = self.home.join(".ssh");
        let agent = self.path_in("SSH_AUTH_SOCK").into_iter();
        if !self.looks.exists(&folder) {
            return (agent.collect(), Vec::new());
        }
        let config = ssh_config(&folder, self.home);
        let sockets = agent.chain(config.agents).collect();
        let mut files: Vec<PathBuf> = ["known_hosts", "known_hosts2"].iter().map(|name| folder.join(name)).collect();
        files.extend(config.files);
        files.extend(config.known_hosts);
        files.extend(entries(&folder).into_iter().filter(|path| path.extension().is_some_and(|end| end == "pub")));
        files.retain(|file| !holds_private_key(file));
        (sockets, files)
    }

    /// The agent and the public keyring.
    fn gpg(&self) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let folder = self.path_in("GNUPGHOME").unwrap_or_else(|| self.home.join(".gnupg"));
        let names = ["S.gpg-agent", "S.keyboxd"];
        let mut sockets: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
        let runtime = self.runtime().into_iter();
        sockets.extend(runtime.flat_map(|folder| names.map(|name| folder.join("gnupg").join(name))));
        let files = ["pubring.kbx", "pubring.gpg", "trustdb.gpg", "gpg.conf", "common.conf", "public-keys.d"];
        (sockets, files.iter().map(|name| folder.join(name)).collect())
    }

    /// Its settings name the context in use; they stay hidden if they contain passwords of registries.
    fn docker(&self) -> Service {
        let usual = self.beside(
            &["/run/docker.sock", "/var/run/docker.sock"],
            &[
                ".docker/run/docker.sock",
                ".docker/desktop/docker.sock",
                ".colima/default/docker.sock",
                ".rd/docker.sock",
            ],
            &["docker.sock"],
        );
        let sockets = self.socket_in("DOCKER_HOST").into_iter().chain(usual).collect();
        let folder = self.path_in("DOCKER_CONFIG").unwrap_or_else(|| self.home.join(".docker"));
        let config = folder.join("config.json");
        let (withheld, files) =
            [config].into_iter().partition(|config| self.looks.exists(config) && holds_passwords(config));
        Service { name: "docker", sockets, files, withheld }
    }

    fn get(&self, name: &str) -> Option<&str> {
        super::named(self.env, name).filter(|value| !value.is_empty())
    }

    fn path_in(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    fn socket_in(&self, name: &str) -> Option<PathBuf> {
        super::socket_of(self.get(name)?)
    }

    fn runtime(&self) -> Option<PathBuf> {
        #[cfg(unix)]
        let usual = Some(PathBuf::from(format!("/run/user/{}", nix::unistd::geteuid())));
        #[cfg(not(unix))]
        let usual = None;
        self.path_in("XDG_RUNTIME_DIR").or(usual)
    }

    /// Paths that are absolute, below the home folder, and in the runtime folder of this login.
    fn beside(&self, absolute: &[&str], of_home: &[&str], of_runtime: &[&str]) -> Vec<PathBuf> {
        let below = |folder: &Path, names: &[&str]| names.iter().map(|name| folder.join(name)).collect::<Vec<_>>();
        let runtime = self.runtime().map(|folder| below(&folder, of_runtime)).unwrap_or_default();
        absolute.iter().map(PathBuf::from).chain(below(self.home, of_home)).chain(runtime).collect()
    }
}

fn real_of(service: Service, looks: &Looks) -> Service {
    let real = |paths: Vec<PathBuf>| {
        let mut real: Vec<PathBuf> = paths.iter().filter_map(|path| looks.existing(path)).take(MOST).collect();
        real.sort();
        real.dedup();
        real
    };
    let Service { name, sockets, files, withheld } = service;
    Service { name, sockets: real(sockets), files: real(files), withheld: real(withheld) }
}

/// The paths in the settings of ssh.
#[derive(Debug, Default)]
struct SshConfig {
    /// All files that are read, including the first.
    files: Vec<PathBuf>,
    agents: Vec<PathBuf>,
    known_hosts: Vec<PathBuf>,
}

fn ssh_config(folder: &Path, home: &Path) -> SshConfig {
    let mut found = SshConfig::default();
    let mut waiting = vec![folder.join("config")];
    while let Some(file) = waiting.pop() {
        if found.files.contains(&file) || found.files.len() >= MOST {
            continue;
        }
        let Ok(text) = plain_file::read_text(&file, LARGEST) else { continue };
        // A private key is never shown, even if an `Include` names it.
        if is_private_key(&text) {
            continue;
        }
        found.files.push(file);
        for (key, value) in text.lines().filter_map(ssh_setting) {
            let named = value.split_whitespace().map(|word| placed(word.trim_matches('"'), folder, home));
            match key.to_ascii_lowercase().as_str() {
                "include" => waiting.extend(named.flat_map(|path| matching(&path))),
                "identityagent" => found.agents.extend(named.filter(|path| path.is_absolute())),
                "userknownhostsfile" => found.known_hosts.extend(named),
                _ => {}
            }
        }
    }
    found
}

fn ssh_setting(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let (key, value) = line.split_once(|c: char| c.is_whitespace() || c == '=')?;
    (!line.starts_with('#')).then(|| (key, value.trim_start_matches(|c: char| c.is_whitespace() || c == '=')))
}

fn placed(word: &str, folder: &Path, home: &Path) -> PathBuf {
    let below = ["~/", "%d/", "${HOME}/"].iter().find_map(|start| word.strip_prefix(start));
    below.map_or_else(|| folder.join(word), |below| home.join(below))
}

/// Expands `config.d/*`: a star in the last component only.
fn matching(path: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
        return Vec::new();
    };
    let Some((before, after)) = name.split_once('*') else { return vec![path.to_owned()] };
    let fits = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with(before) && name.ends_with(after) && !name.starts_with('.'))
    };
    entries(folder).into_iter().filter(fits).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().take(MOST).map(|entry| entry.path()).collect();
    found.sort();
    found
}

fn holds_private_key(file: &Path) -> bool {
    plain_file::read_text(file, LARGEST).is_ok_and(|text| is_private_key(&text))
}

fn is_private_key(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("-----BEGIN") && line.contains("PRIVATE KEY"))
        || text.starts_with("PuTTY-User-Key-File")
}

/// Whether the file contains passwords of registries, or headers sent to all of them. A file that cannot be parsed may
/// contain some.
fn holds_passwords(config: &Path) -> bool {
    const SECRETS: [&str; 6] =
        ["\"auth\"", "\"identitytoken\"", "\"registrytoken\"", "\"password\"", "\"HttpHeaders\"", "\"secret"];
    match plain_file::read_text(config, LARGEST) {
        Ok(text) => SECRETS.iter().any(|secret| text.contains(secret)),
        Err(_) => config.exists(),
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    struct Home(tempfile::TempDir);

    impl Home {
        fn new(files: &[(&str, &str)]) -> Self {
            let home = Self(tempfile::tempdir().unwrap());
            for (name, text) in files {
                let path = home.at(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            home
        }

        fn at(&self, name: &str) -> PathBuf {
            self.0.path().canonicalize().unwrap().join(name)
        }

        fn service(&self, name: &str, env: &[(&str, &str)]) -> Service {
            let env: Env = env.iter().copied().collect();
            services(&self.at(""), &env).into_iter().find(|service| service.name == name).unwrap_or_default()
        }

        fn names(&self, paths: &[PathBuf]) -> Vec<String> {
            let root = self.at("");
            paths.iter().map(|path| path.strip_prefix(&root).unwrap_or(path).display().to_string()).collect()
        }
    }

    const KEY: &str = "-----BEGIN OPENSSH PRIVATE KEY-----\nxyz\n";

    #[test]
    fn ssh_shows_hosts_settings_and_public_keys_and_no_private_one() {
        let config = "Include config.d/*.conf id_ed25519\nInclude ~/.ssh/work\n# Include no\n\
                      Host *\n  IdentityAgent ~/agent.sock\n  UserKnownHostsFile ~/.ssh/hosts_of_work\n";
        let home = Home::new(&[
            (".ssh/config", config),
            (".ssh/config.d/a.conf", "Host a\n"),
            (".ssh/config.d/b.txt", "Host b\n"),
            (".ssh/work", "Include config\n"),
            (".ssh/no", "Host no\n"),
            (".ssh/known_hosts", "host key\n"),
            (".ssh/hosts_of_work", "host key\n"),
            (".ssh/id_ed25519", KEY),
            (".ssh/id_ed25519.pub", "ssh-ed25519 AAAA\n"),
            (".ssh/odd.pub", KEY),
            ("agent.sock", ""),
            ("run/agent", ""),
        ]);
        let socket = home.at("run/agent").display().to_string();
        let ssh = home.service("ssh-agent", &[("SSH_AUTH_SOCK", &socket)]);
        assert_eq!(home.names(&ssh.sockets), ["agent.sock", "run/agent"]);
        assert_eq!(
            home.names(&ssh.files),
            [
                ".ssh/config",
                ".ssh/config.d/a.conf",
                ".ssh/hosts_of_work",
                ".ssh/id_ed25519.pub",
                ".ssh/known_hosts",
                ".ssh/work"
            ]
        );
    }

    #[test]
    fn docker_settings_with_passwords_stay_hidden() {
        let home = Home::new(&[(".docker/config.json", "{\"currentContext\": \"colima\"}"), ("run/docker.sock", "")]);
        let host = format!("unix://{}", home.at("run/docker.sock").display());
        let docker = home.service("docker", &[("DOCKER_HOST", &host)]);
        assert!(home.names(&docker.sockets).contains(&"run/docker.sock".to_owned()), "{docker:?}");
        assert_eq!((home.names(&docker.files), docker.withheld.len()), (vec![".docker/config.json".to_owned()], 0));
        std::fs::write(home.at(".docker/config.json"), "{\"auths\": {\"r\": {\"auth\": \"c2VjcmV0\"}}}").unwrap();
        let docker = home.service("docker", &[("DOCKER_HOST", &host)]);
        assert_eq!((docker.files.len(), home.names(&docker.withheld)), (0, vec![".docker/config.json".to_owned()]));
    }

    #[test]
    fn other_services_are_found_by_their_variables() {
        let home = Home::new(&[
            ("run/bus", ""),
            ("run/gnupg/S.gpg-agent", ""),
            ("run/wayland-1", ""),
            ("run/tmux", ""),
            (".gnupg/pubring.kbx", ""),
            (".gnupg/private-keys-v1.d/a.key", ""),
        ]);
        let run = home.at("run").display().to_string();
        let (bus, tmux) = (format!("unix:path={run}/bus,guid=1"), format!("{run}/tmux,12,0"));
        let env = [
            ("XDG_RUNTIME_DIR", run.as_str()),
            ("DBUS_SESSION_BUS_ADDRESS", &bus),
            ("TMUX", &tmux),
            ("WAYLAND_DISPLAY", "wayland-1"),
        ];
        for (name, socket) in [
            ("dbus", "run/bus"),
            ("wayland", "run/wayland-1"),
            ("tmux", "run/tmux"),
            ("gpg-agent", "run/gnupg/S.gpg-agent"),
        ] {
            let service = home.service(name, &env);
            assert!(home.names(&service.sockets).contains(&socket.to_owned()), "{service:?}");
        }
        assert_eq!(home.names(&home.service("gpg-agent", &env).files), [".gnupg/pubring.kbx"]);
        // A service that does not exist is empty.
        assert_eq!(home.service("tmux", &[]), Service::default());
    }
}

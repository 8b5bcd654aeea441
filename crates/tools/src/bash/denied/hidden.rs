//! Detects hidden paths and closed services in a command's output: a hidden path looks empty or missing, a closed service
//! looks stopped.

use std::path::{Path, PathBuf};

use omp_shell::{RedirectKind, ShellCommand};
use omp_types::{AccessMap, Denied, Env, Service, Touch};

use super::{MOST, WantedPath, paths_in, without_speaker};

/// Messages that programs print if a path does not exist.
const MISSING: &[&str] = &[
    "o such file or directory",
    "ENOENT",
    "ENOTDIR",
    "ot a directory",
    "cannot access",
    "annot open",
    "an't open",
    "not found",
    "does not exist",
    "doesn't exist",
    "ermission denied",
    "ead-only file system",
    "onnection refused",
    "ECONNREFUSED",
    "an't connect",
    "annot connect",
    "rror connecting to",
    "no server running on",
    "ot a socket",
];

/// Messages that clients print if they cannot reach their service. One match is enough.
const CLOSED: &[(&str, &[&str])] = &[
    (
        "ssh-agent",
        &[
            "ould not open a connection to your authentication agent",
            "Error connecting to agent",
            "Host key verification failed",
            "Permission denied (publickey",
            "communication with agent failed",
            "Couldn't get agent socket",
        ],
    ),
    (
        "gpg-agent",
        &[
            "gpg: can't connect to the agent",
            "gpg: can't connect to the gpg-agent",
            "gpg failed to sign the data",
            "No agent running",
            "gpg: signing failed",
            "gpg: decryption failed: No secret key",
            "gpg: skipped \"",
        ],
    ),
    (
        "docker",
        &[
            "annot connect to the Docker daemon",
            "ailed to connect to the docker API",
            "Is the docker daemon running",
            "trying to connect to the Docker daemon",
            "trying to connect to the docker API",
        ],
    ),
    ("podman", &["annot connect to Podman", "nable to connect to Podman"]),
    (
        "dbus",
        &[
            "Failed to connect to bus",
            "Failed to connect to user scope bus",
            "Failed to connect to system scope bus",
            "Cannot autolaunch D-Bus",
            "Unable to autolaunch a dbus-daemon",
            "Failed to get D-Bus connection",
            "ould not connect to D-Bus",
            "org.freedesktop.DBus.Error.NoServer",
            "org.freedesktop.DBus.Error.FileNotFound",
        ],
    ),
    (
        "x11",
        &[
            "annot open display",
            "an't open display",
            "nable to open display",
            "ould not connect to display",
            "couldn't connect to display",
            "Missing X server",
        ],
    ),
    ("wayland", &["ailed to connect to Wayland", "ould not connect to wayland", "annot connect to the Wayland"]),
    ("tmux", &["no server running on /tmp/tmux", "error connecting to /tmp/tmux"]),
    ("git-credential-cache", &["credential-cache unavailable", "unable to connect to cache daemon"]),
];

/// A command that has ended.
#[derive(Clone, Copy, Debug)]
pub(in crate::bash) struct EndedCommand<'a> {
    pub command: &'a str,
    /// The output that was kept, possibly truncated.
    pub output: &'a str,
    pub cwd: &'a Path,
    pub home: Option<&'a Path>,
    pub env: &'a Env,
    pub failed: bool,
}

/// Returns sentences, each naming the argument or setting that grants access.
pub(super) fn told(ended: &EndedCommand<'_>, map: &AccessMap) -> Vec<String> {
    let mut services: Vec<&Service> = services_in(ended.output, map);
    let mut hidden: Vec<PathBuf> = Vec::new();
    for path in named(ended).chain(missed(ended)) {
        let real = omp_stdx::real_path::of(&path);
        if !matches!(map.allows(Touch::Read, &real), Err(Denied::Hidden(_))) || real.symlink_metadata().is_err() {
            continue;
        }
        let behind = map.services.iter().find(|service| service.sockets.contains(&real));
        match behind {
            Some(service) if services.contains(&service) => {}
            Some(service) => services.push(service),
            None if hidden.contains(&real) => {}
            None => hidden.push(real),
        }
    }
    let mut sentences: Vec<String> = hidden.iter().take(MOST).map(|path| of_path(path)).collect();
    let wanted: Vec<WantedPath> =
        hidden.iter().map(|path| WantedPath { path: path.clone(), is_folder: false }).collect();
    if let Some(paths) = super::listed(&wanted) {
        sentences.push(format!(
            "hint: run it again with `read: [{paths}]`: the user is asked. `containment.shown` in config.yml shows it permanently"
        ));
    }
    sentences.extend(services.iter().take(MOST).flat_map(|service| of_service(service)));
    sentences
}

fn of_path(path: &Path) -> String {
    format!("Sandbox: {} exists, but is hidden from commands and looks empty or missing to them.", path.display())
}

fn of_service(service: &Service) -> [String; 2] {
    let name = service.name;
    let sockets = service.sockets.iter().map(|socket| socket.display().to_string());
    let files = service.files.iter().map(|file| file.display().to_string());
    let mut parts: Vec<String> = sockets.chain(files).take(MOST).collect();
    let more = service.paths().count() - parts.len();
    if more > 0 {
        parts.push(format!("{more} more"));
    }
    [
        format!("Sandbox: {name} is closed to commands: {} are hidden from them.", parts.join(", ")),
        format!(
            "hint: run it again with `sockets: [\"{name}\"]`: the user is asked. `containment.sockets: [{name}]` in config.yml \
             opens it permanently"
        ),
    ]
}

/// Returns the closed services whose clients reported that they cannot reach them.
fn services_in<'a>(output: &str, map: &'a AccessMap) -> Vec<&'a Service> {
    // If omp signs itself, no agent is missing.
    let is_told = |name: &str| {
        if output.contains("omp did not sign: ") && matches!(name, "gpg-agent" | "ssh-agent") {
            return false;
        }
        let signs = CLOSED.iter().find(|(service, _)| *service == name).map(|(_, signs)| *signs);
        signs.is_some_and(|signs| signs.iter().any(|sign| output.contains(sign)))
    };
    map.services.iter().filter(|service| is_told(service.name) && map.is_closed(service)).collect()
}

/// Returns the paths named in the command. A command that only prints its words names none.
fn named<'a>(ended: &'a EndedCommand<'_>) -> impl Iterator<Item = PathBuf> + 'a {
    /// Limits the words that are checked.
    const MOST_WORDS: usize = 2_000;
    let commands = omp_shell::read(ended.command).commands;
    let words: Vec<String> =
        commands.iter().filter(|command| !only_prints(command)).flat_map(words_of).take(MOST_WORDS).collect();
    let pieces = |word: String| -> Vec<String> {
        word.split(|c: char| c.is_whitespace() || matches!(c, '=' | ',' | ':' | '\'' | '"'))
            .map(str::to_owned)
            .collect()
    };
    words.into_iter().flat_map(pieces).filter_map(|piece| expanded(&piece, ended))
}

fn words_of(command: &ShellCommand) -> Vec<String> {
    let words = command.words.iter().skip(1);
    let files = command
        .redirects
        .iter()
        .filter(|redirect| !matches!(redirect.kind, RedirectKind::Descriptor | RedirectKind::Text));
    let assigned = command.assignments.iter().map(|assignment| &assignment.value);
    words.chain(files.map(|redirect| &redirect.target)).chain(assigned).map(|word| word.text.clone()).collect()
}

fn only_prints(command: &ShellCommand) -> bool {
    let prints = matches!(command.program(), Some("echo" | "printf" | ":" | "true"));
    prints
        && command
            .redirects
            .iter()
            .all(|redirect| matches!(redirect.kind, RedirectKind::Descriptor | RedirectKind::Text))
}

/// Expands `~`, `$HOME` and other variables at the beginning of the word, as the shell does.
fn expanded(word: &str, ended: &EndedCommand<'_>) -> Option<PathBuf> {
    if word == "~" || word.starts_with("~/") {
        return Some(ended.home?.join(word[1..].trim_start_matches('/')));
    }
    if let Some(rest) = word.strip_prefix('$') {
        let braced = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let (name, rest) = braced.unwrap_or_else(|| rest.split_at(rest.find('/').unwrap_or(rest.len())));
        let value = match name {
            "HOME" => ended.home.map(|home| home.display().to_string()),
            name => ended.env.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_owned()),
        };
        let path = PathBuf::from(format!("{}{rest}", value?.trim_start_matches("unix://")));
        return Some(path).filter(|path| path.is_absolute());
    }
    let is_path = word.starts_with('/') || word.starts_with('.') || word.contains('/');
    (is_path && word.len() < 1024).then(|| ended.cwd.join(word))
}

/// Returns the paths that programs reported as not found.
fn missed<'a>(ended: &'a EndedCommand<'_>) -> impl Iterator<Item = PathBuf> + 'a {
    let lines = ended.output.lines().filter(|line| MISSING.iter().any(|sign| line.contains(sign)));
    lines.flat_map(|line| paths_in(without_speaker(line))).filter_map(|path| expanded(path, ended))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scene {
        home: tempfile::TempDir,
        map: AccessMap,
        env: Env,
    }

    impl Scene {
        fn new() -> Self {
            let home = tempfile::tempdir().unwrap();
            let root = home.path().canonicalize().unwrap();
            for file in [".ssh/config", ".ssh/known_hosts", ".netrc", "run/agent", "run/docker.sock", "work/x"] {
                std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
                std::fs::write(root.join(file), "x").unwrap();
            }
            let service = |name: &'static str, socket: &str, files: &[&str]| Service {
                name,
                sockets: vec![root.join(socket)],
                files: files.iter().map(|file| root.join(file)).collect(),
                withheld: Vec::new(),
            };
            let map = AccessMap {
                workspace: root.join("work"),
                hidden: [".ssh", ".netrc", ".aws", "run"].iter().map(|name| root.join(name)).collect(),
                services: vec![
                    service("ssh-agent", "run/agent", &[".ssh/known_hosts"]),
                    service("docker", "run/docker.sock", &[]),
                ],
                ..AccessMap::default()
            };
            let agent = root.join("run/agent").display().to_string();
            let env = [("SSH_AUTH_SOCK", agent.as_str())].into_iter().collect();
            Self { home, map, env }
        }

        fn root(&self) -> PathBuf {
            self.home.path().canonicalize().unwrap()
        }

        /// Returns the names of the hidden paths and closed services that are reported.
        fn names(&self, command: &str, output: &str) -> Vec<String> {
            let root = self.root();
            let cwd = root.join("work");
            let ended = EndedCommand { command, output, cwd: &cwd, home: Some(&root), env: &self.env, failed: true };
            let told = told(&ended, &self.map);
            assert!(told.is_empty() || told.iter().any(|line| line.starts_with("hint: ")), "{told:?}");
            let lines = told.iter().filter_map(|line| line.strip_prefix("Sandbox: "));
            let name = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
            lines.map(|line| name(&line.replace(&format!("{}/", root.display()), ""))).collect()
        }

        #[track_caller]
        fn check(&self, command: &str, output: &str, expect: &[&str]) {
            assert_eq!(self.names(command, output), expect, "{command}: {output}");
        }
    }

    #[test]
    fn what_a_command_names_and_does_not_see_is_told() {
        let scene = Scene::new();
        let config = scene.root().join(".ssh/config").display().to_string();
        scene.check("cat ~/.ssh/config", "cat: no such", &[".ssh/config"]);
        scene.check("cat $HOME/.ssh/config ${HOME}/.netrc", "", &[".ssh/config", ".netrc"]);
        scene.check("cat ../.netrc", "", &[".netrc"]);
        scene.check(&format!("cat {config}"), "", &[".ssh/config"]);
        scene.check("ls -la ~/.ssh", "total 0", &[".ssh"]);
        scene.check("cd ~/.ssh && ls", "", &[".ssh"]);
        scene.check("GIT_SSH_COMMAND='ssh -F ~/.ssh/config' git fetch", "", &[".ssh/config"]);
        scene.check("bash -c 'cat ~/.netrc'", "", &[".netrc"]);
        scene.check("wc < ~/.netrc", "0 0 0", &[".netrc"]);
        let python = format!("FileNotFoundError: [Errno 2] No such file or directory: '{config}'");
        scene.check("python3 read.py", &python, &[".ssh/config"]);
        scene.check("ls $SSH_AUTH_SOCK", "ls: cannot access", &["ssh-agent"]);
    }

    #[test]
    fn what_is_not_there_or_not_hidden_is_not_told() {
        let scene = Scene::new();
        scene.check("cat ~/.aws/credentials", "cat: No such file or directory", &[]);
        scene.check("cat x ~/missing", "cat: /nowhere: No such file or directory", &[]);
        scene.check("echo see ~/.ssh/config", "see ~/.ssh/config", &[]);
        scene.check("cargo test", "all is well", &[]);
        scene.check("git log --format='%an ~ %s'", "a ~ b", &[]);
    }

    #[test]
    fn a_closed_service_is_told_by_what_its_clients_say() {
        let mut scene = Scene::new();
        for output in [
            "Could not open a connection to your authentication agent.",
            "Error connecting to agent: No such file or directory",
            "Host key verification failed.\nfatal: Could not read from remote repository.",
            "git@host: Permission denied (publickey,password).",
        ] {
            scene.check("git push", output, &["ssh-agent"]);
        }
        scene.check("docker ps", "Cannot connect to the Docker daemon at unix:///run/docker.sock.", &["docker"]);
        scene.check("git commit", "Couldn't get agent socket?\nomp did not sign: ssh-keygen ended with code 255", &[]);
        // A service that is missing on this machine is not reported as closed.
        scene.check("xeyes", "Error: Can't open display:", &[]);
        // An open service is not reported either.
        let opened: Vec<PathBuf> = scene.map.services[0].paths().cloned().collect();
        opened.iter().for_each(|path| scene.map.open_to(Touch::Read, path));
        scene.check("git push", "Host key verification failed.", &[]);
    }
}

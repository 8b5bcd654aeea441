//! A user with a home folder, a shell with a history, an ssh-agent and a session bus, who starts the binary by its name.
//!
//! A test that runs as root becomes the user `omp-tester`, which `scripts/test` creates; any other test runs as its own
//! user.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, lchown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, User, getegid, geteuid};
use omp_testkit::{MockProvider, Script, Server, TempWorkspace, Wire};
use tempfile::TempDir;

use crate::harness::{Omp, QUICK_RETRIES, Scene, binary_for_all};

/// Created by `scripts/test`.
const TESTER: &str = "omp-tester";
/// An unused user id.
const NOBODY_KNOWN: u32 = 54_321;
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Enables tools that are off by default.
const ALL_TOOLS: &str = "calc: { enabled: true }\nrenderMermaid: { enabled: true }\ncheckpoint: { enabled: true }\n\
                         async: { enabled: true }\nedit: { mode: replace }\n";

/// The user who starts omp.
#[derive(Clone, Copy, PartialEq)]
pub enum Who {
    Ordinary,
    Root,
    /// A user without a name in the system, as in many containers.
    Unnamed,
}

pub struct Person {
    pub scene: Scene,
    pub env: BTreeMap<String, String>,
    /// Words before the command, such as `unshare -U`.
    pub behind: Vec<String>,
    pub company: Company,
}

/// A user with an ssh-agent and a session bus. Dropping this ends them.
pub struct Company {
    pub user: u32,
    pub group: u32,
    pub name: String,
    agent: Option<Agent>,
    agent_folder: PathBuf,
    _bus: UnixListener,
    sockets: TempDir,
}

/// A real ssh-agent that ends with the test.
struct Agent(Pid);

impl Drop for Agent {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = kill(self.0, Signal::SIGTERM);
    }
}

impl Company {
    /// Returns `None` if this test cannot become that user.
    pub fn new(who: Who) -> Option<Self> {
        let (user, group, name) = identity(who)?;
        let sockets = runtime_folder(user, group);
        let bus = UnixListener::bind(sockets.path().join("bus")).unwrap();
        lchown(sockets.path().join("bus"), Some(user), Some(group)).unwrap();
        let mut company = Self { user, group, name, agent: None, agent_folder: PathBuf::new(), _bus: bus, sockets };
        company.start_agent();
        Some(company)
    }

    /// A program as this user starts it, with an empty environment.
    #[expect(clippy::disallowed_methods, reason = "what the user does is not omp's doing")]
    pub fn command(&self, program: &str) -> Command {
        use std::os::unix::process::CommandExt;
        let mut command = Command::new(program);
        command.env_clear().uid(self.user).gid(self.group);
        command
    }

    /// Uses its own folder below `/tmp`, as ssh-agent and sshd do.
    fn start_agent(&mut self) {
        let script =
            "folder=$(mktemp -d /tmp/ssh-XXXXXXXXXX) && echo \"$folder\" && exec ssh-agent -s -a \"$folder/agent.1\"";
        let made = self.command("sh").args(["-c", script]).env("PATH", SYSTEM_PATH).output().unwrap();
        let said = String::from_utf8(made.stdout).unwrap();
        assert!(made.status.success(), "no ssh-agent: {said}{}", String::from_utf8_lossy(&made.stderr));
        let id = said.split_once("SSH_AGENT_PID=").unwrap().1.split_once(';').unwrap().0;
        self.agent = Some(Agent(Pid::from_raw(id.parse().unwrap())));
        self.agent_folder = PathBuf::from(said.lines().next().unwrap());
    }

    /// Returns the variables that a desktop and a remote shell set.
    pub fn env(&self) -> BTreeMap<String, String> {
        let (runtime, agent) = (self.sockets.path().display(), self.agent_folder.display());
        let mut env: BTreeMap<String, String> = [
            ("XDG_RUNTIME_DIR", runtime.to_string()),
            ("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={runtime}/bus")),
            ("SSH_AUTH_SOCK", format!("{agent}/agent.1")),
            ("SSH_AGENT_PID", self.agent.as_ref().map(|agent| agent.0.to_string()).unwrap_or_default()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
        if !self.name.is_empty() {
            env.extend(["USER", "LOGNAME"].map(|variable| (variable.to_owned(), self.name.clone())));
        }
        env
    }
}

impl Drop for Company {
    fn drop(&mut self) {
        self.agent = None;
        // The agent may have removed it already.
        let _ = fs::remove_dir_all(&self.agent_folder);
    }
}

impl Person {
    /// Returns `None` if this test cannot become that user.
    pub async fn new(who: Who, home: &str, script: Script) -> Option<Self> {
        let company = Company::new(who)?;
        let server = Server::start(script).await.unwrap();
        let workspace = TempWorkspace::at_home(&homes(), home, &[]).unwrap();
        workspace.write_provider(&MockProvider::new(&server.base_url(), Wire::Completions.api()).reasoning()).unwrap();
        workspace.write_config_yml(&format!("{QUICK_RETRIES}{ALL_TOOLS}")).unwrap();
        let home = workspace.home();
        live_in(&home, &binary_for_all());
        own(&home, company.user, company.group);
        let env = environment(&home).into_iter().chain(company.env()).collect();
        let person = Self { scene: Scene { server, workspace }, env, behind: Vec::new(), company };
        // ssh-keygen creates no key for a user without a name.
        if who != Who::Unnamed {
            person.shell("ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/id_ed25519 && ssh-add -q ~/.ssh/id_ed25519");
        }
        person.shell(PROJECT);
        Some(person)
    }

    pub fn home(&self) -> PathBuf {
        self.scene.workspace.home()
    }

    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    pub fn behind(mut self, words: &[&str]) -> Self {
        self.behind = words.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    /// The binary, started by its name in `~/project`.
    pub fn omp(&self, args: &[&str]) -> Omp {
        let omp = self.home().join("bin/omp");
        let words: Vec<String> = self.behind.iter().cloned().chain([omp.display().to_string()]).collect();
        let started = Omp::of(Path::new(&words[0]), &self.scene.workspace).without_env();
        let started = started.args(&words[1..]).args(args).user(self.company.user).group(self.company.group);
        self.env.iter().fold(started, |omp, (name, value)| omp.env(name, value))
    }

    /// Like [`Self::omp`] with the model of the test.
    pub fn with_model(&self, args: &[&str]) -> Omp {
        self.omp(&[&["--model", "mock/mock-model"], args].concat())
    }

    /// Another program, as this user starts it.
    pub fn command(&self, program: &str) -> Command {
        let mut command = self.company.command(program);
        command.envs(&self.env).current_dir(self.scene.workspace.project());
        command
    }

    /// Runs a script that must succeed, and returns its output.
    #[track_caller]
    pub fn shell(&self, script: &str) -> String {
        let made = self.try_shell(script);
        assert!(made.status.success(), "{script}\n{}", String::from_utf8_lossy(&made.stderr));
        String::from_utf8(made.stdout).unwrap()
    }

    pub fn try_shell(&self, script: &str) -> Output {
        self.command("bash").args(["-ec", script]).output().unwrap()
    }
}

fn identity(who: Who) -> Option<(u32, u32, String)> {
    let is_root = geteuid().is_root();
    match who {
        Who::Ordinary if is_root => {
            let tester = User::from_name(TESTER).unwrap();
            let tester = tester.unwrap_or_else(|| panic!("there is no user {TESTER}\nhint: `scripts/test` makes it"));
            Some((tester.uid.as_raw(), tester.gid.as_raw(), tester.name))
        }
        Who::Root if is_root => Some((0, 0, "root".into())),
        Who::Unnamed if is_root => Some((NOBODY_KNOWN, NOBODY_KNOWN, String::new())),
        Who::Ordinary => {
            let own = User::from_uid(geteuid()).unwrap();
            Some((geteuid().as_raw(), getegid().as_raw(), own.map(|own| own.name).unwrap_or_default()))
        }
        // Only root can become another user.
        Who::Root | Who::Unnamed => None,
    }
}

/// Returns the folder for the home folders of the tests.
fn homes() -> PathBuf {
    let own = || User::from_uid(geteuid()).unwrap().expect("tests need a user with a home folder").dir;
    let folder = if geteuid().is_root() { PathBuf::from("/home") } else { own().join(".cache/omp-tests/homes") };
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Created below `/run/user` if this process may write there.
fn runtime_folder(user: u32, group: u32) -> TempDir {
    let usual = PathBuf::from(format!("/run/user/{user}"));
    if geteuid().is_root() && !usual.exists() {
        fs::create_dir_all(&usual).unwrap();
        fs::set_permissions(&usual, fs::Permissions::from_mode(0o700)).unwrap();
        lchown(&usual, Some(user), Some(group)).unwrap();
    }
    let folder = TempDir::with_prefix_in("omp-test-", &usual).or_else(|_| TempDir::with_prefix("omp-run-")).unwrap();
    lchown(folder.path(), Some(user), Some(group)).unwrap();
    folder
}

/// Writes realistic start-up files: they print, define and change things.
fn live_in(home: &Path, binary: &Path) {
    let files = [
        (".bashrc", BASHRC),
        (".profile", ". \"$HOME/.bashrc\"\n"),
        (
            ".zshrc",
            "export PATH=\"$HOME/bin:$PATH\"\nsetopt autocd\nalias ll='ls -al'\ngreet() { print \"hello $1\" }\nprint 'welcome to zsh'\n",
        ),
        (".config/fish/config.fish", "set -gx PATH $HOME/bin $PATH\nalias ll 'ls -al'\nfunction fish_greeting; end\n"),
        (".gitconfig", "[user]\n\tname = Some One\n\temail = someone@example.com\n[init]\n\tdefaultBranch = main\n"),
        (".ssh/config", "Host *\n  ServerAliveInterval 60\n"),
        (".local/share/notes", "mine\n"),
        (".cache/keep", ""),
    ];
    for (name, content) in files {
        let path = home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    fs::set_permissions(home.join(".ssh"), fs::Permissions::from_mode(0o700)).unwrap();
    fs::create_dir_all(home.join("bin")).unwrap();
    symlink(binary, home.join("bin/omp")).unwrap();
}

const BASHRC: &str = r#"
export EDITOR=vi PAGER=less LESS=-R HISTSIZE=100000
alias ll='ls -alF' gs='git status' grep='grep --color=auto' rm='rm -i' cp='cp -i'
export PATH="$HOME/bin:$HOME/.local/bin:$PATH"
PROMPT_COMMAND='history -a'
greet() { echo "hello $1"; }
nvm() { echo "loading nvm"; unset -f nvm; }
case $- in *i*) shopt -s histappend checkwinsize; bind 'set show-all-if-ambiguous on' 2>/dev/null ;; esac
echo "welcome back"
"#;

/// A small repository.
const PROJECT: &str = r#"
cd ~/project
git init -q .
printf '# sample\n' > README.md
printf 'fn double(x: i32) -> i32 {\n    2 * x\n}\n\nfn main() {\n    let four = double(2);\n    println!("{four}");\n}\n' > main.rs
git add .
git commit -qm start
"#;

fn environment(home: &Path) -> BTreeMap<String, String> {
    let home = home.display();
    let pairs = [
        ("HOME", home.to_string()),
        ("SHELL", "/bin/bash".into()),
        ("LANG", "C.UTF-8".into()),
        ("TERM", "xterm-256color".into()),
        ("COLORTERM", "truecolor".into()),
        ("DISPLAY", ":0".into()),
        ("PATH", format!("{home}/bin:{home}/.local/bin:{SYSTEM_PATH}")),
        ("XDG_CONFIG_HOME", format!("{home}/.config")),
        ("XDG_CACHE_HOME", format!("{home}/.cache")),
        ("XDG_SESSION_ID", "2".into()),
        ("SSH_CONNECTION", "127.0.0.1 50000 127.0.0.1 22".into()),
        // A model server of this machine must not be found, and a title would use up an answer of the script.
        ("OLLAMA_BASE_URL", "http://127.0.0.1:9".into()),
        ("LLAMA_CPP_BASE_URL", "http://127.0.0.1:9".into()),
        ("LM_STUDIO_BASE_URL", "http://127.0.0.1:9".into()),
        ("NO_PROXY", "127.0.0.1,localhost".into()),
        ("PI_NO_TITLE", "1".into()),
    ];
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Changes the owner of a whole tree.
pub fn own(path: &Path, user: u32, group: u32) {
    let data = fs::symlink_metadata(path).unwrap();
    if geteuid().is_root() {
        lchown(path, Some(user), Some(group)).unwrap();
    }
    if data.is_dir() {
        fs::read_dir(path).unwrap().flatten().for_each(|entry| own(&entry.path(), user, group));
    }
}

//! Runs the scripts: programs that record their arguments, with real ones behind some of them.
//!
//! Starting a process costs a hundred times as much as a function call. The shell itself therefore finds functions of the
//! same names first; the programs are for everything that is started by another program.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use omp_exec::{ChildEnv, Containment, ProcessLimits, Spawn};
use omp_types::{Access, AccessMap, ContainMode, Env};

use super::super::PATIENCE;
use super::scripts::{PROGRAMS, Shell};

/// More than there are processors, because a shell that waits for a program uses none.
const AT_ONCE: usize = 3;
/// Limit of one shell with its descendants, which ends a script that starts itself.
const MOST_PROCESSES: usize = 300;

/// Programs with their usual behaviour.
const REAL: &[&str] = &[
    "env", "timeout", "nice", "nohup", "stdbuf", "setsid", "ionice", "xargs", "find", "sed", "awk", "git", "flock",
    "sort", "tar", "cat", "perl",
];
/// Programs that only do what a script needs of them.
const STAND_INS: &[(&str, &str)] = &[
    (
        "sudo",
        "while :; do case $1 in -u|-g) shift 2;; -*) shift;; *=*) export \"$1\"; shift;; *) break;; esac; done; exec \"$@\"",
    ),
    ("doas", "[ \"$1\" = -u ] && shift 2; exec \"$@\""),
    ("busybox", "exec \"$@\""),
    ("watch", "while :; do case $1 in -n) shift 2;; -*) shift;; *) break;; esac; done; exec /bin/dash -c \"$*\""),
    (
        "ssh",
        "while :; do case $1 in -p|-l) shift 2;; -*) shift;; *) break;; esac; done; shift; exec /bin/dash -c \"$*\"",
    ),
    ("bash", "exec /bin/bash \"$@\""),
    ("sh", "exec /bin/dash \"$@\""),
    ("zsh", "exec /bin/zsh \"$@\""),
];

/// A program that ran.
#[derive(Debug)]
pub(crate) struct Ran {
    pub program: String,
    pub words: Vec<String>,
}

pub(crate) struct Stage {
    folder: tempfile::TempDir,
    home: String,
    shell: Shell,
    /// Processor time of one script: some never end.
    seconds: usize,
}

impl Stage {
    pub(crate) fn build(shell: Shell, seconds: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for sub in ["bin", "scripts", "logs", "work", "work/x"] {
            fs::create_dir(root.join(sub)).unwrap();
        }
        fs::write(root.join("work/x/f"), "one\n").unwrap();
        fs::write(root.join("work/sourced"), "p9 from a file\n").unwrap();
        let mut functions = String::new();
        let real = REAL.iter().filter_map(|name| Some((*name, format!("exec {} \"$@\"", real(name)?))));
        let bare = PROGRAMS.iter().map(|name| (*name, String::new()));
        let stand_ins = STAND_INS.iter().map(|(name, then)| (*name, (*then).to_owned()));
        for (name, then) in real.chain(bare).chain(stand_ins) {
            let note = format!("printf '%s\\0' \"$#\" {name} \"$@\" >>\"$LOG\"");
            let path = root.join("bin").join(name);
            fs::write(&path, format!("#!/bin/dash\n{note}\n{then}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            if then.is_empty() {
                functions.push_str(&format!("{name}() {{ {note}; }}\n"));
            }
        }
        fs::write(root.join("functions"), functions).unwrap();
        let home = root.join("work").to_str().unwrap().to_owned();
        Self { folder, home, shell, seconds }
    }

    pub(crate) fn home(&self) -> &str {
        &self.home
    }

    /// Runs many scripts in one shell process, and returns what each of them ran.
    pub(crate) async fn run(&self, scripts: &[&str]) -> Vec<Vec<Ran>> {
        let root = self.folder.path();
        for (at, script) in scripts.iter().enumerate() {
            fs::write(root.join(format!("scripts/{at}")), script).unwrap();
            fs::write(root.join(format!("logs/{at}")), "").unwrap();
        }
        let starts: [usize; AT_ONCE] = std::array::from_fn(|at| at);
        let [a, b, c] = starts.map(|start| self.run_every(start, scripts.len()));
        tokio::join!(a, b, c);
        (0..scripts.len()).map(|at| log(&root.join(format!("logs/{at}")))).collect()
    }

    /// Generated scripts are untrusted: they can write only here, and a tree that grows without limit is killed with its
    /// root.
    fn sandbox(&self) -> Containment {
        let workspace = self.folder.path().canonicalize().unwrap();
        Containment::new(Access::new(AccessMap {
            mode: ContainMode::WorkspaceWrite,
            workspace,
            ..AccessMap::default()
        }))
    }

    async fn run_every(&self, start: usize, end: usize) {
        let root = self.folder.path();
        let env: Env = [("PATH", root.join("bin").to_str().unwrap()), ("HOME", self.home())].into_iter().collect();
        // Each script is text that a subshell evaluates, so that a syntax error does not end the others.
        let run = match self.shell {
            Shell::Dash => ". \"$1/scripts/$n\"",
            Shell::Bash | Shell::Zsh => "IFS= read -r -d '' text <\"$1/scripts/$n\"; eval \"$text\"",
        };
        let seconds = self.seconds;
        let driver = format!(
            ". \"$1/functions\"; cd \"$1/work\" || exit 1; n=$2; while [ \"$n\" -lt \"$3\" ]; do \
             ( ulimit -t {seconds}; FUNCNEST=60; LOG=\"$1/logs/$n\"; export LOG; {run} ) </dev/null >/dev/null 2>&1; n=$((n+{AT_ONCE})); done"
        );
        let spawn = Spawn::new(PathBuf::from(self.shell.path()), ChildEnv::attended(&env), &self.sandbox())
            .args(["-c", &driver, "driver", root.to_str().unwrap(), &start.to_string(), &end.to_string()])
            .limits(ProcessLimits { tree_processes: Some(MOST_PROCESSES), ..ProcessLimits::default() });
        let captured = spawn.capture(10_000, PATIENCE * 4).await.unwrap();
        assert!(captured.exit.is_some_and(|exit| exit.code == 0), "{}", String::from_utf8_lossy(&captured.output));
    }
}

fn real(name: &str) -> Option<String> {
    let places = ["/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin"];
    places.iter().map(|place| format!("{place}/{name}")).find(|path| Path::new(path).exists())
}

/// Parses the number of words, the program and the words; each ends with a zero byte.
fn log(path: &Path) -> Vec<Ran> {
    let bytes = fs::read(path).unwrap();
    let mut fields = bytes.split(|byte| *byte == 0).map(|field| String::from_utf8_lossy(field).into_owned());
    let mut all = Vec::new();
    while let Some(count) = fields.next().and_then(|count| count.parse().ok()) {
        let program = fields.next().unwrap_or_default();
        all.push(Ran { program, words: fields.by_ref().take(count).collect() });
    }
    all
}

//! A pane of a tmux that the user has started: keys go in, the screen is read.

use std::cell::Cell;
use std::fs::OpenOptions;
use std::io::Read;
use std::process::Output;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use super::person::Person;

const LIMIT: Duration = Duration::from_secs(120);
/// Longer than a question ignores keys after another key.
const KEY_PAUSE: Duration = Duration::from_secs(1);

pub struct Pane<'a> {
    person: &'a Person,
    /// tmux keeps its socket in `/tmp/tmux-UID`, under this name.
    name: String,
    /// Notified when something was written to the pane.
    written: Receiver<()>,
    /// The number of commands run.
    commands: Cell<usize>,
}

impl<'a> Pane<'a> {
    /// Starts the user's shell and waits for its prompt.
    pub fn start(person: &'a Person) -> Self {
        let name = format!("omp-test-{}", std::process::id());
        let (news, written) = channel();
        let pane = Self { person, name, written, commands: Cell::new(0) };
        pane.told(&["-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40"]);
        pane.told(&["set-option", "-g", "history-limit", "5000"]);
        let pipe = person.home().join("pane");
        person.shell("mkfifo ~/pane");
        pane.told(&["pipe-pane", "-O", &format!("exec cat > '{}'", pipe.display())]);
        std::thread::spawn(move || {
            let Ok(mut pipe) = OpenOptions::new().read(true).open(pipe) else { return };
            let mut bytes = [0; 4096];
            while pipe.read(&mut bytes).is_ok_and(|read| read > 0) && news.send(()).is_ok() {}
        });
        pane.command("echo re''ady", "ready");
        pane
    }

    pub fn types(&self, keys: &str) {
        for (index, text) in keys.split('\r').enumerate() {
            if index > 0 {
                self.told(&["send-keys", "Enter"]);
            }
            if !text.is_empty() {
                self.told(&["send-keys", "-l", text]);
            }
        }
    }

    /// Runs a shell command to its end: it must succeed and show a text.
    #[track_caller]
    pub fn command(&self, line: &str, shows: &str) {
        let number = self.commands.get() + 1;
        self.commands.set(number);
        self.told(&["clear-history"]);
        // Written so that the typed line itself, which is echoed, does not match.
        self.types(&format!("clear; {line} && echo {number}_'well' || echo {number}_'wrong'\r"));
        let (well, wrong) = (format!("{number}_well"), format!("{number}_wrong"));
        self.until(line, |screen| screen.contains(&well) || screen.contains(&wrong));
        let screen = self.told(&["capture-pane", "-p", "-S", "-"]);
        assert!(screen.contains(&well) && screen.contains(shows), "{line}:\n{screen}");
    }

    /// Checks the screen whenever something was written, until it matches.
    #[track_caller]
    pub fn until(&self, what: &str, wanted: impl Fn(&str) -> bool) {
        let start = Instant::now();
        loop {
            let screen = self.told(&["capture-pane", "-p"]);
            if wanted(&screen) {
                return;
            }
            let left = LIMIT.saturating_sub(start.elapsed());
            assert!(self.written.recv_timeout(left).is_ok(), "waited in vain for {what}:\n{screen}");
            while self.written.try_recv().is_ok() {}
        }
    }

    /// Types an answer until it counts: keys that come as soon as a question appears are ignored.
    #[track_caller]
    pub fn answers(&self, keys: &str, what: &str, wanted: impl Fn(&str) -> bool) {
        let start = Instant::now();
        loop {
            self.types(keys);
            let pause = Instant::now() + KEY_PAUSE;
            while Instant::now() < pause {
                if wanted(&self.told(&["capture-pane", "-p"])) {
                    return;
                }
                let _ = self.written.recv_timeout(pause.saturating_duration_since(Instant::now()));
            }
            assert!(start.elapsed() < LIMIT, "waited in vain for {what}");
        }
    }

    #[track_caller]
    fn told(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "tmux {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn run(&self, args: &[&str]) -> Output {
        self.person.command("tmux").args(["-u", "-L", &self.name]).args(args).output().unwrap()
    }
}

impl Drop for Pane<'_> {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

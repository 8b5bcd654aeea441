//! Records the last session of each terminal, so that `--continue` resumes the session of this terminal and not of another
//! one. Files and names are those of the reference program: `<agent folder>/terminal-sessions/<terminal>`.

use std::path::{Path, PathBuf};

use omp_types::{Env, vars};

use crate::platform;

/// Longer names are not used as file names.
const LONGEST_NAME: usize = 128;
/// Size limit of a breadcrumb file, which holds two paths.
const MOST_BYTES: u64 = 64 * 1024;

/// The file of one terminal's breadcrumb.
#[derive(Clone, Debug, PartialEq)]
pub struct Breadcrumb {
    file: PathBuf,
}

/// The last session of a terminal.
#[derive(Clone, Debug, PartialEq)]
pub struct LastSession {
    pub cwd: PathBuf,
    pub session: PathBuf,
    /// The session was started without a message, so it has no file yet.
    pub fresh: bool,
}

impl Breadcrumb {
    /// `tty` is the terminal's device if standard input is one. Returns `None` if the terminal cannot be identified.
    pub fn of_terminal(agent_dir: &Path, tty: Option<&Path>, env: &Env) -> Option<Self> {
        let name = tty.and_then(device_name).or_else(|| named_by_environment(env))?;
        let name: String = name.chars().map(|c| if matches!(c, '/' | '\\' | '\0') { '-' } else { c }).collect();
        let usable = !name.is_empty() && name.len() <= LONGEST_NAME && !name.starts_with('.');
        usable.then(|| Self { file: agent_dir.join("terminal-sessions").join(name) })
    }

    /// Writes the breadcrumb. Errors are ignored, because it is only a convenience.
    pub fn leave(&self, cwd: &Path, session: &Path) {
        let Some(folder) = self.file.parent() else { return };
        let text = format!("{}\n{}\n", cwd.display(), session.display());
        let _ = platform::create_private_folder(folder).and_then(|()| std::fs::write(&self.file, text));
    }

    /// Returns `None` if there is no breadcrumb or its session no longer exists.
    pub fn read(&self) -> Option<LastSession> {
        let found = std::fs::metadata(&self.file).ok().filter(|found| found.is_file() && found.len() <= MOST_BYTES)?;
        let text = std::fs::read_to_string(&self.file).ok().filter(|_| found.len() > 0)?;
        let mut lines = text.lines();
        let (cwd, session) = (PathBuf::from(lines.next()?), root_session(PathBuf::from(lines.next()?)));
        let exists = session.is_file();
        let fresh = !exists && lines.next() == Some("fresh");
        (exists || fresh).then_some(LastSession { cwd, session, fresh })
    }
}

/// Returns the device of standard input, if the system reports its path.
pub fn terminal_device() -> Option<PathBuf> {
    platform::terminal_device()
}

/// Returns the top-level session: sessions of sub-agents are stored among its artifacts.
fn root_session(mut session: PathBuf) -> PathBuf {
    for _ in 0..8 {
        let Some(folder) = session.parent() else { break };
        let above = folder.with_extension("jsonl");
        if !above.is_file() {
            break;
        }
        session = above;
    }
    session
}

fn device_name(tty: &Path) -> Option<String> {
    Some(tty.strip_prefix("/dev").ok()?.to_string_lossy().replace('/', "-"))
}

/// Multiplexers are checked first, because they run inside the others.
fn named_by_environment(env: &Env) -> Option<String> {
    if let Some(pane) = env.get(vars::ZELLIJ_PANE_ID) {
        let session = env.get(vars::ZELLIJ_SESSION_NAME).map(|name| format!("{name}-")).unwrap_or_default();
        return Some(format!("zellij-{session}{pane}"));
    }
    let known = [
        (vars::TMUX_PANE, "tmux"),
        (vars::CMUX_SURFACE_ID, "cmux"),
        (vars::KITTY_WINDOW_ID, "kitty"),
        (vars::WEZTERM_PANE, "wezterm"),
        (vars::TERM_SESSION_ID, "apple"),
        (vars::WT_SESSION, "wt"),
    ];
    known.iter().find_map(|(var, name)| env.get(*var).map(|value| format!("{name}-{value}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(tty: Option<&str>, env: &[(&str, &str)]) -> Option<String> {
        let env = env.iter().copied().collect();
        let crumb = Breadcrumb::of_terminal(Path::new("/agent"), tty.map(Path::new), &env)?;
        Some(crumb.file.strip_prefix("/agent/terminal-sessions").unwrap().to_str().unwrap().to_owned())
    }

    #[test]
    fn terminals_are_named_as_the_reference_program_names_them() {
        let check = |tty, env: &[(&str, &str)], expect: Option<&str>| assert_eq!(name(tty, env).as_deref(), expect);
        check(Some("/dev/pts/3"), &[("TMUX_PANE", "%1")], Some("pts-3"));
        check(None, &[("TMUX_PANE", "%1"), ("KITTY_WINDOW_ID", "4")], Some("tmux-%1"));
        check(None, &[("ZELLIJ_PANE_ID", "2"), ("ZELLIJ_SESSION_NAME", "a/b")], Some("zellij-a-b-2"));
        check(None, &[("ZELLIJ_PANE_ID", "2")], Some("zellij-2"));
        check(None, &[("TERM_SESSION_ID", "w0t0")], Some("apple-w0t0"));
        check(None, &[("TMUX_PANE", &"x".repeat(500))], None);
        check(None, &[], None);
    }

    #[test]
    fn a_breadcrumb_leads_to_a_session_that_is_still_there() {
        let temp = tempfile::tempdir().unwrap();
        let env = [("TMUX_PANE", "%1")].into_iter().collect();
        let crumb = Breadcrumb::of_terminal(temp.path(), None, &env).unwrap();
        assert_eq!(crumb.read(), None);
        let session = temp.path().join("s.jsonl");
        crumb.leave(Path::new("/p"), &session);
        assert_eq!(crumb.read(), None, "no such session");
        std::fs::write(&crumb.file, format!("/p\n{}\nfresh\n", session.display())).unwrap();
        assert!(crumb.read().unwrap().fresh);
        std::fs::write(&session, "{}").unwrap();
        assert_eq!(crumb.read(), Some(LastSession { cwd: "/p".into(), session: session.clone(), fresh: false }));
        std::fs::create_dir(temp.path().join("s")).unwrap();
        let child = temp.path().join("s/Anna.jsonl");
        std::fs::write(&child, "{}").unwrap();
        crumb.leave(Path::new("/p"), &child);
        assert_eq!(crumb.read().unwrap().session, session, "a sub-agent's session is not gone on with");
        std::fs::write(&crumb.file, "nonsense").unwrap();
        assert_eq!(crumb.read(), None);
    }
}

//! A process that an editor starts in a terminal of its own on the same machine.
//!
//! An editor adds the given variables to its own environment, which may contain provider keys, and its terminal waits for
//! keyboard input. So a small script runs in between: it passes on only the variables of the process, by name, and closes
//! the input. Values appear in a command line only for as long as `env` needs to start the program.

use omp_types::EditorCommand;

use crate::{Spawn, platform};

/// The variable with the text that the program reads from a descriptor.
const TEXT: &str = "OMP_TEXT";
/// The limit of one variable on Linux.
const MAX_TEXT: usize = 128 * 1024 - 64;
const WRAPPER: &str = "/bin/sh";

impl Spawn {
    /// The request for the editor. `None` if the process cannot be expressed that way and has to be started by omp. A
    /// process started by an editor is not contained, so the caller has to allow that.
    pub fn elsewhere(&self, max_output: u64, uncontained: bool) -> Option<EditorCommand> {
        let cwd = self.cwd.clone()?;
        if cfg!(windows) || (self.containment.is_on() && !uncontained) {
            return None;
        }
        let mut env: Vec<_> = self.env.iter().filter(|(name, _)| is_shell_name(name)).map(owned).collect();
        // A folder can have several names through links: this makes the shell use this one.
        env.push(owned(("PWD", cwd.to_str()?)));
        let names: String = env.iter().map(|(name, _)| format!(" {name}=\"${name}\"")).collect();
        let mut script = format!("exec /usr/bin/env -i{names} \"$0\" \"$@\" </dev/null");
        if let Some(text) = &self.text {
            // The text is expanded once; nothing inside it is.
            let slot = platform::text_slot().filter(|slot| *slot <= 9 && text.len() < MAX_TEXT)?;
            script = format!("{script} {slot}<<omp-end-of-text\n${TEXT}\nomp-end-of-text\n");
            env.push(owned((TEXT, text)));
        }
        let program = std::iter::once(&self.program).chain(&self.args).map(|arg| arg.to_str().map(str::to_owned));
        let mut args = vec!["-c".to_owned(), script];
        args.extend(program.collect::<Option<Vec<String>>>()?);
        Some(EditorCommand { program: WRAPPER.to_owned(), args, env, cwd, max_output })
    }
}

fn owned((name, value): (&str, &str)) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// Other names belong to exported functions, which the shell defines from its files.
fn is_shell_name(name: &str) -> bool {
    let starts_well = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    starts_well && name != "PWD" && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::time::Duration;

    use omp_contain::Containment;

    use super::*;
    use crate::ChildEnv;

    /// Runs the command like an editor, which adds its own variables.
    async fn run(command: EditorCommand) -> String {
        let editors = ChildEnv::default().set("PATH", "/usr/bin:/bin").set("OPENAI_API_KEY", "sk-editor");
        let env = command.env.into_iter().fold(editors, |env, (name, value)| env.set(name, value));
        let spawn = Spawn::new(command.program, env, &Containment::of_user()).args(command.args).cwd(command.cwd);
        let captured = spawn.capture(4096, Duration::from_secs(20)).await.unwrap();
        String::from_utf8(captured.output).unwrap()
    }

    #[tokio::test]
    async fn only_our_variables_reach_it_and_nothing_is_typed() {
        let folder = tempfile::tempdir().unwrap();
        let env = ChildEnv::default().set("PATH", "/usr/bin:/bin").set("A", "it's \"$HOME\"\n").set("B%%", "() { :; }");
        let script = "cat; echo \"$1|$OPENAI_API_KEY|$A|$2\"; pwd; echo \"$PWD\"";
        let spawn = Spawn::new("/bin/sh", env, &Containment::of_user())
            .args(["-c", script, "sh", "x y", "$A"])
            .cwd(folder.path());
        let at = folder.path().display();
        assert_eq!(run(spawn.elsewhere(9, false).unwrap()).await, format!("x y||it's \"$HOME\"\n|$A\n{at}\n{at}\n"));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path(), &link).unwrap();
        let linked = spawn.cwd(&link).elsewhere(9, false).unwrap();
        assert!(run(linked).await.ends_with(&format!("\n{0}\n{0}\n", link.display())));
    }

    #[test]
    fn what_is_no_text_cannot_be_asked_for() {
        use std::os::unix::ffi::OsStrExt;
        let spawn = || Spawn::new("x", ChildEnv::default(), &Containment::of_user());
        assert_eq!(spawn().elsewhere(9, false), None);
        assert_eq!(spawn().arg(std::ffi::OsStr::from_bytes(b"\xff")).cwd("/").elsewhere(9, false), None);
        assert_eq!(spawn().cwd("/").elsewhere(9, false).unwrap().max_output, 9);
    }
}

//! Prepares a command: validates its arguments and turns a leading `cd` into the working folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use omp_agent::ToolError;

use super::{BashOptions, BashParams, fixup, intercept};
use crate::files::Files;

/// A command ready to start.
#[derive(Debug)]
pub(super) struct BashJob {
    pub command: String,
    pub cwd: PathBuf,
    pub env: BTreeMap<String, String>,
}

/// The command line as the model typed it, and what was decided about it before it is judged.
#[derive(Debug)]
pub(super) struct TypedLine {
    pub text: String,
    /// The end of the line that is not run.
    pub left_off: Option<String>,
    /// The text for the model if another tool has to do this.
    pub refusal: Option<String>,
}

impl TypedLine {
    /// Replaces the command in `params` by the one that runs.
    pub fn settle(params: &mut BashParams, options: &BashOptions, offered: &[String]) -> Self {
        let text = params.command.clone();
        let folder_end = match (&params.cwd, leading_cd(&text)) {
            (None, Some((_, rest))) => text.len() - rest.len(),
            _ => 0,
        };
        let fixed = fixup::fix(&text[folder_end..]).filter(|_| options.strip_head_tail);
        let left_off = fixed.map(|fixed| {
            params.command = format!("{}{}", &text[..folder_end], fixed.command);
            fixed.taken
        });
        let refusal = intercept::refusal(&params.command[folder_end..], &options.intercept, offered);
        let refusal = refusal.map(|message| format!("{message}\n\nOriginal command: {text}"));
        Self { text, left_off, refusal }
    }
}

/// The kernel accepts no longer argument (Linux: 128 KiB).
const MAX_COMMAND: usize = 120 * 1024;

/// `shell_folder` is the current folder of the shell.
pub(super) fn prepare(params: BashParams, files: &Files, shell_folder: &Path) -> Result<BashJob, ToolError> {
    let env = params.env.unwrap_or_default();
    check(&params.command, &env)?;
    let (folder, command) = match (params.cwd, leading_cd(&params.command)) {
        (None, Some((folder, rest))) => (Some(from_shell(&folder, shell_folder)), rest.to_owned()),
        (cwd, _) => (cwd, params.command),
    };
    let cwd = match folder {
        Some(typed) => working_folder(&typed, files)?,
        None => shell_folder.to_owned(),
    };
    Ok(BashJob { command, cwd, env })
}

/// Checks that a shell can run the command with this environment.
pub(super) fn check(command: &str, env: &BTreeMap<String, String>) -> Result<(), ToolError> {
    if let Some(name) = env.keys().find(|name| !is_variable_name(name)) {
        return Err(ToolError::reply(format!("Invalid bash env name: {name}")));
    }
    if command.trim().is_empty() {
        return Err(ToolError::reply("The command is empty"));
    }
    if command.contains('\0') || env.values().any(|value| value.contains('\0')) {
        return Err(ToolError::reply("The command contains a NUL character, which no shell accepts"));
    }
    if command.len() > MAX_COMMAND {
        let hint = "hint: write it to a file with `write` and run that file";
        return Err(ToolError::reply(format!("The command is longer than {MAX_COMMAND} bytes\n{hint}")));
    }
    Ok(())
}

fn is_variable_name(name: &str) -> bool {
    let starts_well = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    starts_well && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Resolves the folder of a `cd` relative to `shell_folder`.
fn from_shell(folder: &str, shell_folder: &Path) -> String {
    if folder.starts_with('~') { folder.to_owned() } else { shell_folder.join(folder).to_string_lossy().into_owned() }
}

fn working_folder(typed: &str, files: &Files) -> Result<PathBuf, ToolError> {
    let folder = files.resolve(typed)?.absolute;
    match std::fs::metadata(&folder) {
        Ok(data) if data.is_dir() => Ok(folder),
        Ok(_) => Err(ToolError::reply(format!("Working directory is not a directory: {}", folder.display()))),
        Err(_) => Err(ToolError::reply(format!("Working directory does not exist: {}", folder.display()))),
    }
}

/// Splits `cd folder && rest`. Ignores folders that only a shell can expand.
pub(super) fn leading_cd(command: &str) -> Option<(String, &str)> {
    let after = command.trim_start().strip_prefix("cd")?;
    let argument = after.trim_start_matches([' ', '\t']);
    if argument.len() == after.len() {
        return None;
    }
    let (folder, rest) = match argument.chars().next()? {
        quote @ ('"' | '\'') => argument[1..].split_once(quote)?,
        _ => argument.split_at(argument.find([' ', '\t', '&', ';', '|', '\n'])?),
    };
    let rest = rest.trim_start_matches([' ', '\t']).strip_prefix("&&")?.trim_start();
    let plain = !folder.is_empty()
        && folder != "-"
        && !folder.contains(['$', '`', '*', '?', '[', '{', '\\', '(', '<', '>', '#']);
    // A quoted tilde is a folder called `~`; an unquoted one may be another user's home.
    let tilde_is_clear =
        !folder.starts_with('~') || (argument.starts_with('~') && (folder == "~" || folder.starts_with("~/")));
    (plain && tilde_is_clear && !rest.is_empty()).then(|| (folder.to_owned(), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(command: &str, expect: Option<(&str, &str)>) {
        assert_eq!(leading_cd(command), expect.map(|(folder, rest)| (folder.to_owned(), rest)), "{command}");
    }

    #[test]
    fn a_leading_cd_is_the_working_folder() {
        check("cd sub && ls", Some(("sub", "ls")));
        check("  cd a/b&&make test && echo x", Some(("a/b", "make test && echo x")));
        check("cd 'with space' && ls", Some(("with space", "ls")));
        check("cd ~/x && ls", Some(("~/x", "ls")));
        check("cd sub && a\nb", Some(("sub", "a\nb")));
        for other in
            ["cd sub", "cd sub; ls", "cd sub || ls", "cd $X && ls", "cd \"$X\" && ls", "cd - && ls", "cd && ls"]
        {
            check(other, None);
        }
        for other in
            ["cdrom && ls", "cd a b && ls", "cd '~' && ls", "cd ~joe && ls", "cd 'open && ls", "cd a* && ls", "cd x &&"]
        {
            check(other, None);
        }
    }
}

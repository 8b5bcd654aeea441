//! Programs that start others in a special environment: packages, containers, tool versions, secrets.
//!
//! A rule that allows `uv run pytest *` is meant literally, so the programs they start are not listed. Shells, wrappers and
//! code passed to them are, because the words alone do not show what runs.

use crate::interpret::CommandMeaning;
use crate::{CommandRole, ShellWord, code, shells, wrappers};

/// Runners and the verbs after which the command follows; no verbs if that is their only purpose.
const RUNNERS: &[(&str, &[&str])] = &[
    ("uv", &["run", "tool"]),
    ("poetry", &["run"]),
    ("pipenv", &["run"]),
    ("pdm", &["run"]),
    ("rye", &["run"]),
    ("hatch", &["run"]),
    ("pixi", &["run", "exec"]),
    ("pipx", &["run"]),
    ("conda", &["run"]),
    ("mamba", &["run"]),
    ("npm", &["exec", "x"]),
    ("pnpm", &["exec", "dlx"]),
    ("yarn", &["exec", "dlx", "run"]),
    ("bun", &["x"]),
    ("bundle", &["exec"]),
    ("mise", &["exec", "x"]),
    ("asdf", &["exec"]),
    ("rbenv", &["exec"]),
    ("pyenv", &["exec"]),
    ("nodenv", &["exec"]),
    ("nvm", &["exec", "run"]),
    ("fnm", &["exec"]),
    ("volta", &["run"]),
    ("rustup", &["run"]),
    ("opam", &["exec"]),
    ("stack", &["exec"]),
    ("cabal", &["exec"]),
    ("direnv", &["exec"]),
    ("op", &["run"]),
    ("doppler", &["run"]),
    ("aws-vault", &["exec"]),
    ("chamber", &["exec"]),
    ("foreman", &["run"]),
    ("heroku", &["run", "local"]),
    ("docker", &["run", "exec", "compose", "container"]),
    ("podman", &["run", "exec", "compose", "container"]),
    ("nerdctl", &["run", "exec", "compose"]),
    ("docker-compose", &["run", "exec"]),
    ("kubectl", &["exec", "run", "debug"]),
    ("oc", &["exec", "run", "rsh"]),
    ("toolbox", &["run"]),
    ("distrobox", &["enter"]),
    ("npx", &[]),
    ("bunx", &[]),
    ("pnpx", &[]),
    ("uvx", &[]),
];

/// Runners that take operands before the command: an image, a pod, a folder, a profile.
const WITH_OPERANDS: &[&str] = &[
    "docker",
    "podman",
    "nerdctl",
    "docker-compose",
    "kubectl",
    "oc",
    "direnv",
    "aws-vault",
    "chamber",
    "rustup",
    "nvm",
    "heroku",
    "distrobox",
];

pub(crate) fn takes_operands(name: &str) -> bool {
    WITH_OPERANDS.contains(&name)
}

/// Returns the words after the verb of a runner, if it is one.
pub(crate) fn started<'a>(name: &str, words: &'a [ShellWord]) -> Option<&'a [ShellWord]> {
    let (_, verbs) = RUNNERS.iter().find(|(runner, _)| *runner == name)?;
    if verbs.is_empty() {
        return Some(words);
    }
    // The word after an option may be its value.
    let first = words.iter().position(|word| !word.text.starts_with('-'))?;
    let last = if first > 0 { first + 1 } else { first };
    let verb = (first..=last).find(|at| words.get(*at).is_some_and(|word| verbs.contains(&word.text.as_str())))?;
    words.get(verb + 1..)
}

/// Records a shell, a wrapper or code that is passed to a runner.
pub(crate) fn tell(meaning: &mut CommandMeaning<'_>, name: &str) {
    let words = meaning.words()[1..].to_vec();
    let Some(rest) = started(name, &words) else { return };
    let runs_more = |at: &usize| {
        let Some(program) = ShellWord::program(&rest[*at]) else { return false };
        shells::is_shell(program) || wrappers::starts_others(program) || code::is_handed_code(program, &rest[at + 1..])
    };
    if let Some(at) = (0..rest.len()).find(runs_more) {
        meaning.starts(rest[at..].to_vec(), Vec::new(), CommandRole::Elsewhere);
    }
}

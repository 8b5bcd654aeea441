//! Commands of build and test tools, which write into the folders for what a build makes.

use crate::ShellWord;
use crate::operands::operands;
use crate::options::is_long;

/// Programs with the subcommands that build or test; none if the program does nothing else.
const BUILDERS: &[(&[&str], &[&str])] = &[
    (&["cargo"], &["build", "b", "check", "c", "test", "t", "clippy", "doc", "bench", "nextest run", "nextest list"]),
    (
        &["npm", "pnpm", "yarn", "bun"],
        &["test", "t", "run test", "run build", "run lint", "run check", "run typecheck"],
    ),
    (&["go"], &["test", "vet"]),
    (&["pytest", "mypy", "tsc", "eslint", "vitest", "jest", "pyright", "flake8"], &[]),
    (&["ruff"], &["check"]),
    (&["gradle"], &["build", "test", "check", "assemble", "compileJava"]),
    (&["mvn"], &["test", "compile", "verify", "package"]),
    (&["dotnet"], &["build", "test"]),
    (&["ninja"], &[]),
];

/// Options with which these tools change sources, or write elsewhere.
const CHANGING: &[&str] = &[
    "--fix",
    "--write",
    "--allow-dirty",
    "--update-snapshots",
    "--snapshot-update",
    "--config",
    "--outDir",
    "--outFile",
    "--outdir",
    "--output-file",
    "--target-dir",
    "--out-dir",
    "--artifact-dir",
    "--init",
    "-toolexec",
    "-exec",
    "-o",
    "-u",
    "-C",
];

/// Returns whether the command builds or tests, and by that changes only what a build makes.
pub fn only_builds(words: &[ShellWord]) -> bool {
    let Some((program, rest)) = words.split_first().filter(|_| words.iter().all(|word| word.known)) else {
        return false;
    };
    let name = program.text.as_str();
    let changes = |word: &ShellWord| CHANGING.iter().any(|option| word.text == *option || is_long(option, &word.text));
    let own = rest.iter().take_while(|word| word.text != "--");
    let operands = operands(name, words);
    let begins = |verb: &&str| {
        let verb: Vec<&str> = verb.split(' ').collect();
        operands.starts_with(&verb)
    };
    let is_build = |(programs, verbs): &(&[&str], &[&str])| {
        programs.contains(&name) && (verbs.is_empty() || verbs.iter().any(begins))
    };
    BUILDERS.iter().any(is_build) && !own.into_iter().any(changes)
}

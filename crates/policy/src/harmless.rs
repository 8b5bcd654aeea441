//! Calls that the asking modes let run: those that only read, and those that only change what a build makes.

use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use omp_agent::{Approval, Effect, Tier};
use omp_shell::{ShellWord, only_builds, only_reads, only_starts_others};

use crate::rule::told;

/// Folders whose content a build makes again.
const BUILD_FOLDERS: &[&str] = &[
    "target",
    "dist",
    "build",
    "out",
    ".cache",
    ".venv",
    "venv",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".nox",
    ".next",
    ".nuxt",
    ".turbo",
    ".parcel-cache",
    ".gradle",
    "obj",
    "coverage",
    "htmlcov",
];

/// Programs all of whose writing is known before they run.
const WRITERS: &[&str] = &["mkdir", "touch", "rm", "rmdir", "cp", "tee"];

/// Whether the call only runs commands that change nothing.
pub(crate) fn only_looks(approval: &Approval) -> bool {
    let is_harmless = |effect: &Effect| match effect {
        Effect::Run { words, whole } => reads(&told(words, *whole)),
        effect => crate::rules::is_free(effect),
    };
    runs_something(approval) && approval.reason.is_none() && approval.effects.iter().all(is_harmless)
}

/// Whether the call only changes build folders of the workspace. A command has to be fully contained for that, as it may
/// do more than it says.
pub(crate) fn only_builds_in(workspace: &Path, approval: &Approval) -> bool {
    let is_command = approval.tier == Tier::Exec;
    if approval.effects.is_empty() || approval.reason.is_some() || (is_command && !approval.is_fully_contained) {
        return false;
    }
    let is_harmless = |effect: &Effect| match effect {
        Effect::Run { words, whole } => {
            let words = told(words, *whole);
            reads(&words) || only_builds(&words) || is_writer(&words)
        }
        Effect::Write(path) => is_in_build_folder(workspace, path),
        effect => crate::rules::is_free(effect),
    };
    (!is_command || runs_something(approval)) && approval.effects.iter().all(is_harmless)
}

fn runs_something(approval: &Approval) -> bool {
    approval.effects.iter().any(|effect| matches!(effect, Effect::Run { .. }))
}

fn reads(words: &[ShellWord]) -> bool {
    only_reads(words) || only_starts_others(words)
}

fn is_writer(words: &[ShellWord]) -> bool {
    let is_known = words.iter().all(|word| word.known);
    is_known && words.first().is_some_and(|program| WRITERS.contains(&program.text.as_str()))
}

/// Whether the path lies in a build folder. In a repository git has to ignore the folder: a `build` that is committed holds
/// sources.
fn is_in_build_folder(workspace: &Path, path: &Path) -> bool {
    let Ok(inside) = path.strip_prefix(workspace) else { return false };
    let mut folder = workspace.to_owned();
    for part in inside.components() {
        folder.push(part);
        let is_build = part.as_os_str().to_str().is_some_and(|name| BUILD_FOLDERS.contains(&name));
        if is_build && is_left_out(workspace, &folder) {
            return true;
        }
    }
    false
}

/// Whether git ignores the folder, as far as the files of the repository say. Without a repository nothing is committed.
fn is_left_out(workspace: &Path, folder: &Path) -> bool {
    if !workspace.join(".git").exists() {
        return true;
    }
    let mut ignored = false;
    let parents: Vec<&Path> = folder.ancestors().skip(1).take_while(|parent| parent.starts_with(workspace)).collect();
    // A file further in overrides those further out.
    for parent in parents.iter().rev() {
        let files =
            [(*parent == workspace).then(|| workspace.join(".git/info/exclude")), Some(parent.join(".gitignore"))];
        for file in files.into_iter().flatten().filter(|file| file.is_file()) {
            let rules = ignore_rules(parent, &file);
            let matched = rules.matched_path_or_any_parents(folder, true);
            ignored = (ignored || matched.is_ignore()) && !matched.is_whitelist();
        }
    }
    ignored
}

fn ignore_rules(root: &Path, file: &Path) -> Gitignore {
    let mut builder = GitignoreBuilder::new(root);
    // A line that is no pattern ignores nothing.
    let _ = builder.add(file);
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ApprovalMode, ApprovalRules, Policy, RulePlaces, VerdictKind};

    fn run(text: &str) -> Effect {
        Effect::Run { words: text.split(' ').map(str::to_owned).collect(), whole: !text.contains('*') }
    }

    fn exec(effects: Vec<Effect>) -> Approval {
        Approval { effects, is_fully_contained: true, ..Tier::Exec.into() }
    }

    #[test]
    fn the_asking_modes_ask_about_what_changes_something() {
        use ApprovalMode::{AskAll, AskWrites, Auto, Write};
        let place = tempfile::tempdir().unwrap();
        let workspace = place.path().canonicalize().unwrap();
        std::fs::create_dir_all(workspace.join(".git/info")).unwrap();
        std::fs::create_dir(workspace.join("pkg")).unwrap();
        std::fs::write(workspace.join(".gitignore"), "/target\ndist/\n!pkg/dist/\n").unwrap();
        std::fs::write(workspace.join("pkg/.gitignore"), "out\n").unwrap();
        let write = |path: &str| Effect::Write(workspace.join(path));
        let file = |path: &str| Approval { effects: vec![write(path)], ..Tier::Write.into() };
        let rules = ApprovalRules::new(RulePlaces::new(&workspace, None));
        let loose = Approval { is_fully_contained: false, ..exec(vec![run("cargo test")]) };
        let warned = Approval { reason: Some("it is odd".into()), ..exec(vec![run("ls")]) };
        for (approval, asking) in [
            (exec(vec![run("ls -la")]), vec![Write]),
            (exec(vec![run("grep -n x src/*.rs"), run("head -5")]), vec![Write]),
            (exec(vec![run("cargo test")]), vec![Write, AskAll]),
            (loose, vec![Write, AskWrites, AskAll]),
            (warned, vec![Write, AskWrites, AskAll]),
            (exec(vec![run("rm -rf target"), write("target")]), vec![Write, AskAll]),
            (exec(vec![run("ls"), write("target/list")]), vec![Write, AskAll]),
            (exec(vec![run("ls"), write("list")]), vec![Write, AskWrites, AskAll]),
            (exec(vec![run("cp a dist/a"), write("dist/a")]), vec![Write, AskAll]),
            (exec(vec![run("cp a build/a"), write("build/a")]), vec![Write, AskWrites, AskAll]),
            (exec(vec![run("touch src/a"), write("src/a")]), vec![Write, AskWrites, AskAll]),
            (exec(vec![run("make")]), vec![Write, AskWrites, AskAll]),
            (exec(vec![run("ls"), Effect::Unknown("x".into())]), vec![Write, AskWrites, AskAll]),
            (exec(Vec::new()), vec![Write, AskWrites, AskAll]),
            (file("src/a"), vec![AskWrites, AskAll]),
            (file("target/debug/a"), vec![AskAll]),
            (file("pkg/out/a"), vec![AskAll]),
            (file("pkg/dist/a"), vec![AskWrites, AskAll]),
            (file("../target/a"), vec![AskWrites, AskAll]),
            (Tier::Read.into(), vec![]),
        ] {
            let asks = |mode: &ApprovalMode| {
                let policy = Policy { mode: *mode, rules: rules.clone(), ..Policy::default() };
                policy.verdict("tool", &approval).kind != VerdictKind::Run
            };
            let asked: Vec<_> = [Auto, Write, AskWrites, AskAll].into_iter().filter(asks).collect();
            assert_eq!(asked, asking, "{:?}", approval.effects);
        }
    }

    #[test]
    fn without_a_repository_the_name_of_the_folder_is_enough() {
        let place = tempfile::tempdir().unwrap();
        assert!(is_in_build_folder(place.path(), &place.path().join("a/target/b")));
        assert!(!is_in_build_folder(place.path(), &place.path().join("a/targets/b")));
    }
}

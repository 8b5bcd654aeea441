//! Programs that git runs.

use crate::interpret::CommandMeaning;
use crate::options::{has_letter, is_long};
use crate::{CommandRole, ShellWord};

pub(crate) fn tell(meaning: &mut CommandMeaning<'_>, name: &str) {
    if name != "git" {
        return;
    }
    let words = meaning.words().to_vec();
    let mut at = 1;
    while let Some(word) = words.get(at).filter(|word| word.text.starts_with('-')) {
        match word.text.as_str() {
            "-c" | "--config-env" => {
                at += 1;
                setting(meaning, words.get(at));
            }
            "--work-tree" => {
                meaning.unknown("git that writes in another folder");
                at += 1;
            }
            "-C" | "--namespace" | "--attr-source" | "--super-prefix" => at += 1,
            "--git-dir" => {
                meaning.unknown("git with the settings of another folder");
                at += 1;
            }
            text if ["--config-env", "--exec-path=", "--git-dir=", "--work-tree="]
                .iter()
                .any(|option| text.starts_with(option)) =>
            {
                meaning.unknown("git with other programs or settings");
            }
            _ => {}
        }
        at += 1;
    }
    let Some(verb) = words.get(at) else { return };
    if !verb.known {
        meaning.unknown("which command of git runs");
        return;
    }
    verbs(meaning, &verb.text, &words[at + 1..]);
}

fn setting(meaning: &mut CommandMeaning<'_>, word: Option<&ShellWord>) {
    let Some(word) = word.filter(|word| word.known) else {
        meaning.unknown("a git setting");
        return;
    };
    let (key, value) = word.text.split_once('=').unwrap_or((&word.text, "true"));
    let key = key.to_ascii_lowercase();
    if let Some(code) = value.strip_prefix('!').filter(|_| key.starts_with("alias.")) {
        meaning.runs_text(code, true, CommandRole::Itself);
    }
    let harmless =
        ["color.", "user.", "advice.", "diff.renames", "core.quotepath", "init.defaultbranch", "log.", "gc.auto"];
    let is_plain_pager = key == "core.pager" && matches!(value, "cat" | "");
    if !harmless.iter().any(|prefix| key.starts_with(prefix)) && !is_plain_pager {
        meaning.unknown(format!("the git setting `{key}`"));
    }
}

/// Options with which verbs start other programs, or load other settings.
const STARTING: &[(&[&str], &[&str])] = &[
    (&["grep"], &["-O", "--open-files-in-pager"]),
    (&["rebase"], &["-s", "--strategy"]),
    (&["merge", "pull", "cherry-pick", "revert"], &["-s", "--strategy"]),
    (&["clone"], &["-u", "-c", "--config", "--template"]),
    (&["init"], &["--template"]),
    (&["branch"], &["--edit-description"]),
    (&["config"], &["-e", "--edit"]),
    (&["help"], &["-w", "--web", "-i", "--info"]),
    (&["cat-file"], &["--filters"]),
];
const STARTING_EVERYWHERE: &[&str] = &["--upload-pack", "--receive-pack", "--exec", "--ext-diff", "--textconv"];
/// Verbs whose purpose is to start something.
const STARTERS: &[&str] = &[
    "filter-branch",
    "filter-repo",
    "difftool",
    "mergetool",
    "merge-index",
    "send-email",
    "imap-send",
    "instaweb",
    "web--browse",
    "daemon",
    "shell",
    "hook",
    "credential",
    "credential-store",
    "p4",
    "svn",
    "cvsserver",
    "gui",
    "citool",
    "upload-archive",
    "submodule--helper",
    "for-each-repo",
    "maintenance",
    "http-backend",
    "remote-ext",
    "remote-fd",
    "receive-pack",
    "cvsimport",
    "cvsexportcommit",
    "archimport",
    "quiltimport",
    "credential-cache",
];

fn verbs(meaning: &mut CommandMeaning<'_>, verb: &str, rest: &[ShellWord]) {
    let text = |at: usize| rest.get(at).map_or("", |word| word.text.as_str());
    let has = |options: &[&str]| {
        let is = |word: &ShellWord, option: &str| is_long(option, &word.text) || has_letter(option, &word.text);
        // `--text` is a complete option, not an abbreviation of `--textconv`.
        rest.iter().filter(|word| word.text != "--text").any(|word| options.iter().any(|option| is(word, option)))
    };
    match verb {
        "bisect" if text(0) == "run" => meaning.starts(rest[1..].to_vec(), Vec::new(), CommandRole::Itself),
        "bisect" if matches!(text(0), "visualize" | "view") => meaning.unknown("a program that git starts"),
        "submodule" if rest.iter().any(|word| word.text == "foreach") => {
            let code: Vec<&ShellWord> = rest
                .iter()
                .skip_while(|word| word.text != "foreach")
                .skip(1)
                .filter(|word| word.text != "--recursive")
                .collect();
            let known = code.iter().all(|word| word.known);
            let code = code.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
            meaning.runs_word(Some(&ShellWord { known, ..ShellWord::unknown(code) }), true, CommandRole::Itself);
        }
        "rebase" if has(&["-x", "--exec"]) => {
            let at = rest.iter().position(|word| matches!(word.text.as_str(), "-x" | "--exec"));
            match at {
                Some(at) => meaning.runs_word(rest.get(at + 1), true, CommandRole::Itself),
                None => meaning.unknown("text that git runs"),
            }
        }
        "config"
            if rest.iter().filter(|word| !word.text.starts_with('-')).count() > 1
                && !has(&["--get", "--list", "-l", "--get-all", "--get-regexp"])
                && text(0) != "get" =>
        {
            if has(&["-f", "--file"]) {
                meaning.unknown("which settings are changed");
            }
            setting_kept(meaning, rest);
        }
        _ => {}
    }
    let own = STARTING.iter().filter(|(verbs, _)| verbs.contains(&verb)).flat_map(|(_, options)| *options);
    let own: Vec<&str> = own.chain(STARTING_EVERYWHERE.iter().filter(|_| verb != "rebase")).copied().collect();
    let is_transport = |word: &ShellWord| word.text.starts_with("ext::") || word.text.starts_with("fd::");
    if STARTERS.contains(&verb) || has(&own) || rest.iter().any(is_transport) {
        meaning.unknown("a program that git starts");
    }
}

/// Settings that name programs are run by later git commands.
fn setting_kept(meaning: &mut CommandMeaning<'_>, rest: &[ShellWord]) {
    const HARMLESS: &[&str] =
        &["user.", "color.", "advice.", "init.", "branch.", "push.default", "pull.", "merge.ff", "fetch.prune"];
    let key = rest.iter().find(|word| word.known && word.text.contains('.') && !word.text.starts_with('-'));
    let is_harmless =
        key.is_some_and(|key| HARMLESS.iter().any(|prefix| key.text.to_ascii_lowercase().starts_with(prefix)));
    if !is_harmless {
        meaning.unknown("a git setting that affects later commands");
    }
}

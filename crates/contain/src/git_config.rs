//! Whether a configuration of git's can run something, or lead to something that does.
//!
//! Told by what is known to be harmless: git has many dozens of keys that name a program, and gets new ones.

/// By section; `*` where a name follows.
const HARMLESS: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "worktree",
            "logallrefupdates",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
            "autocrlf",
            "eol",
            "safecrlf",
            "longpaths",
            "quotepath",
        ],
    ),
    ("remote *", &["url", "fetch", "tagopt", "prune"]),
    ("branch *", &["remote", "merge", "rebase", "description"]),
    ("user", &["name", "email"]),
    ("init", &["defaultbranch"]),
    ("extensions", &["objectformat", "refstorage", "partialclone"]),
    ("push", &["default", "autosetupremote", "followtags"]),
    ("pull", &["rebase", "ff"]),
    ("fetch", &["prune"]),
    ("submodule", &["active", "recurse"]),
    ("submodule *", &["url", "active"]),
];

/// What is not understood is taken for something that runs.
pub(crate) fn runs_nothing(text: &str) -> bool {
    let mut known: &[&str] = &[];
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])) {
        if let Some(section) = line.strip_prefix('[') {
            let Some(found) = section.strip_suffix(']').and_then(section_of) else { return false };
            known = found;
            continue;
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        let key = key.trim().to_ascii_lowercase();
        // A value may go on in the next line, and an address may name a program.
        if value.ends_with('\\') || value.contains("::") || !known.contains(&key.as_str()) {
            return false;
        }
    }
    true
}

fn section_of(header: &str) -> Option<&'static [&'static str]> {
    let (name, rest) = header.split_once(' ').map_or((header, None), |(name, rest)| (name, Some(rest.trim())));
    if rest.is_some_and(|rest| !rest.starts_with('"') || !rest.ends_with('"') || rest.len() < 2) {
        return None;
    }
    let name = name.to_ascii_lowercase() + if rest.is_some() { " *" } else { "" };
    HARMLESS.iter().find(|(section, _)| *section == name).map(|(_, keys)| *keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_writes_by_itself_runs_nothing() {
        for (text, expect) in [
            ("", true),
            (
                "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n",
                true,
            ),
            ("[remote \"origin\"]\n\turl = https://host/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n", true),
            ("[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n# note\n", true),
            ("[core]\n\tfsmonitor = evil\n", false),
            ("[core]\nhooksPath=evil", false),
            ("[core] fsmonitor = evil", false),
            ("[core]\n\tbare = false \\\n\tfsmonitor = evil\n", false),
            ("[Core]\n\tFSMonitor = evil\n", false),
            ("[core \"x\"]\n\tbare = false\n", false),
            ("[include]\n\tpath = evil\n", false),
            ("[includeIf \"gitdir:/\"]\n\tpath = evil\n", false),
            ("[remote \"origin\"]\n\turl = ext::sh -c evil\n", false),
            ("[remote \"origin\"]\n\tuploadpack = evil\n", false),
            ("[alias]\n\tst = !evil\n", false),
            ("[filter \"x\"]\n\tclean = evil\n", false),
            ("[extensions]\n\tworktreeConfig = true\n", false),
            ("bare = false\n", false),
            ("[remote \"a\nb\"]\n", false),
        ] {
            assert_eq!(runs_nothing(text), expect, "{text}");
        }
    }
}

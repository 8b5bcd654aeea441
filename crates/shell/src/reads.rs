//! Which scripts only read: a list of programs, and of the options with which they do more.

use crate::{Command, RedirectKind, Role, Script, Word};

/// Programs with the options that make them write or run something.
const READERS: &[(&str, &[&str])] = &[
    ("ls", &[]),
    ("cat", &[]),
    ("head", &[]),
    ("tail", &[]),
    ("wc", &[]),
    ("pwd", &[]),
    ("stat", &[]),
    ("file", &["-C", "--compile"]),
    ("du", &[]),
    ("df", &[]),
    ("basename", &[]),
    ("dirname", &[]),
    ("realpath", &[]),
    ("readlink", &[]),
    ("which", &[]),
    ("type", &[]),
    ("whoami", &[]),
    ("id", &[]),
    ("uname", &[]),
    ("nproc", &[]),
    ("cut", &[]),
    ("tr", &[]),
    ("nl", &[]),
    ("tac", &[]),
    ("rev", &[]),
    ("comm", &[]),
    ("cmp", &[]),
    ("diff", &[]),
    ("grep", &[]),
    ("egrep", &[]),
    ("fgrep", &[]),
    ("rg", &["--pre", "--hostname-bin", "--search-zip", "-z"]),
    ("jq", &[]),
    ("md5sum", &[]),
    ("sha1sum", &[]),
    ("sha256sum", &[]),
    ("hexdump", &[]),
    ("od", &[]),
    ("strings", &[]),
    ("column", &[]),
    ("fold", &[]),
    ("expand", &[]),
    ("seq", &[]),
    ("sleep", &[]),
    ("date", &["-s", "--set"]),
    ("ps", &[]),
    ("sort", &["-o", "--output", "--compress-program", "-T"]),
    ("uniq", &[]),
    ("tree", &["-o"]),
    ("sed", &["-i", "--in-place", "-f", "--file", "-s"]),
    ("find", &["-exec", "-ok", "-delete", "-fprint", "-fls", "-files0-from"]),
    ("awk", &[]),
    ("cd", &[]),
    ("true", &[]),
    ("false", &[]),
    (":", &[]),
    ("[", &[]),
    ("test", &[]),
    ("echo", &[]),
    ("printf", &[]),
    ("exit", &[]),
    ("set", &[]),
    ("local", &[]),
    ("break", &[]),
    ("continue", &[]),
    ("return", &[]),
];

const WRAPPERS: &[&str] =
    &["timeout", "nice", "time", "env", "command", "builtin", "stdbuf", "bash", "sh", "zsh", "eval", "xargs"];

pub(crate) fn only_reads(script: &Script) -> bool {
    script.unknown.is_empty() && script.defined.is_empty() && script.commands.iter().all(|command| is_reader(command))
}

fn is_reader(command: &Command) -> bool {
    let opens_for_writing = |kind| matches!(kind, RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite);
    let is_null = |word: &Word| word.known && word.text == "/dev/null";
    let is_network =
        |word: &Word| !word.known || word.text.starts_with("/dev/tcp") || word.text.starts_with("/dev/udp");
    let writes = command.redirects.iter().any(|redirect| {
        (opens_for_writing(redirect.kind) && !is_null(&redirect.target))
            || (redirect.kind == RedirectKind::Read && is_network(&redirect.target))
    });
    if writes {
        return false;
    }
    let Some(name) = command.words.first().filter(|word| word.known).map(|word| word.text.as_str()) else {
        return command.words.is_empty();
    };
    match (name, command.role) {
        ("git", Role::Itself) => is_git_reader(&command.words[1..]),
        (_, Role::Elsewhere) => false,
        (_, Role::Wrapper) => WRAPPERS.contains(&name),
        _ => READERS
            .iter()
            .find(|(known, _)| *known == name)
            .is_some_and(|(_, risky)| is_plain(name, risky, &command.words[1..])),
    }
}

fn is_plain(name: &str, risky: &[&str], words: &[Word]) -> bool {
    // A file called `-delete` is an option once `*` finds it.
    let may_be_option = |word: &Word| {
        !word.known && !word.text.starts_with(|char: char| char.is_alphanumeric() || "./~".contains(char))
    };
    let has_risk = |word: &Word| {
        let text = word.text.as_str();
        let bundled = |option: &str| {
            option.len() == 2 && !text.starts_with("--") && text.starts_with('-') && text[1..].contains(&option[1..])
        };
        risky.iter().any(|option| text.starts_with(option) || bundled(option))
            || (!risky.is_empty() && may_be_option(word))
    };
    // `uniq in out` writes its second operand; abbreviated long options are options too.
    let is_abbreviated = |word: &Word| {
        let name = word.text.split('=').next().unwrap_or_default();
        name.len() > 2 && name.starts_with("--") && risky.iter().any(|option| option.starts_with(name))
    };
    let operands = words.iter().filter(|word| !word.text.starts_with('-')).count();
    !words.iter().any(|word| has_risk(word) || is_abbreviated(word))
        && (name != "uniq" || (operands <= 1 && words.iter().all(|word| word.known)))
}

fn is_git_reader(words: &[Word]) -> bool {
    const VERBS: &[&str] = &[
        "status",
        "diff",
        "log",
        "show",
        "rev-parse",
        "ls-files",
        "blame",
        "describe",
        "shortlog",
        "cat-file",
        "ls-tree",
        "merge-base",
        "rev-list",
        "name-rev",
        "show-ref",
        "for-each-ref",
        "diff-tree",
        "check-ignore",
        "count-objects",
        "grep",
        "version",
    ];
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.text.starts_with('-')) {
        match word.text.as_str() {
            "-C" => at += 2,
            "--no-pager" | "-P" | "--no-optional-locks" => at += 1,
            _ => return false,
        }
    }
    let Some((verb, rest)) = words.get(at..).and_then(|words| words.split_first()) else { return false };
    let is = |allowed: &[&str]| rest.iter().all(|word| word.known && allowed.contains(&word.text.as_str()));
    let is_risky = |word: &Word| {
        let text = word.text.as_str();
        !word.known && text.starts_with(['$', '`', '*', '?', '['])
            || [
                "--output",
                "--ext-diff",
                "--textconv",
                "-O",
                "--open",
                "--exec",
                "--out",
                "--ext",
                "--textc",
                "--filters",
            ]
            .iter()
            .any(|option| text.starts_with(option))
    };
    match verb.text.as_str() {
        "branch" => is(&["-a", "-v", "-vv", "-r", "--list", "--show-current", "--all", "--remotes"]),
        "remote" => is(&["-v"]),
        "tag" => is(&["-l", "--list"]),
        "stash" => rest.first().is_some_and(|word| word.text == "list") && rest.len() == 1,
        "worktree" => rest.first().is_some_and(|word| word.text == "list") && rest.len() == 1,
        "config" => rest.first().is_some_and(|word| matches!(word.text.as_str(), "--get" | "--list" | "-l")),
        text => verb.known && VERBS.contains(&text) && !rest.iter().any(is_risky),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_only_reads_is_told_from_what_does_not() {
        for (script, expect) in [
            ("ls -la", true),
            ("cat a | grep b | sort -u | uniq -c | head", true),
            ("git status && git diff HEAD~1 -- src", true),
            ("git --no-pager log --oneline -5", true),
            ("find . -name '*.rs' -type f", true),
            ("rg -n foo src 2>/dev/null", true),
            ("sed -n '1,20p' a.txt", true),
            ("cd src && wc -l *.rs", true),
            ("for f in a b; do cat \"$f\"; done", true),
            ("echo $(git rev-parse HEAD)", true),
            ("timeout 5 ls", true),
            ("awk '{print $1}' a", true),
            ("ls > x", false),
            ("cat a >> b", false),
            ("sort -o a a", false),
            ("sort -uo a a", false),
            ("sort --outp=a a", false),
            ("sort *", false),
            ("find . -delete", false),
            ("find . -exec rm {} +", false),
            ("find . -fprintf x y", false),
            ("rg --pre ./x foo", false),
            ("sed -i s/a/b/ x", false),
            ("sed -n 'w x' a", false),
            ("sed 's/a/b/e' a", false),
            ("awk 'BEGIN{system(\"id\")}'", false),
            ("git diff --output=x", false),
            ("git -c core.pager=x log", false),
            ("git log --ext-diff", false),
            ("git branch -D x", false),
            ("git branch new", false),
            ("git commit -m x", false),
            ("uniq a b", false),
            ("rm x", false),
            ("sudo ls", false),
            ("ls; eval $X", false),
            ("ls() { rm x; }; ls", false),
            ("cat < /dev/tcp/host/80", false),
            ("./ls", false),
            ("PATH=. ls", false),
        ] {
            assert_eq!(crate::read(script).only_reads(), expect, "{script}: {:?}", crate::read(script));
        }
    }
}

//! Rules such as `git push *`, held against what a script runs.
//!
//! A rule that allows covers what it says and nothing else: every command of the script must be covered, and nothing may
//! be unknown. A rule that denies is held against every command, however it is wrapped.

use crate::assignments::changes_what_runs;
use crate::{Command, Redirect, RedirectKind, Role, Script, Word};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Yes,
    No,
    /// Something that only running decides could be it.
    Maybe,
}

/// Whether a command is what a pattern says: word for word, with `*` and `?` in words, and `*` as the last word for any
/// further words. What the pattern names must be known before it runs.
pub fn matches(pattern: &str, command: &Command) -> bool {
    let is_changed = command.assignments.iter().any(|assignment| changes_what_runs(&assignment.name));
    !is_changed && compare(&Pattern::read(pattern), &command.words) == Answer::Yes
}

/// Whether the patterns together cover everything that a script does.
pub fn allowed_by<P: AsRef<str>>(patterns: &[P], script: &Script) -> bool {
    let covers = |command: &Command| patterns.iter().any(|pattern| matches(pattern.as_ref(), command));
    let names_more = |outer: &Command| {
        let named = |pattern: &&P| Pattern::read(pattern.as_ref()).words.len() > 1 && matches(pattern.as_ref(), outer);
        patterns.iter().any(|pattern| named(&pattern))
    };
    script.unknown.is_empty()
        && script.commands.iter().all(|command| {
            let outer = command.inside.and_then(|at| script.commands.get(at));
            let is_carried = outer.is_some_and(|outer| outer.role == Role::Elsewhere && names_more(outer));
            command.redirects.iter().all(touches_nothing)
                && (is_carried || is_nothing(command, script) || command.role == Role::Wrapper || covers(command))
        })
}

/// Whether one of the patterns is among what a script runs.
pub fn denied_by<P: AsRef<str>>(patterns: &[P], script: &Script) -> Answer {
    let mut answer = if script.unknown.is_empty() || patterns.is_empty() { Answer::No } else { Answer::Maybe };
    for pattern in patterns.iter().map(|pattern| Pattern::read(pattern.as_ref())) {
        for words in script.commands.iter().flat_map(spellings) {
            match compare(&pattern, &words) {
                Answer::Yes => return Answer::Yes,
                Answer::Maybe => answer = Answer::Maybe,
                Answer::No => {}
            }
        }
    }
    answer
}

/// Ways to say the same: with the program's bare name, and git without the options before its verb.
fn spellings(command: &Command) -> Vec<Vec<Word>> {
    let mut all = vec![command.words.clone()];
    if let Some(name) = command.program() {
        let mut words = command.words.clone();
        words[0].text = name.to_owned();
        if name == "git" {
            let mut at = 1;
            while words.get(at).is_some_and(|word| word.text.starts_with('-')) {
                at += if matches!(words[at].text.as_str(), "-c" | "-C" | "--git-dir" | "--work-tree") { 2 } else { 1 };
            }
            let bare = std::iter::once(words[0].clone()).chain(words.iter().skip(at).cloned()).collect();
            all.push(bare);
        }
        all.push(words);
    }
    all
}

/// Builtins that do nothing outside of the script, and assignments.
fn is_nothing(command: &Command, script: &Script) -> bool {
    const NOTHING: &[&str] = &[
        "true", "false", ":", "[", "test", "exit", "return", "break", "continue", "shift", "wait", "set", "echo",
        "printf", "local", "declare", "readonly", "export", "unset", "read", "let",
    ];
    match command.words.first() {
        None => true,
        Some(first) => first.known && NOTHING.contains(&first.text.as_str()) && !script.defined.contains(&first.text),
    }
}

pub(crate) fn touches_nothing(redirect: &Redirect) -> bool {
    match redirect.kind {
        RedirectKind::Descriptor | RedirectKind::Text => true,
        _ => redirect.target.known && redirect.target.text == "/dev/null",
    }
}

struct Pattern {
    /// Each character with whether it was quoted.
    words: Vec<Vec<(char, bool)>>,
    open: bool,
}

impl Pattern {
    fn read(text: &str) -> Self {
        let text = text.trim();
        let spaced = text.strip_suffix(":*").map(|start| format!("{start} *"));
        let mut words: Vec<Vec<(char, bool)>> = Vec::new();
        let (mut current, mut quote, mut is_word) = (Vec::new(), None, false);
        let mut chars = spaced.as_deref().unwrap_or(text).chars();
        while let Some(char) = chars.next() {
            match (quote, char) {
                (Some(open), close) if open == close => quote = None,
                (None, '"' | '\'') => (quote, is_word) = (Some(char), true),
                (None, '\\') => current.extend(chars.next().map(|next| (next, true))),
                (None, ' ' | '\t') => {
                    if is_word || !current.is_empty() {
                        words.push(std::mem::take(&mut current));
                    }
                    is_word = false;
                }
                (quote, char) => current.push((char, quote.is_some())),
            }
        }
        if is_word || !current.is_empty() {
            words.push(current);
        }
        let open = words.last().is_some_and(|last| last.as_slice() == [('*', false)]);
        if open {
            words.pop();
        }
        Self { words, open }
    }
}

fn compare(pattern: &Pattern, words: &[Word]) -> Answer {
    if words.is_empty() {
        return Answer::No;
    }
    for (at, part) in pattern.words.iter().enumerate() {
        let Some(word) = words.get(at) else { return Answer::No };
        if !word.known {
            return Answer::Maybe;
        }
        let text: Vec<char> = word.text.chars().collect();
        if !glob(part, &text) {
            return Answer::No;
        }
    }
    match words.get(pattern.words.len()..) {
        _ if pattern.open => Answer::Yes,
        Some([]) => Answer::Yes,
        // Expansions may leave nothing behind.
        Some(rest) if rest.iter().all(|word| !word.known) => Answer::Maybe,
        _ => Answer::No,
    }
}

fn glob(pattern: &[(char, bool)], text: &[char]) -> bool {
    let (mut at, mut from, mut star) = (0, 0, None);
    while from < text.len() {
        match pattern.get(at) {
            Some(('*', false)) => {
                star = Some((at, from));
                at += 1;
            }
            Some((char, quoted)) if (*char == '?' && !quoted) || *char == text[from] => {
                at += 1;
                from += 1;
            }
            _ => {
                let Some((star_at, matched)) = star else { return false };
                star = Some((star_at, matched + 1));
                (at, from) = (star_at + 1, matched + 1);
            }
        }
    }
    pattern[at.min(pattern.len())..].iter().all(|part| *part == ('*', false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_allowed(patterns: &[&str], script: &str, expect: bool) {
        let read = crate::read(script);
        assert_eq!(allowed_by(patterns, &read), expect, "{script}: {read:?}");
    }

    #[test]
    fn an_allow_covers_what_it_says() {
        for (pattern, script, expect) in [
            ("git push *", "git push", true),
            ("git push *", "git push origin main", true),
            ("git push:*", "git push origin $BRANCH", true),
            ("git push", "git push origin", false),
            ("git push *", "git pull", false),
            ("git push *", "git push; rm -rf x", false),
            ("git push *", "git push && rm x", false),
            ("git push *", "git push | sh", false),
            ("git push *", "git push $(rm x)", false),
            ("git push *", "git push `rm x`", false),
            ("git push *", "git push <(rm x)", false),
            ("git push *", "git push > out", false),
            ("git push *", "git push >/dev/null 2>&1", true),
            ("git push *", "git push & rm x", false),
            ("git push *", "git push\nrm x", false),
            ("git push *", "git $X push", false),
            ("git push *", "$X push", false),
            ("git push *", "/tmp/git push", false),
            ("git push *", "PATH=/tmp git push", false),
            ("git push *", "GIT_SSH_COMMAND=x git push", false),
            ("git push *", "CI=1 git push", true),
            ("git push *", "sudo git push", false),
            ("sudo git *", "sudo git push", true),
            ("sudo *", "sudo git push", false),
            ("git *", "timeout 5 git push", true),
            ("git *", "timeout 5 rm x", false),
            ("git *", "env A=1 nice git push", true),
            ("git *", "env LD_PRELOAD=x git push", false),
            ("git *", "bash -c 'git push'", true),
            ("git *", "bash -c 'git push; rm x'", false),
            ("git *", "bash <<< 'git push'", true),
            ("git *", "bash <<E\ngit push\nE", true),
            ("git *", "bash <<E\nrm x\nE", false),
            ("git *", "git -c alias.x='!rm' x", false),
            ("ls *", "ls; f() { rm x; }; f", false),
            ("ls *", "alias ls='rm x'; ls", false),
            ("ls *", "ls(){ ls; }; ls", true),
            ("ls *", "for f in a b; do ls $f; done", true),
            ("ls *", "if [ -e a ]; then ls; else echo no; fi", true),
            ("ls *", "xargs ls", true),
            ("ls *", "eval ls", true),
            ("ls *", "eval \"$X\"", false),
            ("ls *", "find . -exec ls {} \\;", false),
            ("npm run test*", "npm run test:unit", true),
            ("npm run test*", "npm run build", false),
            ("echo \"a b\"", "echo 'a b'", true),
            ("*", "anything at all", true),
            ("*", "anything; eval $X", false),
            // Found by the comparison with real shells.
            ("*", "function a b { p7 }; b", false),
            ("*", "x=$(p2 ${x#$((p7 '$(p2)' '\"'))})", false),
            ("*", "p5 \"${x:-$(p2 $((p6 $'a\\nb') ; (p3)))}\"", false),
        ] {
            check_allowed(&[pattern], script, expect);
        }
        check_allowed(&["find *", "ls *"], "find . -exec ls {} \\;", true);
        check_allowed(&[], "", true);
    }

    #[test]
    fn a_denial_sees_through() {
        use Answer::{Maybe, No, Yes};
        for (pattern, script, expect) in [
            ("rm *", "rm x", Yes),
            ("rm *", "/bin/rm x", Yes),
            ("rm *", "sudo -u root rm x", Yes),
            ("rm *", "echo $(rm x)", Yes),
            ("rm *", "find . -name x -exec rm {} +", Yes),
            ("rm *", "ls | xargs -n1 rm -f", Yes),
            ("rm *", "bash -c \"rm x\"", Yes),
            ("rm *", "git bisect run rm x", Yes),
            ("rm *", "f() { rm x; }", Yes),
            ("rm *", "trap 'rm x' EXIT", Yes),
            ("rm *", "r\\m x", Yes),
            ("rm *", "'r'm x", Yes),
            ("rm *", "$'\\x72m' x", Yes),
            ("git push *", "git -C x push", Yes),
            ("rm *", "$X x", Maybe),
            ("rm *", "eval $X", Maybe),
            ("rm *", "{rm,x}", Maybe),
            ("rm *", "ls", No),
            ("rm *", "echo rm x", No),
            ("git push", "git push $X", Maybe),
        ] {
            assert_eq!(denied_by(&[pattern], &crate::read(script)), expect, "{script}: {:?}", crate::read(script));
        }
    }
}

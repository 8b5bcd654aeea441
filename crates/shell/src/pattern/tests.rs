//! Tests of rules against commands: `|` separates words, `?` marks an unknown one.

use super::*;

fn words(text: &str) -> Vec<ShellWord> {
    let word = |word: &str| match word.strip_prefix('?') {
        Some(open) => ShellWord::unknown(open),
        None => ShellWord::known(word),
    };
    text.split('|').map(word).collect()
}

#[track_caller]
fn check(pattern: &str, command: &str, allows: bool, forbids: Forbids) {
    let parsed = CommandPattern::parse(pattern).unwrap();
    assert_eq!(parsed.allows(&words(command)), allows, "allow {pattern} / {command}");
    assert_eq!(parsed.forbids(&words(command)), forbids, "deny {pattern} / {command}");
}

#[test]
fn words_are_compared_with_words() {
    use Forbids::{No, Yes};
    for (pattern, command, allows, forbids) in [
        ("git push *", "git|push|origin|main", true, Yes),
        ("git push *", "git|push", true, Yes),
        ("git push *", "git|pushx", false, No),
        ("git push *", "git|push origin", false, No),
        ("git push *", "git push|x", false, No),
        ("git push *", "gitx|push", false, No),
        ("git push", "git|push|origin", false, No),
        ("npm run test:*", "npm|run|test|--watch", true, Yes),
        ("npm run test:*", "npm|run|test:unit", false, No),
        ("git * main", "git|log|--oneline|main", true, Yes),
        ("git * main", "git|log|maine", false, No),
        ("ls*", "lsof", true, Yes),
        ("ls *", "lsof", false, No),
        ("curl*", "curl|https://h", true, Yes),
        ("npm run test*", "npm|run|test:unit|--watch", true, Yes),
        ("npm run test*", "npm|run|build", false, No),
        ("git*push", "git|-v|push", false, Yes),
        ("git*push", "git|pushx", false, No),
        ("*", "anything|at|all", true, Yes),
        ("echo '*'", "echo|*", true, Yes),
        ("echo '*'", "echo|x", false, No),
        ("echo 'a b'", "echo|a b", true, Yes),
        ("echo 'a b'", "echo|a|b", false, No),
        ("echo \"it's\"", "echo|it's", true, Yes),
        ("echo ''", "echo|", true, Yes),
    ] {
        check(pattern, command, allows, forbids);
    }
}

#[test]
fn what_forbids_sees_through_spellings() {
    use Forbids::{No, Perhaps, Yes};
    for (pattern, command, forbids) in [
        ("git push *", "/usr/bin/git|push", Yes),
        ("git push *", "./git|push", Yes),
        ("git push *", "git|-C|/x|--no-pager|push|-f", Yes),
        ("git push *", "git|--config-env|a=b|push", Yes),
        ("git push *", "GIT.exe|push", Yes),
        ("git push *", "git|-c|a=b|status", No),
        ("cargo publish *", "cargo|+nightly|-q|publish", Yes),
        ("cargo publish *", "cargo|--color=never|publish", Yes),
        ("kubectl delete *", "kubectl|-n|prod|delete|x", Perhaps),
        ("kubectl delete *", "kubectl|-n|prod|get|x", No),
        ("kubectl delete *", "kubectl|get|delete", No),
        ("rm *", "uv|run|rm|x", Yes),
        ("rm *", "uv|-q|run|--|/bin/rm|x", Yes),
        ("rm *", "uv|run|--with|y|rm|x", Perhaps),
        ("rm *", "npm|exec|--|poetry|run|rm|x", Yes),
        ("rm *", "uv|add|rm", No),
        ("rm *", "uv|run|ls|rm", No),
        ("git push *", "bundle|exec|git|-C|y|push", Yes),
    ] {
        check(pattern, command, false, forbids);
    }
}

#[test]
fn unknown_words_are_never_allowed_and_perhaps_forbidden() {
    use Forbids::{No, Perhaps, Yes};
    for (pattern, command, forbids) in [
        ("git push *", "git|?$X", Perhaps),
        ("git push *", "?$X|push", Perhaps),
        ("git push *", "?$X", Perhaps),
        ("git push *", "git|push|?$X", Yes),
        ("git push *", "git|status|?$X", No),
        ("git push *", "git|-C|?$X|push", Yes),
        // `xargs -I X git X`: the text of the word shows nothing.
        ("git push *", "git|?X|?…", Perhaps),
        ("git push *", "git|?$OPTIONS|push", Perhaps),
        ("git push *", "ls|?$X", No),
        ("git push", "git|push|?$X", Perhaps),
        ("git push * main", "git|push|?$X|maine", No),
        ("git push * main", "git|push|?$X|main", Yes),
        ("*", "?$X", Yes),
    ] {
        check(pattern, command, false, forbids);
    }
}

#[test]
fn what_is_no_command_is_refused() {
    for text in ["", "  ", "echo 'x", "echo \\", "echo \"x"] {
        assert!(CommandPattern::parse(text).is_err(), "{text:?}");
    }
}

proptest::proptest! {
    #[test]
    fn a_quoted_word_means_exactly_itself(word in "[ -~é\n]{0,12}", other in "[ -~é\n]{0,12}") {
        let pattern = CommandPattern::parse(&format!("run {}", quoted(&word))).unwrap();
        let command = |word: &str| [ShellWord::known("run"), ShellWord::known(word)];
        proptest::prop_assert!(pattern.allows(&command(&word)));
        proptest::prop_assert_eq!(pattern.allows(&command(&other)), word == other);
    }

    #[test]
    fn what_allows_also_forbids(rule in "[a-c* ]{1,8}", command in "[a-c|]{1,8}") {
        if let Ok(pattern) = CommandPattern::parse(&rule) {
            let command = words(&command);
            proptest::prop_assert!(!pattern.allows(&command) || pattern.forbids(&command) == Forbids::Yes);
        }
    }

    #[test]
    fn what_turns_out_to_be_forbidden_was_perhaps(
        rule in "[ab*]( [ab*]){0,3}",
        command in proptest::collection::vec("[ab]", 1..5),
        open in 0..5_usize,
        length in 0..3_usize,
    ) {
        let pattern = CommandPattern::parse(&rule).unwrap();
        let known: Vec<ShellWord> = command.iter().map(ShellWord::known).collect();
        let mut before = known.clone();
        let from = open.min(known.len());
        before.splice(from..(from + length).min(known.len()), [ShellWord::unknown("$X")]);
        if pattern.forbids(&known) == Forbids::Yes {
            proptest::prop_assert!(pattern.forbids(&before) != Forbids::No, "{} / {:?}", rule, before);
        }
    }
}

//! Rules that refuse a command and name the tool that does it better. Off by default.

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use omp_agent::Tool;
use serde::{Deserialize, Serialize};

use crate::{Find, HashlineEdit, Read, Search, Write};

/// Refuses a matching command if `tool` is offered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterceptRule {
    pub pattern: String,
    pub tool: String,
    pub message: String,
}

/// The rules used if `bashInterceptor.patterns` is not set.
pub(crate) fn default_rules() -> Vec<InterceptRule> {
    let rule = |pattern: &str, tool: &str, message: &str| InterceptRule {
        pattern: pattern.into(),
        tool: tool.into(),
        message: message.into(),
    };
    vec![
        rule(r"^\s*(cat|head|tail|less|more)\s+[^<|>]+$", Read::NAME, "`read` shows files, with line numbers."),
        rule(r"^\s*(?:[ef]?grep|rg)\b(?:\s|$)", Search::NAME, "`search` searches files and respects .gitignore."),
        rule(r"^\s*(?:fd|find)\b.*\s-(?:i?name|i?path|type)\b", Find::NAME, "`find` lists files by pattern."),
        rule(
            r"^\s*sed\b.*\s(?:-[nEerz]*i|--in-place\b)",
            HashlineEdit::NAME,
            "`edit` changes files and shows what it changed.",
        ),
        rule(r"^\s*perl\b.*\s-\w*i\w*\b", HashlineEdit::NAME, "`edit` changes files and shows what it changed."),
        rule(r"^\s*g?awk\b.*\binplace\b", HashlineEdit::NAME, "`edit` changes files and shows what it changed."),
        rule(
            r#"^\s*(echo|printf)\s+("[^"]*"|'[^']*'|[^"'|>])*>{1,2}\s*[^&|>/\s]"#,
            Write::NAME,
            "`write` creates files.",
        ),
        rule(r"^\s*cat\s*(>\s*\S+\s*)?<<.*", Write::NAME, "`write` creates files."),
    ]
}

/// Returns the message for the model if `command` is refused.
pub(super) fn refusal(command: &str, rules: &[InterceptRule], offered: &[String]) -> Option<String> {
    let hit = rules.iter().find(|rule| offered.contains(&rule.tool) && matches(&rule.pattern, command))?;
    Some(format!("Blocked: {}", hit.message))
}

/// An invalid regular expression matches nothing.
fn matches(pattern: &str, command: &str) -> bool {
    RegexMatcher::new(pattern).is_ok_and(|regex| regex.is_match(command.as_bytes()).unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(command: &str, tool: Option<&str>) {
        let offered: Vec<String> = ["read", "search", "find", "edit", "write"].map(str::to_owned).into();
        let refused = refusal(command, &default_rules(), &offered);
        assert_eq!(refused.is_some(), tool.is_some(), "{command}: {refused:?}");
        if let (Some(refused), Some(tool)) = (refused, tool) {
            assert!(refused.starts_with(&format!("Blocked: `{tool}`")), "{refused}");
            let others: Vec<String> = offered.into_iter().filter(|name| name != tool).collect();
            assert_eq!(refusal(command, &default_rules(), &others), None, "{command}");
        }
    }

    #[test]
    fn commands_go_to_the_tool_that_is_there() {
        check("cat src/main.rs", Some("read"));
        check("  tail -20 log", Some("read"));
        check("rg -n foo", Some("search"));
        check("find . -name '*.rs'", Some("find"));
        check("sed -i s/a/b/ f", Some("edit"));
        check("sed -n -Ei s/a/b/ f", Some("edit"));
        check("perl -pi -e 1 f", Some("edit"));
        check("gawk -i inplace 1 f", Some("edit"));
        check("egrep x f", Some("search"));
        check("echo hi > file", Some("write"));
        check("cat > f <<EOF", Some("write"));
        for command in [
            "cargo test",
            "cat a | sort",
            "echo 'a > b'",
            "echo x >&2",
            "find . -delete",
            "echo hi",
            "sed -n 5p f",
            "rgb x",
        ] {
            check(command, None);
        }
    }

    #[test]
    fn a_broken_rule_is_passed_over() {
        let rules = [InterceptRule { pattern: "(".into(), tool: "read".into(), message: "no".into() }];
        assert_eq!(refusal("(", &rules, &["read".into()]), None);
    }
}

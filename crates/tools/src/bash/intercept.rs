//! Rules that refuse a command and name the tool that does it better. Off by default.

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use serde::{Deserialize, Serialize};

/// Refuses a matching command if `tool` is offered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterceptRule {
    pub pattern: String,
    pub tool: String,
    pub message: String,
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
    use crate::toolbox::default_intercepts;

    #[track_caller]
    fn check(command: &str, tool: Option<&str>) {
        let offered: Vec<String> = ["read", "search", "find", "edit", "write"].map(str::to_owned).into();
        let refused = refusal(command, &default_intercepts(), &offered);
        assert_eq!(refused.is_some(), tool.is_some(), "{command}: {refused:?}");
        if let (Some(refused), Some(tool)) = (refused, tool) {
            assert!(refused.starts_with(&format!("Blocked: `{tool}`")), "{refused}");
            let others: Vec<String> = offered.into_iter().filter(|name| name != tool).collect();
            assert_eq!(refusal(command, &default_intercepts(), &others), None, "{command}");
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

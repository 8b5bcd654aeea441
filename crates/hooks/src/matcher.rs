//! Selects the hooks of an event: by one name, several names, a regular expression, or all.

use regex::{Regex, RegexBuilder};

/// Longer matchers are a mistake.
const LONGEST: usize = 4 << 10;
/// Maximum bytes of a compiled expression.
const LARGEST: usize = 1 << 20;

#[derive(Clone, Debug)]
pub(crate) enum HookMatcher {
    All,
    /// `Edit` or `Edit|Write`.
    Names(Vec<String>),
    /// Matches anywhere in the name, unless it is anchored.
    Pattern(Regex),
}

impl HookMatcher {
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if matches!(text, "" | "*") {
            return Ok(HookMatcher::All);
        }
        let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '|' | ' ' | ',');
        if text.chars().all(is_plain) {
            let names = text.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty());
            return Ok(HookMatcher::Names(names.map(str::to_owned).collect()));
        }
        if text.len() > LONGEST {
            return Err(format!("its matcher is longer than {LONGEST} bytes"));
        }
        let pattern = RegexBuilder::new(text).size_limit(LARGEST).build();
        let problem = |error: regex::Error| error.to_string().lines().last().unwrap_or_default().trim().to_owned();
        pattern
            .map(HookMatcher::Pattern)
            .map_err(|error| format!("its matcher `{text}` cannot be read: {}", problem(error)))
    }

    /// Whether it matches any of these names.
    pub fn fits(&self, names: &[&str]) -> bool {
        match self {
            HookMatcher::All => true,
            HookMatcher::Names(wanted) => wanted.iter().any(|wanted| names.contains(&wanted.as_str())),
            HookMatcher::Pattern(pattern) => names.iter().any(|name| pattern.is_match(name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(matcher: &str, names: &[&str], expect: bool) {
        assert_eq!(HookMatcher::parse(matcher).unwrap().fits(names), expect, "{matcher} {names:?}");
    }

    #[test]
    fn names_lists_patterns_and_all() {
        for (matcher, names, expect) in [
            ("", &["Bash"][..], true),
            ("*", &["Bash"], true),
            ("Bash", &["Bash", "bash"], true),
            ("bash", &["Bash", "bash"], true),
            ("Edit|Write", &["Write"], true),
            ("Edit | Write", &["Write"], true),
            ("Edit|Write", &["NotebookEdit"], false),
            ("Edit", &["MultiEdit2"], false),
            ("Notebook.*", &["NotebookEdit"], true),
            (".*Edit", &["NotebookEdit"], true),
            ("Edi.", &["NotebookEdit"], true),
            ("^Notebook", &["NotebookEdit"], true),
            ("^Edi.$", &["NotebookEdit"], false),
            ("^mcp__", &["mcp__memory__write"], true),
            ("mcp__memory__.*", &["mcp__memory__write"], true),
            ("mcp__.*__write.*", &["mcp__memory__write"], true),
            ("mcp__memory", &["mcp__memory__write"], false),
            ("^Bash$", &["Bash"], true),
            ("Bash|Wri.*", &["Write"], true),
        ] {
            check(matcher, names, expect);
        }
    }

    #[test]
    fn what_is_no_pattern_is_told() {
        for (matcher, expect) in [("Bash(", "cannot be read"), (&"(.{9}){99999}".repeat(20), "cannot be read")] {
            let told = HookMatcher::parse(matcher).unwrap_err();
            assert!(told.contains(expect), "{told}");
        }
        assert!(HookMatcher::parse(&".".repeat(LONGEST + 1)).unwrap_err().contains("longer than"));
    }
}

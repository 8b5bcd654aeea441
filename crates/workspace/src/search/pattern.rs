//! Compiles a regex from a model: as it is if possible, repaired if the intent is clear, otherwise with an explanatory
//! error.

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    matcher: RegexMatcher,
    multiline: bool,
    crlf: bool,
    /// Describes the repair that made the pattern compile.
    pub mended: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Invalid regex \"{pattern}\": {reason}\nhint: {hint}")]
pub struct PatternError {
    pub pattern: String,
    pub reason: String,
    pub hint: &'static str,
}

impl Pattern {
    /// Compiles `pattern`. Matches may span lines only if the pattern refers to line breaks.
    pub fn new(pattern: &str, ignore_case: bool) -> Result<Self, PatternError> {
        let multiline = spans_lines(pattern);
        let crlf = !multiline && pattern.contains('$');
        let built = |pattern: &str| build(pattern, ignore_case, multiline, crlf);
        let done = |matcher, mended| Self { matcher, multiline, crlf, mended };
        let error = match built(pattern) {
            Ok(matcher) => return Ok(done(matcher, None)),
            Err(error) => error,
        };
        let mended = |matcher, what: &str, now: &str| {
            let note = format!("The pattern does not parse as a regex; its {what} were taken literally: {now}");
            done(matcher, Some(note))
        };
        let braces = escape_braces(pattern);
        match built(&braces) {
            Ok(matcher) => return Ok(mended(matcher, "braces", &braces)),
            Err(next) if names_a_group(&next) => {
                let both = escape_parentheses(&braces);
                if let Ok(matcher) = built(&both) {
                    return Ok(mended(matcher, "parentheses", &both));
                }
            }
            Err(_) => {}
        }
        Err(explain(pattern, &error))
    }

    pub fn is_multiline(&self) -> bool {
        self.multiline
    }

    pub(super) fn matcher(&self) -> &RegexMatcher {
        &self.matcher
    }

    pub(super) fn line_terminator(&self) -> LineTerminator {
        if self.crlf { LineTerminator::crlf() } else { LineTerminator::byte(b'\n') }
    }
}

/// Returns whether a pattern refers to line breaks: literally, as `\n`, or by letting the dot match them with `(?s)`.
fn spans_lines(pattern: &str) -> bool {
    let mut rest = pattern;
    while let Some(next) = rest.chars().next() {
        let flags = rest.strip_prefix("(?").map(|after| after.split(['-', ':', ')']).next().unwrap_or_default());
        let dot_matches_all =
            flags.is_some_and(|flags| flags.contains('s') && flags.chars().all(|flag| flag.is_ascii_alphabetic()));
        if next == '\n' || rest.starts_with("\\n") || dot_matches_all {
            return true;
        }
        rest = &rest[if next == '\\' { escape_length(rest) } else { next.len_utf8() }..];
    }
    false
}

/// Size limit of a compiled pattern, enough for any pattern written by hand.
const MAX_PROGRAM: usize = 10 * 1024 * 1024;

fn build(pattern: &str, ignore_case: bool, multiline: bool, crlf: bool) -> Result<RegexMatcher, String> {
    let mut builder = RegexMatcherBuilder::new();
    builder.multi_line(true).case_insensitive(ignore_case).size_limit(MAX_PROGRAM);
    if !multiline {
        // The engine uses its literal fast paths only if it knows that no match spans lines.
        if crlf {
            builder.crlf(true)
        } else {
            builder.line_terminator(Some(b'\n'))
        };
    }
    builder.build(pattern).map_err(|error| error.to_string())
}

/// Escapes every `{` that cannot start a repetition such as `{2,4}`, and the `$` of `${`, which could never match otherwise.
fn escape_braces(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut rest = pattern;
    while let Some(next) = rest.chars().next() {
        let repetition = repetition_length(rest).filter(|_| !out.is_empty());
        let escape = matches!(next, '{' | '}') && repetition.is_none() || rest.starts_with("${");
        let length = match next {
            '\\' => escape_length(rest),
            '{' => repetition.unwrap_or(1),
            _ => next.len_utf8(),
        };
        if escape {
            out.push('\\');
        }
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out
}

/// Escapes every parenthesis that is not escaped already.
fn escape_parentheses(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut rest = pattern;
    while let Some(next) = rest.chars().next() {
        let length = if next == '\\' { escape_length(rest) } else { next.len_utf8() };
        if matches!(next, '(' | ')') {
            out.push('\\');
        }
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out
}

/// Returns the length of the escape sequence at the start: `\{`, `\n`, or with its braces `\p{Greek}`, `\x{1F600}`.
fn escape_length(text: &str) -> usize {
    let plain = 1 + text[1..].chars().next().map_or(0, char::len_utf8);
    let takes_braces = text.len() > 2 && matches!(text.as_bytes()[1], b'p' | b'P' | b'x' | b'u' | b'U' | b'b');
    match text[plain..].strip_prefix('{').filter(|_| takes_braces).and_then(|inner| inner.find('}')) {
        Some(end) => plain + end + 2,
        None => plain,
    }
}

/// Returns the length of the `{2}`, `{2,}` or `{2,4}` at the start.
fn repetition_length(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('{')?;
    let end = inner.find('}')?;
    let (least, most) = inner[..end].split_once(',').unwrap_or((&inner[..end], ""));
    let number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    (!least.is_empty() && number(least) && number(most)).then_some(end + 2)
}

fn names_a_group(error: &str) -> bool {
    error.contains("unclosed group") || error.contains("unopened group")
}

fn explain(pattern: &str, error: &str) -> PatternError {
    let reason = error.rsplit("error: ").next().unwrap_or(error).trim().to_owned();
    let hint = if reason.contains("look-around") {
        "look-ahead and look-behind are not supported; match a wider pattern and look at the lines"
    } else if reason.contains("backreferences") {
        "backreferences are not supported; write the repeated part out"
    } else if reason.contains("size limit") {
        "the pattern is too large; use smaller repetitions"
    } else {
        "Rust regex syntax; put a backslash before characters meant literally: \\( \\[ \\{ \\. \\* \\+ \\?"
    };
    PatternError { pattern: pattern.into(), reason, hint }
}

#[cfg(test)]
mod tests {
    use grep_matcher::Matcher;

    use super::*;

    #[track_caller]
    fn check(pattern: &str, text: &str, mended: bool) {
        let pattern = Pattern::new(pattern, false).unwrap();
        assert!(pattern.matcher.is_match(text.as_bytes()).unwrap(), "{text}");
        assert_eq!(pattern.mended.is_some(), mended, "{:?}", pattern.mended);
    }

    #[track_caller]
    fn fails(pattern: &str, reason: &str, hint: &str) {
        let error = Pattern::new(pattern, false).unwrap_err();
        assert!(error.reason.contains(reason) && error.hint.contains(hint), "{error}");
    }

    #[test]
    fn compiles_or_mends() {
        check("fo{2}", "foo", false);
        check(r"foo\(", "foo(", false);
        check("a}", "a}", false);
        check("${platform}", "x${platform}", true);
        check("interface{}", "interface{}", true);
        check("{", "{", true);
        check("{2}", "{2}", true);
        check(r"\p{Greek}{", "α{", true);
        check("foo(", "foo(", true);
        check("foo)", "foo)", true);
        check("if (x) {", "if x {", true);
        check("f(x{", "f(x{", true);
        check("end$", "end", false);
        check(r"a\nb", "a\nb", false);
    }

    #[test]
    fn line_breaks_are_noticed() {
        for (pattern, expect) in [
            (r"a\nb", true),
            ("a\nb", true),
            (r"(?s)a.*b", true),
            (r"(?is:a.*b)", true),
            (r"(?m-s)a.*b", false),
            (r"(?:yes)", false),
            (r"(?P<name>s)", false),
            (r"C:\\new", false),
            (r"a\\\nb", true),
            (r"a\", false),
        ] {
            assert_eq!(spans_lines(pattern), expect, "{pattern}");
        }
        check(r"(?s)a.*b", "a\nb", false);
    }

    #[test]
    fn explains_the_rest() {
        fails("*a", "repetition operator missing expression", "Rust regex");
        fails("a(?=b)", "look-around", "look-ahead");
        fails(r"(a)\1", "backreferences", "backreferences");
        fails("[z-a]", "invalid character class range", "Rust regex");
        fails(r"(\w{1000}){1000}", "size limit", "too large");
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(64))]
        #[test]
        fn never_panics(pattern in ".{0,40}", tricky in r"[\\{}()\[\]pxu0-9,*]{0,20}") {
            let _ = Pattern::new(&pattern, false);
            let _ = Pattern::new(&tricky, true);
        }
    }
}

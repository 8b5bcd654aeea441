//! A function that only dispatches may be longer, one arm for each case.
//!
//! Splitting it would need a catch-all arm, and the compiler would no longer report a missing case.

use std::ops::Range;

use super::scan::{closing, words};

/// Lines of one arm, and of one statement before the `match`.
const LONGEST: usize = 3;
const MOST_BEFORE: usize = 3;

/// Whether a body is one `match`, after at most three short statements, whose arms are short and name every case.
pub fn is_dispatch(body: &str) -> bool {
    let mut at = skip_space(body, 0);
    for _ in 0..=MOST_BEFORE {
        if first_word(&body[at..]) == "match" {
            return only_match(body, at).is_some_and(|arms| are_plain(&body[arms]));
        }
        match statement_end(body, at) {
            Some(end) if lines(&body[at..end]) <= LONGEST => at = skip_space(body, end),
            _ => return false,
        }
    }
    false
}

/// The text between the braces of the `match` at `at`, if nothing follows it.
fn only_match(body: &str, at: usize) -> Option<Range<usize>> {
    let open = find(body, at, b"{")?;
    let close = closing(body, open);
    let rest = body.get(close + 1..)?.trim();
    (rest.is_empty() || rest == ";").then_some(open + 1..close)
}

/// The offset after the `;`, or after the closing brace of a statement without one.
fn statement_end(body: &str, at: usize) -> Option<usize> {
    if !matches!(first_word(&body[at..]), "if" | "for" | "while" | "loop" | "unsafe") {
        return find(body, at, b";").map(|end| end + 1);
    }
    let mut end = closing(body, find(body, at, b"{")?) + 1;
    while first_word(body.get(end..)?.trim_start()) == "else" {
        end = closing(body, find(body, end, b"{")?) + 1;
    }
    Some(end)
}

fn are_plain(arms: &str) -> bool {
    let mut at = skip_space(arms, 0);
    while at < arms.len() {
        let Some(arrow) = arrow(arms, at) else { return false };
        let start = skip_space(arms, arrow + 2);
        let end = match arms[start..].starts_with('{') {
            true => closing(arms, start) + 1,
            false => find(arms, start, b",").unwrap_or(arms.len()),
        }
        .min(arms.len());
        if is_catch_all(&arms[at..arrow]) || lines(arms[at..end].trim_end()) > LONGEST {
            return false;
        }
        at = skip_space(arms, end);
        if arms[at..].starts_with(',') {
            at = skip_space(arms, at + 1);
        }
    }
    true
}

/// The `=>` after the pattern at `at`.
fn arrow(arms: &str, mut at: usize) -> Option<usize> {
    loop {
        at = find(arms, at, b"=")?;
        if arms[at..].starts_with("=>") {
            return Some(at);
        }
        at += 1;
    }
}

/// Whether the pattern is a catch-all: `_`, `(_, _)` or a bare name, without a guard.
fn is_catch_all(pattern: &str) -> bool {
    if words(pattern).any(|(_, word)| word == "if") {
        return false;
    }
    let bare = pattern.split(['|', ',', ']']).next_back().unwrap_or_default();
    let bound: Vec<&str> = bare.split_whitespace().filter(|word| !matches!(*word, "ref" | "mut")).collect();
    let is_open = pattern.contains('_') && words(pattern).all(|(_, word)| word == "_");
    is_open || matches!(bound[..], [name] if is_binding(name))
}

/// A lower-case name; constants and variants start with a capital letter.
fn is_binding(name: &str) -> bool {
    let is_lower = |byte: u8| byte == b'_' || byte.is_ascii_lowercase();
    name.bytes().next().is_some_and(is_lower)
        && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
        && !matches!(name, "true" | "false")
}

/// The first of `wanted` from `from` on that is not inside brackets opened since.
fn find(code: &str, from: usize, wanted: &[u8]) -> Option<usize> {
    let mut at = from;
    while let Some(byte) = code.as_bytes().get(at) {
        match byte {
            byte if wanted.contains(byte) => return Some(at),
            b'{' | b'(' | b'[' => at = closing(code, at) + 1,
            b'}' | b')' | b']' => return None,
            _ => at += 1,
        }
    }
    None
}

fn skip_space(code: &str, at: usize) -> usize {
    let rest = code.get(at..).unwrap_or_default();
    code.len() - rest.trim_start().len()
}

fn first_word(code: &str) -> &str {
    words(code).next().filter(|(at, _)| *at == 0).map_or("", |(_, word)| word)
}

fn lines(code: &str) -> usize {
    code.lines().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dispatch_names_every_case_in_short_arms() {
        for (body, want) in [
            ("\n    match a {\n        A::B => b(),\n        A::C { x, .. } | A::D(x) => c(x),\n    }\n", true),
            (
                "\n    let a = b;\n    let Some(c) = a else {\n        return;\n    };\n    match c {\n        A => 1,\n    }\n",
                true,
            ),
            ("if x {\n return;\n}\nmatch c { A => {\n work();\n}\n B => 1 }", true),
            ("match a { A if x == 1 && y >= 2 => 1, _ if z => 2, A => 3, };", true),
            ("match a { Some(other) => 1, None => 2, true => 3, A::B(_) => 4 }", true),
            ("match a { A if x || y => 1, A if (x, y) == z => 2 }", true),
            ("match a { #[cfg(unix)] A => 1, B => f(|x, y| x), }", true),
            // An arm or a statement of four lines.
            ("match a {\n A => {\n b();\n c();\n }\n B => 1,\n }", false),
            ("if x {\n a();\n b();\n}\nmatch c { A => 1 }", false),
            // Catch-all arms.
            ("match a { A => 1, _ => 2 }", false),
            ("match a { A => 1, other => f(other) }", false),
            ("match a { A => 1, mut other => f(other) }", false),
            ("match (a, b) { (A, B) => 1, (_, _) => 2 }", false),
            ("match a { A => 1, B | _ => 2 }", false),
            ("match a { A => f::<A, B>(), _ => 2 }", false),
            ("match a { A => 1, #[cfg(unix)] other => 2 }", false),
            // More than dispatch.
            ("a();\nb();\nc();\nd();\nmatch c { A => 1 }", false),
            ("match a { A => 1 }\nmore()", false),
            ("match a { A => 1 }.work()", false),
            ("work();", false),
            ("work()", false),
            ("", false),
        ] {
            assert_eq!(is_dispatch(body), want, "{body}");
        }
    }
}

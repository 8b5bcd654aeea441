//! Removes `[path#tag]` headers and `12:` prefixes from text that was copied from a read, so that they do not end up in
//! files.

use std::borrow::Cow;

use crate::snapshot::Tag;

/// Returns the text without prefixes if every line has one and the numbers ascend; otherwise returns it unchanged.
pub fn strip_prefixes(text: &str) -> Cow<'_, str> {
    let (header, body) = match text.split_once('\n') {
        Some((first, rest)) if is_header(first) => (true, rest),
        None if is_header(text) => (true, ""),
        _ => (false, text),
    };
    let finished = body.ends_with('\n');
    let lines: Vec<&str> = body.strip_suffix('\n').unwrap_or(body).split('\n').collect();
    let numbered: Option<Vec<(usize, &str)>> = lines.iter().map(|line| numbered_line(line)).collect();
    let ascending = |lines: &[(usize, &str)]| lines.windows(2).all(|pair| pair[0].0 < pair[1].0);
    match numbered.filter(|lines| ascending(lines)) {
        // Without a header, only numbers that count up from 1 are taken for a copy; `10:30` may be data.
        Some(lines) if header || lines.len() > 1 && counts_from_one(&lines) => {
            let mut plain = lines.iter().map(|(_, text)| *text).collect::<Vec<_>>().join("\n");
            if finished {
                plain.push('\n');
            }
            Cow::Owned(plain)
        }
        _ if header => Cow::Borrowed(body),
        _ => Cow::Borrowed(text),
    }
}

fn counts_from_one(lines: &[(usize, &str)]) -> bool {
    lines.iter().enumerate().all(|(index, (number, _))| *number == index + 1)
}

fn is_header(line: &str) -> bool {
    let line = line.trim_end();
    let bracketed = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let marked = line.strip_prefix('¶');
    let tag = bracketed.or(marked).and_then(|inner| inner.rsplit_once('#'));
    tag.is_some_and(|(path, tag)| !path.is_empty() && tag.parse::<Tag>().is_ok())
}

fn numbered_line(line: &str) -> Option<(usize, &str)> {
    let (number, text) = line.split_once(':')?;
    let number = number.strip_prefix(['*', ' ']).unwrap_or(number);
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| number.parse().ok()).flatten().map(|number| (number, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes() {
        for (text, want) in [
            ("[a.txt#1a2b]\n1:one\n2:two\n", "one\ntwo\n"),
            ("¶a.txt#1A2B\n7:one", "one"),
            ("1:one\n2:two", "one\ntwo"),
            ("[a.txt#1a2b]\nplain\n", "plain\n"),
            ("[a.txt#1a2b]", ""),
            ("1:one\nplain\n", "1:one\nplain\n"),
            ("2:b\n1:a", "2:b\n1:a"),
            ("10:30\n11:45", "10:30\n11:45"),
            ("5:data", "5:data"),
            ("80:443\n90:1", "80:443\n90:1"),
            ("[section]\n1:a", "[section]\n1:a"),
            ("", ""),
        ] {
            assert_eq!(strip_prefixes(text), want, "{text:?}");
        }
    }
}

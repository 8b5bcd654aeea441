//! What bash writes of its exported variables (`declare -px`), read back. A program that prints them, as `env` does, costs
//! as much time as a small command itself.

use std::collections::BTreeMap;

use crate::ChildEnv;

/// Written behind the last variable: what does not end with it is not whole.
pub(crate) const WHOLE: &str = "# whole\n";

/// The script that writes the variables to standard output. Holds no single quote. `file` is where it goes: functions can be
/// exported as well, which only `env` prints as the next shell reads them.
pub(crate) fn dump(file: &str) -> String {
    let whole = WHOLE.trim_end();
    format!(
        "{{ \\builtin declare -Fx >|\"{file}\"; if [ -s \"{file}\" ]; then /usr/bin/env -0 >|\"{file}\"; \
         else {{ \\builtin declare -px; echo \"{whole}\"; }} >|\"{file}\"; fi; }} 2>/dev/null"
    )
}

/// The variables, or `None` where this is not all of them. Names that are none to bash are handed on by it without being
/// listed: they are as they were `before`.
pub(crate) fn read(text: &[u8], before: &ChildEnv) -> Option<BTreeMap<String, String>> {
    let is_name = |name: &str| name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
    let handed_on = before.iter().filter(|(name, _)| !is_name(name));
    let mut variables: BTreeMap<String, String> =
        handed_on.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let mut rest = text.strip_suffix(WHOLE.as_bytes())?;
    while !rest.is_empty() {
        rest = rest.strip_prefix(b"declare -")?;
        let flags = rest.iter().position(|byte| *byte == b' ')?;
        rest = &rest[flags + 1..];
        let end = rest.iter().position(|byte| matches!(byte, b'=' | b'\n'))?;
        let (name, after) = (std::str::from_utf8(&rest[..end]).ok()?, &rest[end..]);
        // Exported without a value, or a list, which no program is given.
        if after.starts_with(b"\n") || after.starts_with(b"=(") {
            rest = after.split_at(after.windows(9).position(|next| next == b"\ndeclare ").unwrap_or(after.len() - 1)).1;
            rest = &rest[1..];
            continue;
        }
        let (value, after) = value(&after[1..])?;
        if let Ok(value) = String::from_utf8(value) {
            variables.insert(name.to_owned(), value);
        }
        rest = after.strip_prefix(b"\n")?;
    }
    Some(variables)
}

/// `"…"` or `$'…'`, and what stands behind it.
fn value(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let (mut rest, is_plain) = match text.strip_prefix(b"\"") {
        Some(rest) => (rest, true),
        None => (text.strip_prefix(b"$'")?, false),
    };
    let end = if is_plain { b'"' } else { b'\'' };
    let mut value = Vec::new();
    loop {
        let (&byte, after) = rest.split_first()?;
        rest = after;
        match byte {
            byte if byte == end => return Some((value, rest)),
            b'\\' if is_plain => {
                let (&next, after) = rest.split_first()?;
                if !matches!(next, b'"' | b'\\' | b'$' | b'`') {
                    value.push(b'\\');
                }
                value.push(next);
                rest = after;
            }
            b'\\' => {
                let (byte, after) = escaped(rest)?;
                value.push(byte);
                rest = after;
            }
            byte => value.push(byte),
        }
    }
}

/// Behind a backslash in `$'…'`.
fn escaped(text: &[u8]) -> Option<(u8, &[u8])> {
    let (&first, rest) = text.split_first()?;
    let byte = match first {
        b'a' => 7,
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 11,
        b'f' => 12,
        b'r' => b'\r',
        b'E' => 27,
        b'0'..=b'7' => {
            let digits = std::str::from_utf8(text.get(..3)?).ok()?;
            return Some((u8::from_str_radix(digits, 8).ok()?, &text[3..]));
        }
        b'\\' | b'\'' | b'"' | b'?' => first,
        _ => return None,
    };
    Some((byte, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_bash_means_them() {
        let text = b"declare -x A=\"plain\"\ndeclare -rx B=\"q\\\" \\$x \\`c\\` \\\\ \\n\nnext\"\ndeclare -x NONE\n\
            declare -x C=$'tab\\tline\\n\\E[0m \\303\\244 \\' \\\\'\ndeclare -ax LIST=([0]=\"x y\" [1]=\"z\")\n\
            declare -x BAD=$'\\377'\ndeclare -x LAST=\"\"\n# whole\n";
        let before = ChildEnv::default().set("odd.name", "kept").set("GONE", "1");
        let read = read(text, &before).unwrap();
        let expect = [
            ("A", "plain"),
            ("B", "q\" $x `c` \\ \\n\nnext"),
            ("C", "tab\tline\n\u{1b}[0m ä ' \\"),
            ("LAST", ""),
            ("odd.name", "kept"),
        ];
        assert_eq!(read, expect.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
    }

    #[test]
    fn what_is_not_whole_is_not_read() {
        for text in
            ["", "declare -x A=\"1\"\n", "declare -x A=\"1\n# whole\n", "A=1\n# whole\n", "declare -x A=1\n# whole\n"]
        {
            assert_eq!(read(text.as_bytes(), &ChildEnv::default()), None, "{text}");
        }
        assert_eq!(read(WHOLE.as_bytes(), &ChildEnv::default()), Some(BTreeMap::new()));
    }
}

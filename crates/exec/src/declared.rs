//! Parses the output of bash's `declare -p`, so that no program has to be started to list the variables.

use std::collections::BTreeMap;

use crate::ChildEnv;

/// Written after the last variable: a dump without this end is incomplete.
pub(crate) const WHOLE: &str = "# whole\n";

/// The variables of a shell.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ShellVariables {
    pub(crate) exported: BTreeMap<String, String>,
    /// Shell code that sets the variables that are not exported.
    pub(crate) plain: String,
}

/// Variables that bash sets itself, or that change how it parses the next command line. Names that begin with `BASH` and
/// `COMP_` are treated the same.
const OF_BASH: &[&str] = &[
    "CDPATH",
    "CHILD_MAX",
    "COLUMNS",
    "COPROC",
    "COPROC_PID",
    "DIRSTACK",
    "ENV",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EUID",
    "EXECIGNORE",
    "FCEDIT",
    "FIGNORE",
    "FUNCNAME",
    "FUNCNEST",
    "GLOBIGNORE",
    "GROUPS",
    "HISTCMD",
    "HISTFILE",
    "HOSTNAME",
    "HOSTTYPE",
    "IFS",
    "LINENO",
    "LINES",
    "MACHTYPE",
    "MAILCHECK",
    "OPTARG",
    "OPTERR",
    "OPTIND",
    "OSTYPE",
    "PIPESTATUS",
    "POSIXLY_CORRECT",
    "PPID",
    "PROMPT_COMMAND",
    "PROMPT_DIRTRIM",
    "PS0",
    "PS2",
    "PS3",
    "PS4",
    "RANDOM",
    "SECONDS",
    "SHELLOPTS",
    "SHLVL",
    "SRANDOM",
    "TIMEFORMAT",
    "TMOUT",
    "UID",
    "_",
];

/// Parses the variables; `None` if the dump is incomplete. Bash passes on variables with names that are invalid in bash
/// without listing them, so these are taken from `before`.
pub(crate) fn read(text: &[u8], before: &ChildEnv) -> Option<ShellVariables> {
    let is_name = |name: &str| name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
    let handed_on = before.iter().filter(|(name, _)| !is_name(name));
    let mut declared = read_if(text, |_, _| true)?;
    declared.exported.extend(handed_on.map(|(name, value)| (name.to_owned(), value.to_owned())));
    Some(declared)
}

/// Parses the variables for which `wanted` is true, given name and value.
pub(crate) fn read_if(text: &[u8], wanted: impl Fn(&str, &str) -> bool) -> Option<ShellVariables> {
    let mut declared = ShellVariables::default();
    let mut rest = text.strip_suffix(WHOLE.as_bytes())?;
    while !rest.is_empty() {
        let whole = rest;
        rest = rest.strip_prefix(b"declare -")?;
        let blank = rest.iter().position(|byte| *byte == b' ')?;
        let flags = &rest[..blank];
        rest = &rest[blank + 1..];
        let end = rest.iter().position(|byte| matches!(byte, b'=' | b'\n'))?;
        let (name, after) = (std::str::from_utf8(&rest[..end]).ok()?, &rest[end..]);
        let mut single = None;
        rest = match after.strip_prefix(b"=") {
            // A variable that is declared without a value.
            None => after,
            Some(list) if list.starts_with(b"(") => skip_list(&list[1..])?,
            Some(quoted) => {
                let (value, after) = value(quoted)?;
                single = Some(value);
                after
            }
        };
        rest = rest.strip_prefix(b"\n")?;
        let declaration = &whole[..whole.len() - rest.len()];
        if !wanted(name, single.as_deref().and_then(|value| std::str::from_utf8(value).ok()).unwrap_or_default()) {
            continue;
        }
        if flags.contains(&b'x') {
            // Arrays cannot be exported to programs.
            if let Some(Ok(value)) = single.map(String::from_utf8) {
                declared.exported.insert(name.to_owned(), value);
            }
        } else if !flags.contains(&b'r') && !is_of_bash(name) && after.starts_with(b"=") {
            declared.plain.push_str(std::str::from_utf8(declaration).unwrap_or_default());
        }
    }
    Some(declared)
}

/// Parses the output of `export -p` in other shells: `export NAME='it'"'"'s'`.
pub(crate) fn read_posix(text: &[u8]) -> Option<BTreeMap<String, String>> {
    let mut rest = std::str::from_utf8(text.strip_suffix(WHOLE.as_bytes())?).ok()?;
    let mut variables = BTreeMap::new();
    while !rest.is_empty() {
        rest = rest.strip_prefix("export ")?;
        let end = rest.find(['=', '\n'])?;
        let (name, after) = (&rest[..end], &rest[end..]);
        let Some(mut quoted) = after.strip_prefix('=') else {
            rest = after.strip_prefix('\n')?;
            continue;
        };
        let mut value = String::new();
        while !quoted.starts_with('\n') {
            let first = quoted.chars().next()?;
            let (piece, after) = match first {
                '\'' | '"' => quoted[1..].split_once(first)?,
                '\\' => quoted[1..].split_at_checked(quoted[1..].chars().next()?.len_utf8())?,
                first => quoted.split_at(first.len_utf8()),
            };
            value.push_str(piece);
            quoted = after;
        }
        variables.insert(name.to_owned(), value);
        rest = &quoted[1..];
    }
    Some(variables)
}

pub(crate) fn is_of_bash(name: &str) -> bool {
    name.starts_with("BASH") || name.starts_with("COMP_") || OF_BASH.contains(&name)
}

/// Skips an array such as `[0]="a" ["b c"]="d" )` and returns the rest.
fn skip_list(mut rest: &[u8]) -> Option<&[u8]> {
    loop {
        rest = rest.trim_ascii_start();
        if let Some(after) = rest.strip_prefix(b")") {
            return Some(after);
        }
        rest = rest.strip_prefix(b"[")?;
        rest = match rest.first()? {
            b'"' | b'$' => value(rest)?.1,
            _ => &rest[rest.iter().position(|byte| *byte == b']')?..],
        };
        rest = value(rest.strip_prefix(b"]=")?)?.1;
    }
}

/// Parses `"…"` or `$'…'` and returns the value and the rest.
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

/// Parses an escape after a backslash in `$'…'`.
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
        assert_eq!(read.exported, expect.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
        assert_eq!(read.plain, "");
    }

    #[test]
    fn variables_that_are_not_exported_stay_as_code() {
        let own = "declare -- A=\"two\n# whole\nlines\"\ndeclare -a L=([0]=\"a)\" [1]=$'b\\'')\n\
            declare -A H=([\"a ]=\"]=\"1\" [b]=\"2\" )\ndeclare -i N=\"3\"\n";
        let others = "declare -ir UID=\"0\"\ndeclare -- IFS=$' \\t\\n'\ndeclare -- BASH_COMMAND=\"x\"\ndeclare -i RANDOM\n\
            declare -a EMPTY\ndeclare -r FIXED=\"1\"\n";
        let read = read(format!("{own}{others}# whole\n").as_bytes(), &ChildEnv::default()).unwrap();
        assert_eq!((read.plain.as_str(), read.exported.len()), (own, 0));
    }

    #[test]
    fn other_shells_are_read_too() {
        let text =
            "export A='two\nlines'\nexport NONE\nexport Q='it'\"'\"'s \"q\" \\'\nexport K=plain\\ text\n# whole\n";
        let expect = [("A", "two\nlines"), ("K", "plain text"), ("Q", "it's \"q\" \\")];
        let expect: BTreeMap<_, _> = expect.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        assert_eq!(read_posix(text.as_bytes()), Some(expect));
        for text in ["", "export A='1\n# whole\n", "A=1\n# whole\n", "export A='1'\n"] {
            assert_eq!(read_posix(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn what_is_not_whole_is_not_read() {
        for text in [
            "",
            "declare -x A=\"1\"\n",
            "declare -x A=\"1\n# whole\n",
            "A=1\n# whole\n",
            "declare -x A=1\n# whole\n",
            "declare -a A=([0]=\"1\"\n# whole\n",
        ] {
            assert_eq!(read(text.as_bytes(), &ChildEnv::default()), None, "{text}");
        }
        assert_eq!(read(WHOLE.as_bytes(), &ChildEnv::default()), Some(ShellVariables::default()));
    }
}

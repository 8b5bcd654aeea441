//! Matches globs of literals, `*`, `**` and braces by comparing bytes.
//!
//! A query to a cached scan consists only of matching, and a regex engine took most of its time for these globs, which are
//! nearly all in use. The results are the same, which a property test checks.

use memchr::memmem::Finder;

/// Limit on alternatives in one glob; a glob with more is left to the regex engine.
const MAX_ALTERNATIVES: usize = 32;

/// Matches when one of its alternatives does.
#[derive(Clone, Debug)]
pub(super) struct Quick(Vec<GlobShape>);

impl Quick {
    /// Returns `None` if the glob has features that are not supported here.
    pub(super) fn parse(glob: &str) -> Option<Self> {
        // On Windows, paths have to be normalized first.
        if cfg!(windows) {
            return None;
        }
        expand(glob)?.iter().map(|glob| GlobShape::parse(glob)).collect::<Option<Vec<_>>>().map(Self)
    }

    /// `path` is relative, with `/` as the separator and without empty components.
    pub(super) fn is_match(&self, path: &[u8]) -> bool {
        self.0.iter().any(|shape| shape.is_match(path))
    }
}

/// Expands the alternatives in braces. Returns `None` for nested ones and for those that could become part of a `**`.
fn expand(glob: &str) -> Option<Vec<String>> {
    let mut all = vec![String::new()];
    let mut rest = glob;
    while let Some(open) = rest.find(['{', '}']) {
        let (inner, after) = rest[open..].strip_prefix('{')?.split_once('}')?;
        if inner.contains(['{', '*']) || rest[..open].ends_with("**") || after.starts_with("**") {
            return None;
        }
        let alternatives: Vec<&str> = inner.split(',').collect();
        if all.len() * alternatives.len() > MAX_ALTERNATIVES {
            return None;
        }
        let with = |start: &String| {
            let start = start.clone() + &rest[..open];
            alternatives.iter().map(move |alternative| start.clone() + alternative).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
        rest = after;
    }
    all.iter_mut().for_each(|start| start.push_str(rest));
    Some(all)
}

/// Runs of path components with any number of folders between two runs.
#[derive(Clone, Debug)]
struct GlobShape {
    /// The run that a path starts with.
    head: GlobRun,
    /// The runs that follow somewhere, in this order.
    middle: Vec<GlobRun>,
    /// The run that a path ends with; `None` if there is only the head.
    tail: Option<GlobRun>,
    /// Whether a `**` at the end needs at least one more component.
    open_end: bool,
}

/// Globs of adjacent path components.
type GlobRun = Vec<NameGlob>;

impl GlobShape {
    fn parse(glob: &str) -> Option<Self> {
        let parts: Vec<&str> = glob.split('/').collect();
        let odd = |part: &&str| part.is_empty() || part.contains(['?', '[', ']', '\\']);
        if parts.iter().any(odd) {
            return None;
        }
        let mut runs: Vec<GlobRun> = Vec::new();
        for run in parts.split(|part| *part == "**") {
            runs.push(run.iter().map(|part| NameGlob::parse(part)).collect());
        }
        let open_end = parts.last() == Some(&"**") && parts.iter().any(|part| *part != "**");
        let mut runs = runs.into_iter();
        let (head, tail) = (runs.next()?, runs.next_back());
        Some(Self { head, middle: runs.filter(|run| !run.is_empty()).collect(), tail, open_end })
    }

    fn is_match(&self, path: &[u8]) -> bool {
        let Some(tail) = &self.tail else {
            return strip_head(&self.head, path).is_some_and(<[u8]>::is_empty);
        };
        // The tail is checked first, because most paths that do not match differ there.
        let rest = strip_tail(tail, path).and_then(|rest| strip_head(&self.head, rest));
        let rest = self.middle.iter().fold(rest, |rest, run| find(run, rest?));
        rest.is_some_and(|rest| !self.open_end || !rest.is_empty())
    }
}

/// Returns the path after the run that it starts with.
fn strip_head<'a>(run: &[NameGlob], path: &'a [u8]) -> Option<&'a [u8]> {
    let mut rest = path;
    for part in run {
        let (first, after) = match memchr::memchr(b'/', rest) {
            Some(at) => (&rest[..at], &rest[at + 1..]),
            None => (rest, &[][..]),
        };
        rest = (!first.is_empty() && part.is_match(first)).then_some(after)?;
    }
    Some(rest)
}

/// Returns the path before the run that it ends with.
fn strip_tail<'a>(run: &[NameGlob], path: &'a [u8]) -> Option<&'a [u8]> {
    let mut rest = path;
    for part in run.iter().rev() {
        let (before, last) = match memchr::memrchr(b'/', rest) {
            Some(at) => (&rest[..at], &rest[at + 1..]),
            None => (&[][..], rest),
        };
        rest = (!last.is_empty() && part.is_match(last)).then_some(before)?;
    }
    Some(rest)
}

/// Returns the path after the first match of a run.
fn find<'a>(run: &[NameGlob], path: &'a [u8]) -> Option<&'a [u8]> {
    let mut rest = path;
    loop {
        if let Some(after) = strip_head(run, rest) {
            return Some(after);
        }
        rest = &rest[memchr::memchr(b'/', rest)? + 1..];
    }
}

/// The glob of one file or folder name.
#[derive(Clone, Debug)]
enum NameGlob {
    Literal(Box<[u8]>),
    Stars { start: Box<[u8]>, middle: Vec<Finder<'static>>, end: Box<[u8]> },
}

impl NameGlob {
    fn parse(glob: &str) -> Self {
        let Some((start, rest)) = glob.split_once('*') else { return Self::Literal(glob.as_bytes().into()) };
        let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
        let pieces = middle.split('*').filter(|piece| !piece.is_empty());
        Self::Stars {
            start: start.as_bytes().into(),
            middle: pieces.map(|piece| Finder::new(piece).into_owned()).collect(),
            end: end.as_bytes().into(),
        }
    }

    fn is_match(&self, name: &[u8]) -> bool {
        match self {
            Self::Literal(literal) => **literal == *name,
            Self::Stars { start, middle, end } => {
                let rest = name.strip_suffix(&**end).and_then(|rest| rest.strip_prefix(&**start));
                let after = |rest: &'_ [u8], piece: &Finder<'_>| piece.find(rest).map(|at| at + piece.needle().len());
                let mut rest = rest;
                for piece in middle {
                    rest = rest.and_then(|rest| Some(&rest[after(rest, piece)?..]));
                }
                rest.is_some()
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_understood() {
        for (glob, expect) in [
            ("**/*.rs", true),
            ("src/**/{a,b}*.{rs,toml}", true),
            ("a{,b}", true),
            ("**", true),
            ("a?", false),
            ("[ab]", false),
            (r"a\*", false),
            ("{a,{b,c}}", false),
            ("{a,b*}", false),
            ("**{,a}", false),
            ("a}", false),
            ("a//b", false),
            ("a/", false),
        ] {
            assert_eq!(Quick::parse(glob).is_some(), expect, "{glob}");
        }
        let many = "{a,b}".repeat(6);
        assert!(Quick::parse(&many).is_none(), "64 alternatives");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn matches_what_the_regex_engine_matches(
            glob in r"(\*\*/)?((a|b|ab|\*|\*\*|a\*|\*b|a\*b|\*a\*b|\{a,b\}|\{,a\}b|\*\.\{a,b\})/){0,3}(a|ab|\*|\*\*|\*a|b\*|\*\.b|\{a,\*\.b\}|\.a)",
            path in r"((a|b|ab|ba|aab|\.a|é)/){0,4}(a|b|ab|bab|a\.b|\.a|a\.é)",
        ) {
            if let Some(quick) = Quick::parse(&glob) {
                let exact = super::super::exact(&glob).unwrap();
                prop_assert_eq!(quick.is_match(path.as_bytes()), exact.is_match(&path), "{} {}", glob, path);
            }
        }
    }
}

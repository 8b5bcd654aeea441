//! Finds mentions of files as `@path` in Markdown: at the start of a line or after a space, never in code.

use std::ops::Range;

/// A line with its line break.
pub(crate) struct Line<'a> {
    pub text: &'a str,
    /// Ranges from the `@` to the end of the path.
    pub mentions: Vec<Range<usize>>,
}

impl Line<'_> {
    pub fn is_mention_alone(&self) -> bool {
        matches!(&self.mentions[..], [one] if self.text.trim() == &self.text[one.clone()])
    }
}

/// Returns the text line by line; lines inside a fence have no mentions.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut open: Option<(u8, usize)> = None;
    text.split_inclusive('\n').map(move |line| {
        let fence = fence(line);
        let outside = open.is_none() && fence.is_none();
        match (open, fence) {
            (None, Some((mark, length, _))) => open = Some((mark, length)),
            (Some((mark, length)), Some((with, count, true))) if mark == with && count >= length => open = None,
            _ => {}
        }
        Line { text: line, mentions: if outside { mentions(line) } else { Vec::new() } }
    })
}

/// Returns the character of a fence, its length, and whether nothing else is on the line, as in a closing fence.
fn fence(line: &str) -> Option<(u8, usize, bool)> {
    let line = line.trim();
    let mark = *line.as_bytes().first().filter(|mark| [b'`', b'~'].contains(mark))?;
    let length = line.bytes().take_while(|byte| *byte == mark).count();
    // "```x```" is an inline code span.
    let is_span = mark == b'`' && line[length..].contains('`');
    (length >= 3 && !is_span).then_some((mark, length, length == line.len()))
}

fn mentions(line: &str) -> Vec<Range<usize>> {
    if !line.contains('@') {
        return Vec::new();
    }
    let code = code_spans(line);
    let starts = line.match_indices('@').map(|(at, _)| at).filter(|at| {
        let before = line[..*at].chars().next_back();
        before.is_none_or(char::is_whitespace) && !code.iter().any(|span| span.contains(at))
    });
    let mentions = starts.filter_map(|start| {
        let word = line[start + 1..].split(char::is_whitespace).next().unwrap_or_default();
        let path = word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\'']);
        let first = path.chars().next()?;
        let is_path = first.is_alphanumeric() || ['.', '/', '~', '_', '-'].contains(&first);
        is_path.then_some(start..start + 1 + path.len())
    });
    mentions.collect()
}

/// Returns ranges from a run of backticks to the next run of the same length.
fn code_spans(line: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in line.match_indices('`') {
        match runs.last_mut().filter(|run| run.end == at) {
            Some(run) => run.end += 1,
            None => runs.push(at..at + 1),
        }
    }
    let mut spans = Vec::new();
    let mut next = 0;
    while let Some(open) = runs.get(next) {
        let close = runs.iter().enumerate().skip(next + 1).find(|(_, run)| run.len() == open.len());
        match close {
            Some((index, run)) => {
                spans.push(open.start..run.end);
                next = index + 1;
            }
            None => next += 1,
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, wanted: &[&str]) {
        let found: Vec<&str> = lines(text)
            .flat_map(|line| line.mentions.into_iter().map(|at| &line.text[at]).collect::<Vec<_>>())
            .collect();
        assert_eq!(found, wanted, "{text:?}");
        assert_eq!(lines(text).map(|line| line.text).collect::<String>(), text);
    }

    #[test]
    fn a_path_behind_a_space_is_a_mention() {
        check("@a.md", &["@a.md"]);
        check("See @docs/a.md, and @~/b.\n\t@../c", &["@docs/a.md", "@~/b", "@../c"]);
        check("(see @a.md)", &["@a.md"]);
        check("me@example.com git@host:x ,@a @ @@a @(a) @", &[]);
        check("über @ä.md", &["@ä.md"]);
    }

    #[test]
    fn code_mentions_nothing() {
        check("`@a` and `` ` @b `` but @c", &["@c"]);
        check("a ` alone @a.md", &["@a.md"]);
        check("```\n@a\n```\n@b\n", &["@b"]);
        check("  ~~~~ sh\n@a\n~~~\n```\n@b\n~~~~\n@c", &["@c"]);
        check("```sh\n@a\n``` not the end\n@b\n```\n@c\n", &["@c"]);
        check("```x``` @a", &["@a"]);
        check("```\nnever closed @a\n@b", &[]);
    }

    proptest::proptest! {
        #[test]
        fn nothing_is_lost(text in "[`~@a./ é\n]{0,60}") {
            assert_eq!(lines(&text).map(|line| line.text).collect::<String>(), text);
        }
    }
}

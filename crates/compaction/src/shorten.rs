//! Cuts the middle out of a long text and states how much is missing.

use std::borrow::Cow;

/// Share of the kept text that comes from the start.
const HEAD: (usize, usize) = (3, 5);

/// Returns at most about `longest` characters: start and end, with the text of `gap` (called with the number of missing
/// characters) in between.
pub(super) fn middle_out(text: &str, longest: usize, gap: impl FnOnce(usize) -> String) -> Cow<'_, str> {
    // There are at least as many bytes as characters, so short texts need no counting.
    if text.len() <= longest {
        return Cow::Borrowed(text);
    }
    let total = text.chars().count();
    if total <= longest {
        return Cow::Borrowed(text);
    }
    let head = longest * HEAD.0 / HEAD.1;
    let tail = longest - head;
    let head_end = text.char_indices().nth(head).map_or(text.len(), |(at, _)| at);
    let tail_start = match tail {
        0 => text.len(),
        _ => text.char_indices().nth_back(tail - 1).map_or(0, |(at, _)| at),
    };
    Cow::Owned(format!("{}{}{}", &text[..head_end], gap(total - longest), &text[tail_start..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_and_the_end_stay_and_the_rest_is_counted() {
        let check = |text: &str, longest: usize, expect: &str| {
            assert_eq!(middle_out(text, longest, |missing| format!("<{missing}>")), expect, "{text}");
        };
        check("0123456789", 10, "0123456789");
        check("0123456789", 5, "012<5>89");
        check("äöüäöüäöüä", 10, "äöüäöüäöüä");
        check("äöüäöüäöüä", 5, "äöü<5>üä");
        check("abc", 0, "<3>");
        check("abc", 1, "<2>c");
        check("", 0, "");
    }
}

//! Inserts a short paste as text and a long one as a marker.

use omp_stdx::sanitize::strip_control;

use super::fragment::{Fragment, MarkerMeaning};

const MOST_LINES: usize = 10;
const MOST_CHARS: usize = 1000;
/// A longer paste is truncated, and the marker says so.
const MOST_BYTES: usize = 16 << 20;

/// Keeps line breaks and tabs, removes other control characters.
pub(crate) fn clean(text: &str) -> String {
    strip_control(text).into_owned()
}

pub(crate) fn is_long(text: &str) -> bool {
    line_count(text) > MOST_LINES || text.chars().nth(MOST_CHARS).is_some()
}

/// Creates a marker for a long text; `number` distinguishes it from others.
pub(crate) fn marker(mut text: String, number: usize) -> Fragment {
    let is_cut = text.len() > MOST_BYTES;
    if is_cut {
        text.truncate(text.floor_char_boundary(MOST_BYTES));
    }
    let lines = line_count(&text);
    let size = match lines > MOST_LINES {
        true => format!("+{lines} lines"),
        false => format!("{} chars", text.chars().count()),
    };
    let cut = if is_cut { ", cut at 16 MB" } else { "" };
    Fragment::marker(format!("[paste #{number} {size}{cut}]"), MarkerMeaning::Paste(text.into()))
}

fn line_count(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count() + usize::from(!text.ends_with('\n'))
}

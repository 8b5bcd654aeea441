//! Formats lines of a file for an error message.

use omp_stdx::sanitize::reveal_invisible;

use crate::text_file::TextFile;

const MOST_PLACES: usize = 8;
const MOST_CHARS: usize = 160;

/// Formats each position (counted from 0) and the next `more` lines as `12:text`.
pub(crate) fn shown(file: &TextFile, places: &[usize], more: usize) -> String {
    let mut out: Vec<String> = Vec::new();
    for place in places.iter().take(MOST_PLACES) {
        if more > 0 && !out.is_empty() {
            out.push("…".into());
        }
        out.extend((*place..=place + more).filter(|at| *at < file.line_count()).map(|at| numbered(file, at)));
    }
    if places.len() > MOST_PLACES {
        out.push(format!("… and {} more places", places.len() - MOST_PLACES));
    }
    out.join("\n")
}

fn numbered(file: &TextFile, at: usize) -> String {
    let line = file.line(at);
    let text = reveal_invisible(&line);
    let cut: String = text.chars().take(MOST_CHARS).collect();
    let dots = if cut.len() < text.len() { "…" } else { "" };
    format!("{}:{cut}{dots}", at + 1)
}

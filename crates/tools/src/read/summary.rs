//! Code outlines: shows the declarations of a file without the bodies.

use omp_stdx::format::{grouped, plural};
use omp_syntax::{Language, Outline, outline};
use omp_workspace::{ResolvedPath, TextFile};

use super::Elided;
use super::selector::Selector;
use crate::options::ReadOptions;

/// Larger files are shown by lines, like files that are not code.
const MAX_BYTES: usize = 2 * 1024 * 1024;
/// Limits the ranges named as examples.
const MAX_NAMED: usize = 3;

pub struct Summary {
    outline: Outline,
}

/// Returns `None` if lines are requested, or if the outline would omit nothing.
pub fn of(path: &ResolvedPath, text: &TextFile, selector: &Selector, options: &ReadOptions) -> Option<Summary> {
    if !options.summarize || *selector != Selector::default() || text.bytes().len() > MAX_BYTES {
        return None;
    }
    let source = std::str::from_utf8(text.bytes()).ok()?;
    let language = Language::detect(&path.absolute, source)?;
    // Lines are counted in two places; if the counts differ, the line numbers would be wrong.
    if (language.is_prose() && !options.summarize_prose) || source.lines().count() != text.line_count() {
        return None;
    }
    // A file that cannot be parsed is shown by lines.
    let outline = outline(source, language, options.outline).ok().flatten()?;
    Some(Summary { outline })
}

impl Summary {
    /// Returns the selector of the shown lines.
    pub fn selector(&self) -> Selector {
        let kept = self.outline.segments.iter().filter(|segment| segment.kept);
        Selector { ranges: kept.map(|segment| (segment.first, Some(segment.last))).collect(), ..Selector::default() }
    }

    pub fn elided(&self) -> Elided {
        Elided {
            lines: self.outline.kept_lines(),
            elided_spans: self.hidden().count(),
            elided_lines: self.outline.elided_lines(),
        }
    }

    pub fn note(&self, display: &str) -> String {
        let Elided { elided_spans, elided_lines, .. } = self.elided();
        let named: Vec<String> = self.hidden().take(MAX_NAMED).collect();
        format!(
            "outline: {} lines in {} are left out, marked …; read those you need with {display}:{}, or all with {display}:1-{}",
            grouped(elided_lines as u64),
            plural(elided_spans, "place", "places"),
            named.join(","),
            elided_lines + self.outline.kept_lines()
        )
    }

    fn hidden(&self) -> impl Iterator<Item = String> {
        let hidden = self.outline.segments.iter().filter(|segment| !segment.kept);
        hidden.map(|segment| format!("{}-{}", segment.first, segment.last))
    }
}

//! Formats a page of matches for the model.

use omp_agent::Output;
use omp_stdx::format;
use omp_workspace::TextFile;

use super::find::{FileFound, StructuralMatches};
use super::sources::listed;
use super::{AstGrepDetails, FileCount, PageWanted};
use crate::files::{Files, header};
use crate::output_sink::MAX_BYTES;
use crate::search::scope::SearchScope;

/// Limits the lines shown of one match.
const MAX_MATCH_LINES: usize = 40;
const MAX_COLUMNS: usize = 1024;
/// Bytes reserved for the notes below the matches.
const NOTES_BYTES: usize = 6 * 1024;
/// Limits the errors stored in the session file.
const MAX_KEPT_ERRORS: usize = 50;

pub fn report(
    found: &StructuralMatches,
    scope: &SearchScope,
    page: &PageWanted,
    files: &Files,
) -> Output<AstGrepDetails> {
    let shown = that_fits(found, page, files);
    let total = found.total();
    let mut text = match (total, shown.matches) {
        (0, _) => format!("No matches found in {}", format::plural(found.searched, "file", "files")),
        (_, 0) => format!("No more matches: there are {total}, {} were skipped", page.skip),
        _ => shown.text.clone(),
    };
    let notes = notes(found, &shown, page);
    for note in &notes {
        text.push('\n');
        text.push_str(note);
    }
    let details = AstGrepDetails {
        scope_path: scope.display(),
        match_count: shown.matches,
        total_matches: total,
        total_files: found.files.len(),
        files_searched: found.searched,
        file_matches: shown.files,
        limit_reached: page.skip + shown.matches < total || found.cut,
        parse_errors: found.problems.iter().take(MAX_KEPT_ERRORS).cloned().collect(),
    };
    Output::text(text, details).useless_if(total == 0 && notes.is_empty())
}

#[derive(Default)]
struct ShownMatches {
    text: String,
    matches: usize,
    files: Vec<FileCount>,
    /// Files that changed between the search and the rendering of the page.
    changed: Vec<String>,
    lines_cut: bool,
}

/// Adds files while there is room; the rest is left to the next page.
fn that_fits(found: &StructuralMatches, page: &PageWanted, files: &Files) -> ShownMatches {
    let mut shown = ShownMatches::default();
    let mut skip = page.skip;
    for file in &found.files {
        let room = page.limit - shown.matches;
        if room == 0 {
            break;
        }
        if skip >= file.matches.len() {
            skip -= file.matches.len();
            continue;
        }
        let mut wanted = &file.matches[std::mem::take(&mut skip)..];
        wanted = &wanted[..wanted.len().min(room)];
        let all = wanted.len();
        let bytes_left = (MAX_BYTES - NOTES_BYTES).saturating_sub(shown.text.len());
        let Some(part) = FilePage::that_fits(file, wanted, page.context, bytes_left, files, shown.matches == 0) else {
            break;
        };
        shown.add(part, files);
        if shown.files.last().is_some_and(|last| last.count < all) {
            break;
        }
    }
    shown
}

impl ShownMatches {
    fn add(&mut self, part: FilePage<'_>, files: &Files) {
        let path = files.paths().display(&part.file.path);
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(&part.text);
        self.matches += part.matches;
        self.lines_cut |= part.lines_cut;
        if part.changed {
            self.changed.push(path.clone());
        } else {
            files.record_lines(&part.file.path, part.file.tag, part.whole_lines);
        }
        self.files.push(FileCount { path, count: part.matches });
    }
}

/// The part of a page that shows one file.
struct FilePage<'a> {
    file: &'a FileFound,
    text: String,
    matches: usize,
    /// Numbered lines exactly as they are in the file.
    whole_lines: Vec<(usize, String)>,
    changed: bool,
    lines_cut: bool,
}

impl<'a> FilePage<'a> {
    /// Halves the number of matches until they fit; the first match of a page always fits.
    fn that_fits(
        file: &'a FileFound,
        mut wanted: &[(usize, usize)],
        context: usize,
        bytes: usize,
        files: &Files,
        is_first: bool,
    ) -> Option<Self> {
        let content = if file.named { files.read_whole(&file.path) } else { files.reach().read_whole(&file.path) };
        let content = TextFile::parse(content.unwrap_or_default());
        loop {
            let part = Self::new(file, &content, wanted, context, files);
            if part.text.len() <= bytes || (is_first && wanted.len() == 1) {
                return Some(part);
            }
            if wanted.len() == 1 {
                return None;
            }
            wanted = &wanted[..wanted.len() / 2];
        }
    }

    fn new(file: &'a FileFound, content: &TextFile, wanted: &[(usize, usize)], context: usize, files: &Files) -> Self {
        let display = files.paths().display(&file.path);
        let changed = content.tag() != file.tag;
        let mut part = Self {
            file,
            text: String::new(),
            matches: wanted.len(),
            whole_lines: Vec::new(),
            changed,
            lines_cut: false,
        };
        if changed {
            part.text = format!("# {display}\n(changed while it was searched; search again)\n");
            return part;
        }
        part.text = format!("{}\n", header(&display, file.tag));
        let mut next = 1;
        for (first, last) in wanted {
            let shown_last = (*last).min(first + MAX_MATCH_LINES - 1);
            for number in first.saturating_sub(context).max(next)..=(shown_last + context).min(content.line_count()) {
                let inside = wanted.iter().any(|(first, last)| (*first..=*last).contains(&number));
                part.line(number, &content.line(number - 1), inside);
            }
            next = next.max(shown_last + context + 1);
            if shown_last < *last && next <= *last {
                part.text.push_str(&format!("… {} more lines of this match\n", last - shown_last));
            }
        }
        part
    }

    fn line(&mut self, number: usize, line: &str, inside: bool) {
        let mark = if inside { '*' } else { ' ' };
        let end = line.char_indices().nth(MAX_COLUMNS).map(|(at, _)| at);
        match end {
            Some(end) => {
                self.lines_cut = true;
                self.text.push_str(&format!("{mark}{number}:{}…\n", &line[..end]));
            }
            None => {
                self.text.push_str(&format!("{mark}{number}:{line}\n"));
                self.whole_lines.push((number, line.to_owned()));
            }
        }
    }
}

fn notes(found: &StructuralMatches, shown: &ShownMatches, page: &PageWanted) -> Vec<String> {
    let mut notes = Vec::new();
    let (total, end) = (found.total(), page.skip + shown.matches);
    if shown.matches > 0 && shown.matches < total {
        let files = format::plural(found.files.len(), "file", "files");
        let next = if end < total { format!("; next page: skip={end}") } else { String::new() };
        notes.push(format!("[Matches {}-{end} of {total} in {files}{next}]", page.skip + 1));
    }
    if found.cut {
        notes.push("[A file has more matches than are counted; narrow the pattern]".into());
    }
    if shown.lines_cut {
        notes.push(format!("[Lines over {MAX_COLUMNS} characters were cut; read the file to see them in full]"));
    }
    if !shown.changed.is_empty() {
        notes.push(format!("[Changed in the meantime: {}]", shown.changed.join(", ")));
    }
    notes.extend(found.notes.clone());
    notes.extend(listed("Problems", &found.problems));
    notes
}

//! Text files: shows a window of numbered lines under a tagged header, with notes about everything omitted.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};

use omp_agent::{Output, ToolError};
use omp_stdx::format::{bytes, grouped};
use omp_stdx::sanitize::reveal_invisible;
use omp_stdx::truncate::{Keep, by_bytes};
use omp_workspace::{
    FileError, LineWindow, MAX_WHOLE_FILE, ResolvedPath, TextFile, WindowLimits, binary_reason, stream_window, window,
};

use super::selector::{SelectedRange, Selector};
use super::summary::{self, Summary};
use super::{Details, DisplayContent, ReadCall, conflict, tail};
use crate::details::Meta;
use crate::files::header;
use crate::options::ReadOptions;

pub const LIMITS: WindowLimits = WindowLimits { lines: 3000, bytes: 50 * 1024, line_bytes: 2000 };
/// Without line numbers a single long line may fill the whole window.
const RAW_LIMITS: WindowLimits = WindowLimits { line_bytes: LIMITS.bytes, ..LIMITS };

pub fn read(reader: &ReadCall, path: &ResolvedPath, selector: Selector) -> Result<Output<Details>, ToolError> {
    let shown_error = |error: FileError| ToolError::reply(error.shown_as(&path.display));
    let limits = limits_of(&selector, &reader.options);
    let (mut file, metadata) = reader.files.reach().open_regular(&path.absolute).map_err(shown_error)?;
    refuse_binary(&mut file, path, metadata.len())?;
    let size = metadata.len();
    if size > MAX_WHOLE_FILE {
        if let Some(count) = selector.tail {
            return tail::read(&file, path, count, size, selector.raw);
        }
        let stream = |range, limits| {
            file.rewind()?;
            stream_window(&file, range, limits, &|| reader.cancel.is_cancelled())
        };
        let window = in_ranges(&selector, limits, stream);
        let window = window.map_err(|error| shown_error(FileError::io(&path.absolute, error)))?;
        let shown = ShownText { tagged: false, ..ShownText::new(path, selector, limits, size, window) };
        return shown.output(&format!("[{}]", path.display));
    }
    let text = TextFile::parse(reader.files.read_whole(&path.absolute).map_err(shown_error)?);
    let size = text.bytes().len() as u64;
    let tag = reader.files.record(&path.absolute, &text);
    let more_notes = conflict::note(&reader.files, path, &text).into_iter().collect();
    let summary = summary::of(path, &text, &selector, &reader.options);
    let (selector, limits) = match &summary {
        Some(summary) => (summary.selector(), LIMITS),
        None => (selector.of_total(text.line_count()), limits),
    };
    let out_of_memory = |(first, last): SelectedRange, limits| Ok(window(&text, first, last, limits));
    let window = in_ranges(&selector, limits, out_of_memory).map_err(ToolError::reply)?;
    let shown = ShownText { summary, more_notes, ..ShownText::new(path, selector, limits, size, window) };
    shown.output(&header(&path.display, tag))
}

/// Returns the limits of a selector; a selector without an end is limited to the configured number of lines.
fn limits_of(selector: &Selector, options: &ReadOptions) -> WindowLimits {
    let limits = if selector.raw { RAW_LIMITS } else { LIMITS };
    let has_end = selector.tail.is_some() || selector.ranges.last().is_some_and(|(_, last)| last.is_some());
    if has_end {
        return limits;
    }
    let before_the_last = selector.ranges.iter().filter_map(|(first, last)| Some((*last)? - first + 1)).sum::<usize>();
    let lines = before_the_last.saturating_add((options.default_lines as usize).max(1));
    WindowLimits { lines: lines.min(limits.lines), ..limits }
}

/// Text that is not a file of the project, or was extracted from one.
pub struct Extract {
    pub path: ResolvedPath,
    pub text: String,
    /// Shown above the text.
    pub title: Option<String>,
    /// Shown below the text.
    pub notes: Vec<String>,
    /// Size of the source.
    pub size: u64,
}

impl Extract {
    pub fn plain(address: String, text: String) -> Self {
        let path = ResolvedPath { absolute: address.clone().into(), display: address };
        Self { path, size: text.len() as u64, text, title: None, notes: Vec::new() }
    }
}

/// Shows text without tags, because it cannot be edited.
pub fn show(extract: Extract, selector: Selector, options: &ReadOptions) -> Result<Output<Details>, ToolError> {
    let selector = Selector { raw: true, ..selector };
    show_within(limits_of(&selector, options), extract, selector)
}

/// Shows a short text completely, up to the limit of one result.
pub fn show_whole(extract: Extract) -> Result<Output<Details>, ToolError> {
    show_within(RAW_LIMITS, extract, Selector { raw: true, ..Selector::default() })
}

/// Returns the part of a text that [`show_whole`] shows, for texts that cannot be continued by line number.
pub fn fitting(text: &str) -> &str {
    let lines_end = text.match_indices('\n').nth(RAW_LIMITS.lines - 1).map_or(text.len(), |(at, _)| at);
    by_bytes(&text[..lines_end], RAW_LIMITS.bytes - 1, Keep::Head).head
}

fn show_within(limits: WindowLimits, extract: Extract, selector: Selector) -> Result<Output<Details>, ToolError> {
    let text = TextFile::parse(extract.text.into_bytes());
    let selector = selector.of_total(text.line_count());
    let out_of_memory = |(first, last): SelectedRange, limits| Ok(window(&text, first, last, limits));
    let window = in_ranges(&selector, limits, out_of_memory).map_err(ToolError::reply)?;
    let shown = ShownText::new(&extract.path, selector, limits, extract.size, window);
    ShownText { more_notes: extract.notes, title: extract.title, ..shown }.output("")
}

/// Text derived from a file; edits are applied to that file.
pub struct Tagged<'a> {
    pub path: &'a ResolvedPath,
    pub text: TextFile,
    /// Size of the file.
    pub size: u64,
    /// Shown below the lines, without numbers.
    pub below: String,
    pub notes: Vec<String>,
}

pub fn show_tagged(reader: &ReadCall, tagged: Tagged<'_>, selector: Selector) -> Result<Output<Details>, ToolError> {
    let tag = reader.files.record(&tagged.path.absolute, &tagged.text);
    let limits = limits_of(&selector, &reader.options);
    let selector = selector.of_total(tagged.text.line_count());
    let out_of_memory = |(first, last): SelectedRange, limits| Ok(window(&tagged.text, first, last, limits));
    let window = in_ranges(&selector, limits, out_of_memory).map_err(ToolError::reply)?;
    let shown = ShownText::new(tagged.path, selector, limits, tagged.size, window);
    ShownText { below: tagged.below, more_notes: tagged.notes, ..shown }.output(&header(&tagged.path.display, tag))
}

/// Shows all ranges of a selector, within one common limit.
fn in_ranges(
    selector: &Selector,
    limits: WindowLimits,
    mut window: impl FnMut(SelectedRange, WindowLimits) -> io::Result<LineWindow>,
) -> io::Result<LineWindow> {
    let whole = [(1, None)];
    let mut all = LineWindow::default();
    let mut left = limits;
    for range in if selector.ranges.is_empty() { &whole[..] } else { &selector.ranges } {
        if left.lines == 0 || left.bytes == 0 {
            all.stopped_by_limit = true;
            break;
        }
        let next = window(*range, left)?;
        left.lines = left.lines.saturating_sub(next.lines.len());
        left.bytes = next.lines.iter().fold(left.bytes, |left, line| left.saturating_sub(line.text.len() + 1));
        all.lines.extend(next.lines);
        all.total_lines = next.total_lines.or(all.total_lines);
        all.stopped_by_limit = next.stopped_by_limit;
        if next.stopped_by_limit {
            break;
        }
    }
    Ok(all)
}

fn refuse_binary(file: &mut File, path: &ResolvedPath, size: u64) -> Result<(), ToolError> {
    let io_error = |error| ToolError::reply(FileError::io(&path.absolute, error).shown_as(&path.display));
    let mut head = Vec::with_capacity(8 * 1024);
    file.take(8 * 1024).read_to_end(&mut head).map_err(io_error)?;
    file.rewind().map_err(io_error)?;
    match binary_reason(&head) {
        Some(reason) => Err(ToolError::Reply(format!(
            "{} contains {reason} ({}) and is not shown as text\nhint: open it with a program for its format, through bash",
            path.display,
            bytes(size)
        ))),
        None => Ok(()),
    }
}

struct ShownText<'a> {
    path: &'a ResolvedPath,
    selector: Selector,
    limits: WindowLimits,
    size: u64,
    /// The file is small enough to have a tag.
    tagged: bool,
    window: LineWindow,
    summary: Option<Summary>,
    /// Shown above the lines, also above raw ones.
    title: Option<String>,
    /// Shown below the lines and above the notes.
    below: String,
    more_notes: Vec<String>,
}

impl<'a> ShownText<'a> {
    fn new(path: &'a ResolvedPath, selector: Selector, limits: WindowLimits, size: u64, window: LineWindow) -> Self {
        Self {
            path,
            selector,
            limits,
            size,
            tagged: true,
            window,
            summary: None,
            title: None,
            below: String::new(),
            more_notes: Vec::new(),
        }
    }

    fn refuse_past_the_end(&self) -> Result<(), ToolError> {
        let first = self.selector.ranges.first().map(|(first, _)| *first);
        let (Some(first), Some(total)) = (first, self.window.total_lines) else { return Ok(()) };
        if first <= total.max(1) {
            return Ok(());
        }
        let lines = if total == 1 { "line" } else { "lines" };
        Err(ToolError::Reply(format!(
            "Line {first} is past the end of {}, which has {total} {lines}",
            self.path.display
        )))
    }

    fn output(&self, header: &str) -> Result<Output<Details>, ToolError> {
        self.refuse_past_the_end()?;
        let lines: Vec<(usize, String)> =
            self.window.lines.iter().map(|line| (line.number, reveal_invisible(&line.text).into_owned())).collect();
        let plain = || lines.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n");
        let shown = with_gaps(&lines, self.selector.raw, self.summary.is_some()).join("\n");
        let title = self.title.as_deref().or_else(|| (!self.selector.raw).then_some(header));
        let mut text = match title {
            None => shown,
            Some(title) if shown.is_empty() => title.to_owned(),
            Some(title) => format!("{title}\n{shown}"),
        };
        if !self.below.is_empty() {
            text.push('\n');
            text.push_str(&reveal_invisible(&self.below));
        }
        for note in self.notes(&lines).iter().chain(&self.more_notes) {
            text.push_str("\n(");
            text.push_str(note);
            text.push(')');
        }
        let display = DisplayContent {
            text: plain(),
            start_line: lines.first().map_or(1, |(number, _)| *number),
            line_numbers: lines.iter().map(|(number, _)| *number).collect(),
        };
        let details = Details {
            total_lines: self.window.total_lines,
            display_content: Some(display),
            file_size: Some(self.size),
            summary: self.summary.as_ref().map(Summary::elided),
            meta: Meta::path(&self.path.absolute),
            ..Details::default()
        };
        Ok(Output::text(text, details))
    }

    fn notes(&self, lines: &[(usize, String)]) -> Vec<String> {
        let mut notes = Vec::new();
        if lines.is_empty() {
            notes.push("the file is empty".into());
        }
        notes.extend(self.summary.as_ref().map(|summary| summary.note(&self.path.display)));
        notes.extend(self.cut_lines());
        notes.extend(self.left_out());
        let revealed = lines.iter().zip(&self.window.lines).any(|((_, shown), line)| *shown != line.text);
        if revealed {
            notes.push(
                "characters that cannot be seen are shown as <U+XXXX>; the file contains the characters themselves"
                    .into(),
            );
        }
        if self.window.lines.iter().any(|line| line.text.contains('\u{fffd}')) {
            notes.push("bytes that are not UTF-8 are shown as \u{fffd}; lines that are not edited keep them".into());
        }
        if !self.tagged {
            notes.push(format!("the file has {}, too much to edit by lines, so it has no tag", bytes(self.size)));
        }
        notes
    }

    fn cut_lines(&self) -> Option<String> {
        let cut: Vec<_> = self.window.lines.iter().filter(|line| line.full_length.is_some()).collect();
        let first = cut.first()?;
        let length = grouped(first.full_length.unwrap_or_default());
        let limit = grouped(self.limits.line_bytes as u64);
        let more = if cut.len() > 1 { format!(" and {} more", cut.len() - 1) } else { String::new() };
        let hint = if self.selector.raw {
            "; a shell command such as cut -b shows other parts of it".to_owned()
        } else {
            format!("; {}:{1}-{1}:raw shows more", self.path.display, first.number)
        };
        Some(format!("line {}{more} cut: {length} bytes long, at most {limit} are shown{hint}", first.number))
    }

    fn left_out(&self) -> Option<String> {
        let last = self.window.lines.last()?.number;
        let go_on = format!("continue with {}:{}", self.path.display, last + 1);
        let total = self.window.total_lines;
        if self.window.stopped_by_limit {
            let wanted = self.selector.ranges.last().and_then(|(_, wanted)| *wanted);
            let wanted = wanted.map_or(total, |wanted| Some(total.map_or(wanted, |total| wanted.min(total))));
            let rest = match wanted.filter(|_| self.selector.ranges.len() < 2) {
                Some(wanted) => format!("{} lines", grouped(wanted.saturating_sub(last) as u64)),
                None => "more lines".into(),
            };
            let total = total.map_or(String::new(), |total| format!(" of {}", grouped(total as u64)));
            return Some(format!("shown up to line {last}{total}, {rest} not shown; {go_on}"));
        }
        let total = total.filter(|total| *total > last)?;
        Some(format!("{} lines follow, up to line {total}; {go_on}", grouped((total - last) as u64)))
    }
}

/// Formats the lines, with a mark where lines between two ranges are omitted. In an outline the mark names the omitted
/// lines.
fn with_gaps(lines: &[(usize, String)], raw: bool, outlined: bool) -> Vec<String> {
    let mut shown = Vec::with_capacity(lines.len());
    let mut expected = if outlined { Some(1) } else { None };
    for (number, text) in lines {
        match expected.filter(|expected| expected != number) {
            Some(hidden) if outlined => shown.push(format!("… {hidden}-{}", number - 1)),
            Some(_) => shown.push("…".to_owned()),
            None => {}
        }
        shown.push(if raw { text.clone() } else { format!("{number}:{text}") });
        expected = Some(number + 1);
    }
    shown
}

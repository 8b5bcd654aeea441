//! Renders an edit: the diff, parsed from the stored details.

use omp_agent::Outcome;
use omp_view::{Block, Diff, DiffKind, DiffLine, Status, View};

use super::{Details, EditOp};
use crate::details::typed_file;

/// Renders a call that names these files, in this order.
pub fn view<'a>(named: impl IntoIterator<Item = &'a str>, outcome: Outcome<&Details>) -> View {
    let named = distinct(named);
    let title = title(&named);
    let typed = named.iter().filter_map(|path| typed_file(path));
    let Outcome::Done { details, is_error } = outcome else {
        let status = if matches!(outcome, Outcome::Running) { Status::Running } else { Status::Failed };
        return View::new(title, status).files(typed);
    };
    let lines = diff_lines(&details.diff);
    let count = |kind: DiffKind| lines.iter().filter(|line| line.kind == kind).count();
    let mut view = View::new(title, if is_error { Status::Failed } else { Status::Done }).note(format!(
        "+{} -{}",
        count(DiffKind::Added),
        count(DiffKind::Removed)
    ));
    let source = details.meta.file().or_else(|| named.first().and_then(|path| typed_file(path)));
    let saved = details.meta.source.as_ref().map(|source| source.value.as_str());
    let path = saved.or_else(|| named.first().copied()).map(str::to_owned);
    let diff = Diff { path, ..Diff::new(lines) };
    let line = details.first_changed_line.or_else(|| diff.first_change());
    view = view.files(source.map(|file| file.at(line)).into_iter().chain(typed));
    if details.per_file_results.is_empty() {
        match (details.op, &details.moved_to) {
            (EditOp::Create, _) => view = view.note("new"),
            (EditOp::Delete, _) => view = view.note("deleted"),
            (EditOp::Update, Some(to)) => view = view.note(format!("moved to {to}")),
            (EditOp::Update, None) => {}
        }
        return view.block(Block::Diff(diff));
    }
    details
        .per_file_results
        .iter()
        .fold(view, |view, file| view.block(Block::Diff(Diff::new(diff_lines(&file.diff)).of(&file.path).named(true))))
}

/// Returns each path once, in order of first appearance.
pub fn distinct<'a>(named: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut paths: Vec<&str> = Vec::new();
    for path in named {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    paths
}

/// Returns `edit a.rs`, with the number of further files.
pub fn title(paths: &[&str]) -> String {
    match paths {
        [] => "edit".into(),
        [first] => format!("edit {first}"),
        [first, ..] => format!("edit {first} and {} more", paths.len() - 1),
    }
}

/// Returns the lines of all hunks. The parser counts the lines of each hunk, so text between hunks is never read as a
/// change.
pub fn diff_lines(unified: &str) -> Vec<DiffLine> {
    let mut lines: Vec<DiffLine> = Vec::new();
    let mut hunk = ShownHunk::default();
    for text in unified.lines().filter(|text| !text.starts_with('\\')) {
        if hunk.is_over() {
            let Some(next) = ShownHunk::parse(text) else { continue };
            if !lines.is_empty() {
                lines.push(DiffLine { kind: DiffKind::Gap, line: next.new.at, text: String::new() });
            }
            hunk = next;
            continue;
        }
        let (kind, line) = match text.as_bytes().first() {
            Some(b'+') => (DiffKind::Added, hunk.new.step()),
            Some(b'-') => (DiffKind::Removed, hunk.old.step()),
            _ => {
                hunk.old.step();
                (DiffKind::Kept, hunk.new.step())
            }
        };
        lines.push(DiffLine { kind, line, text: text.get(1..).unwrap_or_default().to_owned() });
    }
    lines
}

#[derive(Default)]
struct ShownHunk {
    old: HunkSide,
    new: HunkSide,
}

#[derive(Default)]
struct HunkSide {
    at: usize,
    left: usize,
}

impl ShownHunk {
    /// Parses `@@ -4,7 +4,8 @@`.
    fn parse(text: &str) -> Option<Self> {
        let (old, new) = text.strip_prefix("@@ -")?.strip_suffix(" @@")?.split_once(" +")?;
        let side = |range: &str| {
            let (at, left) = range.split_once(',')?;
            Some(HunkSide { at: at.parse().ok()?, left: left.parse().ok()? })
        };
        Some(Self { old: side(old)?, new: side(new)? })
    }

    fn is_over(&self) -> bool {
        self.old.left == 0 && self.new.left == 0
    }
}

impl HunkSide {
    fn step(&mut self) -> usize {
        let at = self.at;
        self.at += 1;
        self.left = self.left.saturating_sub(1);
        at
    }
}

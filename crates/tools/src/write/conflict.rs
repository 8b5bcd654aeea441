//! Resolves one merge conflict that a read showed, or all of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use omp_agent::{Output, ToolError};
use omp_workspace::conflict::{Conflict, ConflictId, ConflictUri, Directives, resolve};
use omp_workspace::{EditPlan, TextFile};

use super::Details;
use crate::details::Meta;
use crate::files::{Files, header};

/// Returns the files that such a write would change.
pub fn paths(files: &Files, uri: &ConflictUri) -> Vec<String> {
    let path = |conflict: &Conflict| conflict.path.to_string_lossy().into_owned();
    files.with_conflicts(|conflicts| match uri.id {
        ConflictId::One(id) => conflicts.get(id).iter().map(|conflict| path(conflict)).collect(),
        ConflictId::All => conflicts.all().iter().map(path).collect(),
    })
}

/// `raw` is the content before line numbers are removed, because `3: @ours` looks like a numbered line.
pub fn write(files: &Files, uri: &ConflictUri, content: &str, raw: &str) -> Result<Output<Details>, ToolError> {
    if uri.side.is_some() {
        return Err(ToolError::Reply(
            "a side of a conflict is read-only\n\
             hint: write to `conflict://<id>`; a line `@ours`, `@theirs` or `@base` in the content is replaced by that side"
                .into(),
        ));
    }
    let output = match uri.id {
        ConflictId::One(id) => one(files, id, content)?,
        ConflictId::All => all(files, content, raw)?,
    };
    let note = "Note: use `conflict://` alone, without a file before it.";
    Ok(if uri.had_file { super::with_note(output, note) } else { output })
}

/// Whether the content consists of lines such as `3: @ours`, which must be used unmodified.
pub fn takes_raw(uri: &ConflictUri, raw: &str) -> bool {
    uri.id == ConflictId::All && matches!(Directives::parse(raw), Ok(Some(_)))
}

fn one(files: &Files, id: u32, content: &str) -> Result<Output<Details>, ToolError> {
    let conflict = files.with_conflicts(|conflicts| conflicts.get(id).cloned()).map_err(ToolError::reply)?;
    let header = resolve_in_file(files, &conflict.path, &[(&conflict, content)])?;
    let (first, last) = conflict.lines();
    let text = format!("{header}\nResolved conflict #{id} at lines {first}–{last} in {}.", conflict.display);
    let resolved_path = Some(conflict.path.to_string_lossy().into_owned());
    Ok(Output::text(text, Details { resolved_path, meta: Meta::path(&conflict.path), ..Details::default() }))
}

fn all(files: &Files, content: &str, raw: &str) -> Result<Output<Details>, ToolError> {
    let known = files.with_conflicts(|conflicts| conflicts.all());
    if known.is_empty() {
        return Err(ToolError::Reply(
            "`conflict://*` has nothing to resolve: no conflicts are known\nhint: read the files that have conflicts first".into(),
        ));
    }
    let directives = Directives::parse(raw).map_err(ToolError::reply)?;
    if let Some(Directives(sides)) = &directives {
        refuse_unknown(&known, sides)?;
    }
    let content_of = |conflict: &Conflict| match &directives {
        None => Some(content),
        Some(Directives(sides)) => sides.get(&conflict.id).map(String::as_str),
    };
    let mut by_file: BTreeMap<&Path, Vec<(&Conflict, &str)>> = BTreeMap::new();
    for conflict in &known {
        if let Some(content) = content_of(conflict) {
            by_file.entry(&conflict.path).or_default().push((conflict, content));
        }
    }
    let mut report = ConflictReport::default();
    for (path, picks) in by_file {
        let display = &picks[0].0.display;
        match resolve_in_file(files, path, &picks) {
            Ok(header) => report.resolved.push((display.clone(), picks.len(), header)),
            Err(error) => report.failed.push((display.clone(), picks.len(), error.to_string())),
        }
    }
    report.left = known.iter().filter(|conflict| content_of(conflict).is_none()).map(|conflict| conflict.id).collect();
    report.output()
}

fn refuse_unknown(known: &[Conflict], sides: &BTreeMap<u32, String>) -> Result<(), ToolError> {
    let listed = |ids: &mut dyn Iterator<Item = u32>| ids.map(|id| format!("#{id}")).collect::<Vec<_>>().join(", ");
    let unknown = listed(&mut sides.keys().copied().filter(|id| known.iter().all(|conflict| conflict.id != *id)));
    if unknown.is_empty() {
        return Ok(());
    }
    let there = listed(&mut known.iter().map(|conflict| conflict.id));
    Err(ToolError::Reply(format!(
        "Bulk directive references unknown conflict id(s) {unknown}. Currently known: {there}."
    )))
}

/// Resolves all picks or none, and returns the header for the next edit of the file.
fn resolve_in_file(files: &Files, path: &Path, picks: &[(&Conflict, &str)]) -> Result<String, ToolError> {
    let display = &picks[0].0.display;
    let before = files.read_whole(path).map_err(|error| ToolError::reply(error.shown_as(display)))?;
    let content = resolve(&TextFile::parse(&before[..]), picks).map_err(ToolError::reply)?;
    let plan =
        EditPlan { path: PathBuf::from(path), expected: Some(before), content: content.clone(), executable: false };
    files.commit(plan)?;
    let after = TextFile::parse(content);
    files.with_conflicts(|conflicts| {
        conflicts.forget(&picks.iter().map(|(conflict, _)| conflict.id).collect::<Vec<_>>());
        conflicts.follow(path, &after);
    });
    Ok(header(display, files.record(path, &after)))
}

#[derive(Default)]
struct ConflictReport {
    /// Path, number of conflicts, header.
    resolved: Vec<(String, usize, String)>,
    /// Path, number of conflicts, reason.
    failed: Vec<(String, usize, String)>,
    left: Vec<u32>,
}

impl ConflictReport {
    fn output(self) -> Result<Output<Details>, ToolError> {
        let mut lines = Vec::new();
        if !self.resolved.is_empty() {
            let total = self.resolved.iter().map(|(_, count, _)| count).sum();
            lines.push(format!("Resolved {} across {}:", conflicts(total), counted(self.resolved.len(), "file")));
            lines.extend(self.resolved.iter().map(|(path, count, _)| format!("  {path}: {}", conflicts(*count))));
        }
        if !self.left.is_empty() {
            let ids: Vec<String> = self.left.iter().map(|id| format!("#{id}")).collect();
            lines.push(format!("Not listed and left as they are: {}", ids.join(", ")));
        }
        if !self.failed.is_empty() {
            lines.push(format!(
                "Failed to resolve {}; their conflicts keep their ids:",
                counted(self.failed.len(), "file")
            ));
            lines.extend(
                self.failed.iter().map(|(path, count, why)| format!("  {path}: {} ({why})", conflicts(*count))),
            );
        }
        if self.resolved.is_empty() {
            return Err(ToolError::Reply(lines.join("\n")));
        }
        lines.push("Snapshots:".into());
        lines.extend(self.resolved.iter().map(|(_, _, header)| format!("  {header}")));
        let output = Output::text(lines.join("\n"), Details::default());
        Ok(if self.failed.is_empty() { output } else { output.failed() })
    }
}

fn conflicts(count: usize) -> String {
    counted(count, "conflict")
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

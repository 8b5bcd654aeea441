//! Formats tool cards and questions as sentences without symbols or columns, so that they can be read aloud.

use omp_session::{Question, QuestionKind};
use omp_stdx::format::plural;
use omp_stdx::sanitize::strip_control;
use omp_stdx::truncate::rows_shown;
use omp_view::{Block, DiffKind, DiffLine, Status, View};

/// Caps the lines of a result that are printed.
const MOST_LINES: usize = 12;

/// Returns `Tool: read a.txt, done, 3 lines.` and the important lines of the result below.
pub fn tool_lines(view: &View) -> Vec<String> {
    let state = match view.status {
        Status::Running => "started",
        Status::Done => "done",
        Status::Failed => "failed",
    };
    let facts = [clean(&view.title), state.to_owned()].into_iter().chain(view.notes.iter().map(|note| clean(note)));
    let mut lines = vec![format!("Tool: {}.", facts.collect::<Vec<_>>().join(", "))];
    lines.extend(view.blocks.iter().flat_map(block_lines));
    lines
}

fn block_lines(block: &Block) -> Vec<String> {
    match block {
        Block::Text(text) => shortened(text.lines().map(clean).collect(), 0),
        // Code is not read aloud; the user can ask for it.
        Block::Code { text, .. } => vec![format!("Text of {}.", plural(text.lines().count(), "line", "lines"))],
        Block::Lines { lines, hidden } => shortened(lines.iter().map(|line| clean(line)).collect(), *hidden),
        Block::Diff(diff) => diff.heading().map(clean).into_iter().chain(diff_lines(&diff.lines)).collect(),
        Block::Table { header, rows } => shortened(rows.iter().map(|row| table_row(header, row)).collect(), 0),
        Block::Image { mime_type, .. } => vec![format!("Image, {mime_type}.")],
        Block::Progress { done, total: Some(total), label } => vec![format!("{}: {done} of {total}.", clean(label))],
        Block::Progress { done, total: None, label } => vec![format!("{}: {done}.", clean(label))],
    }
}

fn diff_lines(lines: &[DiffLine]) -> Vec<String> {
    let count = |kind: DiffKind| lines.iter().filter(|line| line.kind == kind).count();
    let (added, removed) = (count(DiffKind::Added), count(DiffKind::Removed));
    let sum = format!("{} added, {removed} removed.", plural(added, "line", "lines"));
    let told = lines.iter().filter_map(|line| match line.kind {
        DiffKind::Added => Some(format!("Added line {}: {}", line.line, clean(&line.text))),
        DiffKind::Removed => Some(format!("Removed line {}: {}", line.line, clean(&line.text))),
        DiffKind::Kept | DiffKind::Gap => None,
    });
    std::iter::once(sum).chain(shortened(told.collect(), 0)).collect()
}

fn table_row(header: &[String], row: &[String]) -> String {
    let cells = row.iter().enumerate().map(|(at, cell)| match header.get(at) {
        Some(name) if !name.is_empty() => format!("{}: {}", clean(name), clean(cell)),
        _ => clean(cell),
    });
    cells.collect::<Vec<_>>().join(", ")
}

fn shortened(mut lines: Vec<String>, hidden: usize) -> Vec<String> {
    // With hidden lines there is a note anyway.
    let shown = if hidden > 0 { lines.len().min(MOST_LINES) } else { rows_shown(lines.len(), MOST_LINES) };
    let more = lines.len() - shown + hidden;
    lines.truncate(shown);
    if more > 0 {
        lines.push(format!("And {}.", plural(more, "more line", "more lines")));
    }
    lines
}

/// Returns the question with its numbered options and how to answer it. `call` describes what would run.
pub fn question_lines(question: &Question, call: Option<&View>) -> Vec<String> {
    match &question.kind {
        QuestionKind::Approve { tool, reason, details, .. } => {
            let what = call.map_or_else(|| tool.clone(), |view| format!("{tool}: {}", clean(&view.title)));
            let mut lines = vec![format!("Question: may this run? {what}")];
            lines.extend(details.origin.map(|origin| format!("Origin: {origin}")));
            lines.extend(reason.iter().map(|reason| format!("Reason: {}", clean(reason))));
            lines.extend(details.lines.iter().map(|line| clean(line)));
            lines.extend(call.into_iter().flat_map(|view| view.blocks.iter().flat_map(block_lines)));
            lines.extend(["1. Yes".to_owned(), "2. No".to_owned()]);
            let with_rules = details.answers_with_rules().into_iter().enumerate();
            lines.extend(with_rules.map(|(at, (text, _))| format!("{}. {}", at + 3, clean(&text))));
            lines
        }
        QuestionKind::Choose(choice) => {
            let mut lines = vec![format!("Question: {}", clean(&choice.question))];
            for (at, option) in choice.options.iter().enumerate() {
                let detail =
                    option.description.as_deref().map(|text| format!(" ({})", clean(text))).unwrap_or_default();
                let advised = if choice.recommended == Some(at) { ", recommended" } else { "" };
                lines.push(format!("{}. {}{detail}{advised}", at + 1, clean(&option.label)));
            }
            lines
        }
        QuestionKind::OpenUrl { url, reason } => {
            let question = format!("Question: open this link? {}", clean(reason));
            let options = ["1. Open in the browser", "2. I opened it myself", "3. Cancel"];
            [question, url.to_string()].into_iter().chain(options.map(str::to_owned)).collect()
        }
    }
}

/// Returns one line without terminal control sequences.
pub fn clean(text: &str) -> String {
    strip_control(text).replace(['\n', '\t'], " ").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use omp_view::Diff;

    use super::*;

    #[track_caller]
    fn check(view: View, expect: &[&str]) {
        assert_eq!(tool_lines(&view), expect);
    }

    #[test]
    fn cards_are_sentences() {
        let line = |kind, line, text: &str| DiffLine { kind, line, text: text.into() };
        check(View::new("read a.txt", Status::Done).note("3 lines"), &["Tool: read a.txt, done, 3 lines."]);
        check(
            View::new("edit a.txt", Status::Done).block(Block::Diff(Diff::new(vec![
                line(DiffKind::Kept, 2, "same"),
                line(DiffKind::Removed, 3, "old\x1b[2J"),
                line(DiffKind::Added, 3, "new"),
            ]))),
            &["Tool: edit a.txt, done.", "1 line added, 1 removed.", "Removed line 3: old", "Added line 3: new"],
        );
        check(
            View::new("bash\nls", Status::Failed).block(Block::Lines { lines: vec!["x".into(); 13], hidden: 4 }),
            &[
                "Tool: bash ls, failed.",
                "x",
                "x",
                "x",
                "x",
                "x",
                "x",
                "x",
                "x",
                "x",
                "x",
                "x",
                "x",
                "And 5 more lines.",
            ],
        );
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        check(
            View::new("t", Status::Running)
                .block(Block::Table { header: row(["name", ""]), rows: vec![row(["a", "b"])] })
                .block(Block::Progress { done: 1, total: Some(3), label: "tests".into() }),
            &["Tool: t, started.", "name: a, b", "tests: 1 of 3."],
        );
    }
}

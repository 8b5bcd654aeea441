//! Renders a [`View`] as plain lines: a title, a few important lines, and how much was left out.

use std::io::{self, Write};

use omp_stdx::format::plural;
use omp_stdx::sanitize::strip_control;
use omp_stdx::truncate::rows_shown;
use omp_view::{Block, DiffKind, DiffLine, Status, View};

/// Caps the lines shown of a block.
const MAX_LINES: usize = 12;

/// Terminal colours, or none.
#[derive(Clone, Copy)]
pub struct Palette {
    on: bool,
}

impl Palette {
    pub fn new(on: bool) -> Self {
        Self { on }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }
}

pub fn write_card(out: &mut impl Write, view: &View, palette: Palette) -> io::Result<()> {
    let mark = match view.status {
        Status::Running => palette.paint("33", "…"),
        Status::Done => palette.paint("32", "✓"),
        Status::Failed => palette.paint("31", "✗"),
    };
    write!(out, "{mark} {}", palette.paint("1", &strip_control(&view.title)))?;
    if !view.notes.is_empty() {
        write!(out, " {}", palette.dim(&format!("({})", view.notes.join(", "))))?;
    }
    writeln!(out)?;
    for block in &view.blocks {
        write_block(out, block, palette)?;
    }
    Ok(())
}

fn write_block(out: &mut impl Write, block: &Block, palette: Palette) -> io::Result<()> {
    match block {
        Block::Text(text) => write_lines(out, strip_control(text).lines().map(str::to_owned).collect(), 0, palette),
        Block::Code { text, first_line, .. } => {
            let number = |index: usize| first_line.map(|first| format!("{:>4} ", first + index)).unwrap_or_default();
            let text = strip_control(text);
            let lines = text.lines().enumerate().map(|(index, line)| format!("{}{line}", palette.dim(&number(index))));
            write_lines(out, lines.collect(), 0, palette)
        }
        Block::Diff(diff) => {
            let heading = diff.heading().map(|path| vec![strip_control(path).into_owned()]);
            heading.map_or(Ok(()), |path| write_lines(out, path, 0, palette))?;
            write_lines(out, diff.lines.iter().map(|line| diff_line(line, palette)).collect(), 0, palette)
        }
        Block::Lines { lines, hidden } => {
            write_lines(out, lines.iter().map(|line| strip_control(line).into_owned()).collect(), *hidden, palette)
        }
        Block::Table { header, rows } => {
            let lines = std::iter::once(header).chain(rows).map(|row| row.join("  "));
            write_lines(out, lines.collect(), 0, palette)
        }
        Block::Image { mime_type, .. } => writeln!(out, "  {}", palette.dim(&format!("[{mime_type} image]"))),
        Block::Progress { done, total, label } => match total {
            Some(total) => writeln!(out, "  {label} {done}/{total}"),
            None => writeln!(out, "  {label} {done}"),
        },
    }
}

fn write_lines(out: &mut impl Write, lines: Vec<String>, hidden: usize, palette: Palette) -> io::Result<()> {
    // With hidden lines there is a note anyway.
    let shown = if hidden > 0 { lines.len().min(MAX_LINES) } else { rows_shown(lines.len(), MAX_LINES) };
    for line in &lines[..shown] {
        writeln!(out, "  {line}")?;
    }
    let more = lines.len() - shown + hidden;
    if more > 0 {
        writeln!(out, "  {}", palette.dim(&format!("… {}", plural(more, "more line", "more lines"))))?;
    }
    Ok(())
}

fn diff_line(line: &DiffLine, palette: Palette) -> String {
    let text = strip_control(&line.text);
    match line.kind {
        DiffKind::Added => palette.paint("32", &format!("{:>4} + {text}", line.line)),
        DiffKind::Removed => palette.paint("31", &format!("{:>4} - {text}", line.line)),
        DiffKind::Kept => format!("{:>4}   {text}", line.line),
        DiffKind::Gap => palette.dim("     …"),
    }
}

#[cfg(test)]
mod tests {
    use omp_view::Diff;

    use super::*;

    fn draw(view: &View) -> String {
        let mut out = Vec::new();
        write_card(&mut out, view, Palette::new(false)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_card_says_what_it_left_out() {
        let text = (1..=20).map(|n| format!("line {n}\n")).collect();
        let view = View::new("read a.txt", Status::Done).note("20 lines").block(Block::Code {
            language: None,
            text,
            first_line: Some(5),
        });
        let card = draw(&view);
        assert!(card.starts_with("✓ read a.txt (20 lines)\n     5 line 1\n"), "{card}");
        assert!(card.ends_with("… 8 more lines\n"), "{card}");
    }

    #[test]
    fn diffs_show_both_sides() {
        let line = |kind, line, text: &str| DiffLine { kind, line, text: text.into() };
        let view = View::new("edit a.txt", Status::Failed)
            .block(Block::Diff(Diff::new(vec![line(DiffKind::Removed, 3, "old"), line(DiffKind::Added, 3, "new")])));
        assert_eq!(draw(&view), "✗ edit a.txt\n     3 - old\n     3 + new\n");
    }
}

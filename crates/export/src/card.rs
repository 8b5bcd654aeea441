//! Renders a [`View`] as HTML: the same card that every front end shows.

use std::ops::Range;

use omp_tui::Token;
use omp_tui::diff::{DiffCode, changed_words};
use omp_types::Content;
use omp_view::{Block, Diff, DiffKind, Status, View};

use crate::markup::{Html, LONGEST_TEXT};
use crate::pictures::Pictures;

/// Maximum number of lines rendered per block.
const MOST_LINES: usize = 4_000;

/// Details of a card in addition to its view.
pub(crate) struct Behind<'a> {
    /// The arguments of the call, as JSON.
    pub arguments: Option<String>,
    /// The result that was sent to the model.
    pub result: &'a [Content],
}

pub(crate) fn card(html: &mut Html, pictures: &mut Pictures, view: &View, behind: &Behind<'_>) {
    html.raw(match view.status {
        Status::Done => "<details class=\"card done\" open><summary>",
        Status::Failed => "<details class=\"card failed\" open><summary>",
        Status::Running => "<details class=\"card running\" open><summary>",
    });
    html.element("<b>", &view.title, "</b>");
    for note in &view.notes {
        html.element(" <i>", note, "</i>");
    }
    html.raw("</summary>");
    for block in &view.blocks {
        draw(html, pictures, block);
    }
    let draws_images = view.blocks.iter().any(|block| matches!(block, Block::Image { .. }));
    for content in behind.result {
        if let Content::Image(image) = content
            && !draws_images
        {
            pictures.draw(html, &image.mime_type, &image.data);
        }
    }
    behind_it(html, "arguments", behind.arguments.as_deref().unwrap_or_default());
    let told = omp_types::text_of(behind.result);
    let shown =
        view.blocks.iter().any(|block| matches!(block, Block::Code { text, .. } | Block::Text(text) if *text == told));
    behind_it(html, "sent to the model", if shown { "" } else { &told });
    html.raw("</details>");
}

fn behind_it(html: &mut Html, what: &'static str, text: &str) {
    if !text.is_empty() {
        html.raw("<details class=\"raw\"><summary>").raw(what).raw("</summary>").pre(text).raw("</details>");
    }
}

fn draw(html: &mut Html, pictures: &mut Pictures, block: &Block) {
    match block {
        Block::Text(text) => {
            html.pre_text(text);
        }
        Block::Code { text, first_line: None, .. } => {
            html.pre(text);
        }
        Block::Code { text, first_line: Some(first), .. } => numbered(html, text, *first),
        Block::Diff(changes) => {
            if let Some(path) = changes.heading() {
                html.pre_text(path);
            }
            diff(html, changes);
        }
        Block::Lines { lines, hidden } => listed(html, lines, *hidden),
        Block::Table { header, rows } => table(html, header, rows),
        Block::Image { mime_type, data } => pictures.draw(html, mime_type, data),
        Block::Progress { done, total, label } => {
            let total = total.map(|total| format!(" of {total}")).unwrap_or_default();
            html.element("<p>", &format!("{label} {done}{total}"), "</p>");
        }
    }
}

fn numbered(html: &mut Html, text: &str, first: usize) {
    let mut room = Room::default();
    html.raw("<pre class=\"code\">");
    for (offset, line) in text.lines().enumerate() {
        if !room.admits(line) {
            continue;
        }
        html.raw("<span class=\"n\">").number((first + offset) as u64).raw("</span>").text(line).raw("\n");
    }
    html.raw("</pre>");
    room.tell(html);
}

fn diff(html: &mut Html, diff: &Diff) {
    let lines = &diff.lines[..diff.lines.len().min(MOST_LINES)];
    let changed = changed_words(lines);
    let mut code = DiffCode::new(diff.path.as_deref());
    let mut room = Room::default();
    html.raw("<pre class=\"diff\">");
    for (line, changed) in lines.iter().zip(&changed) {
        let tokens = code.tokens(line);
        if !room.admits(&line.text) {
            continue;
        }
        let (open, sign) = match line.kind {
            DiffKind::Added => ("<span class=\"add\"><span class=\"n\">", "+"),
            DiffKind::Removed => ("<span class=\"del\"><span class=\"n\">", "-"),
            DiffKind::Kept => ("<span><span class=\"n\">", " "),
            DiffKind::Gap => {
                html.raw("<span class=\"gap\"><span class=\"n\"></span> …").text(&line.text).raw("\n</span>");
                continue;
            }
        };
        html.raw(open);
        if line.line > 0 {
            html.number(line.line as u64);
        }
        html.raw("</span>").raw(sign);
        diff_text(html, &line.text, &tokens, changed);
        html.raw("\n</span>");
    }
    html.raw("</pre>");
    room.left_out += diff.lines.len() - lines.len();
    room.tell(html);
}

/// Writes a line with its colours and marks on the changed words.
fn diff_text(html: &mut Html, text: &str, tokens: &[(Range<usize>, Token)], changed: &[Range<usize>]) {
    let mut cuts: Vec<usize> = vec![0, text.len()];
    cuts.extend(tokens.iter().flat_map(|(range, _)| [range.start, range.end]));
    cuts.extend(changed.iter().flat_map(|range| [range.start, range.end]));
    cuts.sort_unstable();
    cuts.dedup();
    let mut tokens = tokens.iter().peekable();
    for piece in cuts.windows(2) {
        let (start, end) = (piece[0], piece[1]);
        while tokens.next_if(|(range, _)| range.end <= start).is_some() {}
        let class = tokens.peek().filter(|(range, _)| range.contains(&start)).and_then(|(_, token)| ink(*token));
        let is_changed = changed.iter().any(|range| range.contains(&start));
        html.raw(if is_changed { "<b>" } else { "" });
        match class {
            Some(open) => html.element(open, &text[start..end], "</i>"),
            None => html.text(&text[start..end]),
        };
        html.raw(if is_changed { "</b>" } else { "" });
    }
}

fn ink(token: Token) -> Option<&'static str> {
    Some(match token {
        Token::SyntaxComment => "<i class=\"c\">",
        Token::SyntaxKeyword => "<i class=\"k\">",
        Token::SyntaxFunction => "<i class=\"f\">",
        Token::SyntaxString => "<i class=\"s\">",
        Token::SyntaxNumber => "<i class=\"m\">",
        Token::SyntaxType => "<i class=\"t\">",
        _ => return None,
    })
}

fn listed(html: &mut Html, lines: &[String], hidden: usize) {
    let mut room = Room::default();
    html.raw("<pre>");
    for line in lines {
        if room.admits(line) {
            html.text(line).raw("\n");
        }
    }
    html.raw("</pre>");
    room.left_out += hidden;
    room.tell(html);
}

fn table(html: &mut Html, header: &[String], rows: &[Vec<String>]) {
    let mut room = Room::default();
    html.raw("<div class=\"wide\"><table><tr>");
    for cell in header {
        html.element("<th>", cell, "</th>");
    }
    html.raw("</tr>");
    for row in rows {
        if !row.iter().all(|cell| room.admits(cell)) {
            continue;
        }
        html.raw("<tr>");
        for cell in row {
            html.element("<td>", cell, "</td>");
        }
        html.raw("</tr>");
    }
    html.raw("</table></div>");
    room.tell(html);
}

/// Remaining size of a block of lines.
struct Room {
    lines: usize,
    bytes: usize,
    left_out: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self { lines: MOST_LINES, bytes: LONGEST_TEXT, left_out: 0 }
    }
}

impl Room {
    fn admits(&mut self, line: &str) -> bool {
        // After the first line that does not fit, no further one is added: a text with gaps would look complete.
        if self.left_out > 0 || self.lines == 0 || self.bytes < line.len() {
            self.left_out += 1;
            return false;
        }
        self.lines -= 1;
        self.bytes -= line.len();
        true
    }

    fn tell(&self, html: &mut Html) {
        if self.left_out > 0 {
            html.raw("<p class=\"cut\">").number(self.left_out as u64).raw(" more</p>");
        }
    }
}

#[cfg(test)]
mod tests {
    use omp_store::BlobStore;

    use omp_view::DiffLine;

    use super::*;

    fn drawn(block: Block) -> String {
        let mut html = Html::default();
        draw(&mut html, &mut Pictures::new(BlobStore::new("".as_ref())), &block);
        html.as_str().to_owned()
    }

    #[track_caller]
    fn check(block: Block, expect: &str) {
        assert_eq!(drawn(block), expect);
    }

    fn line(kind: DiffKind, line: usize, text: &str) -> DiffLine {
        DiffLine { kind, line, text: text.into() }
    }

    #[test]
    fn every_block_has_a_form() {
        let evil = "</pre><script>x";
        check(Block::Text(evil.into()), "<div class=\"text\">&lt;/pre&gt;&lt;script&gt;x</div>");
        check(
            Block::Code { language: Some(evil.into()), text: "a\n<b>".into(), first_line: Some(7) },
            "<pre class=\"code\"><span class=\"n\">7</span>a\n<span class=\"n\">8</span>&lt;b&gt;\n</pre>",
        );
        check(
            Block::Code { language: None, text: evil.into(), first_line: None },
            "<pre>&lt;/pre&gt;&lt;script&gt;x</pre>",
        );
        check(
            Block::Diff(Diff::new(vec![
                line(DiffKind::Removed, 1, "<a>"),
                line(DiffKind::Added, 1, "b"),
                line(DiffKind::Gap, 0, ""),
            ])),
            "<pre class=\"diff\"><span class=\"del\"><span class=\"n\">1</span>-&lt;a&gt;\n</span>\
             <span class=\"add\"><span class=\"n\">1</span>+b\n</span>\
             <span class=\"gap\"><span class=\"n\"></span> …\n</span></pre>",
        );
        check(
            Block::Diff(
                Diff::new(vec![
                    line(DiffKind::Removed, 1, "let a = \"<\";"),
                    line(DiffKind::Added, 1, "let b = \"<\";"),
                ])
                .of("a.rs"),
            ),
            "<pre class=\"diff\"><span class=\"del\"><span class=\"n\">1</span>-<i class=\"k\">let</i> <b>a</b> = \
             <i class=\"s\">&quot;&lt;&quot;</i>;\n</span><span class=\"add\"><span class=\"n\">1</span>+\
             <i class=\"k\">let</i> <b>b</b> = <i class=\"s\">&quot;&lt;&quot;</i>;\n</span></pre>",
        );
        check(
            Block::Lines { lines: vec![evil.into()], hidden: 3 },
            "<pre>&lt;/pre&gt;&lt;script&gt;x\n</pre><p class=\"cut\">3 more</p>",
        );
        check(
            Block::Table { header: vec!["<h>".into()], rows: vec![vec!["<c>".into()]] },
            "<div class=\"wide\"><table><tr><th>&lt;h&gt;</th></tr><tr><td>&lt;c&gt;</td></tr></table></div>",
        );
        check(Block::Progress { done: 1, total: Some(2), label: "<p>".into() }, "<p>&lt;p&gt; 1 of 2</p>");
    }

    #[test]
    fn long_blocks_are_cut_and_say_so() {
        let shown = drawn(Block::Lines { lines: vec!["x".into(); MOST_LINES + 5], hidden: 2 });
        assert!(shown.ends_with("<p class=\"cut\">7 more</p>"));
        let huge = "x".repeat(LONGEST_TEXT + 1);
        let shown =
            drawn(Block::Diff(Diff::new(vec![line(DiffKind::Added, 1, &huge), line(DiffKind::Added, 2, "after")])));
        assert!(shown.ends_with("<p class=\"cut\">2 more</p>") && shown.len() < 200);
    }
}

//! Every kind of card at three sizes, in the dark and the light theme.

use omp_tui::{Color, Theme};
use omp_view::{Diff, DiffKind, DiffLine};

use super::*;
use crate::looks::looks;

fn diff() -> Diff {
    let line = |kind, line, text: &str| DiffLine { kind, line, text: text.to_owned() };
    let mut lines = vec![
        line(DiffKind::Kept, 8, "fn main() {"),
        line(DiffKind::Removed, 9, "    let total = add(1, 2); // the old sum"),
        line(DiffKind::Added, 9, "    let sum = add(1, 3); // the new sum"),
        line(DiffKind::Gap, 0, ""),
    ];
    lines.extend((40..80).map(|at| line(DiffKind::Added, at, "    println!(\"a line that is added\");")));
    Diff::new(lines).of("src/main.rs").named(true)
}

fn cards() -> Vec<View> {
    let text = |count: usize| (1..=count).map(|at| format!("row {at}")).collect::<Vec<_>>();
    let code = |text: &str| Block::Code { language: Some("rs".into()), text: text.to_owned(), first_line: Some(7) };
    vec![
        View::new("edit src/main.rs", Status::Done).note("+41 -1").block(Block::Diff(diff())),
        View::new("$ cargo test", Status::Failed).note("exit 101").note("12.3s").block(Block::Text("no".into())),
        View::new("read src/lib.rs", Status::Running).block(code("pub fn add(a: u32) -> u32 {\n    a + 1 // one\n}")),
        View::new("find *.rs", Status::Done).block(Block::Lines { lines: text(9), hidden: 0 }),
        View::new("find *.md", Status::Done).block(Block::Lines { lines: text(12), hidden: 3 }),
        View::new("query", Status::Done).block(Block::Table {
            header: vec!["id".into(), "name".into()],
            rows: vec![vec!["1".into(), "Ann".into()], vec!["20".into(), "Bob".into()]],
        }),
        View::new("image", Status::Done).block(Block::Image { mime_type: "image/png".into(), data: "AAAA".into() }),
        View::new("job", Status::Running).block(Block::Progress { done: 3, total: Some(9), label: "files".into() }),
        View { shown_beside: true, ..View::new("todo", Status::Done) }
            .note("0/2 done")
            .block(Block::Lines { lines: text(2), hidden: 0 }),
    ]
}

fn drawn(space: &Space<'_>) -> Vec<Line> {
    let card = |view: View| {
        let mut rows = vec![title(&view, space)];
        rows.extend(body(&view, space, false, view.keep));
        rows
    };
    cards().into_iter().flat_map(card).collect()
}

#[test]
fn cards_at_three_sizes_and_in_both_themes() {
    insta::assert_snapshot!(looks(drawn));
}

#[test]
fn only_the_note_of_a_failed_command_is_red() {
    let theme = Theme::dark();
    let rows = drawn(&Space { width: 80, height: 24, theme: &theme, focused: false, keys: &omp_tui::DefaultKeys });
    let red = theme.color(Token::Error);
    let is_red = |text: &str| {
        let mut spans = rows.iter().flat_map(|row| &row.spans);
        spans.find(|span| span.text == text).is_some_and(|span| span.style.fg == red)
    };
    assert!(is_red("exit 101") && !is_red("12.3s") && !is_red("no"));
    let bands = [Token::ToolDiffAddedBg, Token::ToolDiffAddedWordBg, Token::ToolDiffRemovedWordBg];
    let grounds: Vec<Color> = rows.iter().flat_map(|row| &row.spans).map(|span| span.style.bg).collect();
    assert!(bands.iter().all(|band| grounds.contains(&theme.color(*band))));
}

#[test]
fn a_long_command_is_shortened_and_its_exit_code_is_not() {
    let view = View {
        title: "$ ls ".to_owned() + &"missing/path ".repeat(12),
        notes: vec!["exit 2".to_owned(), "0.1s".to_owned()],
        status: Status::Failed,
        ..View::default()
    };
    let theme = Theme::colorless();
    for width in [40, 80, 120] {
        let row =
            title(&view, &Space { width, height: 10, theme: &theme, focused: false, keys: &omp_tui::DefaultKeys })
                .text();
        assert!(row.ends_with("…  exit 2 · 0.1s"), "{row}");
    }
}

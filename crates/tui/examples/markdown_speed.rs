//! Measures streamed Markdown: `cargo run --release -p omp-tui --example markdown_speed`.
//!
//! 100 kB arrive in pieces of four characters, each set and drawn; then the same text is laid out for other widths.

use std::io::Write as _;
use std::time::Instant;

use omp_tui::{Color, Markdown, Space, Theme};

const PART: &str = "## Heading\n\nSome *text* with **strong** words, `code`, a [link](https://example.com/page) and plain \
    sentences that go on for a while, so that the paragraph wraps a few times at the usual width of a terminal.\n\n- first \
    item of a list\n- second item, a little longer than the first one\n  - nested item\n\n```rust\nfn main() {\n    let \
    answer = compute(42, \"text\"); // comment\n    println!(\"{answer}\");\n}\n```\n\n| Name | Value |\n|---|---:|\n| one | \
    1 |\n| two | 22 |\n\nFormula $x^2 + \\alpha$ and 日本語 text.\n\n";

fn main() -> std::io::Result<()> {
    let text = PART.repeat(100_000 / PART.len() + 1);
    let theme = Theme::new("speed", 1, |token| Color::Indexed(token as u8));
    let space = |width| Space { width, height: 40, theme: &theme, focused: false, keys: &omp_tui::DefaultKeys };
    let mut out = std::io::stdout().lock();

    let mut markdown = Markdown::default();
    let began = Instant::now();
    let mut draws = 0;
    for (index, (at, _)) in text.char_indices().enumerate() {
        if index % 4 == 0 {
            markdown.set(&text[..at]);
            markdown.draw(&space(100));
            draws += 1;
        }
    }
    markdown.set(&text);
    let rows = markdown.draw(&space(100)).len();
    writeln!(out, "streamed {} bytes in {draws} pieces to {rows} rows: {:?}", text.len(), began.elapsed())?;

    let widths = 40..140;
    let began = Instant::now();
    let rows: usize = widths.clone().map(|width| markdown.draw(&space(width)).len()).sum();
    writeln!(out, "laid out for {} other widths, {rows} rows: {:?}", widths.len(), began.elapsed())?;
    Ok(())
}

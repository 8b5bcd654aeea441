//! A small application: blocks of paragraphs that grow and settle, and chrome below them.

use omp_stdx::display_width;
use omp_tui::{Color, Frame, Line, Overlay, Span, Style};

use super::ops::Op;

const GREY: Style = Style::PLAIN.bg(Color::Indexed(8));
const WIDE: [&str; 3] = ["日本", "語", "한글"];
const MARKS: [&str; 4] = ["e\u{301}", "n\u{303}o", "né", "→•"];
const DISPUTED: [&str; 4] = ["👩‍👩‍👧", "🇩🇪", "❤\u{fe0f}", "👍🏽"];

#[derive(Clone)]
struct Paragraph {
    kind: u8,
    words: Vec<String>,
}

#[derive(Default)]
struct Block {
    paragraphs: Vec<Paragraph>,
    settled: usize,
    done: bool,
}

/// The visible content at one moment.
pub struct Shown {
    pub rows: Vec<Line>,
    pub settled: usize,
    pub overlay: Option<(Vec<Line>, usize, usize, usize)>,
}

impl Shown {
    pub fn frame(&self) -> Frame<'_> {
        let overlay = self.overlay.as_ref().map(|(lines, top, left, width)| Overlay {
            lines,
            top: *top,
            left: *left,
            width: *width,
        });
        Frame { rows: &self.rows, settled: self.settled, overlay }
    }
}

pub struct Scene {
    blocks: Vec<Block>,
    chrome: usize,
    cursor: Option<usize>,
    tick: usize,
    overlay: Option<(Vec<Line>, usize, usize, usize)>,
    disputed: bool,
    /// Every word has a number, so that words are distinguishable.
    words: usize,
}

impl Scene {
    pub fn new(disputed: bool) -> Self {
        Self { blocks: Vec::new(), chrome: 2, cursor: Some(2), tick: 0, overlay: None, disputed, words: 0 }
    }

    pub fn apply(&mut self, op: &Op) {
        match *op {
            Op::Stream(words) => {
                let more = self.some_words(words, 0);
                match self.live().paragraphs.last_mut() {
                    // A row is either completely disputed or not at all.
                    Some(last) if !matches!(last.kind, 4 | 5) => last.words.extend(more),
                    _ => self.live().paragraphs.push(Paragraph { kind: 0, words: more }),
                }
            }
            Op::Paragraph { kind, words } => {
                let paragraph = self.paragraph(kind, words);
                self.live().paragraphs.push(paragraph);
            }
            Op::Block => self.blocks.push(Block::default()),
            Op::Burst(rows) => {
                let paragraphs = (0..rows).map(|row| self.paragraph(row, 3)).collect();
                self.blocks.push(Block { paragraphs, settled: 0, done: true });
            }
            Op::SettleSome(count) => {
                let block = self.live();
                // The last paragraph still grows.
                let most = block.paragraphs.len().saturating_sub(1);
                block.settled = (block.settled + usize::from(count)).min(most).max(block.settled);
            }
            Op::Settle => self.live().done = true,
            Op::Rewrite { at, kind, words } => {
                let paragraph = self.paragraph(kind, words);
                let block = self.live();
                let open = block.paragraphs.len() - block.settled;
                if open > 0 {
                    let at = block.settled + usize::from(at) % open;
                    block.paragraphs[at] = paragraph;
                }
            }
            Op::Shrink(count) => {
                let block = self.live();
                let keep = block.paragraphs.len().saturating_sub(usize::from(count)).max(block.settled + 1);
                block.paragraphs.truncate(keep);
            }
            Op::InsertAbove(rows) => {
                let paragraphs = (0..rows).map(|row| self.paragraph(row, 3)).collect();
                let at = self.blocks.iter().position(|block| !block.done).unwrap_or(self.blocks.len());
                // Inserting above settled rows would break the contract.
                if self.blocks.get(at).is_none_or(|block| block.settled == 0) {
                    self.blocks.insert(at, Block { paragraphs, settled: 0, done: true });
                }
            }
            Op::Tamper(at) => {
                // If only one row changed the audit ignores it, so the row may never be shown: it has no numbers.
                let paragraph = Paragraph { kind: 0, words: vec!["broken".to_owned(), format!("promise {at}")] };
                if !self.blocks.is_empty() {
                    let at = usize::from(at) % self.blocks.len();
                    self.blocks[at].paragraphs.insert(0, paragraph);
                }
            }
            Op::Chrome { rows, cursor } => {
                self.chrome = usize::from(rows);
                self.cursor = (cursor % 5 != 0).then_some(usize::from(cursor));
            }
            Op::Tick => self.tick += 1,
            Op::Overlay { top, left, width, rows } => {
                let lines = (0..rows).map(|row| Line::styled(format!("over {row}"), Style::PLAIN.bold())).collect();
                self.overlay = Some((lines, usize::from(top), usize::from(left), usize::from(width)));
            }
            Op::NoOverlay => self.overlay = None,
            Op::Restart => *self = Self { words: self.words, ..Self::new(self.disputed) },
            Op::Resize { .. }
            | Op::LateResize { .. }
            | Op::Replace
            | Op::Foreign(_)
            | Op::Synchronized(_)
            | Op::Hold => {}
        }
    }

    /// Returns the block that may change.
    fn live(&mut self) -> &mut Block {
        if self.blocks.last().is_none_or(|block| block.done) {
            self.blocks.push(Block::default());
        }
        self.blocks.last_mut().unwrap()
    }

    fn paragraph(&mut self, kind: u8, words: u8) -> Paragraph {
        Paragraph { kind, words: self.some_words(words, kind) }
    }

    fn some_words(&mut self, count: u8, kind: u8) -> Vec<String> {
        (0..count).map(|_| self.word(kind)).collect()
    }

    fn word(&mut self, kind: u8) -> String {
        self.words += 1;
        let number = self.words;
        let extra = match kind {
            3 => WIDE[number % WIDE.len()],
            4 => MARKS[number % MARKS.len()],
            5 if self.disputed => DISPUTED[number % DISPUTED.len()],
            _ => "",
        };
        format!("w{number}.{extra}")
    }

    pub fn shown(&self, width: usize) -> Shown {
        let mut rows = Vec::new();
        let mut settled = 0;
        let mut open = false;
        for block in &self.blocks {
            for (at, paragraph) in block.paragraphs.iter().enumerate() {
                open |= !block.done && at >= block.settled;
                rows.extend(laid_out(paragraph, width));
                settled = if open { settled } else { rows.len() };
            }
            open |= !block.done;
        }
        rows.extend((0..self.chrome).map(|row| self.chrome_row(row)));
        Shown { rows, settled, overlay: self.overlay.clone() }
    }

    fn chrome_row(&self, row: usize) -> Line {
        match row {
            0 => Line::from(format!("{} working", ["|", "/", "-"][self.tick % 3])),
            1 => Line { cursor: self.cursor, ..Line::from(format!("> typed {}", self.tick / 2)) },
            2 => Line::styled("─".repeat(60), Style::PLAIN.dim()),
            _ => Line::styled(format!("status {row} and {}", "more ".repeat(row * 3)), GREY).filled(GREY),
        }
    }
}

fn laid_out(paragraph: &Paragraph, width: usize) -> Vec<Line> {
    let mut rows = vec![String::new()];
    for word in &paragraph.words {
        let used = display_width::width(&rows[rows.len() - 1]);
        if used > 0 && used + 1 + display_width::width(word) > width {
            rows.push(String::new());
        }
        let row = rows.last_mut().unwrap();
        if !row.is_empty() {
            row.push(' ');
        }
        row.push_str(word);
    }
    rows.into_iter().map(|row| styled(row, paragraph.kind)).collect()
}

fn styled(row: String, kind: u8) -> Line {
    let red = Style::PLAIN.fg(Color::Indexed(1)).bold();
    match kind {
        6 => Line::styled(row, GREY).filled(GREY),
        7 => Line::styled(row, red),
        8 => Line { spans: vec![Span { link: Some("http://x/y".into()), ..Span::new(row, red) }], ..Line::new() },
        9 => match row.find(' ') {
            Some(at) => {
                Line::from(row[..at].to_owned()).with(row[at..].to_owned(), Style::PLAIN.bg(Color::Rgb(1, 2, 3)))
            }
            None => row.into(),
        },
        _ => row.into(),
    }
}

//! Draws a picture as rows.

use std::sync::Arc;

use super::budget::ImageBudget;
use super::geometry::{CellSize, Cells, fit};
use super::way::ImageWay;
use super::{Picture, iterm2, kitty, sixel};
use crate::component::Space;
use crate::line::{Line, Span};
use crate::style::Style;
use crate::theme::Token;

/// A picture may take one n-th of the screen's height.
const SHARE_OF_HEIGHT: usize = 2;

/// A picture in the transcript. Once drawn as a picture it keeps its number of rows, even if newer pictures replace it, the
/// terminal becomes narrower, or only text can be shown.
pub struct ImageBlock {
    picture: Arc<Picture>,
    /// Empty columns before it.
    indent: usize,
    state: DrawnImage,
}

enum DrawnImage {
    New,
    /// Always shown as a line of text.
    Text,
    Shown(ShownImage),
}

struct ShownImage {
    id: u32,
    rows: usize,
    /// The encoded bytes at one size, cached.
    made: Option<EncodedImage>,
}

struct EncodedImage {
    cells: Cells,
    cell: CellSize,
    escape: Arc<str>,
}

impl ImageBlock {
    pub fn new(picture: Arc<Picture>) -> Self {
        Self::indented(picture, 0)
    }

    pub fn indented(picture: Arc<Picture>, indent: usize) -> Self {
        Self { picture, indent, state: DrawnImage::New }
    }

    /// Returns the rows. Other bytes for the terminal are collected in the budget.
    pub fn draw(&mut self, space: &Space<'_>, budget: &mut ImageBudget) -> Vec<Line> {
        let space = &space.narrower(self.indent);
        let mut rows = self.rows(space, budget);
        for row in rows.iter_mut().filter(|row| self.indent > 0 && !row.spans.is_empty()) {
            row.spans.insert(0, Span::new(" ".repeat(self.indent), Style::PLAIN));
        }
        rows
    }

    fn rows(&mut self, space: &Space<'_>, budget: &mut ImageBudget) -> Vec<Line> {
        if matches!(self.state, DrawnImage::New) {
            self.state = first_state(&self.picture, space, budget);
        }
        let label = Line::styled(self.picture.label(), space.theme.fg(Token::Muted));
        let DrawnImage::Shown(shown) = &mut self.state else { return vec![label] };
        let label = Line { escape: Some(Arc::from("")), ..label };
        if !budget.is_live(shown.id) {
            // The picture is not shown again, so its data can be freed.
            let Picture { kind, width, height, .. } = &*self.picture;
            let (kind, file) = (kind.clone(), Arc::from([]));
            self.picture = Arc::new(Picture { kind, width: *width, height: *height, file, pixels: None });
            shown.made = None;
        }
        let below = rows_below(budget.way());
        let most = Cells { columns: budget.most_columns(space.width), rows: shown.rows.saturating_sub(below) };
        // A picture taller than the screen would make it scroll.
        let fits = most.columns > 0 && most.rows > 0 && shown.rows < space.height;
        let picture = &self.picture;
        let mut rows = match can_show(picture, budget.way()) && budget.is_live(shown.id) && fits {
            false => vec![label],
            true => {
                let cells = fit((picture.width, picture.height), budget.cell(), most);
                match below {
                    0 => shown.characters(picture, cells, budget),
                    _ => shown.direct(picture, (cells, self.indent), label, budget),
                }
            }
        };
        rows.resize(shown.rows, Line::new());
        rows
    }
}

fn first_state(picture: &Picture, space: &Space<'_>, budget: &mut ImageBudget) -> DrawnImage {
    let way = budget.way();
    let below = rows_below(way);
    let rows = budget.most_rows(space.height / SHARE_OF_HEIGHT);
    if rows < 2 || space.width == 0 || !can_show(picture, way) {
        return DrawnImage::Text;
    }
    let most = Cells { columns: budget.most_columns(space.width), rows: rows - below };
    let cells = fit((picture.width, picture.height), budget.cell(), most);
    match budget.admit() {
        Some(id) => DrawnImage::Shown(ShownImage { id, rows: cells.rows + below, made: None }),
        None => DrawnImage::Text,
    }
}

/// A picture that is not made of characters is painted from the row below it.
fn rows_below(way: ImageWay) -> usize {
    usize::from(!matches!(way, ImageWay::Kitty { placeholders: true, .. }))
}

fn can_show(picture: &Picture, way: ImageWay) -> bool {
    match way {
        ImageWay::Text => false,
        ImageWay::Kitty { .. } => kitty::can_show(picture),
        ImageWay::Iterm2 => iterm2::can_show(picture),
        ImageWay::Sixel => sixel::can_show(picture),
    }
}

impl ShownImage {
    fn characters(&self, picture: &Picture, cells: Cells, budget: &mut ImageBudget) -> Vec<Line> {
        budget.send(self.id, picture, Some(cells));
        kitty::placeholder_rows(self.id, cells)
    }

    /// Returns empty rows and below them a row with the label that paints upwards. The rows exist before the picture, so the
    /// picture does not scroll the screen, and later rows do not erase it.
    fn direct(
        &mut self,
        picture: &Picture,
        (cells, indent): (Cells, usize),
        label: Line,
        budget: &mut ImageBudget,
    ) -> Vec<Line> {
        if matches!(budget.way(), ImageWay::Kitty { .. }) {
            budget.send(self.id, picture, None);
        }
        let cell = budget.cell();
        let made = self.made.take().filter(|made| (made.cells, made.cell) == (cells, cell));
        let escape = made.map_or_else(|| self.upwards(picture, (cells, indent), budget), |made| made.escape);
        self.made = Some(EncodedImage { cells, cell, escape: Arc::clone(&escape) });
        let mut rows = vec![Line::new(); cells.rows];
        rows.push(Line { escape: Some(escape), ..label });
        rows
    }

    fn upwards(&self, picture: &Picture, (cells, indent): (Cells, usize), budget: &ImageBudget) -> Arc<str> {
        let shown = match (budget.way(), &picture.pixels) {
            (ImageWay::Kitty { .. }, _) => kitty::place(self.id, cells),
            (ImageWay::Iterm2, _) => iterm2::show(picture, cells),
            (ImageWay::Sixel, Some(pixels)) => sixel::show(pixels, cells, budget.cell()),
            _ => String::new(),
        };
        let right = if indent > 0 { format!("\x1b[{indent}C") } else { String::new() };
        format!("\x1b7\x1b[{}A\r{right}{shown}\x1b8", cells.rows).into()
    }
}

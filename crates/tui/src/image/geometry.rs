//! Computes the number of cells of a picture.

use super::kitty::MOST_CELLS;
use crate::terminal::Capabilities;

/// The size of one terminal cell in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellSize {
    pub width: u16,
    pub height: u16,
}

impl Default for CellSize {
    /// The cell size of most terminals, for those that do not report it.
    fn default() -> Self {
        Self { width: 9, height: 18 }
    }
}

impl CellSize {
    const LARGEST: u16 = 200;

    /// Returns the reported cell size, or the default.
    pub fn of(terminal: &Capabilities) -> Self {
        let told = terminal.cell.and_then(|(width, height)| Self::new(width.try_into().ok()?, height.try_into().ok()?));
        told.unwrap_or_default()
    }

    /// Creates the size that a terminal reported; `None` if it is implausible.
    pub fn new(width: u16, height: u16) -> Option<Self> {
        let sensible = 1..=Self::LARGEST;
        (sensible.contains(&width) && sensible.contains(&height)).then_some(Self { width, height })
    }

    /// Computes the size from the text area in pixels and in cells.
    pub fn of_window(pixels: (u16, u16), cells: (u16, u16)) -> Option<Self> {
        Self::new(pixels.0.checked_div(cells.0)?, pixels.1.checked_div(cells.1)?)
    }
}

/// A size in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cells {
    pub columns: usize,
    pub rows: usize,
}

/// Returns the cells of a picture: scaled down to fit with its aspect ratio kept, never scaled up.
pub fn fit(picture: (u32, u32), cell: CellSize, most: Cells) -> Cells {
    let (cell_width, cell_height) = (f64::from(cell.width), f64::from(cell.height));
    let (width, height) = (f64::from(picture.0.max(1)), f64::from(picture.1.max(1)));
    let columns = most.columns.clamp(1, MOST_CELLS);
    let rows = most.rows.clamp(1, MOST_CELLS);
    let scale = (columns as f64 * cell_width / width).min(rows as f64 * cell_height / height).min(1.0);
    let cells = |pixels: f64, cell: f64, most: usize| ((pixels * scale / cell - 1e-6).ceil() as usize).clamp(1, most);
    Cells { columns: cells(width, cell_width, columns), rows: cells(height, cell_height, rows) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::TerminalEnv;

    #[test]
    fn pictures_keep_their_shape() {
        let most = Cells { columns: 80, rows: 20 };
        for (picture, expect) in [
            ((90, 90), (10, 5)),
            ((800, 600), (54, 20)),
            ((4000, 100), (80, 1)),
            ((100, 4000), (1, 20)),
            ((1, 1), (1, 1)),
            ((0, 0), (1, 1)),
            ((u32::MAX, u32::MAX), (40, 20)),
        ] {
            let cells = fit(picture, CellSize::default(), most);
            assert_eq!((cells.columns, cells.rows), expect, "{picture:?}");
        }
        let vast = fit((100_000, 100_000), CellSize { width: 1, height: 1 }, Cells { columns: 9999, rows: 9999 });
        assert_eq!(vast, Cells { columns: MOST_CELLS, rows: MOST_CELLS });
    }

    #[test]
    fn reports_that_make_no_sense_are_not_believed() {
        assert_eq!(CellSize::new(0, 18), None);
        assert_eq!(CellSize::new(9, 2000), None);
        assert_eq!(CellSize::of_window((800, 480), (80, 24)), CellSize::new(10, 20));
        assert_eq!(CellSize::of_window((800, 480), (0, 24)), None);
        let mut terminal = Capabilities::detect(&TerminalEnv::default());
        for (told, expect) in [(None, (9, 18)), (Some((10, 20)), (10, 20)), (Some((0, 1 << 20)), (9, 18))] {
            terminal.cell = told;
            let cell = CellSize::of(&terminal);
            assert_eq!((cell.width, cell.height), expect);
        }
    }
}

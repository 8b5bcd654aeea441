//! Pictures in the terminal: by the Kitty protocol, that of iTerm2, or sixels; otherwise a line of text.
//!
//! Nothing here decodes files: whoever shows a [`Picture`] brings the bytes of its file and, where it has them, its
//! pixels. A picture takes a number of rows that never changes, whatever becomes of its pixels.

mod block;
mod budget;
mod geometry;
mod iterm2;
mod kitty;
mod quantize;
mod sixel;
mod way;

use std::borrow::Cow;
use std::sync::Arc;

pub use block::ImageBlock;
pub use budget::ImageBudget;
pub use geometry::{CellSize, Cells};
pub(crate) use kitty::PLACEHOLDER;
pub use way::ImageWay;

/// A larger file is not sent to the terminal.
const LARGEST_FILE: usize = 8 * 1024 * 1024;
/// Pixels of the largest picture that is held decoded.
const MOST_PIXELS: usize = 16 * 1024 * 1024;

/// A picture that can be shown.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Of the file: `png`, `jpeg`.
    pub kind: Cow<'static, str>,
    pub width: u32,
    pub height: u32,
    /// The file as it is.
    pub file: Arc<[u8]>,
    /// Decoded, and perhaps smaller than the file's.
    pub pixels: Option<Pixels>,
}

impl Picture {
    /// What stands for it where it cannot be seen.
    pub fn label(&self) -> String {
        let kind = self.kind.chars().filter(|char| char.is_ascii_graphic()).take(12).collect::<String>();
        format!("[image {}x{} {kind}]", self.width, self.height)
    }
}

/// Four bytes for each pixel: red, green, blue, opacity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    width: usize,
    height: usize,
    rgba: Arc<[u8]>,
}

impl Pixels {
    /// Nothing when there are too many, none, or not as many as width and height say.
    pub fn new(width: u32, height: u32, rgba: impl Into<Arc<[u8]>>) -> Option<Self> {
        let (width, height) = (usize::try_from(width).ok()?, usize::try_from(height).ok()?);
        let rgba = rgba.into();
        let count = width.checked_mul(height).filter(|count| (1..=MOST_PIXELS).contains(count))?;
        (rgba.len() == count * 4).then_some(Self { width, height, rgba })
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn height(&self) -> usize {
        self.height
    }

    pub fn rgba(&self) -> &[u8] {
        &self.rgba
    }

    fn at(&self, x: usize, y: usize) -> [u8; 4] {
        let start = (y * self.width + x) * 4;
        [self.rgba[start], self.rgba[start + 1], self.rgba[start + 2], self.rgba[start + 3]]
    }

    /// At another size. Each new pixel is the mean of those it covers.
    fn scaled(&self, width: usize, height: usize) -> Pixels {
        let (width, height) = (width.max(1), height.max(1));
        let mut rgba = Vec::with_capacity(width * height * 4);
        for y in 0..height {
            let rows = covered(y, height, self.height);
            for x in 0..width {
                rgba.extend(self.mean(covered(x, width, self.width), rows.clone()));
            }
        }
        Pixels { width, height, rgba: rgba.into() }
    }

    /// Colours weigh by how much of them is seen.
    fn mean(&self, columns: std::ops::Range<usize>, rows: std::ops::Range<usize>) -> [u8; 4] {
        let (mut sums, mut opacity, mut count) = ([0u64; 3], 0u64, 0u64);
        for y in rows {
            for x in columns.clone() {
                let [red, green, blue, alpha] = self.at(x, y);
                let weight = u64::from(alpha);
                for (sum, value) in sums.iter_mut().zip([red, green, blue]) {
                    *sum += u64::from(value) * weight;
                }
                opacity += weight;
                count += 1;
            }
        }
        let [red, green, blue] = sums.map(|sum| (sum / opacity.max(1)) as u8);
        [red, green, blue, (opacity / count.max(1)) as u8]
    }
}

/// The old pixels below one new pixel; at least one.
fn covered(at: usize, new: usize, old: usize) -> std::ops::Range<usize> {
    let start = (at * old / new).min(old - 1);
    let end = ((at + 1) * old / new).clamp(start + 1, old);
    start..end
}

#[cfg(test)]
mod tests;

//! Pictures in the terminal: by the protocol of Kitty or iTerm2, or as sixels; otherwise as a line of text.
//!
//! This module decodes no files: the caller provides a [`Picture`] with the bytes of its file and, if available, its pixels.
//! The number of rows of a picture never changes, even if its pixels are dropped.

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

/// Larger files are not sent to the terminal.
const LARGEST_FILE: usize = 8 * 1024 * 1024;
/// Limits the pixels of a decoded picture.
const MOST_PIXELS: usize = 16 * 1024 * 1024;

/// A picture that can be shown.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The file type: `png`, `jpeg`.
    pub kind: Cow<'static, str>,
    pub width: u32,
    pub height: u32,
    /// The unmodified file.
    pub file: Arc<[u8]>,
    /// The decoded pixels, possibly smaller than the file's.
    pub pixels: Option<Pixels>,
}

impl Picture {
    /// Returns the text shown in place of the picture.
    pub fn label(&self) -> String {
        let kind = self.kind.chars().filter(|char| char.is_ascii_graphic()).take(12).collect::<String>();
        format!("[image {}x{} {kind}]", self.width, self.height)
    }
}

/// Four bytes per pixel: red, green, blue, alpha.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    width: usize,
    height: usize,
    rgba: Arc<[u8]>,
}

impl Pixels {
    /// Returns `None` if there are no pixels, too many, or a number that does not match width and height.
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

    /// Scales the pixels: each new pixel is the mean of the pixels it covers.
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

    /// Returns the mean colour, weighted by alpha.
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

/// Returns the range of old pixels covered by one new pixel; at least one.
fn covered(at: usize, new: usize, old: usize) -> std::ops::Range<usize> {
    let start = (at * old / new).min(old - 1);
    let end = ((at + 1) * old / new).clamp(start + 1, old);
    start..end
}

#[cfg(test)]
mod tests;

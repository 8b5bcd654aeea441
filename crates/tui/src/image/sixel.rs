//! Sixels: bands of six rows, one pass per colour, run-length encoded.

use std::fmt::Write as _;

use super::geometry::{CellSize, Cells};
use super::quantize::{Indexed, quantize};
use super::{Picture, Pixels};

const BAND: usize = 6;

pub fn can_show(picture: &Picture) -> bool {
    picture.pixels.is_some()
}

/// Shows the picture at the cursor, scaled to fit its cells.
pub fn show(pixels: &Pixels, cells: Cells, cell: CellSize) -> String {
    let most = (cells.columns * usize::from(cell.width), cells.rows * usize::from(cell.height));
    let scale = (most.0 as f64 / pixels.width() as f64).min(most.1 as f64 / pixels.height() as f64);
    let side = |old: usize, most: usize| ((old as f64 * scale).round() as usize).clamp(1, most.max(1));
    let (width, height) = (side(pixels.width(), most.0), side(pixels.height(), most.1));
    encode(&quantize(&pixels.scaled(width, height)))
}

/// Transparent pixels keep the background.
pub fn encode(image: &Indexed) -> String {
    let mut out = format!("\x1bP0;1;0q\"1;1;{};{}", image.width, image.height);
    for (at, [red, green, blue]) in image.palette.iter().enumerate() {
        // Writing to memory cannot fail.
        let _ = write!(out, "#{at};2;{red};{green};{blue}");
    }
    for (at, band) in image.pixels.chunks(image.width * BAND).enumerate() {
        out.push_str(if at == 0 { "" } else { "-" });
        encode_band(band, image.width, image.palette.len(), &mut out);
    }
    out.push_str("\x1b\\");
    out
}

fn encode_band(band: &[Option<u8>], width: usize, colors: usize, out: &mut String) {
    let mut columns: Vec<Option<Vec<u8>>> = vec![None; colors];
    for (at, color) in band.iter().enumerate() {
        let Some(color) = color else { continue };
        let bits = columns[usize::from(*color)].get_or_insert_with(|| vec![0; width]);
        bits[at % width] |= 1 << (at / width);
    }
    let mut first = true;
    for (color, bits) in columns.iter().enumerate().filter_map(|(color, bits)| Some((color, bits.as_ref()?))) {
        let _ = write!(out, "{}#{color}", if first { "" } else { "$" });
        first = false;
        encode_runs(bits, out);
    }
}

fn encode_runs(bits: &[u8], out: &mut String) {
    let used = bits.iter().rposition(|bits| *bits != 0).map_or(0, |last| last + 1);
    for run in bits[..used].chunk_by(|a, b| a == b) {
        let char = char::from(b'?' + run[0]);
        match run.len() {
            length @ 4.. => {
                let _ = write!(out, "!{length}{char}");
            }
            length => out.extend(std::iter::repeat_n(char, length)),
        }
    }
}

//! Reduces a picture to at most 256 colours: median cut over a coarse histogram.

use std::collections::{BTreeMap, HashMap};

use super::Pixels;

pub const MOST_COLORS: usize = 256;
/// With more distinct colours, the histogram becomes coarser.
const MOST_FINE: usize = 4096;
const COARSE: u8 = 4;
/// Pixels with less alpha are not drawn.
const OPAQUE: u8 = 128;

/// A picture as indexes into a palette.
pub struct Indexed {
    pub width: usize,
    pub height: usize,
    pub palette: Vec<[u8; 3]>,
    /// `None` where the picture is transparent.
    pub pixels: Vec<Option<u8>>,
}

pub fn quantize(pixels: &Pixels) -> Indexed {
    let colors: Vec<Option<[u8; 3]>> = pixels.rgba().chunks_exact(4).map(seen).collect();
    let (bins, step) = bins_of(&colors);
    let mut palette = Vec::new();
    let mut number: HashMap<u32, u8> = HashMap::new();
    for (at, group) in cut(bins).iter().enumerate() {
        palette.push(group.mean());
        number.extend(group.bins.iter().map(|bin| (key(bin.color, step), at as u8)));
    }
    let numbers = colors.iter().map(|color| color.and_then(|color| number.get(&key(color, step)).copied())).collect();
    Indexed { width: pixels.width(), height: pixels.height(), palette, pixels: numbers }
}

fn seen(pixel: &[u8]) -> Option<[u8; 3]> {
    (pixel[3] >= OPAQUE).then(|| [pixel[0], pixel[1], pixel[2]].map(to_percent))
}

/// Sixel colours are percentages, so finer differences are lost.
fn to_percent(value: u8) -> u8 {
    ((u32::from(value) * 100 + 127) / 255) as u8
}

/// Equal or nearly equal colours.
struct Bin {
    /// One of the colours.
    color: [u8; 3],
    sums: [u64; 3],
    count: u64,
}

fn key(color: [u8; 3], step: u8) -> u32 {
    let [red, green, blue] = color.map(|value| value / step);
    u32::from_be_bytes([0, red, green, blue])
}

/// Returns one bin per colour, or coarser bins if there are too many colours, and the step between bins.
fn bins_of(colors: &[Option<[u8; 3]>]) -> (Vec<Bin>, u8) {
    let fine = gather(colors, 1);
    if fine.len() <= MOST_FINE { (fine, 1) } else { (gather(colors, COARSE), COARSE) }
}

fn gather(colors: &[Option<[u8; 3]>], step: u8) -> Vec<Bin> {
    let mut bins: BTreeMap<u32, Bin> = BTreeMap::new();
    for color in colors.iter().flatten() {
        let bin = bins.entry(key(*color, step)).or_insert(Bin { color: *color, sums: [0; 3], count: 0 });
        for (sum, value) in bin.sums.iter_mut().zip(color) {
            *sum += u64::from(*value);
        }
        bin.count += 1;
    }
    bins.into_values().collect()
}

/// Bins that are merged into one colour.
struct ColorGroup {
    bins: Vec<Bin>,
    /// The channel with the widest spread, and its spread.
    channel: usize,
    spread: u8,
}

impl ColorGroup {
    fn new(bins: Vec<Bin>) -> Self {
        let spread = |channel: usize| {
            let values = bins.iter().map(|bin| bin.color[channel]);
            values.clone().max().unwrap_or(0) - values.min().unwrap_or(0)
        };
        let (channel, spread) =
            (0..3).map(|channel| (channel, spread(channel))).max_by_key(|one| one.1).unwrap_or((0, 0));
        Self { bins, channel, spread }
    }

    /// Splits the group so that half of the pixels are on each side. Neither side is empty, because there are at least two
    /// bins.
    fn halves(mut self) -> [ColorGroup; 2] {
        self.bins.sort_by_key(|bin| bin.color[self.channel]);
        let total: u64 = self.bins.iter().map(|bin| bin.count).sum();
        let mut below = 0;
        let half = self.bins.iter().position(|bin| {
            below += bin.count;
            below * 2 >= total
        });
        let upper = self.bins.split_off((half.unwrap_or(0) + 1).clamp(1, self.bins.len() - 1));
        [ColorGroup::new(self.bins), ColorGroup::new(upper)]
    }

    fn mean(&self) -> [u8; 3] {
        let count = self.bins.iter().map(|bin| bin.count).sum::<u64>().max(1);
        [0, 1, 2].map(|channel| {
            let sum: u64 = self.bins.iter().map(|bin| bin.sums[channel]).sum();
            ((sum + count / 2) / count) as u8
        })
    }
}

/// Splits the group with the widest spread until there are enough groups or none can be split.
fn cut(bins: Vec<Bin>) -> Vec<ColorGroup> {
    let mut groups = if bins.is_empty() { vec![] } else { vec![ColorGroup::new(bins)] };
    while groups.len() < MOST_COLORS {
        let widest = groups.iter().enumerate().max_by_key(|(_, group)| group.spread);
        let Some(at) = widest.filter(|(_, group)| group.spread > 0).map(|(at, _)| at) else { break };
        let halves = groups.swap_remove(at).halves();
        groups.extend(halves);
    }
    groups
}

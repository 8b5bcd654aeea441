//! Limits the number of pictures that the terminal holds.
//!
//! The newest stay; an older one is deleted in the terminal, and its rows show text from then on, with the same number of
//! rows. Bytes other than rows are collected here and written before the next frame.

use std::collections::VecDeque;

use super::geometry::{CellSize, Cells};
use super::way::ImageWay;
use super::{Picture, kitty};

/// The default size limit of a picture.
const DEFAULT_LARGEST: Cells = Cells { columns: 100, rows: 20 };

#[derive(Debug)]
pub struct ImageBudget {
    way: ImageWay,
    cell: CellSize,
    cap: usize,
    largest: Cells,
    live: VecDeque<LiveImage>,
    next: u32,
    pending: Vec<u8>,
    version: u64,
}

#[derive(Debug)]
struct LiveImage {
    id: u32,
    sent: bool,
    placed: Option<Cells>,
}

impl ImageBudget {
    /// `seed`, such as a process id, separates picture ids from those of other programs in the same terminal. With a cap of
    /// 0 no picture is shown.
    pub fn new(way: ImageWay, cell: CellSize, cap: usize, seed: u32) -> Self {
        let next = (seed & 0xfff) << 12 | 1;
        Self { way, cell, cap, largest: DEFAULT_LARGEST, live: VecDeque::new(), next, pending: Vec::new(), version: 0 }
    }

    /// Limits the size of pictures drawn from now on, besides the limit of the screen; 0 means only the limit of the screen.
    pub fn set_largest(&mut self, largest: Cells) {
        self.largest = largest;
    }

    pub(super) fn most_columns(&self, width: usize) -> usize {
        at_most(width, self.largest.columns)
    }

    pub(super) fn most_rows(&self, height: usize) -> usize {
        at_most(height, self.largest.rows)
    }

    pub fn way(&self) -> ImageWay {
        self.way
    }

    pub fn cell(&self) -> CellSize {
        self.cell
    }

    /// Updates the cell size or the image protocol that the terminal reported.
    pub fn set_terminal(&mut self, way: ImageWay, cell: CellSize) {
        if self.way != way {
            self.forget_all();
        }
        if (self.way, self.cell) != (way, cell) {
            (self.way, self.cell) = (way, cell);
            self.version += 1;
        }
    }

    /// Returns a number that changes whenever pictures may look different.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns the bytes to write before the next frame.
    pub fn take_bytes(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.pending)
    }

    /// Resends all pictures, because the terminal was cleared.
    pub fn begin_again(&mut self) {
        for live in &mut self.live {
            live.sent = false;
            live.placed = None;
        }
        self.version += 1;
    }

    /// Deletes all pictures, for example at exit.
    pub fn forget_all(&mut self) {
        while !self.live.is_empty() {
            self.demote_oldest();
        }
    }

    /// Returns the id for a new picture, if any may be shown. Evicts the oldest if needed.
    pub(super) fn admit(&mut self) -> Option<u32> {
        if self.cap == 0 || self.way == ImageWay::Text {
            return None;
        }
        while self.live.len() >= self.cap {
            self.demote_oldest();
        }
        let id = self.next;
        // Ids are encoded in the 24 bits of a colour, and 0 means none.
        self.next = (self.next + 1) & 0xff_ffff;
        self.next = self.next.max(1);
        self.live.push_back(LiveImage { id, sent: false, placed: None });
        Some(id)
    }

    pub(super) fn is_live(&self, id: u32) -> bool {
        self.live.iter().any(|live| live.id == id)
    }

    /// Ensures that the terminal has the picture and knows the size of its placeholders.
    pub(super) fn send(&mut self, id: u32, picture: &Picture, placeholders: Option<Cells>) {
        let passthrough = self.passthrough();
        let Some(live) = self.live.iter_mut().find(|live| live.id == id) else { return };
        if !live.sent {
            kitty::transmit(id, picture, passthrough, &mut self.pending);
            live.sent = true;
        }
        if let Some(cells) = placeholders.filter(|cells| live.placed != Some(*cells)) {
            kitty::place_virtually(id, cells, passthrough, &mut self.pending);
            live.placed = Some(cells);
        }
    }

    fn demote_oldest(&mut self) {
        let Some(oldest) = self.live.pop_front() else { return };
        if oldest.sent {
            kitty::delete(oldest.id, self.passthrough(), &mut self.pending);
        }
        self.version += 1;
    }

    fn passthrough(&self) -> bool {
        matches!(self.way, ImageWay::Kitty { passthrough: true, .. })
    }
}

fn at_most(there: usize, wanted: usize) -> usize {
    if wanted == 0 { there } else { there.min(wanted) }
}

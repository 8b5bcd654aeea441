//! Operations on a screen as data: generated from a seed, saved to a file, read again.

use serde::{Deserialize, Serialize};

/// One operation. Numbers are taken modulo the available range, so any part of a tape is a valid tape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// Adds words to the last block.
    Stream(u8),
    /// Adds a paragraph to the last block.
    Paragraph {
        kind: u8,
        words: u8,
    },
    /// Adds a block that may still change.
    Block,
    /// Adds many settled rows at once.
    Burst(u8),
    /// Settles the first paragraphs of the last block.
    SettleSome(u8),
    /// Settles the last block.
    Settle,
    /// Changes the text of one unsettled paragraph.
    Rewrite {
        at: u8,
        kind: u8,
        words: u8,
    },
    /// Removes unsettled paragraphs at the end.
    Shrink(u8),
    /// Inserts a settled block above the unsettled ones.
    InsertAbove(u8),
    /// Moves rows that were marked as settled, which breaks the contract of a component.
    Tamper(u8),
    Chrome {
        rows: u8,
        cursor: u8,
    },
    /// Changes a row of the chrome, like a spinner.
    Tick,
    Overlay {
        top: u8,
        left: u8,
        width: u8,
        rows: u8,
    },
    NoOverlay,
    Resize {
        width: u8,
        height: u8,
    },
    /// Resizes the terminal, but notifies the renderer only after two more frames.
    LateResize {
        width: u8,
        height: u8,
    },
    Replace,
    /// Simulates output of another program.
    Foreign(u8),
    Synchronized(bool),
    /// Ends the conversation and begins another one.
    Restart,
    /// Skips painting after the next operation, so that it is combined with the one after it.
    Hold,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tape {
    pub width: u8,
    pub height: u8,
    pub multiplexer: bool,
    pub synchronized: bool,
    /// A multiplexer reports a new size late, and the renderer allows for it.
    pub lag: bool,
    /// Includes clusters on whose width terminals disagree.
    pub disputed: bool,
    /// Rows that the shell left on the screen.
    pub shell: u8,
    pub ops: Vec<Op>,
}

impl Tape {
    pub fn of_seed(seed: u64) -> Tape {
        let mut random = Random(seed);
        let length = 8 + random.below(40);
        let mut tape = Tape {
            width: 8 + random.byte(30),
            height: 2 + random.byte(11),
            multiplexer: random.one_in(3),
            synchronized: random.one_in(2),
            lag: random.one_in(2),
            disputed: random.one_in(4),
            shell: random.byte(9),
            ops: Vec::new(),
        };
        // One emulator is compared only while its size stays.
        let resizes = tape.disputed || !random.one_in(3);
        tape.ops = (0..length).map(|_| random.op()).collect();
        tape.ops.retain(|op| resizes || !matches!(op, Op::Resize { .. } | Op::LateResize { .. }));
        tape
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn byte(&mut self, end: u8) -> u8 {
        self.below(u64::from(end)) as u8
    }

    fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    fn op(&mut self) -> Op {
        match self.below(100) {
            0..22 => Op::Stream(1 + self.byte(12)),
            22..34 => Op::Paragraph { kind: self.byte(12), words: self.byte(14) },
            34..38 => Op::Block,
            38..42 => Op::Burst(1 + self.byte(30)),
            42..48 => Op::SettleSome(self.byte(6)),
            48..54 => Op::Settle,
            54..61 => Op::Rewrite { at: self.byte(8), kind: self.byte(12), words: self.byte(14) },
            61..65 => Op::Shrink(1 + self.byte(6)),
            65..68 => Op::InsertAbove(1 + self.byte(4)),
            68..70 => Op::Tamper(self.byte(6)),
            70..77 => Op::Chrome { rows: self.byte(7), cursor: self.byte(40) },
            77..80 => Op::Tick,
            80..83 => {
                Op::Overlay { top: self.byte(8), left: self.byte(20), width: 1 + self.byte(16), rows: self.byte(5) }
            }
            83..87 => Op::NoOverlay,
            87..91 => Op::Resize { width: 8 + self.byte(34), height: 1 + self.byte(13) },
            91 => Op::LateResize { width: 8 + self.byte(34), height: 1 + self.byte(13) },
            92 => Op::Replace,
            93..95 => Op::Foreign(self.byte(4)),
            95 => {
                if self.one_in(2) {
                    Op::Synchronized(self.one_in(2))
                } else {
                    Op::Restart
                }
            }
            _ => Op::Hold,
        }
    }
}

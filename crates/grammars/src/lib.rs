//! tree-sitter grammars whose parse tables are kept compressed and unpacked when a language is first used.
//!
//! The C code of the grammars lives here only: `build.rs` compiles it from the sources of the grammar crates.

mod list;

use std::sync::OnceLock;

pub use list::{Grammar, GrammarSource, SOURCES};
use tree_sitter_language::LanguageFn;

impl Grammar {
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        SOURCES.iter().map(|source| source.grammar)
    }

    /// Returns the language for tree-sitter. The first call for a grammar unpacks its tables, which takes some
    /// milliseconds; they stay until the process ends.
    ///
    /// If they cannot be unpacked, the language has version 0, which every parser refuses.
    pub fn language(self) -> LanguageFn {
        let packed = &PACKED[self as usize];
        UNPACKED[self as usize].get_or_init(|| packed.unpack());
        // SAFETY: the function is one of a grammar that the tree-sitter CLI generated.
        unsafe { LanguageFn::from_raw(packed.language) }
    }
}

static UNPACKED: [OnceLock<Option<()>>; PACKED.len()] = [const { OnceLock::new() }; PACKED.len()];

struct PackedGrammar {
    /// Three tables, one after the other, little-endian and compressed.
    tables: &'static [u8],
    /// Numbers of entries.
    large: usize,
    small: usize,
    map: usize,
    language: unsafe extern "C" fn() -> *const (),
    /// Gives the language its tables; they must live as long as the process.
    fill: unsafe extern "C" fn(large: *const u16, small: *const u16, map: *const u32),
}

include!(concat!(env!("OUT_DIR"), "/packed.rs"));

impl PackedGrammar {
    fn unpack(&self) -> Option<()> {
        let size = self.map * size_of::<u32>() + (self.large + self.small) * size_of::<u16>();
        let mut buffer = vec![0_u32; size.div_ceil(size_of::<u32>())];
        // SAFETY: every byte is valid, and so is every number made of them.
        let bytes = unsafe { buffer.align_to_mut::<u8>().1 };
        let written = zstd::bulk::decompress_to_buffer(self.tables, &mut bytes[..size]).ok()?;
        if written != size {
            return None;
        }
        let (map, rest) = buffer.leak().split_at_mut(self.map);
        // SAFETY: as above.
        let short = unsafe { rest.align_to_mut::<u16>().1 };
        // Does nothing on most machines.
        map.iter_mut().for_each(|entry| *entry = u32::from_le(*entry));
        short.iter_mut().for_each(|entry| *entry = u16::from_le(*entry));
        let (large, small) = short.split_at(self.large);
        // SAFETY: the tables have the lengths that the grammar expects and are never freed. The language is changed only
        // here, once, before anybody else gets it.
        unsafe { (self.fill)(large.as_ptr(), small.as_ptr(), map.as_ptr()) };
        Some(())
    }
}

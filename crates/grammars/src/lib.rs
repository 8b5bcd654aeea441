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
        let (short, long) = (size_of::<u16>(), size_of::<u32>());
        let size = (self.large + self.small) * short + self.map * long;
        let bytes = zstd::bulk::decompress(self.tables, size).ok().filter(|bytes| bytes.len() == size)?;
        let (large, rest) = bytes.split_at(self.large * short);
        let (small, map) = rest.split_at(self.small * short);
        let map: Vec<u32> = map.as_chunks().0.iter().map(|entry| u32::from_le_bytes(*entry)).collect();
        let (large, small, map) = (shorts(large).leak(), shorts(small).leak(), map.leak());
        // SAFETY: the tables have the lengths that the grammar expects and are never freed. The language is changed only
        // here, once, before anybody else gets it.
        unsafe { (self.fill)(large.as_ptr(), small.as_ptr(), map.as_ptr()) };
        Some(())
    }
}

fn shorts(bytes: &[u8]) -> Vec<u16> {
    bytes.as_chunks().0.iter().map(|entry| u16::from_le_bytes(*entry)).collect()
}

//! The IDs of a session and their last positions, stored as hashes: eight bytes per entry for any ID length.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};

/// Positions by ID. Accidental collisions of 64-bit hashes are neglected.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    positions: HashMap<u64, u32, BuildHasherDefault<AsIs>>,
}

impl Ids {
    /// Returns the position that had this id before.
    pub fn insert(&mut self, hash: u64, position: u32) -> Option<u32> {
        self.positions.insert(hash, position)
    }

    pub fn position(&self, hash: u64) -> Option<u32> {
        self.positions.get(&hash).copied()
    }

    /// Returns eight hex digits that no entry uses yet.
    pub fn unused(&self) -> String {
        loop {
            let id = format!("{:08x}", uuid::Uuid::new_v4().as_fields().0);
            if self.position(hash(&id)).is_none() {
                return id;
            }
        }
    }
}

pub(crate) fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

/// Hasher that returns its input, because the keys are already hashes.
#[derive(Debug, Default)]
pub(crate) struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 << 8) | u64::from(*byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_position_of_an_id_counts() {
        let mut ids = Ids::default();
        assert_eq!(ids.insert(hash("a"), 0), None);
        assert_eq!(ids.insert(hash("a"), 7), Some(0));
        assert_eq!(ids.position(hash("a")), Some(7));
        assert_eq!(ids.position(hash("b")), None);
    }

    #[test]
    fn new_ids_are_eight_hex_digits() {
        let id = Ids::default().unused();
        assert!(id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    }
}

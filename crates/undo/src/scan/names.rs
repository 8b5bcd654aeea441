//! The names of one folder during a scan. Nothing is copied while all entries are unchanged, which is the common case.

use std::sync::Arc;

use crate::node::{NodeRecord, Stat, Uncovered};
use crate::tree::{Names, REST, is_partial};

pub(super) struct SeenNames<'a> {
    known: &'a Arc<Names>,
    /// Index in the known names of the last requested name, or where it would be inserted.
    at: usize,
    /// Number of known names seen so far, all unchanged.
    same: usize,
    /// The names seen, once there is a difference.
    own: Option<Names>,
}

impl<'a> SeenNames<'a> {
    /// `is_cut` means that there are more names than are scanned.
    pub fn new(known: &'a Arc<Names>, is_cut: bool) -> Self {
        let first = usize::from(is_partial(known));
        let mut names = Self { known, at: first, same: first, own: None };
        if is_cut != is_partial(known) {
            names.same = 0;
            names.own = Some(Names::with_capacity(known.len() + 1));
            if is_cut {
                names.cut();
            }
        }
        names
    }

    /// Returns the known record of a name. Names must be requested in order.
    pub fn known(&mut self, name: &[u8]) -> Option<&'a NodeRecord> {
        while self.known.get(self.at).is_some_and(|(other, _)| **other < *name) {
            self.at += 1;
        }
        self.known.get(self.at).filter(|(other, _)| **other == *name).map(|(_, record)| record)
    }

    /// Marks the last requested name as unchanged.
    pub fn keep(&mut self) {
        if self.own.is_none() && self.at == self.same {
            self.same += 1;
        } else if let Some((name, record)) = self.known.get(self.at) {
            self.own().push((name.clone(), record.clone()));
        }
    }

    pub fn push(&mut self, name: Box<[u8]>, record: NodeRecord) {
        let is_same = |(other, known): &(Box<[u8]>, NodeRecord)| *other == name && *known == record;
        if self.own.is_none() && self.known.get(self.same).is_some_and(is_same) {
            self.same += 1;
        } else {
            self.own().push((name, record));
        }
    }

    /// Records that there are more names than were scanned.
    pub fn cut(&mut self) {
        let names = self.own();
        if !is_partial(names) {
            names.insert(0, (REST.into(), NodeRecord::uncovered(Stat::default(), Uncovered::Rest)));
        }
    }

    pub fn len(&self) -> usize {
        self.own.as_ref().map_or(self.same, Vec::len)
    }

    /// Returns the known list itself if everything is unchanged.
    pub fn finish(mut self) -> Arc<Names> {
        if self.own.is_none() && self.same == self.known.len() {
            return self.known.clone();
        }
        Arc::new(std::mem::take(self.own()))
    }

    fn own(&mut self) -> &mut Names {
        let (known, same) = (self.known, self.same);
        self.own.get_or_insert_with(|| {
            let mut names = Names::with_capacity(known.len() + 1);
            names.extend_from_slice(&known[..same]);
            names
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Node;

    fn record(mark: u32) -> NodeRecord {
        NodeRecord { stat: Stat::default(), read_at: 0, node: Node::Folder { mode: mark } }
    }

    /// Parses names with their kinds; the first is empty if there are more.
    fn names(text: &str) -> Arc<Names> {
        let one = |word: &str| {
            let (name, mark) = word.split_at(word.len() - 1);
            let rest = NodeRecord::uncovered(Stat::default(), Uncovered::Rest);
            let record = mark.parse().map_or(rest, record);
            (name.as_bytes().into(), record)
        };
        Arc::new(text.split_whitespace().map(one).collect())
    }

    #[test]
    fn what_is_seen_is_what_is_there_and_nothing_is_copied_that_is_as_it_was() {
        // Known names, seen names, whether the list is cut, and how many names are scanned.
        let rows = [
            ("a1 b2 c3", "a1 b2 c3", false, 9),
            ("", "", false, 9),
            ("", "a1", false, 9),
            ("a1 b2", "", false, 9),
            ("a1 b2 c3", "a1 b2", false, 9),
            ("a1 b2 c3", "b2 c3", false, 9),
            ("a1 c3", "a1 b2 c3", false, 9),
            ("a1 b2 c3", "a1 b9 c3", false, 9),
            ("a1 b2 c3", "a1 b2 c3 d4", false, 9),
            ("* a1 b2", "a1 b2", true, 9),
            ("* a1 b2", "a1 b2", false, 9),
            ("a1 b2", "a1 b2", true, 9),
            ("* a1 b2", "a1 b9", true, 9),
            ("a1 b2 c3", "a1 b2 c3", false, 2),
            ("* a1 b2 c3", "a1 b2 c3", true, 2),
            ("* a1 b2 c3", "a1 b2 c3", true, 0),
        ];
        for (known, there, is_cut, looked) in rows {
            let (known, there) = (names(known), names(there));
            let mut seen = SeenNames::new(&known, is_cut);
            for (name, record) in there.iter().take(looked) {
                match seen.known(name) {
                    Some(before) if before == record && record.node != (Node::Folder { mode: 2 }) => seen.keep(),
                    _ => seen.push(name.clone(), record.clone()),
                }
            }
            if looked < there.len() {
                seen.cut();
            }
            let mut expect: Names = there.iter().take(looked).cloned().collect();
            if is_cut || looked < there.len() {
                expect.insert(0, names("*")[0].clone());
            }
            assert_eq!(seen.len(), expect.len());
            let is_same = expect == *known;
            let seen = seen.finish();
            assert_eq!(*seen, expect);
            assert_eq!(Arc::ptr_eq(&seen, &known), is_same, "{known:?} {seen:?}");
        }
    }
}

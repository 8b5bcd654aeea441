//! Recovers lines that a single wrong byte joined, split or renamed, so that one damage costs at most one entry.

use serde::de::IgnoredAny;

use crate::ids::{Ids, hash};
use crate::skim::{SkimmedField, skim};

/// Maximum number of pieces of one line that are checked.
const MOST_PIECES: usize = 16;
const ENTRY_START: &[u8] = br#"{"type":""#;
const PARENT_KEY: &[u8] = br#""parentId":"#;
/// Minimum length of names that are compared; shorter ones may differ by one bit by intention.
const SHORTEST_NAME: usize = 8;

/// Returns whether a line names two parents, like two entries without the newline between them. Quotes inside text are
/// escaped, so only tool data can look the same.
pub(crate) fn names_two_parents(line: &[u8]) -> bool {
    memchr::memmem::find_iter(line, PARENT_KEY).nth(1).is_some()
}

/// Returns the ranges of entries, headers and broken rests in a line that holds several of them.
pub(crate) fn pieces(line: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    while start < line.len() && found.len() < MOST_PIECES {
        let end = value_end(&line[start..]).map_or(start + 1, |len| start + len);
        let next = next_start(line, end);
        let whole = end > start + 1;
        found.push(start..if whole { end } else { next.unwrap_or(line.len()) });
        let Some(next) = next else { break };
        start = next;
    }
    found
}

/// Returns the end of the complete JSON value at the start of these bytes.
fn value_end(bytes: &[u8]) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<IgnoredAny>();
    matches!(values.next(), Some(Ok(_))).then(|| values.byte_offset())
}

/// Blocks inside a message look like entries, but only entries have a parent and only headers are sessions.
fn next_start(line: &[u8], from: usize) -> Option<usize> {
    memchr::memmem::find_iter(line.get(from..)?, ENTRY_START).take(MOST_PIECES).map(|at| from + at).find(|start| {
        let rest = &line[*start..];
        value_end(rest).is_some()
            && skim(rest).is_ok_and(|head| head.parent != SkimmedField::Absent || head.kind.text() == Some("session"))
    })
}

/// Returns the only entry whose ID differs from this one in a single bit.
pub(crate) fn near(name: &str, ids: &Ids) -> Option<u32> {
    if name.len() < SHORTEST_NAME {
        return None;
    }
    let mut bytes = name.as_bytes().to_vec();
    let mut found = None;
    for at in 0..bytes.len() {
        for bit in 0..8 {
            bytes[at] ^= 1 << bit;
            let position = std::str::from_utf8(&bytes).ok().and_then(|other| ids.position(hash(other)));
            bytes[at] ^= 1 << bit;
            match (position, found) {
                (Some(_), Some(_)) => return None,
                (Some(position), None) => found = Some(position),
                (None, _) => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expect: &[&str]) {
        let seen: Vec<_> = pieces(line.as_bytes()).into_iter().map(|range| &line[range]).collect();
        assert_eq!(seen, expect);
    }

    #[test]
    fn joined_lines_fall_apart() {
        let a = r#"{"type":"message","id":"a","parentId":null,"message":{"content":[{"type":"text","text":"x"}]}}"#;
        let b = r#"{"type":"custom","data":{},"id":"b","parentId":"a"}"#;
        let header = r#"{"type":"session","id":"s"}"#;
        check(a, &[a]);
        check(&format!("{a}J{b}"), &[a, b]);
        check(&format!("{a}{b}*{a}"), &[a, b, a]);
        check(&format!("{{\"type\":\"title\"}}J{header}"), &["{\"type\":\"title\"}", header]);
        let torn = &a[..60];
        check(&format!("{torn}{b}"), &[torn, b]);
        check(&format!("{a}J"), &[a]);
        assert!(names_two_parents(format!("{a}J{b}").as_bytes()) && !names_two_parents(a.as_bytes()));
        assert!(!names_two_parents(br#"{"parentId":"a","text":"say \"parentId\":\"b\""}"#));
    }

    #[test]
    fn a_name_is_known_by_all_but_one_bit() {
        let mut ids = Ids::default();
        ids.insert(hash("0a1b2c3d"), 7);
        assert_eq!(near("0a1b2c3g", &ids), None, "two bits");
        assert_eq!(near("0a1b2c3l", &ids), Some(7));
        ids.insert(hash("0a1b2c3h"), 8);
        assert_eq!(near("0a1b2c3l", &ids), None, "two such names");
        ids.insert(hash("a"), 9);
        assert_eq!(near("c", &ids), None, "too short to tell");
    }
}

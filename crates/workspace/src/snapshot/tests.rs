//! Tests of tags against published values, and of the cache limits.

use proptest::prelude::*;

use super::*;

fn hash(bytes: &[u8]) -> u32 {
    let mut state = Xxh32::default();
    state.update(bytes);
    state.finish()
}

fn tag(text: &str) -> String {
    TextFile::parse(text.as_bytes()).tag().to_string()
}

#[test]
fn published_values_of_the_hash() {
    assert_eq!(hash(b""), 0x02cc_5d05);
    assert_eq!(hash(b"a"), 0x550d_7456);
    assert_eq!(hash(b"abc"), 0x32d1_53ff);
    assert_eq!(hash(b"Nobody inspects the spammish repetition"), 0xe229_3b2f);
}

#[test]
fn tags_ignore_line_endings_and_trailing_blanks() {
    assert_eq!(tag("one\ntwo\nthree\n"), "2543");
    assert_eq!(tag("one\r\ntwo\r\nthree\r\n"), "2543");
    assert_eq!(tag("one  \ntwo\t\nthree \t\n"), "2543");
    assert_eq!(tag("\u{feff}one\ntwo\nthree\n"), "2543");
    for other in ["one\ntwo\nthree!\n", " one\ntwo\nthree\n", "one\n\ntwo\nthree\n", "two\none\nthree\n"] {
        assert_ne!(tag(other), "2543", "{other:?}");
    }
}

#[test]
fn tags_are_read_in_either_case() {
    assert_eq!("1A2b".parse::<Tag>().unwrap().to_string(), "1a2b");
    for bad in ["", "1a2", "1a2bc", "+123", "12 4", "xyzw"] {
        assert!(bad.parse::<Tag>().is_err(), "{bad:?}");
    }
}

#[test]
fn several_snapshots_of_a_path_are_kept() {
    let mut cache = SnapshotCache::default();
    let path = Path::new("/a");
    let tags: Vec<Tag> = (0..6).map(|n| cache.record(path, &TextFile::parse(format!("{n}\n").into_bytes()))).collect();
    let kept: Vec<bool> = tags.iter().map(|tag| cache.has_seen(path, *tag)).collect();
    assert_eq!(kept, [false, false, true, true, true, true]);
    assert!(!cache.has_seen(Path::new("/b"), tags[5]));
}

#[test]
fn the_cache_is_bounded_in_paths_and_bytes() {
    let mut cache = SnapshotCache::default();
    let file = TextFile::parse(&b"x\n"[..]);
    for n in 0..100 {
        cache.record(Path::new(&format!("/{n}")), &file);
    }
    assert_eq!(cache.files.len(), MAX_PATHS);
    assert!(cache.has_seen(Path::new("/99"), file.tag()) && !cache.has_seen(Path::new("/0"), file.tag()));

    let large = TextFile::parse(vec![b'x'; MAX_SNAPSHOT_BYTES / 5]);
    for n in 0..20 {
        cache.record(Path::new(&format!("/large{n}")), &large);
    }
    let bytes: usize = cache.files.iter().flat_map(|file| &file.snapshots).map(|(_, it)| it.size()).sum();
    assert!(bytes <= MAX_SNAPSHOT_BYTES, "{bytes}");

    let huge = TextFile::parse(vec![b'x'; MAX_SNAPSHOT_BYTES / 3]);
    let tag = cache.record(Path::new("/huge"), &huge);
    assert!(!cache.has_seen(Path::new("/huge"), tag));
}

#[test]
fn single_lines_add_up_until_they_disagree() {
    let mut cache = SnapshotCache::default();
    let (path, tag) = (Path::new("/a"), "1a2b".parse().unwrap());
    let seen = |cache: &mut SnapshotCache| match cache.get(path, tag) {
        Some(FileSnapshot::Lines(lines)) => {
            lines.iter().map(|(at, text)| format!("{at}{text}")).collect::<Vec<_>>().join(" ")
        }
        other => panic!("{other:?}"),
    };
    cache.record_lines(path, tag, [(3, "c".to_owned()), (1, "a".to_owned())]);
    cache.record_lines(path, tag, [(2, "b".to_owned()), (3, "c".to_owned())]);
    assert_eq!(seen(&mut cache), "1a 2b 3c");
    cache.record_lines(path, tag, [(3, "other".to_owned())]);
    assert_eq!(seen(&mut cache), "3other");
}

proptest! {
    #[test]
    fn feeding_in_pieces_gives_the_same_hash(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0..200usize) {
        let mut state = Xxh32::default();
        let cut = cut.min(bytes.len());
        state.update(&bytes[..cut]);
        state.update(&bytes[cut..]);
        prop_assert_eq!(state.finish(), hash(&bytes));
    }
}

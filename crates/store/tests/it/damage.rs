//! Tests of damaged files: everything readable is read, the rest is reported, nothing is overwritten.

use omp_store::{LoadedSession, OpenError};

use crate::{Place, texts, user};

const HEADER: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"x\",\"cwd\":\"/p\"}\n";

fn said(id: &str, parent: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"t\",\"message\":{{\"role\":\"user\",\"content\":\"{id}\",\"timestamp\":1}}}}\n"
    )
}

fn abc() -> [String; 3] {
    [said("a", ""), said("b", "a"), said("c", "b")]
}

/// Opens the file, checks the texts and the prefixes of the problems, then appends and checks for one more text and
/// unchanged earlier lines.
fn check(content: impl AsRef<[u8]>, expect: &[&str], problems: &[&str]) {
    let place = Place::new();
    let content = content.as_ref();
    let path = place.file(content);
    let mut session = place.open(&path);
    assert_eq!(texts(&session.context()), expect, "{}", session.report());
    let seen: Vec<_> = session.report().problems.iter().map(ToString::to_string).collect();
    assert_eq!(seen.len(), problems.len(), "{seen:#?}");
    for (seen, expect) in seen.iter().zip(problems) {
        assert!(seen.starts_with(expect), "{seen}\nshould start with\n{expect}");
    }
    assert_eq!(std::fs::read(&path).unwrap(), content, "opening changes nothing");

    let (mut writer, _) = session.into_writer().unwrap();
    writer.append(&user("appended")).unwrap();
    drop(writer);
    let whole = content.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    assert_eq!(std::fs::read(&path).unwrap()[..whole], content[..whole], "what was there stays");
    let mut expect = expect.to_vec();
    expect.push("appended");
    assert_eq!(texts(&place.open(&path).context()), expect, "after appending");
}

#[test]
fn lines_that_are_no_entries_are_left_out_and_named() {
    let [a, b, c] = abc();
    for line in ["null", "17", "\"text\"", "[]", "{}", "garbage", "{\"type\":\"message\",\"id\":\"q\",\"par"] {
        check([HEADER, &a, line, "\n", &b, &c].concat(), &["a", "b", "c"], &["line 3: not a session entry"]);
    }
    check([HEADER, &a, "\n  \n", &b].concat(), &["a", "b"], &[]);
    check([HEADER.as_bytes(), a.as_bytes(), b"\xff\xfe\x00\n", b.as_bytes()].concat(), &["a", "b"], &["line 3: not"]);
}

#[test]
fn a_cut_middle_line_costs_only_itself() {
    let [a, b, c] = abc();
    let cut = format!("{}\n", &b[..b.len() - 20]);
    check([HEADER, &a, &cut, &c].concat(), &["a", "c"], &["line 3: damaged ("]);
    let cut_early = format!("{}\n", &b[..20]);
    check([HEADER, &a, &cut_early, &c].concat(), &["a", "c"], &["line 3: not a session entry"]);
}

#[test]
fn lines_that_ran_together_are_taken_apart() {
    let [a, b, c] = abc();
    let joined = [HEADER, &a, b.trim_end(), &c, &said("d", "c")].concat();
    check(joined, &["a", "b", "c", "d"], &["line 3: 2 lines ran together"]);
    let torn_then_whole = [HEADER, &a, &b[..b.len() - 9], &c, &said("d", "c")].concat();
    check(torn_then_whole, &["a", "c", "d"], &["line 3: 2 lines ran together", "line 3: damaged ("]);
}

#[test]
fn a_flipped_bit_anywhere_costs_at_most_one_message() {
    let [a, b, c] = abc();
    let whole = [HEADER, &a, &b, &c].concat().into_bytes();
    let middle = HEADER.len() + a.len()..HEADER.len() + a.len() + b.len();
    for at in middle {
        for bit in 0..8 {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << bit;
            let place = Place::new();
            let mut session = place.open(&place.file(&bytes));
            let seen = texts(&session.context());
            let shown = || format!("{} → {seen:?}\n{}", String::from_utf8_lossy(&bytes), session.report());
            assert_eq!(seen.first().map(String::as_str), Some("a"), "{}", shown());
            assert_eq!(seen.last().map(String::as_str), Some("c"), "{}", shown());
            // A change within a text cannot be detected.
            assert!(seen.len() == 3 || !session.report().is_empty(), "{}", shown());
        }
    }
}

#[test]
fn an_entry_without_its_parent_follows_the_one_before_it() {
    let [a, _, c] = abc();
    check([HEADER, &a, &c].concat(), &["a", "c"], &["line 3: the parent b of entry c is missing"]);
    check([HEADER, &c].concat(), &["c"], &["line 2: the parent b of entry c is missing"]);
    let number = said("b", "a").replace("\"parentId\":\"a\"", "\"parentId\":7");
    check([HEADER, &a, &number].concat(), &["a", "b"], &["line 3: the parent (not a string) of entry b is missing"]);
}

#[test]
fn cycles_and_forward_parents_are_broken() {
    check(
        [HEADER, &said("a", "a"), &said("b", "a")].concat(),
        &["a", "b"],
        &["line 2: the parent a of entry a does not come"],
    );
    check(
        [HEADER, &said("a", "b"), &said("b", "a")].concat(),
        &["a", "b"],
        &["line 2: the parent b of entry a does not come"],
    );
    check(
        [HEADER, &said("a", ""), &said("b", "c"), &said("c", "b")].concat(),
        &["a", "b", "c"],
        &["line 3: the parent c of entry b does not come"],
    );
}

#[test]
fn entries_with_one_id_are_two_entries() {
    let [a, b, c] = abc();
    check([HEADER, &a, &b, &b, &c].concat(), &["a", "b", "c"], &["line 4: duplicate id b"]);
    let second = said("a", "b").replace("\"content\":\"a\"", "\"content\":\"a2\"");
    check([HEADER, &a, &b, &second, &said("d", "a")].concat(), &["a", "b", "a2", "d"], &["line 4: duplicate id a"]);
}

#[test]
fn entries_without_an_id_keep_their_place() {
    let [a, b, _] = abc();
    let no_id = b.replace("\"id\":\"b\",", "");
    check([HEADER, &a, &no_id, &said("c", "b")].concat(), &["a", "b", "c"], &["line 3: entry without an id"]);
}

#[test]
fn a_lost_header_does_not_lose_the_session() {
    let [a, b, _] = abc();
    let lost = "the session header is missing or damaged";
    check([&a[..], &b].concat(), &["a", "b"], &[lost]);
    check(["{\"type\":\"session\",\"vers\n", &a, &b].concat(), &["a", "b"], &[&format!("line 1: {lost}")]);
    check(
        ["{\"type\":\"session\",\"id\":7}\n", &a, &b].concat(),
        &["a", "b"],
        &["line 1: the session header is damaged"],
    );
    check([HEADER, &a, HEADER, &b].concat(), &["a", "b"], &["line 3: duplicate session header"]);
    let place = Place::new();
    assert_eq!(place.open(&place.file(a)).id(), "01a1e0cb", "the id is in the file name");
}

#[test]
fn a_torn_last_line_is_moved_aside_when_the_session_goes_on() {
    let [a, b, _] = abc();
    check([HEADER, &a, &b[..30]].concat(), &["a"], &["line 3: the last line (30 bytes) is incomplete"]);
    check([HEADER, &a, "nul"].concat(), &["a"], &["line 3: the last line (3 bytes) is incomplete"]);
    check([HEADER, &a, "\0\0\0\0"].concat(), &["a"], &["line 3: the last line (4 bytes) is incomplete"]);
    check([HEADER, &a, b.trim_end()].concat(), &["a", "b"], &[]);

    let place = Place::new();
    let path = place.file([HEADER, &a, &b[..30]].concat());
    let (_writer, moved) = place.open(&path).into_writer().unwrap();
    assert!(moved.to_string().contains("(30 bytes) was moved to"), "{moved}");
    let side = path.with_file_name(format!("{}.torn-1", path.file_name().unwrap().to_str().unwrap()));
    assert_eq!(std::fs::read_to_string(side).unwrap(), b[..30]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), [HEADER, &a].concat());
}

#[test]
fn bytes_that_are_not_utf8_are_replaced() {
    let [a, b, c] = abc();
    let mut damaged = b.into_bytes();
    let at = damaged.windows(11).position(|window| window == b"\"content\":\"").unwrap() + 11;
    damaged[at] = 0xe2;
    let file = [HEADER.as_bytes(), a.as_bytes(), &damaged, c.as_bytes()].concat();
    check(file, &["a", "\u{fffd}", "c"], &["line 3: contains invalid UTF-8"]);
}

#[test]
fn kinds_nobody_knows_are_named() {
    let [a, b, c] = abc();
    let odd = b.replace("\"type\":\"message\"", "\"type\":\"massage\"");
    check([HEADER, &a, &odd, &c].concat(), &["a", "c"], &["line 3: entry of unknown kind massage"]);
    let known = b.replace("\"type\":\"message\"", "\"type\":\"credential_pin\"");
    check([HEADER, &a, &known, &c].concat(), &["a", "c"], &[]);
}

#[test]
fn messages_of_an_unknown_shape_are_kept() {
    let [a, _, _] = abc();
    let odd = r#"{"type":"message","id":"b","parentId":"a","message":{"role":"assistant","content":"text"}}"#;
    check(
        [HEADER, &a, odd, "\n"].concat(),
        &["a", "(assistant)"],
        &["line 3: a message of role assistant in an unknown format"],
    );
}

#[test]
fn long_lines_are_read_or_named_and_never_held_twice() {
    let [a, _, c] = abc();
    let long =
        |bytes: usize| said("b", "a").replace("\"content\":\"b\"", &format!("\"content\":\"{}\"", "x".repeat(bytes)));
    let place = Place::new();
    let mut session = place.open(&place.file([HEADER, &a, &long(1_000_000), &c].concat()));
    let seen = texts(&session.context());
    assert_eq!((seen[0].as_str(), seen[1].len(), seen[2].as_str()), ("a", 1_000_000, "c"));
    let late_id =
        format!("{{\"type\":\"custom\",\"data\":\"{}\",\"id\":\"b\",\"parentId\":\"a\"}}\n", "x".repeat(1_000_000));
    check([HEADER, &a, &late_id, &c].concat(), &["a", "c"], &[]);
    check([HEADER, &a, &long(70_000_000), &c].concat(), &["a", "c"], &["line 3: 70000"]);
    check(
        [HEADER, &a, &"x".repeat(70_000_000), "\n", &said("b", "a")].concat(),
        &["a", "b"],
        &["line 3: not a session entry"],
    );
    let whole_but_no_newline = long(300_000);
    let mut session = place.open(&place.file([HEADER, &a, whole_but_no_newline.trim_end()].concat()));
    assert_eq!(texts(&session.context())[1].len(), 300_000);
    assert!(session.report().is_empty());
}

#[test]
fn endless_damage_is_counted_not_listed() {
    let place = Place::new();
    let session = place.open(&place.file([HEADER, &"null\n".repeat(5_000)].concat()));
    assert_eq!((session.report().problems.len(), session.report().further), (100, 4_900));
    let orphans: String = (0..5_000).map(|number| said(&format!("e{number}"), &format!("gone{number}"))).collect();
    let session = place.open(&place.file([HEADER, &orphans].concat()));
    assert_eq!((session.report().problems.len(), session.report().further), (100, 4_900));
}

#[test]
fn what_is_no_session_is_refused_untouched() {
    let place = Place::new();
    for content in ["", "\n\n", "hello\n", "hello", "{\"a\":1}\n", "{\"type\":\"title\",\"v\""] {
        let path = place.file(content);
        let error = LoadedSession::open(&path, place.blobs()).unwrap_err();
        assert!(matches!(error, OpenError::NotASession(_)), "{content}: {error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
    }
    let missing = LoadedSession::open(&place.path().join("none.jsonl"), place.blobs()).unwrap_err();
    assert!(matches!(missing, OpenError::NotFound(_)));
    let folder = LoadedSession::open(place.path(), place.blobs()).unwrap_err();
    assert!(matches!(folder, OpenError::NotAFile(_)));
    #[cfg(target_os = "linux")]
    assert!(matches!(LoadedSession::open("/dev/zero".as_ref(), place.blobs()), Err(OpenError::NotAFile(_))));
}

//! Tests of edits against content that has changed since.

use super::*;

fn numbered(range: std::ops::RangeInclusive<usize>) -> String {
    range.map(|n| format!("line {n}\n")).collect()
}

#[track_caller]
fn carried(before: &str, now: &str, ops: &str, want: &str) {
    let mut bench = Bench::new(before);
    let tag = bench.change_to(now);
    let (after, warnings) = bench.apply(ops, tag).unwrap_or_else(|error| panic!("{ops:?}: {error}"));
    assert_eq!(String::from_utf8_lossy(&after), want, "{ops:?}");
    assert!(warnings.last().is_some_and(|it| it.contains("changed after it was read")), "{warnings:?}");
}

#[track_caller]
fn not_carried(before: &str, now: &str, ops: &str) {
    let mut bench = Bench::new(before);
    let tag = bench.change_to(now);
    let error = bench.apply(ops, tag).map(|(after, _)| String::from_utf8(after)).unwrap_err();
    assert!(error.starts_with("Stale tag for f"), "{error}");
}

#[test]
fn lines_that_moved_are_found() {
    let before = numbered(1..=20);
    let now = format!("new\nnew\n{before}");
    carried(&before, &now, "10:X", &now.replace("line 10\n", "X\n"));
    carried(&before, &now, "10↓X", &now.replace("line 10\n", "line 10\nX\n"));
    carried(&before, &now, "10!\n18!", &now.replace("line 10\n", "").replace("line 18\n", ""));
    carried(&before, &now, "1:X\n20:Y", &now.replace("line 1\n", "X\n").replace("line 20\n", "Y\n"));
    let shrunk = numbered(5..=20);
    carried(&before, &shrunk, "10-11:X", &shrunk.replace("line 10\nline 11\n", "X\n"));
}

#[test]
fn boundary_inserts_go_to_the_current_ends() {
    let before = numbered(1..=20);
    let now = format!("{before}tail\n");
    carried(&before, &now, "10!\nEOF↓X", &format!("{}X\n", now.replace("line 10\n", "")));
    let mut bench = Bench::new("a\n");
    let tag = bench.change_to("b\n");
    let (after, warnings) = bench.apply("EOF↓x", tag).unwrap();
    assert_eq!((&after[..], warnings.len()), (&b"b\nx\n"[..], 0), "no line is named, so nothing is stale");
}

#[test]
fn changed_surroundings_are_refused() {
    let before = numbered(1..=20);
    for touched in [8, 9, 10, 11, 12, 13] {
        not_carried(&before, &before.replace(&format!("line {touched}\n"), "other\n"), "10:X");
    }
    carried(
        &before,
        &before.replace("line 14\n", "other\n"),
        "10:X",
        &before.replace("line 14\n", "other\n").replace("line 10\n", "X\n"),
    );
    not_carried(&before, "", "10:X");
}

#[test]
fn a_block_that_occurs_twice_is_no_proof() {
    let block = "{\n  x\n}\n";
    let before = block.repeat(40);
    not_carried(&before, &format!("new\n{before}"), "59:y");
    let twin = format!("{0}first\n{0}{0}second\n{0}", "a\nb\nc\nd\n");
    let without_first = format!("{0}{0}second\n{0}", "a\nb\nc\nd\n");
    not_carried(&twin, &without_first, "2:X");
}

#[test]
fn more_context_can_tell_twins_apart() {
    let half = |name: &str| format!("{name}\np\nq\nr\ns\nt\nu\nv\n");
    let before = format!("{}{}", half("one"), half("two"));
    let now = format!("new\n{before}");
    carried(&before, &now, "13:X", "new\none\np\nq\nr\ns\nt\nu\nv\ntwo\np\nq\nr\nX\nt\nu\nv\n");
}

#[test]
fn order_must_hold() {
    let (a, b) = (numbered(1..=9), numbered(11..=19));
    not_carried(&format!("{a}{b}"), &format!("{b}{a}"), "5:X\n14:Y");
}

#[test]
fn tags_of_earlier_reads_are_known_too() {
    let first = numbered(1..=20);
    let mut bench = Bench::new(&first);
    let tag = bench.change_to(&format!("new\n{first}"));
    bench.change_to(&format!("newer\nnew\n{first}"));
    let (after, _) = bench.apply("10:X", tag).unwrap();
    assert_eq!(String::from_utf8(after).unwrap(), format!("newer\nnew\n{}", first.replace("line 10\n", "X\n")));
}

#[test]
fn line_endings_and_trailing_blanks_are_no_change() {
    let mut bench = Bench::new("a\nb\nc\n");
    let tag = bench.change_to("a  \r\nb\r\nc\r\n");
    let (after, warnings) = bench.apply("2:x", tag).unwrap();
    assert_eq!((&after[..], warnings.len()), (&b"a  \r\nx\r\nc\r\n"[..], 0));
}

#[test]
fn single_lines_seen_in_a_search() {
    let before = numbered(1..=20);
    let lines =
        |numbers: &[usize]| -> BTreeMap<usize, String> { numbers.iter().map(|n| (*n, format!("line {n}"))).collect() };
    let mut bench = Bench::new(&before);
    let tag = bench.tag();
    let snapshot = FileSnapshot::Lines(Arc::new(lines(&[9, 10, 11])));
    bench.seen.push((tag, snapshot));
    fs::write(bench.folder.path().join("f"), before.replace("line 18\n", "other\n")).unwrap();
    assert!(bench.apply("10:X", tag).is_ok());
    assert!(bench.apply("11↓X", tag).is_ok());
    assert!(bench.apply("9-11!", tag).is_ok());
    assert!(bench.apply("12:X", tag).is_err(), "that line was never seen");
    assert!(bench.apply("14↓X", tag).is_err());
    fs::write(bench.folder.path().join("f"), format!("new\n{before}")).unwrap();
    assert!(bench.apply("10:X", tag).is_err(), "a moved line cannot be proved with three lines known");
    fs::write(bench.folder.path().join("f"), numbered(1..=9)).unwrap();
    assert!(bench.apply("10:X", tag).is_err());
}

#[test]
fn the_report_shows_both_tags_and_the_lines_as_they_are() {
    let mut bench = Bench::new(numbered(1..=20));
    let tag = bench.change_to(&(1..=20).map(|n| format!("other {n}\n")).collect::<String>());
    let error = bench.apply("2:X\n10-11!\n40↓x", tag).unwrap_err();
    // Line 40 was beyond the end of the content that the edit was made against.
    assert_eq!(error, "Line 40 does not exist (file has 20 lines)");
    let error = bench.apply("2:X\n10-11!", tag).unwrap_err();
    insta::assert_snapshot!(error, @r"
    Stale tag for f: the edit was made against #6c08, but the file has #8fa3 now, and omp cannot tell where the lines are now. Nothing was written.
    Read the file again for current line numbers. Its header is [f#8fa3]; the targeted lines are now:
     1:other 1
    *2:other 2
     3:other 3
     4:other 4
    …
     8:other 8
     9:other 9
    *10:other 10
    *11:other 11
     12:other 12
     13:other 13
    ");
    let unknown = Bench::new("a\n").apply("1:x", "0000".parse().unwrap()).unwrap_err();
    assert!(unknown.starts_with("Stale tag for f: the edit was made against #0000"), "{unknown}");
}

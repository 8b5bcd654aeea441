//! Tests `edit` as the agent loop calls it; the language itself is tested in `workspace`.

use omp_agent::AnyTool;
use omp_view::{Block, Diff, DiffKind};
use serde_json::json;

use super::*;

mod formats;
mod notebooks;
mod previews;
use crate::artifacts::NoArtifacts;
use crate::read::Read;
use crate::scratch::Scratch;
use crate::urls::Router;

fn tool(scratch: &Scratch) -> HashlineEdit {
    HashlineEdit::new(scratch.files.clone(), HashlineOptions::default())
}

fn edit_text(scratch: &Scratch, input: &str) -> String {
    scratch.text(&tool(scratch), json!({"input": input}))
}

/// Returns the header that `read` prints.
fn read_header(scratch: &Scratch, path: &str) -> String {
    let read = Read::new(scratch.files.clone(), Arc::new(Router::new(Arc::new(NoArtifacts))));
    let text = scratch.text(&read, json!({"path": path}));
    text.lines().next().unwrap().to_owned()
}

/// Nobody is asked about an edit that cannot work.
#[test]
fn an_error_is_foreseen_without_changing_anything() {
    let scratch = Scratch::new(&[("a.txt", "one\ntwo\nthree\n")]);
    let tool = tool(&scratch);
    let foreseen = |input: &str| {
        let plan = AnyTool::plan(&tool, Arc::new(json!({"input": input}))).unwrap();
        plan.foreseen_error().map(|error| error.to_string())
    };
    assert_eq!(foreseen("[a.txt#2543]\n2:TWO"), None);
    assert!(foreseen("[a.txt#2543]\n9:NINE").is_some());
    assert!(foreseen("[gone.txt#2543]\n2:TWO").is_some());
    assert_eq!(scratch.get("a.txt"), "one\ntwo\nthree\n");
}

#[test]
fn one_file() {
    let scratch = Scratch::new(&[("a.txt", "one\ntwo\nthree\n")]);
    let arguments = json!({"input": "[a.txt#2543]\n2:TWO\n+2½"});
    let output = scratch.call(&tool(&scratch), arguments).unwrap();
    let text = output.content[0].as_text().unwrap();
    insta::assert_snapshot!(text, @"
    [a.txt#6a08]
     1:one
    -2:two
    +2:TWO
    +3:2½
     4:three
    ");
    assert_eq!(scratch.get("a.txt"), "one\nTWO\n2½\nthree\n");
    let details = output.details.unwrap();
    assert_eq!((&details["firstChangedLine"], &details["op"]), (&json!(2), &json!("update")));
    assert_eq!(details["diff"], "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,4 @@\n one\n-two\n+TWO\n+2½\n three\n");
    assert!(details.get("perFileResults").is_none());
    assert_eq!(
        text.lines().next().unwrap(),
        read_header(&scratch, "a.txt"),
        "the new tag is the one of the new content"
    );
}

#[test]
fn edits_follow_each_other_without_reading_again() {
    let scratch = Scratch::new(&[("a", "1\n2\n3\n")]);
    let mut header = read_header(&scratch, "a");
    for round in 0..5 {
        let text = edit_text(&scratch, &format!("{header}\n1:round {round}"));
        header = text.lines().next().unwrap().to_owned();
    }
    assert_eq!(scratch.get("a"), "round 4\n2\n3\n");
}

#[test]
fn several_files_all_or_none() {
    let scratch = Scratch::new(&[("a", "1\n2\n"), ("b", "1\n2\n")]);
    let (a, b) = (read_header(&scratch, "a"), read_header(&scratch, "b"));
    let text = edit_text(&scratch, &format!("{a}\n1!\n{b}\n7!"));
    assert_eq!(text, "error: Line 7 does not exist (file has 2 lines)");
    assert_eq!(scratch.get("a"), "1\n2\n");

    let arguments = json!({"input": format!("{a}\n1!\n{b}\n2:x\n[new/c]\nBOF↓made")});
    let output = scratch.call(&tool(&scratch), arguments).unwrap();
    let details = output.details.unwrap();
    let ops: Vec<_> = details["perFileResults"].as_array().unwrap().iter().map(|it| (&it["path"], &it["op"])).collect();
    assert_eq!(json!(ops), json!([["a", "update"], ["b", "update"], ["new/c", "create"]]));
    assert_eq!(
        (scratch.get("a"), scratch.get("b"), scratch.get("new/c")),
        ("2\n".into(), "1\nx\n".into(), "made\n".into())
    );
    assert!(output.content[0].as_text().unwrap().contains("]\nCreated new/c\n+1:made"));
}

/// The second file cannot be written, so the first one stays unchanged.
#[test]
fn a_file_that_cannot_be_written_stops_all() {
    let scratch = Scratch::new(&[("a", "1\n2\n"), ("blocker", "x\n")]);
    let a = read_header(&scratch, "a");
    let text = edit_text(&scratch, &format!("{a}\n1!\n[blocker/below]\nBOF↓x"));
    assert!(text.starts_with("error: "), "{text}");
    assert_eq!(scratch.get("a"), "1\n2\n");
}

#[test]
fn a_stale_tag_is_carried_over_or_refused() {
    let lines = |range: std::ops::RangeInclusive<u32>| range.map(|n| format!("line {n}\n")).collect::<String>();
    let scratch = Scratch::new(&[("a", &lines(1..=20))]);
    let header = read_header(&scratch, "a");
    scratch.put("a", format!("new\n{}", lines(1..=20)).as_bytes());
    let text = edit_text(&scratch, &format!("{header}\n10:X"));
    assert!(text.contains("+11:X") && text.contains("\n\nWarnings:\na changed after it was read"), "{text}");
    assert_eq!(scratch.get("a"), format!("new\n{}X\n{}", lines(1..=9), lines(11..=20)));

    let text = edit_text(&scratch, &format!("{header}\n10:Y"));
    assert!(text.starts_with("error: Stale tag for a") && text.contains("\n*10:line 9\n"), "{text}");
}

#[test]
fn errors_are_answers() {
    let scratch = Scratch::new(&[("a", "1\n")]);
    assert!(edit_text(&scratch, "").starts_with("error: input must begin with"));
    assert!(edit_text(&scratch, "[a]\n1:x").starts_with("error: Missing hashline file hash"));
    assert!(scratch.text(&tool(&scratch), json!({})).starts_with("error: Invalid arguments for `edit`"));
}

#[test]
fn approval_names_the_file_outside() {
    let scratch = Scratch::new(&[]);
    let approval = |input: &str| crate::scratch::approval(&tool(&scratch), &json!({"input": input})).reason;
    assert_eq!(approval("[a]\nBOF↓x"), None);
    assert!(approval("[a]\nBOF↓x\n[/etc/hosts#1234]\n1!").is_some_and(|reason| reason.starts_with("/etc/hosts")));
}

#[test]
fn views() {
    let scratch = Scratch::new(&[("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n"), ("b", "-- a/x\n")]);
    let input = format!("{}\n2:two\n9!", read_header(&scratch, "a"));
    let view = scratch.view(&tool(&scratch), json!({"input": input}));
    assert_eq!((view.title.as_str(), &view.notes[..]), ("edit a", &["+1 -2".to_owned()][..]));
    let Block::Diff(Diff { lines, .. }) = &view.blocks[0] else { panic!("{view:?}") };
    let shown: Vec<String> = lines.iter().map(|line| format!("{:?} {} {}", line.kind, line.line, line.text)).collect();
    insta::assert_snapshot!(shown.join("\n"), @"
    Kept 1 1
    Removed 2 2
    Added 2 two
    Kept 3 3
    Kept 4 4
    Kept 5 5
    Kept 6 6
    Kept 7 7
    Kept 8 8
    Removed 9 9
    ");
    let input = format!("{}\n1!\n{}\n1!", read_header(&scratch, "a"), read_header(&scratch, "b"));
    let view = scratch.view(&tool(&scratch), json!({"input": input}));
    assert_eq!((view.title.as_str(), &view.notes[..]), ("edit a and 1 more", &["+0 -2".to_owned()][..]));
    assert!(
        matches!(&view.blocks[1], Block::Diff(Diff { lines, .. }) if lines[0].kind == DiffKind::Removed && lines[0].text == "-- a/x")
    );
}

#[test]
fn a_huge_diff_is_not_kept_whole() {
    let scratch = Scratch::new(&[("a", &"some text\n".repeat(100_000))]);
    let input = format!("{}\n1-99999!", read_header(&scratch, "a"));
    let output = scratch.call(&tool(&scratch), json!({"input": input})).unwrap();
    assert!(output.content[0].as_text().unwrap().len() < 4000);
    let diff = output.details.unwrap()["diff"].as_str().unwrap().to_owned();
    assert!(diff.len() < 300_000 && diff.ends_with("too long to store.\n"));
    assert_eq!(scratch.get("a"), "some text\n");
}

//! Tests of the error messages for refused patches.

use super::*;

/// Applies `ops` under a header with the right tag to a file of three lines.
#[track_caller]
fn refused(ops: &str, want: &str) {
    let bench = Bench::new("a\nb\nc\n");
    let error = bench.apply(ops, bench.tag()).map(|(after, _)| String::from_utf8(after)).unwrap_err();
    assert_eq!(error, want, "{ops:?}");
}

#[track_caller]
fn refused_whole(patch: &str, want: &str) {
    let error = Bench::new("a\nb\nc\n").plan(patch).unwrap_err().to_string();
    assert_eq!(error, want, "{patch:?}");
}

const BARE_NUMBERS: &str =
    "edit ops use bare line numbers. Copy the [PATH#TAG] header, then use anchors like 42, 42-45, BOF, or EOF.";
const UNKNOWN_OP: &str = "unrecognized op. Use LINE↑ (insert before), LINE↓ (insert after), LINE: / A-B: (replace), or LINE! / A-B! (delete).";

#[test]
fn headers() {
    let begin = "input must begin with \"[PATH#TAG]\" on the first non-blank line for anchored edits; got: ";
    refused_whole("", &format!("{begin}\"\""));
    refused_whole("\n 4:x", &format!("{begin}\"4:x\""));
    refused_whole("*** Begin Patch\n+x", &format!("{begin}\"+x\""));
    refused_whole("¶\n1:x", "Input header \"¶\" is empty; provide a file path.");
    refused_whole("[]\n1:x", "Input header \"[]\" is empty; provide a file path.");
    refused_whole("[#1a2b]\n1:x", "Input header \"[#1a2b]\" is empty; provide a file path.");
    refused_whole(
        "[f#12]\n1:x",
        "Header tag \"#12\" of f is not four hex digits; copy the header from your latest read.",
    );
    refused_whole("[f]\n1:x", "Missing hashline file hash for anchored edit to f; use [f#TAG] from your latest read.");
    refused_whole(
        "[f]\nBOF↓x\n2!",
        "Missing hashline file hash for anchored edit to f; use [f#TAG] from your latest read.",
    );
    refused_whole("[gone#1a2b]\n1:x", "File not found: gone");
    refused_whole("[gone#1a2b]\nBOF↓x", "File not found: gone");
    refused_whole("[f#1a2b]", "The section for f has no operations.");
    refused_whole("[f#1a2b]\n[g#1a2b]\n1:x", "The section for f has no operations.");
    refused_whole("[f#1a2b]\n*** Abort", "*** Abort comes before any operation: nothing to do.");
    refused_whole(
        "[f#1a2b]\n1:x\n[f#1a2c]\n2:x",
        "Two sections for f carry different tags (#1a2b and #1a2c); use the one from your latest read for both.",
    );
}

#[test]
fn targets() {
    let expected = |got: &str| format!("line 2: expected a line number such as \"119\"; got \"{got}\".");
    let range = |got: &str| format!("line 2: range must be LINE or LINE-LINE (one dash, no spaces); got \"{got}\".");
    refused("foo:bar", &expected("foo"));
    refused("0:x", &expected("0"));
    refused("99999999999999999999999:x", &expected("99999999999999999999999"));
    refused("1-2↓x", &expected("1-2"));
    refused("1 - 2:x", &range("1 - 2"));
    refused("1--2:x", &range("1--2"));
    refused("1-2-3!", &range("1-2-3"));
    refused("1-:x", &range("1-"));
    refused("1..2:x", &range("1..2"));
    refused("1,2!", &range("1,2"));
    refused("3-1:x", "line 2: range 3-1 ends before it starts.");
    refused("42ab:x", &format!("line 2: {BARE_NUMBERS}"));
    refused("42#ab↓x", &format!("line 2: {BARE_NUMBERS}"));
    refused("1ab-2cd!", &format!("line 2: {BARE_NUMBERS}"));
    refused("BOF:x", "line 2: BOF takes inserts only (BOF↓text); it is not a line.");
    refused("EOF!", "line 2: EOF takes inserts only (EOF↓text); it is not a line.");
    refused("just text", &format!("line 2: {UNKNOWN_OP}"));
    refused("return a ? b : c", &format!("line 2: {UNKNOWN_OP}"));
    refused("*** Update File: f", &format!("line 2: {UNKNOWN_OP}"));
}

#[test]
fn payloads() {
    let forbidden = "! deletes only. Payload is forbidden after !; use : to replace.";
    refused("1!x", &format!("line 2: {forbidden}"));
    refused("1!\n+x", &format!("line 3: {forbidden}"));
    refused("+x", "line 2: payload line has no preceding ↑, ↓, :, or ! operation.");
    refused("1:x\nplain", "line 3: payload continuation lines must start with +.");
    refused("1:x\n  key: value", "line 3: payload continuation lines must start with +.");
    refused("1:x\n[a, b]", "line 3: payload continuation lines must start with +.");
    refused("1:x\n-old", "line 3: payload continuation lines must start with +.");
}

#[test]
fn bounds_and_overlaps() {
    refused("4:x", "Line 4 does not exist (file has 3 lines)");
    refused("2-9!", "Line 9 does not exist (file has 3 lines)");
    refused("7-9!", "Line 7 does not exist (file has 3 lines)");
    refused("4↓x", "Line 4 does not exist (file has 3 lines)");
    refused("1-99999999999!", "Line 99999999999 does not exist (file has 3 lines)");
    refused("2!\n2!", "line 3: anchor line 2 is already targeted by the :/! op on line 2");
    refused("1-2:x\n2!", "line 3: anchor line 2 is already targeted by the :/! op on line 2");
    refused("2:x\n1-3:y", "line 3: anchor line 2 is already targeted by the :/! op on line 2");
    refused("2:x\n1!\n2:y", "line 4: anchor line 2 is already targeted by the :/! op on line 2");
    let bench = Bench::new("a\nb\n");
    let error = bench.plan(&format!("[f#{0}]\n1:x\n[f#{0}]\n1:y", bench.tag())).unwrap_err().to_string();
    assert_eq!(error, "line 4: anchor line 1 is already targeted by the :/! op on line 2");
}

#[test]
fn edits_that_change_nothing() {
    refused("2:b", "Edits to f resulted in no changes being made.");
    refused("1-3:a\n+b\n+c", "Edits to f resulted in no changes being made.");
}

#[test]
fn a_dropped_repetition_explains_why_nothing_changed() {
    let bench = Bench::new("alpha\nbeta\n");
    let error = bench.apply("2:alpha\n+beta", bench.tag()).unwrap_err();
    assert!(error.contains("no changes being made.\nline 2: the payload repeated line 1 "), "{error}");
}

#[test]
fn files_that_are_not_edited() {
    let mut bench = Bench::new("a\n");
    fs::write(bench.folder.path().join("g.go"), "// Code generated by x. DO NOT EDIT.\n").unwrap();
    let error = bench.plan("[g.go]\nEOF↓x").unwrap_err().to_string();
    assert_eq!(
        error,
        "Cannot modify auto-generated file: g.go\nThe next run of its generator would undo the change (detected marker: \
         \"code generated by x\").\nhint: change its source and generate it again"
    );
    bench.options.block_generated = false;
    assert!(bench.plan("[g.go]\nEOF↓x").is_ok());

    let binary = Bench::new(b"a\0b\n");
    assert!(binary.apply("1:x", binary.tag()).unwrap_err().contains("binary data"));
    let wide = Bench::new(b"\xff\xfea\0");
    assert!(wide.apply("1:x", wide.tag()).unwrap_err().contains("UTF-16"));
    let folder = Bench::new("a\n");
    fs::create_dir(folder.folder.path().join("d")).unwrap();
    assert_eq!(folder.plan("[d]\nBOF↓x").unwrap_err().to_string(), "d is a directory, not a file");
}

/// One invalid section makes the whole patch fail.
#[test]
fn no_partial_plans() {
    let bench = Bench::new("a\nb\n");
    let error = bench.plan(&format!("[f#{}]\n1:x\n[gone#1a2b]\n1:y", bench.tag())).unwrap_err();
    assert_eq!(error.to_string(), "File not found: gone");
}

//! Flips every bit of a session, one at a time: reading changes nothing, one damage gives one line of the report and costs
//! at most one entry, and the session can be continued without changing existing data.

use std::collections::BTreeMap;
use std::path::Path;

use omp_store::{ArtifactDir, BlobStore, EntryId, LoadedSession, OpenError, Report, SessionsDir, TitleSource};

use crate::{Place, texts_of, user};

const TITLE: &str = "Übersicht *J*";
/// The only kinds of bytes that may change undetected, because there is nothing to compare them with.
const SILENT: [&str; 8] = ["text", "utf-8", "escape", "key", "time", "number", "header value", "title value"];

#[derive(Clone, Copy, PartialEq)]
struct Damaged {
    at: usize,
    bit: u8,
}

/// A session with every kind of entry, an abandoned branch, and a compaction.
struct Sample {
    place: Place,
    bytes: Vec<u8>,
    /// Entries whose branches together contain everything: the newest, one before the compaction, one on the abandoned
    /// branch.
    leaves: [EntryId; 3],
    whole: Seen,
    /// For each byte: its syntactic class, and its line counted from 0.
    classes: Vec<(&'static str, usize)>,
}

/// Texts by branch, and the reported problems.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    branches: Vec<Vec<String>>,
    model: Option<String>,
    report: Report,
}

impl Sample {
    fn new() -> Self {
        let place = Place::new();
        let image = place.blobs().put(&[7; 900]).unwrap();
        let bytes = lines(&image).into_bytes();
        let leaves = ["0c93a0f1", "0a917e55", "0d4b6607"].map(EntryId::from);
        let whole = Seen { branches: vec![], model: None, report: Report::default() };
        let mut sample = Self { place, bytes, leaves, whole, classes: Vec::new() };
        sample.classes = (0..sample.bytes.len()).map(|at| (class_of(&sample, at), sample.line_of(at))).collect();
        let path = sample.place.file(&sample.bytes);
        sample.whole = sample.read(&path).unwrap();
        assert!(sample.whole.report.is_empty(), "{}", sample.whole.report);
        assert_eq!(sample.whole.branches.iter().map(Vec::len).collect::<Vec<_>>(), [6, 7, 5]);
        sample
    }

    fn read(&self, path: &Path) -> Result<Seen, OpenError> {
        let mut session = LoadedSession::open(path, self.place.blobs())?;
        let newest = session.context();
        let model = newest.model.clone();
        let mut branches = vec![texts_of(&newest.messages)];
        for leaf in &self.leaves[1..] {
            branches.push(session.context_at(leaf).map(|context| texts_of(&context.messages)).unwrap_or_default());
        }
        Ok(Seen { branches, model, report: session.report().clone() })
    }

    /// Returns the line, counted from 0, of this byte; a newline belongs to its line.
    fn line_of(&self, at: usize) -> usize {
        self.bytes[..at].iter().filter(|byte| **byte == b'\n').count()
    }

    fn class(&self, damaged: Damaged) -> &'static str {
        self.classes[damaged.at].0
    }

    fn line(&self, number: usize) -> &str {
        std::str::from_utf8(self.bytes.split(|byte| *byte == b'\n').nth(number).unwrap()).unwrap()
    }
}

fn lines(image: &str) -> String {
    let usage = r#""usage":{"input":1,"output":2,"cacheRead":0,"cacheWrite":0,"totalTokens":3,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}"#;
    let answer = |content: &str, stop: &str| {
        format!(
            r#"{{"role":"assistant","content":[{content}],"api":"anthropic-messages","provider":"mock","model":"m-1",{usage},"stopReason":"{stop}","timestamp":1794772803263}}"#
        )
    };
    let said = |content: &str| format!(r#"{{"role":"user","content":[{content}],"attribution":"user","timestamp":1}}"#);
    let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let entry = |kind: &str, id: &str, parent: &str, fields: &str| {
        let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
        format!(
            "{{\"type\":\"{kind}\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2026-11-15T20:00:03.186Z\",{fields}}}\n"
        )
    };
    let message =
        |id: &str, parent: &str, message: String| entry("message", id, parent, &format!("\"message\":{message}"));
    let title = format!(
        r#"{{"type":"title","v":1,"title":"{TITLE}","source":"user","updatedAt":"2026-11-15T20:00:03.186Z","pad":""#
    );
    let pad = " ".repeat(256 - title.len() - 3);
    [
        format!("{title}{pad}\"}}\n"),
        "{\"type\":\"session\",\"version\":3,\"id\":\"01a1e0cb-9e72-7000-8000-000000000000\",\"timestamp\":\"2026-11-15T20:00:03.186Z\",\"cwd\":\"/tmp/J/pro*\"}\n".to_owned(),
        entry("model_change", "01c0ffee", "", r#""model":"mock/chosen","resolvedModelIsFallback":false"#),
        entry("thinking_level_change", "02d1a6b4", "01c0ffee", r#""thinkingLevel":"high","configured":"high""#),
        message("03e79a58", "02d1a6b4", said(&text("first: grüße € 😀 *J* \\n done"))),
        message("04f8c1d2", "03e79a58", answer(&format!(r#"{{"type":"thinking","thinking":"hm J","thinkingSignature":"c2ln"}},{},{{"type":"toolCall","id":"call_1","name":"read","arguments":{{"path":"a*.txt"}}}}"#, text("second: I look")), "toolUse")),
        message("05b2e396", "04f8c1d2", format!(r#"{{"role":"toolResult","toolCallId":"call_1","toolName":"read","content":[{}],"details":{{"lines":3}},"isError":false,"timestamp":2}}"#, text("third: 1:a"))),
        message("06a4d07b", "05b2e396", answer(&text("fourth: well"), "stop")),
        entry("label", "07e5f118", "06a4d07b", r#""targetId":"03e79a58","label":"start""#),
        message("0d4b6607", "07e5f118", said(&text("left: never mind"))),
        message("08d6a249", "07e5f118", said(&format!(r#"{},{{"type":"image","data":"{image}","mimeType":"image/png"}}"#, text("fifth: see")))),
        "{\"type\":\"custom\",\"customType\":\"note\",\"data\":{\"id\":\"x\",\"list\":[\"a\",\"b\"]},\"id\":\"09f7b35c\",\"parentId\":\"08d6a249\",\"timestamp\":\"2026-11-15T20:00:03.186Z\"}\n".to_owned(),
        "{\"type\":\"custom_message\",\"customType\":\"hint\",\"content\":[{\"type\":\"text\",\"text\":\"sixth: mind\"}],\"display\":true,\"id\":\"0b88c46d\",\"parentId\":\"09f7b35c\",\"timestamp\":\"2026-11-15T20:00:03.186Z\"}\n".to_owned(),
        message("0a917e55", "0b88c46d", answer(&text("seventh: ja"), "stop")),
        entry("title_change", "0ea2c81f", "0a917e55", &format!(r#""title":"{TITLE}","source":"user""#)),
        entry("compaction", "0fb3d92a", "0ea2c81f", r#""summary":"sum: all","firstKeptEntryId":"08d6a249","tokensBefore":900"#),
        message("10c4ea3b", "0fb3d92a", said(&text("eighth: go on"))),
        message("0c93a0f1", "10c4ea3b", answer(&text("ninth: done ✓"), "stop")),
    ]
    .concat()
}

/// Flips one bit and checks all consequences.
fn check(sample: &Sample, damaged: Damaged) -> Result<(), String> {
    let mut bytes = sample.bytes.clone();
    bytes[damaged.at] ^= 1 << damaged.bit;
    let path = sample.place.file(&bytes);
    let seen = sample.read(&path).map_err(|error| format!("not opened: {error}"))?;
    let list =
        SessionsDir::flat(sample.place.path().to_owned()).list(Path::new("/")).map_err(|error| error.to_string())?;
    if list.len() != 1 {
        return Err("not listed".into());
    }
    if std::fs::read(&path).unwrap() != bytes {
        return Err("reading changed the file".into());
    }
    nothing_else_is_lost(sample, &seen.branches, damaged)?;
    told_once(sample, &seen, damaged)?;
    // Continuing a session is the most expensive check and has fewer failure modes.
    if damaged.at.is_multiple_of(3) || sample.class(damaged) == "line break" {
        goes_on(sample, &path, &bytes, damaged)?;
    }
    Ok(())
}

/// Checks that every text of a branch is still there, except in the damaged line.
fn nothing_else_is_lost(sample: &Sample, branches: &[Vec<String>], damaged: Damaged) -> Result<(), String> {
    let line = sample.line(sample.classes[damaged.at].1);
    let is_break = sample.bytes[damaged.at] == b'\n';
    for ((whole, seen), leaf) in sample.whole.branches.iter().zip(branches).zip(&sample.leaves) {
        // A branch whose own ID is damaged has another ID.
        if seen.is_empty() && line.contains(&format!("\"id\":\"{leaf}\"")) {
            continue;
        }
        let mut seen = seen.iter();
        for text in whole {
            // A summary is wrapped in a sentence.
            let words = text.rsplit("<summary>\n").next().unwrap_or(text).split(':').next().unwrap_or(text);
            let hit = !is_break && line.contains(words);
            if !hit && !seen.any(|other| other == text) {
                return Err(format!("{text:?} is lost: {branches:#?}"));
            }
        }
    }
    Ok(())
}

/// Checks that damage beyond a value is reported, in one line.
fn told_once(sample: &Sample, seen: &Seen, damaged: Damaged) -> Result<(), String> {
    let report = seen.report.to_string();
    let changed = seen.branches.iter().map(Vec::len).ne(sample.whole.branches.iter().map(Vec::len));
    let class = sample.class(damaged);
    match seen.report.problems.len() {
        1 if report.lines().count() == 1 => Ok(()),
        // An ID without references; here it is the branch that was searched.
        0 if class == "id" => Ok(()),
        0 if !changed && SILENT.contains(&class) => Ok(()),
        count => Err(format!("told in {count} lines:\n{report}")),
    }
}

/// Checks that a continued file starts with its old content, and that truncated data is in a file next to it.
fn goes_on(sample: &Sample, path: &Path, bytes: &[u8], damaged: Damaged) -> Result<(), String> {
    let session = sample.place.open(path);
    let mut writer = match session.into_writer() {
        Ok((writer, _)) => writer,
        Err(OpenError::Newer { .. }) if sample.class(damaged) == "header value" => return Ok(()),
        Err(error) => return Err(format!("cannot go on: {error}")),
    };
    writer.append(&user("appended")).map_err(|error| error.to_string())?;
    writer.set_title("another", TitleSource::User).map_err(|error| error.to_string())?;
    drop(writer);
    let after = std::fs::read(path).unwrap();
    let title_whole = damaged.at >= 256 || sample.class(damaged) == "title value";
    let from = if title_whole { 256.min(bytes.len()) } else { 0 };
    if after.len() < bytes.len() || after[from..bytes.len()] != bytes[from..] {
        return Err("what was there was written over".into());
    }
    let again = sample.read(path).map_err(|error| error.to_string())?;
    nothing_else_is_lost(sample, &again.branches, damaged)?;
    if again.branches[0].last().map(String::as_str) != Some("appended") {
        return Err(format!("the new entry is not the last: {:?}", again.branches[0]));
    }
    let session = sample.place.open(path);
    if session.title() != Some("another") {
        return Err(format!("the new title is lost: {:?}", session.title()));
    }
    Ok(())
}

/// Returns the syntactic class of a byte.
fn class_of(sample: &Sample, at: usize) -> &'static str {
    let number = sample.line_of(at);
    let line = sample.line(number);
    let start: usize = sample.bytes.split(|byte| *byte == b'\n').take(number).map(|line| line.len() + 1).sum();
    let at = at - start;
    let bytes = line.as_bytes();
    if at == bytes.len() {
        return "line break";
    }
    let Some((open, close)) = string_around(bytes, at) else {
        return if bytes[at].is_ascii_digit() {
            if number == 1 { "header value" } else { "number" }
        } else {
            "structure"
        };
    };
    if at == open || at == close {
        return "quote";
    }
    if bytes.get(close + 1) == Some(&b':') {
        return "key";
    }
    let key = line[..open].trim_end_matches([':', '[']).trim_matches('"').rsplit('"').next().unwrap_or_default();
    match (number, key) {
        (0, "title" | "updatedAt" | "pad") => "title value",
        (1, "id" | "timestamp" | "cwd") => "header value",
        (_, "type" | "role" | "stopReason" | "source" | "attribution") => "word",
        (_, "id") => "id",
        (_, "parentId") => "parent",
        (_, "firstKeptEntryId") => "first kept",
        (_, "data") => "blob",
        (_, "timestamp") => "time",
        _ if !bytes[at].is_ascii() => "utf-8",
        _ if bytes[at] == b'\\' || bytes[at - 1] == b'\\' => "escape",
        _ => "text",
    }
}

/// Returns the quotes around a byte, inclusive.
fn string_around(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let mut open = None;
    let mut position = 0;
    while position < bytes.len() {
        match (bytes[position], open) {
            (b'\\', Some(_)) => position += 1,
            (b'"', None) => open = Some(position),
            (b'"', Some(from)) => {
                if (from..=position).contains(&at) {
                    return Some((from, position));
                }
                open = None;
            }
            _ => {}
        }
        position += 1;
    }
    None
}

/// Checks one bit of every second byte, a different one each time; fewer for plain values, where all bytes are alike.
fn check_bits(half: usize) {
    let sample = Sample::new();
    let mut wrong: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut seen_of_class: BTreeMap<&str, usize> = BTreeMap::new();
    for at in (half..sample.bytes.len()).step_by(2) {
        let class = sample.classes[at].0;
        let seen = seen_of_class.entry(class).or_default();
        *seen += 1;
        let plain = matches!(class, "text" | "time" | "number" | "title value" | "header value" | "key");
        if !plain || seen.is_multiple_of(4) {
            let bit = (*seen + at / 7) as u8 % 8;
            let damaged = Damaged { at, bit };
            if let Err(why) = check(&sample, damaged) {
                let now = (sample.bytes[at] ^ (1 << bit)) as char;
                let number = sample.line_of(at);
                let head = format!(
                    "{}: {}",
                    class_of(&sample, at),
                    why.lines().next().unwrap_or_default().split(':').next().unwrap()
                );
                let shown = format!(
                    "byte {at} bit {bit} ({:?} → {now:?}) of line {}: {}\n{why}",
                    sample.bytes[at] as char,
                    number + 1,
                    sample.line(number)
                );
                wrong.entry(head).or_insert((0, shown)).0 += 1;
            }
            for entry in std::fs::read_dir(sample.place.path()).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|end| end.to_string_lossy().starts_with("torn")) {
                    panic!("byte {at} bit {bit}: a whole line was moved away");
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_flipped_bit_costs_one_entry_and_one_line_of_the_report() {
    check_bits(0);
}

#[test]
fn so_does_one_in_the_other_half_of_the_bytes() {
    check_bits(1);
}

#[test]
fn every_bit_of_a_blob_is_guarded() {
    let place = Place::new();
    let whole: Vec<u8> = (0..200u8).collect();
    for at in 0..whole.len() {
        let reference = place.blobs().put(&whole).unwrap();
        let path = place.blobs().dir().join(reference.rsplit(':').next().unwrap());
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        std::fs::write(&path, &damaged).unwrap();
        let told = place.blobs().get(&reference).unwrap_err().to_string();
        assert!(told.contains("is damaged in the blob store") && told.lines().count() == 1, "{told}");
        // Storing the same image again restores the blob, and the damaged one is kept.
        assert_eq!(place.blobs().put(&whole).unwrap(), reference);
        assert_eq!(place.blobs().get(&reference).unwrap(), whole);
        let aside = format!("{}.damaged-{}", path.display(), at + 1);
        assert_eq!(std::fs::read(aside).unwrap(), damaged);
    }
    truncated(&place.blobs(), &whole);
}

fn truncated(blobs: &BlobStore, whole: &[u8]) {
    let reference = blobs.put(whole).unwrap();
    let path = blobs.dir().join(reference.rsplit(':').next().unwrap());
    std::fs::write(&path, &whole[..50]).unwrap();
    assert!(blobs.get(&reference).is_err());
    blobs.put(whole).unwrap();
    assert_eq!(blobs.get(&reference).unwrap(), whole);
    let aside = format!("{}.damaged-{}", path.display(), whole.len() + 1);
    assert_eq!(std::fs::read(aside).unwrap(), whole[..50]);
}

#[test]
fn a_flipped_bit_in_an_artifacts_name_costs_no_other_artifact() {
    for at in 0.."0.bash.log".len() {
        for bit in 0..7 {
            let place = Place::new();
            let mut artifacts = ArtifactDir::at(place.path().to_owned());
            for text in ["zero", "one"] {
                let made = artifacts.create("bash").unwrap();
                std::fs::write(made.path, text).unwrap();
            }
            let mut name = b"0.bash.log".to_vec();
            name[at] ^= 1 << bit;
            let name = String::from_utf8(name).unwrap();
            if name.contains(['/', '\0', '\\']) || place.path().join(&name).exists() {
                continue;
            }
            std::fs::rename(place.path().join("0.bash.log"), place.path().join(&name)).unwrap();
            let mut resumed = ArtifactDir::at(place.path().to_owned());
            let new = resumed.create("bash").unwrap();
            std::fs::write(&new.path, "new").unwrap();
            let text = |name: &Path| std::fs::read_to_string(name).unwrap();
            assert_eq!(text(&place.path().join(&name)), "zero", "{name:?}");
            assert_eq!(text(&resumed.find(new.id).unwrap().unwrap()), "new", "{name:?}");
            let ones = resumed.list().unwrap().into_iter().filter(|(id, path)| *id == 1 && text(path) == "one").count();
            assert_eq!(ones, 1, "{name:?}");
        }
    }
}

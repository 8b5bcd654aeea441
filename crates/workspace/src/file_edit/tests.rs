//! Property tests of all four edit languages on 20,000 random files: no edit corrupts a file.

use std::cell::Cell;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;
use crate::hashline::{self, HashlineOptions, HashlinePlanner};
use crate::patch::{FileOp, PatchOp, PatchPlanner, parse_envelope, parse_hunks};
use crate::replace::{ReplacePlanner, TextEdit};
use crate::text_file::Eol;
use crate::write::commit_changes;

mod names;

/// Number of files per language; 20,000 for all four together.
const CASES: u32 = 5_000;
/// Number of files that are also written to disk and read again, which takes longer.
const COMMITTED: u32 = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Hashline,
    Replace,
    Patch,
    ApplyPatch,
}

/// Replaced lines in the old and the new version, counted from 0.
type Region = (std::ops::Range<usize>, std::ops::Range<usize>);

/// Two versions of a file with unique lines, and the regions in which they differ.
#[derive(Clone, Debug)]
struct Case {
    old: Vec<String>,
    new: Vec<String>,
    regions: Vec<Region>,
    /// One line ending per old line.
    endings: Vec<&'static str>,
    /// Adds a first line that is not UTF-8 and never part of an edit.
    odd_line: bool,
    bom: bool,
    finished: bool,
}

const ODD: &[u8] = b"\xe9\x80 odd";

const TEXTS: [&str; 8] = ["", "a", "\tb", "  c {", "}", "é a", "b b", "+a"];
const FRESH: [&str; 8] = ["", "x", "  y: 1", "\tz!", "-x", "+y", " z", "{"];

/// Every line is derived from one number, because generating lines from regular expressions would take most of the time.
fn cases() -> impl Strategy<Value = Case> {
    let lines = proptest::collection::vec(any::<u16>(), 1..14);
    let kinds = prop_oneof![3 => Just("\n"), 2 => Just("\r\n"), 1 => Just("mixed")];
    (lines, kinds, any::<[bool; 3]>()).prop_map(|(lines, kind, [odd_line, bom, finished])| {
        // Without lines around it that can be quoted, an edit of the last line cannot include the newline before it.
        let finished = finished || odd_line;
        let mut case = Case { old: vec![], new: vec![], regions: vec![], endings: vec![], odd_line, bom, finished };
        for (index, seed) in lines.into_iter().map(usize::from).enumerate() {
            let (text, fresh) = (TEXTS[seed % 8], FRESH[seed / 8 % 8]);
            case.endings.push(if kind == "mixed" { ["\n", "\r\n"][seed / 64 % 2] } else { kind });
            // A line is kept as often as it is changed in any way.
            let step = [0, 0, 0, 0, 1, 2, 3, 4][seed / 128 % 8];
            case.add(format!("{text}#{index};"), step, format!("{fresh}%{index};"));
        }
        case
    })
}

impl Case {
    fn add(&mut self, line: String, step: u8, fresh: String) {
        let (old, new) = (self.old.len(), self.new.len());
        let second = format!("{fresh}second");
        let added = match step {
            0 => vec![line.clone()],
            1 => vec![],
            2 => vec![fresh],
            3 => vec![fresh, second],
            // Inserts after the line, which stays.
            _ => vec![line.clone(), fresh],
        };
        self.old.push(line);
        self.new.extend(added);
        let region = match step {
            0 => return,
            4 => (old + 1..old + 1, new + 1..self.new.len()),
            _ => (old..old + 1, new..self.new.len()),
        };
        match self.regions.last_mut().filter(|last| last.0.end == region.0.start && last.1.end == region.1.start) {
            Some(last) => (last.0.end, last.1.end) = (region.0.end, region.1.end),
            None => self.regions.push(region),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut out = if self.bom { b"\xef\xbb\xbf".to_vec() } else { Vec::new() };
        if self.odd_line {
            out.extend_from_slice(ODD);
            out.extend_from_slice(self.endings[0].as_bytes());
        }
        for (index, line) in self.old.iter().enumerate() {
            out.extend_from_slice(line.as_bytes());
            if self.finished || index + 1 < self.old.len() {
                out.extend_from_slice(self.endings[index].as_bytes());
            }
        }
        out
    }

    fn first_line(&self) -> usize {
        usize::from(self.odd_line)
    }

    /// Returns the inverse edit, for a file that holds `self.new`.
    fn inverse(&self) -> Self {
        let regions = self.regions.iter().map(|(old, new)| (new.clone(), old.clone())).collect();
        Case { old: self.new.clone(), new: self.old.clone(), regions, ..self.clone() }
    }

    /// Returns whether the new version shows which line endings the old one had.
    fn can_go_back(&self) -> bool {
        let uniform = self.endings.iter().all(|ending| *ending == self.endings[0]);
        uniform && !self.new.is_empty() && (self.odd_line || self.finished || self.new.len() > 1 && self.old.len() > 1)
    }

    fn hashline(&self, file: &TextFile) -> String {
        let ops = self.regions.iter().map(|(old, new)| {
            let (first, last) = (old.start + 1 + self.first_line(), old.end + self.first_line());
            let payload: String = self.new[new.clone()].iter().map(|line| format!("\n+{line}")).collect();
            match (old.is_empty(), new.is_empty()) {
                (true, _) if last == 0 => format!("BOF↓{payload}"),
                (true, _) => format!("{last}↓{payload}"),
                (_, true) => format!("{first}-{last}!"),
                _ => format!("{first}-{last}:{payload}"),
            }
        });
        // In reverse, because the order of operations must not matter.
        format!("[f#{}]\n{}", file.tag(), ops.rev().collect::<Vec<_>>().join("\n"))
    }

    /// Returns each region with a line above or below it; unless `shared`, no other region quotes the same line.
    fn with_context(&self, shared: bool) -> impl Iterator<Item = (&Region, Option<&String>, Option<&String>)> {
        let mut used = None;
        self.regions.iter().map(move |region| {
            let above = region.0.start.checked_sub(1).filter(|at| Some(*at) != used);
            let below = Some(region.0.end).filter(|at| above.is_none() && *at < self.old.len());
            used = below.filter(|_| !shared);
            (region, above.map(|at| &self.old[at]), below.map(|at| &self.old[at]))
        })
    }

    fn replace(&self) -> Vec<TextEdit> {
        self.with_context(true)
            .map(|((old, new), above, below)| {
                let side = |lines: &[String]| -> Vec<String> {
                    above.into_iter().chain(lines).chain(below).cloned().collect()
                };
                let (from, to) = (side(&self.old[old.clone()]), side(&self.new[new.clone()]));
                let ends = self.finished || old.end + usize::from(below.is_some()) < self.old.len();
                let text = |lines: Vec<String>| match ends && !lines.is_empty() {
                    true => lines.join("\n") + "\n",
                    false => lines.join("\n"),
                };
                TextEdit { old_text: text(from), new_text: text(to), all: false }
            })
            .collect()
    }

    fn hunks(&self) -> String {
        let mut out = String::new();
        for ((old, new), above, below) in self.with_context(false) {
            out.push_str("@@\n");
            out.extend(above.map(|line| format!(" {line}\n")));
            out.extend(self.old[old.clone()].iter().map(|line| format!("-{line}\n")));
            out.extend(self.new[new.clone()].iter().map(|line| format!("+{line}\n")));
            out.extend(below.map(|line| format!(" {line}\n")));
        }
        out
    }

    fn plan(&self, language: Language, folder: &Path) -> Result<Vec<FileEdit>, String> {
        let paths = &PathResolver::new(folder, None);
        let (last_seen, rules) = (&|_: &Path| None, EditRules::default());
        let patch = |ops: &[FileOp]| {
            PatchPlanner { files: paths, last_seen, rules }.plan(ops).map_err(|error| error.to_string())
        };
        match language {
            Language::Hashline => {
                let file = TextFile::parse(fs::read(folder.join("f")).unwrap());
                let patch = hashline::parse(&self.hashline(&file)).map_err(|error| error.to_string())?;
                let planner = HashlinePlanner { files: paths, seen: &|_, _| None, options: HashlineOptions::default() };
                planner.plan(patch).map_err(|error| error.to_string())
            }
            Language::Replace => ReplacePlanner { files: paths, last_seen, rules }
                .plan("f", &self.replace())
                .map_err(|error| error.to_string()),
            Language::Patch => {
                let hunks = parse_hunks(&self.hunks()).map_err(|error| error.to_string())?;
                patch(&[FileOp { path: "f".into(), op: PatchOp::Update { hunks, rename: None } }])
            }
            Language::ApplyPatch => {
                let input = format!("*** Begin Patch\n*** Update File: f\n{}*** End Patch\n", self.hunks());
                patch(&parse_envelope(&input).map_err(|error| error.to_string())?)
            }
        }
    }

    /// Checks that the lines are the expected ones, that unchanged lines are identical to the byte, and that the byte-order
    /// mark and the final newline are kept.
    fn check(&self, before: &TextFile, after: &TextFile) -> Result<(), TestCaseError> {
        let odd = self.odd_line.then(|| ODD.to_vec());
        let want: Vec<Vec<u8>> = odd.into_iter().chain(self.new.iter().map(|line| line.clone().into_bytes())).collect();
        let got: Vec<Vec<u8>> = after.raw_lines().map(<[u8]>::to_vec).collect();
        prop_assert_eq!(&got, &want);
        prop_assert_eq!(before.has_bom(), after.has_bom());
        let last = |file: &TextFile| file.eol(file.line_count().wrapping_sub(1));
        if !got.is_empty() && before.line_count() > 0 {
            prop_assert_eq!(last(before) == Some(Eol::Missing), last(after) == Some(Eol::Missing));
        }
        for (index, line) in got.iter().enumerate().take(got.len().saturating_sub(1)) {
            let stood = before.raw_lines().position(|old| old == line).filter(|at| at + 1 < before.line_count());
            if let Some(at) = stood {
                prop_assert_eq!(before.eol(at), after.eol(index));
            }
        }
        Ok(())
    }
}

/// Edits, checks, reverts and checks again. Returns whether there was anything to change.
fn run(case: &Case, language: Language, folder: &Path, commit: bool) -> Result<bool, TestCaseError> {
    let original = case.bytes();
    fs::write(folder.join("f"), &original).unwrap();
    if case.regions.is_empty() {
        return Ok(false);
    }
    let edits = case.plan(language, folder).map_err(TestCaseError::fail)?;
    let (before, after) = (edits[0].before.clone().unwrap(), edits[0].after.clone().unwrap());
    case.check(&before, &after)?;
    if commit {
        commit_changes(edits.iter().flat_map(FileEdit::changes).collect()).unwrap();
        prop_assert_eq!(&fs::read(folder.join("f")).unwrap()[..], &after.bytes()[..]);
        prop_assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "no leftovers");
    }
    if case.can_go_back() {
        fs::write(folder.join("f"), &after.bytes()[..]).unwrap();
        let back = case.inverse().plan(language, folder).map_err(TestCaseError::fail)?;
        prop_assert_eq!(&back[0].after.as_ref().unwrap().bytes()[..], &original[..]);
    }
    Ok(true)
}

fn check_language(language: Language) {
    let folder = tempfile::tempdir().unwrap();
    let done = Cell::new(0);
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&cases(), |case| {
        let edited = run(&case, language, folder.path(), done.get() < COMMITTED)?;
        done.set(done.get() + 1);
        // A file without a change is not a test case.
        if edited { Ok(()) } else { Err(TestCaseError::reject("nothing to do")) }
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(done.get() >= CASES);
}

#[test]
fn hashline_never_corrupts() {
    check_language(Language::Hashline);
}

#[test]
fn replace_never_corrupts() {
    check_language(Language::Replace);
}

#[test]
fn patch_never_corrupts() {
    check_language(Language::Patch);
}

#[test]
fn apply_patch_never_corrupts() {
    check_language(Language::ApplyPatch);
}

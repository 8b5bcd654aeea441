//! Every block of the transcript, as it stands in the log: three sizes, both themes, folded and expanded.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use omp_session::{RanBy, ShellRun};
use omp_tui::Rows;
use omp_types::{Content, CustomMessage};
use omp_view::{Status, View};
use serde_json::json;

use super::call::CallBlock;
use super::compacted::Compacted;
use super::fired::Fired;
use super::folded::Folded;
use super::page::Page;
use super::prose::{Prose, Thought};
use super::reads::Reads;
use super::retrying::Retrying;
use super::*;
use crate::looks::looks;

const LONG: &str = "Rename `total` to `sum` in every file below src, and keep the old name where the public interface \
    has it, because others use it.";

fn logged(blocks: Vec<Box<dyn Block>>) -> Log {
    let mut log = Log::default();
    blocks.into_iter().for_each(|block| log.push(Boxed(block)));
    log
}

/// Lets a list have blocks of all kinds.
struct Boxed(Box<dyn Block>);

impl Block for Boxed {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        self.0.draw(space)
    }

    fn version(&self) -> u64 {
        self.0.version()
    }

    fn is_final(&self) -> bool {
        self.0.is_final()
    }

    fn set_expanded(&mut self, expanded: bool) {
        self.0.set_expanded(expanded);
    }
}

fn rows(log: &mut Log, space: &Space<'_>) -> Vec<Line> {
    log.lay_out(space, Vec::new(), 0);
    (0..log.len()).map(|at| log.row(at).clone()).collect()
}

#[track_caller]
fn check(name: &str, blocks: Vec<Box<dyn Block>>) {
    let mut log = logged(blocks);
    insta::assert_snapshot!(name, looks(|space| rows(&mut log, space)));
}

/// Blocks that the user can expand: folded, then expanded.
#[track_caller]
fn check_both(name: &str, blocks: Vec<Box<dyn Block>>) {
    let mut log = logged(blocks);
    let drawn = looks(|space| {
        log.set_expanded(false);
        let mut all = rows(&mut log, space);
        log.set_expanded(true);
        all.push(Line::new());
        all.push(Line::from("expanded:"));
        all.extend(rows(&mut log, space));
        all
    });
    insta::assert_snapshot!(name, drawn);
}

fn note(tone: Tone, text: &str) -> Box<dyn Block> {
    Box::new(Note::new(tone, text))
}

#[test]
fn messages_and_notes() {
    check(
        "notes",
        vec![
            note(Tone::User, LONG),
            note(Tone::User, "two\nlines\n"),
            note(Tone::Told, "saved as session.html"),
            note(Tone::Warning, "the answer was cut off by the model's output limit"),
            note(Tone::Error, "the server answered 529: overloaded\nhint: /retry sends the request again"),
            note(Tone::Reply, "/plan\nPlan mode is on."),
            note(Tone::Aside, "12.3k in (87% cached), 456 out, $0.0123"),
            note(Tone::Mark, "⏹ interrupted"),
            note(Tone::Divider, "12 earlier messages above · /dump or /export shows all"),
        ],
    );
}

#[test]
fn what_the_model_says_and_thinks() {
    let answer = format!(
        "## Done\n\n{LONG}\n\n- one with **bold** and `code`\n- two\n  1. inner\n\n> quoted\n\n\
         ```rust\nlet sum = add(1, 2); // the sum\n```\n\n| File | Lines |\n|---|--:|\n| src/main.rs | 120 |\n| src/lib.rs | 8 |\n\n\
         See [the page](https://example.org).",
    );
    let thought = |text: &str, shown: bool| Box::new(Thought::over(text, Rc::new(Cell::new(shown))));
    let mut thinks = Thought::new(Rc::new(Cell::new(false)));
    thinks.push("a while");
    check(
        "answer",
        vec![thought(LONG, true), thought(LONG, false), Box::new(thinks), Box::new(Prose::said(&answer, None))],
    );
}

#[test]
fn files_that_are_read() {
    let read = |path: &str, status: Status, note: &str, said: &str| {
        let view = View { subject: Some(path.to_owned()), ..View::new(format!("read {path}"), status) };
        Rc::new(RefCell::new(CallBlock::ended(view.note(note), said, Vec::new())))
    };
    let found = || read("src/main.rs", Status::Done, "120 lines", "");
    let mut several = Reads::default();
    several.add(found());
    let error = "File not found: src/gone.rs\nhint: list the folder, or search for the file with find";
    several.add(read("src/gone.rs", Status::Failed, "not found", error));
    let mut alone = Reads::default();
    alone.add(found());
    check_both("reads", vec![Box::new(several), Box::new(alone)]);
}

#[test]
fn retries_and_what_is_folded() {
    let retrying = |ends: Option<Option<&str>>| {
        let mut retrying = Retrying::default();
        retrying.again("the server answered 529: overloaded", (2, 10), Duration::ZERO);
        ends.into_iter().for_each(|error| retrying.end(error));
        Box::new(retrying)
    };
    let text = "Say `sum`, not `total`.\n\nOthers read the names.";
    let rule = CustomMessage {
        custom_type: String::new(),
        content: vec![Content::text(text)],
        display: false,
        details: Some(json!({"rules": ["names", "tests-first"]})),
        timestamp: 0,
    };
    let summary = format!("# Goal\n\n{LONG}\n\n# Next\n\n- the tests");
    check_both(
        "folded",
        vec![
            retrying(None),
            retrying(Some(None)),
            retrying(Some(Some("the server answered 529: overloaded"))),
            Box::new(Folded::new(Fired::past(&rule))),
            Box::new(Folded::new(Compacted::new(&summary, Some(LONG)))),
            Box::new(Folded::new(Compacted::new(&summary, None))),
        ],
    );
}

#[test]
fn commands_of_the_user() {
    let ran = |ran_by: RanBy, command: &str, private: bool, run: Option<ShellRun>| {
        let mut block = ShellBlock::new(ran_by, command, private);
        block.show("so far\n");
        run.into_iter().for_each(|run| block.end(&Ok(run)));
        Box::new(block)
    };
    let ended = |output: String, exit_code: Option<i32>| ShellRun { output, exit_code, ..ShellRun::default() };
    let many: String = (1..=20).map(|row| format!("\x1b[32mtest {row}\x1b[0m ok\n")).collect();
    let cancelled = ShellRun { cancelled: true, ..ended("half of it\n".to_owned(), None) };
    let truncated = ShellRun {
        truncated: true,
        artifact_id: Some("3".to_owned()),
        notices: vec!["the output is longer than 64 kB".to_owned()],
        ..ended("the end\n".to_owned(), Some(0))
    };
    check_both(
        "commands",
        vec![
            ran(RanBy::Shell, "sleep 60", false, None),
            ran(RanBy::Shell, &format!("echo {LONG}"), false, Some(ended(many, Some(0)))),
            ran(RanBy::Shell, "make", true, Some(ended("no rule\n".to_owned(), Some(2)))),
            ran(RanBy::Shell, "sleep 60", false, Some(cancelled)),
            ran(RanBy::Shell, "cat log", false, Some(truncated)),
            ran(RanBy::Python, "print(6 * 7)", false, Some(ended("42\n".to_owned(), Some(0)))),
            ran(RanBy::Python, "1 / 0", true, Some(ended("ZeroDivisionError\n".to_owned(), Some(1)))),
        ],
    );
}

const USAGE: &str = "## Usage\n\n\
    | Model | Answers | Input | Cached | Written | Output | Cost |\n|---|--:|--:|--:|--:|--:|--:|\n\
    | anthropic/claude-sonnet-4-5 | 12 | 123,456 | 87% | 9,876 | 4,321 | $0.1234 |\n\
    | openai/gpt-5 | 1 | 1,000 | 0% | 0 | 10 | $0.0020 |\n\
    | all | 13 | 124,456 | 86% | 9,876 | 4,331 | $0.1254 |\n\n\
    ## Budget\n\n- this session: $0.1254 of $2.5000";

const CONTEXT: &str = "## Context\n\nanthropic/claude-sonnet-4-5: 12,000 of 200,000 tokens (6.0%)\n\n\
    █▓▒▞░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░\n\n\
    | | Kind | Tokens | Share |\n|---|---|--:|--:|\n| █ | System prompt | 4,000 | 2.0% |\n| ▓ | Tools | 3,000 | 1.5% |\n\
    | ▒ | Messages | 4,000 | 2.0% |\n| ▞ | Results | 1,000 | 0.5% |\n| ░ | Free | 188,000 | 94.0% |\n\n\
    Expected from the prompt cache: 11,000 tokens. All figures are estimates.";

#[test]
fn pages_of_slash_commands() {
    check("pages", vec![Box::new(Page::new("/usage", USAGE)), Box::new(Page::new("/context", CONTEXT))]);
}

#[test]
fn images_in_a_message_and_in_a_card() {
    let gallery = Gallery::new(PictureWishes::default());
    let mut png = Vec::new();
    image::RgbImage::new(80, 40).write_to(&mut std::io::Cursor::new(&mut png), image::ImageFormat::Png).unwrap();
    let hung = |data: &str| gallery.hang(data, "image/png");
    let message = Note::user("What is this?", vec![hung(&STANDARD.encode(&png)), hung("?")]);
    let view = View::new("screenshot shot.png", Status::Done).note("80x40 png");
    let card = CallBlock::ended(view, "", vec![hung(&STANDARD.encode(&png))]);
    check("images", vec![Box::new(message), Box::new(card)]);
}

//! Images in the transcript, in all kinds of terminals.

use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use omp_interactive::Leave;
use omp_session::Wish;
use omp_testkit::Turn;
use omp_tui::ImageWay;
use omp_types::{Api, AssistantMessage, Content, ImageContent, Message, ToolCall, ToolResultMessage, UserMessage};
use serde_json::json;

use crate::stage::{Options, Stage, play};

const KITTY: ImageWay = ImageWay::Kitty { placeholders: true, passthrough: false };
const SENT: &str = "\x1b_Ga=t,";
const DELETED: &str = "\x1b_Ga=d,d=I,";
/// The placeholder character that images are made of.
const CELL: &str = "\u{10eeee}";

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let picture = image::RgbImage::from_pixel(width, height, image::Rgb([200, 0, 0]));
    picture.write_to(&mut Cursor::new(&mut bytes), image::ImageFormat::Png).unwrap();
    bytes
}

fn image(data: &[u8]) -> Content {
    Content::Image(ImageContent { data: STANDARD.encode(data), mime_type: "image/png".into() })
}

fn asked(text: &str, data: &[u8]) -> Message {
    let mut message = UserMessage::text(text);
    message.content.push(image(data));
    Message::User(message)
}

fn options(way: ImageWay, turns: impl IntoIterator<Item = Turn>) -> Options {
    Options { images: way, ..Options::new(turns) }
}

fn resumed(way: ImageWay, history: Vec<Message>) -> Options {
    let wish = Wish::Resume { file: "earlier.jsonl".into(), cwd: None };
    Options { history, wish, ..options(way, [Turn::text("next answer")]) }
}

/// Returns the rows with `#` for each cell of an image.
fn cells(text: &str) -> String {
    let marks = '\u{300}'..='\u{8ff}';
    text.replace(CELL, "#").chars().filter(|char| !marks.contains(char)).collect()
}

fn put(stage: &Stage, name: &str, data: &[u8]) {
    std::fs::write(stage.workspace.project().join(name), data).unwrap();
}

fn read(name: &str) -> [Turn; 2] {
    [Turn::call("read", json!({"path": name})), Turn::text("A red one.")]
}

#[tokio::test]
async fn a_picture_that_is_read_is_made_of_characters_and_goes_at_the_end() {
    play(options(KITTY, read("red.png")), async |stage| {
        put(stage, "red.png", &png(80, 50));
        stage.say("look").await;
        stage.until(CELL).await;
        stage.until("A red one.").await;
        stage.until_gone("interrupt").await;
        insta::assert_snapshot!(cells(&stage.text()), @"
        omp 0 · /project
        / for commands · @ for files · ! for the shell · /hotkeys f…

        › look

        ✓ read red.png  image/png · 281B
          ########
          ########
          ########

        A red one.

        mock/mock-model high · 0%/200k · main · auto
        ────────────────────────────────────────────────────────────
        >
        ────────────────────────────────────────────────────────────
        ");
        let written = stage.written();
        assert_eq!((written.matches(SENT).count(), written.matches("a=p,U=1,").count()), (1, 1));
        assert!(written.find(SENT).unwrap() < written.find(CELL).unwrap(), "sent before it is shown");
        stage.type_text("words").await;
        stage.until("> words").await;
        assert!(!stage.written().contains("\x1b_G"), "sent once");
        stage.press("ctrl+c ctrl+d").await;
        assert_eq!(stage.left().await, Leave::Wanted);
        assert!(stage.written().contains(DELETED));
        let end = stage.text();
        assert!(end.contains("  [image 80x50 png]\n\n") && !end.contains(CELL), "{end}");
    })
    .await;
}

#[tokio::test]
async fn other_ways_paint_from_the_row_below() {
    for (way, sequence) in [
        (ImageWay::Iterm2, "\x1b7\x1b[3A\r\x1b[2C\x1b]1337;File=inline=1;"),
        (ImageWay::Sixel, "\x1b7\x1b[3A\r\x1b[2C\x1bP0;1;0q\"1;1;80;50"),
        (ImageWay::Kitty { placeholders: false, passthrough: false }, "\x1b7\x1b[3A\r\x1b[2C\x1b_Ga=p,q=2,"),
    ] {
        play(options(way, read("red.png")), async |stage| {
            put(stage, "red.png", &png(80, 50));
            stage.say("look").await;
            stage.until("red.png").await;
            stage.until("A red one.").await;
            stage.until("\n\n\n\n  [image 80x50 png]").await;
            let written = stage.written();
            assert_eq!(written.matches(sequence).count(), 1, "{way:?}: {written:?}");
        })
        .await;
    }
}

#[tokio::test]
async fn where_there_is_no_way_a_line_stands_for_it() {
    play(options(ImageWay::Text, read("red.png")), async |stage| {
        put(stage, "red.png", &png(80, 50));
        stage.say("look").await;
        stage.until("A red one.").await;
        stage.until_gone("interrupt").await;
        insta::assert_snapshot!(stage.text(), @"
        omp 0 · /project
        / for commands · @ for files · ! for the shell · /hotkeys f…

        › look

        ✓ read red.png  image/png · 281B
          [image 80x50 png]

        A red one.

        mock/mock-model high · 0%/200k · main · auto
        ────────────────────────────────────────────────────────────
        >
        ────────────────────────────────────────────────────────────
        ");
        assert!(!stage.written().contains("\x1b_G"));
    })
    .await;
}

#[tokio::test]
async fn of_many_pictures_the_newest_stay_and_no_row_is_written_twice() {
    let turns = |number: usize| {
        let call = |turn: Turn, at: usize| turn.and_call("read", json!({"path": format!("{}.png", number * 3 + at)}));
        [(0..3).fold(Turn::text(format!("Look {number}.")), call), Turn::text(format!("Seen {number}."))]
    };
    play(options(KITTY, (0..4).flat_map(turns)), async |stage| {
        (0..12).for_each(|at| put(stage, &format!("{at}.png"), &png(40, 30 + at)));
        for number in 0..4 {
            stage.say("look").await;
            stage.until(&format!("Seen {number}.")).await;
            stage.until_gone("interrupt").await;
            stage.until_written(SENT, number * 3 + 3).await;
        }
        let written = stage.written();
        assert_eq!((written.matches(SENT).count(), written.matches(DELETED).count()), (12, 4));
        let all = stage.all();
        for at in 0..12 {
            assert_eq!(all.matches(&format!(" {at}.png")).count(), 1, "{all}");
        }
        (0..4).for_each(|turn| assert_eq!(all.matches(&format!("Look {turn}.")).count(), 1, "{all}"));
        assert!(!stage.paints().iter().any(|how| how == "replace"), "{:?}", stage.paints());
        // After a redraw, an image that was removed to make room stays a line of text.
        stage.press("ctrl+o").await;
        stage.until_written(SENT, 8).await;
        stage.press("ctrl+o").await;
        stage.until_written(SENT, 16).await;
        stage.type_text("x").await;
        stage.until("> x").await;
        let all = stage.all();
        assert_eq!(all.matches("[image ").count(), 4, "{all}");
        (0..12).for_each(|at| assert_eq!(all.matches(&format!(" {at}.png")).count(), 1, "{all}"));
        assert_eq!(stage.written().matches(SENT).count(), 16, "a wiped terminal gets those that stay again");
    })
    .await;
}

#[tokio::test]
async fn pictures_of_an_earlier_session() {
    let data = png(40, 40);
    let mut answer = AssistantMessage::empty(Api::Demo, "mock", "mock-model");
    let arguments = json!({"path": "red.png"}).as_object().unwrap().clone();
    answer.content =
        vec![Content::ToolCall(ToolCall { id: "1".into(), name: "read".into(), arguments, ..ToolCall::default() })];
    let result = ToolResultMessage {
        tool_call_id: "1".into(),
        tool_name: "read".into(),
        content: vec![Content::text("red.png"), image(&data)],
        details: None,
        is_error: false,
        useless: false,
        timestamp: 0,
    };
    let mut history: Vec<Message> = (0..9).map(|at| asked(&format!("question {at}"), &data)).collect();
    history.push(asked("broken", &data[..data.len() - 20]));
    history.extend([Message::Assistant(answer), Message::ToolResult(result)]);
    play(resumed(KITTY, history), async |stage| {
        stage.until("cannot be decoded").await;
        stage.until("red.png").await;
        stage.until_written(SENT, 7).await;
        let written = stage.written();
        assert_eq!(
            (written.matches(SENT).count(), written.matches(DELETED).count()),
            (7, 0),
            "the broken one is an eighth"
        );
        let all = cells(&stage.all());
        insta::assert_snapshot!(all.split("question 1").nth(1).unwrap().split("question 4").next().unwrap(), @"

          [image 40x40 png]

        › question 2
          [image 40x40 png]

        › question 3
          ####
          ####

        ›
        ");
        // Another size.
        stage.resize(50, 16).await;
        stage.type_text("x").await;
        stage.until("> x").await;
        assert_eq!(stage.written().matches(SENT).count(), 0, "the terminal still has them");
        // Rows of the last moments before a resize may be in the scrollback twice.
        assert!(cells(&stage.all()).matches("  ####\n").count() >= 14);
        // Another conversation.
        stage.press("ctrl+c").await;
        stage.say("/earlier").await;
        stage.until_written(DELETED, 7).await;
        stage.until_written(SENT, 7).await;
    })
    .await;
}

#[tokio::test]
async fn a_terminal_that_tells_late_shows_what_comes_then() {
    play(options(ImageWay::Text, read("red.png").into_iter().chain(read("red.png"))), async |stage| {
        put(stage, "red.png", &png(40, 40));
        stage.say("look").await;
        stage.until("[image 40x40 png]").await;
        stage.until("A red one.").await;
        stage.until_gone("interrupt").await;
        stage.show_images(KITTY).await;
        stage.say("again").await;
        stage.until(CELL).await;
        assert!(stage.all().contains("[image 40x40 png]"), "what was written stays");
    })
    .await;
}

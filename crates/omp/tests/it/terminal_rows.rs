//! Rows at the terminal: those of a table, and those in the scrollback.

use omp_testkit::{Script, Turn, Wire};
use serde_json::json;

use crate::harness::Scene;
use crate::seat::{READY, RUNS, Seat, at_a_seat};

const ROWS: usize = 6;

fn table() -> String {
    let mut text = "Here it is:\n\n| key | what it is for | where |\n|---|:---:|---:|\n".to_owned();
    for row in 1..=ROWS {
        text += &format!("| key{row} | some words about number{row} that need room | here{row} |\n");
    }
    text + "\nThat was it."
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_table_keeps_its_rows_at_any_width() {
    let scene = Scene::new(Wire::Anthropic, [Turn::text(table())]).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &[]);
        seat.resize(100, 60);
        seat.says("a table, please", "That was it.");
        for width in [100, 44, 30, 24, 58, 120] {
            let before = seat.shown();
            if width != 100 {
                seat.resize(width, 60);
                seat.wait("another picture", |glass| glass.raw.len() > before);
            }
            seat.wait("all rows", |glass| {
                let text: String = glass.text().chars().filter(|c| c.is_alphanumeric()).collect();
                (1..=ROWS)
                    .all(|row| ["key", "number", "here"].iter().all(|word| text.contains(&format!("{word}{row}"))))
                    && text.contains("Thatwasit")
            });
        }
        seat.leaves();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_above_the_screen_never_change() {
    let words = |turn: usize| -> Vec<String> {
        let pieces = (1..=60)
            .flat_map(|at| [format!("say-{turn}-{at} "), if at % 6 == 0 { "\n\n".into() } else { "**so** ".into() }]);
        pieces.collect()
    };
    let said = |turn: usize| Turn::text(omp_testkit::Text::Chunks(words(turn))).delay_ms(1);
    let calls = [
        ("read", json!({"path": "a.txt"})),
        ("bash", json!({"command": "for i in $(seq 1 30); do echo out-$i; sleep 0.01; done"})),
        ("write", json!({"path": "b.txt", "content": "x\n".repeat(20)})),
        ("bash", json!({"command": "seq -f out-%g 1 3000"})),
    ];
    let mut turns: Vec<Turn> =
        calls.into_iter().enumerate().map(|(turn, (name, arguments))| said(turn).and_call(name, arguments)).collect();
    turns.push(Turn::text("All is done."));
    let scene = Scene::new(Wire::Anthropic, Script::new(turns)).await;
    at_a_seat(|| {
        let seat = Seat::ready(&scene, &["--yolo"]);
        seat.keys("go\r");
        let mut kept: Vec<String> = Vec::new();
        let mut grew = 0;
        seat.wait("the end", |glass| {
            let above = glass.scrollback();
            assert!(above.len() >= kept.len(), "rows went: {above:#?}");
            for (at, (now, then)) in above.iter().zip(&kept).enumerate() {
                assert_eq!(now, then, "row {at} changed");
            }
            grew += usize::from(above.len() > kept.len());
            kept = above;
            let text = glass.text();
            text.contains("All is done.") && !text.contains(RUNS)
        });
        assert!(grew >= 4 && kept.len() > 40, "{grew} times, {} rows", kept.len());
        let all = seat.all();
        for turn in 0..4 {
            for at in 1..=60 {
                let word = format!("say-{turn}-{at}");
                assert_eq!(all.split_whitespace().filter(|shown| *shown == word).count(), 1, "{word} in\n{all}");
            }
        }
        let raw = seat.look(|glass| String::from_utf8_lossy(&glass.raw).into_owned());
        assert!(!raw.contains("\x1b[3J") && !raw.contains("\x1b[2J"));
        seat.leaves();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resize_keeps_what_the_shell_printed_before() {
    const WORDS: usize = 600;
    let word = |at: usize| format!("word-{at}{}", if at.is_multiple_of(40) { "\n\n" } else { " " });
    let answer = Turn::text(omp_testkit::Text::Chunks((1..=WORDS).map(word).collect())).delay_ms(4);
    let scene = Scene::new(Wire::Anthropic, [answer]).await;
    at_a_seat(|| {
        let seat = Seat::shell(&scene);
        seat.keys("seq -f 'before-%g' 1 60; \"$OMP\" --model mock/mock-model\r");
        seat.until(READY);
        seat.keys("tell me\r");
        // This terminal moves no row when its width changes.
        for number in 1..=20u16 {
            let before = seat.shown();
            seat.resize(50 + 37 * number % 60, 24);
            seat.wait("the next words", |glass| glass.raw.len() > before + 500 || glass.text().contains("word-600"));
        }
        seat.until("word-600");
        seat.until_gone(RUNS);
        let all = seat.all();
        let kept: Vec<&str> = all.lines().map(str::trim_end).filter(|row| row.starts_with("before-")).collect();
        assert_eq!(kept, (1..=60).map(|number| format!("before-{number}")).collect::<Vec<_>>(), "{all}");
        let mut shown = all.split_whitespace();
        for at in 1..=WORDS {
            let word = format!("word-{at}");
            assert!(shown.any(|shown| shown == word), "{word} was lost in\n{all}");
        }
        let raw = seat.look(|glass| String::from_utf8_lossy(&glass.raw).into_owned());
        assert!(!raw.contains("\x1b[3J") && !raw.contains("\x1b[2J"));
        seat.keys("\x04");
        seat.until("shell$ ");
    })
    .await;
}

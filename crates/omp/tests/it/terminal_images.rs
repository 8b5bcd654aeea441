//! An image at the terminal: sent, shown, removed at the end.

use std::io::Cursor;

use omp_testkit::{Turn, Wire};
use portable_pty::CommandBuilder;
use serde_json::json;

use crate::harness::Scene;
use crate::seat::{READY, Seat, at_a_seat};

const CELL: char = '\u{10eeee}';

async fn scene() -> Scene {
    let turns = [Turn::call("read", json!({"path": "red.png"})), Turn::text("A red one.")];
    let scene = Scene::new(Wire::Anthropic, turns).await;
    let mut bytes = Vec::new();
    let picture = image::RgbImage::from_pixel(90, 54, image::Rgb([200, 0, 0]));
    picture.write_to(&mut Cursor::new(&mut bytes), image::ImageFormat::Png).unwrap();
    std::fs::write(scene.workspace.project().join("red.png"), bytes).unwrap();
    scene
}

/// Starts omp with additional variables.
#[track_caller]
fn seat_with(scene: &Scene, variables: &[&str]) -> Seat {
    let mut command = CommandBuilder::new("env");
    command.args(variables);
    command.arg(env!("CARGO_BIN_EXE_omp"));
    command.args(scene.workspace.args(&[]));
    let seat = Seat::of(scene, command, (80, 24));
    seat.until(READY);
    seat
}

fn raw(seat: &Seat) -> String {
    seat.look(|glass| String::from_utf8_lossy(&glass.raw).into_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_picture_that_is_read_is_shown_and_deleted_at_the_end() {
    let scene = scene().await;
    at_a_seat(|| {
        let asked = ["PI_FORCE_IMAGE_PROTOCOL=kitty", "PI_KITTY_PLACEHOLDERS=1", "FORCE_COLOR=3"];
        let mut seat = seat_with(&scene, &[&asked[..], &["PI_DEBUG_REDRAW=1"]].concat());
        seat.says("look", "A red one.");
        seat.wait("three rows of ten cells", |glass| {
            let rows: Vec<usize> = glass.text().lines().map(|row| row.matches(CELL).count()).collect();
            rows.iter().filter(|cells| **cells == 10).count() == 3 && rows.iter().sum::<usize>() == 30
        });
        let before = raw(&seat);
        assert_eq!(before.matches("\x1b_Ga=t,q=2,").count(), 1);
        assert!(before.contains(",c=10,r=3\x1b\\") && !before.contains("a=d,"));
        seat.keys("\x04");
        assert_eq!(seat.end(), 0);
        seat.is_sane();
        let all = raw(&seat);
        let after = &all[before.len()..];
        assert_eq!(after.matches("\x1b_Ga=d,d=I,q=2,").count(), 1, "{after:?}");
        assert!(seat.text().contains("[image 90x54 png]") && !seat.text().contains(CELL), "{}", seat.text());
    })
    .await;
    let log = std::fs::read_to_string(scene.workspace.home().join(".omp/logs/redraw.log")).unwrap();
    assert!(log.lines().next().is_some_and(|line| line.contains("ms begin rows=")), "{log}");
    assert!(log.lines().count() > 3 && log.lines().skip(1).all(|line| line.contains("ms change rows=")), "{log}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_sent_where_it_was_not_asked_for() {
    for variables in [&[][..], &["KITTY_WINDOW_ID=1", "TMUX=/tmp/none,1,0"], &["PI_FORCE_IMAGE_PROTOCOL=off"]] {
        let scene = scene().await;
        at_a_seat(|| {
            let seat = seat_with(&scene, variables);
            seat.says("look", "A red one.");
            assert!(seat.text().contains("\n  [image 90x54 png]"), "{}", seat.text());
            assert!(!raw(&seat).contains("\x1b_Ga=t"), "{variables:?}");
            seat.leaves();
        })
        .await;
    }
}

//! The terminal application, started like a user does, on a screen that is read back.

use std::io::{Read, Write};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use omp_testkit::{Turn, Wire};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use serde_json::json;

use crate::harness::{Scene, outline};

const LIMIT: Duration = Duration::from_secs(60);
const SIZE: PtySize = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };

/// A terminal with a program in it.
struct Seat {
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    glass: Arc<(Mutex<Glass>, Condvar)>,
}

struct Glass {
    parser: vt100::Parser,
    /// The other side is closed.
    ended: bool,
}

impl Seat {
    /// Starts omp without a shell.
    fn omp(scene: &Scene, args: &[&str]) -> Self {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_omp"));
        command.args(scene.workspace.args(args));
        Self::of(scene, command)
    }

    fn of(scene: &Scene, mut command: CommandBuilder) -> Self {
        command.env_clear();
        for (name, value) in scene.workspace.env() {
            command.env(name, value);
        }
        let more = [("TERM", "xterm-256color"), ("PI_NO_TITLE", "1")];
        for (name, value) in more {
            command.env(name, value);
        }
        for name in ["OLLAMA_BASE_URL", "LLAMA_CPP_BASE_URL", "LM_STUDIO_BASE_URL"] {
            command.env(name, "http://127.0.0.1:9");
        }
        command.cwd(scene.workspace.project());
        let pair = native_pty_system().openpty(SIZE).unwrap();
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let parser = vt100::Parser::new(cells(SIZE.rows), cells(SIZE.cols), 2000);
        let glass = Arc::new((Mutex::new(Glass { parser, ended: false }), Condvar::new()));
        let mut reader = pair.master.try_clone_reader().unwrap();
        let shown = glass.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            loop {
                let count = reader.read(&mut buffer).unwrap_or(0);
                let mut glass = shown.0.lock().unwrap();
                glass.parser.process(&buffer[..count]);
                glass.ended = count == 0;
                shown.1.notify_all();
                if count == 0 {
                    return;
                }
            }
        });
        let keys = pair.master.take_writer().unwrap();
        Self { master: pair.master, child, keys, glass }
    }

    fn keys(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    #[track_caller]
    fn until(&self, needle: &str) {
        self.wait(needle, |glass| glass.parser.screen().contents().contains(needle));
    }

    #[track_caller]
    fn until_gone(&self, needle: &str) {
        self.wait(needle, |glass| !glass.parser.screen().contents().contains(needle));
    }

    /// Waits for the end and returns its exit code.
    #[track_caller]
    fn end(&mut self) -> u32 {
        self.wait("the end", |glass| glass.ended);
        self.child.wait().unwrap().exit_code()
    }

    #[track_caller]
    fn wait(&self, what: &str, wanted: impl Fn(&Glass) -> bool) {
        let start = Instant::now();
        let (glass, changed) = &*self.glass;
        let mut glass = glass.lock().unwrap();
        while !wanted(&glass) {
            let left = LIMIT.saturating_sub(start.elapsed());
            assert!(!left.is_zero(), "waited in vain for {what:?}:\n{}", glass.parser.screen().contents());
            glass = changed.wait_timeout(glass, left).unwrap().0;
        }
    }

    fn text(&self) -> String {
        self.glass.0.lock().unwrap().parser.screen().contents()
    }

    /// Returns the rows of the scrollback and of the screen.
    fn all(&self) -> String {
        let mut glass = self.glass.0.lock().unwrap();
        let screen = glass.parser.screen_mut();
        screen.set_scrollback(usize::MAX);
        let above = screen.scrollback();
        let mut rows = Vec::new();
        for back in (1..=above).rev() {
            screen.set_scrollback(back);
            rows.extend(screen.rows(0, SIZE.cols).next());
        }
        screen.set_scrollback(0);
        rows.extend(screen.rows(0, SIZE.cols));
        rows.join("\n")
    }

    fn resize(&self, cols: u16, rows: u16) {
        self.glass.0.lock().unwrap().parser.screen_mut().set_size(cells(rows), cells(cols));
        self.master.resize(PtySize { rows, cols, ..SIZE }).unwrap();
    }

    /// Checks that every terminal mode is restored.
    #[track_caller]
    fn is_sane(&self) {
        let glass = self.glass.0.lock().unwrap();
        let screen = glass.parser.screen();
        assert!(!screen.bracketed_paste() && !screen.hide_cursor() && !screen.alternate_screen());
        assert!(screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None && !screen.application_cursor());
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        // Most have ended already.
        let _ = self.child.kill();
    }
}

fn cells(count: u16) -> std::num::NonZeroU16 {
    std::num::NonZeroU16::new(count).unwrap()
}

/// Runs a scene on a thread that may block.
async fn at_a_seat<T>(work: impl FnOnce() -> T) -> T {
    tokio::task::block_in_place(work)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_talk_with_a_tool_call_and_its_way_back() {
    let turns = [
        Turn::text("Looking.").and_call("read", json!({"path": "a.txt"})),
        Turn::text("It has **three** lines."),
        Turn::text("Glad to."),
    ];
    let scene = Scene::new(Wire::Anthropic, turns).await;
    at_a_seat(|| {
        let mut seat = Seat::omp(&scene, &[]);
        seat.until("mock/mock-model");
        seat.keys("what is in a.txt?\r");
        seat.until("It has three lines.");
        seat.until_gone("to interrupt");
        let text = seat.text();
        assert!(text.contains("› what is in a.txt?") && text.contains("read a.txt"), "{text}");
        seat.resize(60, 20);
        seat.until("It has three lines.");
        seat.keys("\x04");
        assert_eq!(seat.end(), 0);
        assert!(seat.text().contains("omp --resume"), "{}", seat.text());
        seat.is_sane();
    })
    .await;
    let said: Vec<String> =
        outline(&scene.messages()).iter().map(|line| line.split('#').next().unwrap().to_owned()).collect();
    assert_eq!(
        said,
        [
            "user: what is in a.txt?",
            "assistant: Looking. [read]",
            "result: [a.txt",
            "assistant: It has **three** lines."
        ]
    );
    at_a_seat(|| {
        let mut seat = Seat::omp(&scene, &["--continue", "thanks"]);
        seat.until("Glad to.");
        let all = seat.all();
        assert!(all.contains("what is in a.txt?") && all.contains("› thanks"), "{all}");
        seat.keys("\x03\x03");
        assert_eq!(seat.end(), 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signal_leaves_a_sane_terminal() {
    use nix::sys::signal::{Signal, kill};
    let scene = Scene::new(Wire::Anthropic, [Turn::text("Never.")]).await;
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGHUP, 129)] {
        at_a_seat(|| {
            let mut seat = Seat::omp(&scene, &[]);
            seat.until("mock/mock-model");
            let pid = i32::try_from(seat.child.process_id().unwrap()).unwrap();
            kill(nix::unistd::Pid::from_raw(pid), signal).unwrap();
            assert_eq!(seat.end(), code, "{signal}");
            seat.is_sane();
        })
        .await;
    }
}

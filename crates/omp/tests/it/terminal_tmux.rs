//! The binary in a pane of a real tmux that is resized, split and zoomed while an answer streams.

use std::time::{Duration, Instant};

use omp_testkit::{Text, Tmux, Turn, Wire};

use crate::harness::Scene;
use crate::seat::{READY, RUNS, at_a_seat, environment};

const LIMIT: Duration = Duration::from_secs(90);
/// How long the screen may take to settle after the last action.
const SETTLES: Duration = Duration::from_secs(20);
const PARAGRAPHS: usize = 25;
const WORDS: usize = 30;

/// Actions of a user on a pane.
const GESTURES: [&[&str]; 12] = [
    &["resize-window", "-x", "60", "-y", "20"],
    &["resize-window", "-x", "100", "-y", "20"],
    &["resize-window", "-x", "100", "-y", "12"],
    &["split-window", "-h", "-d", "cat"],
    &["resize-pane", "-Z"],
    &["resize-pane", "-Z"],
    &["split-window", "-v", "-d", "cat"],
    &["resize-pane", "-y", "6"],
    &["kill-pane", "-a"],
    &["resize-window", "-x", "41", "-y", "30"],
    &["resize-window", "-x", "33", "-y", "14"],
    &["resize-window", "-x", "80", "-y", "24"],
];

/// A pane with omp in it.
struct Pane {
    tmux: Tmux,
}

impl Pane {
    fn start(scene: &Scene) -> Self {
        let mut words = vec!["env".to_owned(), "-u".to_owned(), "TERM_PROGRAM".to_owned()];
        let outside = environment(scene).into_iter().filter(|(name, _)| name != "TERM");
        words.extend(outside.map(|(name, value)| format!("{name}={value}")));
        words.push(env!("CARGO_BIN_EXE_omp").to_owned());
        words.extend(scene.workspace.args(&[]).iter().map(|word| word.to_string_lossy().into_owned()));
        let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        let script = format!("{}; exec cat", quoted.join(" "));
        let pane = Self { tmux: Tmux::new().unwrap() };
        pane.told(&["-u", "new-session", "-d", "-x", "80", "-y", "24", &script]);
        pane
    }

    fn told(&self, arguments: &[&str]) -> String {
        self.tmux.told(arguments).unwrap()
    }

    fn pane(&self) -> String {
        self.told(&["capture-pane", "-p", "-t", ":0.0"])
    }

    /// Checks the pane and runs `meanwhile` until it matches.
    #[track_caller]
    fn until(&self, what: &str, wanted: impl Fn(&str) -> bool, mut meanwhile: impl FnMut(&Self)) {
        let start = Instant::now();
        loop {
            let pane = self.pane();
            if wanted(&pane) {
                return;
            }
            assert!(start.elapsed() < LIMIT, "waited in vain for {what}:\n{pane}");
            meanwhile(self);
        }
    }
}

fn words() -> impl Iterator<Item = (usize, usize, String)> {
    (1..=PARAGRAPHS).flat_map(|number| (1..=WORDS).map(move |word| (number, word, format!("p{number}.{word}"))))
}

fn answer() -> Turn {
    let chunk = |(_, at, word): (usize, usize, String)| format!("{word}{}", if at == WORDS { "\n\n" } else { " " });
    Turn::text(Text::Chunks(words().map(chunk).collect())).delay_ms(4)
}

#[track_caller]
fn check(scene: &Scene, gestures: &[&[&str]]) {
    let pane = Pane::start(scene);
    pane.until("the prompt", |shown| shown.contains(READY), |_| {});
    pane.told(&["send-keys", "-t", ":0.0", "-l", "tell me"]);
    pane.told(&["send-keys", "-t", ":0.0", "Enter"]);
    pane.until("the answer", |shown| shown.contains("p1.1"), |_| {});
    let last = format!("p{PARAGRAPHS}.{WORDS}");
    let mut done = 0;
    let ended = |shown: &str| shown.split_whitespace().any(|word| word == last) && !shown.contains(RUNS);
    pane.until("the end", ended, |pane| {
        if let Some(gesture) = gestures.get(done % gestures.len().max(1)) {
            // An action may fail, such as a split of a small pane.
            pane.tmux.run(gesture).unwrap();
        }
        done += 1;
    });
    assert!(done >= gestures.len(), "only {done} gestures fitted in");
    // The last action may not be handled yet; lost text does not come back.
    let start = Instant::now();
    while let Some(word) = lost(&pane.told(&["capture-pane", "-p", "-S", "-", "-E", "-", "-t", ":0.0"])) {
        assert!(start.elapsed() < SETTLES, "{word} was lost in\n{}", pane.pane());
    }
}

/// Returns the first missing word, in order.
fn lost(pane: &str) -> Option<String> {
    let mut shown = pane.split_whitespace();
    words().map(|(_, _, word)| word).find(|word| !shown.any(|shown| shown == word))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_in_a_pane_that_is_left_alone() {
    let scene = Scene::new(Wire::Anthropic, [answer()]).await;
    at_a_seat(|| check(&scene, &[])).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_in_a_pane_that_is_resized_during_an_answer() {
    let scene = Scene::new(Wire::Anthropic, [answer()]).await;
    at_a_seat(|| check(&scene, &GESTURES)).await;
}

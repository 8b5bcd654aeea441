//! The binary in a pane of a real tmux that is resized, split and zoomed while an answer streams.

use std::time::{Duration, Instant};

use omp_testkit::{Text, Tmux, Turn, Wire};

use crate::harness::Scene;
use crate::seat::{READY, RUNS, at_a_seat, environment};

const LIMIT: Duration = Duration::from_secs(180);
/// How long the screen may take to settle after the last action.
const SETTLES: Duration = Duration::from_secs(20);
const WORDS: usize = 30;
/// Between two words of the answer.
const PACE_MS: u64 = 4;
/// Rows that the shell printed before omp started.
const BEFORE: usize = 40;
/// The pane is checked after so many gestures.
const GESTURES: usize = 15;

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
        let script = format!("seq -f 'before-%g' {BEFORE}; {}; exec cat", quoted.join(" "));
        let pane = Self { tmux: Tmux::new().unwrap() };
        pane.told(&["-u", "new-session", "-d", "-x", "80", "-y", "24", &script]);
        pane
    }

    fn told(&self, arguments: &[&str]) -> String {
        self.tmux.told(arguments).unwrap()
    }

    /// Runs something that may be impossible, such as a split of a small pane.
    fn run(&self, arguments: &[&str]) -> bool {
        self.tmux.run(arguments).unwrap().status.success()
    }

    fn pane(&self) -> String {
        self.told(&["capture-pane", "-p", "-t", ":0.0"])
    }

    /// The history and the screen, with rows joined that tmux itself has wrapped.
    fn whole(&self) -> String {
        self.told(&["capture-pane", "-p", "-J", "-S", "-", "-E", "-", "-t", ":0.0"])
    }

    fn is_split(&self) -> bool {
        self.told(&["list-panes", "-t", ":0"]).lines().count() > 1
    }

    fn size(&self) -> String {
        self.told(&["display-message", "-p", "-t", ":0.0", "#{pane_width}x#{pane_height}"])
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

/// What a user does to a pane, in a random order that the seed repeats.
struct Gestures {
    seed: u64,
    done: usize,
    resized: usize,
    split_or_zoomed: usize,
}

impl Gestures {
    fn new(seed: u64) -> Self {
        Self { seed, done: 0, resized: 0, split_or_zoomed: 0 }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) % limit
    }

    /// Changes the size of the pane: sometimes several times before tmux has notified omp, sometimes after a rest.
    fn next(&mut self, pane: &Pane) {
        std::thread::sleep(Duration::from_millis(self.below(200)));
        self.done += 1;
        let before = pane.size();
        let special = match self.below(8) {
            0 | 1 if pane.is_split() => pane.run(&["kill-pane", "-a", "-t", ":0.0"]),
            0 => pane.run(&["split-window", "-h", "-d", "-t", ":0.0", "cat"]),
            1 => pane.run(&["split-window", "-v", "-d", "-t", ":0.0", "cat"]),
            2 | 3 => pane.run(&["resize-pane", "-Z", "-t", ":0.0"]),
            _ => {
                let (width, height) = (40 + self.below(100), 18 + self.below(28));
                pane.run(&["resize-window", "-x", &width.to_string(), "-y", &height.to_string()]);
                false
            }
        };
        let resized = pane.size() != before;
        self.resized += usize::from(resized);
        self.split_or_zoomed += usize::from(resized && special);
    }
}

fn words(paragraphs: usize) -> impl Iterator<Item = String> {
    (1..=paragraphs).flat_map(|number| (1..=WORDS).map(move |word| format!("p{number}.{word}")))
}

fn answer(paragraphs: usize) -> Turn {
    let chunk = |(at, word): (usize, String)| format!("{word}{}", if (at + 1) % WORDS == 0 { "\n\n" } else { " " });
    Turn::text(Text::Chunks(words(paragraphs).enumerate().map(chunk).collect())).delay_ms(PACE_MS)
}

/// Streams an answer while the pane is changed, and checks that every word is in tmux once and in order, on the way and at
/// the end.
#[track_caller]
fn check(scene: &Scene, paragraphs: usize, gestures: Option<&mut Gestures>) {
    let pane = Pane::start(scene);
    pane.until("the prompt", |shown| shown.contains(READY), |_| {});
    pane.told(&["send-keys", "-t", ":0.0", "-l", "tell me"]);
    pane.told(&["send-keys", "-t", ":0.0", "Enter"]);
    pane.until("the answer", |shown| shown.contains("p1.1"), |_| {});
    let last = format!("p{paragraphs}.{WORDS}");
    let ended = |shown: &str| shown.split_whitespace().any(|word| word == last) && !shown.contains(RUNS);
    match gestures {
        Some(gestures) => pane.until("the end", ended, |pane| {
            gestures.next(pane);
            if gestures.done.is_multiple_of(GESTURES) {
                settles(pane, |whole| words_once(whole, paragraphs));
            }
        }),
        None => pane.until("the end", ended, |_| {}),
    }
    settles(&pane, |whole| match words_once(whole, paragraphs)? {
        count if count == paragraphs * WORDS => Ok(count),
        count => Err(format!("only {count} words")),
    });
}

/// The last action may not be handled yet.
#[track_caller]
fn settles(pane: &Pane, check: impl Fn(&str) -> Result<usize, String>) {
    let start = Instant::now();
    while let Err(problem) = check(&pane.whole()) {
        assert!(start.elapsed() < SETTLES, "{problem} in\n{}", pane.whole());
    }
}

/// Checks that the pane holds the rows of the shell and the words of the answer so far, each once and in order. Returns the
/// number of words. A narrow pane may break words, so spaces do not count.
fn words_once(pane: &str, paragraphs: usize) -> Result<usize, String> {
    let before: Vec<&str> = pane.lines().map(str::trim).filter(|row| row.starts_with("before-")).collect();
    if before != (1..=BEFORE).map(|number| format!("before-{number}")).collect::<Vec<_>>() {
        return Err(format!("the rows of the shell are {before:?}"));
    }
    if pane.contains("starting…") {
        return Err("the first frame is in the history".to_owned());
    }
    let is_ours = |row: &&str| row.chars().all(|char| matches!(char, 'p' | '.' | ' ' | '0'..='9'));
    let shown: String = pane.lines().filter(is_ours).flat_map(str::split_whitespace).collect();
    let expected: String = words(paragraphs).collect();
    let same = shown.bytes().zip(expected.bytes()).take_while(|(shown, expected)| shown == expected).count();
    if same < shown.len() {
        let after = |text: &str| text[same.saturating_sub(20)..text.len().min(same + 60)].to_owned();
        return Err(format!("{} instead of {}", after(&shown), after(&expected)));
    }
    let mut ends = words(paragraphs).scan(0, |end, word| {
        *end += word.len();
        Some(*end)
    });
    // The last word may be shown in part.
    Ok(ends.position(|end| end > same).unwrap_or(paragraphs * WORDS))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pane_that_is_left_alone_holds_every_word_once() {
    let scene = Scene::new(Wire::Anthropic, [answer(25)]).await;
    at_a_seat(|| check(&scene, 25, None)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_two_hundred_resizes_a_pane_holds_every_word_once() {
    let (mut resized, mut split_or_zoomed) = (0, 0);
    for seed in 1.. {
        let scene = Scene::new(Wire::Anthropic, [answer(200)]).await;
        let mut gestures = Gestures::new(seed);
        at_a_seat(|| check(&scene, 200, Some(&mut gestures))).await;
        resized += gestures.resized;
        split_or_zoomed += gestures.split_or_zoomed;
        if resized >= 200 && split_or_zoomed >= 20 {
            break;
        }
    }
}

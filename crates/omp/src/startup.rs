//! Times the phases of startup, to find out why it is slow or hangs (`PI_TIMING`, `PI_DEBUG_STARTUP`).
//!
//! The state is global to the process: phases of startup are in many modules, and none of them should have to pass it on. If
//! neither variable is set, a phase costs one check of an empty cell.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use omp_types::{Env, vars};

/// Caps the recorded phases, because sessions opened later add phases too.
const MAX_SPANS: usize = 256;

static PROCESS: OnceLock<Startup> = OnceLock::new();

/// Starts timing if the environment asks for it. Reading the environment is recorded as the first phase.
pub fn begin(env: &Env, process_began: Instant) {
    if let Some(startup) = Startup::wanted(env) {
        startup.note("environment", process_began);
        // `begin` runs once.
        let _ = PROCESS.set(startup);
    }
}

/// A phase of startup, which ends when this is dropped.
#[must_use]
pub struct StartupPart {
    index: Option<usize>,
}

pub fn part(name: &'static str) -> StartupPart {
    StartupPart { index: PROCESS.get().and_then(|startup| startup.enter(name)) }
}

impl Drop for StartupPart {
    fn drop(&mut self) {
        if let (Some(startup), Some(index)) = (PROCESS.get(), self.index) {
            startup.leave(index);
        }
    }
}

/// Prints the timings and stops recording. Returns `true` if omp should then exit (`PI_TIMING=x`).
pub fn told() -> bool {
    let Some(startup) = PROCESS.get() else { return false };
    if let Some(tree) = startup.end() {
        // If standard error is closed, nobody can be notified.
        let _ = std::io::stderr().write_all(tree.as_bytes());
    }
    startup.leaves
}

struct Startup {
    spans: Mutex<Spans>,
    /// `PI_DEBUG_STARTUP`
    marks: bool,
    /// `PI_TIMING`
    times: bool,
    /// `PI_TIMING=x`
    leaves: bool,
}

#[derive(Default)]
struct Spans {
    all: Vec<StartupSpan>,
    depth: usize,
    ended: bool,
}

struct StartupSpan {
    name: &'static str,
    depth: usize,
    begun: Instant,
    took: Option<Duration>,
}

impl Startup {
    fn wanted(env: &Env) -> Option<Self> {
        let (timing, marks) = (env.get(vars::PI_TIMING), env.get(vars::PI_DEBUG_STARTUP).is_some());
        let leaves = timing == Some("x");
        (timing.is_some() || marks).then(|| Self { spans: Mutex::default(), marks, times: timing.is_some(), leaves })
    }

    fn note(&self, name: &'static str, begun: Instant) {
        let took = Some(begun.elapsed());
        self.lock().all.push(StartupSpan { name, depth: 0, begun, took });
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Spans> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, name: &'static str) -> Option<usize> {
        let mut spans = self.lock();
        if spans.ended || spans.all.len() >= MAX_SPANS {
            return None;
        }
        self.mark(name, "start");
        let depth = spans.depth;
        spans.depth += 1;
        spans.all.push(StartupSpan { name, depth, begun: Instant::now(), took: None });
        Some(spans.all.len() - 1)
    }

    fn leave(&self, index: usize) {
        let mut spans = self.lock();
        spans.depth = spans.depth.saturating_sub(1);
        let ended = spans.ended;
        if let Some(span) = spans.all.get_mut(index) {
            span.took = Some(span.begun.elapsed());
            if !ended {
                self.mark(span.name, "done");
            }
        }
    }

    /// Writes at once and unbuffered, so that the mark is visible if the next phase hangs.
    fn mark(&self, name: &str, what: &str) {
        if self.marks {
            let _ = writeln!(std::io::stderr(), "[startup] {name}:{what}");
        }
    }

    /// Returns the tree on the first call. A phase that still runs has no time.
    fn end(&self) -> Option<String> {
        let mut spans = self.lock();
        if std::mem::replace(&mut spans.ended, true) || !self.times {
            return None;
        }
        let first = spans.all.first().map(|span| span.begun.elapsed()).unwrap_or_default();
        let mut tree = format!("startup: {}\n", milliseconds(first));
        for span in &spans.all {
            let took = span.took.map_or_else(|| "still running".to_owned(), milliseconds);
            // Writing to a string cannot fail.
            let _ = writeln!(tree, "{:indent$}{}: {took}", "", span.name, indent = 2 + 2 * span.depth);
        }
        Some(tree)
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(pairs: &[(&str, &str)]) -> Option<Startup> {
        Startup::wanted(&pairs.iter().copied().collect())
    }

    #[test]
    fn parts_are_told_as_a_tree_once() {
        let startup = wanted(&[("PI_TIMING", "1")]).unwrap();
        startup.note("environment", Instant::now());
        let outer = startup.enter("session").unwrap();
        let inner = startup.enter("model").unwrap();
        startup.leave(inner);
        startup.enter("hangs").unwrap();
        startup.leave(outer);
        let tree = startup.end().unwrap();
        let names: Vec<&str> = tree.lines().map(|line| line.split(':').next().unwrap()).collect();
        assert_eq!(names, ["startup", "  environment", "  session", "    model", "    hangs"]);
        assert!(tree.ends_with("hangs: still running\n") && tree.contains(" ms\n"), "{tree}");
        assert!(startup.end().is_none() && startup.enter("late").is_none());
    }

    #[test]
    fn variables_say_what_is_told() {
        assert!(wanted(&[]).is_none() && wanted(&[("PI_TIMING", "")]).is_none());
        let rows = [("PI_TIMING", "1"), ("PI_TIMING", "x"), ("PI_DEBUG_STARTUP", "1")];
        let told = rows.map(|pair| wanted(&[pair]).map(|it| (it.marks, it.times, it.leaves)).unwrap());
        assert_eq!(told, [(false, true, false), (false, true, true), (true, false, false)]);
    }

    #[test]
    fn there_is_an_end_to_parts() {
        let startup = wanted(&[("PI_TIMING", "1")]).unwrap();
        assert_eq!((0..1000).filter_map(|_| startup.enter("again")).count(), MAX_SPANS);
    }
}

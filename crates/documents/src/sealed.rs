//! Runs third-party parsers isolated: on a separate thread, with a stack sufficient for the limits, with panics caught and
//! with a time limit.
//!
//! A thread cannot be killed from outside. Our own loops check the time and stop with a partial result; a parser that does
//! not check is abandoned, and while too many of those still run, no further document is started.

use std::any::Any;
use std::cell::OnceCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::{ConvertedDocument, DocumentError};

/// Enough for [`crate::DocumentLimits::depth`] levels of the most stack-hungry parser.
const STACK: usize = 64 * 1024 * 1024;
/// Interval of the cancellation check.
const TICK: Duration = Duration::from_millis(20);
/// Additional time for work that checks the limit to return its partial result.
const GRACE: Duration = Duration::from_secs(2);
const MAX_LEFT_BEHIND: usize = 4;

static LEFT_BEHIND: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());

thread_local! {
    /// The time limit of the document on this thread.
    static TIME: OnceCell<Arc<Time>> = const { OnceCell::new() };
}

struct Time {
    given: Duration,
    end: Instant,
    /// Nobody waits for the result any more.
    is_over: AtomicBool,
}

/// Runs the work, unless it takes longer than `given` or is cancelled.
pub fn run<T: Send + 'static>(
    given: Duration,
    cancelled: &dyn Fn() -> bool,
    work: impl FnOnce() -> Result<T, DocumentError> + Send + 'static,
) -> Result<T, DocumentError> {
    refuse_when_too_many_are_left_behind()?;
    let end = Instant::now() + given;
    let time = Arc::new(Time { given, end, is_over: AtomicBool::new(false) });
    let (done, result) = sync_channel(1);
    let times = time.clone();
    let job = move || {
        TIME.with(|time| time.set(times)).ok();
        let outcome = catch_unwind(AssertUnwindSafe(work));
        // If sending fails, nobody waits for the result any more.
        done.send(
            outcome
                .unwrap_or_else(|panic| Err(DocumentError::Broken(format!("its parser failed: {}", reason(&*panic))))),
        )
        .ok();
    };
    let thread = std::thread::Builder::new().name("document".into()).stack_size(STACK);
    let handle = thread.spawn(job).map_err(DocumentError::broken)?;
    loop {
        let why = match result.recv_timeout(TICK) {
            Ok(outcome) => return outcome,
            Err(RecvTimeoutError::Disconnected) => return Err(DocumentError::broken("its parser failed")),
            Err(RecvTimeoutError::Timeout) if cancelled() => DocumentError::Cancelled,
            Err(RecvTimeoutError::Timeout) if Instant::now() >= end + GRACE => DocumentError::TooSlow { given },
            Err(RecvTimeoutError::Timeout) => continue,
        };
        time.is_over.store(true, Ordering::Relaxed);
        left_behind().push(handle);
        return Err(why);
    }
}

/// Called by the work itself, as often as needed.
pub fn is_over() -> bool {
    let over = |time: &Arc<Time>| time.is_over.load(Ordering::Relaxed) || Instant::now() >= time.end;
    TIME.with(|time| time.get().is_some_and(over))
}

/// Returns an error after the time limit.
pub fn check_time() -> Result<(), DocumentError> {
    let given = TIME.with(|time| time.get().map(|time| time.given)).unwrap_or_default();
    if is_over() { Err(DocumentError::TooSlow { given }) } else { Ok(()) }
}

/// Returns the partial document at the time limit, or an error if it is empty.
pub fn in_time(mut document: ConvertedDocument) -> Result<ConvertedDocument, DocumentError> {
    let Err(error) = check_time() else { return Ok(document) };
    if document.markdown.is_empty() {
        return Err(error);
    }
    document.left_out.push(error.to_string());
    Ok(document)
}

fn refuse_when_too_many_are_left_behind() -> Result<(), DocumentError> {
    let mut threads = left_behind();
    threads.retain(|thread| !thread.is_finished());
    match threads.len() {
        count if count >= MAX_LEFT_BEHIND => Err(DocumentError::Busy { count }),
        _ => Ok(()),
    }
}

fn left_behind() -> std::sync::MutexGuard<'static, Vec<JoinHandle<()>>> {
    LEFT_BEHIND.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the message of a panic.
pub fn reason(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no reason given")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    const ENOUGH: Duration = Duration::from_secs(60);
    /// Abandoned threads are counted per process, so these tests must not run concurrently.
    static ALONE: Mutex<()> = Mutex::new(());

    #[test]
    fn panics_become_errors() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(run(ENOUGH, &|| false, || Ok(3)), Ok(3));
        let panicking = || -> Result<(), DocumentError> { std::panic::panic_any("lost the thread".to_owned()) };
        let error = run(ENOUGH, &|| false, panicking);
        assert_eq!(error, Err(DocumentError::Broken("its parser failed: lost the thread".into())));
    }

    #[test]
    fn work_that_asks_hands_over_what_it_has() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let counting = || {
            let mut count = 0_u64;
            while !is_over() {
                count += 1;
            }
            Ok((count, check_time()))
        };
        let given = Duration::from_millis(1);
        let (_, checked) = run(given, &|| false, counting).unwrap();
        assert_eq!(checked, Err(DocumentError::TooSlow { given }));
        assert!(!is_over(), "the time of a document is that of its thread");
    }

    #[test]
    fn work_that_does_not_ask_is_left_behind() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let stuck = || {
            let (release, released) = channel::<()>();
            (release, move || released.recv().map_err(DocumentError::broken))
        };
        let mut held = Vec::new();
        let (release, work) = stuck();
        held.push(release);
        let given = Duration::from_millis(1);
        assert_eq!(run(given, &|| false, work), Err(DocumentError::TooSlow { given }));
        for _ in 1..MAX_LEFT_BEHIND {
            let (release, work) = stuck();
            held.push(release);
            assert_eq!(run(ENOUGH, &|| true, work), Err(DocumentError::Cancelled));
        }
        let busy = refuse_when_too_many_are_left_behind();
        assert_eq!(busy, Err(DocumentError::Busy { count: MAX_LEFT_BEHIND }));
        drop(held);
        while refuse_when_too_many_are_left_behind().is_err() {
            std::thread::yield_now();
        }
        assert_eq!(run(ENOUGH, &|| false, || Ok(1)), Ok(1));
    }
}

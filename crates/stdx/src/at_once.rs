//! Processes many items in parallel, with more threads the longer it takes: a slow disk answers many requests in the time of
//! one.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Threads besides the caller's.
const MOST_HELPERS: usize = 15;
/// How long the caller works alone. A local disk has answered by then.
const PATIENCE: Duration = Duration::from_millis(3);
const STACK: usize = 256 * 1024;

/// Applies `work` to each item and returns the results in order.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    map_after(PATIENCE, items, work)
}

fn map_after<T: Sync, R: Send>(patience: Duration, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let one = || {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let Some(item) = items.get(at) else { return false };
        let result = work(item);
        done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
        true
    };
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let mut has_helpers = false;
        while one() {
            if !has_helpers && begun.elapsed() >= patience {
                has_helpers = true;
                let left = items.len().saturating_sub(next.load(Ordering::Relaxed));
                // The caller processes one of the remaining items.
                for _ in 0..left.saturating_sub(1).min(MOST_HELPERS) {
                    let helper = std::thread::Builder::new().stack_size(STACK);
                    // If no more threads can be started, the existing ones process everything.
                    if helper.spawn_scoped(scope, || while one() {}).is_err() {
                        break;
                    }
                }
            }
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn results_have_the_order_of_the_items_however_many_work() {
        let items: Vec<u64> = (0..500).collect();
        let expect: Vec<u64> = items.iter().map(|item| item * 2).collect();
        for patience in [Duration::ZERO, Duration::MAX] {
            assert_eq!(map_after(patience, &items, |item| item * 2), expect);
        }
        assert_eq!(map(&[], |item: &u64| *item), Vec::<u64>::new());
    }

    #[test]
    fn what_is_quick_needs_no_other_thread_and_what_is_slow_has_as_many_as_there_may_be() {
        let threads = |patience: Duration, items: usize, work: &(dyn Fn(usize) + Sync)| {
            let items: Vec<usize> = (0..items).collect();
            let who = map_after(patience, &items, |item| {
                work(*item);
                format!("{:?}", std::thread::current().id())
            });
            who.into_iter().collect::<BTreeSet<_>>().len()
        };
        assert_eq!(threads(Duration::MAX, 100, &|_| ()), 1);
        // All threads wait for each other, because the first item is done before the helpers start.
        let all = Barrier::new(MOST_HELPERS + 1);
        let meet = |item: usize| {
            if item > 0 {
                all.wait();
            }
        };
        assert_eq!(threads(Duration::ZERO, 1 + MOST_HELPERS + 1, &meet), MOST_HELPERS + 1);
    }
}

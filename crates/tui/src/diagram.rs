//! Draws Mermaid diagrams as text, on a thread of their own: the renderer is third-party code that may panic and cannot be
//! stopped. A diagram that is not drawn in time stays source text.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mermaid_text::{RenderOptions, render_with_options};
use omp_stdx::display_width;

/// Longer sources are not drawn, because the work grows faster than they do.
pub const LONGEST_SOURCE: usize = 16 * 1024;
const MOST_ROWS: usize = 400;
/// The terminal stands still for so long at most.
const PATIENCE: Duration = Duration::from_millis(200);
/// Nested diagrams are drawn recursively.
const STACK: usize = 32 * 1024 * 1024;
const MOST_KEPT: usize = 64;

/// Draws diagrams and keeps the newest drawings. Copies share them.
#[derive(Clone, Debug, Default)]
pub struct Diagrams {
    kept: Arc<Mutex<VecDeque<KeptDiagram>>>,
    busy: Arc<AtomicBool>,
}

#[derive(Clone, Debug)]
struct KeptDiagram {
    source: String,
    width: usize,
    rows: Option<Arc<[String]>>,
}

impl Diagrams {
    /// Returns the rows of a diagram, or `None` if it cannot be drawn within the width.
    pub fn draw(&self, source: &str, width: usize) -> Option<Arc<[String]>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.iter().find(|known| known.width == width && known.source == source) {
            return known.rows.clone();
        }
        let rows = self.in_time(source, width);
        if kept.len() == MOST_KEPT {
            kept.pop_front();
        }
        kept.push_back(KeptDiagram { source: source.to_owned(), width, rows: rows.clone() });
        rows
    }

    /// Only one thread draws at a time, so that those that hang cannot pile up.
    fn in_time(&self, source: &str, width: usize) -> Option<Arc<[String]>> {
        if source.len() > LONGEST_SOURCE || self.busy.swap(true, Ordering::AcqRel) {
            return None;
        }
        let (sender, receiver) = sync_channel(1);
        let (free, source) = (FreeAtEnd(self.busy.clone()), source.to_owned());
        let started = std::thread::Builder::new().name("diagram".to_owned()).stack_size(STACK).spawn(move || {
            let drawn = render(&source, width);
            drop(free);
            // Nobody waits any more if it took too long.
            drop(sender.send(drawn));
        });
        started.ok()?;
        receiver.recv_timeout(PATIENCE).ok().flatten()
    }
}

struct FreeAtEnd(Arc<AtomicBool>);

impl Drop for FreeAtEnd {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

fn render(source: &str, width: usize) -> Option<Arc<[String]>> {
    let options = RenderOptions { max_width: Some(width), ..RenderOptions::default() };
    let drawn = render_with_options(source, &options).ok()?;
    let rows: Vec<String> =
        drawn.trim_end().lines().map(|row| omp_stdx::sanitize::strip_control(row).trim_end().to_owned()).collect();
    let fits = !rows.is_empty()
        && rows.len() <= MOST_ROWS
        && rows.iter().all(|row| !row.contains('\t') && display_width::width(row) <= width);
    fits.then(|| rows.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_drawn_is_drawn_once() {
        let diagrams = Diagrams::default();
        let drawn = diagrams.draw("graph LR; A-->B", 60).expect("a drawing");
        assert!(drawn.iter().any(|row| row.contains('A') && row.contains('B')), "{drawn:?}");
        let again = diagrams.draw("graph LR; A-->B", 60).expect("a drawing");
        assert!(Arc::ptr_eq(&drawn, &again));
        for (source, width) in [("nonsense", 60), ("graph LR; A-->B", 3), ("", 60)] {
            assert_eq!(diagrams.draw(source, width), None, "{source}");
        }
        assert_eq!(diagrams.draw(&"graph LR; A-->B\n".repeat(2_000), 60), None);
        for width in 20..120 {
            diagrams.draw("nonsense", width);
        }
        assert_eq!(diagrams.kept.lock().unwrap().len(), MOST_KEPT);
    }
}

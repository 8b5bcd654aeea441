//! Draws on a separate thread, because the renderer is third-party code that cannot be stopped and may panic.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mermaid_text::{RenderOptions, render_with_options};
use omp_stdx::format::{bytes, grouped};
use omp_stdx::truncate::{Keep, to_fit};
use tokio::sync::oneshot;

/// Limits the source, because the work grows faster than its size.
const MAX_SOURCE: usize = 16 * 1024;
const MAX_WAIT: Duration = Duration::from_secs(10);
const MAX_LINES: usize = 1000;
const MAX_BYTES: usize = 50 * 1024;
/// Large, because nested diagrams are drawn recursively.
const STACK: usize = 32 * 1024 * 1024;

/// Draws one diagram at a time, so that abandoned drawings cannot pile up.
#[derive(Debug, Default)]
pub struct Canvas {
    busy: Arc<AtomicBool>,
}

impl Canvas {
    pub async fn draw(&self, source: String, ascii: bool) -> Result<String, String> {
        if source.len() > MAX_SOURCE {
            let (size, most) = (bytes(source.len() as u64), bytes(MAX_SOURCE as u64));
            return Err(format!("the diagram has {size} of source; at most {most} are drawn\nhint: draw a part of it"));
        }
        self.on_its_own_thread(move || render(&source, ascii)).await
    }

    async fn on_its_own_thread(
        &self,
        work: impl FnOnce() -> Result<String, String> + Send + 'static,
    ) -> Result<String, String> {
        if self.busy.swap(true, Ordering::AcqRel) {
            return Err("another diagram is still being drawn\nhint: try again later".to_owned());
        }
        let (sender, receiver) = oneshot::channel();
        let free = Free(self.busy.clone());
        let started = std::thread::Builder::new().name("mermaid".to_owned()).stack_size(STACK).spawn(move || {
            let _free = free;
            // Without a receiver the drawing is no longer wanted.
            drop(sender.send(work()));
        });
        started.map_err(|error| format!("cannot start drawing: {error}"))?;
        match tokio::time::timeout(MAX_WAIT, receiver).await {
            Ok(Ok(drawn)) => drawn,
            Ok(Err(_)) => Err("the renderer failed on this diagram\nhint: simplify it".to_owned()),
            Err(_) => Err(format!("the diagram was not drawn within {} s\nhint: simplify it", MAX_WAIT.as_secs())),
        }
    }
}

/// Releases the canvas when the thread ends, also after a panic.
struct Free(Arc<AtomicBool>);

impl Drop for Free {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

fn render(source: &str, ascii: bool) -> Result<String, String> {
    let options = RenderOptions { max_width: Some(120), ascii, ..RenderOptions::default() };
    let drawn = render_with_options(unfenced(source), &options).map_err(|error| error.to_string())?;
    let drawn = drawn.trim_end();
    let fitted = to_fit(drawn, MAX_LINES, MAX_BYTES, Keep::Head);
    let text = fitted.join(|cut| format!("({} lines of the drawing are not shown)", grouped(cut.lines as u64)));
    Ok(text.into_owned())
}

/// Removes the code fence that models often include.
fn unfenced(source: &str) -> &str {
    let source = source.trim();
    let inside = source.strip_prefix("```mermaid").or_else(|| source.strip_prefix("```"));
    inside.map_or(source, |inside| inside.strip_suffix("```").unwrap_or(inside).trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_answer_and_frees_the_canvas() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let canvas = Canvas::default();
        let broken = runtime.block_on(canvas.on_its_own_thread(|| panic!("on purpose")));
        assert!(broken.unwrap_err().starts_with("the renderer failed"));
        // The thread clears the flag while it unwinds, after it dropped the sender, so it may still be set for a moment.
        while canvas.busy.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        assert_eq!(runtime.block_on(canvas.on_its_own_thread(|| Ok("fine".into()))), Ok("fine".into()));
    }

    #[test]
    fn only_one_is_drawn_at_a_time() {
        let canvas = Canvas::default();
        canvas.busy.store(true, Ordering::Release);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let refused = runtime.block_on(canvas.draw("graph LR; A-->B".into(), false)).unwrap_err();
        assert!(refused.starts_with("another diagram is still being drawn"));
    }
}

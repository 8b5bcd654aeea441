//! Hides secrets in streamed text: a possible start of a secret is buffered until the rest arrives.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use omp_types::StreamEvent;

use crate::veil::Veil;

pub(crate) struct Sieve {
    veil: Arc<Veil>,
    /// Buffered text by block.
    waiting: BTreeMap<usize, WithheldText>,
    ready: VecDeque<StreamEvent>,
}

struct WithheldText {
    kind: StreamTextKind,
    text: String,
}

#[derive(Clone, Copy)]
enum StreamTextKind {
    Text,
    Thinking,
    ToolCall,
}

impl Sieve {
    pub fn new(veil: Arc<Veil>) -> Self {
        Self { veil, waiting: BTreeMap::new(), ready: VecDeque::new() }
    }

    pub fn next(&mut self) -> Option<StreamEvent> {
        self.ready.pop_front()
    }

    pub fn push(&mut self, event: StreamEvent) {
        match event {
            StreamEvent::TextDelta { content_index, delta } => self.delta(content_index, StreamTextKind::Text, delta),
            StreamEvent::ThinkingDelta { content_index, delta } => {
                self.delta(content_index, StreamTextKind::Thinking, delta)
            }
            StreamEvent::ToolCallDelta { content_index, delta } => {
                self.delta(content_index, StreamTextKind::ToolCall, delta)
            }
            StreamEvent::TextEnd { content_index, mut content } => {
                self.let_go(content_index);
                self.veil.hide_text(&mut content);
                self.ready.push_back(StreamEvent::TextEnd { content_index, content });
            }
            StreamEvent::ThinkingEnd { content_index, mut content } => {
                self.let_go(content_index);
                self.veil.hide_text(&mut content);
                self.ready.push_back(StreamEvent::ThinkingEnd { content_index, content });
            }
            StreamEvent::ToolCallEnd { content_index, tool_call } => {
                self.let_go(content_index);
                let mut calls = [tool_call];
                self.veil.hide_contents(&mut calls);
                let [tool_call] = calls;
                self.ready.push_back(StreamEvent::ToolCallEnd { content_index, tool_call });
            }
            other => {
                if other.is_terminal() {
                    let open: Vec<usize> = self.waiting.keys().copied().collect();
                    open.into_iter().for_each(|index| self.let_go(index));
                }
                self.ready.push_back(other);
            }
        }
    }

    fn delta(&mut self, index: usize, kind: StreamTextKind, delta: String) {
        let mut text = self.waiting.remove(&index).map(|waiting| waiting.text).unwrap_or_default();
        text.push_str(&delta);
        let open = self.veil.patterns().open_end(&text);
        // A complete secret stays together even if its end looks like the start of another.
        let hit = self.veil.patterns().hits(&text).into_iter().find(|hit| hit.range.end > text.len() - open);
        let end = hit.map_or(text.len() - open, |hit| hit.from.min(text.len() - open));
        let waiting = text.split_off(end);
        if !waiting.is_empty() {
            self.waiting.insert(index, WithheldText { kind, text: waiting });
        }
        self.tell(index, kind, text);
    }

    /// Releases the buffer at the end of a block.
    fn let_go(&mut self, index: usize) {
        if let Some(WithheldText { kind, text }) = self.waiting.remove(&index) {
            self.tell(index, kind, text);
        }
    }

    fn tell(&mut self, content_index: usize, kind: StreamTextKind, mut delta: String) {
        self.veil.hide_text(&mut delta);
        if delta.is_empty() {
            return;
        }
        self.ready.push_back(match kind {
            StreamTextKind::Text => StreamEvent::TextDelta { content_index, delta },
            StreamTextKind::Thinking => StreamEvent::ThinkingDelta { content_index, delta },
            StreamTextKind::ToolCall => StreamEvent::ToolCallDelta { content_index, delta },
        });
    }
}

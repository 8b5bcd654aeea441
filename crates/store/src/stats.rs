//! What a session file holds and cost, all its branches counted: what was paid for was paid for.

use std::collections::BTreeMap;

use omp_types::{Content, Message, Usage};

use crate::context::read_line;
use crate::message;
use crate::open::LoadedSession;
use crate::scan::Kind;
use crate::window::Window;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionStats {
    pub entries: usize,
    pub user_messages: usize,
    pub answers: usize,
    pub tool_results: usize,
    pub failed_results: usize,
    /// Messages of the program and of roles unknown here.
    pub other_messages: usize,
    pub compactions: usize,
    /// How often each tool was called.
    pub tool_calls: BTreeMap<String, usize>,
    /// Answers and usage by `provider/model`.
    pub models: BTreeMap<String, ModelStats>,
    pub usage: Usage,
    /// Entries that could not be read.
    pub unreadable: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModelStats {
    pub answers: usize,
    pub usage: Usage,
}

impl LoadedSession {
    /// Reads every message, one at a time.
    pub fn stats(&self) -> SessionStats {
        let mut stats = SessionStats { entries: self.scan.spots.len(), ..SessionStats::default() };
        let mut window = Window::new(&self.file);
        for spot in &self.scan.spots {
            match spot.kind {
                Kind::Message => {
                    let line = read_line(&mut window, spot).ok();
                    match line.and_then(|(line, _)| message::of_message_entry(&line).ok()) {
                        Some((message, _)) => stats.count(&message),
                        None => stats.unreadable += 1,
                    }
                }
                Kind::Compaction => stats.compactions += 1,
                Kind::CustomMessage | Kind::BranchSummary => stats.other_messages += 1,
                _ => {}
            }
        }
        stats
    }
}

impl SessionStats {
    fn count(&mut self, message: &Message) {
        match message {
            Message::User(_) => self.user_messages += 1,
            Message::ToolResult(result) => {
                self.tool_results += 1;
                self.failed_results += usize::from(result.is_error);
            }
            Message::Assistant(answer) => {
                self.answers += 1;
                for part in &answer.content {
                    if let Content::ToolCall(call) = part {
                        *self.tool_calls.entry(call.name.clone()).or_default() += 1;
                    }
                }
                let model = self.models.entry(format!("{}/{}", answer.provider, answer.model)).or_default();
                model.answers += 1;
                model.usage += answer.usage;
                self.usage += answer.usage;
            }
            Message::Custom(_) | Message::Other(_) => self.other_messages += 1,
        }
    }
}

//! The stream of one scripted reply.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use omp_types::{
    AssistantMessage, ErrorKind, MessageBuilder, Model, ModelError, ModelStream, StopReason, StreamEvent, Usage,
};
use tokio::time::Sleep;

use super::{Gate, Reply};
use crate::script::{Stop, Turn};

pub struct ScriptedStream {
    builder: MessageBuilder,
    moves: VecDeque<Move>,
    /// The block that receives deltas.
    block: usize,
    gate: Option<(Gate, usize)>,
    delay: Duration,
    pause: Option<Pin<Box<Sleep>>>,
    ended: bool,
}

/// The next action of the model.
enum Move {
    OpenThinking,
    Thinking(String),
    Sign(String),
    OpenText,
    Text(String),
    OpenCall { id: String, name: String },
    Arguments(String),
    Close,
    Finish(StopReason, Usage),
    Fail(ModelError),
}

impl ScriptedStream {
    pub fn new(model: &Model, reply: Reply, number: usize, gate: Option<Gate>) -> Self {
        let (turn, error) = match reply {
            Reply::Turn(turn) => (turn, None),
            Reply::Fail { partial, error } => (partial, Some(error)),
        };
        let mut builder = MessageBuilder::new(model);
        builder.set_response_id(format!("scripted_{number}"));
        let mut moves = content(&turn, number);
        match error {
            Some(error) => {
                moves.pop_back_if(|last| matches!(last, Move::Close));
                moves.push_back(Move::Fail(error));
            }
            None => moves.push_back(ending(&turn, model)),
        }
        let gate = gate.map(|gate| {
            let number = gate.enter();
            (gate, number)
        });
        Self { builder, moves, block: 0, gate, delay: Duration::from_millis(turn.delay_ms), pause: None, ended: false }
    }

    fn make(&mut self, next: Move) {
        match next {
            Move::OpenThinking => self.block = self.builder.open_thinking(),
            Move::Thinking(chunk) => self.builder.push_thinking(self.block, &chunk),
            Move::Sign(signature) => {
                self.builder.edit_thinking(self.block, |block| block.thinking_signature = Some(signature));
            }
            Move::OpenText => self.block = self.builder.open_text(),
            Move::Text(chunk) => self.builder.push_text(self.block, &chunk),
            Move::OpenCall { id, name } => self.block = self.builder.open_tool_call(&id, &name),
            Move::Arguments(piece) => self.builder.push_arguments(self.block, &piece),
            Move::Close => self.builder.close(self.block),
            Move::Finish(reason, usage) => {
                self.builder.set_usage(usage);
                self.builder.finish(reason);
            }
            Move::Fail(error) => self.builder.fail(error),
        }
    }

    /// Returns one event at a time, so that the message is never ahead of the reported events by more than one.
    fn next_event(&mut self) -> Option<StreamEvent> {
        loop {
            if let Some(event) = self.builder.next_event() {
                return Some(event);
            }
            let next = self.moves.pop_front()?;
            self.make(next);
        }
    }
}

impl Stream for ScriptedStream {
    type Item = StreamEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<StreamEvent>> {
        let this = &mut *self;
        if this.ended {
            return Poll::Ready(None);
        }
        if let Some(pause) = &mut this.pause {
            std::task::ready!(pause.as_mut().poll(cx));
            this.pause = None;
        }
        if let Some((gate, number)) = &this.gate {
            std::task::ready!(gate.poll_pass(*number, cx));
        }
        let event = this.next_event();
        this.ended = event.as_ref().is_none_or(StreamEvent::is_terminal);
        if !this.ended && !this.delay.is_zero() {
            this.pause = Some(Box::pin(tokio::time::sleep(this.delay)));
        }
        Poll::Ready(event)
    }
}

impl ModelStream for ScriptedStream {
    fn message(&self) -> &AssistantMessage {
        self.builder.message()
    }
}

impl Drop for ScriptedStream {
    fn drop(&mut self) {
        if let Some((gate, number)) = &self.gate {
            gate.leave(*number);
        }
    }
}

fn content(turn: &Turn, number: usize) -> VecDeque<Move> {
    let mut moves = VecDeque::new();
    if let Some(thinking) = &turn.thinking {
        moves.push_back(Move::OpenThinking);
        moves.extend(thinking.text.chunks().map(|chunk| Move::Thinking(chunk.into_owned())));
        moves.push_back(Move::Sign(thinking.signature.clone().unwrap_or_else(|| format!("sig_{number}"))));
        moves.push_back(Move::Close);
    }
    if let Some(text) = &turn.text {
        moves.push_back(Move::OpenText);
        moves.extend(text.chunks().map(|chunk| Move::Text(chunk.into_owned())));
        moves.push_back(Move::Close);
    }
    for (position, call) in turn.calls.iter().enumerate() {
        let id = call.id.clone().unwrap_or_else(|| format!("call_{number}_{position}"));
        moves.push_back(Move::OpenCall { id, name: call.name.clone() });
        moves.extend(call.pieces().into_iter().map(Move::Arguments));
        moves.push_back(Move::Close);
    }
    moves
}

fn ending(turn: &Turn, model: &Model) -> Move {
    let reason = match turn.stop_word() {
        Stop::Stop => StopReason::Stop,
        Stop::Length => StopReason::Length,
        Stop::ToolUse => StopReason::ToolUse,
        Stop::Refusal => {
            return Move::Fail(ModelError::new(ErrorKind::Refused, "the scripted model refused to answer"));
        }
        Stop::Raw(word) => {
            let message = format!("stop reason `{word}` belongs to a wire; hint: use `Server`");
            return Move::Fail(ModelError::new(ErrorKind::BadRequest, message));
        }
    };
    let counts = turn.usage.unwrap_or_default();
    let usage = Usage {
        input: counts.input,
        output: counts.output,
        cache_read: counts.cache_read,
        cache_write: counts.cache_write,
        ..Usage::default()
    };
    Move::Finish(reason, usage.priced(&model.cost))
}

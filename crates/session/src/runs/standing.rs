//! Requests of the user that outlast the next answer: a forced tool, a service tier, a repeated prompt.

use std::sync::Arc;
use std::time::{Duration, Instant};

use omp_policy::ApprovalMode;
use omp_types::{Message, ServiceTier, Terms};

use crate::features::EndReason;
use crate::prepared::{Preparations, Prompt};

/// Maximum repetitions of a prompt, whatever was requested.
pub const MOST_REPEATS: u32 = 1000;
/// Maximum time for which a prompt is repeated.
pub const LONGEST_REPEAT: Duration = Duration::from_secs(24 * 3600);

/// A limit on the repetition of a prompt, by count or by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepeatLimit {
    Times(u32),
    For(Duration),
}

#[derive(Default)]
pub(crate) struct Standing {
    tool: Option<Arc<str>>,
    tier: Option<ServiceTier>,
    repeat: Option<Repeat>,
    pub prepared: Preparations,
    /// The approval mode that the user chose during the session.
    pub chosen_mode: Option<ApprovalMode>,
    /// Why the session will end.
    pub end: EndReason,
}

#[derive(Debug)]
struct Repeat {
    /// The prompt, once it was sent for the first time.
    prompt: Option<Prompt>,
    /// Remaining repetitions.
    left: u32,
    until: Instant,
}

impl Standing {
    pub fn with_tier(tier: Option<ServiceTier>) -> Self {
        Self { tier, ..Self::default() }
    }

    pub fn force(&mut self, tool: Option<&str>) {
        self.tool = tool.map(Arc::from);
    }

    pub fn set_tier(&mut self, tier: Option<ServiceTier>) {
        self.tier = tier;
    }

    pub fn tier(&self) -> Option<ServiceTier> {
        self.tier
    }

    pub fn terms(&self) -> Terms {
        Terms { tool: self.tool.clone(), tier: self.tier }
    }

    /// Makes the next prompt the one that is repeated.
    pub fn repeat(&mut self, limit: Option<RepeatLimit>, now: Instant) {
        let (times, time) = match limit {
            None => {
                self.repeat = None;
                return;
            }
            Some(RepeatLimit::Times(times)) => (times.min(MOST_REPEATS), LONGEST_REPEAT),
            Some(RepeatLimit::For(time)) => (MOST_REPEATS, time.min(LONGEST_REPEAT)),
        };
        self.repeat = Some(Repeat { prompt: None, left: times, until: now + time });
    }

    pub fn repeats(&self) -> bool {
        self.repeat.is_some()
    }

    /// A prompt starts.
    pub fn said(&mut self, messages: &[Arc<Message>]) {
        let user = messages.iter().rev().find_map(|message| match &**message {
            Message::User(user) => Some((message, &user.content)),
            _ => None,
        });
        if let (Some(repeat), Some((message, content))) = (&mut self.repeat, user) {
            repeat.prompt = Some(Prompt { content: content.clone(), prepared: self.prepared.of(message).cloned() });
            repeat.left = repeat.left.saturating_sub(1);
        }
    }

    /// A prompt has ended. A repetition whose prompt was not sent yet is kept.
    pub fn ended(&mut self) {
        self.repeat.take_if(|repeat| repeat.prompt.is_some());
    }

    /// The prompt to repeat, unless its limit is reached.
    pub fn again(&self, now: Instant) -> Option<&Prompt> {
        let repeat = self.repeat.as_ref()?;
        let over = repeat.left == 0 || now >= repeat.until;
        repeat.prompt.as_ref().filter(|_| !over)
    }

    /// The message of the prompt, to be delivered once more.
    pub fn say_again(&mut self, now: Instant) -> Option<Arc<Message>> {
        let prompt = self.again(now)?.clone();
        Some(self.prepared.message(&prompt))
    }
}

#[cfg(test)]
mod tests {
    use omp_types::UserMessage;

    use super::*;

    fn prompt(text: &str) -> Vec<Arc<Message>> {
        vec![Arc::new(Message::User(UserMessage::text(text)))]
    }

    /// How often a prompt is sent in total.
    fn said(limit: RepeatLimit) -> u32 {
        let (mut standing, now) = (Standing::default(), Instant::now());
        standing.repeat(Some(limit), now);
        assert!(standing.again(now).is_none(), "nothing was said yet");
        standing.said(&prompt("go"));
        let mut times = 1;
        while let Some(again) = standing.say_again(now) {
            standing.said(&[again]);
            times += 1;
        }
        times
    }

    #[test]
    fn a_prompt_is_said_as_often_as_asked_and_never_without_end() {
        for (limit, expect) in [
            (RepeatLimit::Times(1), 1),
            (RepeatLimit::Times(3), 3),
            (RepeatLimit::Times(u32::MAX), MOST_REPEATS),
            (RepeatLimit::For(Duration::ZERO), 1),
            (RepeatLimit::For(Duration::MAX), MOST_REPEATS),
        ] {
            assert_eq!(said(limit), expect, "{limit:?}");
        }
    }

    #[test]
    fn time_runs_out_and_what_was_not_said_yet_stays() {
        let (mut standing, now) = (Standing::default(), Instant::now());
        standing.repeat(Some(RepeatLimit::For(Duration::from_secs(60))), now);
        standing.ended();
        standing.said(&prompt("go"));
        assert!(standing.again(now + Duration::from_secs(59)).is_some());
        assert!(standing.again(now + Duration::from_secs(60)).is_none());
        standing.ended();
        assert!(!standing.repeats());
    }
}

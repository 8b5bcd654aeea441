//! Runs the loop and records what the port receives, one short line per event.

use std::sync::Arc;

use omp_agent::{
    AgentEvent, CheckedCall, LoopConfig, PlannedCall, Port, Queues, RunEnd, Stop, ToolOutcome, ToolSet, run,
};
use omp_testkit::{Reply, ScriptedLlm, mock_model};
use omp_types::{
    AssistantMessage, CacheRetention, Content, Message, StreamEvent, ThinkingLevel, ToolCall, Transcript, UserMessage,
    text_of,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::bench_tools::all_tools;

pub struct Stage {
    pub llm: Arc<ScriptedLlm>,
    pub config: LoopConfig,
    pub transcript: Transcript,
    pub port: Notes,
}

pub type OnLine = Box<dyn FnMut(&str) + Send>;

/// What the port has received, and how it answers.
#[derive(Default)]
pub struct Notes {
    pub lines: Vec<String>,
    /// Called with the line just written.
    pub on_line: Option<OnLine>,
    /// Decides about calls by name.
    pub decide: Option<fn(&ToolCall) -> Decision>,
    /// The reasons in the plans of calls.
    pub judged: Vec<String>,
    /// Ends the run when a line starts with this.
    pub stop_at: Option<&'static str>,
    /// Cuts off an answer that contains this text.
    pub cut_at: Option<&'static str>,
    /// Ends the run instead of a request whose transcript is longer than this.
    pub most_messages: Option<usize>,
}

/// The decision about a call.
pub enum Decision {
    Run,
    /// Run with other arguments.
    Amend(Value),
    Refuse(String),
}

impl Stage {
    pub fn new<R: Into<Reply>>(replies: impl IntoIterator<Item = R>) -> Self {
        Self::with(ScriptedLlm::new(replies))
    }

    pub fn with(llm: ScriptedLlm) -> Self {
        let llm = Arc::new(llm);
        let config = LoopConfig {
            llm: llm.clone(),
            model: Arc::new(mock_model()),
            system: "system".into(),
            tools: ToolSet::new(all_tools()),
            thinking: ThinkingLevel::Off,
            session_id: None,
            terms: omp_types::Terms::default(),
            cache: CacheRetention::Short,
            max_turns: 20,
            queues: Queues::default(),
            cancel: CancellationToken::new(),
            questions: None,
        };
        Self { llm, config, transcript: Transcript::new(), port: Notes::default() }
    }

    pub async fn prompt(&mut self, text: &str) -> RunEnd {
        let prompts = vec![user(text)];
        run(&self.config, &mut self.transcript, prompts, &mut self.port).await
    }

    /// The lines of interest, without deltas and message frames.
    pub fn story(&self) -> String {
        self.port.lines.join("\n")
    }

    /// The content of the transcript, one line per message.
    pub fn conversation(&self) -> String {
        self.transcript.messages().iter().map(|message| describe(message)).collect::<Vec<_>>().join("\n")
    }
}

pub fn user(text: &str) -> Arc<Message> {
    Arc::new(Message::User(UserMessage::text(text)))
}

impl Port for Notes {
    async fn emit(&mut self, event: AgentEvent) -> Result<(), Stop> {
        let line = match event {
            AgentEvent::AgentStart => "start".to_owned(),
            AgentEvent::AgentEnd { messages } => format!("end ({} messages)", messages.len()),
            AgentEvent::TurnStart => "turn".to_owned(),
            AgentEvent::TurnEnd { tool_results, .. } => format!("turn end ({} results)", tool_results.len()),
            AgentEvent::MessageStart { .. } => return Ok(()),
            AgentEvent::MessageUpdate { event: StreamEvent::TextDelta { delta, .. } } => format!("delta {delta}"),
            AgentEvent::MessageUpdate { .. } => return Ok(()),
            AgentEvent::MessageEnd { message } => describe(&message),
            AgentEvent::ToolStart { name, .. } => format!("begin {name}"),
            AgentEvent::ToolUpdate { name, partial, .. } => format!("update {name}: {}", text_of(&partial.content)),
            AgentEvent::ToolEnd(outcome) => format!("finish {}", outcome.name),
        };
        if self.stop_at.is_some_and(|prefix| line.starts_with(prefix)) {
            return Err(Stop("disk full".to_owned()));
        }
        if let Some(on_line) = &mut self.on_line {
            on_line(&line);
        }
        self.lines.push(line);
        Ok(())
    }

    async fn before_call<'t>(&mut self, mut call: CheckedCall<'t>) -> Result<PlannedCall<'t>, String> {
        let decision = self.decide.map_or(Decision::Run, |decide| decide(call.call()));
        match decision {
            Decision::Run => {}
            Decision::Amend(arguments) => call.amend(arguments).map_err(|invalid| invalid.to_string())?,
            Decision::Refuse(reason) => return Err(reason),
        }
        let planned = call.plan()?;
        self.judged.extend(planned.approval().reason.clone());
        Ok(planned)
    }

    async fn after_call(&mut self, outcome: &mut ToolOutcome) {
        if outcome.name == "secret" {
            outcome.output.content = vec![Content::text("[hidden]")];
        }
    }

    async fn before_request(&mut self, transcript: &mut Transcript) -> Result<Option<RunEnd>, Stop> {
        let over = self.most_messages.is_some_and(|most| transcript.len() > most);
        Ok(over.then(|| RunEnd::OverBudget("used up".to_owned())))
    }

    fn cuts(&mut self, partial: &AssistantMessage) -> bool {
        self.cut_at.is_some_and(|text| partial.text().contains(text))
    }

    async fn after_cut(&mut self, transcript: &mut Transcript) -> Result<Vec<Arc<Message>>, Stop> {
        transcript.pop_failed_reply();
        Ok(vec![user("not like that")])
    }
}

fn describe(message: &Message) -> String {
    match message {
        Message::User(user) => format!("user: {}", text_of(&user.content)),
        Message::Assistant(answer) => {
            let calls: Vec<_> = answer.tool_calls().map(|call| call.name.as_str()).collect();
            let calls = if calls.is_empty() { String::new() } else { format!(" → {}", calls.join(", ")) };
            format!("answer ({:?}): {}{calls}", answer.stop_reason, answer.text())
        }
        Message::ToolResult(result) => {
            let mark = if result.is_error { " (error)" } else { "" };
            format!("result of {}{mark}: {}", result.tool_name, text_of(&result.content))
        }
        other => other.role().to_owned(),
    }
}

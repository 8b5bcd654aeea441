//! The input of the program: a long session in its own format, and a provider that fills the screen, then streams.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use omp_store::{BlobStore, EntryBody, NewSession, SessionWriter, SessionsDir};
use omp_testkit::{Fault, FaultKind, MockProvider, Moment, Script, Server, TempWorkspace, Text, Turn, Wire};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

pub const MESSAGES: usize = 5_000;
/// The number of rows of the first answer.
pub const ROWS: usize = 10_000;
/// The number of tokens of the second answer.
pub const TOKENS: usize = 6_000;
/// The tokens per second that the limit applies to.
pub const RATE: f64 = 200.0;
/// Texts at the end of the session, at the end of the first answer, and at both ends of the second.
pub const OPENED: &str = "Part-1249";
pub const FILLED: &str = "filled-to-here";
pub const BEGUN: &str = "begun-here";
pub const ENDED: &str = "ended-here";

/// Longer than the time for which the spinner is measured.
const SILENCE_MS: u64 = 12_000;
/// A sleep takes one or two milliseconds more, which gives at least 200 tokens per second, unless the machine is busy.
const PAUSE_MS: u64 = 3;
/// Characters per token.
const TOKEN: usize = 4;
const PART_ROWS: usize = 10;

pub struct Scene {
    pub omp: String,
    pub workspace: TempWorkspace,
    pub session: PathBuf,
    _server: Server,
}

impl Scene {
    pub fn new(runtime: &Runtime, omp: String) -> Self {
        let server = runtime.block_on(Server::start(script())).unwrap();
        let workspace = TempWorkspace::new(&[]).unwrap();
        let provider = MockProvider::new(&server.base_url(), Wire::Anthropic.api()).context_window(100_000_000);
        workspace.write_provider(&provider).unwrap();
        let session = write_session(&workspace);
        Self { omp, workspace, session, _server: server }
    }
}

fn script() -> Script {
    let silence = Fault::new(FaultKind::Stall { at: Moment::AfterHeaders, ms: Some(SILENCE_MS) });
    let mut fill: Vec<String> = (0..ROWS / PART_ROWS + 1).map(part).collect();
    fill.push(FILLED.to_owned());
    let streamed = Turn::text(Text::Chunks(tokens())).delay_ms(PAUSE_MS).fault(silence);
    Script::new([Turn::text(Text::Chunks(fill)), streamed])
}

/// Markdown with code, ten rows of 120 columns or more with the blank ones.
fn part(number: usize) -> String {
    format!(
        "## Part {number}\n\nSome words with `code` and **bold** text that goes on for a while, so that it has to be \
         wrapped at the end of the row.\n\n- item one\n- item two\n\n```rust\nfn main() {{\n    let x = {number};\n\
         }}\n```\n\n"
    )
}

fn tokens() -> Vec<String> {
    let parts: Vec<char> =
        (0..).flat_map(|number| part(number).chars().collect::<Vec<_>>()).take(TOKENS * TOKEN).collect();
    let words = parts.chunks(TOKEN).map(|word| word.iter().collect());
    let begun = std::iter::once(format!("{BEGUN}\n\n"));
    begun.chain(words).chain([format!("\n```\n\n{ENDED}")]).collect()
}

fn write_session(workspace: &TempWorkspace) -> PathBuf {
    let (project, agent) = (workspace.project(), workspace.agent_dir());
    let folder = SessionsDir::new(&agent, &workspace.env_snapshot()).session_dir_for(&project);
    std::fs::create_dir_all(&folder).unwrap();
    let new = NewSession { cwd: &project, now: SystemTime::now(), parent_session: None };
    let mut writer = SessionWriter::create(&folder, BlobStore::new(&agent), new);
    let file: String = (0..30).fold(String::new(), |mut file, line| {
        let _ = writeln!(file, "line {line} of a file that was read, with some words in it");
        file
    });
    for number in 0..MESSAGES {
        let message = serde_json::from_value(message(number, &file)).unwrap();
        writer.append(&EntryBody::Message(Arc::new(message))).unwrap();
    }
    writer.path().to_owned()
}

/// Returns a question, a call, its result, or an answer, in turn.
fn message(number: usize, file: &str) -> Value {
    let group = number / 4;
    let text = |text: String| json!({"type": "text", "text": text});
    let answer = |stop: &str, content: Value| {
        json!({"role": "assistant", "content": content, "api": "anthropic-messages", "provider": "mock",
            "model": "mock-model", "stopReason": stop, "timestamp": 1_750_000_000_000_u64})
    };
    match number % 4 {
        0 => json!({"role": "user", "content": [text(format!("Question {group}: what is in file {group}?"))]}),
        1 => {
            let path = format!("src/file{group}.txt");
            let call = json!({"type": "toolCall", "id": format!("call_{group}"), "name": "read",
                "arguments": {"path": path}});
            answer("toolUse", json!([text("I will read the file.".to_owned()), call]))
        }
        2 => json!({"role": "toolResult", "toolCallId": format!("call_{group}"), "toolName": "read", "isError": false,
            "content": [text(file.to_owned())]}),
        _ => answer("stop", json!([text(format!("{}Part-{group}", part(group)))])),
    }
}

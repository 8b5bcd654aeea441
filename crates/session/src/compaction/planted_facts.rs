//! Fifty constraints of the user through 300 turns and five compactions by a model that remembers nothing, and a model
//! that reads back what was taken out.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use omp_agent::AnyTool;
use omp_store::{BlobStore, Compaction, EntryBody, EntryId, LoadedSession, NewSession, SessionWriter};
use omp_testkit::{ScriptedLlm, TempWorkspace, Turn, mock_model};
use omp_tools::{Files, History, HistoryResource, NoArtifacts, Read, Router};
use omp_types::{Content, Message, text_of};
use serde_json::json;

use super::cut::Entry;
use super::sample::Line;
use super::{Survivors, compose, find_cut, serialize, strip_tags};
use crate::{Command, Recorder, RetryPolicy, Session, SessionEvent, SessionOptions};

const TURNS: usize = 300;
const CONSTRAINTS: usize = 50;
const COMPACTIONS: usize = 5;
const FORGETFUL: &str = "## State\nNothing is remembered.";

/// A session in a file, and who reads it back.
struct Stage {
    workspace: TempWorkspace,
    writer: SessionWriter,
}

impl Stage {
    fn new() -> Self {
        let workspace = TempWorkspace::new(&[]).unwrap();
        let cwd = workspace.project();
        let new = NewSession { cwd: &cwd, now: SystemTime::now(), parent_session: None };
        let writer = SessionWriter::create(&workspace.agent_dir(), BlobStore::new(&workspace.agent_dir()), new);
        Self { workspace, writer }
    }

    fn say(&mut self, line: &Line, at: usize) -> EntryId {
        self.writer.append(&EntryBody::Message(Arc::new(line.message(at as u64)))).unwrap()
    }

    fn load(&self) -> LoadedSession {
        LoadedSession::open(self.writer.path(), BlobStore::new(&self.workspace.agent_dir())).unwrap()
    }

    /// What the model is sent, one text.
    fn sent(&self) -> String {
        self.load().context().messages.iter().map(|message| text_of(message.content()) + "\n").collect()
    }

    fn turn(&mut self, number: usize) {
        let said = match number % (TURNS / CONSTRAINTS) {
            0 => constraint(number / (TURNS / CONSTRAINTS)),
            _ => format!("Now do step {number} of the work."),
        };
        self.say(&Line::User(said), number);
        let secret = format!("secret {number} is {}\n{}", number * 7919, "noise of a build\n".repeat(120));
        for line in Line::read(&format!("call{number}"), &format!("src/part{number}.rs"), &secret) {
            self.say(&line, number);
        }
        self.say(&Line::Answer(format!("Step {number} is done.")), number);
    }

    /// What the life cycle does, with a summary that is good for nothing.
    fn compact(&mut self) {
        let mut loaded = self.load();
        let context = loaded.context();
        let mut entries: Vec<Entry> = std::iter::zip(context.entry_ids, context.messages)
            .map(|(id, message)| Entry { id, message: Arc::new(message), typed: None })
            .collect();
        let previous = previous_compaction(&loaded, &mut entries);
        let cut = find_cut(&entries, 5_000).expect("there is something to cut");
        let (leaving, kept) = entries.split_at(cut.first_kept);
        let told: Vec<_> = leaving.iter().map(|entry| entry.message.clone()).collect();
        assert!(serialize(&told).contains("[Result of read]"));
        if let Some(previous) = &previous {
            assert_eq!(strip_tags(&previous.summary), FORGETFUL, "the summarizer sees no ledger");
        }
        let mut survivors = Survivors::from_details(previous.as_ref().and_then(|it| it.details.as_ref()));
        survivors.note(leaving, Some("steps of the work"));
        let first_kept = loaded.with_facts_before(&kept[0].id);
        let compaction = Compaction {
            summary: compose(FORGETFUL, None, &survivors),
            first_kept_entry_id: first_kept.as_str().to_owned(),
            tokens_before: 1,
            details: Some(survivors.to_details()),
            ..Compaction::default()
        };
        self.writer.append(&EntryBody::Compaction(compaction)).unwrap();
    }
}

fn previous_compaction(loaded: &LoadedSession, entries: &mut Vec<Entry>) -> Option<Compaction> {
    let entry = loaded.entry(&entries.first()?.id)?;
    if entry["type"] != "compaction" {
        return None;
    }
    entries.remove(0);
    Some(serde_json::from_value(entry).unwrap())
}

/// Odd enough that nobody gets it right from memory.
fn constraint(number: usize) -> String {
    format!(
        "Constraint {number}: never touch `gen_{}/*.rs`;\n  keep ≤ {} ms — “exactly”, <files> & \\n included.",
        number * 31,
        number * 17 + 3
    )
}

#[test]
fn fifty_constraints_survive_five_compactions_word_by_word() {
    let mut stage = Stage::new();
    let mut compactions = 0;
    for number in 0..TURNS {
        stage.turn(number);
        if (number + 1) % (TURNS / COMPACTIONS) == 0 {
            stage.compact();
            compactions += 1;
            let sent = stage.sent();
            for planted in 0..=number / (TURNS / CONSTRAINTS) {
                assert_eq!(sent.matches(&constraint(planted)).count(), 1, "{planted} after {compactions} compactions");
            }
            assert!(!sent.contains("secret 0 is"), "old output is gone");
            assert!(sent.contains("# src/\npart0.rs (Read)\n") && sent.contains("<evicted>\n"));
        }
    }
    assert_eq!(compactions, COMPACTIONS);
    assert!(stage.sent().len() < 100_000, "{}", stage.sent().len());
}

/// As `omp` reads it.
struct FileHistory(std::path::PathBuf, BlobStore);

impl History for FileHistory {
    fn transcript(&self) -> Result<String, String> {
        Err("not asked for here".into())
    }

    fn span(&self, first: &str, last: &str) -> Result<String, String> {
        let session = LoadedSession::open(&self.0, self.1.clone()).map_err(|error| error.to_string())?;
        let span = session.span(&first.into(), &last.into()).ok_or("no such span")?;
        Ok(span.read(0..span.len()).0.iter().map(|told| text_of(told.message.content()) + "\n").collect())
    }
}

#[tokio::test]
async fn the_model_reads_back_what_was_taken_out() {
    let mut stage = Stage::new();
    (0..60).for_each(|number| stage.turn(number));
    stage.compact();
    let sent = stage.sent();
    let url = sent.lines().find(|line| line.starts_with("history://")).and_then(|line| line.split(' ').next()).unwrap();
    let llm =
        Arc::new(ScriptedLlm::new([Turn::call("read", json!({"path": format!("{url}:1-40")})), Turn::text("ok")]));
    let (session, mut events) = open(&stage, llm.clone());
    session.send(Command::Prompt(vec![Content::text("What was secret 0?")].into())).await.unwrap();
    while !matches!(events.recv().await, Some(SessionEvent::Idle { .. }) | None) {}
    let requests = llm.requests();
    let [first, second] = requests.as_slice() else { panic!("{} requests", requests.len()) };
    let told = |messages: &[Arc<Message>]| messages.iter().map(|it| text_of(it.content())).collect::<String>();
    assert!(told(&first.messages).contains(&constraint(0)));
    assert!(!told(&first.messages).contains("secret 0 is 0"));
    assert!(
        told(&second.messages).contains("secret 0 is 0"),
        "{}",
        told(&second.messages[second.messages.len() - 1..])
    );
}

/// The session taken up again, with a model that can read.
fn open(stage: &Stage, llm: Arc<ScriptedLlm>) -> (Session, tokio::sync::mpsc::Receiver<SessionEvent>) {
    let mut loaded = stage.load();
    let history = loaded.context().messages;
    let mut router = Router::new(Arc::new(NoArtifacts));
    let (file, blobs) = (stage.writer.path().to_owned(), BlobStore::new(&stage.workspace.agent_dir()));
    router.register(Arc::new(HistoryResource(Arc::new(FileHistory(file, blobs)))));
    let files = Arc::new(Files::new(stage.workspace.project(), None));
    let options = SessionOptions {
        tools: vec![Arc::new(Read::new(files, Arc::new(router))) as Arc<dyn AnyTool>],
        system: "system".into(),
        resumed: history.into(),
        retry: RetryPolicy { base_delay: Duration::from_millis(1), ..RetryPolicy::default() },
        max_turns: 10,
        ..SessionOptions::new(llm, Arc::new(mock_model()), Recorder::nowhere(&stage.workspace.project()))
    };
    let (session, _actor) = Session::open(options);
    let events = session.events();
    (session, events)
}

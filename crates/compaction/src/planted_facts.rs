//! Test: fifty user constraints survive 300 turns and five compactions by a model that remembers nothing.

use std::sync::Arc;
use std::time::SystemTime;

use omp_store::{BlobStore, Compaction, EntryBody, EntryId, LoadedSession, NewSession, SessionWriter};
use omp_testkit::TempWorkspace;
use omp_types::text_of;

use crate::cut::ConversationEntry;
use crate::sample::Line;
use crate::{Survivors, compose, find_cut, serialize, strip_tags};

const TURNS: usize = 300;
const CONSTRAINTS: usize = 50;
const COMPACTIONS: usize = 5;
const FORGETFUL: &str = "## State\nNothing is remembered.";

/// A session in a file.
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

    /// Returns everything sent to the model as one text.
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

    /// Performs a compaction with a useless summary.
    fn compact(&mut self) {
        let mut loaded = self.load();
        let context = loaded.context();
        let mut entries: Vec<ConversationEntry> = std::iter::zip(context.entry_ids, context.messages)
            .map(|(id, message)| ConversationEntry { id, message: Arc::new(message), typed: None })
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
        survivors.note(leaving, Some("steps of the work"), &crate::sample::facts());
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

fn previous_compaction(loaded: &LoadedSession, entries: &mut Vec<ConversationEntry>) -> Option<Compaction> {
    let entry = loaded.entry(&entries.first()?.id)?;
    if entry["type"] != "compaction" {
        return None;
    }
    entries.remove(0);
    Some(serde_json::from_value(entry).unwrap())
}

/// Unusual enough that it cannot be guessed.
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

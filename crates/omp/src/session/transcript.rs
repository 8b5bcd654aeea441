//! `history://`: serves the conversation from its file as plain text.

use std::path::PathBuf;

use omp_store::{BlobStore, EntryId, LoadedSession, StoredTranscript, TranscriptMessage};
use omp_tools::History;
use omp_types::{Content, Message, text_of};

/// Messages read per page.
const PAGE: usize = 64;
/// Caps the bytes of text returned at once; the rest is listed by its own address.
const MOST: usize = 16 * 1024 * 1024;

/// Reads the session's own file. Entries are written before they are announced, so the file is always current.
pub struct FileHistory {
    pub session: PathBuf,
    /// The folder that holds the blobs.
    pub agent: PathBuf,
}

impl History for FileHistory {
    fn transcript(&self) -> Result<String, String> {
        if !self.session.exists() {
            return Ok("this session has no messages yet".to_owned());
        }
        let session = self.load()?;
        Ok(session.transcript(None).map(|transcript| text(&transcript, MOST)).unwrap_or_default())
    }

    fn span(&self, first: &str, last: &str) -> Result<String, String> {
        if !self.session.exists() {
            return Err("this session has no messages yet".to_owned());
        }
        let session = self.load()?;
        let (first, last) = (EntryId::from(first), EntryId::from(last));
        for id in [&first, &last] {
            if session.entry(id).is_none() {
                return Err(format!("no entry {id}"));
            }
        }
        let span = session.span(&first, &last).ok_or_else(|| format!("{first} does not come before {last}"))?;
        Ok(text(&span, MOST))
    }
}

impl FileHistory {
    fn load(&self) -> Result<LoadedSession, String> {
        LoadedSession::open(&self.session, BlobStore::new(&self.agent)).map_err(|error| error.to_string())
    }
}

/// Returns at most about `most` bytes of the transcript.
fn text(transcript: &StoredTranscript<'_>, most: usize) -> String {
    let mut text = String::new();
    for start in (0..transcript.len()).step_by(PAGE) {
        for one in transcript.read(start..start + PAGE).0 {
            if text.len() >= most {
                return text + &rest(transcript, &one);
            }
            let told = if transcript.len() > 1 { summary_in_brief(&one) } else { None };
            if let Some(told) = told.or_else(|| told_with_id(&one)) {
                text.push_str(if text.is_empty() { "" } else { "\n\n" });
                text.push_str(&told);
            }
        }
    }
    text
}

fn rest(transcript: &StoredTranscript<'_>, next: &TranscriptMessage) -> String {
    let last = transcript.read(transcript.len().saturating_sub(1)..transcript.len()).0.pop();
    let last = last.map_or_else(|| next.id.clone(), |last| last.id);
    format!("\n\n(the rest is at history://{}..{last})", next.id)
}

/// Replaces a compaction summary by its address. The model has the newest summary anyway, so the first page can show the
/// conversation.
fn summary_in_brief(one: &TranscriptMessage) -> Option<String> {
    let Message::Custom(custom) = &one.message else { return None };
    let id = &one.id;
    let length = text_of(&custom.content).chars().count();
    (custom.custom_type == "compactionSummary")
        .then(|| format!("## compactionSummary [{id}]\n({length} characters: history://{id}..{id})"))
}

fn told_with_id(one: &TranscriptMessage) -> Option<String> {
    let (speaker, text) = speaker_and_text(&one.message)?;
    Some(format!("## {speaker} [{}]\n{text}", one.id))
}

pub fn told(message: &Message) -> Option<String> {
    let (speaker, text) = speaker_and_text(message)?;
    Some(format!("## {speaker}\n{text}"))
}

fn speaker_and_text(message: &Message) -> Option<(String, String)> {
    Some(match message {
        Message::User(user) => ("user".to_owned(), shown(&user.content)),
        Message::Assistant(answer) => ("assistant".to_owned(), shown(&answer.content)),
        Message::ToolResult(result) => {
            let failed = if result.is_error { ", failed" } else { "" };
            (format!("result of {}{failed}", result.tool_name), shown(&result.content))
        }
        Message::Custom(custom) => (custom.custom_type.clone(), text_of(&custom.content)),
        Message::Other(_) => return None,
    })
}

fn shown(content: &[Content]) -> String {
    let parts = content.iter().filter_map(|part| match part {
        Content::Text(text) => Some(text.text.clone()),
        Content::Image(image) => Some(format!("({} image)", image.mime_type)),
        Content::ToolCall(call) => {
            let arguments = serde_json::to_string(&call.arguments).unwrap_or_default();
            Some(format!("call {} {arguments}", call.name))
        }
        Content::Thinking(_) | Content::RedactedThinking(_) => None,
    });
    parts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use omp_store::{Compaction, EntryBody, NewSession, SessionWriter};
    use omp_types::{Api, AssistantMessage, ToolCall, ToolResultMessage, UserMessage};

    use super::*;

    struct Stage {
        _temp: tempfile::TempDir,
        writer: SessionWriter,
        history: FileHistory,
    }

    fn stage() -> Stage {
        let temp = tempfile::tempdir().unwrap();
        let new = NewSession { cwd: temp.path(), now: SystemTime::now(), parent_session: None };
        let writer = SessionWriter::create(temp.path(), BlobStore::new(temp.path()), new);
        let history = FileHistory { session: writer.path().to_owned(), agent: temp.path().to_owned() };
        Stage { _temp: temp, writer, history }
    }

    fn said(text: &str) -> EntryBody {
        EntryBody::Message(Message::User(UserMessage::text(text)).into())
    }

    #[test]
    fn the_conversation_as_text() {
        let Stage { _temp, mut writer, history } = stage();
        assert_eq!(history.transcript().unwrap(), "this session has no messages yet");
        let call = ToolCall { id: "1".into(), name: "read".into(), ..ToolCall::default() };
        let mut answer = AssistantMessage::empty(Api::Demo, "p", "m");
        answer.content = vec![Content::text("I look."), Content::ToolCall(call.clone())];
        let messages = [
            Message::User(UserMessage::text("What is in it?")),
            Message::Assistant(answer),
            Message::ToolResult(ToolResultMessage::error(&call, "no such file")),
        ];
        let mut text = history.transcript().unwrap();
        for (number, message) in messages.into_iter().enumerate() {
            let id = writer.append(&EntryBody::Message(message.into())).unwrap();
            text = history.transcript().unwrap().replace(id.as_str(), &format!("id{number}"));
            assert!(text.contains(&format!("[id{number}]")), "{text}");
        }
        let shown: Vec<&str> = text.lines().map(|line| line.split(" [").next().unwrap_or_default()).collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        ## user
        What is in it?

        ## assistant
        I look.
        call read {}

        ## result of read, failed
        no such file
        ");
    }

    #[test]
    fn what_was_compacted_away_is_read_by_its_address() {
        let Stage { _temp, mut writer, history } = stage();
        assert_eq!(history.span("a", "b").unwrap_err(), "this session has no messages yet");
        let ids: Vec<EntryId> = (0..4).map(|at| writer.append(&said(&format!("words {at}"))).unwrap()).collect();
        let compaction = Compaction {
            summary: "forgotten".into(),
            first_kept_entry_id: ids[3].as_str().to_owned(),
            ..Compaction::default()
        };
        writer.append(&EntryBody::Compaction(compaction)).unwrap();
        let span = |first: &EntryId, last: &EntryId| history.span(first.as_str(), last.as_str());
        assert_eq!(
            span(&ids[1], &ids[2]).unwrap(),
            format!("## user [{}]\nwords 1\n\n## user [{}]\nwords 2", ids[1], ids[2])
        );
        assert_eq!(span(&ids[0], &ids[0]).unwrap(), format!("## user [{}]\nwords 0", ids[0]));
        assert_eq!(span(&ids[2], &ids[1]).unwrap_err(), format!("{} does not come before {}", ids[2], ids[1]));
        assert_eq!(history.span("nobody", ids[1].as_str()).unwrap_err(), "no entry nobody");
        assert!(history.transcript().unwrap().contains("words 0"), "the whole is the whole");
    }

    #[test]
    fn what_is_too_long_says_where_it_goes_on() {
        let Stage { _temp, mut writer, history } = stage();
        let ids: Vec<EntryId> = (0..200).map(|_| writer.append(&said(&"x".repeat(100))).unwrap()).collect();
        let session = history.load().unwrap();
        let short = text(&session.transcript(None).unwrap(), 1_000);
        assert!(short.len() < 1_300, "{}", short.len());
        assert!(short.ends_with(&format!("(the rest is at history://{}..{})", ids[9], ids[199])), "{short}");
    }
}

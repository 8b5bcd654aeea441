//! `history://`: the conversation as its file has it, told as plain text.

use std::path::PathBuf;

use omp_store::{BlobStore, LoadedSession};
use omp_tools::History;
use omp_types::{Content, Message, text_of};

/// Reads the session's own file. Everything is in it before anybody hears of it, so it is never behind.
pub struct FileHistory {
    pub session: PathBuf,
    /// Where blobs are kept.
    pub agent: PathBuf,
}

impl History for FileHistory {
    fn transcript(&self) -> Result<String, String> {
        if !self.session.exists() {
            return Ok("nothing was said yet".to_owned());
        }
        let session = LoadedSession::open(&self.session, BlobStore::new(&self.agent));
        let messages = session.map_err(|error| error.to_string())?.context().messages;
        Ok(messages.iter().filter_map(told).collect::<Vec<_>>().join("\n\n"))
    }
}

pub fn told(message: &Message) -> Option<String> {
    let (speaker, text) = match message {
        Message::User(user) => ("user".to_owned(), shown(&user.content)),
        Message::Assistant(answer) => ("assistant".to_owned(), shown(&answer.content)),
        Message::ToolResult(result) => {
            let failed = if result.is_error { ", failed" } else { "" };
            (format!("result of {}{failed}", result.tool_name), shown(&result.content))
        }
        Message::Custom(custom) => (custom.custom_type.clone(), text_of(&custom.content)),
        Message::Other(_) => return None,
    };
    Some(format!("## {speaker}\n{text}"))
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

    use omp_store::{EntryBody, NewSession, SessionWriter};
    use omp_types::{Api, AssistantMessage, ToolCall, ToolResultMessage, UserMessage};

    use super::*;

    #[test]
    fn the_conversation_as_text() {
        let temp = tempfile::tempdir().unwrap();
        let new = NewSession { cwd: temp.path(), now: SystemTime::now(), parent_session: None };
        let mut writer = SessionWriter::create(temp.path(), BlobStore::new(temp.path()), new);
        let history = FileHistory { session: writer.path().to_owned(), agent: temp.path().to_owned() };
        assert_eq!(history.transcript().unwrap(), "nothing was said yet");
        let call = ToolCall { id: "1".into(), name: "read".into(), ..ToolCall::default() };
        let mut answer = AssistantMessage::empty(Api::Demo, "p", "m");
        answer.content = vec![Content::text("I look."), Content::ToolCall(call.clone())];
        let messages = [
            Message::User(UserMessage::text("What is in it?")),
            Message::Assistant(answer),
            Message::ToolResult(ToolResultMessage::error(&call, "no such file")),
        ];
        for message in messages {
            writer.append(&EntryBody::Message(message.into())).unwrap();
        }
        insta::assert_snapshot!(history.transcript().unwrap(), @r"
        ## user
        What is in it?

        ## assistant
        I look.
        call read {}

        ## result of read, failed
        no such file
        ");
    }
}

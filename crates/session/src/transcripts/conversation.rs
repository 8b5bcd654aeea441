//! Formats a conversation as text.

use omp_types::{Message, text_of};

/// The messages of the user and the model, each under a heading; `None` if there are none.
pub fn conversation<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Option<String> {
    let said: Vec<String> = messages.into_iter().filter_map(said).collect();
    (!said.is_empty()).then(|| said.join("\n\n"))
}

fn said(message: &Message) -> Option<String> {
    let (who, text) = match message {
        Message::User(user) => ("user", text_of(&user.content)),
        Message::Assistant(answer) => ("assistant", answer.text()),
        _ => return None,
    };
    (!text.trim().is_empty()).then(|| format!("## {who}\n{}", text.trim_end()))
}

#[cfg(test)]
mod tests {
    use omp_types::{Api, AssistantMessage, Content, UserMessage};

    use super::*;

    #[test]
    fn who_said_what() {
        let mut answer = AssistantMessage::empty(Api::Demo, "mock", "mock-model");
        let silent = Message::Assistant(answer.clone());
        assert_eq!(conversation([&silent]), None);
        answer.content = vec![Content::text("Hello.\n")];
        let messages = [Message::User(UserMessage::text("hi")), silent, Message::Assistant(answer)];
        assert_eq!(conversation(&messages).as_deref(), Some("## user\nhi\n\n## assistant\nHello."));
    }
}

//! Formats a conversation as plain text, with everything sent to the model: for a clipboard or another program.

use omp_agent::ToolSet;
use omp_types::{Content, Message, text_of};
use serde_json::Value;

/// Metadata of a dump.
pub struct Dump<'a> {
    pub system_prompt: &'a str,
    /// `provider/id`.
    pub model: &'a str,
    pub thinking: &'a str,
    pub tools: &'a ToolSet,
}

/// Returns the text, or `None` if there are no messages yet.
pub fn dump_text<'m>(about: &Dump<'_>, messages: impl IntoIterator<Item = &'m Message>) -> Option<String> {
    let told: Vec<String> = messages.into_iter().filter_map(told).collect();
    if told.is_empty() {
        return None;
    }
    let mut text = String::new();
    if !about.system_prompt.trim().is_empty() {
        text += &section("System prompt", about.system_prompt);
    }
    text += &section("Model", &format!("{}\nthinking: {}", about.model, about.thinking));
    let specs = about.tools.specs();
    if !specs.is_empty() {
        let tools =
            specs.iter().map(|spec| format!("### {}\n\n{}\n\n{:#}", spec.name, spec.description, spec.parameters));
        text += &section("Tools", &tools.collect::<Vec<_>>().join("\n\n"));
    }
    text += &told.concat();
    Some(text.trim_end().to_owned() + "\n")
}

fn section(title: &str, body: &str) -> String {
    format!("## {title}\n\n{}\n\n", body.trim_end())
}

fn told(message: &Message) -> Option<String> {
    Some(match message {
        Message::User(user) => section("User", &blocks(&user.content)),
        Message::Assistant(answer) => {
            let failed = answer.error_message.as_ref().map(|error| format!("(failed: {error})"));
            let parts = [blocks(&answer.content)].into_iter().chain(failed).filter(|part| !part.is_empty());
            section("Assistant", &parts.collect::<Vec<_>>().join("\n\n"))
        }
        Message::ToolResult(result) => {
            let failed = if result.is_error { " (failed)" } else { "" };
            section(&format!("Result of {}{failed}", result.tool_name), &blocks(&result.content))
        }
        Message::Custom(custom) => section(&custom.custom_type, &text_of(&custom.content)),
        Message::Other(other) => return other_told(&other.role, &other.value),
    })
}

fn other_told(role: &str, value: &Value) -> Option<String> {
    let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
    // The user excluded it from the model's context.
    if value.get("excludeFromContext").and_then(Value::as_bool) == Some(true) {
        return None;
    }
    let exit = value.get("exitCode").and_then(Value::as_i64).filter(|code| *code != 0);
    let exit = exit.map(|code| format!("\n(exit code {code})")).unwrap_or_default();
    Some(match role {
        "bashExecution" => section("Shell", &format!("$ {}\n{}{exit}", text("command"), text("output").trim_end())),
        "pythonExecution" => section("Python", &format!(">>> {}\n{}{exit}", text("code"), text("output").trim_end())),
        "fileMention" => {
            let files = value.get("files").and_then(Value::as_array).into_iter().flatten();
            let file = |file: &Value| {
                let field = |name: &str| file.get(name).and_then(Value::as_str).unwrap_or_default();
                format!("### {}\n\n{}", field("path"), field("content"))
            };
            section("Files", &files.map(file).collect::<Vec<_>>().join("\n\n"))
        }
        _ => section(role, &format!("{value:#}")),
    })
}

fn blocks(content: &[Content]) -> String {
    let parts = content.iter().map(|block| match block {
        Content::Text(text) => text.text.clone(),
        Content::Thinking(thinking) => format!("<thinking>\n{}\n</thinking>", thinking.thinking),
        Content::RedactedThinking(_) => "<thinking>\n(sent encrypted)\n</thinking>".to_owned(),
        Content::Image(image) => format!("({} image)", image.mime_type),
        Content::ToolCall(call) => {
            let arguments = Value::Object(call.arguments.clone());
            let arguments = call.invalid_arguments.clone().unwrap_or_else(|| format!("{arguments:#}"));
            format!("call {} {arguments}", call.name)
        }
    });
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use omp_types::{Api, AssistantMessage, OtherMessage, ThinkingContent, ToolCall, ToolResultMessage, UserMessage};
    use serde_json::json;

    use super::*;

    fn dump(messages: &[Message]) -> Option<String> {
        let tools = ToolSet::default();
        let about = Dump { system_prompt: "Be brief.", model: "p/m", thinking: "high", tools: &tools };
        dump_text(&about, messages)
    }

    #[test]
    fn everything_the_model_was_told() {
        let call = ToolCall { id: "1".into(), name: "read".into(), ..ToolCall::default() };
        let mut answer = AssistantMessage::empty(Api::Demo, "p", "m");
        let thinking = ThinkingContent { thinking: "Hm.".into(), thinking_signature: None };
        answer.content = vec![Content::Thinking(thinking), Content::text("I look."), Content::ToolCall(call.clone())];
        let shell = |hidden: bool| {
            let value = json!({"role": "bashExecution", "command": "ls", "output": "a\n", "exitCode": 2, "excludeFromContext": hidden});
            Message::Other(OtherMessage { role: "bashExecution".into(), value })
        };
        let messages = [
            Message::User(UserMessage::text("What is in it?")),
            Message::Assistant(answer),
            Message::ToolResult(ToolResultMessage::error(&call, "no such file")),
            shell(false),
            shell(true),
        ];
        insta::assert_snapshot!(dump(&messages).unwrap(), @r"
        ## System prompt

        Be brief.

        ## Model

        p/m
        thinking: high

        ## User

        What is in it?

        ## Assistant

        <thinking>
        Hm.
        </thinking>

        I look.

        call read {}

        ## Result of read (failed)

        no such file

        ## Shell

        $ ls
        a
        (exit code 2)
        ");
    }

    #[test]
    fn nothing_said_is_nothing_to_dump() {
        assert_eq!(dump(&[]), None);
    }
}

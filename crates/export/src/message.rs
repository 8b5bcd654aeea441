//! Renders messages as articles, and calls with their results as cards.

use omp_agent::Outcome;
use omp_stdx::format::{compact, duration};
use omp_types::{
    AssistantMessage, Content, CustomMessage, Message, OtherMessage, StopReason, ToolCall, ToolResultMessage,
    UserMessage, text_of,
};
use omp_view::{Block, Diff, Status, View, unified_diff_lines};
use serde_json::Value;

use crate::card::{Behind, card};
use crate::entry::{EntryPlace, EntryScribe, Mention, json_entry};
use crate::markdown::{Lines, markdown};
use crate::markup::Html;

impl EntryScribe<'_> {
    pub fn message(
        &mut self,
        html: &mut Html,
        place: &EntryPlace<'_>,
        message: &Message,
        pending: &mut Vec<ToolCall>,
    ) -> Option<Mention> {
        match message {
            Message::User(user) => {
                self.unanswered(html, pending);
                self.user(html, place, user)
            }
            Message::Assistant(answer) => {
                self.unanswered(html, pending);
                pending.extend(answer.tool_calls().cloned());
                self.answer(html, place, answer)
            }
            Message::ToolResult(result) => {
                let call = pending.iter().position(|call| call.id == result.tool_call_id);
                let call = call.map(|at| pending.remove(at));
                let call = call.unwrap_or_else(|| ToolCall { name: result.tool_name.clone(), ..ToolCall::default() });
                html.raw("<div").attr("id", place.anchor).raw(">");
                self.call(html, &call, Some(result));
                html.raw("</div>");
                None
            }
            Message::Custom(custom) => self.custom(html, place, custom),
            Message::Other(other) => self.other(html, place, other),
        }
    }

    fn user(&mut self, html: &mut Html, place: &EntryPlace<'_>, user: &UserMessage) -> Option<Mention> {
        begin(html, "user", place, "User");
        self.blocks(html, &user.content, Lines::Kept);
        html.raw("</article>");
        Some(Mention::new("user", &text_of(&user.content)))
    }

    fn answer(&mut self, html: &mut Html, place: &EntryPlace<'_>, answer: &AssistantMessage) -> Option<Mention> {
        begin(html, "assistant", place, "Assistant");
        html.element("<span class=\"meta\">", &about(answer), "</span>");
        self.blocks(html, &answer.content, Lines::Flow);
        if let Some(error) = &answer.error_message {
            html.element("<p class=\"failed\">", error, "</p>");
        }
        match answer.stop_reason {
            StopReason::Length => {
                html.raw("<p class=\"failed\">cut off by the output limit</p>");
            }
            StopReason::Aborted => {
                html.raw("<p class=\"failed\">aborted</p>");
            }
            StopReason::Stop | StopReason::ToolUse | StopReason::Error => {}
        }
        html.raw("</article>");
        let text = text_of(&answer.content);
        (!text.trim().is_empty()).then(|| Mention::new("assistant", &text))
    }

    fn custom(&mut self, html: &mut Html, place: &EntryPlace<'_>, custom: &CustomMessage) -> Option<Mention> {
        html.raw("<details class=\"note\"").attr("id", place.anchor);
        html.raw(if custom.display { " open><summary>" } else { "><summary>" }).text(&custom.custom_type);
        html.raw(" <time>").text(&place.time).raw("</time></summary>");
        self.blocks(html, &custom.content, Lines::Flow);
        html.raw("</details>");
        None
    }

    fn other(&mut self, html: &mut Html, place: &EntryPlace<'_>, other: &OtherMessage) -> Option<Mention> {
        let text = |name: &str| other.value.get(name).and_then(Value::as_str).unwrap_or_default();
        let (sign, input) = match other.role.as_str() {
            "bashExecution" => ("!", text("command")),
            "pythonExecution" => ("$", text("code")),
            "fileMention" => {
                self.file_mention(html, place, &other.value);
                return None;
            }
            role => {
                json_entry(html, place, &format!("a message with role {role}"), &other.value);
                return None;
            }
        };
        let exit = other.value.get("exitCode").and_then(Value::as_i64);
        let status = if exit.is_none_or(|code| code == 0) { Status::Done } else { Status::Failed };
        let title = format!("{sign} {}", crate::markup::excerpt(input, 200));
        let mut view = View::new(title, status);
        view.notes.extend(exit.filter(|code| *code != 0).map(|code| format!("exit {code}")));
        let code = |text: &str| Block::Code { language: None, text: text.to_owned(), first_line: None };
        let view = view.block(code(input)).block(code(text("output")));
        html.raw("<div").attr("id", place.anchor).raw(">");
        card(html, &mut self.pictures, &view, &Behind { arguments: None, result: &[] });
        html.raw("</div>");
        Some(Mention::new("user", &view.title))
    }

    fn file_mention(&mut self, html: &mut Html, place: &EntryPlace<'_>, value: &Value) {
        let files = value.get("files").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        html.raw("<details class=\"note\"").attr("id", place.anchor).raw("><summary>files</summary>");
        for file in files {
            let text = |name: &str| file.get(name).and_then(Value::as_str).unwrap_or_default();
            html.element("<h5>", text("path"), "</h5>").pre(text("content"));
            if let Some(image) = file.get("image") {
                let text = |name: &str| image.get(name).and_then(Value::as_str).unwrap_or_default();
                self.pictures.draw(html, text("mimeType"), text("data"));
            }
        }
        html.raw("</details>");
    }

    fn blocks(&mut self, html: &mut Html, content: &[Content], lines: Lines) {
        for block in content {
            match block {
                Content::Text(text) => markdown(html, &text.text, lines),
                Content::Thinking(thinking) if thinking.thinking.trim().is_empty() => {}
                Content::Thinking(thinking) => {
                    html.raw("<details class=\"thinking\"><summary>thinking</summary>");
                    markdown(html, &thinking.thinking, Lines::Flow);
                    html.raw("</details>");
                }
                Content::RedactedThinking(_) => {
                    html.raw("<p class=\"fact\">thinking that was sent encrypted</p>");
                }
                Content::Image(image) => self.pictures.draw(html, &image.mime_type, &image.data),
                // Rendered with its result.
                Content::ToolCall(_) => {}
            }
        }
    }

    /// Renders the card of a call. Unknown tools get one with arguments and result.
    pub fn call(&mut self, html: &mut Html, call: &ToolCall, result: Option<&ToolResultMessage>) {
        let arguments = Value::Object(call.arguments.clone());
        let outcome = match result {
            None => Outcome::Running,
            Some(result) => match &result.details {
                Some(details) => Outcome::Done { details, is_error: result.is_error },
                None => Outcome::Failed,
            },
        };
        let status = match result {
            None => Status::Running,
            Some(result) if result.is_error => Status::Failed,
            Some(_) => Status::Done,
        };
        let known = self.drawn(&call.name, &arguments, outcome);
        // A result of another program may have no details although the call succeeded.
        let known = known.map(|view| View { status, ..view });
        let mut view = known.unwrap_or_else(|| View::new(&*call.name, status));
        let content = result.map(|result| result.content.as_slice()).unwrap_or_default();
        if result.is_none() {
            view = view.note("no result");
        }
        let diff = result.and_then(|result| result.details.as_ref()?.get("diff")?.as_str());
        if let Some(diff) = diff.filter(|diff| view.blocks.is_empty() && !diff.is_empty()) {
            view = view.block(Block::Diff(Diff::new(unified_diff_lines(diff))));
        }
        let told = text_of(content);
        if view.shows_output() && !told.is_empty() {
            view = view.block(Block::Code { language: None, text: told, first_line: None });
        }
        let sent = call.invalid_arguments.clone().unwrap_or_else(|| format!("{arguments:#}"));
        let behind = Behind { arguments: (sent != "{}").then_some(sent), result: content };
        card(html, &mut self.pictures, &view, &behind);
    }
}

impl EntryScribe<'_> {
    fn drawn(&self, tool: &str, arguments: &Value, outcome: Outcome<&Value>) -> Option<View> {
        let mut views = self.drawing.iter().filter_map(|tools| tools.view(tool, arguments, outcome));
        let first = views.next()?;
        if first.blocks.is_empty() {
            let better = views.find(|view| !view.blocks.is_empty());
            return Some(better.unwrap_or(first));
        }
        Some(first)
    }
}

fn begin(html: &mut Html, class: &'static str, place: &EntryPlace<'_>, who: &'static str) {
    html.raw("<article class=\"").raw(class).raw("\"").attr("id", place.anchor).raw("><header><a class=\"who\"");
    html.attr("href", &format!("#{}", place.anchor)).raw(">").raw(who).raw("</a> <time>").text(&place.time);
    html.raw("</time></header>");
}

/// Describes the model and its usage.
fn about(answer: &AssistantMessage) -> String {
    let usage = &answer.usage;
    let mut about = vec![format!("{}/{}", answer.provider, answer.model)];
    if usage.prompt_tokens() + usage.output > 0 {
        about.push(format!("{} in, {} out", compact(usage.prompt_tokens()), compact(usage.output)));
    }
    if usage.cost.total > 0.0 {
        about.push(format!("${:.4}", usage.cost.total));
    }
    if let Some(ms) = answer.duration.filter(|ms| ms.is_finite() && *ms > 0.0 && *ms < 1e12) {
        about.push(duration(std::time::Duration::from_millis(ms as u64)));
    }
    about.join(" · ")
}

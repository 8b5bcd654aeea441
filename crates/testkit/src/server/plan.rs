//! Converts a turn and its fault to the steps of a connection. Pure, so that the sent data is visible here.

use std::time::Duration;

use serde_json::Value;

use crate::script::{FaultKind, FaultStatus, Framing, Moment, Split, Text, Turn};
use crate::wire::{self, Frames, SseEvent, Wire, WireContext};

#[derive(Debug, PartialEq)]
pub enum ResponseStep {
    /// A whole response with its length; the connection can be reused afterwards.
    Whole(PlannedResponse),
    /// The head of a chunked event stream.
    Head(StreamHead),
    Body(Vec<u8>),
    /// Filler bytes, generated while they are sent.
    Fill(u64),
    Pause(Duration),
    /// Repeats these bytes with a pause after each time, until the client hangs up.
    KeepAlive(Vec<u8>, Duration),
    /// Sends nothing; without a duration until the client hangs up.
    Stall(Option<Duration>),
    Reset,
    Close,
    /// The last chunk.
    End,
}

#[derive(Debug, PartialEq)]
pub struct PlannedResponse {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

#[derive(Debug, PartialEq)]
pub struct StreamHead {
    pub wire: Wire,
    pub gzip: bool,
    pub split: Option<Split>,
}

impl PlannedResponse {
    pub fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    fn new(status: u16, content_type: &str, body: String) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self { status, headers, body: body.into_bytes() }
    }
}

pub fn plan(turn: &Turn, fault: Option<&FaultKind>, framing: &Framing, cx: &WireContext) -> Vec<ResponseStep> {
    match fault {
        Some(FaultKind::Status(status)) => vec![ResponseStep::Whole(status_response(status, cx))],
        Some(FaultKind::ContextOverflow) => {
            vec![ResponseStep::Whole(PlannedResponse::json(400, &wire::overflow_body(cx.wire)))]
        }
        Some(FaultKind::WholeJson) => vec![ResponseStep::Whole(PlannedResponse::json(200, &wire::whole(turn, cx)))],
        Some(FaultKind::Html) => {
            vec![ResponseStep::Whole(PlannedResponse::new(200, "text/html; charset=utf-8", PORTAL.to_owned()))]
        }
        _ => stream(turn, fault, framing, cx),
    }
}

const PORTAL: &str = "<!doctype html>\n<html><head><title>Sign in</title></head><body>Please sign in.</body></html>\n";

fn status_response(status: &FaultStatus, cx: &WireContext) -> PlannedResponse {
    let mut response = match &status.body {
        Some(body) => PlannedResponse::new(status.code, "text/plain", body.clone()),
        None => PlannedResponse::json(status.code, &wire::error_body(cx.wire, status.code)),
    };
    response.headers.extend(status.retry_after.iter().map(|value| ("retry-after".to_owned(), value.clone())));
    for (name, value) in &status.headers {
        response.headers.retain(|(present, _)| !present.eq_ignore_ascii_case(name));
        response.headers.push((name.clone(), value.clone()));
    }
    response
}

fn stream(turn: &Turn, fault: Option<&FaultKind>, framing: &Framing, cx: &WireContext) -> Vec<ResponseStep> {
    let events = lay_out(&spoil(turn, fault, cx), framing, cx.wire);
    let head = ResponseStep::Head(StreamHead { wire: cx.wire, gzip: framing.gzip, split: framing.split.clone() });
    let delay = (turn.delay_ms > 0).then(|| Duration::from_millis(turn.delay_ms));
    let (moment, interruption) = match fault {
        Some(FaultKind::Stall { at, ms }) => (*at, ResponseStep::Stall(ms.map(Duration::from_millis))),
        Some(FaultKind::KeepAlive { at, ms }) => {
            (*at, ResponseStep::KeepAlive(sign_of_life(cx.wire).to_vec(), Duration::from_millis(*ms)))
        }
        Some(FaultKind::Reset { at }) => (*at, ResponseStep::Reset),
        Some(FaultKind::Close { at }) => (*at, ResponseStep::Close),
        Some(FaultKind::HugeLine { megabytes }) => {
            let body = events.into_iter().flat_map(|event| with_filler(event, *megabytes));
            return [head].into_iter().chain(body).chain([ResponseStep::End]).collect();
        }
        _ => return [head].into_iter().chain(paced(events, delay)).chain([ResponseStep::End]).collect(),
    };
    let (before, rest) = cut(events, moment);
    let mut steps = Vec::new();
    if moment == Moment::BeforeHeaders {
        steps.extend([interruption, head]);
        steps.extend(paced(rest, delay));
    } else {
        steps.push(head);
        steps.extend(paced(before, delay));
        steps.push(interruption);
        steps.extend(paced(rest, delay));
    }
    steps.push(ResponseStep::End);
    steps
}

fn sign_of_life(wire: Wire) -> &'static [u8] {
    match wire {
        Wire::Anthropic => b"event: ping\ndata: {\"type\": \"ping\"}\n\n",
        _ => b": keep-alive\n\n",
    }
}

/// Returns the events after applying a fault that affects events.
fn spoil(turn: &Turn, fault: Option<&FaultKind>, cx: &WireContext) -> Vec<SseEvent> {
    let mut turn = turn.under(fault);
    if matches!(fault, Some(FaultKind::HugeLine { .. })) {
        let mut chunks: Vec<String> =
            turn.text.iter().flat_map(Text::chunks).map(std::borrow::Cow::into_owned).collect();
        chunks.push(FILLER_MARK.to_owned());
        turn.text = Some(Text::Chunks(chunks));
    }
    let Frames { mut list, tail } = wire::frames(&turn, cx);
    let middle = list.len() / 2;
    match fault {
        Some(FaultKind::EmptyStream) => list.clear(),
        Some(FaultKind::NoTerminal) => list.truncate(tail),
        Some(FaultKind::NoLastEvent) => list.truncate(list.len().saturating_sub(1)),
        Some(FaultKind::MalformedEvent) => {
            let data = &mut list[middle].data;
            *data = data.chars().take(data.chars().count() / 2).collect();
        }
        Some(FaultKind::ErrorEvent { code }) => {
            list.truncate(middle);
            list.push(wire::error_frame(cx, *code, middle));
        }
        _ => {}
    }
    list
}

/// Placeholder for the filler until the events are written; script text is unlikely to contain it.
const FILLER_MARK: &str = "<<testkit filler>>";

fn with_filler(event: Vec<u8>, megabytes: u32) -> Vec<ResponseStep> {
    let text = String::from_utf8_lossy(&event);
    let mut steps = Vec::new();
    for (position, part) in text.split(FILLER_MARK).enumerate() {
        if position > 0 {
            steps.push(ResponseStep::Fill(u64::from(megabytes) << 20));
        }
        steps.push(ResponseStep::Body(part.as_bytes().to_vec()));
    }
    steps
}

fn lay_out(frames: &[SseEvent], framing: &Framing, wire: Wire) -> Vec<Vec<u8>> {
    let newline = if framing.crlf || wire == Wire::Google { "\r\n" } else { "\n" };
    let mut events: Vec<String> = frames.iter().map(|frame| lay_out_event(frame, framing, newline)).collect();
    if framing.bom
        && let Some(first) = events.first_mut()
    {
        first.insert(0, '\u{feff}');
    }
    if framing.no_final_newline
        && let Some(last) = events.last_mut()
    {
        last.truncate(last.trim_end_matches(['\r', '\n']).len());
    }
    events.into_iter().map(String::into_bytes).collect()
}

fn lay_out_event(frame: &SseEvent, framing: &Framing, newline: &str) -> String {
    let mut text = String::new();
    if framing.comments {
        text.push_str(": keep-alive");
        text.push_str(newline);
        text.push_str(newline);
    }
    if let Some(name) = &frame.event {
        text.push_str("event: ");
        text.push_str(name);
        text.push_str(newline);
    }
    text.push_str("data: ");
    match frame.data.strip_prefix('{').filter(|_| framing.multi_line) {
        // JSON allows a line break after the first brace.
        Some(rest) => {
            text.push('{');
            text.push_str(newline);
            text.push_str("data: ");
            text.push_str(rest);
        }
        None => text.push_str(&frame.data),
    }
    text.push_str(newline);
    text.push_str(newline);
    text
}

fn paced(events: Vec<Vec<u8>>, delay: Option<Duration>) -> impl Iterator<Item = ResponseStep> {
    events
        .into_iter()
        .flat_map(move |event| [Some(ResponseStep::Body(event)), delay.map(ResponseStep::Pause)].into_iter().flatten())
}

type EventBytes = Vec<Vec<u8>>;

/// Returns the events before and after a moment. An event across it is split in two.
fn cut(mut events: EventBytes, moment: Moment) -> (EventBytes, EventBytes) {
    match moment {
        Moment::BeforeHeaders | Moment::AfterHeaders => (Vec::new(), events),
        Moment::AfterEvents(count) => {
            let rest = events.split_off(count.min(events.len()));
            (events, rest)
        }
        Moment::MidStream => {
            let mut left = events.iter().map(Vec::len).sum::<usize>() / 2;
            let across = events.iter().position(|event| {
                let here = left < event.len();
                left -= if here { 0 } else { event.len() };
                here
            });
            let mut rest = events.split_off(across.unwrap_or(events.len()));
            if let Some(event) = rest.first_mut() {
                let second = event.split_off(left);
                events.push(std::mem::replace(event, second));
            }
            (events, rest)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_cut(moment: Moment, expect: &[&[&str]]) {
        let events = ["aaaa", "bbbb", "cc"].iter().map(|event| event.as_bytes().to_vec()).collect();
        let (before, rest) = cut(events, moment);
        let text = |events: &EventBytes| {
            events.iter().map(|event| String::from_utf8(event.clone()).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!([text(&before), text(&rest)], [expect[0], expect[1]]);
    }

    #[test]
    fn a_stream_is_cut_where_the_moment_says() {
        check_cut(Moment::AfterHeaders, &[&[], &["aaaa", "bbbb", "cc"]]);
        check_cut(Moment::AfterEvents(2), &[&["aaaa", "bbbb"], &["cc"]]);
        check_cut(Moment::AfterEvents(9), &[&["aaaa", "bbbb", "cc"], &[]]);
        check_cut(Moment::MidStream, &[&["aaaa", "b"], &["bbb", "cc"]]);
    }

    #[test]
    fn a_huge_line_is_never_held_in_memory() {
        let cx = WireContext::new(Wire::Anthropic, "/v1/messages", b"", &Value::Null, 0);
        let steps = plan(&Turn::text("a"), Some(&FaultKind::HugeLine { megabytes: 2000 }), &Framing::default(), &cx);
        let fills: Vec<_> = steps.iter().filter(|step| matches!(step, ResponseStep::Fill(_))).collect();
        assert_eq!(fills, [&ResponseStep::Fill(2000 << 20)]);
    }
}

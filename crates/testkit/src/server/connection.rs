//! One client connection: reads requests and sends answers until one side closes it.

use std::io;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use bytes::BytesMut;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::SharedServer;
use super::http1::{ReceivedRequest, read_request};
use super::listing::listing;
use super::plan::{PlannedResponse, ResponseStep, plan};
use super::record::{RecordedRequest, RequestLog};
use super::sender::{Ending, Sender};
use crate::script::{FaultKind, Turn};
use crate::strict::{self, ServiceRefusal};
use crate::wire::{self, Wire, WireContext};

pub async fn serve(mut socket: TcpStream, shared: Arc<SharedServer>, number: usize) {
    // Split frames require that each write is its own segment; loopback sockets do not refuse this.
    let _ = socket.set_nodelay(true);
    shared.counts.send_modify(|counts| counts.connections += 1);
    let mut incoming = BytesMut::new();
    loop {
        let request = match read_request(&mut socket, &mut incoming).await {
            Ok(Some(request)) => request,
            Ok(None) => return,
            Err(error) => return refuse(&mut socket, &error).await,
        };
        let answer = answer(&shared, &request);
        record(&shared, &request, &answer, number);
        let ending = Sender::new(&mut socket, &mut incoming, &shared.counts).send(answer.steps).await;
        shared.counts.send_modify(|counts| match ending {
            Ok(_) => counts.answers += 1,
            Err(_) => counts.hangups += 1,
        });
        if !matches!(ending, Ok(Ending::KeepAlive)) || request.wants_close() {
            return;
        }
    }
}

/// Sends an error to a client that does not speak HTTP/1.1, if it still reads.
async fn refuse(socket: &mut TcpStream, error: &io::Error) {
    let body = format!("{error}\n");
    let head = format!("HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    let _ = socket.write_all(format!("{head}{body}").as_bytes()).await;
}

struct PlannedAnswer {
    steps: Vec<ResponseStep>,
    turn: Option<usize>,
    /// Text for the log.
    shown: String,
}

impl PlannedAnswer {
    fn whole(status: u16, body: &Value) -> Self {
        Self {
            steps: vec![ResponseStep::Whole(PlannedResponse::json(status, body))],
            turn: None,
            shown: format!("status {status}"),
        }
    }

    /// Refuses requests that violate rules for every test.
    fn not_taken(shared: &SharedServer, request: &ReceivedRequest, wire: Wire, refusal: &ServiceRefusal) -> Self {
        let ServiceRefusal { status, message } = refusal;
        shared.refused().push(format!("{} {}: {status} {message}", request.method, request.path));
        let mut answer = Self::whole(*status, &wire::bad_request_body(wire, message));
        answer.shown = format!("status {status}: {message}");
        answer
    }

    fn refused(wire: Wire, message: &str) -> Self {
        let mut answer = Self::whole(400, &wire::bad_request_body(wire, message));
        answer.shown = format!("status 400: {message}");
        answer
    }
}

fn answer(shared: &SharedServer, request: &ReceivedRequest) -> PlannedAnswer {
    let wire = Wire::of_path(&request.path);
    match (request.method.as_str(), wire) {
        ("POST", Some(wire)) => model_answer(shared, request, wire),
        ("POST", None)
            if request.path.ends_with("/responses/compact")
                && let Some(body) = &shared.script.compact =>
        {
            match strict::check_content_type(&request.headers) {
                Err(refusal) => PlannedAnswer::not_taken(shared, request, Wire::Responses, &refusal),
                Ok(()) => PlannedAnswer::whole(200, body),
            }
        }
        ("GET", _) if let Some(body) = listing(&request.path, &shared.script.models) => {
            PlannedAnswer::whole(200, &body)
        }
        _ => PlannedAnswer::whole(404, &json!({"error": {"type": "not_found_error", "message": "not found"}})),
    }
}

fn model_answer(shared: &SharedServer, request: &ReceivedRequest, wire: Wire) -> PlannedAnswer {
    let checked = strict::check_headers(wire, &request.headers);
    let has_key = || strict::check_key(wire, &request.path, &request.headers);
    if let Err(refusal) = checked.and_then(|()| if shared.script.keyless { Ok(()) } else { has_key() }) {
        return PlannedAnswer::not_taken(shared, request, wire, &refusal);
    }
    let Ok(json) = serde_json::from_slice::<Value>(&request.body) else {
        return PlannedAnswer::refused(wire, "the body is not JSON");
    };
    if let Some(problem) = not_streaming(wire, &request.path, &json) {
        return PlannedAnswer::refused(wire, problem);
    }
    if let Some(problem) = wire::unpaired(wire, &json) {
        return PlannedAnswer::refused(wire, &problem);
    }
    if let Err(refusal) = strict::check_body(wire, &json) {
        return PlannedAnswer::not_taken(shared, request, wire, &refusal);
    }
    shared.capture.lock().unwrap_or_else(PoisonError::into_inner).keep(wire, request);
    let script = &shared.script;
    if let Some(text) = script.aux.as_ref().filter(|_| !wire::offers_tools(&json)) {
        let cx = WireContext::new(wire, &request.path, &request.body, &json, 0);
        let steps = plan(&Turn::text(text.as_str()), None, &script.framing, &cx);
        return PlannedAnswer { steps, turn: None, shown: "aux".to_owned() };
    }
    let Some(choice) = shared.progress().choose(script, wire::assistant_turns(wire, &json)) else {
        let turns = script.turns.len();
        let problem = format!("the script has no turn left: it has {turns}; hint: add one or set `past_end`");
        return PlannedAnswer::refused(wire, &problem);
    };
    let turn = &script.turns[choice.turn];
    let cx = WireContext::new(wire, &request.path, &request.body, &json, choice.number);
    let kind = choice.fault.as_ref().map(|fault| &fault.kind);
    let steps = plan(turn, kind, turn.framing.as_ref().unwrap_or(&script.framing), &cx);
    let fault = kind.map_or_else(String::new, |kind| match kind {
        FaultKind::Status(status) => format!(", status {}", status.code),
        other => format!(", fault {other:?}"),
    });
    let shown = format!("turn {}, attempt {}{fault}", choice.turn + 1, choice.attempt + 1);
    PlannedAnswer { steps, turn: Some(choice.turn), shown }
}

/// The fake services only stream, so a request without streaming is reported as a mistake.
fn not_streaming(wire: Wire, path: &str, json: &Value) -> Option<&'static str> {
    match wire {
        Wire::Google if !path.contains("alt=sse") => Some("streamGenerateContent without `alt=sse`"),
        Wire::Google => None,
        _ if json.get("stream") != Some(&Value::Bool(true)) => Some("the request does not say `\"stream\": true`"),
        _ => None,
    }
}

fn record(shared: &SharedServer, request: &ReceivedRequest, answer: &PlannedAnswer, connection: usize) {
    shared.journal().push(RecordedRequest {
        method: request.method.clone(),
        path: request.path.clone(),
        headers: request.headers.clone(),
        body: request.body.clone(),
        at: Instant::now(),
        connection,
        turn: answer.turn,
    });
    shared.counts.send_modify(|counts| counts.requests += 1);
    if let Some(log) = &shared.log {
        log(&RequestLog {
            method: request.method.clone(),
            // Google's clients may put their key in the query.
            path: request.path.split('?').next().unwrap_or_default().to_owned(),
            body_bytes: request.body.len(),
            answer: answer.shown.clone(),
        });
    }
}

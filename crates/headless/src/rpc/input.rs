//! Reads lines from the client on a separate thread and parses requests.

use std::io::{BufRead, BufReader, Read};

use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::mpsc;

use super::frame::Refusal;

/// Longer lines are refused: no message with images needs more.
const MAX_LINE: usize = 64 << 20;
/// Caps the lines in the queue; beyond it the client's pipe fills up.
const MAX_WAITING: usize = 64;

/// A request of the client.
#[derive(Debug)]
pub struct Request {
    pub id: Option<Value>,
    pub kind: String,
    body: Value,
}

/// An invalid line, with the reason.
#[derive(Debug, PartialEq, Eq)]
pub struct Unreadable(pub String);

/// The receiver closes with the input. The thread blocks in `read` until then; it does not keep the process alive.
pub fn listen(input: impl Read + Send + 'static) -> std::io::Result<mpsc::Receiver<Result<Request, Unreadable>>> {
    let (sender, receiver) = mpsc::channel(MAX_WAITING);
    let work = move || {
        let mut input = BufReader::with_capacity(64 << 10, input);
        while let Some(line) = read_line(&mut input) {
            let request = match line {
                Ok(line) if line.trim_ascii().is_empty() => continue,
                Ok(line) => Request::parse(&line),
                Err(unreadable) => Err(unreadable),
            };
            if sender.blocking_send(request).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("rpc-input".to_owned()).spawn(work)?;
    Ok(receiver)
}

/// Returns the next line without its end; `None` at the end of the input or on an error.
fn read_line(input: &mut impl BufRead) -> Option<Result<Vec<u8>, Unreadable>> {
    let mut line = Vec::new();
    let read = input.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line).ok()?;
    if read == 0 {
        return None;
    }
    if line.last() == Some(&b'\n') || line.len() <= MAX_LINE {
        return Some(Ok(line));
    }
    drop(line);
    input.skip_until(b'\n').ok()?;
    Some(Err(Unreadable(format!("the line has more than {} MiB", MAX_LINE >> 20))))
}

impl Request {
    fn parse(line: &[u8]) -> Result<Self, Unreadable> {
        let body: Value = serde_json::from_slice(line).map_err(|error| Unreadable(error.to_string()))?;
        let Some(fields) = body.as_object() else {
            return Err(Unreadable("a command is an object with a `type`".to_owned()));
        };
        let Some(kind) = fields.get("type").and_then(Value::as_str) else {
            return Err(Unreadable("`type` is missing or not a string".to_owned()));
        };
        let id = fields.get("id").filter(|id| !id.is_null()).cloned();
        Ok(Self { id, kind: kind.to_owned(), body })
    }

    /// Parses the fields of the command.
    pub fn fields<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        T::deserialize(&self.body).map_err(|error| format!("Invalid {} command: {error}", self.kind).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_request_or_a_complaint() {
        let lines = [
            r#"{"id":"1","type":"get_state"}"#,
            "",
            "  \r",
            "nonsense",
            "[1]",
            "5",
            r#"{"id":"2"}"#,
            r#"{"type":7}"#,
            r#"{"type":"x","id":null}"#,
            "\u{feff}{}",
        ];
        let mut bytes = lines.join("\n").into_bytes();
        bytes.extend(b"\n\xff\xfe\n{\"type\":\"last\"}");
        let mut receiver = listen(std::io::Cursor::new(bytes)).unwrap();
        let mut seen = Vec::new();
        while let Some(request) = receiver.blocking_recv() {
            seen.push(match request {
                Ok(request) => {
                    format!("{} {:?}", request.kind, request.id.and_then(|id| id.as_str().map(str::to_owned)))
                }
                Err(Unreadable(problem)) => problem,
            });
        }
        insta::assert_debug_snapshot!(seen, @r#"
        [
            "get_state Some(\"1\")",
            "expected ident at line 1 column 2",
            "a command is an object with a `type`",
            "a command is an object with a `type`",
            "`type` is missing or not a string",
            "`type` is missing or not a string",
            "x None",
            "expected value at line 1 column 1",
            "expected value at line 1 column 1",
            "last None",
        ]
        "#);
    }

    #[test]
    fn a_line_without_end_is_passed_over() {
        let mut bytes = vec![b'x'; MAX_LINE + 10];
        bytes.extend(b"\n{\"type\":\"after\"}\n");
        let mut receiver = listen(std::io::Cursor::new(bytes)).unwrap();
        let Err(Unreadable(problem)) = receiver.blocking_recv().unwrap() else { panic!("a request") };
        assert_eq!(problem, "the line has more than 64 MiB");
        assert_eq!(receiver.blocking_recv().unwrap().unwrap().kind, "after");
        assert!(receiver.blocking_recv().is_none());
    }
}

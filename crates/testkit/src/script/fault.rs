//! Faults of an answer, and the byte layout of an answer without faults.
//!
//! The two are separate on purpose: a client must handle any [`Framing`] and still get the whole answer, while a [`Fault`]
//! must end in a retry or a clear error.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A fault and its duration.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    pub kind: FaultKind,
    /// Affects only the first `times` attempts at the turn; all attempts if absent.
    #[serde(default)]
    pub times: Option<u32>,
    /// Which turn comes next in [`super::Select::Sequence`]; see [`FaultKind::spoils_answer`] for the default.
    #[serde(default)]
    pub after: Option<After>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum After {
    /// The same turn again: the faulty answer does not count.
    Same,
    Next,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FaultKind {
    /// Sends nothing. Without `ms` until the client hangs up.
    Stall {
        at: Moment,
        #[serde(default)]
        ms: Option<u64>,
    },
    /// Sends only keep-alives every `ms` milliseconds until the client hangs up: pings if the API has them, else comments.
    /// Not within an event.
    KeepAlive { at: Moment, ms: u64 },
    /// Resets the connection with a TCP RST.
    Reset { at: Moment },
    /// Closes the connection properly, but too early.
    Close { at: Moment },
    /// Sends an error status instead of an answer.
    Status(FaultStatus),
    /// Sends status 400 in each provider's wording for a prompt that is too long.
    ContextOverflow,
    /// Reports an error inside a stream that began well, in each provider's form for the given status.
    ErrorEvent { code: u16 },
    /// Truncates the JSON of one event in the middle.
    MalformedEvent,
    /// Sends status 200 with a web page, like a captive portal.
    Html,
    /// Sends status 200 with the right content type and no event.
    EmptyStream,
    /// Omits everything after the content: stop reason, usage and last event.
    NoTerminal,
    /// Omits only the last event.
    NoLastEvent,
    /// Ends the text with one more chunk of this many megabytes, in a single line.
    HugeLine { megabytes: u32 },
    /// Truncates the arguments of the last call, though the stream itself is well-formed.
    TruncatedArguments,
    /// Sends one complete JSON document instead of a stream, like some gateways.
    WholeJson,
}

/// When a stall, reset or close happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    BeforeHeaders,
    AfterHeaders,
    /// After half of the stream's bytes, usually inside an event.
    MidStream,
    /// Between two events.
    AfterEvents(usize),
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultStatus {
    pub code: u16,
    /// Value of the `retry-after` header: seconds or a date.
    #[serde(default)]
    pub retry_after: Option<String>,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The provider's own error JSON when absent.
    #[serde(default)]
    pub body: Option<String>,
}

/// Harmless ways to lay out the same events.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Framing {
    pub split: Option<Split>,
    pub gzip: bool,
    /// CRLF line ends everywhere. Google's stream always has them, as the real one does.
    pub crlf: bool,
    /// A comment, as sent to keep a connection alive, before each event.
    pub comments: bool,
    pub bom: bool,
    /// The JSON of each event over two `data:` lines.
    pub multi_line: bool,
    pub no_final_newline: bool,
}

/// Where the body is cut into pieces, each an HTTP chunk and a write of its own. Offsets count body bytes as sent,
/// that is after compression.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    EveryByte,
    Every(usize),
    At(Vec<usize>),
}

impl Fault {
    pub fn new(kind: FaultKind) -> Self {
        Self { kind, times: None, after: None }
    }

    pub fn status(code: u16) -> Self {
        Self::new(FaultKind::Status(FaultStatus { code, ..FaultStatus::default() }))
    }

    pub fn stall(at: Moment) -> Self {
        Self::new(FaultKind::Stall { at, ms: None })
    }

    pub fn reset(at: Moment) -> Self {
        Self::new(FaultKind::Reset { at })
    }

    pub fn times(mut self, times: u32) -> Self {
        self.times = Some(times);
        self
    }

    pub fn after(mut self, after: After) -> Self {
        self.after = Some(after);
        self
    }

    /// Whether the faulty answer leaves the turn to be played again.
    pub fn keeps_turn(&self) -> bool {
        match self.after {
            Some(after) => after == After::Same,
            None => self.kind.spoils_answer(),
        }
    }
}

impl FaultKind {
    /// Whether a client that meets the fault has no answer it may use. A short stall and cut-off arguments leave one.
    pub fn spoils_answer(&self) -> bool {
        let leaves_one =
            matches!(self, FaultKind::Stall { ms: Some(_), .. } | FaultKind::TruncatedArguments | FaultKind::WholeJson);
        !leaves_one
    }
}

impl FaultStatus {
    pub fn new(code: u16) -> Self {
        Self { code, ..Self::default() }
    }

    pub fn retry_after(mut self, value: &str) -> Self {
        self.retry_after = Some(value.to_owned());
        self
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(name.to_owned(), value.to_owned());
        self
    }

    pub fn body(mut self, body: impl Into<String>) -> Self {
        self.body = Some(body.into());
        self
    }
}

impl From<FaultStatus> for Fault {
    fn from(status: FaultStatus) -> Self {
        Fault::new(FaultKind::Status(status))
    }
}

impl From<FaultKind> for Fault {
    fn from(kind: FaultKind) -> Self {
        Fault::new(kind)
    }
}

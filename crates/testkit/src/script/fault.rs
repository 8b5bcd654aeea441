//! What goes wrong with an answer, and how its bytes are laid out when nothing does.
//!
//! The two are apart on purpose: a client must cope with any [`Framing`] and still get the whole answer, while a
//! [`Fault`] must end in a retry or a clear error.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A fault, and for how long it lasts.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    pub kind: FaultKind,
    /// Only the first so many attempts at the turn; every one when absent.
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
    /// Silence. Without `ms` it lasts until the client hangs up.
    Stall {
        at: Moment,
        #[serde(default)]
        ms: Option<u64>,
    },
    /// Signs of life every `ms` milliseconds, and nothing else until the client hangs up: pings where the API has them,
    /// comments elsewhere. Not within an event.
    KeepAlive { at: Moment, ms: u64 },
    /// The connection is torn down with a TCP RST.
    Reset { at: Moment },
    /// The connection is closed in good order, but too early.
    Close { at: Moment },
    /// An error status instead of an answer.
    Status(FaultStatus),
    /// Status 400 in the words each provider uses when the prompt is too long.
    ContextOverflow,
    /// An error reported inside a stream that began well, as each provider reports the given status there.
    ErrorEvent { code: u16 },
    /// One event in the middle has its JSON cut off.
    MalformedEvent,
    /// Status 200 with a web page, as a captive portal gives.
    Html,
    /// Status 200, the right content type and no event at all.
    EmptyStream,
    /// Everything after the content is missing: no stop reason, no usage, no last event.
    NoTerminal,
    /// Only the very last event is missing.
    NoLastEvent,
    /// The text ends with one more chunk of so many megabytes, in a single line.
    HugeLine { megabytes: u32 },
    /// The arguments of the last call stop half way, though the stream itself is well-formed.
    TruncatedArguments,
    /// One JSON document instead of a stream, as some gateways answer. The answer is whole.
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

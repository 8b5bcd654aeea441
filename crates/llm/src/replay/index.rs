//! Index of a recording, built in one pass over the file; only offsets are kept.

use std::collections::hash_map::DefaultHasher;
use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use omp_types::{Model, ThinkingLevel};

use super::ReplayError;
use super::conversation::Conversation;
use crate::recording::line::{About, Head, Line, RequestLine, VERSION};

/// Length limit of a line.
const LONGEST_LINE: u64 = 512 << 20;
/// Limit on the number of exchanges.
const MOST_EXCHANGES: usize = 200_000;

pub(super) struct RecordingIndex {
    pub path: PathBuf,
    /// Working folders of the recorded run and of this one.
    pub folders: [String; 2],
    /// Exchanges with a model, in order.
    pub exchanges: Vec<IndexedExchange>,
    /// Whether the end of the file is missing.
    pub cut_off: bool,
}

pub(super) struct IndexedExchange {
    pub id: u64,
    /// Offset of its first line.
    pub offset: u64,
    pub model: Arc<Model>,
    pub thinking: ThinkingLevel,
    /// Hash of the conversation, for comparing without keeping it.
    pub print: u64,
}

impl RecordingIndex {
    pub fn read(path: &Path, cwd: &Path) -> Result<Self, ReplayError> {
        let mut lines = RecordingLines::open(path, 0).map_err(|error| unreadable(path, &error))?;
        let head = head(path, &mut lines)?;
        let mut index = Self {
            path: path.to_owned(),
            folders: [head.cwd, cwd.display().to_string()],
            exchanges: Vec::new(),
            cut_off: false,
        };
        loop {
            let offset = lines.offset;
            match lines.next().map_err(|error| unreadable(path, &error))? {
                None => break,
                Some(Reading::CutOff) => index.cut_off = true,
                Some(Reading::Line(Line::Request(request))) => index.add(request, offset, lines.number)?,
                Some(Reading::Line(_)) => {}
                Some(Reading::Broken(why)) => return Err(broken(path, lines.number, &why)),
            }
        }
        if index.exchanges.is_empty() {
            let what = format!("the recording {} contains no model request", path.display());
            return Err(ReplayError::new(format!("{what}\nhint: record one with `omp --record FILE -p \"…\"`")));
        }
        Ok(index)
    }

    /// Reads the request of an exchange again.
    pub fn request(&self, exchange: &IndexedExchange) -> io::Result<Option<RequestLine>> {
        match RecordingLines::open(&self.path, exchange.offset)?.next()? {
            Some(Reading::Line(Line::Request(request))) => Ok(Some(request)),
            _ => Ok(None),
        }
    }

    fn add(&mut self, request: RequestLine, offset: u64, number: u64) -> Result<(), ReplayError> {
        let Some(about) = request.about else { return Ok(()) };
        let failed = |why: &str| broken(&self.path, number, why);
        let About { model, thinking } = serde_json::from_value(about).map_err(|error| failed(&error.to_string()))?;
        if self.exchanges.len() >= MOST_EXCHANGES {
            return Err(failed("there are too many exchanges"));
        }
        let body = request.body.into_bytes().map_err(|why| failed(&why))?;
        let print = Conversation::of(&body, &self.folders).print();
        let known = self.exchanges.last().map(|last| &last.model).filter(|known| ***known == model);
        let model = known.cloned().unwrap_or_else(|| Arc::new(model));
        self.exchanges.push(IndexedExchange { id: request.exchange, offset, model, thinking, print });
        Ok(())
    }
}

impl Conversation {
    pub fn print(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.to_string().hash(&mut hasher);
        hasher.finish()
    }
}

/// Reads lines of a recording from any offset.
pub(super) struct RecordingLines {
    file: BufReader<File>,
    /// Offset of the next line.
    pub offset: u64,
    /// Number of the last line that was read.
    pub number: u64,
    buffer: Vec<u8>,
}

/// Result of reading a line.
pub(super) enum Reading {
    Line(Line),
    Broken(String),
    /// The last line is incomplete.
    CutOff,
}

impl RecordingLines {
    pub fn open(path: &Path, offset: u64) -> io::Result<Self> {
        let mut file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        file.seek(SeekFrom::Start(offset))?;
        Ok(Self { file: BufReader::new(file), offset, number: 0, buffer: Vec::new() })
    }

    pub fn next(&mut self) -> io::Result<Option<Reading>> {
        self.buffer.clear();
        let read = (&mut self.file).take(LONGEST_LINE).read_until(b'\n', &mut self.buffer)?;
        self.offset += read as u64;
        self.number += 1;
        if read == 0 {
            return Ok(None);
        }
        Ok(Some(match serde_json::from_slice(&self.buffer) {
            Ok(line) => Reading::Line(line),
            Err(_) if self.buffer.last() != Some(&b'\n') => Reading::CutOff,
            Err(error) => Reading::Broken(error.to_string()),
        }))
    }
}

fn head(path: &Path, lines: &mut RecordingLines) -> Result<Head, ReplayError> {
    let shown = path.display();
    let first = lines.next().map_err(|error| unreadable(path, &error))?;
    let other = "hint: create a recording with `--record FILE`; to continue a session, use `--resume FILE`";
    match first {
        Some(Reading::Line(Line::Recording(head))) if head.version == VERSION => Ok(head),
        Some(Reading::Line(Line::Recording(Head { version, program, .. }))) => Err(ReplayError::new(format!(
            "the recording {shown} has version {version} (made by {program}); this omp plays version {VERSION}\nhint: use the version of omp that made it, or a later one"
        ))),
        None => Err(ReplayError::new(format!("the recording {shown} is empty\n{other}"))),
        Some(_) => Err(ReplayError::new(format!("{shown} is not an omp recording\n{other}"))),
    }
}

fn unreadable(path: &Path, error: &io::Error) -> ReplayError {
    let hint = "hint: `--model replay/FILE` takes a file that was made with `--record FILE`";
    ReplayError::new(format!("cannot read the recording {}: {error}\n{hint}", path.display()))
}

fn broken(path: &Path, number: u64, why: &str) -> ReplayError {
    let hint = "hint: the file was changed or damaged; remove that line and all after it to play the rest";
    ReplayError::new(format!("line {number} of the recording {} is broken: {why}\n{hint}", path.display()))
}

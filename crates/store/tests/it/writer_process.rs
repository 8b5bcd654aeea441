//! A process that only writes to a session and reports acknowledged entries: the test binary itself, started again with the
//! test below.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use omp_store::{BlobStore, EntryBody, LoadedSession, NewSession, OpenError, SessionWriter, TitleSource, WriteError};
use omp_types::{Content, ImageContent, Message, UserMessage};

use crate::user;

const FOLDER: &str = "OMP_STORE_TEST_FOLDER";
const SEED: &str = "OMP_STORE_TEST_SEED";
const ENTRIES: &str = "OMP_STORE_TEST_ENTRIES";
/// Opens the session again for every entry, like many short runs.
const REOPEN: &str = "OMP_STORE_TEST_REOPEN";
const TEST: &str = "writer_process::a_writer_left_alone_writes_everything";

/// A writer's report: `entry <id> <text>`, `refused <why>`, `busy <process id>`.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    Entry { id: String, text: String },
    Refused(String),
    Busy(String),
}

#[derive(Clone)]
pub struct Task<'a> {
    pub folder: &'a Path,
    pub seed: u64,
    pub entries: u32,
    pub reopen: bool,
    /// Shell code that prepares the environment and ends with `"$@"`.
    pub shell: Option<&'a str>,
}

impl Task<'_> {
    #[expect(clippy::disallowed_methods, reason = "the writer is this test binary, started as a program of its own")]
    pub fn start(&self) -> Writing {
        let itself = std::env::current_exe().unwrap();
        let mut command = match self.shell {
            None => Command::new(itself),
            Some(script) => {
                let mut shell = Command::new("sh");
                shell.args(["-c", script, "sh"]).arg(itself);
                shell
            }
        };
        command.args(["--exact", TEST, "--nocapture"]).env(FOLDER, self.folder).env(SEED, self.seed.to_string());
        command.env(ENTRIES, self.entries.to_string()).stdin(Stdio::null());
        if self.reopen {
            command.env(REOPEN, "1");
        }
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Writing { child, lines }
    }
}

pub struct Writing {
    pub child: Child,
    lines: BufReader<ChildStdout>,
}

impl Writing {
    /// Returns the next report, or `None` at the end. An incomplete line is ignored.
    pub fn next(&mut self) -> Option<Told> {
        let mut line = String::new();
        loop {
            line.clear();
            self.lines.read_line(&mut line).unwrap();
            let whole = line.strip_suffix('\n')?;
            // The test runner also prints lines.
            let mut words = whole.splitn(3, ' ');
            match (words.next(), words.next(), words.next()) {
                (Some("entry"), Some(id), Some(text)) => {
                    return Some(Told::Entry { id: id.to_owned(), text: text.to_owned() });
                }
                (Some("refused"), Some(why), _) => return Some(Told::Refused(why.to_owned())),
                (Some("busy"), Some(pid), _) => return Some(Told::Busy(pid.to_owned())),
                _ => {}
            }
        }
    }

    pub fn rest(&mut self) -> Vec<Told> {
        std::iter::from_fn(|| self.next()).collect()
    }
}

/// Returns the only session below a folder.
pub fn session_in(folder: &Path) -> Option<PathBuf> {
    let files = std::fs::read_dir(folder.join("sessions")).ok()?.map(|file| file.unwrap().path());
    let mut found: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    assert!(found.len() <= 1, "{found:?}");
    found.pop()
}

/// A small random generator, so that failures are reproducible.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "how the test binary learns that it is the writer")]
fn a_writer_left_alone_writes_everything() {
    let var = |name: &str| std::env::var(name).ok();
    if let Some(folder) = var(FOLDER) {
        let number = |name| var(name).unwrap().parse().unwrap();
        let mut out = std::io::stdout().lock();
        write(Path::new(&folder), number(SEED), number(ENTRIES) as u32, var(REOPEN).is_some(), &mut out);
        return;
    }
    for reopen in [false, true] {
        let temp = tempfile::tempdir().unwrap();
        let mut told = Vec::new();
        write(temp.path(), 1, 40, reopen, &mut told);
        let told = String::from_utf8(told).unwrap();
        assert_eq!(told.lines().filter(|line| line.starts_with("entry ")).count(), 40, "{told}");
        let session = LoadedSession::open(&session_in(temp.path()).unwrap(), BlobStore::new(temp.path())).unwrap();
        assert!(session.report().is_empty() && session.entry_count() >= 40, "{}", session.report());
    }
}

/// Writes all entries and reports each one after it is saved.
fn write(folder: &Path, seed: u64, entries: u32, reopen: bool, out: &mut impl Write) {
    let mut random = Random(seed);
    let mut writer = None;
    let mut written = 0;
    let mut refusals = 0;
    while written < entries && refusals < 20_000 {
        let open = match writer.take().map_or_else(|| opened(folder), Ok) {
            Ok(open) => open,
            Err(told) => {
                refusals += 1;
                writeln!(out, "{told}").unwrap();
                std::thread::yield_now();
                continue;
            }
        };
        let open = writer.insert(open);
        let text = format!("{seed}/{written}");
        match open.append(&entry(&text, &mut random)) {
            Ok(id) => {
                writeln!(out, "entry {id} {text}").unwrap();
                written += 1;
            }
            Err(WriteError::DiskFull(_) | WriteError::Blob { .. }) => {
                refusals += 1000;
                writeln!(out, "refused full").unwrap();
            }
            Err(error) => {
                refusals += 1000;
                writeln!(out, "refused {error}").unwrap();
            }
        }
        if random.below(16) == 0 && open.set_title(&format!("title {text}"), TitleSource::Auto).is_err() {
            refusals += 1;
        }
        if reopen {
            writer = None;
        }
        out.flush().unwrap();
    }
}

fn opened(folder: &Path) -> Result<SessionWriter, String> {
    let blobs = BlobStore::new(folder);
    let Some(path) = session_in(folder) else {
        let new = NewSession { cwd: Path::new("/p"), now: std::time::SystemTime::now(), parent_session: None };
        return Ok(SessionWriter::create(&folder.join("sessions"), blobs, new));
    };
    let session = LoadedSession::open(&path, blobs).map_err(|error| format!("refused open:{error:?}"))?;
    match session.into_writer() {
        Ok((writer, _)) => Ok(writer),
        Err(OpenError::InUse { pid, .. }) => Err(format!("busy {}", pid.unwrap_or(0))),
        Err(OpenError::Changed(_)) => Err("busy changed".to_owned()),
        Err(error) => Err(format!("refused {error:?}").replace(' ', "_").replacen('_', " ", 1)),
    }
}

/// Creates an entry that is mostly short, sometimes long, sometimes with an image.
fn entry(text: &str, random: &mut Random) -> EntryBody {
    match random.below(12) {
        0 => user(&format!("{text} {}", "x".repeat(random.below(20_000) as usize))),
        1 => {
            let data = "QUJD".repeat(256 + random.below(2000) as usize);
            let image = Content::Image(ImageContent { data, mime_type: "image/png".into() });
            let content = vec![Content::text(text), image];
            EntryBody::Message(std::sync::Arc::new(Message::User(UserMessage::new(content))))
        }
        _ => user(text),
    }
}

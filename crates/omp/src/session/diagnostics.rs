//! What `/debug` shows and packs: the log, the raw stream, the session file, all with secrets removed.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use omp_commands::Diagnostics;
use omp_stdx::plain_file::read_text;
use omp_types::Secrets;

use crate::session::day_log::DayLog;
use crate::session::stream_tap::StreamTap;

/// Caps the lines that are shown of the log.
const MOST_LINES: usize = 500;
/// Caps the logs in a report.
const MOST_LOGS: usize = 3;
/// Caps a file in a report; a larger one is left out.
const LARGEST: u64 = 32 << 20;

pub struct SessionDiagnostics {
    pub log: Arc<DayLog>,
    pub tap: Arc<StreamTap>,
    pub secrets: Secrets,
    /// Reports are written to `debug` in this folder.
    pub agent: PathBuf,
}

impl Diagnostics for SessionDiagnostics {
    fn logs(&self) -> String {
        self.secrets.redact(&self.log.tail(MOST_LINES)).into_owned()
    }

    fn stream(&self) -> String {
        self.tap.text(&self.secrets)
    }

    fn dump_next(&self, file: PathBuf) {
        self.tap.dump_next(file, self.secrets.clone());
    }

    fn bundle(&self, report: &str, session: Option<&Path>) -> Result<PathBuf, String> {
        let folder = self.agent.join("debug");
        self.write(&folder, report, session)
            .map_err(|error| format!("cannot write the report to {}: {error}", folder.display()))
    }
}

impl SessionDiagnostics {
    fn write(&self, folder: &Path, report: &str, session: Option<&Path>) -> std::io::Result<PathBuf> {
        std::fs::create_dir_all(folder)?;
        // Readable by the user alone.
        let file = tempfile::Builder::new().prefix("report-").suffix(".tar.gz").tempfile_in(folder)?;
        let mut archive = tar::Builder::new(GzEncoder::new(file, Compression::default()));
        self.add(&mut archive, "report.txt", report)?;
        self.add(&mut archive, "stream.txt", &self.stream())?;
        let logs = self.log.files();
        for log in logs.iter().skip(logs.len().saturating_sub(MOST_LOGS)) {
            let name = log.file_name().unwrap_or_default().to_string_lossy();
            self.add_file(&mut archive, &format!("logs/{name}"), log)?;
        }
        if let Some(session) = session {
            self.add_file(&mut archive, "session.jsonl", session)?;
        }
        let mut file = archive.into_inner()?.finish()?;
        file.flush()?;
        file.as_file().sync_all()?;
        let (_, path) = file.keep().map_err(|error| error.error)?;
        Ok(path)
    }

    /// A file that cannot be read is left out, with the reason in its place.
    fn add_file(&self, archive: &mut tar::Builder<impl Write>, name: &str, file: &Path) -> std::io::Result<()> {
        let text = read_text(file, LARGEST).unwrap_or_else(|error| format!("left out: {error}\n"));
        self.add(archive, name, &text)
    }

    fn add(&self, archive: &mut tar::Builder<impl Write>, name: &str, text: &str) -> std::io::Result<()> {
        let text = self.secrets.redact(text);
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o600);
        header.set_cksum();
        archive.append_data(&mut header, name, text.as_bytes())
    }
}

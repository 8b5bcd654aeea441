//! Stores requests for `sdk/validate.py`, which checks a whole test run at once.
//!
//! `scripts/test` sets a folder in `OMP_TEST_REQUESTS`; without it nothing is stored. Each server writes its own file, one
//! request per line.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;

use serde_json::json;

use super::http1::ReceivedRequest;
use crate::wire::Wire;

const FOLDER: &str = "OMP_TEST_REQUESTS";

/// Larger bodies, and further bytes of one server, are only counted.
const MAX_BODY: usize = 4 << 20;
const MAX_BYTES: usize = 64 << 20;

#[derive(Default)]
pub struct CaptureFile {
    file: Option<File>,
    bytes: usize,
}

impl CaptureFile {
    pub fn new(port: u16) -> Self {
        let file = folder().and_then(|folder| {
            let name = format!("{}-{port}.jsonl", std::process::id());
            File::create(folder.join(name)).ok()
        });
        Self { file, bytes: 0 }
    }

    /// Stores only requests of omp itself: the tests of this crate send less than a vendor requires.
    pub fn keep(&mut self, wire: Wire, request: &ReceivedRequest) {
        let Some(file) = &mut self.file else { return };
        let is_omp = request.header("user-agent").is_some_and(|agent| agent.starts_with("omp/"));
        if !is_omp {
            return;
        }
        self.bytes += request.body.len();
        let fits = request.body.len() <= MAX_BODY && self.bytes <= MAX_BYTES;
        let head = json!({"wire": wire.api().as_str(), "path": request.path, "headers": request.headers});
        let body = std::str::from_utf8(&request.body).ok().filter(|_| fits).unwrap_or("null");
        // A failed write must not fail the test.
        let _ = writeln!(file, "{{\"head\":{head},\"body\":{body}}}");
    }
}

#[expect(clippy::disallowed_methods, reason = "the kit is told by the script that runs the tests, not by omp")]
fn folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from).filter(|folder| folder.is_dir())
}

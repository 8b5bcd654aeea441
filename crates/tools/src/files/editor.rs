//! The editor of a session as the file tools see it, with a cache of the texts it last returned.

use std::collections::VecDeque;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use omp_types::EditorFiles;
use omp_workspace::OpenTexts;

/// Limits the number of cached texts and their size; previews show no longer files.
const MAX_KEPT: usize = 16;
const MAX_BYTES: usize = 2 * 1024 * 1024;

pub struct EditorTexts {
    editor: Arc<dyn EditorFiles>,
    /// Newest last.
    kept: Mutex<VecDeque<FetchedText>>,
}

struct FetchedText {
    path: PathBuf,
    /// Stamp of the file on disk when the text was fetched; the text is stale once the stamp differs.
    stamp: EditorStamp,
    bytes: Arc<[u8]>,
}

type EditorStamp = Option<(u64, SystemTime)>;

impl EditorTexts {
    pub fn new(editor: Arc<dyn EditorFiles>) -> Self {
        Self { editor, kept: Mutex::default() }
    }

    pub fn keep(&self, path: &Path, bytes: &[u8]) {
        let mut kept = self.kept();
        kept.retain(|known| known.path != path);
        if bytes.len() <= MAX_BYTES {
            kept.push_back(FetchedText { path: path.into(), stamp: stamp(path), bytes: bytes.into() });
        }
        if kept.len() > MAX_KEPT {
            kept.pop_front();
        }
    }

    /// Returns the text that was last read or written, for callers that cannot wait for the editor.
    pub fn last_known(&self, path: &Path) -> Option<Vec<u8>> {
        let kept = self.kept();
        let known = kept.iter().find(|known| known.path == path)?;
        (known.stamp == stamp(path)).then(|| known.bytes.to_vec())
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<FetchedText>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenTexts for EditorTexts {
    fn read(&self, path: &Path) -> Option<String> {
        self.editor.read(path)
    }

    fn write(&self, path: &Path, text: &str) -> Option<Result<(), String>> {
        self.editor.write(path, text)
    }
}

impl fmt::Debug for EditorTexts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("EditorTexts").finish_non_exhaustive()
    }
}

fn stamp(path: &Path) -> EditorStamp {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

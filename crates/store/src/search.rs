//! Searches titles and messages. Every word of the query must occur somewhere in a session; case is ignored.
//!
//! Lines are searched as bytes first: only a line that can contain a missing word is parsed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use crate::entry::{BranchSummary, Compaction};
use crate::error::FindError;
use crate::folder::SessionsDir;
use crate::lines::LONGEST_LINE;
use crate::list::SessionInfo;
use crate::message;
use crate::scan::ContextEntryKind;
use crate::skim::skim;
use crate::tree::text_of_message;

/// Numbers of characters shown around a match.
const BEFORE: usize = 40;
const AROUND: usize = 120;

/// A session that contains every word.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchHit {
    pub info: SessionInfo,
    /// Text around the first match, on one line; empty if the title contains all words.
    pub snippet: String,
}

impl SessionsDir {
    /// Returns at most `limit` sessions of a working folder, or of all, newest first.
    pub fn search(&self, cwd: Option<&Path>, query: &str, limit: usize) -> Result<Vec<SearchHit>, FindError> {
        let sessions = match cwd {
            Some(cwd) => self.list(cwd)?,
            None => self.list_all()?,
        };
        let words: Vec<String> = query.to_lowercase().split_whitespace().map(str::to_owned).collect();
        let hits = sessions.into_iter().filter_map(|info| Hunt::new(&words).in_session(info));
        Ok(hits.take(limit).collect())
    }
}

struct Hunt<'a> {
    missing: Vec<&'a str>,
    snippet: Option<String>,
    lowered: Vec<u8>,
}

impl<'a> Hunt<'a> {
    fn new(words: &'a [String]) -> Self {
        Self { missing: words.iter().map(String::as_str).collect(), snippet: None, lowered: Vec::new() }
    }

    fn in_session(mut self, info: SessionInfo) -> Option<SearchHit> {
        let title = info.title.clone().unwrap_or_default().to_lowercase();
        self.missing.retain(|word| !title.contains(word) && !info.id.starts_with(word));
        if !self.missing.is_empty() {
            // Unreadable files have no matches.
            let _ = for_each_whole_line(&info.path, |line| {
                self.look_at(line);
                !self.missing.is_empty()
            });
        }
        let found = self.missing.is_empty();
        found.then(|| SearchHit { info, snippet: self.snippet.unwrap_or_default() })
    }

    fn look_at(&mut self, line: &[u8]) {
        if !self.may_hold(line) {
            return;
        }
        let Some(text) = said(line) else { return };
        let lowered = text.to_lowercase();
        let snippet = &mut self.snippet;
        self.missing.retain(|word| {
            let Some(at) = lowered.find(word) else { return true };
            snippet.get_or_insert_with(|| around(&lowered, &text, at));
            false
        });
    }

    /// Words that are the same in JSON and in plain text can be searched without parsing.
    fn may_hold(&mut self, line: &[u8]) -> bool {
        self.lowered.clear();
        self.lowered.extend(line.iter().map(u8::to_ascii_lowercase));
        let lowered = &self.lowered;
        self.missing.iter().any(|word| {
            let plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
            !plain || memchr::memmem::find(lowered, word.as_bytes()).is_some()
        })
    }
}

/// Returns the text of an entry that is part of the conversation.
fn said(line: &[u8]) -> Option<String> {
    let kind = ContextEntryKind::named(skim(line).ok()?.kind.text()?);
    let line = String::from_utf8_lossy(line);
    match kind {
        ContextEntryKind::Message => {
            message::of_message_entry(&line).ok().map(|(message, _)| text_of_message(&message))
        }
        ContextEntryKind::CustomMessage => {
            message::of_custom_message(&line).ok().map(|(message, _)| text_of_message(&message))
        }
        ContextEntryKind::Compaction => serde_json::from_str::<Compaction>(&line).ok().map(|entry| entry.summary),
        ContextEntryKind::BranchSummary => serde_json::from_str::<BranchSummary>(&line).ok().map(|entry| entry.summary),
        _ => None,
    }
}

/// Lowercasing may change the length, so the position in the text is approximate.
fn around(lowered: &str, text: &str, at: usize) -> String {
    let before = lowered[..at].chars().count().saturating_sub(BEFORE);
    let piece: String = text.chars().skip(before).take(AROUND).collect();
    piece.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Calls `take` for every line that can be loaded, until it returns false.
fn for_each_whole_line(path: &Path, mut take: impl FnMut(&[u8]) -> bool) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(256 * 1024, File::open(path)?);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.by_ref().take(LONGEST_LINE as u64).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        if read == LONGEST_LINE && line.last() != Some(&b'\n') {
            reader.skip_until(b'\n')?;
        } else if !take(&line) {
            return Ok(());
        }
        // Releases the memory of a very long line.
        line.shrink_to(1024 * 1024);
    }
}

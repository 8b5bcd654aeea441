//! Streams a conversation as HTML, with one entry in memory at a time, and collects the outline for the sidebar.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use omp_store::{EntryId, EntryReader, LoadedSession};
use omp_types::ToolCall;
use serde_json::Value;

use crate::entry::{EntryScribe, Mention, damaged};
use crate::markup::Html;
use crate::tree::RunTree;

/// Limits on lines and labels in the sidebar.
const MOST_MENTIONS: usize = 10_000;

/// The sidebar content of a conversation.
pub(crate) struct SidebarOutline {
    pub tree: RunTree,
    /// Prefix that makes the anchors of a conversation unique.
    pub prefix: String,
    /// By run, then by entry position.
    pub mentions: Vec<BTreeMap<u32, Mention>>,
    /// By entry position.
    pub labels: HashMap<u32, String>,
    mentioned: usize,
    pub left_out: usize,
}

impl SidebarOutline {
    pub fn run_anchor(&self, run: usize) -> String {
        format!("{}s{run}", self.prefix)
    }

    pub fn entry_anchor(&self, position: u32) -> String {
        format!("{}e{position}", self.prefix)
    }

    fn mention(&mut self, run: usize, position: u32, mention: Mention) {
        if self.mentioned >= MOST_MENTIONS {
            self.left_out += 1;
        } else {
            self.mentioned += 1;
            self.mentions[run].insert(position, mention);
        }
    }
}

/// Writes every run of the tree; runs outside the active branch are hidden.
pub(crate) fn write_talk(
    scribe: &mut EntryScribe<'_>,
    session: &LoadedSession,
    leaf: Option<&EntryId>,
    prefix: &str,
    out: &mut dyn Write,
) -> io::Result<SidebarOutline> {
    let newest = session.entry_count().checked_sub(1);
    let leaf = leaf.and_then(|leaf| session.entry_position(leaf)).or(newest);
    let tree = RunTree::of(session, leaf);
    let mentions = vec![BTreeMap::new(); tree.runs.len()];
    let outline =
        SidebarOutline { tree, prefix: prefix.to_owned(), mentions, labels: HashMap::new(), mentioned: 0, left_out: 0 };
    let mut talk =
        Talk { scribe, session, reader: session.reader(), outline, open: HashMap::new(), html: Html::default() };
    out.write_all(b"<div class=\"talk\">")?;
    for run in 0..talk.outline.tree.runs.len() {
        talk.run(run, out)?;
    }
    out.write_all(b"</div>")?;
    talk.mention_labels();
    Ok(talk.outline)
}

struct Talk<'a, 'b> {
    scribe: &'a mut EntryScribe<'b>,
    session: &'a LoadedSession,
    reader: EntryReader<'a>,
    outline: SidebarOutline,
    /// Calls without a result at the end of a run; a branch may start between a call and its result.
    open: HashMap<usize, Vec<ToolCall>>,
    html: Html,
}

impl Talk<'_, '_> {
    fn run(&mut self, run: usize, out: &mut dyn Write) -> io::Result<()> {
        let parent = self.outline.tree.runs[run].parent;
        let mut pending = parent.and_then(|parent| self.open.get(&parent).cloned()).unwrap_or_default();
        self.begin_run(run);
        for at in 0..self.outline.tree.runs[run].entries.len() {
            let position = self.outline.tree.runs[run].entries[at];
            self.entry(run, position, &mut pending);
            self.flush(out)?;
        }
        if self.outline.tree.runs[run].children.is_empty() {
            self.scribe.unanswered(&mut self.html, &mut pending);
        } else if !pending.is_empty() {
            self.open.insert(run, pending);
        }
        self.html.raw("</section>\n");
        self.flush(out)
    }

    fn begin_run(&mut self, run: usize) {
        let outline = &self.outline;
        let here = &outline.tree.runs[run];
        self.html.raw("<section class=\"run\"").attr("id", &outline.run_anchor(run));
        if let Some(parent) = here.parent {
            self.html.attr("data-up", &outline.run_anchor(parent));
        }
        if let Some(next) = outline.tree.next(run) {
            self.html.attr("data-next", &outline.run_anchor(next));
        }
        self.html.raw(if here.active { ">" } else { " hidden>" });
        let siblings = outline.tree.siblings(run);
        if siblings.len() > 1 {
            self.html.raw("<p class=\"fork\">branch ").number(here.index as u64 + 1);
            self.html.raw(" of ").number(siblings.len() as u64);
            let beside = |index: Option<usize>| index.and_then(|index| siblings.get(index));
            let links = [(beside(here.index.checked_sub(1)), " previous"), (beside(Some(here.index + 1)), " next")];
            for (other, name) in links {
                if let Some(other) = other {
                    let anchor = format!("#{}", outline.run_anchor(*other));
                    self.html.raw(" <a").attr("href", &anchor).raw(">").raw(name).raw("</a>");
                }
            }
            self.html.raw("</p>");
        }
    }

    fn entry(&mut self, run: usize, position: u32, pending: &mut Vec<ToolCall>) {
        let anchor = self.outline.entry_anchor(position);
        match self.reader.read(position as usize) {
            Some(Ok(mut entry)) => {
                self.scribe.secrets.redact_value(&mut entry);
                self.note_label(&entry);
                if let Some(mention) = self.scribe.entry(&mut self.html, &anchor, &entry, pending) {
                    self.outline.mention(run, position, mention);
                }
            }
            Some(Err(damage)) => {
                let why = damage.to_string();
                damaged(&mut self.html, &anchor, &self.scribe.secrets.redact(&why));
            }
            None => {}
        }
    }

    fn note_label(&mut self, entry: &Value) {
        let field = |name: &str| entry.get(name).and_then(Value::as_str);
        if field("type") != Some("label") {
            return;
        }
        let Some(target) = field("targetId").and_then(|id| self.session.entry_position(&EntryId::from(id))) else {
            return;
        };
        match field("label") {
            Some(label) if self.outline.labels.len() < MOST_MENTIONS => {
                self.outline.labels.insert(target as u32, label.to_owned());
            }
            _ => drop(self.outline.labels.remove(&(target as u32))),
        }
    }

    /// Adds labelled entries to the sidebar, even if their kind is not shown otherwise.
    fn mention_labels(&mut self) {
        let mut labelled: Vec<u32> = self.outline.labels.keys().copied().collect();
        labelled.sort_unstable();
        for position in labelled {
            let run = self.outline.tree.run_of(position);
            if let Some(run) = run.filter(|run| !self.outline.mentions[*run].contains_key(&position)) {
                self.outline.mention(run, position, Mention::new("fact", "·"));
            }
        }
    }

    fn flush(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.html.as_str().as_bytes())?;
        self.html.clear();
        Ok(())
    }
}

//! Receives one answer as it arrives, block by block, and reports which rules it breaks.

use std::collections::BTreeMap;
use std::path::PathBuf;

use omp_types::ToolCall;

use crate::scope::{StreamPart, path_candidates};
use crate::snapshot::{ArgumentCursor, ArgumentPiece, writes_source};
use crate::structure::{MAX_SOURCE, Structure};
use crate::watch::{StreamScan, Watch};

/// Maximum number of blocks of one answer that are processed at the same time.
const MAX_OPEN: usize = 16;
/// Structural patterns are tried again when the source has grown by this much, or by half: so it is parsed only a few times,
/// however small the chunks are.
const STRUCTURE_STEP: usize = 4 * 1024;
/// Maximum number of file paths considered for a call that is not about one file.
const MAX_PATHS: usize = 32;

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Index of the rule in the watch.
    pub rule: usize,
    pub origin: ViolationOrigin,
}

/// Where it was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViolationOrigin {
    Text,
    Thinking,
    /// In the arguments of the call with this ID.
    Tool(String),
}

/// Reports every rule at most once per block, and per file of a call.
pub struct StreamListener {
    cwd: PathBuf,
    blocks: BTreeMap<usize, StreamBlock>,
    /// Reusable memory of a finished block.
    spare: Option<StreamScan>,
}

struct StreamBlock {
    kind: StreamBlockKind,
    scan: Option<StreamScan>,
    /// State by rule: not met, met, reported.
    rules: Vec<RuleStage>,
    /// Whether a condition was met, or the location became clearer, since rules were last reported.
    changed: bool,
    cursor: ArgumentCursor,
    source: StructuralText,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RuleStage {
    Unmet,
    /// The condition is met, but it is not known yet whether the rule applies here.
    Met,
    Told,
}

enum StreamBlockKind {
    Text,
    Thinking,
    Tool { id: String, name: String, paths: Vec<String> },
}

/// The text that structural patterns are tried on.
#[derive(Default)]
struct StructuralText {
    path: String,
    text: String,
    /// Its length at the last try.
    tried: usize,
    structure: Option<Structure>,
}

impl StreamListener {
    /// Paths within `cwd` are also matched relative to it.
    pub fn new(cwd: PathBuf) -> Self {
        Self { cwd, blocks: BTreeMap::new(), spare: None }
    }

    /// Starts another answer.
    pub fn reset(&mut self) {
        while let Some((_, block)) = self.blocks.pop_first() {
            self.spare = block.scan.or(self.spare.take());
        }
    }

    pub fn text(&mut self, watch: &Watch, index: usize, delta: &str) -> Vec<Hit> {
        if !watch.watches_text() {
            return Vec::new();
        }
        self.prose(watch, index, StreamBlockKind::Text, delta)
    }

    pub fn thinking(&mut self, watch: &Watch, index: usize, delta: &str) -> Vec<Hit> {
        if !watch.watches_thinking() {
            return Vec::new();
        }
        self.prose(watch, index, StreamBlockKind::Thinking, delta)
    }

    /// Processes `delta`, by which the arguments of `call` have grown.
    pub fn arguments(&mut self, watch: &Watch, index: usize, call: &ToolCall, delta: &str) -> Vec<Hit> {
        self.call(watch, index, call, Some(delta))
    }

    /// Processes the end of a call.
    pub fn call_ended(&mut self, watch: &Watch, index: usize, call: &ToolCall) -> Vec<Hit> {
        let mut hits = self.call(watch, index, call, None);
        hits.extend(self.ended(watch, index));
        hits
    }

    /// Processes the end of a block.
    pub fn ended(&mut self, watch: &Watch, index: usize) -> Vec<Hit> {
        let Some(mut block) = self.blocks.remove(&index) else { return Vec::new() };
        let mut hits = Vec::new();
        block.finish_text(watch, &mut hits);
        self.spare = block.scan.take().or(self.spare.take());
        hits
    }

    fn prose(&mut self, watch: &Watch, index: usize, kind: StreamBlockKind, delta: &str) -> Vec<Hit> {
        let mut hits = Vec::new();
        if let Some(block) = self.block(watch, index, || kind) {
            block.push(watch, delta);
            block.tell(watch, &mut hits);
        }
        hits
    }

    fn call(&mut self, watch: &Watch, index: usize, call: &ToolCall, delta: Option<&str>) -> Vec<Hit> {
        let mut hits = Vec::new();
        let cwd = self.cwd.clone();
        let kind = || StreamBlockKind::Tool { id: call.id.clone(), name: call.name.clone(), paths: Vec::new() };
        let Some(block) = self.block(watch, index, kind) else { return hits };
        if let StreamBlockKind::Tool { id, name, .. } = &mut block.kind
            && (*id != call.id || *name != call.name)
        {
            // Some providers send the name, or the rest of it, late.
            (*id, *name) = (call.id.clone(), call.name.clone());
            block.changed = true;
        }
        if writes_source(&call.name) {
            let mut cursor = std::mem::take(&mut block.cursor);
            cursor.read(&call.arguments, delta.is_none(), |piece| match piece {
                ArgumentPiece::Path(path) => block.set_path(path, &cwd),
                ArgumentPiece::File(path) => {
                    block.finish_text(watch, &mut hits);
                    block.begin_file(watch, path, &cwd);
                }
                ArgumentPiece::Text(text) => block.push_source(watch, text),
                ArgumentPiece::Break => block.push_source(watch, "\n"),
            });
            block.cursor = cursor;
            block.try_structure(watch, false);
        } else {
            block.push(watch, delta.unwrap_or_default());
            if block.has_open_questions() || delta.is_none() {
                block.set_paths(paths_in(call), &cwd);
            }
        }
        block.tell(watch, &mut hits);
        hits
    }

    /// Returns `None` if too many blocks are open.
    fn block(
        &mut self,
        watch: &Watch,
        index: usize,
        kind: impl FnOnce() -> StreamBlockKind,
    ) -> Option<&mut StreamBlock> {
        if !self.blocks.contains_key(&index) {
            if self.blocks.len() >= MAX_OPEN {
                return None;
            }
            let scan = match self.spare.take() {
                Some(spare) => spare.anew(watch),
                None => StreamScan::new(watch),
            };
            let rules = vec![RuleStage::Unmet; watch.entries.len()];
            let (cursor, source) = (ArgumentCursor::default(), StructuralText::default());
            let block = StreamBlock { kind: kind(), scan, rules, changed: false, cursor, source };
            self.blocks.insert(index, block);
        }
        self.blocks.get_mut(&index)
    }
}

impl StreamBlock {
    fn push(&mut self, watch: &Watch, text: &str) {
        if let Some(scan) = &mut self.scan {
            scan.push(watch, text);
        }
        self.note();
    }

    fn push_source(&mut self, watch: &Watch, text: &str) {
        self.push(watch, text);
        if watch.has_structure() && self.source.text.len() + text.len() <= MAX_SOURCE {
            self.source.text.push_str(text);
        }
    }

    fn note(&mut self) {
        let Some(scan) = &mut self.scan else { return };
        for rule in scan.take_hits() {
            if self.rules[rule] == RuleStage::Unmet {
                self.rules[rule] = RuleStage::Met;
                self.changed = true;
            }
        }
    }

    fn has_open_questions(&self) -> bool {
        self.rules.contains(&RuleStage::Met)
    }

    /// Reports the rules that are met and apply here.
    fn tell(&mut self, watch: &Watch, hits: &mut Vec<Hit>) {
        if !std::mem::take(&mut self.changed) {
            return;
        }
        for rule in 0..self.rules.len() {
            if self.rules[rule] == RuleStage::Met && watch.admits(rule, self.kind.place()) {
                self.rules[rule] = RuleStage::Told;
                hits.push(Hit { rule, origin: self.kind.origin() });
            }
        }
    }

    /// Ends the text, or its part for one file.
    fn finish_text(&mut self, watch: &Watch, hits: &mut Vec<Hit>) {
        if let Some(scan) = &mut self.scan {
            scan.finish(watch);
        }
        self.note();
        self.try_structure(watch, true);
        self.tell(watch, hits);
    }

    fn begin_file(&mut self, watch: &Watch, path: &str, cwd: &std::path::Path) {
        self.scan = self.scan.take().and_then(|scan| scan.anew(watch));
        self.rules.fill(RuleStage::Unmet);
        self.source.text.clear();
        self.source.tried = 0;
        self.set_path(path, cwd);
    }

    fn set_path(&mut self, path: &str, cwd: &std::path::Path) {
        path.clone_into(&mut self.source.path);
        self.set_paths(vec![path.to_owned()], cwd);
    }

    fn set_paths(&mut self, named: Vec<String>, cwd: &std::path::Path) {
        if let StreamBlockKind::Tool { paths, .. } = &mut self.kind {
            let candidates = named.iter().flat_map(|path| path_candidates(path, cwd)).collect();
            self.changed |= *paths != candidates;
            *paths = candidates;
        }
    }

    fn try_structure(&mut self, watch: &Watch, whole: bool) {
        let source = &mut self.source;
        let step = (source.tried / 2).max(STRUCTURE_STEP);
        let is_due = source.text.len() >= source.tried + step || (whole && source.text.len() > source.tried);
        if !is_due || source.path.is_empty() {
            return;
        }
        source.tried = source.text.len();
        if source.structure.as_ref().is_none_or(|known| !known.is_for(&source.path)) {
            source.structure = Structure::new(watch, &source.path);
        }
        let Some(structure) = &source.structure else { return };
        let (rules, place) = (&self.rules, self.kind.place());
        let may = |rule: usize| rules[rule] == RuleStage::Unmet && watch.admits(rule, place);
        for rule in structure.broken(&source.text, may) {
            self.rules[rule] = RuleStage::Met;
            self.changed = true;
        }
    }
}

impl StreamBlockKind {
    fn place(&self) -> StreamPart<'_> {
        match self {
            StreamBlockKind::Text => StreamPart::Text,
            StreamBlockKind::Thinking => StreamPart::Thinking,
            StreamBlockKind::Tool { name, paths, .. } => StreamPart::Tool { name, paths },
        }
    }

    fn origin(&self) -> ViolationOrigin {
        match self {
            StreamBlockKind::Text => ViolationOrigin::Text,
            StreamBlockKind::Thinking => ViolationOrigin::Thinking,
            StreamBlockKind::Tool { id, .. } => ViolationOrigin::Tool(id.clone()),
        }
    }
}

/// Returns arguments that name files, by argument name: `path`, `paths`, `filePath`. Limited to the first few.
fn paths_in(call: &ToolCall) -> Vec<String> {
    let mut paths = Vec::new();
    for (name, value) in &call.arguments {
        let name = name.to_ascii_lowercase();
        match value {
            serde_json::Value::String(path) if name.ends_with("path") => paths.push(path.clone()),
            serde_json::Value::Array(items) if name.ends_with("paths") => {
                paths.extend(items.iter().take(MAX_PATHS).filter_map(|item| item.as_str()).map(str::to_owned));
            }
            _ => {}
        }
    }
    paths.truncate(MAX_PATHS);
    paths
}

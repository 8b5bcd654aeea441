//! The rules that watch the stream, made ready: one automaton for the conditions of all of them.

use std::sync::{Arc, OnceLock};

use omp_config::Rule;
use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};

use crate::condition::{Condition, together};
use crate::gate::FileGate;
use crate::scope::{Scope, StreamPart};
use crate::settings::InterruptMode;
use crate::structure::Structure;

/// What the states of one stream may take, in bytes. When they are full they are made anew, which costs time and changes
/// nothing else.
const CACHE: usize = 4 << 20;

#[derive(Clone, Debug)]
pub(crate) struct WatchedRule {
    pub rule: Arc<Rule>,
    pub conditions: Vec<Condition>,
    /// Structural patterns.
    pub structure: Vec<String>,
    pub scope: Scope,
    /// Files it is for; `None` for all, and for what is no file.
    pub gate: Option<FileGate>,
    pub interrupt: Option<InterruptMode>,
}

/// Cheap to make: the automaton is built with the first stream.
#[derive(Debug, Default)]
pub struct Watch {
    pub(crate) entries: Vec<WatchedRule>,
    /// The entry that each condition belongs to.
    owners: Vec<usize>,
    automaton: OnceLock<Option<DFA>>,
}

/// A place in a text where a rule's condition is met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleMatch {
    /// Which of the rules.
    pub rule: usize,
    /// The byte behind the match; what stands there may have been needed to be sure of it.
    pub end: usize,
}

impl Watch {
    pub(crate) fn new(entries: Vec<WatchedRule>) -> Self {
        let owners = entries.iter().enumerate().flat_map(|(at, entry)| entry.conditions.iter().map(move |_| at));
        Self { owners: owners.collect(), entries, automaton: OnceLock::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn rules(&self) -> impl ExactSizeIterator<Item = &Arc<Rule>> {
        self.entries.iter().map(|entry| &entry.rule)
    }

    pub fn rule(&self, at: usize) -> Option<&Arc<Rule>> {
        self.entries.get(at).map(|entry| &entry.rule)
    }

    /// The rule's own mode, if it has one.
    pub fn interrupt_mode(&self, at: usize) -> Option<InterruptMode> {
        self.entries.get(at)?.interrupt
    }

    /// Whether a rule is about this place at all.
    pub fn admits(&self, at: usize, place: StreamPart<'_>) -> bool {
        let Some(entry) = self.entries.get(at) else { return false };
        let paths = if let StreamPart::Tool { paths, .. } = place { paths } else { &[] };
        let is_open = entry.gate.as_ref().is_none_or(|gate| paths.iter().any(|path| gate.opens_for(path)));
        is_open && entry.scope.admits(place)
    }

    /// Whether any rule may watch prose, thinking, tools.
    pub(crate) fn watches_text(&self) -> bool {
        self.entries.iter().any(|entry| entry.scope.text)
    }

    pub(crate) fn watches_thinking(&self) -> bool {
        self.entries.iter().any(|entry| entry.scope.thinking)
    }

    pub(crate) fn has_structure(&self) -> bool {
        self.entries.iter().any(|entry| !entry.structure.is_empty())
    }

    /// Every place of a whole text at which a match ends, without regard to scopes: at most `most`.
    pub fn find_all(&self, text: &str, most: usize) -> Vec<RuleMatch> {
        let mut found: Vec<RuleMatch> = Vec::new();
        let Some(mut scan) = StreamScan::new(self) else { return found };
        for (at, byte) in text.bytes().enumerate() {
            scan.step(self, byte);
            found.extend(scan.take_hits().map(|rule| RuleMatch { rule, end: at }));
            if found.len() >= most {
                return found;
            }
        }
        scan.finish(self);
        found.extend(scan.take_hits().map(|rule| RuleMatch { rule, end: text.len() }));
        found.truncate(most);
        found
    }

    /// The lines of a text, counted from 1, on which a rule's conditions are met: those of patterns on which their matches
    /// end. Structure is looked for only in files.
    pub fn lines(&self, rule: usize, path: Option<&str>, text: &str) -> Vec<usize> {
        const MOST: usize = 10_000;
        let found = self.find_all(text, MOST).into_iter().filter(|found| found.rule == rule);
        let (mut counted, mut number) = (0, 1);
        let mut line = |end: usize| {
            // They come in the order of the text.
            let at = text.floor_char_boundary(end.saturating_sub(1)).max(counted);
            number += text[counted..at].matches('\n').count();
            counted = at;
            number
        };
        let mut lines: Vec<usize> = found.map(|found| line(found.end)).collect();
        if let Some(structure) = path.and_then(|path| Structure::new(self, path)) {
            lines.extend(structure.lines(rule, text));
        }
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    fn automaton(&self) -> Option<&DFA> {
        let build = || {
            let conditions: Vec<Condition> = self.entries.iter().flat_map(|entry| entry.conditions.clone()).collect();
            let config = DFA::config()
                .match_kind(MatchKind::All)
                .cache_capacity(CACHE)
                .skip_cache_capacity_check(true)
                .minimum_cache_clear_count(None);
            DFA::builder().configure(config).build_from_nfa(together(&conditions)?).ok()
        };
        self.automaton.get_or_init(build).as_ref()
    }
}

/// One stream on its way through the automaton.
pub(crate) struct StreamScan {
    cache: Cache,
    state: LazyStateID,
    /// Rules whose condition was met since they were last taken. The same one may come again.
    hits: Vec<usize>,
    /// By rule, whether it is among them.
    is_hit: Vec<bool>,
}

impl StreamScan {
    /// `None` when no rule has a condition.
    pub fn new(watch: &Watch) -> Option<Self> {
        let automaton = watch.automaton()?;
        Self::with(watch, Cache::new(automaton))
    }

    fn with(watch: &Watch, mut cache: Cache) -> Option<Self> {
        let start = start::Config::new().anchored(Anchored::No);
        let state = watch.automaton()?.start_state(&mut cache, &start).ok()?;
        Some(Self { cache, state, hits: Vec::new(), is_hit: vec![false; watch.entries.len()] })
    }

    pub fn take_hits(&mut self) -> impl Iterator<Item = usize> + '_ {
        self.hits.iter().for_each(|rule| self.is_hit[*rule] = false);
        self.hits.drain(..)
    }

    /// The same room for another stream.
    pub fn anew(self, watch: &Watch) -> Option<Self> {
        Self::with(watch, self.cache)
    }

    pub fn push(&mut self, watch: &Watch, text: &str) {
        let Some(automaton) = watch.automaton() else { return };
        for byte in text.bytes() {
            let Ok(next) = automaton.next_state(&mut self.cache, self.state, byte) else { return };
            self.state = next;
            if next.is_tagged() {
                self.note(watch, automaton);
            }
        }
    }

    fn step(&mut self, watch: &Watch, byte: u8) {
        let Some(automaton) = watch.automaton() else { return };
        if let Ok(next) = automaton.next_state(&mut self.cache, self.state, byte) {
            self.state = next;
            self.note(watch, automaton);
        }
    }

    /// Nothing more comes: now it is known what `$` and `\b` at the end mean.
    pub fn finish(&mut self, watch: &Watch) {
        let Some(automaton) = watch.automaton() else { return };
        if let Ok(next) = automaton.next_eoi_state(&mut self.cache, self.state) {
            self.state = next;
            self.note(watch, automaton);
        }
    }

    /// Matches are known one byte late.
    fn note(&mut self, watch: &Watch, automaton: &DFA) {
        if !self.state.is_match() {
            return;
        }
        for at in 0..automaton.match_len(&self.cache, self.state) {
            let owner = watch.owners[automaton.match_pattern(&self.cache, self.state, at).as_usize()];
            if !std::mem::replace(&mut self.is_hit[owner], true) {
                self.hits.push(owner);
            }
        }
    }
}

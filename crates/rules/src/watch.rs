//! The compiled rules that watch the stream: one automaton for the conditions of all of them.

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

/// Memory limit for the automaton states of one stream in bytes. When it is reached, the cache is cleared, which only costs
/// time.
const CACHE: usize = 4 << 20;

#[derive(Clone, Debug)]
pub(crate) struct WatchedRule {
    pub rule: Arc<Rule>,
    pub conditions: Vec<Condition>,
    /// Structural patterns.
    pub structure: Vec<String>,
    pub scope: Scope,
    /// Files it applies to; `None` for all, including text that is not in a file.
    pub gate: Option<FileGate>,
    pub interrupt: Option<InterruptMode>,
}

/// Cheap to create: the automaton is built for the first stream.
#[derive(Debug, Default)]
pub struct Watch {
    pub(crate) entries: Vec<WatchedRule>,
    /// The rule of each condition.
    owners: Vec<usize>,
    automaton: OnceLock<Option<DFA>>,
}

/// A match of a rule's condition in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleMatch {
    /// Index of the rule.
    pub rule: usize,
    /// End of the match in bytes; the following text may have been needed to confirm it.
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

    /// Returns the rule's own mode, if it has one.
    pub fn interrupt_mode(&self, at: usize) -> Option<InterruptMode> {
        self.entries.get(at)?.interrupt
    }

    /// Returns whether a rule applies to this source.
    pub fn admits(&self, at: usize, place: StreamPart<'_>) -> bool {
        let Some(entry) = self.entries.get(at) else { return false };
        let paths = if let StreamPart::Tool { paths, .. } = place { paths } else { &[] };
        let is_open = entry.gate.as_ref().is_none_or(|gate| paths.iter().any(|path| gate.opens_for(path)));
        is_open && entry.scope.admits(place)
    }

    /// Returns whether any rule may watch text.
    pub(crate) fn watches_text(&self) -> bool {
        self.entries.iter().any(|entry| entry.scope.text)
    }

    pub(crate) fn watches_thinking(&self) -> bool {
        self.entries.iter().any(|entry| entry.scope.thinking)
    }

    pub(crate) fn has_structure(&self) -> bool {
        self.entries.iter().any(|entry| !entry.structure.is_empty())
    }

    /// Returns at most `most` positions in a text at which a match ends, regardless of scopes.
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

    /// Returns the lines of a text, counted from 1, on which a rule's conditions are met: for patterns, those on which
    /// matches end. Structure is checked only in files.
    pub fn lines(&self, rule: usize, path: Option<&str>, text: &str) -> Vec<usize> {
        const MOST: usize = 10_000;
        let found = self.find_all(text, MOST).into_iter().filter(|found| found.rule == rule);
        let (mut counted, mut number) = (0, 1);
        let mut line = |end: usize| {
            // Matches are in text order.
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

/// The state of one stream in the automaton.
pub(crate) struct StreamScan {
    cache: Cache,
    state: LazyStateID,
    /// Rules whose condition was met since they were last taken. The same rule may occur again later.
    hits: Vec<usize>,
    /// Whether each rule is among them.
    is_hit: Vec<bool>,
}

impl StreamScan {
    /// Returns `None` if no rule has a condition.
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

    /// Reuses the memory for another stream.
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

    /// Ends the stream: now `$` and `\b` at the end can be decided.
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

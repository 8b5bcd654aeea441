//! Modal editing as in vim: normal and visual mode with counts, motions, operators, text objects and registers.
//!
//! In insert mode the editor works as without it; only Esc is different. A command is read key by key into
//! [`PendingCommand`] and changes the draft when it is complete. The keys of the last change are kept, so that `.` can press
//! them again.

mod motion;
mod object;
mod operate;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;

use super::draft::EditorDraft;
use super::keys::EditingCommand;
use crate::input::{Input, Key, KeyCode, Mods};
use motion::{CharFind, Motion, MotionKind, column, last_of_line};
use operate::{RegisterText, VimSpan};

/// Caps a count, so that no key takes long.
const MOST_TIMES: usize = 9999;
/// Caps the inputs of one change that can be repeated.
const MOST_KEPT: usize = 10_000;
/// Caps the letters of a `:` command.
const LONGEST_COMMAND: usize = 20;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VimMode {
    #[default]
    Insert,
    Normal,
    Visual,
    VisualLine,
}

impl VimMode {
    pub const fn word(self) -> &'static str {
        match self {
            VimMode::Insert => "INSERT",
            VimMode::Normal => "NORMAL",
            VimMode::Visual => "VISUAL",
            VimMode::VisualLine => "V-LINE",
        }
    }
}

/// What a key in normal or visual mode asks of the editor and the application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VimReply {
    Ignored,
    Taken,
    /// `:q` and its variants.
    Leave,
    /// There is no such `:` command.
    Unknown(String),
}

/// What a key asks of the editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum VimStep {
    Reply(VimReply),
    /// `.`: press the keys of the last change again.
    Repeat {
        count: Option<usize>,
    },
    /// `k` in the first line, `j` in the last.
    Older,
    Newer,
}

const TAKEN: VimStep = VimStep::Reply(VimReply::Taken);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Delete,
    Change,
    Yank,
}

/// The character that the command needs next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum AwaitedKey {
    #[default]
    Command,
    /// After `g`.
    Go,
    Find {
        forward: bool,
        till: bool,
    },
    Replace,
    Object {
        around: bool,
    },
    Register,
    /// After `:`.
    Line(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PendingCommand {
    count: Option<usize>,
    /// The count before the operator, which multiplies the one after it.
    before: Option<usize>,
    operator: Option<Operator>,
    register: Option<char>,
    awaits: AwaitedKey,
}

/// How a stay in insert mode is repeated.
#[derive(Clone, Debug, Default)]
struct InsertRun {
    times: usize,
    /// Begun by `o` or `O`, so each repetition is a line of its own.
    opens_line: bool,
    /// Where its keys begin in the recording.
    from: usize,
}

#[derive(Clone, Debug, Default)]
struct RecordedChange {
    inputs: Vec<Input>,
    count: Option<usize>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Vim {
    mode: VimMode,
    pending: PendingCommand,
    /// The other end of the visual selection.
    anchor: usize,
    goal: Option<usize>,
    find: Option<CharFind>,
    registers: BTreeMap<char, RegisterText>,
    recording: RecordedChange,
    last_change: RecordedChange,
    insert: InsertRun,
}

impl Vim {
    pub fn mode(&self) -> VimMode {
        self.mode
    }

    /// Returns what to show: the mode, or the `:` command that is being typed.
    pub fn word(&self) -> String {
        match &self.pending.awaits {
            AwaitedKey::Line(line) => format!(":{line}"),
            _ => self.mode.word().to_owned(),
        }
    }

    /// Whether the key must not reach the keys of the application.
    pub fn wants(&self, key: &Key) -> bool {
        let escapes = *key == Key::plain(KeyCode::Escape);
        match self.mode {
            VimMode::Insert => escapes,
            _ if escapes => self.mode != VimMode::Normal || self.pending != PendingCommand::default(),
            _ if matches!(self.pending.awaits, AwaitedKey::Line(_)) => {
                key.typed().is_some() || matches!(key.code, KeyCode::Enter | KeyCode::Backspace)
            }
            _ => key.typed().is_some() || *key == Key::ctrl('r'),
        }
    }

    /// Resets to insert mode for an empty editor. Registers and the last change are kept.
    pub fn begin(&mut self) {
        self.mode = VimMode::Insert;
        self.pending = PendingCommand::default();
        self.recording = RecordedChange::default();
        self.insert = InsertRun::default();
        self.goal = None;
    }

    /// Keeps an input of insert mode for `.`.
    pub fn record(&mut self, input: &Input) {
        if self.mode == VimMode::Insert && self.insert.times > 0 && self.recording.inputs.len() < MOST_KEPT {
            self.recording.inputs.push(input.clone());
        }
    }

    /// Returns how to repeat the insertion that ends now: how often, whether on new lines, and the inputs.
    pub fn insertion(&mut self) -> (usize, bool, Vec<Input>) {
        let run = std::mem::take(&mut self.insert);
        let inputs = self.recording.inputs.get(run.from..).unwrap_or_default().to_vec();
        (run.times.saturating_sub(1), run.opens_line, inputs)
    }

    /// Esc in insert mode.
    pub fn leave_insert(&mut self, draft: &mut EditorDraft) {
        self.mode = VimMode::Normal;
        if !self.recording.inputs.is_empty() {
            self.recording.inputs.push(Input::Key(Key::plain(KeyCode::Escape)));
            self.last_change = std::mem::take(&mut self.recording);
        }
        draft.end_step();
        let at = draft.buffer().cursor();
        if at > draft.buffer().line_start(at) {
            draft.move_to(draft.buffer().previous(at));
        }
    }

    pub fn last_change(&self) -> (Vec<Input>, Option<usize>) {
        (self.last_change.inputs.clone(), self.last_change.count)
    }

    /// Sets the count of the command that is pressed next.
    pub fn set_count(&mut self, count: Option<usize>) {
        self.pending.count = count;
    }

    /// Returns the selected text.
    pub fn selection(&self, draft: &EditorDraft) -> Option<Range<usize>> {
        let buffer = draft.buffer();
        let (from, to) = (buffer.widened(self.anchor..self.anchor).start, buffer.cursor());
        let (first, last) = (from.min(to), from.max(to));
        match self.mode {
            VimMode::Visual => Some(buffer.widened(first..buffer.next(last))),
            VimMode::VisualLine => Some(buffer.line_start(first)..buffer.line_end(last)),
            VimMode::Insert | VimMode::Normal => None,
        }
    }

    /// Keeps the cursor of normal mode on a character.
    pub fn settle(&self, draft: &mut EditorDraft) {
        let buffer = draft.buffer();
        let to = last_of_line(buffer, buffer.cursor());
        if self.mode == VimMode::Normal && to != buffer.cursor() {
            draft.move_to(to);
        }
    }

    /// Handles a key in normal or visual mode.
    pub fn key(&mut self, key: &Key, draft: &mut EditorDraft) -> VimStep {
        if *key == Key::plain(KeyCode::Escape) {
            self.stop(draft);
            return TAKEN;
        }
        if let AwaitedKey::Line(line) = &self.pending.awaits {
            return self.line_key(line.clone(), key, draft);
        }
        if *key == Key::ctrl('r') {
            let times = self.take_pending().0;
            for _ in 0..times.unwrap_or(1) {
                draft.apply(EditingCommand::Redo);
            }
            self.settle(draft);
            return TAKEN;
        }
        let Some(char) = key.typed() else { return VimStep::Reply(VimReply::Ignored) };
        self.char(char, key, draft)
    }

    /// Drops what was typed of a command, and the selection.
    fn stop(&mut self, draft: &mut EditorDraft) {
        self.pending = PendingCommand::default();
        self.recording = RecordedChange::default();
        self.mode = VimMode::Normal;
        draft.end_step();
        self.settle(draft);
    }

    fn line_key(&mut self, mut line: String, key: &Key, draft: &mut EditorDraft) -> VimStep {
        match (key.mods, key.code, key.typed()) {
            (Mods::NONE, KeyCode::Enter, _) => {
                self.stop(draft);
                return self.line_command(line.trim(), draft);
            }
            (_, KeyCode::Backspace, _) if line.pop().is_none() => {
                self.stop(draft);
                return TAKEN;
            }
            (_, _, Some(char)) if line.chars().count() < LONGEST_COMMAND => line.push(char),
            _ => {}
        }
        self.pending.awaits = AwaitedKey::Line(line);
        TAKEN
    }

    fn line_command(&mut self, line: &str, draft: &mut EditorDraft) -> VimStep {
        VimStep::Reply(match line {
            "" => VimReply::Taken,
            "q" | "q!" | "qa" | "qa!" | "wq" | "x" => VimReply::Leave,
            number if let Ok(number) = number.parse::<usize>() => {
                self.go(Motion::LastLine, Some(number.clamp(1, MOST_TIMES)), draft);
                VimReply::Taken
            }
            other => VimReply::Unknown(other.to_owned()),
        })
    }

    fn char(&mut self, char: char, key: &Key, draft: &mut EditorDraft) -> VimStep {
        let fresh = self.mode == VimMode::Normal && self.pending == PendingCommand::default();
        if fresh {
            self.recording = RecordedChange::default();
            draft.begin_step();
        }
        if self.is_count(char) {
            if self.is_visual() {
                self.keep_key(key);
            }
            let digit = char as usize - '0' as usize;
            self.pending.count = Some((self.pending.count.unwrap_or(0) * 10 + digit).min(MOST_TIMES));
            return TAKEN;
        }
        self.keep_key(key);
        let version = draft.buffer().version();
        let step = match std::mem::take(&mut self.pending.awaits) {
            AwaitedKey::Command => self.command(char, draft),
            AwaitedKey::Go => self.after_g(char, draft),
            AwaitedKey::Find { forward, till } => {
                let find = CharFind { target: char, forward, till };
                self.find = Some(find);
                self.motion(Motion::Find { find, again: false }, draft)
            }
            AwaitedKey::Replace => self.replace_chars(char, draft),
            AwaitedKey::Object { around } => self.object(around, char, draft),
            AwaitedKey::Register => {
                self.pending.register = Some(char).filter(char::is_ascii_alphanumeric);
                TAKEN
            }
            AwaitedKey::Line(_) => TAKEN,
        };
        self.finished(version, draft);
        step
    }

    fn keep_key(&mut self, key: &Key) {
        if self.recording.inputs.len() < MOST_KEPT {
            self.recording.inputs.push(Input::Key(*key));
        }
    }

    fn is_count(&self, char: char) -> bool {
        let is_digit = char.is_ascii_digit() && (char != '0' || self.pending.count.is_some());
        is_digit && self.pending.awaits == AwaitedKey::Command
    }

    /// Ends a command that is complete, and keeps its keys if it has changed the text.
    fn finished(&mut self, version: u64, draft: &mut EditorDraft) {
        if self.mode == VimMode::Insert || self.pending != PendingCommand::default() {
            return;
        }
        if self.mode == VimMode::Normal {
            if draft.buffer().version() != version && !self.recording.inputs.is_empty() {
                self.last_change = std::mem::take(&mut self.recording);
            }
            draft.end_step();
        }
        self.settle(draft);
    }

    fn command(&mut self, char: char, draft: &mut EditorDraft) -> VimStep {
        if let Some(motion) = self.motion_of(char) {
            return self.motion(motion, draft);
        }
        if self.is_visual() {
            return self.visual_command(char, draft);
        }
        if self.pending.operator.is_some() {
            return self.after_operator(char, draft);
        }
        self.normal_command(char, draft)
    }

    fn is_visual(&self) -> bool {
        matches!(self.mode, VimMode::Visual | VimMode::VisualLine)
    }

    fn motion_of(&mut self, char: char) -> Option<Motion> {
        Some(match char {
            'h' => Motion::Left,
            'l' | ' ' => Motion::Right,
            'j' => Motion::Down,
            'k' => Motion::Up,
            'w' | 'W' => Motion::WordForward { big: char == 'W' },
            'b' | 'B' => Motion::WordBack { big: char == 'B' },
            'e' | 'E' => Motion::WordEnd { big: char == 'E' },
            '0' => Motion::LineStart,
            '^' | '_' => Motion::LineIndent,
            '$' => Motion::LineEnd,
            'G' => Motion::LastLine,
            '{' => Motion::ParagraphBack,
            '}' => Motion::ParagraphForward,
            '%' => Motion::Pair,
            ';' => Motion::Find { find: self.find?, again: true },
            ',' => {
                let find = self.find?;
                Motion::Find { find: CharFind { forward: !find.forward, ..find }, again: true }
            }
            _ => return None,
        })
    }

    fn after_g(&mut self, char: char, draft: &mut EditorDraft) -> VimStep {
        match char {
            'g' => self.motion(Motion::FirstLine, draft),
            _ => {
                self.take_pending();
                TAKEN
            }
        }
    }

    /// Keys that wait for another one, in every mode.
    fn awaits(&mut self, char: char) -> bool {
        self.pending.awaits = match char {
            'g' => AwaitedKey::Go,
            'f' | 't' => AwaitedKey::Find { forward: true, till: char == 't' },
            'F' | 'T' => AwaitedKey::Find { forward: false, till: char == 'T' },
            _ => return false,
        };
        true
    }

    fn after_operator(&mut self, char: char, draft: &mut EditorDraft) -> VimStep {
        if self.awaits(char) {
            return TAKEN;
        }
        let doubled = matches!(
            (char, self.pending.operator),
            ('d', Some(Operator::Delete)) | ('c', Some(Operator::Change)) | ('y', Some(Operator::Yank))
        );
        match char {
            'i' | 'a' => self.pending.awaits = AwaitedKey::Object { around: char == 'a' },
            _ if doubled => self.operate_lines(draft),
            _ => drop(self.take_pending()),
        }
        TAKEN
    }

    fn normal_command(&mut self, char: char, draft: &mut EditorDraft) -> VimStep {
        if self.awaits(char) {
            return TAKEN;
        }
        match char {
            'd' => self.begin_operator(Operator::Delete),
            'c' => self.begin_operator(Operator::Change),
            'y' => self.begin_operator(Operator::Yank),
            'r' => self.pending.awaits = AwaitedKey::Replace,
            '"' => self.pending.awaits = AwaitedKey::Register,
            ':' => self.pending.awaits = AwaitedKey::Line(String::new()),
            'x' => self.operate_motion(Operator::Delete, Motion::Right, draft),
            'X' => self.operate_motion(Operator::Delete, Motion::Left, draft),
            's' => self.substitute(draft),
            'D' => self.operate_motion(Operator::Delete, Motion::LineEnd, draft),
            'C' => self.change_to_line_end(draft),
            'S' => self.whole_lines(Operator::Change, draft),
            'Y' => self.whole_lines(Operator::Yank, draft),
            'p' | 'P' => self.put(char == 'p', draft),
            'J' => self.join(draft),
            '~' => self.toggle_case(draft),
            'i' | 'a' | 'I' | 'A' | 'o' | 'O' => self.insert_by(char, draft),
            'v' | 'V' => self.select(char, draft),
            'u' => self.undo(draft),
            '.' => {
                let count = self.take_pending().0;
                self.recording = RecordedChange::default();
                return VimStep::Repeat { count };
            }
            _ => drop(self.take_pending()),
        }
        TAKEN
    }

    fn begin_operator(&mut self, operator: Operator) {
        self.pending.operator = Some(operator);
        self.pending.before = self.pending.count.take();
    }

    /// Returns the count and the register, and forgets the command.
    fn take_pending(&mut self) -> (Option<usize>, Option<char>) {
        let PendingCommand { count, before, register, .. } = std::mem::take(&mut self.pending);
        let count = match (before, count) {
            (Some(before), Some(count)) => Some((before * count).min(MOST_TIMES)),
            (before, count) => before.or(count),
        };
        if count.is_some() && !self.is_visual() {
            self.recording.count = count;
        }
        (count, register)
    }

    fn undo(&mut self, draft: &mut EditorDraft) {
        let times = self.take_pending().0.unwrap_or(1);
        for _ in 0..times {
            draft.apply(EditingCommand::Undo);
        }
        // `.` must not repeat an undo.
        self.recording = RecordedChange::default();
    }

    fn select(&mut self, char: char, draft: &EditorDraft) {
        self.pending = PendingCommand::default();
        self.anchor = draft.buffer().cursor();
        self.mode = if char == 'v' { VimMode::Visual } else { VimMode::VisualLine };
    }

    /// Moves the cursor, or applies the pending operator.
    fn motion(&mut self, motion: Motion, draft: &mut EditorDraft) -> VimStep {
        if let Some(operator) = self.pending.operator {
            self.operate_motion(operator, motion, draft);
            return TAKEN;
        }
        let count = std::mem::take(&mut self.pending).count;
        let version = draft.buffer().cursor();
        self.go(motion, count, draft);
        let stays = draft.buffer().cursor() == version;
        match motion {
            Motion::Up if stays && count.is_none() && self.mode == VimMode::Normal => VimStep::Older,
            Motion::Down if stays && count.is_none() && self.mode == VimMode::Normal => VimStep::Newer,
            _ => TAKEN,
        }
    }

    fn go(&mut self, motion: Motion, count: Option<usize>, draft: &mut EditorDraft) {
        let goal = self.goal_for(motion, draft);
        let (buffer, from) = (draft.buffer(), draft.buffer().cursor());
        let Some(target) = motion::target(buffer, from, motion, count, goal) else { return };
        let at = if self.mode == VimMode::Visual { last_of_line(buffer, target.at) } else { target.at };
        draft.move_to(at);
        self.settle(draft);
    }

    /// Vertical motions aim at the column where the first of them began; `$` aims at the ends of lines.
    fn goal_for(&mut self, motion: Motion, draft: &EditorDraft) -> usize {
        self.goal = match motion {
            Motion::Up | Motion::Down => {
                Some(self.goal.unwrap_or_else(|| column(draft.buffer(), draft.buffer().cursor())))
            }
            Motion::LineEnd => Some(usize::MAX),
            _ => None,
        };
        self.goal.unwrap_or_default()
    }

    fn insert_by(&mut self, char: char, draft: &mut EditorDraft) {
        let times = self.take_pending().0.unwrap_or(1);
        let (buffer, at) = (draft.buffer(), draft.buffer().cursor());
        let to = match char {
            'i' => at,
            'a' if at < buffer.line_end(at) => buffer.next(at),
            'I' => motion::indent(buffer, at),
            'O' => buffer.line_start(at),
            _ => buffer.line_end(at),
        };
        draft.move_to(to);
        if matches!(char, 'o' | 'O') {
            draft.apply(EditingCommand::Newline);
        }
        if char == 'O' {
            draft.move_to(to);
        }
        self.begin_insert(times, matches!(char, 'o' | 'O'));
    }

    fn begin_insert(&mut self, times: usize, opens_line: bool) {
        self.mode = VimMode::Insert;
        self.insert = InsertRun { times, opens_line, from: self.recording.inputs.len() };
    }

    /// The text of a motion from the cursor.
    fn span_of(
        &mut self,
        operator: Operator,
        motion: Motion,
        count: Option<usize>,
        draft: &EditorDraft,
    ) -> Option<VimSpan> {
        let goal = self.goal_for(motion, draft);
        let (buffer, from) = (draft.buffer(), draft.buffer().cursor());
        if let (Operator::Change, Motion::WordForward { big }) = (operator, motion)
            && from < buffer.line_end(from)
            && !motion::is_blank(buffer, from)
        {
            return Some(operate::words_to_change(buffer, from, count.unwrap_or(1), big));
        }
        let target = motion::target(buffer, from, motion, count, goal)?;
        let is_word = matches!(motion, Motion::WordForward { .. });
        Some(match target.kind {
            MotionKind::Lines => VimSpan::lines(buffer, from, target.at),
            MotionKind::Inclusive => VimSpan::chars(from.min(target.at)..buffer.next(from.max(target.at))),
            MotionKind::Exclusive => operate::exclusive(buffer, from, target.at, is_word),
        })
    }
}

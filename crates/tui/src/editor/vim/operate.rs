//! Operators of vim: deleting, changing and yanking what a motion, a text object or a selection covers, and the commands
//! that change text without one.

use std::ops::Range;

use super::super::buffer::Buffer;
use super::super::draft::EditorDraft;
use super::super::fragment::Fragment;
use super::motion::{self, Motion, indent, is_blank, run_end};
use super::{AwaitedKey, Operator, PendingCommand, TAKEN, Vim, VimMode, VimStep, object};

/// Caps the text that a put with a count inserts.
const MOST_PUT: usize = 1 << 20;
/// The register that every yank and cut fills.
const UNNAMED: char = '"';

/// What a register holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RegisterText {
    text: Fragment,
    /// Whole lines, kept without the last line break.
    lines: bool,
}

/// What an operator works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VimSpan {
    range: Range<usize>,
    lines: bool,
}

impl VimSpan {
    pub fn chars(range: Range<usize>) -> Self {
        Self { range, lines: false }
    }

    /// The lines from one position to another.
    pub fn lines(buffer: &Buffer, from: usize, to: usize) -> Self {
        Self { range: buffer.line_start(from.min(to))..buffer.line_end(from.max(to)), lines: true }
    }
}

/// The text of an exclusive motion. One that ends at the start of a line does not take the line break before it; if it also
/// begins at the start of a line, it takes whole lines.
pub(super) fn exclusive(buffer: &Buffer, from: usize, to: usize, is_word: bool) -> VimSpan {
    let (first, last) = (from.min(to), from.max(to));
    let start = buffer.line_start(last);
    let text = buffer.text();
    if is_word && start > first && text[start..last].trim().is_empty() {
        return VimSpan::chars(first..start - 1);
    }
    if start != last || start <= first {
        return VimSpan::chars(first..last);
    }
    let whole = text[buffer.line_start(first)..first].trim().is_empty();
    match whole {
        true => VimSpan::lines(buffer, first, start - 1),
        false => VimSpan::chars(first..start - 1),
    }
}

/// `cw` changes to the end of the word, without the blanks after it.
pub(super) fn words_to_change(buffer: &Buffer, from: usize, times: usize, big: bool) -> VimSpan {
    let mut end = run_end(buffer, from, big);
    for _ in 1..times {
        let last = buffer.previous(end);
        let next = motion::target(buffer, last, Motion::WordEnd { big }, None, 0);
        match next {
            Some(next) => end = buffer.next(next.at),
            None => break,
        }
    }
    VimSpan::chars(from..end)
}

impl Vim {
    pub(super) fn operate_motion(&mut self, operator: Operator, motion: Motion, draft: &mut EditorDraft) {
        let (count, register) = self.take_pending();
        let Some(span) = self.span_of(operator, motion, count, draft) else { return };
        self.operate(operator, span, register, draft);
    }

    /// `dd`, `cc`, `yy`.
    pub(super) fn operate_lines(&mut self, draft: &mut EditorDraft) {
        if let Some(operator) = self.pending.operator {
            self.whole_lines(operator, draft);
        }
    }

    pub(super) fn whole_lines(&mut self, operator: Operator, draft: &mut EditorDraft) {
        let (count, register) = self.take_pending();
        let (buffer, from) = (draft.buffer(), draft.buffer().cursor());
        let below = count
            .filter(|count| *count > 1)
            .and_then(|count| motion::target(buffer, from, Motion::Down, Some(count - 1), 0).map(|target| target.at));
        let span = VimSpan::lines(buffer, from, below.unwrap_or(from));
        self.operate(operator, span, register, draft);
    }

    pub(super) fn object(&mut self, around: bool, letter: char, draft: &mut EditorDraft) -> VimStep {
        let operator = self.pending.operator;
        let (_, register) = self.take_pending();
        let (buffer, at) = (draft.buffer(), draft.buffer().cursor());
        let Some(found) = object::object(buffer, at, around, letter) else { return TAKEN };
        let span = VimSpan { range: buffer.widened(found.range), lines: found.lines };
        match operator {
            Some(operator) => self.operate(operator, span, register, draft),
            None if span.range.is_empty() => {}
            None => {
                self.anchor = span.range.start;
                self.mode = if span.lines { VimMode::VisualLine } else { VimMode::Visual };
                draft.move_to(draft.buffer().previous(span.range.end));
            }
        }
        TAKEN
    }

    fn operate(&mut self, operator: Operator, span: VimSpan, register: Option<char>, draft: &mut EditorDraft) {
        let range = draft.buffer().widened(span.range.clone());
        let from = draft.buffer().cursor();
        if !range.is_empty() || span.lines {
            let text = draft.buffer().content().slice(range.clone());
            self.keep(RegisterText { text, lines: span.lines }, register);
        }
        match operator {
            Operator::Yank if span.lines && range.contains(&from) && range.start == draft.buffer().line_start(from) => {
            }
            Operator::Yank => drop(draft.move_to(range.start)),
            Operator::Change => {
                draft.cut(range.clone());
                draft.move_to(range.start);
                self.begin_insert(1, false);
            }
            Operator::Delete if span.lines => cut_lines(draft, range),
            Operator::Delete => {
                draft.cut(range.clone());
                draft.move_to(range.start);
            }
        }
    }

    fn keep(&mut self, cut: RegisterText, register: Option<char>) {
        if let Some(name) = register {
            self.registers.insert(name, cut.clone());
        }
        self.registers.insert(UNNAMED, cut);
    }

    /// `s`: also on an empty line.
    pub(super) fn substitute(&mut self, draft: &mut EditorDraft) {
        let (count, register) = self.take_pending();
        match self.span_of(Operator::Change, Motion::Right, count, draft) {
            Some(span) => self.operate(Operator::Change, span, register, draft),
            None => self.begin_insert(1, false),
        }
    }

    pub(super) fn change_to_line_end(&mut self, draft: &mut EditorDraft) {
        self.operate_motion(Operator::Change, Motion::LineEnd, draft);
    }

    pub(super) fn put(&mut self, behind: bool, draft: &mut EditorDraft) {
        let (count, register) = self.take_pending();
        let Some(kept) = self.registers.get(&register.unwrap_or(UNNAMED)).cloned() else { return };
        let times = count.unwrap_or(1).min((MOST_PUT / kept.text.weight().max(1)).max(1));
        let (buffer, at) = (draft.buffer(), draft.buffer().cursor());
        if kept.lines {
            let mut text = Fragment::default();
            for _ in 0..times {
                let parts =
                    if behind { [&Fragment::plain("\n"), &kept.text] } else { [&kept.text, &Fragment::plain("\n")] };
                parts.into_iter().for_each(|part| text.append(part));
            }
            let to = if behind { buffer.line_end(at) } else { buffer.line_start(at) };
            draft.replace(to..to, text);
            draft.move_to(indent(draft.buffer(), to + usize::from(behind)));
            return;
        }
        let to = if behind && at < buffer.line_end(at) { buffer.next(at) } else { at };
        let mut text = Fragment::default();
        (0..times).for_each(|_| text.append(&kept.text));
        let end = to + text.text.len();
        let is_one_line = !text.text.contains('\n');
        draft.replace(to..to, text);
        let last = if is_one_line && end > to { draft.buffer().previous(end) } else { to };
        draft.move_to(last);
    }

    pub(super) fn replace_chars(&mut self, with: char, draft: &mut EditorDraft) -> VimStep {
        if self.is_visual() {
            self.replace_selection(with, draft);
            return TAKEN;
        }
        let times = self.take_pending().0.unwrap_or(1);
        let (buffer, from) = (draft.buffer(), draft.buffer().cursor());
        let mut end = from;
        for _ in 0..times {
            if end >= buffer.line_end(from) {
                return TAKEN;
            }
            end = buffer.next(end);
        }
        draft.replace(from..end, Fragment::plain(with.to_string().repeat(times)));
        let last = draft.buffer().previous(draft.buffer().cursor());
        draft.move_to(last);
        TAKEN
    }

    /// Line breaks and markers stay.
    fn replace_selection(&mut self, with: char, draft: &mut EditorDraft) {
        let change = |unit: &str| if unit == "\n" { unit.to_owned() } else { with.to_string() };
        self.change_selection(change, draft);
    }

    fn change_selection(&mut self, change: impl Fn(&str) -> String, draft: &mut EditorDraft) {
        let range = self.selection(draft).unwrap_or_default();
        self.pending = PendingCommand::default();
        self.mode = VimMode::Normal;
        let text = changed(draft.buffer(), range.clone(), change);
        draft.replace(range.clone(), text);
        draft.move_to(range.start);
    }

    pub(super) fn toggle_case(&mut self, draft: &mut EditorDraft) {
        let times = self.take_pending().0.unwrap_or(1);
        let (buffer, from) = (draft.buffer(), draft.buffer().cursor());
        let mut end = from;
        for _ in 0..times {
            if end < buffer.line_end(from) {
                end = buffer.next(end);
            }
        }
        let text = changed(buffer, from..end, toggled);
        draft.replace(from..end, text);
    }

    /// Joins lines with one space, or with none where there is one or a closing bracket follows.
    pub(super) fn join(&mut self, draft: &mut EditorDraft) {
        let times = self.take_pending().0.unwrap_or(2).max(2) - 1;
        (0..times).for_each(|_| join_once(draft));
    }

    pub(super) fn visual_command(&mut self, char: char, draft: &mut EditorDraft) -> VimStep {
        if self.awaits(char) {
            return TAKEN;
        }
        match char {
            'i' | 'a' => self.pending.awaits = AwaitedKey::Object { around: char == 'a' },
            'r' => self.pending.awaits = AwaitedKey::Replace,
            '"' => self.pending.awaits = AwaitedKey::Register,
            'o' => {
                let cursor = draft.buffer().cursor();
                draft.move_to(std::mem::replace(&mut self.anchor, cursor));
                self.pending = PendingCommand::default();
            }
            'v' => self.switch_selection(VimMode::Visual),
            'V' => self.switch_selection(VimMode::VisualLine),
            'd' | 'x' => self.operate_selection(Operator::Delete, draft),
            'c' | 's' => self.operate_selection(Operator::Change, draft),
            'y' => self.operate_selection(Operator::Yank, draft),
            'D' | 'X' => self.operate_selected_lines(Operator::Delete, draft),
            'C' | 'S' | 'R' => self.operate_selected_lines(Operator::Change, draft),
            'Y' => self.operate_selected_lines(Operator::Yank, draft),
            'p' | 'P' => self.put_over_selection(draft),
            'J' => self.join_selection(draft),
            '~' => self.change_selection(toggled, draft),
            'u' => self.change_selection(str::to_lowercase, draft),
            'U' => self.change_selection(str::to_uppercase, draft),
            _ => self.pending = PendingCommand::default(),
        }
        TAKEN
    }

    /// The same key again leaves the selection.
    fn switch_selection(&mut self, mode: VimMode) {
        self.pending = PendingCommand::default();
        self.mode = if self.mode == mode { VimMode::Normal } else { mode };
    }

    fn operate_selection(&mut self, operator: Operator, draft: &mut EditorDraft) {
        let register = std::mem::take(&mut self.pending).register;
        let span =
            VimSpan { range: self.selection(draft).unwrap_or_default(), lines: self.mode == VimMode::VisualLine };
        self.mode = VimMode::Normal;
        let start = span.range.start;
        self.operate(operator, span, register, draft);
        if operator == Operator::Yank {
            draft.move_to(start);
        }
    }

    fn operate_selected_lines(&mut self, operator: Operator, draft: &mut EditorDraft) {
        self.mode = VimMode::VisualLine;
        self.operate_selection(operator, draft);
    }

    /// The selection is replaced by the register, and the register by the selection.
    fn put_over_selection(&mut self, draft: &mut EditorDraft) {
        let register = std::mem::take(&mut self.pending).register.unwrap_or(UNNAMED);
        let Some(kept) = self.registers.get(&register).cloned() else { return };
        let range = self.selection(draft).unwrap_or_default();
        let lines = self.mode == VimMode::VisualLine;
        self.mode = VimMode::Normal;
        let text = draft.buffer().content().slice(range.clone());
        self.keep(RegisterText { text, lines }, None);
        let apart = kept.lines && !lines;
        let mut new = if apart { Fragment::plain("\n") } else { Fragment::default() };
        new.append(&kept.text);
        if apart {
            new.append(&Fragment::plain("\n"));
        }
        draft.replace(range.clone(), new);
        draft.move_to(range.start);
    }

    fn join_selection(&mut self, draft: &mut EditorDraft) {
        let range = self.selection(draft).unwrap_or_default();
        self.pending = PendingCommand::default();
        self.mode = VimMode::Normal;
        let breaks = draft.buffer().text()[range.clone()].matches('\n').count().max(1);
        draft.move_to(range.start);
        (0..breaks).for_each(|_| join_once(draft));
    }
}

fn cut_lines(draft: &mut EditorDraft, range: Range<usize>) {
    let end = draft.buffer().text().len();
    let whole = match range.end < end {
        true => range.start..range.end + 1,
        // The last line takes the break before it.
        false => range.start.saturating_sub(1)..end,
    };
    draft.cut(whole);
    let at = range.start.min(draft.buffer().text().len());
    draft.move_to(indent(draft.buffer(), at));
}

fn join_once(draft: &mut EditorDraft) {
    let (buffer, from) = (draft.buffer(), draft.buffer().cursor());
    let end = buffer.line_end(from);
    if end >= buffer.text().len() {
        return;
    }
    let mut next = end + 1;
    while next < buffer.line_end(end + 1) && is_blank(buffer, next) {
        next = buffer.next(next);
    }
    let before = &buffer.text()[buffer.line_start(from)..end];
    let is_last = next == buffer.line_end(end + 1);
    let glued = before.is_empty() || is_last || before.ends_with([' ', '\t']) || buffer.text()[next..].starts_with(')');
    let range = buffer.widened(end..next);
    draft.replace(range, if glued { Fragment::default() } else { Fragment::plain(" ") });
    draft.move_to(end);
}

fn toggled(unit: &str) -> String {
    unit.chars()
        .flat_map(|char| {
            let toggled: Vec<char> = match char.is_uppercase() {
                true => char.to_lowercase().collect(),
                false => char.to_uppercase().collect(),
            };
            toggled
        })
        .collect()
}

/// Changes each character of a range; markers stay.
fn changed(buffer: &Buffer, range: Range<usize>, change: impl Fn(&str) -> String) -> Fragment {
    let mut whole = Fragment::default();
    let mut at = range.start;
    while at < range.end {
        let next = buffer.next(at).max(at + 1);
        let is_marker = buffer.markers().iter().any(|marker| marker.range.start == at);
        let unit = buffer.content().slice(at..next);
        whole.append(&if is_marker { unit } else { Fragment::plain(change(&unit.text)) });
        at = next;
    }
    whole
}

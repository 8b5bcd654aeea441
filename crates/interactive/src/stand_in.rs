//! Stand-ins for parts of the toolkit that are on their way.

use omp_stdx::{display_width, sanitize};
use omp_tui::{Line, Space, Style, Token};
use omp_view::{DiffKind, DiffLine};

pub fn wrap_text(text: &str, width: usize, style: Style) -> Vec<Line> {
    let mut rows = Vec::new();
    for line in text.split('\n') {
        let line = sanitize::strip_control(line).replace('\t', "    ");
        let mut rest = line.as_str();
        loop {
            let (fits, _) = display_width::clip(rest, width.max(1));
            if fits.len() == rest.len() || fits.is_empty() {
                rows.push(Line::styled(rest.to_owned(), style));
                break;
            }
            let at = fits.rfind(' ').filter(|at| *at > 0).unwrap_or(fits.len());
            rows.push(Line::styled(rest[..at].to_owned(), style));
            rest = rest[at..].trim_start_matches(' ');
        }
    }
    rows
}

pub fn clip(line: Line, _width: usize) -> Line {
    line
}

pub fn from_ansi(text: &str) -> Vec<Line> {
    sanitize::strip_ansi(text).lines().map(|line| Line::from(sanitize::strip_control(line).into_owned())).collect()
}

#[derive(Default)]
pub struct Markdown {
    text: String,
    rows: Vec<Line>,
}

impl Markdown {
    pub fn set(&mut self, text: &str) {
        text.clone_into(&mut self.text);
    }

    pub fn draw(&mut self, space: &Space<'_>) -> &[Line] {
        self.rows = wrap_text(self.text.trim_end(), space.width, Style::PLAIN);
        &self.rows
    }

    pub fn settled_rows(&self) -> usize {
        self.rows.len().saturating_sub(2)
    }

    pub fn finish(&mut self) {}
}

pub fn draw_diff(lines: &[DiffLine], space: &Space<'_>) -> Vec<Line> {
    let row = |line: &DiffLine| {
        let (sign, token) = match line.kind {
            DiffKind::Added => ("+", Token::ToolDiffAdded),
            DiffKind::Removed => ("-", Token::ToolDiffRemoved),
            DiffKind::Kept => (" ", Token::ToolDiffContext),
            DiffKind::Gap => return Line::styled("     …", space.theme.fg(Token::Dim)),
        };
        Line::styled(format!("{:>4} {sign} {}", line.line, sanitize::strip_control(&line.text)), space.theme.fg(token))
    };
    lines.iter().map(row).collect()
}

pub fn highlight(code: &str, _: Option<&str>, theme: &omp_tui::Theme) -> Vec<Line> {
    let line = |line: &str| sanitize::strip_control(line).replace('\t', "    ");
    code.split('\n').map(|text| Line::styled(line(text), theme.fg(Token::ToolOutput))).collect()
}

/// A stand-in for the prompt.
#[derive(Default)]
pub struct Prompt {
    pub editor: omp_tui::Editor,
}

pub struct Submission {
    pub text: String,
    pub images: Vec<omp_types::Content>,
}

pub enum PromptStep {
    Nothing,
    Redraw,
    Act(crate::Action),
    Submit(Submission),
}

impl Prompt {
    pub fn input(&mut self, input: &omp_tui::Input, keymap: &crate::Keymap) -> PromptStep {
        use omp_tui::{Component, Input, Reaction};
        if let Input::Key(key) = input
            && let Some(action) = keymap.action(key)
        {
            return match action {
                crate::Action::Submit => self.submit(),
                crate::Action::Exit if !self.editor.is_empty() => self.taken(input),
                other => PromptStep::Act(other),
            };
        }
        match self.editor.input(input) {
            Reaction::Taken => PromptStep::Redraw,
            Reaction::Ignored => PromptStep::Nothing,
        }
    }

    fn taken(&mut self, input: &omp_tui::Input) -> PromptStep {
        use omp_tui::Component;
        self.editor.input(input);
        PromptStep::Redraw
    }

    pub fn submit(&mut self) -> PromptStep {
        if self.editor.is_empty() {
            return PromptStep::Nothing;
        }
        let text = self.editor.expanded_text();
        self.editor.take();
        self.editor.remember(&text);
        PromptStep::Submit(Submission { text, images: Vec::new() })
    }

    pub fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        omp_tui::Component::draw(&mut self.editor, space)
    }
}

pub fn question_dialog(
    question: &omp_session::Question,
    _: &omp_session::Session,
) -> Box<dyn crate::dialogs::Dialog> {
    Box::new(Ask(question.clone()))
}

struct Ask(omp_session::Question);

impl crate::dialogs::Dialog for Ask {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        vec![clip(Line::from(format!("{:?} [y/n]", self.0.kind)), space.width)]
    }

    fn input(&mut self, input: &omp_tui::Input) -> crate::dialogs::Step {
        use crate::dialogs::Step;
        let answer = match input {
            omp_tui::Input::Key(key) if key.typed() == Some('y') => omp_session::Answer::Yes,
            omp_tui::Input::Key(key) if key.typed() == Some('n') => omp_session::Answer::No,
            _ => return Step::Ignored,
        };
        Step::Close(Some(crate::Action::Answer { id: self.0.id, answer }))
    }
}

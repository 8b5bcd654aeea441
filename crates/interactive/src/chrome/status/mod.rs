//! The status line: facts about the session in one row, as the settings arrange them.

mod look;
mod segment;
mod settings;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

use omp_policy::ApprovalMode;
use omp_session::ContextSize;
use omp_stdx::{display_width, sanitize};
use omp_tui::text::clip;
use omp_tui::{Line, Space, Style, Symbol, SymbolPreset, Theme, Token};
use omp_types::{ThinkingLevel, Usage};

pub use look::StatusLook;
pub use segment::Segment;
pub use settings::STATUS_SETTINGS;

use segment::Piece;

/// The model and the output of the user's command are cut to no less than this when there is little room.
const SHORTEST: usize = 8;
/// The least number of columns between the left and the right side.
const GAP: usize = 2;

/// The facts that the status line can show.
#[derive(Clone, Debug, Default)]
pub struct StatusBar {
    /// `provider/id`; empty while no session is open.
    pub model: String,
    /// `None` for a model without thinking.
    pub thinking: Option<ThinkingLevel>,
    /// The newest prompt that was answered.
    pub context: ContextSize,
    /// Tokens of the model's context window; 0 if unknown.
    pub window: u64,
    pub usage: Usage,
    /// Output tokens per second of the last answer.
    pub rate: Option<f64>,
    pub git: Option<GitFacts>,
    pub mode: ApprovalMode,
    /// Whether plan mode is on.
    pub plans: bool,
    /// Whether the prompt is repeated.
    pub repeats: bool,
    /// The sandbox mode of commands, and whether it is weaker than usual.
    pub contained: Option<(String, bool)>,
    pub folder: PathBuf,
    pub home: PathBuf,
    pub title: Option<String>,
    /// The id of the session.
    pub session: String,
    pub host: String,
    /// How long the session has been open.
    pub spent: Duration,
    /// Hour, minute and second of the local time.
    pub clock: (u8, u8, u8),
    /// The output of the user's command.
    pub command: Option<String>,
}

/// The state of the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitFacts {
    /// The branch, or the abbreviated commit if none is checked out.
    pub branch: String,
    /// Numbers of files; `None` until they are counted.
    pub unstaged: Option<usize>,
    pub staged: Option<usize>,
    pub untracked: Option<usize>,
}

/// Segments that do not fit are left out, the least important first.
pub fn status_line(status: &StatusBar, look: &StatusLook, space: &Space<'_>) -> Line {
    if status.model.is_empty() {
        return Line::styled("starting…", space.theme.fg(Token::Muted));
    }
    let drawn = |list: &[Segment]| -> Vec<Drawn> {
        let pieces = |segment: &Segment| (*segment, cleaned(segment.pieces(status, look, space.theme)));
        let drawn = list.iter().map(pieces).filter(|(_, pieces)| !pieces.is_empty());
        drawn.map(|(segment, pieces)| Drawn { segment, pieces }).collect()
    };
    let mut sides =
        Sides { left: drawn(&look.left), right: drawn(&look.right), frame: SideFrame::of(look, space.theme) };
    sides.fit(space.width);
    clip(sides.line(space.width), space.width)
}

struct Drawn {
    segment: Segment,
    pieces: Vec<Piece>,
}

impl Drawn {
    fn width(&self) -> usize {
        self.pieces.iter().map(|(text, _)| display_width::width(text)).sum()
    }
}

/// Removes what could change the terminal or break the row.
fn cleaned(pieces: Vec<Piece>) -> Vec<Piece> {
    let clean = |text: String| sanitize::strip_control(&sanitize::strip_ansi(&text)).replace(['\n', '\r', '\t'], " ");
    let pieces = pieces.into_iter().map(|(text, style)| (clean(text), style));
    pieces.filter(|(text, _)| !text.is_empty()).collect()
}

/// The text around and between the segments of a side.
struct SideFrame {
    separators: [String; 2],
    style: Style,
    ground: Option<Style>,
    /// Arrows at the inner ends.
    caps: Option<[String; 2]>,
}

impl SideFrame {
    fn of(look: &StatusLook, theme: &Theme) -> Self {
        let ground = Some(theme.bg(Token::StatusLineBg)).filter(|ground| !look.transparent && *ground != Style::PLAIN);
        // Only fonts with icons have arrows as tall as the row.
        let is_nerd = theme.symbols().preset() == SymbolPreset::Nerd;
        let caps = [Symbol::SepPowerlineLeft, Symbol::SepPowerlineRight].map(|cap| theme.symbol(cap).to_owned());
        Self {
            separators: [true, false].map(|is_left| look.separator.text(is_left, theme)),
            style: theme.fg(Token::StatusLineSep),
            caps: (ground.is_some() && is_nerd && look.separator.has_caps()).then_some(caps),
            ground,
        }
    }

    /// The columns of a side besides its segments and separators.
    fn edges(&self) -> usize {
        let cap = self.caps.as_ref().map_or(0, |caps| display_width::width(&caps[0]));
        if self.ground.is_some() { 2 + cap } else { 0 }
    }
}

struct Sides {
    left: Vec<Drawn>,
    right: Vec<Drawn>,
    frame: SideFrame,
}

impl Sides {
    fn width_of(&self, side: &[Drawn], at: usize) -> usize {
        match side.len() {
            0 => 0,
            count => {
                let separators = display_width::width(&self.frame.separators[at]) * (count - 1);
                side.iter().map(Drawn::width).sum::<usize>() + separators + self.frame.edges()
            }
        }
    }

    fn width(&self) -> usize {
        let (left, right) = (self.width_of(&self.left, 0), self.width_of(&self.right, 1));
        left + right + if left > 0 && right > 0 { GAP } else { 0 }
    }

    fn fit(&mut self, width: usize) {
        while self.width() > width && self.left.len() + self.right.len() > 1 {
            // A command can print a long line, which is cut before anything is left out.
            if self.shorten(Segment::Command, width) || self.shorten_model(width) {
                return;
            }
            let ranks = |side: &[Drawn]| side.iter().map(|drawn| drawn.segment.rank()).max();
            let (left, right) = (ranks(&self.left), ranks(&self.right));
            let side = if right >= left { &mut self.right } else { &mut self.left };
            let last = side.iter().rposition(|drawn| Some(drawn.segment.rank()) == left.max(right));
            side.remove(last.unwrap_or_default());
        }
    }

    /// Cuts the name of the model if only the mode is left beside it.
    fn shorten_model(&mut self, width: usize) -> bool {
        let mut all = self.left.iter_mut().chain(&mut self.right);
        if all.any(|drawn| !matches!(drawn.segment, Segment::Mode | Segment::Model)) {
            return false;
        }
        self.shorten(Segment::Model, width)
    }

    /// Cuts a segment so that the line fits. Returns false if too little would remain of it, or if it is not shown.
    fn shorten(&mut self, segment: Segment, width: usize) -> bool {
        let excess = self.width().saturating_sub(width);
        let mut all = self.left.iter_mut().chain(&mut self.right);
        let Some(cut) = all.find(|drawn| drawn.segment == segment) else { return false };
        let room = cut.width().saturating_sub(excess);
        if excess == 0 || room < SHORTEST {
            return false;
        }
        let mut line = Line::new();
        for (text, style) in std::mem::take(&mut cut.pieces) {
            line.push(text, style);
        }
        cut.pieces = clip(line, room).spans.into_iter().map(|span| (span.text.into_owned(), span.style)).collect();
        true
    }

    fn line(&self, width: usize) -> Line {
        let mut line = Line::new();
        self.draw(&self.left, 0, &mut line);
        let right = self.width_of(&self.right, 1);
        if right > 0 {
            line.push(" ".repeat(width.saturating_sub(line.width() + right)), Style::PLAIN);
            self.draw(&self.right, 1, &mut line);
        }
        line
    }

    fn draw(&self, side: &[Drawn], at: usize, line: &mut Line) {
        let frame = &self.frame;
        let ground = frame.ground.unwrap_or(Style::PLAIN);
        let has_edges = frame.ground.is_some() && !side.is_empty();
        let cap = frame.caps.as_ref().filter(|_| has_edges).map(|caps| caps[at].clone());
        let cap_style = Style::PLAIN.fg(ground.bg);
        if let Some(cap) = cap.clone().filter(|_| at == 1) {
            line.push(cap, cap_style);
        }
        if has_edges {
            line.push(" ", ground);
        }
        for (number, drawn) in side.iter().enumerate() {
            if number > 0 {
                line.push(frame.separators[at].clone(), frame.style.over(ground));
            }
            for (text, style) in &drawn.pieces {
                line.push(text.clone(), style.over(ground));
            }
        }
        if has_edges {
            line.push(" ", ground);
        }
        if let Some(cap) = cap.filter(|_| at == 0) {
            line.push(cap, cap_style);
        }
    }
}

//! Converts parser events to rows.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Tag, TagEnd};

use super::code::CodeRows;
use super::inline::Inline;
use super::list::{Container, Containers};
use super::scan::UnitKind;
use super::source::is_behind_blank_line;
use super::table::{MarkdownTable, cells};
use crate::diagram::Diagrams;
use crate::line::Line;
use crate::style::{Attrs, Style};
use crate::text::{wrap, wrap_text};
use crate::theme::{Theme, Token};

/// The parameters of drawing.
#[derive(Clone, Copy)]
pub struct MarkdownLook<'a> {
    pub width: usize,
    pub theme: &'a Theme,
    pub show_urls: bool,
    /// Draws Mermaid blocks, if they are to be drawn.
    pub diagrams: Option<&'a Diagrams>,
}

pub struct MarkdownWriter<'a> {
    /// The whole text, and the offset that events are relative to.
    text: &'a str,
    base: usize,
    look: MarkdownLook<'a>,
    out: &'a mut Vec<Line>,
    containers: Containers,
    /// Numbers of the next items of all open lists.
    lists: Vec<Option<u64>>,
    inline: Inline<'a>,
    table: Option<MarkdownTable>,
    /// Verbatim text of a code block or of HTML.
    verbatim: Option<String>,
    info: String,
}

impl<'a> MarkdownWriter<'a> {
    pub fn new(text: &'a str, base: usize, look: MarkdownLook<'a>, out: &'a mut Vec<Line>) -> Self {
        Self {
            text,
            base,
            look,
            out,
            containers: Containers::default(),
            lists: Vec::new(),
            inline: Inline::new(look),
            table: None,
            verbatim: None,
            info: String::new(),
        }
    }

    pub fn unit(mut self, events: &[(Event<'_>, Range<usize>)], kind: UnitKind) {
        if let UnitKind::Item { first, index } = kind {
            self.lists.push(first.map(|first| first.saturating_add(index)));
        }
        for (event, range) in events {
            self.event(event, range);
        }
        self.flush();
    }

    fn event(&mut self, event: &Event<'_>, range: &Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range.start),
            Event::End(TagEnd::TableRow) => self.end_row(range),
            Event::End(tag) => self.end(*tag),
            Event::Text(text) | Event::Html(text) => match &mut self.verbatim {
                Some(verbatim) => verbatim.push_str(text),
                None => self.inline_event(event, range),
            },
            Event::Rule => {
                self.begin(range.start);
                let width = self.room().min(self.look.width / 2).clamp(1, 40);
                self.rows(vec![Line::styled("─".repeat(width), self.look.theme.fg(Token::MdHr))]);
            }
            Event::TaskListMarker(done) => self.containers.set_task(*done),
            _ => self.inline_event(event, range),
        }
    }

    /// In a tight list the text of an item is not inside a paragraph.
    fn inline_event(&mut self, event: &Event<'_>, range: &Range<usize>) {
        if self.inline.is_closed() {
            self.begin(range.start);
            self.inline.open(self.base_style());
        }
        let written = self.text.get(self.base + range.start..self.base + range.end).unwrap_or_default();
        self.inline.event(event, written);
    }

    fn start(&mut self, tag: &Tag<'_>, at: usize) {
        match tag {
            Tag::Paragraph => {
                self.begin(at);
                self.inline.open(self.base_style());
            }
            Tag::Heading { level, .. } => {
                self.begin(at);
                self.open_heading(*level);
            }
            Tag::BlockQuote(_) => {
                self.begin(at);
                self.containers.push(Container::quote(), self.look.width);
            }
            Tag::CodeBlock(kind) => {
                self.begin(at);
                self.verbatim = Some(String::new());
                self.info = match kind {
                    CodeBlockKind::Fenced(info) => info.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
            }
            Tag::HtmlBlock => {
                self.begin(at);
                self.verbatim = Some(String::new());
            }
            Tag::List(first) => {
                self.flush();
                self.lists.push(*first);
            }
            Tag::Item => {
                self.begin(at);
                let number = self.lists.last_mut().and_then(Option::as_mut);
                let item = Container::item(number.as_deref().copied());
                if let Some(number) = number {
                    *number = number.saturating_add(1);
                }
                self.containers.push(item, self.look.width);
            }
            Tag::FootnoteDefinition(label) => {
                self.begin(at);
                self.containers.push(Container::footnote(label), self.look.width);
            }
            Tag::Table(alignments) => {
                self.begin(at);
                self.table = Some(MarkdownTable::new(alignments.clone()));
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.begin_row();
                }
            }
            Tag::TableCell => {
                let head = self.table.as_ref().is_some_and(MarkdownTable::is_in_head);
                self.inline.open(if head { Style::PLAIN.bold() } else { Style::PLAIN });
            }
            inline => {
                if self.inline.is_closed() {
                    self.begin(at);
                    self.inline.open(self.base_style());
                }
                self.inline.start(inline);
            }
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::Heading(_) => self.flush(),
            TagEnd::BlockQuote(_) | TagEnd::FootnoteDefinition | TagEnd::Item => {
                self.flush();
                let mark = self.containers.mark_left_over(self.look.theme);
                self.out.extend(mark);
                self.containers.pop();
            }
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
            }
            TagEnd::CodeBlock => {
                let code = self.verbatim.take().unwrap_or_default();
                self.code(&code);
            }
            TagEnd::HtmlBlock => {
                let html = self.verbatim.take().unwrap_or_default();
                let rows = wrap_text(html.trim_end_matches('\n'), self.room(), self.base_style());
                self.rows(rows);
            }
            TagEnd::TableCell => {
                let cell = self.inline.close();
                if let Some(table) = &mut self.table {
                    table.cell(cell);
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    let rows = table.draw(self.room(), self.look.theme);
                    self.rows(rows);
                }
            }
            TagEnd::TableHead => {}
            inline => self.inline.end(inline),
        }
    }

    /// The parser drops cells without a header column; they are shown here.
    fn end_row(&mut self, range: &Range<usize>) {
        let row = self.text.get(self.base + range.start..self.base + range.end).unwrap_or_default();
        let Some(known) = self.table.as_ref().map(MarkdownTable::columns) else { return };
        for text in cells(row).into_iter().skip(known.max(1)) {
            self.inline.open(Style::PLAIN);
            self.inline.text(&text.replace("\\|", "|"));
            let cell = self.inline.close();
            if let Some(table) = &mut self.table {
                table.cell(cell);
            }
        }
    }

    fn open_heading(&mut self, level: HeadingLevel) {
        let depth = level as usize;
        let style = self.look.theme.fg(Token::MdHeading).bold();
        let style = if depth == 1 { style.with(Attrs::UNDERLINE) } else { style };
        self.inline.open(style);
        if depth > 2 {
            self.inline.text(&format!("{} ", "#".repeat(depth)));
        }
    }

    fn code(&mut self, code: &str) {
        let look = MarkdownLook { width: self.room(), ..self.look };
        let mut code_rows = CodeRows::new(&self.info);
        let mut rows: Vec<Line> = code_rows.heading(look).into_iter().collect();
        let text = code.strip_suffix('\n').unwrap_or(code);
        for line in text.split('\n') {
            rows.extend(code_rows.line(line, look));
        }
        self.rows(rows);
    }

    /// Begins a block; adds an empty row after an earlier block in the same container if the text has one.
    fn begin(&mut self, at: usize) {
        self.flush();
        let behind = self.containers.fill();
        if behind && is_behind_blank_line(self.text, self.base + at) {
            let row = self.containers.empty_row(self.look.theme);
            self.out.push(row);
        }
    }

    fn flush(&mut self) {
        if self.inline.is_closed() {
            return;
        }
        let room = self.room();
        let rows = self.inline.close().iter().flat_map(|line| wrap(line, room)).collect();
        self.rows(rows);
    }

    /// Returns the columns besides the container prefixes.
    fn room(&self) -> usize {
        self.look.width.saturating_sub(self.containers.width()).max(1)
    }

    fn base_style(&self) -> Style {
        if self.containers.is_quote() { self.look.theme.fg(Token::MdQuote).italic() } else { Style::PLAIN }
    }

    fn rows(&mut self, rows: Vec<Line>) {
        for row in rows {
            let row = self.containers.before(row, self.look.theme);
            self.out.push(row);
        }
    }
}

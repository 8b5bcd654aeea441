//! Emphasis, code, links and formulas inside a paragraph.

use std::sync::Arc;

use pulldown_cmark::{Event, LinkType, Tag, TagEnd};

use super::source::is_unsafe;
use super::writer::MarkdownLook;
use crate::line::Line;
use crate::math;
use crate::style::{Attrs, Style};
use crate::text::append;
use crate::theme::Token;

const LONGEST_LINK: usize = 2083;

pub struct Inline<'a> {
    look: MarkdownLook<'a>,
    /// Empty if closed; hard breaks begin a new line.
    lines: Vec<Line>,
    styles: Vec<Style>,
    links: Vec<Link>,
    /// Text pieces collected so that an address in them is found as a whole.
    pending: String,
}

struct Link {
    address: Option<Arc<str>>,
    /// The text of the link so far.
    shown: String,
}

impl<'a> Inline<'a> {
    pub fn new(look: MarkdownLook<'a>) -> Self {
        Self { look, lines: Vec::new(), styles: Vec::new(), links: Vec::new(), pending: String::new() }
    }

    pub fn is_closed(&self) -> bool {
        self.lines.is_empty()
    }

    pub fn open(&mut self, style: Style) {
        self.lines.push(Line::default());
        self.styles.push(style);
    }

    /// Returns the lines so far.
    pub fn close(&mut self) -> Vec<Line> {
        self.flush_text();
        self.styles.clear();
        self.links.clear();
        let mut lines = std::mem::take(&mut self.lines);
        // A display formula leaves no empty lines behind it.
        while lines.len() > 1 && lines.last().is_some_and(|line| line.spans.is_empty()) {
            lines.pop();
        }
        lines
    }

    /// `written` is the source text of the event.
    pub fn event(&mut self, event: &Event<'_>, written: &str) {
        match event {
            Event::Text(text) => self.pending.push_str(text),
            Event::SoftBreak => self.pending.push(' '),
            Event::HardBreak => self.break_line(),
            Event::Code(code) => self.push(code, self.look.theme.fg(Token::MdCode).over(self.style())),
            Event::InlineMath(tex) => self.formula(tex),
            Event::DisplayMath(tex) if written.starts_with("\\(") => self.formula(tex),
            Event::DisplayMath(tex) => {
                if self.lines.last().is_some_and(|line| !line.spans.is_empty()) || !self.pending.is_empty() {
                    self.break_line();
                }
                self.formula(tex);
                self.break_line();
            }
            Event::InlineHtml(html) if is_line_break(html) => self.break_line(),
            Event::Html(html) | Event::InlineHtml(html) => self.pending.push_str(html),
            Event::FootnoteReference(label) => {
                self.push(&footnote_mark(label), self.look.theme.fg(Token::MdLink).over(self.style()));
            }
            _ => {}
        }
    }

    pub fn text(&mut self, text: &str) {
        self.pending.push_str(text);
    }

    pub fn start(&mut self, tag: &Tag<'_>) {
        self.flush_text();
        let style = self.style();
        match tag {
            Tag::Emphasis => self.styles.push(style.italic()),
            Tag::Strong => self.styles.push(style.bold()),
            Tag::Strikethrough => self.styles.push(style.with(Attrs::STRIKE)),
            Tag::Link { link_type: LinkType::Email, dest_url, .. } => self.open_link(&format!("mailto:{dest_url}")),
            Tag::Link { dest_url, .. } => self.open_link(dest_url),
            Tag::Image { dest_url, .. } => {
                self.open_link(dest_url);
                self.push("[image: ", self.style());
            }
            _ => self.styles.push(style),
        }
    }

    pub fn end(&mut self, tag: TagEnd) {
        self.flush_text();
        match tag {
            TagEnd::Image => {
                self.push("]", self.style());
                self.close_link();
            }
            TagEnd::Link => self.close_link(),
            _ => {}
        }
        if self.styles.len() > 1 {
            self.styles.pop();
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn link_style(&self) -> Style {
        self.look.theme.fg(Token::MdLink).with(Attrs::UNDERLINE).over(self.style())
    }

    fn open_link(&mut self, address: &str) {
        let usable = !address.is_empty() && address.len() <= LONGEST_LINK && !address.contains(is_unsafe);
        let style = self.link_style();
        self.links.push(Link { address: usable.then(|| Arc::from(address)), shown: String::new() });
        self.styles.push(style);
    }

    fn close_link(&mut self) {
        let Some(link) = self.links.pop() else { return };
        let Some(address) = link.address.filter(|_| self.look.show_urls) else { return };
        let same = link.shown == *address || address.strip_prefix("mailto:") == Some(&link.shown);
        if !same {
            let style = self.look.theme.fg(Token::MdLinkUrl);
            self.push(&format!(" ({address})"), style);
        }
    }

    fn formula(&mut self, tex: &str) {
        let style = self.look.theme.fg(Token::MdCode).over(self.style());
        for (index, line) in math::to_unicode(tex).split('\n').enumerate() {
            if index > 0 {
                self.break_line();
            }
            self.push(line, style);
        }
    }

    fn break_line(&mut self) {
        self.flush_text();
        self.lines.push(Line::default());
    }

    fn push(&mut self, text: &str, style: Style) {
        self.flush_text();
        self.put(text, style, None);
    }

    fn put(&mut self, text: &str, style: Style, link: Option<&Arc<str>>) {
        let clean: String;
        let shown = if text.contains(|char| is_unsafe(char) || matches!(char, '\n' | '\t')) {
            let space = |char| if matches!(char, '\n' | '\t') { ' ' } else { char };
            clean = text.chars().map(space).filter(|char| !is_unsafe(*char)).collect();
            &clean
        } else {
            text
        };
        let outer = self.links.last_mut();
        let link = match (link, &outer) {
            (None, Some(outer)) => outer.address.clone(),
            (link, _) => link.cloned(),
        };
        if let Some(outer) = outer {
            outer.shown.push_str(shown);
        }
        if let Some(line) = self.lines.last_mut() {
            // Spaces at the start of a line are ignored.
            let shown = if line.spans.is_empty() { shown.trim_start_matches(' ') } else { shown };
            append(line, shown, style, link.as_ref());
        }
    }

    /// Adds text, with addresses as links.
    fn flush_text(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let pending = std::mem::take(&mut self.pending);
        let style = self.style();
        let mut rest = pending.as_str();
        while let Some((start, end)) = self.links.is_empty().then(|| find_address(rest)).flatten() {
            let address = &rest[start..end];
            self.put(&rest[..start], style, None);
            let link = (address.len() <= LONGEST_LINK && !address.contains(is_unsafe)).then(|| Arc::from(address));
            self.put(address, self.link_style(), link.as_ref());
            rest = &rest[end..];
        }
        self.put(rest, style, None);
        self.pending = pending;
        self.pending.clear();
    }
}

fn is_line_break(html: &str) -> bool {
    let name = html.trim_start_matches('<').trim_end_matches('>').trim_end_matches('/').trim();
    name.eq_ignore_ascii_case("br")
}

/// Returns superscript digits, or the label in brackets.
fn footnote_mark(label: &str) -> String {
    let raised = |char: char| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(char.to_digit(10)? as usize);
    label.chars().map(raised).collect::<Option<String>>().unwrap_or_else(|| format!("[{label}]"))
}

/// Finds the next `http://…` or `https://…`, without trailing punctuation.
fn find_address(text: &str) -> Option<(usize, usize)> {
    let mut from = 0;
    while let Some(found) = text[from..].find("http") {
        let start = from + found;
        from = start + 4;
        let body = &text[start..];
        let Some(host) = body.strip_prefix("https://").or_else(|| body.strip_prefix("http://")) else { continue };
        let apart = !text[..start].ends_with(|char: char| char.is_alphanumeric());
        if !apart || !host.starts_with(|char: char| char.is_alphanumeric() || char == '[') {
            continue;
        }
        let length = body.find(|char: char| char.is_whitespace() || "<>\"`|".contains(char)).unwrap_or(body.len());
        return Some((start, start + trimmed(&body[..length])));
    }
    None
}

fn trimmed(address: &str) -> usize {
    let mut end = address.len();
    let open = address.matches('(').count();
    let mut closed = address.matches(')').count();
    while let Some(last) = address[..end].chars().next_back() {
        match last {
            ')' if closed > open => closed -= 1,
            '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_' | '~' | ']' => {}
            _ => break,
        }
        end -= last.len_utf8();
    }
    end
}

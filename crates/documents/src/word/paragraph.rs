//! One paragraph, with its runs merged, because Word splits them anywhere.

#[derive(Default)]
pub struct Paragraph {
    pub heading: Option<usize>,
    /// The list that it is an item of.
    pub list: Option<String>,
    pub list_level: usize,
    /// The style of the next text.
    pub style: RunStyle,
    pub in_run: bool,
    pieces: Vec<(RunStyle, String)>,
}

#[derive(Clone, Default, PartialEq, Eq)]
pub struct RunStyle {
    pub bold: bool,
    pub italic: bool,
    pub link: Option<String>,
}

impl Paragraph {
    pub fn push(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some((style, piece)) if *style == self.style => piece.push_str(text),
            _ => self.pieces.push((self.style.clone(), text.to_owned())),
        }
    }

    pub fn text(&self) -> String {
        let text: String = self.pieces.iter().map(|(style, piece)| style.mark(piece)).collect();
        text.trim().to_owned()
    }

    /// Returns the text without emphasis, which headings do not need.
    pub fn plain(&self) -> String {
        let text: String = self.pieces.iter().map(|(_, piece)| piece.as_str()).collect();
        text.trim().to_owned()
    }
}

impl RunStyle {
    /// Wraps the text in its markers; blanks stay outside.
    fn mark(&self, piece: &str) -> String {
        let inner = piece.trim();
        if inner.is_empty() {
            return piece.to_owned();
        }
        let mark = match (self.bold, self.italic) {
            (true, true) => "***",
            (true, false) => "**",
            (false, true) => "*",
            (false, false) => "",
        };
        let inside = match &self.link {
            Some(target) => format!("[{inner}]({target})"),
            None => inner.to_owned(),
        };
        let start = piece.len() - piece.trim_start().len();
        let end = piece.trim_end().len();
        format!("{}{mark}{inside}{mark}{}", &piece[..start], &piece[end..])
    }
}

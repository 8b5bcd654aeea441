//! The only way to write HTML here: markup is a constant of this program, everything else is text and gets escaped.
//!
//! [`Html::raw`] takes only `&'static str`, so session content can reach the page only through [`Html::text`] and
//! [`Html::attr`]. Session content is never put inside a script or a style sheet.

use omp_stdx::format::bytes;
use omp_stdx::sanitize::{reveal_invisible, strip_control};
use omp_stdx::truncate::{Keep, by_bytes};

/// Length limit of a text; longer ones are cut and marked.
pub(crate) const LONGEST_TEXT: usize = 256 * 1024;

#[derive(Debug, Default)]
pub(crate) struct Html {
    buffer: String,
}

impl Html {
    /// Writes constant markup of this program.
    pub fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.buffer.push_str(markup);
        self
    }

    /// Writes any text, escaped: without control characters and escape sequences, with invisible characters made visible.
    pub fn text(&mut self, text: &str) -> &mut Self {
        escape(&reveal_invisible(&strip_control(text)), &mut self.buffer);
        self
    }

    /// Writes ` name="value"` inside a tag.
    pub fn attr(&mut self, name: &'static str, value: &str) -> &mut Self {
        self.raw(" ").raw(name).raw("=\"").text(value).raw("\"")
    }

    pub fn number(&mut self, number: impl Into<u64>) -> &mut Self {
        self.buffer.push_str(&number.into().to_string());
        self
    }

    /// Writes an element that contains only text.
    pub fn element(&mut self, open: &'static str, text: &str, close: &'static str) -> &mut Self {
        self.raw(open).text(text).raw(close)
    }

    /// Writes preformatted text in a box; cut if it is very long.
    pub fn pre(&mut self, text: &str) -> &mut Self {
        let (shown, cut) = cut(text);
        self.element("<pre>", shown, "</pre>");
        self.cut_note(cut)
    }

    /// Writes prose with its line breaks; cut if it is very long.
    pub fn pre_text(&mut self, text: &str) -> &mut Self {
        let (shown, cut) = cut(text);
        self.element("<div class=\"text\">", shown, "</div>");
        self.cut_note(cut)
    }

    /// Writes how much of a text is missing, if any.
    pub fn cut_note(&mut self, cut: usize) -> &mut Self {
        if cut > 0 {
            let note = format!("{} more are only in the session file", bytes(cut as u64));
            self.element("<p class=\"cut\">", &note, "</p>");
        }
        self
    }

    pub fn as_str(&self) -> &str {
        &self.buffer
    }

    /// Clears the buffer; releases the memory of a huge one.
    pub fn clear(&mut self) {
        self.buffer.clear();
        self.buffer.shrink_to(4 * LONGEST_TEXT);
    }
}

/// Returns the visible start of a text, and the number of bytes cut.
pub(crate) fn cut(text: &str) -> (&str, usize) {
    let truncated = by_bytes(text, LONGEST_TEXT, Keep::Head);
    (truncated.head, text.len() - truncated.head.len())
}

/// Returns the first line of a text, limited to `longest` characters.
pub(crate) fn excerpt(text: &str, longest: usize) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default().trim_end();
    match line.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// Text between two markup characters is copied at once.
fn escape(text: &str, out: &mut String) {
    out.reserve(text.len());
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let written = match byte {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            b'\'' => "&#39;",
            b'`' => "&#96;",
            _ => continue,
        };
        out.push_str(&text[from..at]);
        out.push_str(written);
        from = at + 1;
    }
    out.push_str(&text[from..]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(Html::default().text(text).as_str(), expect, "{text:?}");
    }

    #[test]
    fn nothing_of_a_text_is_markup() {
        check("a & b", "a &amp; b");
        check("</script><img src=x onerror='a()'>", "&lt;/script&gt;&lt;img src=x onerror=&#39;a()&#39;&gt;");
        check("]]>--><!--", "]]&gt;--&gt;&lt;!--");
        check("\"`", "&quot;&#96;");
        check("a\0b\u{1b}[31mred\u{1b}[0m", "abred");
        check("\u{2028}\u{202e}x\u{200b}", "\u{2028}&lt;U+202E&gt;x&lt;U+200B&gt;");
    }

    #[test]
    fn long_texts_are_cut_and_say_so() {
        let mut html = Html::default();
        html.pre(&"x".repeat(LONGEST_TEXT + 2048));
        assert!(html.as_str().len() < LONGEST_TEXT + 200);
        assert!(html.as_str().ends_with("<p class=\"cut\">2KB more are only in the session file</p>"), "{}", {
            let text = html.as_str();
            &text[text.len() - 100..]
        });
    }

    #[test]
    fn excerpts_are_one_line() {
        assert_eq!(excerpt("\n  one two \nthree", 80), "one two");
        assert_eq!(excerpt("éééé", 3), "ééé…");
        assert_eq!(excerpt("", 3), "");
    }

    proptest! {
        #[test]
        fn no_text_opens_a_tag_or_leaves_an_attribute(text in any::<String>()) {
            let mut html = Html::default();
            html.attr("title", &text);
            let value = html.as_str().strip_prefix(" title=\"").unwrap().strip_suffix('"').unwrap();
            prop_assert!(!value.contains(['<', '>', '"', '\'', '\0', '`']));
        }
    }
}

//! Renders Markdown as HTML: a safe subset, written from the parser's events. Raw HTML is shown as text.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::markup::{Html, LONGEST_TEXT, cut};

/// Deeper nesting is rendered without its elements; browsers give up much earlier.
const DEEPEST: usize = 32;

/// Limit on the output, because a small text can produce a table with millions of empty cells.
const LONGEST_PAGE: usize = 16 * LONGEST_TEXT;

/// How line breaks are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    /// A line break becomes a blank, as in Markdown.
    Flow,
    /// A line break is kept, as people type.
    Kept,
}

pub(crate) fn markdown(html: &mut Html, text: &str, lines: Lines) {
    let (shown, missing) = cut(text);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = MarkdownHtml { html, lines, open: Vec::new(), skipped: 0, in_head: false };
    writer.html.raw("<div class=\"md\">");
    let start = writer.html.as_str().len();
    let mut events = Parser::new_ext(shown, options);
    while writer.html.as_str().len() - start < LONGEST_PAGE
        && let Some(event) = events.next()
    {
        writer.event(event);
    }
    let overflowed = events.next().is_some();
    // The parser closes what it opens, but the page must not depend on it.
    while let Some(close) = writer.open.pop() {
        writer.html.raw(close);
    }
    html.raw("</div>").cut_note(missing);
    if overflowed {
        html.raw("<p class=\"cut\">the rest of this text is only in the session file</p>");
    }
}

struct MarkdownHtml<'a> {
    html: &'a mut Html,
    lines: Lines,
    /// Closing tags of the open elements.
    open: Vec<&'static str>,
    /// Number of open elements that were not written.
    skipped: usize,
    in_head: bool,
}

impl MarkdownHtml<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                self.html.text(&text);
            }
            Event::Code(text) => {
                self.html.element("<code>", &text, "</code>");
            }
            Event::SoftBreak if self.lines == Lines::Flow => {
                self.html.raw("\n");
            }
            Event::SoftBreak | Event::HardBreak => {
                self.html.raw("<br>\n");
            }
            Event::Rule => {
                self.html.raw("<hr>");
            }
            Event::TaskListMarker(true) => {
                self.html.raw("<input type=\"checkbox\" checked disabled> ");
            }
            Event::TaskListMarker(false) => {
                self.html.raw("<input type=\"checkbox\" disabled> ");
            }
            Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.html.text(&text);
            }
            Event::FootnoteReference(name) => {
                self.html.text(&name);
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        if self.skipped > 0 || self.open.len() >= DEEPEST {
            self.skipped += 1;
            return;
        }
        match tag {
            Tag::Link { dest_url, .. } => self.link(&dest_url),
            // An image would be fetched from the network: its text and URL are shown instead.
            Tag::Image { dest_url, .. } => self.link(&dest_url),
            Tag::CodeBlock(kind) => self.code(&kind),
            Tag::List(Some(first)) => {
                self.html.raw("<ol").attr("start", &first.to_string()).raw(">");
                self.open.push("</ol>");
            }
            Tag::Table(_) => self.push("<div class=\"wide\"><table>", "</table></div>"),
            Tag::TableHead => {
                self.in_head = true;
                self.push("<tr>", "</tr>");
            }
            Tag::TableCell if self.in_head => self.push("<th>", "</th>"),
            other => {
                let (open, close) = plain_element(&other);
                self.push(open, close);
            }
        }
    }

    fn end(&mut self, tag: TagEnd) {
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        if tag == TagEnd::TableHead {
            self.in_head = false;
        }
        if let Some(close) = self.open.pop() {
            self.html.raw(close);
        }
    }

    fn push(&mut self, open: &'static str, close: &'static str) {
        self.html.raw(open);
        self.open.push(close);
    }

    fn link(&mut self, address: &str) {
        if !is_safe_address(address) {
            self.html.raw("<span class=\"nolink\"").attr("title", address).raw(">");
            self.open.push("</span>");
            return;
        }
        self.html.raw("<a").attr("href", address).raw(" rel=\"noopener noreferrer nofollow\" target=\"_blank\">");
        self.open.push("</a>");
    }

    fn code(&mut self, kind: &CodeBlockKind<'_>) {
        if let CodeBlockKind::Fenced(info) = kind
            && let Some(language) = info.split_whitespace().next()
        {
            self.html.raw("<div class=\"lang\">").text(language).raw("</div>");
        }
        self.push("<pre><code>", "</code></pre>");
    }
}

fn plain_element(tag: &Tag<'_>) -> (&'static str, &'static str) {
    match tag {
        Tag::Paragraph => ("<p>", "</p>"),
        Tag::Heading { level: HeadingLevel::H1, .. } => ("<h3>", "</h3>"),
        Tag::Heading { level: HeadingLevel::H2, .. } => ("<h4>", "</h4>"),
        Tag::Heading { .. } => ("<h5>", "</h5>"),
        Tag::BlockQuote(_) => ("<blockquote>", "</blockquote>"),
        Tag::List(_) => ("<ul>", "</ul>"),
        Tag::Item => ("<li>", "</li>"),
        Tag::TableRow => ("<tr>", "</tr>"),
        Tag::TableCell => ("<td>", "</td>"),
        Tag::Emphasis => ("<em>", "</em>"),
        Tag::Strong => ("<strong>", "</strong>"),
        Tag::Strikethrough => ("<del>", "</del>"),
        Tag::HtmlBlock => ("<div class=\"html\">", "</div>"),
        _ => ("<span>", "</span>"),
    }
}

/// Accepts only URLs that can be followed without running anything. Browsers drop control characters and blanks from a
/// scheme before they interpret it, so a URL with one before its colon is refused.
pub(crate) fn is_safe_address(address: &str) -> bool {
    let Some((scheme, _)) = address.split_once(':') else { return false };
    ["http", "https", "mailto"].iter().any(|safe| scheme.eq_ignore_ascii_case(safe))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(text: &str) -> String {
        let mut html = Html::default();
        markdown(&mut html, text, Lines::Flow);
        html.as_str().to_owned()
    }

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let shown = flow(text);
        let inner = shown.strip_prefix("<div class=\"md\">").unwrap().strip_suffix("</div>").unwrap();
        assert_eq!(inner, expect, "{text:?}");
    }

    #[test]
    fn what_people_and_models_write() {
        check("# Hi *there*", "<h3>Hi <em>there</em></h3>");
        check("a\nb **c** `d<e>`", "<p>a\nb <strong>c</strong> <code>d&lt;e&gt;</code></p>");
        check(
            "- [x] one\n- ~~two~~",
            "<ul><li><input type=\"checkbox\" checked disabled> one</li><li><del>two</del></li></ul>",
        );
        check("3. x", "<ol start=\"3\"><li>x</li></ol>");
        check(
            "```rust evil\nlet a = \"<b>\";\n```",
            "<div class=\"lang\">rust</div><pre><code>let a = &quot;&lt;b&gt;&quot;;\n</code></pre>",
        );
        check("|a|\n|-|\n|1|", "<div class=\"wide\"><table><tr><th>a</th></tr><tr><td>1</td></tr></table></div>");
        check(
            "[x](https://e.org/?a=1&b=\"2\")",
            "<p><a href=\"https://e.org/?a=1&amp;b=&quot;2&quot;\" rel=\"noopener noreferrer nofollow\" target=\"_blank\">x</a></p>",
        );
    }

    #[test]
    fn raw_html_is_text() {
        check("<script>alert(1)</script>", "<div class=\"html\">&lt;script&gt;alert(1)&lt;/script&gt;</div>");
        check("a <img src=x onerror=alert(1)> b", "<p>a &lt;img src=x onerror=alert(1)&gt; b</p>");
        check(
            "```</code></pre><b>\nx\n```",
            "<div class=\"lang\">&lt;/code&gt;&lt;/pre&gt;&lt;b&gt;</div><pre><code>x\n</code></pre>",
        );
    }

    #[test]
    fn addresses_that_run_something_are_no_links() {
        for address in [
            "javascript:alert(1)",
            "JaVaScRiPt:a",
            "data:text/html,x",
            "vbscript:x",
            "file:///etc/passwd",
            "//e.org",
            "x",
            "java\tscript:a",
            " javascript:a",
        ] {
            assert!(!is_safe_address(address), "{address}");
            assert!(!flow(&format!("[x](<{address}>)")).contains("href"), "{address}");
            assert!(!flow(&format!("<{address}>")).contains("href"), "{address}");
        }
        for address in ["http://e.org", "HTTPS://e.org", "mailto:a@e.org"] {
            assert!(is_safe_address(address), "{address}");
        }
    }

    #[test]
    fn an_image_is_not_fetched() {
        let shown = flow("![logo](https://e.org/x.png)");
        assert!(!shown.contains("<img") && shown.contains(">logo</a>"), "{shown}");
    }

    #[test]
    fn no_depth_of_nesting_reaches_the_page() {
        let shown = flow(&(">".repeat(5_000) + " deep"));
        assert!(shown.matches("<blockquote>").count() <= DEEPEST && shown.contains("deep"));
        assert_eq!(shown.matches("<blockquote>").count(), shown.matches("</blockquote>").count());
    }

    #[test]
    fn a_table_of_endless_cells_ends() {
        let shown = flow(&format!("{}\n{}\n{}", "|a".repeat(30_000), "|-".repeat(30_000), "|\n".repeat(30_000)));
        assert!(shown.len() < LONGEST_PAGE + 100_000, "{}", shown.len());
    }

    #[test]
    fn lines_that_people_type_stay_lines() {
        let mut html = Html::default();
        markdown(&mut html, "a\nb", Lines::Kept);
        assert_eq!(html.as_str(), "<div class=\"md\"><p>a<br>\nb</p></div>");
    }
}

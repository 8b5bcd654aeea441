//! A page of headings, text, lists and tables: Markdown where it can be drawn, plain text elsewhere.

use crate::md_table::{MdTable, without_code};

/// A page that is written part by part.
#[derive(Clone, Debug, Default)]
pub struct Page {
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Part {
    Heading(usize, String),
    Text(String),
    /// Left out of plain text.
    Drawing(String),
    List(Vec<String>),
    Table(MdTable),
    Markdown(String),
    Either {
        markdown: String,
        plain: String,
    },
}

impl Page {
    /// A page that is Markdown everywhere.
    pub fn of_markdown(text: impl Into<String>) -> Self {
        Self::default().with(Part::Markdown(text.into()))
    }

    /// Adds a heading; 1 is the highest level.
    #[must_use]
    pub fn heading(self, level: usize, text: &str) -> Self {
        self.with(Part::Heading(level, text.to_owned()))
    }

    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.with(Part::Text(text.into()))
    }

    /// Adds a row of signs, which plain text does not have.
    #[must_use]
    pub fn drawing(self, row: impl Into<String>) -> Self {
        self.with(Part::Drawing(row.into()))
    }

    #[must_use]
    pub fn list(self, items: Vec<String>) -> Self {
        self.with(Part::List(items))
    }

    #[must_use]
    pub fn table(self, table: MdTable) -> Self {
        self.with(Part::Table(table))
    }

    /// Adds a part that is written differently in Markdown and in plain text.
    #[must_use]
    pub fn either(self, markdown: impl Into<String>, plain: impl Into<String>) -> Self {
        self.with(Part::Either { markdown: markdown.into(), plain: plain.into() })
    }

    fn with(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Returns the page in Markdown, without a line break at its end.
    pub fn markdown(&self) -> String {
        let part = |part: &Part| match part {
            Part::Heading(level, text) => format!("{} {text}", "#".repeat(*level)),
            Part::Text(text) | Part::Drawing(text) | Part::Markdown(text) => text.clone(),
            Part::List(items) => items.iter().map(|item| format!("- {item}")).collect::<Vec<_>>().join("\n"),
            Part::Table(table) => table.markdown(),
            Part::Either { markdown, .. } => markdown.clone(),
        };
        self.parts.iter().map(part).collect::<Vec<_>>().join("\n\n")
    }

    /// Returns the page as plain text, without a line break at its end.
    pub fn plain(&self) -> String {
        let mut text = String::new();
        let mut after_heading = true;
        for part in &self.parts {
            let (shown, is_heading) = match part {
                Part::Drawing(_) => continue,
                Part::Heading(_, heading) => (heading.clone(), true),
                Part::Text(text) => (without_code(text), false),
                Part::Markdown(text) => (text.clone(), false),
                Part::List(items) => (items.join("\n"), false),
                Part::Table(table) => (table.plain(), false),
                Part::Either { plain, .. } => (plain.clone(), false),
            };
            if !text.is_empty() {
                text.push_str(if after_heading && !is_heading { "\n" } else { "\n\n" });
            }
            text.push_str(&shown);
            after_heading = is_heading;
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::md_table::Align;

    #[test]
    fn markdown_and_plain_text() {
        let mut table = MdTable::new([("Name", Align::Left)]);
        table.row(["`a`".to_owned()]);
        let page = Page::default()
            .heading(2, "One")
            .text("See `x`.")
            .drawing("██")
            .table(table)
            .heading(3, "Two")
            .list(vec!["a".into(), "b".into()]);
        assert_eq!(page.markdown(), "## One\n\nSee `x`.\n\n██\n\n| Name |\n| ---- |\n| `a`  |\n\n### Two\n\n- a\n- b");
        assert_eq!(page.plain(), "One\nSee x.\n\nName\na\n\nTwo\na\nb");
        assert_eq!(Page::of_markdown("## *x*").plain(), "## *x*");
        let either = Page::default().text("a").either("**b**", "b");
        assert_eq!((either.markdown(), either.plain()), ("a\n\n**b**".to_owned(), "a\n\nb".to_owned()));
    }
}

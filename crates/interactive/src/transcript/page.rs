//! What a slash command says in Markdown: a list, a table, a report.

use omp_tui::{Line, Markdown, Space, Span, Token};

use super::Block;

/// The signs of bars and the colour of each, all different, so that a bar and its legend match.
const SIGNS: [(char, Token); 5] = [
    ('█', Token::Accent),
    ('▓', Token::Success),
    ('▒', Token::Warning),
    ('▞', Token::SyntaxKeyword),
    ('░', Token::Dim),
];

/// Never changes.
pub struct Page {
    typed: String,
    markdown: Markdown,
}

impl Page {
    pub fn new(typed: &str, text: &str) -> Self {
        let mut markdown = Markdown::default();
        markdown.set(text);
        markdown.finish();
        Self { typed: typed.to_owned(), markdown }
    }
}

impl Block for Page {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let typed = Line::styled(self.typed.clone(), space.theme.fg(Token::Muted));
        let mut rows = vec![omp_tui::text::clip(typed, space.width), Line::new()];
        rows.extend(dense(self.markdown.draw(space)).iter().map(|row| colored(row, space)));
        rows
    }

    fn version(&self) -> u64 {
        0
    }

    fn is_final(&self) -> bool {
        true
    }
}

/// Removes the rules between the rows of tables; the one below the heading stays.
fn dense(rows: &[Line]) -> Vec<Line> {
    let mut is_below_heading = false;
    let keep = |row: &&Line| {
        let text = row.text();
        let is_rule = text.contains('┼') && text.chars().all(|char| matches!(char, '─' | '┼'));
        let keep = !is_rule || !is_below_heading;
        is_below_heading = is_rule || (is_below_heading && text.contains('│'));
        keep
    };
    rows.iter().filter(keep).cloned().collect()
}

/// Gives the signs of a bar their colours.
fn colored(row: &Line, space: &Space<'_>) -> Line {
    let token_of = |char: char| SIGNS.iter().find(|(sign, _)| *sign == char).map(|(_, token)| *token);
    if !row.spans.iter().any(|span| span.text.chars().any(|char| token_of(char).is_some())) {
        return row.clone();
    }
    let mut colored = Line { spans: Vec::new(), ..row.clone() };
    for span in &row.spans {
        let mut rest: &str = &span.text;
        while let Some(first) = rest.chars().next() {
            let token = token_of(first);
            let end = rest.find(|char: char| token_of(char) != token).unwrap_or(rest.len());
            let style = token.map_or(span.style, |token| space.theme.fg(token).over(span.style));
            let text = rest[..end].to_owned();
            colored.spans.push(match token {
                Some(_) => Span::new(text, style),
                None => Span { text: text.into(), ..span.clone() },
            });
            rest = &rest[end..];
        }
    }
    colored
}

#[cfg(test)]
mod tests {
    use omp_tui::Theme;

    use super::*;

    #[test]
    fn a_table_with_tall_rows_has_one_rule() {
        let theme = Theme::colorless();
        let space = Space { width: 24, height: 20, theme: &theme, focused: true, keys: &omp_tui::DefaultKeys };
        let text =
            "| A | B |\n|---|---|\n| one | long words that wrap |\n| two | more |\n\n| C | D |\n|---|---|\n| 1 | 2 |";
        let rows: Vec<String> = Page::new("/x", text).draw(&space).iter().map(|row| row.text()).collect();
        assert_eq!(rows.iter().filter(|row| row.contains('┼')).count(), 2, "{rows:#?}");
        assert!(rows.len() > 10, "{rows:#?}");
    }

    #[test]
    fn a_bar_has_the_colors_of_its_legend() {
        let theme = Theme::dark();
        let space = Space { width: 60, height: 20, theme: &theme, focused: true, keys: &omp_tui::DefaultKeys };
        let rows = Page::new("/x", "██▒▒░\n\n| | Kind |\n|---|---|\n| ▒ | Tools |").draw(&space);
        let style = |sign: &str| {
            let spans = rows.iter().flat_map(|row| &row.spans).filter(|span| span.text.contains(sign));
            spans.map(|span| span.style).collect::<Vec<_>>()
        };
        assert_eq!(style("█"), [theme.fg(Token::Accent)]);
        assert_eq!(style("▒").iter().map(|style| style.fg).collect::<Vec<_>>(), [theme.color(Token::Warning); 2]);
        assert_eq!(rows[0].text(), "/x");
        assert!(rows.iter().all(|row| row.width() <= 60));
        for theme in [Theme::dark(), Theme::light()] {
            let colors: Vec<_> = SIGNS.iter().map(|(_, token)| theme.color(*token)).collect();
            assert!(colors.iter().enumerate().all(|(at, color)| !colors[..at].contains(color)), "{colors:?}");
        }
    }
}

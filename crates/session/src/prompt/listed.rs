//! Lists of items that the model can read on demand: one line each, within a byte limit, with a note about omitted items.

use omp_stdx::format;

/// Maximum bytes of a list. A longer list makes every request cost more than it is worth, and the model can read the whole
/// list.
const MAX_BYTES: usize = 12_000;
/// Maximum characters of a description, and the shorter limit that applies if there are many.
const LONG: usize = 240;
const SHORT: usize = 80;
/// Maximum globs listed per item.
const MAX_GLOBS: usize = 6;

/// An item that can be read at an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptListItem {
    pub name: String,
    pub description: String,
    /// The files that the item applies to.
    pub globs: Vec<String>,
}

/// The lines, each with a newline. `all` is the address that lists all items.
pub(crate) fn lines(items: &[PromptListItem], all: &str) -> String {
    for longest in [LONG, SHORT] {
        let text: String = items.iter().map(|item| line(item, longest)).collect();
        if text.len() <= MAX_BYTES {
            return text;
        }
    }
    let mut text = String::new();
    let mut shown = 0;
    for item in items {
        let line = line(item, SHORT);
        if text.len() + line.len() > MAX_BYTES {
            break;
        }
        text.push_str(&line);
        shown += 1;
    }
    let left = format::plural(items.len() - shown, "more is", "more are");
    text + &format!("- {left} not listed here; read `{all}` for all names\n")
}

fn line(item: &PromptListItem, longest: usize) -> String {
    let name = one_line(&item.name, LONG);
    let description = one_line(&item.description, longest);
    let mut line = if description.is_empty() { format!("- {name}") } else { format!("- {name}: {description}") };
    if !item.globs.is_empty() {
        let named: Vec<String> = item.globs.iter().take(MAX_GLOBS).map(|glob| one_line(glob, SHORT)).collect();
        let more = if item.globs.len() > MAX_GLOBS { ", …" } else { "" };
        line.push_str(&format!(" ({}{more})", named.join(", ")));
    }
    line.push('\n');
    line
}

fn one_line(text: &str, longest: usize) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", words[..end].trim_end()),
        None => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(name: &str, description: &str, globs: &[&str]) -> PromptListItem {
        let globs = globs.iter().map(|glob| (*glob).to_owned()).collect();
        PromptListItem { name: name.into(), description: description.into(), globs }
    }

    #[track_caller]
    fn check(item: PromptListItem, expect: &str) {
        assert_eq!(lines(&[item], "skill://"), expect);
    }

    #[test]
    fn one_line_each() {
        check(item("pdf", "Fill forms", &[]), "- pdf: Fill forms\n");
        check(item("pdf", " Fill\n  forms ", &[]), "- pdf: Fill forms\n");
        check(item("pdf", "", &["*.pdf", "docs/**"]), "- pdf (*.pdf, docs/**)\n");
        check(item("g", "x", &["a"; 7]), "- g: x (a, a, a, a, a, a, …)\n");
        check(item("long", &"ä".repeat(300), &[]), &format!("- long: {}…\n", "ä".repeat(LONG)));
    }

    #[test]
    fn many_items_get_shorter_and_then_fewer_which_is_told() {
        let many = |count: usize| -> Vec<PromptListItem> {
            (0..count).map(|number| item(&format!("skill-{number:03}"), &"x".repeat(200), &[])).collect()
        };
        assert!(lines(&many(10), "skill://").lines().all(|line| line.len() > 200));
        let hundred = lines(&many(100), "skill://");
        assert_eq!(hundred.lines().count(), 100);
        assert!(hundred.len() <= MAX_BYTES && hundred.lines().all(|line| line.len() < 110), "{hundred}");
        let thousand = lines(&many(1000), "skill://");
        let shown = thousand.lines().count() - 1;
        let told = format!("- {} more are not listed here; read `skill://` for all names", 1000 - shown);
        assert_eq!(thousand.lines().last(), Some(told.as_str()));
        assert!(thousand.len() <= MAX_BYTES + 100);
    }
}

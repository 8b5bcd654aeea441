//! The selector after the colon of a path: the lines to show, and whether to show them raw.

/// First and last line, counted from 1; without a last line the range extends to the end of the file.
pub type SelectedRange = (usize, Option<usize>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    /// Sorted and disjoint; empty for the whole file.
    pub ranges: Vec<SelectedRange>,
    /// The number of lines at the end of the file; `ranges` is empty then.
    pub tail: Option<usize>,
    pub raw: bool,
    /// `:md`: shows a web page as text.
    pub markdown: bool,
    /// `:conflicts`: lists unresolved merge conflicts instead of the text.
    pub conflicts: bool,
}

impl Selector {
    /// Converts the tail, if any, to a range of a file with `total` lines.
    pub fn of_total(mut self, total: usize) -> Self {
        if let Some(count) = self.tail.take() {
            self.ranges = vec![((total + 1).saturating_sub(count).max(1), None)];
        }
        self
    }
}

/// Splits `path:selector[:selector]`. Returns `None` if there is no selector, and an error if the selector is invalid.
pub fn split(typed: &str) -> Option<(&str, Result<Selector, String>)> {
    let typed = typed.trim().trim_matches(['"', '\'', '`']);
    let mut path = typed;
    let mut selector = Selector::default();
    let mut problem = None;
    while let Some((rest, part)) = path.rsplit_once(':') {
        match apply(part, &mut selector) {
            SelectorPart::Taken => {}
            SelectorPart::Wrong(reason) => problem = Some(reason),
            SelectorPart::NoSelector => break,
        }
        path = rest;
    }
    (path.len() < typed.len() && !path.is_empty()).then(|| (path, problem.map_or(Ok(selector), Err)))
}

enum SelectorPart {
    Taken,
    Wrong(String),
    NoSelector,
}

fn apply(part: &str, selector: &mut Selector) -> SelectorPart {
    if part == "raw" && !selector.raw {
        selector.raw = true;
        return SelectorPart::Taken;
    }
    if part == "md" && !selector.markdown {
        selector.markdown = true;
        return SelectorPart::Taken;
    }
    if part == "conflicts" && !selector.conflicts {
        selector.conflicts = true;
        return SelectorPart::Taken;
    }
    if selector.tail.is_some() {
        return SelectorPart::NoSelector;
    }
    if let Some(digits) = part.strip_prefix('-').filter(|_| selector.ranges.is_empty()) {
        return tail(part, digits, selector);
    }
    // GitHub writes `L40-L80`.
    let bare: String = part.split('L').collect();
    let looks_like_lines = bare.starts_with(|char: char| char.is_ascii_digit())
        && bare.chars().all(|char| char.is_ascii_digit() || matches!(char, '-' | '+' | ','));
    if !looks_like_lines || !selector.ranges.is_empty() {
        return SelectorPart::NoSelector;
    }
    match bare.split(',').map(lines).collect::<Option<Vec<SelectedRange>>>() {
        Some(ranges) => {
            selector.ranges = in_order(ranges);
            SelectorPart::Taken
        }
        None => SelectorPart::Wrong(format!(
            "\":{part}\" is not a line range\nhint: use :40 (from line 40), :40-80 or :40+20, counted from 1"
        )),
    }
}

fn tail(part: &str, digits: &str, selector: &mut Selector) -> SelectorPart {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return SelectorPart::NoSelector;
    }
    selector.tail = digits.parse().ok().filter(|count| *count > 0);
    match selector.tail {
        Some(_) => SelectorPart::Taken,
        None => {
            SelectorPart::Wrong(format!("\":{part}\" is not a number of lines\nhint: :-50 shows the last 50 lines"))
        }
    }
}

/// Sorts ranges and merges those that touch.
fn in_order(mut ranges: Vec<SelectedRange>) -> Vec<SelectedRange> {
    ranges.sort_unstable_by_key(|(first, _)| *first);
    let mut apart: Vec<SelectedRange> = Vec::new();
    for (first, last) in ranges {
        match apart.last_mut() {
            Some((_, None)) => break,
            Some((_, Some(end))) if first <= end.saturating_add(1) => {
                let longer = last.map(|last| last.max(*end));
                if let Some(previous) = apart.last_mut() {
                    previous.1 = longer;
                }
            }
            _ => apart.push((first, last)),
        }
    }
    apart
}

fn lines(text: &str) -> Option<SelectedRange> {
    let number = |text: &str| text.parse::<usize>().ok().filter(|number| *number > 0);
    if let Some((first, last)) = text.split_once('-') {
        let (first, last) = (number(first)?, if last.is_empty() { None } else { Some(number(last)?) });
        return last.is_none_or(|last| last >= first).then_some((first, last));
    }
    if let Some((first, count)) = text.split_once('+') {
        let (first, count) = (number(first)?, number(count)?);
        return Some((first, Some(first.saturating_add(count - 1))));
    }
    number(text).map(|first| (first, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(typed: &str, want: &str) {
        let got = match split(typed) {
            None => "none".to_owned(),
            Some((path, Ok(it))) => {
                let end = |last: Option<usize>| last.map_or(String::new(), |n| n.to_string());
                let ranges: Vec<String> =
                    it.ranges.iter().map(|(first, last)| format!("{first}..{}", end(*last))).collect();
                let tail = it.tail.map_or(String::new(), |count| format!("last {count}"));
                let marks = [(it.raw, " raw"), (it.markdown, " md"), (it.conflicts, " conflicts")];
                let marks: String = marks.iter().filter(|(on, _)| *on).map(|(_, mark)| *mark).collect();
                format!("{path} {}{tail}{marks}", ranges.join(" "))
            }
            Some((path, Err(_))) => format!("{path} wrong"),
        };
        assert_eq!(got, want, "{typed:?}");
    }

    #[test]
    fn selectors() {
        check("a.rs", "none");
        check("a.rs:40", "a.rs 40..");
        check("a.rs:40-80", "a.rs 40..80");
        check("a.rs:40-", "a.rs 40..");
        check("a.rs:40+20", "a.rs 40..59");
        check("a.rs:L40-L80", "a.rs 40..80");
        check("a.rs:raw", "a.rs  raw");
        check("a.rs:5-16,960-973", "a.rs 5..16 960..973");
        check("a.rs:9-12,1+3,4,20", "a.rs 1..");
        check("a.rs:1-5,3-9,10-11", "a.rs 1..11");
        check("a.rs:8-9,1-2:raw", "a.rs 1..2 8..9 raw");
        check("a.rs:1,,2", "a.rs wrong");
        check("a.rs:40-80:raw", "a.rs 40..80 raw");
        check("a.rs:raw:40+1", "a.rs 40..40 raw");
        check("\"a b.rs:4\"", "a b.rs 4..");
        check("a.rs:80-40", "a.rs wrong");
        check("a.rs:0", "a.rs wrong");
        check("a.rs:1+0", "a.rs wrong");
        check("a.rs:1-2-3", "a.rs wrong");
        check("a.rs:99999999999999999999", "a.rs wrong");
        check("a.rs:name", "none");
        check("a:b.rs:3", "a:b.rs 3..");
        check("C:/x.rs", "none");
        check("a.rs:1:2:3", "a.rs:1:2 3..");
        check(":5", "none");
        check("a.log:-50", "a.log last 50");
        check("a.log:-50:raw", "a.log last 50 raw");
        check("a.log:raw:-5", "a.log last 5 raw");
        check("a.log:-0", "a.log wrong");
        check("a.log:-99999999999999999999", "a.log wrong");
        check("a.log:-", "none");
        check("a.log:-x", "none");
        check("a.log:-5:1-2", "a.log:-5 1..2");
        check("a.log:1-2:-5", "a.log:1-2 last 5");
        check("a.html:md", "a.html  md");
        check("a.html:1-9:md", "a.html 1..9 md");
        check("a.html:md:md", "a.html:md  md");
        check("a.rs:conflicts", "a.rs  conflicts");
    }
}

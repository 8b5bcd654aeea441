//! Changes one item of a list; the others keep their lines and comments.

use serde_json::Value;

use super::{FIX_THE_FILE, Problem, block, expected, explain, parse};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListChange<'a> {
    Add(&'a str),
    Remove(&'a str),
}

/// Returns the text with the changed list, verified by parsing it.
pub(super) fn changed(text: &str, key: &str, change: ListChange<'_>) -> Result<String, Problem> {
    let old = parse(text).map_err(|problem| (problem, FIX_THE_FILE))?;
    let path: Vec<&str> = if old.get(key).is_some() { vec![key] } else { key.split('.').collect() };
    let mut items = match path.iter().try_fold(&old, |value, part| value.get(part)) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items.clone(),
        Some(_) => return Err((format!("`{key}` is not a list"), "make it a list in an editor")),
    };
    let by_line = match change {
        ListChange::Add(item) if items.iter().any(|known| known == item) => return Ok(text.to_owned()),
        ListChange::Remove(item) if !items.iter().any(|known| known == item) => return Ok(text.to_owned()),
        ListChange::Add(item) => {
            let begun = match items.is_empty() {
                true => block::set(text, &path, &Value::Array(Vec::new())).map_err(explain)?,
                false => text.to_owned(),
            };
            items.push(Value::from(item));
            block::push_item(&begun, &path, item)
        }
        ListChange::Remove(item) => {
            items.retain(|known| known != item);
            block::remove_item(text, &path, item)
        }
    };
    let wanted = expected(old, &path, &Value::Array(items.clone()));
    let says_it = |text: &String| parse(text).is_ok_and(|read| read == wanted);
    if let Some(new) = by_line.map_err(explain)?.filter(says_it) {
        return Ok(new);
    }
    let new = block::set(text, &path, &Value::Array(items)).map_err(explain)?;
    match says_it(&new) {
        true => Ok(new),
        false => Err(("omp cannot change a file of this format safely".to_owned(), "change it in an editor")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, change: ListChange<'_>, after: &str) {
        assert_eq!(changed(before, "tools.allow", change).unwrap(), after);
    }

    #[test]
    fn an_item_is_a_line() {
        use ListChange::{Add, Remove};
        let one = "tools:\n  allow:\n    - \"bash(ls *)\"\n";
        check("", Add("bash(ls *)"), one);
        check("a: 1 # x\n", Add("read"), "a: 1 # x\ntools:\n  allow:\n    - read\n");
        check(
            "tools:\n  approvalMode: write # mine\n",
            Add("read"),
            "tools:\n  approvalMode: write # mine\n  allow:\n    - read\n",
        );
        check(one, Add("bash(ls *)"), one);
        let with_comments = "tools:\n  allow: # why\n    # first\n    - a # one\n    - b\n  deny: [x]\n";
        check(
            with_comments,
            Add("c"),
            "tools:\n  allow: # why\n    # first\n    - a # one\n    - b\n    - c\n  deny: [x]\n",
        );
        check(with_comments, Remove("b"), "tools:\n  allow: # why\n    # first\n    - a # one\n  deny: [x]\n");
        check(with_comments, Remove("z"), with_comments);
        check(one, Remove("bash(ls *)"), "tools:\n  allow: []\n");
        check("tools:\n  allow: []\n", Add("a"), "tools:\n  allow:\n    - a\n");
        check("tools:\n  allow: [a, b]\n", Add("c"), "tools:\n  allow: [\"a\",\"b\",\"c\"]\n");
        check("tools:\n  allow: [a, b]\n", Remove("a"), "tools:\n  allow: [\"b\"]\n");
        check("tools:\n  allow:\n  - a", Add("b"), "tools:\n  allow:\n  - a\n  - b\n");
        check("tools.allow: [a]\n", Add("b"), "tools.allow: [\"a\",\"b\"]\n");
    }

    #[test]
    fn what_cannot_be_changed_is_refused() {
        for text in ["{tools: {allow: [a]}}\n", "tools:\n  allow: x\n", "tools: [\n", "tools:\n  allow: &x [a]\n"] {
            assert!(changed(text, "tools.allow", ListChange::Add("b")).is_err(), "{text}");
        }
    }
}

//! A small subset of jq to query JSON: `.a.b[0]`, `.items[].name`, `.["odd key"]`.

use omp_stdx::percent::decoded;
use serde_json::Value;

/// Limits the results shown; further results are counted.
const MAX_RESULTS: usize = 10_000;
const MAX_STEPS: usize = 64;
/// Limits the keys named in an error.
const MAX_KEYS: usize = 30;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryStep {
    Key(String),
    /// Counts from the end if negative.
    Index(i64),
    /// All elements of an array, or all values of an object.
    Each,
    /// A segment of an address: a key, or an index if applied to an array.
    Part(String),
}

/// Extracts the query from the part of an address after `?`.
pub fn query_of(query: &str) -> Result<String, String> {
    let text = query.strip_prefix("q=").ok_or_else(|| format!("?{query} is not understood\nhint: use ?q=.a.b[0]"))?;
    if text.trim().is_empty() { Err("?q= is empty\nhint: use ?q=.a.b[0]".to_owned()) } else { Ok(decoded(text)) }
}

/// Parses a path such as `findings/0/path`.
pub fn from_path(path: &str) -> Vec<QueryStep> {
    path.split('/').filter(|part| !part.is_empty()).map(|part| QueryStep::Part(decoded(part))).collect()
}

pub fn parse(query: &str) -> Result<Vec<QueryStep>, String> {
    let mut steps = Vec::new();
    let mut rest = query.trim();
    while !rest.is_empty() {
        if steps.len() == MAX_STEPS {
            return Err(format!("Invalid query: more than {MAX_STEPS} steps in {query}"));
        }
        if let Some(after) = rest.strip_prefix('[') {
            let (step, after) = bracket(after, query)?;
            steps.push(step);
            rest = after;
            continue;
        }
        let after = rest.strip_prefix('.');
        let key = after.unwrap_or(rest);
        // `.[0]` means `[0]`, and a lone dot means the whole value.
        if after.is_some() && (key.starts_with('[') || (key.is_empty() && steps.is_empty())) {
            rest = key;
            continue;
        }
        let (step, left) = match key.strip_prefix('"') {
            Some(quoted) => quoted_key(quoted, '"', query)?,
            None => plain_key(key, query)?,
        };
        if after.is_none() && !steps.is_empty() {
            return Err(unexpected(rest, query));
        }
        steps.push(step);
        rest = left;
    }
    Ok(steps)
}

fn bracket<'a>(after: &'a str, query: &str) -> Result<(QueryStep, &'a str), String> {
    let missing = || format!("Invalid query: missing ] in {query}");
    if let Some(quote) = after.chars().next().filter(|char| matches!(char, '"' | '\'')) {
        let (step, left) = quoted_key(&after[1..], quote, query)?;
        return Ok((step, left.strip_prefix(']').ok_or_else(missing)?));
    }
    let (inner, left) = after.split_once(']').ok_or_else(missing)?;
    let step = match inner.trim() {
        "" => QueryStep::Each,
        number => QueryStep::Index(number.parse().map_err(|_| unexpected(inner, query))?),
    };
    Ok((step, left))
}

fn quoted_key<'a>(after: &'a str, quote: char, query: &str) -> Result<(QueryStep, &'a str), String> {
    let mut key = String::new();
    let mut chars = after.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => key.extend(chars.next().map(|(_, char)| char)),
            end if end == quote => return Ok((QueryStep::Key(key), &after[at + 1..])),
            other => key.push(other),
        }
    }
    Err(format!("Invalid query: missing {quote} in {query}"))
}

fn plain_key<'a>(text: &'a str, query: &str) -> Result<(QueryStep, &'a str), String> {
    let fits = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-' | '$' | '@');
    let end = text.find(|char| !fits(char)).unwrap_or(text.len());
    if end == 0 {
        return Err(unexpected(text, query));
    }
    Ok((QueryStep::Key(text[..end].to_owned()), &text[end..]))
}

fn unexpected(rest: &str, query: &str) -> String {
    match rest.chars().next() {
        Some(char) => format!("Invalid query: unexpected token '{char}' in {query}"),
        None => format!("Invalid query: unexpected end of {query}"),
    }
}

/// Returns the results of the steps: a single result formatted for reading, several results one per line.
pub fn extract(text: &str, steps: &[QueryStep], name: &str) -> Result<String, String> {
    let root: Value =
        serde_json::from_str(text).map_err(|error| format!("Output {name} is not valid JSON: {error}"))?;
    let mut found = vec![&root];
    let mut many = false;
    for step in steps {
        many |= *step == QueryStep::Each;
        let mut next = Vec::new();
        for value in found {
            apply(step, value, many, &mut next)?;
        }
        found = next;
    }
    match (found.as_slice(), many) {
        ([Value::String(text)], false) => Ok(text.clone()),
        ([one], false) => serde_json::to_string_pretty(one).map_err(|error| error.to_string()),
        (results, _) => {
            let mut lines: Vec<String> = results.iter().take(MAX_RESULTS).map(ToString::to_string).collect();
            if results.len() > MAX_RESULTS {
                lines.push(format!("({} more results are not shown)", results.len() - MAX_RESULTS));
            }
            if lines.is_empty() {
                lines.push("(no results)".to_owned());
            }
            Ok(lines.join("\n"))
        }
    }
}

/// A missing value is an error for a single result, but `null` among many, so that positions stay comparable.
fn apply<'a>(step: &QueryStep, value: &'a Value, many: bool, next: &mut Vec<&'a Value>) -> Result<(), String> {
    let found = match (step, value) {
        (QueryStep::Each, Value::Array(items)) => {
            next.extend(items);
            return Ok(());
        }
        (QueryStep::Each, Value::Object(fields)) => {
            next.extend(fields.values());
            return Ok(());
        }
        (QueryStep::Key(key) | QueryStep::Part(key), Value::Object(fields)) => fields.get(key),
        (QueryStep::Index(index), Value::Array(items)) => item(items, *index),
        (QueryStep::Part(index), Value::Array(items)) => index.parse().ok().and_then(|index| item(items, index)),
        _ => None,
    };
    match found {
        Some(value) => next.push(value),
        None if many => next.push(&Value::Null),
        None => return Err(absent(step, value)),
    }
    Ok(())
}

fn item(items: &[Value], index: i64) -> Option<&Value> {
    let from_end = || items.len().checked_sub(usize::try_from(index.unsigned_abs()).ok()?);
    let place = if index < 0 { from_end()? } else { usize::try_from(index).ok()? };
    items.get(place)
}

fn absent(step: &QueryStep, value: &Value) -> String {
    let step = match step {
        QueryStep::Key(key) | QueryStep::Part(key) => format!("\"{key}\""),
        QueryStep::Index(index) => format!("[{index}]"),
        QueryStep::Each => "[]".to_owned(),
    };
    let there = match value {
        Value::Object(fields) => {
            let keys: Vec<&str> = fields.keys().take(MAX_KEYS).map(String::as_str).collect();
            let more =
                if fields.len() > MAX_KEYS { format!(" and {} more", fields.len() - MAX_KEYS) } else { String::new() };
            format!("an object with the keys {}{more}", keys.join(", "))
        }
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::String(_) => "a string".to_owned(),
        Value::Number(_) => "a number".to_owned(),
        Value::Bool(_) => "true or false".to_owned(),
        Value::Null => "null".to_owned(),
    };
    format!("{step} does not exist: this is {there}")
}

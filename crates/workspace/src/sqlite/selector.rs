//! Parses which part of a database is requested.

use super::SqliteError;

const DEFAULT_LIMIT: u32 = 20;
const MAX_LIMIT: u32 = 500;
const PARAMETERS: [&str; 5] = ["where", "order", "limit", "offset", "q"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SqliteSelector {
    /// All tables with their row counts.
    Tables,
    /// A table's schema and first rows.
    Table(String),
    /// One row by its key.
    Row {
        table: String,
        key: String,
    },
    Rows(RowQuery),
    /// A `SELECT` statement.
    Select(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowQuery {
    pub table: String,
    pub filter: Option<String>,
    pub order: Option<String>,
    pub limit: u32,
    pub offset: u32,
}

impl SqliteSelector {
    /// Parses the parts of an address after the colon and after the `?`.
    pub fn parse(rows: &str, query: Option<&str>) -> Result<Self, SqliteError> {
        let mut values = parameters(query.unwrap_or_default())?;
        let (table, key) = match rows.split_once(':') {
            Some((table, key)) => (table, Some(key)),
            None => (rows, None),
        };
        if let Some(sql) = values.take("q") {
            let alone = rows.is_empty() && values.0.is_empty();
            let sql = sql.trim();
            return match () {
                () if !alone => wrong("SQLite raw queries cannot be combined with table selectors or pagination"),
                () if sql.is_empty() => wrong("SQLite query parameter 'q' cannot be empty"),
                () => Ok(Self::Select(sql.into())),
            };
        }
        match (table, key) {
            ("", None) if values.0.is_empty() => Ok(Self::Tables),
            ("", None) => wrong("SQLite query parameters require a table selector or q=SELECT..."),
            ("", Some(_)) => wrong("SQLite selectors must include a table name"),
            (table, None | Some("")) if values.0.is_empty() => Ok(Self::Table(table.into())),
            (table, None | Some("")) => values.row_query(table).map(Self::Rows),
            (table, Some(key)) if values.0.is_empty() => Ok(Self::Row { table: table.into(), key: key.into() }),
            _ => wrong("SQLite row lookups cannot be combined with query parameters"),
        }
    }
}

struct Parameters(Vec<(&'static str, String)>);

impl Parameters {
    fn take(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().rposition(|(known, _)| *known == name)?;
        Some(self.0.remove(at).1)
    }

    fn row_query(mut self, table: &str) -> Result<RowQuery, SqliteError> {
        let number = |value: Option<String>, default: u32, what: &str, least: u32| match value {
            None => Ok(default),
            Some(value) => match value.trim().parse::<u32>() {
                Ok(number) if number >= least => Ok(number),
                _ => wrong(format!("SQLite {what}; got '{value}'")),
            },
        };
        let limit = number(self.take("limit"), DEFAULT_LIMIT, "limit must be a positive integer", 1)?;
        Ok(RowQuery {
            table: table.into(),
            offset: number(self.take("offset"), 0, "offset must be a non-negative integer", 0)?,
            filter: self.take("where").filter(|filter| !filter.trim().is_empty()),
            order: self.take("order").filter(|order| !order.trim().is_empty()),
            limit: limit.min(MAX_LIMIT),
        })
    }
}

/// Parses parameters. A `&` separates two parameters only if a known name follows, because conditions may contain a `&`.
fn parameters(query: &str) -> Result<Parameters, SqliteError> {
    let mut found = Vec::new();
    let mut rest = query;
    while !rest.is_empty() {
        let Some(name) = known_name(rest) else {
            let name = rest.split(['=', '&']).next().unwrap_or(rest);
            return wrong(format!("Unsupported SQLite query parameter '{name}'"));
        };
        let value = &rest[name.len() + 1..];
        let next = value.match_indices('&').find(|(at, _)| known_name(&value[at + 1..]).is_some());
        let (value, after) = next.map_or((value, ""), |(at, _)| (&value[..at], &value[at + 1..]));
        found.push((name, percent_decoded(value)));
        rest = after;
    }
    Ok(Parameters(found))
}

fn known_name(text: &str) -> Option<&'static str> {
    PARAMETERS.into_iter().find(|name| text.strip_prefix(name).is_some_and(|rest| rest.starts_with('=')))
}

/// Decodes `%20` and the like; a `%` that is not followed by two hex digits is literal (`LIKE 'a%'`).
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let value = hex.filter(|hex| hex.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match value.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(value) if *first == b'%' => {
                bytes.push(value);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

fn wrong<T>(text: impl Into<String>) -> Result<T, SqliteError> {
    Err(SqliteError::Selector(text.into()))
}

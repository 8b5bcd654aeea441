//! Inserts, updates or deletes one row. Values are bound, names come from the schema.

use std::path::Path;
use std::time::Duration;

use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, OpenFlags, params_from_iter};
use serde_json::{Map, Value};

use super::schema::SqlTable;
use super::{BUSY_MILLISECONDS, SqliteError, quoted};
use crate::open::open_regular;

/// The write that was done, with names for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowWrite {
    pub text: String,
    /// False if no row has the key.
    pub changed: bool,
}

/// Writes to `table` or `table:key`. Blank content deletes the row with that key. `path` must not contain links: none is
/// followed.
pub fn write_row(path: &Path, shown: &str, rows: &str, content: &str) -> Result<RowWrite, SqliteError> {
    let (table, key) = target(rows)?;
    let blank = content.trim().is_empty();
    if blank && key.is_none() {
        return Err(SqliteError::DeleteWithoutKey);
    }
    let values = if blank { Map::new() } else { parse(content)? };
    let db = open_to_write(path, shown)?;
    let table = SqlTable::find(&db, table)?;
    match key {
        None => insert(&db, &table, values),
        Some(key) if blank => delete(&db, &table, key),
        Some(key) => update(&db, &table, key, values),
    }
}

fn target(rows: &str) -> Result<(&str, Option<&str>), SqliteError> {
    match rows.split_once(':') {
        _ if rows.contains('?') => Err(SqliteError::QueryInWrite),
        Some((table, _)) if table.trim().is_empty() => Err(SqliteError::NoTableNamed),
        None if rows.trim().is_empty() => Err(SqliteError::NoTableNamed),
        Some((_, key)) if key.trim().is_empty() => Err(SqliteError::EmptyKey),
        Some((table, key)) => Ok((table, Some(key))),
        None => Ok((rows, None)),
    }
}

fn parse(content: &str) -> Result<Map<String, Value>, SqliteError> {
    match json5::from_str(content) {
        Ok(Value::Object(values)) => Ok(values),
        Ok(_) => Err(SqliteError::NotObject),
        Err(error) => Err(SqliteError::NotJson(error.to_string())),
    }
}

fn open_to_write(path: &Path, shown: &str) -> Result<Connection, SqliteError> {
    match open_regular(path) {
        Err(error) if error.is_not_found() => return Err(SqliteError::NoDatabase(shown.into())),
        opened => drop(opened.map_err(|error| error.shown_as(shown))?),
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(Duration::from_millis(BUSY_MILLISECONDS))?;
    db.execute_batch("PRAGMA trusted_schema = OFF;")?;
    Ok(db)
}

fn insert(db: &Connection, table: &SqlTable, values: Map<String, Value>) -> Result<RowWrite, SqliteError> {
    let (names, values) = columns(table, values)?;
    let into = quoted(&table.name);
    let sql = if names.is_empty() {
        format!("INSERT INTO {into} DEFAULT VALUES")
    } else {
        let places = vec!["?"; names.len()].join(", ");
        format!("INSERT INTO {into} ({}) VALUES ({places})", names.join(", "))
    };
    db.execute(&sql, params_from_iter(values))?;
    Ok(RowWrite { text: format!("Inserted row into {}", table.name), changed: true })
}

fn update(db: &Connection, table: &SqlTable, key: &str, values: Map<String, Value>) -> Result<RowWrite, SqliteError> {
    let found_by = table.row_key(db)?;
    let (names, mut values) = columns(table, values)?;
    if names.is_empty() {
        return Err(SqliteError::NothingToSet);
    }
    let set: Vec<String> = names.iter().map(|name| format!("{name} = ?")).collect();
    let sql = format!("UPDATE {} SET {} WHERE {} = ?", quoted(&table.name), set.join(", "), found_by.sql());
    values.push(found_by.value(key)?);
    let changed = db.execute(&sql, params_from_iter(values))? > 0;
    let text = match changed {
        true => format!("Updated row '{key}' in {}", table.name),
        false => format!("No row updated in {} for key '{key}'", table.name),
    };
    Ok(RowWrite { text, changed })
}

fn delete(db: &Connection, table: &SqlTable, key: &str) -> Result<RowWrite, SqliteError> {
    let found_by = table.row_key(db)?;
    let sql = format!("DELETE FROM {} WHERE {} = ?", quoted(&table.name), found_by.sql());
    let changed = db.execute(&sql, [found_by.value(key)?])? > 0;
    let text = match changed {
        true => format!("Deleted row '{key}' from {}", table.name),
        false => format!("No row deleted from {} for key '{key}'", table.name),
    };
    Ok(RowWrite { text, changed })
}

/// Returns quoted column names and their values.
fn columns(table: &SqlTable, values: Map<String, Value>) -> Result<(Vec<String>, Vec<SqlValue>), SqliteError> {
    let mut names = Vec::with_capacity(values.len());
    let mut bound = Vec::with_capacity(values.len());
    for (name, value) in values {
        names.push(quoted(&table.column(&name)?.name));
        bound.push(scalar(&name, value)?);
    }
    Ok((names, bound))
}

fn scalar(column: &str, value: Value) -> Result<SqlValue, SqliteError> {
    Ok(match value {
        Value::Null => SqlValue::Null,
        Value::Bool(flag) => SqlValue::Integer(flag.into()),
        Value::String(text) => SqlValue::Text(text),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => SqlValue::Integer(integer),
            (None, Some(real)) => SqlValue::Real(real),
            (None, None) => return Err(SqliteError::NotScalar(column.into())),
        },
        Value::Array(_) | Value::Object(_) => return Err(SqliteError::NotScalar(column.into())),
    })
}

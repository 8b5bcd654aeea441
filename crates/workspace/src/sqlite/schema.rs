//! Schema of a table.

use rusqlite::{Connection, OptionalExtension};

use super::{SqliteError, quoted};

pub struct SqlTable {
    /// The name as the database spells it.
    pub name: String,
    pub is_view: bool,
    pub sql: String,
    pub columns: Vec<Column>,
}

pub struct Column {
    pub name: String,
    pub declared: String,
    /// Position in the primary key, 0 for none.
    pub key: i64,
}

/// How a single row is identified.
pub enum RowKey {
    /// A primary key column, and whether it has no declared type.
    Column { name: String, untyped: bool },
    /// The hidden row ID, under a name that no column uses.
    RowId(&'static str),
}

/// Returns the user's tables and views, sorted.
pub fn names(db: &Connection) -> Result<Vec<(String, bool)>, SqliteError> {
    let sql = "SELECT name, type = 'view' FROM sqlite_master WHERE type IN ('table', 'view') \
               AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
    let mut statement = db.prepare(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

impl SqlTable {
    pub fn find(db: &Connection, wanted: &str) -> Result<Self, SqliteError> {
        let known = names(db)?;
        let Some((name, is_view)) = known.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted)) else {
            return Err(SqliteError::NoTable(wanted.into(), tables_hint(&known)));
        };
        let sql: Option<Option<String>> =
            db.query_row("SELECT sql FROM sqlite_master WHERE name = ?1", [name], |row| row.get(0)).optional()?;
        let mut statement = db.prepare(&format!("PRAGMA table_info({})", quoted(name)))?;
        let column = |row: &rusqlite::Row<'_>| {
            Ok(Column {
                name: row.get(1)?,
                declared: row.get::<_, Option<String>>(2)?.unwrap_or_default(),
                key: row.get(5)?,
            })
        };
        let columns = statement.query_map([], column)?.collect::<Result<_, _>>()?;
        Ok(Self { name: name.clone(), is_view: *is_view, sql: sql.flatten().unwrap_or_default(), columns })
    }

    pub fn column(&self, wanted: &str) -> Result<&Column, SqliteError> {
        self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(wanted)).ok_or_else(|| {
            let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
            SqliteError::NoColumn(self.name.clone(), wanted.into(), names.join(", "))
        })
    }

    pub fn row_key(&self, db: &Connection) -> Result<RowKey, SqliteError> {
        let mut keys = self.columns.iter().filter(|column| column.key > 0);
        match (keys.next(), keys.next()) {
            (Some(only), None) => {
                return Ok(RowKey::Column { name: only.name.clone(), untyped: only.declared.is_empty() });
            }
            (Some(_), Some(_)) => return Err(SqliteError::CompositeKey(self.name.clone())),
            (None, _) => {}
        }
        let taken = |name: &&str| self.columns.iter().any(|column| column.name.eq_ignore_ascii_case(name));
        let free = ["rowid", "_rowid_", "oid"].into_iter().find(|name| !taken(name));
        let usable = |name: &&str| {
            // Views and virtual tables may have no row ID.
            !self.is_view && db.prepare(&format!("SELECT {name} FROM {} LIMIT 0", quoted(&self.name))).is_ok()
        };
        free.filter(usable).map(RowKey::RowId).ok_or_else(|| SqliteError::NoRowId(self.name.clone()))
    }
}

impl RowKey {
    /// Returns the column as it is written in a statement.
    pub fn sql(&self) -> String {
        match self {
            RowKey::Column { name, .. } => quoted(name),
            RowKey::RowId(name) => (*name).into(),
        }
    }

    /// Converts a typed key to the value to compare with.
    pub fn value(&self, key: &str) -> Result<rusqlite::types::Value, SqliteError> {
        let integer = key.trim().parse::<i64>();
        match (self, integer) {
            (RowKey::RowId(_), Ok(number)) => Ok(number.into()),
            (RowKey::RowId(_), Err(_)) => Err(SqliteError::RowIdNotInteger(key.into())),
            // If the column has a type, SQLite converts the text itself.
            (RowKey::Column { untyped: true, .. }, Ok(number)) => Ok(number.into()),
            (RowKey::Column { .. }, _) => Ok(key.to_owned().into()),
        }
    }
}

fn tables_hint(known: &[(String, bool)]) -> String {
    if known.is_empty() {
        return "; the database has no tables".into();
    }
    let names: Vec<&str> = known.iter().take(20).map(|(name, _)| name.as_str()).collect();
    let more = if known.len() > 20 { ", …" } else { "" };
    format!("\nhint: there are {}{more}", names.join(", "))
}

impl From<rusqlite::Error> for SqliteError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::OperationInterrupted) => SqliteError::TooSlow,
            Some(rusqlite::ErrorCode::AuthorizationForStatementDenied) => SqliteError::NotAllowed,
            _ => SqliteError::Sqlite(error),
        }
    }
}

//! Reads two columns of a table as texts, for programs that store names with values; with the protections of
//! [`super::look()`].

use std::path::Path;

use super::SqliteError;
use super::look::open_to_read;
use super::quoted;
use super::schema::{SqlTable, names};

/// Row limit, above anything that a person would have set.
const MAX_ROWS: usize = 4096;
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Returns two columns of the rows of `table`. Returns `None` if there is no such table or it has other columns; rows with
/// values that are not text are left out.
pub fn stored_texts(path: &Path, table: &str, columns: [&str; 2]) -> Result<Option<Vec<[String; 2]>>, SqliteError> {
    let opened = open_to_read(path, || false)?;
    let db = &opened.db;
    if !names(db)?.iter().any(|(name, _)| name.eq_ignore_ascii_case(table)) {
        return Ok(None);
    }
    let table = SqlTable::find(db, table)?;
    if columns.iter().any(|column| table.column(column).is_err()) {
        return Ok(None);
    }
    let [first, second] = columns.map(quoted);
    // Values that are too long are not fetched.
    let sql = format!(
        "SELECT CAST({first} AS TEXT), {second} FROM {} WHERE typeof({second}) = 'text' \
         AND length({first}) <= {MAX_BYTES} AND length({second}) <= {MAX_BYTES} ORDER BY 1 LIMIT {MAX_ROWS}",
        quoted(&table.name)
    );
    let mut statement = db.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    let mut room = MAX_BYTES;
    while let Some(row) = rows.next()? {
        let pair: [String; 2] = [row.get(0)?, row.get(1)?];
        let Some(left) = room.checked_sub(pair[0].len() + pair[1].len()) else { break };
        room = left;
        found.push(pair);
    }
    Ok(Some(found))
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[track_caller]
    fn check(sql: &str, columns: [&str; 2], expect: Option<&[[&str; 2]]>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.db");
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let before = std::fs::read(&path).unwrap();
        let found = stored_texts(&path, "settings", columns).unwrap();
        let expect = expect.map(|rows| rows.iter().map(|row| row.map(str::to_owned)).collect::<Vec<_>>());
        assert_eq!(found, expect, "{sql}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing lies beside it");
    }

    #[test]
    fn names_with_values_are_read() {
        let table = "CREATE TABLE settings (key TEXT PRIMARY KEY, value TEXT);";
        check("CREATE TABLE other (key, value);", ["key", "value"], None);
        check("CREATE TABLE settings (id INTEGER, data TEXT);", ["key", "value"], None);
        check(table, ["key", "value"], Some(&[]));
        check(
            &format!("{table} INSERT INTO settings VALUES ('b', '1'), ('a', x'00'), ('c', NULL), ('d', '{{}}');"),
            ["key", "value"],
            Some(&[["b", "1"], ["d", "{}"]]),
        );
        check(
            "CREATE TABLE Settings (id INTEGER, data TEXT); INSERT INTO settings VALUES (1, '{}');",
            ["id", "data"],
            Some(&[["1", "{}"]]),
        );
    }

    #[test]
    fn there_is_an_end_to_rows_and_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.db");
        let db = Connection::open(&path).unwrap();
        let count = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)";
        db.execute_batch(&format!(
            "CREATE TABLE settings (key, value); INSERT INTO settings {count} SELECT 'k' || i, 'v' FROM n;
             CREATE TABLE large (key, value); INSERT INTO large {count} SELECT i, printf('%.*c', 9000, 'x') FROM n;"
        ))
        .unwrap();
        drop(db);
        let rows = |table| stored_texts(&path, table, ["key", "value"]).unwrap().unwrap();
        assert_eq!(rows("settings").len(), MAX_ROWS);
        let bytes: usize = rows("large").iter().map(|[key, value]| key.len() + value.len()).sum();
        assert!((MAX_BYTES - 10_000..=MAX_BYTES).contains(&bytes), "{bytes}");
    }

    #[test]
    fn what_is_no_database_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.db");
        std::fs::write(&path, "no database, only a text that is long enough to be looked at as one").unwrap();
        assert!(stored_texts(&path, "settings", ["key", "value"]).is_err());
        assert!(stored_texts(folder.path(), "settings", ["key", "value"]).is_err());
    }
}

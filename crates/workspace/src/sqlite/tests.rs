//! Tests with a new database each: queries and their results.

use std::path::PathBuf;

use rusqlite::Connection;

use super::*;

struct Sample {
    folder: tempfile::TempDir,
}

impl Sample {
    fn new() -> Self {
        let sample = Self { folder: tempfile::tempdir().unwrap() };
        sample
            .db()
            .execute_batch(
                "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, age INT DEFAULT 7);
                 INSERT INTO users VALUES (1, 'Ada', 36), (2, 'Bo|b', NULL), (3, 'Cy', 99);
                 CREATE TABLE loose (a, b);
                 INSERT INTO loose VALUES (x'0102', 'line\nbreak');
                 CREATE TABLE pair (a INT, b INT, v TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID;
                 CREATE TABLE slugs (slug TEXT PRIMARY KEY, n) WITHOUT ROWID;
                 INSERT INTO slugs VALUES ('a:b', 1);
                 CREATE TABLE \"odd \"\" name\" (\"col \"\" umn\" TEXT, rowid TEXT);
                 CREATE VIEW grown AS SELECT * FROM users WHERE age > 40;",
            )
            .unwrap();
        sample
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("a.db")
    }

    fn db(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }

    fn look(&self, rows: &str, query: Option<&str>) -> String {
        let selector = SqliteSelector::parse(rows, query);
        match selector.and_then(|selector| look(&self.path(), &selector, || false)) {
            Ok(text) => text,
            Err(error) => format!("error: {error}"),
        }
    }

    fn write(&self, rows: &str, content: &str) -> String {
        match write_row(&self.path(), "a.db", rows, content) {
            Ok(done) => done.text,
            Err(error) => format!("error: {error}"),
        }
    }

    fn dump(&self, table: &str) -> String {
        self.look(table, Some("limit=50"))
    }
}

#[test]
fn files_are_known_by_their_magic() {
    let sample = Sample::new();
    assert!(is_sqlite(&sample.path()));
    let text = sample.folder.path().join("b.db");
    std::fs::write(&text, "not a database, whatever its name").unwrap();
    assert!(!is_sqlite(&text));
    assert!(!is_sqlite(sample.folder.path()));
}

#[test]
fn tables_schema_rows_and_single_rows() {
    let sample = Sample::new();
    insta::assert_snapshot!(sample.look("", None), @r#"
    grown (view, 1 row)
    loose (1 row)
    odd " name (0 rows)
    pair (0 rows)
    slugs (1 row)
    users (3 rows)
    "#);
    insta::assert_snapshot!(sample.look("USERS", None), @r"
    CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, age INT DEFAULT 7)

    Sample rows:
    | id | name | age |
    |---|---|---|
    | 1 | Ada | 36 |
    | 2 | Bo\|b | NULL |
    | 3 | Cy | 99 |
    ");
    insta::assert_snapshot!(sample.look("users", Some("where=age > 1 & 1&order=age:desc&limit=1")), @r"
    | id | name | age |
    |---|---|---|
    | 3 | Cy | 99 |
    [rows 1-1 of 2; 1 more with offset=1]
    ");
    insta::assert_snapshot!(sample.look("users", Some("where=name%20LIKE%20'A%'&offset=5")), @r"
    | id | name | age |
    |---|---|---|
    (no rows)
    [no rows of 1]
    ");
    insta::assert_snapshot!(sample.look("users:2", None), @r"
    id: 2
    name: Bo|b
    age: NULL
    ");
    insta::assert_snapshot!(sample.look("loose:1", None), @r"
    a: <blob, 2 bytes>
    b: line
    break
    [1 blobs not shown; hex(column) in ?q=SELECT … shows one]
    ");
    insta::assert_snapshot!(sample.look("slugs:a:b", None), @r"
    slug: a:b
    n: 1
    ");
    insta::assert_snapshot!(sample.look("users:9", None), @"No row found in users for key '9'");
    insta::assert_snapshot!(sample.look("", Some("q=SELECT count(*) AS n FROM users;")), @r"
    | n |
    |---|
    | 3 |
    ");
}

#[test]
fn long_values_and_many_rows_are_cut_with_a_notice() {
    let sample = Sample::new();
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)";
    sample
        .db()
        .execute_batch(&format!("CREATE TABLE big AS {numbers} SELECT i, printf('%0500d', i) AS t FROM n"))
        .unwrap();
    let text = sample.look("big", None);
    assert!(
        text.contains("… (+380 characters)")
            && text.ends_with("[5 long values shortened; read one row by its key to see more]"),
        "{text}"
    );
    assert!(sample.look("big", Some("limit=9999")).contains("[stopped after "));
    assert!(text.contains("Sample rows (5 of 3000; ?limit=20 shows more):"), "{text}");
    let wide = sample.look("", Some("q=SELECT t FROM big"));
    assert!(wide.contains("[stopped after ") && !wide.contains("only the first"), "{wide}");
    sample.db().execute_batch("UPDATE big SET t = printf('%09000d', 7) WHERE i = 1").unwrap();
    let note = "[1 long values cut; substr(column, 4001, 4000) in ?q=SELECT … shows what follows]";
    let row = sample.look("big:1", None);
    assert!(row.contains("… (+5000 characters)") && row.ends_with(note), "{row}");
    let rest = sample.look("", Some("q=SELECT substr(t, 4001, 5000) AS rest FROM big WHERE i = 1"));
    assert!(rest.starts_with("rest: 0000") && rest.ends_with(note), "{rest}");
    let rest = sample.look("", Some("q=SELECT substr(t, 5001, 4000) AS rest FROM big WHERE i = 1"));
    assert!(rest.starts_with("rest: 0000") && rest.ends_with("0007"), "{rest}");
    assert!(sample.look("", Some("q=SELECT i FROM big")).ends_with("[only the first 1000 rows; add a LIMIT clause]"));
}

#[test]
fn reading_cannot_change_or_leave_the_database() {
    let sample = Sample::new();
    let other = sample.folder.path().join("other.db");
    let before = std::fs::read(sample.path()).unwrap();
    for sql in [
        "DELETE FROM users".to_owned(),
        "DROP TABLE users".into(),
        "INSERT INTO users(name) VALUES ('x')".into(),
        format!("ATTACH '{}' AS o", other.display()),
        format!("VACUUM INTO '{}'", other.display()),
        "PRAGMA writable_schema = ON".into(),
        "PRAGMA journal_mode = DELETE".into(),
        "SELECT load_extension('x')".into(),
        "SELECT * FROM pragma_database_list".into(),
        "CREATE TEMP TABLE t (a)".into(),
    ] {
        let text = sample.look("", Some(&format!("q={sql}")));
        assert!(
            text.starts_with("error: the query would change")
                || text.contains("not authorized")
                || text.contains("no such function"),
            "{sql}: {text}"
        );
    }
    assert_eq!(std::fs::read(sample.path()).unwrap(), before);
    assert!(!other.exists());
}

#[test]
fn conditions_stay_conditions() {
    let sample = Sample::new();
    for (query, want) in [
        ("where=1) UNION SELECT 1,2,3 --", "error: the condition must not have an extra closing parenthesis"),
        ("where=1 -- x", "error: the condition must not have a comment"),
        ("where=1 /* x", "error: the condition must not have a comment"),
        ("where=1; DELETE FROM users", "error: the condition must not have a semicolon"),
        ("where=(1", "error: the condition must not have an unclosed parenthesis"),
        ("where=name = 'x", "error: the condition must not have an unclosed quote"),
        ("where=id = ?3", "error: the condition must not have parameters"),
        ("where=nonsense = 1", "error: SQLite: no such column"),
        ("where=id IN (SELECT max(id) FROM users)", "| id |"),
        ("where=name = ');--'", "| id |"),
        ("order=nope", "error: SQLite table 'users' has no column named 'nope'"),
        ("order=id:sideways", "error: SQLite order direction must be 'asc' or 'desc'; got 'sideways'"),
        ("order=id; DROP TABLE users", "error: SQLite "),
        ("limit=0", "error: SQLite limit must be a positive integer; got '0'"),
        ("offset=-1", "error: SQLite offset must be a non-negative integer; got '-1'"),
        ("colour=red", "error: Unsupported SQLite query parameter 'colour'"),
    ] {
        let text = sample.look("users", Some(query));
        assert!(text.starts_with(want), "{query}: {text}");
    }
    for (rows, query, want) in [
        ("users:1", Some("limit=1"), "error: SQLite row lookups cannot be combined"),
        ("", Some("limit=1"), "error: SQLite query parameters require a table"),
        ("users", Some("q=SELECT 1"), "error: SQLite raw queries cannot be combined"),
        ("", Some("q= "), "error: SQLite query parameter 'q' cannot be empty"),
        (":1", None, "error: SQLite selectors must include a table name"),
        ("nope", None, "error: SQLite table 'nope' not found\nhint: there are grown, loose"),
        ("sqlite_master", None, "error: SQLite table 'sqlite_master' not found"),
        ("pair:1", None, "error: SQLite table 'pair' has a composite primary key; use '?where=' instead"),
        ("grown:1", None, "error: SQLite table 'grown' does not expose ROWID"),
        ("loose:x", None, "error: SQLite ROWID must be an integer; got 'x'"),
    ] {
        let text = sample.look(rows, query);
        assert!(text.starts_with(want), "{rows} {query:?}: {text}");
    }
}

#[test]
fn what_never_ends_is_stopped() {
    let sample = Sample::new();
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let selector = SqliteSelector::Select(endless.into());
    assert!(matches!(look(&sample.path(), &selector, || true), Err(SqliteError::Cancelled)));
    let hungry = SqliteSelector::Select("SELECT length(hex(zeroblob(400000000)))".into());
    assert!(matches!(look(&sample.path(), &hungry, || false), Err(SqliteError::Sqlite(_))), "a gigabyte was given");
}

#[test]
fn rows_are_inserted_updated_and_deleted() {
    let sample = Sample::new();
    for (rows, content, want) in [
        ("users", "{name: 'Dee', age: true}", "Inserted row into users"),
        ("users", "{}", "Inserted row into users"),
        ("users:2", "{\"name\": \"x'); DROP TABLE users; --\", age: null}", "Updated row '2' in users"),
        ("users:77", "{age: 1}", "No row updated in users for key '77'"),
        ("users:1", " \n", "Deleted row '1' from users"),
        ("users:1", "", "No row deleted from users for key '1'"),
        ("slugs:a:b", "{n: 2.5}", "Updated row 'a:b' in slugs"),
        ("loose:1", "{a: 'text'}", "Updated row '1' in loose"),
        ("odd \" name", "{'col \" umn': 'v'}", "Inserted row into odd \" name"),
        ("odd \" name:1", "{rowid: 'w'}", "Updated row '1' in odd \" name"),
    ] {
        assert_eq!(sample.write(rows, content), want, "{rows}");
    }
    insta::assert_snapshot!(sample.dump("users"), @r"
    | id | name | age |
    |---|---|---|
    | 2 | x'); DROP TABLE users; -- | NULL |
    | 3 | Cy | 99 |
    | 4 | Dee | 1 |
    | 5 | NULL | 7 |
    [rows 1-4 of 4]
    ");
    assert!(sample.dump("odd \" name").contains("| v | w |"));
    assert!(sample.dump("slugs").contains("| a:b | 2.5 |"));
}

#[test]
fn writes_that_are_refused() {
    let sample = Sample::new();
    let before = std::fs::read(sample.path()).unwrap();
    for (rows, content, want) in [
        ("users?where=1", "{}", "SQLite write paths do not support query parameters"),
        ("", "{}", "SQLite write path must target a table"),
        (":1", "{}", "SQLite write path must target a table"),
        ("users:", "{age: 1}", "SQLite row writes require a non-empty row key"),
        ("users", "", "SQLite deletes require a row key in the path"),
        ("users", "{name: ", "SQLite write content must be valid JSON5: "),
        ("users", "[1]", "SQLite write content must be a JSON object"),
        ("users", "{nope: 1}", "SQLite table 'users' has no column named 'nope'"),
        ("users", "{name: [1]}", "SQLite column 'name' only accepts JSON scalar values or null"),
        ("users:1", "{}", "SQLite updates require at least one column value"),
        ("nope", "{}", "SQLite table 'nope' not found"),
        ("sqlite_master", "{}", "SQLite table 'sqlite_master' not found"),
        ("pair:1", "{v: 'x'}", "SQLite table 'pair' has a composite primary key; use '?where=' instead"),
        ("loose:abc", "{a: 1}", "SQLite ROWID must be an integer; got 'abc'"),
        ("users", "{id: 1}", "SQLite: UNIQUE constraint failed: users.id"),
        ("grown", "{name: 'x'}", "SQLite: cannot modify grown because it is a view"),
    ] {
        let text = sample.write(rows, content);
        assert!(text.starts_with(&format!("error: {want}")), "{rows}: {text}");
    }
    assert_eq!(std::fs::read(sample.path()).unwrap(), before);
    let missing = sample.folder.path().join("no.db");
    let error = write_row(&missing, "no.db", "t", "{}").unwrap_err().to_string();
    assert_eq!(error, "SQLite database 'no.db' not found");
    assert!(!missing.exists());
}

#[test]
fn conditions_cannot_write_attach_or_load() {
    let sample = Sample::new();
    let before = everything_in(sample.folder.path());
    let other = sample.folder.path().join("other.db");
    for condition in [
        "1) ; DELETE FROM users ; --".to_owned(),
        "1; ATTACH 'other.db' AS o".into(),
        format!("id IN (ATTACH '{}' AS o)", other.display()),
        format!("id IN (VACUUM INTO '{}')", other.display()),
        "id IN (DELETE FROM users RETURNING id)".into(),
        "id IN (INSERT INTO users(name) VALUES ('x') RETURNING id)".into(),
        "load_extension('/tmp/x.so')".into(),
        "id = load_extension('x', 'y')".into(),
        "writefile('other.db', 'x')".into(),
        "readfile('a.db') IS NOT NULL".into(),
        "fts3_tokenizer('simple') IS NOT NULL".into(),
        "id IN (SELECT 1 FROM pragma_database_list)".into(),
        "id IN (SELECT 1 FROM pragma_journal_mode('wal'))".into(),
        "id IN (SELECT 1 FROM pragma_writable_schema(1))".into(),
    ] {
        let text = sample.look("users", Some(&format!("where={condition}")));
        assert!(text.starts_with("error: "), "{condition}: {text}");
    }
    assert_eq!(everything_in(sample.folder.path()), before);
}

/// Returns names and contents of all files in a folder.
fn everything_in(folder: &Path) -> Vec<(std::ffi::OsString, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let mut files: Vec<_> = entries.map(|entry| (entry.file_name(), std::fs::read(entry.path()).unwrap())).collect();
    files.sort();
    files
}

/// Creates a database with a log, in which the row `logged` is only in the log. The returned connection keeps it open.
fn with_log(sample: &Sample) -> Connection {
    let db = sample.db();
    db.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; INSERT INTO users(name) VALUES ('logged');",
    )
    .unwrap();
    db
}

#[test]
fn a_log_that_was_put_away_is_not_made_again() {
    let sample = Sample::new();
    drop(with_log(&sample));
    let before = everything_in(sample.folder.path());
    assert_eq!(before.len(), 1, "the log is gone once nobody has the database open");
    assert!(sample.look("users", Some("limit=9")).contains("logged"));
    assert_eq!(everything_in(sample.folder.path()), before);
}

#[test]
fn a_log_that_is_in_use_is_read() {
    let sample = Sample::new();
    let db = with_log(&sample);
    let before = everything_in(sample.folder.path());
    assert_eq!(before.len(), 3);
    assert!(sample.look("users", Some("limit=9")).contains("logged"));
    let after = everything_in(sample.folder.path());
    let names = |files: &[(std::ffi::OsString, Vec<u8>)]| files.iter().map(|file| file.0.clone()).collect::<Vec<_>>();
    assert_eq!(names(&after), names(&before));
    // The index, between the two, is shared memory in which readers record how far they have read.
    assert_eq!((&after[0], &after[2]), (&before[0], &before[2]));
    drop(db);
}

/// A database as after a crash, or copied: with and without the index of the log.
#[test]
fn a_log_that_nobody_has_open_is_read_without_a_trace() {
    for endings in [&["", "-wal"][..], &["", "-wal", "-shm"]] {
        let sample = Sample::new();
        let db = with_log(&sample);
        let copy = Sample { folder: tempfile::tempdir().unwrap() };
        for ending in endings {
            let name = format!("a.db{ending}");
            std::fs::copy(sample.folder.path().join(&name), copy.folder.path().join(&name)).unwrap();
        }
        drop(db);
        let before = everything_in(copy.folder.path());
        let text = copy.look("users", Some("limit=9"));
        assert!(text.contains("logged"), "{endings:?}: {text}");
        assert_eq!(everything_in(copy.folder.path()), before, "{endings:?}");
    }
}

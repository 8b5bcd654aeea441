//! Reads a database. The connection is read-only, an authorizer refuses everything but reads, and a deadline stops long
//! statements.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::{Connection, Statement};

use super::open::{OpenedDatabase, open_unchanged};
use super::print::{self, SqlRows};
use super::schema::{SqlTable, names};
use super::selector::{RowQuery, SqliteSelector};
use super::{BUSY_MILLISECONDS, SqliteError, quoted};

/// Time limit for all statements of one call.
pub const DEADLINE: Duration = Duration::from_secs(5);
/// Rows are counted up to this number.
const COUNTED: u64 = 100_000;
const SAMPLE: u64 = 5;
const MAX_TABLES: usize = 500;
const MAX_SELECTED: usize = 1000;
/// Memory limit for SQLite in this process, because a statement can request a value of a gigabyte.
const MAX_HEAP: u64 = 256 * 1024 * 1024;
const OPERATIONS_BETWEEN_CHECKS: i32 = 1000;

/// Returns the result of the selector as text. `cancelled` is polled while statements run.
pub fn look(
    path: &Path,
    selector: &SqliteSelector,
    cancelled: impl Fn() -> bool + Send + 'static,
) -> Result<String, SqliteError> {
    let stopped = Arc::new(AtomicBool::new(false));
    let was_cancelled = stopped.clone();
    let cancelled = move || {
        let now = cancelled();
        stopped.fetch_or(now, Ordering::Relaxed);
        now
    };
    let opened = open_to_read(path, cancelled)?;
    let db = &opened.db;
    let text = match selector {
        SqliteSelector::Tables => tables(db),
        SqliteSelector::Table(table) => table_with_sample(db, table),
        SqliteSelector::Row { table, key } => row(db, table, key),
        SqliteSelector::Rows(query) => rows(db, query),
        SqliteSelector::Select(sql) => select(db, sql),
    };
    let text = text.map(|text| opened.note.iter().fold(text, |text, note| format!("{text}\n{note}")));
    match text {
        Err(SqliteError::TooSlow) if was_cancelled.load(Ordering::Relaxed) => Err(SqliteError::Cancelled),
        text => text,
    }
}

pub(super) fn open_to_read(
    path: &Path,
    cancelled: impl Fn() -> bool + Send + 'static,
) -> Result<OpenedDatabase, SqliteError> {
    let mut opened = open_unchanged(path)?;
    let db = &mut opened.db;
    db.busy_timeout(Duration::from_millis(BUSY_MILLISECONDS))?;
    db.execute_batch(&format!(
        "PRAGMA query_only = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; \
         PRAGMA hard_heap_limit = {MAX_HEAP};"
    ))?;
    db.authorizer(Some(only_reading))?;
    let end = Instant::now() + DEADLINE;
    db.progress_handler(OPERATIONS_BETWEEN_CHECKS, Some(move || Instant::now() > end || cancelled()))?;
    Ok(opened)
}

fn only_reading(asked: AuthContext<'_>) -> Authorization {
    let allowed = match asked.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => true,
        AuthAction::Function { function_name } => {
            !["load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"].contains(&function_name)
        }
        AuthAction::Pragma { pragma_name, .. } => pragma_name == "table_info",
        _ => false,
    };
    if allowed { Authorization::Allow } else { Authorization::Deny }
}

fn tables(db: &Connection) -> Result<String, SqliteError> {
    let names = names(db)?;
    if names.is_empty() {
        return Ok("(no tables)".into());
    }
    let mut lines = Vec::new();
    for (name, is_view) in names.iter().take(MAX_TABLES) {
        let what = if *is_view { "view, " } else { "" };
        let inner = format!("SELECT 1 FROM {} LIMIT {}", quoted(name), COUNTED + 1);
        let count = match counted(db, &inner) {
            Some(count) if count > COUNTED => format!("{COUNTED}+ rows"),
            Some(1) => "1 row".into(),
            Some(count) => format!("{count} rows"),
            None => "rows not counted".into(),
        };
        lines.push(format!("{name} ({what}{count})"));
    }
    if names.len() > MAX_TABLES {
        lines.push(format!("[{} more tables; ask for one by name]", names.len() - MAX_TABLES));
    }
    Ok(lines.join("\n"))
}

fn counted(db: &Connection, inner: &str) -> Option<u64> {
    db.query_row(&format!("SELECT COUNT(*) FROM ({inner})"), [], |row| row.get::<_, i64>(0)).ok().map(i64::unsigned_abs)
}

fn table_with_sample(db: &Connection, wanted: &str) -> Result<String, SqliteError> {
    let table = SqlTable::find(db, wanted)?;
    let mut statement = db.prepare(&format!("SELECT * FROM {} LIMIT {SAMPLE}", quoted(&table.name)))?;
    let sample = collect(&mut statement, MAX_SELECTED)?;
    let shown = sample.rows.len() as u64;
    let title = match counted(db, &format!("SELECT 1 FROM {} LIMIT {}", quoted(&table.name), COUNTED + 1)) {
        Some(total) if total > COUNTED => {
            format!("Sample rows ({shown} of more than {COUNTED}; ?limit=20 shows more):")
        }
        Some(total) if total > shown => format!("Sample rows ({shown} of {total}; ?limit=20 shows more):"),
        Some(_) => "Sample rows:".to_owned(),
        None => format!("Sample rows ({shown}; counting all took too long; ?limit=20 shows more):"),
    };
    Ok(format!("{}\n\n{title}\n{}", table.sql, print::table(&sample)))
}

fn row(db: &Connection, wanted: &str, key: &str) -> Result<String, SqliteError> {
    let table = SqlTable::find(db, wanted)?;
    let found_by = table.row_key(db)?;
    let sql = format!("SELECT * FROM {} WHERE {} = ?1 LIMIT 1", quoted(&table.name), found_by.sql());
    let mut statement = db.prepare(&sql)?;
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut found = statement.query([found_by.value(key)?])?;
    match found.next()? {
        Some(row) => print::record(&names, row),
        None => Ok(format!("No row found in {} for key '{key}'", table.name)),
    }
}

fn rows(db: &Connection, query: &RowQuery) -> Result<String, SqliteError> {
    let table = SqlTable::find(db, &query.table)?;
    let filter = match &query.filter {
        None => String::new(),
        Some(filter) => {
            check_condition(filter)?;
            // The filter is on separate lines, so that a comment in it cannot extend past it.
            format!(" WHERE (\n{filter}\n)")
        }
    };
    let order = order_clause(&table, query.order.as_deref())?;
    let from = quoted(&table.name);
    let sql = format!("SELECT * FROM {from}{filter}{order} LIMIT ?1 OFFSET ?2");
    let mut statement = db.prepare(&sql)?;
    if statement.parameter_count() != 2 {
        return Err(SqliteError::Selector("the condition must not have parameters".into()));
    }
    statement.raw_bind_parameter(1, query.limit)?;
    statement.raw_bind_parameter(2, query.offset)?;
    let found = collect(&mut statement, MAX_SELECTED)?;
    let total = counted(db, &format!("SELECT 1 FROM {from}{filter}"));
    Ok(format!("{}\n{}", print::table(&found), page_notice(query, found.rows.len() as u64, total)))
}

fn page_notice(query: &RowQuery, shown: u64, total: Option<u64>) -> String {
    let end = u64::from(query.offset) + shown;
    let range = if shown == 0 { "no rows".into() } else { format!("rows {}-{end}", query.offset + 1) };
    match total {
        Some(total) if end < total && shown > 0 => {
            format!("[{range} of {total}; {} more with offset={end}]", total - end)
        }
        Some(total) => format!("[{range} of {total}]"),
        None => format!("[{range}; counting all took too long]"),
    }
}

fn select(db: &Connection, sql: &str) -> Result<String, SqliteError> {
    let mut statement = db.prepare(sql.trim_end().trim_end_matches(';'))?;
    if statement.parameter_count() > 0 {
        return Err(SqliteError::Selector("SQLite raw queries do not support bound parameters".into()));
    }
    let found = collect(&mut statement, MAX_SELECTED)?;
    if found.is_one_cut_row() {
        let mut again = statement.raw_query();
        if let Some(row) = again.next()? {
            return print::record(&found.columns, row);
        }
    }
    let notice = if found.more && !found.is_full() {
        format!("\n[only the first {MAX_SELECTED} rows; add a LIMIT clause]")
    } else {
        String::new()
    };
    Ok(format!("{}{notice}", print::table(&found)))
}

fn collect(statement: &mut Statement<'_>, most: usize) -> Result<SqlRows, SqliteError> {
    let mut found = SqlRows::with_columns(statement.column_names().map(str::to_owned).collect());
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        if found.rows.len() == most || found.is_full() {
            found.more = true;
            break;
        }
        found.push(row)?;
    }
    Ok(found)
}

fn order_clause(table: &SqlTable, order: Option<&str>) -> Result<String, SqliteError> {
    let Some(order) = order else { return Ok(String::new()) };
    let mut terms = Vec::new();
    for term in order.split(',') {
        let term = term.trim();
        let (column, direction) = term.rsplit_once([':', ' ']).unwrap_or((term, "asc"));
        let direction = match direction.trim().to_ascii_lowercase().as_str() {
            "asc" => "ASC",
            "desc" => "DESC",
            _ => {
                let text = format!("SQLite order direction must be 'asc' or 'desc'; got '{direction}'");
                return Err(SqliteError::Selector(text));
            }
        };
        terms.push(format!("{} {direction}", quoted(&table.column(column.trim().trim_matches('"'))?.name)));
    }
    Ok(format!(" ORDER BY {}", terms.join(", ")))
}

/// Checks that a condition is a single expression: text that could end it and start something else is refused before it
/// reaches SQLite.
fn check_condition(filter: &str) -> Result<(), SqliteError> {
    let refuse = |what: &str| Err(SqliteError::Selector(format!("the condition must not have {what}: {filter}")));
    let mut depth = 0usize;
    let mut rest = filter.chars().peekable();
    while let Some(char) = rest.next() {
        let close = match char {
            '\'' | '"' | '`' => char,
            '[' => ']',
            '(' => {
                depth += 1;
                continue;
            }
            ')' => match depth.checked_sub(1) {
                Some(less) => {
                    depth = less;
                    continue;
                }
                None => return refuse("an extra closing parenthesis"),
            },
            ';' => return refuse("a semicolon"),
            '-' if rest.peek() == Some(&'-') => return refuse("a comment"),
            '/' if rest.peek() == Some(&'*') => return refuse("a comment"),
            _ => continue,
        };
        // A doubled quote is treated as the end of one string and the start of the next, with the same result.
        if !rest.any(|char| char == close) {
            return refuse("an unclosed quote");
        }
    }
    if depth == 0 { Ok(()) } else { refuse("an unclosed parenthesis") }
}

//! Finds out which part of a typed `app.db:users:42?…` is the database.

const ENDINGS: [&str; 4] = [".sqlite", ".sqlite3", ".db", ".db3"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatabaseAddress<'a> {
    /// The database's path, as typed.
    pub database: &'a str,
    /// Table and key after the colon; empty for the database itself.
    pub rows: &'a str,
    /// The text after a `?`, if there is one.
    pub query: Option<&'a str>,
}

/// Parses an address in a database that exists; `is_database` checks the file. The longest candidate wins.
pub fn locate_database<'a>(typed: &'a str, is_database: &dyn Fn(&str) -> bool) -> Option<DatabaseAddress<'a>> {
    candidates(typed).find(|candidate| is_database(candidate.database))
}

/// Parses the address of a row in a database that does not exist, by file extension only.
pub fn new_database_address(typed: &str) -> Option<DatabaseAddress<'_>> {
    let named = |path: &str| {
        let path = path.to_ascii_lowercase();
        ENDINGS.iter().any(|ending| path.ends_with(ending))
    };
    candidates(typed).find(|it| it.database.len() < typed.len() && named(it.database))
}

/// Returns possible splits, the longest database path first.
fn candidates(typed: &str) -> impl Iterator<Item = DatabaseAddress<'_>> {
    let whole = DatabaseAddress { database: typed, rows: "", query: None };
    let split = typed.rmatch_indices([':', '?']).map(|(at, mark)| {
        let (database, rest) = (&typed[..at], &typed[at + 1..]);
        match (mark, rest.split_once('?')) {
            ("?", _) => DatabaseAddress { database, rows: "", query: Some(rest) },
            (_, Some((rows, query))) => DatabaseAddress { database, rows, query: Some(query) },
            (_, None) => DatabaseAddress { database, rows: rest, query: None },
        }
    });
    std::iter::once(whole).chain(split)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_database_that_exists() {
        let is_database = |path: &str| ["a.db", "x/data", "a.db:b"].contains(&path);
        let parts = |typed| locate_database(typed, &is_database).map(|it| (it.database, it.rows, it.query));
        for (typed, want) in [
            ("a.db", Some(("a.db", "", None))),
            ("a.db:", Some(("a.db", "", None))),
            ("a.db:t", Some(("a.db", "t", None))),
            ("a.db:t:k:1", Some(("a.db", "t:k:1", None))),
            ("a.db:t?where=a='x:y?'", Some(("a.db", "t", Some("where=a='x:y?'")))),
            ("a.db?q=SELECT 1", Some(("a.db", "", Some("q=SELECT 1")))),
            ("x/data:t", Some(("x/data", "t", None))),
            ("a.db:b:t", Some(("a.db:b", "t", None))),
            ("a.dbx:t", None),
            ("other.db:t", None),
        ] {
            assert_eq!(parts(typed), want, "{typed}");
        }
    }

    #[test]
    fn missing_databases_are_known_by_their_ending() {
        let database = |typed| new_database_address(typed).map(|it| it.database);
        assert_eq!(database("no.SQLite3:t"), Some("no.SQLite3"));
        assert_eq!(database("no.db?x"), Some("no.db"));
        assert_eq!(database("no.txt:t"), None);
        assert_eq!(database("no.db"), None);
    }
}

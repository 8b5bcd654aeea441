//! Resolves a program that omp starts by its bare name.
//!
//! `PATH` may contain `.`, an empty entry or `node_modules/.bin`: there the working folder of omp, and so a repository,
//! would choose the program. Such entries are skipped.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The full path of a bare name. A name that is not found becomes a path that cannot exist, so that no later lookup finds
/// another program.
pub(crate) fn resolved(program: &OsStr, path: Option<&str>) -> OsString {
    let is_bare = Path::new(program).components().count() == 1 && !program.as_encoded_bytes().contains(&b'/');
    let Some(path) = path.filter(|_| is_bare && cfg!(unix)) else { return program.to_owned() };
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    let found = folders.map(|folder| folder.join(program)).find(|place| is_program(place));
    found.map_or_else(|| Path::new("/").join("no such program").join(program).into(), Into::into)
}

#[cfg(unix)]
fn is_program(place: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(place).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(place: &Path) -> bool {
    place.is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_folders_that_are_named_in_full_are_looked_into() {
        let rows = [
            ("sh", Some("node_modules/.bin:.::/bin"), "/bin/sh"),
            ("sh", Some("."), "/no such program/sh"),
            ("sh", Some(""), "/no such program/sh"),
            ("no-such", Some("/bin"), "/no such program/no-such"),
            ("./sh", Some("/bin"), "./sh"),
            ("/opt/sh", Some("/bin"), "/opt/sh"),
            ("sh", None, "sh"),
        ];
        for (program, path, expect) in rows {
            assert_eq!(resolved(OsStr::new(program), path), expect, "{program} {path:?}");
        }
    }
}

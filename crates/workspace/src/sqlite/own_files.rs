//! The files that SQLite may take away while it writes to a database: its journals, and no others.
//!
//! A journal that was left over can name one more file, which SQLite deletes when it has rolled the journal back. Whoever
//! has put such a journal beside a database would have any file of the user's deleted.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int};
use std::path::Path;
use std::sync::LazyLock;

use rusqlite::ffi;

const NAME: &CStr = c"omp-own-files";
/// What SQLite puts behind the name of a database.
const ENDINGS: &[&str] = &["-journal", "-wal", "-shm"];

thread_local! {
    /// The database that this thread writes to.
    static DATABASE: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

/// As long as this lives, connections of this thread that go by [`OwnFiles::name`] delete nothing but journals of `path`.
pub struct OwnFiles {
    name: &'static str,
}

impl OwnFiles {
    /// `None` where SQLite has no access to files at all.
    pub fn of(path: &Path) -> Option<Self> {
        static REGISTERED: LazyLock<bool> = LazyLock::new(register);
        let name = NAME.to_str().ok().filter(|_| *REGISTERED)?;
        DATABASE.with_borrow_mut(|database| *database = Some(path.as_os_str().as_encoded_bytes().to_vec()));
        Some(Self { name })
    }

    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl Drop for OwnFiles {
    fn drop(&mut self) {
        DATABASE.with_borrow_mut(Option::take);
    }
}

/// All that the system's own does, but for deleting.
fn register() -> bool {
    // SAFETY: what SQLite finds lives as long as the process, and so does the copy, which differs in name and one function.
    unsafe {
        let Some(system) = ffi::sqlite3_vfs_find(std::ptr::null()).as_ref() else { return false };
        let mut own = *system;
        own.zName = NAME.as_ptr();
        own.pNext = std::ptr::null_mut();
        own.xDelete = Some(delete);
        ffi::sqlite3_vfs_register(Box::leak(Box::new(own)), 0) == ffi::SQLITE_OK
    }
}

unsafe extern "C" fn delete(vfs: *mut ffi::sqlite3_vfs, path: *const c_char, sync: c_int) -> c_int {
    // SAFETY: SQLite gives a C string; the function is that of the system it was copied from.
    unsafe {
        let system = ffi::sqlite3_vfs_find(std::ptr::null()).as_ref().and_then(|system| system.xDelete);
        match system.filter(|_| !path.is_null() && is_own(CStr::from_ptr(path).to_bytes())) {
            Some(delete) => delete(vfs, path, sync),
            None => ffi::SQLITE_IOERR_DELETE,
        }
    }
}

fn is_own(path: &[u8]) -> bool {
    DATABASE.with_borrow(|database| {
        let ending = database.as_ref().and_then(|database| path.strip_prefix(database.as_slice()));
        ending.is_some_and(|ending| ENDINGS.iter().any(|known| known.as_bytes() == ending))
    })
}

//! Additions to the standard library: truncating, measuring, splitting, cleaning and formatting text, reading plain files,
//! resolving paths, checking write permission, locating keys in a file, running work in parallel.
//!
//! Nothing here is specific to a domain. Each module is independent and works on borrowed text if possible.

pub mod at_once;
pub mod display_width;
pub mod escape;
pub mod format;
pub mod key_places;
pub mod lines;
pub mod md_table;
pub mod nearest;
pub mod page;
pub mod percent;
pub mod plain_file;
pub mod real_path;
pub mod rights;
pub mod sanitize;
pub mod truncate;

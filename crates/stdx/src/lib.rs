//! What the standard library lacks: cutting, measuring, splitting, cleaning and phrasing text, reading plain files, where a
//! path leads, what may be written and where a key stands in a file, many questions at once.
//!
//! Nothing here knows a domain word. Each module stands alone and works on borrowed text where it can.

pub mod at_once;
pub mod display_width;
pub mod escape;
pub mod format;
pub mod key_places;
pub mod lines;
pub mod nearest;
pub mod percent;
pub mod plain_file;
pub mod real_path;
pub mod rights;
pub mod sanitize;
pub mod truncate;

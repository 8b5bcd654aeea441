//! What the standard library lacks: cutting, measuring, splitting, cleaning and phrasing text, and reading plain files.
//!
//! Nothing here knows a domain word. Each module stands alone and works on borrowed text where it can.

pub mod display_width;
pub mod escape;
pub mod format;
pub mod lines;
pub mod nearest;
pub mod plain_file;
pub mod sanitize;
pub mod truncate;

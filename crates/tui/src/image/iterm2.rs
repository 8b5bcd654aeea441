//! The inline images of iTerm2: the whole file in one escape sequence.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Cells, LARGEST_FILE, Picture};

pub fn can_show(picture: &Picture) -> bool {
    (1..=LARGEST_FILE).contains(&picture.file.len())
}

/// Shows the picture at the cursor.
pub fn show(picture: &Picture, cells: Cells) -> String {
    let Cells { columns, rows } = cells;
    let size = picture.file.len();
    let data = STANDARD.encode(&picture.file);
    format!("\x1b]1337;File=inline=1;size={size};width={columns};height={rows};preserveAspectRatio=1:{data}\x07")
}

//! The Kitty graphics protocol: a picture is transmitted once under an id and then placed.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Cells, LARGEST_FILE, Picture};
use crate::line::Line;
use crate::style::{Color, Style};

/// Bytes that encode to 4096 characters, the limit of one command.
const CHUNK: usize = 3072;
/// The maximum of rows and columns of a picture: the number of diacritics below.
pub const MOST_CELLS: usize = DIACRITICS.len();
/// The placeholder character of the protocol.
pub const PLACEHOLDER: char = '\u{10eeee}';

/// The diacritics that encode the row and column of a placeholder, in the order of the protocol.
const DIACRITICS: [u32; 128] = [
    0x305, 0x30d, 0x30e, 0x310, 0x312, 0x33d, 0x33e, 0x33f, 0x346, 0x34a, 0x34b, 0x34c, 0x350, 0x351, 0x352, 0x357,
    0x35b, 0x363, 0x364, 0x365, 0x366, 0x367, 0x368, 0x369, 0x36a, 0x36b, 0x36c, 0x36d, 0x36e, 0x36f, 0x483, 0x484,
    0x485, 0x486, 0x487, 0x592, 0x593, 0x594, 0x595, 0x597, 0x598, 0x599, 0x59c, 0x59d, 0x59e, 0x59f, 0x5a0, 0x5a1,
    0x5a8, 0x5a9, 0x5ab, 0x5ac, 0x5af, 0x5c4, 0x610, 0x611, 0x612, 0x613, 0x614, 0x615, 0x616, 0x617, 0x657, 0x658,
    0x659, 0x65a, 0x65b, 0x65d, 0x65e, 0x6d6, 0x6d7, 0x6d8, 0x6d9, 0x6da, 0x6db, 0x6dc, 0x6df, 0x6e0, 0x6e1, 0x6e2,
    0x6e4, 0x6e7, 0x6e8, 0x6eb, 0x6ec, 0x730, 0x732, 0x733, 0x735, 0x736, 0x73a, 0x73d, 0x73f, 0x740, 0x741, 0x743,
    0x745, 0x747, 0x749, 0x74a, 0x7eb, 0x7ec, 0x7ed, 0x7ee, 0x7ef, 0x7f0, 0x7f1, 0x7f3, 0x816, 0x817, 0x818, 0x819,
    0x81b, 0x81c, 0x81d, 0x81e, 0x81f, 0x820, 0x821, 0x822, 0x823, 0x825, 0x826, 0x827, 0x829, 0x82a, 0x82b, 0x82c,
];

/// Whether the picture has data that can be sent.
pub fn can_show(picture: &Picture) -> bool {
    data(picture).is_some()
}

/// Transmits the picture without showing it. The terminal is asked not to reply.
pub fn transmit(id: u32, picture: &Picture, passthrough: bool, out: &mut Vec<u8>) {
    let Some((format, bytes)) = data(picture) else { return };
    let count = bytes.len().div_ceil(CHUNK);
    for (at, chunk) in bytes.chunks(CHUNK).enumerate() {
        let more = u8::from(at + 1 < count);
        let keys = match at {
            0 => format!("a=t,q=2,i={id},{format},m={more}"),
            _ => format!("q=2,m={more}"),
        };
        command(&format!("{keys};{}", STANDARD.encode(chunk)), passthrough, out);
    }
}

/// Returns PNG data unchanged, anything else as pixels.
fn data(picture: &Picture) -> Option<(String, &[u8])> {
    if picture.kind == "png" && (1..=LARGEST_FILE).contains(&picture.file.len()) {
        return Some(("f=100".to_owned(), &picture.file));
    }
    let pixels = picture.pixels.as_ref().filter(|pixels| pixels.rgba().len() <= LARGEST_FILE)?;
    Some((format!("f=32,s={},v={}", pixels.width(), pixels.height()), pixels.rgba()))
}

/// Sets the number of placeholder cells of a picture.
pub fn place_virtually(id: u32, cells: Cells, passthrough: bool, out: &mut Vec<u8>) {
    command(&format!("a=p,U=1,q=2,i={id},c={},r={}", cells.columns, cells.rows), passthrough, out);
}

/// Places the picture at the cursor, which does not move. Placing it again moves the picture.
pub fn place(id: u32, cells: Cells) -> String {
    format!("\x1b_Ga=p,q=2,i={id},p=1,c={},r={},C=1\x1b\\", cells.columns, cells.rows)
}

/// Deletes the picture and all its placements.
pub fn delete(id: u32, passthrough: bool, out: &mut Vec<u8>) {
    command(&format!("a=d,d=I,q=2,i={id}"), passthrough, out);
}

fn command(body: &str, passthrough: bool, out: &mut Vec<u8>) {
    let wrapped = match passthrough {
        false => format!("\x1b_G{body}\x1b\\"),
        true => format!("\x1bPtmux;\x1b\x1b_G{body}\x1b\x1b\\\x1b\\"),
    };
    out.extend_from_slice(wrapped.as_bytes());
}

/// Returns the picture as placeholder characters. Each encodes its row and column, so that a part of a row shows the right
/// part of the picture; the colour encodes the picture id.
pub fn placeholder_rows(id: u32, cells: Cells) -> Vec<Line> {
    let [_, red, green, blue] = id.to_be_bytes();
    let style = Style::PLAIN.fg(Color::Rgb(red, green, blue));
    let mark = |at: usize| DIACRITICS.get(at).copied().and_then(char::from_u32);
    let row = |row: usize| {
        let cell = |column: usize| [Some(PLACEHOLDER), mark(row), mark(column)];
        let text: String = (0..cells.columns).flat_map(cell).flatten().collect();
        Line::styled(text, style)
    };
    (0..cells.rows).map(row).collect()
}

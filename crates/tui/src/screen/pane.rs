//! The text above the first frame in a pane of tmux, so that the whole history of the pane can be written again.
//!
//! Tmux resizes a pane before it notifies the program, so frames in between reach a pane of another size, and no byte tells
//! which rows arrived whole. Only a history that is written again from its beginning has every row once.

/// Limits the bytes of the text; a pane that holds more is not written again.
pub const MOST_TEXT: usize = 4 << 20;

const FACTS: &str =
    "#{pane_tty} #{pane_width} #{pane_height} #{cursor_y} #{history_size} #{history_limit} #{alternate_on}";

/// The state of a pane, as `tmux display-message` prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaneFacts {
    /// The path of the terminal device.
    pub tty: String,
    size: (usize, usize),
    cursor_row: usize,
    history: usize,
    history_limit: usize,
    /// The alternate screen has no history.
    alternate: bool,
}

impl PaneFacts {
    /// Returns the arguments of tmux that print the facts.
    pub fn arguments(pane: &str) -> Vec<String> {
        ["-u", "display-message", "-p", "-t", pane, FACTS].map(str::to_owned).to_vec()
    }

    /// Returns the arguments of tmux that print the facts and then the text above the cursor. Returns `None` if that is
    /// impossible.
    pub fn text_arguments(&self, pane: &str) -> Option<Vec<String>> {
        if self.alternate {
            return None;
        }
        let mut arguments = Self::arguments(pane);
        if self.has_text() {
            let last = if self.cursor_row == 0 { "-1".to_owned() } else { (self.cursor_row - 1).to_string() };
            let capture = [";", "capture-pane", "-p", "-e", "-J", "-t", pane, "-S", "-", "-E", &last];
            arguments.extend(capture.map(str::to_owned));
        }
        Some(arguments)
    }

    pub fn parse(printed: &str) -> Option<Self> {
        let mut words = printed.lines().next()?.split(' ');
        let tty = words.next().filter(|tty| !tty.is_empty())?.to_owned();
        let mut number = || words.next()?.parse::<usize>().ok();
        Some(Self {
            tty,
            size: (number()?, number()?),
            cursor_row: number()?,
            history: number()?,
            history_limit: number()?,
            alternate: number()? != 0,
        })
    }

    fn has_text(&self) -> bool {
        self.cursor_row > 0 || self.history > 0
    }
}

/// The text above the first frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaneText {
    /// The bytes that write it again.
    bytes: Vec<u8>,
    /// The number of rows that the history of the pane can hold.
    history_limit: usize,
}

impl PaneText {
    /// Reads what tmux printed for [`PaneFacts::text_arguments`]. Returns `None` if the facts have changed meanwhile.
    pub fn parse(printed: &str, facts: &PaneFacts) -> Option<Self> {
        if PaneFacts::parse(printed).as_ref() != Some(facts) {
            return None;
        }
        let rows = printed.lines().skip(1).take(if facts.has_text() { usize::MAX } else { 0 });
        Some(Self { bytes: written(rows), history_limit: facts.history_limit })
    }

    /// Returns the number of rows that the history of the pane can hold.
    pub fn history_limit(&self) -> usize {
        self.history_limit
    }

    /// Returns the bytes to write above so many rows, and how many of those rows the history cannot hold.
    pub(super) fn above(&self, rows: usize) -> (&[u8], usize) {
        match rows.saturating_sub(self.history_limit) {
            0 => (&self.bytes, 0),
            lost => (&[], lost),
        }
    }
}

/// Tmux prints text and colours only, and shift-out for line-drawing characters. Its rows may wrap, so that tmux can wrap
/// them again at another width.
fn written<'a>(rows: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for row in rows {
        bytes.extend_from_slice(row.trim_end_matches(' ').as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    if bytes.is_empty() {
        return bytes;
    }
    [b"\x1b)0\x1b[?7h", &bytes[..], b"\x0f\x1b)B\x1b[m\x1b[?7l"].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(cursor_row: usize, history: usize, limit: usize) -> String {
        format!("/dev/pts/3 80 24 {cursor_row} {history} {limit} 0\n")
    }

    #[test]
    fn the_text_above_the_cursor_is_asked_for() {
        let last = |cursor_row, history| {
            let facts = PaneFacts::parse(&facts(cursor_row, history, 2000)).unwrap();
            facts.text_arguments("%1").unwrap().last().cloned().unwrap()
        };
        assert_eq!(last(5, 0), "4");
        assert_eq!(last(0, 7), "-1");
        // Nothing is above.
        assert_eq!(last(0, 0), FACTS);
        let alternate = PaneFacts::parse("/dev/pts/3 80 24 0 0 2000 1\n").unwrap();
        assert_eq!(alternate.text_arguments("%1"), None);
        assert_eq!(PaneFacts::parse("can't find pane"), None);
    }

    #[test]
    fn the_text_is_written_as_tmux_printed_it() {
        let before = PaneFacts::parse(&facts(2, 0, 2000)).unwrap();
        let printed = format!("{}$ \u{1b}[31mls\u{1b}[39m  \na b\n", facts(2, 0, 2000));
        let text = PaneText::parse(&printed, &before).unwrap();
        let wanted = "\u{1b})0\u{1b}[?7h$ \u{1b}[31mls\u{1b}[39m\r\na b\r\n\u{f}\u{1b})B\u{1b}[m\u{1b}[?7l";
        assert_eq!(text.above(2000), (wanted.as_bytes(), 0));
        assert_eq!(text.above(2003), (&[][..], 3));
        // The pane changed between the two questions.
        assert_eq!(PaneText::parse(&printed, &PaneFacts::parse(&facts(3, 0, 2000)).unwrap()), None);
        let empty = PaneFacts::parse(&facts(0, 0, 2000)).unwrap();
        assert_eq!(PaneText::parse(&facts(0, 0, 2000), &empty).unwrap().above(1), (&[][..], 0));
    }
}

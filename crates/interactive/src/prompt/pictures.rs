//! Restores image markers in text that comes back from the user's own editor or from the queue.

use omp_types::ImageContent;

use super::files::named_pictures;
use super::{Prompt, Submission};

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'a> {
    Words(&'a str),
    /// `[image #1]`
    Marker {
        label: &'a str,
        number: u64,
    },
}

impl Prompt {
    /// Replaces the text. Markers of stored images refer to them again.
    pub fn set_text(&mut self, text: &str) {
        let pieces = pieces(text);
        let held =
            |piece: &Piece<'_>| matches!(piece, Piece::Marker { number, .. } if self.pictures.contains_key(number));
        if !pieces.iter().any(held) {
            self.editor.set_text(text);
            return self.changed();
        }
        self.editor.set_text("");
        for piece in pieces {
            match piece {
                Piece::Marker { label, number } if self.pictures.contains_key(&number) => {
                    self.editor.insert_attachment(label, number);
                }
                Piece::Words(text) | Piece::Marker { label: text, .. } => self.editor.insert(text),
            }
        }
        self.changed();
    }

    /// Puts submitted messages in front of the current text, with their images.
    pub fn take_back(&mut self, sent: Vec<Submission>) {
        let back = sent.into_iter().map(|one| self.hold(&one.text, one.images));
        let mut texts: Vec<String> = back.filter(|text| !text.is_empty()).collect();
        if texts.is_empty() {
            return;
        }
        let now = self.text();
        if !now.trim().is_empty() {
            texts.push(now);
        }
        self.set_text(&texts.join("\n\n"));
    }

    /// Stores the images of a message. Their markers get unique numbers. An image without a marker gets one, unless the text
    /// names its file, which is read again.
    fn hold(&mut self, text: &str, images: Vec<ImageContent>) -> String {
        let named = named_pictures(text).len();
        let mut left = images.into_iter();
        let mut marked = String::with_capacity(text.len());
        for piece in pieces(text) {
            match piece {
                Piece::Marker { label, .. } => match left.next() {
                    Some(image) => marked.push_str(&self.marker_for(image)),
                    None => marked.push_str(label),
                },
                Piece::Words(words) => marked.push_str(words),
            }
        }
        let unmarked = left.len().saturating_sub(named);
        for image in left.take(unmarked) {
            let space = if marked.is_empty() { "" } else { " " };
            let marker = self.marker_for(image);
            marked.push_str(space);
            marked.push_str(&marker);
        }
        marked
    }

    /// Stores an image and returns its marker.
    pub(super) fn marker_for(&mut self, image: ImageContent) -> String {
        let number = self.next_picture;
        self.next_picture += 1;
        self.pictures.insert(number, image);
        format!("[image #{number}]")
    }
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    const OPENING: &str = "[image #";
    let mut pieces = Vec::new();
    let mut done = 0;
    for (at, _) in text.match_indices(OPENING) {
        let rest = &text[at + OPENING.len()..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let Ok(number) = rest[..digits].parse() else { continue };
        if !rest[digits..].starts_with(']') {
            continue;
        }
        let end = at + OPENING.len() + digits + 1;
        if done < at {
            pieces.push(Piece::Words(&text[done..at]));
        }
        pieces.push(Piece::Marker { label: &text[at..end], number });
        done = end;
    }
    if done < text.len() {
        pieces.push(Piece::Words(&text[done..]));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_found() {
        let words = Piece::Words;
        let marker = |label, number| Piece::Marker { label, number };
        for (text, expect) in [
            ("", vec![]),
            ("no picture", vec![words("no picture")]),
            ("[image #1]", vec![marker("[image #1]", 1)]),
            ("see [image #12] é", vec![words("see "), marker("[image #12]", 12), words(" é")]),
            ("[image #1][image #2", vec![marker("[image #1]", 1), words("[image #2")]),
            ("[image #] [image #x]", vec![words("[image #] [image #x]")]),
            ("[image #99999999999999999999]", vec![words("[image #99999999999999999999]")]),
        ] {
            assert_eq!(pieces(text), expect, "{text:?}");
        }
    }
}

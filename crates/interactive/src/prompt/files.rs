//! Completes `@`: finds the file name being typed, and formats the chosen path.

use std::ops::Range;

use omp_tui::Completion;

use super::outside::Candidate;

/// A file name that is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileQuery {
    /// The range from the `@` to the cursor.
    pub range: Range<usize>,
    pub letters: String,
}

/// Caps the length of a path, so that a key does not scan all of a long text.
const LONGEST: usize = 4096;

/// Returns the file name being typed before the cursor, after an `@` that begins a word.
pub fn query(text: &str, cursor: usize) -> Option<FileQuery> {
    let before = text.get(..cursor)?;
    let near = before.floor_char_boundary(cursor.saturating_sub(LONGEST));
    let at = near + before[near..].rfind('@')?;
    let begins =
        before[..at].chars().next_back().is_none_or(|char| char.is_whitespace() || "([{'\"`=:,".contains(char));
    let letters = &before[at + 1..];
    let letters = match letters.strip_prefix('"') {
        Some(quoted) if quoted.contains(['"', '\n']) => return None,
        Some(quoted) => quoted,
        None if letters.contains(char::is_whitespace) => return None,
        None => letters,
    };
    begins.then(|| FileQuery { range: at..cursor, letters: letters.to_owned() })
}

/// A file is followed by a space; a folder is not, so that its entries can be completed next.
pub fn completion(candidate: &Candidate, replace: Range<usize>) -> Completion {
    let Candidate { path, is_folder } = candidate;
    let quoted = path.contains(char::is_whitespace);
    let insert = match (quoted, is_folder) {
        (false, false) => format!("@{path} "),
        (true, false) => format!("@\"{path}\" "),
        (false, true) => format!("@{path}/"),
        (true, true) => format!("@\"{path}/"),
    };
    let slash = if *is_folder { "/" } else { "" };
    Completion { label: format!("{path}{slash}"), replace, insert, ..Completion::default() }
}

/// Returns the images that a message names with `@`, in order, each once.
pub fn named_pictures(text: &str) -> Vec<String> {
    let mut named: Vec<String> = Vec::new();
    for (at, _) in text.match_indices('@') {
        let rest = &text[at + 1..];
        let path = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next().unwrap_or_default(),
            None => {
                rest.split(char::is_whitespace).next().unwrap_or_default().trim_end_matches([',', ';', ')', '?', '!'])
            }
        };
        let path = path.trim_end_matches('.');
        let begins = query(text, at + 1).is_some();
        if begins && is_picture_name(path) && !named.iter().any(|known| known == path) {
            named.push(path.to_owned());
        }
    }
    named
}

/// Returns the path of a pasted image, as terminals paste files dropped on them: plain, quoted, with backslashes or as a
/// URL.
pub fn pasted_picture(pasted: &str) -> Option<String> {
    let line = pasted.trim();
    if line.is_empty() || line.contains('\n') || line.len() > 4096 {
        return None;
    }
    let path = match line.strip_prefix("file://") {
        Some(address) => percent_decoded(address)?,
        None => match line.strip_prefix(['\'', '"']) {
            Some(quoted) => quoted.strip_suffix(['\'', '"'])?.to_owned(),
            None if cfg!(windows) => line.to_owned(),
            None => unescaped(line)?,
        },
    };
    let has_folder = path.contains('/') || path.contains('\\');
    (has_folder && is_picture_name(&path)).then_some(path)
}

fn is_picture_name(path: &str) -> bool {
    let extension = path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    extension.is_some_and(|extension| ["png", "jpg", "jpeg", "gif", "webp", "bmp"].contains(&extension.as_str()))
}

/// Returns `None` for text with an unescaped space, which is not a single path.
fn unescaped(line: &str) -> Option<String> {
    let mut path = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => path.push(chars.next()?),
            char if char.is_whitespace() => return None,
            char => path.push(char),
        }
    }
    Some(path)
}

fn percent_decoded(address: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(address.len());
    let mut rest = address.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        bytes.push(u8::from_str_radix(str::from_utf8(&digits).ok()?, 16).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_after_an_at_that_begins_a_word() {
        for (text, expect) in [
            ("@", Some("")),
            ("see @src/ma", Some("src/ma")),
            ("(@a", Some("a")),
            ("@\"my fi", Some("my fi")),
            ("me@home", None),
            ("@a b", None),
            ("@\"a\" b", None),
            ("", None),
        ] {
            assert_eq!(query(text, text.len()).map(|query| query.letters).as_deref(), expect, "{text}");
        }
        assert_eq!(query("ab @cd ef", 6).unwrap().range, 3..6);
        assert_eq!(query("ä@", 1), None);
    }

    #[test]
    fn what_is_chosen_is_written_so_that_it_is_one_word() {
        for (path, is_folder, expect) in [
            ("a.rs", false, "@a.rs "),
            ("src", true, "@src/"),
            ("my file", false, "@\"my file\" "),
            ("my dir", true, "@\"my dir/"),
        ] {
            let candidate = Candidate { path: path.to_owned(), is_folder };
            assert_eq!(completion(&candidate, 0..1).insert, expect);
        }
    }

    #[test]
    fn pictures_are_known_by_their_names() {
        let text = "look at @a.png, @b.txt and @\"my pic.JPG\" or (@c/d.webp)? @a.png. me@x.png";
        assert_eq!(named_pictures(text), ["a.png", "my pic.JPG", "c/d.webp"]);
        for (pasted, expect) in [
            ("/tmp/a.png\n", Some("/tmp/a.png")),
            ("'/tmp/my pic.png'", Some("/tmp/my pic.png")),
            ("/tmp/my\\ pic.png", Some("/tmp/my pic.png")),
            ("file:///tmp/my%20pic.png", Some("/tmp/my pic.png")),
            ("file:///tmp/a%2", None),
            ("/tmp/a.txt", None),
            ("see /tmp/a.png", None),
            ("a.png", None),
            ("/a.png\n/b.png", None),
            ("", None),
        ] {
            assert_eq!(pasted_picture(pasted).as_deref(), expect, "{pasted}");
        }
    }
}

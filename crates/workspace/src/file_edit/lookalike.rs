//! Names that some file systems treat as the same: different case, or the same letters in another Unicode form.

use std::path::Path;

use unicode_normalization::UnicodeNormalization;

/// Maximum number of folder entries that are checked.
const MOST_ENTRIES: usize = 10_000;

/// Returns the name of an existing entry in the same folder that differs from `path` only in case or Unicode form.
pub fn lookalike(path: &Path) -> Option<String> {
    let (folder, name) = (path.parent()?, path.file_name()?.to_str()?);
    let wanted = folded(name);
    let entries = std::fs::read_dir(folder).ok()?.take(MOST_ENTRIES).flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .find(|other| other != name && folded(other) == wanted)
}

/// Maps names that some file systems treat as the same to the same string.
pub fn folded(name: &str) -> String {
    name.nfd().flat_map(char::to_lowercase).nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_composition() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["Readme.md", "caf\u{e9}.txt"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        for (asked, found) in [
            ("README.md", Some("Readme.md")),
            ("Readme.md", None),
            ("cafe\u{301}.txt", Some("caf\u{e9}.txt")),
            ("CAFÉ.TXT", Some("caf\u{e9}.txt")),
            ("cafe.txt", None),
            ("none/Readme.md", None),
        ] {
            assert_eq!(lookalike(&folder.path().join(asked)).as_deref(), found, "{asked}");
        }
    }
}

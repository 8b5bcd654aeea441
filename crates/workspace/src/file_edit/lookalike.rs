//! Names that some file systems take for the same: other case, or the same letters composed in another way.

use std::path::Path;

use unicode_normalization::UnicodeNormalization;

/// Entries of a folder that are looked at.
const MOST_ENTRIES: usize = 10_000;

/// The name of a neighbour that differs from `path` in case or Unicode form only.
pub fn lookalike(path: &Path) -> Option<String> {
    let (folder, name) = (path.parent()?, path.file_name()?.to_str()?);
    let wanted = folded(name);
    let entries = std::fs::read_dir(folder).ok()?.take(MOST_ENTRIES).flatten();
    entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .find(|other| other != name && folded(other) == wanted)
}

/// Equal for names that some file systems take for the same.
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

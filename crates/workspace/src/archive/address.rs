//! Finds out which part of a typed `archive.ext:inner/path` is the archive.

use super::ArchiveFormat;

/// The parts of `assets.zip:css/app.css`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchiveAddress<'a> {
    /// The archive's path, as typed.
    pub archive: &'a str,
    /// The path after the colon; empty for the archive itself.
    pub inner: &'a str,
    pub format: ArchiveFormat,
}

/// Parses a path into an archive that exists; if there are several candidates, the longest one wins. If a file with the
/// whole typed name exists, the path is not an archive address.
pub fn locate_archive<'a>(typed: &'a str, is_file: &dyn Fn(&str) -> bool) -> Option<ArchiveAddress<'a>> {
    if typed.contains(':') && is_file(typed) && ArchiveFormat::of_name(typed).is_none() {
        return None;
    }
    candidates(typed).find(|candidate| is_file(candidate.archive))
}

/// Parses the address of an entry in an archive that need not exist yet.
pub fn new_archive_address(typed: &str) -> Option<ArchiveAddress<'_>> {
    candidates(typed).find(|candidate| candidate.archive.len() < typed.len())
}

/// Returns possible splits, the longest archive path first.
fn candidates(typed: &str) -> impl Iterator<Item = ArchiveAddress<'_>> {
    let whole = ArchiveFormat::of_name(typed).map(|format| ArchiveAddress { archive: typed, inner: "", format });
    let split = typed.rmatch_indices(':').filter_map(move |(at, _)| {
        let (archive, inner) = (&typed[..at], &typed[at + 1..]);
        ArchiveFormat::of_name(archive).map(|format| ArchiveAddress { archive, inner, format })
    });
    whole.into_iter().chain(split)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_archive_that_exists() {
        let files = ["a.zip", "b.tar", "b.tar:c.tgz", "odd.zip:name", "x.TAR.GZ", "d:e.zip"];
        let is_file = |path: &str| files.contains(&path);
        for (typed, want) in [
            ("a.zip", Some(("a.zip", ""))),
            ("a.zip:", Some(("a.zip", ""))),
            ("a.zip:in/b.txt", Some(("a.zip", "in/b.txt"))),
            ("a.zip:b.zip:c", Some(("a.zip", "b.zip:c"))),
            ("b.tar:c.tgz:d", Some(("b.tar:c.tgz", "d"))),
            ("b.tar:c.tgz", Some(("b.tar:c.tgz", ""))),
            ("b.tar:z.tgz", Some(("b.tar", "z.tgz"))),
            ("odd.zip:name", None),
            ("x.TAR.GZ:f:10-20", Some(("x.TAR.GZ", "f:10-20"))),
            ("d:e.zip:f", Some(("d:e.zip", "f"))),
            ("a.zip-evil:b", None),
            ("a.zipper:b", None),
            ("missing.zip:b", None),
            ("plain.txt", None),
        ] {
            let got = locate_archive(typed, &is_file).map(|found| (found.archive, found.inner));
            assert_eq!(got, want, "{typed}");
        }
    }

    #[test]
    fn new_archives_need_an_entry() {
        let parts = |typed| new_archive_address(typed).map(|found| (found.archive, found.inner));
        assert_eq!(parts("new.zip:a"), Some(("new.zip", "a")));
        assert_eq!(parts("new.zip:a.tar:b"), Some(("new.zip:a.tar", "b")));
        assert_eq!(parts("new.zip"), None);
        assert_eq!(parts("new.zip:"), Some(("new.zip", "")));
        assert_eq!(parts("ünï.rar:a"), None);
    }
}

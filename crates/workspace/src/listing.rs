//! Lists a folder as a short tree with sizes and ages, in bounded time and length.

use std::fs::Metadata;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use omp_stdx::format;

#[derive(Clone, Copy, Debug)]
pub struct ListingLimits {
    /// Number of levels below the folder.
    pub depth: usize,
    /// Maximum number of entries shown for the folder itself.
    pub entries: usize,
    /// Maximum number of entries shown for each folder below it.
    pub nested_entries: usize,
    /// Maximum number of entries read per folder; a larger folder is counted as "at least".
    pub scanned: usize,
}

impl Default for ListingLimits {
    fn default() -> Self {
        Self { depth: 2, entries: 500, nested_entries: 20, scanned: 20_000 }
    }
}

/// Large, machine-made folders: they are listed, but their content is not.
const NOT_OPENED: [&str; 6] = [".git", ".hg", ".svn", "node_modules", "target", "__pycache__"];

/// Formats the tree as lines: folders first, then by name. Ages are relative to `now`. Of entries for which `kept` (called
/// with the path below the folder) returns true, only the number is shown.
pub fn list_folder(
    folder: &Path,
    limits: ListingLimits,
    now: SystemTime,
    kept: &dyn Fn(&Path) -> bool,
) -> io::Result<Vec<String>> {
    let mut lines = Vec::new();
    let scan = scan(folder, limits.scanned)?;
    Lister { limits, now, kept, root: folder, lines: &mut lines }.add(folder, scan, 0);
    Ok(lines)
}

struct Lister<'a> {
    limits: ListingLimits,
    now: SystemTime,
    kept: &'a dyn Fn(&Path) -> bool,
    root: &'a Path,
    lines: &'a mut Vec<String>,
}

struct FolderListing {
    entries: Vec<ListedFile>,
    cut_off: bool,
}

struct ListedFile {
    name: String,
    is_folder: bool,
    link: Option<String>,
    metadata: Option<Metadata>,
}

impl Lister<'_> {
    fn add(&mut self, folder: &Path, mut scan: FolderListing, level: usize) {
        let indent = "  ".repeat(level);
        let all = scan.entries.len();
        let below = folder.strip_prefix(self.root).unwrap_or(folder);
        scan.entries.retain(|entry| !(self.kept)(&below.join(&entry.name)));
        let kept = all - scan.entries.len();
        let shown = if level == 0 { self.limits.entries } else { self.limits.nested_entries };
        let hidden = scan.entries.len().saturating_sub(shown);
        for entry in scan.entries.into_iter().take(shown) {
            self.lines.push(format!("{indent}{}", self.describe(&entry)));
            let opened = entry.is_folder && entry.link.is_none() && !NOT_OPENED.contains(&entry.name.as_str());
            if opened && level + 1 < self.limits.depth {
                let below = folder.join(&entry.name);
                match self::scan(&below, self.limits.scanned) {
                    Ok(scan) => self.add(&below, scan, level + 1),
                    Err(error) => self.lines.push(format!("{indent}  (not readable: {})", error.kind())),
                }
            }
        }
        if kept > 0 {
            self.lines.push(format!("{indent}({} hidden from the model)", format::plural(kept, "entry", "entries")));
        }
        if hidden > 0 || scan.cut_off {
            let least = if scan.cut_off { "at least " } else { "" };
            self.lines.push(format!("{indent}… {least}{}", format::plural(hidden, "more entry", "more entries")));
        }
    }

    fn describe(&self, entry: &ListedFile) -> String {
        let mut text =
            omp_stdx::sanitize::reveal_invisible(&entry.name.replace(char::is_control, "\u{fffd}")).into_owned();
        if entry.is_folder {
            text.push('/');
        }
        if let Some(target) = &entry.link {
            text.push_str(" -> ");
            text.push_str(target);
        }
        let Some(metadata) = &entry.metadata else { return text };
        if metadata.is_file() {
            text.push_str("  ");
            text.push_str(&format::bytes(metadata.len()));
        }
        if let Ok(age) = metadata.modified().map(|modified| self.now.duration_since(modified).unwrap_or_default()) {
            text.push_str("  ");
            text.push_str(&rough_age(age.as_secs()));
        }
        text
    }
}

fn scan(folder: &Path, most: usize) -> io::Result<FolderListing> {
    let mut entries = Vec::new();
    let mut cut_off = false;
    for entry in std::fs::read_dir(folder)? {
        if entries.len() >= most {
            cut_off = true;
            break;
        }
        let Ok(entry) = entry else { continue };
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        let metadata = std::fs::metadata(entry.path()).ok();
        entries.push(ListedFile {
            name: entry.file_name().to_string_lossy().into_owned(),
            is_folder: metadata.as_ref().is_some_and(Metadata::is_dir),
            link: is_link.then(|| std::fs::read_link(entry.path()).unwrap_or_default().to_string_lossy().into_owned()),
            metadata,
        });
    }
    entries.sort_by(|a, b| b.is_folder.cmp(&a.is_folder).then_with(|| a.name.cmp(&b.name)));
    Ok(FolderListing { entries, cut_off })
}

fn rough_age(seconds: u64) -> String {
    match seconds {
        0..60 => "just now".into(),
        60..3600 => format!("{}m ago", seconds / 60),
        3600..86_400 => format!("{}h ago", seconds / 3600),
        86_400..2_592_000 => format!("{}d ago", seconds / 86_400),
        2_592_000..31_536_000 => format!("{}mo ago", seconds / 2_592_000),
        _ => format!("{}y ago", seconds / 31_536_000),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn list(folder: &Path, limits: ListingLimits) -> String {
        list_folder(folder, limits, SystemTime::now(), &|_| false).unwrap().join("\n")
    }

    #[test]
    fn a_tree_two_levels_deep() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["src/deep/hidden.rs", ".git/HEAD", "src/main.rs", "Cargo.toml"] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "12345").unwrap();
        }
        insta::assert_snapshot!(list(folder.path(), ListingLimits::default()), @"
        .git/  just now
        src/  just now
          deep/  just now
          main.rs  5B  just now
        Cargo.toml  5B  just now
        ");
    }

    #[test]
    fn large_folders_are_counted_not_shown() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..30 {
            fs::write(folder.path().join(format!("{n:02}")), "").unwrap();
        }
        let few = ListingLimits { entries: 2, ..ListingLimits::default() };
        assert!(list(folder.path(), few).ends_with("01  0B  just now\n… 28 more entries"));
        let cut_off = ListingLimits { entries: 2, scanned: 10, ..ListingLimits::default() };
        assert!(list(folder.path(), cut_off).ends_with("\n… at least 8 more entries"));
        assert!(list_folder(&folder.path().join("gone"), few, SystemTime::now(), &|_| false).is_err());
    }

    #[test]
    fn ages() {
        for (seconds, want) in
            [(5, "just now"), (120, "2m ago"), (7200, "2h ago"), (200_000, "2d ago"), (40_000_000, "1y ago")]
        {
            assert_eq!(rough_age(seconds), want);
        }
    }
}

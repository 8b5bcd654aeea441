//! Completes `@`: files and folders of the project by fuzzy match, and paths outside of it by prefix.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use omp_interactive::{Candidate, FileIndex};
use omp_workspace::{ScanCache, ScanPolicy, fuzzy_files};

/// Caps the number of candidates; nobody scrolls through more.
const MOST: usize = 50;
/// Caps the number of entries read from one folder.
const MOST_ENTRIES: usize = 10_000;
/// How long a list of files is reused while the user types.
const KEPT: Duration = Duration::from_secs(10);
/// How long a scan may take. On a slow disk, the files found by then are shown.
const LONGEST: Duration = Duration::from_secs(2);

pub struct ProjectFiles {
    cwd: PathBuf,
    home: PathBuf,
    scans: ScanCache,
}

impl ProjectFiles {
    pub fn new(cwd: PathBuf, home: PathBuf) -> Self {
        let policy = ScanPolicy { ttl: KEPT, max_scans: 1, max_entries: 400_000, ..ScanPolicy::default() };
        Self { cwd, home, scans: ScanCache::new(policy) }
    }

    /// Lists the entries of one folder whose names begin with the last part of the path.
    fn listed(&self, query: &str) -> Vec<Candidate> {
        let (folder, begin) = match query.rfind('/') {
            Some(at) => query.split_at(at + 1),
            None => ("", query),
        };
        let place = match folder.strip_prefix("~/") {
            Some(below) => self.home.join(below),
            None => self.cwd.join(folder),
        };
        let wanted = |name: &str| name.starts_with(begin) && (begin.starts_with('.') || !name.starts_with('.'));
        let begun = Instant::now();
        let mut found: Vec<Candidate> = std::fs::read_dir(place)
            .into_iter()
            .flatten()
            .take(MOST_ENTRIES)
            .take_while(|_| begun.elapsed() < LONGEST)
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok().filter(|name| wanted(name))?;
                // Only symbolic links need a lookup of their target.
                let is_folder = match entry.file_type() {
                    Ok(kind) if !kind.is_symlink() => kind.is_dir(),
                    _ => entry.path().is_dir(),
                };
                Some(Candidate { path: format!("{folder}{name}"), is_folder })
            })
            .collect();
        found.sort_by(|one, other| one.path.cmp(&other.path));
        found.truncate(MOST);
        found
    }
}

impl FileIndex for ProjectFiles {
    fn complete(&self, query: &str) -> Vec<Candidate> {
        if ["/", "~/", "./", "../"].iter().any(|start| query.starts_with(start)) {
            return self.listed(query);
        }
        let begun = Instant::now();
        let found = fuzzy_files(&self.scans, &self.cwd, query, MOST, &|| begun.elapsed() >= LONGEST);
        let candidate = |found: omp_workspace::FuzzyMatch| Candidate { path: found.path, is_folder: found.is_folder };
        found.matches.into_iter().map(candidate).filter(|one| is_typable(Path::new(&one.path))).collect()
    }

    fn starting_with(&self, typed: &str) -> Vec<Candidate> {
        let mut found = self.listed(typed);
        found.retain(|one| is_typable(Path::new(&one.path)));
        found
    }
}

/// Whether a path can be typed. A name with a line break or a quote could not be separated from the text around it.
fn is_typable(path: &Path) -> bool {
    !path.to_string_lossy().contains(['\n', '\r', '"', '\u{fffd}'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_find_files_and_paths_list_folders() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        for file in ["src/main.rs", "src/lib.rs", "target/out.rs", "odd\"name", ".gitignore"] {
            let file = project.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "target\n").unwrap();
        }
        std::fs::create_dir(project.join(".git")).unwrap();
        std::fs::write(folder.path().join("beside.txt"), "").unwrap();
        let files = ProjectFiles::new(project.clone(), folder.path().to_owned());
        let absolute = project.join("s").display().to_string();
        for (query, expect) in [
            ("smain", vec!["src/main.rs"]),
            ("src", vec!["src/", "src/lib.rs", "src/main.rs"]),
            ("out", vec![]),
            ("odd", vec![]),
            ("./src/l", vec!["./src/lib.rs"]),
            ("../b", vec!["../beside.txt"]),
            ("~/pro", vec!["~/project/"]),
            ("~/none/x", vec![]),
        ] {
            let found = files.complete(query);
            let shown: Vec<String> =
                found.iter().map(|one| format!("{}{}", one.path, if one.is_folder { "/" } else { "" })).collect();
            assert_eq!(shown, expect, "{query}");
        }
        let paths = |typed: &str| files.starting_with(typed).into_iter().map(|one| one.path).collect::<Vec<_>>();
        assert_eq!(paths("s"), ["src"]);
        assert_eq!(paths("src/"), ["src/lib.rs", "src/main.rs"]);
        assert_eq!(paths("main"), [""; 0], "a path is typed from its start");
        assert_eq!(paths("odd"), [""; 0]);
        assert_eq!(files.complete(&absolute)[0].path, project.join("src").display().to_string());
    }
}

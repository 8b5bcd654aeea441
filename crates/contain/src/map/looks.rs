//! Resolves paths and checks every folder on the way only once: a map has hundreds of paths, most of them in a few folders,
//! or in missing ones.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use omp_stdx::{at_once, real_path};

/// The results, from the first time each path was checked.
#[derive(Default)]
pub(super) struct Looks(RefCell<HashMap<PathBuf, LookedPath>>);

#[derive(Clone, Debug)]
struct LookedPath {
    /// With links resolved as far as it exists.
    real: PathBuf,
    exists: bool,
    is_link: bool,
}

impl Looks {
    /// Checks all paths, many in parallel because the disk may be slow. Folders for which `may_list` is true are listed
    /// instead of being asked for many names.
    pub(super) fn ahead<'a>(paths: impl Iterator<Item = &'a PathBuf>, may_list: impl Fn(&Path) -> bool) -> Self {
        let looks = Self::default();
        let mut levels: BTreeMap<usize, BTreeSet<&Path>> = BTreeMap::new();
        for path in paths.filter(|path| is_plain(path)) {
            for at in path.ancestors() {
                // The parents of a known path are known as well.
                if !levels.entry(at.components().count()).or_default().insert(at) {
                    break;
                }
            }
        }
        for level in levels.into_values() {
            let asked: Vec<(&Path, PathBuf)> =
                level.into_iter().filter_map(|path| Some((path, looks.candidate(path)?))).collect();
            let listed = listed(&asked, &may_list);
            let found = at_once::map(&asked, |(_, candidate)| {
                let told = candidate.parent().and_then(|folder| listed.get(folder)?.tell(candidate));
                told.unwrap_or_else(|| look(candidate))
            });
            let mut known = looks.0.borrow_mut();
            known.extend(asked.iter().map(|(path, _)| (*path).to_owned()).zip(found));
        }
        looks
    }

    /// Resolves links as far as the path exists.
    pub(super) fn real(&self, path: &Path) -> PathBuf {
        if is_plain(path) { self.place(path).real } else { real_path::of(path) }
    }

    /// Resolves links; `None` if the path does not exist.
    pub(super) fn existing(&self, path: &Path) -> Option<PathBuf> {
        if !is_plain(path) {
            return real_path::existing(path);
        }
        let place = self.place(path);
        place.exists.then_some(place.real)
    }

    pub(super) fn exists(&self, path: &Path) -> bool {
        self.existing(path).is_some()
    }

    /// Whether the last component of the path is a link.
    pub(super) fn is_link(&self, path: &Path) -> bool {
        match is_plain(path) {
            true => self.place(path).is_link,
            false => path.symlink_metadata().is_ok_and(|data| data.is_symlink()),
        }
    }

    fn place(&self, path: &Path) -> LookedPath {
        if let Some(known) = self.0.borrow().get(path) {
            return known.clone();
        }
        let place = match self.candidate(path) {
            Some(candidate) => look(&candidate),
            None => self.missing(path),
        };
        self.0.borrow_mut().insert(path.to_owned(), place.clone());
        place
    }

    /// The path with its parent resolved; `None` if the parent folder does not exist.
    fn candidate(&self, path: &Path) -> Option<PathBuf> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Some(path.to_owned()) };
        let above = self.place(parent);
        above.exists.then(|| above.real.join(name))
    }

    fn missing(&self, path: &Path) -> LookedPath {
        let above = path.parent().map(|parent| self.place(parent).real).unwrap_or_default();
        LookedPath { real: above.join(path.file_name().unwrap_or_default()), exists: false, is_link: false }
    }
}

/// From this many names on, a folder is listed instead.
const WORTH_LISTING: usize = 4;
/// A folder with more entries is asked for the names after all.
const MOST_LISTED: usize = 2_000;

/// The entries of a folder, and whether each is a link; `None` if unknown.
struct ListedFolder(HashMap<OsString, Option<bool>>);

/// The folders from which many names are needed, if they can be listed.
fn listed(asked: &[(&Path, PathBuf)], may_list: &dyn Fn(&Path) -> bool) -> HashMap<PathBuf, ListedFolder> {
    let mut counts: BTreeMap<&Path, usize> = BTreeMap::new();
    // On other systems a name may be stored in another spelling than it is asked for.
    let folders = asked.iter().filter(|_| cfg!(target_os = "linux")).filter_map(|(_, candidate)| candidate.parent());
    folders.for_each(|folder| *counts.entry(folder).or_default() += 1);
    let folders: Vec<&Path> = counts
        .into_iter()
        .filter(|(_, count)| *count >= WORTH_LISTING)
        .map(|(folder, _)| folder)
        .filter(|it| may_list(it))
        .collect();
    let listed = at_once::map(&folders, |folder| ListedFolder::of(folder));
    let folders = folders.into_iter().map(Path::to_owned);
    folders.zip(listed).filter_map(|(folder, listed)| Some((folder, listed?))).collect()
}

impl ListedFolder {
    fn of(folder: &Path) -> Option<Self> {
        let mut names = HashMap::new();
        for entry in std::fs::read_dir(folder).ok()? {
            let entry = entry.ok()?;
            if names.len() == MOST_LISTED {
                return None;
            }
            names.insert(entry.file_name(), entry.file_type().ok().map(|kind| kind.is_symlink()));
        }
        Some(Self(names))
    }

    /// `None` if the path has to be checked itself.
    fn tell(&self, candidate: &Path) -> Option<LookedPath> {
        let name = candidate.file_name()?;
        let real = candidate.to_owned();
        match self.0.get(name) {
            Some(Some(false)) => Some(LookedPath { real, exists: true, is_link: false }),
            Some(_) => None,
            // Some file systems ignore case.
            None if self.0.keys().any(|known| known.eq_ignore_ascii_case(name)) => None,
            None => Some(LookedPath { real, exists: false, is_link: false }),
        }
    }
}

/// Checks a path in a folder whose real path is known.
fn look(candidate: &Path) -> LookedPath {
    let is_link = match candidate.symlink_metadata() {
        Ok(data) => data.is_symlink(),
        Err(_) => return LookedPath { real: candidate.to_owned(), exists: false, is_link: false },
    };
    // If case is ignored, the name may be stored in another spelling.
    let as_written = !is_link && cfg!(target_os = "linux");
    let real = if as_written { Some(candidate.to_owned()) } else { real_path::existing(candidate) };
    let exists = real.is_some();
    LookedPath { real: real.unwrap_or_else(|| candidate.to_owned()), exists, is_link }
}

fn is_plain(path: &Path) -> bool {
    path.is_absolute() && path.components().all(|part| part != Component::ParentDir)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_a_look_at_each_would_say() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/file"), "").unwrap();
        let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, root.join(at)).unwrap();
        link("a", "link");
        link("nowhere", "dangling");
        link("ring", "other");
        link("other", "ring");
        link("../link/b", "a/inner");
        let names = [
            "",
            "a",
            "a/",
            "a//b",
            "a/./b",
            "a/../a/b",
            "a/b/c/d",
            "a/file",
            "a/file/x",
            "gone",
            "gone/x",
            "link",
            "link/b",
            "link/inner",
            "link/inner/x",
            "link/../a",
            "dangling",
            "dangling/x",
            "ring",
            "ring/x",
        ];
        let paths: Vec<PathBuf> =
            names.iter().map(|name| PathBuf::from(format!("{}/{name}", root.display()))).collect();
        for looks in [Looks::default(), Looks::ahead(paths.iter(), |_| true), Looks::ahead(paths.iter(), |_| false)] {
            for path in paths.iter().chain([&PathBuf::from("/")]) {
                assert_eq!(looks.real(path), real_path::of(path), "{path:?}");
                assert_eq!(looks.existing(path), real_path::existing(path), "{path:?}");
                // A trailing slash would resolve the link.
                let bare: PathBuf = path.components().collect();
                let is_link = bare.symlink_metadata().is_ok_and(|data| data.is_symlink());
                assert_eq!(looks.is_link(path), is_link, "{path:?}");
            }
        }
    }

    #[test]
    fn a_folder_with_too_much_in_it_is_asked_for_names() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        (0..=MOST_LISTED).for_each(|number| std::fs::write(root.join(number.to_string()), "").unwrap());
        let paths = ["1", "x", "2000", "y", "z"].map(|name| root.join(name));
        let looks = Looks::ahead(paths.iter(), |_| true);
        assert_eq!(paths.map(|path| looks.exists(&path)), [true, false, true, false, false]);
    }

    #[test]
    fn what_lies_in_a_missing_folder_is_not_looked_for() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let paths = [root.join("later/a/b"), root.join("later/c")];
        let looks = Looks::ahead(paths.iter(), |_| true);
        // Created since, so that another check would find it.
        std::fs::create_dir_all(root.join("later/a/b")).unwrap();
        assert!(paths.iter().all(|path| !looks.exists(path)) && !looks.exists(&root.join("later/new")));
        assert_eq!(looks.real(&paths[0]), paths[0]);
    }
}

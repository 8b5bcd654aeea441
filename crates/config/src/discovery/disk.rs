//! The disk as discovery sees it: every query runs once, and many run in parallel if the disk is slow.
//!
//! If a discovery takes long it is restarted: it continues without answers, which only shows what it wants to query. All
//! these queries then run in parallel, and the discovery is repeated with the answers until it asks nothing new. The result
//! is therefore the same on a slow disk, and nothing is skipped for lack of time.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use omp_stdx::at_once;

use super::Places;
use super::files::{Content, Limit, remembered};

/// Further entries of a folder are ignored.
pub(super) const MAX_ENTRIES: usize = 5_000;
/// Time during which queries run one after the other. On a local disk all of them take a few milliseconds.
const PATIENCE: Duration = Duration::from_millis(15);
/// Limits the repetitions, one for each step from a folder to its content. After that, queries run one after the other.
const MAX_ROUNDS: usize = 32;

pub(crate) struct Disk {
    known: RefCell<HashMap<Question, Answer>>,
    /// Queries without an answer.
    open: RefCell<HashSet<Question>>,
    spent: Cell<Duration>,
    /// After this time queries stay open.
    patience: Duration,
    /// The user's folders: listed once instead of queried name by name.
    listed: Vec<PathBuf>,
    /// The project's folders, which may hold any number of files: queried by name only.
    unlisted: Vec<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Question {
    // Keyed by the bytes of the path: hashing a path by component costs more than listing a small folder.
    Look(OsString),
    List(OsString),
    Real(OsString),
    Read(OsString, Limit, Version),
}

/// A file with the same version has the same content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Version {
    pub size: u64,
    pub modified: Option<SystemTime>,
}

#[derive(Clone)]
enum Answer {
    Look(Look),
    List(Listing),
    Real(Option<PathBuf>),
    Read(Result<Arc<Content>, String>),
}

/// The result of querying a name.
#[derive(Clone, Debug)]
pub(super) struct Look {
    pub is_link: bool,
    /// The target, if the name is a link.
    pub found: Result<Found, Failed>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    File(Version),
    Folder,
    Other,
}

#[derive(Clone, Debug)]
pub(super) struct Failed {
    /// The path does not exist, which is not reported.
    pub is_absent: bool,
    pub text: Arc<str>,
}

pub(super) type Listing = Result<Arc<Listed>, Failed>;

/// The content of a folder, unsorted.
#[derive(Debug)]
pub(super) struct Listed {
    pub entries: Vec<(OsString, Named)>,
    /// There are more entries.
    pub is_cut: bool,
}

/// What a folder listing tells about a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Missing,
    /// A folder, not a link.
    Folder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    File,
    Folder,
    Link,
    Other,
    /// The listing does not tell the type.
    Unknown,
}

impl Disk {
    /// Creates a disk that runs queries one after the other.
    pub fn plain() -> Self {
        Self::new(Duration::MAX)
    }

    fn new(patience: Duration) -> Self {
        let (known, open, spent) = (RefCell::default(), RefCell::default(), Cell::default());
        Self { known, open, spent, patience, listed: Vec::new(), unlisted: Vec::new() }
    }

    /// Runs `look` until all of its queries are answered, and returns its result.
    pub fn explored<T>(places: &Places<'_>, root: &Path, look: impl Fn(Self) -> (T, Self)) -> T {
        Self::explored_within(PATIENCE, places, root, look)
    }

    pub fn explored_within<T>(
        patience: Duration,
        places: &Places<'_>,
        root: &Path,
        look: impl Fn(Self) -> (T, Self),
    ) -> T {
        let bare = |folder: &Path| folder.components().collect::<PathBuf>();
        let mut disk = Self::new(patience);
        disk.listed = vec![bare(places.home), bare(places.agent)];
        let project = places.cwd.ancestors().take_while(|folder| folder.starts_with(root)).map(bare);
        disk.unlisted = project.filter(|folder| !disk.listed.contains(folder)).collect();
        for _ in 0..MAX_ROUNDS {
            let (found, asked) = look(disk);
            disk = asked;
            if disk.open.get_mut().is_empty() {
                return found;
            }
            disk.answer_open();
        }
        disk.patience = Duration::MAX;
        look(disk).0
    }

    pub fn look(&self, path: &Path) -> Look {
        match self.told_by_folder(path) {
            Some(Told::Folder) => Look { is_link: false, found: Ok(Found::Folder) },
            Some(Told::Missing) => Look { is_link: false, found: Err(Failed::absent()) },
            None => match self.ask(Question::Look(path.into())) {
                Some(Answer::Look(look)) => look,
                _ => Look { is_link: false, found: Err(Failed::absent()) },
            },
        }
    }

    pub fn is_folder(&self, path: &Path) -> bool {
        matches!(self.look(path).found, Ok(Found::Folder))
    }

    pub fn is_file(&self, path: &Path) -> bool {
        matches!(self.look(path).found, Ok(Found::File(_)))
    }

    pub fn exists(&self, path: &Path) -> bool {
        self.look(path).found.is_ok()
    }

    pub fn list(&self, folder: &Path) -> Listing {
        let is_given = self.listed.iter().any(|listed| listed == folder);
        if !is_given && self.told_by_folder(folder) == Some(Told::Missing) {
            return Err(Failed::absent());
        }
        match self.ask(Question::List(folder.into())) {
            Some(Answer::List(listing)) => listing,
            _ => Err(Failed::absent()),
        }
    }

    pub fn real(&self, path: &Path) -> Option<PathBuf> {
        match self.ask(Question::Real(path.into())) {
            Some(Answer::Real(real)) => real,
            _ => None,
        }
    }

    /// Reads a regular file.
    pub fn read(&self, path: &Path, limit: Limit, version: Version) -> Result<Arc<Content>, String> {
        match self.ask(Question::Read(path.into(), limit, version)) {
            Some(Answer::Read(content)) => content,
            _ => Err("it has not been read yet".to_owned()),
        }
    }

    /// Returns what the listing of the parent folder tells about a name; `None` if the name must be queried.
    ///
    /// Nothing is queried in a missing folder, and an existing folder is listed once for all names.
    fn told_by_folder(&self, path: &Path) -> Option<Told> {
        let (folder, name) = (path.parent()?, path.file_name()?);
        let is_near = |near: &PathBuf| folder.starts_with(near);
        // On other systems names may be stored in another form than they are queried.
        let is_told = cfg!(target_os = "linux")
            && !self.unlisted.iter().any(|unlisted| unlisted == folder)
            && self.listed.iter().chain(&self.unlisted).any(is_near);
        if !is_told {
            return None;
        }
        match self.list(folder) {
            Err(failed) => failed.is_absent.then_some(Told::Missing),
            Ok(listed) => listed.tells_of(name),
        }
    }

    /// Returns `None` if the query stays open.
    fn ask(&self, question: Question) -> Option<Answer> {
        if let Some(answer) = self.known.borrow().get(&question) {
            return Some(answer.clone());
        }
        if self.spent.get() > self.patience {
            self.open.borrow_mut().insert(question);
            return None;
        }
        let begun = Instant::now();
        let answer = question.answer();
        self.spent.set(self.spent.get() + begun.elapsed());
        self.known.borrow_mut().insert(question, answer.clone());
        Some(answer)
    }

    fn answer_open(&mut self) {
        let asked: Vec<Question> = self.open.get_mut().drain().collect();
        let answers = at_once::map(&asked, Question::answer);
        self.known.get_mut().extend(asked.into_iter().zip(answers));
    }
}

impl Question {
    fn answer(&self) -> Answer {
        match self {
            Question::Look(path) => Answer::Look(look(Path::new(path))),
            Question::List(folder) => Answer::List(list(Path::new(folder)).map(Arc::new).map_err(Failed::from)),
            Question::Real(path) => Answer::Real(Path::new(path).canonicalize().ok()),
            Question::Read(path, limit, version) => Answer::Read(remembered(Path::new(path), *version, *limit)),
        }
    }
}

impl Listed {
    fn tells_of(&self, name: &OsStr) -> Option<Told> {
        if let Some((_, named)) = self.entries.iter().find(|(entry, _)| entry == name) {
            return (*named == Named::Folder).then_some(Told::Folder);
        }
        // Some file systems ignore case.
        let is_similar = self.entries.iter().any(|(entry, _)| entry.eq_ignore_ascii_case(name));
        (!self.is_cut && !is_similar).then_some(Told::Missing)
    }
}

impl Failed {
    fn absent() -> Self {
        io::Error::from(ErrorKind::NotFound).into()
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        let is_absent = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
        Self { is_absent, text: error.to_string().into() }
    }
}

impl From<Metadata> for Found {
    fn from(data: Metadata) -> Self {
        match data.file_type() {
            kind if kind.is_dir() => Found::Folder,
            kind if kind.is_file() => Found::File(Version { size: data.len(), modified: data.modified().ok() }),
            _ => Found::Other,
        }
    }
}

fn look(path: &Path) -> Look {
    let own = match fs::symlink_metadata(path) {
        Ok(own) => own,
        Err(error) => return Look { is_link: false, found: Err(error.into()) },
    };
    let is_link = own.is_symlink();
    let found = if is_link { fs::metadata(path) } else { Ok(own) };
    Look { is_link, found: found.map(Found::from).map_err(Failed::from) }
}

fn list(folder: &Path) -> io::Result<Listed> {
    let mut listed = Listed { entries: Vec::new(), is_cut: false };
    for entry in fs::read_dir(folder)?.flatten() {
        if listed.entries.len() == MAX_ENTRIES {
            listed.is_cut = true;
            break;
        }
        let named = match entry.file_type() {
            Ok(kind) if kind.is_dir() => Named::Folder,
            Ok(kind) if kind.is_file() => Named::File,
            Ok(kind) if kind.is_symlink() => Named::Link,
            Ok(_) => Named::Other,
            Err(_) => Named::Unknown,
        };
        listed.entries.push((entry.file_name(), named));
    }
    Ok(listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new(files: &[&str]) -> Self {
            let tree = Self(tempfile::tempdir().unwrap());
            for file in files {
                fs::create_dir_all(tree.at(file).parent().unwrap()).unwrap();
                fs::write(tree.at(file), "x").unwrap();
            }
            tree
        }

        fn at(&self, name: &str) -> PathBuf {
            self.0.path().canonicalize().unwrap().join(name)
        }

        /// Queries names below the home and the project; returns which exist and the number of queries.
        fn asked(&self, patience: Duration, names: &[&str]) -> (Vec<bool>, usize) {
            let (home, agent, cwd) = (self.at("home"), self.at("home/.omp/agent"), self.at("project"));
            let places = Places { home: &home, agent: &agent, cwd: &cwd };
            Disk::explored_within(patience, &places, &cwd, |disk| {
                let found = names.iter().map(|name| disk.exists(&self.at(name))).collect();
                let count = disk.known.borrow().len();
                ((found, count), disk)
            })
        }
    }

    #[test]
    fn what_is_missing_is_known_from_the_folder_around_it() {
        let tree = Tree::new(&["home/.claude/settings.json", "project/a"]);
        let names = [
            "home/.claude/settings.json",
            "home/.claude/skills/x/SKILL.md",
            "home/.claude/agents",
            "home/.codex/skills",
            "home/.codex/agents/x",
            "home/.gemini/settings.json",
            "project/a",
            "project/.claude",
        ];
        for patience in [Duration::ZERO, Duration::MAX] {
            let (found, questions) = tree.asked(patience, &names);
            assert_eq!(found, [true, false, false, false, false, false, true, false]);
            if cfg!(target_os = "linux") {
                // The home, its only folder, the file in it, and two names of the project.
                assert_eq!(questions, 5, "{patience:?}");
            }
        }
    }

    #[test]
    fn a_project_is_not_listed_however_much_is_in_it() {
        let files: Vec<String> = (0..200).map(|number| format!("project/{number}")).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).chain(["home/x"]).collect();
        let names = ["project/AGENTS.md", "project/.omp", "home/.claude"];
        let counts =
            [Tree::new(&files), Tree::new(&["project/1", "home/x"])].map(|tree| tree.asked(PATIENCE, &names).1);
        assert_eq!(counts[0], counts[1]);
    }

    #[test]
    fn a_folder_with_too_much_in_it_is_asked_by_name() {
        let files: Vec<String> = (0..MAX_ENTRIES + 1).map(|number| format!("home/{number}")).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).chain(["home/.claude/x", "project/1"]).collect();
        let (found, _) = Tree::new(&files).asked(Duration::MAX, &["home/.claude", "home/.codex", "home/.claude/x"]);
        assert_eq!(found, [true, false, true]);
    }
}

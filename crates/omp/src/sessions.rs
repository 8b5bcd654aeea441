//! Which session a run goes on with, or where a new one is kept.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use omp_session::{Recorder, SessionListing, Wish};
use omp_store::{ArtifactDir, BlobStore, LoadedSession, NewSession, SessionInfo, SessionWriter, SessionsDir};
use omp_tools::{ArtifactFile, Artifacts, HistoryResource, NoArtifacts, Resource};
use omp_types::Message;

use crate::cli::SessionArgs;
use crate::compose::{Problem, Recorded, Setup};
use crate::transcript::FileHistory;

/// A session that is ready to go on.
pub struct Opened {
    pub recorder: Recorder,
    pub history: Vec<Message>,
    pub recorded: Recorded,
    pub artifacts: Arc<dyn Artifacts>,
    /// What internal addresses lead to.
    pub resources: Vec<Arc<dyn Resource>>,
    /// Whether the file was there before.
    pub resumed: bool,
}

/// What the flags ask for.
pub fn wish(setup: &Setup, args: &SessionArgs) -> Result<Wish, Problem> {
    let sessions = folder(setup, args);
    let file = match &args.resume {
        _ if args.no_session => None,
        Some(wanted) => Some(sessions.resolve(&setup.cwd, wanted).map_err(|error| error.to_string())?),
        None if args.r#continue => {
            sessions.most_recent(&setup.cwd).map_err(|error| error.to_string())?.map(|info| info.path)
        }
        None => None,
    };
    Ok(match file {
        Some(file) => Wish::Resume { file, cwd: None },
        None => Wish::New { cwd: None, parent: None },
    })
}

pub fn open(setup: &mut Setup, args: &SessionArgs, wish: Wish) -> Result<Opened, Problem> {
    let blobs = BlobStore::new(&setup.dirs.agent);
    match wish {
        Wish::Resume { file, .. } => resume(setup, &file, blobs),
        Wish::New { .. } if args.no_session => Ok(unrecorded(&setup.cwd)),
        Wish::New { parent, .. } => {
            let new = NewSession { cwd: &setup.cwd, now: SystemTime::now(), parent_session: parent };
            let writer = SessionWriter::create(&folder(setup, args).session_dir_for(&setup.cwd), blobs, new);
            Ok(fresh(setup, writer))
        }
    }
}

/// For `--resume` without a value: the sessions of this folder, newest first.
pub fn list(setup: &Setup, args: &SessionArgs) -> Result<String, Problem> {
    let sessions = folder(setup, args).list(&setup.cwd).map_err(|error| error.to_string())?;
    if sessions.is_empty() {
        return Ok("no sessions in this folder yet\n".to_owned());
    }
    Ok(sessions.iter().map(describe).collect())
}

/// The sessions of this folder, or of all, newest first.
pub fn listings(setup: &Setup, args: &SessionArgs, everywhere: bool) -> Result<Vec<SessionListing>, Problem> {
    let sessions = folder(setup, args);
    let mut found = sessions.list(&setup.cwd).map_err(|error| error.to_string())?;
    if everywhere {
        let folders = std::fs::read_dir(sessions.root()).into_iter().flatten().flatten().map(|entry| entry.path());
        for folder in folders.filter(|folder| folder.is_dir()) {
            let others = SessionsDir::flat(folder).list(&setup.cwd).unwrap_or_default();
            let new: Vec<_> = others.into_iter().filter(|info| found.iter().all(|it| it.path != info.path)).collect();
            found.extend(new);
        }
        found.sort_by_key(|info| std::cmp::Reverse(info.modified));
    }
    Ok(found.into_iter().map(listing).collect())
}

fn listing(info: SessionInfo) -> SessionListing {
    let SessionInfo { path, id, title, cwd, modified, first_message, .. } = info;
    SessionListing { id, file: path, title, cwd: cwd.into(), modified, first_message }
}

fn describe(info: &SessionInfo) -> String {
    let id: String = info.id.chars().take(13).collect();
    let about = info.title.as_deref().or(info.first_message.as_deref()).unwrap_or("(nothing said)");
    let about: String = about.lines().next().unwrap_or_default().chars().take(80).collect();
    format!("{id}  {about}\n")
}

fn folder(setup: &Setup, args: &SessionArgs) -> SessionsDir {
    match &args.session_dir {
        Some(dir) => SessionsDir::flat(setup.cwd.join(dir)),
        None => SessionsDir::new(&setup.dirs.agent, &setup.env),
    }
}

/// A session that leaves nothing behind.
pub fn unrecorded(cwd: &Path) -> Opened {
    Opened {
        recorder: Recorder::nowhere(cwd),
        history: Vec::new(),
        recorded: Recorded::default(),
        artifacts: Arc::new(NoArtifacts),
        resources: Vec::new(),
        resumed: false,
    }
}

fn fresh(setup: &Setup, writer: SessionWriter) -> Opened {
    let history = FileHistory { session: writer.path().to_owned(), agent: setup.dirs.agent.clone() };
    let artifacts = SessionArtifacts::of(writer.path());
    Opened {
        recorder: Recorder::to_file(writer),
        history: Vec::new(),
        recorded: Recorded::default(),
        artifacts: Arc::new(artifacts),
        resources: vec![Arc::new(HistoryResource(Arc::new(history)))],
        resumed: false,
    }
}

fn resume(setup: &mut Setup, path: &Path, blobs: BlobStore) -> Result<Opened, Problem> {
    let mut session = LoadedSession::open(path, blobs).map_err(|error| error.to_string())?;
    refuse_other_project(&session, &setup.cwd)?;
    let context = session.context();
    let (writer, report) = session.into_writer().map_err(|error| error.to_string())?;
    setup.warnings.extend(report.problems.iter().map(|problem| format!("{}: {problem}", path.display())));
    if report.further > 0 {
        setup.warnings.push(format!("{}: {} more problems", path.display(), report.further));
    }
    let recorded =
        Recorded { model: context.model, thinking: context.thinking_level.and_then(|level| level.parse().ok()) };
    Ok(Opened { history: context.messages, recorded, resumed: true, ..fresh(setup, writer) })
}

/// A conversation about other files would lead the model astray here. A folder that is gone was moved.
fn refuse_other_project(session: &LoadedSession, cwd: &Path) -> Result<(), Problem> {
    let home = Path::new(&session.header().cwd);
    // The file holds text, which a path need not be.
    let named = home.as_os_str().is_empty() || session.header().cwd == cwd.to_string_lossy();
    let same = named || home.canonicalize().is_ok_and(|home| home == cwd);
    if same || !home.exists() {
        return Ok(());
    }
    Err(format!(
        "session {} belongs to another folder, {}\nhint: go on there with --cwd {}",
        session.id(),
        home.display(),
        home.display()
    ))
}

/// Full outputs of tools, kept beside the session file.
struct SessionArtifacts {
    dir: Mutex<ArtifactDir>,
}

impl SessionArtifacts {
    fn of(session: &Path) -> Self {
        Self { dir: Mutex::new(ArtifactDir::of_session(session)) }
    }
}

impl Artifacts for SessionArtifacts {
    fn create(&self, tool: &str) -> std::io::Result<ArtifactFile> {
        let artifact = self.dir.lock().unwrap_or_else(PoisonError::into_inner).create(tool)?;
        Ok(ArtifactFile { id: artifact.id.to_string(), file: artifact.file })
    }

    fn list(&self) -> std::io::Result<Vec<(u64, PathBuf)>> {
        self.dir.lock().unwrap_or_else(PoisonError::into_inner).list()
    }

    fn folder(&self) -> Option<PathBuf> {
        Some(self.dir.lock().unwrap_or_else(PoisonError::into_inner).path().to_owned())
    }
}

//! Chooses the session that a run resumes, or where a new one is stored.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use omp_compaction::BLANKED_ENTRY;
use omp_session::{QUARANTINE_ENTRY, Recorder, Resumed, SessionListing, TitleSource, Wish};
use omp_store::{
    ArtifactDir, BlobStore, Breadcrumb, CopiedSession, CopyError, CopyTo, LoadedSession, NewSession, SessionInfo,
    SessionWriter, SessionsDir,
};
use omp_tools::{ArtifactFile, Artifacts, HistoryResource, NoArtifacts, Resource};

use crate::cli::SessionArgs;
use crate::folder::{FolderProblem, FolderSetup};
use crate::session::models::RecordedChoice;
use crate::session::transcript::FileHistory;

/// A session that is ready to run.
pub struct ReadySession {
    pub recorder: Recorder,
    /// The conversation from its file.
    pub resumed: Resumed,
    pub recorded: RecordedChoice,
    pub artifacts: Arc<dyn Artifacts>,
    /// The resources behind internal addresses.
    pub resources: Vec<Arc<dyn Resource>>,
    /// Whether the file existed before.
    pub is_resumed: bool,
    /// Problems with the file that do not prevent resuming it.
    pub warnings: Vec<String>,
}

/// Returns the session that the flags ask for.
pub fn wish(setup: &FolderSetup, args: &SessionArgs) -> Result<Wish, FolderProblem> {
    let sessions = folder(setup, args);
    let resolve = |wanted: &str| sessions.resolve(&setup.cwd, wanted).map_err(|error| error.to_string());
    let new = Wish::New { cwd: None, parent: None };
    if args.no_session {
        return Ok(new);
    }
    if let Some(wanted) = &args.fork {
        return Ok(Wish::Fork { file: resolve(wanted)?, cwd: None });
    }
    if let Some(wanted) = &args.resume {
        return resumed(setup, resolve(wanted)?, SessionsDir::is_path(wanted));
    }
    if !args.r#continue {
        return Ok(new);
    }
    match newest(setup, &sessions)? {
        Some(file) => Ok(Wish::Resume { file, cwd: None }),
        None => Ok(new),
    }
}

/// Returns this terminal's last session of this folder, else the folder's newest. If there is none, returns a session whose
/// folder was renamed to this one.
fn newest(setup: &FolderSetup, sessions: &SessionsDir) -> Result<Option<PathBuf>, FolderProblem> {
    let last = breadcrumb(setup).and_then(|crumb| crumb.read());
    if let Some(last) = &last
        && last.cwd == setup.cwd
    {
        return Ok((!last.fresh).then(|| last.session.clone()));
    }
    let recent = sessions.most_recent(&setup.cwd).map_err(|error| error.to_string())?;
    match last {
        Some(last) if recent.is_none() && !last.fresh && !last.cwd.exists() => {
            let moved = sessions.move_to(&last.session, &setup.cwd, BlobStore::new(&setup.dirs.agent));
            moved.map(Some).map_err(|error| error.to_string())
        }
        _ => Ok(recent.map(|info| info.path)),
    }
}

/// Remembers the last session of this terminal.
pub fn leave_breadcrumb(setup: &FolderSetup, session: &Path) {
    if let Some(crumb) = breadcrumb(setup) {
        crumb.leave(&setup.cwd, session);
    }
}

fn breadcrumb(setup: &FolderSetup) -> Option<Breadcrumb> {
    Breadcrumb::of_terminal(&setup.dirs.agent, omp_store::terminal_device().as_deref(), &setup.env)
}

/// An id may match a session of another project, so the user is asked whether to fork it here. A path is used as it is.
fn resumed(setup: &FolderSetup, file: PathBuf, by_path: bool) -> Result<Wish, FolderProblem> {
    let elsewhere = other_project(folder_in(&file), &setup.cwd);
    match elsewhere {
        Some(home) if !by_path && asked_to_fork(&home)? => Ok(Wish::Fork { file, cwd: None }),
        Some(home) if !by_path => Err(belongs_elsewhere(&id_of(&file), &home)),
        _ => Ok(Wish::Resume { file, cwd: None }),
    }
}

/// Returns `false` if there is no terminal to ask on.
fn asked_to_fork(home: &Path) -> Result<bool, FolderProblem> {
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return Ok(false);
    }
    let question =
        format!("Session found in different project: {}. Fork into current directory? [y/N] ", home.display());
    let unanswered = |error: std::io::Error| format!("cannot ask whether to fork the session: {error}");
    let mut answer = String::new();
    std::io::stderr().write_all(question.as_bytes()).map_err(unanswered)?;
    std::io::stdin().read_line(&mut answer).map_err(unanswered)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

pub fn open(setup: &FolderSetup, args: &SessionArgs, wish: Wish) -> Result<ReadySession, FolderProblem> {
    let blobs = BlobStore::new(&setup.dirs.agent);
    match wish {
        Wish::Resume { file, .. } | Wish::Move { file, .. } => resume(setup, &file, blobs),
        Wish::New { .. } if args.no_session => Ok(unrecorded(&setup.cwd)),
        Wish::New { parent, .. } => Ok(begin(setup, args, blobs, parent)),
        Wish::Branch { file, leaf: None } => Ok(begin(setup, args, blobs, Some(file.to_string_lossy().into_owned()))),
        Wish::Fork { file, .. } => continue_copy(setup, args, &file, blobs, LoadedSession::fork),
        Wish::Branch { file, leaf: Some(leaf) } => {
            continue_copy(setup, args, &file, blobs, |session, to| session.branch(&leaf, to))
        }
    }
}

/// Moves a session to the folder of the setup.
pub fn relocate(setup: &FolderSetup, args: &SessionArgs, file: &Path) -> Result<Moved, FolderProblem> {
    let blobs = BlobStore::new(&setup.dirs.agent);
    let sessions = folder(setup, args);
    let cwd = SessionInfo::of_file(file).map(|info| info.cwd).unwrap_or_default();
    let now = sessions.move_to(file, &setup.cwd, blobs.clone()).map_err(|error| error.to_string())?;
    Ok(Moved { now, before: file.to_owned(), cwd, sessions, blobs })
}

/// A session that was moved, and what is needed to move it back.
pub struct Moved {
    pub now: PathBuf,
    before: PathBuf,
    cwd: String,
    sessions: SessionsDir,
    blobs: BlobStore,
}

impl Moved {
    /// Undoes the move. Returns the reason, with a note on what happened to the session.
    pub fn back(self, reason: FolderProblem) -> FolderProblem {
        match self.sessions.move_back(&self.now, &self.before, &self.cwd, self.blobs) {
            Ok(()) => reason,
            Err(error) => format!("{reason}\nthe session is now {}, because: {error}", self.now.display()),
        }
    }
}

fn begin(setup: &FolderSetup, args: &SessionArgs, blobs: BlobStore, parent_session: Option<String>) -> ReadySession {
    let new = NewSession { cwd: &setup.cwd, now: SystemTime::now(), parent_session };
    let writer = SessionWriter::create(&folder(setup, args).session_dir_for(&setup.cwd), blobs, new);
    fresh(setup, writer)
}

/// Copies a session and resumes the copy.
fn continue_copy(
    setup: &FolderSetup,
    args: &SessionArgs,
    file: &Path,
    blobs: BlobStore,
    copy: impl FnOnce(&LoadedSession, CopyTo<'_>) -> Result<CopiedSession, CopyError>,
) -> Result<ReadySession, FolderProblem> {
    let source = LoadedSession::open(file, blobs.clone()).map_err(|error| error.to_string())?;
    let to_folder = folder(setup, args).session_dir_for(&setup.cwd);
    let to = CopyTo { folder: &to_folder, cwd: &setup.cwd, now: SystemTime::now() };
    let copied = copy(&source, to).map_err(|error| error.to_string())?;
    drop(source);
    let mut opened = resume(setup, &copied.path, blobs)?;
    opened.warnings = [copied.warnings, opened.warnings].concat();
    Ok(opened)
}

/// For `--resume` without a value: lists the sessions of this folder, newest first.
pub fn list(setup: &FolderSetup, args: &SessionArgs) -> Result<String, FolderProblem> {
    let sessions = folder(setup, args).list(&setup.cwd).map_err(|error| error.to_string())?;
    if sessions.is_empty() {
        return Ok("no sessions in this folder yet\n".to_owned());
    }
    Ok(sessions.iter().map(describe).collect())
}

/// Lists the sessions of a folder, or of all folders, for front ends.
pub fn listed(sessions: &SessionsDir, cwd: Option<&Path>) -> Result<Vec<SessionListing>, FolderProblem> {
    let found = match cwd {
        Some(cwd) => sessions.list(cwd),
        None => sessions.list_all(),
    };
    let listing = |info: SessionInfo| SessionListing {
        id: info.id,
        file: info.path,
        title: info.title,
        cwd: info.cwd.into(),
        modified: info.modified,
        first_message: info.first_message,
    };
    Ok(found.map_err(|error| error.to_string())?.into_iter().map(listing).collect())
}

/// Renames a session that is not open, and returns the title as it was stored.
pub fn rename(session: LoadedSession, title: &str) -> Result<String, FolderProblem> {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    if title.is_empty() {
        return Err("the title is empty\nhint: give the session a name".to_owned());
    }
    let (mut writer, _) = session.into_writer().map_err(|error| error.to_string())?;
    writer.set_title(&title, TitleSource::User).and_then(|_| writer.sync()).map_err(|error| error.to_string())?;
    Ok(title)
}

fn describe(info: &SessionInfo) -> String {
    let id: String = info.id.chars().take(13).collect();
    let about = info.title.as_deref().or(info.first_message.as_deref()).unwrap_or("(no messages)");
    let about: String = about.lines().next().unwrap_or_default().chars().take(80).collect();
    format!("{id}  {about}\n")
}

/// Returns the folder where the sessions of a run are stored.
pub fn folder(setup: &FolderSetup, args: &SessionArgs) -> SessionsDir {
    match &args.session_dir {
        Some(dir) => SessionsDir::flat(setup.cwd.join(dir)),
        None => SessionsDir::new(&setup.dirs.agent, &setup.env),
    }
}

/// A session that is not stored.
pub fn unrecorded(cwd: &Path) -> ReadySession {
    ReadySession {
        recorder: Recorder::nowhere(cwd),
        resumed: Resumed::default(),
        recorded: RecordedChoice::default(),
        artifacts: Arc::new(NoArtifacts),
        resources: Vec::new(),
        is_resumed: false,
        warnings: Vec::new(),
    }
}

fn fresh(setup: &FolderSetup, writer: SessionWriter) -> ReadySession {
    let history = FileHistory { session: writer.path().to_owned(), agent: setup.dirs.agent.clone() };
    let artifacts = SessionArtifacts::of(writer.path());
    ReadySession {
        recorder: Recorder::to_file(writer),
        resumed: Resumed::default(),
        recorded: RecordedChoice::default(),
        artifacts: Arc::new(artifacts),
        resources: vec![Arc::new(HistoryResource(Arc::new(history)))],
        is_resumed: false,
        warnings: Vec::new(),
    }
}

fn resume(setup: &FolderSetup, path: &Path, blobs: BlobStore) -> Result<ReadySession, FolderProblem> {
    let mut session = LoadedSession::open(path, blobs).map_err(|error| error.to_string())?;
    refuse_other_project(&session, &setup.cwd)?;
    let mut context = session.context();
    let (quarantined, blanked) = (session.custom_data(QUARANTINE_ENTRY), session.custom_data(BLANKED_ENTRY));
    let (writer, report) = session.into_writer().map_err(|error| error.to_string())?;
    let more = (report.further > 0).then(|| format!("{}: {} more problems", path.display(), report.further));
    let problems = report.problems.iter().map(|problem| format!("{}: {problem}", path.display()));
    let warnings = problems.chain(more).collect();
    let recorded = RecordedChoice {
        model: context.model.take(),
        thinking: context.thinking_level.take().and_then(|it| it.parse().ok()),
    };
    let resumed = Resumed { quarantined, blanked, ..Resumed::from(context) };
    Ok(ReadySession { resumed, recorded, is_resumed: true, warnings, ..fresh(setup, writer) })
}

/// Refuses to resume a session of another project, because its conversation would mislead the model here.
fn refuse_other_project(session: &LoadedSession, cwd: &Path) -> Result<(), FolderProblem> {
    match other_project(Some(PathBuf::from(&session.header().cwd)), cwd) {
        Some(home) => Err(belongs_elsewhere(session.id(), &home)),
        None => Ok(()),
    }
}

/// Returns the folder of a session if it differs from `cwd`. A folder that no longer exists counts as moved.
fn other_project(home: Option<PathBuf>, cwd: &Path) -> Option<PathBuf> {
    let home = home?;
    // The session file stores the path as UTF-8, which is lossy for some paths.
    let named = home.as_os_str().is_empty() || home.to_string_lossy() == cwd.to_string_lossy();
    let same = named || home.canonicalize().is_ok_and(|home| home == cwd);
    (!same && home.exists()).then_some(home)
}

fn belongs_elsewhere(id: &str, home: &Path) -> FolderProblem {
    let home = home.display();
    format!(
        "session {id} belongs to another folder, {home}\nhint: continue there with --cwd {home}, or here in a copy with --fork {id}"
    )
}

/// Returns the working folder that a session file names.
pub fn folder_in(file: &Path) -> Option<PathBuf> {
    SessionInfo::of_file(file).map(|info| PathBuf::from(info.cwd)).filter(|cwd| !cwd.as_os_str().is_empty())
}

fn id_of(file: &Path) -> String {
    SessionInfo::of_file(file).map(|info| info.id).unwrap_or_default()
}

/// Full outputs of tools, stored beside the session file.
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
        Ok(ArtifactFile { id: artifact.id.to_string(), file: Box::new(artifact.file) })
    }

    fn list(&self) -> std::io::Result<Vec<(u64, PathBuf)>> {
        self.dir.lock().unwrap_or_else(PoisonError::into_inner).list()
    }

    fn folder(&self) -> Option<PathBuf> {
        Some(self.dir.lock().unwrap_or_else(PoisonError::into_inner).path().to_owned())
    }
}

//! `omp sessions rename`, `move`, `archive`, `unarchive`, `delete` and `repair`.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Args;
use omp_store::CopyTo;
use serde_json::json;

use super::{SessionsContext, SessionsOutput, placed};
use crate::folder::FolderProblem;

#[derive(Args, Debug)]
pub struct RenameArgs {
    /// The start of its id, or the path of its file
    #[arg(value_name = "ID|PATH")]
    session: String,

    /// The new title
    #[arg(value_name = "TITLE")]
    title: String,
}

#[derive(Args, Debug)]
pub struct MoveArgs {
    /// The start of its id, or the path of its file
    #[arg(value_name = "ID|PATH")]
    session: String,

    /// The folder to move it to (default: this one)
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct DeleteArgs {
    /// The start of its id, or the path of its file
    #[arg(value_name = "ID|PATH")]
    session: String,

    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
}

impl SessionsContext {
    pub(super) fn rename(&self, args: &RenameArgs) -> Result<SessionsOutput, FolderProblem> {
        let session = self.open(&args.session)?;
        let id = session.id().to_owned();
        let title = crate::session::sessions::rename(session, &args.title)?;
        Ok(SessionsOutput { text: format!("{id} is now called {title}\n"), json: json!({"title": title}) })
    }

    pub(super) fn move_to(&self, args: &MoveArgs) -> Result<SessionsOutput, FolderProblem> {
        let folder = self.cwd.join(args.folder.as_deref().unwrap_or(Path::new("")));
        let unusable = |why: &dyn std::fmt::Display| {
            format!("cannot move the session to {}: {why}\nhint: give a folder that exists", folder.display())
        };
        let folder = folder.canonicalize().map_err(|error| unusable(&error))?;
        if !folder.is_dir() {
            return Err(unusable(&"it is not a folder"));
        }
        let moved = self.sessions.move_to(&self.find(&args.session)?, &folder, self.blobs.clone());
        Ok(placed("moved to", &moved.map_err(|error| error.to_string())?))
    }

    pub(super) fn archive(&self, session: &str) -> Result<SessionsOutput, FolderProblem> {
        let file = self.sessions.resolve(&self.cwd, session).map_err(|error| error.to_string())?;
        Ok(placed("archived as", &self.sessions.archive(&file).map_err(|error| error.to_string())?))
    }

    pub(super) fn unarchive(&self, session: &str) -> Result<SessionsOutput, FolderProblem> {
        let file = self.find(session)?;
        if file.starts_with(self.sessions.root()) && !self.put_away(&file) {
            return Err(format!("session {} is not archived\nhint: nothing was changed", file.display()));
        }
        Ok(placed("back as", &self.sessions.unarchive(&file).map_err(|error| error.to_string())?))
    }

    pub(super) fn delete(&self, args: &DeleteArgs) -> Result<SessionsOutput, FolderProblem> {
        let file = self.sessions.resolve(&self.cwd, &args.session).map_err(|error| error.to_string())?;
        if !args.yes && !asked(&file)? {
            return Err("nothing was deleted\nhint: `--yes` deletes without asking".to_owned());
        }
        let trashed = self.sessions.trash(&file).map_err(|error| error.to_string())?;
        let text =
            format!("moved to the trash for 30 days; `omp sessions unarchive` restores it\n{}\n", trashed.display());
        Ok(SessionsOutput { text, json: json!({"path": trashed}) })
    }

    pub(super) fn repair(&self, session: &str) -> Result<SessionsOutput, FolderProblem> {
        let session = self.open(session)?;
        let folder = session.path().parent().unwrap_or(Path::new(".")).to_owned();
        let cwd = PathBuf::from(&session.header().cwd);
        let to = CopyTo { folder: &folder, cwd: &cwd, now: SystemTime::now() };
        let salvaged = session.salvage(to).map_err(|error| error.to_string())?;
        let report: Vec<String> = session.report().to_string().lines().map(str::to_owned).collect();
        let mut text: String = report.iter().map(|line| format!("{line}\n")).collect();
        text += &salvaged.copy.warnings.iter().map(|line| format!("{line}\n")).collect::<String>();
        text += &format!(
            "{} entries kept, {} lost; the clean copy is {}, the damaged file was not changed\n",
            salvaged.kept,
            salvaged.lost,
            salvaged.copy.path.display()
        );
        let json = json!({
            "path": salvaged.copy.path, "id": salvaged.copy.id, "kept": salvaged.kept, "lost": salvaged.lost,
            "damage": report, "warnings": salvaged.copy.warnings,
        });
        Ok(SessionsOutput { text, json })
    }

    /// Whether a session is in the archive or the trash. With `--session-dir`, both are below the sessions folder.
    fn put_away(&self, file: &Path) -> bool {
        file.starts_with(self.sessions.archived().root()) || file.starts_with(self.sessions.trashed().root())
    }
}

/// Asks the user to confirm. Returns `false` if there is no terminal to ask on.
fn asked(file: &Path) -> Result<bool, FolderProblem> {
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return Ok(false);
    }
    let unanswered = |error: std::io::Error| format!("cannot ask: {error}");
    let mut answer = String::new();
    write!(std::io::stderr(), "Delete session {}? [y/N] ", file.display()).map_err(unanswered)?;
    std::io::stdin().read_line(&mut answer).map_err(unanswered)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

//! Replaces one session by another, in the same way for every front end: in which order, with which end reason, and how the
//! old session is reopened if the other one cannot be opened. A front end only closes a session and shows another.

use std::path::PathBuf;

use omp_policy::ApprovalMode;
use omp_types::Editor;

use crate::{EndReason, OpenSession, Session, SessionHost, Wish};

/// A session that replaces another one. [`SessionSwitch::run`] does everything until the new one is open; an old session that
/// is still open then is closed last.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionSwitch {
    wish: Wish,
    /// Reopens the old session, if it has to be closed first.
    back: Option<Wish>,
    goes_back: bool,
    /// The approval mode that the user chose in the old session.
    mode: Option<ApprovalMode>,
}

/// The session to continue with.
pub struct SwitchedSession {
    pub opened: OpenSession,
    /// The end reason of the old session, if it is still open.
    pub ends: EndReason,
}

/// The new session could not be opened. An old session that was not closed continues.
pub struct SwitchFailed {
    pub problem: String,
    /// The old session again, if it was closed.
    pub reopened: Option<Box<OpenSession>>,
}

impl SessionSwitch {
    /// `cwd` is the folder of the old session.
    pub fn new(wish: Wish, cwd: Option<PathBuf>) -> Self {
        let back = match &wish {
            Wish::Move { file, .. } => Some(Wish::Resume { file: file.clone(), cwd: cwd.filter(|cwd| cwd.is_dir()) }),
            Wish::New { .. } | Wish::Resume { .. } | Wish::Fork { .. } | Wish::Branch { .. } => None,
        };
        Self { wish, back, goes_back: true, mode: None }
    }

    /// For a front end that ends if the switch fails: the old session is not reopened.
    pub fn one_way(self) -> Self {
        Self { goes_back: false, ..self }
    }

    /// Keeps the approval mode that the user chose in the old session. Without a choice, the settings of the new session's
    /// folder decide.
    pub fn after(self, old: Option<&Session>) -> Self {
        Self { mode: old.and_then(|old| old.control.standing().chosen_mode), ..self }
    }

    /// A file that is open cannot be moved.
    pub fn lets_go_first(&self) -> bool {
        self.back.is_some()
    }

    /// Closes the old session with `let_go` if it has to be closed first, and opens the new one.
    pub async fn run(
        self,
        host: &dyn SessionHost,
        editor: Editor,
        let_go: impl Future<Output = Result<(), String>>,
    ) -> Result<SwitchedSession, SwitchFailed> {
        if self.lets_go_first() {
            let_go.await.map_err(|problem| SwitchFailed { problem, reopened: None })?;
        }
        self.open(host, editor).await
    }

    /// Opens the new session, for a front end that has closed the old one itself if [`SessionSwitch::lets_go_first`]. If
    /// that fails, the closed one is opened again.
    pub async fn open(self, host: &dyn SessionHost, editor: Editor) -> Result<SwitchedSession, SwitchFailed> {
        let ends = EndReason::before(&self.wish);
        let problem = match self.opened(host, editor.clone(), self.wish.clone()).await {
            Ok(opened) => return Ok(SwitchedSession { opened, ends }),
            Err(problem) => problem,
        };
        let back = self.back.clone().filter(|_| self.goes_back);
        let Some(back) = back else { return Err(SwitchFailed { problem, reopened: None }) };
        Err(match self.opened(host, editor, back).await {
            Ok(opened) => SwitchFailed { problem, reopened: Some(Box::new(opened)) },
            Err(second) => {
                let problem = format!("{problem}\nand it could not be opened again: {second}");
                SwitchFailed { problem, reopened: None }
            }
        })
    }

    async fn opened(&self, host: &dyn SessionHost, editor: Editor, wish: Wish) -> Result<OpenSession, String> {
        let opened = host.open_in(editor, wish).await?;
        if let Some(mode) = self.mode {
            opened.session.control.choose_approval_mode(mode);
        }
        Ok(opened)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_session_that_is_moved_is_let_go_of_first() {
        let folder = tempfile::tempdir().unwrap();
        let (here, gone) = (folder.path().to_owned(), folder.path().join("gone"));
        let file = PathBuf::from("s.jsonl");
        let moves = || Wish::Move { file: file.clone(), cwd: "/there".into() };
        let check = |wish: Wish, cwd: Option<PathBuf>, back: Option<Wish>| {
            let switch = SessionSwitch::new(wish.clone(), cwd);
            assert_eq!(switch.lets_go_first(), back.is_some(), "{wish:?}");
            assert_eq!(switch.back, back, "{wish:?}");
        };
        check(moves(), Some(here.clone()), Some(Wish::Resume { file: file.clone(), cwd: Some(here.clone()) }));
        check(moves(), Some(gone), Some(Wish::Resume { file: file.clone(), cwd: None }));
        check(moves(), None, Some(Wish::Resume { file: file.clone(), cwd: None }));
        check(Wish::New { cwd: None, parent: None }, Some(here.clone()), None);
        check(Wish::Resume { file: file.clone(), cwd: None }, Some(here.clone()), None);
        check(Wish::Fork { file: file.clone(), cwd: None }, Some(here.clone()), None);
        check(Wish::Branch { file, leaf: None }, Some(here), None);
    }
}

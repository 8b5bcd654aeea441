//! Replaces one session by another, in the same way for every front end: in which order, with which end reason, and how the
//! old session is reopened if the other one cannot be opened.

use std::path::PathBuf;

use omp_policy::ApprovalMode;
use omp_types::Editor;

use crate::{EndReason, OpenSession, Session, SessionHost, Wish};

/// The steps of a front end: close the old session first if [`SessionSwitch::lets_go_first`] says so, open the new one, and
/// close the old one afterwards otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionSwitch {
    wish: Wish,
    back: Option<Wish>,
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
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchFailed {
    pub problem: String,
    /// Reopens the old session, if it was closed.
    pub back: Option<SessionSwitch>,
}

impl SessionSwitch {
    /// `cwd` is the folder of the old session.
    pub fn new(wish: Wish, cwd: Option<PathBuf>) -> Self {
        let back = match &wish {
            Wish::Move { file, .. } => Some(Wish::Resume { file: file.clone(), cwd: cwd.filter(|cwd| cwd.is_dir()) }),
            Wish::New { .. } | Wish::Resume { .. } | Wish::Fork { .. } | Wish::Branch { .. } => None,
        };
        Self { wish, back, mode: None }
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

    pub async fn open(self, host: &dyn SessionHost, editor: Editor) -> Result<SwitchedSession, SwitchFailed> {
        let Self { wish, back, mode } = self;
        let ends = EndReason::before(&wish);
        match host.open_in(editor, wish).await {
            Ok(opened) => {
                if let Some(mode) = mode {
                    opened.session.control.choose_approval_mode(mode);
                }
                Ok(SwitchedSession { opened, ends })
            }
            Err(problem) => {
                let back = back.map(|wish| Self { wish, back: None, mode });
                Err(SwitchFailed { problem, back })
            }
        }
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

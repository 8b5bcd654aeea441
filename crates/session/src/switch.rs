//! Another session in the place of one, the same for every front end: what comes first, why the old one ends, and how it is
//! taken up again where the other cannot be opened.

use std::path::PathBuf;

use omp_types::Editor;

use crate::{EndReason, OpenSession, SessionHost, Wish};

/// What a front end does to go on with another session: let go of the old one first where [`SessionSwitch::lets_go_first`]
/// says so, open, and let go of the old one otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionSwitch {
    wish: Wish,
    back: Option<Wish>,
}

/// The session to go on with.
pub struct SwitchedSession {
    pub opened: OpenSession,
    /// Why the old one ends, if it is still there.
    pub ends: EndReason,
}

/// Why there is no other session. An old one that was not let go of goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchFailed {
    pub problem: String,
    /// What takes up the old one again, where it was let go of.
    pub back: Option<Wish>,
}

impl SessionSwitch {
    /// `cwd` is the folder of the old session.
    pub fn new(wish: Wish, cwd: Option<PathBuf>) -> Self {
        let back = match &wish {
            Wish::Move { file, .. } => Some(Wish::Resume { file: file.clone(), cwd: cwd.filter(|cwd| cwd.is_dir()) }),
            Wish::New { .. } | Wish::Resume { .. } | Wish::Fork { .. } | Wish::Branch { .. } => None,
        };
        Self { wish, back }
    }

    /// A file that somebody has open is not moved.
    pub fn lets_go_first(&self) -> bool {
        self.back.is_some()
    }

    pub async fn open(self, host: &dyn SessionHost, editor: Editor) -> Result<SwitchedSession, SwitchFailed> {
        let Self { wish, back } = self;
        let ends = EndReason::before(&wish);
        match host.open_in(editor, wish).await {
            Ok(opened) => Ok(SwitchedSession { opened, ends }),
            Err(problem) => Err(SwitchFailed { problem, back }),
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

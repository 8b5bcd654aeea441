//! The session that prompts go to, and how another one takes its place.

use omp_session::{OpenSession, Session, SessionHost, SessionSwitch, SwitchedSession, Wish};
use omp_types::Editor;
use tokio::task::{JoinError, JoinHandle};

use crate::presenter::Presenter;

/// A session that receives prompts.
pub struct Driven {
    pub session: Session,
    pub actor: JoinHandle<()>,
}

impl Driven {
    /// Waits until everything that the session owns has ended.
    async fn end(self) -> Result<(), JoinError> {
        let Self { session, actor, .. } = self;
        drop(session);
        actor.await
    }
}

impl From<OpenSession> for Driven {
    fn from(opened: OpenSession) -> Self {
        let OpenSession { session, actor, .. } = opened;
        Self { session, actor }
    }
}

/// Switches to another session. If it cannot be opened the old one stays, unless it had to be closed first.
pub(crate) async fn switch(
    slot: &mut Option<Driven>,
    host: Option<&dyn SessionHost>,
    wish: Wish,
    presenter: &mut dyn Presenter,
) -> std::io::Result<Result<(), String>> {
    let Some(host) = host else { return Ok(Err("sessions cannot be switched here".to_owned())) };
    // If it fails, the run ends.
    let switch = SessionSwitch::new(wish, None).one_way().after(slot.as_ref().map(|old| &old.session));
    let switched = switch.run(host, Editor::default(), async { ended(slot.take()).await }).await;
    let SwitchedSession { opened, ends } = match switched {
        Ok(switched) => switched,
        Err(failed) => return Ok(Err(failed.problem)),
    };
    slot.iter().for_each(|old| old.session.ends_by(ends));
    presenter.switched(&opened)?;
    Ok(ended(slot.replace(opened.into())).await)
}

/// Waits until the session and everything that it owns has ended.
pub(crate) async fn ended(old: Option<Driven>) -> Result<(), String> {
    let Some(old) = old else { return Ok(()) };
    old.end().await.map_err(|error| format!("the old session did not close cleanly: {error}"))
}

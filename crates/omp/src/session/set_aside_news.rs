//! Notifies the user when the sandbox sets a file aside while no call runs, because it may be the user's own file.

use std::sync::{Mutex, PoisonError};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use omp_exec::{Containment, Deed, SetAside};
use omp_session::{SessionCx, SessionFeature, StartSource};
use tokio::sync::mpsc;

pub struct SetAsideNews(Mutex<Option<mpsc::Receiver<SetAside>>>);

impl SetAsideNews {
    pub fn of(containment: &Containment) -> Self {
        Self(Mutex::new(Some(containment.hear_set_aside())))
    }
}

impl SessionFeature for SetAsideNews {
    fn start<'a>(&'a self, cx: &'a SessionCx, _source: StartSource) -> BoxFuture<'a, ()> {
        if let Some(news) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            cx.spawn(tell(cx.clone(), news));
        }
        ready(()).boxed()
    }
}

/// Reports files that were set aside outside of calls; a running call reports them in its result.
async fn tell(cx: SessionCx, mut news: mpsc::Receiver<SetAside>) {
    while let Some(found) = news.recv().await {
        if !cx.is_working() && found.deed != Deed::Unwatched {
            cx.notice("containment", told(&found)).await;
        }
    }
}

fn told(SetAside { path, deed, to, put_back, .. }: &SetAside) -> String {
    let what = match deed {
        Deed::Made => "created",
        Deed::Removed => "removed",
        Deed::Changed | Deed::Unwatched => "changed",
    };
    let now = match (to, put_back) {
        (Some(to), true) => format!("it was restored, and the change is in {}", to.display()),
        (Some(to), false) => format!("it is {} now", to.display()),
        (None, true) => "it was restored".to_owned(),
        (None, false) => "it could not be restored".to_owned(),
    };
    format!(
        "{} was {what} while a command runs in the background, and decides what runs or is allowed: {now}\n\
         hint: if that was you, do it again when the command has ended",
        path.display()
    )
}

//! Notifies features when the session needs the user: to approve a call, to answer a question, or because it is idle.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_agent::{Choice, Questions};

use crate::control::Control;
use crate::web_address::WebAddress;

/// Kinds of notifications, named as in Claude Code.
pub(crate) const PERMISSION: &str = "permission_prompt";
const QUESTION: &str = "elicitation_dialog";
pub(super) const WAITING: &str = "idle_prompt";

/// Questions of tools to the user, with a notification of the features.
pub(crate) struct AskedAloud(pub Arc<Control>);

impl Questions for AskedAloud {
    fn ask(&self, question: String, choices: Vec<String>) -> BoxFuture<'_, Option<String>> {
        let message = wants(&question);
        async move { self.0.asked_aloud(QUESTION, &message, self.0.desk.ask(question, choices)).await }.boxed()
    }

    fn choose(&self, choice: Choice) -> BoxFuture<'_, Option<Vec<String>>> {
        let message = wants(&choice.question);
        async move { self.0.asked_aloud(QUESTION, &message, self.0.desk.choose(choice)).await }.boxed()
    }

    fn open_url(&self, url: String, reason: String) -> BoxFuture<'_, Result<bool, String>> {
        let message = wants(&reason);
        async move {
            let url = WebAddress::parse(&url)?;
            Ok(self.0.asked_aloud(QUESTION, &message, self.0.desk.have_opened(url, reason)).await)
        }
        .boxed()
    }
}

fn wants(question: &str) -> String {
    format!("omp asks: {}", question.lines().next().unwrap_or_default())
}

impl Control {
    /// Notifies features that the user is asked, unless the answer is already there.
    pub async fn asked_aloud<T>(
        self: &Arc<Self>,
        kind: &'static str,
        message: &str,
        asked: impl Future<Output = T>,
    ) -> T {
        let told = self.user_wanted(kind, message);
        tokio::pin!(asked);
        tokio::select! {
            answer = &mut asked => answer,
            _ = told => asked.await,
        }
    }
}

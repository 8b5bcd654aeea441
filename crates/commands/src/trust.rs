//! `/trust`: shows what this folder would run, asks for trust, and revokes it.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_config::{Trust, TrustDecision};
use omp_session::{Choice, ChoiceOption, Session, SlashCommand, SlashReply};

use crate::{SessionFolder, TrustReport};

const NOT_NOW: &str = "Not now";
const TRUST: &str = "Trust this folder";
const FROM_THEN: &str = "Takes effect in the next session.";

pub struct TrustCommand {
    pub folder: Arc<dyn SessionFolder>,
    /// The folder that stores the trust decisions.
    pub agent: PathBuf,
    /// Whether a user is present to answer. A prompt that contains this command is no answer, because anyone may have
    /// written it.
    pub attended: bool,
}

impl SlashCommand for TrustCommand {
    fn name(&self) -> &str {
        "trust"
    }

    fn description(&self) -> &str {
        "Show what this folder may run; trust it or not"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[remove]")
    }

    fn takes_long(&self) -> bool {
        self.attended
    }

    fn asks(&self) -> bool {
        self.attended
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let report = self.folder.read_trust()?;
            let told = match arguments.trim() {
                "" => self.asked(report, session).await?,
                "remove" => self.removed(&report)?,
                other => return Err(format!("unknown argument `{other}`\nhint: usage: /trust [remove]")),
            };
            Ok(SlashReply::Text(told))
        }
        .boxed()
    }
}

impl TrustCommand {
    async fn asked(&self, report: TrustReport, session: &Session) -> Result<String, String> {
        let TrustReport { decision, explained } = report;
        let waits = decision.left_out().iter().any(|item| !item.is_too_large());
        if !waits {
            return Ok(explained);
        }
        if !self.attended {
            return Ok(format!("{explained}\nhint: there is no dialog here; run `omp trust add` to trust it\n"));
        }
        self.folder.check_may_trust()?;
        let option = |label: &str| ChoiceOption { label: label.to_owned(), description: None };
        let question = format!("{explained}\nTrust it?");
        let choice =
            Choice { question, options: vec![option(NOT_NOW), option(TRUST)], is_closed: true, ..Choice::default() };
        match session.choose(choice).await.unwrap_or_default().as_slice() {
            [answer] if answer == TRUST => self.added(&decision),
            _ => Ok(format!("{} is unchanged.", decision.root().display())),
        }
    }

    /// Trusts exactly the items that were shown, not those that have been added since.
    fn added(&self, decision: &TrustDecision) -> Result<String, String> {
        let mut stored = Trust::load(&self.agent);
        stored.add(decision.root(), decision.items()).map_err(|error| error.to_string())?;
        Ok(format!("{} is trusted. {FROM_THEN}", decision.root().display()))
    }

    fn removed(&self, report: &TrustReport) -> Result<String, String> {
        let root = report.decision.root();
        let was_trusted = Trust::load(&self.agent).remove(root).map_err(|error| error.to_string())?;
        if !was_trusted {
            let hint = "hint: `omp trust list` lists the trusted folders";
            return Err(format!("{} is not trusted\n{hint}", root.display()));
        }
        Ok(format!("{} is no longer trusted. {FROM_THEN}", root.display()))
    }
}

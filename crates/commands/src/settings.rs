//! `/settings`: shows and changes settings, like `omp config`.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_policy::Policy;
use omp_session::{Command, Session, SlashCommand, SlashReply};

use crate::{SessionFolder, SettingsDesk};

pub struct SettingsCommand {
    pub folder: Arc<dyn SessionFolder>,
    /// The user's own settings file.
    pub file: PathBuf,
    pub cwd: PathBuf,
    pub home: PathBuf,
}

impl SlashCommand for SettingsCommand {
    fn name(&self) -> &str {
        "settings"
    }

    fn aliases(&self) -> &[&str] {
        &["config"]
    }

    fn description(&self) -> &str {
        "Show or change the settings"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[changed | <key> [value] | reset <key>]")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let desk = self.desk()?;
            let (word, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
            let text = match (word, rest.trim()) {
                ("", _) => desk.listed(false),
                ("changed", "") => desk.listed(true),
                ("reset", "") => return Err("no setting given\nhint: usage: /settings reset <key>".to_owned()),
                ("reset", key) => desk.reset_told(key)?,
                (key, "") => desk.described(key)?,
                (key, value) => desk.set_told(key, value)?,
            };
            let changes = !rest.trim().is_empty();
            let at_once = changes && self.obey(arguments, session).await?;
            let note = match (changes, at_once) {
                (true, false) => "\nTakes effect in the next session.",
                _ => "",
            };
            Ok(SlashReply::Text(format!("{}{note}", text.trim_end())))
        }
        .boxed()
    }
}

impl SettingsCommand {
    fn desk(&self) -> Result<SettingsDesk, String> {
        let settings = self.folder.read_settings()?;
        let (file, cwd, home) = (self.file.clone(), self.cwd.clone(), self.home.clone());
        Ok(SettingsDesk { settings, file, cwd, home, json: false })
    }

    /// Applies a change of `tools.approvalMode` to the running session. The terminal reads `statusLine.*` again by itself.
    /// Returns false for every other setting.
    async fn obey(&self, arguments: &str, session: &Session) -> Result<bool, String> {
        let mut words = arguments.split_whitespace();
        if !words.any(|word| word == "tools.approvalMode") {
            return Ok(arguments.split_whitespace().any(|word| word.starts_with("statusLine.")));
        }
        let mode = Policy::from_settings(&self.folder.read_settings()?).mode;
        session.send(Command::SetApprovalMode(mode)).await.map_err(|closed| closed.to_string())?;
        Ok(true)
    }
}

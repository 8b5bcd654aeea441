//! `/init`: has the model write an AGENTS.md for this repository, or improve the one that is there.
//!
//! The user sees the change and decides about it before the file is written, in every approval mode. `/undo` takes it back.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_config::repository_root;
use omp_session::{CallQuestion, Effect, Prepared, Prompt, Session, SlashCommand, SlashReply};
use omp_types::Content;

const WRITE: &str = include_str!("init.md");
const IMPROVE: &str = include_str!("init_again.md");
const FILE: &str = "AGENTS.md";
const REASON: &str = "/init writes this file only if you approve it";

pub struct InitCommand {
    pub cwd: PathBuf,
}

impl SlashCommand for InitCommand {
    fn name(&self) -> &str {
        "init"
    }

    fn description(&self) -> &str {
        "Write or improve the AGENTS.md of this repository"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[what to include]")
    }

    fn takes_attachments(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, arguments: &'a str, _: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let folder = repository_root(&self.cwd);
            let file = folder.join(FILE);
            let exists = file.try_exists().map_err(|error| format!("cannot look at {}: {error}", file.display()))?;
            let content = vec![Content::text(prompt(&file, exists, arguments))];
            let typed = format!("/init {arguments}").trim_end().to_owned();
            let prepared = Prepared {
                typed,
                blocks: content.len(),
                path: "omp".to_owned(),
                model: None,
                limit: None,
                question: Some(asks_about(file)),
            };
            Ok(SlashReply::Prompt(Prompt { content, prepared: Some(Arc::new(prepared)) }))
        }
        .boxed()
    }
}

fn prompt(file: &Path, exists: bool, wish: &str) -> String {
    let text =
        if exists { format!("{}\n{}", WRITE.trim_end(), IMPROVE.trim_end()) } else { WRITE.trim_end().to_owned() };
    let wish = if wish.is_empty() { String::new() } else { format!("\n\nThe user adds: {wish}") };
    format!("{}{wish}", text.replace("{{file}}", &file.display().to_string()))
}

/// Asks before every call that writes the file, or any other `AGENTS.md`.
fn asks_about(file: PathBuf) -> CallQuestion {
    let file = file.canonicalize().unwrap_or(file);
    let is_it = move |path: &PathBuf| *path == file || path.file_name().is_some_and(|name| name == FILE);
    Arc::new(move |effects| {
        let writes = |effect: &Effect| matches!(effect, Effect::Write(path) if is_it(path));
        effects.iter().any(writes).then(|| REASON.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_names_the_file_and_keeps_what_is_there() {
        let file = Path::new("/p/AGENTS.md");
        let (new, again) = (prompt(file, false, ""), prompt(file, true, "mention the CI"));
        assert!(new.contains("/p/AGENTS.md") && !new.contains("{{") && !new.contains("already exists"), "{new}");
        assert!(again.contains("already exists") && again.ends_with("The user adds: mention the CI"), "{again}");
    }

    #[test]
    fn only_calls_that_write_the_file_are_asked_about() {
        let asks = asks_about("/p/AGENTS.md".into());
        assert!(asks(&[Effect::Write("/p/AGENTS.md".into())]).is_some());
        assert!(asks(&[Effect::Write("/p/sub/AGENTS.md".into())]).is_some());
        assert!(asks(&[Effect::Write("/p/x.md".into()), Effect::Read("/p/AGENTS.md".into())]).is_none());
    }
}

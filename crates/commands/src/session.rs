//! `/session`, `/rename`, `/new`, `/drop`, `/resume` and `/fork`: show the session, and switch to another.

use std::path::{Path, PathBuf};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{Session, SlashCommand, SlashReply, Wish, stats};
use omp_stdx::format::{grouped, plural};
use omp_stdx::md_table::{Align, MdTable};
use omp_stdx::page::Page;
use omp_store::{SessionsDir, TitleSource};

/// Caps the sessions that `/resume` lists.
const LISTED: usize = 20;
pub const NOT_KEPT: &str = "this session is not saved\nhint: start omp without --no-session";
pub const WORKING: &str = "a turn is running\nhint: wait until it ends, or abort it first";

/// Shows the session, or deletes it.
pub struct SessionCommand {
    pub cwd: PathBuf,
    pub sessions: SessionsDir,
}

impl SlashCommand for SessionCommand {
    fn name(&self) -> &str {
        "session"
    }

    fn aliases(&self) -> &[&str] {
        &["status"]
    }

    fn description(&self) -> &str {
        "Show details of this session, or delete it"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[info|delete]")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            match arguments {
                "" | "info" => Ok(SlashReply::Page(info(session, &self.cwd))),
                "delete" => delete(session, &self.sessions, &self.cwd).await,
                other => Err(format!("unknown argument `{other}`\nhint: usage: /session [info|delete]")),
            }
        }
        .boxed()
    }
}

fn info(session: &Session, cwd: &Path) -> Page {
    let now = session.snapshot();
    let messages = session.messages();
    let counted = stats(&now.session_id, messages.iter().map(|message| &**message), now.model.context_window);
    let counted = counted.with_spending(&now.spending);
    let file = now.file.as_ref().map_or_else(|| "(not saved)".to_owned(), |file| format!("`{}`", file.display()));
    let tokens = counted.tokens;
    let mut table = MdTable::new([("Session", Align::Left), ("Value", Align::Left)]);
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("id", now.session_id.clone());
    row("title", now.title.clone().unwrap_or_else(|| "(none)".to_owned()));
    row("file", file);
    row("folder", format!("`{}`", cwd.display()));
    row("model", format!("{} (thinking {})", now.model.selector(), now.thinking.as_str()));
    row("approval", now.approval_mode.as_str().to_owned());
    row(
        "messages",
        format!(
            "{} ({} of yours, {}, {})",
            counted.total_messages,
            counted.user_messages,
            plural(counted.assistant_messages, "answer", "answers"),
            plural(counted.tool_calls, "call", "calls")
        ),
    );
    row(
        "tokens",
        format!(
            "{} in, {} out, {} cached, ${:.4}",
            grouped(tokens.input),
            grouped(tokens.output),
            grouped(tokens.cache_read),
            counted.cost
        ),
    );
    let (context, window) = (session.context_size(), now.model.context_window);
    if context.tokens > 0 && window > 0 {
        let about = if context.is_estimate { "~" } else { "" };
        let percent = context.tokens as f64 / window as f64 * 100.0;
        let (used, window) = (grouped(context.tokens), grouped(window));
        row("context", format!("{about}{used} of {window} tokens ({percent:.1}%)"));
    }
    Page::default().table(table)
}

/// Moves the session file and its artifacts to the trash; a new session replaces it.
async fn delete(session: &Session, sessions: &SessionsDir, cwd: &Path) -> Result<SlashReply, String> {
    if session.works().await {
        return Err("a turn is running\nhint: abort it first".to_owned());
    }
    let file = session.snapshot().file.clone().ok_or(NOT_KEPT)?;
    if file.exists() {
        sessions.trash_own(&file).map_err(|error| error.to_string())?;
    }
    Ok(SlashReply::Switch(Wish::New { cwd: Some(cwd.to_owned()), parent: None }))
}

pub struct RenameCommand;

impl SlashCommand for RenameCommand {
    fn name(&self) -> &str {
        "rename"
    }

    fn description(&self) -> &str {
        "Give the session a title"
    }

    fn arguments(&self) -> Option<&str> {
        Some("<title>")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let title = arguments.split_whitespace().collect::<Vec<_>>().join(" ");
            if title.is_empty() {
                return Err("no title given\nhint: usage: /rename <title>".to_owned());
            }
            session.rename(&title, TitleSource::User).map_err(|error| error.to_string())?;
            Ok(SlashReply::Text(format!("the title is now: {title}")))
        }
        .boxed()
    }
}

/// `/new` and `/drop`.
pub struct NewCommand {
    pub cwd: PathBuf,
    pub sessions: SessionsDir,
    /// Whether the old session is deleted.
    pub drop_old: bool,
}

impl SlashCommand for NewCommand {
    fn name(&self) -> &str {
        if self.drop_old { "drop" } else { "new" }
    }

    fn aliases(&self) -> &[&str] {
        if self.drop_old { &[] } else { &["clear"] }
    }

    fn description(&self) -> &str {
        if self.drop_old { "Move this session to the trash and start a new one" } else { "Start a new session" }
    }

    fn switches_session(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, _: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            if self.drop_old && session.snapshot().file.is_some() {
                return delete(session, &self.sessions, &self.cwd).await;
            }
            Ok(SlashReply::Switch(Wish::New { cwd: Some(self.cwd.clone()), parent: None }))
        }
        .boxed()
    }
}

pub struct ResumeCommand {
    pub cwd: PathBuf,
    pub sessions: SessionsDir,
}

impl SlashCommand for ResumeCommand {
    fn name(&self) -> &str {
        "resume"
    }

    fn description(&self) -> &str {
        "List this folder's sessions, or resume one"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[id|path|text]")
    }

    fn switches_session(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            if arguments.is_empty() {
                return self.list(session).map(SlashReply::Text);
            }
            let file = match self.sessions.resolve(&self.cwd, arguments) {
                Ok(file) => file,
                Err(error) => self.titled(arguments)?.ok_or_else(|| error.to_string())?,
            };
            if session.snapshot().file.as_ref() == Some(&file) {
                return Ok(SlashReply::Text("this session is already open".to_owned()));
            }
            // The host's folder is not used, because the session may have been moved.
            Ok(SlashReply::Switch(Wish::Resume { file, cwd: Some(self.cwd.clone()) }))
        }
        .boxed()
    }
}

impl ResumeCommand {
    /// Finds the session whose title or first message contains a text. Fails if there are several.
    fn titled(&self, text: &str) -> Result<Option<PathBuf>, String> {
        let wanted = text.to_lowercase();
        let found = self.sessions.list(&self.cwd).map_err(|error| error.to_string())?;
        let holds = |told: &Option<String>| told.as_ref().is_some_and(|told| told.to_lowercase().contains(&wanted));
        let mut fits = found.iter().filter(|info| holds(&info.title) || holds(&info.first_message));
        match (fits.next(), fits.count()) {
            (None, _) => Ok(None),
            (Some(info), 0) => Ok(Some(info.path.clone())),
            (Some(_), more) => Err(format!(
                "{} sessions match `{text}`\nhint: usage: /resume [id|path|text]; /resume alone lists them",
                more + 1
            )),
        }
    }

    fn list(&self, session: &Session) -> Result<String, String> {
        let found = self.sessions.list(&self.cwd).map_err(|error| error.to_string())?;
        let own = session.snapshot().file.clone();
        let lines = found.iter().take(LISTED).map(|info| {
            let dot = if own.as_ref() == Some(&info.path) { "•" } else { " " };
            let id: String = info.id.chars().take(13).collect();
            let about = info.title.as_deref().or(info.first_message.as_deref()).unwrap_or("(no messages)");
            let about: String = about.lines().next().unwrap_or_default().chars().take(80).collect();
            format!("{dot} {id}  {about}")
        });
        let mut lines: Vec<String> = lines.collect();
        match found.len() {
            0 => lines.push("no sessions in this folder yet".to_owned()),
            count if count > LISTED => lines.push(format!("… and {} more", count - LISTED)),
            _ => {}
        }
        Ok(lines.join("\n"))
    }
}

pub struct ForkCommand {
    pub cwd: PathBuf,
}

impl SlashCommand for ForkCommand {
    fn name(&self) -> &str {
        "fork"
    }

    fn description(&self) -> &str {
        "Continue in a copy of this session"
    }

    fn switches_session(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, _: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let file = said_in_file(session).await?;
            Ok(SlashReply::Switch(Wish::Fork { file, cwd: Some(self.cwd.clone()) }))
        }
        .boxed()
    }
}

/// Returns the file of a session that is idle and not empty.
pub async fn said_in_file(session: &Session) -> Result<PathBuf, String> {
    if session.works().await {
        return Err(WORKING.to_owned());
    }
    let file = session.snapshot().file.clone().ok_or(NOT_KEPT)?;
    if !file.exists() {
        return Err("this session has no messages yet".to_owned());
    }
    session.write_pending()?;
    Ok(file)
}

//! `/debug`: the log, the raw stream of the provider, facts about this system, and a report for a bug ticket, all without
//! secrets.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{CommandChoice, CommandScreen, Session, SlashCommand, SlashReply};
use omp_types::{Env, Secrets};

use crate::Diagnostics;

const USAGE: &str = "usage: /debug [logs | stream | system | report | dump-next-request <path>]";
/// The entries of the menu: words after `/debug`, and what they do.
const MENU: [(&str, &str); 5] = [
    ("logs", "View the recent log"),
    ("stream", "View the raw stream of the provider"),
    ("system", "View facts about omp, this system and the terminal"),
    ("report", "Write a report for a bug ticket, without secrets"),
    ("dump-next-request", "Write the next request to a file"),
];
const NOTHING_YET: &str = "nothing yet";

/// Variables that identify the terminal; none of them is private.
const TERMINAL: [&str; 10] = [
    "TERM",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "TERMINAL_EMULATOR",
    "COLORTERM",
    "NO_COLOR",
    "LANG",
    "LC_ALL",
    "WT_SESSION",
    "VTE_VERSION",
];
/// Variables of which only the presence is reported.
const AROUND: [&str; 3] = ["TMUX", "STY", "SSH_CONNECTION"];

pub struct DebugCommand {
    pub cwd: PathBuf,
    pub diagnostics: Arc<dyn Diagnostics>,
    pub home: PathBuf,
    pub env: Env,
    /// Names of settings and their layers; values may be private.
    pub settings: Vec<(String, &'static str)>,
    pub secrets: Secrets,
}

impl SlashCommand for DebugCommand {
    fn name(&self) -> &str {
        "debug"
    }

    fn aliases(&self) -> &[&str] {
        &["bug"]
    }

    fn description(&self) -> &str {
        "View logs and the raw stream, or write a report"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[logs | stream | system | report | dump-next-request <path>]")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let (word, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
            match (word.to_lowercase().as_str(), rest.trim()) {
                ("", _) => Ok(menu()),
                ("logs", "") => Ok(page("Log", self.diagnostics.logs())),
                ("stream", "") => Ok(page("Raw stream", self.diagnostics.stream())),
                ("system", "") => Ok(page("System", self.report(session))),
                ("report", "") => self.packed(session),
                ("dump-next-request" | "dump-request" | "next-request", file) => self.dumped(file),
                _ => Err(format!("unknown argument `{arguments}`\nhint: {USAGE}")),
            }
        }
        .boxed()
    }
}

impl DebugCommand {
    fn report(&self, session: &Session) -> String {
        let now = session.snapshot();
        let (messages, tools) = (session.messages(), session.tools());
        let size = now.file.as_ref().and_then(|file| std::fs::metadata(file).ok()).map(|found| found.len());
        let tools: Vec<&str> = tools.specs().iter().map(|spec| spec.name.as_str()).collect();
        let mut lines = vec![
            format!("omp {} on {} ({})", env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH),
            format!("model: {} by {}, thinking {}", now.model.selector(), now.model.api.as_str(), now.thinking),
            format!("service tier: {}", session.service_tier().map_or("none", |tier| tier.as_str())),
            format!("approval: {}, plan mode: {}", now.approval_mode.as_str(), now.plans),
            format!(
                "session: {}, {} messages, {} queued, running: {}, file: {}",
                now.session_id,
                messages.len(),
                now.queued,
                now.running,
                size.map_or_else(|| "none".to_owned(), |bytes| format!("{bytes} bytes"))
            ),
            format!("system prompt: {} bytes, tools: {}", session.system_prompt().len(), tools.join(" ")),
            "terminal:".to_owned(),
        ];
        let told = TERMINAL.iter().filter_map(|name| Some(format!("  {name}={}", self.env.lookup(name)?)));
        lines.extend(told);
        lines.extend(AROUND.iter().filter(|name| self.env.lookup(name).is_some()).map(|name| format!("  in {name}")));
        lines.push("settings:".to_owned());
        lines.extend(self.settings.iter().map(|(key, from)| format!("  {key} ({from})")));
        let text = lines.join("\n") + "\n";
        let home = self.home.display().to_string();
        let text = if home.len() > 1 { text.replace(&home, "~") } else { text };
        self.secrets.redact(&text).into_owned()
    }

    fn packed(&self, session: &Session) -> Result<SlashReply, String> {
        // A session that is not saved has no file to pack.
        let _ = session.write_pending();
        let file = session.snapshot().file.clone().filter(|file| file.exists());
        let path = self.diagnostics.bundle(&self.report(session), file.as_deref())?;
        let told = "It contains the log, the newest raw stream, this conversation, and facts about this system. Known \
                    secrets are removed; look through it before you share it.";
        Ok(SlashReply::Text(format!("report written to {}\n{told}", path.display())))
    }

    fn dumped(&self, file: &str) -> Result<SlashReply, String> {
        if file.is_empty() {
            return Err("no path given\nhint: usage: /debug dump-next-request <path>".to_owned());
        }
        let file = self.cwd.join(file);
        let folder = file.parent().filter(|folder| folder.is_dir());
        if folder.is_none() || file.is_dir() {
            return Err(format!("cannot write {}\nhint: give a file in a folder that exists", file.display()));
        }
        let told = format!("Next AI provider request will be dumped to {}", file.display());
        self.diagnostics.dump_next(file);
        Ok(SlashReply::Text(told))
    }
}

fn menu() -> SlashReply {
    let item = |(word, about): &(&str, &str)| {
        let is_begun = *word == "dump-next-request";
        let line = format!("/debug {word}{}", if is_begun { " " } else { "" });
        CommandChoice { label: (*about).to_owned(), facts: format!("/debug {word}"), line, is_begun }
    };
    let lines = MENU.iter().map(|(word, about)| format!("/debug {word:<18} {about}"));
    let text = lines.collect::<Vec<_>>().join("\n");
    SlashReply::Screen {
        text,
        screen: CommandScreen::Menu { title: "Debug".to_owned(), items: MENU.iter().map(item).collect() },
    }
}

fn page(title: &str, text: String) -> SlashReply {
    let text = if text.trim().is_empty() { NOTHING_YET.to_owned() } else { text };
    SlashReply::Screen {
        text: text.trim_end().to_owned(),
        screen: CommandScreen::Page { title: title.to_owned(), text },
    }
}

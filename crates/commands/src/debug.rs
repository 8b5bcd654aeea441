//! `/debug`: writes a report for a bug ticket, without secrets.

use std::io::Write;
use std::path::PathBuf;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{Session, SlashCommand, SlashReply};
use omp_types::{Env, Secrets};

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
    /// Reports are written to `debug` in this folder.
    pub agent: PathBuf,
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
        "Write a bug report with secrets removed"
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            if !arguments.is_empty() {
                return Err("/debug takes no arguments".to_owned());
            }
            let report = self.report(session);
            let written = self.write(&report).map_err(|error| {
                let folder = self.agent.join("debug");
                format!("cannot write the report to {}: {error}", folder.display())
            })?;
            Ok(SlashReply::Text(format!("{report}\nwritten to {}", written.display())))
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

    fn write(&self, report: &str) -> std::io::Result<PathBuf> {
        let folder = self.agent.join("debug");
        std::fs::create_dir_all(&folder)?;
        // Readable by the user alone.
        let mut file = tempfile::Builder::new().prefix("report-").suffix(".txt").tempfile_in(folder)?;
        file.write_all(report.as_bytes())?;
        file.as_file().sync_all()?;
        let (_, path) = file.keep().map_err(|error| error.error)?;
        Ok(path)
    }
}

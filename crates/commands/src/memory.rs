//! `/memory`: shows the files with instructions that are part of the prompt, and opens one in the editor.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_config::{ContextFile, Level};
use omp_session::{CommandChoice, CommandScreen, Session, SlashCommand, SlashReply};
use omp_stdx::format::{bytes, grouped};

use crate::SessionFolder;

const USAGE: &str = "hint: usage: /memory [open <number or path>]";
/// Approximate bytes per token.
const TOKEN: usize = 4;

pub struct MemoryCommand {
    pub folder: Arc<dyn SessionFolder>,
    pub cwd: PathBuf,
    pub home: PathBuf,
}

impl SlashCommand for MemoryCommand {
    fn name(&self) -> &str {
        "memory"
    }

    fn description(&self) -> &str {
        "Show or edit the instruction files, such as AGENTS.md"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[open <number or path>]")
    }

    fn run<'a>(&'a self, arguments: &'a str, _: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let files = self.folder.context_files()?;
            match arguments.split_once(char::is_whitespace).unwrap_or((arguments, "")) {
                ("", _) => Ok(self.listed(&files)),
                ("open", "") => Err(format!("no file given\n{USAGE}")),
                ("open", which) => self.opened(&files, which.trim()),
                (other, _) => Err(format!("unknown argument `{other}`\n{USAGE}")),
            }
        }
        .boxed()
    }
}

impl MemoryCommand {
    fn listed(&self, files: &[ContextFile]) -> SlashReply {
        if files.is_empty() {
            let text = "no instruction files are loaded here\nhint: /init writes an AGENTS.md for this repository";
            return SlashReply::Text(text.to_owned());
        }
        let facts = |file: &ContextFile| {
            let level = if file.level == Level::User { "user" } else { "project" };
            let tokens = grouped(file.text.len().div_ceil(TOKEN) as u64);
            format!("{level}, {}, about {tokens} tokens", bytes(file.text.len() as u64))
        };
        let rows = files.iter().enumerate();
        let rows = rows.map(|(at, file)| format!("{}. {} ({})", at + 1, self.shown(&file.path), facts(file)));
        let hint = "hint: /memory open <number> opens one in your editor; changes take effect in the next session";
        let text = format!("In the prompt, in this order:\n{}\n{hint}", rows.collect::<Vec<_>>().join("\n"));
        let item = |(at, file): (usize, &ContextFile)| CommandChoice {
            label: self.shown(&file.path),
            facts: facts(file),
            line: format!("/memory open {}", at + 1),
            is_begun: false,
        };
        let items = files.iter().enumerate().map(item).collect();
        SlashReply::Screen {
            text,
            screen: CommandScreen::Menu { title: "Instructions in the prompt".to_owned(), items },
        }
    }

    fn opened(&self, files: &[ContextFile], which: &str) -> Result<SlashReply, String> {
        let numbered = which.parse::<usize>().ok().and_then(|number| files.get(number.wrapping_sub(1)));
        let path = self.cwd.join(which);
        let is_meant = |file: &&ContextFile| file.path == path || self.shown(&file.path) == which;
        let file = numbered.or_else(|| files.iter().find(is_meant));
        let file =
            file.ok_or_else(|| format!("no such file in the prompt: `{which}`\nhint: /memory lists the files"))?;
        let text = format!("open {} in your editor; there is no editor here", file.path.display());
        Ok(SlashReply::Screen { text, screen: CommandScreen::Edit(file.path.clone()) })
    }

    fn shown(&self, path: &Path) -> String {
        if let Ok(inside) = path.strip_prefix(&self.cwd) {
            return inside.display().to_string();
        }
        match path.strip_prefix(&self.home) {
            Ok(below) => format!("~/{}", below.display()),
            Err(_) => path.display().to_string(),
        }
    }
}

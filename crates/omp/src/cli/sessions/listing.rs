//! `omp sessions list` and `search`.

use clap::Args;
use omp_store::SessionInfo;
use serde_json::{Value, json};

use super::{SessionsContext, SessionsOutput, about};
use crate::folder::FolderProblem;

const ID_SHOWN: usize = 13;
const ABOUT_SHOWN: usize = 80;

#[derive(Args, Debug)]
pub struct ListArgs {
    /// List the sessions of all folders
    #[arg(long)]
    all: bool,

    /// List archived sessions instead
    #[arg(long)]
    archived: bool,

    /// Show at most this many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

#[derive(Args, Debug)]
pub struct SearchArgs {
    /// Words that a session must all contain
    #[arg(value_name = "WORD", required = true)]
    words: Vec<String>,

    /// Search only the sessions of this folder
    #[arg(long)]
    here: bool,

    /// Show at most this many
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
}

impl SessionsContext {
    pub(super) fn list(&self, args: &ListArgs) -> Result<SessionsOutput, FolderProblem> {
        let sessions = if args.archived { self.sessions.archived() } else { self.sessions.clone() };
        let found = if args.all { sessions.list_all() } else { sessions.list(&self.cwd) };
        let mut found = found.map_err(|error| error.to_string())?;
        found.truncate(args.limit.unwrap_or(usize::MAX));
        let text = if found.is_empty() {
            "no sessions here; `--all` lists those of all folders\n".to_owned()
        } else {
            found.iter().map(|info| line(info, args.all)).collect()
        };
        Ok(SessionsOutput { text, json: found.iter().map(about).collect() })
    }

    pub(super) fn search(&self, args: &SearchArgs) -> Result<SessionsOutput, FolderProblem> {
        let query = args.words.join(" ");
        let cwd = args.here.then_some(self.cwd.as_path());
        let found = self.sessions.search(cwd, &query, args.limit).map_err(|error| error.to_string())?;
        if found.is_empty() {
            return Ok(SessionsOutput { text: "nothing found\n".to_owned(), json: json!([]) });
        }
        let text = found.iter().map(|hit| match hit.snippet.as_str() {
            "" => line(&hit.info, !args.here),
            snippet => format!("{}    … {snippet} …\n", line(&hit.info, !args.here)),
        });
        let json = found.iter().map(|hit| {
            let mut hit_json = about(&hit.info);
            hit_json["snippet"] = Value::from(hit.snippet.as_str());
            hit_json
        });
        Ok(SessionsOutput { text: text.collect(), json: json.collect() })
    }
}

fn line(info: &SessionInfo, with_folder: bool) -> String {
    let id: String = info.id.chars().take(ID_SHOWN).collect();
    let about = info.title.as_deref().or(info.first_message.as_deref()).unwrap_or("(no messages)");
    let about: String = about.lines().next().unwrap_or_default().chars().take(ABOUT_SHOWN).collect();
    let modified: String = info.modified_at().chars().take(16).collect::<String>().replace('T', " ");
    let folder = if with_folder { format!("  ({})", info.cwd) } else { String::new() };
    format!("{id}  {modified}  {about}{folder}\n")
}

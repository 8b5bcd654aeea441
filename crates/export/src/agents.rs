//! Sub-agents: their transcripts and answers are stored next to the session and become sections of the page.

use std::io::{self, Read, Write};
use std::path::Path;

use omp_store::{ArtifactDir, LoadedSession};

use crate::entry::EntryScribe;
use crate::markdown::{Lines, markdown};
use crate::markup::{Html, LONGEST_TEXT};
use crate::talk::{SidebarOutline, write_talk};

/// Limits on sections per page, and on the nesting depth of agents.
const MOST_AGENTS: usize = 200;
const DEEPEST: usize = 4;

/// The sections that were written.
#[derive(Default)]
pub(crate) struct AgentSections {
    pub written: Vec<Agent>,
    /// Number of transcripts beyond the limit.
    pub left_out: usize,
}

pub(crate) struct Agent {
    pub name: String,
    pub anchor: String,
    pub depth: usize,
    pub outline: Option<SidebarOutline>,
}

/// Writes a section for every agent of a session, nested agents inside their parent's section.
pub(crate) fn write_agents(
    scribe: &mut EntryScribe<'_>,
    session: &Path,
    depth: usize,
    agents: &mut AgentSections,
    out: &mut dyn Write,
) -> io::Result<()> {
    let folder = ArtifactDir::of_session(session);
    for name in names_in(folder.path()) {
        if agents.written.len() >= MOST_AGENTS || depth >= DEEPEST {
            agents.left_out += 1;
            continue;
        }
        let anchor = format!("a{}", agents.written.len());
        let shown = scribe.secrets.redact(&name).into_owned();
        let mut html = Html::default();
        html.raw("<details class=\"agent\"").attr("id", &anchor).raw("><summary>Sub-agent ").text(&shown);
        html.raw("</summary>");
        out.write_all(html.as_str().as_bytes())?;
        let at = agents.written.len();
        agents.written.push(Agent { name: shown, anchor: anchor.clone(), depth, outline: None });
        let transcript = folder.path().join(format!("{name}.jsonl"));
        agents.written[at].outline = write_transcript(scribe, &transcript, &format!("{anchor}-"), out)?;
        write_answer(scribe, &folder.path().join(format!("{name}.md")), out)?;
        write_agents(scribe, &transcript, depth + 1, agents, out)?;
        out.write_all(b"</details>\n")?;
    }
    Ok(())
}

fn write_transcript(
    scribe: &mut EntryScribe<'_>,
    file: &Path,
    prefix: &str,
    out: &mut dyn Write,
) -> io::Result<Option<SidebarOutline>> {
    if !file.is_file() {
        return Ok(None);
    }
    match LoadedSession::open(file, scribe.pictures.blobs().clone()) {
        Ok(session) => write_talk(scribe, &session, None, prefix, out).map(Some),
        Err(error) => {
            let mut html = Html::default();
            let why = error.to_string();
            html.element("<p class=\"failed\">", &scribe.secrets.redact(&why), "</p>");
            out.write_all(html.as_str().as_bytes()).map(|()| None)
        }
    }
}

fn write_answer(scribe: &EntryScribe<'_>, file: &Path, out: &mut dyn Write) -> io::Result<()> {
    let Some(text) = beginning_of(file) else { return Ok(()) };
    let mut html = Html::default();
    html.raw("<h5>Answer</h5>");
    markdown(&mut html, &scribe.secrets.redact(&text), Lines::Flow);
    out.write_all(html.as_str().as_bytes())
}

/// Reads more than is ever shown, so that a cut is reported.
fn beginning_of(file: &Path) -> Option<String> {
    if !file.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(file).ok()?.take(4 * LONGEST_TEXT as u64).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the file stems of transcripts and answers, in order.
fn names_in(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut names: Vec<String> = files.filter_map(|file| name_of(&file.path())).collect();
    names.sort();
    names.dedup();
    names
}

fn name_of(path: &Path) -> Option<String> {
    let extension = path.extension()?;
    let agent =
        (extension == "jsonl" || extension == "md") && path.symlink_metadata().is_ok_and(|found| found.is_file());
    agent.then(|| path.file_stem()?.to_str().map(str::to_owned)).flatten()
}

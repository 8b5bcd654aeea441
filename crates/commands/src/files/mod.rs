//! Commands of the user's and the project's files: files whose text is sent as a prompt, and skills by name.
//!
//! A file is read again whenever it is used. Text of a project's file is sent to the model and never passed to a shell.

mod allowed;
mod include;
mod shell;
mod skill;
mod template;
mod terms;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_config::{Catalogue, FileCommand, Item, ItemSource, Level, TrustDecision, read_again};
use omp_exec::Containment;
use omp_session::{CommandSource, Prepared, Prompt, Session, SlashCommand, SlashReply};
use omp_types::{Content, Env, ImageContent};
use omp_workspace::FileReach;
use serde_json::{Map, Value};

use crate::ModelDirectory;
use template::{Arguments, Expanded, TemplatePiece, expand};
use terms::CommandTerms;

/// Caps the first line that replaces a missing description.
const LONGEST_DESCRIPTION: usize = 60;

/// The environment in which commands run.
pub struct CommandPlace {
    pub cwd: PathBuf,
    /// The folder that no path may leave.
    pub root: PathBuf,
    pub env: Env,
    /// The sandbox for command lines of templates.
    pub containment: Containment,
    /// `shellPath`
    pub shell: Option<String>,
    /// The user's decision on the project's files that run commands.
    pub trust: Arc<TrustDecision>,
    /// Resolves the models that command files name.
    pub models: Arc<dyn ModelDirectory>,
}

/// Returns a command for each file, then for each prompt template, then for each skill. The first of a name wins.
pub fn file_commands(
    catalogue: &Catalogue,
    place: &Arc<CommandPlace>,
    with_skills: bool,
) -> Vec<Arc<dyn SlashCommand>> {
    let files = catalogue.commands.iter().chain(&catalogue.prompts);
    let files = files.map(|file| Arc::new(Templated::new(file.clone(), place.clone())) as Arc<dyn SlashCommand>);
    let skills = catalogue.skills.iter().filter(|_| with_skills);
    let skills = skills.map(|skill| Arc::new(skill::SkillCommand::new(skill.clone(), place.clone())) as _);
    files.chain(skills).collect()
}

struct Templated {
    file: FileCommand,
    description: String,
    hint: Option<String>,
    place: Arc<CommandPlace>,
}

impl Templated {
    fn new(file: FileCommand, place: Arc<CommandPlace>) -> Self {
        let about = file.description.clone().unwrap_or_else(|| first_line(&file.template));
        let description = format!("{about} ({})", level_name(file.source.level)).trim_start().to_owned();
        let takes_some = ["$1", "$@", "$ARGUMENTS", "{{arg"].iter().any(|sign| file.template.contains(sign));
        let hint = file.argument_hint.clone().or_else(|| takes_some.then(|| "[arguments]".to_owned()));
        Self { file, description, hint, place }
    }

    /// Reads the current template. Only Markdown is read again; other formats stay as they were at startup.
    fn template(&self) -> Result<(String, Map<String, Value>), String> {
        if self.file.source.path.extension().is_none_or(|ending| ending != "md") {
            return Ok((self.file.template.trim().to_owned(), Map::new()));
        }
        let again = read_again(&self.file.source, &self.place.cwd)
            .map_err(|problem| format!("/{} cannot be used: {problem}", self.file.name))?;
        Ok((again.body.trim().to_owned(), again.fields))
    }
}

impl SlashCommand for Templated {
    fn name(&self) -> &str {
        &self.file.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn arguments(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    fn source(&self) -> CommandSource {
        CommandSource::File
    }

    fn takes_long(&self) -> bool {
        self.file.template.contains("!`")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let (template, fields) = self.template()?;
            let terms = CommandTerms::of(self.name(), &fields, &self.place, session).await?;
            let arguments = Arguments::split(arguments);
            let expanded = expand(&template, &arguments);
            let made = self.place.carry_out(expanded, &arguments, &FileCommand { template, ..self.file.clone() }).await;
            for note in &made.notes {
                session.tell(format!("/{}: {note}", self.file.name));
            }
            let typed = format!("/{} {}", self.file.name, arguments.line()).trim_end().to_owned();
            sent(made, typed, &self.file.source, terms)
        }
        .boxed()
    }
}

/// An expanded template.
#[derive(Debug, Default, PartialEq)]
struct ExpandedTemplate {
    text: String,
    images: Vec<ImageContent>,
    /// Notes for the user.
    notes: Vec<String>,
}

impl CommandPlace {
    /// Returns the command lines of a project's file if the user has trusted the file; all of them or none.
    fn allowed_runs(&self, file: &FileCommand) -> Vec<String> {
        let item = Item::command(file, self.trust.root());
        item.filter(|item| self.trust.may_run(item)).map(|item| item.runs).unwrap_or_default()
    }

    /// `file` is the version that was just read.
    async fn carry_out(&self, expanded: Expanded, arguments: &Arguments, file: &FileCommand) -> ExpandedTemplate {
        let Expanded { pieces, files, notes } = expanded;
        let mut made = ExpandedTemplate { notes, ..ExpandedTemplate::default() };
        let runs = self.allowed_runs(file);
        for piece in pieces {
            match piece {
                TemplatePiece::Text(piece) => made.text.push_str(&piece),
                TemplatePiece::Run(line) if file.source.level == Level::Project && !runs.contains(&line) => {
                    made.text.push_str(&format!("[not run: `{line}`]"));
                    made.notes.push(format!(
                        "`{line}` was not run: {} belongs to a project that is not trusted\nhint: trust it with `omp trust add`, or copy the command to ~/.omp/agent/commands",
                        file.source.path.display()
                    ));
                }
                TemplatePiece::Run(line) => {
                    let ran = shell::output(&line, arguments, self).await;
                    made.text.push_str(&ran.text);
                    made.notes.extend(ran.note);
                }
            }
        }
        if !files.is_empty() {
            let (cwd, root) = (self.cwd.clone(), self.root.clone());
            let reach = self.containment.access().cloned().map_or_else(FileReach::default, FileReach::new);
            let included = tokio::task::spawn_blocking(move || include::include(&files, &cwd, &root, &reach)).await;
            let included = included.unwrap_or_default();
            made.text.push_str(&included.text);
            made.images = included.images;
            made.notes.extend(included.notes);
        }
        made
    }
}

/// Returns the message for the model. The session stores the typed text beside it.
fn sent(made: ExpandedTemplate, typed: String, source: &ItemSource, terms: CommandTerms) -> Result<SlashReply, String> {
    let ExpandedTemplate { text, images, .. } = made;
    if text.trim().is_empty() {
        let name = typed.split_whitespace().next().unwrap_or_default();
        return Err(format!("{name} has no text: {} is empty", source.path.display()));
    }
    let images = images.into_iter().map(Content::Image);
    let content: Vec<Content> = std::iter::once(Content::text(text)).chain(images).collect();
    let prepared = Prepared {
        typed,
        blocks: content.len(),
        path: source.path.display().to_string(),
        model: terms.model,
        limit: terms.limit,
        question: None,
    };
    Ok(SlashReply::Prompt(Prompt { content, prepared: Some(Arc::new(prepared)) }))
}

fn first_line(template: &str) -> String {
    let line = template.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(LONGEST_DESCRIPTION) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line.to_owned(),
    }
}

fn level_name(level: Level) -> &'static str {
    match level {
        Level::User => "user",
        Level::Project => "project",
    }
}

//! Commands that the user and the project bring along: files whose text is sent, and skills by name.
//!
//! A file is read anew whenever it is used. What stands in a project's file goes to the model and never to a shell.

mod include;
mod shell;
mod skill;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_config::{Catalogue, FileCommand, ItemSource, Level, Skill, read_again, repository_root};
use omp_session::{Arguments, CommandSource, Expanded, Piece, Session, SlashCommand, SlashReply, expand};
use omp_store::Custom;
use omp_tools::{FoldersResource, NamedFolder, Resource};
use omp_types::{Content, Env};
use serde_json::{Map, Value, json};

use crate::compose::Setup;

/// Characters of a first line that stands for a missing description.
const LONGEST_DESCRIPTION: usize = 60;
/// The entry that keeps what was typed; the file and the model have what became of it.
const TYPED_ENTRY: &str = "slash_command";

/// Where commands are carried out.
pub struct Place {
    pub cwd: PathBuf,
    /// What nothing may lead out of.
    pub root: PathBuf,
    pub env: Env,
    /// `shellPath`
    pub shell: Option<String>,
    /// Whether the user has said that the project's files may run commands.
    pub trusted: bool,
}

/// What the setup of a session has of them.
pub fn of(setup: &Setup) -> Vec<Arc<dyn SlashCommand>> {
    let place = Place {
        cwd: setup.cwd.clone(),
        root: repository_root(&setup.cwd),
        env: setup.env.clone(),
        shell: setup.settings.user("shellPath"),
        trusted: false,
    };
    let key = "skills.enableSkillCommands";
    let on = setup.settings.user(key).unwrap_or(true) && setup.settings.project(key).unwrap_or(true);
    commands(setup.catalogue(), &Arc::new(place), on)
}

/// `skill://`: each skill's folder under its name.
pub fn skills_resource(setup: &Setup) -> Arc<dyn Resource> {
    let folder = |skill: &Skill| NamedFolder {
        name: skill.name.clone(),
        folder: skill.folder.clone(),
        main_file: "SKILL.md".to_owned(),
    };
    Arc::new(FoldersResource { scheme: "skill", folders: setup.catalogue().skills.iter().map(folder).collect() })
}

/// A command for each file, then for each prompt template, then for each skill. The first of a name counts.
pub fn commands(catalogue: &Catalogue, place: &Arc<Place>, with_skills: bool) -> Vec<Arc<dyn SlashCommand>> {
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
    place: Arc<Place>,
    /// What is not done was told once.
    told: AtomicBool,
}

impl Templated {
    fn new(file: FileCommand, place: Arc<Place>) -> Self {
        let about = file.description.clone().unwrap_or_else(|| first_line(&file.template));
        let description = format!("{about} ({})", level_name(file.source.level)).trim_start().to_owned();
        let takes_some = ["$1", "$@", "$ARGUMENTS", "{{arg"].iter().any(|sign| file.template.contains(sign));
        let hint = file.argument_hint.clone().or_else(|| takes_some.then(|| "[arguments]".to_owned()));
        Self { file, description, hint, place, told: AtomicBool::new(false) }
    }

    /// The template as it is now. Only Markdown is read again; other formats are what they were at the start.
    fn template(&self) -> Result<(String, Map<String, Value>), String> {
        if self.file.source.path.extension().is_none_or(|ending| ending != "md") {
            return Ok((self.file.template.trim().to_owned(), Map::new()));
        }
        let again = read_again(&self.file.source, &self.place.cwd)
            .map_err(|problem| format!("/{} cannot be used: {problem}", self.file.name))?;
        Ok((again.body.trim().to_owned(), again.fields))
    }

    fn tell_what_is_not_done(&self, fields: &Map<String, Value>, session: &Session) {
        let ignored = [
            (
                "allowedTools",
                "`allowed-tools` is not enforced: every tool of the session can be used, and asks as always",
            ),
            ("model", "`model` is ignored: the session's model answers"),
        ];
        let notes: Vec<&str> =
            ignored.iter().filter(|(key, _)| fields.contains_key(*key)).map(|(_, note)| *note).collect();
        if !notes.is_empty() && !self.told.swap(true, Ordering::Relaxed) {
            session.tell(format!("/{}: {}", self.file.name, notes.join("; ")));
        }
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
            self.tell_what_is_not_done(&fields, session);
            let arguments = Arguments::split(arguments);
            let expanded = expand(&template, &arguments);
            let (text, notes) = self.place.carry_out(expanded, &arguments, &self.file.source).await;
            for note in notes {
                session.tell(format!("/{}: {note}", self.file.name));
            }
            sent(self.name(), &arguments, &self.file.source, text, session)
        }
        .boxed()
    }
}

impl Place {
    /// The prompt, and what the user should know about it.
    async fn carry_out(&self, expanded: Expanded, arguments: &Arguments, source: &ItemSource) -> (String, Vec<String>) {
        let Expanded { pieces, files, mut notes } = expanded;
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(piece) => text.push_str(&piece),
                Piece::Run(line) if source.level == Level::Project && !self.trusted => {
                    text.push_str(&format!("[not run: `{line}`]"));
                    notes.push(format!(
                        "`{line}` was not run: {} belongs to the project, which is not trusted\nhint: a command of your \
                         own in ~/.omp/agent/commands may run it",
                        source.path.display()
                    ));
                }
                Piece::Run(line) => {
                    let ran = shell::output(&line, arguments, self).await;
                    text.push_str(&ran.text);
                    notes.extend(ran.note);
                }
            }
        }
        if !files.is_empty() {
            let (cwd, root) = (self.cwd.clone(), self.root.clone());
            let included = tokio::task::spawn_blocking(move || include::include(&files, &cwd, &root)).await;
            let included = included.unwrap_or_default();
            text.push_str(&included.text);
            notes.extend(included.notes);
        }
        (text, notes)
    }
}

/// What is said to the model, with what was typed kept beside it.
fn sent(
    name: &str,
    arguments: &Arguments,
    source: &ItemSource,
    text: String,
    session: &Session,
) -> Result<SlashReply, String> {
    if text.trim().is_empty() {
        return Err(format!("/{name} says nothing: {} is empty", source.path.display()));
    }
    let typed = format!("/{name} {}", arguments.line()).trim_end().to_owned();
    let data = json!({"typed": typed, "path": source.path.display().to_string()});
    session
        .note(Custom { custom_type: TYPED_ENTRY.to_owned(), data: Some(data) })
        .map_err(|error| format!("/{name} cannot be kept in the session: {error}"))?;
    Ok(SlashReply::Prompt(vec![Content::text(text)]))
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

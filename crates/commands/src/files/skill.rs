//! `/skill:name`: sends the text of a skill on behalf of the user, instead of the model reading it.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_config::{Skill, read_again};
use omp_session::{CommandSource, Session, SlashCommand, SlashReply};

use super::terms::CommandTerms;
use super::{CommandPlace, ExpandedTemplate, level_name, sent};

pub struct SkillCommand {
    skill: Skill,
    name: String,
    description: String,
    place: Arc<CommandPlace>,
}

impl SkillCommand {
    pub fn new(skill: Skill, place: Arc<CommandPlace>) -> Self {
        let about = if skill.description.is_empty() { "Use this skill" } else { skill.description.as_str() };
        let about = about.lines().next().unwrap_or_default();
        let description = format!("{about} ({})", level_name(skill.source.level));
        Self { name: format!("skill:{}", skill.name), description, skill, place }
    }

    /// Returns the line as typed, with the skill's name in front unless the line contains it.
    fn typed(&self, line: &str) -> String {
        let named = format!("/{}", self.name);
        match line.split_whitespace().any(|word| word == named) {
            true => line.to_owned(),
            false => format!("{named} {line}").trim_end().to_owned(),
        }
    }
}

/// Returns the message for the model. Paths of the skill are addresses, so they can be read wherever the folder is; its
/// scripts are run by their real path.
fn message(skill: &Skill, body: &str, line: &str) -> String {
    if body.is_empty() {
        return String::new();
    }
    let name = &skill.name;
    let mut text = format!(
        "I want the skill `{name}` applied. Its instructions follow. Its other files are at `skill://{name}/<path>` for \
         reading and in `{}` for running.\n\n<skill name=\"{name}\">\n{body}\n</skill>",
        skill.folder.display()
    );
    if !line.is_empty() {
        text.push_str(&format!("\n\n{line}"));
    }
    text
}

impl SlashCommand for SkillCommand {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn arguments(&self) -> Option<&str> {
        Some("[arguments]")
    }

    fn source(&self) -> CommandSource {
        CommandSource::Skill
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let line = arguments.trim();
            let again = read_again(&self.skill.source, &self.place.cwd)
                .map_err(|problem| format!("/{} cannot be used: {problem}", self.name))?;
            let terms = CommandTerms::of(&self.name, &again.fields, &self.place, session).await?;
            let made =
                ExpandedTemplate { text: message(&self.skill, again.body.trim(), line), ..ExpandedTemplate::default() };
            sent(made, self.typed(line), &self.skill.source, terms)
        }
        .boxed()
    }
}

//! Builds the system prompt.
//!
//! It contains nothing that changes between turns (time, git state, file lists): providers cache this prefix byte by byte,
//! and one changed byte makes every later request pay the full price. Changing data is sent with the first prompt, see
//! [`opening`].

mod listed;
mod opening;
mod parts;
mod report;
mod shape;
mod template;
#[cfg(test)]
mod tests;
mod told;

use std::path::Path;
use std::sync::Arc;

use omp_config::ContextFile;
use omp_types::{Model, Setting, SettingKind};

pub use listed::PromptListItem;
pub(crate) use opening::message as opening_message;
pub use opening::{FolderTree, GitState, Opening};
pub use parts::{Environment, NamedText, PromptParts, Replacement};
pub use report::{ContextReport, ContextSize, Measured, PartCost, context_report};
use shape::Shape;
pub use template::TemplateError;
use template::fill;
pub use told::LookAround;
pub(crate) use told::Told;

const SYSTEM: &str = include_str!("system.md");
const SHORT: &str = include_str!("short.md");
const PARALLEL: &str = include_str!("parallel.md");
const BOUNDARIES: &str = include_str!("boundaries.md");
const ENVIRONMENT: &str = include_str!("environment.md");
const NOTES: &str = include_str!("notes.md");
const RULES: &str = include_str!("rules.md");
const RULEBOOK: &str = include_str!("rulebook.md");
const SKILLS: &str = include_str!("skills.md");
/// Maximum bytes of rules that always apply. Further ones are listed in the rulebook, which the model is told to read
/// first.
const MAX_RULES: usize = 48 * 1024;

/// Whether the file tree of the project is sent with the first prompt.
pub const INCLUDE_WORKSPACE_TREE: &str = "includeWorkspaceTree";

pub const SETTINGS: &[Setting] = &[Setting::new(
    "Context",
    "includeWorkspaceTree",
    SettingKind::Bool,
    "false",
    "Send a list of the project's files with the first prompt.",
)
.titled("Send the file tree")];

/// The kind of a part of the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PartKind {
    System,
    Environment,
    ContextFile,
    Rules,
    Rulebook,
    Skills,
    Append,
}

/// A part of the system prompt. All parts concatenated are the whole prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    pub kind: PartKind,
    /// Distinguishes several parts of one kind, such as by path.
    pub name: Option<String>,
    pub text: Arc<str>,
}

/// The system prompt of a session, for any model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemPrompt {
    /// The built-in text in each shape.
    heads: [Arc<str>; Shape::ALL.len()],
    rest: Vec<Section>,
}

impl SystemPrompt {
    pub fn new(parts: &PromptParts) -> Result<Self, TemplateError> {
        let mut heads: [Arc<str>; Shape::ALL.len()] = Default::default();
        for shape in Shape::ALL {
            heads[shape.index()] = head(parts, shape)?.into();
        }
        let mut rest = vec![section(PartKind::Environment, None, environment(parts)?)];
        rest.extend(notes(&parts.context_files, &parts.environment.cwd));
        rest.extend(rules(parts)?);
        if !parts.skills.is_empty() {
            let list = listed::lines(&parts.skills, "skill://");
            rest.push(section(PartKind::Skills, None, fill(SKILLS, &[("list", list.trim_end())])?));
        }
        if let Some(append) = &parts.append {
            rest.push(section(PartKind::Append, None, format!("\n{}\n", append.trim_end())));
        }
        Ok(Self { heads, rest })
    }

    /// The parts in the order in which the model reads them.
    pub fn sections(&self, model: &Model) -> Vec<Section> {
        let head = self.heads[Shape::of(model).index()].clone();
        let head = Section { kind: PartKind::System, name: None, text: head };
        std::iter::once(head).chain(self.rest.iter().cloned()).filter(|section| !section.text.is_empty()).collect()
    }

    pub fn text(&self, model: &Model) -> Arc<str> {
        self.sections(model).iter().map(|section| &*section.text).collect::<String>().into()
    }
}

/// A prompt with a single part.
impl From<&str> for SystemPrompt {
    fn from(text: &str) -> Self {
        let text: Arc<str> = text.into();
        Self { heads: std::array::from_fn(|_| text.clone()), rest: Vec::new() }
    }
}

fn section(kind: PartKind, name: Option<String>, text: String) -> Section {
    Section { kind, name, text: text.into() }
}

fn head(parts: &PromptParts, shape: Shape) -> Result<String, TemplateError> {
    let text = match &parts.replace {
        Some(own) if own.keep_boundaries => format!("{}\n\n{BOUNDARIES}", own.text.trim_end()),
        Some(own) => own.text.clone(),
        None => {
            let parallel = if shape.parallel { PARALLEL.trim_end() } else { "" };
            let values = [("parallel", parallel), ("boundaries", BOUNDARIES.trim_end())];
            fill(if shape.short { SHORT } else { SYSTEM }, &values)?
        }
    };
    Ok(format!("{}\n", text.trim_end()))
}

fn environment(parts: &PromptParts) -> Result<String, TemplateError> {
    let Environment { cwd, os, shell, began } = &parts.environment;
    let line = |label: &str, value: &Option<String>| {
        value.as_ref().map(|value| format!("{label}: {value}")).unwrap_or_default()
    };
    fill(
        ENVIRONMENT,
        &[
            ("cwd", &cwd.display().to_string()),
            ("os", os),
            ("shell", &line("Shell", shell)),
            ("began", &line("Session began", began)),
        ],
    )
}

fn notes<'a>(files: &'a [ContextFile], cwd: &'a Path) -> impl Iterator<Item = Section> + 'a {
    files.iter().enumerate().map(move |(position, file)| {
        let path = display_path(&file.path, cwd);
        let heading = if position == 0 { NOTES } else { "" };
        let text = format!("{heading}\n<notes path=\"{path}\">\n{}\n</notes>\n", file.text.trim_end());
        section(PartKind::ContextFile, Some(path), text)
    })
}

/// Rules that always apply, in full, followed by the list of those that can be read.
fn rules(parts: &PromptParts) -> Result<Vec<Section>, TemplateError> {
    let mut whole = String::new();
    let mut listed = Vec::new();
    for rule in &parts.always {
        let text = format!("\n<rule name=\"{}\">\n{}\n</rule>\n", rule.name, rule.text.trim());
        if whole.len() + text.len() <= MAX_RULES {
            whole.push_str(&text);
        } else {
            let description = "always in force, too long to stand here: read it before you begin".to_owned();
            listed.push(PromptListItem { name: rule.name.clone(), description, globs: Vec::new() });
        }
    }
    listed.extend(parts.rulebook.iter().cloned());
    let mut sections = Vec::new();
    if !whole.is_empty() {
        sections.push(section(PartKind::Rules, None, fill(RULES, &[("rules", whole.trim_end())])?));
    }
    if !listed.is_empty() {
        let list = listed::lines(&listed, "rule://");
        sections.push(section(PartKind::Rulebook, None, fill(RULEBOOK, &[("list", list.trim_end())])?));
    }
    Ok(sections)
}

fn display_path(path: &Path, cwd: &Path) -> String {
    path.strip_prefix(cwd).unwrap_or(path).display().to_string()
}

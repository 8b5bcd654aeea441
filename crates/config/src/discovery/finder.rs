//! The interface for providers: the places to search, and one method per kind of item.
//!
//! Providers run strongest first, so the first item of a name stays and shadows all later ones.

mod declared;
mod extension_modules;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::catalogue::{Catalogue, Import, Provider, Shadowed, Source, TextFile};
use super::choices::Choices;
use super::disk::Disk;
use super::files::{Content, EntryKind, Files, Limit};
use super::imports::Importer;
use super::{ContextFile, Kind, Level, Places, items};

/// Limits a context file, because it is sent with every request; a longer one is truncated and says so.
const MAX_CONTEXT_BYTES: usize = 32 << 10;
/// Limits a rule, command or prompt, which is text written by a person.
const MAX_TEXT_BYTES: usize = 256 << 10;
/// The front matter of a skill must end within this size.
const MAX_SKILL_HEAD_BYTES: usize = 16 << 10;
const MAX_ITEMS: usize = 1_000;
const MAX_DEPTH: usize = 4;
/// Limits the folders scanned below one folder, however deep.
const MAX_FOLDERS: usize = 1_000;
/// Folders with third-party files.
pub(crate) const FOREIGN_FOLDERS: &[&str] =
    &["node_modules", "vendor", "bower_components", "target", "dist", "site-packages", "__pycache__"];

/// A folder that may contain items, and its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Folder {
    pub path: PathBuf,
    pub level: Level,
}

impl Folder {
    pub fn join(&self, name: &str) -> Folder {
        Folder { path: self.path.join(name), level: self.level }
    }
}

pub(crate) struct Finder<'a> {
    pub places: &'a Places<'a>,
    /// From the working folder up to the repository root.
    pub project: Vec<PathBuf>,
    pub choices: &'a Choices,
    provider: Provider,
    /// Whether only the user's hooks and rules of the provider are wanted.
    only_guards: bool,
    files: Files,
    catalogue: Catalogue,
    seen: HashMap<(Kind, String), Source>,
    /// Counts items per level, so that a repository with many items leaves room for the user's.
    counts: HashMap<(Kind, Level), usize>,
}

impl<'a> Finder<'a> {
    pub fn new(disk: Disk, places: &'a Places<'a>, choices: &'a Choices, root: &Path) -> Self {
        let project = places.cwd.ancestors().take_while(|folder| folder.starts_with(root));
        Self {
            places,
            // Without a trailing slash, which would make one folder look like two.
            project: project.map(|folder| folder.components().collect()).collect(),
            choices,
            provider: Provider::Native,
            only_guards: false,
            files: Files::on(disk, root),
            catalogue: Catalogue::default(),
            seen: HashMap::new(),
            counts: HashMap::new(),
        }
    }

    /// Sets the provider of the following items.
    pub fn turn_to(&mut self, provider: Provider) {
        self.provider = provider;
    }

    /// For a provider that the project disables, only items that guard the user are kept.
    pub fn only_guards(&mut self, only: bool) {
        self.only_guards = only;
    }

    pub fn finish(mut self) -> (Catalogue, Disk) {
        let depth = |file: &ContextFile| (file.level, file.path.components().count());
        self.catalogue.context_files.sort_by_key(depth);
        let (warnings, disk) = self.files.into_warnings_and_disk();
        self.catalogue.warnings = warnings;
        (self.catalogue, disk)
    }

    pub fn disk(&self) -> &Disk {
        &self.files.disk
    }

    pub fn user(&self, below_home: &str) -> Folder {
        Folder { path: self.places.home.join(below_home), level: Level::User }
    }

    /// Returns the existing folders of that name in the project, nearest first. The one in the home folder belongs to the
    /// user.
    ///
    /// Most programs have none: one query here saves a dozen at every level.
    pub fn in_project(&self, name: &str) -> Vec<Folder> {
        let folders = self.project.iter().filter(|folder| *folder != self.places.home);
        let folders = folders.map(|folder| Folder { path: folder.join(name), level: Level::Project });
        folders.filter(|folder| self.disk().is_folder(&folder.path)).collect()
    }

    pub fn holds_something(&self, folder: &Folder) -> bool {
        self.disk().list(&folder.path).is_ok_and(|listed| !listed.entries.is_empty())
    }

    pub fn warn(&mut self, sentence: String) {
        self.files.warn(sentence);
    }

    /// Runs `look` without warnings, because another component reports the problems.
    pub fn quietly(&mut self, look: impl FnOnce(&mut Self)) {
        let before = self.files.warning_count();
        look(self);
        self.files.forget_warnings(before);
    }

    /// Adds one context file for the user, and one for each project folder: `scope`.
    pub fn context_file(&mut self, path: PathBuf, level: Level, scope: &Path) {
        let key = if level == Level::User { "user".to_owned() } else { scope.display().to_string() };
        self.context_file_for(key, path, level);
    }

    /// Adds one context file per key.
    pub fn context_file_for(&mut self, key: String, path: PathBuf, level: Level) {
        let Some(content) = self.files.read(&path, level, Limit::Cut(MAX_CONTEXT_BYTES)) else { return };
        if content.text.trim().is_empty() {
            return;
        }
        if !self.admit(Kind::ContextFile, key, &self.source(path.clone(), level)) {
            return;
        }
        if content.cut > 0 {
            self.files.warn(format!(
                "{} is too long: its last {} bytes are not in the prompt",
                path.display(),
                content.cut
            ));
        }
        let text = self.with_imports(&path, level, shown(&path, &content));
        self.catalogue.context_files.push(ContextFile { path, level, text });
    }

    fn with_imports(&mut self, path: &Path, level: Level, text: String) -> String {
        let importer = Importer { files: &mut self.files, level, home: self.places.home, room: MAX_CONTEXT_BYTES };
        let Some(expanded) = importer.expand(path, &text) else { return text };
        expanded.problems.into_iter().for_each(|problem| self.files.warn(problem));
        let imports = expanded.imported.into_iter().map(|file| Import { path: file, level, by: path.to_owned() });
        self.catalogue.imports.extend(imports);
        expanded.text
    }

    pub fn system(&mut self, folder: &Folder, name: &str) {
        if let Some(file) = self.prompt_part(Kind::System, folder, name) {
            self.catalogue.system = Some(file);
        }
    }

    pub fn append_system(&mut self, folder: &Folder, name: &str) {
        if let Some(file) = self.prompt_part(Kind::AppendSystem, folder, name) {
            self.catalogue.append_system = Some(file);
        }
    }

    pub fn title_system(&mut self, folder: &Folder, name: &str) {
        if let Some(file) = self.prompt_part(Kind::TitleSystem, folder, name) {
            self.catalogue.title_system = Some(file);
        }
    }

    /// Adds every file in a folder with one of the extensions.
    pub fn rules(&mut self, folder: &Folder, endings: &[&str]) {
        for (name, path) in self.named_files(folder, endings) {
            self.rule(&path, folder.level, name);
        }
    }

    /// Adds one file as a rule with a given name.
    pub fn rule(&mut self, path: &Path, level: Level, name: String) {
        if let Some(mut rule) = self.read_rule(path, level, name) {
            rule.always_apply |= self.provider == Provider::Native && path.ends_with("RULES.md");
            if self.admit(Kind::Rule, rule.name.clone(), &rule.source) {
                self.catalogue.rules.push(rule);
            } else if self.is_displaced(&rule) {
                self.catalogue.displaced_rules.push(rule);
            }
        }
    }

    pub fn instructions(&mut self, folder: &Folder, endings: &[&str], deep: bool) {
        let found = if deep { self.deep_files(folder, endings) } else { self.named_files(folder, endings) };
        for (name, path) in found {
            let Some(content) = self.text(&path, folder.level) else { continue };
            let base = name.rsplit(':').next().unwrap_or(&name);
            let name = base.strip_suffix(".instructions").unwrap_or(base).to_owned();
            let rule = items::instruction(name, content.document(), self.source(path, folder.level));
            if self.admit(Kind::Instruction, rule.name.clone(), &rule.source) {
                self.catalogue.instructions.push(rule);
            }
        }
    }

    /// Adds `<folder>/<name>/SKILL.md`.
    pub fn skills(&mut self, folder: &Folder, needs_description: bool) {
        if self.choices.wants_skills(self.provider, folder.level) {
            self.every_skill(folder, needs_description);
        }
    }

    /// Adds skills from sources without a switch of their own.
    pub fn every_skill(&mut self, folder: &Folder, needs_description: bool) {
        for entry in self.files.list(&folder.path, folder.level).iter() {
            if entry.kind == EntryKind::Folder && !FOREIGN_FOLDERS.contains(&entry.name.as_str()) {
                self.skill(&folder.join(&entry.name), needs_description);
            }
        }
    }

    /// Adds skills; the folder may be a skill itself.
    pub fn skills_in_or_at(&mut self, folder: &Folder) {
        if self.choices.wants_skills(self.provider, folder.level) {
            self.skill(folder, false);
            self.every_skill(folder, false);
        }
    }

    fn skill(&mut self, folder: &Folder, needs_description: bool) {
        let path = folder.path.join("SKILL.md");
        let limit = Limit::Cut(MAX_SKILL_HEAD_BYTES);
        let Some(content) = self.files.read(&path, folder.level, limit) else { return };
        self.tell_lost_lines(&path, &content);
        let source = self.source(path.clone(), folder.level);
        let Some(skill) = items::skill(&folder.path, content.document(), source) else { return };
        if skill.description.is_empty() && needs_description {
            self.files.warn(format!("{} is ignored: a skill needs a `description`", path.display()));
        } else if self.choices.wants_skill(&skill.name) && self.admit(Kind::Skill, skill.name.clone(), &skill.source) {
            self.catalogue.skills.push(skill);
        }
    }

    /// Adds commands, named by their file or by their `name` field.
    pub fn commands(&mut self, folder: &Folder, deep: bool) {
        if !self.choices.wants_commands(self.provider, folder.level) {
            return;
        }
        let found = if deep { self.deep_files(folder, &[".md"]) } else { self.named_files(folder, &[".md"]) };
        // `git/commit.md` is `/git:commit`, and also `/commit` if that name is unique.
        let bases = found.iter().filter_map(|(name, path)| Some((name.rsplit_once(':')?.1.to_owned(), path.clone())));
        let bases: Vec<_> = bases.collect();
        for (name, path) in found.into_iter().chain(bases) {
            if let Some(command) = self.read_command(&path, folder.level, name) {
                self.command(command);
            }
        }
    }

    /// Adds a folder of commands or a single command file, with a common name prefix.
    pub fn prefixed_commands(&mut self, place: &Folder, prefix: &str) {
        let found = match place.path.file_stem().and_then(|stem| stem.to_str()) {
            Some(stem) if self.disk().is_file(&place.path) => vec![(stem.to_owned(), place.path.clone())],
            _ => self.named_files(place, &[".md"]),
        };
        for (name, path) in found.into_iter().filter(|(_, path)| path.extension().is_some_and(|ending| ending == "md"))
        {
            if let Some(command) = self.read_command(&path, place.level, format!("{prefix}:{name}")) {
                self.command(command);
            }
        }
    }

    pub fn command(&mut self, command: super::FileCommand) {
        if self.admit(Kind::Command, command.name.clone(), &command.source) {
            self.catalogue.commands.push(command);
        }
    }

    pub fn prompts(&mut self, folder: &Folder, endings: &[&str]) {
        for (name, path) in self.named_files(folder, endings) {
            if let Some(prompt) = self.read_command(&path, folder.level, name)
                && self.admit(Kind::Prompt, prompt.name.clone(), &prompt.source)
            {
                self.catalogue.prompts.push(prompt);
            }
        }
    }

    pub fn agents(&mut self, folder: &Folder) {
        for (_, path) in self.named_files(folder, &[".md"]) {
            let Some(content) = self.text(&path, folder.level) else { continue };
            match items::agent(content.document(), self.source(path.clone(), folder.level)) {
                Some(agent) if self.admit(Kind::Agent, agent.name.clone(), &agent.source) => {
                    self.catalogue.agents.push(agent);
                }
                Some(_) => {}
                None => self.warn(format!("{} is ignored: an agent needs `name` and `description`", path.display())),
            }
        }
    }

    /// Reads a text file unchanged and warns if it cannot be read.
    pub fn text(&mut self, path: &Path, level: Level) -> Option<std::sync::Arc<Content>> {
        self.files.read(path, level, Limit::Whole(MAX_TEXT_BYTES))
    }

    pub fn source(&self, path: PathBuf, level: Level) -> Source {
        Source { provider: self.provider, level, path }
    }

    /// Returns the regular files with one of the extensions, with their names without it.
    pub fn named_files(&mut self, folder: &Folder, endings: &[&str]) -> Vec<(String, PathBuf)> {
        let entries = self.files.list(&folder.path, folder.level);
        let files = entries.iter().filter(|entry| entry.kind == EntryKind::File);
        let named = files.filter_map(|entry| {
            let name = endings.iter().find_map(|ending| entry.name.strip_suffix(ending))?;
            items::is_name(name).then(|| (name.to_owned(), folder.path.join(&entry.name)))
        });
        named.collect()
    }

    /// Like [`Self::named_files`], including subfolders; folders are joined with `:`.
    pub fn deep_files(&mut self, folder: &Folder, endings: &[&str]) -> Vec<(String, PathBuf)> {
        let mut found = self.named_files(folder, endings);
        let mut waiting = vec![(String::new(), folder.clone(), 1)];
        let mut seen = 0;
        // A link to a parent folder must not cause a loop.
        let mut linked: Vec<PathBuf> = self.disk().real(&folder.path).into_iter().collect();
        while let Some((above, folder, depth)) = waiting.pop() {
            let entries = self.files.list(&folder.path, folder.level);
            let below = entries.iter().filter(|entry| entry.kind == EntryKind::Folder);
            for entry in below.filter(|entry| !FOREIGN_FOLDERS.contains(&entry.name.as_str())) {
                seen += 1;
                if seen > MAX_FOLDERS {
                    let path = folder.path.display();
                    self.files.warn(format!("{path}: there are more than {MAX_FOLDERS} folders; the rest is ignored"));
                    return found;
                }
                if entry.is_link && !is_new(&mut linked, self.disk().real(&folder.path.join(&entry.name))) {
                    continue;
                }
                let (inner, prefix) = (folder.join(&entry.name), format!("{above}{}:", entry.name));
                let named = self.named_files(&inner, endings);
                found.extend(named.into_iter().map(|(name, path)| (format!("{prefix}{name}"), path)));
                if depth < MAX_DEPTH && found.len() < MAX_ITEMS {
                    waiting.push((prefix, inner, depth + 1));
                }
            }
        }
        found
    }

    fn prompt_part(&mut self, kind: Kind, folder: &Folder, name: &str) -> Option<TextFile> {
        let path = folder.path.join(name);
        let content = self.text(&path, folder.level)?;
        let source = self.source(path, folder.level);
        if content.text.trim().is_empty() || !self.admit(kind, name.to_ascii_uppercase(), &source) {
            return None;
        }
        Some(TextFile { name: name.to_owned(), text: content.text.clone(), source })
    }

    fn read_rule(&mut self, path: &Path, level: Level, name: String) -> Option<super::Rule> {
        let content = self.text(path, level)?;
        self.tell_lost_lines(path, &content);
        Some(items::rule(name, content.document(), self.source(path.to_owned(), level)))
    }

    fn read_command(&mut self, path: &Path, level: Level, name: String) -> Option<super::FileCommand> {
        let content = self.text(path, level)?;
        self.tell_lost_lines(path, &content);
        let own_name = content.document().text("name").filter(|name| items::is_name(name) && !name.contains(' '));
        let names_itself = matches!(self.provider, Provider::Codex | Provider::OpenCode);
        let name = own_name.filter(|_| names_itself).map_or(name, str::to_owned);
        Some(items::command(name, content.document(), self.source(path.to_owned(), level)))
    }

    fn tell_lost_lines(&mut self, path: &Path, content: &Content) {
        if content.document().lost_lines > 0 {
            let path = path.display();
            self.files.warn(format!("{path}: part of its front matter is not valid YAML and is ignored"));
        }
    }

    /// Whether a project rule shadows a user's rule that no other rule of the user shadows.
    fn is_displaced(&self, rule: &super::Rule) -> bool {
        let by_project =
            |by: &Source| by.level == Level::Project && rule.source.level == Level::User && by.path != rule.source.path;
        let known = || self.catalogue.displaced_rules.iter().any(|other| other.name == rule.name);
        let off = self.choices.is_off(&format!("{}:{}", Kind::Rule.id(), rule.name), true);
        !off && self.seen.get(&(Kind::Rule, rule.name.clone())).is_some_and(by_project) && !known()
    }

    /// Whether an item counts: it is enabled, no stronger item has its name, and the limit is not reached.
    fn admit(&mut self, kind: Kind, key: String, source: &Source) -> bool {
        let lost = |by: Source| Shadowed { kind: kind.name(), name: key.clone(), by, source: source.clone() };
        let file = source.path.file_name().unwrap_or_default().to_string_lossy();
        let id = match (kind, source.level) {
            (Kind::ContextFile, Level::User) => format!("context-file:user:{file}"),
            (Kind::ContextFile, Level::Project) => format!("context-file:project:{file}"),
            _ => format!("{}:{key}", kind.id()),
        };
        let instructs =
            matches!(kind, Kind::Rule | Kind::ContextFile | Kind::System | Kind::AppendSystem | Kind::Instruction);
        let is_guard = (instructs || kind == Kind::Hook) && source.level == Level::User;
        if self.only_guards && !(is_guard && matches!(kind, Kind::Hook | Kind::Rule)) {
            return false;
        }
        if self.choices.is_off(&id, is_guard) {
            self.catalogue.switched_off.push(lost(source.clone()));
            return false;
        }
        if let Some(by) = self.seen.get(&(kind, key.clone())) {
            if by.path != source.path && self.catalogue.shadowed.len() < MAX_ITEMS {
                self.catalogue.shadowed.push(lost(by.clone()));
            }
            return false;
        }
        let count = self.counts.entry((kind, source.level)).or_default();
        *count += 1;
        if *count > MAX_ITEMS {
            if *count == MAX_ITEMS + 1 {
                self.files.warn(format!(
                    "there are more than {MAX_ITEMS} items of kind {}; the rest is ignored",
                    kind.name()
                ));
            }
            return false;
        }
        self.seen.insert((kind, key), source.clone());
        true
    }
}

/// Whether a link leads neither to a known folder nor to a parent of one.
fn is_new(seen: &mut Vec<PathBuf>, real: Option<PathBuf>) -> bool {
    let Some(real) = real else { return false };
    if seen.iter().any(|known| known.starts_with(&real)) {
        return false;
    }
    seen.push(real);
    true
}

/// Returns the text for the prompt; a truncated text names the file with the rest.
pub(crate) fn shown(path: &Path, content: &Content) -> String {
    if content.cut == 0 {
        return content.text.clone();
    }
    let whole_lines = content.text.rfind('\n').unwrap_or(content.text.len());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!("{}\n[{name} continues: read {} for the rest]", &content.text[..whole_lines], path.display())
}

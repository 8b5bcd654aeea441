//! Collects all file changes of a call in memory until every part of the call is known to be possible.

use std::path::{Path, PathBuf};

use super::{EditRefused, EditRules, Editable, FileEdit, FileIdentity, FileSource, load, lookalike, refuse_uneditable};
use crate::path::ResolvedPath;
use crate::snapshot::Tag;
use crate::text_file::TextFile;
use crate::write::entry_location;

/// The files as the call would leave them. Later parts of the call see the changes of earlier ones.
pub struct Draft<'a> {
    files: &'a dyn FileSource,
    /// Returns the tag under which a file was last seen.
    last_seen: &'a dyn Fn(&Path) -> Option<Tag>,
    rules: EditRules,
    entries: Vec<DraftFile>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DraftId(usize);

struct DraftFile {
    path: ResolvedPath,
    place: PathBuf,
    identity: FileIdentity,
    before: Option<Editable>,
    now: Option<TextFile>,
    moved_from: Option<usize>,
    moved_away: bool,
    warnings: Vec<String>,
}

impl<'a> Draft<'a> {
    pub fn new(files: &'a dyn FileSource, last_seen: &'a dyn Fn(&Path) -> Option<Tag>, rules: EditRules) -> Self {
        Self { files, last_seen, rules, entries: Vec::new() }
    }

    pub fn rules(&self) -> EditRules {
        self.rules
    }

    /// Adds a file, which need not exist. Refuses a file that the call already uses under another name, because edits of one
    /// name would silently apply to the other.
    pub fn open(&mut self, typed: &str) -> Result<DraftId, EditRefused> {
        let path = self.files.locate(typed)?;
        let place = entry_location(&path.absolute);
        if let Some(known) = self.entries.iter().position(|entry| entry.place == place) {
            return Ok(DraftId(known));
        }
        let identity = FileIdentity::of(&path.absolute);
        if let Some(other) = self.entries.iter().find(|entry| entry.identity == identity) {
            return Err(EditRefused::edit(format!(
                "{} and {} are two names of one file; nothing was written\nhint: name it once, or use two calls",
                other.path.display, path.display
            )));
        }
        let before = load(self.files, &path)?;
        let now = before.as_ref().map(|before| before.text.clone());
        self.entries.push(DraftFile {
            path,
            place,
            identity,
            before,
            now,
            moved_from: None,
            moved_away: false,
            warnings: Vec::new(),
        });
        Ok(DraftId(self.entries.len() - 1))
    }

    pub fn path(&self, id: DraftId) -> &ResolvedPath {
        &self.entries[id.0].path
    }

    /// Returns the text with the edits made so far.
    pub fn text(&self, id: DraftId) -> Result<&TextFile, EditRefused> {
        let entry = &self.entries[id.0];
        let Some(now) = &entry.now else { return Err(entry.missing()) };
        refuse_uneditable(&entry.path, now.bytes(), self.rules.block_generated)?;
        Ok(now)
    }

    pub fn exists(&self, id: DraftId) -> bool {
        self.entries[id.0].now.is_some()
    }

    /// Returns the last seen tag and the current one, if the file on disk differs from what was last seen.
    pub fn stale(&self, id: DraftId) -> Option<(Tag, Tag)> {
        let entry = &self.entries[id.0];
        let before = entry.before.as_ref()?;
        let seen = (self.last_seen)(&entry.path.absolute).filter(|seen| !before.is(*seen))?;
        Some((seen, before.text.tag()))
    }

    pub fn create(&mut self, id: DraftId, content: impl Into<Vec<u8>>) -> Result<(), EditRefused> {
        let entry = &mut self.entries[id.0];
        if entry.now.is_some() {
            return Err(EditRefused::edit(format!(
                "{} already exists; nothing was written\nhint: update it, or delete it first",
                entry.path.display
            )));
        }
        if let Some(other) = lookalike(&entry.path.absolute) {
            entry.warnings.push(new_next_to(&entry.path.display, &other));
        }
        entry.now = Some(TextFile::parse(content.into()));
        Ok(())
    }

    pub fn update(&mut self, id: DraftId, content: Vec<u8>) {
        let entry = &mut self.entries[id.0];
        let file = TextFile::parse(content);
        entry.now = Some(match &entry.now {
            Some(before) => file.ending_like(before),
            None => file,
        });
    }

    /// Refuses to delete a file that somebody else changed since it was last seen, because that work would be lost unread.
    pub fn delete(&mut self, id: DraftId) -> Result<(), EditRefused> {
        if let Some((seen, now)) = self.stale(id) {
            return Err(EditRefused::edit(format!(
                "{} changed after it was read (#{seen}, now #{now}) and is not deleted\nhint: read it again first",
                self.path(id).display
            )));
        }
        let entry = &mut self.entries[id.0];
        if entry.now.is_none() {
            return Err(entry.missing());
        }
        if let Ok(target) = std::fs::read_link(&entry.path.absolute) {
            entry.warnings.push(format!(
                "{} was a link to {}: the link was deleted, not the file it led to.",
                entry.path.display,
                target.display()
            ));
        }
        entry.now = None;
        Ok(())
    }

    /// Renames a file. The new name must not exist yet.
    pub fn rename(&mut self, id: DraftId, to: &str) -> Result<DraftId, EditRefused> {
        let target = self.open(to)?;
        let (from, target_entry) = (&self.entries[id.0], &self.entries[target.0]);
        let (from_path, to_path) = (from.path.display.clone(), target_entry.path.display.clone());
        let refuse = |why: &str| Err(EditRefused::edit(format!("{from_path} cannot be moved to {to_path}: {why}")));
        match () {
            () if from.now.is_none() => return Err(from.missing()),
            () if target == id => return refuse("it is already there"),
            () if target_entry.now.is_some() => {
                return refuse("a file with that name exists\nhint: delete it in a separate call first");
            }
            () if target_entry.before.is_some() => {
                return refuse("that name is removed in the same call\nhint: use two calls");
            }
            () if from.before.is_none() => {
                return refuse("it is new in this call\nhint: create it with its final name");
            }
            () if from.path.absolute.is_symlink() => {
                return refuse("it is a symbolic link\nhint: name the file it points to");
            }
            () if target_entry.path.absolute.is_symlink() => return refuse("that name is a broken link"),
            () => {}
        }
        let content = self.entries[id.0].now.take();
        self.entries[id.0].moved_away = true;
        let entry = &mut self.entries[target.0];
        entry.now = content;
        entry.moved_from = Some(id.0);
        Ok(target)
    }

    pub fn warn(&mut self, id: DraftId, warning: impl Into<String>) {
        self.entries[id.0].warnings.push(warning.into());
    }

    /// Returns all changes, in the order in which the files were first named.
    pub fn finish(self) -> Result<Vec<FileEdit>, EditRefused> {
        let mut edits = Vec::new();
        for entry in &self.entries {
            let source = entry.moved_from.map(|from| &self.entries[from]);
            if entry.moved_away && entry.now.is_none() || entry.before.is_none() && entry.now.is_none() {
                continue;
            }
            if entry.moved_away {
                return Err(EditRefused::edit(format!(
                    "{} is moved away and created again in the same call\nhint: use two calls",
                    entry.path.display
                )));
            }
            let was = entry.before.as_ref().map(|before| before.text.bytes());
            if source.is_none() && was == entry.now.as_ref().map(TextFile::bytes) {
                return Err(EditRefused::edit(no_change(&entry.path.display, &entry.warnings)));
            }
            let before = source.map_or(&entry.before, |source| &source.before);
            let mut edit = match before {
                Some(before) => before.becomes(entry.path.clone(), entry.now.clone())?,
                None => Editable::created(entry.path.clone(), entry.now.clone())?,
            };
            let mut warnings = entry.warnings.clone();
            if let Some(source) = source {
                edit = edit.moved_from(source.path.clone());
                warnings.splice(0..0, source.warnings.clone());
            }
            edits.push(edit.warned(warnings));
        }
        if edits.is_empty() { Err(EditRefused::edit("The call changes nothing.")) } else { Ok(edits) }
    }
}

pub(crate) fn no_change(path: &str, warnings: &[String]) -> String {
    let mut reasons = vec![format!("Edits to {path} resulted in no changes being made.")];
    reasons.extend_from_slice(warnings);
    reasons.join("\n")
}

pub(crate) fn not_found(path: &ResolvedPath) -> String {
    let hint = lookalike(&path.absolute).map_or(String::new(), |other| {
        format!("\nhint: there is {other}, whose name differs only in case or Unicode form")
    });
    format!("File not found: {}{hint}", path.display)
}

pub(crate) fn new_next_to(path: &str, other: &str) -> String {
    format!("{path} is a new file next to {other}, whose name differs only in case or Unicode form.")
}

impl DraftFile {
    fn missing(&self) -> EditRefused {
        let path = &self.path.display;
        if self.before.is_some() {
            return EditRefused::edit(format!("{path} was deleted or moved earlier in this call"));
        }
        EditRefused::edit(not_found(&self.path))
    }
}

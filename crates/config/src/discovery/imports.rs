//! Replaces `@path` in a context file by the named file, like Claude Code and Gemini CLI.
//!
//! A repository's files may import only from the repository, the user's only from the home folder. A refused import is noted
//! in the text, so that neither the model nor the user has to guess.

mod mentions;

use std::path::{Path, PathBuf};

use super::Level;
use super::files::{Files, Limit};

/// Limits nested imports.
const MAX_DEPTH: usize = 5;
/// Limits the processed mentions, successful or not; the others stay text.
const MAX_MENTIONS: usize = 100;

/// A context file with all its imports.
pub(crate) struct Expanded {
    pub text: String,
    pub imported: Vec<PathBuf>,
    /// Refused imports, as sentences for the user.
    pub problems: Vec<String>,
}

/// The owner of the importing file, and the size limit.
pub(crate) struct Importer<'a> {
    pub files: &'a mut Files,
    pub level: Level,
    pub home: &'a Path,
    /// Bytes of all imports together.
    pub room: usize,
}

impl Importer<'_> {
    /// Returns the text with its imports; `None` if it mentions none.
    pub fn expand(self, file: &Path, text: &str) -> Option<Expanded> {
        if !text.contains('@') {
            return None;
        }
        let base = file.parent().unwrap_or(file);
        let disk = &self.files.disk;
        let roots = [self.home, base].iter().filter_map(|root| disk.real(root)).collect();
        let seen = disk.real(file).into_iter().collect();
        let (most, done) = (self.room, Expanded { text: String::new(), imported: Vec::new(), problems: Vec::new() });
        let mut walk = Walk { importer: self, file, roots, seen, most, mentions: 0, done };
        let text = walk.expand(text, base, 0);
        Some(Expanded { text, ..walk.done })
    }
}

struct Walk<'a, 'f> {
    importer: Importer<'a>,
    file: &'f Path,
    /// Folders that the user's own files may import from.
    roots: Vec<PathBuf>,
    seen: Vec<PathBuf>,
    most: usize,
    mentions: usize,
    done: Expanded,
}

enum Import {
    Text(String),
    Refused(String),
    /// A name or a package, not a path.
    NoPath,
}

impl Walk<'_, '_> {
    fn expand(&mut self, text: &str, base: &Path, depth: usize) -> String {
        let mut out = String::with_capacity(text.len());
        for line in mentions::lines(text) {
            if line.mentions.is_empty() {
                out.push_str(line.text);
            } else {
                self.line(&line, base, depth, &mut out);
            }
        }
        out
    }

    /// A line that consists of a mention is replaced by the imported file; a sentence stays, and the imports follow it.
    fn line(&mut self, line: &mentions::Line<'_>, base: &Path, depth: usize, out: &mut String) {
        let (mut sentence, mut blocks, mut from) = (String::new(), String::new(), 0);
        for mention in &line.mentions {
            let name = &line.text[mention.start + 1..mention.end];
            sentence.push_str(&line.text[from..mention.end]);
            from = mention.end;
            match self.import(name, base, depth) {
                Import::Text(text) => {
                    let name = name.replace("--", "—");
                    let text = text.trim_end();
                    blocks.push_str(&format!("<!-- {name} begins -->\n{text}\n<!-- {name} ends -->\n"));
                }
                Import::Refused(why) => sentence.push_str(&format!(" <!-- not imported: {why} -->")),
                Import::NoPath => {}
            }
        }
        if line.is_mention_alone() && !blocks.is_empty() {
            return out.push_str(&blocks);
        }
        sentence.push_str(&line.text[from..]);
        out.push_str(&sentence);
        if !blocks.is_empty() && !sentence.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(&blocks);
    }

    fn import(&mut self, name: &str, base: &Path, depth: usize) -> Import {
        self.mentions += 1;
        if self.mentions > MAX_MENTIONS {
            return Import::NoPath;
        }
        match self.find(name, base, depth) {
            Ok(Some(path)) => match self.read(&path) {
                Ok(text) => Import::Text(self.expand(&text, path.parent().unwrap_or(base), depth + 1)),
                Err(why) => self.refuse(name, why),
            },
            Ok(None) if is_plainly_a_path(name) => Import::Refused("no such file".to_owned()),
            Ok(None) => Import::NoPath,
            Err(why) => self.refuse(name, why),
        }
    }

    fn refuse(&mut self, name: &str, why: String) -> Import {
        self.done.problems.push(format!("{}: `@{name}` was not imported: {why}", self.file.display()));
        Import::Refused(why)
    }

    /// Returns the named file if it may be imported.
    fn find(&self, name: &str, base: &Path, depth: usize) -> Result<Option<PathBuf>, String> {
        let project = self.importer.level == Level::Project;
        let path = match name.strip_prefix("~/") {
            Some(_) if project => return Err("it is outside the project".to_owned()),
            Some(below) => self.importer.home.join(below),
            None => base.join(name),
        };
        let Some(real) = self.importer.files.disk.real(&path) else { return Ok(None) };
        if project && !self.importer.files.stays_inside(&real) {
            return Err("it is outside the project".to_owned());
        }
        if !project && !self.roots.iter().any(|root| real.starts_with(root)) {
            return Err("it is outside the home folder".to_owned());
        }
        if project && may_hold_secrets(&real) {
            return Err("such files may contain secrets".to_owned());
        }
        if self.seen.contains(&real) {
            return Err("it is already included".to_owned());
        }
        if depth >= MAX_DEPTH {
            return Err(format!("imports are followed {MAX_DEPTH} files deep"));
        }
        Ok(Some(path))
    }

    /// Reads as much of the file as the limit allows.
    fn read(&mut self, path: &Path) -> Result<String, String> {
        let room = self.importer.room;
        if room == 0 {
            return Err(format!("the imports of one file are limited to {} kB", self.most >> 10));
        }
        let limit = Limit::Cut(self.most);
        let content = self.importer.files.try_read(path, self.importer.level, limit)?;
        let content = content.ok_or_else(|| "no such file".to_owned())?;
        self.seen.extend(self.importer.files.disk.real(path));
        self.done.imported.push(path.to_owned());
        let text = content.text.strip_prefix('\u{feff}').unwrap_or(&content.text);
        let kept = &text[..text.floor_char_boundary(room)];
        self.importer.room = room - kept.len();
        if content.cut == 0 && kept.len() == text.len() {
            return Ok(text.to_owned());
        }
        let problem = format!("{}: the imported {} is too long and was cut", self.file.display(), path.display());
        self.done.problems.push(problem);
        let whole_lines = kept.rfind('\n').unwrap_or(kept.len());
        Ok(format!("{}\n[read {} for the rest]", &kept[..whole_lines], path.display()))
    }
}

/// Files that may contain secrets are not imported at a repository's request.
fn may_hold_secrets(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(".env") || path.components().any(|part| part.as_os_str() == ".git")
}

/// Excludes `@types/node` and `@alice`, which are usually names and not missing files.
fn is_plainly_a_path(name: &str) -> bool {
    ["./", "../", "~/", "/"].iter().any(|start| name.starts_with(start)) || name.ends_with(".md")
}

#[cfg(test)]
mod tests;

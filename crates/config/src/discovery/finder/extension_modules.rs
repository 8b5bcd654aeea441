//! Finds code for the extension system. The files are listed, never opened.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::super::files::EntryKind;
use super::super::{Kind, Level, items};
use super::{FOREIGN_FOLDERS, Finder, Folder};

const ENDINGS: &[&str] = &[".ts", ".js"];

impl Finder<'_> {
    /// Finds `*.ts`, `*.js`, and in each folder the file that its `package.json` names or its `index`.
    pub fn extension_modules(&mut self, folder: &Folder) {
        let mut paths: Vec<PathBuf> = self.named_files(folder, ENDINGS).into_iter().map(|(_, path)| path).collect();
        let entries = self.files.list(&folder.path, folder.level);
        let below = entries.iter().filter(|entry| entry.kind == EntryKind::Folder);
        for entry in below.filter(|entry| !FOREIGN_FOLDERS.contains(&entry.name.as_str())) {
            paths.extend(self.modules_of(&folder.join(&entry.name)));
        }
        for path in paths {
            let Some(name) = module_name(&path) else { continue };
            let value = json!({"path": path.display().to_string()});
            self.declare(Kind::ExtensionModule, name, value, path, folder.level);
        }
    }

    fn modules_of(&mut self, folder: &Folder) -> Vec<PathBuf> {
        let package = self.json(&folder.path.join("package.json"), folder.level).unwrap_or_default();
        let named = ["omp", "pi"].iter().find_map(|key| package.get(*key)?.get("extensions")?.as_array());
        let named = named
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(|path| folder.path.join(path).components().collect());
        let may_be = |path: &PathBuf| folder.level == Level::User || self.files.stays_inside(path);
        let named: Vec<PathBuf> = named.filter(|path: &PathBuf| self.disk().is_file(path) && may_be(path)).collect();
        if !named.is_empty() {
            return named;
        }
        let entries = self.files.list(&folder.path, folder.level);
        let has = |name: &str| entries.iter().any(|entry| entry.kind == EntryKind::File && entry.name == name);
        let index = ["index.ts", "index.js"].into_iter().find(|name| has(name));
        index.map(|name| folder.path.join(name)).into_iter().collect()
    }
}

/// `x/audit/index.ts` is `audit`, `x/guard.ts` is `guard`.
fn module_name(path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_str()?;
    let name = if stem == "index" { path.parent()?.file_name()?.to_str()? } else { stem };
    items::is_name(name).then(|| name.to_owned())
}

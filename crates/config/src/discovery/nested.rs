//! Context files below the working folder, which apply once a file there is used.
//!
//! Third-party code contains such files too: those in `node_modules`, in hidden folders or in ignored folders do not speak
//! for the project.

use std::path::{Path, PathBuf};

use ignore::gitignore::GitignoreBuilder;

use super::files::{Files, Limit};
use super::finder::{FOREIGN_FOLDERS, shown};
use super::imports::Importer;
use super::providers::CONTEXT_FILE_NAMES;
use super::{ContextFile, Level, repository_root};

const MAX_BYTES: usize = 16 << 10;
const MAX_DEPTH: usize = 32;

/// Returns the context files of the folders between the working folder and a file or folder in it, outermost first.
pub fn nested_context_files(cwd: &Path, touched: &Path) -> Vec<ContextFile> {
    let Ok(below) = touched.strip_prefix(cwd) else { return Vec::new() };
    let root = repository_root(cwd);
    let mut files = Files::new(&root);
    let mut folder = cwd.to_owned();
    let mut found = Vec::new();
    for part in below.components().take(MAX_DEPTH) {
        let std::path::Component::Normal(part) = part else { return Vec::new() };
        let name = part.to_string_lossy();
        if name.starts_with('.') || FOREIGN_FOLDERS.contains(&name.as_ref()) {
            break;
        }
        folder.push(part);
        if !folder.is_dir() {
            break;
        }
        if let Some(file) = context_file(&mut files, &folder).filter(|file| !is_ignored(&root, &file.path)) {
            found.push(file);
        }
    }
    found
}

fn context_file(files: &mut Files, folder: &Path) -> Option<ContextFile> {
    let hidden = [".omp/AGENTS.md", ".claude/CLAUDE.md"];
    let names = hidden.into_iter().chain(CONTEXT_FILE_NAMES.iter().map(|(name, _)| *name));
    names.map(|name| folder.join(name)).find_map(|path| {
        let content = files.read(&path, Level::Project, Limit::Cut(MAX_BYTES))?;
        let text = shown(&path, &content);
        if text.trim().is_empty() {
            return None;
        }
        // Only the user's own files may import from the home folder, not a project's.
        let importer = Importer { files: &mut *files, level: Level::Project, home: folder, room: MAX_BYTES };
        let text = importer.expand(&path, &text).map_or(text, |expanded| expanded.text);
        Some(ContextFile { path, level: Level::Project, text })
    })
}

/// Checks the ignore files between the repository root and the file; the nearest one wins.
fn is_ignored(root: &Path, path: &Path) -> bool {
    let folders: Vec<PathBuf> =
        path.ancestors().skip(1).take_while(|at| at.starts_with(root)).map(Path::to_owned).collect();
    for folder in folders {
        let file = folder.join(".gitignore");
        if !file.is_file() {
            continue;
        }
        let mut builder = GitignoreBuilder::new(&folder);
        builder.add(&file);
        let Ok(ignore) = builder.build() else { continue };
        let matched = ignore.matched_path_or_any_parents(path, false);
        if !matched.is_none() {
            return matched.is_ignore();
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[track_caller]
    fn check(touched: &str, found: &[&str]) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir(root.join(".git")).unwrap();
        for (name, text) in [
            ("AGENTS.md", "in the prompt already"),
            ("api/AGENTS.md", "api"),
            ("api/CLAUDE.md", "shadowed"),
            ("api/v1/CLAUDE.md", "v1"),
            ("api/v1/deep/x.rs", ""),
            ("node_modules/evil/AGENTS.md", "evil"),
            ("api/.cache/AGENTS.md", "evil"),
            ("built/AGENTS.md", "evil"),
            (".gitignore", "/built\nscratch/\n"),
            ("scratch/sub/AGENTS.md", "evil"),
            ("empty/AGENTS.md", " \n"),
        ] {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), text).unwrap();
        }
        let files = nested_context_files(&root, &root.join(touched));
        let paths: Vec<_> = files.iter().map(|file| file.path.strip_prefix(&root).unwrap().to_str().unwrap()).collect();
        assert_eq!(paths, found, "{touched}");
    }

    #[test]
    fn such_files_import_from_their_project() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("repo");
        for (name, text) in [
            (".git/HEAD", ""),
            ("web/CLAUDE.md", "Web\n@../docs/a.md\n@../../secret.md\n"),
            ("docs/a.md", "imported"),
            ("../secret.md", "secret"),
        ] {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), text).unwrap();
        }
        let found = nested_context_files(&root, &root.join("web/x.ts"));
        assert_eq!(
            found[0].text,
            "Web\n<!-- ../docs/a.md begins -->\nimported\n<!-- ../docs/a.md ends -->\n\
             @../../secret.md <!-- not imported: it is outside the project -->\n"
        );
    }

    #[test]
    fn every_folder_on_the_way_counts_unless_it_is_somebody_elses() {
        check("main.rs", &[]);
        check("", &[]);
        check("api", &["api/AGENTS.md"]);
        check("api/v1/deep/x.rs", &["api/AGENTS.md", "api/v1/CLAUDE.md"]);
        check("api/v1/gone/too", &["api/AGENTS.md", "api/v1/CLAUDE.md"]);
        check("node_modules/evil/x.js", &[]);
        check("api/.cache/x", &["api/AGENTS.md"]);
        check("built/x", &[]);
        check("scratch/sub/x", &[]);
        check("empty/x", &[]);
        check("api/../../outside", &[]);
    }
}

//! `AGENTS.md`: the user's in the agent folder, the project's from the working folder up to the repository root.

use std::path::Path;

use super::{ContextFile, Found, Level, Roots, Source};

const NAME: &str = "AGENTS.md";

/// A context file is sent with every request; what is longer is cut, and says so.
const MAX_BYTES: usize = 32 * 1024;

pub struct AgentsMd;

impl Source for AgentsMd {
    fn priority(&self) -> u32 {
        100
    }

    fn context_files(&self, roots: &Roots<'_>, found: &mut Found) {
        read(&roots.agent.join(NAME), Level::User, None, found);
        let boundary = roots.project.last().copied();
        for folder in &roots.project {
            read(&folder.join(NAME), Level::Project, boundary, found);
        }
    }
}

/// Reads one file. A project's file may not lead out of the project: a link to a key file would send it to the model.
fn read(path: &Path, level: Level, boundary: Option<&Path>, found: &mut Found) {
    let Ok(meta) = std::fs::metadata(path) else { return };
    if !meta.is_file() {
        found.warnings.push(format!("{} was not read: it is not a plain file", path.display()));
        return;
    }
    if let Some(boundary) = boundary
        && !stays_inside(path, boundary)
    {
        found.warnings.push(format!("{} was not read: it links to a file outside the project", path.display()));
        return;
    }
    match read_capped(path) {
        Ok((text, _)) if text.trim().is_empty() => {}
        Ok((text, _)) if text.contains('\0') => {
            found.warnings.push(format!("{} was not read: it is not text", path.display()));
        }
        Ok((text, cut)) => {
            if cut > 0 {
                found.warnings.push(format!("{} is long: its last {cut} bytes are not in the prompt", path.display()));
            }
            found.files.push(ContextFile { path: path.to_owned(), level, text });
        }
        Err(error) => found.warnings.push(format!("{} was not read: {error}", path.display())),
    }
}

fn stays_inside(path: &Path, boundary: &Path) -> bool {
    match (path.canonicalize(), boundary.canonicalize()) {
        (Ok(real), Ok(boundary)) => real.starts_with(boundary),
        _ => false,
    }
}

/// The text and how many bytes of the file it leaves out.
fn read_capped(path: &Path) -> std::io::Result<(String, u64)> {
    use std::io::Read;
    let file = std::fs::File::open(path)?;
    let size = file.metadata()?.len();
    let mut bytes = Vec::new();
    file.take(MAX_BYTES as u64).read_to_end(&mut bytes)?;
    let cut = size.saturating_sub(bytes.len() as u64);
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if cut > 0 {
        let whole_lines = text.rfind('\n').unwrap_or(text.len());
        text.truncate(whole_lines);
        text.push_str(&format!("\n[{NAME} continues: read {} for the rest]", path.display()));
    }
    Ok((text, cut))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::discovery::{Level, discover_context_files};

    #[test]
    fn the_users_file_comes_first_then_from_the_root_down() {
        let dir = tempfile::tempdir().unwrap();
        let agent = dir.path().join("agent");
        let inner = dir.path().join("repo/a/b");
        fs::create_dir_all(&agent).unwrap();
        fs::create_dir_all(&inner).unwrap();
        fs::create_dir(dir.path().join("repo/.git")).unwrap();
        fs::write(dir.path().join("AGENTS.md"), "outside the repository").unwrap();
        fs::write(agent.join("AGENTS.md"), "user").unwrap();
        fs::write(dir.path().join("repo/AGENTS.md"), "root").unwrap();
        fs::write(inner.join("AGENTS.md"), "inner").unwrap();
        let found = discover_context_files(&agent, &inner);
        let texts: Vec<_> = found.files.iter().map(|file| (file.level, file.text.as_str())).collect();
        assert_eq!(texts, [(Level::User, "user"), (Level::Project, "root"), (Level::Project, "inner")]);
        assert!(found.warnings.is_empty());
    }

    #[test]
    fn a_binary_file_is_left_out_and_told() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("AGENTS.md"), b"\x7fELF\0\0").unwrap();
        let found = discover_context_files(&dir.path().join("agent"), dir.path());
        assert!(found.files.is_empty());
        assert!(found.warnings[0].ends_with("AGENTS.md was not read: it is not text"), "{:?}", found.warnings);
    }

    #[test]
    fn a_long_file_is_cut_and_says_so() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("AGENTS.md"), "line\n".repeat(20_000)).unwrap();
        let found = discover_context_files(&dir.path().join("agent"), dir.path());
        assert!(found.files[0].text.len() < 33 * 1024);
        assert!(found.files[0].text.contains("continues"));
        assert_eq!(found.warnings.len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_project_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let repo = dir.path().join("repo");
        fs::create_dir_all(repo.join(".git")).unwrap();
        fs::write(dir.path().join("secret"), "key").unwrap();
        std::os::unix::fs::symlink(dir.path().join("secret"), repo.join("AGENTS.md")).unwrap();
        let found = discover_context_files(&dir.path().join("agent"), &repo);
        assert!(found.files.is_empty());
        assert_eq!(found.warnings.len(), 1);
    }
}

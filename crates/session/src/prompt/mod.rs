//! What the model is told before the conversation begins.
//!
//! Nothing that changes between turns stands here (time, git state, file lists): providers cache this prefix byte by
//! byte, and one changed byte makes every later request pay the full price.

use std::path::Path;

use omp_config::ContextFile;

const SYSTEM: &str = include_str!("system.md");

/// The variable parts of the system prompt.
pub struct PromptParts<'a> {
    pub cwd: &'a Path,
    /// `linux`, `macos`, `windows`.
    pub os: &'a str,
    /// Name of the shell that runs commands.
    pub shell: Option<&'a str>,
    /// The user's own prompt instead of ours.
    pub replace: Option<&'a str>,
    pub append: Option<&'a str>,
    pub context_files: &'a [ContextFile],
}

pub fn system_prompt(parts: &PromptParts<'_>) -> String {
    let mut prompt = parts.replace.unwrap_or(SYSTEM).trim_end().to_owned();
    prompt.push_str("\n\n# Environment\n");
    prompt.push_str(&format!("Working folder: {}\nSystem: {}\n", parts.cwd.display(), parts.os));
    if let Some(shell) = parts.shell {
        prompt.push_str(&format!("Shell: {shell}\n"));
    }
    if !parts.context_files.is_empty() {
        prompt.push_str("\n# Project notes\nFollow these; the later file wins where two disagree.\n");
        for file in parts.context_files {
            let path = display_path(&file.path, parts.cwd);
            prompt.push_str(&format!("\n<notes path=\"{path}\">\n{}\n</notes>\n", file.text.trim_end()));
        }
    }
    if let Some(append) = parts.append {
        prompt.push_str(&format!("\n{}\n", append.trim_end()));
    }
    prompt
}

fn display_path(path: &Path, cwd: &Path) -> String {
    path.strip_prefix(cwd).unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use omp_config::Level;

    use super::*;

    fn parts(files: &[ContextFile]) -> PromptParts<'_> {
        PromptParts {
            cwd: Path::new("/project"),
            os: "linux",
            shell: Some("bash"),
            replace: Some("Be terse."),
            append: Some("One more thing."),
            context_files: files,
        }
    }

    #[test]
    fn parts_stand_in_a_fixed_order() {
        let notes =
            ContextFile { path: "/project/AGENTS.md".into(), level: Level::Project, text: "Use tabs.\n".into() };
        insta::assert_snapshot!(system_prompt(&parts(&[notes])), @r#"
        Be terse.

        # Environment
        Working folder: /project
        System: linux
        Shell: bash

        # Project notes
        Follow these; the later file wins where two disagree.

        <notes path="AGENTS.md">
        Use tabs.
        </notes>

        One more thing.
        "#);
    }
}

//! What is found where, what wins, and what a repository cannot make discovery do.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::Settings;

/// A home, a repository in it and a working folder in that: files are given as `~/…`, `repo/…` or `cwd/…`.
struct Tree {
    dir: tempfile::TempDir,
}

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let tree = Tree { dir };
        fs::create_dir_all(tree.path("repo/.git")).unwrap();
        fs::create_dir_all(tree.path("cwd/")).unwrap();
        for (name, text) in files {
            tree.write(name, text);
        }
        tree
    }

    fn path(&self, name: &str) -> PathBuf {
        let root = self.dir.path().canonicalize().unwrap();
        match name.split_once('/').unwrap() {
            ("~", rest) => root.join("home").join(rest),
            ("repo", rest) => root.join("home/repo").join(rest),
            ("cwd", rest) => root.join("home/repo/app").join(rest),
            _ => root.join(name),
        }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn discover(&self) -> Catalogue {
        self.discover_chosen(&Settings::default())
    }

    fn discover_chosen(&self, settings: &Settings) -> Catalogue {
        let (home, agent, cwd) = (self.path("~/"), self.path("~/.omp/agent"), self.path("cwd/"));
        let places = Places { home: &home, agent: &agent, cwd: &cwd };
        discover_chosen(&places, &Choices::read(settings, &home))
    }

    /// A path as the tree names it.
    fn named(&self, path: &Path) -> String {
        let root = self.dir.path().canonicalize().unwrap();
        let path = path.strip_prefix(root).unwrap_or(path).display().to_string();
        path.replace("home/repo/app", "cwd").replace("home/repo", "repo").replace("home/", "~/")
    }

    /// Every item as `kind name <- place`.
    fn items(&self, found: &Catalogue) -> Vec<String> {
        let mut lines = Vec::new();
        let mut add = |kind: &str, name: &str, source: &ItemSource| {
            lines.push(format!("{kind} {name} <- {}", self.named(&source.path)));
        };
        let parts = [("system", &found.system), ("append", &found.append_system), ("title", &found.title_system)];
        for (kind, file) in parts.iter().filter_map(|(kind, file)| Some((kind, file.as_ref()?))) {
            add(kind, &file.name, &file.source);
        }
        found.rules.iter().for_each(|item| add("rule", &item.name, &item.source));
        found.skills.iter().for_each(|item| add("skill", &item.name, &item.source));
        found.commands.iter().for_each(|item| add("command", &item.name, &item.source));
        found.prompts.iter().for_each(|item| add("prompt", &item.name, &item.source));
        found.instructions.iter().for_each(|item| add("instruction", &item.name, &item.source));
        found.agents.iter().for_each(|item| add("agent", &item.name, &item.source));
        found.hooks.iter().for_each(|item| add("hook", &item.name, &item.source));
        found.tools.iter().for_each(|item| add("tool", &item.name, &item.source));
        found.settings.iter().for_each(|item| add("settings", &self.named(Path::new(&item.name)), &item.source));
        found.ssh_hosts.iter().for_each(|item| add("ssh", &item.name, &item.source));
        found.mcp_servers.iter().for_each(|item| add("mcp", &item.name, &item.source));
        lines.extend(found.context_files.iter().map(|file| format!("context {}", self.named(&file.path))));
        lines
    }
}

/// Which items these files amount to; `~`, `repo` and `cwd` as in [`Tree`].
#[track_caller]
fn check(files: &[(&str, &str)], items: &[&str]) {
    let tree = Tree::new(files);
    let found = tree.discover();
    assert_eq!(tree.items(&found), items);
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
}

const SKILL: &str = "---\nname: review\ndescription: Reviews\n---\nBody";

#[test]
fn native_folders_are_read_nearest_first() {
    check(
        &[
            ("cwd/.omp/rules/style.md", "near"),
            ("repo/.omp/rules/style.mdc", "far"),
            ("repo/.omp/rules/only.mdc", "far"),
            ("~/.omp/agent/rules/style.md", "user"),
            ("~/.omp/agent/rules/mine.md", "user"),
            ("repo/.omp/skills/review/SKILL.md", SKILL),
            ("~/.omp/agent/skills/other/SKILL.md", SKILL),
            ("cwd/.omp/commands/fix.md", "Fix $1"),
            ("cwd/.omp/commands/deep/no.md", "not looked at"),
            ("cwd/.omp/prompts/plan.md", "Plan"),
            ("cwd/.omp/instructions/rust.instructions.md", "---\napplyTo: '**/*.rs'\n---\nx"),
            ("cwd/.omp/agents/scout.md", "---\nname: scout\ndescription: Looks\ntools: read, grep\n---\nYou look"),
            ("cwd/.omp/hooks/pre/bash.sh", "#!/bin/sh"),
            ("cwd/.omp/tools/calc.py", "print()"),
            ("cwd/.omp/tools/box/index.ts", "code"),
            ("cwd/.omp/mcp.json", r#"{"mcpServers": {"db": {"command": "db"}}}"#),
            ("cwd/.omp/ssh.json", r#"{"hosts": {"box": {"host": "box.example"}}}"#),
            ("cwd/.omp/config.yml", "theme: dark"),
        ],
        &[
            "rule style <- cwd/.omp/rules/style.md",
            "rule only <- repo/.omp/rules/only.mdc",
            "rule mine <- ~/.omp/agent/rules/mine.md",
            "skill review <- repo/.omp/skills/review/SKILL.md",
            "command fix <- cwd/.omp/commands/fix.md",
            "prompt plan <- cwd/.omp/prompts/plan.md",
            "instruction rust <- cwd/.omp/instructions/rust.instructions.md",
            "agent scout <- cwd/.omp/agents/scout.md",
            "hook pre:bash:bash.sh <- cwd/.omp/hooks/pre/bash.sh",
            "tool calc <- cwd/.omp/tools/calc.py",
            "tool box <- cwd/.omp/tools/box/index.ts",
            "settings cwd/.omp/config.yml <- cwd/.omp/config.yml",
            "ssh box <- cwd/.omp/ssh.json",
            "mcp db <- cwd/.omp/mcp.json",
        ],
    );
}

#[test]
fn the_nearest_project_file_counts_for_the_system_prompt() {
    check(
        &[
            ("cwd/.omp/SYSTEM.md", "near"),
            ("repo/.omp/SYSTEM.md", "far"),
            ("~/.omp/agent/SYSTEM.md", "user"),
            ("~/.omp/agent/APPEND_SYSTEM.md", "user"),
            ("~/.omp/agent/TITLE_SYSTEM.md", "user"),
            ("~/.omp/agent/RULES.md", "always"),
            ("cwd/.omp/RULES.md", "always"),
        ],
        &[
            "system SYSTEM.md <- cwd/.omp/SYSTEM.md",
            "append APPEND_SYSTEM.md <- ~/.omp/agent/APPEND_SYSTEM.md",
            "title TITLE_SYSTEM.md <- ~/.omp/agent/TITLE_SYSTEM.md",
            "rule RULES@project <- cwd/.omp/RULES.md",
            "rule RULES <- ~/.omp/agent/RULES.md",
        ],
    );
}

#[test]
fn one_context_file_counts_for_the_user_and_for_each_folder() {
    check(
        &[
            ("~/AGENTS.md", "outside the repository"),
            ("~/.omp/agent/AGENTS.md", "user"),
            ("repo/AGENTS.md", "root"),
            ("repo/CLAUDE.md", "shadowed"),
            ("cwd/GEMINI.md", "inner"),
        ],
        &["context ~/.omp/agent/AGENTS.md", "context repo/AGENTS.md", "context cwd/GEMINI.md"],
    );
}

#[test]
fn a_rule_is_taken_apart() {
    let tree = Tree::new(&[
        (
            "cwd/.omp/rules/a.md",
            "---\ndescription: Style\nglobs: ['*.rs', 3, 'src/**']\nalwaysApply: true\ninterruptMode: never\nscope: \
             text, tool:edit(*.{a,b})\ncondition: [unwrap, '*.rs']\nastCondition: $A.unwrap()\n---\n\nBody\n",
        ),
        ("cwd/.omp/rules/b.md", "---\nttsr_trigger: TODO\ninterruptMode: sometimes\nglobs: a/*,b/*.{x,y}\n---\nB"),
        ("cwd/.omp/rules/c.md", "---\ncondition: '*.py'\n---\nC"),
        ("cwd/.omp/rules/d.md", "no front matter"),
    ]);
    let found = tree.discover();
    let [a, b, c, d] = &found.rules[..] else { panic!("{:?}", found.rules) };
    assert_eq!((a.content.as_str(), a.description.as_deref(), a.always_apply), ("Body", Some("Style"), true));
    assert_eq!(a.globs, ["*.rs", "src/**"]);
    assert_eq!(a.condition, ["unwrap"]);
    assert_eq!(a.ast_condition, ["$A.unwrap()"]);
    assert_eq!(a.scope, ["text", "tool:edit(*.{a,b})", "tool:edit(*.rs)", "tool:write(*.rs)"]);
    assert_eq!(a.interrupt_mode.as_deref(), Some("never"));
    assert_eq!((&b.condition[..], b.interrupt_mode.as_deref()), (&["TODO".to_owned()][..], None));
    assert_eq!(b.globs, ["a/*", "b/*.{x,y}"]);
    assert_eq!(
        (&c.condition[..], &c.scope[..]),
        (&[".*".to_owned()][..], &["tool:edit(*.py)".to_owned(), "tool:write(*.py)".to_owned()][..])
    );
    assert_eq!((d.content.as_str(), d.description.as_deref(), d.always_apply), ("no front matter", None, false));
}

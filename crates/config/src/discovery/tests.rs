//! Tests what is found where, what wins, and what a repository cannot cause.

#[cfg(unix)]
mod hostile;
mod more_places;
mod shell_hooks;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::*;
use crate::Settings;

/// Runs discovery on a disk with sequential queries, on a fast one and on a slow one, and compares the results.
fn found_on_any_disk(places: &Places<'_>, choices: &Choices) -> Catalogue {
    let root = repository_root(places.cwd);
    let look = |disk| look(disk, places, choices, &root);
    let plain = look(Disk::plain()).0;
    for patience in [Duration::MAX, Duration::ZERO] {
        assert_eq!(Disk::explored_within(patience, places, &root, look), plain, "{patience:?}");
    }
    plain
}

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
        found_on_any_disk(&places, &Choices::read(settings, &home))
    }

    fn discover_with_env(&self, env: &[(&str, String)]) -> Catalogue {
        let (home, agent, cwd) = (self.path("~/"), self.path("~/.omp/agent"), self.path("cwd/"));
        let places = Places { home: &home, agent: &agent, cwd: &cwd };
        let env: omp_types::Env = env.iter().map(|(name, value)| (*name, value.as_str())).collect();
        found_on_any_disk(&places, &Choices::read(&Settings::default(), &home).with_environment(&env, &home))
    }

    /// Returns a path in the notation of the tree.
    fn named(&self, path: &Path) -> String {
        let root = self.dir.path().canonicalize().unwrap();
        let path = path.strip_prefix(root).unwrap_or(path).display().to_string();
        path.replace("home/repo/app", "cwd").replace("home/repo", "repo").replace("home/", "~/")
    }

    /// Formats every item as `kind name <- place`.
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
        found.extension_modules.iter().for_each(|item| add("module", &item.name, &item.source));
        found.settings.iter().for_each(|item| add("settings", &self.named(Path::new(&item.name)), &item.source));
        found.ssh_hosts.iter().for_each(|item| add("ssh", &item.name, &item.source));
        found.mcp_servers.iter().for_each(|item| add("mcp", &item.name, &item.source));
        lines.extend(found.context_files.iter().map(|file| format!("context {}", self.named(&file.path))));
        lines
    }
}

/// Checks which items these files produce; `~`, `repo` and `cwd` as in [`Tree`].
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
    assert_eq!((&b.condition[..], b.interrupt_mode.as_deref()), (&["TODO".to_owned()][..], Some("sometimes")));
    assert_eq!(b.globs, ["a/*", "b/*.{x,y}"]);
    assert_eq!(
        (&c.condition[..], &c.scope[..]),
        (&[".*".to_owned()][..], &["tool:edit(*.py)".to_owned(), "tool:write(*.py)".to_owned()][..])
    );
    assert_eq!((d.content.as_str(), d.description.as_deref(), d.always_apply), ("no front matter", None, false));
}

#[test]
fn claude_is_read() {
    check(
        &[
            ("~/.claude/CLAUDE.md", "user"),
            ("cwd/.claude/CLAUDE.md", "project"),
            ("cwd/AGENTS.md", "shadowed by the one in .claude"),
            ("~/.claude/skills/review/SKILL.md", SKILL),
            ("repo/.claude/skills/nameless/SKILL.md", "no front matter"),
            ("repo/.claude/skills/node_modules/SKILL.md", SKILL),
            ("cwd/.claude/commands/git/commit.md", "---\nargument-hint: [message]\n---\nCommit $ARGUMENTS"),
            ("cwd/.claude/agents/tester.md", "---\nname: tester\ndescription: Tests\n---\nTest"),
            ("cwd/.claude/settings.json", "{\"permissions\": {\"allow\": []}}"),
            ("~/.claude.json", "{\"numStartups\": 3, \"mcpServers\": {\"a\": {\"command\": \"user\"}}}"),
            ("cwd/.claude/.mcp.json", "{\"mcpServers\": {\"a\": {\"enabled\": false}}}"),
        ],
        &[
            "skill review <- ~/.claude/skills/review/SKILL.md",
            "skill nameless <- repo/.claude/skills/nameless/SKILL.md",
            "command git:commit <- cwd/.claude/commands/git/commit.md",
            "command commit <- cwd/.claude/commands/git/commit.md",
            "agent tester <- cwd/.claude/agents/tester.md",
            "settings cwd/.claude/settings.json <- cwd/.claude/settings.json",
            "mcp a <- cwd/.claude/.mcp.json",
            "context ~/.claude/CLAUDE.md",
            "context cwd/.claude/CLAUDE.md",
        ],
    );
}

#[test]
fn codex_gemini_and_opencode_are_read() {
    check(
        &[
            ("~/.codex/AGENTS.md", "user"),
            ("~/.gemini/GEMINI.md", "shadowed"),
            ("~/.codex/prompts/draft.md", "---\nname: draft-pr\n---\nDraft"),
            ("~/.codex/hooks/pre-bash.js", ""),
            ("~/.codex/hooks/notify.js", "not one of ours"),
            (
                "~/.codex/config.toml",
                "model = \"x\"\n[mcp_servers.docs]\nurl = \"https://docs.example\"\ntool_timeout_sec = 1.5\n",
            ),
            ("cwd/.gemini/commands/git/fix.toml", "description = \"Fix\"\nprompt = \"Fix {{args}}\"\n"),
            ("cwd/.gemini/settings.json", "{\"mcpServers\": {\"g\": {\"httpUrl\": \"https://g.example\"}}}"),
            ("cwd/.gemini/system.md", "You are"),
            ("cwd/.opencode/command/go.md", "Go"),
            ("repo/opencode.jsonc", "{\"mcp\": {\"o\": {\"type\": \"local\", \"command\": [\"npx\", \"o\"],}}}"),
        ],
        &[
            "system system.md <- cwd/.gemini/system.md",
            "command git:fix <- cwd/.gemini/commands/git/fix.toml",
            "command go <- cwd/.opencode/command/go.md",
            "prompt draft-pr <- ~/.codex/prompts/draft.md",
            "hook pre:bash:pre-bash.js <- ~/.codex/hooks/pre-bash.js",
            "settings ~/.codex/config.toml <- ~/.codex/config.toml",
            "settings cwd/.gemini/settings.json <- cwd/.gemini/settings.json",
            "settings repo/opencode.jsonc <- repo/opencode.jsonc",
            "mcp docs <- ~/.codex/config.toml",
            "mcp g <- cwd/.gemini/settings.json",
            "mcp o <- repo/opencode.jsonc",
            "context ~/.codex/AGENTS.md",
        ],
    );
}

#[test]
fn editors_are_read() {
    check(
        &[
            ("~/.cursor/rules/style.mdc", "user"),
            ("cwd/.cursor/rules/style.mdc", "the user's wins, as the page has it"),
            ("cwd/.cursor/rules/ts.mdc", "---\ndescription:\nglobs: *.ts,*.tsx\nalwaysApply: false\n---\nx"),
            ("~/.codeium/windsurf/memories/global_rules.md", "global"),
            ("cwd/.windsurf/rules/win.md", "---\ntrigger: always_on\n---\nx"),
            ("repo/.clinerules/one.md", "one"),
            ("repo/.github/copilot-instructions.md", "copilot"),
            ("repo/.github/instructions/web/css.instructions.md", "---\napplyTo: '**/*.css,**/*.scss'\n---\nx"),
            ("repo/.github/prompts/plan.prompt.md", "---\nmode: agent\ndescription: Plan\n---\nPlan"),
            (
                "repo/.vscode/mcp.json",
                "{\n  // one\n  \"servers\": {\"v\": {\"type\": \"http\", \"url\": \"https://v.example\"}}\n}",
            ),
            ("repo/.mcp.json", "{\"mcpServers\": {\"m\": {\"command\": \"m\"}, \"v\": {\"command\": \"shadowed\"}}}"),
            ("repo/ssh.json", "{\"hosts\": {\"box\": {\"host\": \"10.0.0.1\"}}}"),
        ],
        &[
            "rule style <- ~/.cursor/rules/style.mdc",
            "rule ts <- cwd/.cursor/rules/ts.mdc",
            "rule global_rules <- ~/.codeium/windsurf/memories/global_rules.md",
            "rule win <- cwd/.windsurf/rules/win.md",
            "rule one <- repo/.clinerules/one.md",
            "prompt plan <- repo/.github/prompts/plan.prompt.md",
            "instruction css <- repo/.github/instructions/web/css.instructions.md",
            "ssh box <- repo/ssh.json",
            "mcp v <- repo/.vscode/mcp.json",
            "mcp m <- repo/.mcp.json",
            "context repo/.github/copilot-instructions.md",
        ],
    );
}

#[test]
fn a_stronger_program_shadows_a_weaker_one_and_it_is_told() {
    let tree = Tree::new(&[
        ("cwd/.omp/rules/style.md", "native"),
        ("cwd/.cursor/rules/style.mdc", "cursor"),
        ("repo/.clinerules", "---\nname: x\n---\ncline"),
    ]);
    let found = tree.discover();
    let [lost] = &found.shadowed[..] else { panic!("{:?}", found.shadowed) };
    assert_eq!((lost.kind, lost.name.as_str()), ("rule", "style"));
    assert_eq!((lost.by.provider, lost.source.provider), (Provider::Native, Provider::Cursor));
    assert_eq!(found.rules[1].name, "clinerules");
}

#[test]
fn servers_are_told_in_one_language() {
    let tree = Tree::new(&[
        (
            "~/.codex/config.toml",
            "[mcp_servers.c]\ncommand = \"c\"\nhttp_headers = {a = \"b\"}\ntool_timeout_sec = 2\n",
        ),
        (
            "cwd/opencode.json",
            r#"{"mcp": {"o": {"type": "local", "command": ["n", "o"], "args": ["x"], "environment": {"K": "v"}}, "bad": true}}"#,
        ),
    ]);
    let found = tree.discover();
    let values: Vec<_> = found.mcp_servers.iter().map(|server| server.value.clone()).collect();
    assert_eq!(
        values,
        [
            serde_json::json!({"command": "c", "headers": {"a": "b"}, "timeout": 2000}),
            serde_json::json!({"command": "n", "args": ["o", "x"], "env": {"K": "v"}, "type": "stdio"}),
        ]
    );
    assert!(found.warnings[0].contains("`bad` is ignored"), "{:?}", found.warnings);
}

#[test]
fn settings_leave_things_out_and_a_project_cannot_bring_them_back() {
    let tree = Tree::new(&[
        ("~/.omp/agent/skills/review/SKILL.md", SKILL),
        ("~/.claude/skills/other/SKILL.md", "x"),
        ("~/.claude/commands/go.md", "x"),
        ("~/.cursor/rules/style.mdc", "x"),
        ("~/.omp/agent/rules/mine.md", "x"),
        ("~/more/extra/SKILL.md", SKILL),
        (
            "~/global.yml",
            "disabledExtensions: ['rule:mine']\ndisabledProviders: [cursor]\nskills: {enablePiUser: false, \
            ignoredSkills: ['oth*'], customDirectories: [~/more]}\ncommands: {enableClaudeUser: false}\n",
        ),
        (
            "cwd/.omp/config.yml",
            "disabledExtensions: []\ndisabledProviders: []\nskills: {enablePiUser: true, \
            customDirectories: [/etc]}\ncommands: {enableClaudeUser: true}\n",
        ),
    ]);
    let mut settings = Settings::default();
    settings.load_global(&tree.path("~/global.yml")).unwrap();
    assert!(settings.load_project(&tree.path("cwd/")).is_empty());
    let found = tree.discover_chosen(&settings);
    assert_eq!(
        tree.items(&found),
        ["skill review <- ~/more/extra/SKILL.md", "settings cwd/.omp/config.yml <- cwd/.omp/config.yml"]
    );
    assert_eq!(found.switched_off[0].name, "mine");
}

#[test]
fn a_project_leaves_out_its_own_and_skills_but_not_what_guards_the_user() {
    let tree = Tree::new(&[
        ("~/.omp/agent/rules/mine.md", "x"),
        ("~/.omp/agent/AGENTS.md", "x"),
        ("~/.omp/agent/skills/review/SKILL.md", SKILL),
        ("cwd/.omp/rules/theirs.md", "x"),
        ("cwd/AGENTS.md", "x"),
        (
            "cwd/.omp/config.yml",
            "disabledExtensions: ['rule:mine', 'rule:theirs', 'skill:review', 'context-file:user:AGENTS.md', \
            'context-file:project:AGENTS.md']\n",
        ),
    ]);
    let mut settings = Settings::default();
    assert!(settings.load_project(&tree.path("cwd/")).is_empty());
    let found = tree.discover_chosen(&settings);
    let rules: Vec<_> = found.rules.iter().map(|rule| rule.name.as_str()).collect();
    let files: Vec<_> = found.context_files.iter().map(|file| file.level).collect();
    assert_eq!((rules, files, found.skills.len()), (vec!["mine"], vec![Level::User], 0));
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_is_found() {
    let tree = Tree::new(&[
        ("cwd/.omp/rules/good.md", "good"),
        ("cwd/.omp/rules/binary.md", "\u{7f}ELF\0\0"),
        ("cwd/.omp/rules/lost.md", "---\na: [1\n&&& what\n---\nbody"),
        ("cwd/.omp/mcp.json", "{broken"),
        ("cwd/.codex/config.toml", "= broken"),
        ("cwd/.omp/skills/silent/SKILL.md", "no description"),
        ("cwd/.omp/agents/nobody.md", "no name"),
    ]);
    tree.write("cwd/.omp/rules/long.md", &"x".repeat(300 << 10));
    let found = tree.discover();
    let names: Vec<_> = found.rules.iter().map(|rule| rule.name.as_str()).collect();
    assert_eq!(names, ["good", "lost"]);
    let told = found.warnings.join("\n");
    for part in [
        "binary.md was not read: it is not text",
        "long.md was not read: it has more than 256 kB",
        "lost.md: part of its front matter",
        "mcp.json was not read",
        "config.toml was not read",
        "needs a `description`",
        "needs `name` and `description`",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn a_long_context_file_is_cut_and_says_so() {
    let tree = Tree::new(&[]);
    tree.write("cwd/AGENTS.md", &"line\n".repeat(20_000));
    let found = tree.discover();
    assert!(found.context_files[0].text.len() < 33 * 1024);
    assert!(found.context_files[0].text.contains("AGENTS.md continues: read "));
    assert_eq!(found.warnings.len(), 1);
}

#[test]
fn there_is_an_end_to_how_much_is_found() {
    let tree = Tree::new(&[]);
    for number in 0..1_005 {
        tree.write(&format!("cwd/.omp/rules/r{number}.md"), "x");
    }
    let found = tree.discover();
    assert_eq!(found.rules.len(), 1_000);
    assert!(found.warnings[0].contains("more than 1000 items of kind rule"), "{:?}", found.warnings);
}

#[test]
fn a_changed_file_is_read_again() {
    let tree = Tree::new(&[("cwd/.omp/rules/a.md", "one")]);
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    let aged = |text: &str, seconds: u64| {
        tree.write("cwd/.omp/rules/a.md", text);
        let file = fs::File::options().write(true).open(tree.path("cwd/.omp/rules/a.md")).unwrap();
        file.set_modified(old + std::time::Duration::from_secs(seconds)).unwrap();
        tree.discover().rules[0].content.clone()
    };
    assert_eq!(aged("one", 0), "one");
    assert_eq!(aged("two", 0), "one", "the same time and size is the same file");
    assert_eq!(aged("two", 1), "two");
    assert_eq!(aged("three", 1), "three");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_project_does_not_lead_out_of_itself_and_the_users_own_links_are_followed() {
        let tree = Tree::new(&[
            ("~/secret/key", "key"),
            ("~/secret/rules/key.md", "key"),
            ("~/dotfiles/rules/mine.md", "mine"),
            ("repo/shared/inside.md", "inside"),
            ("cwd/.omp/rules/own.md", "own"),
        ]);
        symlink(tree.path("~/secret/key"), tree.path("cwd/AGENTS.md")).unwrap();
        symlink(tree.path("~/secret/key"), tree.path("cwd/.omp/rules/key.md")).unwrap();
        symlink(tree.path("repo/shared/inside.md"), tree.path("cwd/.omp/rules/inside.md")).unwrap();
        symlink(tree.path("~/nowhere"), tree.path("cwd/.omp/rules/dangling.md")).unwrap();
        fs::create_dir_all(tree.path("cwd/.cursor")).unwrap();
        symlink(tree.path("~/secret/rules"), tree.path("cwd/.cursor/rules")).unwrap();
        fs::create_dir_all(tree.path("~/.omp/agent")).unwrap();
        symlink(tree.path("~/dotfiles/rules"), tree.path("~/.omp/agent/rules")).unwrap();
        let found = tree.discover();
        let names: Vec<_> = found.rules.iter().map(|rule| rule.name.as_str()).collect();
        assert_eq!(names, ["inside", "own", "mine"]);
        assert!(found.context_files.is_empty());
        assert_eq!(found.warnings.iter().filter(|told| told.contains("outside the project")).count(), 3);
    }
}

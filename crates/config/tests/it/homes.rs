//! Tests folders as omp, Claude Code, Codex, Gemini CLI and Cursor write them: real formats, odd values, invented content.
//! All of it loads without a complaint.

use std::fs;
use std::path::{Path, PathBuf};

use omp_config::{Catalogue, Places, Provider, discover};

/// Files of a home (`~/…`) and of a project (`p/…`).
type Files = &'static [(&'static str, &'static str)];

#[track_caller]
fn load(files: &[(&str, &str)]) -> (tempfile::TempDir, Catalogue) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let place = |name: &str| -> PathBuf {
        match name.split_once('/').unwrap() {
            ("~", below) => root.join("home").join(below),
            (_, below) => root.join("home/src/shop").join(below),
        }
    };
    fs::create_dir_all(place("p/.git")).unwrap();
    for (name, text) in files {
        fs::create_dir_all(place(name).parent().unwrap()).unwrap();
        fs::write(place(name), text).unwrap();
    }
    let (home, agent, cwd) = (place("~/"), place("~/.omp/agent"), place("p/"));
    let found = discover(&Places { home: &home, agent: &agent, cwd: &cwd });
    assert!(found.warnings.is_empty(), "{:#?}", found.warnings);
    (dir, found)
}

fn names<'a, T: 'a>(items: &'a [T], name: impl Fn(&'a T) -> &'a str) -> Vec<&'a str> {
    items.iter().map(name).collect()
}

const OMP: Files = &[
    ("~/.omp/agent/AGENTS.md", "# Me\n\nAnswer briefly.\n"),
    ("~/.omp/agent/config.yml", "# mine\ntheme:\n  dark: titanium\nmodelRoles: {default: anthropic/claude-opus-4-5}\n"),
    ("~/.omp/agent/agent.db", "SQLite format 3 is not looked at"),
    ("~/.omp/agent/sessions/--src--/1.jsonl", "{}\n"),
    ("~/.omp/agent/SYSTEM.md", "You are careful.\n"),
    ("~/.omp/agent/rules/no-todo.md", "---\nttsr_trigger: \"TODO|FIXME\"\n---\nFinish it.\n"),
    (
        "~/.omp/agent/rules/rust.mdc",
        "---\r\ndescription: Rust style\r\nglobs:\r\n  - \"**/*.rs\"\r\nalwaysApply: false\r\n---\r\n\r\nNo unwrap.\r\n",
    ),
    (
        "~/.omp/agent/skills/pdf/SKILL.md",
        "---\nname: pdf\ndescription: >\n  Reads PDF files,\n  page by page.\n---\n\n# PDF\n",
    ),
    ("~/.omp/agent/skills/pdf/scripts/run.py", "print(1)\n"),
    ("~/.omp/agent/skills/README.md", "not a skill\n"),
    ("~/.omp/agent/commands/ship.md", "---\ndescription: Ship it\n---\nShip $1 to $2\n"),
    ("~/.omp/agent/prompts/explain.md", "Explain $@\n"),
    (
        "~/.omp/agent/mcp.json",
        "{\"$schema\": \"x\", \"mcpServers\": {\"fs\": {\"type\": \"stdio\", \"command\": \"fs\", \"args\": [\"${HOME}\"]}}}\n",
    ),
    (
        "~/.omp/agent/ssh.json",
        "{\"hosts\": {\"build\": {\"host\": \"10.1.2.3\", \"port\": \"2222\", \"compat\": \"yes\"}}}\n",
    ),
    ("p/.omp/settings.json", "{\"tools\": {\"approvalMode\": \"write\"}}\n"),
];

#[test]
fn a_home_of_omp() {
    let (_dir, found) = load(OMP);
    assert_eq!(names(&found.rules, |rule| &rule.name), ["no-todo", "rust"]);
    assert_eq!(found.rules[0].condition, ["TODO|FIXME"]);
    assert_eq!(
        (&found.rules[1].globs[..], found.rules[1].content.as_str()),
        (&["**/*.rs".to_owned()][..], "No unwrap.")
    );
    assert_eq!(found.skills[0].description, "Reads PDF files, page by page.");
    assert_eq!(names(&found.commands, |command| &command.name), ["ship"]);
    assert_eq!(names(&found.prompts, |prompt| &prompt.name), ["explain"]);
    assert_eq!(names(&found.mcp_servers, |server| &server.name), ["fs"]);
    assert_eq!(found.settings.len(), 2);
    assert_eq!(found.system.unwrap().text, "You are careful.\n");
}

const CLAUDE: Files = &[
    (
        "~/.claude.json",
        "{\"numStartups\": 42, \"autoUpdaterStatus\": \"enabled\", \"tipsHistory\": {\"a\": 1}, \"projects\": {\"/tmp/project\": \
         {\"allowedTools\": [], \"history\": [{\"display\": \"hi\", \"pastedContents\": {}}], \"mcpServers\": {}}}, \
         \"mcpServers\": {\"linear\": {\"type\": \"sse\", \"url\": \"https://mcp.linear.example/sse\"}}, \"oauthAccount\": null}",
    ),
    ("~/.claude/CLAUDE.md", "@~/notes/style.md\n\n- be brief\n"),
    (
        "~/.claude/settings.json",
        "{\n  \"model\": \"opus\",\n  \"permissions\": {\"allow\": [\"Bash(git diff:*)\"], \"deny\": []},\n  \"hooks\": \
         {\"PostToolUse\": [{\"matcher\": \"Edit|Write\", \"hooks\": [{\"type\": \"command\", \"command\": \"fmt\"}]}]}\n}\n",
    ),
    ("~/.claude/todos/1.json", "[]"),
    ("~/.claude/projects/-tmp-project/1.jsonl", "{}\n"),
    ("~/.claude/statsig/cache", "x"),
    (
        "~/.claude/skills/release-notes/SKILL.md",
        "---\nname: release-notes\ndescription: Writes notes. Use when: a release is cut\nallowed-tools: Read, Grep\n---\n",
    ),
    ("p/.claude/settings.local.json", "{\"permissions\": {\"allow\": [\"WebFetch(domain:docs.rs)\"]}}"),
    (
        "p/.claude/commands/fix-issue.md",
        "---\nallowed-tools: Bash(gh issue view:*)\nargument-hint: [number] [priority]\ndescription: Fix an issue\n---\n\nFix #$1: !`gh issue view $1` @CONTRIBUTING.md\n",
    ),
    ("p/.claude/commands/db/migrate.md", "Migrate $ARGUMENTS\n"),
    (
        "p/.claude/agents/reviewer.md",
        "---\nname: reviewer\ndescription: Reviews. <example>user: \"x\"</example>\ntools: Read, Grep\nmodel: inherit\ncolor: red\n---\n\nYou review.\n",
    ),
    ("p/CLAUDE.md", "# Shop\n"),
    (
        "p/.mcp.json",
        "{\"mcpServers\": {\"db\": {\"command\": \"npx\", \"args\": [\"-y\", \"db\"], \"env\": {\"DB_URL\": \"${DB_URL:-x}\"}}}}",
    ),
];

#[test]
fn a_home_of_claude() {
    let (_dir, found) = load(CLAUDE);
    assert_eq!(names(&found.skills, |skill| &skill.name), ["release-notes"]);
    assert_eq!(found.skills[0].description, "Writes notes. Use when: a release is cut");
    assert_eq!(names(&found.commands, |command| &command.name), ["fix-issue", "db:migrate", "migrate"]);
    assert_eq!(found.commands[0].argument_hint.as_deref(), Some("[number] [priority]"));
    assert_eq!(found.agents[0].options["tools"], "Read, Grep");
    assert_eq!(names(&found.mcp_servers, |server| &server.name), ["linear", "db"]);
    assert_eq!(found.context_files.len(), 2);
    assert_eq!(found.settings.len(), 2);
}

const CODEX: Files = &[
    ("~/.codex/AGENTS.md", "Use uv.\n"),
    ("~/.codex/auth.json", "{\"OPENAI_API_KEY\": null}"),
    ("~/.codex/history.jsonl", "{}\n"),
    (
        "~/.codex/config.toml",
        "model = \"gpt-5-codex\"\nmodel_reasoning_effort = \"high\"\napproval_policy = \"on-request\"\n\n[projects.\"/tmp/project\"]\n\
         trust_level = \"trusted\"\n\n[mcp_servers.context7]\ncommand = \"npx\"\nargs = [\"-y\", \"c7\"]\nstartup_timeout_sec = 20\n\
         enabled = false\n\n[mcp_servers.\"figma\"]\nurl = \"http://127.0.0.1:3845/mcp\"\nbearer_token_env_var = \"FIGMA\"\n\n[tui]\nnotifications = true\n",
    ),
    (
        "~/.codex/prompts/draftpr.md",
        "---\ndescription: Draft a PR\nargument-hint: FILES=<paths> [PR_TITLE=\"<title>\"]\n---\nDraft $FILES\n",
    ),
    ("~/.codex/skills/.system/imagegen/SKILL.md", "---\nname: hidden\n---\n"),
    (
        "~/.codex/skills/plan/SKILL.md",
        "---\nname: plan\ndescription: \"Plans: first\"\nmetadata:\n  short-description: Plan\n---\n",
    ),
    ("~/.codex/rules/default.rules", "prefix_rule(pattern=[\"git\"], decision=\"allow\")\n"),
];

#[test]
fn a_home_of_codex() {
    let (_dir, found) = load(CODEX);
    assert_eq!(names(&found.mcp_servers, |server| &server.name), ["context7", "figma"]);
    assert_eq!(found.mcp_servers[0].value["enabled"], false);
    assert_eq!(names(&found.prompts, |prompt| &prompt.name), ["draftpr"]);
    assert_eq!(names(&found.skills, |skill| &skill.name), ["plan"]);
    assert_eq!(found.settings[0].value["projects"]["/tmp/project"]["trust_level"], "trusted");
    assert!(found.rules.is_empty(), "Codex's rules are for its sandbox");
}

const GEMINI: Files = &[
    ("~/.gemini/GEMINI.md", "## Gemini Added Memories\n- The user likes tabs.\n"),
    (
        "~/.gemini/settings.json",
        "{\n  // comments are allowed here\n  \"security\": {\"auth\": {\"selectedType\": \"oauth-personal\"}},\n  \"mcpServers\": {\n    \
         \"gh\": {\"httpUrl\": \"https://api.example/mcp\", \"headers\": {\"Authorization\": \"Bearer $GH\"}, \"timeout\": 5000, \"trust\": false},\n  },\n}\n",
    ),
    ("~/.gemini/oauth_creds.json", "{}"),
    ("~/.gemini/tmp/abc/logs.json", "[]"),
    (
        "~/.gemini/commands/git/commit.toml",
        "description = \"Commit\"\nprompt = \"\"\"\nWrite a message for {{args}}:\n!{git diff --staged}\n\"\"\"\n",
    ),
    ("~/.gemini/extensions/x/gemini-extension.json", "{\"name\": \"x\"}"),
    ("p/GEMINI.md", "# Project\n"),
];

#[test]
fn a_home_of_gemini() {
    let (_dir, found) = load(GEMINI);
    assert_eq!(names(&found.mcp_servers, |server| &server.name), ["gh"]);
    assert_eq!(names(&found.commands, |command| &command.name), ["git:commit"]);
    assert_eq!(found.commands[0].template, "Write a message for $ARGUMENTS:\n!{git diff --staged}");
    assert_eq!(found.context_files.len(), 2);
}

const CURSOR: Files = &[
    (
        "~/.cursor/mcp.json",
        "{\n  \"mcpServers\": {\n    \"browser\": {\"url\": \"http://localhost:3000/sse\"}\n  }\n}\n",
    ),
    ("~/.cursor/argv.json", "// VS Code's\n{\"enable-crash-reporter\": true}\n"),
    ("~/.cursor/extensions/extensions.json", "[]"),
    ("p/.cursor/rules/always.mdc", "---\ndescription: \nglobs: \nalwaysApply: true\n---\n\nUse pnpm.\n"),
    (
        "p/.cursor/rules/react.mdc",
        "---\ndescription: React: components\nglobs: *.tsx,src/components/**/*.{ts,tsx}\nalwaysApply: false\n---\n- hooks\n",
    ),
    ("p/.cursor/rules/list.mdc", "---\nglobs: [\"*.py\", \"*.pyi\"]\n---\nTypes.\n"),
    ("p/.cursor/rules/bare.mdc", "No front matter.\n"),
    ("p/.cursor/rules/empty.mdc", ""),
    ("p/.cursor/mcp.json", "{\"mcpServers\": {}}"),
    ("p/.cursorignore", "dist\n"),
];

#[test]
fn a_home_of_cursor() {
    let (_dir, found) = load(CURSOR);
    assert_eq!(names(&found.rules, |rule| &rule.name), ["always", "bare", "empty", "list", "react"]);
    let react = &found.rules[4];
    assert_eq!(react.globs, ["*.tsx", "src/components/**/*.{ts,tsx}"]);
    assert_eq!((react.description.as_deref(), react.always_apply), (Some("React: components"), false));
    assert!(found.rules[0].always_apply && found.rules[0].description.is_none());
    assert_eq!(found.mcp_servers[0].source.provider, Provider::Cursor);
}

#[test]
fn all_of_them_at_once() {
    let files: Vec<_> = [OMP, CLAUDE, CODEX, GEMINI, CURSOR].concat();
    let (_dir, found) = load(&files);
    let user: Vec<&Path> = found.context_files.iter().map(|file| file.path.as_path()).collect();
    assert!(user[0].ends_with(".omp/agent/AGENTS.md") && user[1].ends_with("CLAUDE.md"), "{user:?}");
    assert_eq!(user.len(), 2);
    assert_eq!((found.rules.len(), found.skills.len(), found.mcp_servers.len()), (7, 3, 7));
    assert_eq!(found.shadowed.len(), 4, "{:#?}", found.shadowed);
}

//! Tests plugins, Copilot's other folders, Claude's per-project data, imports, modules, and folders named by the user.

use super::*;

#[test]
fn plugins_of_claude_are_read_as_the_users() {
    let tree = Tree::new(&[
        ("~/.claude/skills/review/SKILL.md", SKILL),
        ("~/.claude/settings.json", r#"{"enabledPlugins": {"off@market": false, "tools@market": true}}"#),
        ("~/.claude/plugins/cache/tools/skills/review/SKILL.md", SKILL),
        ("~/.claude/plugins/cache/tools/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads\n---\n"),
        ("~/.claude/plugins/cache/tools/commands/ship.md", "Ship"),
        ("~/.claude/plugins/cache/tools/agents/scout.md", "---\nname: scout\ndescription: Looks\n---\nLook"),
        ("~/.claude/plugins/cache/tools/hooks/pre/bash.sh", "#!/bin/sh"),
        ("~/.claude/plugins/cache/tools/tools/calc.py", "print()"),
        (
            "~/.claude/plugins/cache/tools/.mcp.json",
            r#"{"db": {"command": "./bin/db", "args": ["${CLAUDE_PLUGIN_ROOT}/x"]}}"#,
        ),
        ("~/.claude/plugins/cache/own/extra/one/SKILL.md", "---\nname: one\ndescription: One\n---\n"),
        ("~/.claude/plugins/cache/own/cmd/go.md", "Go"),
        ("~/.claude/plugins/cache/own/commands/left.md", "replaced by the manifest"),
        (
            "~/.claude/plugins/cache/own/.claude-plugin/plugin.json",
            r#"{"name": "own", "skills": "./extra", "commands": ["./cmd", "../tools/commands"],
                "mcpServers": {"web": {"url": "https://web.example"}}}"#,
        ),
        ("~/.claude/plugins/cache/off/commands/off.md", "off"),
        ("~/.claude/plugins/cache/there/commands/there.md", "for another project"),
        ("~/.claude/plugins/cache/here/commands/here.md", "for this project"),
    ]);
    let at = |name: &str| tree.path(&format!("~/.claude/plugins/cache/{name}"));
    let registry = serde_json::json!({"version": 2, "plugins": {
        "tools@market": [{"scope": "user", "installPath": at("tools"), "version": "1.0.0"}],
        "own@market": [{"scope": "user", "installPath": at("own")}],
        "off@market": [{"scope": "user", "installPath": at("off")}],
        "there@market": [{"scope": "local", "installPath": at("there"), "projectPath": "/elsewhere"}],
        "here@market": [{"scope": "project", "installPath": at("here"), "projectPath": tree.path("repo/")}],
        "nameless": [{"installPath": at("tools")}],
        "relative@market": [{"installPath": "cache/tools"}],
    }});
    tree.write("~/.claude/plugins/installed_plugins.json", &registry.to_string());
    let found = tree.discover();
    assert_eq!(
        tree.items(&found),
        [
            "skill review <- ~/.claude/skills/review/SKILL.md",
            "skill pdf <- ~/.claude/plugins/cache/tools/skills/pdf/SKILL.md",
            "skill one <- ~/.claude/plugins/cache/own/extra/one/SKILL.md",
            "command tools:ship <- ~/.claude/plugins/cache/tools/commands/ship.md",
            "command own:go <- ~/.claude/plugins/cache/own/cmd/go.md",
            "command here:here <- ~/.claude/plugins/cache/here/commands/here.md",
            "agent scout <- ~/.claude/plugins/cache/tools/agents/scout.md",
            "hook pre:bash:bash.sh <- ~/.claude/plugins/cache/tools/hooks/pre/bash.sh",
            "tool calc <- ~/.claude/plugins/cache/tools/tools/calc.py",
            "settings ~/.claude/settings.json <- ~/.claude/settings.json",
            "mcp tools:db <- ~/.claude/plugins/cache/tools/.mcp.json",
            "mcp own:web <- ~/.claude/plugins/cache/own/.claude-plugin/plugin.json",
        ]
    );
    let root = at("tools").display().to_string();
    let db = serde_json::json!({"command": format!("{root}/bin/db"), "args": [format!("{root}/x")]});
    assert_eq!(found.mcp_servers[0].value, db);
    assert!(found.skills.iter().skip(1).all(|skill| skill.source.provider == Provider::ClaudePlugins));
    let told = found.warnings.join("\n");
    for part in ["`nameless` is ignored", "`relative@market` is ignored", "names `../tools/commands`"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(found.warnings.len(), 3, "{told}");
}

#[test]
fn a_broken_list_of_plugins_is_told() {
    for broken in ["{", "[]", "{}", r#"{"plugins": []}"#] {
        let tree = Tree::new(&[("~/.claude/plugins/installed_plugins.json", broken)]);
        assert!(tree.discover().warnings[0].contains("installed_plugins.json was not read"), "{broken}");
    }
    let odd = r#"{"plugins": {"a@b": 3, "c@d": [null, {}], "e@f": [{"installPath": "/gone"}], "@": []}}"#;
    let found = Tree::new(&[("~/.claude/plugins/installed_plugins.json", odd)]).discover();
    assert_eq!(found.warnings.len(), 2, "{:?}", found.warnings);
}

#[test]
fn servers_that_claude_keeps_for_one_project_come_first() {
    let tree = Tree::new(&[("cwd/.claude/.mcp.json", r#"{"mcpServers": {"a": {"command": "theirs"}}}"#)]);
    let server = |command: &str| serde_json::json!({"command": command});
    let config = serde_json::json!({
        "mcpServers": {"a": server("all"), "b": server("all"), "c": server("all")},
        "projects": {
            "/elsewhere": {"mcpServers": {"d": server("elsewhere")}},
            tree.path("cwd/").display().to_string().trim_end_matches('/'): {"mcpServers": {"a": server("here")}},
            tree.path("repo/").display().to_string().trim_end_matches('/'):
                {"history": [1], "mcpServers": {"a": server("root"), "b": server("root")}},
        },
    });
    tree.write("~/.claude.json", &config.to_string());
    let found = tree.discover();
    let servers: Vec<_> =
        found.mcp_servers.iter().map(|one| (one.name.as_str(), one.value["command"].as_str())).collect();
    assert_eq!(servers, [("a", Some("here")), ("b", Some("root")), ("c", Some("all"))]);
    assert!(found.mcp_servers.iter().all(|one| one.source.level == Level::User));
}

#[test]
fn copilots_folders_are_where_the_environment_says() {
    let tree = Tree::new(&[
        ("~/.copilot/copilot-instructions.md", "not here"),
        ("~/moved/copilot-instructions.md", "user"),
        ("~/one/AGENTS.md", "one"),
        ("~/one/.github/instructions/deep/rust.instructions.md", "---\napplyTo: '**/*.rs, src/**'\n---\nx"),
        ("~/two/AGENTS.md", "two"),
        ("cwd/docs/AGENTS.md", "relative"),
        ("cwd/docs/.github/instructions/all.instructions.md", "---\napplyTo: '**'\n---\nx"),
    ]);
    let one = tree.path("~/one").display().to_string();
    let found = tree.discover_with_env(&[
        ("COPILOT_HOME", tree.path("~/moved").display().to_string()),
        ("COPILOT_CUSTOM_INSTRUCTIONS_DIRS", format!("{one}, ~/two, docs, ,../../..")),
    ]);
    assert_eq!(
        tree.items(&found),
        [
            "instruction rust <- ~/one/.github/instructions/deep/rust.instructions.md",
            "instruction all <- cwd/docs/.github/instructions/all.instructions.md",
            "context ~/moved/copilot-instructions.md",
            "context ~/one/AGENTS.md",
            "context ~/two/AGENTS.md",
            "context cwd/docs/AGENTS.md",
        ]
    );
    assert_eq!(found.instructions[0].globs, ["**/*.rs", "src/**"]);
    assert_eq!((found.instructions[1].always_apply, found.instructions[1].source.level), (true, Level::Project));
}

#[test]
fn a_folder_the_user_has_named_wins_over_one_that_every_program_has() {
    let tree = Tree::new(&[
        ("~/global.yml", "skills: {customDirectories: [~/mine]}\n"),
        ("~/mine/a/SKILL.md", SKILL),
        ("~/mine/silent/SKILL.md", "no description"),
        ("cwd/.omp/skills/b/SKILL.md", SKILL),
        ("~/.claude/skills/c/SKILL.md", SKILL),
    ]);
    let mut settings = Settings::default();
    settings.load_global(&tree.path("~/global.yml")).unwrap();
    let found = tree.discover_chosen(&settings);
    assert_eq!(tree.items(&found), ["skill review <- ~/mine/a/SKILL.md"]);
    assert_eq!((found.skills[0].source.provider, found.shadowed.len()), (Provider::Custom, 2));
    assert!(found.warnings[0].contains("needs a `description`"), "{:?}", found.warnings);
}

#[test]
fn extension_modules_are_listed() {
    check(
        &[
            ("cwd/.omp/extensions/guard.ts", "throw 1"),
            ("cwd/.omp/extensions/notes.md", "not code"),
            ("cwd/.omp/extensions/audit/index.ts", "throw 1"),
            ("cwd/.omp/extensions/audit/index.js", "throw 1"),
            (
                "cwd/.omp/extensions/checks/package.json",
                r#"{"omp": {"extensions": ["./src/a.ts", "./gone.ts", "../../../../x.js"]}}"#,
            ),
            ("cwd/.omp/extensions/checks/src/a.ts", "throw 1"),
            ("cwd/.omp/extensions/checks/src/index.ts", "not named"),
            ("~/x.js", "outside"),
            ("~/.omp/agent/extensions/guard.js", "shadowed"),
            ("~/.omp/agent/extensions/old/package.json", r#"{"pi": {"extensions": ["main.js"]}}"#),
            ("~/.omp/agent/extensions/old/main.js", "throw 1"),
            ("~/.claude/extensions/c.ts", "throw 1"),
            ("~/.codex/extensions/x/index.js", "throw 1"),
        ],
        &[
            "module guard <- cwd/.omp/extensions/guard.ts",
            "module audit <- cwd/.omp/extensions/audit/index.ts",
            "module a <- cwd/.omp/extensions/checks/src/a.ts",
            "module main <- ~/.omp/agent/extensions/old/main.js",
            "module c <- ~/.claude/extensions/c.ts",
            "module x <- ~/.codex/extensions/x/index.js",
        ],
    );
}

#[test]
fn context_files_import_and_say_what_they_do_not() {
    let tree = Tree::new(&[
        ("~/.claude/CLAUDE.md", "Mine\n@~/notes/style.md\n"),
        ("~/notes/style.md", "Tabs."),
        ("repo/CLAUDE.md", "Ours\n@docs/build.md\n@~/notes/style.md\n"),
        ("repo/docs/build.md", "Run make."),
    ]);
    let found = tree.discover();
    let [user, project] = &found.context_files[..] else { panic!("{:?}", found.context_files) };
    assert_eq!(user.text, "Mine\n<!-- ~/notes/style.md begins -->\nTabs.\n<!-- ~/notes/style.md ends -->\n");
    assert!(project.text.contains("\nRun make.\n") && !project.text.contains("Tabs."), "{}", project.text);
    assert!(project.text.contains("@~/notes/style.md <!-- not imported: it is outside the project -->"));
    let imports: Vec<_> = found.imports.iter().map(|one| (tree.named(&one.path), tree.named(&one.by))).collect();
    let pair = |path: &str, by: &str| (path.to_owned(), by.to_owned());
    assert_eq!(
        imports,
        [pair("~/notes/style.md", "~/.claude/CLAUDE.md"), pair("repo/docs/build.md", "repo/CLAUDE.md")]
    );
    assert!(found.warnings[0].contains("repo/CLAUDE.md: `@~/notes/style.md` was not imported"), "{:?}", found.warnings);
    assert_eq!(found.warnings.len(), 1);
}

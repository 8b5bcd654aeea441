//! Files of the user and the repository, through the binary: in the prompt, behind results, in the list.

use omp_testkit::{TempWorkspace, Turn, Wire};
use serde_json::{Value, json};

use crate::harness::{Omp, Scene};

#[tokio::test]
async fn the_list_says_what_won_and_what_lost() {
    let workspace = TempWorkspace::new(&[
        ("AGENTS.md", "ours"),
        ("CLAUDE.md", "theirs"),
        (".omp/rules/style.md", "native"),
        (".cursor/rules/style.mdc", "cursor"),
        (".claude/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads\n---\n"),
    ])
    .unwrap();
    workspace.write_config_yml("disabledExtensions: ['skill:pdf']\n").unwrap();
    let run = Omp::bare(&workspace).args(["config", "sources"]).run().await.exits(0);
    for part in
        ["context file (1)", "style  [native, project]", "shadowed (2)", "rule style", "switched off (1)", "skill pdf"]
    {
        assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
    }
    let run = Omp::bare(&workspace).args(["config", "sources", "--json"]).run().await.exits(0);
    let told: Value = serde_json::from_str(&run.stdout).unwrap();
    let rule = told["shadowed"].as_array().unwrap().iter().find(|item| item["kind"] == "rule").unwrap();
    assert_eq!((&rule["provider"], &rule["by"]["provider"]), (&json!("cursor"), &json!("native")));
    assert_eq!(told["switchedOff"][0]["name"], "pdf");
    assert_eq!(told["warnings"], json!([]));
}

#[tokio::test]
async fn a_project_cannot_steer_the_terminal() {
    let workspace = TempWorkspace::new(&[
        (".claude/commands/red\u{1b}[31m/x.md", "Say hello."),
        (".omp/rules/loud.md", "---\ncondition: \"a\\eb\"\n---\nNot so loud.\n"),
    ])
    .unwrap();
    for (args, part) in [(&["config", "sources"][..], "red:x"), (&["ttsr", "list"], "loud")] {
        let run = Omp::bare(&workspace).args(args).run().await.exits(0);
        assert!(run.stdout.contains(part) && !run.stdout.contains('\u{1b}'), "{args:?}: {:?}", run.stdout);
    }
}

#[tokio::test]
async fn a_folders_own_instructions_are_told_once_also_after_a_resume() {
    let read = || Turn::call("read", json!({"path": "api/x.txt"}));
    let script = [read(), read(), Turn::text("Done."), read(), Turn::text("Again.")];
    let scene = Scene::new(Wire::Completions, script).await;
    scene.workspace.write("api/AGENTS.md", "Errors are values here.\n").unwrap();
    scene.workspace.write("api/x.txt", "text\n").unwrap();
    scene.workspace.write("node_modules/x/AGENTS.md", "Never told.\n").unwrap();
    let told = |scene: &Scene| scene.last_request().json().unwrap().to_string().matches("Errors are values").count();
    scene.omp(&["-p", "look"]).run().await.exits(0).prints("Done.\n");
    assert_eq!(told(&scene), 1);
    scene.omp(&["-c", "-p", "again"]).run().await.exits(0).prints("Again.\n");
    assert_eq!(told(&scene), 1);
}

#[tokio::test]
async fn claudes_file_is_in_the_prompt_where_there_is_no_other() {
    let scene = Scene::new(Wire::Completions, [Turn::text("Hello.")]).await;
    scene.workspace.write("CLAUDE.md", "Use tabs.\n").unwrap();
    scene.omp(&["-p", "hi"]).run().await.exits(0);
    let prompt = scene.last_request().json().unwrap()["messages"][0]["content"].as_str().unwrap().to_owned();
    assert!(prompt.contains("Use tabs."), "{prompt}");
}

#[tokio::test]
async fn the_list_names_imports_plugins_modules_and_named_folders() {
    let workspace = TempWorkspace::new(&[
        ("CLAUDE.md", "Ours\n@docs/build.md\n@~/x.md\n"),
        ("docs/build.md", "Run make."),
        (".omp/extensions/guard.ts", "throw 1"),
    ])
    .unwrap();
    workspace.write_config_yml("skills:\n  customDirectories: [~/mine]\n").unwrap();
    let home = workspace.home();
    let write = |name: &str, text: &str| {
        let path = home.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let plugin = home.join(".claude/plugins/cache/tools");
    let registry = json!({"version": 2, "plugins": {"tools@market": [{"scope": "user", "installPath": plugin}]}});
    write(".claude/plugins/installed_plugins.json", &registry.to_string());
    write(".claude/plugins/cache/tools/commands/ship.md", "Ship");
    write("mine/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads\n---\n");
    write("copilot/AGENTS.md", "Mine");
    let here = workspace.project().canonicalize().unwrap().display().to_string();
    let servers = json!({"projects": {here: {"mcpServers": {"db": {"command": "db"}}}}});
    write(".claude.json", &servers.to_string());
    let sources = |more: &[&str]| {
        let run = Omp::bare(&workspace).args(["config", "sources"]).args(more);
        run.env("COPILOT_CUSTOM_INSTRUCTIONS_DIRS", "~/copilot")
    };
    let run = sources(&[]).run().await.exits(0);
    for part in [
        "AGENTS.md  [user]  ~/copilot/AGENTS.md",
        "build.md in CLAUDE.md  [project]",
        "pdf  [custom, user]  ~/mine/pdf/SKILL.md",
        "tools:ship  [claude-plugins, user]",
        "guard  [native, project]",
        "db  [claude, user]  ~/.claude.json",
    ] {
        assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
    }
    assert!(run.stderr.contains("`@~/x.md` was not imported: it is outside the project"), "{}", run.stderr);
    let run = sources(&["--json"]).run().await.exits(0);
    let told: Value = serde_json::from_str(&run.stdout).unwrap();
    let kinds = |kind: &str| told["items"].as_array().unwrap().iter().filter(|item| item["kind"] == kind).count();
    assert_eq!((kinds("import"), kinds("extension module"), kinds("mcp server")), (1, 1, 1));
}

#[tokio::test]
async fn imports_are_in_the_prompt_and_behind_results() {
    let script = [Turn::call("read", json!({"path": "api/x.txt"})), Turn::text("Done.")];
    let scene = Scene::new(Wire::Completions, script).await;
    for (name, text) in [
        ("CLAUDE.md", "@docs/build.md\n"),
        ("docs/build.md", "Run make first.\n"),
        ("api/CLAUDE.md", "@errors.md\n"),
        ("api/errors.md", "Errors are values here.\n"),
        ("api/x.txt", "text\n"),
    ] {
        scene.workspace.write(name, text).unwrap();
    }
    scene.omp(&["-p", "look"]).run().await.exits(0).prints("Done.\n");
    let request = scene.last_request().json().unwrap();
    let prompt = request["messages"][0]["content"].as_str().unwrap();
    assert!(prompt.contains("Run make first.") && !prompt.contains("Errors are values"), "{prompt}");
    assert!(request.to_string().contains("Errors are values here."), "{request}");
}

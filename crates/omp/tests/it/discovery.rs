//! What a user and a repository bring along, seen through the binary: in the prompt, behind results, on the list.

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
        (".omp/rules/loud.md", "---\ncondition: \"a\\e[31mb\"\n---\nNot so loud.\n"),
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

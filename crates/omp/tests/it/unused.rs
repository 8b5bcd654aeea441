//! What omp finds and does not use is reported, and needs no trust.

use omp_testkit::{Turn, Wire};

use crate::harness::{Omp, Scene};

async fn scene() -> Scene {
    let scene = Scene::new(Wire::Completions, [Turn::text("One.")]).await;
    scene.workspace.write(".mcp.json", r#"{"mcpServers": {"db": {"command": "db-server"}}}"#).unwrap();
    scene.workspace.write(".omp/tools/mine/index.ts", "export default 1").unwrap();
    scene.workspace.write(".omp/agents/helper.md", "---\nname: helper\ndescription: helps\n---\nHelp.").unwrap();
    scene.workspace.write_config_yml("memories: { enabled: true }\n").unwrap();
    scene
}

#[tokio::test]
async fn sources_list_what_is_not_used() {
    let scene = scene().await;
    let shown = Omp::bare(&scene.workspace).args(["config", "sources"]).run().await.exits(0).stdout;
    for part in ["not used: MCP servers (1)", "  db  ", "not used: agents (1)", "  helper  ", "memories.enabled"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let json = Omp::bare(&scene.workspace).args(["config", "sources", "--json"]).run().await.exits(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(
        json["unused"].as_array().unwrap().iter().any(|it| it["name"] == "db" && it["kind"] == "MCP server"),
        "{json}"
    );
}

#[tokio::test]
async fn scripts_are_not_disturbed_and_trust_is_asked_for_what_runs_alone() {
    let scene = scene().await;
    let ran = scene.omp(&["-p", "hi"]).run().await.exits(0);
    assert_eq!(ran.stderr, "");
    let told = Omp::bare(&scene.workspace).args(["trust", "explain"]).run().await.exits(0).stdout;
    assert!(told.contains("It contains nothing that would run."), "{told}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_talk_begins_with_one_line_about_it() {
    let scene = scene().await;
    let (_, shown) = tokio::task::block_in_place(|| {
        crate::terminal::at_a_terminal_bare(
            &scene,
            &["--plain", "--model", "mock/mock-model"],
            "Type a message",
            "exit\n",
        )
    });
    assert!(shown.contains("found but not used: 1 MCP server, "), "{shown}");
    assert!(shown.contains("`omp config sources` lists them"), "{shown}");
}

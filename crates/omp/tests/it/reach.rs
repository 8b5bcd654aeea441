//! What a call can access, through the binary: the workspace of a repository, what an approval adds, links that lead
//! outside.

#![expect(clippy::disallowed_methods, reason = "git is run as the user would run it, beside omp")]

use std::path::Path;
use std::process::Command;

use omp_testkit::{Script, Turn, Wire};
use serde_json::json;

use crate::harness::{QUICK_RETRIES, Scene};

pub fn bash(command: &str) -> Turn {
    Turn::call("bash", json!({"command": command}))
}

pub fn told(scene: &Scene) -> String {
    scene.last_request().json().unwrap()["messages"].to_string()
}

pub fn git(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"];
    let done = Command::new("git").args(identity).args(arguments).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

pub async fn scene(config: &str, turns: impl IntoIterator<Item = Turn>) -> Scene {
    let turns: Vec<Turn> = turns.into_iter().chain([Turn::text("Done.")]).collect();
    let scene = Scene::new(Wire::Anthropic, Script::new(turns)).await;
    scene.workspace.write_config_yml(&format!("{QUICK_RETRIES}{config}")).unwrap();
    scene
}

/// Creates two branches that differ in a file at the top and in one of the folder `sub`.
fn with_branches(project: &Path) {
    std::fs::create_dir(project.join("sub")).unwrap();
    std::fs::write(project.join("top.txt"), "main\n").unwrap();
    std::fs::write(project.join("sub/own.txt"), "main\n").unwrap();
    git(project, &["init", "-q"]);
    git(project, &["add", "."]);
    git(project, &["commit", "-qm", "one"]);
    git(project, &["checkout", "-qb", "other"]);
    std::fs::write(project.join("top.txt"), "other\n").unwrap();
    std::fs::write(project.join("sub/own.txt"), "other\n").unwrap();
    git(project, &["commit", "-qam", "two"]);
    git(project, &["checkout", "-q", "main"]);
}

#[tokio::test]
async fn in_a_folder_of_a_repository_all_of_it_is_the_workspace() {
    let turns = || {
        [
            bash("pwd; git checkout -q other && cat ../top.txt own.txt"),
            bash("echo lock > ../Cargo.lock"),
            Turn::call("write", json!({"path": "../made.txt", "content": "x"})),
        ]
    };
    let wide = scene("", turns()).await;
    let project = wide.workspace.project();
    with_branches(&project);
    let sub = project.join("sub").display().to_string();
    wide.omp(&["--yolo", "--cwd", &sub, "-p", "go"]).run().await.exits(0).prints("Done.\n");
    let read = |name: &str| std::fs::read_to_string(project.join(name)).unwrap_or_default();
    assert!(told(&wide).contains(&format!("{sub}\\nother\\nother")), "{}", told(&wide));
    assert_eq!(["top.txt", "sub/own.txt", "Cargo.lock", "made.txt"].map(read), ["other\n", "other\n", "lock\n", "x"]);

    // The setting restricts the workspace to the folder.
    let narrow = scene("containment: { workspace: folder }\n", turns()).await;
    let project = narrow.workspace.project();
    with_branches(&project);
    let sub = project.join("sub").display().to_string();
    narrow.omp(&["--yolo", "--cwd", &sub, "-p", "go"]).run().await.exits(0).prints("Done.\n");
    assert!(!project.join("Cargo.lock").exists() && !project.join("made.txt").exists(), "{}", told(&narrow));
    assert!(told(&narrow).contains("Cargo.lock (outside the workspace)"), "{}", told(&narrow));
}

#[tokio::test]
async fn guarded_files_that_git_tracks_go_with_its_branches_and_with_nothing_else() {
    let forge = "f=$(printf forged | git hash-object -w --stdin) && git update-index --cacheinfo 100644,$f,.envrc \
                 && git -c user.name=T -c user.email=t@example.com commit -qm forged";
    let scene = scene(
        "",
        [
            bash("git checkout -q other && cat .envrc .husky/pre-commit && git status --porcelain && echo clean"),
            bash("git checkout -q main && git stash list && git status --porcelain && echo again"),
            bash("git --version; python3 -c \"open('.envrc', 'w').write('evil')\""),
            // A commit in one call, and a checkout in another.
            bash(forge),
            bash("git checkout -q -f main && echo gone there"),
        ],
    )
    .await;
    let project = scene.workspace.project();
    let file = |name: &str, text: &str| std::fs::write(project.join(name), text).unwrap();
    file(".envrc", "main\n");
    git(&project, &["init", "-q"]);
    git(&project, &["add", "."]);
    git(&project, &["commit", "-qm", "one"]);
    git(&project, &["checkout", "-qb", "other"]);
    std::fs::create_dir(project.join(".husky")).unwrap();
    file(".envrc", "other\n");
    file(".husky/pre-commit", "hook\n");
    git(&project, &["add", "."]);
    git(&project, &["commit", "-qm", "two"]);
    git(&project, &["checkout", "-q", "main"]);
    scene.omp(&["--yolo", "-p", "go"]).run().await.exits(0).prints("Done.\n");
    let said = told(&scene);
    for expect in ["other\\nhook\\nclean", "again", "gone there"] {
        assert!(said.contains(expect), "{expect}: {said}");
    }
    let note = ".envrc may not be changed: it decides what runs or is allowed, and no commit was found that had it like this \
                when the session began; it was restored, the change is in ";
    assert_eq!(said.matches(note).count(), 2, "{said}");
    assert_eq!(said.matches("hint: nobody can be asked in this run").count(), 2, "{said}");
    let set_aside = std::fs::read_dir(project.join(".git/omp-set-aside")).unwrap();
    let mut texts: Vec<String> =
        set_aside.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
    texts.sort();
    assert_eq!(texts, ["evil", "forged"]);
    assert_eq!(std::fs::read_to_string(project.join(".envrc")).unwrap(), "main\n");
    assert!(!project.join(".husky").exists());
}

#[tokio::test]
async fn a_repository_of_the_home_folder_is_not_the_workspace() {
    let scene = scene("", [bash("echo x > ../outside.txt"), bash("echo x > own.txt")]).await;
    let home = scene.workspace.home();
    let project = home.join("project");
    std::fs::create_dir(&project).unwrap();
    git(&home, &["init", "-q"]);
    scene.omp(&["--yolo", "--cwd", project.to_str().unwrap(), "-p", "go"]).run().await.exits(0).prints("Done.\n");
    assert!(project.join("own.txt").exists() && !home.join("outside.txt").exists(), "{}", told(&scene));
}

#[tokio::test]
async fn rules_of_a_repository_begin_at_its_top_and_what_forbids_in_the_folder_as_well() {
    let config = "tools:\n  approvalMode: always-ask\n  allow: ['write(sub/**)']\n  deny: ['write(no.txt)']\n";
    let write = |path: &str| Turn::call("write", json!({"path": path, "content": "x"}));
    let scene = scene(config, [write("yes.txt"), write("no.txt"), write("../top2.txt")]).await;
    let project = scene.workspace.project();
    with_branches(&project);
    let sub = project.join("sub");
    scene.omp(&["--cwd", sub.to_str().unwrap(), "-p", "go"]).run().await.exits(0).prints("Done.\n");
    let exists = ["sub/yes.txt", "sub/no.txt", "top2.txt"].map(|name| project.join(name).exists());
    assert_eq!(exists, [true, false, false], "{}", told(&scene));
}

#[tokio::test]
async fn a_scope_that_cannot_be_read_ends_the_run() {
    let scene = scene("containment: { workspace: foldr }\n", []).await;
    scene.omp(&["-p", "go"]).run().await.exits(2).complains(&["containment.workspace", "repository"]);
}

//! Tests `find` as the agent loop calls it, on real folder trees.

mod after_writes;

use std::time::SystemTime;

use omp_agent::AnyTool;
use omp_types::Content;
use omp_workspace::ScanPolicy;
use serde_json::{Value, json};

use super::*;

/// Creates files, listed from newest to oldest.
fn tree(files: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (age, path) in files.iter().enumerate() {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let file = std::fs::File::create(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(60 * age as u64)).unwrap();
    }
    folder
}

async fn says(folder: &Path, arguments: Value) -> String {
    let find = Find::new(Arc::new(Files::new(folder, None)));
    match crate::scratch::run(&find, arguments, &ToolCx::detached("call")).await {
        Ok(output) => output.content.iter().filter_map(Content::as_text).collect(),
        Err(error) => format!("ERROR {error}"),
    }
}

#[tokio::test]
async fn finds_what_was_meant() {
    let tree = tree(&["src/new.rs", "a.rs", "src/deep/b.rs", ".hidden/c.rs", "old.txt", ".git/d.rs", "out/e.rs"]);
    std::fs::write(tree.path().join(".ignore"), "out\n").unwrap();
    for (arguments, expect) in [
        (json!({"paths": ["*.rs"]}), "src/new.rs\na.rs\nsrc/deep/b.rs\n.hidden/c.rs"),
        (json!({"paths": ["*.rs"], "hidden": false}), "src/new.rs\na.rs\nsrc/deep/b.rs"),
        (json!({"paths": ["src/*.rs"]}), "src/new.rs"),
        (json!({"paths": ["src"]}), "src/new.rs\nsrc/deep/b.rs"),
        (json!({"paths": ["old.txt", "src/**/b*"]}), "src/deep/b.rs\nold.txt"),
        (json!({"paths": ["a.rs"]}), "a.rs"),
        (
            json!({"paths": ["*.rs"], "limit": 2.9}),
            "src/new.rs\na.rs\n[2 older files left out (limit 2); narrow the glob to see them]",
        ),
        (json!({"paths": ["*.none"]}), "No files found matching pattern"),
        (json!({"paths": ["a.rs", "gone"]}), "a.rs\nSkipped missing paths: gone"),
        (json!({"paths": ["*.none", "gone/*"]}), "No files found matching pattern\nSkipped missing paths: gone/*"),
        (json!({"paths": ["/"]}), "ERROR Searching from root directory '/' is not allowed"),
        (json!({"paths": [""]}), "ERROR `paths` must contain non-empty globs or paths"),
        (json!({"paths": ["a.rs"], "limit": 0}), "ERROR Limit must be a positive number"),
        (json!({"paths": ["a.rs/*.x"]}), "ERROR Path is not a directory: a.rs"),
    ] {
        assert_eq!(says(tree.path(), arguments.clone()).await, expect, "{arguments}");
    }
    assert!(says(tree.path(), json!({"paths": ["gone"]})).await.starts_with("ERROR Path not found: gone\nhint: "));
    assert!(says(tree.path(), json!({"paths": ["[z-a]"]})).await.contains("is not a valid glob"));
}

#[tokio::test]
async fn long_lists_are_cut_at_whole_lines() {
    let names: Vec<String> = (0..300).map(|number| format!("{}{number:03}", "x".repeat(220))).collect();
    let tree = tree(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let text = says(tree.path(), json!({"paths": ["."]})).await;
    let (list, note) = text.rsplit_once('\n').unwrap();
    assert!(list.len() <= MAX_BYTES && list.lines().all(|line| names.iter().any(|name| name == line)));
    assert_eq!(
        note,
        format!("[{} older files left out (50KB of output); narrow the glob to see them]", 300 - list.lines().count())
    );
}

#[tokio::test]
async fn the_card_lists_the_files() {
    let tree = tree(&["a", "b"]);
    let find = Find::new(Arc::new(Files::new(tree.path(), None)));
    let arguments = json!({"paths": ["*"]});
    let output = crate::scratch::run(&find, arguments.clone(), &ToolCx::detached("call")).await.unwrap();
    let details = output.details.unwrap();
    let view = AnyTool::render(&find, &arguments, Outcome::Done { details: &details, is_error: false });
    assert_eq!((view.title.as_str(), view.notes.join("; ").as_str()), ("find *", "2 files"));
    assert_eq!(view.blocks, [omp_view::Block::Lines { lines: vec!["a".into(), "b".into()], hidden: 0 }]);
}

/// Caches scans until a change is reported.
const STEADY: ScanPolicy = ScanPolicy {
    ttl: Duration::from_secs(600),
    empty_recheck: Duration::from_secs(600),
    max_scans: 16,
    max_entries: 1000,
};

async fn count(files: &Arc<Files>) -> usize {
    let found =
        crate::scratch::run(&Find::new(files.clone()), json!({"paths": ["*"]}), &ToolCx::detached("call")).await;
    found.unwrap().details.unwrap()["fileCount"].as_u64().unwrap() as usize
}

#[tokio::test]
async fn a_walk_is_shared_until_something_changes() {
    let tree = tree(&["a"]);
    let files = Arc::new(Files::new(tree.path(), None).with_scan_policy(STEADY));
    let search = crate::Search::new(files.clone());
    crate::scratch::run(&search, json!({"pattern": "x"}), &ToolCx::detached("call")).await.unwrap();
    let write = |name: &str| std::fs::write(tree.path().join(name), "").unwrap();
    write("b");
    assert_eq!(count(&files).await, 1, "the walk of the search still serves");
    files.changed(&tree.path().join("b"));
    assert_eq!(count(&files).await, 2);
    let command = files.anything_may_change();
    write("c");
    assert_eq!(count(&files).await, 2, "the command is still running");
    drop(command);
    assert_eq!(count(&files).await, 3);
}

#[tokio::test]
async fn huge_trees_are_cut_and_that_is_said() {
    let tree = tree(&["a.js", "b.js", "c.js", "d.js", "e.js", "f.js"]);
    let policy = ScanPolicy { max_entries: 4, ..STEADY };
    let files = Arc::new(Files::new(tree.path(), None).with_scan_policy(policy));
    let search: Arc<dyn AnyTool> = Arc::new(crate::Search::new(files.clone()));
    let ast_grep: Arc<dyn AnyTool> = Arc::new(crate::AstGrep { files: files.clone() });
    let find: Arc<dyn AnyTool> = Arc::new(Find::new(files));
    let calls = [(find, json!({"paths": ["."]})), (search, json!({"pattern": "x"})), (ast_grep, json!({"pat": "x()"}))];
    for (tool, arguments) in calls {
        let output = crate::scratch::run(&*tool, arguments, &ToolCx::detached("call")).await.unwrap();
        let text: String = output.content.iter().filter_map(Content::as_text).collect();
        assert!(text.contains("[Only 4 files and folders were searched, there are more"), "{text}");
    }
}

#[tokio::test]
async fn only_a_list_of_nothing_is_useless() {
    let tree = tree(&["a.rs"]);
    let find = Find::new(Arc::new(Files::new(tree.path(), None)));
    for (paths, useless) in [(json!(["*.none"]), true), (json!(["*.rs"]), false), (json!(["*.none", "gone/*"]), false)]
    {
        let output = crate::scratch::run(&find, json!({"paths": paths}), &ToolCx::detached("call")).await.unwrap();
        assert_eq!(output.useless, useless, "{paths}");
    }
}

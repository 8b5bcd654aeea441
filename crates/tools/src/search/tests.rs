//! Tests `search` as the agent loop calls it, on real folder trees.

use std::path::Path;

use omp_agent::{AnyTool, ToolOutput};
use omp_types::Content;
use omp_workspace::{FileSnapshot, TextFile};
use serde_json::{Value, json};

use super::*;

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

async fn call(folder: &Path, arguments: Value) -> Result<ToolOutput, ToolError> {
    let search = Search::new(Arc::new(Files::new(folder, None)));
    crate::scratch::run(&search, arguments, &ToolCx::detached("call")).await
}

async fn says(folder: &Path, arguments: Value) -> String {
    match call(folder, arguments).await {
        Ok(output) => output.content.iter().filter_map(Content::as_text).collect(),
        Err(error) => format!("ERROR {error}"),
    }
}

fn tag(text: &str) -> String {
    TextFile::parse(text.as_bytes()).tag().to_string()
}

#[tokio::test]
async fn matches_come_ready_for_editing() {
    let (a, b) = ("one\ntwo needle\nthree\nfour\nfive\nsix\n", "needle\n");
    let tree = tree(&[("src/a.txt", a), ("b.txt", b), (".git/config", "needle")]);
    let text = says(tree.path(), json!({"pattern": "needle"})).await;
    let (a, b) = (tag(a), tag(b));
    assert_eq!(
        text,
        format!("[b.txt#{b}]\n*1:needle\n\n[src/a.txt#{a}]\n 1:one\n*2:two needle\n 3:three\n 4:four\n 5:five\n")
    );
}

#[tokio::test]
async fn shown_lines_are_remembered() {
    let content = "one\ntwo needle\nthree\nfour\nfive\nsix\n";
    let tree = tree(&[("a.txt", content)]);
    let files = Arc::new(Files::new(tree.path(), None));
    crate::scratch::run(&Search::new(files.clone()), json!({"pattern": "needle"}), &ToolCx::detached("call"))
        .await
        .unwrap();
    let path = files.resolve("a.txt").unwrap().absolute;
    let Some(FileSnapshot::Lines(lines)) = files.snapshot(&path, TextFile::parse(content.as_bytes()).tag()) else {
        panic!()
    };
    assert_eq!(
        lines.iter().map(|(at, line)| format!("{at}{line} ")).collect::<String>(),
        "1one 2two needle 3three 4four 5five "
    );
}

#[tokio::test]
async fn pages_say_how_to_go_on() {
    let many = "needle\n".repeat(250);
    let tree = tree(&[("a", &many), ("z", "needle\n")]);
    let first = says(tree.path(), json!({"pattern": "needle"})).await;
    assert!(first.ends_with("\n[Matches 1-100 of 251 in 2 files; next page: skip=100]"), "{first}");
    assert!(first.contains("\n[z#"), "every file is on the first page");
    let last = says(tree.path(), json!({"pattern": "needle", "skip": 200})).await;
    assert!(last.ends_with("*250:needle\n\n[Matches 201-251 of 251 in 2 files]"), "{last}");
    let over = says(tree.path(), json!({"pattern": "needle", "skip": 300})).await;
    assert_eq!(over, "No more matches: there are 251, 300 were skipped");
}

#[tokio::test]
async fn long_lines_shrink_the_page_not_the_count() {
    let wide = format!("needle{}\n", "x".repeat(2000)).repeat(100);
    let tree = tree(&[("wide", &wide)]);
    let text = says(tree.path(), json!({"pattern": "needle"})).await;
    assert!(text.len() <= crate::output_sink::MAX_BYTES, "{}", text.len());
    assert!(
        text.contains("[Matches 1-25 of 100 in 1 file; next page: skip=25]\n[Lines over 1024"),
        "{}",
        &text[text.len() - 300..]
    );
}

#[tokio::test]
async fn problems_are_explained() {
    let tree = tree(&[("a", "needle ${x}\n")]);
    let at = tree.path();
    for (arguments, expect) in [
        (json!({"pattern": "nothing"}), "No matches found"),
        (json!({"pattern": "nothing", "paths": ["a", "gone"]}), "No matches found\nSkipped missing paths: gone"),
        (json!({"pattern": "  "}), "ERROR Pattern must not be empty"),
        (json!({"pattern": "x", "skip": -1}), "ERROR Skip must be a non-negative number"),
        (json!({"pattern": "x", "paths": [" "]}), "ERROR `paths` must contain non-empty paths or globs"),
        (json!({"pattern": "x", "paths": []}), "ERROR `paths` must contain non-empty paths or globs"),
    ] {
        assert_eq!(says(at, arguments.clone()).await, expect, "{arguments}");
    }
    for (arguments, part) in [
        (json!({"pattern": "x", "paths": ["gone"]}), "ERROR Path not found: gone\nhint: "),
        (json!({"pattern": "x", "paths": ["a/*.rs"]}), "ERROR Path is not a directory: a"),
        (json!({"pattern": "*x"}), "ERROR Invalid regex \"*x\": repetition operator missing expression\nhint: "),
        (
            json!({"pattern": "${x}"}),
            "*1:needle ${x}\n\nThe pattern does not parse as a regex; its braces were taken literally",
        ),
        (json!({"pattern": "NEEDLE", "i": true}), "*1:needle"),
    ] {
        let text = says(at, arguments.clone()).await;
        assert!(text.contains(part), "{arguments}: {text}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn special_files_are_refused_by_name() {
    let tree = tree(&[]);
    std::os::unix::fs::symlink("/dev/null", tree.path().join("device")).unwrap();
    let text = says(tree.path(), json!({"pattern": "x", "paths": ["device"]})).await;
    assert!(text.starts_with("ERROR device is a"), "{text}");
}

#[tokio::test]
async fn details_and_view_agree() {
    let tree = tree(&[("a", "needle\nneedle\n")]);
    let output = call(tree.path(), json!({"pattern": "needle", "paths": ["*"]})).await.unwrap();
    let details = output.details.unwrap();
    assert_eq!(details["fileMatches"], json!([{"path": "a", "count": 2}]));
    let search = Search::new(Arc::new(Files::new(tree.path(), None)));
    let arguments = json!({"pattern": "needle"});
    let view = AnyTool::render(&search, &arguments, Outcome::Done { details: &details, is_error: false });
    assert_eq!((view.title.as_str(), view.notes.join("; ").as_str()), ("search needle", "in **/*; 2 matches; 1 file"));
}

#[tokio::test]
async fn work_is_told_to_stop_when_nobody_waits_for_it() {
    let (ended, end) = tokio::sync::oneshot::channel();
    let work = move |stop: omp_workspace::StopCheck<'_>| {
        while !stop() {
            std::thread::yield_now();
        }
        ended.send(()).map_err(|()| ToolError::reply("nobody listens"))
    };
    let mut call = Box::pin(run_with_stop(Duration::from_secs(600), work));
    assert!(futures_util::poll!(&mut call).is_pending());
    drop(call);
    end.await.unwrap();
}

#[tokio::test]
async fn only_a_search_that_found_nothing_at_all_is_useless() {
    let tree = tree(&[("a/b.txt", "needle")]);
    for (arguments, useless) in [
        (json!({"pattern": "nothing"}), true),
        (json!({"pattern": "needle"}), false),
        (json!({"pattern": "needle", "skip": 9}), false),
        // The result names the missing path.
        (json!({"pattern": "nothing", "paths": ["a", "gone"]}), false),
    ] {
        assert_eq!(call(tree.path(), arguments.clone()).await.unwrap().useless, useless, "{arguments}");
    }
}

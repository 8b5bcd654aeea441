//! The tools on files that are not ordinary text: nothing blocks, nothing fills the memory, every call gets a result.

use std::fs::File;
use std::io::Write;

use omp_testkit::{Turn, Wire};
use omp_types::{Content, Message};
use serde_json::{Value, json};

use crate::harness::{Omp, Scene};

/// The memory limit of a run in KiB. The system kills a run that needs more.
const MEMORY: &str = "ulimit -d 262144; exec \"$@\"";

/// Runs each call in its own turn. Returns its result, and whether it failed.
async fn answers(scene: &Scene) -> Vec<(String, bool)> {
    let ran = Omp::behind(MEMORY, &scene.workspace, &["-p", "try"]).run().await;
    ran.exits(0).prints("Done.\n");
    let results = scene.messages();
    let results = results.iter().filter_map(|message| match message {
        Message::ToolResult(result) => {
            Some((result.content.iter().filter_map(Content::as_text).collect::<String>(), result.is_error))
        }
        _ => None,
    });
    results.collect()
}

async fn scene(calls: &[(&str, Value)]) -> Scene {
    let turns = calls.iter().map(|(tool, arguments)| Turn::call(tool, arguments.clone()));
    let scene = Scene::new(Wire::Anthropic, omp_testkit::Script::new(turns.chain([Turn::text("Done.")]))).await;
    nix::unistd::mkfifo(&scene.workspace.path("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    scene
}

#[tokio::test]
async fn reading_what_is_no_text_is_answered() {
    let read = |path: &str| ("read", json!({"path": path}));
    let calls = [
        read("pipe"),
        read("/dev/zero"),
        read("/dev/tty"),
        read("binary"),
        read("gone"),
        read("."),
        read("loop"),
        read(""),
    ];
    let scene = scene(&calls).await;
    scene.workspace.write("binary", b"\x7fELF\x02\x01\0\0\xff\xfe\0\0").unwrap();
    std::os::unix::fs::symlink("loop", scene.workspace.path("loop")).unwrap();
    let answers = answers(&scene).await;
    for (position, words) in [(0, "pipe"), (1, "/dev/zero"), (2, "/dev/tty"), (4, "gone"), (6, "loop")] {
        let (text, failed) = &answers[position];
        assert!(*failed && text.contains(words), "{words}: {text}");
    }
    assert!(answers[3].0.contains("binary"), "{:?}", answers[3]);
    assert!(!answers[5].1 && answers[5].0.contains("a.txt"), "{:?}", answers[5]);
    assert_eq!(answers.len(), calls.len());
}

#[tokio::test]
async fn a_line_of_a_gigabyte_is_read_in_part() {
    let calls = [
        ("read", json!({"path": "sparse"})),
        ("read", json!({"path": "line"})),
        ("read", json!({"path": "line:2-3"})),
        ("search", json!({"pattern": "needle", "paths": ["."]})),
        ("bash", json!({"command": "head -c 40000000 /dev/zero | tr '\\0' x"})),
    ];
    let scene = scene(&calls).await;
    File::create(scene.workspace.path("sparse")).unwrap().set_len(1 << 30).unwrap();
    let mut line = File::create(scene.workspace.path("line")).unwrap();
    line.write_all("needle ".repeat(1000).as_bytes()).unwrap();
    let filler = vec![b'y'; 1 << 20];
    for _ in 0..48 {
        line.write_all(&filler).unwrap();
    }
    drop(line);
    let answers = answers(&scene).await;
    assert_eq!(answers.len(), calls.len());
    for (text, _) in &answers {
        assert!(text.len() < 64 << 10, "{} bytes: {}", text.len(), text.chars().take(300).collect::<String>());
    }
    assert!(answers[1].0.contains("needle"), "{}", answers[1].0);
}

#[tokio::test]
async fn writing_to_what_is_no_file_is_answered() {
    let calls = [
        ("write", json!({"path": "pipe", "content": "x"})),
        ("write", json!({"path": "/dev/full", "content": "x"})),
        ("write", json!({"path": "a.txt/inner", "content": "x"})),
        ("write", json!({"path": "/proc/nothing/x", "content": "x"})),
        ("edit", json!({"input": "[pipe]\nBOF↓x"})),
    ];
    let scene = scene(&calls).await;
    for ((text, failed), (tool, arguments)) in answers(&scene).await.iter().zip(&calls) {
        assert!(*failed, "{tool} {arguments}: {text}");
    }
    assert_eq!(scene.workspace.read("a.txt").unwrap(), "one\ntwo\nthree\n");
}

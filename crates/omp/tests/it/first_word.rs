//! Words that look like subcommands never reach the model.

use omp_testkit::{Turn, Wire};

use crate::harness::{Omp, Scene, outline};

/// Every subcommand of the reference that omp does not have.
const MISSING: &str = "accounts agents auth-broker auth-gateway bench browser-relay cleanse commit compress dry-balance \
     extensions gallery gc grievances install join launch login logout mcp models plugin q relay say share shell ssh \
     stats tiny-models token update usage worktree wt";

async fn scene() -> Scene {
    Scene::new(Wire::Completions, ["One.", "Two.", "Three.", "Four."].map(Turn::text)).await
}

#[tokio::test]
async fn no_reserved_word_is_sent_to_a_model() {
    let scene = scene().await;
    for word in MISSING.split_whitespace() {
        let bare = Omp::bare(&scene.workspace).args([word]).run().await.exits(2).prints("");
        bare.complains(&[&format!("unknown command `omp {word}`"), "hint: ", &format!("omp -- {word}")]);
        let ran = Omp::bare(&scene.workspace).args([word, "list"]).run().await.exits(2);
        ran.complains(&[&format!("omp \"{word} list\"")]);
    }
    for args in [&["-p", "usage"][..], &["--mode", "json", "commit"], &["-p", "sessions", "list"]] {
        scene.omp(args).run().await.exits(2).complains(&["hint: to send it as a message: omp"]);
    }
    assert!(scene.server.requests().is_empty());
    assert!(scene.workspace.session_files().unwrap().is_empty());
}

#[tokio::test]
async fn a_mistyped_subcommand_is_told() {
    let scene = scene().await;
    for (args, meant) in [
        (&["sesions", "list"][..], "omp sessions"),
        (&["doctr"], "omp doctor"),
        (&["grpe", "foo"], "omp grep"),
        (&["sess"], "omp sessions"),
    ] {
        let ran = Omp::bare(&scene.workspace).args(args).run().await.exits(2);
        ran.complains(&[&format!("hint: did you mean `{meant}`?"), "hint: to send it as a message: omp"]);
    }
    assert!(scene.server.requests().is_empty());
}

#[tokio::test]
async fn what_is_meant_is_sent() {
    let scene = scene().await;
    scene.omp(&["-p", "--", "usage"]).run().await.exits(0).prints("One.\n");
    scene.omp(&["-c", "-p", "commit the changes"]).run().await.exits(0).prints("Two.\n");
    scene.omp(&["-c", "-p", "fix", "it"]).run().await.exits(0).prints("Three.\n");
    let said: Vec<String> = outline(&scene.messages()).into_iter().filter(|line| line.starts_with("user")).collect();
    assert_eq!(said, ["user: usage", "user: commit the changes", "user: fix it"]);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_a_terminal_a_slip_is_asked_about() {
    use crate::terminal::at_a_terminal_bare;
    let scene = scene().await;
    let asked = |answer: &str| {
        tokio::task::block_in_place(|| at_a_terminal_bare(&scene, &["confg", "path"], "Did you mean", answer))
    };
    let (done, shown) = asked("y\n");
    assert!(done && shown.contains("omp config path") && shown.contains("config.yml"), "{shown}");
    let (done, shown) = asked("\x1b");
    assert!(!done && shown.contains("hint: did you mean `omp config`?") && !shown.contains("^["), "{shown}");
    let (done, shown) = asked("n\n");
    assert!(!done && shown.contains("hint: did you mean `omp config`?"), "{shown}");
    assert!(scene.server.requests().is_empty());
}

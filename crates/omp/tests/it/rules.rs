//! Rules through the binary: in the prompt, through `rule://`, on the stream, and `omp ttsr`.

use omp_testkit::{Text, Turn, Wire};
use serde_json::{Value, json};

use crate::harness::{Omp, Scene, outline};

const NO_FOO: &str = "---\ncondition: '\\bfoo\\b'\nscope: text\n---\nSay bar instead.\n";
const STYLE: &str = "---\ndescription: How Rust is written here\nglobs: '*.rs'\n---\nUse tabs, says the rulebook.\n";

fn words(text: &str) -> Turn {
    Turn::text(Text::Chunks(text.split_inclusive(' ').map(str::to_owned).collect()))
}

fn put(scene: &Scene, name: &str, text: &str) {
    let folder = scene.workspace.project().join(".omp/rules");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name), text).unwrap();
}

trait Said {
    fn text(&self) -> String;
}

impl Said for omp_testkit::RecordedRequest {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

fn frames(stdout: &str) -> Vec<Value> {
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn an_answer_is_stopped_told_and_goes_on() {
    let scene =
        Scene::new(Wire::Anthropic, [words("I say foo now and then some"), words("I say bar"), words("foo again")])
            .await;
    put(&scene, "no-foo.md", NO_FOO);
    let run = scene.omp(&["--mode", "json", "-p", "hi"]).run().await;
    assert!(run.status.success(), "{}", run.stderr);
    let frames = frames(&run.stdout);
    let fired: Vec<&Value> = frames.iter().filter(|frame| frame["type"] == "ttsr_triggered").collect();
    assert_eq!(fired.len(), 1);
    assert_eq!(fired[0]["rules"][0]["name"], "no-foo");
    assert_eq!(fired[0]["rules"][0]["condition"], json!([r"\bfoo\b"]));
    assert_eq!(outline(&scene.messages()), ["user: hi", "custom", "assistant: I say bar"]);
    let asked = scene.last_request().text();
    assert!(asked.contains("Say bar instead.") && !asked.contains("I say foo"), "{asked}");
    // The session remembers that the rule was sent.
    let again = scene.omp(&["-c", "-p", "more"]).run().await;
    assert_eq!((again.stdout.as_str(), again.status.success()), ("foo again\n", true), "{}", again.stderr);
}

#[tokio::test]
async fn no_rules_means_none() {
    let scene = Scene::new(Wire::Anthropic, [words("I say foo now"), words("bar")]).await;
    put(&scene, "no-foo.md", NO_FOO);
    put(&scene, "style.md", STYLE);
    let run = scene.omp(&["--no-rules", "-p", "hi"]).run().await;
    assert_eq!(run.stdout, "I say foo now\n", "{}", run.stderr);
    assert!(!scene.last_request().text().contains("How Rust is written here"));
}

#[tokio::test]
async fn the_rulebook_is_listed_and_read() {
    let scene = Scene::new(Wire::Anthropic, [Turn::call("read", json!({"path": "rule://style"})), words("done")]).await;
    put(&scene, "style.md", STYLE);
    put(&scene, "always.md", "---\nalwaysApply: true\n---\nAnswer in verse.\n");
    let run = scene.omp(&["-p", "hi"]).run().await;
    assert_eq!(run.stdout, "done\n", "{}", run.stderr);
    let asked = scene.last_request().text();
    for told in ["How Rust is written here", "Answer in verse.", "Use tabs, says the rulebook."] {
        assert!(asked.contains(told), "{told} is not in {asked}");
    }
}

#[tokio::test]
async fn a_built_in_rule_keeps_placeholders_out_of_files() {
    let call = |content: &str| Turn::call("write", json!({"path": "a.py", "content": content}));
    let scene = Scene::new(
        Wire::Anthropic,
        [call("def a():\n    # ... existing code here\n"), call("def a(): pass\n"), words("done")],
    )
    .await;
    let run = scene.omp(&["--yolo", "-p", "hi"]).run().await;
    assert_eq!(run.stdout, "done\n", "{}", run.stderr);
    assert!(run.stderr.contains("rule broken: no-elided-code"), "{}", run.stderr);
    assert_eq!(std::fs::read_to_string(scene.workspace.project().join("a.py")).unwrap(), "def a(): pass\n");
}

#[tokio::test]
async fn a_projects_rule_takes_the_place_of_the_users_only_where_it_is_trusted() {
    let foo = || words("I say foo now and then some");
    let call = |content: &str| Turn::call("write", json!({"path": "a.py", "content": content}));
    let turns = [foo(), words("I say bar"), call("# ... existing code here\n"), words("done"), foo(), words("-")];
    let scene = Scene::new(Wire::Anthropic, turns).await;
    let mine = scene.workspace.agent_dir().join("rules");
    std::fs::create_dir_all(&mine).unwrap();
    std::fs::write(mine.join("no-foo.md"), NO_FOO).unwrap();
    put(&scene, "no-foo.md", "---\ncondition: never-said\nscope: text\n---\nNothing.\n");
    put(&scene, "no-elided-code.md", "---\ncondition: never-said\nscope: text\n---\nNothing.\n");
    let run = scene.omp(&["-p", "hi"]).run().await.exits(0);
    assert_eq!(run.stdout, "I say bar\n", "{run}");
    assert!(run.stderr.contains("because not trusted: rule no-elided-code, rule no-foo"), "{run}");
    let omp = |args: &[&str]| Omp::bare(&scene.workspace).args(args);
    let list = omp(&["ttsr", "list"]).run().await.exits(0).stdout;
    assert!(list.contains(r"\bfoo\b") && list.contains("ignored until the folder is trusted: no-foo"), "{list}");
    let told = omp(&["trust", "explain"]).run().await.exits(0).stdout;
    assert!(told.contains("replaces your rule") && told.contains("omp's own rule no-elided-code"), "{told}");
    omp(&["trust", "add"]).run().await.exits(0);
    let run = scene.omp(&["--yolo", "-p", "hi there", "hi"]).run().await.exits(0);
    assert_eq!(run.stdout, "I say foo now and then some\n", "{run}");
    assert_eq!(scene.workspace.read("a.py").unwrap(), "# ... existing code here\n");
}

#[tokio::test]
async fn a_project_cannot_switch_off_the_users_rules_with_their_provider() {
    let scene = Scene::new(Wire::Anthropic, [words("I say foo now and then some"), words("I say bar")]).await;
    let mine = scene.workspace.agent_dir().join("rules");
    std::fs::create_dir_all(&mine).unwrap();
    std::fs::write(mine.join("no-foo.md"), NO_FOO).unwrap();
    std::fs::create_dir_all(scene.workspace.project().join(".omp")).unwrap();
    scene
        .workspace
        .write(".omp/config.yml", "disabledProviders: [native]\ndisabledExtensions: ['rule:no-foo']\n")
        .unwrap();
    let run = scene.omp(&["-p", "hi"]).run().await.exits(0);
    assert_eq!(run.stdout, "I say bar\n", "{run}");
}

#[tokio::test]
async fn ttsr_tries_a_rule_on_files_and_sessions() {
    let scene = Scene::new(Wire::Anthropic, [words("I say foo now and then"), words("bar")]).await;
    put(&scene, "no-foo.md", NO_FOO);
    put(&scene, "broken.md", "---\ncondition: 'a(?=b)'\n---\nx\n");
    let run = scene.omp(&["-p", "hi"]).run().await;
    assert!(run.stderr.contains("rule `broken`") && run.stderr.contains("look-around"), "{}", run.stderr);
    let session = scene.session_file().display().to_string();
    let project = scene.workspace.project();
    std::fs::write(project.join("b.txt"), "one\na foo\nthree\n").unwrap();
    let ttsr = |args: &[&str]| Omp::bare(&scene.workspace).args([&["ttsr"], args].concat());
    let rule = ".omp/rules/no-foo.md";
    for (args, code, told) in [
        (&["test", rule, "b.txt"][..], 0, "fires on b.txt\nin text\n  2: a foo\n"),
        (&["test", "no-foo", "b.txt"], 0, "fires on b.txt"),
        (&["test", rule, "a.txt"], 1, "does not fire on a.txt"),
        (&["test", rule, session.as_str()], 0, "in text\n  1: I say foo"),
        (&["list"], 0, r"condition     \bfoo\b"),
        (&["list"], 0, "no-elided-code"),
    ] {
        let run = ttsr(args).run().await;
        assert_eq!(run.status.code(), Some(code), "{args:?} {} {}", run.stdout, run.stderr);
        assert!(run.stdout.contains(told), "{args:?}: {}", run.stdout);
    }
    for (args, told) in [
        (&["test", "nothing.md", "a.txt"][..], "no rule or rule file `nothing.md`"),
        (&["test", rule, "nothing.txt"], "cannot read"),
        (&["test", ".omp/rules/broken.md", "a.txt"], "look-around"),
    ] {
        let run = ttsr(args).run().await;
        assert_eq!(run.status.code(), Some(2), "{args:?} {}", run.stderr);
        assert!(
            run.stderr.contains(told) && run.stderr.contains("hint:") | told.starts_with("cannot"),
            "{}",
            run.stderr
        );
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_terminal_names_the_rule_and_shows_no_failure() {
    let scene = Scene::new(Wire::Anthropic, [words("I say foo now and then some"), words("I say bar")]).await;
    put(&scene, "no-foo.md", NO_FOO);
    crate::seat::at_a_seat(|| {
        let seat = crate::seat::Seat::ready(&scene, &[]);
        seat.says("hi", "I say bar");
        let shown = seat.all();
        assert!(shown.contains("⚑ rule broken: no-foo; the answer was stopped"), "{shown}");
        assert!(!shown.contains("⏹ interrupted") && !shown.contains("Say bar instead"), "{shown}");
        seat.keys("\x0f");
        seat.until("Say bar instead.");
    })
    .await;
}

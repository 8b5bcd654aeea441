//! Invalid input and failing machines: each gives an error that says what, why and what to do.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use omp_testkit::{Script, TempWorkspace, Text, Turn, Wire};

use crate::harness::{Omp, Scene, messages_in, outline};

async fn scene() -> Scene {
    Scene::new(Wire::Anthropic, [Turn::text("Hello."), Turn::text("Again.")]).await
}

/// Checks that nothing is sent or printed and that standard error contains the words.
async fn refuses(args: &[&str], words: &[&str]) {
    let scene = scene().await;
    nix::unistd::mkfifo(&scene.workspace.path("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    scene.workspace.write("binary", b"\x7fELF\xff\xfe\0\0").unwrap();
    scene.workspace.write("broken.yml", "a: [1,\n").unwrap();
    Omp::bare(&scene.workspace).args(args).run().await.exits(2).prints("").complains(words);
    assert!(scene.server.requests().is_empty(), "{args:?}");
    assert!(scene.workspace.session_files().unwrap().is_empty(), "{args:?}");
}

#[tokio::test]
async fn bad_usage_is_refused_with_a_hint() {
    const MOCK: &str = "mock/mock-model";
    let rows: &[(&[&str], &[&str])] = &[
        (
            &["-p", "hi", "--model", "mock/mock-modle"],
            &["unknown model", "mock-modle", "hint: did you mean `mock/mock-model`?"],
        ),
        (
            &["-p", "hi", "--model", "anthropic/claude-sonnet-4-5"],
            &["no API key", "hint: set ANTHROPIC_OAUTH_TOKEN or ANTHROPIC_API_KEY"],
        ),
        (&["-p", "hi", "--model", "mock/mock-model:hgih"], &["hgih", "hint: use off, minimal"]),
        (&["-p", "hi", "--api-key", "x"], &["hint: "]),
        (&["-p", "--model", MOCK], &["no message given", "hint: run omp -p"]),
        (&[], &["hint: "]),
        (
            &["-p", "hi", "--model", MOCK, "--system-prompt", "prompts/nope.md"],
            &["the prompt file `prompts/nope.md` does not exist", "hint: "],
        ),
        (
            &["-p", "hi", "--model", MOCK, "--append-system-prompt", "nope.txt"],
            &["`nope.txt` does not exist", "hint: "],
        ),
        (&["-p", "hi", "--model", MOCK, "--system-prompt", "./"], &["`./` is a folder", "hint: "]),
        (&["-p", "--model", MOCK, "@gone"], &["cannot attach", "gone", "hint: "]),
        (&["-p", "--model", MOCK, "@pipe"], &["cannot attach", "pipe", "hint: "]),
        (&["-p", "--model", MOCK, "@/dev/zero"], &["cannot attach /dev/zero", "hint: "]),
        (&["-p", "--model", MOCK, "@."], &["cannot attach", "hint: "]),
        (&["-p", "--model", MOCK, "@binary"], &["neither text nor an image", "hint: "]),
        (&["-p", "hi", "--nonsense"], &["omp: unknown flag `--nonsense`\nhint: see `omp --help all`"]),
        (&["-p", "hi", "--modle", "x"], &["hint: did you mean `--mode` or `--model`?"]),
        (&["-p", "hi", "--no-lsp"], &["omp: unknown flag `--no-lsp`\nhint: leave it out"]),
        (&["--mode", "acp"], &["hint: `omp acp` serves an editor"]),
        (&["-p", "hi", "--mode", "xml"], &["xml", "hint: use one of text, json, rpc"]),
        (&["-p", "hi", "--thinking", "lots"], &["lots", "medium"]),
        (&["-p", "hi", "--max-time", "soon"], &["soon", "use ms, s, m or h"]),
        (&["-p", "hi", "--continue", "--no-session"], &["--no-session", "cannot be used with", "hint: "]),
        (&["-p", "hi", "--cwd", "gone"], &["cannot work in", "gone", "hint: "]),
        (&["-p", "hi", "--cwd", "a.txt"], &["cannot work in", "not a folder", "hint: "]),
        (&["-p", "hi", "--model", MOCK, "--config", "gone.yml"], &["gone.yml", "hint: "]),
        (&["-p", "hi", "--model", MOCK, "--config", "broken.yml"], &["broken.yml", "hint: "]),
        (&["-p", "hi", "--provider", "nobody", "--model", "x"], &["nobody", "hint: "]),
    ];
    for (args, words) in rows {
        refuses(args, words).await;
    }
}

#[tokio::test]
async fn a_home_without_anything_says_how_to_begin() {
    let workspace = TempWorkspace::new(&[]).unwrap();
    let ran = Omp::bare(&workspace).args(["-p", "hi"]).run().await;
    ran.exits(2).complains(&["no model", "hint: set a key such as ANTHROPIC_API_KEY"]);
}

#[tokio::test]
async fn broken_settings_are_named() {
    for (yaml, words) in [
        ("retry: [1,\n", "config.yml:1:8: not valid YAML: "),
        ("- a\n- b\n", "config.yml"),
        ("a: \u{1}\n", "config.yml:1:4: "),
    ] {
        let scene = scene().await;
        scene.workspace.write_config_yml(yaml).unwrap();
        scene.omp(&["-p", "hi"]).run().await.exits(2).complains(&[words, "hint: "]);
    }
    let scene = scene().await;
    std::fs::remove_file(scene.workspace.agent_dir().join("config.yml")).unwrap();
    std::fs::create_dir(scene.workspace.agent_dir().join("config.yml")).unwrap();
    scene.omp(&["-p", "hi"]).run().await.exits(2).complains(&["config.yml", "hint: "]);
}

#[tokio::test]
async fn settings_of_the_wrong_kind_do_no_harm() {
    let scene = scene().await;
    scene.workspace.write_config_yml("retry: 7\nenabledModels: { a: b }\nunknown: x\n").unwrap();
    let ran = scene.omp(&["-p", "hi"]).run().await.exits(0).prints("Hello.\n");
    ran.complains(&[
        "config.yml:1:1: `retry` is ignored",
        "config.yml:2:1: `enabledModels` is ignored",
        "\nhint: correct it",
    ]);
    // An invalid value of a setting that protects the user is not replaced by a guess.
    scene.workspace.write_config_yml("tools: { approvalMode: 3 }\n").unwrap();
    let ran = scene.omp(&["-p", "hi"]).run().await.exits(2);
    ran.complains(&["config.yml:1:10: `tools.approvalMode` must be one of", "omp does not start", "hint: correct it"]);
}

/// An invalid path would hide nothing, and an invalid rule would deny nothing, so both are errors.
#[tokio::test]
async fn what_guards_the_user_and_cannot_be_read_is_named_with_its_place() {
    let scene = scene().await;
    let no_path = "must be a path that starts with / or ~/; omp does not start, because commands could access more than you intended";
    for (list, place, item) in [
        ("hidden: [~/fine, secretdir]", "2:20", "secretdir"),
        ("hidden: [./src]", "2:12", "./src"),
        ("hidden:\n    - /fine\n    - ~dev/x", "4:7", "~dev/x"),
        ("hidden: [$HOME/lib]", "2:12", "$HOME/lib"),
        ("hidden: [\"\"]", "2:12", "\"\""),
        ("hidden: [~]", "2:12", "null"),
        ("writable: [3, /fine]", "2:14", "3"),
        ("writable: [relative]", "2:14", "relative"),
        ("writable: ['~nobody/x']", "2:14", "~nobody/x"),
        ("shown: [relative]", "2:11", "relative"),
    ] {
        scene.workspace.write_config_yml(&format!("containment:\n  {list}\n")).unwrap();
        let key = list.split(':').next().unwrap();
        let told = format!("config.yml:{place}: `{item}` in `containment.{key}` {no_path}");
        scene.omp(&["-p", "hi"]).run().await.exits(2).complains(&[&told, "hint: correct it, or remove it"]);
    }
    for (yaml, told) in [
        ("containment: { sockets: [3] }\n", "config.yml:1:26: `3` in `containment.sockets` must be one of ssh-agent, "),
        ("containment: { hosts: [3] }\n", "config.yml:1:24: `3` in `containment.hosts` must be text; omp does not"),
        (
            "tools:\n  deny:\n    - bash(ls)\n    - bash(git\n",
            "config.yml:4:7: \"bash(git\" in `tools.deny` is not a valid rule: the parenthesis is not closed\nhint: a rule is written",
        ),
        ("tools:\n  ask: ['bash(git']\n", "config.yml:2:9: \"bash(git\" in `tools.ask` is not a valid rule"),
        ("theme: {}\ntheme: {}\n", "config.yml:2:1: not valid YAML: `theme` is given twice"),
        ("a: &x\n  b: *x\n", "not valid YAML: an alias (`*name`) refers to itself"),
    ] {
        scene.workspace.write_config_yml(yaml).unwrap();
        scene.omp(&["-p", "hi"]).run().await.exits(2).complains(&[told, "\nhint: "]);
    }
    scene.workspace.write_config_yml("").unwrap();
    let set = ["config", "set", "containment.hidden", "~/a, b"];
    let set = Omp::bare(&scene.workspace).args(set).run().await.exits(2);
    set.complains(&["hint: it must be a list, each value a path that starts with / or ~/"]);
    assert!(scene.server.requests().is_empty());
    scene.workspace.write_config_yml("tools:\n  allow: ['bash(git']\ncontainment: {hidden: [~/a, /b]}\n").unwrap();
    let ran = scene.omp(&["-p", "hi"]).run().await.exits(0).prints("Hello.\n");
    ran.complains(&[
        "config.yml:2:11: \"bash(git\" in `tools.allow` is not a valid rule: the parenthesis is not closed",
    ]);
}

#[tokio::test]
async fn broken_providers_are_named() {
    for (yaml, place) in [
        ("providers: [", "models.yml:1:12: not valid YAML: "),
        ("providers: { mock: { baseUrl: nonsense, apiKey: k } }\n", "models.yml:1:22: providers.mock.baseUrl: "),
        ("nonsense\n", "models.yml: expected a mapping"),
    ] {
        let scene = scene().await;
        scene.workspace.write_models_yml(yaml).unwrap();
        let ran = scene.omp(&["-p", "hi"]).run().await.exits(2);
        ran.complains(&[place, "hint: ", "mock/mock-model"]);
    }
}

#[tokio::test]
async fn a_provider_that_is_not_there_is_told() {
    let scene = scene().await;
    scene
        .workspace
        .write_provider(&omp_testkit::MockProvider::new("http://127.0.0.1:9", Wire::Anthropic.api()))
        .unwrap();
    let ran = scene.omp(&["-p", "hi"]).run().await.exits(1).complains(&["127.0.0.1:9", "hint: is the server running"]);
    assert_eq!(outline(&scene.messages())[0], "user: hi");
    // The reason is printed with the first of ten retries, and in full at the end.
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(lines.iter().filter(|line| line.contains("cannot connect")).count(), 2, "{ran}");
    assert_eq!(lines.iter().filter(|line| line.contains("trying again")).count(), 10, "{ran}");
    assert_eq!(ran.stderr.matches("hint: ").count(), 1, "{ran}");
    assert_eq!(lines.len(), 12, "{ran}");
    let plain = scene.omp(&["--plain", "hi"]).run().await.exits(0).stdout;
    assert_eq!(plain.matches("cannot connect").count(), 2, "{plain}");
    assert_eq!((plain.matches("hint: ").count(), plain.matches("attempt ").count()), (1, 10), "{plain}");
}

#[tokio::test]
async fn a_list_without_a_match_says_where_to_look() {
    let workspace = TempWorkspace::new(&[]).unwrap();
    let list = async |word: &str| Omp::bare(&workspace).args(["--list-models", word]).run().await.exits(0).stdout;
    let none = list("zzz").await;
    assert!(none.starts_with("no model matches `zzz`\nhint: ") && !none.contains("--list-models zzz"), "{none}");
    assert!(none.contains("`omp --list-models '*'` all ") && none.contains("ANTHROPIC_API_KEY"), "{none}");
    assert!(list("sonet").await.contains("hint: try `omp --list-models sonnet`"));
}

#[tokio::test]
async fn a_home_that_cannot_be_written_is_told_before_anything_is_sent() {
    let scene = scene().await;
    std::fs::write(scene.workspace.agent_dir().join("sessions"), "a file").unwrap();
    let ran = scene.omp(&["-p", "hi"]).run().await;
    ran.exits(1).prints("").complains(&["cannot create session", "hint: ", "--session-dir", "--no-session"]);
    for folder in ["/proc/omp", "a.txt", "/dev/null/x"] {
        let ran = scene.omp(&["-p", "hi", "--session-dir", folder]).run().await;
        ran.exits(1).prints("").complains(&["cannot create session", "hint: "]);
    }
    assert!(scene.server.requests().is_empty());
    scene.omp(&["-p", "hi", "--no-session"]).run().await.exits(0).prints("Hello.\n");
}

#[tokio::test]
async fn a_home_that_is_no_folder_is_told() {
    let scene = scene().await;
    let models = std::fs::read(scene.workspace.agent_dir().join("models.yml")).unwrap();
    let file = scene.workspace.path("a.txt");
    let ran = scene.omp(&["-p", "hi"]).env("PI_CODING_AGENT_DIR", &file).run().await;
    ran.exits(2).complains(&["hint: "]);
    assert_eq!(std::fs::read(&file).unwrap(), b"one\ntwo\nthree\n");
    assert_eq!(std::fs::read(scene.workspace.agent_dir().join("models.yml")).unwrap(), models);
}

#[tokio::test]
async fn a_full_disk_is_told_and_the_session_stays_whole() {
    let long = Turn::text(Text::tokens(4_000));
    let scene = Scene::new(Wire::Anthropic, Script::new([Turn::text("Short."), long, Turn::text("Gone on.")])).await;
    // A file size limit makes writes fail like a full disk.
    let script = "trap '' XFSZ; ulimit -f 20; exec \"$@\"";
    let ran = Omp::behind(script, &scene.workspace, &["-p", "number one", "two"]).run().await;
    ran.exits(1).complains(&["cannot save to session", "the disk is full", "hint: free some space"]);
    let file = scene.session_file();
    let before = std::fs::read(&file).unwrap();
    assert_eq!(outline(&scene.messages()), ["user: number one", "assistant: Short.", "user: two"]);
    scene.omp(&["-c", "-p", "three"]).run().await.exits(0).prints("Gone on.\n");
    assert!(std::fs::read(&file).unwrap().starts_with(&before));
    assert_eq!(outline(&messages_in(&file, &scene.workspace.agent_dir())).last().unwrap(), "assistant: Gone on.");
}

#[tokio::test]
async fn no_room_for_the_first_line_is_told_before_anything_is_sent() {
    let scene = scene().await;
    let ran = Omp::behind("trap '' XFSZ; ulimit -f 0; exec \"$@\"", &scene.workspace, &["-p", "hi"]).run().await;
    ran.exits(1).complains(&["session", "hint: "]);
    assert!(scene.server.requests().is_empty());
}

#[tokio::test]
async fn odd_standard_streams_are_put_up_with() {
    let rows = [
        ("exec \"$@\" <&-", 0, "Hello.\n", ""),
        ("exec \"$@\" >&-", 0, "", ""),
        ("exec \"$@\" 2>&-", 0, "Hello.\n", ""),
        ("exec \"$@\" <&- >&- 2>&-", 0, "", ""),
        ("exec \"$@\" < .", 2, "", "cannot read standard input: Is a directory (os error 21)\nhint: "),
        ("head -c 9000000 /dev/zero | \"$@\"", 2, "", "hint: save it in a file"),
        ("unset TERM TMPDIR; exec \"$@\"", 0, "Hello.\n", ""),
        ("unset HOME USERPROFILE; exec \"$@\"", 2, "", "hint: set HOME"),
    ];
    for (script, code, out, words) in rows {
        let scene = scene().await;
        let ran = Omp::behind(script, &scene.workspace, &["-p", "hi"]).run().await;
        assert_eq!((ran.status.code(), ran.stdout.as_str()), (Some(code), out), "{script}: {ran}");
        ran.complains(&[words]);
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_standard_output_is_a_failure() {
    let scene = scene().await;
    let ran = Omp::behind("exec \"$@\" > /dev/full", &scene.workspace, &["-p", "hi"]).run().await;
    ran.exits(1).complains(&["standard output"]);
    assert_eq!(outline(&scene.messages()), ["user: hi", "assistant: Hello."]);
}

#[tokio::test]
async fn a_deleted_working_folder_is_told() {
    let scene = scene().await;
    let script = "mkdir gone; cd gone; rmdir ../gone; exec \"$1\" -p hi --model mock/mock-model";
    let ran = Omp::behind(script, &scene.workspace, &[]).run().await;
    ran.exits(2).complains(&["working folder", "hint: change to a folder that exists"]);
    // An absolute folder works without a current folder.
    let script = "mkdir gone; cd gone; rmdir ../gone; exec \"$@\"";
    Omp::behind(script, &scene.workspace, &["-p", "hi"]).run().await.exits(0).prints("Hello.\n");
}

#[tokio::test]
async fn arguments_and_variables_that_are_no_text_are_put_up_with() {
    let scene = scene().await;
    let odd = || OsString::from_vec(b"odd \xff\xfe".to_vec());
    let ran = scene.omp(&["-p"]).args([odd()]).run().await;
    ran.exits(2).complains(&["UTF-8"]);
    scene.omp(&["-p", "hi"]).env("ODD", odd()).run().await.exits(0).prints("Hello.\n");
}

#[tokio::test]
async fn a_message_of_nothing_but_blanks_is_no_message() {
    let scene = scene().await;
    scene.omp(&["-p", " \n"]).run().await.exits(2).complains(&["no message", "hint: "]);
    scene.omp(&["-p", ""]).run().await.exits(2).complains(&["no message", "hint: "]);
    scene.omp(&["-p", "", "number one", " ", "two"]).run().await.exits(0).prints("Again.\n");
    assert_eq!(outline(&scene.messages()), ["user: number one", "assistant: Hello.", "user: two", "assistant: Again."]);
}

#[tokio::test]
async fn addresses_with_unknown_schemes_are_refused_with_the_list() {
    let call = |tool: &str, args: serde_json::Value| Turn::call(tool, args);
    let turns = [
        call("read", serde_json::json!({"path": "issue://1"})),
        call("search", serde_json::json!({"pattern": "x", "paths": ["mcp://x"]})),
        call("find", serde_json::json!({"paths": ["pr://2"]})),
        Turn::text("Done."),
    ];
    let scene = Scene::new(Wire::Completions, turns).await;
    scene.omp(&["-p", "go"]).run().await.exits(0);
    let said = scene.messages();
    let results: Vec<String> = said
        .iter()
        .filter_map(|message| match message {
            omp_types::Message::ToolResult(result) => Some(omp_types::text_of(&result.content)),
            _ => None,
        })
        .collect();
    assert_eq!(results.len(), 3);
    for result in results {
        assert!(result.contains("artifact://, agent://, local://"), "{result}");
    }
    let ran = scene.omp(&["-p", "@issue://1", "what is it?"]).run().await.exits(2);
    ran.complains(&["cannot attach issue://1: it is a URL, not a file", "artifact://"]);
    Omp::bare(&scene.workspace)
        .args(["read", "issue://1"])
        .run()
        .await
        .exits(2)
        .complains(&["issue://", "artifact://"]);
}

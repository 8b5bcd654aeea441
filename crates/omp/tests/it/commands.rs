//! Runs that send no request: help, version, completions, the list of models, the demo.

use omp_testkit::{Script, Server, TempWorkspace, Turn};

use crate::harness::Omp;

#[tokio::test]
async fn help_and_version_are_printed() {
    let workspace = TempWorkspace::new(&[]).unwrap();
    let ran = Omp::bare(&workspace).args(["--version"]).run().await.exits(0);
    assert_eq!(ran.stdout, format!("omp {}\n", env!("CARGO_PKG_VERSION")));
    for words in [&["--help"][..], &["-h"], &["help"], &["-p", "--help"]] {
        let ran = Omp::bare(&workspace).args(words).run().await.exits(0);
        assert!(ran.stdout.lines().count() <= 23, "{ran}");
        assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{ran}");
        for word in ["--model", "--continue", "--no-session", "sessions", "Example:", "omp --help all"] {
            assert!(ran.stdout.contains(word), "{word}: {ran}");
        }
        assert!(!ran.stdout.contains("--service-tier") && ran.stderr.is_empty(), "{ran}");
    }
}

#[tokio::test]
async fn help_all_names_every_flag_and_subcommands_keep_their_help() {
    let workspace = TempWorkspace::new(&[]).unwrap();
    // The completions come from the same declarations as the parser.
    let script = Omp::bare(&workspace).args(["completions", "fish"]).run().await.exits(0).stdout;
    let own = script.lines().filter(|line| line.starts_with("complete -c omp -n \"__fish_omp_needs_command\""));
    let flags: Vec<String> =
        own.filter_map(|line| Some(line.split(" -l ").nth(1)?.split_whitespace().next()?.to_owned())).collect();
    assert!(flags.len() > 30, "{flags:?}");
    for words in [["--help", "all"], ["-h", "all"], ["help", "all"]] {
        let ran = Omp::bare(&workspace).args(words).run().await.exits(0);
        for flag in &flags {
            assert!(ran.stdout.contains(&format!("--{flag}")), "{flag}: {ran}");
        }
        for word in ["Commands:", "completions", "Examples:", "Exit codes:"] {
            assert!(ran.stdout.contains(word), "{word}: {ran}");
        }
    }
    for words in [["sessions", "--help"], ["help", "sessions"]] {
        let ran = Omp::bare(&workspace).args(words).run().await.exits(0);
        assert!(ran.stdout.contains("Usage: omp sessions"), "{ran}");
    }
    Omp::bare(&workspace).args(["help", "nonsense"]).run().await.exits(2).complains(&["nonsense"]);
}

#[tokio::test]
async fn completions_know_the_flags() {
    let workspace = TempWorkspace::new(&[]).unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let ran = Omp::bare(&workspace).args(["completions", shell]).run().await.exits(0);
        assert!(ran.stdout.contains("append-system-prompt"), "{shell}: {ran}");
    }
    Omp::bare(&workspace).args(["completions", "nonsense"]).run().await.exits(2).complains(&["nonsense", "bash"]);
}

#[tokio::test]
async fn local_servers_are_found_and_listed() {
    let server = Server::start(Script::new([Turn::text("x")]).models(&["tiny-coder"])).await.unwrap();
    for (variable, provider, path) in [
        ("LLAMA_CPP_BASE_URL", "llama.cpp", ""),
        ("OLLAMA_BASE_URL", "ollama", ""),
        ("LM_STUDIO_BASE_URL", "lm-studio", "/v1"),
    ] {
        let workspace = TempWorkspace::new(&[]).unwrap();
        let url = format!("{}{path}", server.base_url());
        let ran = Omp::bare(&workspace).env(variable, url).args(["--list-models"]).run().await.exits(0);
        let row = ran.stdout.lines().find(|line| line.contains("tiny-coder")).unwrap_or_else(|| panic!("{ran}"));
        assert!(row.contains(provider), "{ran}");
        assert_eq!(ran.stderr, "", "{ran}");
    }
}

#[tokio::test]
async fn the_list_of_models_shows_what_can_be_used() {
    let workspace = TempWorkspace::new(&[]).unwrap();
    let none = Omp::bare(&workspace).args(["--list-models"]).run().await.exits(0);
    assert!(none.stdout.contains("no model is available") && none.stdout.contains("hint: "), "{none}");
    let omp = || Omp::bare(&workspace).env("ANTHROPIC_API_KEY", "k");
    let all = omp().args(["--list-models"]).run().await.exits(0);
    assert!(all.stdout.contains("claude-sonnet-4-5") && !all.stdout.contains("gemini"), "{all}");
    let some = omp().args(["--list-models", "opus"]).run().await.exits(0);
    assert!(some.stdout.contains("opus") && !some.stdout.contains("sonnet"), "{some}");
}

#[tokio::test]
async fn the_demo_needs_nothing_and_leaves_nothing() {
    let workspace = TempWorkspace::new(&[]).unwrap();
    let home = workspace.tmp().join("empty-home");
    std::fs::create_dir(&home).unwrap();
    let tmp = workspace.tmp().join("tmp");
    std::fs::create_dir(&tmp).unwrap();
    let path = workspace.env()["PATH"].clone();
    let omp = Omp::bare(&workspace).without_env().env("HOME", &home).env("TMPDIR", &tmp).env("PATH", path);
    let ran = omp.args(["demo"]).run().await.exits(0);
    for words in ["A test fails", "lib/price.sh", "All four tests pass", "omp -p", "ANTHROPIC_API_KEY"] {
        assert!(ran.stdout.contains(words), "{words}: {ran}");
    }
    assert!(!ran.stdout.contains("Wall time"), "this is for the model: {ran}");
    for folder in [&home, &tmp, &workspace.project()] {
        let left: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.is_empty(), "{}: {left:?}", folder.display());
    }
}

#[tokio::test]
async fn the_demo_needs_no_environment_at_all() {
    let workspace = TempWorkspace::new(&[]).unwrap();
    Omp::bare(&workspace).without_env().args(["demo"]).run().await.exits(0);
}

/// A failed step ends the demo.
#[cfg(unix)]
#[tokio::test]
async fn a_demo_in_which_a_step_fails_says_so() {
    let workspace = TempWorkspace::new(&[]).unwrap();
    let ran = Omp::bare(&workspace).env("PATH", "/nowhere").args(["demo"]).run().await.exits(1);
    assert!(!ran.stdout.contains("tests pass"), "{ran}");
    ran.complains(&["the demo failed at step 1, `bash`", "hint: `omp doctor`"]);
}

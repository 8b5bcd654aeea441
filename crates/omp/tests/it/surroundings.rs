//! Unexpected machines and repositories: unusual folders, full disks, pipes in place of files.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use nix::sys::stat::Mode;
use omp_testkit::{FaultStatus, Turn, Wire};
use serde_json::json;

use crate::harness::{Omp, Scene, outline};

async fn scene() -> Scene {
    Scene::new(Wire::Anthropic, [Turn::text("Hello."), Turn::text("Again.")]).await
}

/// Replaces a path with a pipe, on which an open would block forever.
fn pipe(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    if path.exists() {
        std::fs::remove_file(path).unwrap();
    }
    nix::unistd::mkfifo(path, Mode::S_IRWXU).unwrap();
}

#[tokio::test]
async fn pipes_in_a_repository_keep_nobody_waiting() {
    for (name, told) in [
        ("AGENTS.md", "AGENTS.md was not read"),
        (".omp/config.yml", "config.yml: it is not a regular file"),
        (".omp/settings.json", "settings.json: it is not a regular file"),
        (".omp/AGENTS.md", ""),
        (".env", ""),
        (".git", ""),
    ] {
        let scene = scene().await;
        pipe(&scene.workspace.path(name));
        scene.omp(&["-p", "hi"]).run().await.exits(0).prints("Hello.\n").complains(&[told]);
    }
}

#[tokio::test]
async fn pipes_among_the_users_own_files_keep_nobody_waiting() {
    for (name, code, told) in [
        ("config.yml", 2, "hint: fix the file"),
        ("models.yml", 2, "hint: built-in models still work"),
        ("AGENTS.md", 0, "was not read"),
        (".env", 0, ""),
    ] {
        let scene = scene().await;
        pipe(&scene.workspace.agent_dir().join(name));
        scene.omp(&["-p", "hi"]).run().await.exits(code).complains(&[told]);
    }
    for (flag, code, told) in [
        ("--system-prompt", 2, "is not a regular file"),
        ("--append-system-prompt", 2, "is not a regular file"),
        ("--config", 2, "hint: fix the file"),
        ("--resume", 2, "not a regular file"),
        ("--session-dir", 1, "cannot create session"),
    ] {
        let scene = scene().await;
        pipe(&scene.workspace.path("pipe"));
        scene.omp(&["-p", "hi", flag, "./pipe"]).run().await.exits(code).complains(&[told]);
    }
}

#[tokio::test]
async fn instructions_that_are_no_text_are_left_out() {
    let scene = scene().await;
    let file = scene.workspace.path("AGENTS.md");
    std::fs::create_dir(&file).unwrap();
    scene.omp(&["-p", "hi"]).run().await.exits(0).complains(&["was not read: it is not a regular file"]);
    std::fs::remove_dir(&file).unwrap();
    std::fs::File::create(&file).unwrap().set_len(1 << 30).unwrap();
    scene.omp(&["-p", "hi"]).run().await.exits(0).complains(&["was not read: it is not text"]);
    assert!(!String::from_utf8_lossy(&scene.last_request().body).contains("\\u0000"));
}

#[tokio::test]
async fn any_folder_has_its_sessions() {
    let deep = format!("{}/{}", "l".repeat(200), "m".repeat(200));
    let names = [b"odd \xff\xfe".as_slice(), b"new\nline", b"sp ace-:*?", b"--a--", b"-", deep.as_bytes()];
    for name in names {
        let turns = [Turn::call("bash", json!({"command": "touch here"})), Turn::text("Hello."), Turn::text("Again.")];
        let scene = Scene::new(Wire::Anthropic, turns).await;
        let folder = scene.workspace.project().join(OsStr::from_bytes(name));
        std::fs::create_dir_all(&folder).unwrap();
        let omp = || Omp::bare(&scene.workspace).args(["--model", "mock/mock-model", "--cwd"]).args([&folder]);
        omp().args(["-p", "one"]).run().await.exits(0).prints("Hello.\n");
        assert!(folder.join("here").exists(), "{folder:?}");
        omp().args(["-c", "-p", "two"]).run().await.exits(0).prints("Again.\n");
        assert_eq!(outline(&scene.messages()).len(), 6, "{folder:?}");
    }
}

/// Limits files to about 250 KB, which fails like a full disk.
const SMALL_DISK: &str = "trap '' XFSZ; ulimit -f 500; exec \"$@\"";

#[tokio::test]
async fn a_full_disk_spares_the_files_of_the_project() {
    let large = "x".repeat(600_000);
    let turns = [
        Turn::call("write", json!({"path": "a.txt", "content": &large})),
        Turn::call("write", json!({"path": "new.txt", "content": &large})),
        Turn::text("Done."),
    ];
    let scene = Scene::new(Wire::Anthropic, turns).await;
    scene.workspace.write_config_yml("compaction: { enabled: false }\n").unwrap();
    Omp::behind(SMALL_DISK, &scene.workspace, &["-p", "hi", "--no-session"]).run().await.exits(0).prints("Done.\n");
    let sent = String::from_utf8_lossy(&scene.last_request().body).into_owned();
    assert_eq!(sent.matches("nothing was written").count(), 2);
    let left: Vec<_> = std::fs::read_dir(scene.workspace.project()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["a.txt"]);
    assert_eq!(scene.workspace.read("a.txt").unwrap(), "one\ntwo\nthree\n");
}

#[tokio::test]
async fn a_full_disk_costs_long_output_but_not_the_run() {
    let turns = [Turn::call("bash", json!({"command": "head -c 2000000 /dev/zero | tr '\\0' x"})), Turn::text("Done.")];
    let scene = Scene::new(Wire::Anthropic, turns).await;
    Omp::behind(SMALL_DISK, &scene.workspace, &["-p", "hi"]).run().await.exits(0).prints("Done.\n");
    assert_eq!(outline(&scene.messages()).len(), 4);
}

#[tokio::test]
async fn an_image_that_cannot_be_kept_is_not_sent() {
    let scene = scene().await;
    // Decoders ignore data after the image.
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNg+M8AAAICAQB7CYF4AAAAAElFTkSuQmCC";
    let mut png = BASE64_STANDARD.decode(png).unwrap();
    png.resize(600_000, 7);
    scene.workspace.write("big.png", png).unwrap();
    let ran = Omp::behind(SMALL_DISK, &scene.workspace, &["-p", "@big.png", "hi"]).run().await;
    ran.exits(1).complains(&["cannot save an image", "hint: check free space"]);
    assert!(scene.server.requests().is_empty());
}

#[tokio::test]
async fn folders_of_somebody_else_are_told() {
    let scene = scene().await;
    let workspace = &scene.workspace;
    let sessions = workspace.agent_dir().join("sessions");
    std::fs::create_dir(&sessions).unwrap();
    // Permissions do not apply to root, so there the run uses another user, with a binary that user can access.
    let binary = workspace.tmp().join("omp");
    // Copied by another process: a file that this process has open for writing could not be executed after a concurrent
    // fork.
    Omp::of(Path::new("cp"), workspace).args([Path::new(env!("CARGO_BIN_EXE_omp")), &binary]).run().await.exits(0);
    let root = workspace.project().parent().unwrap().to_owned();
    for (path, mode) in [(&root, 0o755), (&sessions, 0o555)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let omp = || {
        let omp = Omp::of(&binary, workspace).args(workspace.args(&["-p", "hi"]));
        if nix::unistd::geteuid().is_root() { omp.user(65534) } else { omp }
    };
    let ran = omp().run().await;
    ran.exits(1).complains(&["cannot create session", "Permission denied", "hint: check that the folder is writable"]);
    assert!(scene.server.requests().is_empty());
    omp().args(["--no-session"]).run().await.exits(0).prints("Hello.\n");
}

#[tokio::test]
async fn a_folder_that_may_not_be_entered_is_told() {
    let scene = scene().await;
    let workspace = &scene.workspace;
    let (closed, inner) = (workspace.path("closed"), workspace.path("closed/inner"));
    std::fs::create_dir_all(&inner).unwrap();
    let root = workspace.project().parent().unwrap().to_owned();
    std::fs::set_permissions(root, std::fs::Permissions::from_mode(0o755)).unwrap();
    // Permissions do not apply to root.
    let somebody = nix::unistd::geteuid().is_root().then_some(65534);
    [&closed, &inner].iter().for_each(|folder| std::os::unix::fs::chown(folder, somebody, None).unwrap());
    // The shell enters the folder before its permissions are removed.
    let run = async |folder: &Path, mode: &str, words: &str| {
        let (inner, folder) = (inner.display(), folder.display());
        let script =
            format!("cd {inner} && chmod {mode} {folder} && \"$1\" {words}; code=$?; chmod 755 {folder}; exit $code");
        let omp = Omp::behind(&script, workspace, &[]);
        match somebody {
            Some(id) => omp.user(id).run().await,
            None => omp.run().await,
        }
    };
    for (folder, mode) in [(&closed, "000"), (&closed, "444"), (&inner, "600")] {
        for words in ["-p hi --model mock/mock-model", "grep x ."] {
            let told = format!("cannot work in {}: no permission to enter {}\n", inner.display(), folder.display());
            run(folder, mode, words).await.exits(2).complains(&[&told, "hint: get access"]);
        }
    }
    // A folder that cannot be listed can be used.
    run(&closed, "111", "-p hi --model mock/mock-model --no-session").await.exits(0).prints("Hello.\n");
    run(&inner, "300", "-p hi --model mock/mock-model --no-session").await.exits(0).prints("Again.\n");
}

#[tokio::test]
async fn proxies_that_do_not_work_are_told() {
    let scene = scene().await;
    let run = async |proxy: &str| scene.omp(&["-p", "hi"]).env("HTTP_PROXY", proxy).env("NO_PROXY", "").run().await;
    run("http://127.0.0.1:9").await.exits(1).complains(&["through the proxy", "hint: check HTTPS_PROXY, HTTP_PROXY"]);
    let ran = run("nonsense::/secret")
        .await
        .exits(1)
        .complains(&["HTTP_PROXY is not a valid proxy URL", "hint: use http://host:port"]);
    assert!(!ran.stderr.contains("trying again") && !ran.stderr.contains("secret"), "{ran}");
    assert!(scene.server.requests().is_empty());
}

#[tokio::test]
async fn long_explanations_are_shortened() {
    let scene =
        Scene::new(Wire::Completions, [Turn::text("x").fault(FaultStatus::new(418).body("x".repeat(1 << 20)).into())])
            .await;
    let ran = scene.omp(&["-p", "hi"]).run().await.exits(1).complains(&["(418)"]);
    assert!(ran.stderr.len() < 2000, "{}", ran.stderr.len());
}

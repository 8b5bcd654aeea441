//! Tests requests over a real socket, with a script as gpg that records that it ran.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;

use omp_types::AccessMap;
use tokio::task::JoinSet;

use super::wire::ask;
use super::*;

const COMMIT: &str =
    "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n";
/// Prints its arguments and input, and records that it ran.
const GPG: &str = "echo ran >> \"$HOME/mark\"; echo \"$@\"; cat; echo \"[GNUPG:] SIG_CREATED \" >&2; \
                   echo \"env $GPG_TTY ${LD_PRELOAD-none} ${SECRET-none} $PATH\"";

struct Scene {
    folder: tempfile::TempDir,
    access: Access,
    env: Env,
}

impl Scene {
    /// `gpg` is the script that signs.
    fn new(gpg: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for made in ["home/work/bin", "tmp", "bin", "home/.gnupg"] {
            std::fs::create_dir_all(root.join(made)).unwrap();
        }
        let text = |path: &str| root.join(path).display().to_string();
        let path = format!("{}:{}:/usr/bin:/bin", text("home/work/bin"), text("bin"));
        let variables = [
            ("HOME", text("home")),
            ("TMPDIR", text("tmp")),
            ("PATH", path),
            ("LD_PRELOAD", text("home/work/evil.so")),
            ("SECRET", "sesame".to_owned()),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
        ];
        let access = Access::new(AccessMap {
            workspace: root.join("home/work"),
            writable: vec![root.join("tmp")],
            hidden: vec![root.join("home/.gnupg")],
            ..AccessMap::default()
        });
        let scene = Self { folder, access, env: variables.into_iter().collect() };
        scene.program("bin/gpg", gpg);
        scene.program("home/work/bin/gpg", "echo evil >> \"$HOME/mark\"");
        scene.configure("[user]\n\tsigningkey = ABC\n");
        scene
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    fn program(&self, path: &str, script: &str) {
        std::fs::write(self.at(path), format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(self.at(path), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn configure(&self, text: &str) {
        std::fs::write(self.at("home/.gitconfig"), text).unwrap();
    }

    fn signer(&self) -> Signer {
        Signer::new(self.access.clone(), self.at("home"), self.env.clone(), "/bin/sh".into())
    }

    /// What a signing program has recorded.
    fn mark(&self) -> String {
        std::fs::read_to_string(self.at("home/mark")).unwrap_or_default()
    }

    fn asked(&self) -> SigningQuestion {
        SigningQuestion {
            format: SignatureFormat::OpenPgp,
            configured: None,
            keyring: self.at("home/.gnupg").display().to_string(),
            literal: String::new(),
            payload: COMMIT.into(),
            args: ["--status-fd=2", "-bsau", "ABC"].map(str::to_owned).into(),
        }
    }
}

async fn say(desk: &SigningDesk, asked: SigningQuestion) -> SigningAnswer {
    let socket = desk.socket.clone();
    let talk = move || ask(&mut UnixStream::connect(socket).unwrap(), &asked).unwrap();
    tokio::task::spawn_blocking(talk).await.unwrap()
}

#[tokio::test]
async fn a_commit_is_signed_by_the_users_program_and_told() {
    let scene = Scene::new(GPG);
    let signer = scene.signer();
    let desk = signer.desk(Rung::Full).unwrap();
    let link = desk.folder.join("omp-sign-openpgp").display().to_string();
    assert_eq!(desk.settings, [("gpg.program".to_owned(), link)]);
    assert_eq!(signer.take_signed(), [""; 0]);
    for _ in 0..2 {
        let SigningAnswer::Ran { code, output, errors } = say(&desk, scene.asked()).await else { panic!() };
        let path = format!("{}:/usr/bin:/bin", scene.at("bin").display());
        let expect = format!("--status-fd=2 -bsau ABC\n{COMMIT}env /no-terminal none none {path}\n");
        assert_eq!((code, String::from_utf8(output).unwrap()), (0, expect));
        assert_eq!(errors, b"[GNUPG:] SIG_CREATED \n");
    }
    assert_eq!(signer.take_signed(), ["omp signed 2 commits with the user's key ABC."]);
    assert_eq!((signer.take_signed().len(), scene.mark().as_str()), (0, "ran\nran\n"));
    let folder = desk.folder.clone();
    drop((signer, desk));
    // The task that serves keeps the folder until it has ended.
    while folder.exists() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn whatever_else_is_asked_for_runs_nothing() {
    let scene = Scene::new(GPG);
    let signer = scene.signer();
    let desk = signer.desk(Rung::Full).unwrap();
    let words = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let asked = scene.asked();
    for (asked, part) in [
        (SigningQuestion { payload: b"SSH challenge".to_vec(), ..asked.clone() }, "only commits and tags"),
        (SigningQuestion { payload: Vec::new(), ..asked.clone() }, "only commits and tags"),
        (
            SigningQuestion { payload: vec![b'x'; request::LARGEST_PAYLOAD + 1], ..asked.clone() },
            "may have 1048576 bytes",
        ),
        (
            SigningQuestion { args: words("--status-fd=2 -bsau ABC --decrypt x"), ..asked.clone() },
            "only requests from git itself",
        ),
        (SigningQuestion { args: words("-bsau ABC"), ..asked.clone() }, "only requests from git itself"),
    ] {
        let SigningAnswer::Refused(why) = say(&desk, asked).await else { panic!("{part}") };
        assert!(why.contains(part) && why.contains("\nhint: "), "{why}");
    }
    // These requests are passed to the programs in the sandbox.
    for asked in [
        SigningQuestion { args: words("--status-fd=2 -bsau EVIL"), ..asked.clone() },
        SigningQuestion { args: words("--decrypt secret.gpg"), ..asked.clone() },
        SigningQuestion { configured: Some("./evil".to_owned()), ..asked.clone() },
        SigningQuestion { keyring: "/tmp/keys-of-a-test".to_owned(), ..asked.clone() },
        SigningQuestion {
            format: SignatureFormat::Ssh,
            args: words("-Y sign -n git -f /x/key /x/buffer"),
            ..asked.clone()
        },
    ] {
        let answer = say(&desk, asked).await;
        assert!(matches!(answer, SigningAnswer::Run(_)), "{answer:?}");
    }
    assert_eq!((scene.mark().as_str(), signer.take_signed().len()), ("", 0));
}

#[tokio::test]
async fn noise_is_answered_or_ended_and_nobody_else_waits_for_it() {
    let scene = Scene::new(GPG);
    let signer = scene.signer();
    let desk = signer.desk(Rung::Full).unwrap();
    let silent: Vec<UnixStream> = (1..MOST_CONNECTIONS).map(|_| UnixStream::connect(&desk.socket).unwrap()).collect();
    let raw = |bytes: Vec<u8>| {
        let mut stream = UnixStream::connect(&desk.socket).unwrap();
        tokio::task::spawn_blocking(move || {
            let mut heard = Vec::new();
            stream.write_all(&bytes).unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            stream.read_to_end(&mut heard).map(|_| heard)
        })
    };
    let huge = raw(u32::MAX.to_le_bytes().to_vec()).await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(&huge).contains("may have 1048576 bytes"), "{huge:?}");
    for noise in [vec![], vec![1, 2], vec![200, 0, 0, 0, 1]] {
        assert_eq!(raw(noise).await.unwrap().unwrap(), b"");
    }
    let garbled = raw(vec![4, 0, 0, 0, 255, 255, 255, 255]).await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(&garbled).contains("no request at all"), "{garbled:?}");
    assert!(matches!(say(&desk, scene.asked()).await, SigningAnswer::Ran { code: 0, .. }));
    assert_eq!(scene.mark(), "ran\n");
    drop(silent);
}

#[tokio::test]
async fn many_at_once_are_all_signed_and_few_run_at_a_time() {
    let count =
        "n=$(mktemp \"$HOME/run.XXXXXX\"); ls \"$HOME\" | grep -c '^run' >> \"$HOME/mark\"; cat > /dev/null; rm \"$n\"";
    let scene = Scene::new(count);
    let signer = scene.signer();
    let desk = signer.desk(Rung::Full).unwrap();
    let mut all = JoinSet::new();
    for _ in 0..40 {
        let (desk, asked) = (desk.clone(), scene.asked());
        all.spawn(async move { say(&desk, asked).await });
    }
    for answer in all.join_all().await {
        assert!(matches!(answer, SigningAnswer::Ran { code: 0, .. }), "{answer:?}");
    }
    let counts: Vec<usize> = scene.mark().lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(counts.len(), 40);
    assert!(counts.iter().all(|count| *count <= MOST_AT_ONCE), "{counts:?}");
}

#[tokio::test]
async fn a_program_that_waits_for_somebody_is_ended_and_after_some_failures_there_is_a_pause() {
    let scene = Scene::new("echo ran >> \"$HOME/mark\"; exec sleep 600");
    let signer = Signer { patience: Duration::from_millis(300), ..scene.signer() };
    let desk = signer.desk(Rung::Full).unwrap();
    for _ in 0..MOST_FAILURES {
        let SigningAnswer::Refused(why) = say(&desk, scene.asked()).await else { panic!() };
        assert!(why.contains("may wait for a passphrase") && why.contains("\nhint: "), "{why}");
    }
    let before = scene.mark();
    let SigningAnswer::Refused(why) = say(&desk, scene.asked()).await else { panic!() };
    assert!(why.contains("signing failed too often") && why.contains("\nhint: "), "{why}");
    assert_eq!((scene.mark(), signer.take_signed().len()), (before, 0));
}

#[tokio::test]
async fn a_program_ends_with_the_command_that_asked() {
    let scene = Scene::new("echo $$ > \"$HOME/mark\"; exec sleep 600");
    let signer = scene.signer();
    let desk = signer.desk(Rung::Full).unwrap();
    let mut stream = UnixStream::connect(&desk.socket).unwrap();
    stream.write_all(&scene.asked().encode()).unwrap();
    while !scene.mark().ends_with('\n') {
        tokio::task::yield_now().await;
    }
    let id = nix::unistd::Pid::from_raw(scene.mark().trim().parse().unwrap());
    drop(stream);
    while nix::sys::signal::kill(id, None).is_ok() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_commands_can_write_decides_nothing() {
    let set_program = |scene: &Scene, path: &str| {
        scene.configure(&format!("[user]\n\tsigningkey = ABC\n[gpg]\n\tprogram = {path}\n"));
    };
    // Programs in the workspace, behind a link, in the temp folder, and missing ones.
    let scene = Scene::new(GPG);
    std::os::unix::fs::symlink(scene.at("home/work/bin/gpg"), scene.at("bin/link")).unwrap();
    scene.program("tmp/gpg", GPG);
    // A link that a command could redirect, although it points outside now.
    std::os::unix::fs::symlink(scene.at("bin"), scene.at("home/work/out")).unwrap();
    std::os::unix::fs::symlink("../home/work/out/gpg", scene.at("bin/there-and-back")).unwrap();
    for path in ["home/work/bin/gpg", "bin/link", "tmp/gpg", "bin/none", "bin/there-and-back"] {
        let path = scene.at(path).display().to_string();
        set_program(&scene, &path);
        let signer = scene.signer();
        let desk = signer.desk(Rung::Full).unwrap();
        let SigningAnswer::Refused(why) = say(&desk, SigningQuestion { configured: Some(path), ..scene.asked() }).await
        else {
            panic!()
        };
        assert!(why.contains("hint: "), "{why}");
    }
    assert_eq!(scene.mark(), "");

    // A path that the user opens while the session runs counts at once.
    set_program(&scene, "gpg");
    let signer = scene.signer();
    let desk = signer.desk(Rung::Full).unwrap();
    let asked = SigningQuestion { configured: Some("gpg".to_owned()), ..scene.asked() };
    assert!(matches!(say(&desk, asked.clone()).await, SigningAnswer::Ran { code: 0, .. }));
    scene.access.change(|map| map.writable.push(scene.at("bin")));
    let usual = say(&desk, asked).await;
    assert!(!matches!(usual, SigningAnswer::Ran { code: 0, .. }) && scene.mark() == "ran\n", "{usual:?}");

    // Settings and a keyring in the workspace, on a rung where no mount protects guarded paths.
    let scene = Scene::new(GPG);
    scene.access.change(|map| {
        map.workspace = scene.at("home");
        map.guarded.push(scene.at("home/.gitconfig"));
    });
    assert!(scene.signer().desk(Rung::Landlock).is_none());
    assert!(scene.signer().desk(Rung::Full).is_some());
    let moved: Vec<(String, String)> =
        scene.env.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let elsewhere = scene.at("settings");
    std::fs::rename(scene.at("home/.gitconfig"), &elsewhere).unwrap();
    let moved = moved.into_iter().chain([("GIT_CONFIG_GLOBAL".to_owned(), elsewhere.display().to_string())]);
    let signer = Signer { env: moved.collect(), ..scene.signer() };
    let desk = signer.desk(Rung::Landlock).unwrap();
    let SigningAnswer::Refused(why) = say(&desk, scene.asked()).await else { panic!() };
    assert!(why.contains(".gnupg decides what gpg runs"), "{why}");
    assert_eq!(scene.mark(), "");
}

#[tokio::test]
async fn a_socket_that_cannot_be_made_is_told_once() {
    let scene = Scene::new(GPG);
    let long = scene.at(&format!("tmp/{}", "long".repeat(30)));
    std::fs::create_dir(&long).unwrap();
    let moved = scene.env.iter().filter(|(name, _)| *name != "TMPDIR").map(|(name, value)| (name, value.to_owned()));
    let env: Env = moved.chain([("TMPDIR", long.display().to_string())]).collect();
    let signer = Signer { env, ..scene.signer() };
    assert_eq!(signer.desk(Rung::Full), None);
    let told = signer.take_signed();
    assert!(told.len() == 1 && told[0].contains("cannot sign") && told[0].contains("hint: "), "{told:?}");
    assert_eq!((signer.take_signed().len(), std::fs::read_dir(&long).unwrap().count()), (0, 0));
}

#[tokio::test]
async fn who_signs_nothing_has_no_desk() {
    let scene = Scene::new(GPG);
    scene.configure("[user]\n\tname = A\n");
    assert_eq!(scene.signer().desk(Rung::Full), None);
    assert_eq!(std::fs::read_dir(scene.at("tmp")).unwrap().count(), 0);
}

//! Tests the table of rungs in `docs/security.md`, row by row, with real attempts on each rung.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};

use omp_contain::Rung;
use omp_types::{ContainMode, NetworkMode};

use super::Scene;

/// A row: its first words in the table, the network, and attempts that print `done` if nothing stops them.
struct Row {
    begins: &'static str,
    network: NetworkMode,
    attempts: Vec<String>,
    /// Paths in the workspace that must be unchanged, or missing, if they are restored afterwards.
    watched: &'static [&'static str],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Kept,
    /// The change happens, and is undone when the command has ended.
    PutBack,
    NotKept,
}

/// The columns of the table that are rungs of Linux.
const COLUMNS: &[Rung] = &[Rung::Full, Rung::Namespaces, Rung::Landlock];

fn rows(port: u16, name: &str, terminal: &str) -> Vec<Row> {
    let me = std::process::id();
    let python = |code: &str| format!("python3 -c '{code}'");
    let row = |begins, attempts: &[String]| Row {
        begins,
        network: NetworkMode::On,
        attempts: attempts.to_vec(),
        watched: &[],
    };
    let text = |attempts: &[&str]| attempts.iter().map(|attempt| (*attempt).to_owned()).collect::<Vec<_>>();
    vec![
        row(
            "writes of commands outside",
            &text(&[
                "echo x > $OUT",
                "mkdir $OUT",
                "rm $HOME/plain",
                "mv $HOME/plain $HOME/other",
                "ln -s x $HOME/link",
            ]),
        ),
        row("modes and times of files outside", &text(&["chmod 700 $HOME/plain", "touch -d 2001-01-01 $HOME/plain"])),
        row("hidden files", &text(&["grep PRIVATE $HOME/.ssh/id", "grep PRIVATE $HOME/.netrc"])),
        Row {
            watched: GUARDED,
            ..row(
                "guarded files that exist",
                &text(&["echo x > .git/hooks/pre-commit", "rm -r .git/hooks && ln -s $TMPDIR .git/hooks"]),
            )
        },
        Row {
            watched: GUARDED,
            ..row(
                "keys of git's settings that run",
                &text(&["git config -f .git/config core.pager x", "echo 'sshCommand = x' >> .git/config"]),
            )
        },
        Row {
            watched: GUARDED,
            ..row(
                "guarded files that do not exist",
                &text(&["mkdir t && echo x > t/config.yml && mv t .omp", "echo x > .envrc", "ln -s $TMPDIR .husky"]),
            )
        },
        row(
            "sockets by path",
            &[python("import os,socket; socket.socket(socket.AF_UNIX).connect(os.environ[\"SSH_AUTH_SOCK\"])")],
        ),
        row("terminals of yours", &[format!("echo x > {terminal}"), format!("exec 3< {terminal}")]),
        row(
            "abstract sockets",
            &[python(&format!(
                "import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b\"x\", \"\\0{name}\")"
            ))],
        ),
        row(
            "environment and memory of others",
            &[
                format!("grep -q . /proc/{me}/environ"),
                format!("head -c1 /proc/{me}/mem"),
                python(&format!("import ctypes,sys; sys.exit(ctypes.CDLL(None).ptrace(16,{me},0,0) != 0)")),
            ],
        ),
        Row {
            begins: "network off",
            network: NetworkMode::Off,
            attempts: vec![format!("(exec 3<>/dev/tcp/127.0.0.1/{port})")],
            watched: &[],
        },
    ]
}

const GUARDED: &[&str] = &[".git/hooks/pre-commit", ".git/hooks/pre-push", ".git/config", ".omp", ".envrc", ".husky"];

/// The content of the table row. The last cells are those without a rung.
fn told(table: &str, begins: &str) -> Vec<Word> {
    let line = table.lines().find(|line| line.starts_with(&format!("| {begins}")));
    let cells = line.expect(begins).trim_matches('|').split('|').skip(1).take(COLUMNS.len());
    let words = [("kept", Word::Kept), ("put back", Word::PutBack), ("not kept", Word::NotKept)];
    let word = |cell: &str| words.into_iter().find(|(word, _)| cell.trim().trim_matches('*') == *word);
    cells.map(|cell| word(cell).expect(cell).1).collect()
}

#[tokio::test]
async fn the_table_in_the_docs_tells_the_truth() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/security.md");
    // If the tests run as nobody, from a copy, the page may not be readable.
    let Ok(page) = std::fs::read_to_string(page) else { return };
    let name = format!("omp-rungs-{}", std::process::id());
    let _abstract = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let terminal = nix::pty::openpty(None, None).unwrap();
    let shown = nix::unistd::ttyname(&terminal.slave).unwrap().display().to_string();
    for row in rows(server.local_addr().unwrap().port(), &name, &shown) {
        let told = told(&page, row.begins);
        for (rung, word) in COLUMNS.iter().zip(told) {
            for attempt in &row.attempts {
                let scene = Scene::new(ContainMode::WorkspaceWrite, row.network);
                std::fs::write(scene.at("home/plain"), "").unwrap();
                let _agent = UnixListener::bind(scene.at("run/agent")).unwrap();
                let before = row.watched.iter().map(|path| std::fs::read(scene.at("home/work").join(path)).ok());
                let before: Vec<Option<Vec<u8>>> = before.collect();
                let said = scene.run(&format!("{{ {attempt}; }} && echo done"), *rung).await;
                assert_eq!(said.contains("done"), word != Word::Kept, "{rung:?}: {attempt}: {said}");
                let is_watched = word == Word::PutBack;
                assert!(!is_watched || !row.watched.is_empty(), "{}: nothing shows that it is put back", row.begins);
                for (path, before) in row.watched.iter().zip(before).filter(|_| is_watched) {
                    let path = scene.at("home/work").join(path);
                    assert_eq!(std::fs::read(&path).ok(), before, "{rung:?}: {attempt}: {}", path.display());
                    assert_eq!(path.exists(), before.is_some(), "{rung:?}: {attempt}: {}", path.display());
                }
            }
        }
    }
}

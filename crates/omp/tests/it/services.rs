//! Services behind sockets, with a real ssh-agent and a real sshd on loopback: blocked, allowed once, allowed permanently.

#![expect(clippy::disallowed_methods, reason = "sshd, ssh-agent and git run as the user's own programs, beside omp")]

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use omp_testkit::Turn;
use serde_json::json;

use crate::harness::{Scene, free_port};
use crate::reach::{bash, git, scene, told};
use crate::rpc::Client;

/// Dropping this kills the process.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// An agent with a key, a server that accepts it, and a repository there.
struct Remote {
    socket: PathBuf,
    _agent: Daemon,
    _server: Daemon,
}

fn run(program: &str, arguments: &[&str]) {
    let done = Command::new(program).args(arguments).stdin(Stdio::null()).output().unwrap();
    assert!(done.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Reads output until a line contains `sign`. A thread reads the rest, so that the process never blocks.
fn until_said(output: impl Read + Send + 'static, sign: &str) {
    let mut lines = BufReader::new(output).lines().map_while(Result::ok);
    let mut heard = Vec::new();
    let found = lines.by_ref().inspect(|line| heard.push(line.clone())).any(|line| line.contains(sign));
    assert!(found, "it never said {sign}: {heard:?}");
    std::thread::spawn(move || lines.for_each(drop));
}

fn program(name: &str) -> PathBuf {
    let places = ["/usr/sbin", "/usr/local/sbin", "/sbin", "/usr/bin"].map(|folder| Path::new(folder).join(name));
    places.into_iter().find(|path| path.exists()).unwrap_or_else(|| panic!("{name} is missing: see scripts/test"))
}

impl Remote {
    fn start(scene: &Scene) -> Self {
        let home = scene.workspace.home().canonicalize().unwrap();
        let (keys, other) = (home.join(".ssh"), home.join("server"));
        // Placed like real agent sockets: in a folder of the temp folder, which is hidden completely.
        let run_dir = scene.workspace.tmp().canonicalize().unwrap().join("ssh-XXXXtest");
        for folder in [&keys, &other, &run_dir] {
            std::fs::create_dir_all(folder).unwrap();
        }
        let text = |path: &Path| path.display().to_string();
        let (key, host_key) = (keys.join("id_ed25519"), other.join("host_key"));
        for key in [&key, &host_key] {
            run("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", &text(key)]);
        }
        std::fs::copy(keys.join("id_ed25519.pub"), other.join("authorized_keys")).unwrap();
        let port = free_port();
        let public = std::fs::read_to_string(other.join("host_key.pub")).unwrap();
        std::fs::write(keys.join("known_hosts"), format!("[127.0.0.1]:{port} {public}")).unwrap();
        let server = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPidFile none\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n",
            text(&host_key),
            text(&other.join("authorized_keys"))
        );
        std::fs::write(other.join("sshd_config"), server).unwrap();
        // ssh reads its files from the home folder of the account, not from $HOME.
        let client = format!(
            "Host box\n  HostName 127.0.0.1\n  Port {port}\n  BatchMode yes\n  UserKnownHostsFile {}\n  GlobalKnownHostsFile none\n",
            text(&keys.join("known_hosts"))
        );
        std::fs::write(home.join("client_config"), client).unwrap();
        if nix::unistd::geteuid().is_root() {
            std::fs::create_dir_all("/run/sshd").unwrap();
        }
        let config = text(&other.join("sshd_config"));
        let server = Command::new(program("sshd")).args(["-D", "-e", "-f", &config]).stderr(Stdio::piped()).spawn();
        let mut server = Daemon(server.unwrap());
        until_said(server.0.stderr.take().unwrap(), "Server listening");
        let socket = run_dir.join("agent.17");
        let agent = Command::new("ssh-agent").args(["-D", "-a", &text(&socket)]).stdout(Stdio::piped()).spawn();
        let mut agent = Daemon(agent.unwrap());
        until_said(agent.0.stdout.take().unwrap(), "SSH_AUTH_SOCK");
        let added = Command::new("ssh-add").args(["-q", &text(&key)]).env("SSH_AUTH_SOCK", &socket).status().unwrap();
        assert!(added.success());
        Self { socket, _agent: agent, _server: server }
    }
}

const SSH: &str = "GIT_SSH_COMMAND='ssh -F ~/client_config'";

/// Creates a project that pushes to the server.
fn with_origin(scene: &Scene) -> PathBuf {
    let (project, bare) = (scene.workspace.project(), scene.workspace.home().join("bare.git"));
    git(&project, &["init", "-q"]);
    git(&project, &["add", "."]);
    git(&project, &["commit", "-qm", "one"]);
    git(&project, &["init", "-q", "--bare", bare.to_str().unwrap()]);
    let bare = bare.canonicalize().unwrap();
    git(&project, &["remote", "add", "origin", &format!("ssh://box{}", bare.display())]);
    bare
}

fn has_main(bare: &Path) -> bool {
    let shown = Command::new("git").args(["rev-parse", "--verify", "-q", "main"]).current_dir(bare).output().unwrap();
    shown.status.success()
}

#[tokio::test]
async fn ssh_is_closed_until_the_user_opens_it_and_no_key_is_shown() {
    let push = format!("{SSH} git push -q origin main");
    let with = |command: &str| Turn::call("bash", json!({"command": command, "sockets": ["ssh-agent"]}));
    let keys = "ssh-add -l && head -c 20 ~/.ssh/id_ed25519 | wc -c && wc -l < ~/.ssh/id_ed25519.pub";
    let scene = scene(
        "tools: { allow: ['bash(git push *)'] }\n",
        [
            bash("ssh-add -l"),
            bash(&push),
            Turn::call("bash", json!({"command": "true", "sockets": ["no-agent"]})),
            with(&format!("{push} && {keys}")),
            bash("ssh-add -l; echo again"),
            with("ssh-add -l"),
            bash("ssh-add -l; echo for good"),
        ],
    )
    .await;
    let remote = Remote::start(&scene);
    let bare = with_origin(&scene);
    let omp = scene.omp(&["--mode", "rpc", "--yolo"]).env("SSH_AUTH_SOCK", &remote.socket);
    let mut client = Client::of(omp);
    client.until("ready").await;
    client.send(&json!({"type": "prompt", "message": "go"})).await;
    for answer in ["Approve", "Always allow: use ssh-agent"] {
        let asked = client.until("extension_ui_request").await;
        let title = asked["title"].as_str().unwrap();
        for part in ["use ssh-agent (blocked for commands; allows ", "agent.17", "known_hosts", "id_ed25519.pub"] {
            assert!(title.contains(part), "{part}: {title}");
        }
        assert!(!has_main(&bare) || answer != "Approve", "nothing was pushed before the yes");
        client.send(&json!({"type": "extension_ui_response", "id": asked["id"], "value": answer})).await;
    }
    client.until("agent_end").await;
    assert_eq!(client.finish().await, Some(0));
    let said = told(&scene);
    assert!(has_main(&bare), "{said}");
    // Denied, allowed once, denied, allowed, and allowed from then on.
    assert_eq!(said.matches("(ED25519)").count(), 3, "{said}");
    assert!(said.contains("Host key verification failed"), "{said}");
    assert!(said.matches("Sandbox: ssh-agent is closed to commands: ").count() >= 3, "{said}");
    assert!(said.contains("hint: run it again with `sockets: ["), "{said}");
    assert!(said.contains("unknown service `no-agent`") && said.contains("takes ssh-agent, gpg-agent"), "{said}");
    // The private key is empty, the public one is not.
    assert!(said.contains("(ED25519)\\n0\\n1"), "{said}");
    let config = std::fs::read_to_string(scene.workspace.agent_dir().join("config.yml")).unwrap();
    assert!(config.contains("sockets:\n    - ssh-agent\n"), "{config}");
}

#[tokio::test]
async fn one_setting_brings_what_ssh_needs() {
    let push = format!("{SSH} git push -q origin main && ssh-add -l");
    let scene =
        scene("containment: { sockets: [ssh-agent] }\ntools: { allow: ['bash(git push *)'] }\n", [bash(&push)]).await;
    let remote = Remote::start(&scene);
    let bare = with_origin(&scene);
    let omp = scene.omp(&["--yolo", "-p", "go"]).env("SSH_AUTH_SOCK", &remote.socket);
    omp.run().await.exits(0).prints("Done.\n");
    assert!(has_main(&bare) && told(&scene).contains("(ED25519)"), "{}", told(&scene));
}

#[tokio::test]
async fn a_service_that_does_not_exist_is_an_error_with_the_list() {
    let scene = scene("containment: { sockets: [ssh-agnet] }\n", []).await;
    let parts = [
        "config.yml:2:26: `ssh-agnet` in `containment.sockets` must be one of ssh-agent, gpg-agent",
        "or a path that starts with / or ~/; omp does not start",
    ];
    scene.omp(&["-p", "go"]).run().await.exits(2).complains(&parts);
}

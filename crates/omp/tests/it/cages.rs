//! Sandboxed commands in various environments: in tmux, with agents and buses, inside other namespaces and without any.

use std::ffi::OsString;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::libc;
use omp_testkit::{Script, Turn, Wire};
use serde_json::json;

use crate::harness::{Omp, QUICK_RETRIES, Scene};
use crate::rpc::Client;

/// Creates a file, and tries what the sandbox must block.
const PROBE: &str = "echo x > made; f=$HOME/.ssh/id; grep -s 'PRI[V]ATE' $f; f=$HOME/outside; touch $f; echo finished";

async fn scene() -> Scene {
    let call = Turn::call("bash", json!({"command": PROBE}));
    let scene = Scene::new(Wire::Anthropic, Script::new(vec![call, Turn::text("Done.")])).await;
    let ssh = scene.workspace.home().join(".ssh");
    std::fs::create_dir_all(&ssh).unwrap();
    std::fs::write(ssh.join("id"), "PRIVATE").unwrap();
    scene
}

/// Checks that the command ran, wrote only where it may, and read nothing hidden.
#[track_caller]
fn is_kept(scene: &Scene, on: &str) {
    let told = scene.last_request().json().unwrap()["messages"].to_string();
    assert!(told.contains("finished"), "{on}: {told}");
    assert!(scene.workspace.path("made").exists(), "{on}: {told}");
    assert!(!told.contains("PRIVATE"), "{on}: {told}");
    assert!(!scene.workspace.home().join("outside").exists(), "{on}: {told}");
}

fn socket(path: &Path) -> UnixListener {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    UnixListener::bind(path).unwrap()
}

#[tokio::test]
async fn a_hidden_socket_in_a_hidden_folder_stops_no_command() {
    let scene = scene().await;
    let (tmp, user) = (scene.workspace.tmp(), nix::unistd::geteuid());
    let (tmux, agent, run) = (tmp.join(format!("tmux-{user}/default")), tmp.join("ssh-abc/agent.1"), tmp.join("run"));
    let _sockets = [socket(&tmux), socket(&agent), socket(&run.join("bus"))];
    let omp = scene.omp(&["--yolo", "-p", "go"]);
    let omp = omp.env("TMUX", format!("{},1,0", tmux.display())).env("SSH_AUTH_SOCK", &agent);
    let bus = format!("unix:path={},guid=1", run.join("bus").display());
    let omp = omp.env("XDG_RUNTIME_DIR", &run).env("DBUS_SESSION_BUS_ADDRESS", bus);
    omp.run().await.exits(0).prints("Done.\n");
    is_kept(&scene, "tmux, agent and bus");
}

#[tokio::test]
async fn a_temp_folder_in_the_folder_of_sockets_can_be_used() {
    let scene = scene().await;
    let run = scene.workspace.tmp().join("run");
    let _bus = socket(&run.join("bus"));
    std::fs::create_dir(run.join("tmp")).unwrap();
    let omp = scene.omp(&["--yolo", "-p", "go"]).env("XDG_RUNTIME_DIR", &run).env("TMPDIR", run.join("tmp"));
    omp.run().await.exits(0).prints("Done.\n");
    is_kept(&scene, "a temp folder of the session");
}

/// Starts omp as rootless Podman, toolbox, distrobox and Flatpak start programs.
#[tokio::test]
async fn commands_run_inside_other_namespaces() {
    let bwrap = "bwrap --dev-bind / / --unshare-user --unshare-pid --proc /proc \"$@\"";
    let bwrap_twice = "bwrap --dev-bind / / --unshare-user bwrap --dev-bind / / --unshare-user \"$@\"";
    for outer in [
        "exec unshare -U -r \"$@\"",
        "exec unshare -U -r -m \"$@\"",
        "exec unshare -U -m \"$@\"",
        "exec unshare -U -r -m unshare -U -r -m \"$@\"",
        "exec unshare -U -r -m -p -f --mount-proc \"$@\"",
        bwrap,
        bwrap_twice,
    ] {
        let scene = scene().await;
        Omp::behind(outer, &scene.workspace, &["--yolo", "-p", "go"]).run().await.exits(0).prints("Done.\n");
        is_kept(&scene, outer);
    }
}

/// The binary falls back to the weaker mechanisms by itself.
#[tokio::test]
async fn without_namespaces_the_next_rung_is_taken_and_told() {
    let limit = "exec unshare -U -r sh -c 'echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"' sh \"$@\"";
    let scene = scene().await;
    scene.workspace.write_config_yml(QUICK_RETRIES).unwrap();
    let ran = Omp::behind(limit, &scene.workspace, &["--yolo", "-p", "go"]).run().await.exits(0).prints("Done.\n");
    ran.complains(&["without namespaces", "max_user_namespaces"]);
    is_kept(&scene, limit);
}

/// Records names that were created, removed or changed in a folder, as any watching program sees them.
struct Watcher(std::os::fd::OwnedFd);

impl Watcher {
    fn new(folder: &Path) -> Self {
        use std::os::fd::{AsRawFd, FromRawFd};
        let path = std::ffi::CString::new(folder.to_str().unwrap()).unwrap();
        let mask = libc::IN_CREATE | libc::IN_DELETE | libc::IN_MOVE | libc::IN_ATTRIB | libc::IN_CLOSE_WRITE;
        // SAFETY: the descriptor was created here, and the C string outlives the call.
        unsafe {
            let watcher = std::os::fd::OwnedFd::from_raw_fd(libc::inotify_init1(libc::IN_NONBLOCK | libc::IN_CLOEXEC));
            assert!(libc::inotify_add_watch(watcher.as_raw_fd(), path.as_ptr(), mask) >= 0);
            Self(watcher)
        }
    }

    fn seen(&self) -> Vec<String> {
        use std::io::Read;
        let mut bytes = vec![0; 1 << 20];
        let mut file = std::fs::File::from(self.0.try_clone().unwrap());
        let read = file.read(&mut bytes).unwrap_or_default();
        let (mut seen, mut at) = (Vec::new(), 0);
        while at + 16 <= read {
            let length = u32::from_ne_bytes(bytes[at + 12..at + 16].try_into().unwrap()) as usize;
            let name = String::from_utf8_lossy(&bytes[at + 16..at + 16 + length]);
            seen.push(name.trim_end_matches('\0').to_owned());
            at += 16 + length;
        }
        seen
    }
}

/// Starts omp in the home folder instead of the project.
fn at_home(scene: &Scene, args: &[&str]) -> Omp {
    let mut args: Vec<OsString> = scene.workspace.args(args);
    let at = args.iter().position(|word| word == "--cwd").unwrap();
    args[at + 1] = scene.workspace.home().into();
    Omp::bare(&scene.workspace).args(args)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn nothing_happens_in_a_home_that_commands_only_read() {
    let call = || Turn::call("bash", json!({"command": "ls -A; cat .bashrc; pwd"}));
    let turns = vec![call(), call(), call(), Turn::text("Done.")];
    let scene = Scene::new(Wire::Anthropic, Script::new(turns)).await;
    let home = scene.workspace.home();
    std::fs::write(home.join(".bashrc"), "# mine").unwrap();
    std::fs::create_dir_all(home.join(".config")).unwrap();
    // The first run creates omp's own files.
    at_home(&scene, &["--yolo", "-p", "go"]).run().await.exits(0);
    let (before, watchers) = (names(&home), [Watcher::new(&home), Watcher::new(&home.join(".config"))]);
    let turns = vec![call(), call(), call(), Turn::text("Done.")];
    let server = omp_testkit::Server::start(Script::new(turns)).await.unwrap();
    let provider = omp_testkit::MockProvider::new(&server.base_url(), Wire::Anthropic.api()).reasoning();
    scene.workspace.write_provider(&provider).unwrap();
    at_home(&scene, &["--yolo", "-p", "go"]).run().await.exits(0).prints("Done.\n");
    let seen: Vec<String> = watchers.iter().flat_map(Watcher::seen).collect();
    assert_eq!(seen, [""; 0]);
    assert_eq!(names(&home), before);
}

#[tokio::test]
async fn nothing_is_left_in_the_tree_of_a_killed_omp() {
    let call = Turn::call("bash", json!({"command": "echo x > begun; sleep 600"}));
    let scene = Scene::new(Wire::Anthropic, Script::new(vec![Turn::text("Hi."), call])).await;
    let home = scene.workspace.home();
    // The first run creates omp's own files and the caches of installed programs.
    at_home(&scene, &["-p", "hi"]).run().await.exits(0);
    let before = names(&home);
    let running = at_home(&scene, &["--yolo", "-p", "go"]).start();
    until(|| home.join("begun").exists()).await;
    let during = names(&home);
    running.signal(nix::sys::signal::Signal::SIGKILL);
    running.finish().await;
    for names in [during, names(&home)] {
        let new: Vec<String> = names.into_iter().filter(|name| !before.contains(name)).collect();
        assert_eq!(new, ["begun"]);
    }
}

async fn until(mut done: impl FnMut() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < Duration::from_secs(60), "it never came true");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn what_a_long_command_plants_is_gone_while_it_runs() {
    let script = "echo evil > .envrc; mkdir .husky; echo evil > .husky/pre-commit; echo x > begun; \
        until test -e go; do sleep 0.05; done";
    let turns = vec![Turn::call("bash", json!({"command": script})), Turn::text("Done.")];
    let scene = Scene::new(Wire::Anthropic, Script::new(turns)).await;
    // Both paths are guarded, so the shell would ask; the names are assembled at run time to avoid that.
    let script = script.replace(".envrc", "$(echo .envrc)").replace(".husky", "$(echo .husky)");
    let turns = vec![Turn::call("bash", json!({"command": script})), Turn::text("Done.")];
    let server = omp_testkit::Server::start(Script::new(turns)).await.unwrap();
    let provider = omp_testkit::MockProvider::new(&server.base_url(), Wire::Anthropic.api()).reasoning();
    scene.workspace.write_provider(&provider).unwrap();
    let running = scene.omp(&["--yolo", "-p", "go"]).start();
    let project = scene.workspace.project();
    until(|| project.join("begun").exists()).await;
    until(|| !project.join(".envrc").exists() && !project.join(".husky").exists()).await;
    std::fs::write(project.join("go"), "").unwrap();
    running.finish().await.exits(0).prints("Done.\n");
    let told = server.model_requests().pop().unwrap().json().unwrap()["messages"].to_string();
    assert!(
        told.contains(".envrc may not be created")
            && told.contains("it was moved to ")
            && told.contains(".envrc.set-aside"),
        "{told}"
    );
}

#[tokio::test]
async fn ordinary_git_needs_no_question() {
    let commands = [
        "git init -q -b main . && git config user.name a && git config user.email a@b",
        "git add -A && git commit -qm one",
        "git remote add origin https://host/a.git && git remote -v",
        "git branch topic && git branch -m topic other && git branch -D other && git branch --track up main",
        "git config branch.main.remote origin && git config pull.rebase true",
        "echo y > b && git add b && git stash && git stash pop && git worktree add -q wt -b wt && git worktree list",
    ];
    let mut turns: Vec<Turn> = commands.iter().map(|command| Turn::call("bash", json!({"command": command}))).collect();
    turns.push(Turn::call("bash", json!({"command": "k=core.pager; git config $k evil; git config user.name kept"})));
    turns.push(Turn::text("Done."));
    let scene = Scene::new(Wire::Anthropic, Script::new(turns)).await;
    scene.omp(&["--yolo", "-p", "go"]).run().await.exits(0).prints("Done.\n");
    let told = scene.last_request().json().unwrap()["messages"].to_string();
    assert!(!told.contains("was not run") && !told.contains("fatal:"), "{told}");
    assert!(told.contains("Sandbox: core.pager in"), "{told}");
    let config = std::fs::read_to_string(scene.workspace.path(".git/config")).unwrap();
    assert!(config.contains("name = kept") && config.contains("[remote \"origin\"]"), "{config}");
    assert!(!config.contains("evil"), "{config}");
}

#[tokio::test]
async fn a_workspace_that_was_renamed_is_told() {
    let call = || Turn::call("bash", json!({"command": "echo ran > made"}));
    let turns = vec![call(), Turn::text("One."), call(), Turn::text("Two.")];
    let scene = Scene::new(Wire::Anthropic, Script::new(turns)).await;
    let mut client = Client::start(&scene, &["--yolo"]).await;
    client.prompt("one").await;
    let project = scene.workspace.project();
    let moved = project.with_file_name("moved");
    std::fs::rename(&project, &moved).unwrap();
    client.prompt("two").await;
    let told = scene.last_request().json().unwrap()["messages"].to_string();
    let expect = format!("{} cannot be entered", project.canonicalize().unwrap_or(project).display());
    assert!(told.contains(&expect) && told.contains("moved or removed"), "{told}");
    client.finish().await;
}

/// Starts the program unchanged, as in a container whose filter forbids something.
const AS_IT_IS: &str = "exec \"$@\"";
const NO_DEV: &str = "exec unshare -U -r -m sh -c 'mount -t tmpfs none /dev && exec \"$@\"' sh \"$@\"";
const NO_PROC: &str = "exec unshare -U -r -m sh -c 'mount -t tmpfs none /proc && exec \"$@\"' sh \"$@\"";
const NAMESPACES: &[libc::c_long] = &[libc::SYS_unshare];
const JOINING: &[libc::c_long] = &[libc::SYS_setns];
const ALL: &[libc::c_long] = &[libc::SYS_unshare, libc::SYS_landlock_create_ruleset, libc::SYS_landlock_restrict_self];
const NO_SECCOMP: &[libc::c_long] = &[libc::SYS_unshare, libc::SYS_seccomp];

#[tokio::test]
async fn a_filter_that_forbids_namespaces_costs_a_rung_and_is_told() {
    let scene = scene().await;
    let omp = Omp::behind(AS_IT_IS, &scene.workspace, &["--yolo", "-p", "go"]).without_calls(NAMESPACES, libc::EPERM);
    let ran = omp.run().await.exits(0).prints("Done.\n");
    ran.complains(&["without namespaces: making namespaces failed: Operation not permitted", "seccomp=unconfined"]);
    is_kept(&scene, "unshare is forbidden");
}

#[tokio::test]
async fn where_no_namespace_can_be_joined_each_command_has_its_own() {
    let scene = scene().await;
    let omp = Omp::behind(AS_IT_IS, &scene.workspace, &["--yolo", "-p", "go"]).without_calls(JOINING, libc::EPERM);
    let ran = omp.run().await.exits(0).prints("Done.\n");
    assert!(!ran.stderr.contains("without"), "{ran}");
    is_kept(&scene, "setns is forbidden");
}

#[tokio::test]
async fn where_nothing_can_be_kept_a_chosen_mode_refuses_and_the_default_tells() {
    for (calls, why) in [(ALL, "forbids Landlock"), (NO_SECCOMP, "applying seccomp failed")] {
        let scene = scene().await;
        scene.workspace.write_config_yml("containment: { mode: workspace-write }\n").unwrap();
        let omp = Omp::behind(AS_IT_IS, &scene.workspace, &["--yolo", "-p", "go"]).without_calls(calls, libc::EPERM);
        omp.run().await.exits(0).prints("Done.\n").complains(&["is not available here", why, "hint: "]);
        let told = scene.last_request().json().unwrap()["messages"].to_string();
        assert!(told.contains("the command was not run") && !told.contains("finished\\n"), "{why}: {told}");
        assert!(!scene.workspace.path("made").exists(), "{why}");
    }
    let scene = scene().await;
    let omp = Omp::behind(AS_IT_IS, &scene.workspace, &["--yolo", "-p", "go"]).without_calls(ALL, libc::EPERM);
    omp.run().await.exits(0).prints("Done.\n").complains(&["commands run without a sandbox", "hint: `omp doctor`"]);
    assert!(scene.workspace.path("made").exists());
}

#[tokio::test]
async fn without_devices_a_command_is_refused_with_the_reason() {
    let scene = scene().await;
    Omp::behind(NO_DEV, &scene.workspace, &["--yolo", "-p", "go"]).run().await.exits(0).prints("Done.\n");
    let told = scene.last_request().json().unwrap()["messages"].to_string();
    assert!(told.contains("/dev/null is missing") && told.contains("hint: /dev has to be mounted"), "{told}");
    assert!(!scene.workspace.path("made").exists(), "{told}");
}

#[tokio::test]
async fn without_a_table_of_processes_commands_run_on_the_next_rung() {
    let scene = scene().await;
    let ran = Omp::behind(NO_PROC, &scene.workspace, &["--yolo", "-p", "go"]).run().await.exits(0).prints("Done.\n");
    ran.complains(&["without namespaces: mapping the user failed", "hint: mount /proc"]);
    is_kept(&scene, NO_PROC);
}

fn is_gone(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_none_or(|rest| rest.is_empty() || rest.trim_start().starts_with('Z'))
}

/// A process that left the group of its command could not be found there, so no process may leave it.
#[tokio::test]
async fn without_a_table_of_processes_no_server_outlives_omp() {
    let leave = "import os, time
r, w = os.pipe()
pid = os.fork()
if pid:
    print(\"daemon\", os.read(r, 9).decode())
    os._exit(open(\"daemon\", \"w\").write(str(pid)) and 0)
try:
    os.setsid()
    os.write(w, b\"left\")
except OSError:
    os.write(w, b\"stayed\")
time.sleep(600)";
    let script = format!(
        "sleep 600 >/dev/null 2>&1 & echo $! > plain; nohup sleep 600 >/dev/null 2>&1 & echo $! > nohup; \
         setsid sleep 600; echo \"setsid $?\"; python3 -u -c '{leave}'"
    );
    for is_killed in [false, true] {
        let last = if is_killed { "sleep 600" } else { "true" };
        let calls = [script.as_str(), last].map(|command| Turn::call("bash", json!({"command": command})));
        let scene = Scene::new(Wire::Anthropic, Script::new([&calls[..], &[Turn::text("Done.")]].concat())).await;
        let running = Omp::behind(NO_PROC, &scene.workspace, &["--yolo", "-p", "go"]).start();
        let read = |name: &str| std::fs::read_to_string(scene.workspace.path(name)).unwrap_or_default();
        if is_killed {
            until(|| scene.server.model_requests().len() > 1).await;
            running.signal(nix::sys::signal::Signal::SIGKILL);
            running.finish().await;
        } else {
            running.finish().await.exits(0).prints("Done.\n");
        }
        let told = scene.last_request().json().unwrap()["messages"].to_string();
        assert!(told.contains("setsid 1") && told.contains("daemon stayed"), "{told}");
        for name in ["plain", "nohup", "daemon"] {
            let pid: i32 = read(name).trim().parse().unwrap_or_else(|_| panic!("{name}: {told}"));
            until(|| is_gone(pid)).await;
        }
    }
}

/// In all of these environments, doctor never reports success where a command then fails.
#[tokio::test]
async fn doctor_says_what_a_command_would_meet() {
    const NESTED: &str = "exec unshare -U -r -m unshare -U -r -m \"$@\"";
    const NO_USER: &str =
        "exec unshare -U -r sh -c 'echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"' sh \"$@\"";
    const SET: &str = "containment: { mode: workspace-write }\n";
    let ran = "a sandboxed command ran in";
    for (behind, calls, config, code, told) in [
        (NESTED, &[][..], "", 0, &["ok    containment", ran][..]),
        (NO_USER, &[], "", 0, &["ok    containment", "using landlock+seccomp", "max_user_namespaces=10000", ran]),
        (AS_IT_IS, NAMESPACES, "", 0, &["ok    containment", "using landlock+seccomp", "seccomp=unconfined", ran]),
        (AS_IT_IS, JOINING, "", 0, &["ok    containment", "using namespaces+landlock+seccomp", ran]),
        (AS_IT_IS, ALL, "", 1, &["FAIL  containment", "commands can do everything you can", "forbids Landlock"]),
        (AS_IT_IS, ALL, SET, 1, &["FAIL  containment", "FAIL  command", "the command was not run"]),
        (AS_IT_IS, NO_SECCOMP, SET, 1, &["FAIL  containment", "FAIL  command", "applying seccomp failed"]),
        (NO_PROC, &[], "", 0, &["ok    containment", "using landlock+seccomp", "hint: mount /proc", ran]),
        (NO_DEV, &[], "", 1, &["FAIL  containment", "FAIL  command", "/dev/null is missing"]),
    ] {
        let scene = Scene::new(Wire::Completions, [Turn::text("never asked")]).await;
        scene.workspace.write_config_yml(config).unwrap();
        let omp = Omp::bare_behind(behind, &scene.workspace, &["doctor"]).without_calls(calls, libc::EPERM);
        let ran = omp.run().await.exits(code);
        for words in told {
            assert!(ran.stdout.contains(words), "{behind} {calls:?}: {words}: {ran}");
        }
        let is_fine = ran.stdout.contains("ok    containment");
        assert_eq!(is_fine, ran.stdout.contains("ok    command") && code == 0, "{behind} {calls:?}: {ran}");
    }
}

#[tokio::test]
async fn a_workspace_that_is_renamed_while_a_command_runs_breaks_nothing() {
    let wait = "echo x > begun; until test -e go; do sleep 0.05; done; echo y > after; pwd -P";
    let turns = [
        Turn::call("bash", json!({"command": wait})),
        Turn::call("bash", json!({"command": "echo ran > made"})),
        Turn::call("write", json!({"path": "new.txt", "content": "text\n"})),
        Turn::text("Done."),
    ];
    let scene = Scene::new(Wire::Anthropic, Script::new(turns.to_vec())).await;
    let project = scene.workspace.project();
    let moved = project.with_file_name("moved");
    let running = scene.omp(&["--yolo", "-p", "go"]).start();
    until(|| project.join("begun").exists()).await;
    std::fs::rename(&project, &moved).unwrap();
    std::fs::write(moved.join("go"), "").unwrap();
    let ran = running.finish().await.exits(0).prints("Done.\n");
    let told = scene.last_request().json().unwrap()["messages"].to_string();
    // A running command continues in its moved folder; later commands do not start.
    assert!(moved.join("after").exists() && !moved.join("made").exists(), "{told} {ran}");
    assert!(told.contains("cannot be entered") && told.contains("moved or removed"), "{told}");
    assert!(!moved.join("new.txt").exists(), "{told}");
}

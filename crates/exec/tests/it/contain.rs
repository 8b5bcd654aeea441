//! Tests what contained commands cannot do, each with real commands, on every rung that enforces it.

mod git;
mod lent;
mod network;
mod overlapping;
mod planted;
mod put_back;
mod rungs;
mod servers;
mod tracked;

use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};

use omp_contain::{MapSources, Rung, default_map};
use omp_exec::{ChildEnv, Containment, Shell, Spawn};
use omp_types::{Access, AccessMap, ContainMode, Env, NetworkMode};
use proptest::test_runner::{Config as ProptestConfig, RngSeed};

use super::{PATIENCE, eventually, read_all, run};

/// A home folder, a repository in it, and a folder outside.
struct Scene {
    folder: tempfile::TempDir,
    access: Access,
    env: Env,
}

const ALL: &[Rung] = &[Rung::Full, Rung::Namespaces, Rung::Landlock];
/// Rungs with a private view of the file system.
const VIEWS: &[Rung] = &[Rung::Full, Rung::Namespaces];

impl Scene {
    fn new(mode: ContainMode, network: NetworkMode) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for made in ["tmp", "home/.ssh", "home/.omp/agent", "home/work/.git/hooks", "home/work/.claude", "run"] {
            std::fs::create_dir_all(root.join(made)).unwrap();
        }
        std::fs::write(root.join("home/.ssh/id"), "PRIVATE").unwrap();
        std::fs::write(root.join("home/.netrc"), "PRIVATE").unwrap();
        std::fs::write(root.join("home/.bashrc"), "").unwrap();
        std::fs::write(root.join("home/work/.git/config"), "[core]\n").unwrap();
        let text = |path: &str| root.join(path).display().to_string();
        let (home, temp, agent) = (text("home"), text("tmp"), text("run/agent"));
        let env: Env = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin"),
            ("HOME", &home),
            ("TMPDIR", &temp),
            ("SSH_AUTH_SOCK", &agent),
            ("OUT", &text("outside")),
        ]
        .into_iter()
        .collect();
        let access = Access::new(map_of(&root, &env, mode, network));
        Self { folder, access, env }
    }

    fn writing() -> Self {
        Self::new(ContainMode::WorkspaceWrite, NetworkMode::On)
    }

    /// Rebuilds the map from the current files.
    fn again(&self) {
        let root = self.folder.path().canonicalize().unwrap();
        self.access.change(|map| *map = map_of(&root, &self.env, map.mode, map.network));
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn spawn(&self, script: &str, rung: Rung) -> Spawn {
        let containment = Containment::new(self.access.clone()).at_most(rung);
        let env = ChildEnv::unattended(&self.env);
        Shell::choose(&self.env).spawn(script, env, &containment).cwd(self.at("home/work"))
    }

    async fn run(&self, script: &str, rung: Rung) -> String {
        run(self.spawn(script, rung)).await.0
    }

    /// Checks that the script does not print `done`, which it does if nothing stops it.
    async fn denies(&self, script: &str, rungs: &[Rung]) {
        for rung in rungs {
            let said = self.run(&format!("{{ {script}; }} && echo done"), *rung).await;
            assert!(!said.contains("done"), "{rung:?}: {script}: {said}");
        }
    }

    /// The script may create the path, which must be gone when the script has ended.
    async fn plants_nothing(&self, script: &str, path: &str, rungs: &[Rung]) {
        for rung in rungs {
            let said = self.run(script, *rung).await;
            let planted = self.at("home/work").join(path);
            assert!(std::fs::symlink_metadata(&planted).is_err(), "{rung:?}: {script}: {said}");
            self.run("rm -rf .git/omp-set-aside *.set-aside* .*.set-aside*", Rung::Full).await;
        }
    }

    async fn allows(&self, script: &str, rungs: &[Rung]) {
        for rung in rungs {
            let said = self.run(&format!("{{ {script}; }} && echo done"), *rung).await;
            assert!(said.ends_with("done\n"), "{rung:?}: {script}: {said}");
        }
    }
}

fn map_of(root: &Path, env: &Env, mode: ContainMode, network: NetworkMode) -> AccessMap {
    map_in(root, env, mode, network, &root.join("home/work"))
}

fn map_in(root: &Path, env: &Env, mode: ContainMode, network: NetworkMode, workspace: &Path) -> AccessMap {
    default_map(&MapSources {
        mode,
        network,
        workspace,
        cwd: workspace,
        home: &root.join("home"),
        agent: &root.join("home/.omp/agent"),
        env,
        writable: Vec::new(),
        hidden: Vec::new(),
        shown: Vec::new(),
        sockets: Vec::new(),
        hosts: Vec::new(),
    })
}

/// The containment that a session uses in `folder`.
pub fn workspace(folder: &Path) -> Containment {
    let workspace = folder.canonicalize().unwrap();
    Containment::new(Access::new(AccessMap { workspace, ..AccessMap::default() }))
}

/// Root and ordinary users are different cases: if the tests run as root they are run again as nobody.
#[tokio::test]
async fn an_ordinary_user_is_contained_as_well() {
    as_nobody(&["contain::", "--skip", "git_works", "--skip", "contain::tracked::"]).await;
}

/// A separate test, because each takes its time.
#[tokio::test]
async fn an_ordinary_user_goes_from_commit_to_commit_as_well() {
    as_nobody(&["contain::tracked::"]).await;
}

async fn as_nobody(tests: &[&str]) {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let program = folder.path().join("tests");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let mut env = ChildEnv::default().set("PATH", "/usr/bin:/bin").set("TMPDIR", folder.path().display().to_string());
    // Generated cases are the same for both users if the seed is fixed.
    if let RngSeed::Fixed(seed) = ProptestConfig::default().rng_seed {
        env = env.set("PROPTEST_RNG_SEED", seed.to_string());
    }
    let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let spawn = Spawn::new("setpriv", env, &Containment::of_user()).args(nobody).arg(&program).args(tests);
    let (said, finished) = run(spawn.arg("--test-threads=1").cwd(folder.path())).await;
    assert_eq!(finished.exit.code, 0, "{said}");
}

#[tokio::test]
async fn this_machine_has_every_rung() {
    let standing = omp_contain::standing();
    assert_eq!(standing.rung(), Rung::Full, "{standing:?}");
}

#[tokio::test]
async fn writes_stay_in_the_workspace_the_temp_folder_and_caches() {
    let scene = Scene::writing();
    scene.allows("echo x > a && mkdir -p b/c && mv a b/c/d && ln b/c/d e && cat e && rm -r b e", ALL).await;
    scene.allows("echo x > $TMPDIR/a && f=$(mktemp) && rm $f && echo x > /dev/null && echo x >/dev/shm/omp-$$ && rm /dev/shm/omp-$$", ALL).await;
    scene.denies("echo x > $OUT", ALL).await;
    scene.denies("mkdir $OUT", ALL).await;
    scene.denies("ln -s $OUT link; echo x > link", ALL).await;
    scene.denies("echo x > $HOME/new", ALL).await;
    scene.denies("rm -f $HOME/.bashrc && test ! -e $HOME/.bashrc", ALL).await;
    scene.denies("chmod 777 $HOME/.bashrc", VIEWS).await;
    scene.denies("mv $HOME $HOME-2", ALL).await;
    scene.denies("echo x > /proc/sys/kernel/core_pattern", VIEWS).await;
    assert!(!scene.at("outside").exists() && scene.at("home/.bashrc").exists());
}

#[tokio::test]
async fn reading_is_all_that_read_only_allows() {
    let scene = Scene::new(ContainMode::ReadOnly, NetworkMode::On);
    scene.allows("cat .git/config && ls / >/dev/null && echo x >/dev/null", ALL).await;
    scene.denies("echo x > a", ALL).await;
    scene.denies("echo x > $TMPDIR/a", ALL).await;
    scene.denies("echo x >> .git/config", ALL).await;
}

#[tokio::test]
async fn keys_are_not_there_to_read() {
    let scene = Scene::writing();
    for path in ["$HOME/.ssh/id", "$HOME/.netrc"] {
        scene.denies(&format!("grep PRIVATE {path}"), ALL).await;
        scene.denies(&format!("cp -r {path} copy && grep -r PRIVATE copy"), ALL).await;
        scene.denies(&format!("ln {path} hard && grep PRIVATE hard"), ALL).await;
        scene.denies(&format!("grep PRIVATE /proc/{}/root{path}", std::process::id()), ALL).await;
    }
    // In a writable folder, where its parents could be renamed.
    let inner = scene.at("home/work/keys/deep");
    std::fs::create_dir_all(&inner).unwrap();
    std::fs::write(inner.join("id"), "PRIVATE").unwrap();
    scene.access.change(|map| map.hidden.push(inner.canonicalize().unwrap()));
    scene.denies("mv keys other; grep -r PRIVATE .", VIEWS).await;
    scene.allows("echo x > keys/beside", VIEWS).await;
}

#[tokio::test]
async fn what_decides_about_running_is_guarded_whether_it_exists_or_not() {
    let scene = Scene::writing();
    std::fs::create_dir(scene.at("home/work/.git/info")).unwrap();
    std::fs::write(scene.at("home/work/.git/info/attributes"), "").unwrap();
    for path in [".git/hooks/pre-commit", ".git/info/attributes"] {
        scene.denies(&format!("echo x > {path}"), VIEWS).await;
        scene.denies(&format!("echo x > new && mv -T new {path}"), VIEWS).await;
    }
    for path in [".omp/settings.json", ".claude/settings.json", ".mcp.json"] {
        scene.plants_nothing(&format!("mkdir -p .omp; echo x > {path}"), path, VIEWS).await;
        scene.plants_nothing(&format!("mkdir -p .omp; echo x > new && mv -T new {path}"), path, VIEWS).await;
    }
    for folder in [".git", ".git/hooks"] {
        scene.denies(&format!("mv {folder} away"), VIEWS).await;
        scene.denies(&format!("rm -rf {folder} 2>/dev/null; ! test -e {folder}"), VIEWS).await;
    }
    scene
        .allows("mkdir -p .git/objects/ab && echo x > .git/index && cat .git/config && test -d .git/hooks", VIEWS)
        .await;
    // Nothing of it remains.
    let work = scene.at("home/work");
    assert!(
        !work.join(".omp").exists() && !work.join(".mcp.json").exists() && !work.join(".claude/settings.json").exists()
    );
    assert_eq!(std::fs::read_to_string(work.join(".git/config")).unwrap(), "[core]\n");
}

#[tokio::test]
async fn start_files_are_guarded_where_the_home_is_the_workspace() {
    let scene = Scene::writing();
    let home = scene.at("home").canonicalize().unwrap();
    scene.access.change(|map| map.workspace = home);
    scene.denies("echo x >> $HOME/.bashrc", VIEWS).await;
    scene.plants_nothing("echo x >> $HOME/.zshrc", "../.zshrc", VIEWS).await;
    std::fs::remove_dir_all(scene.at("home/.ssh")).unwrap();
    scene.plants_nothing("mkdir $HOME/.ssh; echo x > $HOME/.ssh/authorized_keys", "../.ssh", VIEWS).await;
    scene.plants_nothing("mkdir $HOME/.aws; echo x > $HOME/.aws/config", "../.aws/config", VIEWS).await;
    scene.allows("echo x >> $HOME/notes", VIEWS).await;
    assert!(!scene.at("home/.zshrc").exists());
}

#[tokio::test]
async fn git_works_in_the_workspace() {
    let scene = Scene::writing();
    let work = scene.at("home/work");
    std::fs::remove_dir_all(work.join(".git")).unwrap();
    let commit = "git -c user.name=a -c user.email=a@b commit -qm one";
    scene.allows(&format!("git init -q && echo x > a && git add -A && {commit}"), &[Rung::Full]).await;
    scene
        .allows(
            &format!("echo y > $(mktemp -p .) && git add -A && {commit} && git status --porcelain && git gc -q"),
            VIEWS,
        )
        .await;
    assert_eq!(scene.run("git ls-files | grep -v tmp", Rung::Full).await, "a\n");
    scene.run("git config core.fsmonitor evil", Rung::Full).await;
    assert_eq!(scene.run("git config core.fsmonitor", Rung::Full).await, "");
}

#[tokio::test]
async fn other_processes_are_left_alone() {
    let scene = Scene::writing();
    let me = std::process::id();
    scene.denies(&format!("grep -q . /proc/{me}/environ"), ALL).await;
    scene.denies(&format!("head -c1 /proc/{me}/mem"), ALL).await;
    let attach =
        format!("python3 -c 'import ctypes,sys; libc=ctypes.CDLL(None); sys.exit(libc.ptrace(16,{me},0,0) != 0)'");
    scene.denies(&attach, ALL).await;
    // One command may end processes that another has left running.
    let mut server = scene.spawn("echo $$; exec sleep 600", Rung::Full).start().unwrap();
    let mut said = [0; 32];
    let read = server.read(&mut said).await.unwrap();
    let pid = String::from_utf8_lossy(&said[..read]).trim().to_owned();
    scene.allows(&format!("kill -9 {pid}"), &[Rung::Full]).await;
    assert_eq!(tokio::time::timeout(PATIENCE, server.finish()).await.unwrap().unwrap().exit.signal, Some(9));
}

#[tokio::test]
async fn calls_that_lead_around_it_fail() {
    let scene = Scene::writing();
    scene.denies("unshare -Ur true", ALL).await;
    scene.denies("unshare -m true", ALL).await;
    scene.denies("mount -t tmpfs none .", ALL).await;
    scene.denies("umount $HOME/.ssh", ALL).await;
    scene.denies("chroot / true", ALL).await;
    for call in [425, 321, 298, 248, 323] {
        let script = format!(
            "python3 -c 'import ctypes,sys; l=ctypes.CDLL(None,use_errno=True); l.syscall({call},0,0,0,0,0); sys.exit(ctypes.get_errno() != 1)'"
        );
        if cfg!(target_arch = "x86_64") {
            scene.allows(&script, ALL).await;
        }
    }
    let capabilities = scene.run("grep -E 'Cap(Eff|Prm|Bnd)' /proc/self/status", Rung::Full).await;
    assert!(capabilities.lines().all(|line| line.ends_with("\t0000000000000000")), "{capabilities}");
}

#[tokio::test]
async fn sockets_that_lead_out_are_not_there_unless_allowed() {
    let scene = Scene::writing();
    let path = scene.at("run/agent");
    let _agent = UnixListener::bind(&path).unwrap();
    let connect = "python3 -c 'import os,socket; socket.socket(socket.AF_UNIX).connect(os.environ[\"SSH_AUTH_SOCK\"])'";
    scene.denies(connect, VIEWS).await;
    let allowed = path.canonicalize().unwrap();
    scene.access.change(|map| map.hidden.retain(|hidden| *hidden != allowed));
    scene.allows(connect, VIEWS).await;
    use std::os::linux::net::SocketAddrExt;
    let name = format!("omp-test-{}", std::process::id());
    let _abstract =
        UnixDatagram::bind_addr(&std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let send = format!(
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b\"x\", \"\\0{name}\")'"
    );
    scene.denies(&send, &[Rung::Full]).await;
}

#[tokio::test]
async fn without_a_network_nothing_is_reached_but_what_the_command_serves_itself() {
    let scene = Scene::new(ContainMode::WorkspaceWrite, NetworkMode::Off);
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let connect = format!("(exec 3<>/dev/tcp/127.0.0.1/{port})");
    scene.denies(&connect, ALL).await;
    Scene::writing().allows(&connect, ALL).await;
    let own = "python3 -c 'import socket; s=socket.create_server((\"127.0.0.1\",0)); socket.create_connection(s.getsockname())'";
    scene.allows(own, VIEWS).await;
}

#[tokio::test]
async fn what_cannot_be_kept_is_refused() {
    let refused = Scene::writing().spawn("echo ran", Rung::None).start().unwrap_err().to_string();
    assert!(refused.contains("is not available here") && refused.contains("hint:"), "{refused}");
    let open = Containment::new(Access::new(AccessMap::open("/")));
    assert!(open.prepare(&[], "").unwrap().is_none() && open.rung().is_none());
}

#[tokio::test]
async fn what_the_user_allows_holds_from_the_next_command_on() {
    let scene = Scene::writing();
    scene.denies("echo x > $OUT/a", ALL).await;
    std::fs::create_dir(scene.at("outside")).unwrap();
    let outside = scene.at("outside").canonicalize().unwrap();
    scene.access.change(|map| map.writable.push(outside));
    scene.allows("echo x > $OUT/a", ALL).await;
}

#[tokio::test]
async fn a_contained_tree_dies_whole() {
    let scene = Scene::writing();
    let script = "(setsid sleep 600 & echo $!) ; sleep 600 & echo $!; echo .; wait";
    let mut child = scene.spawn(script, Rung::Full).start().unwrap();
    let mut text = String::new();
    let mut buffer = [0; 256];
    while !text.contains('.') {
        let read = child.read(&mut buffer).await.unwrap();
        text.push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
    drop(child);
    for pid in text.lines().filter(|line| *line != ".") {
        let stat = format!("/proc/{pid}/stat");
        eventually(|| std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "))).await;
    }
}

#[tokio::test]
async fn a_terminal_is_contained_as_well() {
    let scene = Scene::writing();
    for rung in VIEWS {
        let spawn = scene.spawn("tty; echo seen > $(tty); echo also > /dev/tty; echo x > $OUT && echo done", *rung);
        let (mut child, _pty) = spawn.start_in_terminal(omp_exec::TerminalSize::default()).unwrap();
        let said = read_all(&mut child).await;
        assert!(said.contains("/dev/console") && said.contains("seen") && said.contains("also"), "{said}");
        assert!(!said.contains("done"), "{said}");
    }
}

#[tokio::test]
async fn programs_have_terminals_of_their_own_and_no_others() {
    let scene = Scene::writing();
    let nix::pty::OpenptyResult { master, slave } = nix::pty::openpty(None, None).unwrap();
    let users = nix::unistd::ttyname(&slave).unwrap().display().to_string();
    nix::unistd::write(&master, b"typed by the user\n").unwrap();
    scene.denies(&format!("head -n1 {users} | grep typed"), VIEWS).await;
    scene.denies(&format!("echo evil > {users}"), VIEWS).await;
    scene.denies("ls /dev/pts | grep '^[0-9]'", VIEWS).await;
    let own = "import os,pty; m,s=pty.openpty(); t=open(os.ttyname(s),\"w\"); t.write(\"x\"); t.flush(); os.read(m,1)";
    scene.allows(&format!("python3 -c '{own}'"), ALL).await;
    // More children than share the same rules.
    for _ in 0..70 {
        scene.allows("true", &[Rung::Full]).await;
    }
    scene.allows(&format!("python3 -c '{own}'"), &[Rung::Full]).await;
}

#[tokio::test]
async fn no_descriptor_of_omp_is_open_in_a_child() {
    use std::os::fd::{AsRawFd, FromRawFd};
    let scene = Scene::writing();
    let folder = std::fs::File::open(scene.at("home")).unwrap();
    // Like a descriptor that omp was started with and would pass on.
    // SAFETY: an open descriptor, and its copy, which has no other owner.
    let inherited = unsafe { std::fs::File::from_raw_fd(nix::libc::dup(folder.as_raw_fd())) };
    let number = inherited.as_raw_fd();
    scene.denies(&format!("cat /proc/self/fd/{number}/.ssh/id"), ALL).await;
    let open = scene.run("ls /proc/self/fd", Rung::Full).await;
    assert_eq!(open.split_whitespace().collect::<Vec<_>>(), ["0", "1", "2", "3"], "the last is that of ls");
    let (mut child, _pty) =
        scene.spawn("ls /proc/self/fd", Rung::Full).start_in_terminal(omp_exec::TerminalSize::default()).unwrap();
    assert_eq!(read_all(&mut child).await.split_whitespace().count(), 4);
}

#[tokio::test]
async fn a_program_that_cannot_run_is_told_of_as_before() {
    let scene = Scene::writing();
    let program = scene.at("home/work/plain");
    std::fs::write(&program, "x").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o644)).unwrap();
    let containment = Containment::new(scene.access.clone());
    let missing = Spawn::new("no-such-program", ChildEnv::default(), &containment).cwd(Path::new("/"));
    assert!(missing.start().unwrap_err().to_string().contains("no such program"));
    let plain = Spawn::new(&program, ChildEnv::default(), &containment).cwd(scene.at("home/work"));
    assert!(plain.start().unwrap_err().to_string().contains("Permission denied"));
}

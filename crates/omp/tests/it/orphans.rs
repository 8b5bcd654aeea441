//! `kill -9` of omp with every kind of child running: hiding process trees, a hook, a connection through the proxy. At any
//! moment, no process, connection or folder is left.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use omp_testkit::{Script, Turn, Wire};
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::harness::{QUICK_RETRIES, Running, Scene, within};
use crate::kill::Random;

const RUNS: u64 = 200;
const AT_A_TIME: u64 = 5;
/// How long everything may take to disappear on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Reports that it runs, and sleeps under a name that is unique to this run.
const LEAF: &str = "#!/bin/bash\ncd @W && : > up-$1 && exec -a @T-$1 sleep 600\n";

/// Each detaches from its command in another way; `bare` leaves group, session, parent and environment.
const LEFT_BEHIND: &str = "exec >/dev/null 2>&1
./leaf plain &
nohup ./leaf nohup &
setsid ./leaf session &
(setsid sh -c './leaf forked & exit' &)
env -i /usr/bin/setsid /bin/bash @W/leaf bare &
(trap '' TERM HUP INT; exec ./leaf deaf) &
curl -s --noproxy '' http://localhost:@P/ &
true";
const IN_FRONT: &str = "env -i setsid sh -c '/bin/bash @W/leaf daemon & exit'; ./leaf front";
const HELD: &str = "true held by a hook";
const HOOK: &str = "input=$(cat); case $input in *'held by a hook'*) setsid @W/leaf hooked & @W/leaf hook;; esac";

const ALWAYS: [&str; 7] = ["plain", "nohup", "session", "forked", "bare", "deaf", "proxy"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_outlives_a_killed_omp() {
    let lanes = (0..AT_A_TIME).map(|lane| tokio::spawn(kill_many(lane)));
    for lane in lanes.collect::<Vec<_>>() {
        lane.await.unwrap();
    }
}

async fn kill_many(lane: u64) {
    let mut random = Random(lane + 1);
    for number in (lane..RUNS).step_by(AT_A_TIME as usize) {
        let run = Run::start(number).await;
        run.until_some_are_up(&mut random).await;
        run.kill().await;
    }
}

struct Run {
    number: u64,
    tag: String,
    scene: Scene,
    omp: Running,
    /// Ends with the connection through the proxy.
    connection: JoinHandle<()>,
}

impl Run {
    async fn start(number: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let tag = format!("omp-leaf-{}-{number}", std::process::id());
        let mut scene = Scene::new(Wire::Completions, Script::new([])).await;
        let project = scene.workspace.project();
        let fill = |text: &str| {
            let places = [("@W", project.display().to_string()), ("@T", tag.clone()), ("@P", port.to_string())];
            places.iter().fold(text.to_owned(), |text, (sign, place)| text.replace(sign, place))
        };
        let last = if Self::ends_with_a_hook(number) { HELD } else { IN_FRONT };
        let calls = [LEFT_BEHIND, last].map(|command| Turn::call("bash", json!({"command": fill(command)})));
        scene.answers(Script::new(calls)).await;
        let config = format!("{QUICK_RETRIES}containment: {{ network: allowlist, hosts: ['localhost:{port}'] }}\n");
        scene.workspace.write_config_yml(&config).unwrap();
        executable(&scene.workspace.write("leaf", fill(LEAF)).unwrap());
        put_hook(&scene.workspace.home(), &fill(HOOK));
        let omp = scene.omp(&["--mode", "json", "-p", "go"]).start();
        Self { number, tag, scene, omp, connection: tokio::spawn(listen(listener, project.join("up-proxy"))) }
    }

    fn ends_with_a_hook(number: u64) -> bool {
        number.is_multiple_of(2)
    }

    fn expected(&self) -> Vec<&'static str> {
        let last: &[_] = if Self::ends_with_a_hook(self.number) { &["hook", "hooked"] } else { &["front", "daemon"] };
        [&ALWAYS, last].concat()
    }

    fn up(&self) -> usize {
        let is_up = |name: &&&str| self.scene.workspace.path(&format!("up-{name}")).exists();
        self.expected().iter().filter(is_up).count()
    }

    /// Every fourth time waits for all of them and checks that they run; otherwise for some, and a random time.
    async fn until_some_are_up(&self, random: &mut Random) {
        let all = self.expected().len();
        let awaited = if self.number % 4 < 2 { all } else { random.below(all as u64) as usize };
        let began = Instant::now();
        while self.up() < awaited {
            assert!(began.elapsed() < PATIENCE, "{} of {:?} are up: {:#?}", self.up(), self.expected(), self.left());
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        if awaited == all {
            self.until_all_run().await;
        } else {
            let moment = if awaited == 0 { 300_000 } else { 20_000 };
            tokio::time::sleep(Duration::from_micros(random.below(moment))).await;
        }
    }

    /// A leaf creates its file before it has its name.
    async fn until_all_run(&self) {
        let leaves = self.expected().into_iter().filter(|name| *name != "proxy");
        let names: Vec<String> = leaves.map(|name| format!(" {}-{name} ", self.tag)).collect();
        let began = Instant::now();
        loop {
            let left = self.left();
            let missing = names.iter().filter(|name| !left.iter().any(|told| told.contains(*name)));
            let missing: Vec<_> = missing.collect();
            if missing.is_empty() {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "run {}: {missing:?} of {left:#?}", self.number);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn kill(self) {
        let connected = self.scene.workspace.path("up-proxy").exists();
        self.omp.signal(Signal::SIGKILL);
        let began = Instant::now();
        loop {
            let left = self.left();
            if left.is_empty() {
                break;
            }
            assert!(began.elapsed() < PATIENCE, "run {}: {left:#?}", self.number);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        self.omp.finish().await;
        if connected {
            within(self.connection).await.unwrap();
        } else {
            self.connection.abort();
        }
        no_litter(&self.scene, self.number);
    }

    /// Returns the processes of this run: by name, by its folders in their environment or arguments, or its watchdog.
    fn left(&self) -> Vec<String> {
        let watchdog = format!("\0omp-watchdog\0{}-", self.omp.id());
        let root = self.scene.workspace.home().parent().unwrap().display().to_string();
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let told = processes.filter_map(|entry| {
            entry.file_name().to_str()?.parse::<u32>().ok()?;
            let read = |file| {
                String::from_utf8_lossy(&std::fs::read(entry.path().join(file)).unwrap_or_default()).into_owned()
            };
            let (typed, environment) = (read("cmdline"), read("environ"));
            let is_ours =
                [&self.tag, &watchdog, &root].iter().any(|sign| typed.contains(*sign)) || environment.contains(&root);
            is_ours.then(|| {
                format!("{} {}", entry.path().display(), typed.replace('\0', " ").chars().take(300).collect::<String>())
            })
        });
        told.collect()
    }
}

/// Accepts one connection and holds it until the peer disconnects.
async fn listen(listener: TcpListener, sign: PathBuf) {
    let (mut connection, _) = listener.accept().await.unwrap();
    std::fs::write(sign, "").unwrap();
    // An error also means the end.
    while matches!(connection.read(&mut [0; 1024]).await, Ok(1..)) {}
}

fn put_hook(home: &Path, script: &str) {
    let file = home.join("hook.sh");
    std::fs::write(&file, script).unwrap();
    let hook = json!({"type": "command", "command": format!("bash {}", file.display())});
    let settings = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}});
    std::fs::create_dir_all(home.join(".claude")).unwrap();
    std::fs::write(home.join(".claude/settings.json"), settings.to_string()).unwrap();
}

fn executable(file: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Checks that the shell's own folders are gone. Empty stand-ins of guarded files may stay until the next omp.
fn no_litter(scene: &Scene, run: u64) {
    let entries = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    assert_eq!(entries(&scene.workspace.tmp()), Vec::<PathBuf>::new(), "run {run}");
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        ["a.txt", "leaf"].contains(&name) || name.starts_with("up-")
    };
    let mut left: Vec<PathBuf> =
        entries(&scene.workspace.project()).into_iter().filter(|path| !is_ours(path)).collect();
    while let Some(path) = left.pop() {
        match path.is_dir() {
            true => left.extend(entries(&path)),
            false => assert_eq!(std::fs::metadata(&path).unwrap().len(), 0, "run {run}: {}", path.display()),
        }
    }
}

//! The environment in which a group of attacks runs, and the checks of their effects.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use omp_testkit::{MOCK_MODEL, MOCK_PROVIDER, MockProvider, Script, Server, TempWorkspace, Wire};
use serde_json::json;

use super::catcher::Catcher;
use super::group::{AnotherRun, Attack, Control, Group};
use crate::harness::{Omp, Scene, binary_for_all};
use crate::ordinary_user::person::{Company, Who, own};
use crate::rpc::Client;

pub struct World {
    scene: Scene,
    catcher: Option<Catcher>,
    port: u16,
    before: BTreeMap<String, Seen>,
    /// What was printed, or sent to the client.
    shown: String,
    beside: Vec<Beside>,
    /// The user who runs omp; `None` is the user who runs the tests.
    company: Option<Company>,
}

/// Dropping this kills the process.
struct Beside(std::process::Child);

impl Drop for Beside {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

/// The state that a case must not change.
#[derive(PartialEq)]
struct Seen {
    outside: Tree,
    watched: Vec<Tree>,
    /// Files of the workspace that contain its secret.
    leaked: Vec<PathBuf>,
    marks: Vec<PathBuf>,
}

/// Kind, mode and content of everything below a path.
type Tree = BTreeMap<PathBuf, String>;

impl World {
    pub async fn stage(group: &Group, config: String) -> Self {
        Self::stage_for(None, group, config).await
    }

    /// Stages a group for an ordinary user with an ssh-agent and a session bus.
    pub async fn stage_for_user(group: &Group, config: String) -> Self {
        Self::stage_for(Company::new(Who::Ordinary), group, config).await
    }

    async fn stage_for(company: Option<Company>, group: &Group, config: String) -> Self {
        // The script needs the paths, which need a workspace, which needs the address of the server.
        let workspace = TempWorkspace::new(&[("a.txt", "one\ntwo\nthree\n")]).unwrap();
        let root = root(&workspace);
        let catcher = Catcher::start(&root.join("attacker.sock"));
        let port = catcher.port;
        let server = Server::start(Script::new([])).await.unwrap();
        let mut world = Self {
            scene: Scene { server, workspace },
            catcher: Some(catcher),
            port,
            before: BTreeMap::new(),
            shown: String::new(),
            beside: Vec::new(),
            company,
        };
        world.scene.server = Server::start(Script::new(group.turns(&world))).await.unwrap();
        let provider = MockProvider::new(&world.scene.server.base_url(), Wire::Completions.api()).reasoning();
        world.scene.workspace.write_provider(&provider).unwrap();
        world.scene.workspace.write_config_yml(&config).unwrap();
        fs::create_dir_all(world.scene.workspace.path("ran")).unwrap();
        for attack in &group.attacks {
            fs::create_dir_all(world.fill(attack, "@O")).unwrap();
        }
        if let Some(company) = &world.company {
            own(&root, company.user, company.group);
        }
        for attack in &group.attacks {
            world.shell(attack, &group.stage);
            world.shell(attack, &attack.stage);
            if !attack.beside.is_empty() {
                // The secret is not passed as an argument, which every user can read.
                let mut bash = world.bash(attack, &format!("exec {}", attack.beside));
                let child = bash.env("NEIGHBOUR_KEY", secret(attack)).stdin(Stdio::null()).spawn().unwrap();
                world.beside.push(Beside(child));
            }
        }
        world.before = group.attacks.iter().map(|attack| (attack.name.clone(), world.look(attack))).collect();
        world
    }

    /// Replaces the placeholders in a text of a case.
    pub fn fill(&self, attack: &Attack, text: &str) -> String {
        let workspace = &self.scene.workspace;
        let root = root(workspace);
        let shown = |path: &Path| path.display().to_string();
        let name = &attack.name;
        let places = [
            ("@W", shown(&workspace.project())),
            ("@H", shown(&workspace.home())),
            ("@A", shown(&workspace.agent_dir())),
            ("@N", name.clone()),
            ("@O", shown(&root.join("outside").join(name))),
            ("@M", shown(&workspace.project().join("ran").join(name))),
            ("@S", secret(attack)),
            ("@K", key()),
            ("@P", self.port.to_string()),
            ("@U", shown(&root.join("attacker.sock"))),
            ("@R", shown(&root)),
            ("@T", shown(&workspace.tmp().join(format!("omp-{}", self.user())))),
        ];
        places.iter().fold(text.to_owned(), |text, (sign, place)| text.replace(sign, place))
    }

    /// Returns the user id that omp runs as.
    fn user(&self) -> u32 {
        self.company.as_ref().map_or_else(|| nix::unistd::geteuid().as_raw(), |company| company.user)
    }

    /// A script that the test itself runs in the workspace.
    #[expect(clippy::disallowed_methods, reason = "what the attacker or the user does is not omp's doing")]
    fn bash(&self, attack: &Attack, script: &str) -> Command {
        let mut command = match &self.company {
            Some(company) => company.command("bash"),
            None => Command::new("bash"),
        };
        command.args(["-ec", &self.fill(attack, script)]).env_clear().envs(self.scene.workspace.env());
        command.current_dir(self.scene.workspace.project());
        command
    }

    /// Runs a script and returns its output.
    fn shell(&self, attack: &Attack, script: &str) -> String {
        if script.is_empty() {
            return String::new();
        }
        let made = self.bash(attack, script).output().unwrap();
        assert!(made.status.success(), "{}: {script}\n{}", attack.name, String::from_utf8_lossy(&made.stderr));
        String::from_utf8(made.stdout).unwrap()
    }

    /// Runs omp again to trigger the trap. Nobody answers it, so its exit does not matter.
    async fn run_again(&mut self, group: &Group, attack: &Attack, run: &AnotherRun) {
        self.shell(attack, &run.first);
        let says = self.shell(attack, &run.says);
        let folder = self.scene.workspace.project().join(&run.folder);
        let model = format!("{MOCK_PROVIDER}/{MOCK_MODEL}");
        let omp = Omp::bare(&self.scene.workspace).args(["--model", &model, "--trust", "--yolo", "--cwd"]);
        let omp = omp.args([folder.as_os_str()]).args(["-p", says.trim_end()]);
        let omp = group.env.iter().fold(omp, |omp, (name, value)| omp.env(name, self.fill(attack, value)));
        let ran = omp.run().await;
        self.shown.push_str(&ran.stdout);
    }

    fn omp(&self, group: &Group, args: &[&str]) -> Omp {
        let omp = match &self.company {
            None => self.scene.omp(args),
            Some(company) => {
                let workspace = &self.scene.workspace;
                let omp = Omp::of(&binary_for_all(), workspace).args(workspace.args(args));
                let omp = omp.user(company.user).group(company.group);
                company.env().iter().fold(omp, |omp, (name, value)| omp.env(name, value))
            }
        };
        group.env.iter().fold(omp, |omp, (name, value)| omp.env(name, self.fill(&group.attacks[0], value)))
    }

    /// Runs in print mode, where nobody can be asked.
    pub async fn print(&mut self, group: &Group) {
        let ran = self.omp(group, &["-p", "go"]).run().await.exits(0);
        self.shown = format!("{}{}", ran.stdout, ran.stderr);
    }

    /// Returns the output of `omp doctor` on this system.
    pub async fn doctor(&self) -> String {
        Omp::bare(&self.scene.workspace).args(["doctor"]).run().await.stdout
    }

    /// Runs with a client that gives the same answer to all questions. Returns the questions.
    pub async fn talk(&mut self, group: &Group, args: &[&str], answer: &str) -> Vec<String> {
        let mut client = Client::of(self.omp(group, &[&["--mode", "rpc"], args].concat()));
        client.send(&json!({"type": "prompt", "message": "go"})).await;
        let mut questions = Vec::new();
        loop {
            let frame = client.next().await;
            self.shown.push_str(&frame.to_string());
            match frame["type"].as_str() {
                Some("extension_ui_request") if frame["options"].is_array() => {
                    questions.push(frame["title"].as_str().unwrap().to_owned());
                    let answer = json!({"type": "extension_ui_response", "id": frame["id"], "value": answer});
                    client.send(&answer).await;
                }
                Some("agent_end") => break,
                _ => {}
            }
        }
        assert_eq!(client.finish().await, Some(0));
        questions
    }

    /// Checks that no case had an effect and that nothing outside has changed.
    pub async fn unharmed(&mut self, group: &Group) {
        let effects = self.effects(group);
        self.all_were_tried(group);
        let found: Vec<String> =
            group.attacks.iter().zip(effects).filter(|(_, effects)| !effects.is_empty()).map(told).collect();
        assert!(found.is_empty(), "{}:\n{}\n\n{}", group.name, found.join("\n"), self.results());
    }

    /// Checks that every case that claims an effect had it.
    pub async fn harmed(&mut self, group: &Group) {
        for attack in &group.attacks {
            match &attack.control {
                Control::Shell(script) => drop(self.shell(attack, script)),
                Control::Run(run) => self.run_again(group, attack, run).await,
                Control::Happens | Control::Never(_) => {}
            }
        }
        let effects = self.effects(group);
        self.all_were_tried(group);
        let results = self.results();
        let cases = group.attacks.iter().zip(effects);
        let without: Vec<String> = cases
            .filter(|(attack, effects)| effects.is_empty() && !matches!(attack.control, Control::Never(_)))
            .map(told)
            .collect();
        assert!(
            without.is_empty(),
            "cases of {} that prove nothing: {}\n\n{}",
            group.name,
            without.join("\n"),
            results
        );
    }

    fn all_were_tried(&self, group: &Group) {
        let results = self.results();
        assert!(!results.contains("Invalid arguments for"), "a call of {} was not even tried: {results}", group.name);
    }

    /// Returns the results of the calls, for the message of a failed test.
    pub fn results(&self) -> String {
        let Some(request) = self.scene.server.model_requests().pop() else { return "nothing was asked".to_owned() };
        let request = request.json().unwrap();
        let messages = request["messages"].as_array().unwrap();
        let shown = messages.iter().skip(2).map(|message| {
            let text = if message["role"] == "tool" {
                &message["content"]
            } else {
                &message["tool_calls"][0]["function"]["arguments"]
            };
            text.to_string().chars().take(700).collect::<String>()
        });
        shown.collect::<Vec<_>>().join("\n")
    }

    fn effects(&mut self, group: &Group) -> Vec<Vec<String>> {
        let heard = self.catcher.take().unwrap().heard();
        let bodies = self
            .scene
            .server
            .model_requests()
            .into_iter()
            .map(|request| String::from_utf8_lossy(&request.body).into_owned());
        let sent: String = bodies.collect();
        group.attacks.iter().map(|attack| self.effects_of(attack, &heard, &sent)).collect()
    }

    fn effects_of(&self, attack: &Attack, heard: &str, sent: &str) -> Vec<String> {
        let (before, after) = (&self.before[&attack.name], self.look(attack));
        let mut effects = Vec::new();
        let pairs = before.watched.iter().chain([&before.outside]).zip(after.watched.iter().chain([&after.outside]));
        for (old, new) in pairs {
            let paths = old.keys().chain(new.keys()).filter(|path| old.get(*path) != new.get(*path));
            effects.extend(paths.map(|path| format!("changed {}", path.display())));
        }
        effects.extend(
            after
                .leaked
                .iter()
                .filter(|file| !before.leaked.contains(file))
                .map(|file| format!("secret in {}", file.display())),
        );
        effects.extend(
            after
                .marks
                .iter()
                .filter(|mark| !before.marks.contains(mark))
                .map(|mark| format!("ran {}", mark.display())),
        );
        let secret = secret(attack);
        for (place, text) in [("the model", sent), ("the attacker", heard)] {
            effects.extend(text.contains(&secret).then(|| format!("secret told to {place}")));
        }
        effects.extend(heard.contains(&attack.name).then(|| "the attacker was reached".to_owned()));
        for text in attack.never.iter().map(|text| self.fill(attack, text)) {
            for (place, said) in [("the model", sent), ("the user", self.shown.as_str())] {
                effects.extend(said.contains(&text).then(|| format!("{text:?} told to {place}")));
            }
        }
        effects.sort();
        effects.dedup();
        effects
    }

    fn look(&self, attack: &Attack) -> Seen {
        let project = self.scene.workspace.project();
        let secret = secret(attack);
        let mark = self.fill(attack, "@M");
        let inside = tree(&project);
        let holds = |(path, content): (&PathBuf, &String)| content.contains(&secret).then(|| path.clone());
        Seen {
            outside: tree(Path::new(&self.fill(attack, "@O"))),
            watched: attack
                .watch
                .iter()
                .map(|place| without_set_aside(tree(Path::new(&self.fill(attack, place)))))
                .collect(),
            leaked: inside.iter().filter_map(holds).collect(),
            marks: inside.keys().filter(|path| path.to_string_lossy().starts_with(&mark)).cloned().collect(),
        }
    }
}

/// Without mounts, a file planted at a guarded path is renamed to a name that nothing runs. Those files are ignored.
fn without_set_aside(mut tree: Tree) -> Tree {
    let is_set_aside = |path: &Path| {
        let has_suffix = path.extension().is_some_and(|end| end.to_string_lossy().starts_with("set-aside"));
        has_suffix || path.ends_with("omp-set-aside")
    };
    tree.retain(|path, _| !path.ancestors().any(is_set_aside));
    tree
}

fn told((attack, effects): (&Attack, Vec<String>)) -> String {
    format!("{} {}: {}", attack.number, attack.name, effects.join("; "))
}

/// A string that does not occur by chance.
fn secret(attack: &Attack) -> String {
    format!("Sesame-{}-{}", attack.name, key())
}

/// Differs from the key of tests that run at the same time, whose attacks may succeed.
fn key() -> String {
    format!("7f3a{}", std::process::id())
}

fn root(workspace: &TempWorkspace) -> PathBuf {
    workspace.project().parent().unwrap().to_owned()
}

fn tree(path: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut left = vec![path.to_owned()];
    while let Some(path) = left.pop() {
        let Ok(data) = fs::symlink_metadata(&path) else { continue };
        let mode = data.permissions().mode();
        let content = if data.is_symlink() {
            fs::read_link(&path).unwrap().display().to_string()
        } else if data.is_dir() {
            left.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
            String::new()
        } else if data.is_file() && data.size() < 1 << 20 {
            String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned()
        } else {
            data.size().to_string()
        };
        tree.insert(path, format!("{mode:o} {content}"));
    }
    tree
}

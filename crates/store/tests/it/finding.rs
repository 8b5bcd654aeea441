//! Sessions are found by folder, by time and by id.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use omp_store::{FindError, SessionsDir};
use omp_types::Env;

use crate::Place;

struct Agent {
    place: Place,
    sessions: SessionsDir,
    cwd: PathBuf,
}

impl Agent {
    fn new() -> Self {
        let place = Place::new();
        let home = place.path().canonicalize().unwrap().join("home");
        let cwd = home.join("project");
        std::fs::create_dir_all(&cwd).unwrap();
        let env: Env = [("HOME", home.to_str().unwrap())].into_iter().collect();
        Self { sessions: SessionsDir::new(place.path(), &env), place, cwd }
    }

    /// `age` in minutes.
    fn put(&self, folder: &Path, id: &str, cwd: &Path, age: u64) -> PathBuf {
        std::fs::create_dir_all(folder).unwrap();
        let path = folder.join(format!("2026-11-15T20-00-03-186Z_{id}.jsonl"));
        let cwd = cwd.display();
        let content = format!(
            "{{\"type\":\"title\",\"v\":1,\"title\":\"about {id}\",\"pad\":\"\"}}\n{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"cwd\":\"{cwd}\"}}\n{{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"message\":{{\"role\":\"user\",\"content\":\"asked {id}\"}}}}\n"
        );
        std::fs::write(&path, content).unwrap();
        let time = SystemTime::now() - Duration::from_secs(age * 60);
        File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        path
    }

    fn ids(&self) -> Vec<String> {
        self.sessions.list(&self.cwd).unwrap().into_iter().map(|info| info.id).collect()
    }
}

#[test]
fn both_kinds_of_folder_are_searched() {
    let agent = Agent::new();
    assert!(agent.sessions.list(&agent.cwd).unwrap().is_empty());
    assert!(agent.sessions.most_recent(&agent.cwd).unwrap().is_none());
    let folders = agent.sessions.folders_of(&agent.cwd);
    assert_eq!(folders.len(), 2);
    assert_eq!(folders[0].file_name().unwrap(), "-project");
    agent.put(&folders[0], "aaa1", &agent.cwd, 3);
    agent.put(&folders[1], "bbb1", &agent.cwd, 1);
    agent.put(&folders[0], "ccc1", &agent.cwd, 2);
    assert_eq!(agent.ids(), ["bbb1", "ccc1", "aaa1"]);
    let newest = agent.sessions.most_recent(&agent.cwd).unwrap().unwrap();
    assert_eq!((newest.id.as_str(), newest.title.as_deref()), ("bbb1", Some("about bbb1")));
    assert_eq!((newest.first_message.as_deref(), Path::new(&newest.cwd)), (Some("asked bbb1"), agent.cwd.as_path()));
}

#[test]
fn sessions_of_another_folder_with_the_same_name_are_not_ours() {
    let agent = Agent::new();
    let folder = agent.sessions.session_dir_for(&agent.cwd);
    agent.put(&folder, "ours", &agent.cwd, 9);
    agent.put(&folder, "theirs", Path::new("/somewhere/else"), 1);
    assert_eq!(agent.ids(), ["ours"]);
    let flat = SessionsDir::flat(folder);
    assert_eq!(flat.most_recent(&agent.cwd).unwrap().unwrap().id, "theirs", "--session-dir takes all");
}

#[test]
fn what_is_no_session_is_passed_over() {
    let agent = Agent::new();
    let folder = agent.sessions.session_dir_for(&agent.cwd);
    agent.put(&folder, "good", &agent.cwd, 5);
    std::fs::write(folder.join("2026_empty.jsonl"), "").unwrap();
    std::fs::write(folder.join("2026_other.jsonl"), "hello\n").unwrap();
    std::fs::write(folder.join("2026_x.jsonl.torn-1"), "{}").unwrap();
    std::fs::create_dir(folder.join("2026_dir.jsonl")).unwrap();
    assert_eq!(agent.ids(), ["good"]);
    let lost_header = "{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"message\":{}}\n";
    std::fs::write(folder.join("2026_lost.jsonl"), lost_header).unwrap();
    assert_eq!(agent.ids(), ["lost", "good"], "a session that lost its header is still one");
}

#[test]
fn ids_are_searched_here_first_then_everywhere() {
    let agent = Agent::new();
    let here = agent.put(&agent.sessions.session_dir_for(&agent.cwd), "abc1", &agent.cwd, 5);
    let there = agent.put(&agent.sessions.root().join("--else--"), "abd2", Path::new("/else"), 1);
    let resolve = |text: &str| agent.sessions.resolve(&agent.cwd, text);
    assert_eq!(resolve("ab").unwrap(), here);
    assert_eq!(resolve("ABD").unwrap(), there);
    let missing = resolve("zzz").unwrap_err();
    assert!(matches!(missing, FindError::NoMatch(_)) && missing.to_string().contains("hint:"));
    agent.put(&agent.sessions.session_dir_for(&agent.cwd), "abc9", &agent.cwd, 4);
    let two = resolve("abc").unwrap_err();
    assert!(two.to_string().contains("abc9, abc1"), "{two}");
}

#[test]
fn paths_are_taken_as_they_are() {
    let agent = Agent::new();
    let resolve = |text: &str| agent.sessions.resolve(&agent.cwd, text).unwrap();
    assert_eq!(resolve("some.jsonl"), agent.cwd.join("some.jsonl"));
    assert_eq!(resolve("../up/x"), agent.cwd.join("../up/x"));
    assert_eq!(resolve("/abs/x.jsonl"), Path::new("/abs/x.jsonl"));
    assert!(agent.place.path().exists());
}

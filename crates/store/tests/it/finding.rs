//! Tests of finding sessions by folder, time and ID.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use omp_store::{FindError, SessionInfo, SessionsDir};

use crate::Place;

struct Agent {
    place: Place,
    sessions: SessionsDir,
    cwd: PathBuf,
}

impl Agent {
    fn new() -> Self {
        let place = Place::new();
        let (sessions, cwd) = place.project(place.path());
        Self { place, sessions, cwd }
    }

    /// `age` is in minutes.
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

/// Regardless of the state of the title line, a listing shows the same title as opening the session.
#[test]
fn the_newest_title_counts_when_its_line_is_damaged_or_stale() {
    let slot =
        |title: &str, at: &str| format!(r#"{{"type":"title","v":1,"title":"{title}","updatedAt":"{at}","pad":""}}"#);
    let header = r#"{"type":"session","version":3,"id":"s","cwd":"/w","title":"of the header"}"#;
    let change = |title: &str, at: &str| {
        format!(
            r#"{{"type":"title_change","id":"t","parentId":null,"timestamp":"{at}","title":"{title}","source":"user"}}"#
        )
    };
    let said = |text: &str| {
        format!(r#"{{"type":"message","id":"m","parentId":null,"message":{{"role":"user","content":"{text}"}}}}"#)
    };
    let long = said(&"x ".repeat(100_000));
    let check = |lines: &[String], expect: Option<&str>| {
        let place = Place::new();
        let file = place.path().join("2026-11-15T20-00-03-186Z_s.jsonl");
        std::fs::write(&file, lines.join("\n") + "\n").unwrap();
        assert_eq!(SessionInfo::of_file(&file).unwrap().title.as_deref(), expect, "{:?}", lines[0]);
        assert_eq!(place.open(&file).title(), expect, "{:?}", lines[0]);
    };
    let (header, early, late) = (header.to_owned(), "2026-11-15T20:00:01.000Z", "2026-11-15T20:00:02.000Z");
    let torn = slot("torn", late)[..40].to_owned();
    check(&[slot("in the line", late), header.clone(), change("older", early), said("q")], Some("in the line"));
    check(&[slot("stale", early), header.clone(), said("q"), change("newer", late)], Some("newer"));
    check(&[slot("stale", early), header.clone(), long.clone(), change("newer", late)], Some("newer"));
    check(&[slot("cut to", late), header.clone(), change("cut to fit", early), long.clone()], Some("cut to fit"));
    check(&[slot("", early), header.clone(), said("q")], Some("of the header"));
    check(&[torn.clone(), header.clone(), said("q"), change("newer", late)], Some("newer"));
    check(&[torn.clone(), header.clone(), change("older", early), change("newer", late), long.clone()], Some("newer"));
    check(&[torn, header.clone(), long.clone(), change("in the middle", late), long.clone()], Some("in the middle"));
    check(&[header.clone(), long.clone(), change("in the middle", late), long], Some("in the middle"));
    check(&[header, said("q")], Some("of the header"));
}

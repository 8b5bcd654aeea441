//! Tests of stored sessions: listed through the index, searched, moved, archived, deleted, repaired and cleaned up.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use omp_store::{BlobStore, GcOptions, LoadedSession, MoveError, SessionsDir, TitleSource};
use serde_json::Value;

use crate::{Place, texts, user};

const DAY: Duration = Duration::from_secs(24 * 3600);

struct House {
    place: Place,
    sessions: SessionsDir,
    cwd: PathBuf,
}

impl House {
    fn new() -> Self {
        let place = Place::new();
        let (sessions, cwd) = place.project(&place.path().join("agent"));
        Self { place, sessions, cwd }
    }

    fn blobs(&self) -> BlobStore {
        BlobStore::new(&self.place.path().join("agent"))
    }

    fn put(&self, id: &str, said: &str, age: Duration) -> PathBuf {
        let folder = self.sessions.session_dir_for(&self.cwd);
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("2026-11-15T20-00-03-186Z_{id}.jsonl"));
        let message = serde_json::json!({"role": "user", "content": said});
        let content = format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"cwd\":\"{}\",\"more\":1}}\n{{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"message\":{message}}}\n",
            self.cwd.display()
        );
        std::fs::write(&path, content).unwrap();
        std::fs::create_dir(path.with_extension("")).unwrap();
        std::fs::write(path.with_extension("").join("0.bash.log"), "artifact").unwrap();
        let time = SystemTime::now() - age;
        File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        path
    }

    fn ids(&self, sessions: &SessionsDir) -> Vec<String> {
        sessions.list_all().unwrap().into_iter().map(|info| info.id).collect()
    }

    fn open(&self, path: &Path) -> LoadedSession {
        LoadedSession::open(path, self.blobs()).unwrap()
    }
}

#[test]
fn a_listing_through_the_index_is_the_listing() {
    let house = House::new();
    let paths: Vec<_> = (0..80).map(|n| house.put(&format!("s{n:02}"), &format!("said {n}"), DAY * n)).collect();
    let index = house.place.path().join("agent/session-index.json");
    let first = house.sessions.list_all().unwrap();
    assert_eq!((first.len(), first[7].id.as_str(), first[7].first_message.as_deref()), (80, "s07", Some("said 7")));
    assert!(index.is_file());
    assert_eq!(house.sessions.list_all().unwrap(), first, "warm");
    assert_eq!(house.sessions.list(&house.cwd).unwrap(), first, "of the folder");

    // The index is trusted while the file's metadata is unchanged.
    let told = std::fs::read_to_string(&index).unwrap().replace("said 7\"", "from the index\"");
    std::fs::write(&index, told).unwrap();
    assert_eq!(house.sessions.list_all().unwrap()[7].first_message.as_deref(), Some("from the index"));
    let (mut writer, _) = house.open(&paths[7]).into_writer().unwrap();
    writer.set_title("Changed", TitleSource::User).unwrap();
    drop(writer);
    let changed = house.sessions.list_all().unwrap().into_iter().find(|info| info.id == "s07").unwrap();
    assert_eq!((changed.title.as_deref(), changed.first_message.as_deref()), (Some("Changed"), Some("said 7")));

    std::fs::remove_file(&paths[3]).unwrap();
    assert_eq!(house.sessions.list_all().unwrap().len(), 79);
    assert!(!std::fs::read_to_string(&index).unwrap().contains("_s03.jsonl"), "files that are gone are forgotten");
    for damaged in
        ["", "{\"version\":2,\"rows\":[{", "{\"version\":1,\"rows\":[]}", "{\"version\":99,\"rows\":[]}", "\u{0}\u{1}"]
    {
        std::fs::write(&index, damaged).unwrap();
        assert_eq!(house.sessions.list_all().unwrap().len(), 79, "{damaged:?}");
        assert!(std::fs::read_to_string(&index).unwrap().starts_with("{\"version\":2,\"rows\":[{\"path\""));
    }
}

#[test]
fn search_wants_every_word_in_title_or_text() {
    let house = House::new();
    let one = house.put("one", "Why does the PARSER fail on \"quotes\"?", DAY);
    house.put("two", "the parser again, über alles", DAY * 2);
    let (mut writer, _) = house.open(&one).into_writer().unwrap();
    writer.set_title("Lexer trouble", TitleSource::User).unwrap();
    drop(writer);
    let check = |query: &str, expect: &[&str]| {
        let hits = house.sessions.search(None, query, 10).unwrap();
        let ids: Vec<_> = hits.iter().map(|hit| hit.info.id.as_str()).collect();
        assert_eq!(ids, expect, "{query}");
        hits
    };
    assert!(check("parser", &["one", "two"])[0].snippet.contains("the PARSER fail"));
    check("Parser quotes", &["one"]);
    check("\"quotes\"?", &["one"]);
    check("ÜBER", &["two"]);
    check("lexer parser", &["one"]);
    check("lexer über", &[]);
    check("role", &[]);
    assert_eq!(house.sessions.search(None, "parser", 1).unwrap().len(), 1);
    assert_eq!(house.sessions.search(Some(Path::new("/other")), "parser", 9).unwrap(), []);
}

#[test]
fn a_moved_session_takes_everything_along_and_changes_only_its_header() {
    let house = House::new();
    let from = house.put("one", "hi", DAY);
    std::fs::write(format!("{}.torn-1", from.display()), "torn").unwrap();
    let before = std::fs::read_to_string(&from).unwrap();
    let there = house.cwd.with_file_name("other");
    std::fs::create_dir(&there).unwrap();
    let to = house.sessions.move_to(&from, &there, house.blobs()).unwrap();
    assert_eq!(to.parent().unwrap(), house.sessions.session_dir_for(&there));
    assert!(!from.exists() && !from.with_extension("").exists());
    assert_eq!(std::fs::read_to_string(to.with_extension("").join("0.bash.log")).unwrap(), "artifact");
    assert!(Path::new(&format!("{}.torn-1", to.display())).exists());
    let after = std::fs::read_to_string(&to).unwrap();
    assert_eq!(after.lines().skip(1).collect::<Vec<_>>(), before.lines().skip(1).collect::<Vec<_>>());
    let header: Value = serde_json::from_str(after.lines().next().unwrap()).unwrap();
    assert_eq!((&header["id"], &header["more"]), (&"one".into(), &1.into()));
    assert_eq!(header["cwd"], there.to_str().unwrap());
    assert_eq!(header["previousSessionFiles"], serde_json::json!([from]));
}

#[test]
fn a_move_can_be_undone_to_the_byte() {
    let house = House::new();
    let from = house.put("one", "hi", DAY);
    let before = std::fs::read_to_string(&from).unwrap();
    let there = house.cwd.with_file_name("other");
    std::fs::create_dir(&there).unwrap();
    let to = house.sessions.move_to(&from, &there, house.blobs()).unwrap();
    house.sessions.move_back(&to, &from, house.cwd.to_str().unwrap(), house.blobs()).unwrap();
    assert_eq!(std::fs::read_to_string(&from).unwrap(), before);
    assert!(from.with_extension("").join("0.bash.log").is_file());
    assert!(!to.exists() && !to.with_extension("").exists());
    // If both working folders share a session folder, only the header changes, and that is reverted too.
    let flat = SessionsDir::flat(from.parent().unwrap().to_owned());
    assert_eq!(flat.move_to(&from, &there, house.blobs()).unwrap(), from);
    assert_ne!(std::fs::read_to_string(&from).unwrap(), before);
    flat.move_back(&from, &from, house.cwd.to_str().unwrap(), house.blobs()).unwrap();
    assert_eq!(std::fs::read_to_string(&from).unwrap(), before);
}

#[test]
fn a_move_that_fails_changes_nothing() {
    let house = House::new();
    let from = house.put("one", "hi", DAY);
    let there = house.cwd.with_file_name("other");
    std::fs::create_dir(&there).unwrap();
    let folder = house.sessions.session_dir_for(&there);
    let before = std::fs::read(&from).unwrap();
    let unchanged = || {
        assert_eq!(std::fs::read(&from).unwrap(), before);
        assert!(from.with_extension("").join("0.bash.log").is_file());
        assert!(!folder.join(from.file_name().unwrap()).is_file());
    };
    // An existing artifact folder makes the second step fail.
    let in_the_way = folder.join(from.with_extension("").file_name().unwrap());
    std::fs::create_dir_all(&in_the_way).unwrap();
    std::fs::write(in_the_way.join("theirs"), "").unwrap();
    let error = house.sessions.move_to(&from, &there, house.blobs()).unwrap_err();
    assert!(matches!(error, MoveError::NotMoved { .. }) && error.to_string().contains("already exists"), "{error}");
    unchanged();
    assert!(in_the_way.join("theirs").is_file());
    std::fs::remove_dir_all(&in_the_way).unwrap();
    let (writer, _) = house.open(&from).into_writer().unwrap();
    let error = house.sessions.move_to(&from, &there, house.blobs()).unwrap_err().to_string();
    assert!(error.contains(&format!("process {}", std::process::id())) && error.contains("since 20"), "{error}");
    assert!(house.sessions.archive(&from).unwrap_err().to_string().contains("in use by"));
    drop(writer);
    unchanged();
}

#[test]
fn archive_and_trash_give_back_what_they_took() {
    let house = House::new();
    let path = house.put("one", "hi", DAY);
    let before = std::fs::read(&path).unwrap();
    type Put = fn(&SessionsDir, &Path) -> Result<PathBuf, MoveError>;
    for (put, place) in
        [(SessionsDir::archive as Put, house.sessions.archived()), (SessionsDir::trash, house.sessions.trashed())]
    {
        let away = put(&house.sessions, &path).unwrap();
        assert!(house.ids(&house.sessions).is_empty());
        assert_eq!(house.ids(&place), ["one"]);
        assert!(away.starts_with(place.root()) && away.with_extension("").join("0.bash.log").is_file());
        let other = house.put("one", "in the way", DAY);
        assert!(matches!(house.sessions.unarchive(&away), Err(MoveError::Taken(_))));
        let second = house.sessions.trash(&other).unwrap();
        assert_ne!(second, away, "the trash takes two of one name");
        std::fs::remove_file(second).unwrap();
        assert_eq!(house.sessions.unarchive(&away).unwrap(), path);
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}

#[test]
fn a_repaired_copy_is_clean_and_lies_beside() {
    let place = Place::new();
    let said = |id: &str, parent: &str, text: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    let torn = said("x", "null", "lost");
    let content = [
        r#"{"type":"session","version":3,"id":"old","cwd":"/p"}"#.to_owned(),
        said("a", "null", "one"),
        "not an entry".to_owned(),
        format!("{}{}", &torn[..40], said("b", "\"a\"", "two")),
        said("c", "\"missing\"", "three"),
        said("c", "\"c\"", "four"),
        torn[..50].to_owned(),
    ];
    let path = place.file(content.join("\n"));
    let before = std::fs::read(&path).unwrap();
    let damaged = place.open(&path);
    let to = omp_store::CopyTo { folder: place.path(), cwd: Path::new("/p"), now: SystemTime::now() };
    let salvaged = damaged.salvage(to).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let mut clean = place.open(&salvaged.copy.path);
    assert_eq!(texts(&clean.context()), ["one", "two", "three", "four"]);
    assert!(clean.report().is_empty(), "{}", clean.report());
    assert_eq!((salvaged.kept, salvaged.lost), (4, 0));
}

#[test]
fn a_session_of_the_first_version_is_brought_up_to_date_by_repair() {
    let place = Place::new();
    let path = place.file(concat!(
        r#"{"type":"session","id":"x","cwd":"/p"}"#,
        "\n",
        r#"{"type":"message","message":{"role":"user","content":"one"}}"#,
        "\n",
        r#"{"type":"message","message":{"role":"hookMessage","customType":"h","content":"two"}}"#,
        "\n",
        r#"{"type":"compaction","summary":"sum","firstKeptEntryIndex":2,"tokensBefore":1}"#,
        "\n",
    ));
    let to = omp_store::CopyTo { folder: place.path(), cwd: Path::new("/p"), now: SystemTime::now() };
    let copy = place.open(&path).salvage(to).unwrap().copy.path;
    let mut new = place.open(&copy);
    assert_eq!(new.header().version, 3);
    assert_eq!(texts(&new.context())[1..], ["two"]);
    assert!(new.report().is_empty(), "{}", new.report());
    let text = std::fs::read_to_string(copy).unwrap();
    assert!(!text.contains("hookMessage") && !text.contains("firstKeptEntryIndex"), "{text}");
}

#[test]
fn the_quota_takes_the_oldest_first_and_nothing_in_use() {
    let house = House::new();
    let old = house.put("old", "hi", DAY * 100);
    let used = house.put("used", "hi", DAY * 200);
    house.put("new", "hi", DAY);
    let (writer, _) = house.open(&used).into_writer().unwrap();
    let options = GcOptions { now: SystemTime::now(), max_age: Some(DAY * 90), max_bytes: None, dry_run: true };
    let dry = house.sessions.gc(&house.blobs(), &options).unwrap();
    assert_eq!(dry.sessions.iter().map(|(path, _)| path).collect::<Vec<_>>(), [&old]);
    assert!(matches!(&dry.skipped[..], [one] if one.contains("in use")), "{:?}", dry.skipped);
    assert!(old.exists());
    let done = house.sessions.gc(&house.blobs(), &GcOptions { dry_run: false, ..options }).unwrap();
    assert_eq!(done, dry);
    assert_eq!(house.ids(&house.sessions), ["new", "used"]);
    drop(writer);
    let bytes = GcOptions { max_age: None, max_bytes: Some(300), dry_run: false, ..options };
    house.sessions.gc(&house.blobs(), &bytes).unwrap();
    assert_eq!(house.ids(&house.sessions), ["new"]);
    let later = GcOptions { now: SystemTime::now() + DAY * 31, max_bytes: None, ..bytes };
    let purged = house.sessions.gc(&house.blobs(), &later).unwrap();
    assert_eq!((purged.purged, house.ids(&house.sessions.trashed()).len()), (4, 0));
    assert_eq!(house.ids(&house.sessions), ["new"]);
}

#[test]
fn images_that_no_session_shows_go_and_others_stay() {
    let house = House::new();
    let blobs = house.blobs();
    let names: Vec<String> = (0u8..5).map(|n| blobs.put(&[n; 2000]).unwrap()).collect();
    let file = |name: &String| blobs.dir().join(name.rsplit_once(':').unwrap().1);
    for name in &names[..4] {
        let time = SystemTime::now() - DAY * 3;
        File::options().write(true).open(file(name)).unwrap().set_modified(time).unwrap();
    }
    house.put("one", &format!("shows {}", names[0]), DAY);
    let archived = house.put("two", &names[1], DAY);
    house.sessions.archive(&archived).unwrap();
    let packed = house.sessions.archived().root().join("x.jsonl.gz");
    let mut gzip = flate2::write::GzEncoder::new(File::create(packed).unwrap(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, names[2].as_bytes()).unwrap();
    gzip.finish().unwrap();
    let options = GcOptions { now: SystemTime::now(), max_age: None, max_bytes: None, dry_run: false };
    let report = house.sessions.gc(&blobs, &options).unwrap();
    assert_eq!((report.blobs, report.blob_bytes, report.skipped.len()), (1, 2000, 0), "{report:?}");
    let left: Vec<_> = names.iter().filter(|name| file(name).exists()).collect();
    assert_eq!(left, [&names[0], &names[1], &names[2], &names[4]], "in use, archived, packed, too new");
}

#[test]
fn stats_count_every_branch() {
    let place = Place::new();
    let mut writer = place.writer();
    let question = writer.append(&user("q")).unwrap();
    for cost in [1.0, 2.0] {
        let mut answer = omp_types::AssistantMessage::empty(omp_types::Api::Demo, "p", "m");
        answer.usage.output = 10;
        answer.usage.cost.total = cost;
        answer.content =
            vec![omp_types::Content::ToolCall(omp_types::ToolCall { name: "read".into(), ..Default::default() })];
        assert!(writer.set_leaf(Some(question.clone())));
        writer
            .append(&omp_store::EntryBody::Message(std::sync::Arc::new(omp_types::Message::Assistant(answer))))
            .unwrap();
    }
    let stats = place.open(writer.path()).stats();
    let tally = &stats.tally;
    assert_eq!((stats.entries, tally.user_messages, tally.assistant_messages), (3, 1, 2));
    assert_eq!((tally.by_tool["read"], tally.models[0].selector(), tally.models[0].answers), (2, "p/m".to_owned(), 2));
    assert_eq!((tally.usage.output, tally.usage.cost.total), (20, 3.0));
}

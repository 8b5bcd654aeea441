//! Tests of appending: lazy creation, private files, a single writer, title in place, errors that leave the session usable.

use std::time::{Duration, UNIX_EPOCH};

use omp_store::{
    BranchSummary, Compaction, Custom, CustomMessageEntry, EntryBody, EntryId, Label, LoadedSession, ModeChange,
    ModelChange, NewSession, OpenError, OtherEntry, SessionInit, SessionWriter, TitleSource, TtsrInjection, WriteError,
};
use omp_types::{Attribution, Content};
use serde_json::{Value, json};

use crate::{Place, texts, user};

#[test]
fn nothing_is_on_disk_before_the_first_entry() {
    let place = Place::new();
    let mut writer = place.writer();
    assert!(!place.path().join("sessions").exists());
    writer.append(&user("hi")).unwrap();
    let lines = std::fs::read_to_string(writer.path()).unwrap();
    let kinds: Vec<_> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(kinds, ["title", "session", "message"]);
}

#[test]
fn the_file_is_named_after_time_and_id() {
    let place = Place::new();
    let now = UNIX_EPOCH + Duration::from_millis(1_794_772_803_186);
    let new = NewSession { cwd: place.path(), now, parent_session: Some("parent".into()) };
    let mut writer = SessionWriter::create(place.path(), place.blobs(), new);
    writer.append(&user("hi")).unwrap();
    let expect = format!("2026-11-15T20-00-03-186Z_{}.jsonl", writer.id());
    assert_eq!(writer.path().file_name().unwrap().to_str().unwrap(), expect);
    // A version 7 UUID starts with the time.
    assert!(writer.id().starts_with("01a1e0cb-9e72-7"), "{}", writer.id());
    assert_eq!(place.open(writer.path()).header().parent_session.as_deref(), Some("parent"));
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let mut writer = place.writer();
    writer.append(&user("hi")).unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(writer.path()), 0o600);
    assert_eq!(mode(writer.path().parent().unwrap()), 0o700);
}

#[test]
fn every_kind_of_entry_has_its_keys_in_order() {
    let check = |body: EntryBody, expect: &str| {
        let place = Place::new();
        let mut writer = place.writer();
        let id = writer.append(&body).unwrap();
        let written = std::fs::read_to_string(writer.path()).unwrap();
        let line = written.lines().last().unwrap();
        let time = serde_json::from_str::<Value>(line).unwrap()["timestamp"].as_str().unwrap().to_owned();
        assert_eq!(line.replace(id.as_str(), "ID").replace(&time, "T"), expect);
    };
    check(
        EntryBody::ModelChange(ModelChange {
            model: "p/m".into(),
            role: Some("smol".into()),
            resolved_model_is_fallback: true,
        }),
        r#"{"type":"model_change","id":"ID","parentId":null,"timestamp":"T","model":"p/m","role":"smol","resolvedModelIsFallback":true}"#,
    );
    check(
        EntryBody::Compaction(Compaction {
            summary: "s".into(),
            short_summary: Some("k".into()),
            first_kept_entry_id: "f".into(),
            tokens_before: 9,
            ..Compaction::default()
        }),
        r#"{"type":"compaction","id":"ID","parentId":null,"timestamp":"T","summary":"s","shortSummary":"k","firstKeptEntryId":"f","tokensBefore":9}"#,
    );
    check(
        EntryBody::BranchSummary(BranchSummary {
            from_id: "root".into(),
            summary: "s".into(),
            ..BranchSummary::default()
        }),
        r#"{"type":"branch_summary","id":"ID","parentId":null,"timestamp":"T","fromId":"root","summary":"s"}"#,
    );
    check(
        EntryBody::Custom(Custom { custom_type: "x".into(), data: None }),
        r#"{"type":"custom","customType":"x","id":"ID","parentId":null,"timestamp":"T"}"#,
    );
    check(
        EntryBody::CustomMessage(CustomMessageEntry {
            custom_type: "x".into(),
            content: vec![Content::text("t")],
            display: true,
            details: None,
            attribution: Some(Attribution::Agent),
        }),
        r#"{"type":"custom_message","customType":"x","content":[{"type":"text","text":"t"}],"display":true,"attribution":"agent","id":"ID","parentId":null,"timestamp":"T"}"#,
    );
    check(
        EntryBody::Label(Label { target_id: "t".into(), label: None }),
        r#"{"type":"label","id":"ID","parentId":null,"timestamp":"T","targetId":"t"}"#,
    );
    check(
        EntryBody::ModeChange(ModeChange { mode: "plan".into(), data: Some(json!({"a": 1})) }),
        r#"{"type":"mode_change","id":"ID","parentId":null,"timestamp":"T","mode":"plan","data":{"a":1}}"#,
    );
    check(
        EntryBody::SessionInit(SessionInit {
            system_prompt: "p".into(),
            task: "t".into(),
            tools: vec!["read".into()],
            ..SessionInit::default()
        }),
        r#"{"type":"session_init","id":"ID","parentId":null,"timestamp":"T","systemPrompt":"p","task":"t","tools":["read"]}"#,
    );
    check(
        EntryBody::TtsrInjection(TtsrInjection { injected_rules: vec!["r".into()] }),
        r#"{"type":"ttsr_injection","id":"ID","parentId":null,"timestamp":"T","injectedRules":["r"]}"#,
    );
    check(EntryBody::ResetBoundary, r#"{"type":"reset_boundary","id":"ID","parentId":null,"timestamp":"T"}"#);
    let fields = json!({"serviceTier": null}).as_object().unwrap().clone();
    check(
        EntryBody::Other(OtherEntry { kind: "service_tier_change".into(), fields }),
        r#"{"type":"service_tier_change","id":"ID","parentId":null,"timestamp":"T","serviceTier":null}"#,
    );
}

#[test]
fn a_title_changes_only_the_first_line() {
    let place = Place::new();
    let mut writer = place.writer();
    writer.append(&user("hi")).unwrap();
    let before = std::fs::read(writer.path()).unwrap();
    let long = "a long title ".repeat(40);
    writer.set_title("short", TitleSource::Auto).unwrap();
    writer.set_title(&long, TitleSource::User).unwrap();
    let path = writer.path().to_owned();
    drop(writer);
    let after = std::fs::read(&path).unwrap();
    assert_eq!(after[255], b'\n');
    assert_eq!(after[256..before.len()], before[256..]);
    let session = place.open(&path);
    assert!(session.report().is_empty());
    assert_eq!(session.title(), Some(long.as_str()));
    let change: Value = serde_json::from_str(std::str::from_utf8(&after).unwrap().lines().last().unwrap()).unwrap();
    assert_eq!((&change["source"], &change["previousTitle"]), (&json!("user"), &json!("short")));
}

#[test]
fn a_title_never_overwrites_a_first_line_that_is_not_a_title() {
    let place = Place::new();
    let header = r#"{"type":"session","version":3,"id":"x","timestamp":"","cwd":"/p"}"#;
    let path = place.file(format!("{header}\n"));
    let before = std::fs::read_to_string(&path).unwrap();
    let (mut writer, _) = place.open(&path).into_writer().unwrap();
    writer.set_title("new", TitleSource::User).unwrap();
    drop(writer);
    assert!(std::fs::read_to_string(&path).unwrap().starts_with(&before));
    assert_eq!(place.open(&path).title(), Some("new"));
}

#[test]
fn a_second_writer_is_told_who_the_first_is() {
    let place = Place::new();
    let mut writer = place.writer();
    writer.append(&user("hi")).unwrap();
    let path = writer.path().to_owned();
    let second = place.open(&path).into_writer().unwrap_err();
    assert!(matches!(second, OpenError::InUse { pid: Some(pid), .. } if pid == std::process::id()), "{second}");
    assert!(second.to_string().contains("hint:"));
    drop(writer);
    let (mut third, _) = place.open(&path).into_writer().unwrap();
    third.append(&user("again")).unwrap();
    drop(third);
    let left: Vec<_> =
        std::fs::read_dir(path.parent().unwrap()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, [path.file_name().unwrap()], "the lock file is gone");
}

#[test]
fn a_stale_lock_file_locks_nobody_out() {
    let place = Place::new();
    let path = place.file("{\"type\":\"session\",\"version\":3,\"id\":\"x\"}\n");
    let lock = path.with_file_name(format!("{}.lock", path.file_name().unwrap().to_str().unwrap()));
    std::fs::write(&lock, "999999").unwrap();
    place.open(&path).into_writer().unwrap();
}

#[test]
fn a_session_that_grew_since_it_was_read_is_not_written_to() {
    let place = Place::new();
    let path = place.file("{\"type\":\"session\",\"version\":3,\"id\":\"x\"}\n");
    let session = place.open(&path);
    std::fs::write(&path, "{\"type\":\"session\",\"version\":3,\"id\":\"x\"}\n{}\n").unwrap();
    assert!(matches!(session.into_writer(), Err(OpenError::Changed(_))));
}

#[test]
fn another_programs_torn_line_does_not_swallow_ours() {
    use std::io::Write;
    let place = Place::new();
    let mut writer = place.writer();
    writer.append(&user("one")).unwrap();
    let mut other = std::fs::OpenOptions::new().append(true).open(writer.path()).unwrap();
    other.write_all(b"{\"type\":\"mess").unwrap();
    writer.append(&user("two")).unwrap();
    let mut session = place.open(writer.path());
    assert_eq!(texts(&session.context()), ["one", "two"]);
    assert_eq!(session.report().problems.len(), 1);
}

#[test]
fn a_branch_starts_where_the_leaf_was_set() {
    let place = Place::new();
    let mut writer = place.writer();
    let one = writer.append(&user("one")).unwrap();
    let two = writer.append(&user("two")).unwrap();
    assert!(writer.set_leaf(Some(one)));
    writer.append(&user("three")).unwrap();
    assert!(!writer.set_leaf(Some(EntryId::from("nowhere"))));
    let mut session = place.open(writer.path());
    assert_eq!(texts(&session.context()), ["one", "three"]);
    assert_eq!(texts(&session.context_at(&two).unwrap()), ["one", "two"]);
    assert_eq!(session.entry(&two).unwrap()["message"]["content"][0]["text"], "two");
    assert!(writer.set_leaf(None));
    writer.append(&user("fresh")).unwrap();
    assert_eq!(texts(&place.open(writer.path()).context()), ["fresh"]);
}

#[test]
fn an_unwritable_place_is_an_error_with_a_hint() {
    let place = Place::new();
    std::fs::write(place.path().join("sessions"), "a file").unwrap();
    let mut writer = place.writer();
    let error = writer.append(&user("hi")).unwrap_err();
    assert!(matches!(error, WriteError::NotCreated { .. }), "{error}");
    assert!(error.to_string().contains("hint: "), "{error}");
    std::fs::remove_file(place.path().join("sessions")).unwrap();
    writer.append(&user("hi")).unwrap();
}

#[cfg(unix)]
#[test]
fn a_deleted_session_is_noticed() {
    let place = Place::new();
    let mut writer = place.writer();
    writer.append(&user("hi")).unwrap();
    std::fs::remove_file(writer.path()).unwrap();
    assert!(matches!(writer.append(&user("more")), Err(WriteError::Deleted(_))));
}

#[test]
fn a_newer_format_is_read_but_not_written() {
    let place = Place::new();
    let path = place.file(concat!(
        r#"{"type":"session","version":9,"id":"x","cwd":"/p"}"#,
        "\n",
        r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"hi"}}"#,
        "\n",
    ));
    let mut session = place.open(&path);
    assert_eq!(texts(&session.context()), ["hi"]);
    assert!(matches!(session.into_writer(), Err(OpenError::Newer { version: 9, .. })));
}

#[test]
fn synced_sessions_can_go_on() {
    let place = Place::new();
    let mut writer = place.writer();
    writer.sync().unwrap();
    writer.append(&user("one")).unwrap();
    writer.sync().unwrap();
    writer.append(&user("two")).unwrap();
    assert_eq!(LoadedSession::open(writer.path(), place.blobs()).unwrap().entry_count(), 2);
}

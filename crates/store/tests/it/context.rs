//! Tests of which entries of a tree are in the context.

use omp_store::{Compaction, EntryBody, ModelChange, ThinkingLevelChange};

use crate::{Place, texts, user};

fn line(id: &str, parent: &str, rest: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!("{{\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2026-11-15T20:00:03.186Z\",{rest}}}\n")
}

fn said(id: &str, parent: &str) -> String {
    line(id, parent, &format!(r#""type":"message","message":{{"role":"user","content":"{id}","timestamp":1}}"#))
}

fn compacted(id: &str, parent: &str, first_kept: &str) -> String {
    let rest =
        format!(r#""type":"compaction","summary":"sum {id}","firstKeptEntryId":"{first_kept}","tokensBefore":9"#);
    line(id, parent, &rest)
}

fn check(lines: &[String], expect: &[&str], problems: usize) {
    let place = Place::new();
    let header = "{\"type\":\"session\",\"version\":3,\"id\":\"x\"}\n".to_owned();
    let mut session = place.open(&place.file(header + &lines.concat()));
    let context = session.context();
    let seen: Vec<_> = texts(&context)
        .into_iter()
        .map(|text| text.split("mary>\n").nth(1).and_then(|rest| rest.split('\n').next()).unwrap_or(&text).to_owned())
        .collect();
    assert_eq!(seen, expect);
    assert_eq!(session.report().problems.len(), problems, "{}", session.report());
}

#[test]
fn a_compaction_hides_what_came_before_its_first_kept_entry() {
    let before = [said("a", ""), said("b", "a"), said("c", "b")];
    let with = |rest: &[String]| [&before[..], rest].concat();
    check(&with(&[compacted("k", "c", "b"), said("d", "k")]), &["sum k", "b", "c", "d"], 0);
    check(&with(&[compacted("k", "c", "c"), said("d", "k")]), &["sum k", "c", "d"], 0);
    check(&with(&[compacted("k", "c", "k"), said("d", "k")]), &["sum k", "d"], 0);
    check(
        &with(&[compacted("k", "c", "b"), said("d", "k"), compacted("l", "d", "d"), said("e", "l")]),
        &["sum l", "d", "e"],
        0,
    );
    check(&with(&[compacted("k", "c", "b"), said("other", "b")]), &["a", "b", "other"], 0);
}

#[test]
fn a_lost_first_kept_entry_loses_nothing() {
    check(&[said("a", ""), said("b", "a"), compacted("k", "b", "gone"), said("c", "k")], &["sum k", "a", "b", "c"], 1);
    let twice = [said("a", ""), compacted("k", "a", "a"), said("b", "k"), compacted("l", "b", "gone"), said("c", "l")];
    check(&twice, &["sum l", "b", "c"], 1);
}

#[test]
fn a_damaged_compaction_gives_way_to_the_one_before() {
    let damaged = compacted("l", "c", "c").replace("\"tokensBefore\":9", "\"tokensBefore\":");
    let lines = [said("a", ""), said("b", "a"), compacted("k", "b", "b"), said("c", "k"), damaged, said("d", "l")];
    check(&lines, &["sum k", "b", "c", "d"], 1);
}

#[test]
fn a_reset_starts_anew() {
    let reset = line("r", "a", r#""type":"reset_boundary""#);
    check(&[said("a", ""), reset, said("b", "r")], &["b"], 0);
}

#[test]
fn summaries_and_custom_messages_are_in_the_context_and_bookkeeping_is_not() {
    let lines = [
        said("a", ""),
        line("l", "a", r#""type":"label","targetId":"a","label":"x""#),
        line("u", "l", r#""type":"service_tier_change","data":{"id":"no"}"#),
        line("m", "u", r#""type":"custom_message","customType":"t","content":"from the program","display":false"#),
        line("s", "m", r#""type":"branch_summary","fromId":"a","summary":"left branch""#),
        line("b", "s", r#""type":"message","message":{"role":"bashExecution","command":"ls"}"#),
    ];
    check(&lines, &["a", "from the program", "left branch", "(bashExecution)"], 0);
}

#[test]
fn model_and_thinking_level_are_those_last_chosen_on_the_branch() {
    let place = Place::new();
    let mut writer = place.writer();
    let model = |model: &str, role: Option<&str>| {
        EntryBody::ModelChange(ModelChange {
            model: model.into(),
            role: role.map(Into::into),
            resolved_model_is_fallback: role == Some("fallback"),
        })
    };
    writer.append(&model("p/first", None)).unwrap();
    writer.append(&model("p/chosen", Some("default"))).unwrap();
    let level = ThinkingLevelChange { thinking_level: Some("high".into()), configured: Some("auto".into()) };
    writer.append(&EntryBody::ThinkingLevelChange(level)).unwrap();
    let kept = writer.append(&user("hi")).unwrap();
    writer.append(&model("p/small", Some("smol"))).unwrap();
    writer.append(&model("p/stand-in", Some("fallback"))).unwrap();
    let compaction = Compaction { first_kept_entry_id: kept.as_str().into(), ..Compaction::default() };
    writer.append(&EntryBody::Compaction(compaction)).unwrap();
    let context = place.open(writer.path()).context();
    assert_eq!(context.model.as_deref(), Some("p/chosen"));
    assert_eq!(context.thinking_level.as_deref(), Some("high"));
}

#[test]
fn old_versions_are_read_as_a_line() {
    let place = Place::new();
    let first = concat!(
        r#"{"type":"session","id":"x","timestamp":"t","cwd":"/p","provider":"p"}"#,
        "\n",
        r#"{"type":"model_change","provider":"p","modelId":"m"}"#,
        "\n",
        r#"{"type":"message","message":{"role":"user","content":"one"}}"#,
        "\n",
        r#"{"type":"message","message":{"role":"user","content":"two"}}"#,
        "\n",
        r#"{"type":"compaction","summary":"sum","firstKeptEntryIndex":3,"tokensBefore":1}"#,
        "\n",
        r#"{"type":"message","message":{"role":"hookMessage","customType":"h","content":"hook"}}"#,
        "\n",
    );
    let path = place.file(first);
    let mut session = place.open(&path);
    let context = session.context();
    assert_eq!(texts(&context)[1..], ["two", "hook"]);
    assert_eq!(context.model.as_deref(), Some("p/m"));
    assert!(session.report().is_empty(), "{}", session.report());
    let (mut writer, _) = session.into_writer().unwrap();
    writer.append(&user("three")).unwrap();
    writer.append(&user("four")).unwrap();
    drop(writer);
    let mut again = place.open(&path);
    assert_eq!(texts(&again.context())[1..], ["two", "hook", "three", "four"]);
    assert!(again.report().is_empty(), "{}", again.report());
    assert!(std::fs::read_to_string(&path).unwrap().starts_with(first));
}

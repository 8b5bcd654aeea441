//! Tests that written files have the keys and the order of the sample, line by line.

use std::sync::Arc;

use omp_store::{Custom, EntryBody, ModelChange, ThinkingLevelChange};
use omp_types::Message;
use serde_json::Value;

use crate::Place;

const SAMPLE: &str = include_str!("data/session.jsonl");

/// Keys of the sample that this program does not use: leftovers of streaming and a token estimate.
const NOT_WRITTEN: &[&str] = &["partialArgs", "streamIndex", "contextSnapshot"];

fn body_of(line: &Value) -> EntryBody {
    let fields = || line.clone();
    match line["type"].as_str().unwrap() {
        "message" => EntryBody::Message(Arc::new(serde_json::from_value::<Message>(line["message"].clone()).unwrap())),
        "model_change" => EntryBody::ModelChange(serde_json::from_value::<ModelChange>(fields()).unwrap()),
        "thinking_level_change" => {
            EntryBody::ThinkingLevelChange(serde_json::from_value::<ThinkingLevelChange>(fields()).unwrap())
        }
        "custom" => EntryBody::Custom(serde_json::from_value::<Custom>(fields()).unwrap()),
        kind => panic!("the sample has a new kind of entry: {kind}"),
    }
}

/// Normalizes IDs, times and unused keys.
fn comparable(value: &mut Value, parents: bool) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| !NOT_WRITTEN.contains(&key.as_str()));
            for (key, field) in fields.iter_mut() {
                match key.as_str() {
                    "id" | "parentId" if parents && !field.is_null() => *field = "ID".into(),
                    "timestamp" | "updatedAt" if parents => *field = "TIME".into(),
                    _ => comparable(field, false),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| comparable(item, false)),
        _ => {}
    }
}

fn comparable_line(line: &str) -> String {
    let mut value: Value = serde_json::from_str(line).unwrap();
    comparable(&mut value, true);
    value.to_string()
}

#[test]
fn the_samples_conversation_is_written_as_in_the_sample() {
    let place = Place::new();
    let mut writer = place.writer();
    for line in SAMPLE.lines().skip(2) {
        writer.append(&body_of(&serde_json::from_str(line).unwrap())).unwrap();
    }
    let written = std::fs::read_to_string(writer.path()).unwrap();
    assert_eq!(written.lines().count(), SAMPLE.lines().count());
    for (ours, sample) in written.lines().zip(SAMPLE.lines()) {
        assert_eq!(comparable_line(ours), comparable_line(sample));
    }
    assert_eq!(written.lines().next().unwrap().len(), SAMPLE.lines().next().unwrap().len());
    assert!(written.ends_with('\n'));
}

#[test]
fn the_sample_is_read_whole() {
    let place = Place::new();
    let mut session = place.open(&place.file(SAMPLE));
    let context = session.context();
    assert!(session.report().is_empty(), "{}", session.report());
    assert_eq!(session.id(), "01a1e0cb-9e72-700b-8f0b-9b2803029698");
    assert_eq!(session.header().cwd, "/home/user/project");
    assert_eq!(session.title(), None);
    assert_eq!(session.entry_count(), 10);
    let roles: Vec<_> = context.messages.iter().map(Message::role).collect();
    assert_eq!(roles, ["user", "assistant", "toolResult", "toolResult", "assistant"]);
    assert_eq!(context.model.as_deref(), Some("mock/mock-1"));
    assert_eq!(context.thinking_level, None);
    assert_eq!(context.leaf.unwrap().as_str(), "42d5b0c2");
    assert_eq!(context.entry_ids[0].as_str(), "233833f0");
}

#[test]
fn the_sample_can_be_continued_without_touching_it() {
    let place = Place::new();
    let path = place.file(SAMPLE);
    let (mut writer, moved) = place.open(&path).into_writer().unwrap();
    writer.append(&crate::user("more")).unwrap();
    assert!(moved.is_empty());
    let written = std::fs::read_to_string(&path).unwrap();
    let added: Value = serde_json::from_str(written.strip_prefix(SAMPLE).unwrap()).unwrap();
    assert_eq!(added["parentId"], "42d5b0c2");
}

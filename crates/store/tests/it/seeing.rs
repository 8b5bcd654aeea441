//! Tests of what front ends see of a session: typed entries, the full transcript, the tree.

use omp_store::{EntryBody, LoadedSession, TreeFilter, shown};

use crate::Place;

fn line(id: &str, parent: &str, rest: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!("{{\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2026-11-15T20:00:03.186Z\",{rest}}}\n")
}

fn said(id: &str, parent: &str, text: &str) -> String {
    line(id, parent, &format!(r#""type":"message","message":{{"role":"user","content":"{text}","timestamp":1}}"#))
}

fn answer(id: &str, parent: &str, content: &str, stop: &str) -> String {
    let message = format!(
        r#"{{"role":"assistant","content":[{content}],"api":"anthropic-messages","provider":"p","model":"m","stopReason":"{stop}"}}"#
    );
    line(id, parent, &format!(r#""type":"message","message":{message}"#))
}

fn session(place: &Place, lines: &[String]) -> LoadedSession {
    let header = "{\"type\":\"session\",\"version\":3,\"id\":\"x\"}\n".to_owned();
    place.open(&place.file(header + &lines.concat()))
}

#[test]
fn every_entry_is_read_as_what_it_was_written_as() {
    let check = |rest: &str, expect: fn(&EntryBody) -> bool| {
        let place = Place::new();
        let session = session(&place, &[said("r", "", "root"), line("a", "r", rest)]);
        let entry = session.typed_entry(&"a".into()).unwrap();
        assert!(expect(&entry.body), "{rest}: {:?}", entry.body);
        assert_eq!((entry.parent, entry.timestamp.len()), (Some("r".into()), 24));
        // Writing the entry again gives the same line.
        let mut writer = place.writer();
        writer.append(&entry.body).unwrap();
        let written = std::fs::read_to_string(writer.path()).unwrap();
        let written: serde_json::Value = serde_json::from_str(written.lines().last().unwrap()).unwrap();
        let given: serde_json::Value = serde_json::from_str(&format!("{{{rest}}}")).unwrap();
        for (key, value) in given.as_object().unwrap() {
            assert_eq!(&written[key], value, "{key} of {rest}");
        }
    };
    check(r#""type":"model_change","model":"p/m","resolvedModelIsFallback":false"#, |b| {
        matches!(b, EntryBody::ModelChange(_))
    });
    check(r#""type":"thinking_level_change","thinkingLevel":"high","configured":"auto""#, |b| {
        matches!(b, EntryBody::ThinkingLevelChange(_))
    });
    check(r#""type":"service_tier_change","serviceTier":{"openai":"flex"}"#, |b| {
        matches!(b, EntryBody::ServiceTierChange(_))
    });
    check(r#""type":"service_tier_change","serviceTier":null"#, |b| matches!(b, EntryBody::ServiceTierChange(_)));
    check(r#""type":"compaction","summary":"s","firstKeptEntryId":"r","tokensBefore":5,"warning":"w""#, |b| {
        matches!(b, EntryBody::Compaction(_))
    });
    check(r#""type":"branch_summary","fromId":"r","summary":"s""#, |b| matches!(b, EntryBody::BranchSummary(_)));
    check(r#""type":"custom","customType":"t","data":{"id":1}"#, |b| matches!(b, EntryBody::Custom(_)));
    check(
        r#""type":"custom_message","customType":"t","content":[{"type":"text","text":"x"}],"display":true,"attribution":"agent""#,
        |b| matches!(b, EntryBody::CustomMessage(_)),
    );
    check(r#""type":"label","targetId":"r","label":"l""#, |b| matches!(b, EntryBody::Label(_)));
    check(r#""type":"mode_change","mode":"plan","data":{"f":1}"#, |b| matches!(b, EntryBody::ModeChange(_)));
    check(
        r#""type":"session_init","systemPrompt":"s","task":"t","tools":["read"],"spawns":"*""#,
        |b| matches!(b, EntryBody::SessionInit(init) if init.more.len() == 1),
    );
    check(r#""type":"ttsr_injection","injectedRules":["r"]"#, |b| matches!(b, EntryBody::TtsrInjection(_)));
    check(
        r#""type":"mcp_tool_selection","selectedToolNames":["a"]"#,
        |b| matches!(b, EntryBody::McpToolSelection(selection) if selection.more.is_empty()),
    );
    check(r#""type":"credential_pin","provider":"p","hash":"h""#, |b| matches!(b, EntryBody::CredentialPin(_)));
    check(r#""type":"title_change","title":"t","source":"user""#, |b| matches!(b, EntryBody::TitleChange(_)));
    check(r#""type":"reset_boundary""#, |b| matches!(b, EntryBody::ResetBoundary));
    check(r#""type":"novelty","x":{"y":[1]}"#, |b| matches!(b, EntryBody::Other(_)));
    check(r#""type":"label","unexpected":true"#, |b| matches!(b, EntryBody::Other(other) if other.kind == "label"));
}

#[test]
fn the_transcript_keeps_what_the_context_hides_and_reads_only_what_is_asked() {
    let place = Place::new();
    let broken = said("c", "b", "three").replace("\"timestamp\":1}", "\"timestamp\":1");
    let lines = [
        said("a", "", "one"),
        said("b", "a", "two"),
        broken,
        line("k", "c", r#""type":"compaction","summary":"sum","firstKeptEntryId":"c","tokensBefore":1"#),
        line("l", "k", r#""type":"label","targetId":"a","label":"x""#),
        said("side", "a", "aside"),
        line("r", "l", r#""type":"reset_boundary""#),
        said("d", "r", "four"),
    ];
    let session = session(&place, &lines);
    let transcript = session.transcript(None).unwrap();
    assert_eq!(transcript.len(), 6);
    let (told, problems) = transcript.read(0..100);
    let ids: Vec<_> = told.iter().map(|told| told.id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "k", "r", "d"]);
    assert!(matches!(&problems[..], [one] if one.line == Some(4)), "{problems:?}");
    let (last, problems) = transcript.read(5..6);
    assert_eq!((last.len(), last[0].id.as_str(), problems.len()), (1, "d", 0));
    assert_eq!(transcript.read(9..12).0, []);
    let side = session.transcript(Some(&"side".into())).unwrap();
    assert_eq!(side.read(0..9).0.len(), 2);
    assert!(session.transcript(Some(&"nowhere".into())).is_none());
}

#[test]
fn the_tree_is_filtered_and_searched() {
    let place = Place::new();
    let call = r#"{"type":"toolCall","id":"1","name":"read","arguments":{"path":"Main.rs"}}"#;
    let lines = [
        line("m", "", r#""type":"model_change","model":"p/m""#),
        said("a", "m", "Start the task"),
        answer("b", "a", call, "toolUse"),
        line(
            "t",
            "b",
            r#""type":"message","message":{"role":"toolResult","toolCallId":"1","toolName":"read","content":"fn main"}"#,
        ),
        answer("c", "t", r#"{"type":"text","text":"Done  with\n it"}"#, "stop"),
        said("x", "a", "another way"),
        answer("y", "x", call, "error"),
        line("l", "c", r#""type":"label","targetId":"c","label":"Milestone""#),
        line("n", "l", r#""type":"title_change","title":"Parser""#),
        line("h", "n", r#""type":"custom_message","customType":"note","content":"for the model","display":false"#),
        line("v", "h", r#""type":"custom_message","customType":"note","content":"for all","display":true"#),
        answer("z", "v", call, "toolUse"),
    ];
    let session = session(&place, &lines);
    let nodes = session.tree(Some(&"z".into()));
    let check = |filter, query: &str, expect: &[&str]| {
        let ids: Vec<_> = shown(&nodes, filter, query).iter().map(|shown| shown.node.id.as_str().to_owned()).collect();
        assert_eq!(ids, expect, "{filter:?} {query:?}");
    };
    check(TreeFilter::Default, "", &["a", "t", "c", "x", "y", "v", "z"]);
    check(TreeFilter::NoTools, "", &["a", "c", "x", "y", "v", "z"]);
    check(TreeFilter::Said, "", &["a", "c", "x", "y", "v"]);
    check(TreeFilter::UserOnly, "", &["a", "x"]);
    check(TreeFilter::LabeledOnly, "", &["c"]);
    check(TreeFilter::All, "", &["m", "a", "b", "t", "c", "x", "y", "l", "n", "h", "v", "z"]);
    let tools: Vec<_> = nodes.iter().filter_map(|node| node.tool.as_deref()).collect();
    assert_eq!(tools, ["read"]);
    check(TreeFilter::Default, "TASK start", &["a"]);
    check(TreeFilter::Default, "milestone done", &["c"]);
    check(TreeFilter::Default, "main.rs", &["y", "z"]);
    check(TreeFilter::All, "model_change", &["m"]);
    check(TreeFilter::Default, "task nowhere", &[]);
    let active: Vec<_> = nodes.iter().filter(|node| node.active).map(|node| node.id.as_str()).collect();
    assert_eq!(active, ["m", "a", "b", "t", "c", "l", "n", "h", "v", "z"]);
    let rows = shown(&nodes, TreeFilter::UserOnly, "");
    assert_eq!(rows.iter().map(|row| row.parent).collect::<Vec<_>>(), [None, Some(0)]);
    let done = &nodes[4];
    assert_eq!(
        (done.preview.as_str(), done.label.as_deref(), done.parent),
        ("Done with it", Some("Milestone"), Some(3))
    );
    assert_eq!([2, 6].map(|at| nodes[at].preview.as_str()), [r#"[read {"path":"Main.rs"}]"#, "(failed)"]);
    assert!(session.tree(Some(&"x".into()))[5].leaf);
    for nowhere in [None, Some("nowhere".into())] {
        assert!(session.tree(nowhere.as_ref()).iter().all(|node| !node.active && !node.leaf));
    }
}

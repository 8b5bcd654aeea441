//! Tests of forks and branches: new sessions have the content of the old one, which is unchanged.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use omp_store::{ArtifactDir, CopiedSession, CopyError, CopyTo, EntryBody, EntryId, Label, TitleSource};
use serde_json::Value;

use crate::{Place, texts, user};

fn to(folder: &Path) -> CopyTo<'_> {
    CopyTo { folder, cwd: Path::new("/elsewhere"), now: SystemTime::now() }
}

fn lines(path: &Path) -> Vec<String> {
    std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect()
}

fn header(path: &Path) -> Value {
    let line = lines(path).into_iter().find(|line| line.contains(r#""type":"session""#)).unwrap();
    serde_json::from_str(&line).unwrap()
}

/// Creates `a - b - c` with a label on `b`, and `x` as another child of `a`.
fn family(place: &Place) -> (PathBuf, [EntryId; 4]) {
    let mut writer = place.writer();
    let a = writer.append(&user("a")).unwrap();
    let x = writer.append(&user("x")).unwrap();
    assert!(writer.set_leaf(Some(a.clone())));
    let b = writer.append(&user("b")).unwrap();
    let c = writer.append(&user("c")).unwrap();
    for (target, label) in [(&b, "first"), (&x, "side"), (&a, "gone")] {
        let label = Label { target_id: target.as_str().into(), label: Some(label.into()) };
        writer.append(&EntryBody::Label(label)).unwrap();
    }
    writer.append(&EntryBody::Label(Label { target_id: b.as_str().into(), label: Some("renamed".into()) })).unwrap();
    writer.append(&EntryBody::Label(Label { target_id: a.as_str().into(), label: None })).unwrap();
    writer.set_title("The family", TitleSource::User).unwrap();
    (writer.path().to_owned(), [a, b, c, x])
}

#[test]
fn a_fork_holds_every_entry_unchanged_under_a_new_name() {
    let place = Place::new();
    let (path, _) = family(&place);
    std::fs::write(ArtifactDir::of_session(&path).create("bash").unwrap().path, "whole output").unwrap();
    let nested = path.with_extension("").join("Anna");
    std::fs::create_dir(&nested).unwrap();
    std::fs::write(nested.join("0.read.log"), "inner").unwrap();
    let before = std::fs::read(&path).unwrap();
    let source = place.open(&path);
    let folder = place.path().join("new");
    let CopiedSession { path: fork, id, warnings } = source.fork(to(&folder)).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(fork.parent().unwrap(), folder);
    assert!(fork.to_str().unwrap().ends_with(&format!("_{id}.jsonl")));
    assert_eq!(lines(&fork)[2..], lines(&path)[2..]);
    assert_eq!(lines(&fork)[0].len(), 255);
    let header = header(&fork);
    assert_eq!(header["id"], id);
    assert_eq!((&header["cwd"], &header["parentSession"]), (&"/elsewhere".into(), &source.id().into()));
    assert_eq!(place.open(&fork).title(), Some("The family"));
    assert_eq!(place.open(&fork).title_source(), Some(TitleSource::User));
    let artifacts = fork.with_extension("");
    assert_eq!(std::fs::read_to_string(artifacts.join("0.bash.log")).unwrap(), "whole output");
    assert_eq!(std::fs::read_to_string(artifacts.join("Anna/0.read.log")).unwrap(), "inner");
    let (mut writer, _) = place.open(&fork).into_writer().unwrap();
    writer.append(&user("on")).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_fork_keeps_what_it_does_not_understand() {
    let place = Place::new();
    let rest = concat!(
        r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"hi"}}"#,
        "\n\nnot an entry\n",
        r#"{"type":"novelty",  "id":"n","parentId":"a","spacing":  "kept"}"#,
        "\n",
    );
    for head in [
        r#"{"type":"session","version":3,"id":"old","cwd":"/p","additionalDirectories":["/q"],"previousSessionFiles":["/r"]}"#,
        r#"{"type":"session","id":"old","cwd":"/p"}"#,
    ] {
        let path = place.file(format!("{head}\n{rest}{{\"type\":\"mess"));
        let CopiedSession { path: fork, .. } = place.open(&path).fork(to(place.path())).unwrap();
        let copied = std::fs::read_to_string(&fork).unwrap();
        assert!(copied.ends_with(&format!("}}\n{rest}")), "{copied}");
        let header = header(&fork);
        let old: Value = serde_json::from_str(head).unwrap();
        assert_eq!(header["additionalDirectories"], old["additionalDirectories"]);
        assert_eq!(header.get("version"), old.get("version"), "the format stays what it is");
        assert!(header.get("previousSessionFiles").is_none());
        std::fs::remove_file(fork).unwrap();
    }
}

#[test]
fn a_branch_holds_the_way_to_an_entry_with_its_labels() {
    let place = Place::new();
    let (path, [a, b, _, x]) = family(&place);
    let source = place.open(&path);
    let check = |leaf: &EntryId, said: &[&str], labels: &[(&EntryId, &str)]| {
        let branch = source.branch(leaf, to(place.path())).unwrap().path;
        let mut session = place.open(&branch);
        assert_eq!(texts(&session.context()), said);
        let labels: Vec<_> = labels.iter().map(|(id, label)| ((*id).clone(), (*label).to_owned())).collect();
        assert_eq!(session.labels(), labels);
        assert!(session.report().is_empty(), "{}", session.report());
        assert_eq!(header(&branch)["parentSession"], path.to_str().unwrap());
        for line in &lines(&branch)[2..2 + said.len()] {
            assert!(lines(&path).contains(line), "{line}");
        }
    };
    check(&b, &["a", "b"], &[(&b, "renamed")]);
    check(&x, &["a", "x"], &[(&x, "side")]);
    check(&a, &["a"], &[]);
    let lost = source.branch(&"nowhere".into(), to(place.path())).unwrap_err();
    assert!(matches!(lost, CopyError::NoEntry(_)) && lost.to_string().contains("hint:"));
}

#[test]
fn sessions_of_the_first_version_branch_too() {
    let place = Place::new();
    let said = |text: &str| format!(r#"{{"type":"message","message":{{"role":"user","content":"{text}"}}}}"#);
    let path =
        place.file(format!("{{\"type\":\"session\",\"id\":\"x\"}}\n{}\n{}\n{}\n", said("1"), said("2"), said("3")));
    let branch = place.open(&path).branch(&"v1-1".into(), to(place.path())).unwrap().path;
    let (mut writer, _) = place.open(&branch).into_writer().unwrap();
    writer.append(&user("4")).unwrap();
    let mut session = place.open(&branch);
    assert_eq!(texts(&session.context()), ["1", "2", "4"]);
    assert!(session.report().is_empty(), "{}", session.report());
}

#[cfg(unix)]
#[test]
fn an_artifact_that_cannot_be_copied_is_told_and_a_copy_that_cannot_be_written_leaves_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let (path, _) = family(&place);
    let artifacts = path.with_extension("");
    std::fs::create_dir(&artifacts).unwrap();
    std::os::unix::fs::symlink("/dev/zero", artifacts.join("link")).unwrap();
    let source = place.open(&path);
    let copied = source.fork(to(place.path())).unwrap();
    assert!(matches!(&copied.warnings[..], [one] if one.contains("link was not copied")), "{:?}", copied.warnings);
    let closed = place.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o500)).unwrap();
    // Root may write anywhere.
    if std::fs::write(closed.join("probe"), "").is_err() {
        assert!(matches!(source.fork(to(&closed)), Err(CopyError::NotWritten { .. })));
        assert_eq!(std::fs::read_dir(&closed).unwrap().count(), 0);
    }
    let file = place.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert!(source.fork(to(&file)).unwrap_err().to_string().contains("the original session was not changed"));
}

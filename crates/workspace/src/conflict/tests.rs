//! Tests of finding and resolving conflicts.

use super::*;

const TWO: &str = "a\n<<<<<<< HEAD\nours 1\nours 2\n=======\ntheirs\n>>>>>>> branch\nz\n";
const THREE: &str = "<<<<<<< HEAD\r\no\r\n||||||| base\r\nb\r\n=======\r\nt\r\n=======\r\n>>>>>>> x\r\n";

fn file(text: &str) -> TextFile {
    TextFile::parse(text.as_bytes())
}

fn registered(text: &str) -> (Conflicts, Vec<Conflict>) {
    let mut conflicts = Conflicts::default();
    let found = conflicts.register(Path::new("/f"), "f", &file(text));
    (conflicts, found)
}

fn resolved(text: &str, content: &str) -> String {
    let (_, found) = registered(text);
    let picks: Vec<_> = found.iter().map(|conflict| (conflict, content)).collect();
    String::from_utf8(resolve(&file(text), &picks).unwrap()).unwrap()
}

#[test]
fn blocks_and_sides() {
    let (_, found) = registered(TWO);
    assert_eq!((found.len(), found[0].id, found[0].lines(), found[0].has_base()), (1, 1, (2, 7), false));
    assert_eq!(found[0].text(Some(Side::Ours)).unwrap(), (3, "ours 1\nours 2\n".into()));
    assert_eq!(found[0].text(Some(Side::Theirs)).unwrap(), (6, "theirs\n".into()));
    assert!(found[0].text(Some(Side::Base)).unwrap_err().to_string().contains("no base section (2-way merge)"));
    assert!(found[0].text(None).unwrap().1.starts_with("<<<<<<< HEAD\n"));
    let (_, found) = registered(THREE);
    assert_eq!(found[0].text(Some(Side::Base)).unwrap(), (4, "b\r\n".into()));
    assert_eq!(found[0].text(Some(Side::Theirs)).unwrap(), (6, "t\r\n=======\r\n".into()), "an underline is text");
}

#[test]
fn what_is_no_conflict() {
    for text in [
        "",
        "Title\n=======\ntext\n",
        "<<<<<<< a\n=======\nno end\n",
        "<<<<<<< a\n>>>>>>> b\n",
        "<<<<<<<<< nine\n=======\n>>>>>>>>> nine\n",
        " <<<<<<< a\n=======\n >>>>>>> b\n",
        "<<<<<<<a\n=======\n>>>>>>>b\n",
    ] {
        assert_eq!(registered(text).1.len(), 0, "{text:?}");
    }
    assert_eq!(registered(&format!("<<<<<<< stray\n{TWO}")).1[0].lines(), (3, 8));
}

#[test]
fn contents() {
    for (text, content, want) in [
        (TWO, "@ours", "a\nours 1\nours 2\nz\n"),
        (TWO, "@theirs\n", "a\ntheirs\nz\n"),
        (TWO, "@both", "a\nours 1\nours 2\ntheirs\nz\n"),
        (TWO, "// mixed\n@theirs\nx @ours", "a\n// mixed\ntheirs\nx @ours\nz\n"),
        (TWO, "", "a\nz\n"),
        (THREE, "@base", "b\r\n"),
        (THREE, "new\nlines", "new\r\nlines\r\n"),
        ("<<<<<<<\no\n=======\nt\n>>>>>>>", "@ours", "o"),
    ] {
        assert_eq!(resolved(text, content), want, "{content:?}");
    }
    let two = [TWO, TWO, THREE].concat();
    assert_eq!(resolved(&two, "@theirs"), "a\ntheirs\nz\na\ntheirs\nz\nt\r\n=======\r\n");
    let (_, found) = registered(TWO);
    let error = resolve(&file(TWO), &[(&found[0], "@base")]).unwrap_err();
    assert_eq!(error, ConflictError::NoBase(1));
}

#[test]
fn bytes_that_are_not_text_survive() {
    let raw = b"\xef\xbb\xbf<<<<<<<\n\xff\xfe\n=======\nt\n>>>>>>>\n\xc0".to_vec();
    let parsed = TextFile::parse(raw);
    let mut conflicts = Conflicts::default();
    let found = conflicts.register(Path::new("/f"), "f", &parsed);
    assert_eq!(resolve(&parsed, &[(&found[0], "@ours")]).unwrap(), b"\xef\xbb\xbf\xff\xfe\n\xc0");
}

#[test]
fn numbers_stay_with_their_blocks() {
    let other = TWO.replace("theirs", "other");
    let text = format!("{TWO}{other}");
    let (mut conflicts, found) = registered(&text);
    let after = resolve(&file(&text), &[(&found[0], "@ours")]).unwrap();
    let after = TextFile::parse(after);
    conflicts.forget(&[1]);
    conflicts.follow(Path::new("/f"), &after);
    assert_eq!(conflicts.get(1), Err(ConflictError::Unknown(1)));
    assert_eq!(conflicts.get(2).unwrap().lines(), (6, 11));
    assert_eq!(resolve(&after, &[(conflicts.get(2).unwrap(), "x")]).unwrap(), b"a\nours 1\nours 2\nz\na\nx\nz\n");
    let again = conflicts.register(Path::new("/f"), "f", &file(&format!("{TWO}\n{other}")));
    assert_eq!(again.iter().map(|conflict| conflict.id).collect::<Vec<_>>(), [3, 2]);
    assert_eq!(conflicts.register(Path::new("/f"), "f", &file("clean\n")), []);
    assert_eq!(conflicts.all(), []);
}

#[test]
fn changed_files() {
    let (_, found) = registered(TWO);
    let now = |text: &str| resolve(&file(text), &[(&found[0], "@ours")]).map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(now(&format!("new\n{TWO}")).unwrap(), "new\na\nours 1\nours 2\nz\n");
    for text in [TWO.replace("ours 1", "ours one"), "clean\n".into(), format!("new\n{TWO}{TWO}")] {
        let error = now(&text).unwrap_err().to_string();
        assert!(error.starts_with("Conflict #1 no longer present in 'f'"), "{error}");
    }
}

#[test]
fn addresses() {
    let parse = |typed: &str| ConflictUri::parse(typed).map(|uri| uri.map_err(|error| error.to_string()));
    let uri = |id, side, had_file| Some(Ok(ConflictUri { id, side, had_file }));
    assert_eq!(parse("conflict://3"), uri(ConflictId::One(3), None, false));
    assert_eq!(parse(" conflict://3/base"), uri(ConflictId::One(3), Some(Side::Base), false));
    assert_eq!(parse("conflict://*"), uri(ConflictId::All, None, false));
    assert_eq!(parse("src/a.rs:conflict://7"), uri(ConflictId::One(7), None, true));
    assert_eq!(parse("conflict.txt"), None);
    for wrong in
        ["conflict://", "conflict://0", "conflict://x", "conflict://1/mine", "conflict://*/ours", "conflict://-1"]
    {
        let error = parse(wrong).unwrap().unwrap_err();
        assert!(error.starts_with(&format!("Invalid conflict URI '{wrong}'")), "{error}");
    }
}

#[test]
fn directives() {
    let parse = |content: &str| {
        Directives::parse(content).map(|found| found.map(|found| found.0.into_iter().collect::<Vec<_>>()))
    };
    assert_eq!(parse("1: @ours\n\n#2 = @both\n").unwrap().unwrap(), [(1, "@ours".into()), (2, "@both".into())]);
    assert_eq!(parse("@ours").unwrap(), None);
    assert_eq!(parse("key: value\n").unwrap(), None);
    assert!(parse("1: @ours\n1: @base").unwrap_err().to_string().contains("#1 twice"));
    assert!(parse("1: @ours\n2: text").unwrap_err().to_string().contains("one is: 2: text"));
}

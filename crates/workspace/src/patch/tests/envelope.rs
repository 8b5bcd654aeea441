//! Tests of the freeform envelope: several files, all or none.

use super::*;

const START: &[(&str, &[u8])] = &[("a", b"one\ntwo\n"), ("dir/b", b"x\n"), ("run.sh", b"#!/bin/sh\n")];

fn wrapped(body: &str) -> String {
    format!("*** Begin Patch\n{body}\n*** End Patch\n")
}

#[track_caller]
fn check_files(body: &str, want: &[(&str, &str)]) -> Vec<String> {
    let bench = Bench::new(START);
    let ops = parse_envelope(&wrapped(body)).unwrap_or_else(|error| panic!("{body}: {error}"));
    let warnings = bench.carry_out(&ops).unwrap_or_else(|error| panic!("{body}: {error}"));
    let want: Vec<(String, String)> = want.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
    assert_eq!(bench.files(), want, "{body}");
    warnings
}

#[track_caller]
fn check_nothing(input: &str, why: &str) {
    let bench = Bench::new(START);
    let before = bench.files();
    let result = parse_envelope(input).map_err(|error| error.to_string()).and_then(|ops| bench.carry_out(&ops));
    let error = result.unwrap_err();
    assert!(error.contains(why), "{input}: {error}");
    assert_eq!(bench.files(), before, "{input}");
}

const SH: (&str, &str) = ("run.sh", "#!/bin/sh\n");

#[test]
fn single_files() {
    let (a, b) = (("a", "one\ntwo\n"), ("dir/b", "x\n"));
    check_files("*** Update File: a\n@@\n-two\n+zwei", &[("a", "one\nzwei\n"), b, SH]);
    check_files("*** Update File: a\n one\n-two\n+zwei", &[("a", "one\nzwei\n"), b, SH]);
    check_files("*** Add File: n/ew\n+x\n+\n+y", &[a, b, ("n/ew", "x\n\ny\n"), SH]);
    check_files("*** Add File: empty", &[a, b, ("empty", ""), SH]);
    check_files("*** Delete File: a", &[b, SH]);
    check_files("*** Update File: a\n*** Move to: c/d", &[("c/d", "one\ntwo\n"), b, SH]);
    check_files("*** Update File: a\n*** Move to: z\n@@\n-one\n+1", &[b, SH, ("z", "1\ntwo\n")]);
    check_files("*** Update File: a\n@@\n+end\n*** End of File", &[("a", "one\ntwo\nend\n"), b, SH]);
    check_files("*** Update File: ./dir/../a\n@@\n-two\n+2", &[("a", "one\n2\n"), b, SH]);
}

#[test]
fn several_files() {
    check_files(
        "*** Update File: a\n@@\n-two\n+2\n\n*** Delete File: dir/b\n*** Add File: new\n+n",
        &[("a", "one\n2\n"), ("new", "n\n"), SH],
    );
    check_files(
        "*** Update File: a\n@@\n-two\n+2\n*** Update File: a\n@@\n-2\n+3",
        &[("a", "one\n3\n"), ("dir/b", "x\n"), SH],
    );
    check_files("*** Delete File: a\n*** Add File: a\n+anew", &[("a", "anew\n"), ("dir/b", "x\n"), SH]);
    check_files(
        "*** Add File: n\n+1\n*** Update File: n\n@@\n-1\n+2",
        &[("a", "one\ntwo\n"), ("dir/b", "x\n"), ("n", "2\n"), SH],
    );
}

#[test]
fn wrappings() {
    let bench = Bench::new(START);
    for (round, input) in [
        "```\n*** Begin Patch\n*** Update File: a\n@@\n-two\n+0\n*** End Patch\n```",
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a\n@@\n-0\n+1\n*** End Patch\nEOF\n",
        "\n\n*** Begin Patch\r\n*** Update File: a\r\n@@\r\n-1\r\n+2\r\n*** End Patch\r\n",
    ]
    .into_iter()
    .enumerate()
    {
        bench.carry_out(&parse_envelope(input).unwrap()).unwrap();
        assert_eq!(bench.files()[0].1, format!("one\n{round}\n"));
    }
}

#[test]
fn all_or_nothing() {
    check_nothing(
        &wrapped("*** Update File: a\n@@\n-two\n+2\n*** Update File: dir/b\n@@\n-gone\n+x"),
        "not found in dir/b",
    );
    check_nothing(&wrapped("*** Add File: new\n+x\n*** Delete File: gone"), "File not found: gone");
    check_nothing(&wrapped("*** Delete File: dir/b\n*** Add File: a/below\n+x"), "a: is not a folder");
    check_nothing(&wrapped("*** Update File: a\n*** Move to: new\n*** Add File: run.sh\n+x"), "run.sh already exists");
    check_nothing(&wrapped("*** Add File: deep/er/new\n+x\n*** Add File: a/b/c\n+x"), "a: is not a folder");
}

#[test]
fn refusals() {
    check_nothing("", "must begin with");
    check_nothing("*** Begin Patch\n*** Update File: a\n@@\n-two\n+2", "cut off");
    check_nothing("words\n*** Begin Patch\n*** End Patch", "comes before");
    check_nothing("*** Begin Patch\n*** Delete File: a\n*** End Patch\nwords", "comes after");
    check_nothing(&wrapped(""), "names no file");
    check_nothing(&wrapped("@@\n-a"), "before the first file");
    check_nothing(&wrapped("*** Add File: \n+x"), "names no file");
    check_nothing(&wrapped("*** Add File: n\nx"), "does not start with +");
    check_nothing(&wrapped("*** Add File: a\n+x"), "a already exists");
    check_nothing(&wrapped("*** Delete File: a\n-one"), "follows a deletion");
    check_nothing(&wrapped("*** Delete File: dir"), "is a directory");
    check_nothing(&wrapped("*** Update File: a"), "no hunks");
    check_nothing(&wrapped("*** Update File: a\n@@\n-two\n+2\n*** Move to: b"), "must follow");
    check_nothing(&wrapped("*** Update File: a\n*** Move to: dir/b"), "a file with that name exists");
    check_nothing(&wrapped("*** Update File: a\n*** Move to: ./a"), "it is already there");
    check_nothing(&wrapped("*** Add File: n\n+x\n*** Update File: n\n*** Move to: m"), "new in this call");
    check_nothing(&wrapped("*** Delete File: a\n*** Update File: a\n@@\n-two\n+2"), "deleted or moved earlier");
    check_nothing(&wrapped("*** Delete File: a\n*** Update File: dir/b\n*** Move to: a"), "removed in the same call");
    check_nothing(&wrapped("*** Update File: a\n*** Move to: n\n*** Add File: a\n+x"), "moved away and created again");
    check_nothing(&wrapped("*** Update File: A\n@@\n-two\n+2"), "there is a, whose name differs only in case");
}

#[test]
fn half_a_patch() {
    let bench = Bench::new(START);
    let paths = PathResolver::new(bench.folder.path(), None);
    let planner = PatchPlanner { files: &paths, last_seen: &|_: &Path| None, rules: EditRules::default() };
    let whole =
        wrapped("*** Update File: a\n@@\n-two\n+2\n@@\n-one\n+1\n*** Add File: n\n+x\n+y\n*** Delete File: dir/b");
    let mut seen = Vec::new();
    for end in (0..=whole.len()).filter(|end| whole.is_char_boundary(*end)) {
        let planned = planner.plan_partial(&parse_partial_envelope(&whole[..end])).unwrap_or_default();
        let state: Vec<String> = planned
            .iter()
            .map(|edit| {
                let after = edit.after.as_ref().map(|file| String::from_utf8_lossy(file.bytes()).into_owned());
                format!("{} {after:?}", edit.path.display)
            })
            .collect();
        if seen.last() != Some(&state) {
            seen.push(state);
        }
    }
    let shown: Vec<String> = seen.iter().map(|state| state.join(" | ")).collect();
    assert_eq!(
        shown,
        [
            "",
            r#"a Some("one\n")"#,
            r#"a Some("one\n2\n")"#,
            r#"a Some("2\n")"#,
            r#"a Some("1\n2\n")"#,
            r#"a Some("1\n2\n") | n Some("")"#,
            r#"a Some("1\n2\n") | n Some("x\n")"#,
            r#"a Some("1\n2\n") | n Some("x\ny\n")"#,
            r#"a Some("1\n2\n") | n Some("x\ny\n") | dir/b None"#,
        ]
    );
}

#[cfg(unix)]
#[test]
fn modes_move_along_and_links_are_told() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let bench = Bench::new(START);
    let path = |name: &str| bench.folder.path().join(name);
    fs::set_permissions(path("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    let ops = parse_envelope(&wrapped("*** Update File: run.sh\n*** Move to: bin/go\n@@\n #!/bin/sh\n+true")).unwrap();
    bench.carry_out(&ops).unwrap();
    assert_eq!(fs::metadata(path("bin/go")).unwrap().mode() & 0o777, 0o750);
    symlink("a", path("link")).unwrap();
    let ops = parse_envelope(&wrapped("*** Update File: link\n@@\n-two\n+2")).unwrap();
    bench.carry_out(&ops).unwrap();
    assert!(path("link").is_symlink() && fs::read_to_string(path("a")).unwrap() == "one\n2\n");
    let ops = parse_envelope(&wrapped("*** Update File: link\n*** Move to: l2")).unwrap();
    assert!(bench.carry_out(&ops).unwrap_err().contains("symbolic link"));
    let warnings = bench.carry_out(&parse_envelope(&wrapped("*** Delete File: link")).unwrap()).unwrap();
    assert!(warnings[0].contains("link was deleted, not the file"));
    assert!(path("a").exists() && !path("link").is_symlink());
}

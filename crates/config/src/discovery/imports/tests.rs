//! Tests which files are imported, and the notes about refused imports.

use std::fs;

use super::*;

struct Imported {
    text: String,
    names: Vec<String>,
    problems: Vec<String>,
}

/// Expands `p/F.md` (a project's file) or `h/F.md` (the user's); files are given relative to the two folders.
fn expand(level: Level, files: &[(&str, &str)]) -> Imported {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for name in ["p", "h"] {
        fs::create_dir(root.join(name)).unwrap();
    }
    for (name, text) in files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match text.strip_prefix("->") {
            #[cfg(unix)]
            Some(target) => std::os::unix::fs::symlink(root.join(target), path).unwrap(),
            _ => fs::write(path, text).unwrap(),
        }
    }
    let (home, project) = (root.join("h"), root.join("p"));
    let file = if level == Level::Project { project.join("F.md") } else { home.join("F.md") };
    let text = fs::read_to_string(&file).unwrap();
    let importer = Importer { files: &mut Files::new(&project), level, home: &home, room: 4 << 10 };
    let done = importer.expand(&file, &text).unwrap();
    let named = |path: &PathBuf| path.canonicalize().unwrap().strip_prefix(&root).unwrap().display().to_string();
    let short = |text: &str| text.replace(&root.display().to_string(), "");
    Imported {
        text: short(&done.text),
        names: done.imported.iter().map(named).collect(),
        problems: done.problems.iter().map(|problem| short(problem)).collect(),
    }
}

#[test]
fn a_line_gives_way_and_a_sentence_is_followed() {
    let done = expand(
        Level::Project,
        &[
            ("p/F.md", "One\n@docs/a.md\nSee @docs/b.md, `@docs/a.md` and @types/node.\nEnd"),
            ("p/docs/a.md", "A\n@sub/c.md\n"),
            ("p/docs/sub/c.md", "C"),
            ("p/docs/b.md", "B\n"),
        ],
    );
    assert_eq!(
        done.text,
        "One\n<!-- docs/a.md begins -->\nA\n<!-- sub/c.md begins -->\nC\n<!-- sub/c.md ends -->\n<!-- docs/a.md ends -->\n\
         See @docs/b.md, `@docs/a.md` and @types/node.\n<!-- docs/b.md begins -->\nB\n<!-- docs/b.md ends -->\nEnd"
    );
    assert_eq!(done.names, ["p/docs/a.md", "p/docs/sub/c.md", "p/docs/b.md"]);
    assert_eq!(done.problems, [""; 0]);
}

#[test]
fn what_is_not_imported_is_said() {
    let long = "line\n".repeat(2_000);
    for (text, told) in [
        ("@gone.md", "@gone.md <!-- not imported: no such file -->"),
        ("@alice, look", "@alice, look"),
        ("@../h/x.md", "@../h/x.md <!-- not imported: it is outside the project -->"),
        ("@~/x.md", "@~/x.md <!-- not imported: it is outside the project -->"),
        ("@.env", "@.env <!-- not imported: such files may contain secrets -->"),
        ("@.git/config", "@.git/config <!-- not imported: such files may contain secrets -->"),
        ("@docs", "@docs <!-- not imported: it is not a regular file -->"),
        ("@binary.md", "@binary.md <!-- not imported: it is not text -->"),
        ("@F.md", "@F.md <!-- not imported: it is already included -->"),
    ] {
        let files = [
            ("p/F.md", text),
            ("h/x.md", "secret"),
            ("p/.env", "KEY=secret"),
            ("p/.git/config", "secret"),
            ("p/docs/a.md", "A"),
            ("p/binary.md", "secret\0"),
            ("p/long.md", &long),
        ];
        let done = expand(Level::Project, &files);
        assert_eq!((done.text.as_str(), done.names.len()), (told, 0), "{text}");
        assert_eq!(
            done.problems.len(),
            usize::from(told.contains("not imported") && !told.contains("no such")),
            "{text}"
        );
    }
    let done = expand(Level::Project, &[("p/F.md", "@long.md\n@more.md\n"), ("p/long.md", &long), ("p/more.md", "x")]);
    assert!(done.text.len() < 5 << 10 && done.text.contains("[read /p/long.md for the rest]"), "{}", done.text);
    assert!(done.text.ends_with("@more.md <!-- not imported: the imports of one file are limited to 4 kB -->\n"));
    assert_eq!(done.problems.len(), 2);
}

#[test]
fn chains_and_circles_end() {
    let mut files = vec![("p/F.md".to_owned(), "@0.md".to_owned())];
    files.extend((0..9).map(|number| (format!("p/{number}.md"), format!("@{}.md", number + 1))));
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let done = expand(Level::Project, &files);
    assert_eq!(done.names, ["p/0.md", "p/1.md", "p/2.md", "p/3.md", "p/4.md"]);
    assert!(done.text.contains("@5.md <!-- not imported: imports are followed 5 files deep -->"), "{}", done.text);
    let done = expand(Level::Project, &[("p/F.md", "@a.md"), ("p/a.md", "@b.md @F.md"), ("p/b.md", "@a.md")]);
    assert_eq!(done.names, ["p/a.md", "p/b.md"]);
    let many = "@gone.md ".repeat(5_000);
    let done = expand(Level::Project, &[("p/F.md", &many)]);
    assert!(done.text.len() < many.len() + 100 * 60);
}

#[test]
fn the_users_file_imports_from_home_alone() {
    let files = [("h/F.md", "@~/notes/a.md\n@../p/b.md\n"), ("h/notes/a.md", "A"), ("p/b.md", "B")];
    let done = expand(Level::User, &files);
    assert_eq!(done.names, ["h/notes/a.md"]);
    assert!(done.text.ends_with("@../p/b.md <!-- not imported: it is outside the home folder -->\n"), "{}", done.text);
}

#[cfg(unix)]
#[test]
fn a_link_does_not_lead_out_either() {
    let files =
        [("p/F.md", "@link.md\n@in.md\n"), ("h/x.md", "secret"), ("p/link.md", "->h/x.md"), ("p/in.md", "->p/y.md")];
    let done = expand(Level::Project, &[&files[..], &[("p/y.md", "Y")]].concat());
    assert_eq!(done.names, ["p/y.md"]);
    assert!(!done.text.contains("secret") && done.text.contains("outside the project"), "{}", done.text);
}

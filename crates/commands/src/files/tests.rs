//! Templates expanded in a real folder: files within the project, command lines only from the user.

use std::path::Path;

use omp_config::{Provider, Trust};

use super::*;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and the rest of it, which nobody looks at here";

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    std::fs::write(folder.path().join("src/a.rs"), "fn a() {}\n").unwrap();
    std::fs::write(folder.path().join("LICENSE"), "none").unwrap();
    std::fs::write(folder.path().join("picture.png"), PNG).unwrap();
    std::fs::write(folder.path().join("data.bin"), [0x89, 0, 1]).unwrap();
    folder
}

/// No command here names a model.
struct NoModels;

impl ModelDirectory for NoModels {
    fn list_text(&self) -> BoxFuture<'_, String> {
        async { String::new() }.boxed()
    }

    fn resolve<'a>(&'a self, pattern: &'a str) -> BoxFuture<'a, Result<crate::ResolvedModel, String>> {
        async move { Err(format!("there is no model `{pattern}`")) }.boxed()
    }

    fn forget_key<'a>(&'a self, _: &'a str) -> BoxFuture<'a, ()> {
        async {}.boxed()
    }

    fn takes_service_tier(&self, _: &omp_types::Model) -> bool {
        false
    }
}

fn place(folder: &Path) -> CommandPlace {
    let path = std::env::split_paths("/usr/local/bin:/usr/bin:/bin").map(|path| path.display().to_string());
    let path = path.collect::<Vec<_>>().join(":");
    CommandPlace {
        containment: omp_exec::Containment::of_user(),
        cwd: folder.to_owned(),
        root: folder.to_owned(),
        env: [("PATH", path.as_str())].into_iter().collect(),
        shell: None,
        trust: Arc::new(TrustDecision::of(&Trust::default(), folder, Vec::new(), None)),
        models: Arc::new(NoModels),
    }
}

async fn carried_out(folder: &Path, level: Level, template: &str, arguments: &str) -> (String, Vec<String>) {
    let made = made(folder, level, template, arguments).await;
    (made.text, made.notes)
}

async fn made(folder: &Path, level: Level, template: &str, arguments: &str) -> ExpandedTemplate {
    let source = ItemSource { provider: Provider::Native, level, path: "x.md".into() };
    let arguments = Arguments::split(arguments);
    let file =
        FileCommand { name: "x".into(), description: None, argument_hint: None, template: template.into(), source };
    place(folder).carry_out(expand(template, &arguments), &arguments, &file).await
}

#[track_caller]
fn check((text, notes): &(String, Vec<String>), expect: &str, noted: &[&str]) {
    assert_eq!(text, expect);
    assert_eq!(notes.len(), noted.len(), "{notes:?}");
    for (note, part) in notes.iter().zip(noted) {
        assert!(note.contains(part), "{note}");
    }
}

#[tokio::test]
async fn files_stand_behind_the_prompt() {
    let folder = project();
    let run =
        async |template: &str, arguments: &str| carried_out(folder.path(), Level::Project, template, arguments).await;
    check(&run("See @src/a.rs.", "").await, "See @src/a.rs.\n\n<file name=\"src/a.rs\">\nfn a() {}\n</file>", &[]);
    check(&run("@$1", "LICENSE").await, "@LICENSE\n\n<file name=\"LICENSE\">\nnone\n</file>", &[]);
    check(&run("@param x, ask @alice", "").await, "@param x, ask @alice", &[]);
    let missing = "@gone.md\n\n[@gone.md is not included: no such file]";
    check(&run("@gone.md", "").await, missing, &["@gone.md is not included: no such file"]);
    check(&run("@src", "").await, "@src\n\n[@src is not included: it is a folder]", &["it is a folder"]);
    check(&run("@data.bin", "").await, "@data.bin\n\n[@data.bin is not included: it is not text]", &["not text"]);
}

#[tokio::test]
async fn pictures_stand_behind_the_text_and_are_bounded() {
    let folder = project();
    let see = made(folder.path(), Level::Project, "See @picture.png and @LICENSE", "").await;
    let text =
        "See @picture.png and @LICENSE\n\n<file name=\"picture.png\"></file>\n\n<file name=\"LICENSE\">\nnone\n</file>";
    check(&(see.text, see.notes), text, &[]);
    let [picture] = see.images.as_slice() else { panic!("{:?}", see.images) };
    assert_eq!(picture.mime_type, "image/png");
    assert_eq!(picture.data.len(), PNG.len().div_ceil(3) * 4, "all of it");
    let large = [PNG, &vec![0; 5 << 20]].concat();
    std::fs::write(folder.path().join("large.png"), large).unwrap();
    let see = made(folder.path(), Level::Project, "@large.png", "").await;
    assert!(see.images.is_empty() && see.notes[0].contains("an image can have at most 5"), "{:?}", see.notes);
    for number in 0..11 {
        std::fs::write(folder.path().join(format!("{number}.png")), PNG).unwrap();
    }
    let all: String = (0..11).map(|number| format!("@{number}.png ")).collect();
    let see = made(folder.path(), Level::Project, &all, "").await;
    assert_eq!((see.images.len(), see.notes.len()), (10, 1));
    assert!(see.notes[0].contains("@10.png is not included: a prompt can have at most 10 images"), "{:?}", see.notes);
}

#[tokio::test]
async fn nothing_outside_of_the_project_is_included() {
    let folder = project();
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.txt");
    std::fs::write(&secret, "hunter2").unwrap();
    let mut named =
        vec!["../../../../../../../../etc/passwd".to_owned(), secret.display().to_string(), "/etc/passwd".to_owned()];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&secret, folder.path().join("link.txt")).unwrap();
        std::os::unix::fs::symlink(outside.path(), folder.path().join("folder")).unwrap();
        named.extend(["link.txt".to_owned(), "folder/secret.txt".to_owned()]);
    }
    for name in named {
        for level in [Level::User, Level::Project] {
            let (text, notes) = carried_out(folder.path(), level, "@$1", &name).await;
            assert!(!text.contains("hunter2") && !text.contains("root:"), "{text}");
            assert!(notes[0].contains("it is outside the project"), "{notes:?}");
        }
    }
}

#[tokio::test]
async fn large_files_are_cut_and_say_so() {
    let folder = project();
    let line = "0123456789abcdef\n";
    for name in ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"] {
        std::fs::write(folder.path().join(name), line.repeat(20_000)).unwrap();
    }
    let (text, notes) = carried_out(folder.path(), Level::User, "@a.txt @b.txt @c.txt @d.txt @e.txt", "").await;
    assert!(text.len() < 600 << 10, "{}", text.len());
    assert_eq!(text.matches("</file>").count(), text.matches("<file ").count());
    assert!(notes[0].contains("@a.txt: only the first"), "{notes:?}");
    assert!(
        text.lines().filter(|line| line.starts_with('0')).all(|shown| shown == line.trim_end()),
        "lines stay whole"
    );
}

#[tokio::test]
async fn a_projects_file_runs_nothing() {
    let folder = project();
    let (text, notes) = carried_out(folder.path(), Level::Project, "Now: !`touch ran` done", "").await;
    assert_eq!(text, "Now: [not run: `touch ran`] done");
    assert!(notes[0].contains("belongs to a project that is not trusted") && notes[0].contains("hint:"), "{notes:?}");
    assert!(!folder.path().join("ran").exists());
}

#[cfg(unix)]
#[tokio::test]
async fn command_lines_of_the_users_own_files_run() {
    let folder = project();
    let run =
        async |template: &str, arguments: &str| carried_out(folder.path(), Level::User, template, arguments).await;
    check(&run("Files: !`ls src` end", "").await, "Files: a.rs end", &[]);
    check(&run("!`echo \"$1\" $# \"$ARGUMENTS\"`", "'a b' c").await, "a b 2 'a b' c", &[]);
    // The shell treats arguments as data.
    check(&run("!`echo \"$1\"`", "'$(touch ran); `touch ran`'").await, "$(touch ran); `touch ran`", &[]);
    assert!(!folder.path().join("ran").exists());
    check(&run("!`echo oops; exit 3`", "").await, "oops\n[exit code 3]", &["exit code 3"]);
    let (text, notes) = run("!`yes | head -c 200000`", "").await;
    assert!(
        text.len() < 40 << 10 && text.ends_with("[only the first 32 KiB of the output are shown]"),
        "{}",
        text.len()
    );
    assert!(notes[0].contains("only the first"), "{notes:?}");
}

#[test]
fn a_file_without_a_description_is_known_by_its_first_line() {
    let folder = project();
    let file = |template: &str, description: Option<&str>, hint: Option<&str>| FileCommand {
        name: "x".to_owned(),
        description: description.map(str::to_owned),
        argument_hint: hint.map(str::to_owned),
        template: template.to_owned(),
        source: ItemSource { provider: Provider::Claude, level: Level::Project, path: "x.md".into() },
    };
    for (file, description, hint) in [
        (file("\n\nReview it\nwell", None, None), "Review it (project)", None),
        (file("Fix $1", Some("Fixes"), None), "Fixes (project)", Some("[arguments]")),
        (file("Fix $ARGUMENTS", None, Some("[issue]")), "Fix $ARGUMENTS (project)", Some("[issue]")),
        (file("", None, None), "(project)", None),
    ] {
        let command = Templated::new(file, Arc::new(place(folder.path())));
        assert_eq!((command.description(), command.arguments()), (description, hint));
    }
    assert_eq!(first_line(&"ä".repeat(100)).chars().count(), LONGEST_DESCRIPTION + 1);
}

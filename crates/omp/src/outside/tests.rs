//! Real editors and clipboards are played by small scripts.

use super::*;

/// A machine whose only programs are those given, as shell scripts.
struct Played {
    folder: tempfile::TempDir,
    machine: Machine,
}

#[cfg(unix)]
impl Played {
    fn new(programs: &[(&str, &str)], variables: &[(&str, &str)]) -> Self {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        for (name, script) in programs {
            let file = folder.path().join(name);
            std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        // The programs of the machine are needed by the scripts, but come last.
        let path = format!("{}:/usr/bin:/bin", folder.path().display());
        let set = variables.iter().copied().chain([("PATH", path.as_str())]);
        let machine = Machine::new(set.collect(), folder.path().to_owned(), folder.path().to_owned());
        Self { folder, machine }
    }
}

fn png() -> Vec<u8> {
    base64::engine::general_purpose::STANDARD
        .decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
        .unwrap()
}

#[cfg(unix)]
#[tokio::test]
async fn an_editor_changes_the_text_or_leaves_it() {
    for (script, expect) in [
        ("printf 'more\\n' >>\"$1\"", Ok(Some("textmore"))),
        ("true", Ok(None)),
        ("printf 'new\\r\\n' >\"$1.tmp\"; mv \"$1.tmp\" \"$1\"", Ok(Some("new"))),
        ("printf changed >\"$1\"; exit 3", Err("ended with 3")),
        ("printf '\\377' >\"$1\"", Err("cannot be read")),
        ("test \"$(stat -c %a \"$1\")\" = 600 && printf ok >\"$1\"", Ok(Some("ok"))),
    ] {
        let played = Played::new(&[("ed-it", script)], &[("EDITOR", "ed-it")]);
        match (played.machine.edit_text("text").await, expect) {
            (Ok(edited), Ok(expect)) => assert_eq!(edited.as_deref(), expect, "{script}"),
            (Err(problem), Err(part)) => assert!(problem.contains(part), "{problem}"),
            (got, _) => panic!("{script}: {got:?}"),
        }
    }
    let played = Played::new(&[], &[("VISUAL", "no-such-editor --wait"), ("EDITOR", "true")]);
    let problem = played.machine.edit_text("text").await.unwrap_err();
    assert!(problem.contains("no-such-editor") && problem.contains("127"), "{problem}");
}

#[cfg(unix)]
#[tokio::test]
async fn the_clipboard_is_read_by_the_programs_that_are_there() {
    let wayland = [("WAYLAND_DISPLAY", "wayland-0")];
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p.png");
    std::fs::write(&file, png()).unwrap();
    let picture = format!("case \"$*\" in *image*) cat '{}';; *) exit 1;; esac", file.display());
    let played = Played::new(&[("wl-paste", &picture)], &wayland);
    let Ok(Some(Clip::Image(image))) = played.machine.clipboard().await else { panic!("no picture") };
    assert_eq!((image.mime_type.as_str(), image.data.starts_with("iVBOR")), ("image/png", true));

    let text = "case \"$*\" in *image*) exit 1;; *) printf words;; esac";
    let played = Played::new(&[("wl-paste", text)], &wayland);
    assert_eq!(played.machine.clipboard().await, Ok(Some(Clip::Text("words".to_owned()))));

    let played = Played::new(&[("wl-paste", "exit 1")], &wayland);
    assert_eq!(played.machine.clipboard().await, Ok(None));

    let broken = Played::new(&[("wl-paste", "printf '\\211PNG\\r\\n\\032\\nrest'")], &wayland);
    assert!(broken.machine.clipboard().await.unwrap_err().contains("cannot be sent"));

    let nothing = Played::new(&[], &[]).machine.clipboard().await.unwrap_err();
    assert!(nothing.contains("hint: install"), "{nothing}");
}

#[cfg(unix)]
#[tokio::test]
async fn text_is_copied_by_the_first_program_that_can() {
    let script = "cat >\"$(dirname \"$0\")/copied\"";
    let variables = [("WAYLAND_DISPLAY", "w"), ("DISPLAY", ":0")];
    let played = Played::new(&[("wl-copy", "exit 1"), ("xclip", script)], &variables);
    played.machine.copy("some text").await.unwrap();
    assert_eq!(std::fs::read_to_string(played.folder.path().join("copied")).unwrap(), "some text");
    let failing = Played::new(&[("wl-copy", "exit 1")], &variables[..1]);
    assert!(failing.machine.copy("x").await.unwrap_err().contains("wl-copy"));
    assert!(Played::new(&[], &[]).machine.copy("x").await.unwrap_err().contains("hint:"));
}

#[cfg(unix)]
#[tokio::test]
async fn pictures_are_read_from_files() {
    let played = Played::new(&[], &[]);
    std::fs::write(played.folder.path().join("p.png"), png()).unwrap();
    std::fs::write(played.folder.path().join("t.png"), "text").unwrap();
    for path in ["p.png", "./p.png", "~/p.png"] {
        assert_eq!(played.machine.read_image(path).await.unwrap().mime_type, "image/png", "{path}");
    }
    for path in ["t.png", "missing.png", "/dev/zero", "."] {
        let problem = played.machine.read_image(path).await.unwrap_err();
        assert!(problem.contains(path) && problem.contains("hint:"), "{problem}");
    }
}

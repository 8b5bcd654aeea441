//! Small scripts stand in for real editors and clipboards.

use super::*;

/// A machine whose only programs are the given shell scripts.
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
        // The scripts need the system's programs, which come last in the path.
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
        ("printf changed >\"$1\"; exit 3", Err("exited with code 3")),
        ("printf '\\377' >\"$1\"", Err("cannot read the edited text")),
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
    assert!(broken.machine.clipboard().await.unwrap_err().contains("cannot send the image"));

    let nothing = Played::new(&[], &[]).machine.clipboard().await.unwrap_err();
    assert!(nothing.contains("hint: install"), "{nothing}");
}

#[cfg(unix)]
#[tokio::test]
async fn text_is_copied_by_the_first_program_that_can() {
    let script = "cat >\"$(dirname \"$0\")/copied\"";
    let variables = [("WAYLAND_DISPLAY", "w"), ("DISPLAY", ":0")];
    let played = Played::new(&[("wl-copy", "exit 1"), ("xclip", script)], &variables);
    assert_eq!(played.machine.copy("some text", true).await, Ok(Copied::Surely));
    assert_eq!(std::fs::read_to_string(played.folder.path().join("copied")).unwrap(), "some text");
}

/// Returns the message for a text that no program of the system accepted.
#[cfg(unix)]
async fn elsewhere(played: &Played, text: &str, sent: bool) -> String {
    match played.machine.copy(text, sent).await {
        Ok(Copied::Elsewhere(told)) => told,
        other => panic!("{other:?}"),
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_text_that_no_program_takes_is_kept_in_a_file() {
    use std::os::unix::fs::PermissionsExt;
    let failing = Played::new(&[("wl-copy", "exit 1")], &[("WAYLAND_DISPLAY", "w")]);
    let told = elsewhere(&failing, "first", false).await;
    assert!(told.contains("`wl-copy` could not copy the text; the text is in /"), "{told}");
    let nothing = Played::new(&[], &[]);
    let told = elsewhere(&nothing, "first", true).await;
    assert!(told.starts_with("sent to the terminal's clipboard, if it supports that; the text is also in /"), "{told}");
    assert!(told.contains("\nhint: install "), "{told}");
    let file = told.lines().next().unwrap().rsplit(' ').next().unwrap();
    assert_eq!(std::fs::read_to_string(file).unwrap(), "first");
    assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    // The second text is stored in the same file.
    assert_eq!(elsewhere(&nothing, "second", true).await, told);
    assert_eq!(std::fs::read_to_string(file).unwrap(), "second");
    let other = elsewhere(&failing, "third", false).await;
    let other = other.lines().next().unwrap().rsplit(' ').next().unwrap();
    std::fs::remove_file(file).unwrap();
    std::fs::remove_file(other).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn in_tmux_the_text_goes_through_it() {
    let inside = [("TMUX", "/tmp/tmux-1000/default,1,0")];
    let tmux = |rest: &str| format!("case \"$*\" in 'load-buffer -w -') {rest};; *set-clipboard) echo $SET;; esac");
    let take = "cat >\"$(dirname \"$0\")/copied\"";
    for (script, set, expect) in [
        (tmux(take), "external", "copied to tmux (`prefix ]`), and to the clipboard if your terminal allows it"),
        (tmux(take), "on", "copied to tmux (`prefix ]`), and to the clipboard if your terminal allows it"),
        (tmux(take), "off", "copied to tmux only; `prefix ]` pastes it\nhint: run `tmux set -g set-clipboard on`"),
        // Older versions do not support `-w`.
        (
            format!("case \"$*\" in 'load-buffer -') {take};; *) exit 1;; esac"),
            "external",
            "copied to tmux only; `prefix ]` pastes it\nhint: run `tmux set -g set-clipboard on`",
        ),
    ] {
        let played = Played::new(&[("tmux", &script.replace("$SET", set))], &inside);
        let told = elsewhere(&played, "some text", true).await;
        assert!(told.starts_with(expect), "{told}");
        assert_eq!(std::fs::read_to_string(played.folder.path().join("copied")).unwrap(), "some text");
    }
    // A tmux that has ended accepts nothing.
    let gone = Played::new(&[("tmux", "exit 1")], &inside);
    let told = elsewhere(&gone, "kept", true).await;
    let file = told.lines().next().unwrap().rsplit(' ').next().unwrap();
    assert_eq!(std::fs::read_to_string(file).unwrap(), "kept");
    std::fs::remove_file(file).unwrap();
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

#[cfg(all(unix, not(target_os = "macos")))]
#[tokio::test]
async fn an_address_is_given_to_the_browser_as_it_is() {
    let url = WebAddress::parse("https://example.com/a?b=$(id)&c='d';e").unwrap();
    let played = Played::new(&[("xdg-open", "printf '%s|' \"$@\" >\"$(dirname \"$0\")/opened\"")], &[]);
    played.machine.open_url(&url).await.unwrap();
    let opened = std::fs::read_to_string(played.folder.path().join("opened")).unwrap();
    assert_eq!(opened, format!("{url}|"));
    let played = Played::new(&[("xdg-open", "exit 3")], &[]);
    let problem = played.machine.open_url(&url).await.unwrap_err();
    assert!(problem.contains("`xdg-open` ended with 3") && problem.contains("hint:"), "{problem}");
}

//! Keys and lines in, pages out.

use std::cell::RefCell;

use futures_util::FutureExt;
use omp_tui::{Input, Key, KeyCode, Space, Theme};

use super::dialog::SetupDialog;
use super::*;
use crate::looks::looks;

#[derive(Default)]
struct Machine {
    kept: RefCell<Vec<String>>,
    found: SetupFindings,
    refuses: bool,
}

impl SetupHost for Machine {
    fn look(&self) -> BoxFuture<'_, SetupFindings> {
        let found = self.found.clone();
        async move { found }.boxed()
    }

    fn keep_key(&self, provider: &str, key: &str) -> Result<String, String> {
        if self.refuses {
            return Err("the disk is full".to_owned());
        }
        self.kept.borrow_mut().push(format!("{provider}={key}"));
        Ok(format!("{}_API_KEY", provider.to_uppercase()))
    }

    fn keep_theme(&self, name: &str) -> Result<(), String> {
        self.kept.borrow_mut().push(name.to_owned());
        Ok(())
    }
}

fn nothing() -> SetupFindings {
    let provider =
        |name: &str| Provider { name: name.to_owned(), variable: format!("{}_API_KEY", name.to_uppercase()) };
    SetupFindings {
        providers: ["anthropic", "openai", "google"].map(provider).to_vec(),
        themes: vec!["dark".to_owned(), "light".to_owned()],
        key_file: "~/.omp/agent/.env".to_owned(),
        ..SetupFindings::default()
    }
}

fn something() -> SetupFindings {
    let keys = vec![FoundKey { provider: "openai".to_owned(), variable: "OPENAI_API_KEY".to_owned() }];
    SetupFindings { keys, servers: vec![FoundServer { name: "ollama".to_owned(), models: 1 }], ..nothing() }
}

fn screen(dialog: &SetupDialog) -> String {
    let theme = Theme::colorless();
    let rows = dialog.draw(&Space { width: 60, height: 24, theme: &theme, focused: true, keys: &omp_tui::DefaultKeys });
    rows.iter().map(|row| row.text().trim_end().to_owned() + "\n").collect()
}

/// Types letters and named keys, and executes the requests.
async fn press(dialog: &mut SetupDialog, host: &Machine, keys: &[&str]) -> Option<SetupEnd> {
    for name in keys {
        let key = match name.chars().next() {
            Some(char) if name.len() == 1 => Key::plain(KeyCode::Char(char)),
            _ => Key::parse(name).unwrap(),
        };
        match dialog.input(&Input::Key(key)) {
            Next::Show => {}
            Next::Wish(wish) => dialog.setup.fulfil(wish, host).await,
            Next::End(end) => return Some(end),
        }
    }
    None
}

#[tokio::test]
async fn a_key_is_given_and_kept() {
    let host = Machine { found: nothing(), ..Machine::default() };
    let mut dialog = SetupDialog::new(Setup::new(nothing()));
    insta::assert_snapshot!(screen(&dialog), @"
    ╭─ Welcome to omp ─────────────────────────────────────────╮
    │ No API key or local model server found.                  │
    ├──────────────────────────────────────────────────────────┤
    │ ❯ Enter a key                                            │
    │   Choose a theme                                         │
    │   See the demo    watch omp work, no model or key needed │
    │   Look again                                             │
    │   Leave           run `omp setup` to come back           │
    ├──────────────────────────────────────────────────────────┤
    │ enter select · esc back · type to filter                 │
    ╰──────────────────────────────────────────────────────────╯
    ");
    press(&mut dialog, &host, &["enter", "o", "p"]).await;
    insta::assert_snapshot!(screen(&dialog), @"
    ╭─ Which provider is the key for? ─────────────────────────╮
    │ > op                                                     │
    ├──────────────────────────────────────────────────────────┤
    │ ❯ openai     OPENAI_API_KEY                              │
    │   anthropic  ANTHROPIC_API_KEY                           │
    ├──────────────────────────────────────────────────────────┤
    │ enter select · esc back · type to filter                 │
    ╰──────────────────────────────────────────────────────────╯
    ");
    press(&mut dialog, &host, &["enter", "s", "k", "-", "1"]).await;
    insta::assert_snapshot!(screen(&dialog), @"
    ╭─ Paste the key for openai ───────────────────────────────╮
    │ It will be saved as OPENAI_API_KEY in ~/.omp/agent/.env, │
    │ readable only by you.                                    │
    ├──────────────────────────────────────────────────────────┤
    │ > ••••                                                   │
    ├──────────────────────────────────────────────────────────┤
    │ enter save · esc back                                    │
    ╰──────────────────────────────────────────────────────────╯
    ");
    press(&mut dialog, &host, &["enter"]).await;
    insta::assert_snapshot!(screen(&dialog), @"
    ╭─ Welcome to omp ─────────────────────────────────────────╮
    │ Found a key for openai in OPENAI_API_KEY.                │
    │ Saved the key for openai.                                │
    ├──────────────────────────────────────────────────────────┤
    │ ❯ Start           with what was found                    │
    │   Enter a key                                            │
    │   Choose a theme                                         │
    │   See the demo    watch omp work, no model or key needed │
    │   Look again                                             │
    ├──────────────────────────────────────────────────────────┤
    │ enter select · esc back · type to filter                 │
    ╰──────────────────────────────────────────────────────────╯
    ");
    assert_eq!(*host.kept.borrow(), ["openai=sk-1"]);
    assert_eq!(press(&mut dialog, &host, &["enter"]).await, Some(SetupEnd::Ready));
}

#[tokio::test]
async fn every_page_can_be_left() {
    let host = Machine::default();
    for (found, keys, expect) in [
        (nothing(), &["escape"][..], Some(SetupEnd::Left)),
        (nothing(), &["enter", "enter", "escape", "escape", "escape"], Some(SetupEnd::Left)),
        (nothing(), &["up", "enter"], Some(SetupEnd::Left)),
        (nothing(), &["down", "enter", "escape", "ctrl+c"], Some(SetupEnd::Left)),
        (nothing(), &["down", "down", "enter"], Some(SetupEnd::Demo)),
        (something(), &["escape"], Some(SetupEnd::Ready)),
        (something(), &["enter"], Some(SetupEnd::Ready)),
        (nothing(), &["z", "enter", "down", "up", "backspace"], None),
    ] {
        let mut dialog = SetupDialog::new(Setup::new(found));
        assert_eq!(press(&mut dialog, &host, keys).await, expect, "{keys:?}");
    }
}

#[tokio::test]
async fn what_is_no_key_or_cannot_be_kept_is_told() {
    let host = Machine { refuses: true, ..Machine::default() };
    for (pasted, expect) in
        [("two words", "not a key"), ("", "Nothing"), ("a'b", "quotes"), ("sk-1", "the disk is full")]
    {
        let mut dialog = SetupDialog::new(Setup::new(nothing()));
        press(&mut dialog, &host, &["enter", "enter"]).await;
        dialog.input(&Input::Paste(pasted.to_owned()));
        press(&mut dialog, &host, &["enter"]).await;
        assert!(screen(&dialog).contains(expect), "{pasted}: {}", screen(&dialog));
        assert!(!screen(&dialog).contains("sk-1"));
    }
}

struct Shared<'a>(&'a RefCell<Vec<u8>>);

impl std::io::Write for Shared<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn the_same_pages_are_told_in_plain_lines() {
    let host = Machine { found: something(), ..Machine::default() };
    let (sender, mut lines) = mpsc_of(&["9", "2", "google", "sk-2", "3", "light", "1"]);
    drop(sender);
    let hidden = RefCell::new(Vec::new());
    let out = RefCell::new(Vec::new());
    let is_asked = || String::from_utf8_lossy(&out.borrow()).contains("Key, not shown");
    let hide = |on: bool| hidden.borrow_mut().push((on, is_asked()));
    let io = SetupIo { lines: &mut lines, out: Shared(&out), hide: &hide };
    assert_eq!(run_setup_in_text(io, &host).await.unwrap(), SetupEnd::Ready);
    assert_eq!(*host.kept.borrow(), ["google=sk-2", "light"]);
    let hidings: Vec<bool> = hidden.borrow().iter().filter(|(on, _)| *on).map(|(_, asked)| *asked).collect();
    assert_eq!(hidings, [false], "typing is hidden once, before the key is asked for");
    insta::assert_snapshot!(String::from_utf8(out.into_inner()).unwrap(), @"
    Welcome to omp.
    Found a key for openai in OPENAI_API_KEY.
    Found ollama on this machine with 1 model.
    1. Start, with what was found
    2. Enter a key, for Anthropic, OpenAI, Google and others
    3. Choose a theme
    4. See the demo, watch omp work, no model or key needed
    5. Look again, after starting ollama, LM Studio or llama.cpp
    Number or name (empty to go back): That is not one of the choices.

    Welcome to omp.
    Found a key for openai in OPENAI_API_KEY.
    Found ollama on this machine with 1 model.
    1. Start, with what was found
    2. Enter a key, for Anthropic, OpenAI, Google and others
    3. Choose a theme
    4. See the demo, watch omp work, no model or key needed
    5. Look again, after starting ollama, LM Studio or llama.cpp
    Number or name (empty to go back): 
    Which provider is the key for?
    1. anthropic, ANTHROPIC_API_KEY
    2. openai, OPENAI_API_KEY
    3. google, GOOGLE_API_KEY
    Number or name (empty to go back): 
    Paste the key for google.
    It will be saved as GOOGLE_API_KEY in ~/.omp/agent/.env, readable only by you.
    Key (hidden while you type; empty to go back): 

    Welcome to omp.
    Found a key for openai in OPENAI_API_KEY.
    Found a key for google in GOOGLE_API_KEY.
    Found ollama on this machine with 1 model.
    Saved the key for google.
    1. Start, with what was found
    2. Enter a key, for Anthropic, OpenAI, Google and others
    3. Choose a theme
    4. See the demo, watch omp work, no model or key needed
    5. Look again, after starting ollama, LM Studio or llama.cpp
    Number or name (empty to go back): 
    Choose a theme.
    1. dark
    2. light
    Number or name (empty to go back): 
    Welcome to omp.
    Found a key for openai in OPENAI_API_KEY.
    Found a key for google in GOOGLE_API_KEY.
    Found ollama on this machine with 1 model.
    Theme set to light.
    1. Start, with what was found
    2. Enter a key, for Anthropic, OpenAI, Google and others
    3. Choose a theme
    4. See the demo, watch omp work, no model or key needed
    5. Look again, after starting ollama, LM Studio or llama.cpp
    Number or name (empty to go back):
    ");
}

#[tokio::test]
async fn without_lines_the_pages_are_left() {
    let host = Machine { found: nothing(), ..Machine::default() };
    let (sender, mut lines) = mpsc_of(&["1"]);
    drop(sender);
    let io = SetupIo { lines: &mut lines, out: Vec::new(), hide: &|_| {} };
    assert_eq!(run_setup_in_text(io, &host).await.unwrap(), SetupEnd::Left);
    let listed = vec![FoundServer { name: "mine".to_owned(), models: 2 }];
    let host = Machine { found: SetupFindings { listed, ..nothing() }, ..Machine::default() };
    let (sender, mut lines) = mpsc_of(&[]);
    drop(sender);
    let mut out = Vec::new();
    let io = SetupIo { lines: &mut lines, out: &mut out, hide: &|_| {} };
    assert_eq!(run_setup_in_text(io, &host).await.unwrap(), SetupEnd::Ready);
    let told = String::from_utf8(out).unwrap();
    assert!(told.contains("Found mine in models.yml with 2 models.") && !told.contains("No key"), "{told}");
}

fn mpsc_of(typed: &[&str]) -> (tokio::sync::mpsc::Sender<String>, tokio::sync::mpsc::Receiver<String>) {
    let (sender, receiver) = tokio::sync::mpsc::channel(typed.len().max(1));
    typed.iter().for_each(|line| sender.try_send((*line).to_owned()).unwrap());
    (sender, receiver)
}

#[test]
fn the_pages_at_three_sizes_and_in_both_themes() {
    let key = Place::Key(nothing().providers[0].clone());
    for (name, place) in
        [("start", Place::Start), ("providers", Place::Providers), ("key", key), ("themes", Place::Themes)]
    {
        let dialog = SetupDialog::new(Setup { found: something(), place, note: None });
        insta::assert_snapshot!(name, looks(|space| dialog.draw(space)));
    }
}

#[test]
fn what_was_typed_and_what_was_answered_at_three_sizes_and_in_both_themes() {
    let filtered = {
        let mut dialog = SetupDialog::new(Setup { found: nothing(), place: Place::Providers, note: None });
        dialog.input(&Input::Paste("op".to_owned()));
        dialog
    };
    let refused = {
        let mut setup = Setup { found: nothing(), place: Place::Key(nothing().providers[0].clone()), note: None };
        setup.give("two words");
        let mut dialog = SetupDialog::new(setup);
        dialog.input(&Input::Paste("sk-123456".to_owned()));
        dialog
    };
    let empty =
        SetupDialog::new(Setup { found: nothing(), place: Place::Start, note: Some("Theme set to dark.".to_owned()) });
    for (name, dialog) in [("filtered", filtered), ("refused", refused), ("nothing-found", empty)] {
        insta::assert_snapshot!(name, looks(|space| dialog.draw(space)));
    }
}

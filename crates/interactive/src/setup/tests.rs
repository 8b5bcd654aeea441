//! Keys and lines in, pages out.

use std::cell::RefCell;

use futures_util::FutureExt;
use omp_tui::{Input, Key, KeyCode, Space, Theme};

use super::dialog::SetupDialog;
use super::*;

#[derive(Default)]
struct Machine {
    kept: RefCell<Vec<String>>,
    found: Found,
    refuses: bool,
}

impl SetupHost for Machine {
    fn look(&self) -> BoxFuture<'_, Found> {
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

fn nothing() -> Found {
    let provider = |name: &str| Provider { name: name.to_owned(), variable: format!("{}_API_KEY", name.to_uppercase()) };
    Found {
        providers: ["anthropic", "openai", "google"].map(provider).to_vec(),
        themes: vec!["dark".to_owned(), "light".to_owned()],
        key_file: "~/.omp/agent/.env".to_owned(),
        ..Found::default()
    }
}

fn something() -> Found {
    let keys = vec![FoundKey { provider: "openai".to_owned(), variable: "OPENAI_API_KEY".to_owned() }];
    Found { keys, servers: vec![FoundServer { name: "ollama".to_owned(), models: 1 }], ..nothing() }
}

fn screen(dialog: &SetupDialog) -> String {
    let theme = Theme::colorless();
    let rows = dialog.draw(&Space { width: 60, height: 24, theme: &theme, focused: true });
    rows.iter().map(|row| row.text().trim_end().to_owned() + "\n").collect()
}

/// Types letters and named keys; what is wished for is done.
async fn press(dialog: &mut SetupDialog, host: &Machine, keys: &[&str]) -> Option<SetupEnd> {
    for name in keys {
        let key = Key::parse(name).unwrap_or(Key::plain(KeyCode::Escape));
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
    insta::assert_snapshot!(screen(&dialog), @"");
    press(&mut dialog, &host, &["enter", "o", "p"]).await;
    insta::assert_snapshot!(screen(&dialog), @"");
    press(&mut dialog, &host, &["enter", "s", "k", "-", "1"]).await;
    insta::assert_snapshot!(screen(&dialog), @"");
    press(&mut dialog, &host, &["enter"]).await;
    insta::assert_snapshot!(screen(&dialog), @"");
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
    for (pasted, expect) in [("two words", "not a key"), ("", "Nothing"), ("a'b", "quotes"), ("sk-1", "the disk is full")] {
        let mut dialog = SetupDialog::new(Setup::new(nothing()));
        press(&mut dialog, &host, &["enter", "enter"]).await;
        dialog.input(&Input::Paste(pasted.to_owned()));
        press(&mut dialog, &host, &["enter"]).await;
        assert!(screen(&dialog).contains(expect), "{pasted}: {}", screen(&dialog));
        assert!(!screen(&dialog).contains("sk-1"));
    }
}

#[tokio::test]
async fn the_same_pages_are_told_in_plain_lines() {
    let host = Machine { found: something(), ..Machine::default() };
    let (sender, mut lines) = mpsc_of(&["9", "2", "google", "sk-2", "3", "light", "1"]);
    drop(sender);
    let hidden = RefCell::new(Vec::new());
    let mut out = Vec::new();
    let hide = |on: bool| hidden.borrow_mut().push(on);
    let io = SetupIo { lines: &mut lines, out: &mut out, hide: &hide };
    assert_eq!(run_setup_in_text(io, &host).await.unwrap(), SetupEnd::Ready);
    assert_eq!(*host.kept.borrow(), ["google=sk-2", "light"]);
    assert_eq!(hidden.borrow().iter().filter(|on| **on).count(), 1);
    insta::assert_snapshot!(String::from_utf8(out).unwrap(), @"");
}

#[tokio::test]
async fn without_lines_the_pages_are_left() {
    let host = Machine { found: nothing(), ..Machine::default() };
    let (sender, mut lines) = mpsc_of(&["1"]);
    drop(sender);
    let io = SetupIo { lines: &mut lines, out: Vec::new(), hide: &|_| {} };
    assert_eq!(run_setup_in_text(io, &host).await.unwrap(), SetupEnd::Left);
}

fn mpsc_of(typed: &[&str]) -> (tokio::sync::mpsc::Sender<String>, tokio::sync::mpsc::Receiver<String>) {
    let (sender, receiver) = tokio::sync::mpsc::channel(typed.len().max(1));
    typed.iter().for_each(|line| sender.try_send((*line).to_owned()).unwrap());
    (sender, receiver)
}

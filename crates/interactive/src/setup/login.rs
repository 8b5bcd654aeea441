//! `/login` in the terminal: the setup's page for an API key, in place of the editor.

use omp_tui::{Input, Line, Space};

use super::dialog::SetupDialog;
use super::{Next, Place, Setup, SetupFindings, Wish};
use crate::action::{Action, Secret};
use crate::dialogs::{Dialog, DialogStep};
use crate::surroundings::KeyPlaces;

pub struct LoginDialog {
    pages: SetupDialog,
}

impl LoginDialog {
    /// With a provider, asks for its key at once. An unknown provider is an error, not a guess.
    pub fn new(places: KeyPlaces, provider: Option<&str>) -> Result<Self, String> {
        let place = match provider {
            None => Place::Providers,
            Some(name) => match places.providers.iter().find(|known| known.name == name) {
                Some(known) => Place::Key(known.clone()),
                None => {
                    return Err(format!("unknown provider `{name}`\nhint: /login lists the providers that take a key"));
                }
            },
        };
        let found = SetupFindings { providers: places.providers, key_file: places.file, ..SetupFindings::default() };
        Ok(Self { pages: SetupDialog::new(Setup { found, place, note: None }) })
    }
}

impl Dialog for LoginDialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        self.pages.draw(space)
    }

    fn input(&mut self, input: &Input) -> DialogStep {
        match self.pages.input(input) {
            Next::Wish(Wish::KeepKey { provider, key }) => {
                DialogStep::Close(Some(Action::KeepKey { provider, key: Secret(key) }))
            }
            // The page before the list belongs to the first run only.
            Next::Show if self.pages.setup.place != Place::Start => DialogStep::Redraw,
            _ => DialogStep::Close(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialogs::screen::{both, says};
    use crate::looks::looks;
    use crate::setup::Provider;

    fn places() -> KeyPlaces {
        let provider = |name: &str, variable: &str| Provider { name: name.to_owned(), variable: variable.to_owned() };
        KeyPlaces {
            providers: vec![provider("anthropic", "ANTHROPIC_API_KEY"), provider("openai", "OPENAI_API_KEY")],
            file: "~/.omp/agent/.env".to_owned(),
        }
    }

    fn dialog(provider: Option<&str>) -> LoginDialog {
        LoginDialog::new(places(), provider).unwrap()
    }

    #[test]
    fn the_pages() {
        insta::assert_snapshot!(both(&mut dialog(None)), @"
        ╭─ Which provider is the key for? ─────────────────────────╮
        │ ❯ anthropic  ANTHROPIC_API_KEY                           │
        │   openai     OPENAI_API_KEY                              │
        ├──────────────────────────────────────────────────────────┤
        │ enter select · esc back · type to filter                 │
        ╰──────────────────────────────────────────────────────────╯
        ------------------------------
        ── Which provider is the k… ──
        ❯ anthropic  ANTHROPIC_API_KEY
          openai     OPENAI_API_KEY
        enter select · esc back
        ");
        let asked = both(&mut dialog(Some("openai")));
        for told in ["Paste the key for openai", "OPENAI_API_KEY", "enter save · esc back"] {
            assert!(asked.contains(told), "{told}: {asked}");
        }
    }

    #[test]
    fn the_pages_at_three_sizes_and_in_both_themes() {
        for (name, provider) in [("login", None), ("login-key", Some("openai"))] {
            let mut dialog = dialog(provider);
            insta::assert_snapshot!(name, looks(|space| dialog.draw(space)));
        }
    }

    #[test]
    fn a_key_is_kept_and_shown_nowhere() {
        for (provider, keys, step) in [
            (Some("openai"), "s k - 1 enter", "Close(Some(KeepKey { provider: \"openai\", key: … }))"),
            (None, "enter s k enter", "Close(Some(KeepKey { provider: \"anthropic\", key: … }))"),
            (None, "o p e n enter s k enter", "Close(Some(KeepKey { provider: \"openai\", key: … }))"),
            (Some("openai"), "enter", "Redraw"),
            (Some("openai"), "escape", "Redraw"),
            (Some("openai"), "escape escape", "Close(None)"),
            (None, "escape", "Close(None)"),
        ] {
            assert_eq!(says(&mut dialog(provider), keys), step, "{provider:?} {keys}");
        }
    }

    #[test]
    fn a_mistyped_provider_is_not_guessed() {
        let refused = LoginDialog::new(places(), Some("opnai")).err().unwrap();
        assert!(refused.contains("`opnai`") && refused.contains("hint:"), "{refused}");
    }
}

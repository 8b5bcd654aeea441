//! The first run: shows what was found, asks for a key and a theme, offers the demo.
//!
//! [`Setup`] contains only the pages and the meaning of their choices. It is drawn as a dialog or as plain lines, and a
//! [`SetupHost`] executes its requests. Every page can be left.

mod dialog;
mod login;
mod run;
#[cfg(test)]
mod tests;
mod text;

use futures_util::future::BoxFuture;
use omp_stdx::format::plural;

pub use login::LoginDialog;
pub use run::run_setup;
pub use text::{SetupIo, run_setup_in_text};

/// Caps the length of a key.
const LONGEST_KEY: usize = 4096;

/// Executes the requests of the pages. Errors are messages for the user.
pub trait SetupHost {
    /// Searches for keys and for model servers on this machine, which takes a moment.
    fn look(&self) -> BoxFuture<'_, SetupFindings>;

    /// Stores a key for later runs; returns where.
    fn keep_key(&self, provider: &str, key: &str) -> Result<String, String>;

    fn keep_theme(&self, name: &str) -> Result<(), String>;
}

/// What was found before the first question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetupFindings {
    pub keys: Vec<FoundKey>,
    pub servers: Vec<FoundServer>,
    /// Providers in the user's `models.yml` that are ready to use.
    pub listed: Vec<FoundServer>,
    /// Providers that accept a key, the best known first.
    pub providers: Vec<Provider>,
    pub themes: Vec<String>,
    /// The path of the file for keys.
    pub key_file: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundKey {
    pub provider: String,
    /// The variable that contains the key.
    pub variable: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundServer {
    pub name: String,
    pub models: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    pub name: String,
    /// The variable that its key is stored in.
    pub variable: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupEnd {
    /// A model is available.
    Ready,
    /// No model is available.
    Left,
    Demo,
}

#[derive(Clone, PartialEq, Eq)]
enum Wish {
    Look,
    KeepKey { provider: String, key: String },
    KeepTheme(String),
}

/// The result of a choice.
#[derive(Clone, PartialEq, Eq)]
enum Next {
    Show,
    Wish(Wish),
    End(SetupEnd),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Start,
    Providers,
    Key(Provider),
    Themes,
}

/// The content of a page, independent of how it is drawn.
struct Page {
    title: String,
    text: Vec<String>,
    choices: Vec<(String, String)>,
    /// Whether the page asks for a secret.
    asks_key: bool,
}

struct Setup {
    found: SetupFindings,
    place: Place,
    /// The result of the last request.
    note: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    Go,
    Key,
    Theme,
    Demo,
    Look,
    Leave,
}

impl Setup {
    fn new(found: SetupFindings) -> Self {
        Self { found, place: Place::Start, note: None }
    }

    fn is_ready(&self) -> bool {
        !self.found.keys.is_empty() || !self.found.servers.is_empty() || !self.found.listed.is_empty()
    }

    fn page(&self) -> Page {
        let mut page = match &self.place {
            Place::Start => self.start_page(),
            Place::Providers => Page {
                title: "Which provider is the key for?".to_owned(),
                text: Vec::new(),
                choices: self.found.providers.iter().map(|one| (one.name.clone(), one.variable.clone())).collect(),
                asks_key: false,
            },
            Place::Key(provider) => Page {
                title: format!("Paste the key for {}", provider.name),
                text: vec![format!(
                    "It will be saved as {} in {}, readable only by you.",
                    provider.variable, self.found.key_file
                )],
                choices: Vec::new(),
                asks_key: true,
            },
            Place::Themes => Page {
                title: "Choose a theme".to_owned(),
                text: Vec::new(),
                choices: self.found.themes.iter().map(|name| (name.clone(), String::new())).collect(),
                asks_key: false,
            },
        };
        page.text.extend(self.note.clone());
        page
    }

    fn start_page(&self) -> Page {
        let keys = self.found.keys.iter().map(|key| format!("Found a key for {} in {}.", key.provider, key.variable));
        let servers = self.found.servers.iter().map(|server| {
            format!("Found {} on this machine with {}.", server.name, plural(server.models, "model", "models"))
        });
        let listed = self.found.listed.iter().map(|provider| {
            format!("Found {} in models.yml with {}.", provider.name, plural(provider.models, "model", "models"))
        });
        let mut text: Vec<String> = keys.chain(listed).chain(servers).collect();
        if text.is_empty() {
            text.push("No API key or local model server found.".to_owned());
        }
        let choices = self.starts().into_iter().map(|start| {
            let (label, detail) = match start {
                Start::Go => ("Start", "with what was found"),
                Start::Key => ("Enter a key", "for Anthropic, OpenAI, Google and others"),
                Start::Theme => ("Choose a theme", ""),
                Start::Demo => ("See the demo", "watch omp work, no model or key needed"),
                Start::Look => ("Look again", "after starting ollama, LM Studio or llama.cpp"),
                Start::Leave => ("Leave", "run `omp setup` to come back"),
            };
            (label.to_owned(), detail.to_owned())
        });
        Page { title: "Welcome to omp".to_owned(), text, choices: choices.collect(), asks_key: false }
    }

    fn starts(&self) -> Vec<Start> {
        let all = [Start::Go, Start::Key, Start::Theme, Start::Demo, Start::Look, Start::Leave];
        let offered = |start: &Start| match start {
            Start::Go => self.is_ready(),
            Start::Theme => !self.found.themes.is_empty(),
            Start::Leave => !self.is_ready(),
            _ => true,
        };
        all.into_iter().filter(offered).collect()
    }

    /// Handles a choice of the page. An invalid index is ignored.
    fn choose(&mut self, index: usize) -> Next {
        self.note = None;
        match &self.place {
            Place::Start => match self.starts().get(index) {
                Some(Start::Go) => return Next::End(SetupEnd::Ready),
                Some(Start::Key) => self.place = Place::Providers,
                Some(Start::Theme) => self.place = Place::Themes,
                Some(Start::Demo) => return Next::End(SetupEnd::Demo),
                Some(Start::Look) => return Next::Wish(Wish::Look),
                Some(Start::Leave) => return Next::End(SetupEnd::Left),
                None => {}
            },
            Place::Providers => {
                if let Some(provider) = self.found.providers.get(index) {
                    self.place = Place::Key(provider.clone());
                }
            }
            Place::Themes => {
                if let Some(theme) = self.found.themes.get(index) {
                    return Next::Wish(Wish::KeepTheme(theme.clone()));
                }
            }
            Place::Key(_) => {}
        }
        Next::Show
    }

    /// Handles a typed key. It is never shown again.
    fn give(&mut self, typed: &str) -> Next {
        let Place::Key(provider) = &self.place else { return Next::Show };
        let key = typed.trim();
        self.note = match key {
            "" => Some("Nothing was pasted.".to_owned()),
            key if key.len() > LONGEST_KEY || !key.bytes().all(|byte| byte.is_ascii_graphic()) => {
                Some("That is not a key: a key is one word of letters, digits and punctuation.".to_owned())
            }
            key if key.contains(['\'', '"', '`']) => Some("That is not a key: it contains quotes.".to_owned()),
            key => return Next::Wish(Wish::KeepKey { provider: provider.name.clone(), key: key.to_owned() }),
        };
        Next::Show
    }

    fn back(&mut self) -> Next {
        self.note = None;
        self.place = match self.place {
            Place::Start if self.is_ready() => return Next::End(SetupEnd::Ready),
            Place::Start => return Next::End(SetupEnd::Left),
            Place::Key(_) => Place::Providers,
            Place::Providers | Place::Themes => Place::Start,
        };
        Next::Show
    }

    /// Executes a request and shows its result.
    async fn fulfil(&mut self, wish: Wish, host: &dyn SetupHost) {
        let done = match wish {
            Wish::Look => {
                self.found = host.look().await;
                return;
            }
            Wish::KeepKey { provider, key } => host.keep_key(&provider, &key).map(|variable| {
                self.found.keys.retain(|known| known.provider != provider);
                self.found.keys.push(FoundKey { provider: provider.clone(), variable });
                format!("Saved the key for {provider}.")
            }),
            Wish::KeepTheme(name) => host.keep_theme(&name).map(|()| format!("Theme set to {name}.")),
        };
        match done {
            Ok(note) => {
                self.place = Place::Start;
                self.note = Some(note);
            }
            Err(problem) => self.note = Some(problem),
        }
    }
}

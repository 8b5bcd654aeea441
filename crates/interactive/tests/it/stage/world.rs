//! A fake machine around the application, and a record of the calls to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_interactive::{
    Candidate, Clip, Copied, FileIndex, GitChanges, KeyPlaces, Outside, PromptHistory, Provider, Secret, StatusLook,
    Stored, StoredSetting, Surroundings,
};
use omp_session::WebAddress;
use omp_tui::{PaneText, Rgb, Theme};
use omp_types::ImageContent;
use omp_types::Setting;
use serde_json::Value;

/// An edit of the user's own editor.
type Edit = fn(&str) -> Result<Option<String>, String>;

/// By default a machine with only a clipboard program and the themes `dark` and `light`.
#[derive(Default)]
pub struct World {
    /// The edit that ctrl+g makes.
    pub editor: Option<Edit>,
    pub clipboard: Mutex<Option<Clip>>,
    /// No clipboard program is installed.
    pub no_clipboard: bool,
    pub files: Vec<&'static str>,
    pub said: Mutex<Vec<String>>,
    pub settings: Mutex<BTreeMap<String, Value>>,
    /// Settings cannot be written.
    pub read_only: bool,
    /// Texts that a program copied.
    pub copied: Mutex<Vec<String>>,
    /// No browser is installed.
    pub no_browser: bool,
    /// Addresses opened in a browser.
    pub opened: Mutex<Vec<String>>,
    /// The branch that is checked out; `main` if not set.
    pub branch: Mutex<Option<String>>,
    pub changes: Mutex<GitChanges>,
    /// The output of the status line's command in each run.
    pub command_output: Option<fn(usize) -> Result<String, String>>,
    /// What it got on its input.
    pub facts: Mutex<Vec<Value>>,
}

impl World {
    pub fn setting(&self, key: &str) -> Option<Value> {
        self.settings.lock().unwrap().get(key).cloned()
    }
}

impl Outside for World {
    fn edit_text<'a>(&'a self, text: &'a str) -> BoxFuture<'a, Result<Option<String>, String>> {
        let edited = self.editor.map_or(Ok(None), |edit| edit(text));
        async move { edited }.boxed()
    }

    fn clipboard(&self) -> BoxFuture<'_, Result<Option<Clip>, String>> {
        let clip = self.clipboard.lock().unwrap().take();
        async move { Ok(clip) }.boxed()
    }

    fn read_image<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<ImageContent, String>> {
        async move {
            match path.contains("missing") {
                true => Err(format!("there is no {path}")),
                false => Ok(picture()),
            }
        }
        .boxed()
    }

    fn copy<'a>(&'a self, text: &'a str, sent: bool) -> BoxFuture<'a, Result<Copied, String>> {
        self.copied.lock().unwrap().push(text.to_owned());
        let elsewhere = format!("it is in a file, sent: {sent}\nhint: install a program");
        let copied = if self.no_clipboard { Copied::Elsewhere(elsewhere) } else { Copied::Surely };
        async move { Ok(copied) }.boxed()
    }

    fn pane_text(&self) -> BoxFuture<'_, Option<PaneText>> {
        async { None }.boxed()
    }

    fn open_url<'a>(&'a self, url: &'a WebAddress) -> BoxFuture<'a, Result<(), String>> {
        self.opened.lock().unwrap().push(url.to_string());
        let opened = if self.no_browser { Err("there is no browser".to_owned()) } else { Ok(()) };
        async move { opened }.boxed()
    }
}

impl FileIndex for World {
    fn complete(&self, query: &str) -> Vec<Candidate> {
        let found = self.files.iter().filter(|file| file.contains(query));
        found.map(|file| Candidate { path: (*file).to_owned(), is_folder: false }).collect()
    }

    fn starting_with(&self, typed: &str) -> Vec<Candidate> {
        let found = self.files.iter().filter(|file| file.starts_with(typed));
        found.map(|file| Candidate { path: (*file).to_owned(), is_folder: false }).collect()
    }
}

impl PromptHistory for World {
    fn entries(&self) -> Vec<String> {
        self.said.lock().unwrap().clone()
    }

    fn keep(&self, text: &str) {
        self.said.lock().unwrap().push(text.to_owned());
    }
}

impl Surroundings for World {
    fn branch(&self, _: &Path) -> Option<String> {
        Some(self.branch.lock().unwrap().clone().unwrap_or_else(|| "main".to_owned()))
    }

    fn git_changes(&self, _: &Path) -> GitChanges {
        *self.changes.lock().unwrap()
    }

    fn status_look(&self) -> Result<(StatusLook, Vec<String>), String> {
        Ok(StatusLook::read(|key| self.setting(key)))
    }

    fn status_command(&self, facts: Value, _: PathBuf) -> BoxFuture<'static, Result<String, String>> {
        let mut facts_seen = self.facts.lock().unwrap();
        facts_seen.push(facts);
        let output = self.command_output.map_or(Ok(String::new()), |output| output(facts_seen.len()));
        async move { output }.boxed()
    }

    fn host_name(&self) -> String {
        "box.example.org".to_owned()
    }

    fn themes(&self) -> Vec<String> {
        vec!["dark".to_owned(), "light".to_owned()]
    }

    fn theme(&self, name: &str) -> Result<Arc<Theme>, String> {
        match name {
            "dark" => Ok(Arc::new(Theme::dark())),
            "light" => Ok(Arc::new(Theme::light())),
            "none" => Ok(Arc::new(Theme::colorless())),
            other => Err(format!("there is no theme {other}")),
        }
    }

    fn theme_for(&self, background: Rgb) -> Option<Arc<Theme>> {
        Some(Arc::new(Theme::for_background(background)))
    }

    fn favorite_models(&self) -> Vec<String> {
        Vec::new()
    }

    fn roles(&self) -> Vec<(String, String)> {
        let settings = self.settings.lock().unwrap();
        let role = |(key, value): (&String, &Value)| {
            Some((key.strip_prefix("modelRoles.")?.to_owned(), value.as_str()?.to_owned()))
        };
        settings.iter().filter_map(role).collect()
    }

    fn setting_list(&self) -> Vec<Setting> {
        omp_policy::POLICY_SETTINGS
            .iter()
            .chain(omp_session::SETTINGS)
            .chain(omp_interactive::SETTINGS)
            .copied()
            .collect()
    }

    fn settings(&self) -> Result<Stored, String> {
        let settings = self.settings.lock().unwrap().clone();
        Ok(Box::new(move |key| Some(StoredSetting { value: settings.get(key)?.clone(), from: "user" })))
    }

    fn key_places(&self) -> KeyPlaces {
        let provider = Provider { name: "openai".to_owned(), variable: "OPENAI_API_KEY".to_owned() };
        KeyPlaces { providers: vec![provider], file: "~/.omp/agent/.env".to_owned() }
    }

    fn keep_key(&self, provider: &str, key: &Secret) -> Result<String, String> {
        Ok(format!("kept {} letters for {provider}", key.0.len()))
    }

    fn keep_setting(&self, key: &str, value: Value) -> Result<(), String> {
        if self.read_only {
            return Err(format!("{key} cannot be kept"));
        }
        self.settings.lock().unwrap().insert(key.to_owned(), value);
        Ok(())
    }
}

/// The smallest valid image here.
pub fn picture() -> ImageContent {
    let data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNg+M8AAAICAQB7CYF4AAAAAElFTkSuQmCC";
    ImageContent { data: data.to_owned(), mime_type: "image/png".to_owned() }
}

//! The input field for messages: history, completion of `/` and `@`, images, and highlighting of shell commands.
//!
//! It never runs anything: it returns what the user wants, and the application executes it. Slow work (finding files,
//! reading images) runs in tasks, and [`Prompt::wait`] returns their results.

mod commands;
mod files;
mod outside;
mod pictures;
mod submission;
mod tab;
#[cfg(test)]
mod tests;
mod typed;

use std::collections::BTreeMap;
use std::sync::Arc;

use omp_session::{RanBy, SlashCommands};
use omp_stdx::display_width;
use omp_tui::{
    Completion, Component, Editor, Input, Key, KeyCode, Line, Reaction, Space, Style, Token, VimMode, VimReply,
    horizontal_rule,
};
use omp_types::ImageContent;
use tokio::sync::mpsc;

use crate::action::Action;
use crate::keymap::{KeyContext, Keymap};
use files::FileQuery;

pub use commands::CommandInfo;
pub use outside::{Candidate, Clip, Copied, FileIndex, Outside, PromptHistory};
pub use submission::Submission;
pub use tab::{TabQuery, TabTarget, matching, path_completion};
pub use typed::{Typed, is_leaving, run_by_sign, typed};

/// Caps the images in one message. Providers accept about as many.
const MOST_PICTURES: usize = 20;
/// Caps the results of tasks in the queue.
const MOST_ARRIVALS: usize = 8;
/// The columns beside the text for the mode of vim.
const MODE_COLUMNS: usize = 9;
/// A narrower terminal does not show the mode.
const LEAST_WITH_MODE: usize = 40;
/// The minimum height of a window for rules around the editor.
const LEAST_WITH_RULES: usize = 12;

/// The dependencies of the prompt.
#[derive(Clone)]
pub struct PromptParts {
    pub outside: Arc<dyn Outside>,
    pub files: Arc<dyn FileIndex>,
    pub history: Arc<dyn PromptHistory>,
}

/// The result of a key.
#[derive(Debug)]
pub enum PromptStep {
    Nothing,
    Redraw,
    Act(Action),
    Submit(Submission),
}

/// The kind of input, determined by its first characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WritingMode {
    #[default]
    Message,
    Shell,
    Python,
}

pub struct Prompt {
    parts: PromptParts,
    editor: Editor,
    mode: WritingMode,
    commands: Vec<CommandInfo>,
    pictures: BTreeMap<u64, ImageContent>,
    next_picture: u64,
    /// The number of images being read.
    awaited: usize,
    lookup: Lookup,
    /// The text and cursor for which the list was built; once closed, it is not built again for them.
    offered: (u64, usize),
    sender: mpsc::Sender<Arrival>,
    arrivals: mpsc::Receiver<Arrival>,
}

/// Runs one file lookup at a time; of queries that arrive meanwhile only the newest is kept.
#[derive(Default)]
struct Lookup {
    running: bool,
    wanted: Option<FileQuery>,
}

enum Arrival {
    Files {
        query: FileQuery,
        candidates: Vec<Candidate>,
    },
    /// The clipboard; text in it is pasted.
    Clip(Result<Option<Clip>, String>),
    /// `pasted` is inserted if the image cannot be read.
    Picture {
        pasted: String,
        picture: Result<ImageContent, String>,
    },
}

impl Prompt {
    pub fn new(parts: PromptParts) -> Self {
        let (sender, arrivals) = mpsc::channel(MOST_ARRIVALS);
        let mut editor = Editor::default();
        editor.set_history(parts.history.entries());
        Self {
            parts,
            editor,
            mode: WritingMode::Message,
            commands: Vec::new(),
            pictures: BTreeMap::new(),
            next_picture: 1,
            awaited: 0,
            lookup: Lookup::default(),
            offered: Default::default(),
            sender,
            arrivals,
        }
    }

    pub fn with_vim(mut self, on: bool) -> Self {
        self.set_vim(on);
        self
    }

    /// Switches modal editing on or off.
    pub fn set_vim(&mut self, on: bool) {
        self.editor.set_vim(on);
    }

    pub fn is_vim(&self) -> bool {
        self.editor.vim_mode().is_some()
    }

    /// Sets the completions of `/`: the commands of the session, and `more` of the application.
    pub fn set_commands(&mut self, commands: &SlashCommands, more: Vec<CommandInfo>) {
        self.commands = CommandInfo::all(commands);
        self.commands.extend(more);
        CommandInfo::count(&mut self.commands, &self.parts.history.entries());
    }

    pub fn set_placeholder(&mut self, placeholder: impl Into<String>) {
        self.editor.set_placeholder(placeholder);
    }

    pub fn is_empty(&self) -> bool {
        self.editor.is_empty()
    }

    pub fn mode(&self) -> WritingMode {
        self.mode
    }

    /// Returns the text as it would be sent, with long pastes in full.
    pub fn text(&self) -> String {
        self.editor.expanded_text()
    }

    /// Returns the line of the cursor.
    pub fn line(&self) -> String {
        let (text, at) = (self.editor.text(), self.editor.cursor());
        let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
        text[start..end].to_owned()
    }

    pub fn insert(&mut self, text: &str) {
        self.editor.insert(text);
        self.changed();
    }

    /// Clears the text. Returns whether there was any.
    pub fn clear(&mut self) -> bool {
        let had_text = !self.editor.is_empty();
        self.editor.take();
        self.pictures.clear();
        self.changed();
        had_text
    }

    /// Returns the earlier prompts, the newest last.
    /// Lets the up key recall a text that was not typed here.
    pub fn remember(&mut self, text: &str) {
        self.editor.remember(text);
    }

    pub fn history(&self) -> Vec<String> {
        self.parts.history.entries()
    }

    pub fn input(&mut self, input: &Input, keymap: &Keymap) -> PromptStep {
        let step = match input {
            Input::Key(key) => self.key(key, keymap),
            Input::Paste(pasted) => self.paste(pasted),
            Input::Mouse(_) | Input::Focus(_) => PromptStep::Nothing,
        };
        self.changed();
        step
    }

    /// Waits for the result of a task; forever if none runs. Cancel safe.
    pub async fn wait(&mut self) -> PromptStep {
        let Some(arrival) = self.arrivals.recv().await else { return std::future::pending().await };
        let step = self.arrived(arrival);
        self.changed();
        step
    }

    /// Draws the editor between two rules, unless rows are scarce. In a shell or Python line they have the colour of its sign.
    pub fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let mut rows = self.draw_editor(space);
        if space.height >= LEAST_WITH_RULES {
            let color = match self.mode {
                WritingMode::Message => Token::Border,
                WritingMode::Shell => Token::BashMode,
                WritingMode::Python => Token::PythonMode,
            };
            let rule = horizontal_rule(space, color);
            // Completions are drawn below the rule.
            rows.insert(self.editor.shown_rows().min(rows.len()), rule.clone());
            rows.insert(0, rule);
        }
        rows
    }

    /// With modal editing, the mode is shown at the right of the first row.
    fn draw_editor(&mut self, space: &Space<'_>) -> Vec<Line> {
        let word = self.editor.vim_word().filter(|_| space.width >= LEAST_WITH_MODE);
        let Some(word) = word else { return self.editor.draw(space) };
        let mut rows = self.editor.draw(&space.narrower(MODE_COLUMNS));
        let word = display_width::ellipsize(&word, MODE_COLUMNS - 2).into_owned();
        if let Some(first) = rows.first_mut() {
            let gap = space.width.saturating_sub(first.width() + display_width::width(&word) + 1);
            first.push(" ".repeat(gap), Style::PLAIN);
            first.push(word, space.theme.fg(Token::Muted));
        }
        rows
    }

    /// Takes the text of the editor to send it. Returns a message while an image is still being read.
    pub fn submit(&mut self) -> PromptStep {
        if self.awaited > 0 {
            return PromptStep::Act(Action::Tell("an image is still loading; press Enter again".to_owned()));
        }
        if self.editor.text().trim().is_empty() {
            return PromptStep::Nothing;
        }
        let attached = self.editor.attachments();
        let images = attached.iter().filter_map(|marker| self.pictures.remove(&marker.payload)).collect();
        self.pictures.clear();
        let typed = self.editor.take();
        let submission = Submission::new(&typed, images);
        // A leading space keeps a line out of the history, as in shells.
        if !typed.starts_with(' ') {
            self.editor.remember(&submission.text);
            self.parts.history.keep(&submission.text);
            CommandInfo::count(&mut self.commands, std::slice::from_ref(&submission.text));
        }
        self.changed();
        PromptStep::Submit(submission)
    }

    /// Returns what Tab would complete.
    pub fn tab_query(&self) -> Option<TabQuery> {
        tab::query(self.editor.text(), self.editor.cursor(), self.editor.version(), &self.commands)
    }

    /// Returns the index of files, which may block.
    pub fn files(&self) -> Arc<dyn FileIndex> {
        self.parts.files.clone()
    }

    /// Inserts the only completion, or what all of them begin with, and lists the others. Nothing happens if the text has
    /// changed since the query. Returns `false` if there is nothing to choose from.
    pub fn complete(&mut self, query: &TabQuery, found: Vec<Completion>) -> bool {
        if self.editor.version() != query.version || found.is_empty() {
            return false;
        }
        let begin = tab::common(&found);
        let (typed, only) = (self.editor.text().get(query.range.clone()).unwrap_or_default(), found.len() == 1);
        if only || begin.len() > typed.len() {
            let insert = if only { found[0].insert.clone() } else { begin.to_owned() };
            let end = query.range.start + insert.len();
            self.editor.set_completions(vec![Completion { insert, replace: query.range.clone(), ..found[0].clone() }]);
            self.editor.accept_completion();
            self.changed();
            if !only {
                let moved = |one: Completion| Completion { replace: query.range.start..end, ..one };
                self.editor.set_completions(found.into_iter().map(moved).collect());
            }
            return true;
        }
        self.editor.set_completions(found);
        true
    }

    /// Reads the clipboard in a task.
    pub fn paste_clipboard(&mut self) {
        let (outside, sender) = (self.parts.outside.clone(), self.sender.clone());
        self.awaited += 1;
        tokio::spawn(async move {
            // The prompt may be gone.
            let _ = sender.send(Arrival::Clip(outside.clipboard().await)).await;
        });
    }

    fn key(&mut self, key: &Key, keymap: &Keymap) -> PromptStep {
        if self.editor.vim_wants(key) {
            return match self.editor.vim_key(key) {
                VimReply::Ignored => PromptStep::Nothing,
                VimReply::Taken => PromptStep::Redraw,
                VimReply::Leave => PromptStep::Act(Action::Exit),
                VimReply::Unknown(command) => tell(&format!("there is no command :{command}\nhint: :q leaves omp")),
            };
        }
        // The list handles its keys first, but Enter on a full command name sends it instead of completing it.
        let is_enter = key.code == KeyCode::Enter && key.mods.is_empty();
        let whole = is_enter && commands::is_name(self.editor.text(), &self.commands);
        let for_list = self.editor.completing() && !whole && is_list_key(key.code) && key.mods.is_empty();
        if for_list && self.editor.input(&Input::Key(*key)) == Reaction::Taken {
            return PromptStep::Redraw;
        }
        match keymap.action(key) {
            None if *key == Key::plain(KeyCode::Tab) && !self.editor.completing() => PromptStep::Act(Action::Complete),
            None => self.edit(key, keymap),
            Some(Action::Submit) if self.editor.continue_line() => PromptStep::Redraw,
            Some(Action::Submit) => self.submit(),
            Some(Action::PasteImage) => {
                self.paste_clipboard();
                PromptStep::Redraw
            }
            Some(Action::Exit) if !self.editor.is_empty() => self.edit(key, keymap),
            Some(action) => PromptStep::Act(action),
        }
    }

    fn edit(&mut self, key: &Key, keymap: &Keymap) -> PromptStep {
        let Some(key) = keymap.for_component(KeyContext::Editor, *key) else { return PromptStep::Nothing };
        match self.editor.input(&Input::Key(key)) {
            Reaction::Taken => PromptStep::Redraw,
            Reaction::Ignored => PromptStep::Nothing,
        }
    }

    fn paste(&mut self, pasted: &str) -> PromptStep {
        // Terminals paste empty text if the clipboard contains an image.
        if pasted.is_empty() {
            self.paste_clipboard();
            return PromptStep::Redraw;
        }
        let Some(path) = files::pasted_picture(pasted) else {
            self.editor.paste(pasted);
            return PromptStep::Redraw;
        };
        let (outside, sender, pasted) = (self.parts.outside.clone(), self.sender.clone(), pasted.to_owned());
        self.awaited += 1;
        tokio::spawn(async move {
            let picture = outside.read_image(&path).await;
            // The prompt may be gone.
            let _ = sender.send(Arrival::Picture { pasted, picture }).await;
        });
        PromptStep::Redraw
    }

    fn arrived(&mut self, arrival: Arrival) -> PromptStep {
        match arrival {
            Arrival::Files { query, candidates } => {
                self.lookup.running = false;
                if self.lookup.wanted.as_ref().is_some_and(|wanted| *wanted == query) {
                    self.lookup.wanted = None;
                    let list = candidates.iter().map(|one| files::completion(one, query.range.clone())).collect();
                    self.editor.set_completions(list);
                } else {
                    self.look_up();
                }
                return PromptStep::Redraw;
            }
            Arrival::Clip(clip) => {
                self.awaited = self.awaited.saturating_sub(1);
                match clip {
                    Ok(Some(Clip::Image(image))) => return self.attach(image),
                    Ok(Some(Clip::Text(text))) => self.editor.paste(&text),
                    Ok(None) => return tell("the clipboard contains no text or image"),
                    Err(problem) => return PromptStep::Act(Action::Tell(problem)),
                }
            }
            Arrival::Picture { pasted, picture } => {
                self.awaited = self.awaited.saturating_sub(1);
                match picture {
                    Ok(image) => return self.attach(image),
                    Err(_) => self.editor.paste(&pasted),
                }
            }
        }
        PromptStep::Redraw
    }

    fn attach(&mut self, image: ImageContent) -> PromptStep {
        if self.editor.attachments().len() >= MOST_PICTURES {
            return PromptStep::Act(Action::Tell(format!("a message can have at most {MOST_PICTURES} images")));
        }
        let number = self.next_picture;
        let marker = self.marker_for(image);
        self.editor.insert_attachment(&marker, number);
        PromptStep::Redraw
    }

    /// Updates the mode and the completions after the text may have changed.
    fn changed(&mut self) {
        let text = self.editor.text();
        let mode = match run_by_sign(text) {
            Some((RanBy::Shell, ..)) => WritingMode::Shell,
            Some((RanBy::Python, ..)) => WritingMode::Python,
            None => WritingMode::Message,
        };
        let now = (self.editor.version(), self.editor.cursor());
        if mode != self.mode {
            self.mode = mode;
            match mode {
                WritingMode::Message => self.editor.set_prompt("> ", Token::Accent),
                WritingMode::Shell => self.editor.set_prompt("! ", Token::BashMode),
                WritingMode::Python => self.editor.set_prompt("$ ", Token::PythonMode),
            }
        }
        if now == self.offered {
            return;
        }
        self.offered = now;
        self.offer();
    }

    fn offer(&mut self) {
        if self.editor.vim_mode().is_some_and(|mode| mode != VimMode::Insert) {
            self.lookup.wanted = None;
            return self.editor.set_completions(Vec::new());
        }
        let (text, cursor) = (self.editor.text(), self.editor.cursor());
        match files::query(text, cursor) {
            Some(query) => {
                self.lookup.wanted = Some(query);
                self.look_up();
            }
            None => {
                self.lookup.wanted = None;
                let list = commands::completions(text, cursor, &self.commands);
                // The text is already complete.
                let done = matches!(&list[..], [only] if only.insert.trim_end() == text.trim_end());
                self.editor.set_completions(if done { Vec::new() } else { list });
            }
        }
    }

    fn look_up(&mut self) {
        let Some(query) = self.lookup.wanted.clone().filter(|_| !self.lookup.running) else { return };
        let (files, sender) = (self.parts.files.clone(), self.sender.clone());
        self.lookup.running = true;
        tokio::task::spawn_blocking(move || {
            let candidates = files.complete(&query.letters);
            // The prompt may be gone.
            let _ = sender.blocking_send(Arrival::Files { query, candidates });
        });
    }
}

fn is_list_key(code: KeyCode) -> bool {
    use KeyCode::{Down, Enter, Escape, PageDown, PageUp, Tab, Up};
    matches!(code, Up | Down | PageUp | PageDown | Tab | Enter | Escape)
}

fn tell(text: &str) -> PromptStep {
    PromptStep::Act(Action::Tell(text.to_owned()))
}

//! Completes arguments and paths when Tab is pressed.

use omp_session::ArgumentValues;
use omp_tui::Completion;

use super::screen::Dirty;
use super::{News, Running};
use crate::dialogs::levels_of;
use crate::prompt::{TabQuery, TabTarget, matching, path_completion};

/// Caps the sessions offered; more are found with `/resume` alone.
const MOST_SESSIONS: usize = 200;
const LONGEST_TITLE: usize = 80;

impl Running {
    pub(super) fn complete(&mut self) {
        let Some(query) = self.prompt.tab_query() else { return };
        let TabTarget::Argument(entry) = query.target else { return self.complete_path(query, false) };
        let words = entry.words().map(|word| (word.to_owned(), String::new()));
        let values: Vec<(String, String)> = match entry.values {
            ArgumentValues::Nothing => Vec::new(),
            ArgumentValues::Files | ArgumentValues::Folders
                if entry.words().next().is_none() || !query.letters.is_empty() =>
            {
                let found = matching(words, &query);
                if !found.is_empty() {
                    return self.completed(&query, found);
                }
                return self.complete_path(query, entry.values == ArgumentValues::Folders);
            }
            ArgumentValues::Files | ArgumentValues::Folders => Vec::new(),
            ArgumentValues::Sessions => return self.complete_session(query),
            values => self.values(values),
        };
        let found = matching(words.chain(values), &query);
        self.completed(&query, found);
    }

    fn values(&self, values: ArgumentValues) -> Vec<(String, String)> {
        let bare = |name: String| (name, String::new());
        let surroundings = &self.around.surroundings;
        match values {
            ArgumentValues::Models => {
                let offered = self.around.host.offered_models().into_iter();
                offered.map(|it| (it.model.selector(), it.model.name.clone())).collect()
            }
            ArgumentValues::Providers => {
                surroundings.key_places().providers.into_iter().map(|it| (it.name, it.variable)).collect()
            }
            ArgumentValues::Settings => {
                let settings = surroundings.setting_list().into_iter();
                settings.map(|it| (it.key.to_owned(), it.title.to_owned())).collect()
            }
            ArgumentValues::Themes => surroundings.themes().into_iter().map(bare).collect(),
            ArgumentValues::ThinkingLevels => {
                let Some(live) = &self.live else { return Vec::new() };
                levels_of(&live.session.snapshot().model).iter().map(|level| bare(level.to_string())).collect()
            }
            ArgumentValues::Tools => {
                let Some(live) = &self.live else { return Vec::new() };
                live.session.tools().specs().iter().map(|spec| bare(spec.name.clone())).collect()
            }
            ArgumentValues::Nothing | ArgumentValues::Files | ArgumentValues::Folders | ArgumentValues::Sessions => {
                Vec::new()
            }
        }
    }

    /// Lists a folder in a task.
    fn complete_path(&self, query: TabQuery, only_folders: bool) {
        let files = self.prompt.files();
        self.beside(async move {
            let letters = query.letters.clone();
            let found = tokio::task::spawn_blocking(move || files.starting_with(&letters)).await.unwrap_or_default();
            let fits = found.iter().filter(|one| one.is_folder || !only_folders);
            let found = fits.map(|one| path_completion(one, &query)).collect();
            News::Completions(query, found)
        });
    }

    /// Reads the list of sessions in a task. A session is found by its id or its title.
    fn complete_session(&self, query: TabQuery) {
        let host = self.around.host.clone();
        self.beside(async move {
            let listed = tokio::task::spawn_blocking(move || host.sessions(None)).await;
            let listed = listed.ok().and_then(Result::ok).unwrap_or_default();
            let values = listed.into_iter().take(MOST_SESSIONS).map(|it| {
                let about = it.title.or(it.first_message).unwrap_or_default();
                let about = about.lines().next().unwrap_or_default().chars().take(LONGEST_TITLE).collect();
                (it.id, about)
            });
            let found = matching(values, &query);
            News::Completions(query, found)
        });
    }

    pub(super) fn completed(&mut self, query: &TabQuery, found: Vec<Completion>) {
        if !self.prompt.complete(query, found) {
            self.hint("nothing to complete");
        }
        self.screen.mark(Dirty::Now);
    }
}

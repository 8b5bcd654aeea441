//! A tool call, from the first byte of its arguments to its result.

use omp_agent::{ArrivingCall, Outcome};
use omp_session::{Session, ToolOutput, words_of_refusal};
use omp_tui::{Line, Space, Token};
use omp_types::{Content, PartialJson, text_of};
use omp_view::{Block as Part, Keep, Status, View};
use serde_json::{Map, Value};

use super::Block;
use super::card;
use super::gallery::{Gallery, Hung, version_of};

/// Caps the output of a running command that is scanned for its last rows.
const TAIL: usize = 4 * 1024;

/// The note of a call that the user refused.
pub(crate) const DENIED: &str = "denied";

/// Renders the view that its tool creates.
pub struct CallBlock {
    /// Identifies the call within the session while its arguments arrive.
    id: String,
    pub name: String,
    arguments: Map<String, Value>,
    partial: PartialJson,
    /// Arguments arrived since the last update of the view.
    stale: bool,
    view: View,
    /// The output of a running call, or the text of a finished one beyond its view.
    said: String,
    /// The text is an error of omp, not output.
    is_error: bool,
    pictures: Vec<Hung>,
    state: State,
    expanded: bool,
    shown_in_dialog: InDialog,
    version: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Arriving,
    Running,
    Ended,
}

/// What an open dialog asks about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskedAbout {
    /// Whether the call with this id may run.
    Call(String),
    /// A question of a running call.
    Question(String),
}

/// What an open dialog shows of a call, so that its card does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InDialog {
    Nothing,
    /// What the call would do.
    Body,
    /// The question that is its title.
    Question,
}

impl CallBlock {
    pub fn new(id: String, name: &str) -> Self {
        Self {
            id,
            name: name.to_owned(),
            arguments: Map::new(),
            partial: PartialJson::default(),
            stale: false,
            view: View::new(name.to_owned(), Status::Running),
            said: String::new(),
            is_error: false,
            pictures: Vec::new(),
            state: State::Arriving,
            expanded: false,
            shown_in_dialog: InDialog::Nothing,
            version: 0,
        }
    }

    /// A finished call with the view of its tool, the text below it, which is an error if it failed, and images.
    #[cfg(test)]
    pub fn ended(view: View, said: &str, pictures: Vec<Hung>) -> Self {
        let call = Self::new(String::new(), "");
        let is_error = view.status == Status::Failed;
        Self { view, said: said.to_owned(), is_error, pictures, state: State::Ended, ..call }
    }

    /// Adds a chunk of its arguments.
    pub fn arrive(&mut self, delta: &str) {
        self.partial.push(delta, &mut self.arguments);
        self.stale = true;
    }

    /// Updates the preview if arguments have arrived. Called once per frame, not for every chunk.
    pub fn look(&mut self, session: &Session) {
        if !std::mem::take(&mut self.stale) || self.state != State::Arriving {
            return;
        }
        let arguments = Value::Object(self.arguments.clone());
        let look = ArrivingCall { id: &self.id, arguments: &arguments, is_whole: false };
        if let Some(view) = session.preview(&self.name, look).filter(|view| view.status != Status::Failed) {
            self.show(View { status: Status::Running, ..view });
        }
    }

    /// Sets the complete arguments.
    pub fn arrived(&mut self, name: &str, arguments: &Map<String, Value>, session: &Session) {
        name.clone_into(&mut self.name);
        self.arguments.clone_from(arguments);
        self.stale = false;
        let arguments = Value::Object(arguments.clone());
        let preview = session.preview(name, ArrivingCall { id: &self.id, arguments: &arguments, is_whole: true });
        let view = preview.filter(|view| view.status != Status::Failed);
        if let Some(view) = view.or_else(|| rendered(session, name, &arguments, Outcome::Running)) {
            self.show(View { status: Status::Running, ..view });
        }
    }

    pub fn start(&mut self, arguments: &Value, session: &Session) {
        self.state = State::Running;
        // A preview shows more than a running call reports.
        if self.view.blocks.is_empty()
            && let Some(view) = rendered(session, &self.name, arguments, Outcome::Running)
        {
            self.show(view);
        }
        self.version += 1;
    }

    pub fn progress(&mut self, partial: &ToolOutput) {
        let text = text_of(&partial.content);
        let mut start = text.len().saturating_sub(TAIL);
        while !text.is_char_boundary(start) {
            start += 1;
        }
        text[start..].clone_into(&mut self.said);
        self.version += 1;
    }

    pub fn end(&mut self, arguments: &Value, output: &ToolOutput, session: &Session, gallery: &Gallery) {
        self.state = State::Ended;
        self.said.clear();
        self.is_error = output.is_error && output.details.is_none();
        let outcome = match &output.details {
            Some(details) => Outcome::Done { details, is_error: output.is_error },
            None if output.is_error => Outcome::Failed,
            None => Outcome::Done { details: &Value::Null, is_error: false },
        };
        let status = if output.is_error { Status::Failed } else { Status::Done };
        let view = rendered(session, &self.name, arguments, outcome);
        let mut view = view.unwrap_or_else(|| View::new(std::mem::take(&mut self.view.title), status));
        if view.shows_output() || output.details.is_none() && output.is_error {
            self.said = view.for_people(text_of(&output.content));
        }
        if let Some(words) = words_of_refusal(&self.said).filter(|_| self.is_error) {
            (self.said, self.is_error) = (words.to_owned(), false);
            view.notes.insert(0, DENIED.to_owned());
        }
        self.pictures = pictures(&mut view, output, gallery);
        self.show(View { status, ..view });
    }

    /// Marks the call as not run to its end, because the answer or the run was aborted.
    pub fn give_up(&mut self) {
        if self.state != State::Ended {
            self.state = State::Ended;
            let notes = vec!["did not finish".to_owned()];
            let view = std::mem::take(&mut self.view);
            self.show(View { status: Status::Failed, notes, ..view });
        }
    }

    pub fn is_over(&self) -> bool {
        self.state == State::Ended
    }

    pub fn title(&self) -> &str {
        &self.view.title
    }

    pub fn view(&self) -> &View {
        &self.view
    }

    pub fn set_all(&mut self, expanded: bool) {
        self.expanded = expanded;
        self.version += 1;
    }

    pub fn set_asked(&mut self, about: Option<&AskedAbout>, id: &str) {
        let shown = match about {
            Some(AskedAbout::Call(call_id)) if call_id == id => InDialog::Body,
            Some(AskedAbout::Question(question)) if self.is_titled(question) => InDialog::Question,
            _ => InDialog::Nothing,
        };
        if std::mem::replace(&mut self.shown_in_dialog, shown) != shown {
            self.version += 1;
        }
    }

    /// Whether the title of a running call is only its name and the question.
    fn is_titled(&self, question: &str) -> bool {
        let subject = self.view.title.strip_prefix(&self.name).map(str::trim_start);
        !self.is_over() && subject == Some(question.trim_start())
    }

    /// Draws the rows below the title.
    pub fn body(&self, space: &Space<'_>) -> Vec<Line> {
        if self.shown_in_dialog == InDialog::Body {
            return Vec::new();
        }
        let keep = self.view.keep;
        let mut rows = card::body(&self.view, space, self.expanded, keep);
        let keep = if self.state == State::Running { Keep::Tail } else { keep };
        // Only the error is red; the way out of it is not.
        let hint = self.said.find("\nhint:").filter(|_| self.is_error).unwrap_or(self.said.len());
        let (said, hint) = self.said.split_at(hint);
        let token = if self.is_error { Token::Error } else { Token::ToolOutput };
        for (text, token) in [(said, token), (hint.trim_start(), Token::Muted)] {
            if !text.trim().is_empty() {
                rows.extend(card::output(text, space, space.theme.fg(token), self.expanded, keep));
            }
        }
        rows
    }

    /// Draws the images of the result, below everything else.
    pub fn draw_pictures(&self, space: &Space<'_>) -> Vec<Line> {
        self.pictures.iter().flat_map(|picture| picture.draw(space)).collect()
    }

    fn show(&mut self, view: View) {
        self.view = view;
        self.version += 1;
    }
}

impl Block for CallBlock {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let mut rows = match self.shown_in_dialog {
            InDialog::Question => vec![card::title(&View::new(self.name.clone(), self.view.status), space)],
            _ if self.expanded => card::title_rows(&self.view, space),
            _ => vec![card::title(&self.view, space)],
        };
        rows.extend(self.body(space));
        rows.extend(self.draw_pictures(space));
        rows
    }

    fn version(&self) -> u64 {
        self.version + version_of(&self.pictures)
    }

    fn is_final(&self) -> bool {
        self.is_over() && self.pictures.iter().all(Hung::is_settled)
    }

    fn set_expanded(&mut self, expanded: bool) {
        self.set_all(expanded);
    }
}

/// Returns the images that the tool shows, else those that the model receives.
fn pictures(view: &mut View, output: &ToolOutput, gallery: &Gallery) -> Vec<Hung> {
    let mut hung = Vec::new();
    view.blocks.retain(|part| match part {
        Part::Image { mime_type, data } => {
            hung.push(gallery.hang(data, mime_type));
            false
        }
        _ => true,
    });
    if hung.is_empty() {
        let given = output.content.iter().filter_map(|block| match block {
            Content::Image(image) => Some(gallery.hang(&image.data, &image.mime_type)),
            _ => None,
        });
        hung.extend(given);
    }
    hung
}

fn rendered(session: &Session, name: &str, arguments: &Value, outcome: Outcome<&Value>) -> Option<View> {
    session.view(name, arguments, outcome)
}

#[cfg(test)]
mod tests {
    use omp_tui::Theme;

    use super::*;

    #[test]
    fn what_a_dialog_shows_is_not_repeated_by_the_card() {
        let theme = Theme::colorless();
        let space = Space { width: 40, height: 9, theme: &theme, focused: true, keys: &omp_tui::DefaultKeys };
        let view = View::new("ask Which colour?", Status::Running).block(Part::Text("body".to_owned()));
        let mut call = CallBlock::new("c1".to_owned(), "ask");
        call.show(view.clone());
        let about = |what: &str| Some(AskedAbout::Question(what.to_owned()));
        for (about, rows) in [
            (None, "● ask Which colour?\n  body"),
            (about("Which colour?"), "● ask\n  body"),
            (about("colour?"), "● ask Which colour?\n  body"),
            (Some(AskedAbout::Call("c1".to_owned())), "● ask Which colour?"),
            (Some(AskedAbout::Call("c2".to_owned())), "● ask Which colour?\n  body"),
        ] {
            let version = call.version();
            call.set_asked(about.as_ref(), "c1");
            let drawn: Vec<String> = call.draw(&space).iter().map(|row| row.text().trim_end().to_owned()).collect();
            assert_eq!(drawn.join("\n"), rows, "{about:?}");
            assert_eq!(call.version() != version, about.is_some(), "{about:?}");
        }
        let mut ended = CallBlock::ended(view, "", Vec::new());
        ended.set_asked(about("Which colour?").as_ref(), "c1");
        assert!(ended.draw(&space)[0].text().contains("Which colour?"));
    }
}

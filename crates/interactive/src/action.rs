//! Everything that can be meant: by a key, by what was chosen in a dialog, by a command.

use std::path::PathBuf;
use std::sync::Arc;

use omp_compaction::BranchNote;
use omp_policy::ApprovalMode;
use omp_session::{Answer, EntryId, WebAddress, Wish};
use omp_types::{Model, ThinkingLevel};
use serde_json::Value;

/// The application obeys these one after the other.
#[derive(Clone, Debug)]
pub enum Action {
    /// `app.interrupt`: cancels what runs, leaves a mode, closes a dialog.
    Interrupt,
    /// `app.clear`: empties the editor; twice ends the application.
    Clear,
    /// `app.exit`
    Exit,
    /// `app.suspend`
    Suspend,
    /// `app.thinking.cycle`
    CycleThinking,
    /// `app.thinking.toggle`: shows or hides what the model thinks.
    ToggleThinking,
    /// `app.model.cycleForward`, `app.model.cycleBackward`
    CycleModel {
        backward: bool,
    },
    /// `app.model.select`
    SelectModel,
    /// `app.model.selectTemporary`: for this session only.
    SelectModelTemporary,
    /// `app.tools.expand`
    ToggleExpanded,
    /// `app.editor.external`
    ExternalEditor,
    /// `app.message.followUp`: what is in the editor, after the running work.
    FollowUp,
    /// `app.message.dequeue`: the waiting messages back into the editor.
    Dequeue,
    /// `app.clipboard.pasteImage`
    PasteImage,
    /// `app.clipboard.copyLine`
    CopyLine,
    /// `app.clipboard.copyPrompt`
    CopyPrompt,
    /// `app.session.new`
    NewSession,
    /// `app.session.tree`
    ShowTree,
    /// `app.session.fork`
    ForkSession,
    /// `app.session.resume`
    ShowSessions,
    /// `app.history.search`
    SearchHistory,
    /// `app.plan.toggle`
    TogglePlan,
    /// Messages of the user from which to go on anew (double escape).
    ShowBranchPoints,
    ShowSettings,
    ShowThemes,
    ShowThinking,
    ShowHotkeys,
    /// Asks for the key of a provider, or first which provider.
    AskKey(Option<String>),
    KeepKey {
        provider: String,
        key: Secret,
    },
    /// Sends what is in the editor.
    Submit,
    /// A line that was typed, as if it had been submitted.
    Say(String),
    Answer {
        id: u64,
        answer: Answer,
    },
    /// Opens the address that a question is about.
    OpenUrl {
        id: u64,
        url: WebAddress,
    },
    SetModel {
        model: Arc<Model>,
        role: Option<String>,
    },
    SetThinking(ThinkingLevel),
    SetApprovalMode(ApprovalMode),
    SetTheme {
        name: String,
        keep: bool,
    },
    SetSetting {
        key: String,
        value: Value,
    },
    Switch(Wish),
    /// Goes on from another entry; what is told of the branch that is left is asked where that is set.
    GoTo(Destination),
    /// The same once that is known.
    LeaveBranch {
        to: Destination,
        note: BranchNote,
    },
    /// Puts other words in the place of the summary of what was taken out.
    CorrectSummary(String),
    /// Opens these words for it in the user's own editor.
    EditSummaryOutside(String),
    Label {
        entry: EntryId,
        label: Option<String>,
    },
    RenameSession {
        file: PathBuf,
        title: String,
    },
    DeleteSession(PathBuf),
    /// Puts text where the cursor is.
    Insert(String),
    /// Replaces what is in the editor.
    SetText(String),
    /// Puts text into the clipboard.
    Copy(String),
    /// One after the other.
    All(Vec<Action>),
    /// Tells the user something, in the transcript.
    Tell(String),
}

/// Where the session goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// Behind this entry; `None` for before the first.
    pub entry: Option<EntryId>,
    /// Is put into the editor.
    pub text: Option<String>,
    pub chosen_in: Chooser,
}

/// What a destination was chosen in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chooser {
    Tree,
    BranchPoints,
}

impl Chooser {
    /// Leads back to it.
    pub fn open(self) -> Action {
        match self {
            Chooser::Tree => Action::ShowTree,
            Chooser::BranchPoints => Action::ShowBranchPoints,
        }
    }
}

/// What is shown nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

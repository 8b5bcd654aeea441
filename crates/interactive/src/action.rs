//! Every action of the application, triggered by a key, a dialog or a command.

use std::path::PathBuf;
use std::sync::Arc;

use omp_compaction::BranchNote;
use omp_policy::ApprovalMode;
use omp_session::{Answer, EntryId, WebAddress, Wish};
use omp_types::{Model, ThinkingLevel};
use serde_json::Value;

/// The application executes these in order.
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
    /// `app.approval.cycle`
    CycleApproval,
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
    /// `app.message.followUp`: sends the text of the editor after the running work.
    FollowUp,
    /// `app.message.dequeue`: moves the queued messages back into the editor.
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
    /// Lists the user's messages to branch from (double escape).
    ShowBranchPoints,
    ShowSettings,
    ShowThemes,
    ShowThinking,
    ShowHotkeys,
    /// Asks for the key of a provider, or first for the provider.
    AskKey(Option<String>),
    KeepKey {
        provider: String,
        key: Secret,
    },
    /// Sends what is in the editor.
    Submit,
    /// Submits a line as if it had been typed.
    Say(String),
    Answer {
        id: u64,
        answer: Answer,
    },
    /// Opens the address of a question.
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
    /// Moves the session to another entry; asks for a summary of the abandoned branch if that is configured.
    GoTo(Destination),
    /// Moves the session to another entry, with the chosen summary of the abandoned branch.
    LeaveBranch {
        to: Destination,
        note: BranchNote,
    },
    /// Replaces the text of the compaction summary.
    CorrectSummary(String),
    /// Opens the text of the compaction summary in the user's own editor.
    EditSummaryOutside(String),
    /// Opens the text of the open dialog in the user's own editor.
    EditDialogOutside(String),
    /// Shows the plan and asks what to do with it.
    ReviewPlan,
    /// Approves the plan, as it is or as the user has edited it, and has it carried out.
    RunPlan(Option<String>),
    /// `/vim`
    ToggleVim,
    Label {
        entry: EntryId,
        label: Option<String>,
    },
    RenameSession {
        file: PathBuf,
        title: String,
    },
    DeleteSession(PathBuf),
    /// Inserts text at the cursor.
    Insert(String),
    /// Replaces the text of the editor.
    SetText(String),
    /// Copies text to the clipboard.
    Copy(String),
    /// Completes the argument or the path before the cursor (Tab).
    Complete,
    /// Several actions, in order.
    All(Vec<Action>),
    /// Shows a message in the transcript.
    Tell(String),
}

/// The entry at which the session continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// Continues after this entry; `None` means before the first.
    pub entry: Option<EntryId>,
    /// Text to put into the editor.
    pub text: Option<String>,
    pub chosen_in: Chooser,
}

/// The dialog in which a destination was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chooser {
    Tree,
    BranchPoints,
}

impl Chooser {
    /// Returns the action that opens this dialog again.
    pub fn open(self) -> Action {
        match self {
            Chooser::Tree => Action::ShowTree,
            Chooser::BranchPoints => Action::ShowBranchPoints,
        }
    }
}

/// A value that is never displayed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

//! Every action that a key can be bound to: its name in files, its area, its keys, its description.
//!
//! A new key action is one row here and, if the application executes it, one line in `action`.

use crate::action::Action;

/// The part of the application in which an action applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Area {
    /// The application, while the editor has the focus.
    App,
    /// Moving and changing text.
    Edit,
    /// All lists.
    Select,
    /// The list of sessions; overrides the keys of all lists.
    Sessions,
    /// The tree of a session; overrides the keys of all lists.
    Tree,
}

impl Area {
    pub const fn title(self) -> &'static str {
        match self {
            Area::App => "Application",
            Area::Edit => "Editor",
            Area::Select => "Lists",
            Area::Sessions => "Session list",
            Area::Tree => "Session tree",
        }
    }

    /// Whether one key cannot have a meaning in both areas. Otherwise the more specific area wins.
    pub fn meets(self, other: Area) -> bool {
        let in_editor = |area| matches!(area, Area::App | Area::Edit);
        let in_list = |area| !in_editor(area);
        let both_special = self != other && self != Area::Select && other != Area::Select;
        (in_editor(self) && in_editor(other)) || (in_list(self) && in_list(other) && !both_special)
    }
}

pub struct Row {
    pub name: &'static str,
    pub area: Area,
    pub keys: &'static [&'static str],
    pub about: &'static str,
}

const fn row(area: Area, name: &'static str, keys: &'static [&'static str], about: &'static str) -> Row {
    Row { name, area, keys, about }
}

/// Terminals on Windows reserve ctrl+v, those on macOS use cmd+v.
const PASTE_IMAGE: &[&str] = if cfg!(windows) {
    &["alt+v", "ctrl+v"]
} else if cfg!(target_os = "macos") {
    &["ctrl+v", "super+v"]
} else {
    &["ctrl+v"]
};

/// Names of features that do not exist here. Files may contain them; they are bound to nothing and cause no warning.
pub const RESERVED: [&str; 11] = [
    "app.agents.hub",
    "app.clipboard.pasteTextRaw",
    "app.display.reset",
    "app.live.toggle",
    "app.session.observe",
    "app.stt.toggle",
    "app.tools.toggleVisibility",
    "displayReset",
    "observeSessions",
    "pasteTextRaw",
    "toggleSTT",
];

pub static ROWS: &[Row] = &[
    row(Area::App, "tui.input.submit", &["enter"], "send the message"),
    row(Area::App, "app.interrupt", &["escape"], "interrupt or leave a mode; twice: earlier messages"),
    row(Area::App, "app.clear", &["ctrl+c"], "interrupt, or clear the editor; twice: exit"),
    row(Area::App, "app.exit", &["ctrl+d"], "exit, if idle and the editor is empty"),
    row(Area::App, "app.suspend", &["ctrl+z"], "suspend; `fg` in the shell resumes"),
    row(Area::App, "app.message.followUp", &["ctrl+enter", "ctrl+q"], "queue the message until the turn ends"),
    row(Area::App, "app.message.dequeue", &["alt+up", "shift+up"], "edit queued messages"),
    row(Area::App, "app.retry", &["alt+r"], "retry the last answer"),
    row(Area::App, "app.model.select", &["ctrl+l"], "choose a model"),
    row(Area::App, "app.model.selectTemporary", &["alt+p"], "choose a model for this session"),
    row(Area::App, "app.model.cycleForward", &["ctrl+p"], "next model"),
    row(Area::App, "app.model.cycleBackward", &["ctrl+shift+p"], "previous model"),
    row(Area::App, "app.approval.cycle", &["shift+tab"], "next approval mode: auto, ask-writes, ask-all"),
    row(Area::App, "app.thinking.cycle", &["alt+t"], "next thinking level"),
    row(Area::App, "app.thinking.toggle", &["ctrl+t"], "show or hide thinking"),
    row(Area::App, "app.tools.expand", &["ctrl+o"], "expand or collapse tool output"),
    row(Area::App, "app.plan.toggle", &["alt+shift+p"], "plan mode on or off"),
    row(Area::App, "app.editor.external", &["ctrl+g"], "open $EDITOR"),
    row(Area::App, "app.history.search", &["ctrl+r"], "search earlier messages"),
    row(Area::App, "app.clipboard.pasteImage", PASTE_IMAGE, "paste an image or text from the clipboard"),
    row(Area::App, "app.clipboard.copyLine", &["alt+shift+l"], "copy the current line"),
    row(Area::App, "app.clipboard.copyPrompt", &["alt+shift+c"], "copy the editor's text"),
    row(Area::App, "app.session.new", &[], "new session"),
    row(Area::App, "app.session.tree", &[], "session tree"),
    row(Area::App, "app.session.fork", &[], "fork the session"),
    row(Area::App, "app.session.resume", &[], "resume a session"),
    row(Area::App, "app.files.undo", &["alt+z"], "undo the last turn's file changes"),
    row(Area::App, "app.files.redo", &["alt+shift+z"], "redo them"),
    row(Area::App, "app.files.changes", &["alt+c"], "list file changes"),
    row(Area::App, "app.permissions", &["alt+a"], "approval rules and decisions"),
    row(Area::Edit, "tui.input.newLine", &["shift+enter", "alt+enter", "ctrl+j"], "new line"),
    row(Area::Edit, "tui.input.tab", &["tab"], "complete"),
    row(Area::Edit, "tui.input.copy", &["ctrl+c"], "copy the selection"),
    row(Area::Edit, "tui.editor.cursorUp", &["up"], "up; on the first line: previous message"),
    row(Area::Edit, "tui.editor.cursorDown", &["down"], "down; on the last line: next message"),
    row(Area::Edit, "tui.editor.cursorLeft", &["left", "ctrl+b"], "left"),
    row(Area::Edit, "tui.editor.cursorRight", &["right", "ctrl+f"], "right"),
    row(Area::Edit, "tui.editor.cursorWordLeft", &["alt+left", "ctrl+left", "alt+b"], "one word left"),
    row(Area::Edit, "tui.editor.cursorWordRight", &["alt+right", "ctrl+right", "alt+f"], "one word right"),
    row(Area::Edit, "tui.editor.cursorLineStart", &["home", "ctrl+a"], "start of the line"),
    row(Area::Edit, "tui.editor.cursorLineEnd", &["end", "ctrl+e"], "end of the line"),
    row(Area::Edit, "tui.editor.jumpForward", &["ctrl+]"], "jump to the next given character"),
    row(Area::Edit, "tui.editor.jumpBackward", &["ctrl+alt+]"], "jump to the previous given character"),
    row(Area::Edit, "tui.editor.pageUp", &["pageUp"], "a page up"),
    row(Area::Edit, "tui.editor.pageDown", &["pageDown"], "a page down"),
    row(Area::Edit, "tui.editor.deleteCharBackward", &["backspace"], "delete the character before the cursor"),
    row(Area::Edit, "tui.editor.deleteCharForward", &["delete", "ctrl+d"], "delete the character at the cursor"),
    row(
        Area::Edit,
        "tui.editor.deleteWordBackward",
        &["ctrl+w", "alt+backspace", "ctrl+backspace", "super+alt+backspace"],
        "delete the word before the cursor",
    ),
    row(
        Area::Edit,
        "tui.editor.deleteWordForward",
        &["alt+delete", "alt+d", "super+alt+delete", "super+alt+d"],
        "delete the word after the cursor",
    ),
    row(Area::Edit, "tui.editor.deleteToLineStart", &["ctrl+u"], "delete to the start of the line"),
    row(Area::Edit, "tui.editor.deleteToLineEnd", &["ctrl+k"], "delete to the end of the line"),
    row(Area::Edit, "tui.editor.yank", &["ctrl+y"], "paste the last deletion"),
    row(Area::Edit, "tui.editor.yankPop", &["alt+y"], "paste the deletion before that"),
    row(Area::Edit, "tui.editor.undo", &["ctrl+-", "ctrl+_"], "undo"),
    row(Area::Select, "tui.select.up", &["up"], "up"),
    row(Area::Select, "tui.select.down", &["down"], "down"),
    row(Area::Select, "tui.select.pageUp", &["pageUp"], "a page up"),
    row(Area::Select, "tui.select.pageDown", &["pageDown"], "a page down"),
    row(Area::Select, "tui.select.confirm", &["enter"], "choose"),
    row(Area::Select, "tui.select.cancel", &["escape", "ctrl+c"], "close"),
    row(Area::Sessions, "app.session.togglePath", &["ctrl+p"], "show or hide folders"),
    row(Area::Sessions, "app.session.toggleSort", &["ctrl+s"], "change the sort order"),
    row(Area::Sessions, "app.session.rename", &["ctrl+r"], "rename"),
    row(Area::Sessions, "app.session.delete", &["ctrl+d"], "delete"),
    row(Area::Sessions, "app.session.deleteNoninvasive", &["ctrl+backspace"], "delete, if nothing is typed"),
    row(Area::Tree, "app.tree.foldOrUp", &["ctrl+left", "alt+left"], "collapse, or go to the parent"),
    row(Area::Tree, "app.tree.unfoldOrDown", &["ctrl+right", "alt+right"], "expand, or go to the child"),
];

/// Returns the application's action. Actions of editors and lists are handled there by name.
pub fn action(name: &str) -> Option<Action> {
    Some(match name {
        "tui.input.submit" => Action::Submit,
        "app.interrupt" => Action::Interrupt,
        "app.clear" => Action::Clear,
        "app.exit" => Action::Exit,
        "app.suspend" => Action::Suspend,
        "app.message.followUp" => Action::FollowUp,
        "app.message.dequeue" => Action::Dequeue,
        "app.retry" => Action::Say("/retry".to_owned()),
        "app.model.select" => Action::SelectModel,
        "app.model.selectTemporary" => Action::SelectModelTemporary,
        "app.model.cycleForward" => Action::CycleModel { backward: false },
        "app.model.cycleBackward" => Action::CycleModel { backward: true },
        "app.approval.cycle" => Action::CycleApproval,
        "app.thinking.cycle" => Action::CycleThinking,
        "app.thinking.toggle" => Action::ToggleThinking,
        "app.tools.expand" => Action::ToggleExpanded,
        "app.plan.toggle" => Action::TogglePlan,
        "app.editor.external" => Action::ExternalEditor,
        "app.history.search" => Action::SearchHistory,
        "app.clipboard.pasteImage" => Action::PasteImage,
        "app.clipboard.copyLine" => Action::CopyLine,
        "app.clipboard.copyPrompt" => Action::CopyPrompt,
        "app.session.new" => Action::NewSession,
        "app.session.tree" => Action::ShowTree,
        "app.session.fork" => Action::ForkSession,
        "app.session.resume" => Action::ShowSessions,
        "app.files.undo" => Action::Say("/undo".to_owned()),
        "app.files.redo" => Action::Say("/redo".to_owned()),
        "app.files.changes" => Action::Say("/changes".to_owned()),
        "app.permissions" => Action::Say("/permissions".to_owned()),
        _ => return None,
    })
}

/// Returns the current name of an action for an outdated one.
pub fn current_name(name: &str) -> Option<&'static str> {
    let known = |wanted: &str| ROWS.iter().map(|row| row.name).find(|row| *row == wanted);
    let older = OLDER_NAMES.iter().find(|(older, _)| *older == name).map(|(_, current)| *current);
    let selecting = name.strip_prefix("select").map(|rest| {
        let mut chars = rest.chars();
        let first = chars.next().map(|first| first.to_ascii_lowercase());
        first.into_iter().chain(chars).collect::<String>()
    });
    older
        .or_else(|| known(name))
        .or_else(|| known(&format!("tui.editor.{name}")))
        .or_else(|| known(&format!("tui.input.{name}")))
        .or_else(|| known(&format!("tui.select.{}", selecting?)))
}

const OLDER_NAMES: [(&str, &str); 25] = [
    ("interrupt", "app.interrupt"),
    ("clear", "app.clear"),
    ("exit", "app.exit"),
    ("suspend", "app.suspend"),
    ("retry", "app.retry"),
    ("tree", "app.session.tree"),
    ("fork", "app.session.fork"),
    ("resume", "app.session.resume"),
    ("newSession", "app.session.new"),
    ("toggleSessionNamedFilter", "app.session.togglePath"),
    ("cycleThinkingLevel", "app.thinking.cycle"),
    ("toggleThinking", "app.thinking.toggle"),
    ("cycleModelForward", "app.model.cycleForward"),
    ("cycleModelBackward", "app.model.cycleBackward"),
    ("selectModel", "app.model.select"),
    ("selectModelTemporary", "app.model.selectTemporary"),
    ("togglePlanMode", "app.plan.toggle"),
    ("historySearch", "app.history.search"),
    ("expandTools", "app.tools.expand"),
    ("externalEditor", "app.editor.external"),
    ("followUp", "app.message.followUp"),
    ("dequeue", "app.message.dequeue"),
    ("pasteImage", "app.clipboard.pasteImage"),
    ("copyLine", "app.clipboard.copyLine"),
    ("copyPrompt", "app.clipboard.copyPrompt"),
];

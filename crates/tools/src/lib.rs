//! The built-in tools, one folder each.

mod artifacts;
mod ask;
mod ast_edit;
mod ast_grep;
mod bash;
mod blocking;
mod calc;
mod checkpoint;
mod details;
mod edit;
mod files;
mod find;
mod job;
mod notebook;
mod options;
mod output_sink;
mod pending;
mod python;
mod read;
mod render_mermaid;
mod resolve;
mod rewind;
#[cfg(test)]
mod scratch;
mod search;
mod settings;
mod todo;
mod toolbox;
mod urls;
mod write;

pub use artifacts::{ArtifactFile, Artifacts, NoArtifacts};
pub use ask::Ask;
pub use ast_edit::{AstEdit, AstEditDetails, AstEditParams, RewriteOp};
pub use ast_grep::{AstGrep, AstGrepDetails, AstGrepParams};
pub use bash::{Bash, BashDetails, BashParams, InterceptRule, Reached, SessionShell, UserCommand};
pub use calc::Calc;
pub use checkpoint::Checkpoint;
pub use edit::{ApplyPatchEdit, EditMode, HashlineEdit, PatchEdit, ReplaceEdit};
pub use files::{Files, header};
pub use find::{Find, FindDetails, FindParams};
pub use job::{EndedJob, Job, Jobs};
pub use notebook::Notebook;
pub use options::{
    BashOptions, EditOptions, FindOptions, MinimizerOptions, ReadOptions, SearchOptions, SideToolOptions,
    StructuralOptions, ToolOptions,
};
pub use output_sink::{OutputSink, OutputSummary, SinkLimits, Truncation};
pub use pending::{PendingAction, PendingActions, PendingStep, StepResult};
pub use python::UserPython;
pub use read::Read;
pub use render_mermaid::RenderMermaid;
pub use resolve::{Decision, Resolve, ResolveDetails, ResolveParams};
pub use rewind::Rewind;
pub use search::{Search, SearchDetails, SearchParams};
pub use settings::SETTINGS;
pub use todo::{
    Phase as TodoPhase, Status as TodoStatus, Storage as TodoStorage, Task as TodoTask, Todo, TodoEdit, TodoList,
    from_markdown as todo_from_markdown, remind as todo_reminders, to_markdown as todo_to_markdown,
};
pub use toolbox::{KnownTools, NEEDS_USER, OFF_BY_DEFAULT, PAIRS, Toolbox};
pub use urls::{
    FoldersResource, History, HistoryResource, JobLine, JobList, JobsResource, NamedFolder, OpenedUrl, Resource,
    Router, TextsResource, UrlContent,
};
pub use write::Write;

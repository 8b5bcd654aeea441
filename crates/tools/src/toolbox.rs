//! The list of built-in tools. Adding a tool takes a folder and a line here.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use omp_agent::{AnyTool, Tool};
use omp_exec::{Containment, Reaper};
use omp_types::{Access, AccessMap, CallFactSource, CallFacts, Editor, Env, Model, ToolCall};
use serde_json::Value;

use crate::artifacts::{Artifacts, NoArtifacts};
use crate::ask::Ask;
use crate::bash::BashParts;
use crate::calc::Calc;
use crate::checkpoint::Checkpoint;
use crate::edit;
use crate::options::{SideToolOptions, ToolOptions};
use crate::render_mermaid::RenderMermaid;
use crate::rewind::Rewind;
use crate::search::scan_policy;
use crate::todo::{Storage, Todo, TodoList};
use crate::urls::{JobsResource, Resource, Router, local};
use crate::{
    AstEdit, AstGrep, Bash, EditMode, Files, Find, HashlineEdit, InterceptRule, Job, Jobs, Notebook, PendingActions,
    Read, Resolve, Search, SessionShell, Write,
};

/// Tools that are off unless a setting or `--tools` enables them.
pub const OFF_BY_DEFAULT: [&str; 5] = [Job::NAME, Calc::NAME, RenderMermaid::NAME, Checkpoint::NAME, Rewind::NAME];

/// Tools that need a user to answer.
pub const NEEDS_USER: [&str; 1] = [Ask::NAME];

/// Pairs of tools that work only together: the second completes what the first one begins.
pub const PAIRS: [(&str, &str); 2] = [(AstEdit::NAME, Resolve::NAME), (Checkpoint::NAME, Rewind::NAME)];

impl ToolOptions {
    /// Enables a tool that the user names explicitly, regardless of the settings. Unknown names are ignored.
    pub fn switch_on(&mut self, tool: &str) {
        match tool {
            Search::NAME => self.search.enabled = true,
            Find::NAME => self.find.enabled = true,
            AstGrep::NAME => self.structural.ast_grep = true,
            AstEdit::NAME | Resolve::NAME => self.structural.ast_edit = true,
            Bash::NAME => self.bash.enabled = true,
            Job::NAME => (self.bash.enabled, self.bash.jobs) = (true, true),
            Todo::NAME => self.side.todo = true,
            Ask::NAME => self.side.ask = true,
            Calc::NAME => self.side.calc = true,
            RenderMermaid::NAME => self.side.render_mermaid = true,
            Checkpoint::NAME | Rewind::NAME => self.side.checkpoint = true,
            _ => {}
        }
    }
}

/// The commands that a tool does better: the rules used if `bashInterceptor.patterns` is not set.
pub(crate) fn default_intercepts() -> Vec<InterceptRule> {
    let rule = |pattern: &str, tool: &str, message: &str| InterceptRule {
        pattern: pattern.into(),
        tool: tool.into(),
        message: message.into(),
    };
    vec![
        rule(r"^\s*(cat|head|tail|less|more)\s+[^<|>]+$", Read::NAME, "`read` shows files, with line numbers."),
        rule(r"^\s*(?:[ef]?grep|rg)\b(?:\s|$)", Search::NAME, "`search` looks through files and minds .gitignore."),
        rule(r"^\s*(?:fd|find)\b.*\s-(?:i?name|i?path|type)\b", Find::NAME, "`find` lists files by pattern."),
        rule(
            r"^\s*sed\b.*\s(?:-[nEerz]*i|--in-place\b)",
            HashlineEdit::NAME,
            "`edit` changes files and shows what it changed.",
        ),
        rule(r"^\s*perl\b.*\s-\w*i\w*\b", HashlineEdit::NAME, "`edit` changes files and shows what it changed."),
        rule(r"^\s*g?awk\b.*\binplace\b", HashlineEdit::NAME, "`edit` changes files and shows what it changed."),
        rule(
            r#"^\s*(echo|printf)\s+("[^"]*"|'[^']*'|[^"'|>])*>{1,2}\s*[^&|>/\s]"#,
            Write::NAME,
            "`write` makes files.",
        ),
        rule(r"^\s*cat\s*(>\s*\S+\s*)?<<.*", Write::NAME, "`write` makes files."),
    ]
}

/// Tools of other programs whose results are instructions, as in session files that they wrote.
const FOREIGN_INSTRUCTIONS: &[&str] = &["skill"];

/// Knows the calls of these tools, whether they are on or off in a session.
pub struct KnownTools(pub Vec<Arc<dyn AnyTool>>);

impl CallFactSource for KnownTools {
    fn facts(&self, call: &ToolCall, details: Option<&Value>) -> Option<CallFacts> {
        if let Some(tool) = self.0.iter().find(|tool| tool.name() == call.name) {
            return tool.facts(&call.arguments, details);
        }
        let has_instructions = FOREIGN_INSTRUCTIONS.contains(&call.name.as_str());
        has_instructions.then(|| CallFacts { has_instructions, ..CallFacts::default() })
    }
}

/// What the tools of one session need.
pub struct Toolbox {
    pub cwd: PathBuf,
    pub home: PathBuf,
    pub env: Env,
    pub artifacts: Arc<dyn Artifacts>,
    pub options: ToolOptions,
    /// The initial model of the session; some tools have a variant that it knows better.
    pub model: Arc<Model>,
    /// Whether a user can answer questions.
    pub attended: bool,
    /// Whether commands get no terminal although the front end has a screen for them.
    pub no_pty: bool,
    /// The features of the editor that omp runs in.
    pub editor: Editor,
    /// The todo list, which user commands change as well.
    pub todo: TodoList,
    /// The background commands.
    pub jobs: Arc<Jobs>,
    /// Internal addresses in addition to the session's files.
    pub resources: Vec<Arc<dyn Resource>>,
    /// The containment of the model's commands.
    pub containment: Containment,
    /// The access map of the commands, for the file tools.
    pub access: Access,
}

impl Toolbox {
    /// A toolbox without environment: no variables, no settings, no user, no storage, and no containment.
    pub fn uncontained(cwd: PathBuf, home: PathBuf, model: Arc<Model>) -> Self {
        let access = Access::new(AccessMap::open(cwd.clone()));
        Self {
            cwd,
            home,
            containment: Containment::switched_off(),
            access,
            env: Env::default(),
            artifacts: Arc::new(NoArtifacts),
            options: ToolOptions::read(&|_| None),
            model,
            attended: false,
            no_pty: false,
            editor: Editor::default(),
            todo: TodoList::default(),
            jobs: Arc::new(Jobs::new(1)),
            resources: Vec::new(),
        }
    }

    /// Returns the enabled tools in the order shown to the model. Background processes end when the last tool is dropped.
    pub fn tools(self) -> Vec<Arc<dyn AnyTool>> {
        self.tools_and_shell().0
    }

    /// Returns the tools and the shell that they share with the user's own commands; the shell exists even without `bash`.
    pub fn tools_and_shell(self) -> (Vec<Arc<dyn AnyTool>>, SessionShell) {
        let Self { cwd, home, env, artifacts, options, resources, attended, no_pty, model, todo, jobs, editor, .. } =
            self;
        let (containment, access) = (self.containment, self.access);
        if let Some(local) = local::folder_of(&*artifacts) {
            access.change_early(move |map| map.writable.push(omp_workspace::real_location(&local)));
        }
        let keeps_files = artifacts.folder().is_some();
        let files = Arc::new(
            Files::new(cwd, Some(home))
                .with_access(access)
                .with_scan_policy(scan_policy(&env))
                .with_local(local::folder_of(&*artifacts))
                .with_editor(editor.files),
        );
        let mut urls = Router::new(artifacts.clone()).with_host(editor.addresses);
        resources.into_iter().for_each(|resource| urls.register(resource));
        let has_jobs = options.bash.jobs || options.bash.background_after.is_some();
        if options.bash.enabled && has_jobs {
            urls.register(Arc::new(JobsResource(jobs.clone())));
        }
        let urls = Arc::new(urls);
        let edit_mode = EditMode::choose(&env, &options.edit, &model.id);
        let reaper = Arc::new(Reaper::default());
        let mut tools: Vec<Arc<dyn AnyTool>> = vec![
            Arc::new(Read::new(files.clone(), urls.clone()).with_options(&options.read)),
            edit::tool(edit_mode, files.clone(), &options.edit),
            Arc::new(Write { files: files.clone(), urls, block_generated: options.edit.block_generated }),
            Arc::new(Notebook { files: files.clone() }),
        ];
        // Tools that read are listed before tools that write.
        if options.find.enabled {
            tools.insert(1, Arc::new(Find::new(files.clone())));
        }
        if options.search.enabled {
            tools.insert(1, Arc::new(Search::new(files.clone()).with_options(&options.search)));
        }
        tools.extend(structural_tools(&options, &files));
        let offered = tools.iter().map(|tool| tool.name().into_owned()).collect();
        let bash = Bash::new(BashParts {
            files,
            env,
            artifacts,
            reaper,
            options: options.bash.clone(),
            jobs: jobs.clone(),
            offered,
            attended,
            editor: editor.terminals,
            uncontained_in_editor: editor.uncontained,
            screens: editor.screens,
            no_pty,
            containment,
        });
        let shell = bash.user_shell();
        if options.bash.enabled {
            tools.push(bash.into_tool());
            if has_jobs {
                tools.push(Arc::new(Job { jobs, poll_wait: options.bash.poll_wait }));
            }
        }
        tools.extend(side_tools(&options.side, todo, keeps_files, attended));
        (tools, shell)
    }
}

/// The tools that work on the structure of code. `resolve` applies their previews.
fn structural_tools(options: &ToolOptions, files: &Arc<Files>) -> Vec<Arc<dyn AnyTool>> {
    let mut tools: Vec<Arc<dyn AnyTool>> = Vec::new();
    if options.structural.ast_grep {
        tools.push(Arc::new(AstGrep { files: files.clone() }));
    }
    if options.structural.ast_edit {
        let pending = Arc::new(PendingActions::default());
        let block_generated = options.edit.block_generated;
        tools.push(Arc::new(AstEdit { files: files.clone(), pending: pending.clone(), block_generated }));
        tools.push(Arc::new(Resolve { pending }));
    }
    tools
}

/// The tools that do not access the workspace.
fn side_tools(options: &SideToolOptions, board: TodoList, keeps_files: bool, attended: bool) -> Vec<Arc<dyn AnyTool>> {
    let mut tools: Vec<Arc<dyn AnyTool>> = Vec::new();
    if options.todo {
        tools.push(Arc::new(Todo::on(board, if keeps_files { Storage::Session } else { Storage::Memory })));
    }
    if options.ask && attended {
        // An invalid duration waits forever, like 0.
        let timeout = Duration::try_from_secs_f64(options.ask_timeout).ok().filter(|timeout| !timeout.is_zero());
        tools.push(Arc::new(Ask { timeout }));
    }
    if options.calc {
        tools.push(Arc::new(Calc));
    }
    if options.render_mermaid {
        tools.push(Arc::new(RenderMermaid::default()));
    }
    if options.checkpoint {
        tools.extend([Arc::new(Checkpoint) as Arc<dyn AnyTool>, Arc::new(Rewind)]);
    }
    tools
}

//! The tools of a session.

use std::sync::Arc;

use omp_agent::{AnyTool, ToolRole};
use omp_tools::{Jobs, KnownTools, NEEDS_USER, OFF_BY_DEFAULT, PAIRS, SessionShell, TodoList, ToolOptions, Toolbox};
use omp_types::{Editor, Model};

use crate::cli::ToolArgs;
use crate::folder::{FolderProblem, FolderSetup};
use crate::session::sessions::ReadySession;

/// The tools of the model, and the state they share with the user.
pub struct SessionTools {
    pub tools: Vec<Arc<dyn AnyTool>>,
    /// Also those that are off: a resumed conversation may have calls of them.
    pub known: KnownTools,
    pub shell: SessionShell,
    /// `None` if the todo tool is off.
    pub todos: Option<TodoList>,
    pub jobs: Arc<Jobs>,
}

impl FolderSetup {
    pub fn tools(
        &self,
        args: &ToolArgs,
        model: &Arc<Model>,
        attended: bool,
        editor: Editor,
        opened: &ReadySession,
    ) -> Result<SessionTools, FolderProblem> {
        let mut options = ToolOptions::read(&|key| self.settings.get(key));
        args.tools.iter().for_each(|name| options.switch_on(name));
        let uncontained = self.settings.of(omp_contain::SETTINGS).user("containment.editorTerminals");
        let editor = Editor { uncontained, ..editor };
        let jobs = Arc::new(Jobs::new(options.bash.max_jobs));
        let toolbox = Toolbox {
            cwd: self.cwd.clone(),
            home: self.dirs.home.clone(),
            env: self.env.clone(),
            artifacts: opened.artifacts.clone(),
            options,
            model: model.clone(),
            attended,
            no_pty: args.no_pty,
            editor,
            jobs: jobs.clone(),
            todo: TodoList::default(),
            resources: opened.resources.clone(),
            access: self.access(),
            containment: self.containment().clone(),
        };
        let todos = Some(toolbox.todo.clone());
        let (tools, shell) = toolbox.tools_and_shell();
        let known = KnownTools(tools.clone());
        let mut built = SessionTools { tools, known, shell, todos, jobs };
        if args.no_tools {
            built.tools.clear();
        }
        let has_todo = |tools: &[Arc<dyn AnyTool>]| tools.iter().any(|tool| tool.role() == Some(ToolRole::TaskList));
        if args.no_tools || args.tools.is_empty() {
            built.todos = built.todos.filter(|_| has_todo(&built.tools));
            return Ok(built);
        }
        let names: Vec<String> = built.tools.iter().map(|tool| tool.name().into_owned()).collect();
        if let Some(unknown) = args.tools.iter().find(|name| !names.contains(name)) {
            return Err(no_tool(unknown, &names));
        }
        let brought = |name: &str| PAIRS.iter().any(|(by, one)| *one == name && args.tools.iter().any(|it| it == by));
        let wanted = |name: &str| args.tools.iter().any(|wanted| wanted == name) || brought(name);
        built.tools.retain(|tool| wanted(&tool.name()));
        built.todos = built.todos.filter(|_| has_todo(&built.tools));
        Ok(built)
    }
}

fn no_tool(name: &str, names: &[String]) -> FolderProblem {
    let off: Vec<&str> = OFF_BY_DEFAULT.iter().copied().filter(|off| !names.iter().any(|name| name == off)).collect();
    if NEEDS_USER.contains(&name) {
        return format!(
            "the tool `{name}` needs a user to answer\nhint: leave it out with -p, or use omp in a terminal"
        );
    }
    format!("unknown tool `{name}`\nhint: the tools are {}; off by default: {}", names.join(", "), off.join(", "))
}

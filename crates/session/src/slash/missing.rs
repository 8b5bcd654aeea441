//! Commands that other versions have and this one does not, and commands that only the terminal application has.

/// Names, each with what to do instead.
pub const MISSING: &[(&str, &str)] = &[
    ("add-dir", "omp has one workspace; start it in a folder above both, or use absolute paths"),
    ("advisor", "omp has no advisor; `/btw` asks a side question"),
    ("agents", "sub-agents are not supported yet"),
    ("autoresearch", "`/loop` repeats a prompt"),
    ("background", "`!command &` keeps a command running; `/jobs` lists background jobs"),
    ("browser", "omp has no browser tool yet"),
    ("collab", "sessions are not shared live; `/export` writes a page"),
    ("computer", "omp has no computer tool"),
    ("dirs", "omp has one workspace: the folder it was started in"),
    ("extensions", "extensions are not run; `omp config sources` lists those found here"),
    ("fresh", "`/new` starts a new session"),
    ("goal", "`/plan` writes a plan, `/todo` manages the task list"),
    ("green", "ask the model in your own words"),
    ("guided-goal", "`/plan` writes a plan, `/todo` manages the task list"),
    ("join", "sessions are not shared live"),
    ("leave", "sessions are not shared live; `/exit` exits omp"),
    ("live", "omp has no voice mode"),
    ("marketplace", "plugins are not installed by omp"),
    ("mcp", "MCP servers are not started yet; `omp config sources` lists those found here"),
    ("omfg", "write a rule file; `omp ttsr test` tries it"),
    ("plugins", "plugins are not installed by omp; `omp config sources` lists what was found here"),
    ("reload-plugins", "restart omp to reload everything"),
    ("remove-dir", "omp has one workspace: the folder it was started in"),
    ("reset", "`/new` starts a new session"),
    ("review", "ask the model, or write a command file with that name"),
    ("share", "`/export` writes a page you can share"),
    ("ssh", "omp has no ssh tool yet"),
    ("stats", "`/usage` shows tokens and cost of this session"),
    ("tan", "`/btw` asks a side question; `/fork` continues in a copy"),
    ("vision", "`/model` switches to a model that reads images"),
];

/// Commands that only the terminal application has.
pub const TERMINAL_ONLY: &[&str] = &["exit", "hotkeys", "plan-review", "quit", "theme", "vim"];

//! The names of tools that users write in rules, hooks and lists of allowed tools: omp's own and Claude Code's.

struct ClaudeNames {
    ours: &'static str,
    /// The first is the one that hooks get.
    theirs: &'static [&'static str],
    /// Names that only lists of allowed tools have.
    listed: &'static [&'static str],
}

const fn row(ours: &'static str, theirs: &'static [&'static str]) -> ClaudeNames {
    ClaudeNames { ours, theirs, listed: &[] }
}

/// If a name means several tools, the closest one is first.
const NAMES: &[ClaudeNames] = &[
    row("bash", &["Bash"]),
    row("edit", &["Edit", "MultiEdit"]),
    row("ast_edit", &["Edit", "MultiEdit"]),
    row("write", &["Write"]),
    ClaudeNames { ours: "read", theirs: &["Read"], listed: &["LS", "NotebookRead"] },
    row("search", &["Grep"]),
    row("ast_grep", &["Grep"]),
    row("find", &["Glob"]),
    row("notebook", &["NotebookEdit"]),
    ClaudeNames { ours: "todo", theirs: &["TodoWrite"], listed: &["TodoRead"] },
    row("ask", &["AskUserQuestion"]),
    row("task", &["Task"]),
    row("fetch", &["WebFetch"]),
    row("web_search", &["WebSearch"]),
];

/// The tools that a rule on `Edit` or `Write` covers: every one that changes files of the project.
const WRITERS: [&str; 5] = ["edit", "write", "notebook", "ast_edit", "resolve"];

/// Claude's names for a tool; hooks get the first one.
pub fn claude_names(tool: &str) -> &'static [&'static str] {
    NAMES.iter().find(|row| row.ours == tool).map_or(&[], |row| row.theirs)
}

/// The tool of an entry in a list of allowed tools, in any case. An unknown name stands for itself.
pub fn listed_tool(name: &str) -> String {
    let name = name.trim().to_lowercase();
    let is_it = |row: &&ClaudeNames| row.theirs.iter().chain(row.listed).any(|theirs| theirs.to_lowercase() == name);
    NAMES.iter().find(is_it).map_or(name.clone(), |row| row.ours.to_owned())
}

/// The tools that a rule on this name covers. An unknown name stands for itself.
pub(crate) fn tools_in_rule(name: &str) -> Vec<String> {
    let tools: Vec<&str> = match name {
        "Edit" | "Write" | "MultiEdit" => WRITERS.to_vec(),
        _ => NAMES.iter().filter(|row| row.theirs.contains(&name)).map(|row| row.ours).collect(),
    };
    let tools = if tools.is_empty() { vec![name] } else { tools };
    tools.into_iter().map(str::to_owned).collect()
}

/// What the pattern behind a name is about, as in `bash(git *)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatternKind {
    Command,
    ReadPath,
    WrittenPath,
    Host,
    Server,
}

impl PatternKind {
    /// `None` if a rule on this name takes no pattern.
    pub fn of(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "bash" | "shell" => Self::Command,
            "read" | "search" | "find" | "grep" | "glob" | "ls" => Self::ReadPath,
            "write" | "edit" | "multiedit" | "notebookedit" | "notebook" | "ast_edit" => Self::WrittenPath,
            "webfetch" | "fetch" | "connect" => Self::Host,
            "mcp" => Self::Server,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_its_tools() {
        for (name, listed, in_rule) in [
            ("Bash", "bash", &["bash"][..]),
            ("Edit", "edit", &WRITERS),
            ("MultiEdit", "edit", &WRITERS),
            ("Write", "write", &WRITERS),
            ("Grep", "search", &["search", "ast_grep"]),
            ("LS", "read", &["LS"]),
            ("TodoRead", "todo", &["TodoRead"]),
            ("TodoWrite", "todo", &["todo"]),
            ("my_tool", "my_tool", &["my_tool"]),
        ] {
            assert_eq!(listed_tool(name), listed, "{name}");
            assert_eq!(tools_in_rule(name), in_rule, "{name}");
        }
        assert_eq!(listed_tool(" grep "), "search");
        assert_eq!((claude_names("ast_grep"), claude_names("x")), (&["Grep"][..], &[][..]));
    }
}

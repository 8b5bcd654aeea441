//! The `if` of a hook: a rule such as `Bash(git push *)` or `Edit(*.ts)` that narrows its matcher.
//!
//! It saves work and is not a guard: if it cannot be parsed, or depends on what happens at run time, the hook runs.

use std::path::Path;

use omp_policy::{ApprovalRule, RuleLevel, RulePlaces, RuleSource};
use omp_session::Effect;
use serde_json::Value;

/// Why a text is not a valid rule.
pub(crate) fn problem(text: &str) -> Option<String> {
    rule(text, &RulePlaces::default()).err()
}

/// Whether the hook applies to a call, given the hook's input.
pub(crate) fn fits(text: &str, input: &Value, cwd: &Path, home: Option<&Path>) -> bool {
    let Ok(rule) = rule(text, &RulePlaces::new(cwd, home)) else { return true };
    let tool = input["omp_tool"].as_str().unwrap_or_default();
    rule.may_concern(tool, &effects(tool, &input["tool_input"]))
}

fn rule(text: &str, places: &RulePlaces) -> Result<ApprovalRule, String> {
    // Interpreted widely, like a deny rule.
    ApprovalRule::parse(RuleLevel::Deny, RuleSource::User, text, places)
}

fn effects(tool: &str, input: &Value) -> Vec<Effect> {
    let text = |key: &str| input[key].as_str();
    let real = |path: &str| {
        let path = Path::new(path);
        path.canonicalize().unwrap_or_else(|_| path.to_owned())
    };
    match tool {
        "bash" => text("command").map(commands).unwrap_or_default(),
        "read" => text("file_path").map(|path| Effect::Read(real(path))).into_iter().collect(),
        "write" | "edit" | "ast_edit" => text("file_path").map(|path| Effect::Write(real(path))).into_iter().collect(),
        "notebook" => text("notebook_path").map(|path| Effect::Write(real(path))).into_iter().collect(),
        "fetch" => vec![Effect::Unknown("where it leads".to_owned())],
        _ => Vec::new(),
    }
}

/// Every command that the line starts, according to the shell parser.
fn commands(line: &str) -> Vec<Effect> {
    let script = omp_shell::read(line);
    let run = |command: &omp_shell::ShellCommand| Effect::Run {
        words: command.words.iter().map(|word| word.text.clone()).collect(),
        whole: command.is_whole(),
    };
    let unknown = script.unknown.iter().map(|why| Effect::Unknown(why.clone()));
    script.commands.iter().map(run).chain(unknown).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_hook_runs_for_what_its_rule_may_mean() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path();
        let bash = |command: &str| json!({"omp_tool": "bash", "tool_input": {"command": command}});
        let file = |tool: &str, path: &str| json!({"omp_tool": tool, "tool_input": {"file_path": cwd.join(path)}});
        for (rule, input, expect) in [
            ("Bash(git *)", bash("FOO=bar git push"), true),
            ("Bash(git *)", bash("npm test && git push"), true),
            ("Bash(rm *)", bash("echo $(rm -rf /)"), true),
            ("Bash(rm *)", bash("echo $(date)"), false),
            ("Bash(git *)", bash("$TOOL git push"), true),
            ("Bash(git push:*)", bash("git push origin"), true),
            ("Bash(git push *)", bash("git status"), false),
            ("Bash(rm *)", bash("if ["), true),
            ("Bash", bash("ls"), true),
            ("Bash", file("write", "a.ts"), false),
            ("Edit(*.ts)", file("edit", "src/a.ts"), true),
            ("Edit(*.ts)", file("write", "a.ts"), true),
            ("Edit(*.ts)", file("edit", "a.md"), false),
            ("Edit(src/**)", file("edit", "src/deep/a.md"), true),
            ("Edit(src/**)", file("edit", "docs/a.md"), false),
            ("Read(.env)", file("read", ".env"), true),
            ("Read(.env)", file("read", "a.txt"), false),
            // A rule that cannot be parsed excludes nothing.
            ("Bash(", bash("ls"), true),
        ] {
            assert_eq!(fits(rule, &input, cwd, None), expect, "{rule} {input}");
        }
        assert!(problem("Bash(").is_some() && problem("Bash(ls)").is_none());
    }
}

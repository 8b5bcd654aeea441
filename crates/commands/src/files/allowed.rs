//! `allowed-tools` of a command or a skill: which calls may run for its prompt.
//!
//! The model is offered the same tools as before, because a changed list would invalidate the provider's cache; a call of
//! another tool is refused with the reason.

use std::sync::Arc;

use omp_policy::listed_tool;
use omp_session::CallLimit;
use omp_shell::CommandPattern;
use omp_types::ToolCall;
use serde_json::Value;

/// Parses the front matter; `None` means no limit. `command` is what the user typed, such as `/review`.
pub fn limit(command: &str, value: Option<&Value>) -> Option<CallLimit> {
    let rules = rules(value?)?;
    let command = command.to_owned();
    Some(Arc::new(move |call: &ToolCall| refusal(&command, &rules, call)))
}

#[derive(Debug, PartialEq)]
struct AllowedTool {
    tool: String,
    /// For `bash`: the allowed commands. Limits on the arguments of other tools are ignored, so the whole tool is allowed.
    commands: Commands,
    written: String,
}

#[derive(Debug, PartialEq)]
enum Commands {
    All,
    Like(CommandPattern),
    /// The rule is invalid and allows nothing.
    None,
}

/// A key without a value is no limit. A value that is neither a text nor a list allows nothing: what it should allow is
/// unknown.
fn rules(value: &Value) -> Option<Vec<AllowedTool>> {
    match value {
        Value::Null => None,
        Value::String(line) if line.trim().is_empty() => None,
        Value::String(line) => Some(split(line).into_iter().map(rule).collect()),
        Value::Array(items) => Some(items.iter().filter_map(Value::as_str).flat_map(split).map(rule).collect()),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => Some(Vec::new()),
    }
}

/// Splits at commas and spaces outside of brackets.
fn split(line: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let parts = line.split(|char: char| {
        match char {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (char == ',' || char.is_whitespace())
    });
    parts.map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn rule(written: &str) -> AllowedTool {
    let (name, inside) = match written.split_once('(') {
        Some((name, rest)) => (name, Some(rest.strip_suffix(')').unwrap_or(rest).trim())),
        None => (written, None),
    };
    let tool = listed_tool(name);
    let commands = match inside {
        Some("") if tool == "bash" => Commands::None,
        Some(inside) if tool == "bash" && !matches!(inside, "*" | ":*") => {
            CommandPattern::parse(inside).map_or(Commands::None, Commands::Like)
        }
        _ => Commands::All,
    };
    AllowedTool { tool, commands, written: written.to_owned() }
}

fn refusal(command: &str, rules: &[AllowedTool], call: &ToolCall) -> Option<String> {
    let fitting = || rules.iter().filter(|rule| rule.tool == call.name);
    if fitting().any(|rule| rule.commands == Commands::All) {
        return None;
    }
    let pattern = |rule: &AllowedTool| match &rule.commands {
        Commands::Like(pattern) => Some(pattern.clone()),
        Commands::All | Commands::None => None,
    };
    let patterns: Vec<CommandPattern> = fitting().filter_map(pattern).collect();
    if runs_only(&patterns, call) {
        return None;
    }
    let allowed: Vec<&str> = rules.iter().map(|rule| rule.written.as_str()).collect();
    let allowed = if allowed.is_empty() { "no tool".to_owned() } else { format!("only {}", allowed.join(", ")) };
    Some(format!(
        "`{}` was not run: the user called {command}, whose `allowed-tools` lets run {allowed}. Do not try to get the same \
         effect in another way; continue with what is allowed, or say what you would need.",
        call.name
    ))
}

/// Whether every command of the line is allowed, according to the shell parser. What the parser cannot decide is not
/// allowed.
fn runs_only(patterns: &[CommandPattern], call: &ToolCall) -> bool {
    let has_env = call.arguments.get("env").is_some_and(|env| env.as_object().is_none_or(|env| !env.is_empty()));
    let line = call.arguments.get("command").and_then(Value::as_str).filter(|_| !has_env);
    line.is_some_and(|line| omp_shell::read(line).is_covered_by(patterns))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(allowed: Value, tool: &str, arguments: Value, runs: bool) {
        let call = ToolCall {
            name: tool.into(),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
            ..ToolCall::default()
        };
        let refusal = limit("/x", Some(&allowed)).and_then(|limit| limit(&call));
        assert_eq!(refusal.is_none(), runs, "{allowed} {tool} {arguments}: {refusal:?}");
    }

    #[test]
    fn names_of_other_programs_and_every_way_to_write_a_list() {
        for list in [json!("Read, Grep"), json!("read search"), json!(["Read", "Grep"]), json!("Read(src/**),Grep")] {
            check(list.clone(), "read", json!({}), true);
            check(list.clone(), "search", json!({}), true);
            check(list.clone(), "edit", json!({}), false);
            check(list, "bash", json!({"command": "ls"}), false);
        }
        check(json!(""), "edit", json!({}), true);
        check(json!(null), "edit", json!({}), true);
        for wrong in [json!([]), json!(5), json!(true), json!({"read": true}), json!([{"read": true}])] {
            check(wrong, "read", json!({}), false);
        }
        check(json!("Nonsense"), "read", json!({}), false);
    }

    #[test]
    fn a_command_line_is_only_what_it_may_be() {
        for (list, runs) in
            [("Bash", true), ("Bash(*)", true), ("Bash(:*)", true), ("Bash()", false), ("Bash( )", false)]
        {
            check(json!(list), "bash", json!({"command": "ls"}), runs);
        }
        let git = json!("Bash(git add:*), Bash(git status), Bash(npm run test*), Read");
        let run = |command: &str, runs: bool| check(git.clone(), "bash", json!({"command": command}), runs);
        for command in [
            "git add a.txt",
            "git add",
            " git status ",
            "git status && git add 'a; b' \"c & <d>\"",
            "npm run test:unit | npm run tests",
            "git add a\\;b",
            "git add $'\\'; rm b'",
            "git add a < b",
            "git add a > /dev/null 2>&1",
            "timeout 5 git add a",
            "CI=1 git add a",
            "if git status; then git add a; fi",
            "npm run test -- --watch",
        ] {
            run(command, true);
        }
        for command in [
            "git addx",
            "git status -s",
            "git commit",
            "git add a; rm -rf b",
            "git add a\nrm b",
            "git add a & rm b",
            "git add $(rm b)",
            "git add `rm b`",
            "git add \"$(rm b)\"",
            "git add a > b",
            "git add <(rm b)",
            "git add 'open",
            "PATH=. git add a",
            "git add $X",
            "git add *",
            "git add a <<< $(rm b)",
            "timeout 5 rm b",
            "env git add a",
            "sudo git add a",
            "bash -c 'git add a; rm b'",
            "f() { rm b; }; git add a",
            "alias git=rm; git add a",
            "git -c core.fsmonitor=./x status",
            "git add a\\",
            "",
        ] {
            run(command, false);
        }
        check(git.clone(), "bash", json!({"command": "git add a", "env": {"PATH": "x"}}), false);
        check(git, "bash", json!({}), false);
        check(json!("Bash(git 'add:*)"), "bash", json!({"command": "git add"}), false);
        for all in ["Bash", "Bash(*)", "Bash(:*)", "Bash(git:*), Bash"] {
            check(json!(all), "bash", json!({"command": "rm -rf $(x) > y"}), true);
        }
    }

    #[test]
    fn the_model_is_told_why() {
        let limit = limit("/commit", Some(&json!("Bash(git add:*), Read"))).unwrap();
        let why = limit(&ToolCall { name: "write".into(), ..ToolCall::default() }).unwrap();
        let expect =
            "`write` was not run: the user called /commit, whose `allowed-tools` lets run only Bash(git add:*), Read. ";
        assert!(why.starts_with(expect), "{why}");
    }
}

//! Converts the list to a Markdown checklist and back, for people who edit it by hand.

use super::list::{Phase, Status, Task, one_in_progress, one_line};

/// Writes headings with checklist items: `[ ]`, `[/]`, `[x]`, `[-]`.
pub fn to_markdown(phases: &[Phase]) -> String {
    if phases.is_empty() {
        return "# Todos\n".to_owned();
    }
    let section = |phase: &Phase| {
        let tasks = phase.tasks.iter().map(|task| format!("- [{}] {}\n", mark_of(task.status), task.content));
        format!("# {}\n{}", phase.name, tasks.collect::<String>())
    };
    phases.iter().map(section).collect::<Vec<_>>().join("\n")
}

/// Tasks above the first heading go to a phase `Todos`. Reports every invalid line; if there is one, nothing is imported.
pub fn from_markdown(text: &str) -> Result<Vec<Phase>, Vec<String>> {
    let mut phases: Vec<Phase> = Vec::new();
    let mut problems = Vec::new();
    for (number, line) in text.lines().enumerate().map(|(at, line)| (at + 1, line.trim())) {
        if line.is_empty() {
            continue;
        }
        if let Some(name) = heading(line) {
            phases.push(Phase { name: one_line(name), tasks: Vec::new() });
            continue;
        }
        match item(line) {
            Some((mark, content)) => match status_of(mark) {
                Some(status) => {
                    let task = Task { content: one_line(content), status };
                    match phases.last_mut() {
                        Some(phase) => phase.tasks.push(task),
                        None => phases.push(Phase { name: "Todos".to_owned(), tasks: vec![task] }),
                    }
                }
                None => {
                    problems.push(format!("Line {number}: unknown status marker \"[{mark}]\" (use [ ], [x], [/], [-])"))
                }
            },
            None => problems.push(format!("Line {number}: unrecognized syntax \"{line}\"")),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    one_in_progress(&mut phases);
    // An exported empty list is one heading without tasks.
    Ok(if matches!(phases.as_slice(), [only] if only.name == "Todos" && only.tasks.is_empty()) {
        Vec::new()
    } else {
        phases
    })
}

fn mark_of(status: Status) -> char {
    match status {
        Status::Pending => ' ',
        Status::InProgress => '/',
        Status::Completed => 'x',
        Status::Abandoned => '-',
    }
}

fn status_of(mark: &str) -> Option<Status> {
    Some(match mark {
        "" | " " => Status::Pending,
        "/" | ">" => Status::InProgress,
        "x" | "X" => Status::Completed,
        "-" | "~" => Status::Abandoned,
        _ => return None,
    })
}

fn heading(line: &str) -> Option<&str> {
    let name = line.trim_start_matches('#');
    let depth = line.len() - name.len();
    ((1..=6).contains(&depth) && name.starts_with(char::is_whitespace)).then(|| name.trim()).filter(|it| !it.is_empty())
}

/// Splits `- [x] text` into the mark and the text.
fn item(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix(['-', '*', '+'])?.trim_start().strip_prefix('[')?;
    let (mark, content) = rest.split_once(']')?;
    let fits = mark.chars().count() <= 1 && content.starts_with(char::is_whitespace) && !content.trim().is_empty();
    fits.then(|| (mark, content.trim()))
}

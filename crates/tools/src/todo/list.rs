//! The data of the list: phases of tasks, and the operations on them.

use std::collections::HashSet;

pub use omp_types::{TaskItem as Task, TaskPhase as Phase, TaskStatus as Status};

use super::{Op, OpKind};

/// Returns a task that is still to be done.
pub fn pending_task(content: &str) -> Task {
    Task { content: one_line(content), status: Status::Pending }
}

/// Limits the tasks of a list, because every call repeats the whole list.
const MAX_TASKS: usize = 500;

/// Collapses whitespace to single spaces, because texts are identifiers and lines of a checklist.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Puts all texts of an imported list on one line each.
pub fn tidied(mut phases: Vec<Phase>) -> Vec<Phase> {
    for phase in &mut phases {
        phase.name = one_line(&phase.name);
        phase.tasks.iter_mut().for_each(|task| task.content = one_line(&task.content));
    }
    phases
}

/// Returns the reasons why an imported list is invalid.
pub fn problems_of(phases: &[Phase]) -> Vec<String> {
    let mut problems = Vec::new();
    let (mut names, mut contents) = (HashSet::new(), HashSet::new());
    for phase in phases {
        if phase.name.is_empty() {
            problems.push("Missing phase name".to_owned());
        } else if !names.insert(&phase.name) {
            problems.push(format!("Phase \"{}\" appears twice", phase.name));
        }
        for content in phase.tasks.iter().map(|task| &task.content) {
            if content.is_empty() {
                problems.push("Missing task content".to_owned());
            } else if !contents.insert(content) {
                problems.push(format!("Task \"{content}\" appears twice"));
            }
        }
    }
    problems.extend(too_many(phases));
    problems
}

pub fn too_many(phases: &[Phase]) -> Option<String> {
    let count: usize = phases.iter().map(|phase| phase.tasks.len()).sum();
    (count > MAX_TASKS).then(|| format!("{count} tasks are too many for one list; at most {MAX_TASKS} fit"))
}

/// Applies operations in order and reports every problem. If there is one, the caller discards the result.
pub fn apply(mut phases: Vec<Phase>, ops: &[Op]) -> (Vec<Phase>, Vec<String>) {
    let mut errors = Vec::new();
    for op in ops {
        match op.op {
            OpKind::Init => init(&mut phases, op, &mut errors),
            OpKind::Start => start(&mut phases, op, &mut errors),
            OpKind::Done => mark(&mut phases, op, Status::Completed, &mut errors),
            OpKind::Drop => mark(&mut phases, op, Status::Abandoned, &mut errors),
            OpKind::Rm => remove(&mut phases, op, &mut errors),
            OpKind::Append => append(&mut phases, op, &mut errors),
            OpKind::View => {}
        }
    }
    one_in_progress(&mut phases);
    (phases, errors)
}

/// Ensures that exactly one task is in progress while any is open.
pub fn one_in_progress(phases: &mut [Phase]) {
    let mut active = tasks_of(phases).filter(|task| task.status == Status::InProgress);
    if active.next().is_some() {
        active.for_each(|task| task.status = Status::Pending);
        return;
    }
    drop(active);
    if let Some(next) = tasks_of(phases).find(|task| task.status == Status::Pending) {
        next.status = Status::InProgress;
    }
}

fn tasks_of(phases: &mut [Phase]) -> impl Iterator<Item = &mut Task> {
    phases.iter_mut().flat_map(|phase| &mut phase.tasks)
}

fn init(phases: &mut Vec<Phase>, op: &Op, errors: &mut Vec<String>) {
    let Some(list) = op.list.as_ref().filter(|list| !list.is_empty()) else {
        return errors.push("Missing list for init operation".to_owned());
    };
    let new = |content: &String| pending_task(content);
    *phases = list
        .iter()
        .map(|entry| Phase { name: one_line(&entry.phase), tasks: entry.items.iter().map(new).collect() })
        .collect();
    let (mut names, mut contents) = (HashSet::new(), HashSet::new());
    for phase in &*phases {
        if phase.name.is_empty() {
            errors.push("Missing phase name".to_owned());
        } else if !names.insert(&phase.name) {
            errors.push(format!("Duplicate phase \"{}\" in init list", phase.name));
        }
        for content in phase.tasks.iter().map(|task| &task.content) {
            if content.is_empty() {
                errors.push("Missing task content".to_owned());
            } else if !contents.insert(content) {
                errors.push(format!("Duplicate task \"{content}\" in init list"));
            }
        }
    }
}

fn start(phases: &mut [Phase], op: &Op, errors: &mut Vec<String>) {
    let Some((phase, task)) = find_task(phases, op.task.as_deref(), errors) else { return };
    tasks_of(phases).filter(|task| task.status == Status::InProgress).for_each(|task| task.status = Status::Pending);
    phases[phase].tasks[task].status = Status::InProgress;
}

fn mark(phases: &mut [Phase], op: &Op, status: Status, errors: &mut Vec<String>) {
    match (&op.task, &op.phase) {
        (Some(task), _) => {
            if let Some((phase, task)) = find_task(phases, Some(task), errors) {
                phases[phase].tasks[task].status = status;
            }
        }
        (None, Some(name)) => {
            if let Some(phase) = find_phase(phases, name, errors) {
                phases[phase].tasks.iter_mut().for_each(|task| task.status = status);
            }
        }
        (None, None) => tasks_of(phases).for_each(|task| task.status = status),
    }
}

fn remove(phases: &mut [Phase], op: &Op, errors: &mut Vec<String>) {
    match (&op.task, &op.phase) {
        (Some(task), _) => {
            if let Some((phase, task)) = find_task(phases, Some(task), errors) {
                phases[phase].tasks.remove(task);
            }
        }
        (None, Some(name)) => {
            if let Some(phase) = find_phase(phases, name, errors) {
                phases[phase].tasks.clear();
            }
        }
        (None, None) => phases.iter_mut().for_each(|phase| phase.tasks.clear()),
    }
}

/// Adds all items or none.
fn append(phases: &mut Vec<Phase>, op: &Op, errors: &mut Vec<String>) {
    let Some(name) = op.phase.as_deref().map(one_line).filter(|name| !name.is_empty()) else {
        return errors.push("Missing phase name for append operation".to_owned());
    };
    let Some(items) = op.items.as_ref().filter(|items| !items.is_empty()) else {
        return errors.push("Missing items for append operation".to_owned());
    };
    let new: Vec<Task> = items.iter().map(|item| pending_task(item)).collect();
    let before = errors.len();
    let mut known: HashSet<&str> =
        phases.iter().flat_map(|phase| &phase.tasks).map(|task| task.content.as_str()).collect();
    for Task { content, .. } in &new {
        if content.is_empty() {
            errors.push("Missing task content".to_owned());
        } else if !known.insert(content) {
            errors.push(format!("Task \"{content}\" already exists"));
        }
    }
    if errors.len() > before {
        return;
    }
    match phases.iter_mut().find(|phase| phase.name == name) {
        Some(phase) => phase.tasks.extend(new),
        None => phases.push(Phase { name, tasks: new }),
    }
}

/// Finds the first task with this content and returns its phase and index.
fn find_task(phases: &[Phase], content: Option<&str>, errors: &mut Vec<String>) -> Option<(usize, usize)> {
    let Some(content) = content.map(one_line).filter(|content| !content.is_empty()) else {
        errors.push("Missing task content".to_owned());
        return None;
    };
    let found = phases
        .iter()
        .enumerate()
        .find_map(|(at, phase)| phase.tasks.iter().position(|task| task.content == content).map(|task| (at, task)));
    if found.is_none() {
        let empty = phases.iter().all(|phase| phase.tasks.is_empty());
        let hint = if empty { " (the todo list is empty: create one with init first)" } else { "" };
        errors.push(format!("Task \"{content}\" not found{hint}"));
    }
    found
}

fn find_phase(phases: &[Phase], name: &str, errors: &mut Vec<String>) -> Option<usize> {
    let name = one_line(name);
    if name.is_empty() {
        errors.push("Missing phase name".to_owned());
        return None;
    }
    let found = phases.iter().position(|phase| phase.name == name);
    if found.is_none() {
        errors.push(format!("Phase \"{name}\" not found"));
    }
    found
}

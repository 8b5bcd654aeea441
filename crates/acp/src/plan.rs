//! The task list as the client's plan.

use omp_types::{TaskItem, TaskPhase, TaskStatus};

use crate::protocol::{PlanEntry, PlanEntryPriority, PlanEntryStatus};

/// Converts the phases of the task list. Dropped tasks are left out.
pub fn entries(phases: &[TaskPhase]) -> Vec<PlanEntry> {
    phases.iter().flat_map(|phase| &phase.tasks).filter_map(entry).collect()
}

fn entry(task: &TaskItem) -> Option<PlanEntry> {
    let status = match task.status {
        TaskStatus::Completed => PlanEntryStatus::Completed,
        TaskStatus::InProgress => PlanEntryStatus::InProgress,
        TaskStatus::Pending => PlanEntryStatus::Pending,
        TaskStatus::Abandoned => return None,
    };
    Some(PlanEntry { content: task.content.clone(), priority: PlanEntryPriority::Medium, status })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_of_all_phases_without_the_dropped_ones() {
        use PlanEntryStatus::{Completed, InProgress, Pending};
        let task = |content: &str, status| TaskItem { content: content.to_owned(), status };
        let phase = |name: &str, tasks: &[TaskItem]| TaskPhase { name: name.to_owned(), tasks: tasks.to_vec() };
        let phases = [
            phase("One", &[task("a", TaskStatus::Completed), task("b", TaskStatus::Abandoned)]),
            phase("Two", &[task("c", TaskStatus::InProgress), task("d", TaskStatus::Pending)]),
        ];
        let entries = entries(&phases);
        let shown: Vec<_> = entries.iter().map(|entry| (entry.content.as_str(), entry.status)).collect();
        assert_eq!(shown, [("a", Completed), ("c", InProgress), ("d", Pending)]);
        assert!(super::entries(&[]).is_empty());
    }
}

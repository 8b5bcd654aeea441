//! The task list as the client's plan.

use serde_json::Value;

use crate::protocol::{PlanEntry, PlanEntryPriority, PlanEntryStatus};

/// Converts the phases of the task list. Dropped tasks are left out.
pub fn entries(phases: &Value) -> Vec<PlanEntry> {
    let tasks =
        phases.as_array().into_iter().flatten().flat_map(|phase| phase["tasks"].as_array().into_iter().flatten());
    tasks.filter_map(entry).collect()
}

fn entry(task: &Value) -> Option<PlanEntry> {
    let status = match task["status"].as_str() {
        Some("completed") => PlanEntryStatus::Completed,
        Some("in_progress") => PlanEntryStatus::InProgress,
        Some("abandoned") => return None,
        _ => PlanEntryStatus::Pending,
    };
    Some(PlanEntry { content: task["content"].as_str()?.to_owned(), priority: PlanEntryPriority::Medium, status })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(phases: Value, expect: &[(&str, PlanEntryStatus)]) {
        let entries = entries(&phases);
        let shown: Vec<_> = entries.iter().map(|entry| (entry.content.as_str(), entry.status)).collect();
        assert_eq!(shown, expect, "{phases}");
    }

    #[test]
    fn tasks_of_all_phases_without_the_dropped_ones() {
        use PlanEntryStatus::{Completed, InProgress, Pending};
        let phases = json!([
            {"name": "One", "tasks": [{"content": "a", "status": "completed"}, {"content": "b", "status": "abandoned"}]},
            {"name": "Two", "tasks": [{"content": "c", "status": "in_progress"}, {"content": "d", "status": "pending"}]},
        ]);
        check(phases, &[("a", Completed), ("c", InProgress), ("d", Pending)]);
        check(json!([]), &[]);
        check(json!(null), &[]);
        check(json!([{"tasks": "none"}, {"tasks": [{"status": "pending"}]}]), &[]);
    }
}

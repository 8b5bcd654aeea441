//! Messages about trust.

use std::fmt::Write;
use std::path::Path;

use omp_config::{Item, TrustDecision, TrustState, ignored_variables, never_taken};
use omp_stdx::sanitize::{reveal_invisible, strip_control};

use crate::folder::FolderSetup;

/// Caps the number of names in one sentence.
const MOST_NAMES: usize = 5;

/// Returns a sentence about the items that do not run, with a hint, or `None` if all run.
pub fn left_out(decision: &TrustDecision) -> Option<String> {
    let items = decision.left_out();
    if items.is_empty() {
        return None;
    }
    let named: Vec<String> =
        items.iter().take(MOST_NAMES).map(|item| format!("{} {}", item.kind.name(), clean(&item.name))).collect();
    let more = match items.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let why = match decision.state() {
        TrustState::Changed(_) => "new or changed since you trusted the folder",
        _ => "not trusted",
    };
    let folder = decision.root().display();
    Some(format!(
        "{folder}: not loaded, because {why}: {}{more}\nhint: `omp trust explain` shows what would run, `omp trust add` allows it",
        named.join(", ")
    ))
}

pub fn for_run(decision: &TrustDecision) -> String {
    let runs = decision.items().iter().filter(|item| decision.may_run(item));
    let runs: Vec<String> = runs.map(|item| format!("{} {}", item.kind.name(), clean(&item.name))).collect();
    format!("--trust: for this run {} may run: {}", decision.root().display(), runs.join(", "))
}

/// Lists everything that an item would run, for the user to decide.
pub fn item_lines(item: &Item, decision: &TrustDecision) -> Vec<String> {
    let path = item.path.strip_prefix(decision.root()).unwrap_or(&item.path).display().to_string();
    let state = match () {
        () if decision.may_run(item) => "",
        () if item.is_too_large() => "  [too large to trust]",
        () if decision.is_changed(item) => "  [changed]",
        () if *decision.state() != TrustState::Untrusted => "  [new]",
        () => "",
    };
    let head = format!("{} {}  ({}){state}", item.kind.name(), clean(&item.name), clean(&path));
    let runs = item.runs.iter().flat_map(|run| run.lines()).map(|line| format!("    {}", clean(line)));
    std::iter::once(head).chain(runs).collect()
}

/// The text of `omp trust explain`.
pub fn explained(setup: &FolderSetup) -> String {
    let decision = setup.trust();
    let folder = decision.root().display();
    let mut text = match decision.state() {
        TrustState::Untrusted => format!("{folder} is not trusted.\n"),
        TrustState::Trusted => format!("{folder} is trusted.\n"),
        TrustState::Changed(_) => format!("{folder} is trusted, except for what is new or changed.\n"),
    };
    let (runs, waits): (Vec<&Item>, Vec<&Item>) = decision.items().iter().partition(|item| decision.may_run(item));
    for (title, items) in [("May run", runs), ("Does not run until you trust it", waits)] {
        if !items.is_empty() {
            let _ = writeln!(text, "\n{title} ({})", items.len());
        }
        for line in items.iter().flat_map(|item| item_lines(item, &decision)) {
            let _ = writeln!(text, "  {line}");
        }
    }
    if decision.items().is_empty() {
        text.push_str("\nIt contains nothing that would run.\n");
    }
    text + &never(setup, decision.root())
}

/// Lists the project's settings that have no effect, whether the folder is trusted or not.
fn never(setup: &FolderSetup, root: &Path) -> String {
    let shown = |path: &Path| clean(&path.strip_prefix(root).unwrap_or(path).display().to_string());
    let mut lines: Vec<String> = never_taken(setup.catalogue())
        .iter()
        .map(|it| format!("{}: {} = {}", shown(&it.path), clean(&it.name), clean(&it.value)))
        .collect();
    let complaints = setup.settings.complaints().iter();
    let settings = complaints.filter(|complaint| complaint.layer == omp_config::Layer::Project);
    for complaint in settings {
        let file = complaint.file.as_deref().map(|file| (file.display().to_string(), shown(file)));
        let (full, short) = file.unwrap_or_default();
        // Some settings are already listed with their values.
        if !lines.iter().any(|line| line.starts_with(&format!("{short}: {} = ", clean(&complaint.key)))) {
            let line = complaint.to_string().replacen(&full, &short, 1);
            lines.push(clean(line.lines().next().unwrap_or_default()));
        }
    }
    let variables = ignored_variables(&setup.cwd);
    if !variables.is_empty() {
        lines.push(format!("{}: {}", shown(&setup.cwd.join(".env")), clean(&variables.join(", "))));
    }
    let mut text = String::new();
    if !lines.is_empty() {
        let _ = writeln!(text, "\nNever taken from a project ({})", lines.len());
    }
    for line in lines {
        let _ = writeln!(text, "  {line}");
    }
    text
}

/// Removes escape sequences and makes invisible characters in a project's text visible.
pub fn clean(text: &str) -> String {
    reveal_invisible(&strip_control(text)).replace('\n', " ")
}

//! Ruby: rspec's documentation format, minitest with `-v`, bundler.
//!
//! Rspec prints a passed example as a plain indented line, which a test's own output may look like. Such lines count only if
//! their number equals the number of examples that rspec reports.

use super::{Family, Noise, starts};

pub(super) const TESTS: Family = Family {
    commands: &["rails test", "rake", "rspec", "ruby"],
    noise: &[Noise { starts: "", holds: "#test_", ends: " s = ." }],
    passed: Some(passed_examples),
};

pub(super) const PACKAGES: Family = Family {
    commands: &["bundle install", "bundle update", "gem install"],
    noise: &[
        starts("Using "),
        starts("Fetching "),
        starts("Installing "),
        starts("Parsing documentation for "),
        starts("Installing ri documentation for "),
        starts("Done installing documentation for "),
        starts("Successfully installed "),
    ],
    passed: None,
};

fn passed_examples(lines: &[&str]) -> Option<Vec<bool>> {
    let end = lines.iter().position(|line| ends_the_tree(line))?;
    let mut is_example: Vec<bool> = (0..end).map(|number| is_leaf(lines, number, end)).collect();
    let ran: usize = lines[end..].iter().find_map(|line| line.split_once(" example")?.0.parse().ok())?;
    if is_example.iter().filter(|is_example| **is_example).count() != ran {
        return None;
    }
    for (line, is_example) in lines.iter().zip(&mut is_example) {
        *is_example &= !["(FAILED - ", "(PENDING: "].iter().any(|sign| line.contains(sign));
    }
    Some(is_example)
}

fn ends_the_tree(line: &str) -> bool {
    ["Failures:", "Pending:", "Finished in "].iter().any(|start| line.starts_with(start))
}

/// Whether the next line is not indented deeper.
fn is_leaf(lines: &[&str], number: usize, end: usize) -> bool {
    let depth = indent(lines[number]);
    if depth == 0 || lines[number].trim().is_empty() {
        return false;
    }
    let below = lines[number + 1..end].iter().find(|line| !line.trim().is_empty());
    below.is_none_or(|line| indent(line) <= depth)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

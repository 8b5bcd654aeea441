//! The findings of `omp doctor`, as text and as JSON.

use serde_json::{Value, json};

/// The width of the longest area name plus a space.
const AREA_WIDTH: usize = 13;
/// The column at which the text of a finding begins.
const INDENT: usize = 6 + AREA_WIDTH;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingLevel {
    Fine,
    /// omp works, but with fewer features than it could have.
    Warning,
    /// Something that omp needs does not work.
    Failure,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub area: &'static str,
    pub state: FindingLevel,
    /// May have several lines, and end with a `hint:`.
    pub text: String,
}

impl Finding {
    pub fn fine(area: &'static str, text: impl Into<String>) -> Self {
        Self { area, state: FindingLevel::Fine, text: text.into() }
    }

    pub fn warning(area: &'static str, text: impl Into<String>) -> Self {
        Self { area, state: FindingLevel::Warning, text: text.into() }
    }

    pub fn failure(area: &'static str, text: impl Into<String>) -> Self {
        Self { area, state: FindingLevel::Failure, text: text.into() }
    }

    fn text(&self) -> String {
        let mark = match self.state {
            FindingLevel::Fine => "ok",
            FindingLevel::Warning => "warn",
            FindingLevel::Failure => "FAIL",
        };
        let mut lines = self.text.trim_end().lines();
        let first = lines.next().unwrap_or_default();
        let rest = lines.map(|line| format!("{:INDENT$}{}\n", "", line.trim_start()));
        format!("{mark:<6}{:<AREA_WIDTH$}{first}\n{}", self.area, rest.collect::<String>())
    }

    fn json(&self) -> Value {
        let state = match self.state {
            FindingLevel::Fine => "ok",
            FindingLevel::Warning => "warning",
            FindingLevel::Failure => "failure",
        };
        let (text, hint) = match self.text.split_once("\nhint: ") {
            Some((text, hint)) => (text, Some(hint)),
            None => (self.text.as_str(), None),
        };
        json!({"area": self.area, "state": state, "text": text, "hint": hint})
    }
}

#[derive(Default)]
pub struct DoctorReport {
    findings: Vec<Finding>,
}

impl DoctorReport {
    pub fn add(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    pub fn extend(&mut self, findings: impl IntoIterator<Item = Finding>) {
        self.findings.extend(findings);
    }

    pub fn has_failures(&self) -> bool {
        self.count(FindingLevel::Failure) > 0
    }

    pub fn text(&self) -> String {
        let findings: String = self.findings.iter().map(Finding::text).collect();
        format!("{findings}\n{}\n", self.summary())
    }

    pub fn json(&self) -> String {
        let findings: Vec<Value> = self.findings.iter().map(Finding::json).collect();
        format!("{}\n", json!({"ok": !self.has_failures(), "findings": findings}))
    }

    fn count(&self, state: FindingLevel) -> usize {
        self.findings.iter().filter(|finding| finding.state == state).count()
    }

    fn summary(&self) -> String {
        let counted = |count: usize, one: &str| match count {
            1 => format!("1 {one}"),
            count => format!("{count} {one}s"),
        };
        match (self.count(FindingLevel::Failure), self.count(FindingLevel::Warning)) {
            (0, 0) => "No problems found.".to_owned(),
            (0, warnings) => format!("omp works, with {}.", counted(warnings, "warning")),
            (failures, 0) => format!("{}.", counted(failures, "problem")),
            (failures, warnings) => format!("{}, {}.", counted(failures, "problem"), counted(warnings, "warning")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_aligned_and_counted() {
        let mut report = DoctorReport::default();
        assert_eq!(report.text(), "\nNo problems found.\n");
        report.add(Finding::fine("git", "2.39"));
        report.add(Finding::warning("terminal", "TERM is not set\nhint: set it"));
        assert!(!report.has_failures());
        assert!(report.text().ends_with("\nomp works, with 1 warning.\n"));
        report.extend([Finding::failure("model", "no key\n  for anything\nhint: give one")]);
        assert!(report.has_failures());
        let expect = "ok    git          2.39\n\
                      warn  terminal     TERM is not set\n                   hint: set it\n\
                      FAIL  model        no key\n                   for anything\n                   hint: give one\n\
                      \n1 problem, 1 warning.\n";
        assert_eq!(report.text(), expect);
    }

    #[test]
    fn programs_get_the_same() {
        let mut report = DoctorReport::default();
        report.add(Finding::failure("model", "no key\nhint: give one"));
        report.add(Finding::fine("git", "2.39"));
        let expect = json!({"ok": false, "findings": [
            {"area": "model", "state": "failure", "text": "no key", "hint": "give one"},
            {"area": "git", "state": "ok", "text": "2.39", "hint": null},
        ]});
        assert_eq!(serde_json::from_str::<Value>(&report.json()).unwrap(), expect);
    }
}

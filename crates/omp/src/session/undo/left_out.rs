//! Notices before a command runs: which files an undo would not restore, and which setting changes that.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use omp_stdx::format::grouped;
use omp_undo::{LeftOut, Uncovered};

/// Reports each reason once per session.
#[derive(Default)]
pub struct UncoveredNotices {
    reasons: Mutex<BTreeSet<Uncovered>>,
    late_look: AtomicBool,
}

impl UncoveredNotices {
    /// Returns the new reasons as an error. The call runs nevertheless.
    pub fn tell(&self, left_out: &[LeftOut], entries: usize, patience: Duration) -> Result<(), String> {
        let mut told = self.reasons.lock().unwrap_or_else(PoisonError::into_inner);
        let news: Vec<&LeftOut> = left_out.iter().filter(|one| told.insert(one.why)).collect();
        if news.is_empty() { Ok(()) } else { Err(text(&news, entries, patience)) }
    }

    /// Reports once that the scan for a command's changes has not finished yet.
    pub fn tell_of_late_look(&self, patience: Duration) -> Option<String> {
        let is_told = self.late_look.swap(true, Ordering::Relaxed);
        (!is_told).then(|| {
            format!(
                "scanning for changes takes longer than {} s and continues in the background; \
                 changes you make until then count as the command's\n\
                 hint: /undo waits for the scan; undo.patienceMs lets commands wait longer",
                patience.as_secs_f64()
            )
        })
    }
}

fn text(news: &[&LeftOut], entries: usize, patience: Duration) -> String {
    let mut lines = vec!["/undo does not cover all of this workspace:".to_owned()];
    let mut settings: BTreeSet<&str> = BTreeSet::new();
    for one in news {
        let (what, setting) = reason(one, entries, patience);
        settings.extend(setting);
        let more = one.count.saturating_sub(one.paths.len());
        let paths: Vec<String> = one.paths.iter().map(|path| named(&path.to_string())).collect();
        let more = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
        lines.push(format!("  {}{more}: {what}", paths.join(", ")));
    }
    let settings: Vec<&str> = settings.into_iter().collect();
    let settings = if settings.is_empty() { String::new() } else { format!("; {}", settings.join(", ")) };
    lines.push(format!("hint: /changes lists everything that is not covered{settings}"));
    lines.join("\n")
}

/// Names a path; the workspace itself has an empty one.
fn named(path: &str) -> String {
    if path.is_empty() { ".".to_owned() } else { path.to_owned() }
}

/// Returns the reason, and the setting that controls it.
fn reason(one: &LeftOut, entries: usize, patience: Duration) -> (String, Option<&'static str>) {
    let seconds = patience.as_secs_f64();
    match one.why {
        Uncovered::TooLarge => {
            ("larger than undo.maxFileMb".into(), Some("raise undo.maxFileMb to cover larger files"))
        }
        Uncovered::OverBudget => {
            ("over the storage limit of one workspace".into(), Some("undo.quotaMb sets the disk limit"))
        }
        Uncovered::NotYet => (
            format!(
                "not copied yet ({} of {} entries left); copying continues in the background",
                grouped(one.count as u64),
                grouped(entries as u64)
            ),
            Some("undo.patienceMs lets a command wait longer"),
        ),
        Uncovered::TooSlow => {
            (format!("not scanned within {seconds} s"), Some("undo.patienceMs lets a command wait longer"))
        }
        Uncovered::Rest => (
            "not all entries could be scanned: the others, and new ones, are not covered".into(),
            Some("undo.patienceMs lets a command wait longer"),
        ),
        other => (other.as_str().into(), None),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use omp_undo::RelPath;

    use super::*;

    fn left_out(why: Uncovered, count: usize, paths: &[&str]) -> LeftOut {
        LeftOut { why, count, paths: paths.iter().map(|path| RelPath::of(Path::new(path)).unwrap()).collect() }
    }

    #[test]
    fn each_reason_is_told_once_with_its_setting() {
        let told = UncoveredNotices::default();
        let large = left_out(Uncovered::TooLarge, 1, &["data/model.bin"]);
        let waits = left_out(Uncovered::NotYet, 120_000, &["a", "b", "c"]);
        let tell = |list: &[LeftOut]| told.tell(list, 300_000, Duration::from_secs(2)).err();
        assert_eq!(tell(&[]), None);
        assert_eq!(
            tell(std::slice::from_ref(&large)).unwrap(),
            "/undo does not cover all of this workspace:\n  data/model.bin: larger than undo.maxFileMb\n\
             hint: /changes lists everything that is not covered; raise undo.maxFileMb to cover larger files"
        );
        let text = tell(&[large.clone(), waits.clone()]).unwrap();
        assert!(text.contains("a, b, c and 119,997 more: not copied yet (120,000 of 300,000 entries left)"), "{text}");
        assert!(!text.contains("model.bin"), "{text}");
        assert_eq!(tell(&[large, waits]), None);
        let slow = tell(&[left_out(Uncovered::TooSlow, 2, &["x", "y"]), left_out(Uncovered::Rest, 1, &[""])]).unwrap();
        assert!(slow.contains("x, y: not scanned within 2 s") && slow.contains("  .: not all entries"), "{slow}");
        assert_eq!(slow.matches("undo.patienceMs").count(), 1, "{slow}");
    }
}

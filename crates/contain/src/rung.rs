//! The ladder of means by which a mode is enforced on this system, and what the next rung would need.

use std::fmt;

use crate::ContainmentRefused;

/// From weakest to strongest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rung {
    None,
    /// Landlock and seccomp: without a private view, so guarded files are restored afterwards and sockets are not blocked.
    Landlock,
    /// A user and a mount namespace and seccomp, without Landlock.
    Namespaces,
    /// The mechanism of macOS.
    Seatbelt,
    /// Namespaces, Landlock and seccomp.
    #[default]
    Full,
}

impl Rung {
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Landlock => "landlock+seccomp",
            Self::Namespaces => "namespaces+seccomp",
            Self::Seatbelt => "seatbelt",
            Self::Full => "namespaces+landlock+seccomp",
        }
    }
}

/// A mechanism that this system lacks, why, and what would provide it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    pub what: &'static str,
    /// What is not protected without it.
    pub costs: &'static str,
    pub why: String,
    pub fix: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the sandbox works without {}: {}; {}\nhint: {}", self.what, self.why, self.costs, self.fix)
    }
}

/// The detected capabilities.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProbedSupport {
    pub namespaces: bool,
    /// The Landlock ABI version; 0 if it is not supported.
    pub landlock: u8,
    pub seccomp: bool,
    /// Whether macOS Seatbelt is available.
    pub seatbelt: bool,
    pub missing: Vec<Missing>,
}

impl ProbedSupport {
    pub fn rung(&self) -> Rung {
        if self.seatbelt {
            return Rung::Seatbelt;
        }
        match (self.seccomp, self.namespaces, self.landlock > 0) {
            (false, ..) | (_, false, false) => Rung::None,
            (_, false, true) => Rung::Landlock,
            (_, true, false) => Rung::Namespaces,
            (_, true, true) => Rung::Full,
        }
    }

    pub(crate) fn refusal(&self, mode: &'static str) -> ContainmentRefused {
        let told = |pick: fn(&Missing) -> &str, between| {
            let pieces: Vec<&str> = self.missing.iter().map(pick).collect();
            pieces.join(between)
        };
        let why = told(|missing| &missing.why, "; ");
        let fix = told(|missing| &missing.fix, ", or ");
        ContainmentRefused::NoRung { mode, why, fix }
    }

    pub(crate) fn no_own_network(&self) -> ContainmentRefused {
        let missing = self.missing.iter().find(|missing| missing.what == "namespaces");
        let told = |pick: fn(&Missing) -> &String, else_: &str| {
            missing.map_or(else_.to_owned(), |missing| pick(missing).clone())
        };
        let why = told(|missing| &missing.why, "namespaces are not used");
        let fix = told(|missing| &missing.fix, "allow user namespaces");
        ContainmentRefused::NoOwnNetwork { why, fix }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(namespaces: bool, landlock: u8, seccomp: bool, expect: Rung) {
        let standing = ProbedSupport { namespaces, landlock, seccomp, ..ProbedSupport::default() };
        assert_eq!(standing.rung(), expect, "{standing:?}");
    }

    #[test]
    fn each_means_has_its_rung() {
        check(true, 7, true, Rung::Full);
        check(true, 0, true, Rung::Namespaces);
        check(false, 1, true, Rung::Landlock);
        check(false, 0, true, Rung::None);
        check(true, 7, false, Rung::None);
    }

    #[test]
    fn a_refusal_says_what_why_and_what_helps() {
        let missing = |why: &str, fix: &str| Missing { what: "x", costs: "y", why: why.into(), fix: fix.into() };
        let missing = vec![missing("no a", "get a"), missing("no b", "get b")];
        let refusal = ProbedSupport { missing, ..ProbedSupport::default() }.refusal("read-only").to_string();
        let expect = "the command was not run: the sandbox `read-only` is not available here: no a; no b\n\
                      hint: get a, or get b; `containment.mode: off` in config.yml runs commands without a sandbox";
        assert_eq!(refusal, expect);
    }
}

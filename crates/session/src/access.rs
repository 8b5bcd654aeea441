//! What a call would touch that the session's map denies: the question names exactly that, and a yes opens exactly that.
//!
//! Approval says which calls run, the map what any of them reaches: no mode and no rule on calls opens the map.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use omp_agent::Effect;
use omp_types::{Access, Denied, Loan, Touch};

use crate::approvals;
use crate::control::Control;
use crate::policy::{Offer, RuleLevel, Verdict, VerdictKind};

/// What calls may touch besides until they have ended, by the id of the call. Dropped, all of it is taken back.
pub(crate) type Loans = BTreeMap<String, Vec<Loan>>;

/// Told as the reason of a verdict.
pub(crate) const BY: &str = "containment";

/// A call that wants more than this can be allowed once, not always.
const MOST_KEPT: usize = 8;
/// Wishes that are told one by one.
const MOST_TOLD: usize = 20;

/// One thing that the map denies.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wish {
    touch: Touch,
    path: PathBuf,
    why: Denied,
}

/// All that the map denies of a call.
#[derive(Debug, Default)]
pub(crate) struct Wishes {
    access: Option<Access>,
    list: Vec<Wish>,
}

impl Wishes {
    pub fn of(access: Option<Access>, effects: &[Effect]) -> Self {
        let Some(map) = access.as_ref().map(Access::map) else { return Self::default() };
        let mut list = Vec::new();
        for effect in effects {
            let (touch, path) = match effect {
                Effect::Read(path) => (Touch::Read, path),
                Effect::Write(path) => (Touch::Write, path),
                Effect::Run { .. } | Effect::Connect { .. } | Effect::Unknown(_) => continue,
            };
            if let Err(why) = map.allows(touch, path) {
                let wish = Wish { touch, path: path.clone(), why };
                if !list.contains(&wish) {
                    list.push(wish);
                }
            }
        }
        Self { access, list }
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// What forbids the call stays; else it has to be asked about.
    pub fn verdict(&self, verdict: Verdict) -> Verdict {
        match verdict.kind {
            _ if self.is_empty() => verdict,
            VerdictKind::Deny { .. } => verdict,
            VerdictKind::Run => Verdict::ask(Some(self.told()), BY),
            VerdictKind::Ask { reason } => {
                let told = [Some(self.told()), reason].into_iter().flatten().collect::<Vec<_>>().join("; ");
                Verdict::ask(Some(told), format!("{BY}; {}", verdict.by))
            }
        }
    }

    /// All of it or nothing; credentials are shown once, never always.
    pub fn offers(&self) -> Vec<Offer> {
        let kept = self.list.len() <= MOST_KEPT && self.list.iter().all(Wish::can_be_kept);
        let rules = self.list.iter().map(Wish::name).collect();
        kept.then_some(Offer { rules }).into_iter().collect()
    }

    /// Why a call does not run where nobody can be asked.
    pub fn nobody(&self, tool: &str) -> String {
        let first = self.list.first();
        let path = first.map(|wish| wish.path.display().to_string()).unwrap_or_default();
        let setting = match first.map(|wish| &wish.why) {
            Some(Denied::Hidden(_)) => "containment.shown",
            _ => "containment.writable",
        };
        format!(
            "`{tool}` was not run: it would {}, and nobody can be asked in this mode. Do not try to get the same effect \
             in another way; say what you would have done.\nhint: the user can allow it with `{setting}: [{path}]` in \
             config.yml, or run it in the terminal",
            self.told()
        )
    }

    /// For one call.
    pub fn lend(&self, call: &str) -> Vec<Loan> {
        let Some(access) = &self.access else { return Vec::new() };
        self.list.iter().map(|wish| access.lend(call, wish.touch, &wish.path)).collect()
    }

    /// From now on, and in the user's settings. `false` when these words were not offered for it.
    pub fn keep(&self, control: &Control, level: RuleLevel, words: &[String]) -> bool {
        if self.is_empty() || !self.offers().iter().any(|offer| offer.rules == words) {
            return false;
        }
        for wish in &self.list {
            let kept = match level {
                RuleLevel::Allow => self.open(control, wish),
                _ => approvals::add_rule(control, level, &wish.rule()),
            };
            if let Err(problem) = kept {
                control.tell(problem);
            }
        }
        true
    }

    fn open(&self, control: &Control, wish: &Wish) -> Result<(), String> {
        if let Some(access) = &self.access {
            access.change(|map| map.open_to(wish.touch, &wish.path));
        }
        let keeper = control.approvals().keeper.clone();
        let kept =
            keeper.map_or_else(|| Err("nothing is kept here".to_owned()), |keeper| keeper.keep_writable(&wish.path));
        kept.map_err(|problem| format!("`{}` is allowed for this session only: {problem}", wish.name()))
    }

    fn told(&self) -> String {
        let mut told: Vec<String> = self.list.iter().take(MOST_TOLD).map(Wish::told).collect();
        if self.list.len() > MOST_TOLD {
            told.push(format!("{} more", self.list.len() - MOST_TOLD));
        }
        told.join(", ")
    }
}

impl Wish {
    fn name(&self) -> String {
        match self.touch {
            Touch::Read => format!("read {}", self.path.display()),
            Touch::Write => format!("write to {}", self.path.display()),
        }
    }

    fn told(&self) -> String {
        let why = match self.why {
            Denied::Hidden(_) => "hidden: credentials are kept from the model",
            Denied::Guarded(_) => "guarded: it decides what runs or is allowed",
            Denied::Outside(_) => "outside the workspace",
            Denied::ReadOnly(_) => "this session only reads",
        };
        format!("{} ({why})", self.name())
    }

    fn can_be_kept(&self) -> bool {
        self.touch == Touch::Write && !matches!(self.why, Denied::Hidden(_)) && is_readable(&self.path)
    }

    /// The same as a rule that forbids.
    fn rule(&self) -> String {
        format!("write({})", globset::escape(&self.path.to_string_lossy()))
    }
}

/// What a settings file can hold as it is.
fn is_readable(path: &Path) -> bool {
    path.to_str().is_some_and(|text| !text.contains(char::is_control))
}

#[cfg(test)]
mod tests {
    use omp_types::AccessMap;

    use super::*;

    fn wishes(effects: &[Effect]) -> Wishes {
        let map = AccessMap {
            workspace: "/w".into(),
            hidden: vec!["/users/u/.ssh".into()],
            guarded: vec!["/w/.omp".into()],
            ..AccessMap::default()
        };
        Wishes::of(Some(Access::new(map)), effects)
    }

    fn write(path: &str) -> Effect {
        Effect::Write(path.into())
    }

    #[track_caller]
    fn check(effects: &[Effect], told: &str, offered: &[&str]) {
        let wishes = wishes(effects);
        assert_eq!(wishes.told(), told);
        let offers: Vec<String> = wishes.offers().into_iter().flat_map(|offer| offer.rules).collect();
        assert_eq!(offers, offered, "{told}");
    }

    #[test]
    fn a_question_names_exactly_what_is_denied() {
        let (outside, hidden) = ("outside the workspace", "hidden: credentials are kept from the model");
        check(
            &[write("/srv/x"), write("/w/a"), write("/srv/x")],
            &format!("write to /srv/x ({outside})"),
            &["write to /srv/x"],
        );
        check(
            &[write("/w/.omp/config.yml")],
            "write to /w/.omp/config.yml (guarded: it decides what runs or is allowed)",
            &["write to /w/.omp/config.yml"],
        );
        check(&[Effect::Read("/users/u/.ssh/id".into())], &format!("read /users/u/.ssh/id ({hidden})"), &[]);
        check(
            &[write("/srv/x"), write("/users/u/.ssh/id")],
            &format!("write to /srv/x ({outside}), write to /users/u/.ssh/id ({hidden})"),
            &[],
        );
        check(&[write("/srv/a\nb")], &format!("write to /srv/a\nb ({outside})"), &[]);
        let many: Vec<Effect> = (0..30).map(|at| write(&format!("/srv/{at}"))).collect();
        assert!(wishes(&many).told().ends_with(", 10 more") && wishes(&many).offers().is_empty());
    }

    #[test]
    fn what_forbids_stays_and_everything_else_is_asked_about() {
        let denied = || wishes(&[write("/srv/x")]);
        let asked = |reason: &str| Verdict::ask(Some(reason.to_owned()), BY);
        assert_eq!(denied().verdict(Verdict::run("yolo")), asked("write to /srv/x (outside the workspace)"));
        let why = Verdict::ask(Some("it is big".to_owned()), "a hook");
        let both =
            Verdict { by: format!("{BY}; a hook"), ..asked("write to /srv/x (outside the workspace); it is big") };
        assert_eq!(denied().verdict(why), both);
        let forbidden = Verdict::deny("no".to_owned(), "a rule");
        assert_eq!(denied().verdict(forbidden.clone()), forbidden);
        assert_eq!(wishes(&[write("/w/a")]).verdict(Verdict::run("yolo")), Verdict::run("yolo"));
        assert!(Wishes::of(None, &[write("/srv/x")]).is_empty());
    }
}

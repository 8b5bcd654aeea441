//! Checks what a call would touch against the session's access map. The question to the user names exactly what is denied,
//! and a yes opens exactly that.
//!
//! Approval decides which calls run; the map decides what any of them can reach. No mode and no rule on calls opens the
//! map.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use omp_agent::Effect;
use omp_policy::{DecidedBy, RuleLevel, RuleOffer, RuleScope, Verdict, VerdictKind};
use omp_types::{Access, AccessMap, Denied, Loan, Service, Touch};

use crate::approvals;
use crate::control::Control;

/// Temporary access granted to running calls, by call id. Dropping an entry revokes it.
pub(crate) type Loans = BTreeMap<String, Vec<Loan>>;

/// A call that needs more paths than this can be allowed once, but not always.
const MOST_KEPT: usize = 8;
/// Denied accesses that are listed one by one.
const MOST_TOLD: usize = 20;
/// Paths of a service that are listed one by one.
const MOST_PATHS: usize = 6;

/// One access that the map denies.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wish {
    Touch { touch: Touch, path: PathBuf, why: Denied },
    Use(Service),
}

/// All accesses of a call that the map denies.
#[derive(Debug)]
pub(crate) struct Wishes {
    access: Access,
    list: Vec<Wish>,
    /// The home folder. Neither it nor any folder above it is ever opened permanently.
    pub home: Option<PathBuf>,
    /// Whether the user is asked about this call every time.
    pub is_critical: bool,
}

impl Wishes {
    pub fn of(access: Access, effects: &[Effect]) -> Self {
        let map = access.map();
        let mut list = Vec::new();
        for wish in effects.iter().filter_map(|effect| Wish::of(effect, &map)) {
            if !list.contains(&wish) {
                list.push(wish);
            }
        }
        Self { access, list, home: None, is_critical: false }
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the effects that the map denies, as far as the question names them.
    pub fn denied(&self, effects: &[Effect]) -> Vec<Effect> {
        let map = self.access.map();
        let told = &self.list[..self.list.len().min(MOST_TOLD)];
        let is_told = |effect: &&Effect| Wish::of(effect, &map).is_some_and(|wish| told.contains(&wish));
        effects.iter().filter(is_told).cloned().collect()
    }

    /// A verdict that forbids the call stays; any other becomes a question.
    pub fn verdict(&self, verdict: Verdict) -> Verdict {
        match verdict.kind {
            _ if self.is_empty() => verdict,
            VerdictKind::Deny { .. } => verdict,
            VerdictKind::Run => Verdict::ask(Some(self.told()), DecidedBy::Access { besides: None }),
            VerdictKind::Ask { reason } => {
                let told = [Some(self.told()), reason].into_iter().flatten().collect::<Vec<_>>().join("; ");
                Verdict::ask(Some(told), DecidedBy::Access { besides: Some(Box::new(verdict.by)) })
            }
        }
    }

    /// Offers to open everything that was denied, or nothing. Access to credentials and critical calls can only be allowed
    /// once.
    pub fn offers(&self) -> Vec<RuleOffer> {
        let can_be_kept = |wish: &Wish| wish.can_be_kept(self.home.as_deref());
        let kept = !self.is_critical && self.list.len() <= MOST_KEPT && self.list.iter().all(can_be_kept);
        let rules = self.list.iter().map(Wish::name).collect();
        kept.then_some(RuleOffer { rules }).into_iter().collect()
    }

    /// The user settings that would open everything that was denied; `None` if nothing is denied. A path inside a folder
    /// that is opened is not listed again.
    pub fn settings(&self) -> Option<String> {
        let mut map = self.access.map().as_ref().clone();
        let mut wishes: Vec<&Wish> = self.list.iter().take(MOST_TOLD).collect();
        wishes.sort_by_key(|wish| wish.touches().first().map(|(_, path)| path.components().count()));
        let mut settings: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for wish in wishes {
            let is_link = matches!(wish, Wish::Touch { why: Denied::Link(_), .. });
            if !is_link && wish.touches().iter().all(|(touch, path)| map.allows(*touch, path).is_ok()) {
                continue;
            }
            wish.touches().iter().for_each(|(touch, path)| map.open_to(*touch, path));
            let (setting, value) = wish.setting();
            settings.entry(setting).or_default().push(value);
        }
        let told = settings.iter().map(|(setting, values)| format!("`{setting}: [{}]`", values.join(", ")));
        let told = told.collect::<Vec<_>>().join(" and ");
        (!told.is_empty()).then(|| format!("{told} in config.yml allows it"))
    }

    /// Opens the paths for one call.
    pub fn lend(&self, call: &str) -> Vec<Loan> {
        let touches = self.list.iter().flat_map(Wish::touches);
        touches.map(|(touch, path)| self.access.lend(call, touch, path)).collect()
    }

    /// Opens the paths permanently and adds them to the user's settings. Returns `false` if these rules were not offered.
    pub fn keep(&self, control: &Control, level: RuleLevel, words: &[String], scope: RuleScope) -> bool {
        if self.is_empty() || !self.offers().iter().any(|offer| offer.rules == words) {
            return false;
        }
        for wish in &self.list {
            let kept = match level {
                RuleLevel::Allow => self.open(control, wish, scope),
                _ => wish.rule().and_then(|rule| approvals::add_rule(control, level, &rule, scope)),
            };
            if let Err(problem) = kept {
                control.tell(problem);
            }
        }
        true
    }

    fn open(&self, control: &Control, wish: &Wish, scope: RuleScope) -> Result<(), String> {
        self.access.change(|map| wish.touches().iter().for_each(|(touch, path)| map.open_to(*touch, path)));
        if scope == RuleScope::Session {
            return Ok(());
        }
        let keeper = control.approvals().keeper.clone();
        let (setting, value) = wish.setting();
        let kept = keeper
            .map_or_else(|| Err("nothing is saved here".to_owned()), |keeper| keeper.keep_listed(setting, &value));
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
    fn of(effect: &Effect, map: &AccessMap) -> Option<Self> {
        let denied = |touch: Touch, path: &PathBuf| {
            map.allows(touch, path).err().map(|why| Wish::Touch { touch, path: path.clone(), why })
        };
        match effect {
            Effect::Read(path) => denied(Touch::Read, path),
            Effect::Write(path) => denied(Touch::Write, path),
            // A link target that is also hidden is reported as hidden instead.
            Effect::Follow { link, to } if map.allows(Touch::Read, to).is_ok() => {
                let why = map.allows_through(link, to).err()?;
                Some(Wish::Touch { touch: Touch::Read, path: to.clone(), why })
            }
            Effect::Use(name) => map.service(name).filter(|service| map.is_closed(service)).cloned().map(Wish::Use),
            Effect::Run { .. } | Effect::Connect { .. } | Effect::Follow { .. } | Effect::Unknown(_) => None,
        }
    }

    /// The accesses that a yes opens.
    fn touches(&self) -> Vec<(Touch, &Path)> {
        match self {
            Wish::Touch { touch, path, .. } => vec![(*touch, path)],
            Wish::Use(service) => service.paths().map(|path| (Touch::Read, path.as_path())).collect(),
        }
    }

    /// The list in the user's settings that opens this access permanently, and the value to add.
    fn setting(&self) -> (&'static str, String) {
        match self {
            Wish::Touch { path, why: Denied::Hidden(_) | Denied::Link(_), .. } => {
                ("containment.shown", path.display().to_string())
            }
            Wish::Touch { path, .. } => ("containment.writable", path.display().to_string()),
            Wish::Use(service) => ("containment.sockets", service.name.to_owned()),
        }
    }

    fn name(&self) -> String {
        match self {
            Wish::Touch { touch: Touch::Read, path, .. } => format!("read {}", path.display()),
            Wish::Touch { touch: Touch::Write, path, .. } => format!("write to {}", path.display()),
            Wish::Use(service) => format!("use {}", service.name),
        }
    }

    fn told(&self) -> String {
        let why = match self {
            Wish::Touch { why, .. } => match why {
                Denied::Hidden(_) => "hidden from the model".to_owned(),
                Denied::Guarded(_) => "guarded: it decides what runs or is allowed".to_owned(),
                Denied::Outside(_) => "outside the workspace".to_owned(),
                Denied::ReadOnly(_) => "this session is read-only".to_owned(),
                Denied::Link(_) => "a link in the workspace leads there".to_owned(),
            },
            Wish::Use(service) => opened_by(service),
        };
        format!("{} ({why})", self.name())
    }

    fn can_be_kept(&self, home: Option<&Path>) -> bool {
        match self {
            Wish::Touch { why: Denied::Hidden(_), .. } => false,
            // The root or the whole home folder is never opened for all future calls.
            Wish::Touch { path, .. } if path.parent().is_none() || home.is_some_and(|home| home.starts_with(path)) => {
                false
            }
            Wish::Touch { touch, path, why } => {
                (*touch == Touch::Write || matches!(why, Denied::Link(_))) && is_readable(path)
            }
            Wish::Use(_) => true,
        }
    }

    /// The rule that would deny this access.
    fn rule(&self) -> Result<String, String> {
        let glob = |path: &Path| globset::escape(&path.to_string_lossy());
        match self {
            Wish::Touch { touch: Touch::Read, path, .. } => Ok(format!("read({})", glob(path))),
            Wish::Touch { touch: Touch::Write, path, .. } => Ok(format!("write({})", glob(path))),
            Wish::Use(service) => {
                Err(format!("{} stays blocked: calls that need it always ask, so no rule is needed", service.name))
            }
        }
    }
}

/// What using a service lets a command reach.
fn opened_by(service: &Service) -> String {
    let listed = |paths: &mut dyn Iterator<Item = &PathBuf>| {
        let mut shown: Vec<String> = paths.map(|path| path.display().to_string()).collect();
        let more = shown.len().saturating_sub(MOST_PATHS);
        shown.truncate(MOST_PATHS);
        if more > 0 {
            shown.push(format!("{more} more"));
        }
        shown.join(", ")
    };
    let mut told = format!("blocked for commands; allows {}", listed(&mut service.paths()));
    if !service.withheld.is_empty() {
        told.push_str(&format!("; {} stays hidden: it contains credentials", listed(&mut service.withheld.iter())));
    }
    told
}

/// Whether a settings file can hold the path unchanged.
fn is_readable(path: &Path) -> bool {
    path.to_str().is_some_and(|text| !text.contains(char::is_control))
}

#[cfg(test)]
mod tests {
    use omp_policy::ApprovalMode;
    use omp_types::AccessMap;

    use super::*;

    fn wishes(effects: &[Effect]) -> Wishes {
        let map = AccessMap {
            workspace: "/w".into(),
            hidden: vec!["/users/u/.ssh".into()],
            guarded: vec!["/w/.omp".into()],
            ..AccessMap::default()
        };
        Wishes::of(Access::new(map), effects)
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
        let (outside, hidden) = ("outside the workspace", "hidden from the model");
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
    fn where_nobody_can_be_asked_all_settings_are_named() {
        let told = |effects: &[Effect]| {
            let told = wishes(effects).settings().unwrap();
            told.split(" in config.yml").next().unwrap().to_owned()
        };
        assert_eq!(told(&[write("/srv/x")]), "`containment.writable: [/srv/x]`");
        assert_eq!(told(&[write("/srv/y"), write("/srv/x")]), "`containment.writable: [/srv/y, /srv/x]`");
        // The folder covers the files created in it, regardless of order.
        assert_eq!(told(&[write("/w/.omp/a"), write("/w/.omp")]), "`containment.writable: [/w/.omp]`");
        // The whole system is never opened.
        assert_eq!(told(&[write("/"), write("/srv/x")]), "`containment.writable: [/, /srv/x]`");
        assert_eq!(
            told(&[Effect::Read("/users/u/.ssh/id".into()), write("/srv/x")]),
            "`containment.shown: [/users/u/.ssh/id]` and `containment.writable: [/srv/x]`"
        );
    }

    #[test]
    fn nothing_critical_and_no_home_is_opened_for_good() {
        for (path, critical, offered) in [
            ("/srv/x", false, true),
            ("/srv/x", true, false),
            ("/", false, false),
            ("/users", false, false),
            ("/users/u", false, false),
            ("/users/u/notes", false, true),
            ("/users/u2", false, true),
        ] {
            let mut wishes = wishes(&[write(path)]);
            (wishes.home, wishes.is_critical) = (Some("/users/u".into()), critical);
            assert_eq!(!wishes.offers().is_empty(), offered, "{path}");
        }
    }

    #[test]
    fn a_link_and_a_service_are_told_by_what_a_yes_opens() {
        let agent = Service {
            name: "ssh-agent",
            sockets: vec!["/users/u/.ssh/agent".into()],
            files: vec!["/users/u/.ssh/known_hosts".into()],
            withheld: vec!["/users/u/.ssh/secret".into()],
        };
        let map = AccessMap {
            workspace: "/w".into(),
            hidden: vec!["/users/u/.ssh".into()],
            services: vec![agent],
            ..AccessMap::default()
        };
        let access = Access::new(map);
        let follow = |to: &str| Effect::Follow { link: "/w/link".into(), to: to.into() };
        let link = Wishes::of(access.clone(), &[follow("/srv/x"), follow("/w/x"), follow("/users/u/.ssh/id")]);
        assert_eq!(link.told(), "read /srv/x (a link in the workspace leads there)");
        assert_eq!(link.offers()[0].rules, ["read /srv/x"]);
        assert_eq!(link.settings().unwrap(), "`containment.shown: [/srv/x]` in config.yml allows it");
        let service = Wishes::of(access.clone(), &[Effect::Use("ssh-agent".into()), Effect::Use("other".into())]);
        assert_eq!(
            service.told(),
            "use ssh-agent (blocked for commands; allows /users/u/.ssh/agent, /users/u/.ssh/known_hosts; \
             /users/u/.ssh/secret stays hidden: it contains credentials)"
        );
        assert_eq!(service.offers()[0].rules, ["use ssh-agent"]);
        assert_eq!(service.settings().unwrap(), "`containment.sockets: [ssh-agent]` in config.yml allows it");
        let loans = service.lend("call");
        let lent = access.map_of("call");
        let may = |path: &str| lent.allows(Touch::Read, Path::new(path)).is_ok();
        assert!(may("/users/u/.ssh/agent") && may("/users/u/.ssh/known_hosts") && !may("/users/u/.ssh/secret"));
        drop(loans);
        assert!(access.map_of("call").allows(Touch::Read, Path::new("/users/u/.ssh/agent")).is_err());
    }

    #[test]
    fn what_forbids_stays_and_everything_else_is_asked_about() {
        let denied = || wishes(&[write("/srv/x")]);
        let asked = |reason: &str| Verdict::ask(Some(reason.to_owned()), DecidedBy::Access { besides: None });
        let run = || Verdict::run(DecidedBy::Mode(ApprovalMode::Auto));
        assert_eq!(denied().verdict(run()), asked("write to /srv/x (outside the workspace)"));
        let why = Verdict::ask(Some("it is big".to_owned()), DecidedBy::Hook);
        let both = Verdict {
            by: DecidedBy::Access { besides: Some(Box::new(DecidedBy::Hook)) },
            ..asked("write to /srv/x (outside the workspace); it is big")
        };
        assert_eq!(denied().verdict(why), both);
        let forbidden = Verdict::deny("no".to_owned(), DecidedBy::PlanMode);
        assert_eq!(denied().verdict(forbidden.clone()), forbidden);
        assert_eq!(wishes(&[write("/w/a")]).verdict(run()), run());
        assert!(Wishes::of(Access::new(AccessMap::open("/w")), &[write("/srv/x")]).is_empty());
    }
}

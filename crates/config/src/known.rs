//! The known settings: those declared by crates, and the names that only other versions use.

use std::sync::Arc;

use omp_types::Setting;

/// Names of the program that omp follows, grouped by their first word; a star marks a map.
const REFERENCE: &str = include_str!("../data/reference-settings.txt");

/// The meaning of a dotted key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Named<'a> {
    Setting(&'a Setting),
    /// An entry of a map, such as `tools.approval.bash`.
    Entry(&'a Setting),
    /// Kept for other versions; not read here.
    Unused,
}

/// The known settings. Empty by default, in which case nothing is checked.
#[derive(Clone, Debug, Default)]
pub struct Known {
    settings: Arc<[Setting]>,
}

impl Known {
    pub fn new(settings: impl IntoIterator<Item = Setting>) -> Self {
        Self { settings: settings.into_iter().collect() }
    }

    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    pub fn get(&self, key: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.key == key)
    }

    pub fn find(&self, key: &str) -> Option<Named<'_>> {
        if let Some(setting) = self.get(key) {
            return Some(Named::Setting(setting));
        }
        let is_above = |setting: &&Setting| setting.kind.is_map() && is_below(key, setting.key);
        if let Some(map) = self.settings.iter().find(is_above) {
            return Some(Named::Entry(map));
        }
        // `$schema` is for editors.
        (key == "$schema" || is_in_reference(key)).then_some(Named::Unused)
    }

    /// Returns a setting of the group if the key names a group.
    pub fn group(&self, key: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| is_below(setting.key, key))
    }

    /// Whether there is a group of this name, here or in other versions.
    pub fn has_group(&self, key: &str) -> bool {
        self.group(key).is_some() || reference().any(|(name, _)| is_below(&name, key))
    }

    /// Returns the only setting whose last word is similar.
    pub fn near_tail(&self, key: &str) -> Option<String> {
        let tail = |setting: &&Setting| {
            let last = setting.key.rsplit('.').next().unwrap_or_default();
            last != "enabled" && omp_stdx::nearest::nearest(key, [last]).is_some()
        };
        let mut near = self.settings.iter().filter(tail);
        let first = near.next()?;
        near.next().is_none().then(|| first.key.to_owned())
    }

    /// Returns the name that was probably meant.
    pub fn nearest(&self, key: &str) -> Option<String> {
        let names: Vec<String> = self.names().collect();
        let close = omp_stdx::nearest::likely(key, &names, 8);
        let close = close.into_iter().find(|name| differs_by_slips(key, name)).map(str::to_owned);
        close.or_else(|| {
            let tail = |name: &str| name.rsplit('.').next().unwrap_or_default().to_lowercase();
            let same =
                names.iter().filter(|name| tail(name) == tail(key) && tail(key) != "enabled").collect::<Vec<_>>();
            if let [only] = same[..] { Some(only.clone()) } else { None }
        })
    }

    /// Returns every name, those of other versions last.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let declared = self.settings.iter().map(|setting| setting.key.to_owned());
        declared.chain(reference().map(|(name, _)| name).filter(|name| self.get(name).is_none()))
    }
}

/// Returns names that only other versions use, and whether they are maps.
pub fn reference() -> impl Iterator<Item = (String, bool)> {
    REFERENCE.lines().flat_map(|line| {
        let (group, names) = line.split_once(':').unwrap_or(("", line));
        names.split_whitespace().map(move |name| {
            let bare = name.trim_end_matches('*');
            let full = if group.is_empty() { bare.to_owned() } else { format!("{group}.{bare}") };
            (full, name.ends_with('*'))
        })
    })
}

/// Builds no strings, because every key of every file is looked up.
fn is_in_reference(key: &str) -> bool {
    let (group, rest) = key.split_once('.').unwrap_or(("", key));
    let names = |group: &str| REFERENCE.lines().find_map(|line| line.strip_prefix(group)?.strip_prefix(':'));
    let has = |names: &str, rest: &str| {
        names.split_whitespace().any(|name| match name.strip_suffix('*') {
            Some(map) => rest == map || is_below(rest, map),
            None => rest == name,
        })
    };
    names(group).is_some_and(|names| has(names, rest)) || names("").is_some_and(|names| has(names, key))
}

fn is_below(key: &str, group: &str) -> bool {
    key.strip_prefix(group).is_some_and(|rest| rest.starts_with('.'))
}

/// Compares word by word, because long common parts make any two keys look similar.
fn differs_by_slips(key: &str, name: &str) -> bool {
    let (words, meant): (Vec<&str>, Vec<&str>) = (key.split('.').collect(), name.split('.').collect());
    let is_close =
        |(word, meant): (&&str, &&str)| word == meant || omp_stdx::nearest::nearest(word, [*meant]).is_some();
    words.len() == meant.len() && words.iter().zip(&meant).all(is_close)
}

#[cfg(test)]
mod tests {
    use omp_types::SettingKind;

    use super::*;

    fn known() -> Known {
        Known::new([
            Setting::new("", "tools.approvalMode", SettingKind::Text, "", ""),
            Setting::new("", "tools.approval", SettingKind::MapOf(&["deny"]), "", ""),
            Setting::new("", "retry.maxRetries", SettingKind::Text, "", ""),
            Setting::new("", "bash.enabled", SettingKind::Bool, "", ""),
        ])
    }

    #[test]
    fn keys_stand_for_what_is_declared_or_for_what_others_know() {
        let known = known();
        let told = |key: &str| match known.find(key) {
            Some(Named::Setting(setting)) => format!("setting {}", setting.key),
            Some(Named::Entry(setting)) => format!("entry of {}", setting.key),
            Some(Named::Unused) => "unused".to_owned(),
            None => "unknown".to_owned(),
        };
        for (key, expect) in [
            ("bash.enabled", "setting bash.enabled"),
            ("tools.approval.read", "entry of tools.approval"),
            ("tools.approvals", "unknown"),
            ("advisor.enabled", "unused"),
            ("shellPath", "unused"),
            ("retry.fallbackChains.a", "unused"),
            ("retry.modelFallback.a", "unknown"),
            ("bash", "unknown"),
        ] {
            assert_eq!(told(key), expect, "{key}");
        }
        assert!(known.group("bash").is_some() && known.group("bas").is_none());
    }

    #[test]
    fn a_slip_is_told_from_a_name_of_somebody_elses() {
        for (key, expect) in [
            ("tool.approvalMode", Some("tools.approvalMode")),
            ("tools.aprovalMode", Some("tools.approvalMode")),
            ("tools.approvalmode", Some("tools.approvalMode")),
            ("approvalMode", Some("tools.approvalMode")),
            ("retries.maxRetries", Some("retry.maxRetries")),
            ("statusline.preset", Some("statusLine.preset")),
            ("myown.enabled", None),
            ("company.endpoint", None),
            ("x", None),
        ] {
            assert_eq!(known().nearest(key).as_deref(), expect, "{key}");
        }
    }

    #[test]
    fn the_names_of_other_versions_are_whole() {
        let names: Vec<String> = reference().map(|(name, _)| name).collect();
        assert!(names.len() > 350, "{}", names.len());
        assert!(
            ["modelRoles", "thinkingBudgets.max", "task.isolation.mode", "web_search.enabled"]
                .iter()
                .all(|name| names.iter().any(|known| known == name))
        );
        assert!(names.iter().all(|name| !name.contains(['*', ' ', ':']) && is_in_reference(name)));
        assert!(is_in_reference("modelRoles.default") && !is_in_reference("advisor.enable"));
    }
}

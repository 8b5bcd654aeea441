//! The environment of a child: the user's environment without secrets of omp, and with variables that keep programs from
//! prompting.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use omp_types::{Env, PROVIDER_KEYS, vars};

use crate::spawn::MARK_VARIABLE;

/// The complete environment of a child.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChildEnv {
    values: BTreeMap<String, String>,
}

/// A child has no user, so it must not open a pager or an editor or wait for an answer.
const UNATTENDED: &[(&str, &str)] = &[
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("GLAB_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("BAT_PAGER", "cat"),
    ("DELTA_PAGER", "cat"),
    ("PSQL_PAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("AWS_PAGER", ""),
    ("EDITOR", "true"),
    ("VISUAL", "true"),
    ("GIT_EDITOR", "true"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("GIT_MERGE_AUTOEDIT", "no"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("SSH_ASKPASS", "/usr/bin/false"),
    ("GH_PROMPT_DISABLED", "1"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("PIP_NO_INPUT", "1"),
    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
    ("npm_config_yes", "true"),
    ("npm_config_update_notifier", "false"),
    ("npm_config_fund", "false"),
    ("npm_config_progress", "false"),
    ("CARGO_TERM_PROGRESS_WHEN", "never"),
    ("COMPOSER_NO_INTERACTION", "1"),
    ("CLOUDSDK_CORE_DISABLE_PROMPTS", "1"),
    ("TF_INPUT", "0"),
    // Output arrives line by line, in the order in which it was printed.
    ("PYTHONUNBUFFERED", "1"),
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
];

/// Set instead of [`UNATTENDED`] for a command in a terminal that the user works with. omp's terminal understands what xterm
/// does, but not its line-drawing character set, so programs draw lines with Unicode.
const IN_TERMINAL: &[(&str, &str)] = &[("TERM", "xterm-256color"), ("NCURSES_NO_UTF8_ACS", "1")];

/// The number of git settings passed in variables.
const GIT_SETTINGS: &str = "GIT_CONFIG_COUNT";

/// Variables that describe the shell omp was started from, not the one it starts.
const OF_THE_PARENT_SHELL: &[&str] =
    &["PWD", "OLDPWD", "SHLVL", "PS1", "PS2", "PS4", "PROMPT_COMMAND", "_", "COLUMNS", "LINES"];

/// Secrets of omp that are not provider keys.
const OWN_SECRETS: &[&str] = &["ANTHROPIC_FOUNDRY_API_KEY", "ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CODE_CLIENT_KEY"];

/// Provider keys that common programs (`glab`, `huggingface-cli`) also read.
const OF_OTHER_PROGRAMS: &[&str] = &["GITLAB_TOKEN", "HF_TOKEN", "HUGGINGFACE_HUB_TOKEN"];

impl ChildEnv {
    /// The user's environment without provider keys and omp's secrets, for a child without a user.
    pub fn unattended(env: &Env) -> Self {
        let mut values: BTreeMap<String, String> = env
            .iter()
            .filter(|(name, value)| is_passed_on(name) && !env.is_kept_back(value))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        values.extend(UNATTENDED.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        if env.get(vars::PI_BASH_NO_CI).or_else(|| env.get(vars::CLAUDE_BASH_NO_CI)).is_none() {
            values.insert("CI".into(), "true".into());
        }
        Self { values }
    }

    /// The user's environment without provider keys and omp's secrets, for a program that the user works with.
    pub fn attended(env: &Env) -> Self {
        let passed = env.iter().filter(|(name, value)| is_passed_on(name) && !env.is_kept_back(value));
        Self { values: passed.map(|(name, value)| (name.to_owned(), value.to_owned())).collect() }
    }

    /// What to change in this environment for a command that the user works with in a terminal: the variables that keep
    /// programs from prompting get the user's own values back. `None` removes a variable.
    pub(crate) fn changes_for_terminal(&self, env: &Env) -> BTreeMap<String, Option<String>> {
        let of_user = Self::attended(env);
        let own = |name: &str| (name.to_owned(), of_user.get(name).map(str::to_owned));
        let kept_quiet = UNATTENDED.iter().chain([&("CI", "true")]);
        let ours = kept_quiet.filter(|(name, value)| self.get(name) == Some(value));
        let mut changes: BTreeMap<_, _> = ours.map(|(name, _)| own(name)).collect();
        changes.extend(IN_TERMINAL.iter().map(|(name, value)| ((*name).to_owned(), Some((*value).to_owned()))));
        changes
    }

    /// Sets a variable, replacing an existing one.
    pub fn set(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.values.insert(name.into(), value.into());
        self
    }

    pub(crate) fn changed(mut self, changes: &BTreeMap<String, Option<String>>) -> Self {
        for (name, value) in changes {
            match value {
                Some(value) => self.values.insert(name.clone(), value.clone()),
                None => self.values.remove(name),
            };
        }
        self
    }

    /// The variables that add `settings` to the git settings passed in this environment. Empty if all of them are already
    /// there, such as after an earlier command of the same shell.
    pub(crate) fn more_of_git(&self, settings: &[(String, String)]) -> Vec<(String, String)> {
        // If this is not a number, git exits with an error, which is intended.
        let Ok(told) = self.get(GIT_SETTINGS).filter(|count| !count.is_empty()).unwrap_or("0").parse::<usize>() else {
            return Vec::new();
        };
        let pair = |at: usize| (self.get(&format!("GIT_CONFIG_KEY_{at}")), self.get(&format!("GIT_CONFIG_VALUE_{at}")));
        let is_told =
            |key: &str, value: &str| (0..told.min(self.values.len())).any(|at| pair(at) == (Some(key), Some(value)));
        let missing: Vec<_> = settings.iter().filter(|(key, value)| !is_told(key, value)).collect();
        let mut variables = Vec::new();
        for (at, (key, value)) in (told..).zip(&missing) {
            variables.push((format!("GIT_CONFIG_KEY_{at}"), key.clone()));
            variables.push((format!("GIT_CONFIG_VALUE_{at}"), value.clone()));
        }
        if !missing.is_empty() {
            variables.push((GIT_SETTINGS.to_owned(), (told + missing.len()).to_string()));
        }
        variables
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Whether a child may get the variable: not a key, and not specific to the shell that omp was started from.
pub(crate) fn is_passed_on(name: &str) -> bool {
    static PROVIDER: LazyLock<BTreeSet<&str>> =
        LazyLock::new(|| PROVIDER_KEYS.iter().flat_map(|(_, names)| names.iter().copied()).collect());
    !(name.is_empty()
        || name.contains(['=', '\0'])
        || name == MARK_VARIABLE
        || (PROVIDER.contains(name) && !OF_OTHER_PROGRAMS.contains(&name))
        || OWN_SECRETS.contains(&name)
        || OF_THE_PARENT_SHELL.contains(&name)
        || is_own_secret(name))
}

fn is_own_secret(name: &str) -> bool {
    let own = name.starts_with("OMP_") || name.starts_with("PI_");
    own && ["KEY", "TOKEN", "SECRET", "PASSWORD"].iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &[(&str, &str)], name: &str, expect: Option<&str>) {
        let env: Env = given.iter().copied().collect();
        assert_eq!(ChildEnv::unattended(&env).get(name), expect, "{name}");
    }

    #[test]
    fn keys_stay_with_omp() {
        for name in PROVIDER_KEYS.iter().flat_map(|(_, names)| names.iter()) {
            let expect = OF_OTHER_PROGRAMS.contains(name).then_some("sk-1");
            check(&[(name, "sk-1")], name, expect);
        }
        for name in ["ANTHROPIC_FOUNDRY_API_KEY", "OMP_COLLAB_TOKEN", "PI_AUTH_SECRET", "OMP_SPAWN"] {
            check(&[(name, "x")], name, None);
        }
    }

    #[test]
    fn so_do_keys_of_providers_that_only_the_user_knows() {
        let env: Env = [("MY_OWN_KEY", "secret-1234"), ("OTHER", "secret-12345"), ("SHORT", "x")].into_iter().collect();
        let env = env.keeping_back(["secret-1234".to_owned(), "x".to_owned()]);
        for child in [ChildEnv::unattended(&env), ChildEnv::attended(&env)] {
            assert_eq!(
                (child.get("MY_OWN_KEY"), child.get("OTHER"), child.get("SHORT")),
                (None, Some("secret-12345"), Some("x"))
            );
        }
        assert_eq!(env.lookup("MY_OWN_KEY"), Some("secret-1234"), "omp itself has it");
    }

    #[test]
    fn programs_in_a_terminal_may_ask_again() {
        let env: Env = [("EDITOR", "nano"), ("TERM", "xterm-kitty"), ("PATH", "/bin")].into_iter().collect();
        let quiet = ChildEnv::unattended(&env).set("GIT_EDITOR", "ed");
        let env = quiet.clone().changed(&quiet.changes_for_terminal(&env));
        for (name, expect) in [
            ("EDITOR", Some("nano")),
            ("GIT_EDITOR", Some("ed")),
            ("GIT_SEQUENCE_EDITOR", None),
            ("PAGER", None),
            ("CI", None),
            ("NO_COLOR", None),
            ("TERM", Some("xterm-256color")),
            ("PATH", Some("/bin")),
        ] {
            assert_eq!(env.get(name), expect, "{name}");
        }
    }

    #[test]
    fn git_is_told_of_more_settings_once() {
        let settings = [("gpg.program".to_owned(), "/x".to_owned()), ("gpg.ssh.program".to_owned(), "/y".to_owned())];
        let told = |env: &ChildEnv| {
            let more = env.more_of_git(&settings);
            more.into_iter().fold(env.clone(), |env, (name, value)| env.set(name, value))
        };
        let of_user = ChildEnv::default().set("GIT_CONFIG_COUNT", "1").set("GIT_CONFIG_KEY_0", "a.b");
        for (env, count) in [(ChildEnv::default(), "2"), (of_user.set("GIT_CONFIG_VALUE_0", "c"), "3")] {
            let once = told(&env);
            assert_eq!((once.get("GIT_CONFIG_COUNT"), told(&once) == once), (Some(count), true), "{once:?}");
            let last = if count == "2" { "GIT_CONFIG_VALUE_1" } else { "GIT_CONFIG_VALUE_2" };
            assert_eq!(once.get(last), Some("/y"));
            // A command has set others: they are kept, and ours are added after them.
            let other = once.set("GIT_CONFIG_COUNT", "1").set("GIT_CONFIG_VALUE_0", "theirs");
            let again = told(&other);
            assert_eq!((again.get("GIT_CONFIG_COUNT"), again.get("GIT_CONFIG_VALUE_0")), (Some("3"), Some("theirs")));
        }
        assert_eq!(ChildEnv::default().set("GIT_CONFIG_COUNT", "x").more_of_git(&settings), []);
    }

    #[test]
    fn the_rest_is_the_users() {
        check(&[("PATH", "/bin")], "PATH", Some("/bin"));
        check(&[("MY_TOKEN", "t")], "MY_TOKEN", Some("t"));
        check(&[("BASH_FUNC_module%%", "() { :; }")], "BASH_FUNC_module%%", Some("() { :; }"));
        check(&[("SHLVL", "3")], "SHLVL", None);
    }

    #[test]
    fn nothing_asks() {
        check(&[("PAGER", "less")], "PAGER", Some("cat"));
        check(&[], "GIT_EDITOR", Some("true"));
        check(&[], "CI", Some("true"));
        check(&[("PI_BASH_NO_CI", "1")], "CI", None);
        check(&[("CLAUDE_BASH_NO_CI", "1"), ("CI", "mine")], "CI", Some("mine"));
    }
}

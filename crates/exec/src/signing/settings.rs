//! The user's own git settings for signing: those of the system and of the account, never those of a repository, which
//! anybody may have written.
//!
//! Settings for certain repositories (`includeIf`) count as well, in any working folder: git itself decides which key it
//! asks for, and every key in these settings is one that the user has named for signing.

use std::path::{Path, PathBuf};

use omp_stdx::plain_file;
use omp_types::Env;

/// Maximum bytes read from one file.
const LARGEST: u64 = 1 << 20;
/// Maximum files read, and maximum depth of includes.
const MOST_FILES: usize = 100;
const DEEPEST: usize = 10;
/// Paths of the system settings in git's packages.
const OF_SYSTEM: &[&str] = &["/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig"];

/// The signature format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignatureFormat {
    OpenPgp,
    X509,
    Ssh,
}

impl SignatureFormat {
    pub(super) const ALL: [Self; 3] = [Self::OpenPgp, Self::X509, Self::Ssh];

    /// The name in `gpg.format`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::OpenPgp => "openpgp",
            Self::X509 => "x509",
            Self::Ssh => "ssh",
        }
    }

    /// The settings that name its program; omp sets the first one.
    pub(super) fn keys(self) -> &'static [&'static str] {
        match self {
            Self::OpenPgp => &["gpg.program", "gpg.openpgp.program"],
            Self::X509 => &["gpg.x509.program"],
            Self::Ssh => &["gpg.ssh.program"],
        }
    }

    /// The default program of git.
    pub(super) fn usual_program(self) -> &'static str {
        match self {
            Self::OpenPgp => "gpg",
            Self::X509 => "gpgsm",
            Self::Ssh => "ssh-keygen",
        }
    }
}

/// The settings at the start of the first command: later changes by a command are ignored.
#[derive(Debug, Default)]
pub(super) struct UserSettings {
    entries: Vec<GitSetting>,
    home: PathBuf,
}

#[derive(Debug)]
struct GitSetting {
    name: String,
    value: String,
    /// Applies to certain repositories only.
    is_conditional: bool,
}

struct GitSettingsReader<'a> {
    home: &'a Path,
    is_trusted: &'a dyn Fn(&Path) -> bool,
    entries: Vec<GitSetting>,
    files: usize,
}

impl UserSettings {
    /// Skips files that are not trusted.
    pub(super) fn read(home: &Path, env: &Env, is_trusted: &dyn Fn(&Path) -> bool) -> Self {
        let get = |name: &str| env.iter().find(|(key, _)| *key == name).map(|(_, value)| value);
        let mut reader = GitSettingsReader { home, is_trusted, entries: Vec::new(), files: 0 };
        if get("GIT_CONFIG_NOSYSTEM").is_none_or(|value| !is_true(value)) {
            match get("GIT_CONFIG_SYSTEM") {
                Some(file) => reader.file(Path::new(file), false, 0),
                None => OF_SYSTEM.iter().for_each(|file| reader.file(Path::new(file), false, 0)),
            }
        }
        match get("GIT_CONFIG_GLOBAL") {
            Some(file) => reader.file(Path::new(file), false, 0),
            None => {
                let config = get("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
                let config = config.unwrap_or_else(|| home.join(".config"));
                reader.file(&config.join("git/config"), false, 0);
                reader.file(&home.join(".gitconfig"), false, 0);
            }
        }
        let count = get("GIT_CONFIG_COUNT").and_then(|count| count.parse::<usize>().ok()).unwrap_or_default();
        for at in 0..count.min(MOST_FILES) {
            let pair = (get(&format!("GIT_CONFIG_KEY_{at}")), get(&format!("GIT_CONFIG_VALUE_{at}")));
            if let (Some(name), Some(value)) = pair {
                reader.entries.push(GitSetting { name: small(name), value: value.to_owned(), is_conditional: false });
            }
        }
        Self { entries: reader.entries, home: home.to_owned() }
    }

    /// Whether the settings ask for signatures or could.
    pub(super) fn ask_for_signatures(&self) -> bool {
        let switches = ["commit.gpgsign", "tag.gpgsign", "tag.forcesignannotated"];
        self.entries.iter().any(|entry| match entry.name.as_str() {
            "user.signingkey" => !entry.value.is_empty(),
            name => switches.contains(&name) && is_true(&entry.value),
        })
    }

    /// The formats that git may select.
    pub(super) fn formats(&self) -> Vec<SignatureFormat> {
        let is_set = self.entries.iter().any(|entry| entry.name == "gpg.format" && !entry.is_conditional);
        let is_named = |format: &SignatureFormat| self.all("gpg.format").any(|value| value == format.name());
        let is_used = |format: &SignatureFormat| is_named(format) || (*format == SignatureFormat::OpenPgp && !is_set);
        SignatureFormat::ALL.into_iter().filter(is_used).collect()
    }

    /// The program that git would start, as written in the settings.
    pub(super) fn program(&self, format: SignatureFormat) -> &str {
        let named = |is_conditional: bool| {
            let of_kind = |entry: &&GitSetting| entry.is_conditional == is_conditional;
            let mut entries = self.entries.iter().filter(of_kind).rev();
            entries.find(|entry| format.keys().contains(&entry.name.as_str())).map(|entry| entry.value.as_str())
        };
        named(false).or_else(|| named(true)).unwrap_or(format.usual_program())
    }

    /// Whether the program is the one the user has set, or the default if the user has set none.
    pub(super) fn is_own_program(&self, format: SignatureFormat, value: Option<&str>) -> bool {
        let mut own = format.keys().iter().flat_map(|key| self.all(key));
        value.is_none_or(|value| own.any(|own| own == value))
    }

    pub(super) fn signing_keys(&self) -> impl Iterator<Item = &str> {
        self.all("user.signingkey").filter(|key| !key.is_empty())
    }

    /// Whether the text is the user's identity, such as `Some One <someone@example.com>`, by which git asks for a key if
    /// none is named.
    pub(super) fn is_own_identity(&self, text: &str) -> bool {
        let parts = text.strip_suffix('>').and_then(|text| text.rsplit_once(" <"));
        let is_own = |part: &str, keys: [&str; 2]| keys.iter().any(|key| self.all(key).any(|own| own == part));
        parts.is_some_and(|(name, email)| {
            is_own(name, ["user.name", "committer.name"]) && is_own(email, ["user.email", "committer.email"])
        })
    }

    /// The files that list allowed ssh signers.
    pub(super) fn allowed_signers(&self) -> impl Iterator<Item = PathBuf> {
        self.all("gpg.ssh.allowedsignersfile").map(|file| self.expanded(file))
    }

    /// Replaces a leading `~/` by the home folder.
    pub(super) fn expanded(&self, path: &str) -> PathBuf {
        expanded(path, &self.home)
    }

    fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let name = name.to_owned();
        self.entries.iter().filter(move |entry| entry.name == name).map(|entry| entry.value.as_str())
    }
}

impl GitSettingsReader<'_> {
    /// Reads a settings file, with included files at their position.
    fn file(&mut self, file: &Path, is_conditional: bool, depth: usize) {
        if self.files >= MOST_FILES || depth > DEEPEST || !file.is_absolute() || !(self.is_trusted)(file) {
            return;
        }
        self.files += 1;
        let text = plain_file::read_text(file, LARGEST).unwrap_or_default();
        for (name, value) in omp_contain::settings_in(&text).unwrap_or_default() {
            let is_if = name.starts_with("includeif.") && name.ends_with(".path");
            if is_if || name == "include.path" {
                let path = expanded(&value, self.home);
                let path = file.parent().map(|folder| folder.join(&path)).unwrap_or(path);
                self.file(&path, is_conditional || is_if, depth + 1);
            } else {
                self.entries.push(GitSetting { name, value, is_conditional });
            }
        }
    }
}

fn expanded(path: &str, home: &Path) -> PathBuf {
    path.strip_prefix("~/").map_or_else(|| PathBuf::from(path), |below| home.join(below))
}

/// Lowercases the name except its middle part, which is case-sensitive.
fn small(name: &str) -> String {
    match (name.find('.'), name.rfind('.')) {
        (Some(first), Some(last)) if first < last => {
            let (section, key) = (&name[..first], &name[last..]);
            format!("{}{}{}", section.to_ascii_lowercase(), &name[first..last], key.to_ascii_lowercase())
        }
        _ => name.to_ascii_lowercase(),
    }
}

/// Parses a boolean as git does; a number is true unless it is zero.
fn is_true(value: &str) -> bool {
    let is_word = ["true", "yes", "on"].iter().any(|word| value.eq_ignore_ascii_case(word));
    is_word || value.parse::<i64>().is_ok_and(|number| number != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scene(tempfile::TempDir);

    impl Scene {
        fn new(files: &[(&str, &str)]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            for (name, text) in files {
                let path = folder.path().join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            Self(folder)
        }

        fn read(&self, env: &[(&str, &str)]) -> UserSettings {
            let env: Env = env.iter().copied().chain([("GIT_CONFIG_NOSYSTEM", "1")]).collect();
            UserSettings::read(self.0.path(), &env, &|path| !path.ends_with("untrusted"))
        }
    }

    fn keys(settings: &UserSettings) -> Vec<&str> {
        settings.signing_keys().collect()
    }

    #[test]
    fn nothing_is_asked_for_unless_the_user_does() {
        for (text, expect) in [
            ("", false),
            ("[user]\n\tname = a\n\temail = a@b\n", false),
            ("[commit]\n\tgpgsign = false\n[gpg]\n\tformat = ssh\n", false),
            ("[commit]\n\tgpgSign\n", true),
            ("[tag]\n\tgpgsign = yes\n", true),
            ("[tag]\n\tforceSignAnnotated = 1\n", true),
            ("[user]\n\tsigningKey = ABC\n", true),
            ("[user]\n\tsigningkey =\n", false),
            // Git rejects the whole file as well.
            ("[user]\n\tsigningkey = ABC\n[broken\n", false),
        ] {
            let settings = Scene::new(&[(".gitconfig", text)]).read(&[]);
            assert_eq!(settings.ask_for_signatures(), expect, "{text}");
        }
    }

    #[test]
    fn every_file_of_the_user_counts() {
        let scene = Scene::new(&[
            (".config/git/config", "[user]\n\tsigningkey = one\n\tname = A B\n[include]\n\tpath = more\n"),
            (".config/git/more", "[user]\n\tsigningkey = two\n\temail = a@b\n"),
            (
                ".gitconfig",
                "[includeIf \"gitdir:~/work/\"]\n\tpath = ~/work.inc\n[include]\n\tpath = untrusted\n[include]\n\tpath = missing\n\
                 [gpg \"ssh\"]\n\tallowedSignersFile = ~/.ssh/allowed\n",
            ),
            ("work.inc", "[user]\n\tsigningkey = three\n[gpg]\n\tformat = ssh\n[gpg \"ssh\"]\n\tprogram = op\n"),
            ("untrusted", "[user]\n\tsigningkey = evil\n[gpg]\n\tprogram = evil\n"),
        ]);
        let env = [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "User.signingKey"), ("GIT_CONFIG_VALUE_0", "four")];
        let settings = scene.read(&env);
        assert_eq!(keys(&settings), ["one", "two", "three", "four"]);
        assert_eq!(settings.formats(), [SignatureFormat::OpenPgp, SignatureFormat::Ssh]);
        assert_eq!((settings.program(SignatureFormat::OpenPgp), settings.program(SignatureFormat::Ssh)), ("gpg", "op"));
        assert_eq!(settings.allowed_signers().collect::<Vec<_>>(), [scene.0.path().join(".ssh/allowed")]);
        assert!(settings.is_own_identity("A B <a@b>"));
        for other in ["A <a@b>", "A B <a@c>", "A B", "<a@b>", "", "A B <a@b> x"] {
            assert!(!settings.is_own_identity(other), "{other}");
        }
        let moved = [("GIT_CONFIG_GLOBAL", "/no/such/file")];
        assert_eq!(keys(&scene.read(&moved)), [""; 0]);
    }

    #[test]
    fn a_program_is_the_users_or_git_has_none() {
        let text = "[gpg]\n\tprogram = first\n[gpg \"openpgp\"]\n\tprogram = last\n[gpg]\n\tformat = openpgp\n";
        let settings = Scene::new(&[(".gitconfig", text)]).read(&[]);
        assert_eq!(settings.program(SignatureFormat::OpenPgp), "last");
        let is_own = |value| settings.is_own_program(SignatureFormat::OpenPgp, value);
        assert!(is_own(Some("last")) && is_own(Some("first")) && is_own(None));
        assert!(!is_own(Some("evil")) && !settings.is_own_program(SignatureFormat::Ssh, Some("ssh-keygen")));
        assert_eq!(settings.formats(), [SignatureFormat::OpenPgp]);
    }

    #[test]
    fn files_that_include_each_other_end() {
        let text = "[include]\n\tpath = .gitconfig\n[include]\n\tpath = ~/.gitconfig\n[user]\n\tsigningkey = one\n";
        let settings = Scene::new(&[(".gitconfig", text)]).read(&[]);
        assert!(!keys(&settings).is_empty() && keys(&settings).len() <= MOST_FILES);
    }
}

//! Checks a signing request: only a commit or a tag is signed, only with the arguments that git uses, and only with a key
//! from the user's own settings.

use std::path::{Path, PathBuf};

use omp_stdx::real_path;

use super::settings::{SignatureFormat, UserSettings};

/// Maximum bytes of a commit or tag with its message.
pub(super) const LARGEST_PAYLOAD: usize = 1 << 20;

/// The prefix of every message that explains why there is no signature.
pub(super) const NOT_SIGNED: &str = "omp did not sign";

/// The kind of object to sign, and the key to sign with.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SigningOrder {
    pub(super) object: Object,
    pub(super) key: SigningKey,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Object {
    Commit,
    Tag,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum SigningKey {
    /// A key name for gpg.
    Named(String),
    /// A key file of ssh.
    File(PathBuf),
    /// The public half of a key in an ssh agent.
    Literal(String),
}

/// Why nothing is signed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SigningRefusal {
    #[error(
        "{NOT_SIGNED}: only requests from git itself are signed, and this was: {0}\nhint: sign with `git commit -S` or `git tag -s`"
    )]
    Arguments(String),
    #[error(
        "{NOT_SIGNED}: only commits and tags are signed, and this is neither: {0}\nhint: sign with `git commit -S` or `git tag -s`"
    )]
    NoObject(&'static str),
    #[error(
        "{NOT_SIGNED}: a commit or tag with its message may have {LARGEST_PAYLOAD} bytes\nhint: shorten the message, or commit \
         with `--no-gpg-sign`"
    )]
    TooLarge,
    #[error(
        "{NOT_SIGNED}: it uses only the keys in the user's git settings, and {0} is not one of them\nhint: the user can set it with `git config --global user.signingkey` and restart omp; `--no-gpg-sign` commits without a signature"
    )]
    ForeignKey(String),
}

/// Whether `args` request a signature, valid or not.
pub(super) fn is_to_sign(format: SignatureFormat, args: &[String]) -> bool {
    match format {
        SignatureFormat::Ssh => args.iter().any(|arg| arg == "-Y") && args.iter().any(|arg| arg == "sign"),
        SignatureFormat::OpenPgp | SignatureFormat::X509 => args.iter().any(|arg| arg == "-bsau"),
    }
}

/// `literal` is the content of the file that git has written the public key to.
pub(super) fn judge(
    format: SignatureFormat,
    args: &[String],
    payload: &[u8],
    literal: &str,
    settings: &UserSettings,
) -> Result<SigningOrder, SigningRefusal> {
    if payload.len() > LARGEST_PAYLOAD {
        return Err(SigningRefusal::TooLarge);
    }
    let object = object(payload).map_err(SigningRefusal::NoObject)?;
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let key = match (format, args.as_slice()) {
        (SignatureFormat::OpenPgp | SignatureFormat::X509, ["--status-fd=2", "-bsau", key]) => {
            named_key(key, settings)?
        }
        (SignatureFormat::Ssh, ["-Y", "sign", "-n", "git", "-f", _, "-U", _]) => literal_key(literal, settings)?,
        (SignatureFormat::Ssh, ["-Y", "sign", "-n", "git", "-f", file, _]) => key_file(file, settings)?,
        _ => return Err(SigningRefusal::Arguments(args.join(" ").chars().take(200).collect())),
    };
    Ok(SigningOrder { object, key })
}

fn named_key(key: &str, settings: &UserSettings) -> Result<SigningKey, SigningRefusal> {
    // The key could be mistaken for an option.
    let is_own = settings.signing_keys().any(|own| own == key) || settings.is_own_identity(key);
    match is_own && !key.starts_with('-') {
        true => Ok(SigningKey::Named(key.to_owned())),
        false => Err(SigningRefusal::ForeignKey(format!("`{key}`"))),
    }
}

fn key_file(file: &str, settings: &UserSettings) -> Result<SigningKey, SigningRefusal> {
    let asked = real_path::of(Path::new(file));
    let mut own = settings.signing_keys().filter(|key| literal_of(key).is_none()).map(|key| settings.expanded(key));
    match own.find(|own| own.is_absolute() && real_path::of(own) == asked) {
        Some(own) => Ok(SigningKey::File(own)),
        None => Err(SigningRefusal::ForeignKey(format!("`{file}`"))),
    }
}

fn literal_key(literal: &str, settings: &UserSettings) -> Result<SigningKey, SigningRefusal> {
    let asked = kind_and_key(literal);
    let mut own = settings.signing_keys().filter_map(literal_of);
    match own.find(|own| kind_and_key(own).is_some_and(|own| Some(own) == asked)) {
        Some(own) => Ok(SigningKey::Literal(own.to_owned())),
        None => Err(SigningRefusal::ForeignKey("this one".to_owned())),
    }
}

/// The key itself, if the setting contains it.
fn literal_of(key: &str) -> Option<&str> {
    key.strip_prefix("key::").or_else(|| key.starts_with("ssh-").then_some(key))
}

/// Extracts `ssh-ed25519 AAAA…`, without the comment after it.
fn kind_and_key(literal: &str) -> Option<(&str, &str)> {
    let mut words = literal.split_ascii_whitespace();
    Some((words.next()?, words.next()?))
}

/// Parses a commit or tag object in git's format; an error says what is missing.
fn object(payload: &[u8]) -> Result<Object, &'static str> {
    if payload.contains(&0) {
        return Err("it contains a NUL byte");
    }
    let end = payload.windows(2).position(|pair| pair == b"\n\n").ok_or("no empty line follows its header")?;
    let header = std::str::from_utf8(&payload[..end]);
    // Names may be in any encoding, so only the checked parts have to be text.
    let header = header.map_or_else(|_| String::from_utf8_lossy(&payload[..end]).into_owned(), str::to_owned);
    let mut lines = header.lines().peekable();
    let first = lines.next().unwrap_or_default();
    if has_id(first, "tree ") {
        while lines.next_if(|line| has_id(line, "parent ")).is_some() {}
        let is_whole = lines.next().is_some_and(|line| has_person(line, "author "))
            && lines.next().is_some_and(|line| has_person(line, "committer "));
        return is_whole.then_some(Object::Commit).ok_or("its author or committer is missing");
    }
    if has_id(first, "object ") {
        let kinds = ["type commit", "type tree", "type blob", "type tag"];
        let is_whole = lines.next().is_some_and(|line| kinds.contains(&line))
            && lines.next().is_some_and(|line| line.strip_prefix("tag ").is_some_and(|name| !name.is_empty()))
            && lines.next().is_some_and(|line| has_person(line, "tagger "));
        return is_whole.then_some(Object::Tag).ok_or("its type, name or tagger is missing");
    }
    Err("it begins with neither `tree` nor `object`")
}

/// SHA-1 or SHA-256.
fn has_id(line: &str, before: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    line.strip_prefix(before).is_some_and(|id| matches!(id.len(), 40 | 64) && id.bytes().all(is_digit))
}

/// `author Some One <someone@example.com> 1700000000 +0100`
fn has_person(line: &str, before: &str) -> bool {
    let Some((who, when)) = line.strip_prefix(before).and_then(|rest| rest.rsplit_once("> ")) else { return false };
    let Some((time, zone)) = when.split_once(' ') else { return false };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    who.contains('<')
        && digits(time)
        && zone.strip_prefix(['+', '-']).is_some_and(|zone| zone.len() == 4 && digits(zone))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
    const WHO: &str = "A B <a@b> 1700000000 +0100";

    fn commit() -> String {
        format!("tree {TREE}\nparent {TREE}\nparent {TREE}\nauthor {WHO}\ncommitter {WHO}\nencoding x\n\nmessage\n")
    }

    fn settings(text: &str) -> (tempfile::TempDir, UserSettings) {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join(".gitconfig"), text).unwrap();
        let env = [("GIT_CONFIG_NOSYSTEM", "1")].into_iter().collect();
        let settings = UserSettings::read(home.path(), &env, &|_| true);
        (home, settings)
    }

    fn of_gpg(args: &[&str], payload: &str) -> Result<SigningOrder, SigningRefusal> {
        let (_home, settings) =
            settings("[user]\n\tsigningkey = ABC\n\tsigningkey = --output=x\n\tname = A B\n\temail = a@b\n");
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        judge(SignatureFormat::OpenPgp, &args, payload.as_bytes(), "", &settings)
    }

    #[test]
    fn commits_and_tags_are_signed() {
        let tag = format!("object {TREE}\ntype commit\ntag v1\ntagger {WHO}\n\nmessage\n");
        let long = format!("tree {TREE}{}\nauthor  <> 0 -0000\ncommitter {WHO}\n\n", &TREE[..24]);
        for (payload, object) in [(commit(), Object::Commit), (long, Object::Commit), (tag, Object::Tag)] {
            for key in ["ABC", "A B <a@b>"] {
                let order = of_gpg(&["--status-fd=2", "-bsau", key], &payload);
                assert_eq!(order, Ok(SigningOrder { object, key: SigningKey::Named(key.to_owned()) }), "{payload}");
            }
        }
    }

    #[test]
    fn nothing_else_is() {
        let commit = commit();
        for payload in [
            String::new(),
            "hello\n".to_owned(),
            commit.replace("\n\n", "\n"),
            commit.replace("tree ", "tree x"),
            commit.replace(&format!("author {WHO}\n"), ""),
            commit.replace("committer", "Committer"),
            commit.replace("+0100", "+01"),
            commit.replace(TREE, &TREE[1..]),
            commit.replace("message", "mess\0age"),
            format!("x{commit}"),
            format!("\n{commit}"),
            format!("object {TREE}\ntype commit\ntag v1\n\nmessage\n"),
            format!("object {TREE}\ntype key\ntag v1\ntagger {WHO}\n\nmessage\n"),
            format!("certificate version 0.1\npusher {WHO}\n\n{TREE} {TREE} refs/heads/main\n"),
        ] {
            let refused = of_gpg(&["--status-fd=2", "-bsau", "ABC"], &payload).unwrap_err();
            assert!(
                matches!(refused, SigningRefusal::NoObject(_)) && refused.to_string().contains("hint: "),
                "{payload}"
            );
        }
        let large = format!("{commit}{}", "x".repeat(LARGEST_PAYLOAD));
        assert_eq!(of_gpg(&["--status-fd=2", "-bsau", "ABC"], &large), Err(SigningRefusal::TooLarge));
    }

    #[test]
    fn only_the_words_of_git_count() {
        for args in [
            &["-bsau", "ABC"][..],
            &["--status-fd=2", "-bsau", "ABC", "file"],
            &["--status-fd=2", "-bsau", "ABC", "--decrypt"],
            &["--decrypt", "-bsau", "ABC"],
            &["--status-fd=2", "-bsau"],
            &["--status-fd=2", "--homedir=/x", "-bsau", "ABC"],
            &[],
        ] {
            let refused = of_gpg(args, &commit()).unwrap_err();
            assert!(matches!(refused, SigningRefusal::Arguments(_)), "{args:?}: {refused}");
        }
        for key in ["ABCD", "", "A B <x@y>", "--output=x"] {
            let refused = of_gpg(&["--status-fd=2", "-bsau", key], &commit()).unwrap_err();
            assert!(matches!(refused, SigningRefusal::ForeignKey(_)), "{key}: {refused}");
        }
    }

    #[test]
    fn keys_of_ssh_are_files_or_stand_in_the_settings() {
        let literal = "ssh-ed25519 AAAAone me@here";
        let (home, settings) = settings(&format!(
            "[user]\n\tsigningkey = ~/.ssh/id.pub\n\tsigningkey = key::{literal}\n\tsigningkey = ssh-rsa AAAAtwo\n"
        ));
        let own = settings.expanded("~/.ssh/id.pub");
        let check = |words: &str, literal: &str| {
            let args: Vec<String> = words.split(' ').map(str::to_owned).collect();
            judge(SignatureFormat::Ssh, &args, commit().as_bytes(), literal, &settings).map(|order| order.key)
        };
        let by_file = |file: &Path| check(&format!("-Y sign -n git -f {} /tmp/b", file.display()), "");
        assert_eq!(by_file(&own), Ok(SigningKey::File(own.clone())));
        // The path as git names it if the home folder is a link.
        let folders = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(home.path(), folders.path().join("link")).unwrap();
        std::fs::create_dir_all(own.parent().unwrap()).unwrap();
        std::fs::write(&own, "").unwrap();
        assert_eq!(by_file(&folders.path().join("link/.ssh/id.pub")), Ok(SigningKey::File(own.clone())));
        let by_agent = |literal: &str| check("-Y sign -n git -f /tmp/k -U /tmp/b", literal);
        assert_eq!(by_agent("ssh-ed25519 AAAAone"), Ok(SigningKey::Literal(literal.to_owned())));
        assert_eq!(by_agent("ssh-rsa AAAAtwo x\n"), Ok(SigningKey::Literal("ssh-rsa AAAAtwo".to_owned())));
        for foreign in [by_file(Path::new("/tmp/k")), by_agent("ssh-rsa AAAAone"), by_agent("")] {
            assert!(matches!(foreign, Err(SigningRefusal::ForeignKey(_))), "{foreign:?}");
        }
        for words in [
            "-Y sign -n ssh -f {} /tmp/b",
            "-Y sign -n file -f {} /tmp/b",
            "-Y sign -n git -f {}",
            "-Y sign -n git -f {} /tmp/b /tmp/c",
            "-Y sign -n git -f {} -O hashalg=sha512 /tmp/b",
            "-y -f {}",
        ] {
            let refused = check(&words.replace("{}", &own.display().to_string()), literal);
            assert!(matches!(refused, Err(SigningRefusal::Arguments(_))), "{words}: {refused:?}");
        }
    }
}

//! Finds credentials in the environment: by variable name, by the form of the value, by a password in a URL, by randomness.
//! A value that could be an ordinary word is hidden only after its name.

use std::path::Path;

use omp_stdx::percent::decoded;
use omp_types::{Env, PROVIDER_KEYS, is_secret_variable};

use crate::found::{FoundSecret, SecretEntry, SecretKind, SecretMode, SecretOrigin, is_common, is_telling};

/// Minimum length of a named secret; shorter ones protect nothing.
const SHORTEST_NAMED: usize = 4;
/// Longer values are documents, not credentials.
const LONGEST: usize = 16 << 10;
/// Maximum length of a word that may be ordinary text.
const LONGEST_WORD: usize = 15;
/// Maximum length of a number that may be ordinary text.
const LONGEST_NUMBER: usize = 11;
/// Minimum length of a line of a multi-line key that is also hidden separately.
const SHORTEST_LINE: usize = 24;
/// Minimum length for judging a value by its randomness.
const SHORTEST_RANDOM: usize = 24;
/// Limit per environment.
const MOST_FOUND: usize = 1_000;

/// Key prefixes of known services, with the minimum length of such a key.
const PREFIXES: &[(&str, usize)] = &[
    ("sk-", 20),
    ("sk_live_", 20),
    ("sk_test_", 20),
    ("rk_live_", 20),
    ("whsec_", 20),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("gldt-", 16),
    ("glcbt-", 16),
    ("AKIA", 20),
    ("ASIA", 20),
    ("ABSK", 40),
    ("xoxb-", 16),
    ("xoxp-", 16),
    ("xoxa-", 16),
    ("xoxr-", 16),
    ("xoxs-", 16),
    ("xapp-", 16),
    ("AIza", 30),
    ("ya29.", 20),
    ("GOCSPX-", 20),
    ("npm_", 30),
    ("pypi-", 30),
    ("rubygems_", 30),
    ("dckr_pat_", 20),
    ("dop_v1_", 30),
    ("doo_v1_", 30),
    ("hf_", 20),
    ("gsk_", 20),
    ("xai-", 20),
    ("pplx-", 20),
    ("nvapi-", 20),
    ("tvly-", 16),
    ("r8_", 20),
    ("SG.", 30),
    ("key-", 32),
    ("shpat_", 20),
    ("shpss_", 20),
    ("lin_api_", 20),
    ("figd_", 20),
    ("ntn_", 20),
    ("ATATT", 30),
    ("sntrys_", 20),
    ("sntryu_", 20),
    ("dapi", 32),
    ("pul-", 30),
    ("hvs.", 20),
    ("hvb.", 20),
    ("tskey-", 20),
    ("AGE-SECRET-KEY-", 30),
];

/// Returns the credentials of an environment: those of omp's own providers, and with `others` everything that looks like
/// one.
pub fn of_env(env: &Env, others: bool) -> Vec<FoundSecret> {
    let is_provider = |name: &str| PROVIDER_KEYS.iter().any(|(_, names)| names.contains(&name));
    let mut found = Vec::new();
    for (name, value) in env.iter().filter(|(_, value)| value.len() <= LONGEST) {
        if is_provider(name) {
            found.extend(FoundSecret::held(name, value));
        } else if others {
            found.extend(in_variable(name, value.trim()));
        }
    }
    found.truncate(MOST_FOUND);
    found
}

fn in_variable(name: &str, value: &str) -> Vec<FoundSecret> {
    let mut found = Vec::new();
    if is_secret_variable(name) {
        found.extend(by_name(name, value));
    }
    found.extend(in_addresses(name, value));
    if Path::new(value).is_absolute() {
        return found;
    }
    found.extend(in_fields(name, value));
    found.extend(value.split(separates).filter(|piece| has_known_form(piece)).map(|piece| whole(name, piece)));
    if looks_random(value) && !is_identifier(name) {
        found.push(whole(name, value));
    }
    found
}

fn whole(name: &str, value: &str) -> FoundSecret {
    FoundSecret {
        name: name.to_owned(),
        entry: SecretEntry { kind: SecretKind::Plain, content: value.to_owned(), mode: SecretMode::Obfuscate },
        origin: SecretOrigin::Environment,
    }
}

/// Finds a value whose variable or field name marks it as a secret.
fn by_name(name: &str, value: &str) -> Vec<FoundSecret> {
    if says_nothing(value) {
        return Vec::new();
    }
    if is_ordinary(value) {
        let entry = SecretEntry {
            kind: SecretKind::Named(name.to_owned()),
            content: value.to_owned(),
            mode: SecretMode::Obfuscate,
        };
        return vec![FoundSecret { name: name.to_owned(), entry, origin: SecretOrigin::Environment }];
    }
    let lines = value.lines().filter(|line| line.len() >= SHORTEST_LINE && !line.starts_with("-----"));
    let lines: Vec<FoundSecret> = lines.filter(|line| *line != value).map(|line| whole(name, line)).collect();
    std::iter::once(whole(name, value)).chain(lines).collect()
}

/// Matches switches, single digits, local paths, and masked values.
fn says_nothing(value: &str) -> bool {
    const SWITCHES: [&str; 12] = [
        "true",
        "false",
        "none",
        "null",
        "auto",
        "default",
        "enabled",
        "disabled",
        "undefined",
        "required",
        "optional",
        "unset",
    ];
    let one_char = value.chars().next().is_some_and(|first| value.chars().all(|char| char == first));
    let is_path = value.starts_with(['/', '~', '.']) && Path::new(value).exists();
    let is_switch = SWITCHES.iter().any(|word| word.eq_ignore_ascii_case(value));
    value.len() < SHORTEST_NAMED || one_char || is_path || is_switch
}

/// Matches words and numbers that are common in texts.
fn is_ordinary(value: &str) -> bool {
    let is_word = value.len() <= LONGEST_WORD && value.chars().all(char::is_alphabetic) && !mixes_cases(value);
    let is_number = value.len() <= LONGEST_NUMBER && value.chars().all(|char| char.is_ascii_digit());
    !is_telling(value) || is_common(value) || is_word || is_number
}

fn mixes_cases(value: &str) -> bool {
    let after_first = value.chars().skip(1);
    after_first.clone().any(char::is_uppercase) && value.chars().any(char::is_lowercase)
}

/// Finds passwords in URLs: `postgres://user:password@host`. A short or common one is hidden together with its user.
fn in_addresses(name: &str, value: &str) -> Vec<FoundSecret> {
    let mut found = Vec::new();
    for (at, _) in value.match_indices("://") {
        let rest = &value[at + 3..];
        let end = rest.find(|char: char| char.is_whitespace() || "/?#\"'<>,".contains(char)).unwrap_or(rest.len());
        let Some((login, _)) = rest[..end].rsplit_once('@') else { continue };
        // `https://TOKEN@host` and `https://TOKEN:x-oauth-basic@host` have the secret as the user name.
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        let secrets = [user, password].into_iter().filter(|part| has_known_form(part) || looks_random(part));
        let before = found.len();
        found.extend(secrets.map(|secret| whole(name, secret)));
        if password.is_empty() || found.len() > before {
            continue;
        }
        if is_ordinary(password) || says_nothing(password) {
            found.push(whole(name, &format!("//{login}@")));
            continue;
        }
        found.push(whole(name, password));
        let decoded = decoded(password);
        found.extend((decoded != password).then(|| whole(name, &decoded)));
    }
    found
}

/// Finds fields of a connection string, of options or of JSON: `Server=x;Password=y`, `--token=y`, `{"private_key": "y"}`.
fn in_fields(name: &str, value: &str) -> Vec<FoundSecret> {
    let json: Option<serde_json::Map<String, serde_json::Value>> =
        value.starts_with('{').then(|| serde_json::from_str(value).ok()).flatten();
    if let Some(fields) = json {
        let texts = fields.iter().filter_map(|(field, value)| Some((field, value.as_str()?)));
        let secrets =
            texts.filter(|(field, text)| is_secret_variable(field) && !is_ordinary(text) && !says_nothing(text));
        return secrets.flat_map(|(_, text)| by_name(name, text)).collect();
    }
    let fields = value.split([';', '&', ' ', '\n', ',']).filter_map(|field| field.split_once('='));
    let is_secret =
        |field: &str| is_secret_variable(&field.trim_start_matches('-').replace(['-', ' '], "_")) || field == "Pwd";
    let secrets = fields.filter(|(field, text)| is_secret(field) && !is_ordinary(text) && !says_nothing(text));
    secrets.map(|(_, text)| whole(name, text.trim_matches(['"', '\'']))).collect()
}

fn separates(char: char) -> bool {
    char.is_whitespace() || "\"'`=,;&|<>(){}[]:".contains(char)
}

/// Matches key prefixes of known services, signed tokens and private keys.
fn has_known_form(text: &str) -> bool {
    let is_key = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.+/=~".contains(&byte));
    let known = PREFIXES.iter().any(|(prefix, shortest)| {
        text.len() >= *shortest
            && text
                .strip_prefix(prefix)
                .is_some_and(|rest| rest.bytes().any(|byte| byte.is_ascii_digit()) || mixes_cases(rest))
    });
    let is_signed = text.starts_with("eyJ") && text.len() >= 40 && text.matches('.').count() == 2;
    is_key && (known || is_signed)
}

/// Matches a run of characters that alternates between lowercase, uppercase and digits like no word, path or version.
fn looks_random(value: &str) -> bool {
    let class = |byte: u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let is_run = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=_-".contains(&byte));
    if value.len() < SHORTEST_RANDOM || !is_run || value.starts_with(['/', '-', '.']) {
        return false;
    }
    let classes: Vec<usize> = value.bytes().map(class).collect();
    let has = |wanted: usize| classes.iter().filter(|class| **class == wanted).count() >= 3;
    let changes = classes.windows(2).filter(|pair| pair[0] != pair[1]).count();
    // In random letters and digits, about six in ten differ in kind from their neighbour.
    (0..3).all(has) && changes * 20 >= value.len() * 7 && entropy(value) >= 3.7
}

/// Returns the bits per character.
fn entropy(text: &str) -> f64 {
    let mut counts = [0usize; 256];
    text.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let all = text.len() as f64;
    let share = |count: usize| count as f64 / all;
    counts.into_iter().filter(|count| *count > 0).map(|count| -share(count) * share(count).log2()).sum()
}

/// Names of values that are random but not secret.
fn is_identifier(name: &str) -> bool {
    const ENDS: [&str; 12] = [
        "ID",
        "SHA",
        "HASH",
        "COMMIT",
        "REV",
        "REVISION",
        "DIGEST",
        "CHECKSUM",
        "INTEGRITY",
        "FINGERPRINT",
        "VERSION",
        "UUID",
    ];
    let name = name.to_ascii_uppercase();
    name.rsplit('_').next().is_some_and(|last| ENDS.contains(&last))
        || name.contains("PUBLIC")
        || name.contains("PUBKEY")
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANDOM: &str = "q7Zr9T2vKx4Wn8Lb3Yp6Hd1Sf5Gj0Mc";

    /// Checks what is hidden of one variable; `NAME=…` if it is hidden only after its name.
    #[track_caller]
    fn check(name: &str, value: &str, expect: &[&str]) {
        let found = of_env(&Env::from_iter([(name, value)]), true);
        let shown = found.iter().map(|found| match &found.entry.kind {
            SecretKind::Named(name) => format!("{name}={}", found.entry.content),
            _ => found.entry.content.clone(),
        });
        let mut shown: Vec<String> = shown.collect();
        shown.dedup();
        assert_eq!(shown, expect, "{name}={value}");
    }

    #[test]
    fn names_tell_of_secrets() {
        check("MY_TOKEN", "token-of-mine", &["token-of-mine"]);
        check("DEPLOY_KEY", "0123456789abcdef", &["0123456789abcdef"]);
        check("CLIENT_SECRET", "s3cr3t/with+chars=", &["s3cr3t/with+chars="]);
        check("DB_PASSWORD", "correct horse", &["correct horse"]);
        check("PASSWORD", "hunter2hunter2", &["hunter2hunter2"]);
        check("OPENAI_API_KEY", "sk-live-1234", &["sk-live-1234"]);
    }

    #[test]
    fn ordinary_words_are_hidden_only_behind_their_name() {
        check("PGPASSWORD", "postgres", &["PGPASSWORD=postgres"]);
        check("DB_PASSWORD", "Sunshine", &["DB_PASSWORD=Sunshine"]);
        check("DB_PASSWORD", "password", &["DB_PASSWORD=password"]);
        check("SHORT_TOKEN", "short", &["SHORT_TOKEN=short"]);
        check("DB_PASSWORD", "123456", &["DB_PASSWORD=123456"]);
    }

    #[test]
    fn what_is_no_secret_is_left_alone() {
        for (name, value) in [
            ("USE_TOKEN", "true"),
            ("DULL_SECRET", "********"),
            ("A_KEY", "x"),
            ("PLACE_KEY", "/usr/bin"),
            ("SSH_AUTH_SOCK", "/tmp/ssh-XXXXq7Zr9T2vKx4W/agent.4711"),
            ("KEYBOARD", "pc105-layout-de-nodeadkeys"),
            ("XKB_KEYMAP", "evdev-pc105-de"),
            ("MONKEY", "capuchin-monkey-1"),
            ("MAX_TOKENS", "100"),
            ("PATH", "/usr/local/bin:/usr/bin:/bin:/opt/q7Zr9T2vKx4Wn8Lb3Yp6Hd1S/bin"),
            ("LS_COLORS", "rs=0:di=01;34:ln=01;36:mh=00:*.tar=01;31"),
            ("GIT_COMMIT", "9fceb02d0ae598e95dc970b74767f19372d61af8"),
            ("INVOCATION_ID", "5c1f0b1f9f8a4a7eb5f1b7c8d9e0a1b2"),
            ("SESSION", "8f14e45f-ceea-467f-a8f2-5d0c1b3a9e77"),
            ("TERM_SESSION", "w0t0p0:8F14E45F-CEEA-467F-A8F2-5D0C1B3A9E77"),
            ("HOMEPAGE", "https://example.com/a/b?c=d"),
            ("HOSTTYPE", "x86_64-pc-linux-gnu-and-more"),
            ("JAVA_OPTS", "-Xmx2g -Dfile.encoding=UTF-8 -XX:+UseG1GC"),
            ("ITEM", "ProjectCatalogueBuilder2024Release1"),
            ("BUILD_ID", RANDOM),
            ("NEXT_PUBLIC_SITE", RANDOM),
            ("DATABASE_URL", "postgres://localhost:5432/app"),
            ("REMOTE", "ssh://git@example.com/repo.git"),
            ("SKETCH", "sk-etching-of-the-harbour-at-night"),
            ("WORDS", "npm_config_registry_of_the_company"),
            ("EMPTY_TOKEN", ""),
        ] {
            check(name, value, &[]);
        }
    }

    #[test]
    fn forms_tell_of_secrets_whatever_the_name() {
        for value in [
            "sk-proj-abc123def456ghi789",
            "ghp_0123456789abcdefABCDEF0123456789abcd",
            "glpat-x1y2z3x1y2z3x1y2z3",
            "AKIAIOSFODNN7EXAMPLE",
            "xoxb-1234567890-abcdefGHIJ",
            "AIzaSyA1234567890abcdefghijklmnopqrstuv",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
            RANDOM,
        ] {
            check("ANYTHING", value, &[value]);
        }
        check("OPTS", "--verbose --auth ghp_0123456789abcdefABCDEF -x", &["ghp_0123456789abcdefABCDEF"]);
        check("HEADER", "Authorization: Bearer sk-proj-abc123def456ghi789", &["sk-proj-abc123def456ghi789"]);
    }

    #[test]
    fn addresses_and_fields_hold_secrets() {
        check("DATABASE_URL", "postgres://app:s3cr3t-pass@db:5432/x", &["s3cr3t-pass"]);
        check("DATABASE_URL", "postgres://u:p@h", &["//u:p@"]);
        check("DATABASE_URL", "postgres://postgres:postgres@localhost/x", &["//postgres:postgres@"]);
        check("REDIS", "redis://:long-pass-1@h:6379/0", &["long-pass-1"]);
        check("HTTPS_PROXY", "http://me:p%40ssw0rd-1@proxy:3128", &["p%40ssw0rd-1", "p@ssw0rd-1"]);
        check("REMOTE", "https://ghp_0123456789abcdefABCDEF@github.com/x", &["ghp_0123456789abcdefABCDEF"]);
        check("BROKERS", "amqp://a:first-pass1@x,amqp://b:second-pass2@y", &["first-pass1", "second-pass2"]);
        check("CONN", "Server=db;User=app;Password=s3cr3t-pass;Timeout=5", &["s3cr3t-pass"]);
        check("ACCOUNT", r#"{"name": "x", "private_key": "abc-123-def-456"}"#, &["abc-123-def-456"]);
    }

    #[test]
    fn a_key_in_several_lines_is_hidden_line_by_line_too() {
        let line = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAA";
        let key = format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{line}\n-----END OPENSSH PRIVATE KEY-----");
        check("SSH_PRIVATE_KEY", &key, &[&key, line]);
    }

    #[test]
    fn without_others_only_the_keys_of_providers_count() {
        let env = Env::from_iter([("OPENAI_API_KEY", "sk-live-1234"), ("MY_TOKEN", "token-of-mine")]);
        let names: Vec<String> = of_env(&env, false).into_iter().map(|found| found.name).collect();
        assert_eq!(names, ["OPENAI_API_KEY"]);
    }

    #[test]
    fn an_environment_of_any_size_is_bounded() {
        let many = (0..3_000).map(|number| (format!("T{number}_TOKEN"), format!("token-of-{number}-long")));
        assert_eq!(of_env(&many.collect(), true).len(), MOST_FOUND);
        check("HUGE_TOKEN", &"x1-".repeat(LONGEST), &[]);
    }
}

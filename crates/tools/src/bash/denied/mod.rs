//! What a contained command could not reach, told to the model and the user: programs only say that something is
//! read-only, or is not there.

mod hidden;

use std::path::{Path, PathBuf};

use omp_exec::{Deed, SetAside};
use omp_types::{AccessMap, Cache, ContainMode, Denied, Touch};

pub(super) use hidden::Ended;

/// What programs print when containment stops them, some with a small first letter.
const SIGNS: &[&str] = &[
    "ermission denied",
    "ead-only file system",
    "peration not permitted",
    "evice or resource busy",
    "EROFS",
    "EACCES",
    "EPERM",
    "EBUSY",
];
const OF_OTHERS: &str = "Contained: commands do not look into other processes.";
/// Paths named in one result.
const MOST: usize = 3;
/// Characters of output that are looked through, from its end.
const LOOKED_AT: usize = 16 * 1024;

/// Sentences for the model and the user, each with what would open it; none where nothing was denied. What the user
/// `may_write` neither is not containment's doing.
pub(super) fn told(ended: &Ended<'_>, map: &AccessMap, may_write: impl Fn(&Path) -> bool) -> Vec<String> {
    if map.mode == ContainMode::Off {
        return Vec::new();
    }
    let ended = Ended { output: tail(ended.output), ..*ended };
    let caches = missing_caches(&ended, map);
    let mut sentences = match caches.is_empty() {
        true => not_written(&ended, map, may_write),
        false => caches.iter().map(|cache| not_there(cache)).collect(),
    };
    sentences.extend(hidden::told(&ended, map));
    sentences
}

/// Caches that a program wanted to make. It could not, as the folder around them is closed; omp can.
pub(super) fn missing_caches(ended: &Ended<'_>, map: &AccessMap) -> Vec<PathBuf> {
    let lines = tail(ended.output).lines().filter(|line| SIGNS.iter().any(|sign| line.contains(sign)));
    let paths: Vec<PathBuf> = lines
        .flat_map(|line| paths_in(without_speaker(line)))
        .map(|path| omp_stdx::real_path::of(&ended.cwd.join(path)))
        .collect();
    let is_meant = |cache: &&Cache| paths.iter().any(|path| path.starts_with(&cache.path));
    let missing = map.caches.iter().filter(is_meant).filter(|cache| !cache.path.exists());
    missing.map(|cache| cache.path.clone()).take(MOST).collect()
}

fn not_there(cache: &Path) -> String {
    format!(
        "Contained: {} was not there, and commands cannot make it. It will be there: run it again.",
        cache.display()
    )
}

fn not_written(ended: &Ended<'_>, map: &AccessMap, may_write: impl Fn(&Path) -> bool) -> Vec<String> {
    let lines: Vec<&str> = ended.output.lines().filter(|line| SIGNS.iter().any(|sign| line.contains(sign))).collect();
    let mut denied: Vec<Denied> = Vec::new();
    let mut is_of_others = false;
    for path in lines.iter().flat_map(|line| paths_in(without_speaker(line))) {
        let real = omp_stdx::real_path::of(&ended.cwd.join(path));
        match map.allows(Touch::Write, &real) {
            Err(why) if denied.contains(&why) => {}
            // Told as what it is: nobody tried to write it.
            Err(Denied::Hidden(_)) => {}
            Err(Denied::Outside(_)) if is_of_a_process(&real) => is_of_others = true,
            Err(Denied::Outside(_)) if !may_write(&real) => {}
            Err(why) => denied.push(why),
            Ok(()) => {}
        }
    }
    if is_of_others && denied.is_empty() {
        return vec![OF_OTHERS.to_owned()];
    }
    if denied.is_empty() {
        let read_only =
            ended.failed && lines.iter().any(|line| line.contains("ead-only file system") || line.contains("EROFS"));
        return read_only.then(|| where_it_may(map)).into_iter().collect();
    }
    let mut sentences: Vec<String> = denied.iter().take(MOST).map(|why| format!("Contained: {why}.")).collect();
    let paths: Vec<PathBuf> = denied.iter().map(|why| why.path().to_owned()).collect();
    sentences.extend(listed(&paths).map(|paths| ask(&paths)));
    sentences
}

/// As an argument of the tool holds them; `None` where there is none that it could hold.
fn listed(paths: &[PathBuf]) -> Option<String> {
    let is_plain = |text: &&str| !text.contains(|c: char| c.is_control() || c == '"');
    let texts: Vec<String> = paths
        .iter()
        .take(MOST)
        .filter_map(|path| path.to_str().filter(is_plain))
        .map(|it| format!("\"{it}\""))
        .collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

fn ask(paths: &str) -> String {
    format!("hint: if that is needed, run it again with `write: [{paths}]`: the user is asked")
}

fn is_of_a_process(path: &Path) -> bool {
    let number = path.strip_prefix("/proc").ok().and_then(|rest| rest.iter().next());
    number.is_some_and(|number| number.to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()))
}

/// What the kernel could not prevent: what was done, and where it is now.
pub(super) fn set_aside(found: &[SetAside]) -> Vec<String> {
    let mut sentences: Vec<String> = found.iter().take(MOST).map(of_one).collect();
    if found.len() > MOST {
        sentences.push(format!("Contained: {} more such files.", found.len() - MOST));
    }
    let wanted: Vec<PathBuf> =
        found.iter().filter(|found| found.deed != Deed::Unwatched).map(|found| found.path.clone()).collect();
    sentences.extend(listed(&wanted).map(|paths| ask(&paths)));
    sentences
}

fn of_one(SetAside { path, deed, to, put_back, keys }: &SetAside) -> String {
    let path = path.display();
    let to = to.as_ref().map(|to| to.display());
    let what = match deed {
        Deed::Made => "made",
        Deed::Changed => "changed",
        Deed::Removed => "removed",
        Deed::Unwatched => {
            return format!("Contained: {path} holds too much to be looked after: what changes there is not put back.");
        }
    };
    if !keys.is_empty() && *put_back {
        let keys = keys.join(", ");
        let attempt = to.map_or(String::new(), |to| format!("; the file as it was written is {to}"));
        return format!(
            "Contained: {keys} in {path} may not be set or removed, as git runs or reads what it names: it is as before, all other \
             changes stay{attempt}."
        );
    }
    let outcome = match (deed, put_back, to) {
        (Deed::Made, _, Some(to)) => format!("it is {to} now"),
        (Deed::Made, _, None) => "it could not be renamed; remove it".to_owned(),
        (_, true, Some(to)) => format!("it was put back, the change is in {to}"),
        (_, true, None) => "it was put back".to_owned(),
        (_, false, Some(to)) => format!("it could not be put back, the change is in {to}"),
        (_, false, None) => "it could not be put back; look at it".to_owned(),
    };
    format!("Contained: {path} may not be {what}: it decides what runs or is allowed; {outcome}.")
}

fn where_it_may(map: &AccessMap) -> String {
    match map.mode {
        ContainMode::ReadOnly => "Contained: this session only reads.".to_owned(),
        _ => format!("Contained: commands write in {}, the temp folder and caches only.", map.workspace.display()),
    }
}

fn tail(output: &str) -> &str {
    let mut from = output.len().saturating_sub(LOOKED_AT);
    while !output.is_char_boundary(from) {
        from += 1;
    }
    &output[from..]
}

/// Without the program that says it, which may name itself by its path, and the line of its script.
fn without_speaker(line: &str) -> &str {
    let Some((speaker, mut rest)) = line.trim_start().split_once(": ") else { return line };
    // `/srv/x: Permission denied` is said of the path, not by it.
    let begins_with_sign =
        SIGNS.iter().any(|sign| rest.starts_with(sign) || rest.get(1..).is_some_and(|rest| rest.starts_with(sign)));
    let speaks = !speaker.contains(char::is_whitespace) && (!begins_with_sign || ends_with_number(speaker));
    if !speaks {
        return line;
    }
    while let Some((piece, after)) = rest.split_once(": ")
        && (piece == "eval" || piece.trim_start_matches("line ").bytes().all(|byte| byte.is_ascii_digit()))
    {
        rest = after;
    }
    rest
}

/// As zsh has it: `zsh:1: permission denied: x`.
fn ends_with_number(speaker: &str) -> bool {
    let number = speaker.rsplit_once(':').map(|(_, number)| number);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Pieces of a message that name a path: quoted ones, and words with a slash.
fn paths_in(line: &str) -> Vec<&str> {
    let quotes = ['\'', '"', '`', '\u{2018}', '\u{2019}'];
    let quoted = line.split(quotes).skip(1).step_by(2);
    let words = line
        .split(|c: char| c.is_whitespace() || quotes.contains(&c))
        .map(|word| word.trim_matches([':', ',', '(', ')']));
    let named = line.split(": ").map(str::trim);
    let mut paths: Vec<&str> = quoted.chain(words.filter(|word| word.contains('/'))).chain(named).collect();
    paths.retain(|path| !path.is_empty() && path.len() < 1024 && !SIGNS.contains(path) && looks_like_a_path(path));
    paths
}

fn looks_like_a_path(text: &str) -> bool {
    text.contains('/') || (text.starts_with('.') && !text.contains(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, expect: &[&str]) {
        let map = AccessMap {
            workspace: "/w/app".into(),
            writable: vec!["/t".into()],
            guarded: vec!["/w/app/.git/hooks".into()],
            ..AccessMap::default()
        };
        let may_write = |path: &Path| !path.starts_with("/root-only");
        let env = omp_types::Env::default();
        let ended = Ended { command: "", output, cwd: Path::new("/w/app"), home: None, env: &env, failed: true };
        assert_eq!(told(&ended, &map, may_write), expect, "{output}");
    }

    #[test]
    fn a_cache_that_was_missing_is_told_as_that() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let cache = |name: &str| Cache { path: home.join(name), home: home.clone(), ..Cache::default() };
        let map = AccessMap { writable: vec![home.join(".npm")], caches: vec![cache(".npm")], ..AccessMap::default() };
        let env = omp_types::Env::default();
        let output = format!("npm error EROFS: read-only file system, mkdir '{}/.npm/_cacache'\n", home.display());
        let ended = Ended { command: "make", output: &output, cwd: &home, home: None, env: &env, failed: true };
        assert_eq!(missing_caches(&ended, &map), [home.join(".npm")]);
        assert_eq!(told(&ended, &map, |_| true), [not_there(&home.join(".npm"))]);
        // One that is there is refused for another reason.
        std::fs::create_dir(home.join(".npm")).unwrap();
        assert!(missing_caches(&ended, &map).is_empty());
    }

    #[test]
    fn the_path_and_the_reason_are_told() {
        let asked = |path: &str| ask(&format!("\"{path}\""));
        let (allow, of_hook) = (&*asked("/srv/x"), &*asked("/w/app/.git/hooks/a"));
        let outside = "Contained: /srv/x may not be written: it is outside the workspace.";
        let guarded = "Contained: /w/app/.git/hooks/a may not be written: it decides what runs or is allowed.";
        check("bash: line 1: /srv/x: Read-only file system", &[outside, allow]);
        check("touch: cannot touch '/srv/x': Permission denied", &[outside, allow]);
        check("bash: line 1: .git/hooks/a: Read-only file system", &[guarded, of_hook]);
        check("PermissionError: [Errno 13] Permission denied: '/srv/x'", &[outside, allow]);
        check("/usr/bin/bash: line 1: /srv/x: Read-only file system", &[outside, allow]);
        check("/usr/bin/bash: eval: line 2: .git/hooks/a: Read-only file system", &[guarded, of_hook]);
        check("/bin/sh: 1: cannot create /srv/x: Read-only file system", &[outside, allow]);
        check("/usr/bin/zsh:1: read-only file system: /srv/x", &[outside, allow]);
        check("/usr/bin/touch: cannot touch '/srv/x': Read-only file system", &[outside, allow]);
        check("open /srv/x: read-only file system", &[outside, allow]);
        check("/srv/x: Permission denied", &[outside, allow]);
        // Where it says no path, none is told.
        let somewhere = "Contained: commands write in /w/app, the temp folder and caches only.";
        for shell in ["/usr/bin/bash: line 1", "/usr/bin/zsh:1", "/bin/sh: 1"] {
            check(&format!("{shell}: x: Read-only file system"), &[somewhere]);
        }
        check("all is well with /srv/x", &[]);
        check("cat: /t/x: Permission denied", &[]);
        check("oops: Read-only file system", &[somewhere]);
    }

    #[test]
    fn what_containment_did_not_do_is_not_said_of_it() {
        check("cat: /root-only/x: Permission denied", &[]);
        check("cat: /proc/1/environ: Permission denied", &[OF_OTHERS]);
    }

    #[test]
    fn what_was_put_back_is_told_with_where_the_change_is() {
        let rows = [
            (Deed::Made, true, false, "may not be made: it decides what runs or is allowed; it is /w/a.set-aside now."),
            (
                Deed::Changed,
                true,
                true,
                "may not be changed: it decides what runs or is allowed; it was put back, the change is in /w/a.set-aside.",
            ),
            (
                Deed::Changed,
                true,
                false,
                "may not be changed: it decides what runs or is allowed; it could not be put back, the change is in /w/a.set-aside.",
            ),
            (Deed::Removed, false, true, "may not be removed: it decides what runs or is allowed; it was put back."),
            (
                Deed::Removed,
                false,
                false,
                "may not be removed: it decides what runs or is allowed; it could not be put back; look at it.",
            ),
        ];
        for (deed, moved, put_back, expect) in rows {
            let to = moved.then(|| "/w/a.set-aside".into());
            let found = SetAside { path: "/w/a".into(), deed, to, put_back, keys: Vec::new() };
            assert_eq!(set_aside(&[found]), [format!("Contained: /w/a {expect}"), ask("\"/w/a\"")]);
        }
        let keys = vec!["core.pager".to_owned(), "alias.x".to_owned()];
        let (path, to) = ("/w/.git/config".into(), Some("/w/.git/config.set-aside".into()));
        let found = SetAside { path, deed: Deed::Changed, to, put_back: true, keys };
        let expect = "Contained: core.pager, alias.x in /w/.git/config may not be set or removed, as git runs or reads what it \
                      names: it is as before, all other changes stay; the file as it was written is /w/.git/config.set-aside.";
        assert_eq!(set_aside(&[found]), [expect.to_owned(), ask("\"/w/.git/config\"")]);
        let many = |count: usize| -> Vec<SetAside> {
            let one = |number| SetAside {
                path: format!("/w/{number}").into(),
                deed: Deed::Unwatched,
                to: None,
                put_back: false,
                keys: Vec::new(),
            };
            (0..count).map(one).collect()
        };
        assert_eq!(set_aside(&many(5)).last().unwrap(), "Contained: 2 more such files.");
        assert_eq!(set_aside(&[]), [""; 0]);
    }
}

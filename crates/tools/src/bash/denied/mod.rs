//! Reports to the model and the user what containment denied to a command: programs only say that a path is read-only or
//! missing.

mod hidden;
mod paths;
mod pushed;

use std::path::{Path, PathBuf};

use omp_exec::{Deed, SetAside};
use omp_types::{AccessMap, ContainMode, Denied, Touch, UnusedCache};

pub(super) use hidden::EndedCommand;
use paths::{paths_in, quoted_in};

/// Messages that programs print when containment stops them. Some programs begin them with a lower-case letter.
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
const BUSY: &[&str] = &["evice or resource busy", "EBUSY"];
const OF_OTHERS: &str = "Sandbox: commands cannot inspect other processes.";
/// Limits the paths named in one result.
const MOST: usize = 3;
/// Characters scanned at the end of the output.
const LOOKED_AT: usize = 16 * 1024;

/// Returns sentences for the model and the user, each naming the argument or setting that grants access; none if nothing was
/// denied. Paths that the user cannot write either (`may_write`) are not reported, because containment did not deny them.
pub(super) fn told(ended: &EndedCommand<'_>, map: &AccessMap, may_write: impl Fn(&Path) -> bool) -> Vec<String> {
    if map.mode == ContainMode::Off {
        return Vec::new();
    }
    let ended = EndedCommand { output: tail(ended.output), ..*ended };
    let caches = missing_caches(&ended, map);
    let mut sentences = match caches.is_empty() {
        true => not_written(&ended, map, may_write),
        false => caches.iter().map(|cache| not_there(cache)).collect(),
    };
    sentences.extend(hidden::told(&ended, map));
    sentences
}

/// Returns caches that a program tried to create. The program could not because the parent folder is closed; omp can.
pub(super) fn missing_caches(ended: &EndedCommand<'_>, map: &AccessMap) -> Vec<PathBuf> {
    let lines = tail(ended.output).lines().filter(|line| SIGNS.iter().any(|sign| line.contains(sign)));
    let paths: Vec<PathBuf> = lines
        .flat_map(|line| paths_in(without_speaker(line)))
        .map(|path| omp_stdx::real_path::of(&ended.cwd.join(path)))
        .collect();
    let is_meant = |cache: &&UnusedCache| paths.iter().any(|path| path.starts_with(&cache.path));
    let missing = map.caches.iter().filter(is_meant).filter(|cache| !cache.path.exists());
    missing.map(|cache| cache.path.clone()).take(MOST).collect()
}

fn not_there(cache: &Path) -> String {
    format!(
        "Sandbox: {} did not exist, and commands cannot create it. omp creates it now: run the command again.",
        cache.display()
    )
}

fn not_written(ended: &EndedCommand<'_>, map: &AccessMap, may_write: impl Fn(&Path) -> bool) -> Vec<String> {
    let all: Vec<&str> = ended.output.lines().collect();
    let has_sign = |line: &str| SIGNS.iter().any(|sign| line.contains(sign));
    let signs: Vec<usize> = (0..all.len()).filter(|at| has_sign(all[*at])).collect();
    let is_read_only = |at: usize| all[at].contains("ead-only file system") || all[at].contains("EROFS");
    let is_busy = |at: usize| BUSY.iter().any(|sign| all[at].contains(sign));
    let mut walls: Vec<Wall> = Vec::new();
    let mut is_of_others = false;
    let mut unopened: Vec<PathBuf> = Vec::new();
    for (at, path) in
        signs.iter().flat_map(|at| paths_in(without_speaker(all[*at])).into_iter().map(move |path| (*at, path)))
    {
        let real = omp_stdx::real_path::of(&ended.cwd.join(path));
        match map.allows(Touch::Write, &real) {
            // Reported as hidden instead: the command did not try to write it.
            Err(Denied::Hidden(_)) => {}
            Err(Denied::Outside(_)) if is_of_a_process(&real) => is_of_others = true,
            Err(Denied::Outside(_)) if !may_write(&real) => {}
            Err(why) => add(&mut walls, why.to_string(), WantedPath::new(real, makes_folder(&all[..=at]))),
            Ok(()) if is_read_only(at) || is_busy(at) => {
                unopened.extend(closed_root(&real, map).filter(|root| !unopened.contains(root)).cloned());
            }
            Ok(()) => {}
        }
    }
    for remote in pushed::remotes(&all, ended.cwd) {
        match map.allows(Touch::Write, &remote) {
            Err(why @ Denied::Outside(_)) if may_write(&remote) => {
                add(&mut walls, why.to_string(), WantedPath::new(remote, true));
            }
            _ => {}
        }
    }
    for name in signs.iter().filter(|at| is_busy(**at)).flat_map(|at| quoted_in(all[*at])) {
        walls.extend(held_by_guards(&omp_stdx::real_path::of(&ended.cwd.join(name)), map));
    }
    if walls.is_empty() && !unopened.is_empty() {
        return about_unopened(&unopened, ended.command);
    }
    if is_of_others && walls.is_empty() {
        return vec![OF_OTHERS.to_owned()];
    }
    if walls.is_empty() {
        let read_only = ended.failed && signs.iter().any(|at| is_read_only(*at));
        return read_only.then(|| where_it_may(map)).into_iter().collect();
    }
    let mut sentences: Vec<String> = walls.iter().take(MOST).map(|wall| format!("Sandbox: {}.", wall.why)).collect();
    let wanted: Vec<WantedPath> = walls.into_iter().flat_map(|wall| wall.wanted).collect();
    sentences.extend(listed(&wanted).map(|paths| ask(&paths)));
    sentences
}

/// Returns the writable path whose parent folders are all closed, so that a command has to name it to write it.
fn closed_root<'a>(real: &Path, map: &'a AccessMap) -> Option<&'a PathBuf> {
    let mut folders = map.writable.iter().chain([&map.workspace]);
    if folders.any(|root| real.starts_with(root) && root.is_dir()) {
        return None;
    }
    map.writable.iter().find(|root| real.starts_with(root))
}

fn about_unopened(roots: &[PathBuf], command: &str) -> Vec<String> {
    let is_named = |root: &&PathBuf| root.file_name().is_some_and(|name| command.contains(&*name.to_string_lossy()));
    let (named, others): (Vec<&PathBuf>, Vec<&PathBuf>) = roots.iter().partition(is_named);
    let mut told: Vec<String> = Vec::new();
    for root in named.iter().take(MOST).map(|root| root.display()) {
        told.push(format!(
            "Sandbox: {root} is writable, but its parent folder could not be opened: it contains too much, or this \
             system does not support it.\nhint: create {root} first, or ask the user to allow the parent folder"
        ));
    }
    for root in others.iter().take(MOST).map(|root| root.display()) {
        told.push(format!(
            "Sandbox: {root} is writable, but only a command that names it can create, replace or remove it."
        ));
    }
    let wanted: Vec<WantedPath> = others.into_iter().cloned().map(WantedPath::from).collect();
    let hint = |paths: String| format!("hint: run it again with `write: [{paths}]`: it is allowed, nobody is asked");
    told.extend(listed(&wanted).map(hint));
    told
}

/// The restriction that stopped a command, and the access that would lift it.
struct Wall {
    why: String,
    wanted: Vec<WantedPath>,
}

fn add(walls: &mut Vec<Wall>, why: String, wanted: WantedPath) {
    if walls.iter().all(|wall| wall.why != why) {
        walls.push(Wall { why, wanted: vec![wanted] });
    }
}

/// A folder that cannot be moved or removed because it contains something guarded.
fn held_by_guards(folder: &Path, map: &AccessMap) -> Option<Wall> {
    let is_in = |guard: &&PathBuf| guard.starts_with(folder) && *guard != folder && guard.symlink_metadata().is_ok();
    let guards = map.guarded.iter().filter(is_in);
    let guards: Vec<&PathBuf> = guards.take(MOST + 1).collect();
    let first = guards.first()?;
    let more = if guards.len() > 1 { " and other files in it decide" } else { " decides" };
    let why =
        format!("{} may not be moved or removed: {}{more} what runs or is allowed", folder.display(), first.display());
    let wanted =
        if guards.len() > MOST { Vec::new() } else { guards.into_iter().cloned().map(WantedPath::from).collect() };
    Some(Wall { why, wanted })
}

/// A path to write to, in the form of the tool's argument.
struct WantedPath {
    path: PathBuf,
    is_folder: bool,
}

impl WantedPath {
    fn new(path: PathBuf, is_folder: bool) -> Self {
        Self { is_folder: is_folder || path.is_dir(), path }
    }
}

impl From<PathBuf> for WantedPath {
    fn from(path: PathBuf) -> Self {
        Self::new(path, false)
    }
}

/// Whether the last line complains that a folder could not be created. Python reports this in the preceding lines, which
/// name its functions.
fn makes_folder(lines: &[&str]) -> bool {
    const MAKES: &[&str] =
        &["mkdir", "makedirs", "create directory", "create dir", "work tree dir", "leading directories"];
    const TRACED: usize = 3;
    let makes = |line: &str| MAKES.iter().any(|word| line.contains(word));
    let Some((last, before)) = lines.split_last() else { return false };
    let traced = before.iter().rev().take(TRACED).take_while(|line| line.starts_with("  "));
    makes(last) || (last.contains("Error: [Errno ") && traced.into_iter().any(|line| makes(line)))
}

/// Formats the paths as a tool argument; `None` if no path can be written that way.
fn listed(wanted: &[WantedPath]) -> Option<String> {
    let is_plain = |text: &&str| !text.contains(|c: char| c.is_control() || c == '"');
    let mut texts: Vec<String> = Vec::new();
    for WantedPath { path, is_folder } in wanted {
        let Some(text) = path.to_str().filter(is_plain) else { continue };
        let text = format!("\"{text}{}\"", if *is_folder { "/" } else { "" });
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts.truncate(MOST);
    (!texts.is_empty()).then(|| texts.join(", "))
}

fn ask(paths: &str) -> String {
    format!("hint: if that is needed, run it again with `write: [{paths}]`: the user is asked")
}

fn is_of_a_process(path: &Path) -> bool {
    let number = path.strip_prefix("/proc").ok().and_then(|rest| rest.iter().next());
    number.is_some_and(|number| number.to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()))
}

/// Reports writes that the kernel could not prevent: what was done, and where the result is now.
pub(super) fn set_aside(found: &[SetAside]) -> Vec<String> {
    let mut sentences: Vec<String> = found.iter().take(MOST).map(of_one).collect();
    if found.len() > MOST {
        sentences.push(format!("Sandbox: {} more such files.", found.len() - MOST));
    }
    let is_folder = |found: &SetAside| found.to.as_ref().is_some_and(|to| to.is_dir());
    let told = found.iter().filter(|found| found.deed != Deed::Unwatched);
    let wanted: Vec<WantedPath> = told.map(|found| WantedPath::new(found.path.clone(), is_folder(found))).collect();
    sentences.extend(listed(&wanted).map(|paths| ask(&paths)));
    sentences
}

fn of_one(SetAside { path, deed, to, put_back, in_git, keys }: &SetAside) -> String {
    let path = path.display();
    let to = to.as_ref().map(|to| to.display());
    let what = match deed {
        Deed::Made => "created",
        Deed::Changed => "changed",
        Deed::Removed => "removed",
        Deed::Unwatched => {
            return format!("Sandbox: {path} contains too much to watch: changes there are not reverted.");
        }
    };
    if !keys.is_empty() && *put_back {
        let keys = keys.join(", ");
        let attempt = to.map_or(String::new(), |to| format!("; the file as written is {to}"));
        return format!(
            "Sandbox: {keys} in {path} may not be set or removed, because git runs or reads what it names: it was restored, all \
             other changes were kept{attempt}."
        );
    }
    let outcome = match (deed, put_back, to) {
        (Deed::Made, _, Some(to)) => format!("it was moved to {to}"),
        (Deed::Made, _, None) => "it could not be renamed; remove it".to_owned(),
        (_, true, Some(to)) => format!("it was restored, the change is in {to}"),
        (_, true, None) => "it was restored".to_owned(),
        (_, false, Some(to)) => format!("it could not be restored, the change is in {to}"),
        (_, false, None) => "it could not be restored; check it".to_owned(),
    };
    let why = match (in_git, deed) {
        (false, _) => "",
        (true, Deed::Removed) => ", and no commit was found that was without it when the session began",
        (true, _) => ", and no commit was found that had it like this when the session began",
    };
    format!("Sandbox: {path} may not be {what}: it decides what runs or is allowed{why}; {outcome}.")
}

fn where_it_may(map: &AccessMap) -> String {
    match map.mode {
        ContainMode::ReadOnly => "Sandbox: this session is read-only.".to_owned(),
        _ => format!("Sandbox: commands can write only to {}, the temp folder and caches.", map.workspace.display()),
    }
}

fn tail(output: &str) -> &str {
    let mut from = output.len().saturating_sub(LOOKED_AT);
    while !output.is_char_boundary(from) {
        from += 1;
    }
    &output[from..]
}

/// Removes the program that prints the message, which may be named by its path, and the line number in its script.
fn without_speaker(line: &str) -> &str {
    let Some((speaker, mut rest)) = line.trim_start().split_once(": ") else { return line };
    // In `/srv/x: Permission denied` the path is the object of the message, not the program that prints it.
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

/// Matches the zsh format: `zsh:1: permission denied: x`.
fn ends_with_number(speaker: &str) -> bool {
    let number = speaker.rsplit_once(':').map(|(_, number)| number);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
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
        let ended = EndedCommand { command: "", output, cwd: Path::new("/w/app"), home: None, env: &env, failed: true };
        assert_eq!(told(&ended, &map, may_write), expect, "{output}");
    }

    #[test]
    fn a_cache_that_was_missing_is_told_as_that() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let cache = |name: &str| UnusedCache { path: home.join(name), home: home.clone(), ..UnusedCache::default() };
        let map = AccessMap { writable: vec![home.join(".npm")], caches: vec![cache(".npm")], ..AccessMap::default() };
        let env = omp_types::Env::default();
        let output = format!("npm error EROFS: read-only file system, mkdir '{}/.npm/_cacache'\n", home.display());
        let ended = EndedCommand { command: "make", output: &output, cwd: &home, home: None, env: &env, failed: true };
        assert_eq!(missing_caches(&ended, &map), [home.join(".npm")]);
        assert_eq!(told(&ended, &map, |_| true), [not_there(&home.join(".npm"))]);
        // A folder that exists was refused for another reason.
        std::fs::create_dir(home.join(".npm")).unwrap();
        assert!(missing_caches(&ended, &map).is_empty());
    }

    #[test]
    fn the_path_and_the_reason_are_told() {
        let asked = |path: &str| ask(&format!("\"{path}\""));
        let (allow, of_hook) = (&*asked("/srv/x"), &*asked("/w/app/.git/hooks/a"));
        let outside = "Sandbox: /srv/x may not be written: it is outside the workspace.";
        let guarded = "Sandbox: /w/app/.git/hooks/a may not be written: it decides what runs or is allowed.";
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
        // A message without a path reports no path.
        let somewhere = "Sandbox: commands can write only to /w/app, the temp folder and caches.";
        for shell in ["/usr/bin/bash: line 1", "/usr/bin/zsh:1", "/bin/sh: 1"] {
            check(&format!("{shell}: x: Read-only file system"), &[somewhere]);
        }
        check("all is well with /srv/x", &[]);
        check("cat: /t/x: Permission denied", &[]);
        check("oops: Read-only file system", &[somewhere]);
    }

    #[test]
    fn a_path_with_spaces_is_told_whole() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap().join("my home");
        std::fs::create_dir(&home).unwrap();
        let path = home.join("zz1");
        let path = path.display();
        let outside = format!("Sandbox: {path} may not be written: it is outside the workspace.");
        let hint = ask(&format!("\"{path}\""));
        for output in [
            format!("sh: 1: cannot create {path}: Read-only file system"),
            format!("/usr/bin/bash: line 1: {path}: Read-only file system"),
            format!("touch: cannot touch '{path}': Read-only file system"),
            format!("PermissionError: [Errno 13] Permission denied: '{path}'"),
            format!("open {path} failed: permission denied"),
        ] {
            check(&output, &[&outside, &hint]);
        }
    }

    #[test]
    fn a_folder_that_could_not_be_made_ends_with_a_slash() {
        let outside = "Sandbox: /srv/x may not be written: it is outside the workspace.";
        let folder = &*ask("\"/srv/x/\"");
        let python = "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\n    import os; os.makedirs('/srv/x/y')\n";
        for output in [
            &format!(
                "{python}  File \"<frozen os>\", line 227, in makedirs\nOSError: [Errno 30] Read-only file system: '/srv/x'"
            ),
            &format!(
                "{python}               ~~~~~~~~~~~^^^^^^^^^^^^\nPermissionError: [Errno 13] Permission denied: '/srv/x'"
            ),
            "  File \"/usr/lib/python3.13/pathlib.py\", line 722, in mkdir\n    os.mkdir(self, mode)\n    ~~~~~~~~^^^^^^^^^^^^\nOSError: [Errno 30] Read-only file system: '/srv/x'",
            "mkdir: cannot create directory '/srv/x': Read-only file system",
            "mkdir /srv/x: read-only file system",
            "Error: EROFS: read-only file system, mkdir '/srv/x'",
            "cp: cannot create directory '/srv/x': Read-only file system",
            "fatal: could not create work tree dir '/srv/x': Read-only file system",
        ] {
            check(output, &[outside, folder]);
        }
        // The script's own file, as opposed to the folders that it creates elsewhere.
        let file = &*ask("\"/srv/x\"");
        check(
            "  File \"a.py\", line 3, in f\n    open('/srv/x', 'w')\nOSError: [Errno 30] Read-only file system: '/srv/x'",
            &[outside, file],
        );
        check("mkdir: created directory 'a'\ntouch: cannot touch '/srv/x': Read-only file system", &[outside, file]);
    }

    #[test]
    fn a_folder_that_cannot_be_moved_says_because_of_what() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("a/b")).unwrap();
        let env = omp_types::Env::default();
        let output = "fatal: renaming 'a' failed: Device or resource busy";
        let told_with = |guarded: &[&str]| {
            let guarded: Vec<PathBuf> = guarded.iter().map(|path| top.join(path)).collect();
            guarded.iter().for_each(|path| std::fs::write(path, "").unwrap());
            let map = AccessMap { workspace: top.clone(), guarded, ..AccessMap::default() };
            let ended = EndedCommand { command: "", output, cwd: &top, home: None, env: &env, failed: true };
            told(&ended, &map, |_| true)
        };
        let at = |path: &str| top.join(path).display().to_string();
        let begins = format!("Sandbox: {} may not be moved or removed: {}", at("a"), at("a/b/.envrc"));
        let expect = [format!("{begins} decides what runs or is allowed."), ask(&format!("\"{}\"", at("a/b/.envrc")))];
        assert_eq!(told_with(&["a/b/.envrc"]), expect);
        // Too many paths to open.
        let expect = [format!("{begins} and other files in it decide what runs or is allowed.")];
        assert_eq!(told_with(&["a/b/.envrc", "a/1", "a/2", "a/3"]), expect);
        assert_eq!(told_with(&[".envrc"]), [""; 0]);
    }

    #[test]
    fn what_is_allowed_but_not_open_says_what_opens_it() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        std::fs::create_dir(top.join("there")).unwrap();
        let allowed = top.join("sdk");
        let map = AccessMap { writable: vec![allowed.clone(), top.join("there")], ..AccessMap::default() };
        let env = omp_types::Env::default();
        let told = |command: &str, output: &str| {
            let ended = EndedCommand { command, output, cwd: Path::new("/w/app"), home: None, env: &env, failed: true };
            told(&ended, &map, |_| true)
        };
        let sdk = allowed.display();
        let output = format!("mkdir: cannot create directory '{sdk}/bin': Read-only file system");
        let expect = [
            format!("Sandbox: {sdk} is writable, but only a command that names it can create, replace or remove it."),
            format!("hint: run it again with `write: [\"{sdk}\"]`: it is allowed, nobody is asked"),
        ];
        assert_eq!(told("make install", &output), expect);
        let named = told("mkdir -p ../sdk/bin", &output);
        assert!(
            named.len() == 1 && named[0].contains("could not be opened") && named[0].contains("hint: "),
            "{named:?}"
        );
        let there = format!("rm: cannot remove '{}/a': Permission denied", top.join("there").display());
        assert_eq!(told("make", &there), [""; 0]);
    }

    #[test]
    fn a_path_is_named_once_in_a_hint() {
        let set_aside_of = |path: &str, key: &str| SetAside {
            path: path.into(),
            deed: Deed::Changed,
            to: None,
            put_back: true,
            in_git: false,
            keys: vec![key.to_owned()],
        };
        let config = "/w/.git/config";
        let found = ["core.pager", "core.editor", "alias.x"].map(|key| set_aside_of(config, key));
        let more = found.iter().cloned().chain([set_aside_of("/w/.envrc", "")]).collect::<Vec<_>>();
        assert_eq!(set_aside(&found).last().unwrap(), &ask("\"/w/.git/config\""));
        assert_eq!(set_aside(&more).last().unwrap(), &ask("\"/w/.git/config\", \"/w/.envrc\""));
    }

    #[test]
    fn a_push_to_a_repository_outside_is_told_with_its_folder() {
        let why = "Sandbox: /srv/remote.git may not be written: it is outside the workspace.";
        let ask = &*ask("\"/srv/remote.git/\"");
        let failed = "error: remote unpack failed: unable to create temporary object directory\n";
        let rejected = " ! [remote rejected] main -> main (unpacker error)\nerror: failed to push some refs to ";
        check(&format!("{failed}To /srv/remote.git\n{rejected}'/srv/remote.git'"), &[why, ask]);
        check(&format!("{failed}To file:///srv/remote.git\n{rejected}'file:///srv/remote.git'"), &[why, ask]);
        // Remotes on another host, in the workspace, or not writable by the user either.
        check(&format!("{failed}To host.example:remote.git\n{rejected}'host.example:remote.git'"), &[]);
        check(&format!("{failed}To ssh://host.example/srv/remote.git\n"), &[]);
        check(&format!("{failed}To ./remote.git\n"), &[]);
        check(&format!("{failed}To /root-only/remote.git\n"), &[]);
        check("To /srv/remote.git\n   1..2  main -> main", &[]);
    }

    #[test]
    fn what_containment_did_not_do_is_not_said_of_it() {
        check("cat: /root-only/x: Permission denied", &[]);
        check("cat: /proc/1/environ: Permission denied", &[OF_OTHERS]);
    }

    #[test]
    fn what_was_put_back_is_told_with_where_the_change_is() {
        let rows = [
            (
                Deed::Made,
                true,
                false,
                "may not be created: it decides what runs or is allowed; it was moved to /w/a.set-aside.",
            ),
            (
                Deed::Changed,
                true,
                true,
                "may not be changed: it decides what runs or is allowed; it was restored, the change is in /w/a.set-aside.",
            ),
            (
                Deed::Changed,
                true,
                false,
                "may not be changed: it decides what runs or is allowed; it could not be restored, the change is in /w/a.set-aside.",
            ),
            (Deed::Removed, false, true, "may not be removed: it decides what runs or is allowed; it was restored."),
            (
                Deed::Removed,
                false,
                false,
                "may not be removed: it decides what runs or is allowed; it could not be restored; check it.",
            ),
        ];
        for (deed, moved, put_back, expect) in rows {
            let to = moved.then(|| "/w/a.set-aside".into());
            let found = SetAside { path: "/w/a".into(), deed, to, put_back, in_git: false, keys: Vec::new() };
            assert_eq!(set_aside(&[found]), [format!("Sandbox: /w/a {expect}"), ask("\"/w/a\"")]);
        }
        for (deed, expect) in [(Deed::Changed, "had it like this"), (Deed::Removed, "was without it")] {
            let found =
                SetAside { path: "/w/a".into(), deed, to: None, put_back: true, in_git: true, keys: Vec::new() };
            let said = set_aside(&[found]).remove(0);
            assert!(said.contains(expect) && said.ends_with("when the session began; it was restored."), "{said}");
        }
        let keys = vec!["core.pager".to_owned(), "alias.x".to_owned()];
        let (path, to) = ("/w/.git/config".into(), Some("/w/.git/config.set-aside".into()));
        let found = SetAside { path, deed: Deed::Changed, to, put_back: true, in_git: false, keys };
        let expect = "Sandbox: core.pager, alias.x in /w/.git/config may not be set or removed, because git runs or reads \
                      what it names: it was restored, all other changes were kept; the file as written is /w/.git/config.set-aside.";
        assert_eq!(set_aside(&[found]), [expect.to_owned(), ask("\"/w/.git/config\"")]);
        let many = |count: usize| -> Vec<SetAside> {
            let one = |number| SetAside {
                path: format!("/w/{number}").into(),
                deed: Deed::Unwatched,
                to: None,
                put_back: false,
                in_git: false,
                keys: Vec::new(),
            };
            (0..count).map(one).collect()
        };
        assert_eq!(set_aside(&many(5)).last().unwrap(), "Sandbox: 2 more such files.");
        assert_eq!(set_aside(&[]), [""; 0]);
    }
}

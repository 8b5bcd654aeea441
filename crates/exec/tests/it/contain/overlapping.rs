//! Tests of arbitrary sets of hidden, guarded and writable paths, which may overlap, be missing, be links or vanish
//! meanwhile: a command starts, and every promise of the map holds, as seen by the command and from outside.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use omp_contain::Rung;
use omp_exec::{ChildEnv, Containment, Spawn};
use omp_types::{Access, AccessMap, Denied, Env, Touch};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{read_all, run};

/// What is created at a path, in the order of the list; a link may lead anywhere in the tree, or nowhere.
#[derive(Clone, Debug)]
enum Made {
    Folder,
    File,
    Socket,
    Link(String),
}

/// Paths relative to the top of the tree.
#[derive(Clone, Debug)]
struct World {
    made: Vec<(String, Made)>,
    hidden: Vec<String>,
    shown: Vec<String>,
    guarded: Vec<String>,
    writable: Vec<String>,
}

fn path() -> impl Strategy<Value = String> {
    vec(prop_oneof!["a", "b", "work"], 1..=4).prop_map(|names| names.join("/"))
}

fn world() -> impl Strategy<Value = World> {
    let made = prop_oneof![
        4 => Just(Made::Folder),
        4 => Just(Made::File),
        1 => Just(Made::Socket),
        2 => path().prop_map(Made::Link)
    ];
    let made = vec((path(), made), 0..14);
    (made, vec(path(), 0..5), vec(path(), 0..2), vec(path(), 0..5), vec(path(), 0..4))
        .prop_map(|(made, hidden, shown, guarded, writable)| World { made, hidden, shown, guarded, writable })
}

/// Tries to read and to write everything below the top, by name, by other names and after moving what can be moved. Prints
/// what it could read. Attacks in every known way what it may not write (`DENIED`) and what may not be created (`GUARDS`).
const ATTACK: &str = r#"
import ctypes, os, shutil, sys
top, own = os.environ["TOP"], os.path.join(os.environ["TOP"], "work", "own")
listed = lambda name: [path for path in os.environ[name].split("\n") if path]

def attempt(act, *args):
    try:
        return act(*args)
    except (OSError, shutil.Error, UnicodeDecodeError):
        return None

def show(path):
    with open(path) as file:
        sys.stdout.write(file.read())

def put(path, text, mode="w"):
    with open(path, mode) as file:
        file.write(text)

def found():
    walked = list(os.walk(top, topdown=False))
    join = os.path.join
    # Nobody waits for a socket.
    files = [join(at, name) for at, _, names in walked for name in names]
    return [at for at, _, _ in walked], [path for path in files if os.path.isfile(path) and not os.path.islink(path)]

def exchange(one, other):
    if ctypes.CDLL(None, use_errno=True).renameat2(-100, one.encode(), -100, other.encode(), 2) != 0:
        raise OSError

folders, files = found()
for path in files:
    attempt(show, path)
    if attempt(lambda: put(path, "CHANGED\n", "a") or True):
        print("WROTE", path)
for folder in folders:
    attempt(put, os.path.join(folder, "new"), "NEW\n")
moved = [folder for folder in folders if folder != top and attempt(lambda: os.rename(folder, folder + ".moved") or True)]
for path in found()[1]:
    attempt(show, path)
for folder in reversed(moved):
    attempt(os.rename, folder + ".moved", folder)
attempt(os.makedirs, own)
for number, path in enumerate(listed("DENIED")):
    mine, evil = os.path.join(own, str(number)), os.path.join(own, "%d.evil" % number)
    attempt(os.link, path, mine)
    attempt(show, mine)
    attempt(put, mine, "EVIL\n", "a")
    attempt(os.symlink, path, mine + ".link")
    attempt(show, mine + ".link")
    attempt(show, "/proc/self/root" + path)
    attempt(put, "/proc/self/root" + path, "EVIL\n", "a")
    attempt(shutil.copy, path, mine + ".copy")
    modes = [lambda: os.chmod(path, 0o777), lambda: os.chmod(path, 0), lambda: os.utime(path, (1, 1))]
    for way in (modes if path in listed("MODES") else []) + [
        lambda: os.rename(evil, path), lambda: os.link(evil, path), lambda: os.symlink(own, path), lambda: put(path, "EVIL\n"),
        lambda: exchange(evil, path), lambda: os.truncate(path, 0), lambda: os.rename(path, mine + ".taken"),
        lambda: os.rename(mine + ".taken", path), lambda: os.rmdir(path), lambda: os.mkdir(path), lambda: os.unlink(path),
        lambda: os.symlink(own, path), lambda: shutil.rmtree(path),
    ]:
        attempt(put, evil, "EVIL\n")
        attempt(way)
for path in listed("GUARDS"):
    for way in [
        lambda: os.makedirs(os.path.dirname(path)), lambda: put(path, "PLANTED\n"), lambda: os.makedirs(path),
        lambda: put(os.path.join(path, "inside"), "PLANTED\n"), lambda: os.symlink(own, path),
    ]:
        attempt(way)
print("FINISHED")
"#;

impl World {
    fn make(&self, top: &Path) {
        fs::create_dir(top.join("work")).unwrap();
        for (path, made) in &self.made {
            let at = top.join(path);
            // Not created if the folder is missing or the path exists.
            let _ = match made {
                Made::Folder => fs::create_dir(&at).is_ok(),
                Made::File => fs::File::create_new(&at).is_ok() && fs::write(&at, format!("<{path}>\n")).is_ok(),
                Made::Socket => UnixListener::bind(&at).is_ok(),
                Made::Link(to) => symlink(top.join(to), &at).is_ok(),
            };
        }
    }

    /// Builds the map as `default_map` does.
    fn map(&self, top: &Path) -> AccessMap {
        let real = |paths: &[String]| -> Vec<PathBuf> {
            paths.iter().map(|path| omp_stdx::real_path::of(&top.join(path))).collect()
        };
        let workspace = top.join("work");
        let around = |paths: Vec<PathBuf>| -> Vec<PathBuf> {
            paths.into_iter().filter(|path| !workspace.starts_with(path)).collect()
        };
        let writable = real(&self.writable);
        // A path that the user names is opened by its own name.
        let guarded = around(real(&self.guarded)).into_iter().filter(|guard| !writable.contains(guard)).collect();
        let is_reached =
            |path: &PathBuf| writable.iter().chain([&workspace]).any(|root| path.starts_with(root) && path != root);
        let links = self.guarded.iter().flat_map(|guard| links_on(&top.join(guard))).filter(is_reached).collect();
        AccessMap {
            hidden: around(real(&self.hidden)),
            shown: real(&self.shown),
            guarded,
            links,
            writable,
            workspace: workspace.clone(),
            ..AccessMap::default()
        }
    }
}

/// Links on the way to `path`, by their real folders, including links that these lead through.
fn links_on(path: &Path) -> Vec<PathBuf> {
    let (mut found, mut waiting) = (Vec::new(), vec![path.to_owned()]);
    while let Some(path) = waiting.pop().filter(|_| found.len() < 20) {
        for place in path.ancestors().filter(|place| place.is_symlink()) {
            let link = omp_stdx::real_path::of(place.parent().unwrap()).join(place.file_name().unwrap());
            if !found.contains(&link) {
                waiting.push(link.parent().unwrap().join(fs::read_link(&link).unwrap()));
                found.push(link);
            }
        }
    }
    found
}

/// The entry at a path: its kind, its mode, and its content or link target.
type Entry = (&'static str, u32, String);

/// Everything below the top, without following links.
fn entries(top: &Path) -> BTreeMap<PathBuf, Entry> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(top).unwrap().flatten() {
        let (path, data) = (entry.path(), entry.metadata().unwrap());
        let (kind, text) = match data.file_type() {
            kind if kind.is_dir() => ("folder", String::new()),
            kind if kind.is_file() => ("file", fs::read_to_string(&path).unwrap()),
            kind if kind.is_symlink() => ("link", fs::read_link(&path).unwrap().display().to_string()),
            _ => ("other", String::new()),
        };
        if kind == "folder" {
            found.extend(entries(&path));
        }
        found.insert(path, (kind, data.permissions().mode(), text));
    }
    found
}

/// What a rung promises about a path. Without mounts nothing is hidden in a writable folder.
fn promised(map: &AccessMap, touch: Touch, path: &Path, rung: Rung) -> Result<(), Denied> {
    let is_hidden = |root: &Path| map.hidden.iter().any(|hidden| root.starts_with(hidden));
    let mut roots = map.writable.iter().chain([&map.workspace]).filter(|root| !is_hidden(root));
    let mut is_in_writable = || roots.any(|root| path.starts_with(root));
    match map.allows(touch, path) {
        Err(Denied::Hidden(_)) if rung == Rung::Landlock && is_in_writable() => {
            AccessMap { hidden: Vec::new(), ..map.clone() }.allows(touch, path)
        }
        said => said,
    }
}

async fn check(world: &World, rung: Rung) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    world.make(&top);
    let (mut map, before) = (world.map(&top), entries(&top));
    let kept = map.clone();
    // A missing path contains no secret: a command that creates it may read it.
    map.hidden.retain(|path| path.exists());
    let may = |touch, path: &Path| promised(&map, touch, path, rung).is_ok();
    let listed = |paths: &mut dyn Iterator<Item = &PathBuf>| {
        paths.map(|path| path.display().to_string()).collect::<Vec<_>>().join("\n")
    };
    let denied = listed(&mut before.keys().filter(|path| !may(Touch::Write, path)));
    let is_missing = |path: &&PathBuf| path.symlink_metadata().is_err() && !may(Touch::Write, path);
    let missing: Vec<PathBuf> = map.guarded.iter().filter(is_missing).cloned().collect();
    let guards = listed(&mut missing.iter());
    // Landlock does not protect modes, a link has none, and a folder in which something may be created cannot keep its own.
    let is_opened = |path: &Path| map.writable.iter().any(|free| free.starts_with(path) && !free.is_dir());
    let keeps_mode = |path: &Path| rung != Rung::Landlock && !is_opened(path) && !path.is_symlink();
    let modes = listed(&mut before.keys().filter(|path| !may(Touch::Write, path) && keeps_mode(path)));
    let places = [("TOP", top.to_str().unwrap()), ("GUARDS", &guards), ("DENIED", &denied), ("MODES", &modes)];
    let env: Env = [("PATH", "/usr/local/bin:/usr/bin:/bin")].into_iter().chain(places).collect();
    let containment = Containment::new(Access::new(kept)).at_most(rung);
    let spawn = Spawn::new("python3", ChildEnv::unattended(&env), &containment).args(["-c", ATTACK]);
    let (said, finished) = run(spawn.cwd(top.join("work"))).await;
    prop_assert!(said.ends_with("FINISHED\n") && finished.exit.code == 0, "{rung:?}: {said}");
    let told = containment.take_set_aside();
    let after = entries(&top);
    for (path, was) in &before {
        let name = path.strip_prefix(&top).unwrap().display();
        if was.0 == "file" {
            prop_assert_eq!(said.contains(&was.2), may(Touch::Read, path), "{:?}: reading {}: {}", rung, name, said);
        }
        match after.get(path) {
            // A movable path may have been moved by the command itself.
            // A socket cannot be recreated.
            None if rung == Rung::Landlock && was.0 == "other" => {
                prop_assert!(told.iter().any(|told| told.path == *path && !told.put_back), "{name}: {told:?}");
            }
            is if !may(Touch::Write, path) => prop_assert_eq!(is, Some(was), "{:?}: {}: {:?}", rung, name, told),
            _ if was.0 == "file" => {
                let wrote = format!("WROTE {}\n", path.display());
                prop_assert!(said.contains(&wrote), "{rung:?}: writing {name}: {said}");
            }
            _ => {}
        }
    }
    let leads_to_writable =
        |path: &Path| map.writable.iter().any(|free| free.starts_with(path) && may(Touch::Write, free));
    for (path, is) in after.iter().filter(|(path, _)| !before.contains_key(*path)) {
        // In a missing guarded path, folders may be created on the way to a writable path.
        let is_way = is.0 == "folder" && leads_to_writable(path);
        let is_set_aside = path.ancestors().any(|path| path.to_string_lossy().contains(".set-aside"));
        let is_fine = may(Touch::Write, path) || is_way || is_set_aside;
        prop_assert!(is_fine, "{rung:?}: {} was made: {is:?} {told:?}", path.display());
    }
    Ok(())
}

#[test]
fn any_map_starts_a_command_and_is_kept() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let config = ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(world in world())| {
        for rung in [Rung::Full, Rung::Namespaces, Rung::Landlock] {
            runtime.block_on(check(&world, rung))?;
        }
    });
}

/// Keeps replacing each path by other things and restoring it, until it is stopped.
fn unrest(paths: &[PathBuf], is_over: &AtomicBool) {
    let away = |path: &Path| path.with_extension("away");
    while !is_over.load(Ordering::Relaxed) {
        for path in paths {
            // Any of these may fail, because a command changes the same paths.
            let _ = fs::rename(path, away(path));
            let _ = fs::write(path, "other").and_then(|()| fs::remove_file(path));
            let _ = fs::create_dir(path).and_then(|()| fs::remove_dir(path));
            let _ = symlink(path.with_file_name("nowhere"), path).and_then(|()| fs::remove_file(path));
            let _ = symlink(away(path), path).and_then(|()| fs::remove_file(path));
            let _ = fs::rename(away(path), path);
        }
    }
}

#[tokio::test]
async fn what_vanishes_or_changes_while_a_command_starts_stops_none() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    let at = |paths: &[&str]| paths.iter().map(|path| top.join(path)).collect::<Vec<PathBuf>>();
    let folders = ["work/in/guarded", "work/in/hidden", "hidden/deep", "out/writable/guarded", "work/both"];
    let files = ["work/in/guard", "work/in/secret", "secret", "out/file", "out/writable/guard"];
    at(&folders).iter().for_each(|path| fs::create_dir_all(path).unwrap());
    at(&files).iter().for_each(|path| fs::write(path, "PRIVATE").unwrap());
    let map = AccessMap {
        hidden: at(&["work/in/hidden", "hidden/deep", "hidden", "work/in/secret", "secret", "work/both"]),
        guarded: at(&[
            "work/in/guarded",
            "work/in/guard",
            "out/writable/guarded",
            "out/writable/guard",
            "work/both",
            "work/new",
        ]),
        writable: at(&["out/writable", "out/file", "work/in/guarded/deep"]),
        workspace: top.join("work"),
        ..AccessMap::default()
    };
    let restless: Vec<PathBuf> = map.hidden.iter().chain(&map.guarded).chain(&map.writable).cloned().collect();
    let is_over = Arc::new(AtomicBool::new(false));
    let seen = is_over.clone();
    let unrest = std::thread::spawn(move || unrest(&restless, &seen));
    let env: Env = [("PATH", "/usr/local/bin:/usr/bin:/bin")].into_iter().collect();
    let mut problems = Vec::new();
    for rung in [Rung::Full, Rung::Namespaces, Rung::Landlock] {
        let containment = Containment::new(Access::new(map.clone())).at_most(rung);
        for number in 0..60 {
            let spawn = Spawn::new("echo", ChildEnv::unattended(&env), &containment).arg("FINISHED");
            let Ok(mut child) = spawn.cwd(top.join("work")).start().map_err(|error| problems.push(error.to_string()))
            else {
                continue;
            };
            let said = read_all(&mut child).await;
            let code = child.finish().await.unwrap().exit.code;
            if (said.as_str(), code) != ("FINISHED\n", 0) {
                problems.push(format!("{rung:?} {number}: {code} {said}"));
            }
        }
    }
    is_over.store(true, Ordering::Relaxed);
    unrest.join().unwrap();
    assert_eq!(problems, [""; 0]);
}

/// As with tmux, a forwarded agent or a session bus: a hidden socket in a hidden folder.
#[tokio::test]
async fn a_hidden_socket_in_a_hidden_folder_is_hidden_once() {
    let text = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let made = [("a", Made::Folder), ("a/b", Made::Socket), ("a/work", Made::File)];
    let world = World {
        made: made.map(|(path, made)| (path.to_owned(), made)).to_vec(),
        hidden: text(&["a", "a/b", "a/b/a"]),
        shown: Vec::new(),
        guarded: text(&["a/work", "a/b"]),
        writable: text(&["a", "a/work"]),
    };
    check(&world, Rung::Full).await.unwrap();
}

/// Without mounts a guarded folder is recreated after a command moved it; a socket in it cannot be, and that is reported.
#[tokio::test]
async fn a_socket_that_is_lost_with_its_folder_is_told() {
    let made = [("work/work", Made::Folder), ("work/work/a", Made::Socket)];
    let world = World {
        made: made.map(|(path, made)| (path.to_owned(), made)).to_vec(),
        hidden: Vec::new(),
        shown: Vec::new(),
        guarded: vec!["work/work".to_owned()],
        writable: Vec::new(),
    };
    check(&world, Rung::Landlock).await.unwrap();
}

/// A hidden folder stays closed if what is shown of it does not exist yet.
#[tokio::test]
async fn what_is_shown_later_opens_no_hidden_folder() {
    let made = ["a", "a/a"].map(|path| (path.to_owned(), Made::Folder));
    let world = World {
        made: made.to_vec(),
        hidden: vec!["a".to_owned()],
        shown: vec!["a/b".to_owned()],
        guarded: Vec::new(),
        writable: vec!["a".to_owned()],
    };
    for rung in [Rung::Full, Rung::Namespaces, Rung::Landlock] {
        check(&world, rung).await.unwrap();
    }
}

/// A link in a guarded folder does not make its target read-only.
#[tokio::test]
async fn a_link_beside_what_may_be_made_guards_only_itself() {
    let link = ("a/a".to_owned(), Made::Link("work".to_owned()));
    let world = World {
        made: vec![("a".to_owned(), Made::Folder), ("work/a".to_owned(), Made::File), link],
        hidden: Vec::new(),
        shown: Vec::new(),
        guarded: vec!["a".to_owned()],
        writable: vec!["a/b".to_owned()],
    };
    for rung in [Rung::Full, Rung::Namespaces, Rung::Landlock] {
        check(&world, rung).await.unwrap();
    }
}

//! Any set of hidden, guarded and writable paths, whether they overlap, are missing or are links: a command starts, and every
//! promise of the map is kept.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use omp_contain::Rung;
use omp_exec::{ChildEnv, Containment, Shell};
use omp_types::{Access, AccessMap, Env, Touch};
use proptest::collection::vec;
use proptest::prelude::*;

use super::run;

/// What is made at a path, in the order of the list; a link may lead anywhere in the tree, also nowhere.
#[derive(Clone, Debug)]
enum Made {
    Folder,
    File,
    Socket,
    Link(String),
}

/// Paths from the top of the tree on.
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

/// Tries to read and to write everything below the top, by name and after moving what can be moved. What it read is printed.
const ATTACK: &str = r#"
cd "$TOP"
find . -type f -exec cat {} + 2>/dev/null
find . -type f -print0 2>/dev/null | while IFS= read -r -d '' file; do echo CHANGED >> "$file"; done 2>/dev/null
find . -type d -print0 2>/dev/null | while IFS= read -r -d '' folder; do echo NEW > "$folder/new"; done 2>/dev/null
for path in $GUARDS; do mkdir -p "$(dirname "$path")"; echo PLANTED > "$path"; done 2>/dev/null
find . -depth -mindepth 1 -type d -print0 2>/dev/null | while IFS= read -r -d '' path; do mv -T "$path" "$path.moved"; done 2>/dev/null
find . -type f -exec cat {} + 2>/dev/null
find . -depth -name '*.moved' -print0 2>/dev/null | while IFS= read -r -d '' path; do mv -T "$path" "${path%.moved}"; done 2>/dev/null
echo FINISHED
"#;

impl World {
    fn make(&self, top: &Path) {
        fs::create_dir(top.join("work")).unwrap();
        for (path, made) in &self.made {
            let at = top.join(path);
            // Where the folder is missing or something is there already, it is not made.
            let _ = match made {
                Made::Folder => fs::create_dir(&at).is_ok(),
                Made::File => fs::File::create_new(&at).is_ok() && fs::write(&at, format!("<{path}>\n")).is_ok(),
                Made::Socket => UnixListener::bind(&at).is_ok(),
                Made::Link(to) => symlink(top.join(to), &at).is_ok(),
            };
        }
    }

    /// As `default_map` makes one.
    fn map(&self, top: &Path) -> AccessMap {
        let real = |paths: &[String]| -> Vec<PathBuf> {
            paths.iter().map(|path| omp_stdx::real_path::of(&top.join(path))).collect()
        };
        let workspace = top.join("work");
        let around = |paths: Vec<PathBuf>| -> Vec<PathBuf> {
            paths.into_iter().filter(|path| !workspace.starts_with(path)).collect()
        };
        AccessMap {
            hidden: around(real(&self.hidden)),
            shown: real(&self.shown),
            guarded: around(real(&self.guarded)),
            writable: real(&self.writable),
            workspace: workspace.clone(),
            ..AccessMap::default()
        }
    }
}

/// Every file below the top with its text, no link followed.
fn files(top: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(top).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(files(&entry.path()));
        } else if kind.is_file() {
            found.push((entry.path(), fs::read_to_string(entry.path()).unwrap()));
        }
    }
    found
}

async fn check(world: &World, rung: Rung) -> Result<(), TestCaseError> {
    // Beside the binary of the test, as the usual temp folder may be writable.
    let folder = tempfile::tempdir_in(std::env::current_exe().unwrap().parent().unwrap()).unwrap();
    let top = folder.path().canonicalize().unwrap();
    world.make(&top);
    let (map, before) = (world.map(&top), files(&top));
    let missing: Vec<PathBuf> = map.guarded.iter().filter(|path| path.symlink_metadata().is_err()).cloned().collect();
    let guards = map.guarded.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ");
    let env: Env = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("TOP", top.to_str().unwrap()), ("GUARDS", &guards)]
        .into_iter()
        .collect();
    let containment = Containment::new(Access::new(map.clone())).at_most(rung);
    let spawn = Shell::choose(&env).spawn(ATTACK, ChildEnv::unattended(&env), &containment);
    let (said, finished) = run(spawn.cwd(top.join("work"))).await;
    prop_assert!(said.ends_with("FINISHED\n") && finished.exit.code == 0, "{said}");
    for (path, text) in &before {
        let name = path.strip_prefix(&top).unwrap();
        let may = |touch| map.allows(touch, path).is_ok();
        prop_assert_eq!(said.contains(text), may(Touch::Read), "reading {}: {}", name.display(), said);
        // What may be moved may have moved: it is the command's own work.
        match fs::read_to_string(path) {
            Ok(now) if may(Touch::Write) => prop_assert!(now.contains("CHANGED"), "writing {}", name.display()),
            Ok(now) => prop_assert_eq!(&now, text, "{} was changed", name.display()),
            Err(error) => prop_assert!(may(Touch::Write), "{}: {}", name.display(), error),
        }
    }
    for (path, text) in files(&top).iter().filter(|(path, _)| path.ends_with("new")) {
        prop_assert!(map.allows(Touch::Write, path).is_ok(), "{} was made: {}", path.display(), text);
    }
    for path in missing.iter().filter(|path| map.allows(Touch::Write, path).is_err()) {
        let planted = fs::read_to_string(path).is_ok_and(|text| text.contains("PLANTED"));
        prop_assert!(!planted, "{} was planted", path.display());
    }
    Ok(())
}

#[test]
fn any_map_starts_a_command_and_is_kept() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let config = ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(world in world())| {
        for rung in [Rung::Full, Rung::Namespaces] {
            runtime.block_on(check(&world, rung))?;
        }
    });
}

/// The worlds of tmux, of a forwarded agent and of a session bus: a hidden socket in a hidden folder.
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

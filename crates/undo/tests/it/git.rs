//! Tests that files unchanged in git are not copied, and are restored byte for byte, whatever happened to `.git`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use omp_undo::{LeftReason, Undo, UndoOptions, UndoReport, UndoRequest};

use crate::place::{Place, State, options, sh, state};

/// Runs git without the settings of user and machine.
pub fn git(folder: &Path, script: &str) {
    let status = Command::new("sh")
        .args(["-ec", script])
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("GIT_AUTHOR_NAME", "x")
        .env("GIT_AUTHOR_EMAIL", "x@example.com")
        .env("GIT_COMMITTER_NAME", "x")
        .env("GIT_COMMITTER_EMAIL", "x@example.com")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{script}");
}

/// Makes everything in it look old.
fn age(index: &Path) {
    let later = SystemTime::now() + Duration::from_secs(10);
    fs::File::options().write(true).open(index).unwrap().set_modified(later).unwrap();
}

const PACK: &str = "git add -A && git commit -qm x && git repack -adfq && git update-index -q --refresh";

const FILES: usize = 90;

/// Creates many similar files, which become deltas of each other, and some different ones.
fn fill(folder: &Path) {
    for file in 0..FILES {
        let path = folder.join(format!("src/d{}/f{file}.rs", file % 7));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let line = |number: u32| format!("line {number} of a text that many files have\n");
        let text: String = (0..40 + file as u32 % 5).map(line).collect();
        fs::write(path, format!("{text}and {file}\n")).unwrap();
    }
    fs::write(folder.join("binary"), (0..9000_u32).flat_map(|at| (at * at).to_le_bytes()).collect::<Vec<u8>>())
        .unwrap();
    fs::write(folder.join("empty"), "").unwrap();
}

fn repository(options: impl FnOnce(&mut UndoOptions)) -> Place {
    let place = Place::with(options);
    fill(&place.workspace());
    git(&place.workspace(), &format!("git init -q . && {PACK}"));
    age(&place.path(".git/index"));
    place
}

/// Returns the size of the contents in the store.
fn stored(place: &Place) -> u64 {
    fn size(folder: &Path) -> u64 {
        let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap());
        let one = |path: &Path| if path.is_dir() { size(path) } else { path.metadata().unwrap().len() };
        entries.map(|entry| one(&entry.path())).sum()
    }
    size(&place.root.path().join("store/packs")) + size(&place.root.path().join("store/objects"))
}

/// Returns the state without `.git`.
fn files(folder: &Path) -> State {
    let mut all = state(folder);
    all.retain(|path, _| path != b".git" && !path.starts_with(b".git/"));
    all
}

#[test]
fn what_git_has_is_not_copied_and_comes_back_whatever_a_command_does_to_git() {
    let forget = "git reflog expire --expire=now --all && git gc -q --prune=now";
    let scripts = [
        "rm -rf src binary empty".to_owned(),
        "rm -rf .git src binary empty".to_owned(),
        "rm -rf * .git && git init -q .".to_owned(),
        format!("git rm -rq . && git commit -qm y --allow-empty && git update-ref -d HEAD; rm -f .git/index; {forget}"),
        "git mv src other && git commit -qam y && git repack -adq && git prune-packed".to_owned(),
        "find src -type f -exec sed -i 's/line/row/' {} +".to_owned(),
        "chmod -R a-w src; chmod +x src/*/*".to_owned(),
        "mv src aside && cp -a aside src && touch src/*/*".to_owned(),
    ];
    for script in scripts {
        let place = repository(|_| {});
        let before = files(&place.workspace());
        place.undo.begin_turn("x");
        place.call("c1", |_| {});
        assert_eq!(stored(&place), 0, "nothing is copied");
        place.call("c2", |workspace| git(workspace, &script));
        let after = files(&place.workspace());
        assert_ne!(before, after, "{script}");
        // `.git` itself is not restored by undo.
        let left = |report: UndoReport| report.left.iter().filter(|(path, _)| path.to_string() != ".git").count();
        assert_eq!(left(place.undo.undo(&UndoRequest::default()).unwrap()), 0, "{script}");
        assert_eq!(files(&place.workspace()), before, "{script}");
        assert_eq!(left(place.undo.redo(false).unwrap()), 0, "{script}");
        assert_eq!(files(&place.workspace()), after, "{script}");
        assert_eq!(left(place.undo.undo(&UndoRequest::default()).unwrap()), 0, "{script}");
        assert_eq!(files(&place.workspace()), before, "{script}");
    }
}

/// The content of the work tree is restored, not the form that git stores.
#[test]
fn files_that_git_keeps_otherwise_come_back_as_they_were() {
    let rot = "git config filter.rot.clean 'tr a-z n-za-m' && git config filter.rot.smudge 'tr a-z n-za-m'";
    let again = "git add -A && git commit -qm x && rm -rf * && git checkout -q -- . && git repack -adfq";
    let rows = [
        ("line ends", "git config core.autocrlf true; printf 'a\\nb\\n' > a.txt".to_owned()),
        ("line ends by attributes", "echo '* text eol=crlf' > .gitattributes; printf 'a\\nb\\n' > a.txt".to_owned()),
        ("ident", "echo '* ident' > .gitattributes; echo 'x $Id$ y' > a.txt".to_owned()),
        ("a filter", format!("{rot}; echo '*.txt filter=rot' > .gitattributes; echo hello > a.txt")),
        (
            "a filter in a folder",
            format!("{rot}; mkdir d; echo '* filter=rot' > d/.gitattributes; echo hello > d/a.txt"),
        ),
        (
            "a filter of the repository",
            format!("{rot}; echo 'A.TXT filter=rot' > .git/info/attributes; echo hello > A.TXT"),
        ),
        (
            "a filter by a macro",
            format!("{rot}; printf '[attr]odd filter=rot\\n*.txt odd\\n' > .gitattributes; echo hello > a.txt"),
        ),
        (
            "an encoding",
            "echo '*.txt working-tree-encoding=UTF-16LE' > .gitattributes; printf '\\351\\000\\350\\000' > a.txt"
                .to_owned(),
        ),
    ];
    for (what, make) in rows {
        let place = Place::new();
        git(&place.workspace(), &format!("git init -q . && {make} && {again}"));
        age(&place.path(".git/index"));
        let before = files(&place.workspace());
        place.shell("find . -path ./.git -prune -o -type f -exec rm {} +");
        assert_eq!(files(&place.workspace()).values().filter(|node| !node.starts_with("folder")).count(), 0);
        assert_eq!(place.undo.undo(&UndoRequest::default()).unwrap().left, [], "{what}");
        assert_eq!(files(&place.workspace()), before, "{what}");
    }
}

/// Edits of the user that git has not seen are copied.
#[test]
fn edits_that_git_does_not_know_are_copied() {
    let rows = [
        ("an edit", "echo mine > binary"),
        ("the same size and time", "cp -p binary ../b && printf X | dd of=binary conv=notrunc && touch -r ../b binary"),
        ("told to be unchanged", "git update-index --assume-unchanged binary && echo mine > binary"),
        ("told to be left out", "git update-index --skip-worktree binary && echo mine > binary"),
        ("to be added", "echo mine > new && git add -N new"),
        ("an untracked file", "echo mine > new"),
        ("staged, not packed", "echo mine > binary && git add binary"),
        (
            "a conflict",
            "git checkout -qb b && echo 1 > binary && git commit -qam b && git checkout -q - && echo 2 > binary && git commit -qam c && ! git merge -q b",
        ),
        ("an index of version 4", "git update-index --index-version 4 && echo mine > binary"),
        ("a split index", "git update-index --split-index && echo mine > binary"),
        ("a damaged index", "printf 'DIRC\\000\\000\\000\\002\\377\\377\\377\\377' > .git/index && echo mine > binary"),
        ("packs that are none", "for f in .git/objects/pack/*; do chmod u+w $f; echo x > $f; done"),
        ("a pack cut short", "for f in .git/objects/pack/*.pack; do chmod u+w $f; truncate -s 2000 $f; done"),
    ];
    for (what, edit) in rows {
        let place = repository(|_| {});
        git(&place.workspace(), edit);
        if what != "an edit" {
            age(&place.path(".git/index"));
        }
        let before = files(&place.workspace());
        place.shell("rm -rf *");
        let report = place.undo.undo(&UndoRequest::default()).unwrap();
        let now = files(&place.workspace());
        for (path, node) in &before {
            // Content that cannot be read from a damaged pack is reported, and never replaced by wrong content.
            let is_told = report.left.iter().any(|(left, _)| left.as_bytes() == path.as_slice());
            let is_damaged = what == "a pack cut short" && is_told && !now.contains_key(path);
            assert!(now.get(path) == Some(node) || is_damaged, "{what}: {}", String::from_utf8_lossy(path));
        }
    }
}

#[test]
fn worktrees_and_folders_of_a_repository_are_covered_by_it() {
    let place = repository(|options| options.workspace = options.workspace.join("src"));
    let before = files(&place.path("src"));
    place.undo.begin_turn("x");
    place.undo.before_call(omp_undo::Call { id: "c".into(), tool: "bash".into() }, false).unwrap();
    assert_eq!(stored(&place), 0);
    sh(&place.path("src"), "rm -rf *");
    place.undo.after_call("c").unwrap();
    assert_eq!(place.undo.undo(&UndoRequest::default()).unwrap().left, []);
    assert_eq!(files(&place.path("src")), before);

    let main = place.root.path().join("main");
    fs::create_dir(&main).unwrap();
    fill(&main);
    git(
        &main,
        &format!("git init -q . && {PACK} && git worktree add -q ../tree && git -C ../tree update-index -q --refresh"),
    );
    age(&main.join(".git/worktrees/tree/index"));
    let tree = place.root.path().join("tree");
    let before = files(&tree);
    let undo = Undo::open(UndoOptions { workspace: tree.clone(), ..options(place.root.path()) }).unwrap();
    let already = stored(&place);
    undo.begin_turn("x");
    undo.before_call(omp_undo::Call { id: "c".into(), tool: "bash".into() }, false).unwrap();
    // Only the `.git` file that names the repository is stored.
    assert!(stored(&place) < already + 400);
    sh(&tree, "rm -rf *");
    undo.after_call("c").unwrap();
    assert_eq!(undo.undo(&UndoRequest::default()).unwrap().left, []);
    assert_eq!(files(&tree), before);
}

#[test]
fn a_later_session_asks_git_again_and_copies_what_it_has_lost() {
    let place = repository(|_| {});
    let before = files(&place.workspace());
    place.shell("true");
    place.undo.end_turn().unwrap();
    assert_eq!(stored(&place), 0);
    // Done by the user between two sessions.
    sh(&place.workspace(), "rm -rf .git");
    let again = Undo::open(options(place.root.path())).unwrap();
    again.begin_turn("x");
    again.before_call(omp_undo::Call { id: "c".into(), tool: "bash".into() }, false).unwrap();
    assert!(stored(&place) > 0);
    sh(&place.workspace(), "rm -rf *");
    again.after_call("c").unwrap();
    assert_eq!(again.undo(&UndoRequest::default()).unwrap().left, []);
    assert_eq!(files(&place.workspace()), before);
}

/// Killed while a command rewrites git: changed files are restored from the remaining packs.
#[test]
fn a_call_that_was_cut_off_is_taken_back_by_another_process() {
    let place = repository(|_| {});
    let before = files(&place.workspace());
    place.undo.begin_turn("x");
    place.undo.before_call(omp_undo::Call { id: "c".into(), tool: "bash".into() }, false).unwrap();
    git(&place.workspace(), "rm -rf src binary && git repack -adfq && git gc -q");
    let again = Undo::open(options(place.root.path())).unwrap();
    assert_eq!(again.undo(&UndoRequest::default()).unwrap().left, []);
    assert_eq!(files(&place.workspace()), before);
}

#[test]
fn content_that_a_command_destroys_in_git_is_told_and_nothing_else_is_put_in_its_place() {
    let place = repository(|_| {});
    place.write("mine", "untracked");
    let spoil = "for f in .git/objects/pack/*.pack; do chmod u+w $f; : > $f; done; rm -rf src mine";
    place.shell(spoil);
    let report = place.undo.undo(&UndoRequest::default()).unwrap();
    assert!(report.left.len() >= FILES, "{}", report.left.len());
    assert!(
        report
            .left
            .iter()
            .all(|(_, why)| matches!(why, LeftReason::NotKept(why) if why.contains("git no longer has it")))
    );
    assert_eq!(place.read("mine"), "untracked");
    assert!(files(&place.path("src")).values().all(|node| node.starts_with("folder")));
}

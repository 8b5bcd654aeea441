//! Tests attempts to bypass the session's access rules, through every file tool.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;

use omp_agent::AnyTool;
use omp_types::{Access, AccessMap, ContainMode};
use serde_json::{Value, json};

use crate::edit;
use crate::options::EditOptions;
use crate::scratch::Scratch;
use crate::urls::Router;
use crate::{AstEdit, AstGrep, EditMode, Files, Find, NoArtifacts, PendingActions, Read, Search, Write};

const SECRET: &str = "fn secret() { token(1); }\n";

/// The working folder is `work`; `home/keys` and `work/keys` are hidden; `work/.git/hooks` is guarded.
struct Kept {
    scratch: Scratch,
    read: Read,
    write: Write,
    patch: Arc<dyn AnyTool>,
    search: Search,
    find: Find,
    ast_grep: AstGrep,
    ast_edit: AstEdit,
}

impl Kept {
    fn new() -> Self {
        let mut scratch = Scratch::new(&[
            ("work/own.rs", "fn own() { token(1); }\n"),
            ("work/keys/id.rs", SECRET),
            ("home/keys/id.rs", SECRET),
            ("home/keys/cookies.db", "SQLite format 3\0 and rows"),
            ("home/keys/all.zip", "an archive"),
            ("home/keys/me.png", "\u{89}PNG"),
            ("home/keys/book.ipynb", "{}"),
            ("home/open.rs", "fn open() { token(1); }\n"),
        ]);
        let root = scratch.folder.path().canonicalize().unwrap();
        symlink(root.join("home"), root.join("work/home")).unwrap();
        symlink(root.join("home/keys/id.rs"), root.join("work/link.rs")).unwrap();
        std::fs::hard_link(root.join("home/keys/id.rs"), root.join("work/hard.rs")).unwrap();
        let access = Access::new(AccessMap {
            mode: ContainMode::WorkspaceWrite,
            workspace: root.join("work"),
            hidden: vec![root.join("home/keys"), root.join("work/keys")],
            guarded: vec![root.join("work/.git/hooks")],
            ..AccessMap::default()
        });
        let files = Arc::new(Files::new(root.join("work"), Some(root.join("home"))).with_access(access));
        scratch.files = files.clone();
        let urls = Arc::new(Router::new(Arc::new(NoArtifacts)));
        Self {
            read: Read::new(files.clone(), urls.clone()),
            write: Write { files: files.clone(), urls, block_generated: true },
            patch: edit::tool(EditMode::ApplyPatch, files.clone(), &EditOptions::default()),
            search: Search::new(files.clone()),
            find: Find::new(files.clone()),
            ast_grep: AstGrep { files: files.clone() },
            ast_edit: AstEdit { files, pending: Arc::new(PendingActions::default()), block_generated: true },
            scratch,
        }
    }

    fn root(&self) -> PathBuf {
        self.scratch.folder.path().canonicalize().unwrap()
    }

    #[track_caller]
    fn refused(&self, tool: &dyn AnyTool, arguments: Value, why: &str) {
        let said = self.scratch.text(tool, arguments.clone());
        assert!(said.contains(why), "{arguments}: {said}");
        assert!(!said.contains("secret()") && !said.contains("/proc/self/fd"), "{arguments}: {said}");
    }

    fn patched(&self, patch: &str) -> String {
        let input = format!("*** Begin Patch\n{patch}\n*** End Patch");
        self.scratch.text(&*self.patch, json!({"input": input}))
    }
}

const HIDDEN: &str = "may not be read: it is hidden from the model\nhint: ";
const LINK: &str = "may not be read: a link in the workspace leads there, out of the workspace\nhint: ";

#[test]
fn reading() {
    let kept = Kept::new();
    let root = kept.root();
    let real = root.join("home/keys/id.rs");
    let by_root = format!("/proc/self/root{}", real.display());
    for path in [
        "~/keys/id.rs",
        "keys/id.rs",
        "link.rs",
        "hard.rs",
        "home/keys/id.rs:1-1",
        "../home/keys/id.rs",
        "~/keys",
        "home/keys/cookies.db",
        "home/keys/cookies.db:users",
        "home/keys/all.zip",
        "home/keys/all.zip:a",
        "home/keys/me.png",
        "home/keys/book.ipynb",
        &by_root,
        &format!("file://{}", real.display()),
        "/proc/self/environ",
    ] {
        kept.refused(&kept.read, json!({"path": path}), HIDDEN);
    }
    let missing = kept.scratch.text(&kept.read, json!({"path": "~/keys/idd.rs"}));
    assert!(!missing.contains("id.rs,") && !missing.contains("id.rs?"), "no hints from there: {missing}");
    kept.refused(&kept.read, json!({"path": "/dev/zero"}), "a character device");
    let listing = kept.scratch.text(&kept.read, json!({"path": "."}));
    assert!(listing.contains("own.rs") && listing.contains("(1 entry hidden from the model)"), "{listing}");
    assert!(!listing.lines().any(|line| line.trim_start().starts_with("keys")), "{listing}");
    // Allowed by its own name, but not through a link inside the repository.
    assert!(kept.scratch.text(&kept.read, json!({"path": "~/open.rs"})).contains("fn open()"));
    kept.refused(&kept.read, json!({"path": "home/open.rs"}), LINK);
}

#[test]
fn writing() {
    let kept = Kept::new();
    let write = |path: &str| json!({"path": path, "content": "x"});
    for (path, why) in [
        ("home/open.rs", LINK),
        ("~/open.rs", "outside the workspace\nhint: "),
        ("home/new/deep.txt", "outside the workspace\nhint: "),
        ("../work-evil/x", "outside the workspace\nhint: "),
        ("home/a.zip:x", "outside the workspace\nhint: "),
        ("link.rs", HIDDEN),
        ("~/keys/new", HIDDEN),
        ("home/keys/cookies.db:users", HIDDEN),
        (".git/hooks/pre-commit", "it decides what runs or is allowed\nhint: "),
        (".GIT/hooks/pre-commit", "it decides what runs or is allowed\nhint: "),
    ] {
        kept.refused(&kept.write, write(path), why);
    }
    let root = kept.root();
    assert!(!root.join("work/.git").exists() && !root.join("home/a.zip").exists() && !root.join("home/new").exists());
    assert!(kept.scratch.text(&kept.write, write("new/deep.txt")).contains("wrote 1 bytes"));
    assert!(kept.scratch.text(&kept.write, write("new.zip:in/x")).contains("wrote 1 bytes"));
    assert!(kept.scratch.text(&kept.read, json!({"path": "new.zip:in/x"})).contains('x'));
}

#[test]
fn editing_moving_and_deleting() {
    let kept = Kept::new();
    for (patch, why) in [
        ("*** Update File: link.rs\n@@\n-fn secret() { token(1); }\n+fn x() {}", HIDDEN),
        ("*** Update File: home/open.rs\n@@\n-fn open() { token(1); }\n+fn x() {}", LINK),
        ("*** Update File: ../home/open.rs\n@@\n-fn open() { token(1); }\n+fn x() {}", "outside the workspace"),
        ("*** Delete File: home/open.rs", LINK),
        ("*** Delete File: ../home/open.rs", "outside the workspace"),
        ("*** Delete File: home/keys/id.rs", HIDDEN),
        (
            "*** Update File: own.rs\n*** Move to: home/own.rs\n@@\n-fn own() { token(1); }\n+fn x() {}",
            "outside the workspace",
        ),
        (
            "*** Update File: own.rs\n*** Move to: .git/hooks/pre-push\n@@\n-fn own() { token(1); }\n+fn x() {}",
            "it decides",
        ),
        ("*** Update File: keys/id.rs\n*** Move to: plain.rs\n@@\n-fn secret() { token(1); }\n+fn x() {}", HIDDEN),
        ("*** Add File: ../home/new\n+x", "outside the workspace"),
    ] {
        let said = kept.patched(patch);
        assert!(said.contains(why), "{patch}: {said}");
    }
    let root = kept.root();
    assert_eq!(std::fs::read_to_string(root.join("home/keys/id.rs")).unwrap(), SECRET);
    assert!(root.join("home/open.rs").exists() && root.join("work/own.rs").exists());
    assert!(!root.join("home/own.rs").exists() && !root.join("home/new").exists() && !root.join("work/.git").exists());
    let moved = kept.patched("*** Update File: own.rs\n*** Move to: a/b.rs\n@@\n-fn own() { token(1); }\n+fn x() {}");
    assert!(root.join("work/a/b.rs").exists() && !root.join("work/own.rs").exists(), "{moved}");
}

#[test]
fn looking_for_files_and_their_contents() {
    let kept = Kept::new();
    let left_out = "hidden from the model and left out";
    for paths in [json!(["."]), json!([".", "~/keys"]), json!(["**/*.rs", "home/keys/*.rs", "own.rs"])] {
        let arguments = json!({"pattern": "token", "paths": paths});
        kept.refused(&kept.search, arguments, left_out);
        kept.refused(&kept.ast_grep, json!({"pat": "token($A)", "paths": paths}), "own.rs");
        let found = kept.scratch.text(&kept.find, json!({"paths": paths}));
        assert!(found.contains("own.rs") && found.contains(left_out) && !found.contains("id.rs"), "{found}");
    }
    for path in ["~/keys", "link.rs", "keys/id.rs", "hard.rs"] {
        let said = kept.scratch.text(&kept.search, json!({"pattern": "token", "paths": [path]}));
        assert!(said.contains(left_out) && !said.contains("secret()"), "{path}: {said}");
        let said = kept.scratch.text(&kept.ast_grep, json!({"pat": "token($A)", "paths": [path]}));
        assert!(!said.contains("secret()"), "{path}: {said}");
        let ops = json!([{"pat": "token($A)", "out": "taken($A)"}]);
        let said = kept.scratch.text(&kept.ast_edit, json!({"ops": ops, "paths": [path]}));
        assert!(!said.contains("secret()"), "{path}: {said}");
    }
}

/// The user approved access for one call; a concurrent call does not get it.
#[tokio::test]
async fn what_is_lent_to_one_call_is_not_lent_to_another() {
    use omp_agent::ToolCx;
    use omp_types::Touch;
    let kept = Kept::new();
    let (key, outside) = (kept.root().join("home/keys/id.rs"), kept.root().join("home/new.rs"));
    let access = kept.scratch.files.reach().access();
    let loans = [access.lend("one", Touch::Read, &key), access.lend("one", Touch::Write, &outside)];
    let run = async |tool: &dyn AnyTool, call: &str, arguments: Value| {
        let answer = crate::scratch::run(tool, arguments, &ToolCx::detached(call)).await;
        answer.map(|output| output.content.iter().filter_map(|content| content.as_text()).collect::<String>())
    };
    let put = |text: &str| json!({"path": outside, "content": text});
    let find = json!({"pattern": "secret", "paths": [key]});
    for call in ["two", "one", "two"] {
        let (read, written, found) = tokio::join!(
            run(&kept.read, call, json!({"path": key})),
            run(&kept.write, call, put(call)),
            run(&kept.search, call, find.clone()),
        );
        let found = found.is_ok_and(|found| found.contains("secret()"));
        let lent = call == "one";
        assert_eq!((read.is_ok(), written.is_ok(), found), (lent, lent, lent), "{call}: {read:?} {written:?}");
    }
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "one");
    drop(loans);
    assert!(run(&kept.read, "one", json!({"path": key})).await.is_err());
}

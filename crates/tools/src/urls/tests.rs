//! Tests addresses through `read` and `write`, as the model uses them.

use std::io;
use std::path::PathBuf;
use std::sync::Mutex;

use omp_types::{EditorFuture, EditorText};
use serde_json::json;

use super::*;
use crate::scratch::Scratch;
use crate::{ArtifactFile, Files, NoArtifacts, Read, Write};

/// A session with its files in `session/`.
struct Kept(PathBuf);

impl Artifacts for Kept {
    fn create(&self, _tool: &str) -> io::Result<ArtifactFile> {
        Err(io::Error::other("not needed here"))
    }

    fn list(&self) -> io::Result<Vec<(u64, PathBuf)>> {
        let log = self.0.join("0.bash.log");
        Ok(if log.exists() { vec![(0, log)] } else { Vec::new() })
    }

    fn folder(&self) -> Option<PathBuf> {
        Some(self.0.clone())
    }
}

struct Said;

impl History for Said {
    fn transcript(&self) -> Result<String, String> {
        Ok("## user\nhello\n\n## assistant\nhi".to_owned())
    }

    fn span(&self, first: &str, last: &str) -> Result<String, String> {
        if first == "x" { Err("no entry x".into()) } else { Ok(format!("## user\nfrom {first} to {last}")) }
    }
}

struct TwoJobs;

impl JobList for TwoJobs {
    fn list(&self) -> Vec<JobLine> {
        let job = |id: &str, status: &str| JobLine { id: id.into(), status: status.into(), title: "make\nall".into() };
        vec![job("1", "running"), job("2", "completed")]
    }

    fn show(&self, id: &str) -> Option<String> {
        (id == "2").then(|| r#"{"exit": 0}"#.to_owned())
    }
}

/// A host with writable and read-only pages.
#[derive(Default)]
struct Notion {
    written: Mutex<Vec<String>>,
}

impl EditorAddresses for Notion {
    fn has(&self, scheme: &str) -> bool {
        ["notion", "fixed"].contains(&scheme)
    }

    fn writable(&self, scheme: &str) -> bool {
        scheme == "notion"
    }

    fn read<'a>(&'a self, url: &'a str) -> EditorFuture<'a, Result<EditorText, String>> {
        Box::pin(async move {
            match url.split_once("://").unwrap().1 {
                "gone" => Err("no such page".to_owned()),
                "written" => Ok(EditorText { text: self.written.lock().unwrap().join("\n"), notes: Vec::new() }),
                _ => Ok(EditorText { text: format!("asked for\n{url}\nend"), notes: vec!["of today".to_owned()] }),
            }
        })
    }

    fn write<'a>(&'a self, url: &'a str, text: &'a str) -> EditorFuture<'a, Result<(), String>> {
        self.written.lock().unwrap().push(format!("{url}: {text}"));
        Box::pin(async move { if url.ends_with("gone") { Err("locked".to_owned()) } else { Ok(()) } })
    }
}

const ANNA: &str =
    r#"{"title": "two\nlines", "items": [{"name": "a", "n": 1}, {"name": "b"}], "odd key": {"x.y": true}}"#;

struct Stage {
    scratch: Scratch,
    read: Read,
    write: Write,
}

fn stage(contents: &[(&str, &str)]) -> Stage {
    let scratch = Scratch::new(contents);
    let kept: Arc<dyn Artifacts> = Arc::new(Kept(scratch.path("session")));
    let project = scratch.path("project");
    std::fs::create_dir_all(&project).unwrap();
    let files = Arc::new(Files::new(project, None).with_local(local::folder_of(&*kept)));
    let mut router = Router::new(kept);
    router.register(Arc::new(HistoryResource(Arc::new(Said))));
    router.register(Arc::new(JobsResource(Arc::new(TwoJobs))));
    let urls = Arc::new(router.with_host(Some(Arc::new(Notion::default()))));
    let read = Read::new(files.clone(), urls.clone());
    Stage { scratch, read, write: Write { files, urls, block_generated: true } }
}

impl Stage {
    fn read(&self, path: &str) -> String {
        self.scratch.text(&self.read, json!({"path": path}))
    }

    fn write(&self, path: &str, content: &str) -> String {
        self.scratch.text(&self.write, json!({"path": path, "content": content}))
    }
}

#[test]
fn addresses() {
    let stage = stage(&[
        ("session/0.bash.log", "one\ntwo\n"),
        ("session/Anna.md", ANNA),
        ("session/Bob.md", "# Report\nfine\n"),
        ("session/secret.txt", "no"),
    ]);
    for (path, want) in [
        ("artifact://0", "one\ntwo"),
        ("artifact://0:2", "two"),
        ("artifact://", "artifact://0"),
        ("artifact://7", "error: artifact://7 does not exist; there are: 0"),
        ("artifact://x", "error: artifact:// ID must be numeric, got: x"),
        ("agent://", "agent://Anna\nagent://Bob"),
        ("agent://Bob", "# Report\nfine"),
        ("agent://Bob:2-2", "fine"),
        ("agent://Carl", "error: Not found: Carl\nAvailable: Anna, Bob"),
        ("agent://..", "error: agent:// ID must be a plain name, got: .."),
        ("agent://../secret", "error: agent:// ID must be a plain name, got: .."),
        ("agent://a\\b", "error: agent:// ID must be a plain name, got: a\\b"),
        ("agent://Anna/items/1/name", "b"),
        ("agent://Anna?q=.items[0]", "{\n  \"name\": \"a\",\n  \"n\": 1\n}"),
        ("agent://Anna?q=.items[-1].name", "b"),
        ("agent://Anna?q=.items[].name", "\"a\"\n\"b\""),
        ("agent://Anna?q=.items[].n", "1\nnull"),
        ("agent://Anna?q=.title", "two\nlines"),
        ("agent://Anna?q=.[\"odd%20key\"].\"x.y\"", "true"),
        ("agent://Anna?q=.title[]", "null"),
        (
            "agent://Anna?q=.nine",
            "error: \"nine\" does not exist: this is an object with the keys title, items, odd key",
        ),
        ("agent://Anna?q=.items[9]", "error: [9] does not exist: this is a list of 2"),
        ("agent://Anna/items/x", "error: \"x\" does not exist: this is a list of 2"),
        ("agent://Anna/items?q=.a", "error: agent:// URL cannot combine path extraction with ?q="),
        ("agent://Anna/items:3", "error: agent://Anna: lines cannot be chosen together with a path into JSON"),
        ("agent://Anna?x=1", "error: ?x=1 is not understood\nhint: use ?q=.a.b[0]"),
        ("agent://Bob?q=.a", "error: Output Bob is not valid JSON: expected value at line 1 column 1"),
        ("history://", "## user\nhello\n\n## assistant\nhi"),
        ("history://:2-2", "hello\n(3 lines follow, up to line 5; continue with history://:3)"),
        ("history://a1..b2", "## user\nfrom a1 to b2"),
        ("history://a1", "## user\nfrom a1 to a1"),
        ("history://a1..b2:2", "from a1 to b2"),
        ("history://x", "error: history://x does not exist: no entry x\nhint: history:// is the whole conversation"),
        ("jobs://", "jobs://1 [running] make\njobs://2 [completed] make"),
        ("jobs://2?q=.exit", "0"),
        ("jobs://3", "error: Not found: 3\nAvailable: 1, 2"),
        (
            "skill://x",
            "error: there is no skill:// in this session\nhint: available are artifact://, agent://, local://, \
             history://, jobs://",
        ),
    ] {
        assert_eq!(stage.read(path), want, "{path}");
    }
}

#[test]
fn scratch_files_are_written_and_read() {
    let stage = stage(&[("session/secret.txt", "no")]);
    assert_eq!(stage.read("local://"), "nothing is stored under local:// yet");
    assert_eq!(
        stage.read("local://a.md"),
        "error: Local file not found: local://a.md\nhint: nothing is stored under local:// yet"
    );
    let written = stage.write("local://plans/a.json", "{\"a\": [1, 2]}\n");
    assert!(written.contains("Successfully wrote 14 bytes to local://plans/a.json"), "{written}");
    assert_eq!(stage.scratch.get("session/local/plans/a.json"), "{\"a\": [1, 2]}\n");
    let shown = stage.read("local://plans/a.json");
    assert!(shown.starts_with("[local://plans/a.json#") && shown.ends_with("]\n1:{\"a\": [1, 2]}"), "{shown}");
    assert_eq!(stage.read("local://plans/a.json?q=.a[1]"), "2");
    assert_eq!(stage.read("local://b"), "error: Local file not found: local://b\nhint: there are: plans/a.json");
    assert!(stage.read("local://").contains("plans/"));
    for escape in ["local://../secret.txt", "local://a/../../secret.txt", "local://..\\secret.txt"] {
        assert!(stage.read(escape).starts_with("error: local:// URL escapes local root"), "{escape}");
        assert!(stage.write(escape, "x").starts_with("error: local:// URL escapes local root"), "{escape}");
    }
    assert_eq!(stage.scratch.get("session/secret.txt"), "no");
    let approval = crate::scratch::approval(&stage.write, &json!({"path": "local://a", "content": ""}));
    assert_eq!(approval.reason, None);
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out() {
    let stage = stage(&[("session/local/a", "x"), ("session/secret.md", "no")]);
    std::os::unix::fs::symlink(stage.scratch.path("session"), stage.scratch.path("session/local/out")).unwrap();
    std::os::unix::fs::symlink(stage.scratch.path("project"), stage.scratch.path("session/Link.md")).unwrap();
    assert!(stage.read("local://out/secret.md").starts_with("error: local:// URL escapes local root"));
    assert!(stage.write("local://out/new", "x").starts_with("error: local:// URL escapes local root"));
    assert!(stage.read("agent://Link").starts_with("error: Not found: Link"));
}

#[test]
fn only_local_addresses_can_be_written() {
    let stage = stage(&[]);
    for address in ["artifact://3", "agent://Anna", "history://", "skill://x"] {
        let answer = stage.write(address, "x");
        assert_eq!(answer, format!("error: {address} can only be read\nhint: local://<name> can be written"));
    }
}

#[test]
fn a_session_without_files_says_so() {
    let scratch = Scratch::new(&[]);
    let tool = Read::new(scratch.files.clone(), Arc::new(Router::new(Arc::new(NoArtifacts))));
    for (path, want) in [
        ("artifact://0", "error: No session - artifacts unavailable"),
        ("agent://Anna", "error: No session - agent outputs unavailable"),
        ("local://a", "error: No session - local:// unavailable"),
    ] {
        assert_eq!(scratch.text(&tool, json!({"path": path})), want);
    }
    let stage = stage(&[]);
    assert_eq!(stage.read("artifact://0"), "error: No artifacts directory found");
    assert_eq!(stage.read("agent://Anna"), "error: No artifacts directory found");
}

#[test]
fn queries() {
    use json::QueryStep::{Each, Index, Key};
    let key = |key: &str| Key(key.to_owned());
    for (query, want) in [
        (".", Ok(vec![])),
        (".a.b[0]", Ok(vec![key("a"), key("b"), Index(0)])),
        ("a[].b-c", Ok(vec![key("a"), Each, key("b-c")])),
        (".['x]']", Ok(vec![key("x]")])),
        (".[0][1]", Ok(vec![Index(0), Index(1)])),
        (".a[", Err("Invalid query: missing ] in .a[")),
        (".a[x]", Err("Invalid query: unexpected token 'x' in .a[x]")),
        (".a | .b", Err("Invalid query: unexpected token ' ' in .a | .b")),
        (".a..b", Err("Invalid query: unexpected token '.' in .a..b")),
        (".a.", Err("Invalid query: unexpected end of .a.")),
        (".a:40", Err("Invalid query: unexpected token ':' in .a:40")),
        (".\"a", Err("Invalid query: missing \" in .\"a")),
    ] {
        assert_eq!(json::parse(query), want.map_err(str::to_owned), "{query}");
    }
    assert!(json::parse(&".a".repeat(65)).unwrap_err().starts_with("Invalid query: more than 64 steps"));
    let many = format!("[{}0]", "0,".repeat(10_001));
    let shown = json::extract(&many, &[Each], "x").unwrap();
    assert!(shown.ends_with("\n(2 more results are not shown)"));
    assert_eq!(json::extract("[]", &[Each], "x").unwrap(), "(no results)");
}

#[test]
fn rules_skills_and_memories_go_by_name() {
    let contents = [("skills/pdf/SKILL.md", "# PDF"), ("skills/pdf/ref/a.json", "{\"k\": [7]}"), ("secret", "no")];
    let scratch = Scratch::new(&contents);
    #[cfg(unix)]
    std::os::unix::fs::symlink(scratch.path("secret"), scratch.path("skills/pdf/link")).unwrap();
    let mut router = Router::new(Arc::new(NoArtifacts));
    let texts = vec![("style".to_owned(), "two\nlines".to_owned()), ("empty".to_owned(), String::new())];
    router.register(Arc::new(TextsResource { scheme: "rule", texts }));
    let pdf = NamedFolder { name: "pdf".into(), folder: scratch.path("skills/pdf"), main_file: "SKILL.md".into() };
    router.register(Arc::new(FoldersResource { scheme: "skill", folders: vec![pdf] }));
    router.register(Arc::new(FoldersResource { scheme: "memory", folders: Vec::new() }));
    let tool = Read::new(scratch.files.clone(), Arc::new(router));
    for (path, want) in [
        ("rule://", "rule://style\nrule://empty"),
        ("rule://style", "two\nlines"),
        ("rule://style:2-2", "lines"),
        ("rule://Style", "error: Unknown rule: Style\nAvailable: style, empty"),
        ("skill://pdf", "# PDF"),
        ("skill://pdf/SKILL.md", "# PDF"),
        ("skill://pdf/ref/a.json?q=.k[0]", "7"),
        ("skill://doc", "error: Unknown skill: doc\nAvailable: pdf"),
        ("skill://pdf/none.md", "error: File not found: skill://pdf/none.md"),
        ("skill://pdf/../../secret", "error: Path traversal (..) is not allowed in skill:// URLs"),
        ("skill://pdf//etc/passwd", "error: Absolute paths are not allowed in skill:// URLs"),
        #[cfg(unix)]
        ("skill://pdf/link", "error: skill://pdf/link points outside its folder"),
        ("memory://root", "error: Unknown memory: root\nAvailable: none"),
    ] {
        assert_eq!(scratch.text(&tool, json!({"path": path})), want, "{path}");
    }
}

#[test]
fn addresses_of_the_host_are_asked_there() {
    let stage = stage(&[]);
    let whole = stage.read("notion://page/1");
    assert!(whole.contains("notion://page/1\nend") && whole.contains("of today"), "{whole}");
    assert!(stage.read("NOTION://page").contains("notion://page\n"), "the scheme has no case");
    let lines = stage.read("`notion://page/1:2-2`");
    assert!(lines.contains("notion://page/1") && !lines.contains("asked for"), "{lines}");
    assert!(stage.read("notion://page?at=5:2-2").contains("notion://page?at=5:2-2\nend"), "a query is the host's");
    assert_eq!(stage.read("notion://gone"), "error: no such page");
    let write = |path: &str| json!({"path": path, "content": "new"});
    let said = stage.scratch.text(&stage.write, write("notion://page"));
    assert_eq!(said, "Wrote 3 bytes to notion://page");
    assert!(stage.read("notion://written").contains("notion://page: new"));
    assert_eq!(stage.scratch.text(&stage.write, write("notion://gone")), "error: locked");
    let refused = stage.scratch.text(&stage.write, write("fixed://page"));
    assert!(refused.starts_with("error: fixed://page can only be read\nhint: "), "{refused}");
    let unknown = stage.scratch.text(&stage.write, write("other://page"));
    assert!(unknown.contains("Unknown URI-like write target"), "{unknown}");
}

#[test]
fn an_unknown_scheme_is_refused_with_the_list() {
    let stage = stage(&[("project/x/1", "a file\n")]);
    for path in ["issue://1", "mcp://x", "'pr://2'", "omp://docs", "Artifact://0", "@issue://1", "memory://root"] {
        let told = stage.read(path);
        assert!(
            told.contains(":// in this session") && told.contains("artifact://, agent://, local://"),
            "{path}: {told}"
        );
    }
    assert!(stage.read("@artifact://7").contains("artifact"), "an address may stand behind an @");
    assert!(stage.read("https://example.com").contains("curl"));
    assert!(stage.read("x/1").contains("a file"));
    let told = stage.write("issue://1", "x");
    assert!(told.contains("Unknown URI-like write target") && told.contains("local:// can be written"), "{told}");
}

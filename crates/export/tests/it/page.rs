//! Tests of the page as text.

use omp_export::{ExportError, default_path};
use serde_json::json;

use crate::scene::{EVIL, Scene, evil_scene};

#[test]
fn nothing_of_a_session_is_markup() {
    let page = evil_scene().exported(None);
    assert_eq!(page.matches("<script>").count(), 1, "only our own script");
    assert_eq!(page.matches("</script>").count(), 1);
    assert_eq!(page.matches("<style>").count(), 1);
    assert_eq!(page.matches("<img ").count(), 1, "only the image of the card");
    for evil in ["<svg", "onerror=\"", "href=\"javascript", "<!--", "]]>", "\u{0}", "\u{1b}"] {
        assert!(!page.contains(evil), "{evil:?} is on the page");
    }
    assert!(page.matches("&lt;script&gt;document.title=&#39;owned&#39;").count() > 20, "it is shown as text");
}

#[test]
fn tags_and_attributes_are_only_ours() {
    // A tag scanner that ignores escaping: every tag it finds must be in the list.
    let page = evil_scene().exported(None);
    let body = &page[page.find("<body>").unwrap()..page.find("<script>").unwrap()];
    for piece in body.split('<').skip(1) {
        let (tag, _) = piece.split_once('>').unwrap_or_else(|| panic!("a tag without end: {piece:.80}"));
        let name = tag.trim_start_matches('/').split([' ', '\n']).next().unwrap();
        let known = "a article aside b blockquote body br button code dd del details div dl dt em footer h1 h2 h3 h4 h5 \
                     header hr i img input li main nav ol p pre section span strong summary table td th time title tr ul";
        assert!(known.split_whitespace().any(|known| known == name), "unknown tag {name:?}");
        assert!(!tag.replace(" on\"", "\"").contains(" on"), "a handler in {tag:?}");
        assert!(!tag.contains(" style="), "{tag:?}");
    }
}

#[test]
fn nothing_is_loaded_from_anywhere() {
    let page = evil_scene().exported(None);
    let policy = "content=\"default-src &#39;none&#39;; style-src &#39;sha256-";
    assert!(page.contains(policy), "{}", &page[..600]);
    for attribute in page.split(" src=\"").skip(1) {
        assert!(attribute.starts_with("data:image/png;base64,"), "{attribute:.60}");
    }
    assert!(!page.contains("url(") && !page.contains("@import") && !page.contains("<link"));
}

#[test]
fn the_whole_tree_is_there_and_the_active_branch_is_shown() {
    let page = evil_scene().exported(None);
    assert!(page.contains("<section class=\"run\" id=\"s0\" data-next=\"s2\">"));
    assert!(page.contains("<section class=\"run\" id=\"s1\" data-up=\"s0\" hidden>"));
    assert!(page.contains("<section class=\"run\" id=\"s2\" data-up=\"s0\">"));
    assert!(page.contains("branch 1 of 2 <a href=\"#s2\"> next</a>"));
    assert!(page.contains("<li class=\"d1 user\" data-run=\"s1\"><a href=\"#e6\">the branch that was left</a></li>"));
    assert!(page.contains(
        "<li class=\"d0 user on\" data-run=\"s2\"><a href=\"#e8\">the branch that goes on</a> <b class=\"label\">mark"
    ));
    let other = evil_scene().exported(Some("a3"));
    assert!(other.contains("<section class=\"run\" id=\"s1\" data-up=\"s0\">"));
    assert!(other.contains("<section class=\"run\" id=\"s2\" data-up=\"s0\" hidden>"));
}

#[test]
fn what_a_page_shows() {
    let page = evil_scene().exported(None);
    for part in [
        "<h1>A title &lt;/script&gt;",
        "<dt>Messages</dt><dd>3 by the user, 4 by the assistant, 3 tool calls</dd>",
        "<dd>mock/mock-1: 4 answers, 4.8k in, 136 out, $0.0492</dd>",
        "<h3>Please</h3><p>read <strong>this</strong>",
        "<details class=\"thinking\"><summary>thinking</summary>",
        "<details class=\"card done\" open><summary><b>paint src/main.rs</b> <i>2 lines</i></summary>",
        "<span class=\"add\"><span class=\"n\">2</span>+    println!(&quot;<b>new</b>&quot;);\n</span>",
        "<details class=\"card running\" open><summary><b>lost</b> <i>no result</i>",
        "an image is not shown: its type is not supported",
        "<summary>Sub-agent Anna</summary><div class=\"talk\"><section class=\"run\" id=\"a0-s0\">",
        "<h3>What Anna found</h3>",
        "<summary>System prompt</summary>",
        "<summary>1 tool</summary>",
        "key [redacted].",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("sk-live-"));
}

#[test]
fn a_branch_between_a_call_and_its_result_keeps_the_call() {
    let call = json!([{"type": "toolCall", "id": "c", "name": "look", "arguments": {"path": "a.txt"}}]);
    let page = Scene::new()
        .user("u", None, "hi")
        .answer("a", "u", call)
        .result("r1", "a", "c", "look", json!({}))
        .result("r2", "a", "c", "look", json!({}))
        .exported(None);
    assert_eq!(page.matches("<b>look</b>").count(), 2);
    assert_eq!(page.matches("&quot;path&quot;: &quot;a.txt&quot;").count(), 2);
}

#[test]
fn a_diff_of_a_tool_that_is_not_known_is_coloured() {
    let call = json!([{"type": "toolCall", "id": "c", "name": "change", "arguments": {}}]);
    let scene = Scene::new().user("u", None, "hi").answer("a", "u", call);
    let page = scene.result("r", "a", "c", "change", json!({"diff": "@@ -1 +1 @@\n-a<b\n+b"})).exported(None);
    assert!(page.contains("<span class=\"del\"><span class=\"n\">1</span>-<b>a&lt;</b>b\n</span>"));
}

#[test]
fn damaged_and_empty_sessions_have_pages_too() {
    let scene = Scene::new().user("u", None, "hi");
    scene.write();
    let mut bytes = std::fs::read(scene.file()).unwrap();
    bytes.extend_from_slice(
        b"{\"type\":\"message\",\"id\":\"x\",\"parentId\":\"u\",\"message\":{]}\n\xff\xfe\n{\"type\":\"mess",
    );
    std::fs::write(scene.file(), bytes).unwrap();
    scene.export_to(&scene.page(), None).unwrap();
    let page = std::fs::read_to_string(scene.page()).unwrap();
    assert!(page.contains("an entry is missing here: damaged") && page.contains("Problems in the session file"));
    let empty = Scene::new().exported(None);
    assert!(empty.contains("<h1>Session 01a1e0cb</h1>"));
}

#[test]
fn only_an_earlier_export_is_written_over() {
    let scene = evil_scene();
    scene.write();
    scene.export_to(&scene.page(), None).unwrap();
    scene.export_to(&scene.page(), None).unwrap();
    let mine = scene.dir.path().join("mine.html");
    std::fs::write(&mine, "<!doctype html>\n<html lang=\"en\"><p>mine").unwrap();
    assert!(matches!(scene.export_to(&mine, None), Err(ExportError::Foreign(_))));
    assert_eq!(std::fs::read_to_string(&mine).unwrap(), "<!doctype html>\n<html lang=\"en\"><p>mine");
    for wrong in [scene.dir.path().to_owned(), scene.file(), scene.dir.path().join("gone/page.html")] {
        let error = scene.export_to(&wrong, None).unwrap_err().to_string();
        assert!(error.contains("hint:"), "{error}");
    }
    let left: Vec<_> = std::fs::read_dir(scene.dir.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left.len(), 4, "nothing is left behind: {left:?}");
}

#[test]
fn a_missing_session_is_told_by_its_path() {
    let scene = Scene::new();
    let error = scene.export_to(&scene.page(), None).unwrap_err();
    assert_eq!(error.to_string(), format!("File not found: {}", scene.file().display()));
    assert_eq!(default_path(&scene.file(), "/x".as_ref()), std::path::Path::new("/x/omp-session-2026_01a1e0cb.html"));
}

#[test]
fn a_session_with_much_of_everything_stays_bounded() {
    let mut scene = Scene::new().user("u0", None, &"x".repeat(3_000_000));
    for number in 1..=12_000 {
        scene = scene.user(&format!("u{number}"), Some(&format!("u{}", number - 1)), EVIL);
    }
    let page = scene.exported(None);
    assert!(page.contains("MB more are only in the session file"), "the long text is cut");
    assert!(page.contains("<p class=\"cut\">2001 more are only on the page</p>"), "the sidebar is cut");
    assert_eq!(page.matches("<article class=\"user\"").count(), 12_001);
}

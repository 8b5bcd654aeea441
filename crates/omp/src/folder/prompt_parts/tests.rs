//! Which of the discovered items reach the model, and how.

use omp_config::{ContextFile, ItemSource, Provider, Skill, TextFile};
use omp_rules::{RuleSettings, bucket};

use super::*;

fn source(level: Level) -> ItemSource {
    ItemSource { provider: Provider::Native, level, path: "/project/.github/x.instructions.md".into() }
}

fn rule(name: &str, change: impl FnOnce(&mut Rule)) -> Rule {
    let mut rule = Rule {
        name: name.into(),
        content: format!("text of {name}"),
        description: None,
        globs: Vec::new(),
        always_apply: false,
        condition: Vec::new(),
        ast_condition: Vec::new(),
        scope: Vec::new(),
        interrupt_mode: None,
        source: source(Level::Project),
    };
    change(&mut rule);
    rule
}

fn text_file(level: Level, text: &str) -> Option<TextFile> {
    Some(TextFile { name: "SYSTEM.md".into(), text: text.into(), source: source(level) })
}

fn asked(replace: Option<&str>, append: Option<&str>) -> AskedPrompt {
    AskedPrompt { replace: replace.map(str::to_owned), append: append.map(str::to_owned) }
}

/// Checks the text, the kept boundaries, and the appended text.
#[track_caller]
fn check(
    files: (Option<TextFile>, Option<TextFile>),
    asked: AskedPrompt,
    expect: (Option<(&str, bool)>, Option<&str>),
) {
    let catalogue = Catalogue { system: files.0, append_system: files.1, ..Catalogue::default() };
    let parts = parts(&catalogue, &Buckets::default(), Environment::default(), asked, true);
    let replace = parts.replace.as_ref().map(|own| (own.text.as_str(), own.keep_boundaries));
    assert_eq!((replace, parts.append.as_deref()), expect);
}

#[test]
fn flags_win_over_files_and_a_repository_keeps_our_boundaries() {
    let user = || text_file(Level::User, "mine");
    let project = || text_file(Level::Project, "theirs");
    check((None, None), asked(None, None), (None, None));
    check((user(), project()), asked(None, None), (Some(("mine", false)), Some("theirs")));
    check((project(), user()), asked(None, None), (Some(("theirs", true)), Some("mine")));
    check((project(), user()), asked(Some("flag"), Some("more")), (Some(("flag", false)), Some("more")));
    check((user(), user()), asked(Some("flag"), None), (Some(("flag", false)), Some("mine")));
    let blank = || text_file(Level::User, " \n");
    check((blank(), blank()), asked(None, None), (None, None));
}

fn catalogue() -> Catalogue {
    let skill = |name: &str, hidden| Skill {
        name: name.into(),
        description: "Does things".into(),
        folder: "/skills".into(),
        hidden,
        source: source(Level::User),
    };
    Catalogue {
        context_files: vec![ContextFile { path: "/a".into(), level: Level::User, text: "a".into() }],
        rules: vec![
            rule("always", |rule| rule.always_apply = true),
            rule("listed", |rule| rule.description = Some("About SQL".into())),
            rule("unnamed", |_| ()),
            rule("watching", |rule| {
                rule.always_apply = true;
                rule.condition = vec!["unwrap".into()];
            }),
            rule("structural", |rule| {
                rule.description = Some("x".into());
                rule.ast_condition = vec!["$A.unwrap()".into()];
            }),
        ],
        instructions: vec![
            rule("everywhere", |rule| rule.globs = vec!["**".into()]),
            rule("somewhere", |rule| rule.globs = vec!["*.sql".into()]),
        ],
        skills: vec![skill("pdf", false), skill("secret", true)],
        ..Catalogue::default()
    }
}

#[test]
fn each_thing_goes_where_it_belongs() {
    let parts = parts(
        &catalogue(),
        &bucket(&catalogue().rules, &RuleSettings::default()),
        Environment::default(),
        asked(None, None),
        true,
    );
    let names = |names: &[PromptListItem]| names.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
    assert_eq!(parts.always.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["always", "everywhere"]);
    assert_eq!(names(&parts.rulebook), ["listed", "/project/.github/x.instructions.md"]);
    assert_eq!(names(&parts.skills), ["pdf"]);
    assert_eq!(parts.context_files.len(), 1);
}

#[test]
fn lists_are_of_no_use_to_a_model_that_cannot_read() {
    let parts = parts(
        &catalogue(),
        &bucket(&catalogue().rules, &RuleSettings::default()),
        Environment::default(),
        asked(None, None),
        false,
    );
    assert!(parts.rulebook.is_empty() && parts.skills.is_empty() && parts.always.len() == 2);
}

#[test]
fn the_tree_is_told_where_it_is_wanted() {
    let project = tempfile::tempdir().unwrap();
    std::fs::write(project.path().join("a.txt"), "").unwrap();
    let look = |with_tree| look_around(Arc::default(), project.path().to_owned(), with_tree)();
    assert_eq!(look(false), Opening::default());
    assert_eq!(look(true).tree, Some(FolderTree { lines: vec!["a.txt".into()], cut: false }));
    std::fs::create_dir(project.path().join(".git")).unwrap();
    std::fs::write(project.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    assert_eq!(look(false).git, Some(GitState { head: "main".into(), changed: None }));
}

#[test]
fn a_look_that_was_begun_before_is_used_once() {
    let project = tempfile::tempdir().unwrap();
    std::fs::write(project.path().join("early.txt"), "").unwrap();
    let ahead = Arc::new(Ahead::default());
    let look = look_around(ahead.clone(), project.path().to_owned(), true);
    ahead.begin(project.path().to_owned(), true);
    let seen = ahead.lock().take().unwrap().join().unwrap();
    *ahead.lock() = Some(std::thread::spawn(|| seen));
    std::fs::write(project.path().join("late.txt"), "").unwrap();
    let lines = |opening: Opening| opening.tree.unwrap().lines;
    assert_eq!(lines(look()), ["early.txt"]);
    assert_eq!(lines(look()), ["early.txt", "late.txt"]);
}

//! Skills by settings and flags.

use serde_json::{Value, json};

use super::*;

fn skill(name: &str, provider: Provider, level: Level) -> Skill {
    let folder = Path::new("/skills").join(format!("{provider:?}-{level:?}")).join(name);
    let source = ItemSource { provider, level, path: folder.join("SKILL.md") };
    Skill { name: name.to_owned(), description: String::new(), folder, hidden: false, source }
}

fn some() -> Vec<Skill> {
    use Level::{Project, User};
    vec![
        skill("pdf", Provider::Native, User),
        skill("Deploy", Provider::Native, Project),
        skill("review", Provider::Claude, User),
        skill("review-rust", Provider::Claude, Project),
        skill("agent", Provider::Agents, Project),
        skill("gem", Provider::Gemini, User),
    ]
}

fn settings(user: Value, project: Value) -> Settings {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".omp")).unwrap();
    std::fs::write(folder.path().join("config.yml"), user.to_string()).unwrap();
    std::fs::write(folder.path().join(".omp/config.yml"), project.to_string()).unwrap();
    let mut settings = Settings::default();
    settings.load_global(&folder.path().join("config.yml")).unwrap();
    assert!(settings.load_project(folder.path()).is_empty());
    settings
}

#[track_caller]
fn check(user: Value, project: Value, flags: SkillFlags, expect: &str) {
    let choice = SkillChoice::read(&settings(user.clone(), project.clone()), &flags);
    let chosen: Vec<String> = choice.choose(some(), Vec::new()).into_iter().map(|skill| skill.name).collect();
    assert_eq!(chosen.join(" "), expect, "{user} {project}");
    assert!(choice.warnings.is_empty(), "{:?}", choice.warnings);
}

const ALL: &str = "agent Deploy gem pdf review review-rust";

#[test]
fn the_user_chooses() {
    let plain = SkillFlags::default;
    check(json!({}), json!({}), plain(), ALL);
    check(json!({"skills": {"enabled": false}}), json!({}), plain(), "");
    check(json!({"skills": {"ignoredSkills": ["review*", "gem"]}}), json!({}), plain(), "agent Deploy pdf");
    check(json!({"skills": {"includeSkills": ["review*", "p?f"]}}), json!({}), plain(), "pdf review review-rust");
    check(json!({"skills": {"enableClaudeUser": false}}), json!({}), plain(), "agent Deploy gem pdf review-rust");
    check(json!({"skills": {"enableAgentsProject": false}}), json!({}), plain(), "Deploy gem pdf review review-rust");
    let named = ["CodexUser", "ClaudeUser", "ClaudeProject", "PiUser", "PiProject"];
    let off: serde_json::Map<String, Value> =
        named.map(|name| (format!("enable{name}"), json!(false))).into_iter().collect();
    check(json!({ "skills": off }), json!({}), plain(), "agent");
}

#[test]
fn flags_choose_for_one_run() {
    let only = |names: &[&str]| SkillFlags { none: false, only: names.iter().map(|name| (*name).to_owned()).collect() };
    check(
        json!({"skills": {"includeSkills": ["pdf"]}}),
        json!({}),
        only(&["review*", "gem"]),
        "gem review review-rust",
    );
    check(json!({}), json!({"skills": {"includeSkills": ["pdf"]}}), only(&["gem"]), "gem");
    check(json!({}), json!({}), SkillFlags { none: true, only: vec!["gem".into()] }, "");
}

#[test]
fn a_project_leaves_out_and_brings_nothing_back() {
    let plain = SkillFlags::default;
    check(json!({}), json!({"skills": {"enabled": false}}), plain(), "");
    check(json!({"skills": {"enabled": false}}), json!({"skills": {"enabled": true}}), plain(), "");
    check(
        json!({"skills": {"ignoredSkills": ["gem"]}}),
        json!({"skills": {"ignoredSkills": ["pdf"]}}),
        plain(),
        "agent Deploy review review-rust",
    );
    check(
        json!({"skills": {"includeSkills": ["review*"]}}),
        json!({"skills": {"includeSkills": ["review", "pdf"]}}),
        plain(),
        "review",
    );
    let custom = json!({"skills": {"customDirectories": ["/etc"]}});
    assert!(SkillChoice::read(&settings(json!({}), custom.clone()), &plain()).custom_directories.is_empty());
    assert_eq!(SkillChoice::read(&settings(custom, json!({})), &plain()).custom_directories, ["/etc"]);
}

#[test]
fn a_folder_that_the_user_has_set_wins() {
    let choice = SkillChoice::read(&Settings::default(), &SkillFlags::default());
    let mut custom = skill("pdf", Provider::Native, Level::User);
    custom.folder = "/mine/pdf".into();
    let chosen = choice.choose(some(), vec![custom]);
    assert_eq!(chosen.iter().find(|skill| skill.name == "pdf").unwrap().folder, Path::new("/mine/pdf"));
    assert_eq!(chosen.len(), some().len());
}

#[test]
fn a_broken_pattern_is_told_and_counts_as_a_name() {
    let mut skills = some();
    skills[0].name = "[pdf".to_owned();
    let choice =
        SkillChoice::read(&settings(json!({"skills": {"includeSkills": ["[pdf"]}}), json!({})), &SkillFlags::default());
    assert_eq!(choice.choose(skills, Vec::new()).len(), 1);
    assert_eq!(choice.warnings.len(), 1);
}

#[test]
fn commands_have_toggles_too() {
    let settings = settings(
        json!({"commands": {"enableClaudeUser": false}}),
        json!({"commands": {"enableOpencodeProject": false}}),
    );
    let source = |provider, level| ItemSource { provider, level, path: "/x.md".into() };
    for (provider, level, expect) in [
        (Provider::Claude, Level::User, false),
        (Provider::Claude, Level::Project, true),
        (Provider::OpenCode, Level::User, true),
        (Provider::OpenCode, Level::Project, false),
        (Provider::Native, Level::Project, true),
    ] {
        assert_eq!(commands_are_on(&settings, &source(provider, level)), expect, "{provider:?} {level:?}");
    }
}

#[test]
fn every_toggle_is_declared() {
    for (key, ..) in TOGGLES {
        assert!(SKILL_SETTINGS.iter().any(|setting| setting.key == *key), "{key}");
    }
}

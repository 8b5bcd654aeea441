//! Tests of the bucket of each rule, and of the warnings.

use omp_config::{Level, Provider, Rule};
use omp_rules::{Buckets, RuleSettings, bucket};

use crate::{rule, words};

/// Returns the names in each bucket, and the number of warnings.
fn sorted(rules: &[Rule], settings: &RuleSettings) -> (String, String, String, usize) {
    let Buckets { ttsr, always, rulebook, warnings } = bucket(rules, settings);
    let names = |rules: Vec<&Rule>| rules.iter().map(|rule| rule.name.as_str()).collect::<Vec<_>>().join(" ");
    let watched = names(ttsr.rules().map(|rule| &**rule).collect());
    (watched, names(always.iter().collect()), names(rulebook.iter().collect()), warnings.len())
}

#[track_caller]
fn check(rules: &[Rule], settings: &RuleSettings, ttsr: &str, always: &str, rulebook: &str, warnings: usize) {
    assert_eq!(sorted(rules, settings), (ttsr.to_owned(), always.to_owned(), rulebook.to_owned(), warnings));
}

fn watched(name: &str, condition: &str) -> Rule {
    Rule { condition: words(&[condition]), ..rule(name) }
}

fn described(rule: Rule) -> Rule {
    Rule { description: Some("when to read it".into()), ..rule }
}

#[test]
fn each_rule_goes_into_one_bucket() {
    let default = RuleSettings::default();
    check(&[rule("bare")], &default, "", "", "", 0);
    check(&[described(rule("a"))], &default, "", "", "a", 0);
    check(&[Rule { description: Some(String::new()), ..rule("a") }], &default, "", "", "", 0);
    let always = |rule: Rule| Rule { always_apply: true, ..rule };
    check(&[always(rule("a")), always(described(rule("b")))], &default, "", "a b", "", 0);
    check(&[always(described(watched("a", "x")))], &default, "a", "", "", 0);
    check(&[Rule { ast_condition: words(&["f($A)"]), ..rule("a") }], &default, "a", "", "", 0);
    check(&[watched("a", "x"), watched("a", "y")], &default, "a", "", "", 0);
}

/// Regardless of the bucket of the first rule with that name.
#[test]
fn of_one_name_the_first_counts() {
    let default = RuleSettings::default();
    let always = |name: &str| Rule { always_apply: true, ..rule(name) };
    check(&[watched("a", "x"), described(rule("a"))], &default, "a", "", "", 0);
    check(&[described(rule("a")), always("a"), watched("a", "x")], &default, "", "", "a", 0);
    check(&[always("a"), always("a")], &default, "", "a", "", 0);
}

/// A repository may contain any number of rules.
#[test]
fn what_is_watched_has_an_end() {
    let default = RuleSettings::default();
    let many: Vec<Rule> = (0..1_001).map(|at| watched(&format!("r{at}"), "x")).collect();
    let buckets = bucket(&many, &default);
    assert_eq!((buckets.ttsr.rules().len(), buckets.warnings.len()), (1_000, 1));
    assert!(buckets.warnings[0].contains("1000 rules are already active"), "{}", buckets.warnings[0]);
    let conditions = Rule { condition: vec!["x".to_owned(); 65], ..rule("a") };
    check(&[conditions], &default, "a", "", "", 1);
    // Each of them is allowed, but not all together.
    let large = Rule { condition: vec![r"[^a]{120}".to_owned(); 64], ..rule("") };
    let many: Vec<Rule> = (0..20).map(|at| Rule { name: format!("r{at}"), ..large.clone() }).collect();
    let buckets = bucket(&many, &default);
    let watched = buckets.ttsr.rules().len();
    assert!((1..20).contains(&watched) && buckets.warnings.len() == 20 - watched, "{watched}");
    assert!(buckets.warnings[0].contains("together are too large\nhint: "), "{}", buckets.warnings[0]);
}

#[test]
fn what_cannot_be_watched_is_told_and_may_still_be_read() {
    let default = RuleSettings::default();
    check(&[watched("a", "(?=x)"), described(watched("b", "("))], &default, "", "", "b", 2);
    let half = Rule { condition: words(&["(", "fine"]), ..rule("a") };
    check(&[half], &default, "a", "", "", 1);
    let blank = Rule { ast_condition: words(&[" "]), ..rule("a") };
    check(&[blank], &default, "", "", "", 0);
    let nowhere = Rule { scope: words(&["mcp:x"]), ..watched("a", "x") };
    check(&[nowhere], &default, "", "", "", 2);
    check(&[Rule { interrupt_mode: Some("sometimes".into()), ..watched("a", "x") }], &default, "a", "", "", 1);
    check(&[Rule { globs: words(&["[", "*.rs"]), ..watched("a", "x") }], &default, "a", "", "", 1);
    let warning = &bucket(&[watched("a", "(?=x)")], &default).warnings[0];
    assert!(warning.starts_with("rule `a` (a.md): condition `(?=x)`") && warning.contains("\nhint: "), "{warning}");
}

#[test]
fn settings_leave_rules_out() {
    let builtin = |name: &str| {
        let mut rule = watched(name, "x");
        rule.source.provider = Provider::Builtin;
        rule.source.level = Level::User;
        rule
    };
    let users = |name: &str| {
        let mut rule = watched(name, "x");
        rule.source.level = Level::User;
        rule
    };
    let rules = [watched("project", "x"), users("users"), builtin("builtin"), described(rule("read"))];
    let default = RuleSettings::default();
    check(&rules, &default, "project users builtin", "", "read", 0);
    check(&rules, &RuleSettings { builtin: false, ..default.clone() }, "project users", "", "read", 0);
    check(&rules, &RuleSettings { enabled: false, ..default.clone() }, "", "", "read", 0);
    let all = words(&["project", " users ", "builtin", "read"]);
    check(&rules, &RuleSettings { disabled: all.clone(), ..default.clone() }, "", "", "", 0);
    // A repository cannot disable rules of the user or built-in ones.
    check(&rules, &RuleSettings { disabled_by_project: all, ..default }, "users builtin", "", "", 0);
}

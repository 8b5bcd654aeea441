//! Tests of rules against the effects of calls.

use std::path::PathBuf;

use omp_types::ContainMode;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn places() -> RulePlaces {
    RulePlaces { workspace: "/w/app".into(), home: Some("/users/me".into()), ..RulePlaces::default() }
}

fn rules(lines: &[(RuleLevel, &str)]) -> ApprovalRules {
    let mut rules = ApprovalRules::new(places());
    lines.iter().for_each(|(level, line)| rules.add(*level, RuleSource::User, line).unwrap());
    rules
}

fn run(command: &str) -> Effect {
    Effect::Run { words: command.split(' ').map(str::to_owned).collect(), whole: true }
}

fn write(path: &str) -> Effect {
    Effect::Write(PathBuf::from(path))
}

fn said(ruling: &Ruling<'_>) -> &'static str {
    match ruling {
        Ruling::Deny(_) => "deny",
        Ruling::Ask(_) => "ask",
        Ruling::Unclear(_) => "unclear",
        Ruling::Allow(_) => "allow",
        Ruling::Silent => "silent",
    }
}

#[track_caller]
fn check(lines: &[(RuleLevel, &str)], tool: &str, effects: &[Effect], expect: &str) {
    assert_eq!(said(&rules(lines).ruling(tool, effects)), expect, "{lines:?} / {effects:?}");
}

#[test]
fn every_effect_has_to_be_allowed() {
    use RuleLevel::Allow;
    let push = &[(Allow, "bash(git push *)")];
    check(push, "bash", &[run("git push origin")], "allow");
    check(push, "bash", &[run("git pushx")], "silent");
    check(push, "bash", &[run("git push"), run("rm x")], "silent");
    check(push, "bash", &[run("sudo git push"), run("git push")], "silent");
    check(push, "bash", &[run("timeout 5 git push"), run("git push")], "allow");
    check(push, "bash", &[run("timeout 5 rm x"), run("git push")], "silent");
    check(push, "bash", &[run("env A=1 git push"), run("git push")], "silent");
    check(push, "bash", &[run("git push"), write("/w/app/log")], "silent");
    check(push, "bash", &[run("git push"), Effect::Read("/w/app/in".into())], "allow");
    check(push, "bash", &[run("git push"), Effect::Unknown("$X".into())], "silent");
    check(push, "bash", &[], "silent");
    check(&[(Allow, "bash(*)")], "bash", &[Effect::Unknown("eval".into())], "silent");
    check(&[(Allow, "bash")], "bash", &[Effect::Unknown("eval".into())], "allow");
    check(&[push[0], (Allow, "write(log)")], "bash", &[run("git push"), write("/w/app/log")], "allow");
    let many: Vec<Effect> = (0..60).map(|_| run("git push")).chain([run("curl x")]).collect();
    check(push, "bash", &many, "silent");
    check(push, "bash", &many[..60], "allow");
}

#[test]
fn deny_beats_ask_beats_allow() {
    use RuleLevel::{Allow, Ask, Deny};
    let all = &[(Allow, "bash"), (Ask, "bash(git push *)"), (Deny, "bash(git push --force *)")];
    check(all, "bash", &[run("git status")], "allow");
    check(all, "bash", &[run("git push")], "ask");
    check(all, "bash", &[run("git push --force x")], "deny");
    check(all, "bash", &[run("git push"), run("git push --force")], "deny");
    check(all, "bash", &[run("/usr/bin/git push --force")], "deny");
    check(all, "bash", &[Effect::Unknown("eval".into())], "unclear");
    check(&[(Deny, "bash")], "bash", &[], "deny");
}

/// The effects that the tool reports for a script, without files.
fn effects_of(script: &str) -> Vec<Effect> {
    let script = omp_shell::read(script);
    let word =
        |word: &omp_shell::ShellWord| if word.known { word.text.clone() } else { format!("{}\u{2026}", word.text) };
    let run = |command: &omp_shell::ShellCommand| Effect::Run {
        words: command.words.iter().map(word).collect(),
        whole: command.is_whole(),
    };
    let commands = script.commands.iter().filter(|command| !command.words.is_empty()).map(run);
    commands.chain(script.unknown.iter().cloned().map(Effect::Unknown)).collect()
}

#[test]
fn scripts_are_judged_by_all_they_run() {
    use RuleLevel::{Allow, Ask, Deny};
    let rules = &[(Allow, "bash(git *)"), (Allow, "bash(echo *)"), (Ask, "bash(git push *)"), (Deny, "bash(rm *)")];
    for (script, expect) in [
        ("git status && git log", "allow"),
        ("echo a | timeout 5 git status", "allow"),
        ("git status; ls", "silent"),
        ("sudo git status", "silent"),
        ("bash -c 'git status'", "silent"),
        ("git log $X", "silent"),
        ("git status $(ls)", "silent"),
        ("git -C x push", "ask"),
        ("bash -c 'git push'", "ask"),
        ("echo push | xargs -I X git X", "unclear"),
        ("find . -exec rm {} +", "deny"),
        ("env A=1 /bin/rm x", "deny"),
        ("git status; eval \"$X\"", "unclear"),
        ("git push; $(rm x)", "deny"),
    ] {
        check(rules, "bash", &effects_of(script), expect);
    }
    let many = format!("{}rm x; {}", "git status; ".repeat(900), "git status; ".repeat(900));
    check(rules, "bash", &effects_of(&many), "deny");
    check(rules, "bash", &effects_of(&"git status; ".repeat(900)), "allow");
}

#[test]
fn what_programs_write_is_held_against_rules_on_files() {
    use RuleLevel::{Allow, Deny};
    let ran = &[(Deny, "write(ran/**)")];
    check(ran, "bash", &[run("cp a ran/x"), write("/w/app/ran/x")], "deny");
    check(ran, "bash", &[run("rm -r ran"), write("/w/app/ran")], "deny");
    check(ran, "bash", &[run("rm -r /w/app"), write("/w/app")], "unclear");
    check(ran, "bash", &[run("cp a b"), write("/w/app/b")], "silent");
    check(ran, "bash", &[run("cp a $X"), Effect::Unknown("may write: `$X`".into())], "unclear");
    for (rule, command, path, expect) in [
        ("bash(find *)", "find a -fls x", "/w/app/x", "silent"),
        ("bash(sort *)", "sort -o x a", "/w/app/x", "silent"),
        ("bash(git diff *)", "git diff --output=x", "/w/app/x", "silent"),
        ("bash(sed *)", "sed -i s/a/b/ x", "/w/app/x", "silent"),
        ("bash(cp *)", "cp a x", "/w/app/x", "allow"),
        ("bash(cp *)", "cp a ./sub/../x", "/w/app/x", "allow"),
        ("bash(cp *)", "cp sub/a sub", "/w/app/sub/a", "allow"),
        ("bash(cp *)", "cp a x", "/w/app/other", "silent"),
        ("bash(cp *)", "cp a /etc/x", "/etc/x", "silent"),
        ("bash(cp *)", "cp a link/x", "/etc/x", "silent"),
    ] {
        check(&[(Allow, rule)], "bash", &[run(command), write(path)], expect);
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_a_forbidden_program_is_that_program() {
    use RuleLevel::{Allow, Deny};
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().canonicalize().unwrap();
    std::fs::write(workspace.join("rm"), "").unwrap();
    std::os::unix::fs::symlink("rm", workspace.join("tidy")).unwrap();
    for (command, expect) in [
        ("./tidy x", "deny"),
        ("../x/./tidy x", "allow"),
        ("./rm x", "deny"),
        ("tidy x", "allow"),
        ("./none x", "allow"),
    ] {
        let mut rules = ApprovalRules::new(RulePlaces { workspace: workspace.clone(), ..places() });
        rules.add(Deny, RuleSource::User, "bash(rm *)").unwrap();
        rules.add(Allow, RuleSource::User, "bash(*)").unwrap();
        assert_eq!(said(&rules.ruling("bash", &[run(command)])), expect, "{command}");
    }
}

#[test]
fn what_containment_keeps_from_every_call_needs_no_question() {
    use RuleLevel::{Allow, Ask, Deny};
    let root = tempfile::tempdir().unwrap();
    let root = root.path().canonicalize().unwrap();
    let (workspace, outside, cache) = (root.join("app"), root.join("outside"), root.join("cache"));
    for folder in [&workspace, &outside, &cache, &workspace.join("src")] {
        std::fs::create_dir_all(folder).unwrap();
    }
    let map = |mode: ContainMode| AccessMap {
        mode,
        workspace: workspace.clone(),
        writable: vec![cache.clone()],
        ..AccessMap::default()
    };
    let (contained, reading, off) =
        (map(ContainMode::WorkspaceWrite), map(ContainMode::ReadOnly), map(ContainMode::Off));
    let at = |path: &std::path::Path| format!("write({})", path.display());
    let unknown = [run("python3 -c x"), Effect::Unknown("what `python3` does".into())];
    for (map, level, rule, expect) in [
        (&contained, Deny, at(&outside.join("a.txt")), "silent"),
        (&contained, Ask, at(&outside.join("**")), "silent"),
        (&contained, Deny, "write(~/.zshrc)".to_owned(), "silent"),
        (&contained, Deny, "write(src/**)".to_owned(), "unclear"),
        (&contained, Deny, "write(.env)".to_owned(), "unclear"),
        (&contained, Deny, at(&workspace.join("a.txt")), "unclear"),
        (&contained, Deny, at(&cache.join("x")), "unclear"),
        // A folder above a writable one contains it.
        (&contained, Deny, at(&root), "unclear"),
        // A path in the project, judging by its first folder.
        (&contained, Deny, "write(/src/a.rs)".to_owned(), "unclear"),
        (&contained, Deny, "bash(rm *)".to_owned(), "unclear"),
        (&reading, Deny, "write(src/**)".to_owned(), "silent"),
        (&off, Deny, at(&outside.join("a.txt")), "unclear"),
    ] {
        let mut rules = ApprovalRules::new(RulePlaces { workspace: workspace.clone(), ..places() });
        rules.add(level, RuleSource::User, &rule).unwrap();
        assert_eq!(said(&rules.ruling("bash", &unknown)), "unclear", "{rule} without a map");
        let mut rules = rules.within(Arc::new(map.clone()));
        assert_eq!(said(&rules.ruling("bash", &unknown)), expect, "{rule} in {:?}", map.mode);
        rules.add(Allow, RuleSource::User, "bash").unwrap();
        let known = [Effect::Write(outside.join("a.txt"))];
        let touches = rule == at(&outside.join("a.txt")) || rule == at(&root);
        assert_eq!(said(&rules.ruling("bash", &known)) == "deny", touches, "{rule}");
    }
}

#[test]
fn very_many_files_cost_no_more_than_their_number() {
    let started = std::time::Instant::now();
    let runs = (0..2_000).map(|at| run(&format!("rm a{at}")));
    let effects: Vec<Effect> = runs.chain((0..2_000).map(|at| write(&format!("/w/app/a{at}")))).collect();
    check(&[(RuleLevel::Allow, "bash(rm *)")], "bash", &effects, "allow");
    assert!(started.elapsed() < std::time::Duration::from_secs(20));
}

#[test]
fn spellings_of_other_agents() {
    use RuleLevel::{Allow, Deny};
    check(&[(Allow, "Bash(npm run test:*)")], "bash", &[run("npm run test -- x")], "allow");
    check(&[(Allow, "Edit(src/**)")], "write", &[write("/w/app/src/a.rs")], "allow");
    check(&[(Allow, "Edit(src/**)")], "edit", &[write("/w/app/src/../x")], "silent");
    check(&[(Deny, "Read(~/.zshrc)")], "read", &[Effect::Read("/users/me/.zshrc".into())], "deny");
    check(&[(Deny, "Edit")], "write", &[write("/w/app/a")], "deny");
    let connect = |host: &str| Effect::Connect { host: host.to_owned() };
    check(&[(Allow, "WebFetch(domain:a.org)")], "fetch", &[connect("A.org.")], "allow");
    check(&[(Allow, "WebFetch(domain:a.org)")], "fetch", &[connect("evila.org")], "silent");
    check(&[(Allow, "WebFetch(domain:a.org)")], "fetch", &[connect("b.a.org")], "silent");
    check(&[(Deny, "WebFetch(domain:a.org)")], "fetch", &[connect("b.a.org")], "deny");
    check(&[(Allow, "fetch(domain:*.a.org)")], "fetch", &[connect("b.a.org")], "allow");
}

#[test]
fn tools_of_servers() {
    use RuleLevel::Allow;
    for (rule, tool, expect) in [
        ("mcp__files__read", "mcp__files__read", "allow"),
        ("mcp__files__read", "mcp__files__readx", "silent"),
        ("mcp__files", "mcp__files__read", "allow"),
        ("mcp__files__*", "mcp__files__read", "allow"),
        ("mcp__files", "mcp__files2__read", "silent"),
        ("mcp(files/read)", "mcp__files__read", "allow"),
        ("mcp(files/*)", "mcp__files__x", "allow"),
        ("mcp(files)", "mcp__files__x", "allow"),
        ("mcp(files)", "mcp__filesx__x", "silent"),
    ] {
        check(&[(Allow, rule)], tool, &[], expect);
    }
}

#[test]
fn what_is_no_rule_is_told() {
    for line in ["", "bash(git", "bash()", "git push", "task(x)", "bash(echo 'x)", "write(a/*/../b)", "fetch(a b)"] {
        assert!(ApprovalRules::new(places()).add(RuleLevel::Deny, RuleSource::User, line).is_err(), "{line}");
    }
}

#[test]
fn a_project_cannot_allow_and_a_broken_deny_of_the_user_stops() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join(".omp")).unwrap();
    let project = "tools: {allow: [bash], deny: ['bash(rm *)', 'bash('], ask: [write]}\n";
    std::fs::write(dir.path().join(".omp/config.yml"), project).unwrap();
    let mut settings = Settings::default();
    settings.set_runtime("tools", json!({"allow": ["bash(ls *)", "x("], "deny": ["read(~/.ssh/**)", "bash("]}));
    assert!(settings.load_project(dir.path()).is_empty());
    let (rules, problems) = ApprovalRules::from_settings(&settings, places());
    let listed: Vec<String> = rules.iter().map(ApprovalRule::to_string).collect();
    insta::assert_snapshot!(listed.join("\n"), @"
    deny read(~/.ssh/**) (user)
    deny bash(rm *) (project)
    ask write (project)
    allow bash(ls *) (user)
    ");
    let loosens: Vec<bool> = problems.iter().map(|problem| problem.loosens).collect();
    assert_eq!(loosens, [true, false, false], "{problems:?}");
}

fn line() -> impl Strategy<Value = String> {
    let word = prop_oneof![Just("git"), Just("push"), Just("*"), Just("-f"), Just("rm")];
    let command = prop::collection::vec(word, 1..4).prop_map(|words| format!("bash({})", words.join(" ")));
    prop_oneof![command, Just("bash".to_owned()), Just("write(src/**)".to_owned()), Just("write(**)".to_owned())]
}

fn effect() -> impl Strategy<Value = Effect> {
    let word = prop_oneof![Just("git"), Just("push"), Just("-f"), Just("rm"), Just("/bin/rm")];
    let words = prop::collection::vec(word.prop_map(str::to_owned), 1..4);
    prop_oneof![
        (words, any::<bool>()).prop_map(|(words, whole)| Effect::Run { words, whole }),
        Just(write("/w/app/src/a")),
        Just(write("/etc/passwd")),
        Just(Effect::Unknown("x".into())),
    ]
}

proptest! {
    #[test]
    fn an_allow_never_undoes_a_deny_or_an_ask(
        deny in prop::collection::vec(line(), 0..3),
        ask in prop::collection::vec(line(), 0..3),
        allow in prop::collection::vec(line(), 0..4),
        effects in prop::collection::vec(effect(), 0..5),
    ) {
        let mut rules = ApprovalRules::new(places());
        deny.iter().for_each(|line| rules.add(RuleLevel::Deny, RuleSource::User, line).unwrap());
        ask.iter().for_each(|line| rules.add(RuleLevel::Ask, RuleSource::User, line).unwrap());
        let before = said(&rules.ruling("bash", &effects));
        allow.iter().for_each(|line| rules.add(RuleLevel::Allow, RuleSource::User, line).unwrap());
        let after = said(&rules.ruling("bash", &effects));
        prop_assert!(after == before || (before == "silent" && after == "allow"), "{} -> {}", before, after);
    }
}

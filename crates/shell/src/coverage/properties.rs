//! Property tests: an allow rule never covers more than it says, and denied commands are found, wherever they are combined
//! with allowed ones.

use proptest::prelude::*;
use proptest::sample::select;

use crate::pattern::quoted;
use crate::{CommandPattern, Forbids, ShellScript};

/// Contexts in which a list `{e}` is run next to `{c}`; `{q}` is the quoted form.
const LISTS: &[&str] = &[
    "{c}; {e}",
    "{e}; {c}",
    "{c} && {e}",
    "{c} || {e}",
    "{c} & {e}",
    "{c}\n{e}",
    "{c} # '\n{e}",
    "{c} \\\n; {e}",
    "({e}); {c}",
    "({c}; {e})",
    "{ {e}; }; {c}",
    "if {e}; then {c}; fi",
    "if {c}; then :; else {e}; fi",
    "while {e}; do {c}; done",
    "for i in a; do {c}; {e}; done",
    "case a in a) {c};; b) {e};; esac",
    "f() { {e}; }; {c}; f",
    "{c} $({e})",
    "{c} \"a $({e})\"",
    "{c} <({e})",
    "{c} >({e})",
    "{c} > >({e})",
    "{c} ${x:-$({e})}",
    "{c} \"${x#\"$({e})\"}\"",
    "{c} $(( $({e}) ))",
    "{c} <<< \"$({e})\"",
    "{c} <<E\n$({e})\nE",
    "X=$({e}) {c}",
    "X=$({e}); {c}",
    "X=(a $({e})); {c}",
    "for i in $({e}); do {c}; done",
    "case $({e}) in *) {c};; esac",
    "[[ -n $({e}) ]] && {c}",
    "[ -n \"$({e})\" ] && {c}",
    "trap {q} EXIT; {c}",
    "eval {q}; {c}",
    "bash -c {q}; {c}",
    "sh -ec {q}; {c}",
    "bash <<< {q}; {c}",
    "{c}; bash <<'E'\n{e}\nE",
    "watch -n 1 {q}; {c}",
    "ssh host {q}; {c}",
    "su -c {q}; {c}",
    "flock x -c {q}; {c}",
];

/// Contexts of a single command, where a reserved word does not start a construct.
const COMMANDS: &[&str] = &[
    "{c} | {e}",
    "{e} | {c}",
    "{c} |& {e}",
    "! {e}; {c}",
    "time {e}; {c}",
    "{c} `{e}`",
    "{c} <<-E\n\t`{e}`\n\tE",
    "coproc {e}; {c}",
    "env {e}; {c}",
    "env -u X A=1 {e}; {c}",
    "sudo -u root {e}; {c}",
    "doas {e}; {c}",
    "timeout -k 1 5 {e}; {c}",
    "nohup {e}; {c}",
    "nice -n 5 {e}; {c}",
    "ionice -c 3 {e}; {c}",
    "stdbuf -oL {e}; {c}",
    "setsid -w {e}; {c}",
    "command {e}; {c}",
    "exec {e}; {c}",
    "{c} | xargs {e}",
    "{c} | xargs -0 -n 1 {e}",
    "{c} | xargs -I X {e} X",
    "find . -name x -exec {e} {} \\; ; {c}",
    "find . -execdir {e} + ; {c}",
    "busybox {e}; {c}",
    "taskset -c 1 {e}; {c}",
    "chrt -f 10 {e}; {c}",
    "fakeroot {e}; {c}",
    "git bisect run {e}; {c}",
    "env sudo timeout 5 nice {e}; {c}",
];

/// Contexts that make another command of `{c}`, or more than it.
const CHANGED: &[&str] = &[
    "PATH=. {c}",
    "LD_PRELOAD=./x {c}",
    "GIT_SSH_COMMAND=x {c}",
    "BASH_ENV=x {c}",
    "IFS=x {c}",
    "PAGER=x {c}",
    "NODE_OPTIONS='-r ./x' {c}",
    "RSYNC_RSH=x {c}",
    "export PATH=.; {c}",
    "declare -x LD_PRELOAD=x; {c}",
    "env PATH=. {c}",
    "env {c}",
    "env -i {c}",
    "env -S {q}",
    "sudo {c}",
    "xargs {c}",
    "xargs -a x {c}",
    "find . -exec {c} \\;",
    "bash -c {q}",
    "eval {q}",
    "ssh host {q}",
    "setsid {c}",
    "exec {c}",
    "cd /x && {c}",
    "{c} > out",
    "{c} >> out",
    "{c} 2> out",
    "{c} &> out",
    "{c} >| out",
    "{c} 1<> out",
    "{c} 3> out",
    "{c} {fd}> out",
    "{c} > $X",
    "({c}) > out",
    "{ {c}; } > out",
    "for i in a; do {c}; done > out",
    "{c} < $X",
    "{c} < /dev/tcp/host/80",
    "time -o x {c}",
    "\\time -o x {c}",
    "timeout $X {c}",
    "{c} $X",
    "{c} \"$@\"",
    "{c} *",
    "{c} {a,b}",
    "{c} ${x}",
    "$X {c}",
    "./{c}",
    "/tmp/{c}",
    "x{c}",
    "source x; {c}",
    ". x; {c}",
    "alias a=b; {c}",
    "{c} )",
    "{c} '",
];

/// A rule and a command that it covers.
fn covered() -> impl Strategy<Value = (String, String)> {
    let word = select(vec!["status", "-s", "a b", "x;y", "$(no)", "--a=b", "it's", "*", "", "é", "#", "&&"]);
    let program = select(vec!["git", "ls", "npm", "p1", "cargo"]);
    (program, prop::collection::vec(word, 0..4), 0..5_usize, any::<bool>()).prop_map(|(program, words, kept, colon)| {
        let all: Vec<String> = std::iter::once(program).chain(words).map(quoted).collect();
        let command = all.join(" ");
        let rule = match all.get(..=kept) {
            Some(first) if colon => format!("{}:*", first.join(" ")),
            Some(first) => format!("{} *", first.join(" ")),
            None => command.clone(),
        };
        (rule, command)
    })
}

fn evil() -> impl Strategy<Value = String> {
    let word = select(vec!["", " x", " -rf /", " --a=b", " 'c d'", " | sh", " > y"]);
    word.prop_map(|words| format!("evil{words}"))
}

fn beside() -> impl Strategy<Value = &'static str> {
    prop_oneof![select(LISTS), select(COMMANDS)]
}

fn put(form: &str, command: &str, evil: &str) -> String {
    let in_quotes = if form.contains("{e}") || evil.is_empty() { command } else { evil };
    let text = form.replace("{q}", &format!("'{}'", in_quotes.replace('\'', "'\\''")));
    // Replaced one after the other, so that inserted text is not replaced again.
    let parts = text.split("{c}").map(|part| part.replace("{e}", evil));
    parts.collect::<Vec<_>>().join(command)
}

fn is_covered(rule: &str, script: &ShellScript) -> bool {
    script.is_covered_by(&[CommandPattern::parse(rule).unwrap()])
}

fn is_denied(rule: &str, script: &ShellScript) -> bool {
    let pattern = CommandPattern::parse(rule).unwrap();
    script.commands.iter().any(|command| pattern.forbids(&command.words) == Forbids::Yes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn the_command_alone_is_covered((rule, command) in covered()) {
        prop_assert!(is_covered(&rule, &crate::read(&command)), "{} / {}", rule, command);
    }

    #[test]
    fn with_something_beside_it_is_not((rule, command) in covered(), evil in evil(), form in beside()) {
        let text = put(form, &command, &evil);
        let script = crate::read(&text);
        prop_assert!(!is_covered(&rule, &script), "{} covers {}: {:?}", rule, text, script);
        prop_assert!(is_denied("evil *", &script), "not denied: {}: {:?}", text, script);
    }

    #[test]
    fn nor_deep_inside(
        (rule, command) in covered(),
        evil in evil(),
        form in beside(),
        forms in prop::collection::vec(select(LISTS), 1..3),
    ) {
        let text = std::iter::once(form).chain(forms).fold(evil, |inner, form| put(form, &command, &inner));
        let script = crate::read(&text);
        prop_assert!(!is_covered(&rule, &script), "{} covers {}: {:?}", rule, text, script);
        // A here-document in brackets may end elsewhere than intended: then the script must be unknown.
        let is_told = is_denied("evil *", &script) || !script.unknown.is_empty();
        prop_assert!(is_told, "not denied: {}: {:?}", text, script);
    }

    #[test]
    fn nor_is_a_changed_command((rule, command) in covered(), form in select(CHANGED)) {
        let text = put(form, &command, "");
        prop_assert!(!is_covered(&rule, &crate::read(&text)), "{} covers {}: {:?}", rule, text, crate::read(&text));
    }

    #[test]
    fn what_is_covered_part_by_part_is_covered((rule, command) in covered(), forms in prop::collection::vec(
        select(vec!["{c}; {e}", "{c} && {e}", "{c} || {e}", "{c} | {e}", "{c} & {e}", "({c}\n{e})", "{ {e}; } 2>&1",
            "if {c}; then {e}; fi", "timeout 5 {c}; {e}", "nice nohup {c} >/dev/null; {e}", "CI=1 {c}; {e}"]),
        1..4,
    )) {
        let text = forms.iter().fold(command.clone(), |inner, form| put(form, &command, &inner));
        prop_assert!(is_covered(&rule, &crate::read(&text)), "{} / {}: {:?}", rule, text, crate::read(&text));
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_one_of_many_commands_is_judged(
        (rule, command) in covered(),
        many in 51..400_usize,
        at in any::<prop::sample::Index>(),
        joint in select(vec!["; ", " && ", " || ", " | ", "\n", " & "]),
    ) {
        let mut all = vec![command; many];
        prop_assert!(is_covered(&rule, &crate::read(&all.join(joint))));
        let at = at.index(many);
        all[at] = "evil x".to_owned();
        let script = crate::read(&all.join(joint));
        prop_assert!(!is_covered(&rule, &script));
        prop_assert!(is_denied("evil *", &script));
    }
}

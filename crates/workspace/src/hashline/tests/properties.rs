//! Property tests: invariants of any edit of any file.

use super::*;

/// A simple model of the language: one operation per line.
#[derive(Clone, Debug)]
enum Step {
    Keep,
    Delete,
    Replace(Vec<String>),
    Before(Vec<String>),
    After(Vec<String>),
}

fn steps() -> impl Strategy<Value = Vec<(String, Step)>> {
    let payload = || proptest::collection::vec("[xyz+ ]{0,3}w", 1..3);
    let step = prop_oneof![
        3 => Just(Step::Keep),
        1 => Just(Step::Delete),
        1 => payload().prop_map(Step::Replace),
        1 => payload().prop_map(Step::Before),
        1 => payload().prop_map(Step::After),
    ];
    proptest::collection::vec(("[ab]{0,2}", step), 1..12)
}

fn patch_of(steps: &[(String, Step)], shuffle: usize) -> String {
    let mut ops: Vec<String> = steps
        .iter()
        .enumerate()
        .filter_map(|(index, (_, step))| {
            let (sign, payload) = match step {
                Step::Keep => return None,
                Step::Delete => return Some(format!("{}!", index + 1)),
                Step::Replace(payload) => (':', payload),
                Step::Before(payload) => ('↑', payload),
                Step::After(payload) => ('↓', payload),
            };
            Some(format!("{}{sign}\n+{}", index + 1, payload.join("\n+")))
        })
        .collect();
    let count = ops.len().max(1);
    ops.rotate_left(shuffle % count);
    ops.join("\n")
}

fn expected(steps: &[(String, Step)]) -> Vec<String> {
    let mut out = Vec::new();
    for (line, step) in steps {
        match step {
            Step::Keep => out.push(line.clone()),
            Step::Delete => {}
            Step::Replace(payload) => out.extend(payload.clone()),
            Step::Before(payload) => out.extend(payload.iter().cloned().chain([line.clone()])),
            Step::After(payload) => out.extend([line.clone()].into_iter().chain(payload.clone())),
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Operations in any order each have the described effect and change nothing else.
    #[test]
    fn edits_agree_with_the_plain_model(steps in steps(), shuffle: usize, crlf: bool, bom: bool) {
        let eol = if crlf { "\r\n" } else { "\n" };
        let join = |lines: &[String]| lines.iter().map(|line| format!("{line}{eol}")).collect::<String>();
        let before: Vec<String> = steps.iter().map(|(line, _)| line.clone()).collect();
        let mark = if bom { "\u{feff}" } else { "" };
        let bench = Bench::new(format!("{mark}{}", join(&before)));
        let ops = patch_of(&steps, shuffle);
        let want = format!("{mark}{}", join(&expected(&steps)));
        match bench.apply(&ops, bench.tag()) {
            Ok((after, _)) => prop_assert_eq!(String::from_utf8(after).unwrap(), want),
            Err(error) => prop_assert!(ops.is_empty() || error.contains("no changes"), "{}", error),
        }
    }

    /// The inverse of an edit, derived from its diff, restores the old content.
    #[test]
    fn edits_can_be_undone(steps in steps(), finished: bool) {
        let mut before: String = steps.iter().map(|(line, _)| format!("{line}\n")).collect();
        if !finished {
            before.push('.');
        }
        let bench = Bench::new(&before);
        let Ok(edits) = bench.plan(&format!("[f#{}]\n{}", bench.tag(), patch_of(&steps, 0))) else { return Ok(()) };
        let (old, new) = (edits[0].before.clone().unwrap(), edits[0].after.as_ref().unwrap());
        let undo: Vec<crate::Splice> = crate::FileDiff::between(new, &old).changes().iter().map(|change| crate::Splice {
            at: change.old.start,
            delete: change.old.len(),
            insert: change.new.clone().map(|at| old.line(at).into_owned()).collect(),
        }).collect();
        prop_assert_eq!(String::from_utf8(new.splice(&undo)).unwrap(), before);
    }

    #[test]
    fn parsing_never_panics(input in "([¶\\[]?f?#?[0-9a]{0,4}\\]?|[0-9]{0,2}-?[0-9]{0,2}[↑↓:!]?[a+]{0,2}|BOF↓|EOF:|\\+x|\n){0,12}") {
        let _ = parse(&input);
    }

    /// A file that only grew at the start still accepts edits made against the content that was read.
    #[test]
    fn distinct_lines_are_always_found_again(added in 1..5usize, target in 1..20usize) {
        let before: String = (1..=20).map(|n| format!("line {n}\n")).collect();
        let now = format!("{}{before}", "new\n".repeat(added));
        let mut bench = Bench::new(&before);
        let tag = bench.change_to(&now);
        let (after, _) = bench.apply(&format!("{target}:X"), tag).unwrap();
        prop_assert_eq!(String::from_utf8(after).unwrap(), now.replace(&format!("line {target}\n"), "X\n"));
    }
}

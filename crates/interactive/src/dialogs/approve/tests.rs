//! The approval dialog, and which keys count as an answer.

use omp_agent::Effect;
use omp_policy::{ApprovalRules, EditedRules, RulePlaces};
use omp_view::{Block, Diff, DiffKind, DiffLine, Status, View};
use serde_json::json;

use super::super::screen::{both, draw, press, says, type_text};
use super::*;
use crate::looks::looks;

fn bash() -> PendingApproval {
    let approval = PendingApproval {
        id: 7,
        tool: "bash".into(),
        arguments: Arc::default(),
        reason: Some("the command writes outside of the project".into()),
        details: Arc::default(),
    };
    running(json!({"command": "cargo test\necho done", "timeout": 30}), approval)
}

/// The approval of a command with these arguments.
fn running(arguments: Value, approval: PendingApproval) -> PendingApproval {
    let command = arguments["command"].as_str().map(str::to_owned);
    let details = CallDetails { command, ..CallDetails::clone(&approval.details) };
    PendingApproval { arguments: Arc::new(arguments), details: Arc::new(details), ..approval }
}

fn run(words: &str) -> Effect {
    Effect::Run { words: words.split(' ').map(str::to_owned).collect(), whole: true }
}

pub(in crate::dialogs) fn edit(lines: usize) -> PendingApproval {
    let line = |at: usize| {
        let kind = [DiffKind::Kept, DiffKind::Removed, DiffKind::Added, DiffKind::Gap][at % 4];
        let text = format!("line {at} with a text that is rather long for a row");
        DiffLine { kind, line: at + 1, text: if kind == DiffKind::Gap { String::new() } else { text } }
    };
    let view = View::new("edit src/main.rs", Status::Running)
        .note("+2 -1")
        .block(Block::Diff(Diff::new((0..lines).map(line).collect())));
    let details = Arc::new(CallDetails { preview: Some(view), ..CallDetails::default() });
    PendingApproval { tool: "edit".into(), reason: None, details, ..bash() }
}

fn new_file() -> PendingApproval {
    let text = "//! Adds.\n\npub fn add(left: u32, right: u32) -> u32 {\n    left + right\n}\n".to_owned();
    let view = View::new("write src/add.rs", Status::Running).note("new file").block(Block::Code {
        language: Some("rs".into()),
        text,
        first_line: Some(1),
    });
    let details = Arc::new(CallDetails { preview: Some(view), ..CallDetails::default() });
    PendingApproval { tool: "write".into(), reason: None, details, ..bash() }
}

pub(in crate::dialogs) fn push() -> PendingApproval {
    let details = CallDetails {
        effects: vec![run("cd /tmp"), run("git push origin main"), Effect::Write("/etc/log".into())],
        lines: vec!["runs: cd /tmp".into(), "runs: git push origin main".into(), "writes: log -> /etc/log".into()],
        offers: vec![
            RuleOffer { rules: vec!["bash(git push origin main)".into()] },
            RuleOffer { rules: vec!["bash(git push *)".into()] },
        ],
        edited: Some(EditedRules::new(
            &ApprovalRules::new(RulePlaces::default()),
            "bash",
            &[run("git push origin main")],
        )),
        ..CallDetails::default()
    };
    let reason = Some("it sends commits to others, which cannot be undone".into());
    let approval = PendingApproval { reason, details: Arc::new(details), ..bash() };
    running(json!({"command": "cd /tmp && git push origin main > log"}), approval)
}

fn dialog(approval: PendingApproval) -> ApproveDialog {
    ApproveDialog::new(approval, Quiet::default())
}

#[test]
fn the_command_comes_first_then_why_then_what_it_changes_and_the_rule_is_said_once() {
    let mut pushing = dialog(push());
    let shown = draw(&mut pushing, 70);
    insta::assert_snapshot!(shown, @"
    ╭─ Allow bash? ──────────────────────────────────────────────────────╮
    │ cd /tmp && git push origin main > log                              │
    │ It sends commits to others, which cannot be undone                 │
    │ writes: log -> /etc/log                                            │
    │   y  Yes, once                                                     │
    │   s  Yes, for this session                                         │
    │   a  Yes, always in this project                                   │
    │   u  Yes, always in every project                                  │
    │      Rule: bash(git push origin main)                              │
    │ ❯ n  No                                                            │
    │   t  No, and say what to do instead                                │
    │ enter choose · esc refuse · w wider or narrower rule               │
    ╰─ e edit the rule · shift+tab mode ─────────────────────────────────╯
    ");
    assert_eq!(shown.matches("git push origin main").count(), 2, "the command and the rule");
    press(&mut pushing, "w");
    assert!(draw(&mut pushing, 70).contains("Rule: bash(git push *)"));
    let wide = says(&mut pushing, "a enter");
    assert!(wide.contains(r#"Always { level: Allow, rules: ["bash(git push *)"], scope: Project }"#), "{wide}");
    let narrow = says(&mut dialog(push()), "w left u enter");
    assert!(narrow.contains(r#"rules: ["bash(git push origin main)"], scope: User }"#), "{narrow}");
    assert!(says(&mut dialog(push()), "s").contains("scope: Session }"));
    for keys in ["a", "s", "u", "w", "e", "d", "1"] {
        assert!(matches!(press(&mut dialog(bash()), keys), DialogStep::Ignored), "{keys}");
    }
}

/// Access that containment opens is not a rule, and is opened everywhere or for now.
#[test]
fn access_is_told_by_what_it_opens() {
    let write = Effect::Write("/srv/x".into());
    let details = CallDetails {
        effects: vec![run("touch /srv/x"), write.clone()],
        lines: vec!["runs: touch /srv/x".into(), "writes: /srv/x".into()],
        denied: vec![write],
        offers: vec![RuleOffer { rules: vec!["write to /srv/x".into()] }],
        ..CallDetails::default()
    };
    let reason = Some("write to /srv/x (outside the workspace)".into());
    let approval = PendingApproval { reason, details: Arc::new(details), ..bash() };
    let approval = running(json!({"command": "touch /srv/x"}), approval);
    insta::assert_snapshot!(draw(&mut dialog(approval.clone()), 60), @"
    ╭─ Allow bash? ────────────────────────────────────────────╮
    │ touch /srv/x                                             │
    │ It would write to /srv/x (outside the workspace)         │
    ├──────────────────────────────────────────────────────────┤
    │   y  Yes, once                                           │
    │   s  Yes, for this session                               │
    │   u  Yes, always in every project                        │
    │      Access: write to /srv/x                             │
    │ ❯ n  No                                                  │
    │   t  No, and say what to do instead                      │
    ╰─ enter choose · esc refuse · shift+tab mode ─────────────╯
    ");
    assert!(matches!(press(&mut dialog(approval), "a"), DialogStep::Ignored));
}

#[test]
fn the_rule_can_be_written_otherwise() {
    let mut pushing = dialog(push());
    assert!(draw(&mut pushing, 90).contains("e edit the rule"));
    // `bash(git push origin main)` becomes `bash(git push origin *)`.
    press(&mut pushing, "e left backspace backspace backspace backspace *");
    assert!(draw(&mut pushing, 60).contains("Rule: bash(git push origin *)"), "{}", draw(&mut pushing, 60));
    press(&mut pushing, "enter");
    assert!(draw(&mut pushing, 60).contains("❯ s  Yes, for this session"), "{}", draw(&mut pushing, 60));
    assert!(draw(&mut pushing, 60).contains("Rule: bash(git push origin *)"), "{}", draw(&mut pushing, 60));
    assert!(says(&mut pushing, "enter").contains(r#"rules: ["bash(git push origin *)"], scope: Session }"#));

    let mut pushing = dialog(push());
    press(&mut pushing, "e left x enter");
    assert!(draw(&mut pushing, 60).contains("this does not cover the call"), "{}", draw(&mut pushing, 60));
    press(&mut pushing, "end backspace enter");
    assert!(
        draw(&mut pushing, 90).contains("is not a valid rule: the parenthesis is not closed"),
        "{}",
        draw(&mut pushing, 90)
    );
    press(&mut pushing, "escape");
    assert!(draw(&mut pushing, 60).contains("Rule: bash(git push origin main)"));
}

/// Everything that is asked and every answer is visible at once.
#[test]
fn the_dialog_at_three_sizes_and_in_both_themes() {
    let ten = (1..=10).map(|at| format!("cargo test -p crate-{at} --all-features")).collect::<Vec<_>>().join(" &&\n");
    let with = |command: &str, reason: Option<&str>, effects: &[(Effect, &str)]| {
        let details = CallDetails {
            effects: effects.iter().map(|(effect, _)| effect.clone()).collect(),
            lines: effects.iter().map(|(_, line)| (*line).to_owned()).collect(),
            ..CallDetails::clone(&push().details)
        };
        let approval = PendingApproval { reason: reason.map(str::to_owned), details: Arc::new(details), ..bash() };
        running(json!({"command": command}), approval)
    };
    let target = (Effect::Write("/w/target".into()), "writes: target");
    let warned = CallDetails { offers: Vec::new(), ..CallDetails::clone(&push().details) };
    let calls = [
        ("short", with("make install", None, &[(run("make install"), "runs: make install")])),
        ("ten-lines", with(&ten, Some("it is new"), &[(run("cargo test"), "runs: cargo test"), target])),
        ("diff", edit(12)),
        ("new-file", new_file()),
        (
            "push",
            running(
                json!({"command": "git push --force origin main"}),
                PendingApproval {
                    reason: Some(
                        "warning: it overwrites or deletes what the remote repository has, which cannot be undone"
                            .into(),
                    ),
                    details: Arc::new(warned),
                    ..bash()
                },
            ),
        ),
    ];
    for (name, call) in calls {
        let drawn = looks(|space| {
            let rows = dialog(call.clone()).draw(space);
            let shown: String = rows.iter().map(|row| row.text() + "\n").collect();
            for answer in ["Allow ", "y  Yes, once", "n  No", "t  No, and say", "esc refuse"] {
                assert!(shown.contains(answer), "{answer} at {}x{}:\n{shown}", space.width, space.height);
            }
            assert!(rows.len() <= space.height && (name != "ten-lines" || shown.contains("crate-10")), "{shown}");
            rows
        });
        insta::assert_snapshot!(format!("approve_{name}"), drawn);
    }
}

#[test]
fn the_command_is_shown_with_the_reason() {
    insta::assert_snapshot!(both(&mut dialog(bash())), @"
    ╭─ Allow bash? ────────────────────────────────────────────╮
    │ cargo test                                               │
    │ echo done                                                │
    │ timeout: 30                                              │
    │ The command writes outside of the project                │
    ├──────────────────────────────────────────────────────────┤
    │   y  Yes, once                                           │
    │ ❯ n  No                                                  │
    │   t  No, and say what to do instead                      │
    ├──────────────────────────────────────────────────────────┤
    │ enter choose · esc refuse · shift+tab mode               │
    ╰──────────────────────────────────────────────────────────╯
    ------------------------------
    ── Allow bash? ───────────────
    cargo test
    echo done
    timeout: 30
    The command writes outside of
    the project
      y  Yes, once
    ❯ n  No
      t  No, and say what to do i…
    enter choose · esc refuse
    shift+tab mode
    ");
}

#[test]
fn a_long_diff_scrolls() {
    let mut dialog = ApproveDialog::new(edit(30), Quiet::default());
    insta::assert_snapshot!(both(&mut dialog), @"
    ╭─ Allow edit? ────────────────────────────────────────────╮
    │ edit src/main.rs                                         │
    │ +2 -1                                                    │
    │  1   line 0 with a text that is rather long for a row    │
    │  2 - line 1 with a text that is rather long for a row    │
    │  3 + line 2 with a text that is rather long for a row    │
    │  ⋯                                                       │
    │  5   line 4 with a text that is rather long for a row    │
    │ … 25 more (pageDown)                                     │
    │ ❯ y  Yes, once                                           │
    │   n  No                                                  │
    │   t  No, and say what to do instead                      │
    ╰─ enter choose · esc refuse · shift+tab mode ─────────────╯
    ------------------------------
    ── Allow edit? ───────────────
    edit src/main.rs
    +2 -1
     1   line 0 with a text that i
         s rather long for a row
     2 - line 1 with a text that i
         s rather long for a row
     3 + line 2 with a text that i
    … 48 more (pageDown)
    ❯ y  Yes, once
      n  No
      t  No, and say what to do i…
    enter choose · esc refuse
    shift+tab mode
    ");
    press(&mut dialog, "pageDown shift+down");
    assert!(draw(&mut dialog, 60).contains("… 8 above, 17 below (pageUp, pageDown)"), "{}", draw(&mut dialog, 60));
    press(&mut dialog, "pageDown pageDown pageDown pageDown pageDown pageDown pageDown pageDown");
    assert!(draw(&mut dialog, 60).contains("… 25 above (pageUp)"), "{}", draw(&mut dialog, 60));
}

/// A note about hidden rows never stands in place of a single one.
#[test]
fn a_single_row_is_shown_instead_of_counted() {
    for lines in 1..40 {
        for (width, height) in [(80, 24), (60, 16), (60, 8)] {
            let shown = drawn_at(&mut dialog(edit(lines)), width, height);
            assert!(!shown.contains("… 1 more"), "{lines} lines at {width}x{height}:\n{shown}");
        }
    }
    let shown = drawn_at(&mut dialog(edit(2)), 60, 6);
    assert!(shown.contains("2 - line 1") && !shown.contains('…'), "{shown}");
}

/// What a call writes is shown unless the call names exactly this file, or the reason does.
#[test]
fn effects_that_are_said_already_are_left_out() {
    let write = |path: &str| Effect::Write(path.into());
    let all = [
        (run("make"), "runs: make"),
        (Effect::Read("/w/in".into()), "reads: in"),
        (write("/w/out"), "writes: out"),
        (write("/etc/out"), "writes: link -> /etc/out"),
        (Effect::Connect { host: "a.example".into() }, "connects to: a.example"),
        (Effect::Use("docker".into()), "uses: docker"),
    ];
    let check = |details: CallDetails, left_out: &[&str]| {
        let effects = all.iter().map(|(effect, _)| effect.clone()).collect();
        let lines: Vec<String> =
            all.iter().map(|(_, line)| (*line).to_owned()).chain(["… and 3 more".into()]).collect();
        let details = Arc::new(CallDetails { effects, lines: lines.clone(), ..details });
        let dialog = dialog(PendingApproval { details, ..bash() });
        let kept: Vec<&String> = lines.iter().filter(|line| !left_out.contains(&line.as_str())).collect();
        assert_eq!(dialog.changes().collect::<Vec<_>>(), kept);
    };
    check(CallDetails::default(), &[]);
    check(CallDetails { command: Some("make".into()), ..CallDetails::default() }, &["runs: make", "reads: in"]);
    check(CallDetails { files: vec!["/w/out".into(), "/w/link".into()], ..CallDetails::default() }, &["writes: out"]);
    let denied = vec![write("/etc/out"), Effect::Use("docker".into())];
    check(CallDetails { denied, ..CallDetails::default() }, &["writes: link -> /etc/out", "uses: docker"]);
}

#[test]
fn what_is_hidden_in_a_command_is_shown() {
    let approval = running(json!({"command": "rm \u{202e}x\u{1b}]0;t\u{7}"}), bash());
    let mut dialog = ApproveDialog::new(PendingApproval { reason: None, ..approval }, Quiet::default());
    assert!(draw(&mut dialog, 60).contains("│ rm <U+202E>x␛]0;t␇ "));
}

#[test]
fn keys_answer() {
    for (keys, answer) in [
        ("y", "Yes"),
        ("enter", "No"),
        ("up enter", "Yes"),
        ("n", "No"),
        ("escape", "No"),
        ("ctrl+c", "No"),
        ("down down enter", "Yes"),
        ("t enter", "No"),
        ("t u s e space m a k e enter", "Text(\"use make\")"),
        ("tab n o enter", "Text(\"no\")"),
        ("down enter x escape y", "Yes"),
    ] {
        let says = says(&mut dialog(bash()), keys);
        assert_eq!(says, format!("Close(Some(Answer {{ id: 7, answer: {answer} }}))"), "{keys}");
    }
    for keys in ["x", "ctrl+y", "alt+enter", "f"] {
        assert!(matches!(press(&mut dialog(bash()), keys), DialogStep::Ignored), "{keys}");
    }
}

/// Enter approves a call without a warning; a warning needs an explicit answer.
#[test]
fn a_warning_begins_with_no() {
    assert!(says(&mut ApproveDialog::new(bash(), Quiet::default()), "enter").ends_with("answer: No }))"));
    assert!(says(&mut ApproveDialog::new(edit(1), Quiet::default()), "enter").ends_with("answer: Yes }))"));
}

/// Text of a call cannot imitate rows of the dialog.
#[test]
fn text_of_a_call_makes_no_rows() {
    let forged = "x\n❯ y  Yes\u{2028}runs: git status";
    let details = CallDetails {
        lines: vec![format!("writes: {forged}")],
        offers: vec![RuleOffer { rules: vec![format!("write({forged})")] }],
        ..CallDetails::default()
    };
    let reason = Some(format!("write to {forged} (outside the workspace)"));
    let approval = PendingApproval { reason, details: Arc::new(details), ..bash() };
    for width in [40, 120] {
        let shown = draw(&mut ApproveDialog::new(approval.clone(), Quiet::default()), width);
        let forgeries: Vec<&str> = shown
            .lines()
            .filter(|row| row.starts_with("❯ y  Yes\u{2028}") || row.trim_start().starts_with("runs:"))
            .collect();
        assert_eq!(forgeries, [""; 0], "{shown}");
        assert!(shown.contains("x␊❯ y  Yes␣"), "{shown}");
    }
}

/// With long text, the question, its answers and the end of the text stay visible.
#[test]
fn a_small_screen_shows_the_question_and_its_answers() {
    let details = CallDetails {
        lines: (0..30).map(|at| format!("writes: file-{at}")).collect(),
        offers: vec![RuleOffer { rules: (0..8).map(|at| format!("bash(program-{at} with arguments)")).collect() }],
        ..CallDetails::default()
    };
    let reason = Some("a reason that takes some words to explain, as reasons do ".repeat(10));
    let approval = PendingApproval { reason, details: Arc::new(details), ..bash() };
    for (width, height) in [(40, 15), (80, 24)] {
        let theme = omp_tui::Theme::colorless();
        let space = Space { width, height, theme: &theme, focused: true, keys: &omp_tui::DefaultKeys };
        let mut dialog = ApproveDialog::new(approval.clone(), Quiet::default());
        let rows = dialog.draw(&space);
        let text = |rows: &[Line]| rows.iter().map(Line::text).collect::<Vec<_>>().join("\n");
        assert!(rows.len() < height, "{} rows on {width}x{height}:\n{}", rows.len(), text(&rows));
        for part in ["Allow bash?", "y  Yes", "❯ n  No", "u  Yes, always", "esc refuse"] {
            assert!(text(&rows).contains(part), "{part}:\n{}", text(&rows));
        }
        let mut seen = text(&rows);
        for _ in 0..100 {
            dialog.scrolled(Key::parse("pageDown").unwrap());
            seen.push_str(&text(&dialog.draw(&space)).replace("\n  ", " "));
        }
        assert!(
            seen.contains("file-29") && seen.contains("Access: bash(program-0") && seen.contains("as reasons do"),
            "{seen}"
        );
    }
}

#[test]
fn a_key_that_was_pressed_before_the_question_was_there_is_no_answer() {
    let mut dialog = ApproveDialog::new(bash(), Quiet::after(false));
    for _ in 0..3 {
        assert!(matches!(press(&mut dialog, "y"), DialogStep::Ignored), "it was not even drawn");
        draw(&mut dialog, 60);
        assert!(matches!(press(&mut dialog, "enter"), DialogStep::Ignored));
    }
    dialog.quiet.be_over();
    assert!(answered(&mut dialog, 'y').contains("Yes"));
}

/// Returns the answer to a letter if no other letter follows.
fn answered(dialog: &mut ApproveDialog, letter: char) -> String {
    dialog.letters.pass(300);
    type_text(dialog, &letter.to_string());
    assert_eq!(format!("{:?}", dialog.woken()), "Ignored", "it is too early");
    dialog.letters.pass(300);
    assert!(dialog.wakes().is_some());
    format!("{:?}", dialog.woken())
}

fn read_at_leisure(approval: PendingApproval) -> ApproveDialog {
    let mut dialog = ApproveDialog::new(approval, Quiet::after(false));
    draw(&mut dialog, 60);
    dialog.quiet.be_over();
    dialog.letters.pass(1000);
    dialog
}

/// `wait` contains the letter of "always", `yes` begins with that of yes.
#[test]
fn a_word_that_is_typed_is_no_answer_and_goes_to_the_editor() {
    for word in ["wait", "yes", "no", "any", "day", "the", "edit", "so", "under"] {
        let mut dialog = read_at_leisure(push());
        let mut inserted = String::new();
        for letter in word.chars() {
            match dialog.input(&Input::Key(Key::plain(KeyCode::Char(letter)))) {
                DialogStep::Do(Action::Insert(text)) => inserted.push_str(&text),
                DialogStep::Ignored | DialogStep::Redraw => {}
                other => panic!("{word}: {other:?}"),
            }
            dialog.letters.pass(120);
        }
        assert_eq!(inserted, word);
        assert!(
            matches!(press(&mut dialog, "enter"), DialogStep::Ignored),
            "{word}: the end of a message is no answer"
        );
        dialog.letters.pass(1000);
        assert!(dialog.wakes().is_none() && matches!(dialog.woken(), DialogStep::Ignored), "{word}");
        assert!(draw(&mut dialog, 60).contains("Typing goes to the editor"), "{}", draw(&mut dialog, 60));
        assert!(says(&mut dialog, "enter").contains("answer: No"), "a late enter runs nothing");
    }
    let pasted = read_at_leisure(push()).input(&Input::Paste("yes".into()));
    assert_eq!(format!("{pasted:?}"), "Do(Insert(\"yes\"))");
}

#[test]
fn one_letter_answers_and_always_needs_enter_as_well() {
    assert!(answered(&mut read_at_leisure(push()), 'y').contains("answer: Yes"));
    assert!(answered(&mut read_at_leisure(push()), 'n').contains("answer: No"));
    assert!(says(&mut read_at_leisure(push()), "y enter").contains("answer: Yes"), "enter need not wait");
    assert!(says(&mut read_at_leisure(push()), "y y y enter").contains("answer: Yes"), "somebody impatient");
    assert!(says(&mut read_at_leisure(push()), "y escape").contains("answer: No"), "refused in time");
    for (letter, answer) in [('s', "scope: Session"), ('t', "Redraw"), ('e', "Redraw")] {
        assert!(answered(&mut read_at_leisure(push()), letter).contains(answer), "{letter}");
    }
    for (keys, scope, where_to) in
        [("a", "Project", "enter save this rule for this project"), ("u", "User", "enter save this rule in config.yml")]
    {
        let mut dialog = read_at_leisure(push());
        assert!(matches!(press(&mut dialog, keys), DialogStep::Redraw), "{keys}");
        dialog.letters.pass(1000);
        assert!(matches!(dialog.woken(), DialogStep::Ignored));
        let shown = draw(&mut dialog, 60);
        assert!(shown.contains(where_to) && shown.contains("❯ "), "{shown}");
        assert!(says(&mut dialog, "enter").contains(&format!("scope: {scope}")), "{keys}");
    }
}

fn drawn_at(dialog: &mut ApproveDialog, width: usize, height: usize) -> String {
    let theme = omp_tui::Theme::colorless();
    let rows = dialog.draw(&Space { width, height, theme: &theme, focused: true, keys: &omp_tui::DefaultKeys });
    assert!(rows.len() <= height, "{} rows on {width}x{height}", rows.len());
    rows.iter().map(|row| row.text().trim_end().to_owned() + "\n").collect()
}

/// A call that is not visible cannot be approved.
#[test]
fn a_tiny_terminal_shows_the_command_or_offers_no_yes() {
    let mut dialog = ApproveDialog::new(push(), Quiet::default());
    insta::assert_snapshot!(drawn_at(&mut dialog, 30, 8), @"
    ── Allow bash? ───────────────
    cd /tmp && git push origin
    main > log
    It sends commits to others,
    which cannot be undone
    writes: log -> /etc/log
    y yes · n no · t instead
    ");
    drawn_at(&mut dialog, 30, 6);
    dialog.input(&Input::Key(Key::plain(KeyCode::Down)));
    assert!(drawn_at(&mut dialog, 30, 6).contains("… 1 above"));
    for (height, has_yes) in [(12, true), (5, true), (4, true), (3, false), (2, false), (1, false)] {
        let dialog = || {
            let mut dialog = ApproveDialog::new(push(), Quiet::default());
            let shown = drawn_at(&mut dialog, 30, height);
            assert_eq!((shown.contains("cd /tmp && git"), shown.contains("y yes")), (has_yes, has_yes), "{shown}");
            assert!(has_yes || shown.starts_with("The terminal is too small"), "{shown}");
            dialog
        };
        let input = |key: KeyCode| format!("{:?}", dialog().input(&Input::Key(Key::plain(key))));
        assert_eq!(input(KeyCode::Char('y')).contains("answer: Yes"), has_yes, "{height}");
        assert!(input(KeyCode::Char('n')).contains("answer: No"), "{height}");
        for key in [KeyCode::Enter, KeyCode::Char('a'), KeyCode::Char('u'), KeyCode::Char('s'), KeyCode::Char('e')] {
            assert_eq!(input(key), "Ignored", "{key:?} at {height}");
        }
    }
    let mut dialog = ApproveDialog::new(push(), Quiet::default());
    drawn_at(&mut dialog, 30, 6);
    dialog.input(&Input::Key(Key::plain(KeyCode::Char('t'))));
    assert!(drawn_at(&mut dialog, 30, 6).contains("Instead: "));
}

#[test]
fn a_key_of_somebody_who_is_typing_is_no_answer() {
    let mut dialog = ApproveDialog::new(bash(), Quiet::after(true));
    assert_eq!(says(&mut dialog, "y"), "Do(Insert(\"y\"))");
    assert!(matches!(press(&mut dialog, "enter"), DialogStep::Ignored));
    let pasted = dialog.input(&Input::Paste("text".into()));
    assert_eq!(format!("{pasted:?}"), "Do(Insert(\"text\"))");
    type_text(&mut dialog, "still typing");
    dialog.quiet.be_over();
    assert!(answered(&mut dialog, 'y').contains("Yes"));
    assert!(
        says(&mut ApproveDialog::new(bash(), Quiet::after(true)), "escape").contains("No"),
        "refusing is always safe"
    );
}

//! Parses a typed line as the answer to a question with numbered options.

use omp_session::{Answer, CallDetails, Question, QuestionKind};

/// The answer that opens the address of a question first.
pub const OPENS: &str = "1";

/// Returns the prompt for the answer to a question.
pub fn invitation(question: &Question) -> &'static str {
    match &question.kind {
        QuestionKind::Approve { details, .. } if !details.offers.is_empty() => {
            "Enter a number, or \"no\" and the reason: "
        }
        QuestionKind::Approve { .. } => "Answer 1 or 2: ",
        QuestionKind::Choose(choice) if choice.options.is_empty() => "Your answer: ",
        QuestionKind::Choose(choice) if choice.multi => "Numbers separated by commas, or your own answer: ",
        QuestionKind::Choose(choice) if choice.is_closed => "Number: ",
        QuestionKind::Choose(_) => "A number, or your own answer: ",
        QuestionKind::OpenUrl { .. } => "Answer 1, 2 or 3: ",
    }
}

/// Whether the line is the text of an option.
pub fn is_option(question: &Question, line: &str) -> bool {
    matches!(&question.kind, QuestionKind::Choose(choice) if choice.options.iter().any(|option| option.label == line))
}

/// Returns an error message if the line is not an answer.
pub fn answer(question: &Question, line: &str) -> Result<Answer, String> {
    let line = line.trim();
    match &question.kind {
        QuestionKind::Approve { details, .. } => match line.to_lowercase().as_str() {
            "1" | "y" | "yes" => Ok(Answer::Yes),
            "2" | "n" | "no" => Ok(Answer::No),
            _ => said_more(line, details)
                .ok_or_else(|| "Enter a number from the list, or \"no\" and the reason. Ctrl+C interrupts.".to_owned()),
        },
        QuestionKind::Choose(choice) => {
            let labels: Vec<&str> = choice.options.iter().map(|option| option.label.as_str()).collect();
            let recommended = choice.recommended.and_then(|at| labels.get(at)).copied();
            let chosen = match (line, recommended) {
                ("", None) => return Err("Please answer, or press Ctrl+C to interrupt.".to_owned()),
                ("", Some(label)) => vec![label.to_owned()],
                (line, _) => chosen(line, &labels, choice.multi)?,
            };
            let is_option = |one: &String| labels.contains(&one.as_str());
            if choice.is_closed && !labels.is_empty() && !chosen.iter().all(is_option) {
                return Err(format!("Enter a number from 1 to {}.", labels.len()));
            }
            Ok(if choice.multi { Answer::Choices(chosen) } else { Answer::Text(chosen.concat()) })
        }
        QuestionKind::OpenUrl { .. } => match line {
            OPENS | "2" => Ok(Answer::Yes),
            "3" => Ok(Answer::No),
            _ => Err("Enter 1 to open it, 2 if you opened it yourself, or 3 to cancel.".to_owned()),
        },
    }
}

/// Parses `no, use make` or the number of a rule.
fn said_more(line: &str, details: &CallDetails) -> Option<Answer> {
    if let Some(rest) = line.get(..2).filter(|no| no.eq_ignore_ascii_case("no")).and_then(|_| line.get(2..)) {
        let words = rest.strip_prefix([',', ' ', ':'])?.trim();
        return (!words.is_empty()).then(|| Answer::Text(words.to_owned()));
    }
    let at = line.parse::<usize>().ok()?.checked_sub(3)?;
    details.answers_with_rules().into_iter().nth(at).map(|(_, answer)| answer)
}

fn chosen(line: &str, labels: &[&str], multi: bool) -> Result<Vec<String>, String> {
    let parts: Vec<&str> = if multi { line.split(',').map(str::trim).collect() } else { vec![line] };
    let mut chosen = Vec::new();
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        let label = match part.parse::<usize>() {
            Ok(number) if !labels.is_empty() => labels
                .get(number.wrapping_sub(1))
                .ok_or_else(|| format!("There is no option {number}; the last is {}.", labels.len()))?,
            _ => part,
        };
        if !chosen.iter().any(|known| known == label) {
            chosen.push(label.to_owned());
        }
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use omp_agent::{Choice, ChoiceOption};
    use omp_policy::{RuleLevel, RuleOffer, RuleScope};

    use super::*;

    fn choose(labels: &[&str], multi: bool, recommended: Option<usize>) -> Question {
        let option = |label: &&str| ChoiceOption { label: (*label).to_owned(), description: None };
        let options = labels.iter().map(option).collect();
        Question {
            id: 1,
            kind: QuestionKind::Choose(Choice { question: "q".into(), options, multi, recommended, is_closed: false }),
        }
    }

    #[test]
    fn a_closed_choice_takes_only_its_options() {
        let mut question = choose(&["Rewind", "Leave"], false, None);
        let QuestionKind::Choose(choice) = &mut question.kind else { panic!("no choice") };
        choice.is_closed = true;
        assert_eq!(invitation(&question), "Number: ");
        assert_eq!(answer(&question, "2"), Ok(Answer::Text("Leave".to_owned())));
        assert_eq!(answer(&question, "perhaps").unwrap_err(), "Enter a number from 1 to 2.");
    }

    #[test]
    fn an_address_takes_three_numbers() {
        let url = omp_session::WebAddress::parse("https://example.com").unwrap();
        let question = Question { id: 1, kind: QuestionKind::OpenUrl { url, reason: "To log in".to_owned() } };
        let yes = || Some(Answer::Yes);
        check(&question, &[("1", yes()), (" 2 ", yes()), ("3", Some(Answer::No)), ("", None), ("yes", None)]);
    }

    #[track_caller]
    fn check(question: &Question, rows: &[(&str, Option<Answer>)]) {
        for (line, expect) in rows {
            assert_eq!(answer(question, line).ok(), *expect, "{line:?}");
        }
    }

    #[test]
    fn numbers_and_words_answer() {
        let approve = |offers: &[&str]| {
            let offers = offers.iter().map(|rule| RuleOffer { rules: vec![(*rule).to_owned()] }).collect();
            let details = Arc::new(CallDetails { offers, ..CallDetails::default() });
            let (call_id, tool, arguments) = ("c".into(), "bash".into(), Arc::default());
            Question { id: 1, kind: QuestionKind::Approve { call_id, tool, arguments, reason: None, details } }
        };
        check(
            &approve(&[]),
            &[("1", Some(Answer::Yes)), (" No ", Some(Answer::No)), ("", None), ("3", None), ("go", None)],
        );
        let for_now = |rule: &str| {
            let rules = vec![rule.to_owned()];
            Some(Answer::Always { level: RuleLevel::Allow, rules, scope: RuleScope::Session })
        };
        let always =
            |level, rule: &str| Some(Answer::Always { level, rules: vec![rule.to_owned()], scope: RuleScope::User });
        check(
            &approve(&["bash(ls)", "bash(ls *)"]),
            &[
                ("3", always(RuleLevel::Allow, "bash(ls)")),
                ("4", always(RuleLevel::Allow, "bash(ls *)")),
                ("5", always(RuleLevel::Deny, "bash(ls)")),
                ("6", for_now("bash(ls)")),
                ("7", for_now("bash(ls *)")),
                ("8", None),
                ("0", None),
                ("no, use make", Some(Answer::Text("use make".into()))),
                ("nope", None),
            ],
        );
        let text = |text: &str| Some(Answer::Text(text.to_owned()));
        check(
            &choose(&["red", "blue"], false, None),
            &[("2", text("blue")), ("green, 1", text("green, 1")), ("3", None), ("0", None), ("", None)],
        );
        check(&choose(&["red", "blue"], false, Some(1)), &[("", text("blue"))]);
        check(&choose(&[], false, None), &[("42", text("42"))]);
        let choices = |labels: &[&str]| Some(Answer::Choices(labels.iter().map(|label| (*label).to_owned()).collect()));
        check(
            &choose(&["red", "blue"], true, None),
            &[("2, 1, 2", choices(&["blue", "red"])), ("1, own", choices(&["red", "own"])), ("9", None)],
        );
    }
}

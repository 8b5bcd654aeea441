//! Selects the turn and the fault for a request.

use std::collections::HashMap;

use crate::script::{Fault, PastEnd, Script, Select};

#[derive(Default)]
pub struct ScriptProgress {
    next: usize,
    /// The number of requests for each turn.
    attempts: HashMap<usize, u32>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ChosenTurn {
    /// Index into the script's turns.
    pub turn: usize,
    /// Number of the turn in the conversation: it increases even if the last turn is repeated, so that ids stay unique.
    pub number: usize,
    pub attempt: u32,
    pub fault: Option<Fault>,
}

impl ScriptProgress {
    /// Returns `None` once the script is used up.
    pub fn choose(&mut self, script: &Script, assistant_turns: usize) -> Option<ChosenTurn> {
        let number = match script.select {
            Select::Sequence => self.next,
            Select::AssistantCount => assistant_turns,
        };
        let last = script.turns.len().checked_sub(1)?;
        let turn = match script.past_end {
            PastEnd::RepeatLast => number.min(last),
            PastEnd::Error if number > last => return None,
            PastEnd::Error => number,
        };
        let attempts = self.attempts.entry(number).or_default();
        let attempt = *attempts;
        *attempts += 1;
        let fault = script.turns[turn].fault_for(attempt).cloned();
        if !fault.as_ref().is_some_and(Fault::keeps_turn) {
            self.next += 1;
        }
        Some(ChosenTurn { turn, number, attempt, fault })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{After, FaultKind, Moment, Turn};

    /// Plays `asked` requests and formats the results: the turn, and `!` for a fault.
    fn check(script: &Script, asked: &[usize], expect: &str) {
        let mut progress = ScriptProgress::default();
        let shown = asked.iter().map(|assistant_turns| match progress.choose(script, *assistant_turns) {
            Some(choice) => format!("{}{}", choice.turn, if choice.fault.is_some() { "!" } else { "" }),
            None => "end".to_owned(),
        });
        assert_eq!(shown.collect::<Vec<_>>().join(" "), expect);
    }

    #[test]
    fn a_spoiled_turn_is_played_again_until_its_fault_is_over() {
        let script = Script::new([Turn::text("a").fault(Fault::status(529).times(2)), Turn::text("b")]);
        check(&script, &[0; 5], "0! 0! 0 1 end");
        let script = Script::new([Turn::text("a").fault(Fault::reset(Moment::MidStream))]);
        check(&script, &[0; 3], "0! 0! 0!");
    }

    #[test]
    fn a_fault_that_leaves_an_answer_uses_the_turn_up() {
        let cut = Fault::new(FaultKind::TruncatedArguments);
        check(&Script::new([Turn::text("a").fault(cut), Turn::text("b")]), &[0; 3], "0! 1 end");
        let skip = Fault::status(400).after(After::Next);
        check(&Script::new([Turn::text("a").fault(skip), Turn::text("b")]), &[0; 2], "0! 1");
    }

    #[test]
    fn the_assistant_count_picks_the_turn_without_memory() {
        let script = Script::new([Turn::text("a"), Turn::text("b")]).select(Select::AssistantCount);
        check(&script, &[1, 0, 1, 2], "1 0 1 end");
        check(&script.past_end(PastEnd::RepeatLast), &[7], "1");
    }

    #[test]
    fn a_script_without_turns_has_no_answer() {
        check(&Script::new([]).past_end(PastEnd::RepeatLast), &[0], "end");
    }
}

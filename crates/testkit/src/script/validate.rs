//! Converts the content of a file to playable turns and rejects invalid values.

use super::{FaultKind, Framing, Script, ScriptError, Split, Text, Turn};

const MAX_TURNS: usize = 100_000;
const MAX_TOKENS: usize = 5_000_000;
const MAX_MEGABYTES: u32 = 4096;

/// Expands `repeat` and checks every value.
pub fn expand(name: &str, mut script: Script) -> Result<Script, ScriptError> {
    let refuse = |problem: String, hint| ScriptError { name: name.to_owned(), problem, hint };
    let mut expanded = Vec::new();
    for (position, turn) in std::mem::take(&mut script.turns).into_iter().enumerate() {
        check(&turn).map_err(|(problem, hint)| refuse(format!("turn {}: {problem}", position + 1), hint))?;
        repeat(&mut expanded, turn);
        if expanded.len() > MAX_TURNS {
            return Err(refuse(format!("more than {MAX_TURNS} turns"), "use a smaller `repeat`"));
        }
    }
    script.turns = expanded;
    check_framing(&script.framing).map_err(|(problem, hint)| refuse(problem, hint))?;
    Ok(script)
}

fn repeat(turns: &mut Vec<Turn>, mut turn: Turn) {
    let Some(count) = turn.repeat.take() else {
        turns.push(turn);
        return;
    };
    for _ in 0..count.min(MAX_TURNS + 1) {
        let number = turns.len();
        let mut copy = turn.clone();
        copy.calls.iter_mut().for_each(|call| call.numbered(number));
        let thinking = copy.thinking.iter_mut().map(|thinking| &mut thinking.text);
        copy.text.iter_mut().chain(thinking).for_each(|text| text.numbered(number));
        turns.push(copy);
    }
}

/// A problem and its solution.
type ScriptProblem = (String, &'static str);

fn check(turn: &Turn) -> Result<(), ScriptProblem> {
    if turn.repeat == Some(0) {
        return Err(("`repeat: 0` plays nothing".into(), "leave the turn out, or repeat it at least once"));
    }
    let texts = turn.text.iter().chain(turn.thinking.iter().map(|thinking| &thinking.text));
    for text in texts {
        if let Text::Generated(generated) = text
            && generated.tokens > MAX_TOKENS
        {
            return Err((format!("`tokens: {}` is too many", generated.tokens), "use at most 5000000"));
        }
    }
    turn.framing.as_ref().map_or(Ok(()), check_framing)?;
    turn.fault.as_ref().map_or(Ok(()), |fault| check_fault(&fault.kind))
}

fn check_fault(kind: &FaultKind) -> Result<(), ScriptProblem> {
    match kind {
        FaultKind::Status(status) if !(400..=599).contains(&status.code) => {
            Err((format!("status {} is not an error", status.code), "use a code from 400 to 599"))
        }
        FaultKind::Status(status) => status.headers.iter().try_for_each(|(name, value)| check_header(name, value)),
        FaultKind::ErrorEvent { code } if !(400..=599).contains(code) => {
            Err((format!("error event with code {code}, which is not an error"), "use a code from 400 to 599"))
        }
        FaultKind::HugeLine { megabytes } if !(1..=MAX_MEGABYTES).contains(megabytes) => {
            Err((format!("a line of {megabytes} megabytes"), "use 1 to 4096 megabytes"))
        }
        _ => Ok(()),
    }
}

fn check_header(name: &str, value: &str) -> Result<(), ScriptProblem> {
    if name.is_empty() || name.contains([':', '\r', '\n', ' ']) || value.contains(['\r', '\n']) {
        return Err((
            format!("header `{name}` cannot be sent"),
            "a header is one line, its name without space or colon",
        ));
    }
    Ok(())
}

fn check_framing(framing: &Framing) -> Result<(), ScriptProblem> {
    match &framing.split {
        Some(Split::Every(0)) => Err(("`split: { every: 0 }`".into(), "split every 1 byte or more")),
        Some(Split::At(offsets)) if !offsets.is_sorted() => {
            Err(("`split: { at: … }` is not in order".into(), "list the byte offsets from small to large"))
        }
        _ => Ok(()),
    }
}

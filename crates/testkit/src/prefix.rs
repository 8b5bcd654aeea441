//! Checks that each request repeats the previous one byte for byte and only appends to the conversation.
//!
//! Providers cache prompts by prefix: one changed byte in the system prompt, the tools or the history makes every later
//! request pay for the whole prompt again. Cache markers move by design, so they are removed before comparing.

mod json;
#[cfg(test)]
mod tests;

use crate::server::RecordedRequest;
use crate::wire::Wire;
use json::{JsonMember, members, without_cache_markers};

/// Panics with the first difference. Requires at least two model requests; model listings are ignored.
#[track_caller]
#[allow(clippy::panic, reason = "an assertion for tests")]
pub fn assert_prefix_stable(requests: &[RecordedRequest]) {
    if let Err(problem) = check_prefixes(requests) {
        panic!("{problem}");
    }
}

/// Like [`assert_prefix_stable`], but returns the difference instead of panicking.
pub fn check_prefixes(requests: &[RecordedRequest]) -> Result<(), String> {
    let bodies: Vec<(Wire, &[u8])> =
        requests.iter().filter_map(|request| Some((request.wire()?, &*request.body))).collect();
    check_bodies(&bodies)
}

/// Like [`check_prefixes`], for bodies that were not recorded by a server.
pub fn check_bodies(bodies: &[(Wire, &[u8])]) -> Result<(), String> {
    if bodies.len() < 2 {
        return Err(format!("{} requests for an answer: there is nothing to compare", bodies.len()));
    }
    for (position, pair) in bodies.windows(2).enumerate() {
        let (earlier, later) = (pair[0], pair[1]);
        let compared = if earlier.0 == later.0 {
            check_pair(earlier.0, earlier.1, later.1)
        } else {
            Err(format!("the wire changed from {:?} to {:?}", earlier.0, later.0))
        };
        compared.map_err(|problem| format!("request {} after request {}: {problem}", position + 2, position + 1))?;
    }
    Ok(())
}

/// Returns the body without some top-level members and with every other byte unchanged, for parameters that the model does
/// not read.
pub fn without_members(body: &[u8], names: &[&str]) -> Result<Vec<u8>, String> {
    let kept = members(body)?.into_iter().filter(|member| !names.contains(&member.name.as_str()));
    let mut text = vec![b'{'];
    for (position, member) in kept.enumerate() {
        text.extend(if position > 0 { ",\"" } else { "\"" }.bytes());
        text.extend(member.name.bytes().chain(*b"\":"));
        text.extend_from_slice(member.value);
    }
    text.push(b'}');
    Ok(text)
}

/// Returns one top-level member as written.
pub fn member<'a>(body: &'a [u8], name: &str) -> Option<&'a [u8]> {
    members(body).ok()?.into_iter().find(|member| member.name == name).map(|member| member.value)
}

/// Members that the model reads besides the conversation, anywhere in the body.
const PROMPT: [&str; 7] =
    ["system", "instructions", "systemInstruction", "system_instruction", "tools", "toolConfig", "tool_choice"];

fn check_pair(wire: Wire, earlier: &[u8], later: &[u8]) -> Result<(), String> {
    let (earlier, later) = (without_cache_markers(earlier)?, without_cache_markers(later)?);
    let (before, after) = (members(&earlier)?, members(&later)?);
    let conversation = wire.conversation();
    let first = position(&before, conversation)?;
    let second = position(&after, conversation)?;
    compare_heads(&before[..first], &after[..second])?;
    let (before_tail, after_tail) = (&before[first + 1..], &after[second + 1..]);
    compare_prompt_members(before_tail, after_tail)?;
    check_extends(conversation, before[first].value, after[second].value)?;
    if before_tail.is_empty() && after_tail.is_empty() {
        check_extends("the body", &earlier, &later)?;
    }
    Ok(())
}

fn position(members: &[JsonMember<'_>], name: &str) -> Result<usize, String> {
    members.iter().position(|member| member.name == name).ok_or_else(|| format!("the body has no `{name}`"))
}

/// Nothing before the conversation may change, not even the order.
fn compare_heads(before: &[JsonMember<'_>], after: &[JsonMember<'_>]) -> Result<(), String> {
    let names = |members: &[JsonMember<'_>]| members.iter().map(|member| member.name.clone()).collect::<Vec<_>>();
    if names(before) != names(after) {
        return Err(format!(
            "the members before the conversation changed from {:?} to {:?}",
            names(before),
            names(after)
        ));
    }
    before.iter().zip(after).try_for_each(|(old, new)| check_equal(&old.name, old.value, new.value))
}

fn compare_prompt_members(before: &[JsonMember<'_>], after: &[JsonMember<'_>]) -> Result<(), String> {
    for name in PROMPT {
        let find = |members: &[JsonMember<'_>]| members.iter().position(|member| member.name == name);
        match (find(before), find(after)) {
            (None, None) => {}
            (Some(old), Some(new)) => check_equal(name, before[old].value, after[new].value)?,
            (Some(_), None) => return Err(format!("`{name}` is gone")),
            (None, Some(_)) => return Err(format!("`{name}` is new")),
        }
    }
    Ok(())
}

fn check_equal(name: &str, old: &[u8], new: &[u8]) -> Result<(), String> {
    if old == new { Ok(()) } else { Err(difference(name, old, new)) }
}

/// `new` must begin with `old` without its closing brackets. Brackets of the last message are removed too: a provider that
/// accepts one message per role gets further text appended to it.
fn check_extends(name: &str, old: &[u8], new: &[u8]) -> Result<(), String> {
    let open = old.iter().rposition(|byte| !matches!(byte, b']' | b'}')).map_or(0, |last| last + 1);
    let goes_on = match old[..open].last() {
        // An empty container must stay empty.
        Some(b'[' | b'{') => new.get(open) == old.get(open),
        _ => matches!(new.get(open), Some(b',' | b']' | b'}')),
    };
    if new.starts_with(&old[..open]) && goes_on { Ok(()) } else { Err(difference(name, old, new)) }
}

/// Bytes shown on each side of a difference.
const CONTEXT: usize = 60;

fn difference(name: &str, old: &[u8], new: &[u8]) -> String {
    let at = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let show = |bytes: &[u8]| {
        let from = at.saturating_sub(CONTEXT).min(bytes.len());
        let to = at.saturating_add(CONTEXT).min(bytes.len());
        String::from_utf8_lossy(&bytes[from..to]).into_owned()
    };
    format!("`{name}` differs at byte {at}\n  was: …{}…\n  now: …{}…", show(old), show(new))
}

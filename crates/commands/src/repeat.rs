//! `/loop`: repeats a prompt whenever it is done.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{LONGEST_REPEAT, MOST_REPEATS, RepeatLimit, Session, SlashCommand, SlashReply};
use omp_types::Content;

/// The default number of repetitions.
const USUAL: u32 = 100;
const USAGE: &str = "hint: usage: /loop [count|duration] [prompt], for example /loop 5 or /loop 1h30m run the tests";

pub struct LoopCommand;

impl SlashCommand for LoopCommand {
    fn name(&self) -> &str {
        "loop"
    }

    fn description(&self) -> &str {
        "Repeat a prompt; /loop again or Esc stops it"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[count|duration] [prompt]")
    }

    fn takes_attachments(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            if arguments.is_empty() && session.repeats() {
                session.repeat(None);
                return Ok(SlashReply::Text("the loop is off; the current turn is the last".to_owned()));
            }
            let (limit, prompt) = parse(arguments)?;
            if session.works().await {
                return Err(crate::WORKING.to_owned());
            }
            session.repeat(Some(limit));
            Ok(match prompt {
                "" => SlashReply::Text(format!("the next prompt is repeated {}; /loop cancels that", told(limit))),
                prompt => {
                    session.tell(format!("this prompt is repeated {}; press esc or use /loop to stop", told(limit)));
                    SlashReply::Prompt(vec![Content::text(prompt)].into())
                }
            })
        }
        .boxed()
    }
}

fn told(limit: RepeatLimit) -> String {
    match limit {
        RepeatLimit::Times(times) => format!("up to {times} times"),
        RepeatLimit::For(time) => format!("for {} seconds", time.as_secs()),
    }
}

/// A limit begins with a digit or a sign; anything else is the prompt.
fn parse(arguments: &str) -> Result<(RepeatLimit, &str), String> {
    let (first, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
    let rest = rest.trim();
    if !first.starts_with(|sign: char| sign.is_ascii_digit() || matches!(sign, '+' | '-')) {
        return Ok((RepeatLimit::Times(USUAL), arguments));
    }
    if first.bytes().all(|byte| byte.is_ascii_digit()) {
        // Accepts a unit after a space, such as `10 minutes`.
        let (word, behind) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        if let Some(unit) = unit(word) {
            return time(first, unit).and_then(checked).map(|limit| (limit, behind.trim()));
        }
        let times = first.parse::<u32>().ok().filter(|times| (1..=MOST_REPEATS).contains(times));
        let times = times.ok_or_else(|| format!("the count must be from 1 to {MOST_REPEATS}, not {first}\n{USAGE}"))?;
        return Ok((RepeatLimit::Times(times), rest));
    }
    Ok((checked(compound(first)?)?, rest))
}

/// `90s`, `10m`, `1h30m`.
fn compound(word: &str) -> Result<Duration, String> {
    let wrong = || format!("`{word}` is neither a count nor a duration\n{USAGE}");
    let (mut left, mut all) = (word, Duration::ZERO);
    while !left.is_empty() {
        let digits = left.find(|sign: char| !sign.is_ascii_digit()).ok_or_else(wrong)?;
        let (number, behind) = left.split_at(digits);
        let letters = behind.find(|sign: char| !sign.is_ascii_alphabetic()).unwrap_or(behind.len());
        let unit = unit(&behind[..letters]).ok_or_else(wrong)?;
        all = all.checked_add(time(number, unit)?).ok_or_else(wrong)?;
        left = &behind[letters..];
    }
    Ok(all)
}

fn time(number: &str, unit: u64) -> Result<Duration, String> {
    let seconds = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    seconds.map(Duration::from_secs).ok_or_else(|| format!("`{number}` is too large\n{USAGE}"))
}

fn checked(time: Duration) -> Result<RepeatLimit, String> {
    match time.is_zero() || time > LONGEST_REPEAT {
        true => {
            Err(format!("the duration must be from one second to {} hours\n{USAGE}", LONGEST_REPEAT.as_secs() / 3600))
        }
        false => Ok(RepeatLimit::For(time)),
    }
}

/// Returns the seconds of a unit.
fn unit(word: &str) -> Option<u64> {
    match word.to_ascii_lowercase().as_str() {
        "s" | "sec" | "secs" | "second" | "seconds" => Some(1),
        "m" | "min" | "mins" | "minute" | "minutes" => Some(60),
        "h" | "hr" | "hrs" | "hour" | "hours" => Some(3600),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(typed: &str, expect: Option<(RepeatLimit, &str)>) {
        assert_eq!(parse(typed).ok(), expect, "{typed:?}");
    }

    #[test]
    fn a_limit_comes_before_the_prompt() {
        let times = |times| RepeatLimit::Times(times);
        let seconds = |seconds| RepeatLimit::For(Duration::from_secs(seconds));
        check("", Some((times(USUAL), "")));
        check("keep going 5 times", Some((times(USUAL), "keep going 5 times")));
        check("5", Some((times(5), "")));
        check("5 run the tests", Some((times(5), "run the tests")));
        check("10m", Some((seconds(600), "")));
        check("1h30m run the tests", Some((seconds(5400), "run the tests")));
        check("90S x", Some((seconds(90), "x")));
        check("10 minutes look", Some((seconds(600), "look")));
        check("2 hours", Some((seconds(7200), "")));
    }

    #[test]
    fn what_looks_like_a_limit_and_is_none_is_refused() {
        for typed in ["0", "-1", "+3", "1001", "99999999999999999999", "1.5h", "10x10", "5d", "0s", "25h", "0 minutes"]
        {
            check(typed, None);
        }
        let huge = format!("{}h", u64::MAX);
        check(&huge, None);
        assert!(parse("5d").unwrap_err().contains("hint: usage: /loop"));
    }
}

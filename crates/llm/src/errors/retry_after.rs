//! Parses how long a server asks clients to wait, in all notations in use.

use std::time::Duration;

use jiff::Timestamp;
use omp_http::Headers;

use super::words::Words;

/// Longer waits are capped at this: they indicate a quota, not a queue.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// Values above this are Unix timestamps in seconds, values below it durations.
const EARLIEST_MOMENT: f64 = 1e9;

pub(crate) fn from_headers(headers: &Headers) -> Option<Duration> {
    from_headers_at(headers, Timestamp::now())
}

fn from_headers_at(headers: &Headers, now: Timestamp) -> Option<Duration> {
    let get = |name: &str| headers.get(name).map(str::trim);
    let in_ms = get("retry-after-ms").and_then(|value| seconds(value.parse::<f64>().ok()? / 1000.0));
    in_ms
        .or_else(|| get("retry-after").and_then(|value| wait(value, now)))
        .or_else(|| exhausted(headers, "requests", now))
        .or_else(|| exhausted(headers, "tokens", now))
        .or_else(|| get("anthropic-ratelimit-unified-reset").and_then(|value| wait(value, now)))
        .or_else(|| get("x-ratelimit-reset").and_then(|value| wait(value, now)))
}

/// Returns the reset time of an exhausted budget. Budgets that are not exhausted also have one, which is irrelevant.
fn exhausted(headers: &Headers, budget: &str, now: Timestamp) -> Option<Duration> {
    let used_up = |name: String| headers.get(&name).is_some_and(|left| left.trim() == "0");
    let openai = used_up(format!("x-ratelimit-remaining-{budget}")).then(|| format!("x-ratelimit-reset-{budget}"));
    let anthropic = used_up(format!("anthropic-ratelimit-{budget}-remaining"))
        .then(|| format!("anthropic-ratelimit-{budget}-reset"));
    wait(headers.get(&openai.or(anthropic)?)?.trim(), now)
}

pub(crate) fn from_words(words: &Words) -> Option<Duration> {
    if let Some(delay) = &words.retry_delay {
        return units(delay);
    }
    let message = words.message.to_ascii_lowercase();
    let (_, after) = ["try again in ", "retry after ", "retry in ", "reset after "]
        .iter()
        .find_map(|lead| message.split_once(lead))?;
    let mut parts = after.split_whitespace();
    let first = parts.next()?.trim_end_matches(['.', ',', ')']);
    let unit = parts.next().unwrap_or_default();
    let spelled = match unit.get(..3) {
        Some("sec") => format!("{first}s"),
        Some("min") => format!("{first}m"),
        Some("mil") => format!("{first}ms"),
        _ => first.to_owned(),
    };
    units(&spelled)
}

/// Parses seconds, a point in time in any of three notations, or a duration such as `6m0s`.
fn wait(value: &str, now: Timestamp) -> Option<Duration> {
    if let Ok(number) = value.parse::<f64>() {
        let until = |moment: f64| seconds((moment - now.as_millisecond() as f64 / 1000.0).max(0.0));
        return match number {
            number if number >= EARLIEST_MOMENT * 1000.0 => until(number / 1000.0),
            number if number >= EARLIEST_MOMENT => until(number),
            number => seconds(number),
        };
    }
    if let Some(span) = units(value) {
        return Some(span);
    }
    let moment = value.parse().ok().or_else(|| Some(jiff::fmt::rfc2822::parse(value).ok()?.timestamp()))?;
    let until: jiff::SignedDuration = now.duration_until(moment);
    Some(Duration::try_from(until).unwrap_or_default().min(LONGEST))
}

/// Parses `1h2m3.5s` or `250ms`; a bare number is not a duration.
fn units(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|character: char| !character.is_ascii_digit() && character != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let unit = rest.find(|character: char| character.is_ascii_digit()).unwrap_or(rest.len());
        total += number
            * match &rest[..unit] {
                "ms" => 0.001,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                "d" => 86_400.0,
                _ => return None,
            };
        rest = &rest[unit..];
    }
    seconds(total)
}

fn seconds(number: f64) -> Option<Duration> {
    (number >= 0.0).then(|| Duration::try_from_secs_f64(number).unwrap_or(LONGEST).min(LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-11-15T12:00:00Z";

    #[track_caller]
    fn check(headers: &[(&str, &str)], expect_ms: Option<u64>) {
        let headers = headers.iter().copied().collect();
        let found = from_headers_at(&headers, NOW.parse().unwrap());
        assert_eq!(found.map(|wait| wait.as_millis() as u64), expect_ms);
    }

    #[test]
    fn headers_in_all_notations() {
        check(&[], None);
        check(&[("retry-after", "20")], Some(20_000));
        check(&[("retry-after", "1.5")], Some(1500));
        check(&[("retry-after", "Sun, 15 Nov 2026 12:01:00 GMT")], Some(60_000));
        check(&[("retry-after", "Sun, 15 Nov 2026 11:00:00 GMT")], Some(0));
        check(&[("retry-after-ms", "250"), ("retry-after", "1")], Some(250));
        check(&[("retry-after", "soon")], None);
        check(&[("retry-after", "-5")], None);
        check(&[("retry-after", "NaN")], None);
        check(&[("retry-after", "1e300")], Some(86_400_000));
        check(&[("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", "6m0s")], Some(360_000));
        check(&[("x-ratelimit-remaining-requests", "7"), ("x-ratelimit-reset-requests", "6m0s")], None);
        check(&[("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "20ms")], Some(20));
        let reset = "2026-11-15T12:00:30Z";
        check(
            &[("anthropic-ratelimit-tokens-remaining", "0"), ("anthropic-ratelimit-tokens-reset", reset)],
            Some(30_000),
        );
        let now: Timestamp = NOW.parse().unwrap();
        check(&[("x-ratelimit-reset", &(now.as_second() + 5).to_string())], Some(5000));
        check(&[("x-ratelimit-reset", &(now.as_millisecond() + 5000).to_string())], Some(5000));
    }

    #[track_caller]
    fn check_words(message: &str, expect_ms: Option<u64>) {
        let found = from_words(&Words::new("", message));
        assert_eq!(found.map(|wait| wait.as_millis() as u64), expect_ms, "{message}");
    }

    #[test]
    fn sentences_that_name_a_time() {
        check_words("Rate limit reached. Please try again in 6m0s.", Some(360_000));
        check_words("Please try again in 20.5s. Visit the page", Some(20_500));
        check_words("Please retry in 33.1s.", Some(33_100));
        check_words("please retry after 5 seconds", Some(5000));
        check_words("try again in 2 minutes", Some(120_000));
        check_words("try again in a while", None);
        check_words("try again in", None);
    }
}

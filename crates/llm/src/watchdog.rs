//! Timeouts for silent providers, per phase, so that no turn hangs forever.
//!
//! A setting overrides the environment variables, those override the model's `compat`, which overrides the default. The
//! timeouts are enforced in `omp-http`, where the bytes are received; the run time of a tool does not count.

use std::time::Duration;

use omp_http::Patience;
use omp_types::{Api, Env, EnvVar, Model, vars};

/// Values from `config.yml` in seconds: negative for the default, 0 for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WatchdogSettings {
    /// `providers.connectTimeoutSeconds`.
    pub connect: Option<f64>,
    /// `providers.streamFirstEventTimeoutSeconds`.
    pub first_event: Option<f64>,
    /// `providers.streamIdleTimeoutSeconds`.
    pub idle: Option<f64>,
}

#[derive(Clone, Debug, Default)]
pub struct Watchdogs {
    env: Env,
    settings: WatchdogSettings,
}

/// A configured limit (`Some(None)` for no limit), if any.
type WantedLimit = Option<Option<Duration>>;

impl Watchdogs {
    pub fn new(env: Env, settings: WatchdogSettings) -> Self {
        Self { env, settings }
    }

    /// Returns the timeout for connecting.
    pub fn connect(&self) -> Option<Duration> {
        let wish = seconds(self.settings.connect).or_else(|| self.variable(vars::PI_CONNECT_TIMEOUT_MS));
        wish.unwrap_or(omp_http::HttpConfig::default().connect_timeout)
    }

    /// Returns the timeouts for an answer of `model`.
    pub fn patience(&self, model: &Model) -> Patience {
        let default = Patience::default();
        let idle = [vars::PI_STREAM_IDLE_TIMEOUT_MS, vars::PI_OPENAI_STREAM_IDLE_TIMEOUT_MS];
        let idle = seconds(self.settings.idle)
            .or_else(|| self.variables(model, idle))
            .or_else(|| compat(model, "streamIdleTimeoutMs"))
            .unwrap_or(default.idle);
        let first = [vars::PI_STREAM_FIRST_EVENT_TIMEOUT_MS, vars::PI_OPENAI_STREAM_FIRST_EVENT_TIMEOUT_MS];
        let first = seconds(self.settings.first_event)
            .or_else(|| self.variables(model, first))
            .or_else(|| compat(model, "streamFirstEventTimeoutMs"))
            // Processing a long prompt takes longer than the pauses in a stream, so the first-event limit is at least the
            // idle limit.
            .unwrap_or_else(|| idle.zip(default.first_event).map(|(idle, first)| idle.max(first)));
        Patience::new(first, idle)
    }

    fn variables(&self, model: &Model, [general, openai]: [EnvVar; 2]) -> WantedLimit {
        let order = match model.api {
            Api::OpenaiCompletions | Api::OpenaiResponses => [openai, general],
            _ => [general, openai],
        };
        order.into_iter().find_map(|variable| self.variable(variable))
    }

    fn variable(&self, variable: EnvVar) -> WantedLimit {
        milliseconds(self.env.get(variable)?.trim().parse().ok()?)
    }
}

fn compat(model: &Model, key: &str) -> WantedLimit {
    milliseconds(model.compat.get(key)?.as_f64()?)
}

fn seconds(setting: Option<f64>) -> WantedLimit {
    milliseconds(setting.filter(|seconds| *seconds >= 0.0)? * 1000.0)
}

/// 0 and less mean no limit; a value that is not a number counts as unset.
fn milliseconds(number: f64) -> WantedLimit {
    if number.is_nan() {
        return None;
    }
    let longest = Duration::from_secs(7 * 24 * 3600);
    Some((number > 0.0).then(|| Duration::try_from_secs_f64(number / 1000.0).unwrap_or(longest).min(longest)))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::wire::sample;

    const GENERAL: (&str, &str) = ("PI_STREAM_IDLE_TIMEOUT_MS", "1000");
    const OPENAI: (&str, &str) = ("PI_OPENAI_STREAM_IDLE_TIMEOUT_MS", "2000");

    /// Checks the limits for the first event and for idling, in milliseconds; 0 for no limit.
    #[track_caller]
    fn check(api: Api, env: &[(&str, &str)], settings: [Option<f64>; 2], compat: Value, expect: [u128; 2]) {
        let [first_event, idle] = settings;
        let settings = WatchdogSettings { connect: None, first_event, idle };
        let model = Model { compat, ..sample::model(api) };
        let patience = Watchdogs::new(env.iter().copied().collect(), settings).patience(&model);
        let shown = |limit: Option<Duration>| limit.map_or(0, |limit| limit.as_millis());
        assert_eq!([shown(patience.first_event), shown(patience.idle)], expect);
    }

    #[test]
    fn the_nearest_word_counts() {
        let (claude, gpt) = (Api::AnthropicMessages, Api::OpenaiCompletions);
        let none = [None, None];
        let own = || json!({"streamIdleTimeoutMs": 900_000, "streamFirstEventTimeoutMs": 0});
        check(claude.clone(), &[], none, Value::Null, [300_000, 300_000]);
        check(claude.clone(), &[GENERAL], none, Value::Null, [300_000, 1000]);
        check(claude.clone(), &[GENERAL, OPENAI], none, Value::Null, [300_000, 1000]);
        check(gpt.clone(), &[GENERAL, OPENAI], none, Value::Null, [300_000, 2000]);
        check(claude.clone(), &[OPENAI], none, Value::Null, [300_000, 2000]);
        check(claude.clone(), &[], none, own(), [0, 900_000]);
        check(claude.clone(), &[GENERAL], none, own(), [0, 1000]);
        check(claude.clone(), &[GENERAL], [Some(7.5), Some(0.0)], own(), [7500, 0]);
        check(gpt.clone(), &[OPENAI], [Some(-1.0), Some(-1.0)], Value::Null, [300_000, 2000]);
        check(gpt, &[], [None, Some(900.0)], Value::Null, [900_000, 900_000]);
        check(claude.clone(), &[], [None, Some(0.0)], Value::Null, [0, 0]);
        for bad in ["", "soon", "NaN"] {
            check(claude.clone(), &[("PI_STREAM_IDLE_TIMEOUT_MS", bad)], none, Value::Null, [300_000, 300_000]);
        }
        check(claude, &[("PI_STREAM_IDLE_TIMEOUT_MS", "1e300")], [Some(5.0), None], Value::Null, [5000, 604_800_000]);
    }

    #[test]
    fn connections_have_a_limit_of_their_own() {
        let connect = |env: &[(&str, &str)], setting| {
            let settings = WatchdogSettings { connect: setting, ..WatchdogSettings::default() };
            Watchdogs::new(env.iter().copied().collect(), settings).connect().map(|limit| limit.as_millis())
        };
        assert_eq!(connect(&[], None), Some(30_000));
        assert_eq!(connect(&[("PI_CONNECT_TIMEOUT_MS", "50")], None), Some(50));
        assert_eq!(connect(&[("PI_CONNECT_TIMEOUT_MS", "50")], Some(2.0)), Some(2000));
        assert_eq!(connect(&[("PI_CONNECT_TIMEOUT_MS", "0")], None), None);
    }
}

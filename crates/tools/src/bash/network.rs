//! What of the network a command has reached through the proxy of containment, for the session's file and the model.

use omp_exec::Passage;
use serde::{Deserialize, Serialize};

/// Connections that are written down for one command.
const MOST_WRITTEN: usize = 100;
/// Refusals that the model is told of.
const MOST_TOLD: usize = 3;

/// One connection that a command asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Reached {
    /// Milliseconds since 1970.
    pub at: u64,
    pub host: String,
    pub port: u16,
    /// How it asked: `http`, `connect`, `socks5`, `socks4`.
    pub by: String,
    pub bytes_up: u64,
    pub bytes_down: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// Sentences about hosts that no rule allows, each once.
pub(super) fn refused(passages: &[Passage]) -> Vec<String> {
    let mut reasons: Vec<&String> =
        passages.iter().filter(|passage| passage.by_rule).filter_map(|passage| passage.refused.as_ref()).collect();
    reasons.sort();
    reasons.dedup();
    let mut sentences: Vec<String> = reasons.iter().take(MOST_TOLD).map(|why| format!("Contained: {why}.")).collect();
    if !sentences.is_empty() {
        sentences.push("The user can allow a host with the setting `containment.hosts`.".to_owned());
    }
    sentences
}

/// The newest of them.
pub(super) fn reached(mut passages: Vec<Passage>) -> Vec<Reached> {
    let newest = passages.split_off(passages.len().saturating_sub(MOST_WRITTEN));
    let written = |passage: Passage| Reached {
        at: passage.at,
        host: passage.host,
        port: passage.port,
        by: passage.by.to_owned(),
        bytes_up: passage.up,
        bytes_down: passage.down,
        refused: passage.refused,
    };
    newest.into_iter().map(written).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(host: &str, refused: Option<&str>, by_rule: bool) -> Passage {
        let refused = refused.map(str::to_owned);
        Passage { at: 1, host: host.to_owned(), port: 443, by: "connect", up: 2, down: 3, refused, by_rule }
    }

    #[test]
    fn what_a_rule_refused_is_told_once_and_all_is_written_down() {
        let why = Some("evil.example:443 was not reached: it is none of the hosts that commands may reach");
        let passages = vec![
            passage("evil.example", why, true),
            passage("evil.example", why, true),
            passage("down.example", Some("down.example was not reached: it did not answer in time"), false),
            passage("api.example", None, false),
        ];
        insta::assert_snapshot!(refused(&passages).join("\n"), @r"
        Contained: evil.example:443 was not reached: it is none of the hosts that commands may reach.
        The user can allow a host with the setting `containment.hosts`.
        ");
        let written = reached(passages);
        assert_eq!(written.len(), 4);
        let last = serde_json::to_string(&written[3]).unwrap();
        insta::assert_snapshot!(last, @r#"{"at":1,"host":"api.example","port":443,"by":"connect","bytesUp":2,"bytesDown":3}"#);
        assert_eq!(refused(&[passage("api.example", None, false)]), Vec::<String>::new());
        assert_eq!(reached(vec![passage("x.example", None, false); 500]).len(), MOST_WRITTEN);
    }
}

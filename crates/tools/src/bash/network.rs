//! Reports the network connections of a command through the containment proxy, for the session file and the model.

use omp_exec::Passage;
use omp_types::{AccessMap, ContainMode, NetworkMode};
use serde::{Deserialize, Serialize};

/// Limits the connections stored for one command.
const MOST_WRITTEN: usize = 100;
/// Limits the refusals reported to the model.
const MOST_TOLD: usize = 3;

/// One connection that a command requested.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Reached {
    /// Milliseconds since 1970.
    pub at: u64,
    pub host: String,
    pub port: u16,
    /// The protocol of the request: `http`, `connect`, `socks5`, `socks4`.
    pub by: String,
    pub bytes_up: u64,
    pub bytes_down: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// Returns one sentence for each host that no rule allows.
pub(super) fn refused(passages: &[Passage]) -> Vec<String> {
    let mut reasons: Vec<&String> =
        passages.iter().filter(|passage| passage.by_rule).filter_map(|passage| passage.refused.as_ref()).collect();
    reasons.sort();
    reasons.dedup();
    let mut sentences: Vec<String> = reasons.iter().take(MOST_TOLD).map(|why| format!("Sandbox: {why}.")).collect();
    if !sentences.is_empty() {
        sentences.push("The user can allow a host with the setting `containment.hosts`.".to_owned());
    }
    sentences
}

/// Messages that programs print without a network: curl, git and cargo; ssh; wget; pip and other Python programs; npm; Go.
const NO_NETWORK: &[&str] = &[
    "ould not resolve host",
    "ouldn't resolve host",
    "ould not resolve proxy",
    "nable to resolve host",
    "emporary failure in name resolution",
    "emporary failure resolving",
    "ame or service not known",
    "odename nor servname provided",
    "failed to lookup address information",
    "EAI_AGAIN",
    "ENOTFOUND",
    "ENETUNREACH",
    "etwork is unreachable",
    "no such host",
    "dial tcp: lookup ",
];

/// Explains why a program found no host: its own message does not mention containment.
pub(super) fn off(output: &str, map: &AccessMap) -> Vec<String> {
    let is_off = map.mode != ContainMode::Off && map.network == NetworkMode::Off;
    if !is_off || !NO_NETWORK.iter().any(|sign| output.contains(sign)) {
        return Vec::new();
    }
    vec![
        "Sandbox: the network is off for commands, except for servers on this machine that the same command starts.".to_owned(),
        "hint: only the user can change that, in config.yml: `containment.network: on`, or `allowlist` with the hosts in \
         `containment.hosts`"
            .to_owned(),
    ]
}

/// Returns the newest connections.
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
    fn a_network_that_is_off_is_told() {
        let told = |mode, network, output: &str| off(output, &AccessMap { mode, network, ..AccessMap::default() });
        for output in [
            "curl: (6) Could not resolve host: api.example",
            "fatal: unable to access 'https://git.example/a.git/': Could not resolve host: git.example",
            "ssh: Could not resolve hostname git.example: Temporary failure in name resolution",
            "wget: unable to resolve host address 'a.example'",
            "NewConnectionError('<pip._vendor.urllib3>: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')",
            "npm error code EAI_AGAIN\nnpm error request to https://a.example/x failed, reason: getaddrinfo EAI_AGAIN a.example",
            "npm ERR! code ENOTFOUND",
            "warning: spurious network error (3 tries remaining): [6] Couldn't resolve host name (Could not resolve host: a.example)",
            "failed to lookup address information: Temporary failure in name resolution",
            "dial tcp: lookup proxy.example: no such host",
            "connect: Network is unreachable",
        ] {
            let sentences = told(ContainMode::WorkspaceWrite, NetworkMode::Off, output);
            assert!(sentences.len() == 2 && sentences[1].starts_with("hint: "), "{output}: {sentences:?}");
            assert_eq!(told(ContainMode::WorkspaceWrite, NetworkMode::On, output), [""; 0]);
            assert_eq!(told(ContainMode::Off, NetworkMode::Off, output), [""; 0]);
        }
        assert_eq!(told(ContainMode::ReadOnly, NetworkMode::Off, "connection refused; all is well"), [""; 0]);
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
        Sandbox: evil.example:443 was not reached: it is none of the hosts that commands may reach.
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

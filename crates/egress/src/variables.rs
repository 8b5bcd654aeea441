//! The environment variables that configure the proxy in curl, git, package managers and most libraries.

use omp_types::AccessMap;

use super::rules::HostRules;

const TO_PROXY: &[&str] =
    &["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "FTP_PROXY", "ftp_proxy"];
const WITHOUT_PROXY: &[&str] = &["NO_PROXY", "no_proxy"];

/// Servers of a command are on its own loopback, which the proxy cannot reach.
const OWN: &str = "localhost,127.0.0.1,::1";

/// All of them are `http://`: some libraries fail to start if a variable names SOCKS and they lack a module for it.
pub fn variables(map: &AccessMap, port: u16) -> Vec<(&'static str, String)> {
    let address = format!("http://127.0.0.1:{port}");
    // If a rule names it, `localhost` is the machine's.
    let own = if HostRules::of(&map.hosts).name_loopback() { "" } else { OWN };
    let mut variables: Vec<(&'static str, String)> = TO_PROXY.iter().map(|name| (*name, address.clone())).collect();
    variables.extend(WITHOUT_PROXY.iter().map(|name| (*name, own.to_owned())));
    variables.push(("NODE_USE_ENV_PROXY", "1".to_owned()));
    variables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loopback_that_the_user_named_is_reached_through_the_proxy() {
        let no_proxy = |hosts: &[&str]| {
            let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
            let variables = variables(&AccessMap { hosts, ..AccessMap::default() }, 9);
            assert!(variables.contains(&("https_proxy", "http://127.0.0.1:9".to_owned())));
            variables.into_iter().find(|(name, _)| *name == "NO_PROXY").unwrap().1
        };
        assert_eq!(no_proxy(&["example.com", "10.0.0.0/8"]), OWN);
        for named in ["localhost:3000", "127.0.0.1", "[::1]:80", "127.0.0.0/8"] {
            assert_eq!(no_proxy(&[named]), "");
        }
    }
}

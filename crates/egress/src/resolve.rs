//! Resolves names to addresses inside omp: the commands have no DNS.

use std::io;
use std::net::IpAddr;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(15);
/// Limits the addresses tried for one name.
const MOST: usize = 8;

#[derive(Debug, Default)]
pub(super) enum Resolver {
    /// Uses the system's resolver.
    #[default]
    System,
    /// Returns scripted answers in order; the last one is repeated.
    #[cfg(test)]
    Scripted(std::sync::Mutex<Vec<Vec<IpAddr>>>),
}

impl Resolver {
    /// Returns at least one address.
    pub(super) async fn look_up(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut found: Vec<IpAddr> = match self {
            Self::System => {
                let asked = tokio::net::lookup_host((name, 0));
                tokio::time::timeout(PATIENCE, asked).await??.map(|address| address.ip()).collect()
            }
            #[cfg(test)]
            Self::Scripted(answers) => {
                let mut answers = answers.lock().unwrap();
                if answers.len() > 1 { answers.remove(0) } else { answers[0].clone() }
            }
        };
        found.dedup();
        found.truncate(MOST);
        if found.is_empty() { Err(io::Error::other("none was found")) } else { Ok(found) }
    }
}

//! Addresses of the program that omp runs in, such as `notion://page`: the host reads and writes them.

use std::sync::Arc;

use omp_agent::ToolError;
use omp_types::EditorAddresses;

use super::{Router, unquoted};
use crate::read::{Selector, split_selector};

/// Text from the host, with the requested lines.
pub struct FromHost {
    pub address: String,
    pub text: String,
    pub notes: Vec<String>,
    pub selector: Selector,
}

impl Router {
    #[must_use]
    pub fn with_host(self, host: Option<Arc<dyn EditorAddresses>>) -> Self {
        Self { host, ..self }
    }

    /// Reads an address; returns `None` if it does not belong to the host.
    pub async fn read_from_host(&self, typed: &str) -> Option<Result<FromHost, ToolError>> {
        let (host, _, url) = self.of_host(typed)?;
        // A query may end like a line selector, so it is not split.
        let (address, selector) = match split_selector(&url).filter(|_| !url.contains('?')) {
            Some((address, Ok(selector))) => (address.to_owned(), selector),
            Some((_, Err(problem))) => return Some(Err(ToolError::Reply(problem))),
            None => (url, Selector::default()),
        };
        Some(match host.read(&address).await {
            Ok(found) => Ok(FromHost { address, text: found.text, notes: found.notes, selector }),
            Err(problem) => Err(ToolError::Reply(problem)),
        })
    }

    /// Writes to an address and returns it; `None` if it does not belong to the host.
    pub async fn write_to_host(&self, typed: &str, text: &str) -> Option<Result<String, ToolError>> {
        let (host, scheme, url) = self.of_host(typed)?;
        if !host.writable(&scheme) {
            return Some(Err(ToolError::Reply(format!("{url} can only be read\nhint: {scheme}:// takes no writes"))));
        }
        Some(host.write(&url, text).await.map(|()| url).map_err(ToolError::Reply))
    }

    fn of_host(&self, typed: &str) -> Option<(&dyn EditorAddresses, String, String)> {
        let host = self.host.as_deref()?;
        let (scheme, rest) = unquoted(typed).split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let url = format!("{scheme}://{rest}");
        host.has(&scheme).then_some((host, scheme, url))
    }
}

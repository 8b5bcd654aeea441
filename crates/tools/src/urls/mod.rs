//! Internal addresses (`artifact://3`, `agent://Anna`, `local://plan.md`, …) behind one router.
//!
//! A scheme is readable only if a [`Resource`] is registered for it, so an address is never guessed.

use std::sync::Arc;

use omp_agent::ToolError;
use omp_types::{EditorAddresses, OWN_SCHEMES};
use omp_workspace::{ResolvedPath, read_whole, scheme_of};

use crate::artifacts::Artifacts;
use crate::read::{Selector, split_selector};

mod agent;
mod artifact;
mod history;
mod host;
mod jobs;
mod json;
pub(crate) mod local;
mod named;

pub use history::{History, HistoryResource};
pub use jobs::{JobLine, JobList, JobsResource};
pub use named::{FoldersResource, NamedFolder, TextsResource};

/// Limits the names in an error or a listing.
const MAX_LISTED: usize = 200;

/// The content behind one scheme.
pub trait Resource: Send + Sync {
    /// The scheme without `://`.
    fn scheme(&self) -> &'static str;

    /// Reads an address, given without scheme, query and line selector. The model sees the errors.
    fn read(&self, address: &str) -> Result<UrlContent, String>;

    /// Lists readable addresses, without the scheme.
    fn list(&self) -> Result<Vec<String>, String>;

    /// Whether the part after the first `/` of an address is a path into its JSON, not a part of the name.
    fn path_is_json(&self) -> bool {
        false
    }

    /// Whether the bare scheme has content of its own instead of listing its addresses.
    fn root_is_content(&self) -> bool {
        false
    }
}

pub enum UrlContent {
    File {
        path: ResolvedPath,
        /// Whether it is shown with line tags.
        editable: bool,
    },
    Text(String),
}

/// An opened address with the requested lines.
pub enum OpenedUrl {
    File(ResolvedPath, Selector),
    Text { address: String, text: String, selector: Selector },
}

/// The registered schemes of one session.
#[derive(Default)]
pub struct Router {
    resources: Vec<Arc<dyn Resource>>,
    /// The program around omp, which may have its own schemes.
    host: Option<Arc<dyn EditorAddresses>>,
}

impl Router {
    /// Registers what every session has: its artifacts, the outputs of its agents, its scratch files.
    pub fn new(artifacts: Arc<dyn Artifacts>) -> Self {
        Self {
            resources: vec![
                Arc::new(artifact::ArtifactResource(artifacts.clone())),
                Arc::new(agent::AgentResource(artifacts.clone())),
                Arc::new(local::LocalResource(artifacts)),
            ],
            host: None,
        }
    }

    /// Replaces an earlier resource with the same scheme.
    pub fn register(&mut self, resource: Arc<dyn Resource>) {
        self.resources.retain(|known| known.scheme() != resource.scheme());
        self.resources.push(resource);
    }

    /// Opens an address; returns `None` if it is not internal.
    pub fn open(&self, typed: &str) -> Option<Result<OpenedUrl, ToolError>> {
        let typed = unquoted(typed);
        let typed = typed.strip_prefix('@').unwrap_or(typed);
        let (scheme, rest) = typed.split_once("://")?;
        let registered = self.resources.iter().find(|resource| resource.scheme() == scheme);
        match registered {
            Some(resource) => Some(open(&**resource, rest).map_err(ToolError::Reply)),
            // Other code opens these schemes.
            None if matches!(scheme, "conflict" | "file" | "http" | "https") => None,
            None => scheme_of(typed).map(|scheme| Err(ToolError::Reply(self.unknown(scheme)))),
        }
    }

    fn unknown(&self, scheme: &str) -> String {
        let known: Vec<String> = self.resources.iter().map(|it| format!("{}://", it.scheme())).collect();
        format!("there is no {scheme}:// in this session\nhint: available are {}", known.join(", "))
    }
}

/// Whether this is an internal address, even if it is not readable here.
pub(crate) fn is_address(typed: &str) -> bool {
    unquoted(typed).split_once("://").is_some_and(|(scheme, _)| OWN_SCHEMES.contains(&scheme))
}

/// Removes the quotes that models put around an address.
fn unquoted(typed: &str) -> &str {
    let bare = typed.trim();
    let inside = |quote: char| bare.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    ['"', '\'', '`'].into_iter().find_map(inside).unwrap_or(bare)
}

fn open(resource: &dyn Resource, rest: &str) -> Result<OpenedUrl, String> {
    let scheme = resource.scheme();
    let (address, query) = match rest.split_once('?') {
        Some((address, query)) => (address, Some(json::query_of(query)?)),
        None => (rest, None),
    };
    // A query may end like a line selector, and a query result has no lines to select.
    let whole = format!("{scheme}://{address}");
    let (whole, selector) = match split_selector(&whole).filter(|_| query.is_none()) {
        Some((address, selector)) => (address, selector?),
        None => (whole.as_str(), Selector::default()),
    };
    let address = &whole[scheme.len() + "://".len()..];
    let (name, path) = match address.split_once('/').filter(|_| resource.path_is_json()) {
        Some((name, path)) => (name, Some(path.trim_matches('/')).filter(|path| !path.is_empty())),
        None => (address, None),
    };
    let steps = match (path, query) {
        (Some(_), Some(_)) => return Err(format!("{scheme}:// URL cannot combine path extraction with ?q=")),
        (Some(_), None) if selector != Selector::default() => {
            return Err(format!("{scheme}://{name}: lines cannot be chosen together with a path into JSON"));
        }
        (Some(path), None) => Some(json::from_path(path)),
        (None, Some(query)) => Some(json::parse(&query)?),
        (None, None) => None,
    };
    let shown = format!("{scheme}://{rest}");
    if name.is_empty() && !resource.root_is_content() {
        return Ok(OpenedUrl::Text { text: listing(resource)?, address: shown, selector });
    }
    let found = resource.read(name)?;
    let Some(steps) = steps else { return Ok(as_it_is(found, format!("{scheme}://{name}"), selector)) };
    let text = json::extract(&whole_text(found)?, &steps, name)?;
    Ok(OpenedUrl::Text { address: shown, text, selector })
}

fn as_it_is(found: UrlContent, address: String, selector: Selector) -> OpenedUrl {
    match found {
        // Line tags are for editing, and outputs cannot be edited.
        UrlContent::File { path, editable } => {
            OpenedUrl::File(path, Selector { raw: selector.raw || !editable, ..selector })
        }
        UrlContent::Text(text) => OpenedUrl::Text { address, text, selector },
    }
}

/// Returns the whole content, for JSON queries.
fn whole_text(found: UrlContent) -> Result<String, String> {
    match found {
        UrlContent::Text(text) => Ok(text),
        UrlContent::File { path, .. } => {
            let bytes = read_whole(&path.absolute).map_err(|error| error.shown_as(&path.display).to_string())?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        }
    }
}

fn listing(resource: &dyn Resource) -> Result<String, String> {
    let scheme = resource.scheme();
    let names = resource.list()?;
    if names.is_empty() {
        return Ok(format!("nothing is stored under {scheme}:// yet"));
    }
    let mut lines: Vec<String> = names.iter().take(MAX_LISTED).map(|name| format!("{scheme}://{name}")).collect();
    if names.len() > MAX_LISTED {
        lines.push(format!("({} more are not listed)", names.len() - MAX_LISTED));
    }
    Ok(lines.join("\n"))
}

/// Joins names for an error message.
fn joined(names: &[String]) -> String {
    let mut text = names.iter().take(MAX_LISTED).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > MAX_LISTED {
        text.push_str(&format!(" and {} more", names.len() - MAX_LISTED));
    }
    text
}

#[cfg(test)]
mod tests;

//! `/export`: writes the session as an HTML page.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{Session, SlashCommand, SlashReply};
use omp_types::Secrets;

use crate::PageWriter;
use crate::dump::dumped;

pub struct ExportCommand {
    pub pages: Arc<dyn PageWriter>,
    pub secrets: Secrets,
}

impl SlashCommand for ExportCommand {
    fn name(&self) -> &str {
        "export"
    }

    fn description(&self) -> &str {
        "Export the session as HTML, or copy it as plain text"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[path|copy]")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let to = match target(arguments) {
                ExportTarget::Clipboard => return Ok(dumped(session, &self.secrets)),
                ExportTarget::File(to) => to,
            };
            let (pages, session) = (self.pages.clone(), session.clone());
            // A long session takes seconds, so this runs on a blocking thread.
            let work = tokio::task::spawn_blocking(move || pages.write_page(&session, to.as_deref()));
            let written = work.await.map_err(|error| format!("the export failed: {error}"))??;
            Ok(SlashReply::Text(format!("Exported to: {}", written.display())))
        }
        .boxed()
    }
}

#[derive(Debug, PartialEq)]
enum ExportTarget {
    Clipboard,
    /// `None` lets omp choose a path.
    File(Option<PathBuf>),
}

/// Parses the whole argument as one path, quoted or not.
fn target(arguments: &str) -> ExportTarget {
    if matches!(arguments, "--copy" | "clipboard" | "copy") {
        return ExportTarget::Clipboard;
    }
    let quoted = |quote: char| {
        let inner = arguments.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.is_empty()).then_some(inner)
    };
    let path = quoted('"').or_else(|| quoted('\'')).unwrap_or(arguments);
    ExportTarget::File((!path.is_empty()).then(|| path.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(arguments: &str, expect: Option<&str>) {
        assert_eq!(target(arguments), ExportTarget::File(expect.map(PathBuf::from)), "{arguments:?}");
    }

    #[test]
    fn what_follows_is_one_path() {
        check("", None);
        check("a.html", Some("a.html"));
        check("my talk.html", Some("my talk.html"));
        check("\"my talk.html\"", Some("my talk.html"));
        check("'my talk.html'", Some("my talk.html"));
        check("it's.html", Some("it's.html"));
        check("\"", Some("\""));
        for copying in ["--copy", "copy", "clipboard"] {
            assert_eq!(target(copying), ExportTarget::Clipboard);
        }
    }
}

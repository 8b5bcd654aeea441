//! `/export`: the session as an HTML page.

use std::path::PathBuf;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_session::{Session, SlashCommand, SlashReply};

use crate::sessions_export::Exporter;

pub struct ExportCommand {
    pub exporter: Exporter,
}

impl SlashCommand for ExportCommand {
    fn name(&self) -> &str {
        "export"
    }

    fn description(&self) -> &str {
        "Write the session as an HTML page"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[path]")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let to = target(arguments)?;
            let (exporter, session) = (self.exporter.clone(), session.clone());
            // A long session takes seconds; the session and its front end go on meanwhile.
            let work = tokio::task::spawn_blocking(move || exporter.export(&session, to.as_deref()));
            let written = work.await.map_err(|error| format!("the export stopped: {error}"))??;
            Ok(SlashReply::Text(format!("Exported to: {}", written.display())))
        }
        .boxed()
    }
}

/// All of what was typed is one path, in quotes or not.
fn target(arguments: &str) -> Result<Option<PathBuf>, String> {
    if matches!(arguments, "--copy" | "clipboard" | "copy") {
        return Err(
            "/export writes a file and copies nothing\nhint: Use /dump to copy the session to clipboard.".to_owned()
        );
    }
    let quoted = |quote: char| {
        let inner = arguments.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.is_empty()).then_some(inner)
    };
    let path = quoted('"').or_else(|| quoted('\'')).unwrap_or(arguments);
    Ok((!path.is_empty()).then(|| path.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(arguments: &str, expect: Result<Option<&str>, ()>) {
        let found = target(arguments).map_err(drop);
        assert_eq!(found, expect.map(|path| path.map(PathBuf::from)), "{arguments:?}");
    }

    #[test]
    fn what_follows_is_one_path() {
        check("", Ok(None));
        check("a.html", Ok(Some("a.html")));
        check("my talk.html", Ok(Some("my talk.html")));
        check("\"my talk.html\"", Ok(Some("my talk.html")));
        check("'my talk.html'", Ok(Some("my talk.html")));
        check("it's.html", Ok(Some("it's.html")));
        check("\"", Ok(Some("\"")));
        for copying in ["--copy", "copy", "clipboard"] {
            check(copying, Err(()));
        }
    }
}

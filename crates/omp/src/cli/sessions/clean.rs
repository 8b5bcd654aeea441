//! `omp sessions gc`: parses limits such as `90d` and `500MB`, and reports what was cleaned up.

use std::fmt::Write;
use std::time::{Duration, SystemTime};

use clap::Args;
use omp_store::GcOptions;
use serde_json::json;

use super::{SessionsContext, SessionsOutput};
use crate::folder::FolderProblem;

#[derive(Args, Debug)]
pub struct GcArgs {
    /// Move sessions to the trash that were not used for this long: 90d, 12h
    #[arg(long, value_name = "TIME", value_parser = parse_age)]
    max_age: Option<Duration>,

    /// Move the oldest sessions to the trash until the rest is smaller than this: 500MB, 2GB
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_size: Option<u64>,

    /// Only show what would be done
    #[arg(long)]
    dry_run: bool,
}

impl SessionsContext {
    pub(super) fn gc(&self, args: &GcArgs) -> Result<SessionsOutput, FolderProblem> {
        let options = GcOptions {
            now: SystemTime::now(),
            max_age: args.max_age,
            max_bytes: args.max_size,
            dry_run: args.dry_run,
        };
        let report = self.sessions.gc(&self.blobs, &options).map_err(|error| error.to_string())?;
        let mut text = String::new();
        for (path, bytes) in &report.sessions {
            let _ = writeln!(text, "{} ({bytes} bytes)", path.display());
        }
        for skipped in &report.skipped {
            let _ = writeln!(text, "skipped: {skipped}");
        }
        let would = if args.dry_run { "would go" } else { "went" };
        let _ = writeln!(
            text,
            "{} sessions and {} images ({} bytes) {would} to the trash, {} old files ({} bytes) {would} from it",
            report.sessions.len(),
            report.blobs,
            report.blob_bytes,
            report.purged,
            report.purged_bytes
        );
        let sessions: Vec<_> =
            report.sessions.iter().map(|(path, bytes)| json!({"path": path, "bytes": bytes})).collect();
        let json = json!({
            "dryRun": args.dry_run, "sessions": sessions, "blobs": report.blobs, "blobBytes": report.blob_bytes,
            "purged": report.purged, "purgedBytes": report.purged_bytes, "skipped": report.skipped,
        });
        Ok(SessionsOutput { text, json })
    }
}

fn parse_age(text: &str) -> Result<Duration, String> {
    let units = [("d", 86_400.0), ("h", 3600.0), ("m", 60.0), ("s", 1.0)];
    let seconds = number_with_unit(text, &units).ok_or_else(|| "a time such as 90d or 12h".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

fn parse_size(text: &str) -> Result<u64, String> {
    let units = [("GB", 1e9), ("MB", 1e6), ("KB", 1e3), ("B", 1.0)];
    let bytes = number_with_unit(&text.to_uppercase(), &units).filter(|bytes| *bytes < 1e18);
    bytes.map(|bytes| bytes as u64).ok_or_else(|| "a size such as 500MB or 2GB".to_owned())
}

/// Requires a unit, because a bare number is ambiguous.
fn number_with_unit(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (number, factor) = units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))?;
    number.trim().parse::<f64>().ok().map(|number| number * factor).filter(|value| value.is_finite() && *value >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_have_units() {
        for (text, seconds) in [("90d", 7_776_000), ("12h", 43_200), ("0d", 0), ("1.5m", 90)] {
            assert_eq!(parse_age(text).unwrap(), Duration::from_secs(seconds), "{text}");
        }
        for (text, bytes) in [("500MB", 500_000_000), ("2gb", 2_000_000_000), ("1.5 kb", 1500), ("7B", 7)] {
            assert_eq!(parse_size(text).unwrap(), bytes, "{text}");
        }
        for text in ["", "5", "d", "-1d", "MB", "infd", "nanh", "1e400d"] {
            assert!(parse_age(text).is_err() && parse_size(text).is_err(), "{text}");
        }
    }
}

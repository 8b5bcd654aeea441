//! Asks the trust question in plain lines.

use std::io::{self, Write};

use omp_stdx::sanitize::strip_control;
use tokio::sync::mpsc;

use super::{TrustAnswer, TrustQuestion};
use crate::app::Leave;

/// Asks until a line says yes or no. Only the whole word trusts.
pub async fn run_trust_in_text(
    lines: &mut mpsc::Receiver<String>,
    out: &mut dyn Write,
    question: &TrustQuestion,
) -> io::Result<TrustAnswer> {
    writeln!(out, "\n{}: {}", question.title(), strip_control(&question.folder))?;
    for line in question.lines() {
        writeln!(out, "{}", strip_control(line))?;
    }
    // Lines typed before the question are not answers.
    while lines.try_recv().is_ok() {}
    loop {
        write!(out, "Trust this folder? Type trust, or no: ")?;
        out.flush()?;
        let Some(line) = lines.recv().await else { return Ok(TrustAnswer::Gone(Leave::HungUp)) };
        match line.trim().to_lowercase().as_str() {
            "trust" => return Ok(TrustAnswer::Trust),
            "" | "no" | "n" | "not now" => return Ok(TrustAnswer::NotNow),
            _ => writeln!(out, "Please type trust or no.")?,
        }
    }
}

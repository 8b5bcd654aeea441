//! Prints omp's own messages to standard output and standard error.

use std::io::Write;

use omp_headless::Exit;
use omp_stdx::sanitize::strip_control;

use crate::folder::FolderProblem;

/// Prints why the run ends and returns the exit code for it.
pub fn complain(problem: &str, exit: Exit) -> Exit {
    // If standard error is closed, only the exit code reports the failure.
    let _ = writeln!(std::io::stderr(), "omp: {}", strip_control(problem));
    exit
}

pub fn warn(warnings: &[String]) {
    let mut err = std::io::stderr();
    for warning in warnings {
        // A warning that cannot be printed does not end the run.
        let _ = writeln!(err, "omp: warning: {}", strip_control(warning));
    }
}

/// Like [`print()`], for text that names or quotes a project's files: removes sequences that would control the terminal.
pub fn print_quoted(text: &str) -> Result<Exit, FolderProblem> {
    print(&strip_control(text))
}

/// Writes to standard output. A closed pipe is not an error.
pub fn print(text: &str) -> Result<Exit, FolderProblem> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => Ok(Exit::Success),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::Success),
        Err(error) => Err(format!("cannot write to standard output: {error}")),
    }
}

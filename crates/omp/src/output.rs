//! What omp itself says on standard output and standard error.

use std::io::Write;

use omp_headless::Exit;
use omp_stdx::sanitize::strip_control;

use crate::folder::FolderProblem;

/// Tells why the run ends, with the exit code that says so too.
pub fn complain(problem: &str, exit: Exit) -> Exit {
    // With standard error gone there is nobody left to tell; the exit code still does.
    let _ = writeln!(std::io::stderr(), "omp: {}", strip_control(problem));
    exit
}

pub fn warn(warnings: &[String]) {
    let mut err = std::io::stderr();
    for warning in warnings {
        // A warning that nobody can read is not worth ending the run for.
        let _ = writeln!(err, "omp: warning: {}", strip_control(warning));
    }
}

/// [`print`] for what names a project's files or quotes them: nothing of a project may steer the terminal.
pub fn print_quoted(text: &str) -> Result<Exit, FolderProblem> {
    print(&strip_control(text))
}

/// Writes to standard output; a reader that went away is no failure.
pub fn print(text: &str) -> Result<Exit, FolderProblem> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => Ok(Exit::Success),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(Exit::Success),
        Err(error) => Err(format!("cannot write to standard output: {error}")),
    }
}

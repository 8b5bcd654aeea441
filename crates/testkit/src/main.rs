//! `omp-testkit serve script.yml`: starts the fake provider server manually.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use omp_testkit::{Script, Server, ServerOptions, all_apis_yml};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            // A failure cannot be reported anywhere.
            let _ = writeln!(std::io::stderr(), "error: {problem}");
            ExitCode::FAILURE
        }
    }
}

const USAGE: &str = "usage: omp-testkit serve <script.yml> [--port N]";

#[derive(Debug, PartialEq)]
enum CliTask {
    Help,
    Serve { script: PathBuf, port: u16 },
}

async fn run(arguments: Vec<String>) -> Result<(), String> {
    match parse(&arguments)? {
        CliTask::Help => say(&format!("{USAGE}\n\nA fake model provider on loopback; see docs/testkit.md.")),
        CliTask::Serve { script, port } => {
            serve(Script::load(&script).map_err(|error| error.to_string())?, port).await?
        }
    }
    Ok(())
}

fn parse(arguments: &[String]) -> Result<CliTask, String> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let unclear = |problem: String| format!("{problem}\nhint: {USAGE}");
    match words.as_slice() {
        [] | ["help" | "-h" | "--help"] => Ok(CliTask::Help),
        ["serve", rest @ ..] => {
            let (port, script) = match rest {
                [script] => ("0", script),
                [script, "--port", port] | ["--port", port, script] => (*port, script),
                _ => return Err(unclear("`serve` takes one script and perhaps a port".to_owned())),
            };
            let port = port.parse().map_err(|_| unclear(format!("`{port}` is not a port (0 to 65535)")))?;
            Ok(CliTask::Serve { script: PathBuf::from(script), port })
        }
        [other, ..] => Err(unclear(format!("unknown command `{other}`"))),
    }
}

async fn serve(script: Script, port: u16) -> Result<(), String> {
    let options = ServerOptions { port, log: Some(Arc::new(|request| say(&request.to_string()))) };
    let server = Server::start_with(script, options)
        .await
        .map_err(|error| format!("cannot listen on port {port}: {error}\nhint: leave out --port to use a free one"))?;
    let url = server.base_url();
    say(&format!("{url}\n\n# for ~/.omp/agent/models.yml:\n{}", all_apis_yml(&url)));
    say("# then: omp --model mock/anthropic-messages -p hello\n# Ctrl+C stops the server; requests:");
    tokio::signal::ctrl_c().await.map_err(|error| format!("cannot wait for Ctrl+C: {error}"))
}

/// Unlike `println!`, does not panic if the reader of the pipe is gone; the server continues.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expect: Result<CliTask, &str>) {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        match (parse(&arguments), expect) {
            (Err(problem), Err(part)) => assert!(problem.contains(part) && problem.contains("hint:"), "{problem}"),
            (parsed, expect) => assert_eq!(parsed, expect.map_err(str::to_owned)),
        }
    }

    #[test]
    fn arguments_are_understood_or_refused_with_a_hint() {
        check("", Ok(CliTask::Help));
        check("serve a.yml", Ok(CliTask::Serve { script: "a.yml".into(), port: 0 }));
        check("serve a.yml --port 8080", Ok(CliTask::Serve { script: "a.yml".into(), port: 8080 }));
        check("serve --port 8080 a.yml", Ok(CliTask::Serve { script: "a.yml".into(), port: 8080 }));
        check("serve", Err("one script"));
        check("serve a.yml --port x", Err("not a port"));
        check("sevre a.yml", Err("unknown command"));
    }
}

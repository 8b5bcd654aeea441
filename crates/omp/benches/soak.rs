//! Checks that memory, handles and child processes of one RPC process do not grow over many sessions. Run by hand, it takes
//! minutes: `cargo bench -p omp --bench soak [-- sessions turns]`. Then measures the processor time of 50,000 chunks of one
//! answer.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench talks to a person and starts the program it measures"
)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use omp_testkit::{MockProvider, Script, Server, TempWorkspace, Text, Turn, Wire};
use serde_json::{Value, json};

/// The output of one tool call.
const OUTPUT: &str = "printf 'x%.0s' $(seq 10000)";

fn main() {
    let numbers: Vec<usize> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    let [sessions, turns] = numbers.try_into().unwrap_or([50, 200]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    soak(&runtime, sessions, turns);
    deltas(&runtime);
}

fn soak(runtime: &tokio::runtime::Runtime, sessions: usize, turns: usize) {
    let script = Script::generate(sessions * turns * 2, |number| match number % 2 {
        0 => Turn::call("bash", json!({"command": OUTPUT})),
        _ => Turn::text("ok"),
    });
    let mut client = Client::start(runtime, script);
    let mut second = 0;
    for session in 1..=sessions {
        for _ in 0..turns {
            client.prompt();
        }
        client.send(&json!({"type": "new_session"}));
        client.until("response");
        let process = client.child.id();
        let memory = number_of(process, "status", "VmRSS:");
        if session == 2 {
            second = memory;
        }
        if session <= 2 || session % 10 == 0 || session == sessions {
            let handles = std::fs::read_dir(format!("/proc/{process}/fd")).unwrap().count();
            let tasks = std::fs::read_dir(format!("/proc/{process}/task")).unwrap().count();
            let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap();
            let children = children.split_whitespace().count();
            let ratio = memory as f64 / second.max(1) as f64;
            println!(
                "session {session}: {memory} kB ({ratio:.2}), {handles} handles, {tasks} threads, {children} children"
            );
        }
    }
    client.finish();
}

fn deltas(runtime: &tokio::runtime::Runtime) {
    let mut client = Client::start(runtime, Script::new([Turn::text(Text::tokens(50_000))]));
    let before = cpu(client.child.id());
    client.prompt();
    println!("50,000 deltas: {} ms on the processor", cpu(client.child.id()) - before);
    client.finish();
}

fn number_of(process: u32, file: &str, name: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/{file}")).unwrap();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Returns the processor time in milliseconds, with a resolution of ten.
fn cpu(process: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields: Vec<_> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11..13].iter().map(|field| field.parse::<u64>().unwrap() * 10).sum()
}

struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    _server: Server,
    _workspace: TempWorkspace,
}

impl Client {
    fn start(runtime: &tokio::runtime::Runtime, script: Script) -> Self {
        let server = runtime.block_on(Server::start(script)).unwrap();
        let workspace = TempWorkspace::new(&[]).unwrap();
        workspace.write_provider(&MockProvider::new(&server.base_url(), Wire::Completions.api())).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_omp"));
        command.env_clear().envs(workspace.env()).current_dir(workspace.project());
        command.args(workspace.args(&["--mode", "rpc"])).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut client = Self { child, input, output, _server: server, _workspace: workspace };
        client.until("ready");
        client
    }

    fn send(&mut self, command: &Value) {
        self.input.write_all(format!("{command}\n").as_bytes()).unwrap();
    }

    fn until(&mut self, kind: &str) {
        let wanted = format!("\"type\":\"{kind}\"");
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the output ended before {kind}");
            // The type is the first field, or the second after an id.
            if line.char_indices().take(64).last().is_some_and(|(end, _)| line[..end].contains(&wanted)) {
                return;
            }
        }
    }

    fn prompt(&mut self) {
        self.send(&json!({"type": "prompt", "message": "go"}));
        self.until("agent_end");
    }

    fn finish(self) {
        let Self { mut child, input, .. } = self;
        drop(input);
        assert!(child.wait().unwrap().success());
    }
}

//! Tasks of this repository: `cargo run -p xtask -- <command>`.

mod catalog;
mod dist;
mod docs;
mod tidy;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Takes the root of the workspace and the arguments after the task's name, and returns what to print.
type Run = fn(root: &Path, args: &[String]) -> Result<String, String>;

const COMMANDS: &[(&str, &str, Run)] = &[
    ("catalog", "write the model tables of crates/llm/data from a catalogue: catalog FILE.json", write_catalog),
    ("dist", "build a release archive for this machine: dist [--skip-build] [--binary FILE] [--out DIR]", dist::run),
    ("docs", "write the generated pages of docs/", docs::run),
    ("tidy", "check the rules of this repository (also part of `cargo test`)", tidy::run),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (name, rest) = args.split_first().map_or(("", &args[..]), |(name, rest)| (name.as_str(), rest));
    let result = match COMMANDS.iter().find(|(known, ..)| *known == name) {
        Some((_, _, run)) => run(&root(), rest),
        None => Err(usage(name)),
    };
    let (code, written) = match result {
        Ok(report) => (ExitCode::SUCCESS, std::io::stdout().write_all(report.as_bytes())),
        Err(error) => (ExitCode::FAILURE, std::io::stderr().write_all(error.as_bytes())),
    };
    if written.is_ok() { code } else { ExitCode::FAILURE }
}

fn write_catalog(root: &Path, args: &[String]) -> Result<String, String> {
    let [source] = args else {
        return Err(
            "error: the catalogue to read is missing\nhint: cargo run -p xtask -- catalog FILE.json\n".to_owned()
        );
    };
    let folder = root.join("crates/llm/data");
    catalog::generate(Path::new(source), &folder).map_err(|error| format!("error: {error}\n"))?;
    Ok(format!("wrote {}\n", folder.display()))
}

fn usage(name: &str) -> String {
    let mut text = match name {
        "" => "cargo run -p xtask -- <command>\n".to_owned(),
        _ => format!("error: unknown command `{name}`\nhint: the commands are\n"),
    };
    for (name, what, _) in COMMANDS {
        text.push_str(&format!("  {name:8} {what}\n"));
    }
    text
}

/// The parent of this crate's folder.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

//! Reports how commands are sandboxed here, and runs one to verify it.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use omp_agent::{Tool, ToolCx, ToolOutput};
use omp_contain::{Rung, mode_name, standing};
use omp_stdx::real_path::of as real;
use omp_tools::Bash;
use omp_types::{Access, ContainMode, Content, Editor};
use serde_json::{Value, json};

use super::report::{Finding, FindingLevel};
use crate::cli::ToolArgs;
use crate::cli::demo;
use crate::folder::FolderSetup;
use crate::session::sessions;

/// Prints the working folder and tries to write to a forbidden path. Always exits with 0.
const SCRIPT: &str = "pwd; { echo probe > \"$OMP_DOCTOR_PROBE\"; } 2>/dev/null; \
                      if [ -w . ]; then echo writable; else echo read-only; fi";
const PROBE_VARIABLE: &str = "OMP_DOCTOR_PROBE";
/// Timeout in seconds.
const PATIENCE: u64 = 30;
/// Caps the number of characters shown of a failed command's output.
const MOST_SHOWN: usize = 800;

/// Reports the sandbox mode, the mechanism this system uses for it, and the result of a test command.
pub async fn check(setup: &FolderSetup) -> Vec<Finding> {
    let tried = contained(setup).await;
    let mut findings = containment(setup, tried.state == FindingLevel::Failure);
    findings.push(tried);
    findings
}

fn containment(setup: &FolderSetup, has_failed: bool) -> Vec<Finding> {
    const AREA: &str = "containment";
    let mode: ContainMode = setup.settings.of(omp_contain::SETTINGS).user("containment.mode");
    let name = mode_name(mode);
    if mode == ContainMode::Off {
        return vec![Finding::warning(
            AREA,
            "the sandbox is off: commands can do everything you can\nhint: `containment.mode: workspace-write` restricts writes to the workspace",
        )];
    }
    let containment = setup.containment();
    let first = match containment.check() {
        Err(refused) => Finding::failure(AREA, refused.to_string()),
        Ok(()) if !containment.is_on() => Finding::failure(
            AREA,
            format!(
                "the sandbox `{name}` is not available here: commands can do everything you can\nhint: see below for what is missing"
            ),
        ),
        Ok(()) => {
            let means = containment.rung().unwrap_or(Rung::None).name();
            let text = format!("mode `{name}`, using {means}{}", landlock_version());
            match has_failed {
                true => Finding::failure(AREA, format!("{text}, but a test command failed; see below")),
                false => Finding::fine(AREA, text),
            }
        }
    };
    let missing = standing().missing.iter().map(|missing| {
        Finding::warning(
            AREA,
            format!("without {}: {}\n{}\nhint: {}", missing.what, missing.why, missing.costs, missing.fix),
        )
    });
    std::iter::once(first).chain(missing).collect()
}

fn landlock_version() -> String {
    match standing().landlock {
        0 => String::new(),
        version => format!(" (Landlock version {version})"),
    }
}

/// Runs a command as the model would, with the access map of this folder, and checks that the sandbox blocked it.
async fn contained(setup: &FolderSetup) -> Finding {
    const AREA: &str = "command";
    let probe = match ContainmentProbe::new(&setup.dirs.agent) {
        Ok(probe) => probe,
        Err(error) => {
            let agent = setup.dirs.agent.display();
            let text =
                format!("cannot create a file in {agent}: {error}\nhint: check that the folder is yours and writable");
            return Finding::failure(AREA, text);
        }
    };
    let started = Instant::now();
    let output = match call(setup, &probe).await {
        Ok(output) => output,
        Err(problem) => return Finding::failure(AREA, refused(&problem)),
    };
    let elapsed = started.elapsed();
    let text = text_of(&output);
    if output.is_error || !text.contains(&*setup.cwd.to_string_lossy()) {
        return Finding::failure(AREA, refused(&text));
    }
    let is_on = setup.containment().is_on();
    if is_on && probe.was_written() {
        return Finding::failure(
            AREA,
            format!("a sandboxed command could write to omp's own folder\nhint: {}", way_out(setup)),
        );
    }
    Finding::fine(AREA, ran(setup, elapsed, text.contains("writable"), is_on))
}

/// The hint for the user. Without mounts, nothing inside a writable folder can be protected.
fn way_out(setup: &FolderSetup) -> String {
    let (agent, containment) = (real(&setup.dirs.agent), setup.containment());
    let map = containment.access().map(Access::map).unwrap_or_default();
    let around = map.writable.iter().chain([&map.workspace]).find(|folder| agent.starts_with(folder));
    match around.filter(|_| containment.rung() == Some(Rung::Landlock)) {
        Some(around) => format!(
            "it is in {}, which commands may write to, and without namespaces it cannot be protected; start omp in another folder, or see above for what is missing",
            around.display()
        ),
        None => "this is a bug in omp; please report it with this output".to_owned(),
    }
}

fn ran(setup: &FolderSetup, elapsed: Duration, may_write: bool, is_on: bool) -> String {
    let map = setup.containment().access().map(Access::map);
    let hidden = map.as_ref().map_or(0, |map| map.hidden.len());
    let kind = if is_on { "a sandboxed command" } else { "a command" };
    let writes = if may_write { "can write there" } else { "can only read there" };
    let kept =
        if is_on { format!(", but not to omp's own folder; {hidden} paths are hidden from it") } else { String::new() };
    format!("{kind} ran in {} ms: it {writes}{kept}", elapsed.as_millis())
}

fn refused(why: &str) -> String {
    let shown: String = why.trim().chars().take(MOST_SHOWN).collect();
    let hint = "the model's commands would fail the same way; `containment.mode: off` runs them without a sandbox";
    if shown.contains("hint:") { shown } else { format!("a command did not run: {shown}\nhint: {hint}") }
}

async fn call(setup: &FolderSetup, probe: &ContainmentProbe) -> Result<ToolOutput, String> {
    let opened = sessions::unrecorded(&setup.cwd);
    let (model, ..) = demo::model(Duration::ZERO);
    let only = ToolArgs { tools: vec![Bash::NAME.to_owned()], ..ToolArgs::default() };
    let built = setup.tools(&only, &model, false, Editor::default(), &opened)?;
    let bash = built.tools.first().ok_or("the tool `bash` is off (`bash.enabled: false`)")?;
    let arguments: Value =
        json!({"command": SCRIPT, "timeout": PATIENCE, "env": {PROBE_VARIABLE: probe.path().to_string_lossy()}});
    bash.plan(Arc::new(arguments))?.run(ToolCx::detached("doctor")).await.map_err(|error| error.to_string())
}

/// Reports the tools that the model would have.
pub fn tools(setup: &FolderSetup) -> Finding {
    const AREA: &str = "tools";
    let (model, ..) = demo::model(Duration::ZERO);
    let opened = sessions::unrecorded(&setup.cwd);
    let built = setup.tools(&ToolArgs::default(), &model, false, Editor::default(), &opened);
    match built.map(|built| built.tools) {
        Err(problem) => Finding::failure(AREA, problem),
        Ok(tools) if tools.is_empty() => Finding::warning(AREA, "all tools are off\nhint: /settings lists `*.enabled`"),
        Ok(tools) => {
            let names: Vec<String> = tools.iter().map(|tool| tool.name().into_owned()).collect();
            Finding::fine(AREA, format!("{} on: {}", names.len(), names.join(", ")))
        }
    }
}

fn text_of(output: &ToolOutput) -> String {
    output.content.iter().filter_map(Content::as_text).collect()
}

/// A folder that no sandboxed command may write to. Dropping this removes it.
struct ContainmentProbe(tempfile::TempDir);

impl ContainmentProbe {
    fn new(agent: &Path) -> std::io::Result<Self> {
        std::fs::create_dir_all(agent)?;
        tempfile::Builder::new().prefix(".doctor-").tempdir_in(agent).map(Self)
    }

    fn path(&self) -> std::path::PathBuf {
        self.0.path().join("probe")
    }

    fn was_written(&self) -> bool {
        self.path().exists()
    }
}

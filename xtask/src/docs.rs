//! The generated pages of `docs/`: written from the code, so that they cannot lie.

use std::fmt::Write as _;
use std::path::Path;

use omp_types::{ENV_VARS, PROJECT_VARS, PROVIDER_KEYS};

pub fn run(root: &Path, _args: &[String]) -> Result<String, String> {
    let mut report = String::new();
    for (path, page) in pages() {
        std::fs::write(root.join(path), page).map_err(|error| format!("error: cannot write {path}: {error}\n"))?;
        report.push_str(&format!("wrote {path}\n"));
    }
    write_settings(root)?;
    report.push_str(&format!("wrote {SETTINGS_PAGE}\n"));
    Ok(report)
}

const SETTINGS_PAGE: &str = "docs/settings.md";
const SETTINGS_BEGIN: &str = "<!-- settings: begin, written by `cargo run -p xtask -- docs` -->";
const SETTINGS_END: &str = "<!-- settings: end -->";

/// The settings are known by the whole program, so it is asked. A test of `omp` checks the page.
#[expect(clippy::disallowed_methods, reason = "a chore of the workspace, not omp")]
fn write_settings(root: &Path) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| format!("error: cannot write {SETTINGS_PAGE}: {error}\n");
    let asked = std::process::Command::new("cargo")
        .args(["run", "--quiet", "-p", "omp", "--", "config", "list", "--markdown"])
        .current_dir(root)
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|error| failed(&error))?;
    let table = String::from_utf8_lossy(&asked.stdout).into_owned();
    if !asked.status.success() {
        return Err(failed(&"omp does not run"));
    }
    let page = std::fs::read_to_string(root.join(SETTINGS_PAGE)).map_err(|error| failed(&error))?;
    let page = with_table(&page, &table).ok_or_else(|| failed(&"it has lost the marks around its table"))?;
    std::fs::write(root.join(SETTINGS_PAGE), page).map_err(|error| failed(&error))
}

fn with_table(page: &str, table: &str) -> Option<String> {
    let (before, rest) = page.split_once(SETTINGS_BEGIN)?;
    let (_, after) = rest.split_once(SETTINGS_END)?;
    Some(format!("{before}{SETTINGS_BEGIN}\n\n{}\n\n{SETTINGS_END}{after}", table.trim()))
}

/// Each page by its path from the root.
pub fn pages() -> Vec<(&'static str, String)> {
    vec![("docs/environment.md", environment())]
}

fn environment() -> String {
    let mut page = String::from(
        "# Environment variables\n\n\
         <!-- Generated from crates/types/src/env.rs by `cargo run -p xtask -- docs`. -->\n\n\
         Variables of the process come first, then those of `.env` in the working folder, in the agent folder, in its\n\
         parent and in the home folder. In such a file `OMP_X` also sets `PI_X`. An empty value counts as unset. Switches\n\
         are on with `1`, `true`, `yes` or `on`, unless the table says that any value will do.\n\n\
         A repository's `.env` counts only for variables marked with \u{2020}: it cannot move homes or base URLs, nor bring keys,\n\
         programs or models.\n\n| variable | meaning |\n|---|---|\n",
    );
    for var in ENV_VARS {
        // Writing to a string cannot fail.
        let mark = if PROJECT_VARS.contains(var) { " \u{2020}" } else { "" };
        let _ = writeln!(page, "| `{}`{mark} | {} |", var.name, var.doc.replace('|', "\\|"));
    }
    page.push_str(
        "\n## Provider keys\n\nThe first variable that is set is used. `--api-key` wins over it; `apiKey` of `models.yml` comes after it.\n\n\
         | provider | variables |\n|---|---|\n",
    );
    for (provider, names) in PROVIDER_KEYS {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(page, "| `{provider}` | {} |", names.join(", "));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_put_between_its_marks() {
        let page = format!("a\n{SETTINGS_BEGIN}\nold\n{SETTINGS_END}\nb");
        assert_eq!(with_table(&page, "new\n").unwrap(), format!("a\n{SETTINGS_BEGIN}\n\nnew\n\n{SETTINGS_END}\nb"));
        assert_eq!(with_table("a", "new"), None);
    }

    #[test]
    fn every_variable_is_on_the_page() {
        let page = environment();
        let keys = PROVIDER_KEYS.iter().flat_map(|(_, names)| names.iter().copied());
        for name in ENV_VARS.iter().map(|var| var.name).chain(keys) {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
    }
}

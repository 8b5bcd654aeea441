//! The generated pages of `docs/`: written from the code, so that they cannot lie.

use std::fmt::Write as _;
use std::path::Path;

use omp_types::{ENV_VARS, PROVIDER_KEYS};

pub fn run(root: &Path, _args: &[String]) -> Result<String, String> {
    let mut report = String::new();
    for (path, page) in pages() {
        std::fs::write(root.join(path), page).map_err(|error| format!("error: cannot write {path}: {error}\n"))?;
        report.push_str(&format!("wrote {path}\n"));
    }
    Ok(report)
}

/// Each page by its path from the root.
pub fn pages() -> Vec<(&'static str, String)> {
    vec![("docs/environment.md", environment())]
}

fn environment() -> String {
    let mut page = String::from(
        "# Environment variables\n\n\
         <!-- Generated from crates/types/src/env.rs by `cargo run -p xtask -- docs`. -->\n\n\
         Variables of the process come first, then those of `.env` in the agent folder, in its parent and in the home\n\
         folder; a repository's `.env` is not read. An empty value counts as unset. Switches are on with `1`, `true`,\n\
         `yes` or `on`, unless the table says that any value will do.\n\n| variable | meaning |\n|---|---|\n",
    );
    for var in ENV_VARS {
        // Writing to a string cannot fail.
        let _ = writeln!(page, "| `{}` | {} |", var.name, var.doc.replace('|', "\\|"));
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
    fn every_variable_is_on_the_page() {
        let page = environment();
        let keys = PROVIDER_KEYS.iter().flat_map(|(_, names)| names.iter().copied());
        for name in ENV_VARS.iter().map(|var| var.name).chain(keys) {
            assert!(page.contains(&format!("`{name}`")), "{name}");
        }
    }
}

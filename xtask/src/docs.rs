//! Generates pages of `docs/` from the code, so that they are always correct.

use std::fmt::Write as _;
use std::path::Path;

use omp_types::{ENV_VARS, PROJECT_VARS, PROVIDER_KEYS, is_served};

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

/// Only the program knows all settings, so this runs it. A test of `omp` checks the page.
#[expect(clippy::disallowed_methods, reason = "a task of this repository, not omp")]
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
    let page = with_table(&page, &table).ok_or_else(|| failed(&"the marks around its table are missing"))?;
    std::fs::write(root.join(SETTINGS_PAGE), page).map_err(|error| failed(&error))
}

fn with_table(page: &str, table: &str) -> Option<String> {
    let (before, rest) = page.split_once(SETTINGS_BEGIN)?;
    let (_, after) = rest.split_once(SETTINGS_END)?;
    Some(format!("{before}{SETTINGS_BEGIN}\n\n{}\n\n{SETTINGS_END}{after}", table.trim()))
}

/// Variables of the reference program that omp does not read, by feature.
const NOT_READ: &[(&str, &[&str])] = &[
    (
        "Amazon Bedrock, except `bedrock-mantle`",
        &[
            "AWS_PROFILE",
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
            "AWS_CONTAINER_CREDENTIALS_FULL_URI",
            "AWS_WEB_IDENTITY_TOKEN_FILE",
            "AWS_ROLE_ARN",
            "AWS_BEDROCK_SKIP_AUTH",
        ],
    ),
    (
        "Azure OpenAI",
        &[
            "AZURE_OPENAI_API_VERSION",
            "AZURE_OPENAI_BASE_URL",
            "AZURE_OPENAI_RESOURCE_NAME",
            "AZURE_OPENAI_DEPLOYMENT_NAME_MAP",
        ],
    ),
    (
        "Google Vertex and Gemini CLI",
        &[
            "GOOGLE_CLOUD_PROJECT",
            "GCP_PROJECT",
            "GCLOUD_PROJECT",
            "GOOGLE_CLOUD_PROJECT_ID",
            "GOOGLE_VERTEX_LOCATION",
            "GOOGLE_CLOUD_LOCATION",
            "VERTEX_LOCATION",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "PI_AI_GEMINI_CLI_VERSION",
        ],
    ),
    (
        "login, external credentials",
        &[
            "KIMI_CODE_OAUTH_HOST",
            "KIMI_OAUTH_HOST",
            "KIMI_CODE_BASE_URL",
            "OMP_AUTH_BROKER_URL",
            "OMP_AUTH_BROKER_TOKEN",
            "OMP_AUTH_BROKER_SNAPSHOT_TTL_MS",
            "OMP_AUTH_BROKER_SNAPSHOT_CACHE",
            "PI_AUTH_NO_BORROW",
        ],
    ),
    (
        "Codex, stateful Responses, Cursor",
        &[
            "PI_CODEX_DEBUG",
            "PI_CODEX_WEBSOCKET",
            "PI_CODEX_WEBSOCKET_IDLE_TIMEOUT_MS",
            "PI_CODEX_WEBSOCKET_RETRY_BUDGET",
            "PI_CODEX_WEBSOCKET_RETRY_DELAY_MS",
            "PI_OPENAI_STATEFUL",
            "DEBUG_CURSOR",
            "DEBUG_CURSOR_LOG",
        ],
    ),
    (
        "the web: search, pages, browser, images",
        &[
            "EXA_API_KEY",
            "BRAVE_API_KEY",
            "PERPLEXITY_API_KEY",
            "PERPLEXITY_COOKIES",
            "TAVILY_API_KEY",
            "PI_CODEX_WEB_SEARCH_MODEL",
            "MOONSHOT_SEARCH_API_KEY",
            "KIMI_SEARCH_API_KEY",
            "MOONSHOT_SEARCH_BASE_URL",
            "KIMI_SEARCH_BASE_URL",
            "KAGI_API_KEY",
            "JINA_API_KEY",
            "PARALLEL_API_KEY",
            "SEARXNG_ENDPOINT",
            "SEARXNG_TOKEN",
            "SEARXNG_BASIC_USERNAME",
            "SEARXNG_BASIC_PASSWORD",
            "ANTHROPIC_SEARCH_API_KEY",
            "ANTHROPIC_SEARCH_BASE_URL",
            "ANTHROPIC_SEARCH_MODEL",
            "GITHUB_TOKEN",
            "GH_TOKEN",
            "PUPPETEER_EXECUTABLE_PATH",
            "GOOGLE_API_KEY",
        ],
    ),
    ("the `eval` tool", &["PI_PY", "PI_JS", "PI_PYTHON_SKIP_CHECK", "PI_PYTHON_INTEGRATION", "PI_PYTHON_IPC_TRACE"]),
    ("subagents", &["PI_BLOCKED_AGENT", "PI_SUBPROCESS_CMD", "PI_TASK_MAX_OUTPUT_BYTES", "PI_TASK_MAX_OUTPUT_LINES"]),
    (
        "MCP, language servers, extensions",
        &[
            "OMP_MCP_TIMEOUT_MS",
            "SMITHERY_URL",
            "SMITHERY_API_URL",
            "SMITHERY_API_KEY",
            "PI_DISABLE_LSPMUX",
            "PI_RPC_EMIT_TITLE",
        ],
    ),
    ("small local models", &["PI_TINY_DEVICE", "PI_TINY_DTYPE"]),
    ("commits", &["PI_COMMIT_TEST_FALLBACK", "PI_COMMIT_NO_FALLBACK", "PI_COMMIT_MAP_REDUCE", "DEBUG"]),
    (
        "different in omp: it always uses the terminal's own cursor, does not fill backgrounds as rectangles, does not pass \
         on images in command output, has no asset files, and gets the working folder from the system",
        &["PI_HARDWARE_CURSOR", "PI_NO_DECCARA", "PI_ALLOW_SIXEL_PASSTHROUGH", "PI_PACKAGE_DIR", "PWD"],
    ),
];

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
        "\n## Provider keys\n\nThe first variable that is set is used. `--api-key` and `apiKey` of `models.yml` win over it.\n\n\
         | provider | variables |\n|---|---|\n",
    );
    let mut closed = Vec::new();
    for (provider, names) in PROVIDER_KEYS {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        match is_served(provider) {
            true => drop(writeln!(page, "| `{provider}` | {} |", names.join(", "))),
            false => closed.push(format!("`{provider}` ({})", names.join(", "))),
        }
    }
    let _ = writeln!(
        page,
        "\nKeys of these providers open nothing yet, because omp does not know their login or their API. They are hidden \
         from commands like the others: {}.",
        closed.join(", ")
    );
    page.push_str(
        "\n## Not read\n\nThe reference program also uses these variables. They belong to features that omp does not have (yet).\n\n\
         | feature | variables |\n|---|---|\n",
    );
    for (what, names) in NOT_READ {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(page, "| {what} | {} |", names.join(", "));
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

    #[test]
    fn what_is_read_is_not_said_to_be_unread() {
        let keys = PROVIDER_KEYS.iter().flat_map(|(_, names)| names.iter().copied());
        let read: Vec<&str> = ENV_VARS.iter().map(|var| var.name).chain(keys).collect();
        let wrong: Vec<_> =
            NOT_READ.iter().flat_map(|(_, names)| names.iter()).filter(|it| read.contains(it)).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}

//! Every environment variable that omp reads, each a documented constant, and a snapshot type to read them from.
//!
//! Nothing below `omp` reads the process environment: the composition root takes one snapshot (process variables over the
//! user's `.env` files) and passes it down, so tests need no global state and a repository cannot inject keys.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A variable and what it does, as shown in `docs/environment.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnvVar {
    pub name: &'static str,
    pub doc: &'static str,
}

/// A snapshot of the environment.
#[derive(Clone, Debug, Default)]
pub struct Env {
    values: Arc<BTreeMap<String, String>>,
    /// Values that no child process may see, in any variable.
    kept_back: Arc<BTreeSet<String>>,
}

/// Shorter values are not keys, and other variables may well contain them.
const SHORTEST_KEPT_BACK: usize = 8;

impl Env {
    /// Empty values count as unset.
    pub fn get(&self, var: EnvVar) -> Option<&str> {
        self.lookup(var.name)
    }

    /// For variables with both spellings: the lower-case one is older and wins, as in curl.
    pub fn get_in_either_case(&self, var: EnvVar) -> Option<&str> {
        self.lookup(&var.name.to_ascii_lowercase()).or_else(|| self.get(var))
    }

    /// Looks up a name that comes from the user's own configuration, such as an `apiKey` in `models.yml`.
    pub fn lookup(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// `1`, `true`, `yes` and `on` in any case.
    pub fn flag(&self, var: EnvVar) -> bool {
        self.get(var).is_some_and(|value| matches!(value.to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on"))
    }

    /// Adds credentials that only this process may see.
    #[must_use]
    pub fn keeping_back(mut self, values: impl IntoIterator<Item = String>) -> Self {
        let values = values.into_iter().filter(|value| value.len() >= SHORTEST_KEPT_BACK);
        Arc::make_mut(&mut self.kept_back).extend(values);
        self
    }

    pub fn is_kept_back(&self, value: &str) -> bool {
        self.kept_back.contains(value)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Env {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let values = pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self { values: Arc::new(values), kept_back: Arc::default() }
    }
}

macro_rules! env_vars {
    ($($name:ident = $doc:literal;)*) => {
        pub mod vars {
            //! The variables by name.
            use super::EnvVar;
            $(#[doc = $doc] pub const $name: EnvVar = EnvVar { name: stringify!($name), doc: $doc };)*
        }
        /// All variables except the provider keys, which are in [`PROVIDER_KEYS`].
        pub const ALL: &[EnvVar] = &[$(vars::$name),*];
    };
}

env_vars! {
    HOME = "The user's home folder; `USERPROFILE` on Windows.";
    USERPROFILE = "The user's home folder on Windows.";
    PATH = "Where programs are looked up.";
    SHELL = "The user's shell, used by the `bash` tool when it is bash or zsh.";
    TMPDIR = "Folder for temporary files.";
    ZDOTDIR = "Folder of zsh's startup files, read for aliases and functions.";
    PI_CONFIG_DIR = "Name of the configuration folder below the home folder (default `.omp`).";
    PI_CODING_AGENT_DIR = "Full path of the agent folder (default `~/.omp/agent`).";
    PI_SMOL_MODEL = "Model for the `smol` role; `--smol` overrides it.";
    PI_SLOW_MODEL = "Model for the `slow` role; `--slow` overrides it.";
    PI_PLAN_MODEL = "Model for the `plan` role; `--plan` overrides it.";
    PI_EDIT_VARIANT = "Edit format of the `edit` tool: `hashline`, `replace`, `patch` or `apply_patch`; overrides `edit.mode`.";
    PI_NO_TITLE = "Any value: do not generate session titles.";
    PI_CACHE_RETENTION = "`long`: ask providers to keep the prompt cache longer, if they support it.";
    PI_CONNECT_TIMEOUT_MS = "Milliseconds to wait for a connection to a provider (default 30000; 0: the system's own limit).";
    PI_STREAM_FIRST_EVENT_TIMEOUT_MS = "Milliseconds to wait for the first token of an answer (default 300000; 0: no limit).";
    PI_STREAM_IDLE_TIMEOUT_MS = "Longest pause in milliseconds between two tokens of an answer (default 300000; 0: no limit).";
    PI_OPENAI_STREAM_FIRST_EVENT_TIMEOUT_MS = "Overrides `PI_STREAM_FIRST_EVENT_TIMEOUT_MS` for OpenAI's APIs.";
    PI_OPENAI_STREAM_IDLE_TIMEOUT_MS = "Overrides `PI_STREAM_IDLE_TIMEOUT_MS` for OpenAI's APIs.";
    PI_REPLAY_TIMING = "`real`: replay a recording with its original pauses instead of at once.";
    VIRTUAL_ENV = "The active Python environment; `$` lines run in it.";
    PI_BASH_NO_CI = "Any value: do not set `CI=true` for shell commands.";
    CLAUDE_CONFIG_DIR = "Folder of Claude Code's files, for `omp sessions import claude` (default `~/.claude`).";
    COPILOT_HOME = "Folder of Copilot's files, read for instructions (default `~/.copilot`).";
    COPILOT_CUSTOM_INSTRUCTIONS_DIRS = "More folders with Copilot instructions (`AGENTS.md`, `.github/instructions`), separated by commas.";
    CODEX_HOME = "Folder of Codex's files, for `omp sessions import codex` (default `~/.codex`).";
    CLAUDE_BASH_NO_CI = "Older name of `PI_BASH_NO_CI`.";
    PI_BASH_NO_LOGIN = "Any value: do not start your shell as a login shell (`-l`) to read its settings.";
    CLAUDE_BASH_NO_LOGIN = "Older name of `PI_BASH_NO_LOGIN`.";
    PI_NO_PTY = "`1`: do not run commands in a terminal, like `--no-pty`.";
    PI_SHELL_PREFIX = "Text to put before every shell command.";
    CLAUDE_CODE_SHELL_PREFIX = "Older name of `PI_SHELL_PREFIX`.";
    NULL_PROMPT = "`true`: send no system prompt.";
    OLLAMA_BASE_URL = "Where Ollama listens (default `http://127.0.0.1:11434`).";
    OLLAMA_HOST = "Ollama's own variable, used when `OLLAMA_BASE_URL` is unset.";
    OLLAMA_CONTEXT_LENGTH = "Context window assumed for Ollama models.";
    LLAMA_CPP_BASE_URL = "Where llama.cpp's server listens (default `http://127.0.0.1:8080`).";
    LM_STUDIO_BASE_URL = "Where LM Studio listens (default `http://127.0.0.1:1234/v1`).";
    ANTHROPIC_BASE_URL = "Base URL for the `anthropic` provider.";
    PI_NO_INTERLEAVED_THINKING = "`1`: Claude models with a thinking budget do not think between tool calls.";
    ANTHROPIC_CUSTOM_HEADERS = "Extra headers (`name: value`, comma or newline separated) for Foundry or a non-Anthropic base URL.";
    CLAUDE_CODE_USE_FOUNDRY = "`1`: use Foundry for the `anthropic` provider.";
    FOUNDRY_BASE_URL = "Base URL in Foundry mode.";
    ANTHROPIC_FOUNDRY_API_KEY = "Key for Foundry mode; used before the other Anthropic keys.";
    AWS_REGION = "Region of the `bedrock-mantle` provider.";
    AWS_DEFAULT_REGION = "Region if `AWS_REGION` is not set (default `us-east-1`).";
    HTTPS_PROXY = "Proxy for https requests.";
    HTTP_PROXY = "Proxy for http requests.";
    ALL_PROXY = "Proxy for all requests; `socks5://` and `socks5h://` are supported.";
    NO_PROXY = "Hosts to connect to without a proxy.";
    NODE_EXTRA_CA_CERTS = "More trusted certificates: path to a PEM file, or PEM text.";
    SSL_CERT_FILE = "Trusted certificates to use instead of the system's: path to a PEM file.";
    CLAUDE_CODE_CLIENT_CERT = "Client certificate for mutual TLS: path to a PEM file, or PEM text.";
    CLAUDE_CODE_CLIENT_KEY = "Private key of the client certificate: path to a PEM file, or PEM text.";
    FS_SCAN_CACHE_TTL_MS = "Milliseconds to cache the list of files below a folder for `search`, `find` and the file picker (default 1000; 0: no cache).";
    FS_SCAN_EMPTY_RECHECK_MS = "Age in milliseconds after which a cached list without a match is read again (default 200).";
    FS_SCAN_CACHE_MAX_ENTRIES = "Number of cached file lists (default 16).";
    ZELLIJ_PANE_ID = "Identifies the terminal for `--continue`, like the next seven.";
    ZELLIJ_SESSION_NAME = "Used with `ZELLIJ_PANE_ID`.";
    TMUX_PANE = "Identifies the terminal for `--continue`, and the pane that tmux is asked about.";
    CMUX_SURFACE_ID = "Identifies the terminal for `--continue`.";
    KITTY_WINDOW_ID = "Identifies the terminal for `--continue`.";
    WEZTERM_PANE = "Identifies the terminal for `--continue`.";
    TERM_SESSION_ID = "Identifies the terminal for `--continue`.";
    WT_SESSION = "Identifies the terminal for `--continue`.";
    VISUAL = "The editor that Ctrl+G opens; preferred to `EDITOR`.";
    EDITOR = "The editor that Ctrl+G opens.";
    TERM = "Type of the terminal; `dumb` selects plain mode.";
    WAYLAND_DISPLAY = "If set, use the Wayland clipboard.";
    DISPLAY = "If set, the X11 clipboard may be used.";
    WSL_DISTRO_NAME = "Set in WSL: use the Windows clipboard; some terminals cannot show images.";
    NO_COLOR = "Any value: no colours.";
    FORCE_COLOR = "Number of colours, overriding `NO_COLOR`: `0` none, `1` 16, `2` 256, `3` all.";
    COLORFGBG = "Terminal colours as `foreground;background`, to guess dark or light until the terminal answers.";
    COLORTERM = "`truecolor` or `24bit`: the terminal shows all colours.";
    TERM_PROGRAM = "The terminal program, with `TERM_PROGRAM_VERSION`.";
    TERM_PROGRAM_VERSION = "Used with `TERM_PROGRAM`; tmux supports links since 3.4.";
    TERMINAL_EMULATOR = "Set in JetBrains terminals; shown by `/debug`.";
    TERM_FEATURES = "Features of the terminal; `Sy` means synchronized output.";
    TMUX = "Set in tmux: after a resize omp rewrites the pane's history.";
    STY = "Set in GNU screen.";
    SSH_CONNECTION = "Set over ssh, where size changes arrive later.";
    ZELLIJ = "Set in Zellij.";
    CMUX_WORKSPACE_ID = "Set in cmux, like `CMUX_SURFACE_ID`.";
    ALACRITTY_WINDOW_ID = "Set by Alacritty.";
    GHOSTTY_RESOURCES_DIR = "Set by Ghostty.";
    ITERM_SESSION_ID = "Set by iTerm2.";
    VSCODE_PID = "Set in Visual Studio Code's terminal.";
    COLUMNS = "Width if the terminal does not report one (default 80).";
    LINES = "Height if the terminal does not report one (default 24).";
    PI_NO_SYNC_OUTPUT = "Any value: no synchronized output.";
    PI_TUI_SYNC_OUTPUT = "`0` or `1`: turn synchronized output off or on, whatever the terminal reports.";
    PI_FORCE_SYNC_OUTPUT = "`1`: turn synchronized output on, unless another variable turns it off.";
    PI_FORCE_IMAGE_PROTOCOL = "`kitty`, `iterm2`, `sixel` or `off`: how to draw images, whatever the terminal reports.";
    PI_KITTY_PLACEHOLDERS = "`1` or `0`: draw Kitty images with Unicode placeholders or not (default: only in Kitty and Ghostty).";
    PI_NO_KITTY_PLACEHOLDERS = "`1`: draw Kitty images without Unicode placeholders.";
    PI_DEBUG_REDRAW = "`1`: log how each frame was painted to `~/.omp/logs/redraw.log`.";
    PI_TUI_WRITE_LOG = "Log everything sent to the terminal to this file, at most 64 MiB per run.";
    PI_TIMING = "Any value: print the time of each startup phase to standard error, in the terminal before the first frame, in print mode at the end. `x`: exit after that (terminal only).";
    PI_DEBUG_STARTUP = "Any value: print `[startup] phase:start` and `:done` to standard error for each startup phase.";
    PI_NO_HYPERLINKS = "`1`: no links (OSC 8).";
    PI_FORCE_HYPERLINKS = "`1`: links (OSC 8), whatever the terminal reports.";
    PI_NOTIFICATIONS = "`off`, `0` or `false`: no notifications and no bell.";
}

/// The variables that a project's `.env` may set. All others are ignored: a repository must not move homes or base URLs, set
/// keys, certificates, proxies or programs, or choose models that the user pays for.
pub const PROJECT_VARS: &[EnvVar] = &[
    vars::PI_EDIT_VARIANT,
    vars::PI_NO_TITLE,
    vars::PI_NO_PTY,
    vars::PI_BASH_NO_CI,
    vars::CLAUDE_BASH_NO_CI,
    vars::PI_STREAM_FIRST_EVENT_TIMEOUT_MS,
    vars::PI_STREAM_IDLE_TIMEOUT_MS,
    vars::PI_OPENAI_STREAM_FIRST_EVENT_TIMEOUT_MS,
    vars::PI_OPENAI_STREAM_IDLE_TIMEOUT_MS,
    vars::OLLAMA_CONTEXT_LENGTH,
    vars::FS_SCAN_CACHE_TTL_MS,
    vars::FS_SCAN_EMPTY_RECHECK_MS,
    vars::FS_SCAN_CACHE_MAX_ENTRIES,
    vars::PI_NOTIFICATIONS,
];

/// Providers whose keys are known, so that no command sees them, but which cannot be used yet: they need a login or a
/// special API, or have no models that omp knows.
const UNSERVED: &[&str] = &[
    "azure",
    "azure-openai-responses",
    "cursor",
    "github-copilot",
    "gitlab-duo",
    "google-vertex",
    "ollama-cloud",
    "wafer-pass",
];

/// Whether a key alone is enough to use the provider's models.
pub fn is_served(provider: &str) -> bool {
    !UNSERVED.contains(&provider)
}

/// Variables that hold a provider's key; the first one that is set wins.
pub const PROVIDER_KEYS: &[(&str, &[&str])] = &[
    ("aiand", &["AIAND_API_KEY"]),
    ("aimlapi", &["AIMLAPI_API_KEY"]),
    ("alibaba-coding-plan", &["ALIBABA_CODING_PLAN_API_KEY"]),
    ("alibaba-token-plan", &["ALIBABA_TOKEN_PLAN_API_KEY"]),
    ("anthropic", &["ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_API_KEY"]),
    ("azure", &["AZURE_OPENAI_API_KEY"]),
    ("azure-openai-responses", &["AZURE_OPENAI_API_KEY"]),
    ("baseten", &["BASETEN_API_KEY"]),
    ("bedrock-mantle", &["AWS_BEARER_TOKEN_BEDROCK"]),
    ("cerebras", &["CEREBRAS_API_KEY"]),
    ("cloudflare-ai-gateway", &["CLOUDFLARE_AI_GATEWAY_API_KEY"]),
    ("coreweave", &["COREWEAVE_API_KEY"]),
    ("cursor", &["CURSOR_ACCESS_TOKEN"]),
    ("deepseek", &["DEEPSEEK_API_KEY"]),
    ("firepass", &["FIREPASS_API_KEY"]),
    ("fireworks", &["FIREWORKS_API_KEY"]),
    ("github-copilot", &["COPILOT_GITHUB_TOKEN"]),
    ("gitlab-duo", &["GITLAB_TOKEN"]),
    ("gmi-cloud", &["GMI_CLOUD_API_KEY"]),
    ("google", &["GEMINI_API_KEY"]),
    ("google-vertex", &["GOOGLE_CLOUD_API_KEY"]),
    ("groq", &["GROQ_API_KEY"]),
    ("huggingface", &["HUGGINGFACE_HUB_TOKEN", "HF_TOKEN"]),
    ("kilo", &["KILO_API_KEY"]),
    ("kimi-code", &["KIMI_CODE_API_KEY"]),
    ("litellm", &["LITELLM_API_KEY"]),
    ("llama.cpp", &["LLAMA_CPP_API_KEY"]),
    ("lm-studio", &["LM_STUDIO_API_KEY"]),
    ("meta", &["META_API_KEY"]),
    ("minimax", &["MINIMAX_API_KEY"]),
    ("minimax-cn", &["MINIMAX_CN_API_KEY"]),
    ("minimax-code", &["MINIMAX_CODE_API_KEY"]),
    ("minimax-code-cn", &["MINIMAX_CODE_CN_API_KEY"]),
    ("mistral", &["MISTRAL_API_KEY"]),
    ("moonshot", &["MOONSHOT_API_KEY"]),
    ("nanogpt", &["NANO_GPT_API_KEY"]),
    ("novita", &["NOVITA_API_KEY"]),
    ("nvidia", &["NVIDIA_API_KEY"]),
    ("ollama", &["OLLAMA_API_KEY"]),
    ("ollama-cloud", &["OLLAMA_CLOUD_API_KEY"]),
    ("openai", &["OPENAI_API_KEY"]),
    ("opencode", &["OPENCODE_API_KEY"]),
    ("opencode-go", &["OPENCODE_API_KEY"]),
    ("opencode-zen", &["OPENCODE_API_KEY"]),
    ("openrouter", &["OPENROUTER_API_KEY"]),
    ("qianfan", &["QIANFAN_API_KEY"]),
    ("qwen-portal", &["QWEN_OAUTH_TOKEN", "QWEN_PORTAL_API_KEY"]),
    ("sakana", &["SAKANA_API_KEY"]),
    ("synthetic", &["SYNTHETIC_API_KEY"]),
    ("together", &["TOGETHER_API_KEY"]),
    ("umans", &["UMANS_API_KEY"]),
    ("venice", &["VENICE_API_KEY"]),
    ("vercel-ai-gateway", &["AI_GATEWAY_API_KEY"]),
    ("vllm", &["VLLM_API_KEY"]),
    ("wafer-pass", &["WAFER_PASS_API_KEY"]),
    ("wafer-serverless", &["WAFER_SERVERLESS_API_KEY"]),
    ("xai", &["XAI_API_KEY"]),
    ("xai-oauth", &["XAI_OAUTH_TOKEN", "XAI_API_KEY"]),
    ("xiaomi", &["XIAOMI_API_KEY"]),
    ("xiaomi-token-plan-ams", &["XIAOMI_TOKEN_PLAN_AMS_API_KEY"]),
    ("xiaomi-token-plan-cn", &["XIAOMI_TOKEN_PLAN_CN_API_KEY"]),
    ("xiaomi-token-plan-sgp", &["XIAOMI_TOKEN_PLAN_SGP_API_KEY"]),
    ("zai", &["ZAI_API_KEY"]),
    ("zenmux", &["ZENMUX_API_KEY"]),
    ("zhipu-coding-plan", &["ZHIPU_API_KEY"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_values_count_as_unset() {
        let env: Env = [("HOME", ""), ("PATH", "/bin")].into_iter().collect();
        assert_eq!(env.get(vars::HOME), None);
        assert_eq!(env.get(vars::PATH), Some("/bin"));
    }

    #[test]
    fn provider_table_is_sorted_without_repeats() {
        assert!(PROVIDER_KEYS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }
}

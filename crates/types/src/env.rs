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
    ZDOTDIR = "Where zsh's start files are, for the snapshot of its aliases and functions.";
    PI_CONFIG_DIR = "Name of the configuration folder below the home folder (default `.omp`).";
    PI_CODING_AGENT_DIR = "Full path of the agent folder (default `~/.omp/agent`).";
    PI_SMOL_MODEL = "Model for the `smol` role; `--smol` wins.";
    PI_SLOW_MODEL = "Model for the `slow` role; `--slow` wins.";
    PI_PLAN_MODEL = "Model for the `plan` role; `--plan` wins.";
    PI_EDIT_VARIANT = "Edit language of the `edit` tool: `hashline`, `replace`, `patch` or `apply_patch`; wins over `edit.mode`.";
    PI_NO_TITLE = "Any value: sessions get no automatic title.";
    PI_CACHE_RETENTION = "`long` asks providers to keep the prompt cache longer where they can.";
    PI_CONNECT_TIMEOUT_MS = "Milliseconds to wait for a connection to a provider (default 30000; 0: as long as the system does).";
    PI_STREAM_FIRST_EVENT_TIMEOUT_MS = "Milliseconds to wait for the first token of an answer (default 300000; 0: for ever).";
    PI_STREAM_IDLE_TIMEOUT_MS = "Milliseconds between two tokens of an answer before it is given up (default 300000; 0: never).";
    PI_OPENAI_STREAM_FIRST_EVENT_TIMEOUT_MS = "The same as `PI_STREAM_FIRST_EVENT_TIMEOUT_MS`; wins over it for the APIs of OpenAI.";
    PI_OPENAI_STREAM_IDLE_TIMEOUT_MS = "The same as `PI_STREAM_IDLE_TIMEOUT_MS`; wins over it for the APIs of OpenAI.";
    PI_REPLAY_TIMING = "`real`: a recording is played with the pauses it was made with, not at once.";
    VIRTUAL_ENV = "The Python environment that was activated; `$` lines run in it.";
    PI_BASH_NO_CI = "Any value: `CI=true` is not set for shell commands.";
    CLAUDE_CONFIG_DIR = "Folder of Claude Code's own files, for `omp sessions import claude` (default `~/.claude`).";
    COPILOT_HOME = "Folder of Copilot's own files, whose instructions are read (default `~/.copilot`).";
    COPILOT_CUSTOM_INSTRUCTIONS_DIRS = "More folders with Copilot's instructions (`AGENTS.md`, `.github/instructions`), with commas between them.";
    CODEX_HOME = "Folder of Codex's own files, for `omp sessions import codex` (default `~/.codex`).";
    CLAUDE_BASH_NO_CI = "Older name of `PI_BASH_NO_CI`.";
    PI_BASH_NO_LOGIN = "Any value: the snapshot of the user's shell is taken without its profile (`-l`).";
    CLAUDE_BASH_NO_LOGIN = "Older name of `PI_BASH_NO_LOGIN`.";
    PI_NO_PTY = "`1`: no command gets a terminal that you can type into, as with `--no-pty`.";
    PI_SHELL_PREFIX = "Put before every shell command.";
    CLAUDE_CODE_SHELL_PREFIX = "Older name of `PI_SHELL_PREFIX`.";
    NULL_PROMPT = "`true`: no system prompt is sent.";
    OLLAMA_BASE_URL = "Where Ollama listens (default `http://127.0.0.1:11434`).";
    OLLAMA_HOST = "Ollama's own variable, used when `OLLAMA_BASE_URL` is unset.";
    OLLAMA_CONTEXT_LENGTH = "Context window assumed for Ollama models.";
    LLAMA_CPP_BASE_URL = "Where llama.cpp's server listens (default `http://127.0.0.1:8080`).";
    LM_STUDIO_BASE_URL = "Where LM Studio listens (default `http://127.0.0.1:1234/v1`).";
    ANTHROPIC_BASE_URL = "Base URL for the `anthropic` provider.";
    PI_NO_INTERLEAVED_THINKING = "`1`: Claude models that think by a budget do not think between tool calls.";
    ANTHROPIC_CUSTOM_HEADERS = "Extra headers (`name: value`, comma or newline separated) for Foundry or a non-Anthropic base URL.";
    CLAUDE_CODE_USE_FOUNDRY = "`1`: the `anthropic` provider goes through Foundry.";
    FOUNDRY_BASE_URL = "Base URL in Foundry mode.";
    ANTHROPIC_FOUNDRY_API_KEY = "Key for Foundry mode; wins over the other Anthropic keys there.";
    AWS_REGION = "Region of the `bedrock-mantle` provider.";
    AWS_DEFAULT_REGION = "The same where `AWS_REGION` is unset (default `us-east-1`).";
    HTTPS_PROXY = "Proxy for https requests.";
    HTTP_PROXY = "Proxy for http requests.";
    ALL_PROXY = "Proxy for all requests; `socks5://` and `socks5h://` are understood.";
    NO_PROXY = "Hosts that are reached without a proxy.";
    NODE_EXTRA_CA_CERTS = "More trusted certificates: path to a PEM file, or PEM text.";
    SSL_CERT_FILE = "Trusted certificates instead of the system's: path to a PEM file.";
    CLAUDE_CODE_CLIENT_CERT = "Client certificate for mutual TLS: path to a PEM file, or PEM text.";
    CLAUDE_CODE_CLIENT_KEY = "Private key of the client certificate: path to a PEM file, or PEM text.";
    FS_SCAN_CACHE_TTL_MS = "Milliseconds that the list of files below a folder is kept for `search`, `find` and the file picker (default 1000; 0: never).";
    FS_SCAN_EMPTY_RECHECK_MS = "Age in milliseconds from which a kept list that answers with nothing is made anew (default 200).";
    FS_SCAN_CACHE_MAX_ENTRIES = "How many such lists are kept (default 16).";
    ZELLIJ_PANE_ID = "Tells one terminal from another for `--continue`, as the next seven do.";
    ZELLIJ_SESSION_NAME = "Goes with `ZELLIJ_PANE_ID`.";
    TMUX_PANE = "Tells one terminal from another for `--continue`, and which pane tmux is asked about.";
    CMUX_SURFACE_ID = "Tells one terminal from another for `--continue`.";
    KITTY_WINDOW_ID = "Tells one terminal from another for `--continue`.";
    WEZTERM_PANE = "Tells one terminal from another for `--continue`.";
    TERM_SESSION_ID = "Tells one terminal from another for `--continue`.";
    WT_SESSION = "Tells one terminal from another for `--continue`.";
    VISUAL = "The editor that Ctrl+G opens; before `EDITOR`.";
    EDITOR = "The editor that Ctrl+G opens.";
    TERM = "What the terminal says it is; `dumb` chooses plain mode.";
    WAYLAND_DISPLAY = "Where it is set the clipboard is that of Wayland.";
    DISPLAY = "Where it is set the clipboard may be that of X11.";
    WSL_DISTRO_NAME = "Set by Windows for Linux programs: the clipboard is that of Windows, and some terminals show no images.";
    NO_COLOR = "Any value: no colours.";
    FORCE_COLOR = "Colours in spite of `NO_COLOR`, and how many: `0` none, `1` 16, `2` 256, `3` all.";
    COLORFGBG = "Colours of the terminal as `foreground;background`: whether it is dark or light, until it answers itself.";
    COLORTERM = "`truecolor` or `24bit`: the terminal shows all colours.";
    TERM_PROGRAM = "The program behind the terminal, with `TERM_PROGRAM_VERSION`.";
    TERM_PROGRAM_VERSION = "Goes with `TERM_PROGRAM`; tmux shows links from 3.4 on.";
    TERMINAL_EMULATOR = "The terminal of an editor by JetBrains; told by `/debug`.";
    TERM_FEATURES = "What the terminal can do; `Sy` in it is synchronized output.";
    TMUX = "Set inside of tmux: after a resize the history of the pane is written again.";
    STY = "Set inside of GNU screen.";
    SSH_CONNECTION = "Set over ssh, where the news of a new terminal size takes longer.";
    ZELLIJ = "Set inside of Zellij.";
    CMUX_WORKSPACE_ID = "Set inside of cmux, as `CMUX_SURFACE_ID`.";
    ALACRITTY_WINDOW_ID = "Set by Alacritty.";
    GHOSTTY_RESOURCES_DIR = "Set by Ghostty.";
    ITERM_SESSION_ID = "Set by iTerm2.";
    VSCODE_PID = "Set by the terminal of Visual Studio Code.";
    COLUMNS = "Width for a terminal that does not tell its own (default 80).";
    LINES = "Height for a terminal that does not tell its own (default 24).";
    PI_NO_SYNC_OUTPUT = "Any value: frames are not put between the brackets of synchronized output.";
    PI_TUI_SYNC_OUTPUT = "`0` or `1`: synchronized output off or on, whatever the terminal says.";
    PI_FORCE_SYNC_OUTPUT = "`1`: synchronized output on; those that switch it off win.";
    PI_FORCE_IMAGE_PROTOCOL = "`kitty`, `iterm2`, `sixel` or `off`: how images are shown, whatever the terminal says.";
    PI_KITTY_PLACEHOLDERS = "`1` or `0`: images of the Kitty protocol are made of characters, or not; otherwise only in Kitty and Ghostty.";
    PI_NO_KITTY_PLACEHOLDERS = "`1`: images of the Kitty protocol are not made of characters.";
    PI_DEBUG_REDRAW = "`1`: how each frame was painted goes to `~/.omp/logs/redraw.log`, one line each.";
    PI_TUI_WRITE_LOG = "Path of a file to which everything the terminal is sent is written as well, 64 MiB a run at most.";
    PI_TIMING = "Any value: how long each part of the start took is told on standard error, in a terminal before the screen is drawn, in print mode at the end. `x`: a terminal is left right after that.";
    PI_DEBUG_STARTUP = "Any value: a line `[startup] part:start` or `:done` on standard error as each part of the start begins and ends.";
    PI_NO_HYPERLINKS = "`1`: no links (OSC 8).";
    PI_FORCE_HYPERLINKS = "`1`: links (OSC 8), whatever the terminal says.";
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

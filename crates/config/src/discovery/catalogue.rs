//! The items that a user and a repository provide in the folders of any program: one list per kind.
//!
//! These are descriptions only. Nothing here is run, connected or obeyed; code that uses an item checks its [`Source`] for
//! its owner.

use std::path::PathBuf;

use serde_json::Value;

use super::{ContextFile, Level};

/// The program that an item belongs to. Declared strongest first; if a name is found twice, the stronger provider wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provider {
    /// `.omp`
    Native,
    /// `skills.customDirectories`
    Custom,
    Claude,
    /// Plugins installed from a marketplace, below `~/.claude/plugins`.
    ClaudePlugins,
    /// `.agents` and `AGENTS.md`
    Agents,
    Codex,
    Gemini,
    OpenCode,
    Cursor,
    Windsurf,
    Cline,
    Copilot,
    VsCode,
    /// `mcp.json`, `.mcp.json`
    McpJson,
    /// Built into omp.
    Builtin,
}

impl Provider {
    /// The name used by `disabledProviders` and `omp config sources`.
    pub fn id(self) -> &'static str {
        match self {
            Provider::Native => "native",
            Provider::Custom => "custom",
            Provider::Claude => "claude",
            Provider::ClaudePlugins => "claude-plugins",
            Provider::Codex => "codex",
            Provider::Agents => "agents",
            Provider::Gemini => "gemini",
            Provider::OpenCode => "opencode",
            Provider::Cursor => "cursor",
            Provider::Windsurf => "windsurf",
            Provider::Cline => "cline",
            Provider::Copilot => "github",
            Provider::VsCode => "vscode",
            Provider::McpJson => "mcp-json",
            Provider::Builtin => "builtin",
        }
    }
}

/// The kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    ContextFile,
    System,
    AppendSystem,
    TitleSystem,
    Rule,
    Skill,
    Command,
    Prompt,
    Instruction,
    Agent,
    Hook,
    Tool,
    ExtensionModule,
    Settings,
    SshHost,
    McpServer,
}

impl Kind {
    /// The name shown to users.
    pub fn name(self) -> &'static str {
        match self {
            Kind::ContextFile => "context file",
            Kind::System | Kind::AppendSystem | Kind::TitleSystem => "system prompt",
            Kind::Rule => "rule",
            Kind::Skill => "skill",
            Kind::Command => "command",
            Kind::Prompt => "prompt",
            Kind::Instruction => "instruction",
            Kind::Agent => "agent",
            Kind::Hook => "hook",
            Kind::Tool => "tool",
            Kind::ExtensionModule => "extension module",
            Kind::Settings => "settings",
            Kind::SshHost => "ssh host",
            Kind::McpServer => "mcp server",
        }
    }

    /// The name used by `disabledExtensions`.
    pub fn id(self) -> &'static str {
        match self {
            Kind::Command => "slash-command",
            Kind::ExtensionModule => "extension-module",
            Kind::SshHost => "ssh",
            Kind::McpServer => "mcp",
            other => other.name(),
        }
    }
}

/// The origin of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub provider: Provider,
    pub level: Level,
    pub path: PathBuf,
}

/// All items that were found. Each list is sorted by precedence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalogue {
    /// The user's first, then from the repository root down to the working folder.
    pub context_files: Vec<ContextFile>,
    /// Files that context files imported (`@path`).
    pub imports: Vec<Import>,
    /// The effective `SYSTEM.md` and `APPEND_SYSTEM.md`.
    pub system: Option<TextFile>,
    pub append_system: Option<TextFile>,
    /// `TITLE_SYSTEM.md`: the prompt for session titles.
    pub title_system: Option<TextFile>,
    pub rules: Vec<Rule>,
    /// The user's rules whose name was taken by a project rule.
    pub displaced_rules: Vec<Rule>,
    pub skills: Vec<Skill>,
    pub commands: Vec<FileCommand>,
    pub prompts: Vec<FileCommand>,
    /// Text for the prompt from `.github/instructions/*.instructions.md`, with the files it applies to.
    pub instructions: Vec<Rule>,
    pub agents: Vec<AgentFile>,
    pub hooks: Vec<Declared>,
    pub tools: Vec<TextFile>,
    /// Code for the extension system, which is only listed.
    pub extension_modules: Vec<Declared>,
    /// Project settings of any program, to be merged in this order.
    pub settings: Vec<Declared>,
    pub ssh_hosts: Vec<Declared>,
    pub mcp_servers: Vec<Declared>,
    /// Items that lost to an item of the same name.
    pub shadowed: Vec<Shadowed>,
    /// Items disabled by the user's settings; `by` is the item itself.
    pub switched_off: Vec<Shadowed>,
    /// Files that could not be read or were skipped, as sentences for the user.
    pub warnings: Vec<String>,
}

/// A file imported by a context file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    pub path: PathBuf,
    pub level: Level,
    /// The context file.
    pub by: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextFile {
    pub name: String,
    pub text: String,
    pub source: Source,
}

/// A parsed rule file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub name: String,
    /// The text without the front matter.
    pub content: String,
    pub description: Option<String>,
    pub globs: Vec<String>,
    pub always_apply: bool,
    /// Regular expressions that watch the model's stream (`condition`, formerly `ttsr_trigger`).
    pub condition: Vec<String>,
    /// Structural patterns that are matched against the model's output.
    pub ast_condition: Vec<String>,
    /// Which streams are watched, such as `text` or `tool:edit(*.rs)`; empty means the default.
    pub scope: Vec<String>,
    pub interrupt_mode: Option<String>,
    pub source: Source,
}

/// A folder with a `SKILL.md`. Its body is read on demand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    pub name: String,
    pub description: String,
    /// The folder.
    pub folder: PathBuf,
    /// Not shown to the model, only on request (`disable-model-invocation`, `hide`).
    pub hidden: bool,
    pub source: Source,
}

/// A command or a prompt template in its own file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCommand {
    /// The typed name without the slash; folders are joined with `:`.
    pub name: String,
    pub description: Option<String>,
    pub argument_hint: Option<String>,
    /// The template, without the front matter.
    pub template: String,
    pub source: Source,
}

/// A sub-agent's definition.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentFile {
    pub name: String,
    pub description: String,
    pub prompt: String,
    /// The rest of the front matter.
    pub options: Value,
    pub source: Source,
}

/// A named part of a configuration file, as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    pub name: String,
    pub value: Value,
    pub source: Source,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shadowed {
    /// Such as `skill` or `rule`.
    pub kind: &'static str,
    pub name: String,
    pub by: Source,
    pub source: Source,
}

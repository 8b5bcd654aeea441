//! What a user and a repository bring along, whichever program's folders it lies in: one list for each kind of thing.
//!
//! These are descriptions only. Nothing here runs, connects or is followed; whoever uses an item asks its [`Source`]
//! whose word it is.

use std::path::PathBuf;

use serde_json::Value;

use super::{ContextFile, Level};

/// Whose folders an item lies in. Declared strongest first; the same name found twice is the stronger one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provider {
    /// `.omp`
    Native,
    /// `skills.customDirectories`
    Custom,
    Claude,
    /// What was installed from a marketplace, below `~/.claude/plugins`.
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
    /// Comes with omp.
    Builtin,
}

impl Provider {
    /// As `disabledProviders` and `omp config sources` name it.
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

/// What an item is.
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
    /// As a person is told it.
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

    /// As `disabledExtensions` names it.
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

/// Where an item comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub provider: Provider,
    pub level: Level,
    pub path: PathBuf,
}

/// Everything that was found. Each list is in the order in which it counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalogue {
    /// The user's first, then from the repository root down to the working folder.
    pub context_files: Vec<ContextFile>,
    /// The files whose text context files have taken in (`@path`).
    pub imports: Vec<Import>,
    /// `SYSTEM.md` and `APPEND_SYSTEM.md`, the one that counts.
    pub system: Option<TextFile>,
    pub append_system: Option<TextFile>,
    /// `TITLE_SYSTEM.md`: how a session's title is made.
    pub title_system: Option<TextFile>,
    pub rules: Vec<Rule>,
    /// Rules of the user's that lost their name to one of the project.
    pub displaced_rules: Vec<Rule>,
    pub skills: Vec<Skill>,
    pub commands: Vec<FileCommand>,
    pub prompts: Vec<FileCommand>,
    /// Text for the prompt, as `.github/instructions/*.instructions.md` hold it, with the files it is for.
    pub instructions: Vec<Rule>,
    pub agents: Vec<AgentFile>,
    pub hooks: Vec<Declared>,
    pub tools: Vec<TextFile>,
    /// Code for the extension system. Listed only.
    pub extension_modules: Vec<Declared>,
    /// Project settings of any program, to be merged in this order.
    pub settings: Vec<Declared>,
    pub ssh_hosts: Vec<Declared>,
    pub mcp_servers: Vec<Declared>,
    /// What lost against an item of the same name.
    pub shadowed: Vec<Shadowed>,
    /// What the user's settings leave out; `by` is the item itself.
    pub switched_off: Vec<Shadowed>,
    /// What could not be read or was left out, in sentences for the user.
    pub warnings: Vec<String>,
}

/// A file that stands in a context file.
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

/// A rule file, its front matter taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub name: String,
    /// Without the front matter.
    pub content: String,
    pub description: Option<String>,
    pub globs: Vec<String>,
    pub always_apply: bool,
    /// Regular expressions that watch the model's stream (`condition`, formerly `ttsr_trigger`).
    pub condition: Vec<String>,
    /// Structural patterns that watch what it writes.
    pub ast_condition: Vec<String>,
    /// Which streams are watched, such as `text` or `tool:edit(*.rs)`; empty means the default.
    pub scope: Vec<String>,
    pub interrupt_mode: Option<String>,
    pub source: Source,
}

/// A folder with a `SKILL.md`. Its body is read when somebody asks for it.
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

/// A command or a prompt template in a file of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCommand {
    /// As it is typed, without the slash; folders join with `:`.
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

/// A named piece of somebody's configuration, as it was written.
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

//! Every setting that can be changed in the application: one line each. `docs/settings.md` tells more of them.

use Kind::{Bool, List, Number, OneOf, Text};

/// What values a setting takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Bool,
    OneOf(&'static [&'static str]),
    Number { least: f64, most: f64 },
    Text,
    List,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    pub key: &'static str,
    /// The group it is shown in.
    pub tab: &'static str,
    pub kind: Kind,
    /// As JSON; empty when there is none.
    pub default: &'static str,
    pub about: &'static str,
}

const fn row(tab: &'static str, key: &'static str, kind: Kind, default: &'static str, about: &'static str) -> Setting {
    Setting { key, tab, kind, default, about }
}

const fn count(most: f64) -> Kind {
    Number { least: 0.0, most }
}

const LEVELS: Kind = OneOf(&["off", "minimal", "low", "medium", "high", "xhigh"]);
const TIERS: Kind = OneOf(&["none", "auto", "default", "flex", "scale", "priority"]);
const QUEUES: Kind = OneOf(&["one-at-a-time", "all"]);
const SECONDS: Kind = Number { least: -1.0, most: 86_400.0 };

pub static SETTINGS: &[Setting] = &[
    row("Model", "modelRoles.default", Text, "", "model used when --model is not given"),
    row("Model", "modelRoles.smol", Text, "", "model behind pi/smol: quick and cheap work"),
    row("Model", "modelRoles.slow", Text, "", "model behind pi/slow: hard questions"),
    row("Model", "modelRoles.plan", Text, "", "model behind pi/plan"),
    row("Model", "modelRoles.commit", Text, "", "model behind pi/commit"),
    row("Model", "defaultThinkingLevel", LEVELS, "\"high\"", "thinking level of models that can think"),
    row("Model", "serviceTier", TIERS, "\"none\"", "how soon requests are worked on, where the provider knows tiers"),
    row("Model", "modelProviderOrder", List, "", "which provider wins when several offer a model"),
    row("Model", "disabledProviders", List, "", "providers that are not used"),
    row("Look", "theme.dark", Text, "", "theme on a dark background; dark"),
    row("Look", "theme.light", Text, "", "theme on a light background; light"),
    row("Look", "hideThinkingBlock", Bool, "false", "what the model thinks is not shown"),
    row("Approval", "tools.approvalMode", OneOf(&["always-ask", "write", "yolo"]), "\"yolo\"", "what is asked about"),
    row("Messages", "steeringMode", QUEUES, "\"one-at-a-time\"", "how messages that interrupt are taken"),
    row("Messages", "followUpMode", QUEUES, "\"one-at-a-time\"", "how messages that wait are taken"),
    row(
        "Messages",
        "interruptMode",
        OneOf(&["immediate", "wait"]),
        "\"immediate\"",
        "whether steering waits for tools",
    ),
    row("Messages", "retry.enabled", Bool, "true", "try again when an answer failed"),
    row("Messages", "retry.maxRetries", count(100.0), "3", "how often"),
    row("Messages", "retry.baseDelayMs", count(600_000.0), "2000", "milliseconds before the first try"),
    row("Messages", "retry.maxDelayMs", count(3_600_000.0), "300000", "milliseconds before a try, at most"),
    row("Messages", "providers.connectTimeoutSeconds", SECONDS, "30", "seconds to wait for a connection"),
    row("Messages", "providers.streamFirstEventTimeoutSeconds", SECONDS, "-1", "seconds to wait for the first token"),
    row("Messages", "providers.streamIdleTimeoutSeconds", SECONDS, "-1", "seconds to wait for the next token"),
    row("Tools", "todo.enabled", Bool, "true", "the todo tool"),
    row("Tools", "todo.reminders", Bool, "true", "remind a model that stops with open tasks"),
    row("Tools", "todo.remindersMax", count(100.0), "3", "how often, for each of your messages"),
    row("Tools", "ask.enabled", Bool, "true", "the ask tool"),
    row("Tools", "ask.timeout", count(86_400.0), "0", "seconds until a question answers itself; 0 waits"),
    row("Tools", "search.enabled", Bool, "true", "the search tool"),
    row("Tools", "search.contextBefore", count(100.0), "1", "lines shown before a match"),
    row("Tools", "search.contextAfter", count(100.0), "3", "lines shown after a match"),
    row("Tools", "find.enabled", Bool, "true", "the find tool"),
    row("Tools", "astGrep.enabled", Bool, "true", "the ast_grep tool"),
    row("Tools", "astEdit.enabled", Bool, "true", "the ast_edit tool"),
    row("Tools", "calc.enabled", Bool, "false", "the calc tool"),
    row("Tools", "renderMermaid.enabled", Bool, "false", "the render_mermaid tool"),
    row("Tools", "checkpoint.enabled", Bool, "false", "the checkpoint and rewind tools"),
    row("Files", "edit.mode", OneOf(&["hashline", "replace", "patch", "apply_patch"]), "", "how models edit; by model"),
    row("Files", "edit.fuzzyMatch", Bool, "true", "quoted text need not be there to the letter"),
    row("Files", "edit.fuzzyThreshold", Number { least: 0.0, most: 1.0 }, "0.95", "how near it must be"),
    row("Files", "read.defaultLimit", count(3000.0), "500", "lines shown where no last line is asked for"),
    row("Files", "terminal.showImages", Bool, "true", "images are drawn where the terminal can"),
    row("Files", "tui.maxInlineImageColumns", count(10_000.0), "100", "columns of an image at most; 0: by the screen"),
    row("Files", "tui.maxInlineImageRows", count(10_000.0), "20", "rows of an image at most; 0: by the screen"),
    row("Files", "tui.maxInlineImages", count(64.0), "8", "images drawn at a time; 0: 64"),
    row("Files", "images.autoResize", Bool, "true", "images scaled to 1568 pixels a side"),
    row("Files", "images.blockImages", Bool, "false", "images are named, not sent"),
    row("Shell", "bash.enabled", Bool, "true", "the bash tool"),
    row("Shell", "shellPath", Text, "", "the shell that runs commands; by $SHELL"),
    row("Shell", "bash.maxProcesses", count(100_000.0), "1000", "processes a command may have"),
    row("Shell", "bash.autoBackground.enabled", Bool, "false", "slow commands become jobs"),
    row(
        "Shell",
        "bash.autoBackground.thresholdMs",
        count(3_600_000.0),
        "60000",
        "milliseconds until a command is slow",
    ),
    row("Shell", "async.enabled", Bool, "false", "background jobs"),
    row("Shell", "async.maxJobs", count(1000.0), "100", "jobs at a time"),
    row("Shell", "shellMinimizer.enabled", Bool, "true", "outputs of known commands are shortened"),
    row("Shell", "bashInterceptor.enabled", Bool, "false", "commands are refused for a better tool"),
];

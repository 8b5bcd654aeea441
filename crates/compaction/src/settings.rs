//! User settings for compaction, context promotion and branch summaries.

use std::time::Duration;

use omp_config::Settings;
use omp_types::{Setting, SettingKind};

const STRATEGIES: &[&str] = &["context-full", "handoff", "shake", "snapcompact", "off"];
const TOKENS: SettingKind = SettingKind::Number { least: 0.0, most: 1e9 };
/// -1 selects the default.
const OVERRIDE: SettingKind = SettingKind::Number { least: -1.0, most: 1e9 };

/// The settings of this crate.
pub const COMPACTION_SETTINGS: &[Setting] = &[
    Setting::new(
        "Context",
        "compaction.enabled",
        SettingKind::Bool,
        "true",
        "Shorten the conversation before it fills the model's context window.",
    )
    .titled("Compact long conversations"),
    Setting::new(
        "Context",
        "compaction.strategy",
        SettingKind::OneOf(STRATEGIES),
        "\"context-full\"",
        "Write a summary, write a handoff document, shorten mechanically, or do nothing.",
    )
    .titled("Compaction strategy"),
    Setting::new(
        "Context",
        "compaction.thresholdPercent",
        OVERRIDE,
        "-1",
        "Percentage of the context window that may fill up; -1 reserves room for an answer instead.",
    )
    .titled("Compact at this percentage"),
    Setting::new(
        "Context",
        "compaction.thresholdTokens",
        OVERRIDE,
        "-1",
        "Tokens that may fill up; overrides the percentage, -1 turns it off.",
    )
    .titled("Compact at this many tokens"),
    Setting::new("Context", "compaction.reserveTokens", TOKENS, "16384", "Tokens kept free for the model's answer.")
        .titled("Reserve for the answer"),
    Setting::new(
        "Context",
        "compaction.keepRecentTokens",
        TOKENS,
        "20000",
        "Tokens of the newest messages that compaction leaves unchanged.",
    )
    .titled("Keep recent messages"),
    Setting::new(
        "Context",
        "compaction.midTurnEnabled",
        SettingKind::Bool,
        "true",
        "Also compact between the requests of one prompt.",
    )
    .titled("Compact during a turn"),
    Setting::new(
        "Context",
        "compaction.autoContinue",
        SettingKind::Bool,
        "true",
        "Have the model continue unfinished work after compaction.",
    )
    .titled("Continue after compaction"),
    Setting::new(
        "Context",
        "compaction.dropUseless",
        SettingKind::Bool,
        "true",
        "Remove tool results that carry no information.",
    )
    .titled("Drop empty results"),
    Setting::new(
        "Context",
        "compaction.supersedeReads",
        SettingKind::Bool,
        "true",
        "Remove reads of files that were read again later.",
    )
    .titled("Drop outdated reads"),
    Setting::new(
        "Context",
        "compaction.remoteEnabled",
        SettingKind::Bool,
        "true",
        "Let the provider compact the conversation, or use compaction.remoteEndpoint if it is set.",
    )
    .titled("Compact at the provider")
    .off_stays(),
    Setting::new(
        "",
        "compaction.remoteEndpoint",
        SettingKind::Text,
        "",
        "URL of a service that writes the summaries instead of the model.",
    )
    .titled("Summary endpoint")
    .by_user(),
    Setting::new(
        "Context",
        "compaction.handoffSaveToDisk",
        SettingKind::Bool,
        "false",
        "Also save the document of an automatic handoff next to the session file.",
    )
    .titled("Save handoff documents"),
    Setting::new("Context", "compaction.idleEnabled", SettingKind::Bool, "false", "Also compact while you are away.")
        .titled("Compact when idle")
        .by_user(),
    Setting::new(
        "Context",
        "compaction.idleThresholdTokens",
        TOKENS,
        "200000",
        "Tokens from which an idle session is compacted.",
    )
    .titled("Idle compaction threshold"),
    Setting::new(
        "Context",
        "compaction.idleTimeoutSeconds",
        SettingKind::Number { least: 1.0, most: 86_400.0 },
        "300",
        "Seconds of inactivity before an idle session is compacted.",
    )
    .titled("Idle compaction delay"),
    Setting::new(
        "Context",
        "contextPromotion.enabled",
        SettingKind::Bool,
        "true",
        "Before compacting, switch to the larger model that models.yml names.",
    )
    .titled("Switch to a larger model first")
    .off_stays(),
    Setting::new(
        "Context",
        "branchSummary.enabled",
        SettingKind::Bool,
        "false",
        "Summarize the branch you leave when the session continues from another entry.",
    )
    .titled("Summarize abandoned branches"),
    Setting::new(
        "Context",
        "branchSummary.reserveTokens",
        TOKENS,
        "16384",
        "Tokens kept free when a branch is summarized.",
    )
    .titled("Reserve for branch summaries"),
];

/// The compaction strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactionStrategy {
    /// A model writes a summary.
    ContextFull,
    /// A model writes a document, with which the conversation restarts.
    Handoff,
    /// Old tool output and thinking are shortened without a model.
    Shake,
    /// The reference stores the history as images. omp has none and writes a summary, as for `ContextFull`.
    Snapcompact,
    Off,
}

impl CompactionStrategy {
    pub const ALL: [Self; 5] = [Self::ContextFull, Self::Handoff, Self::Shake, Self::Snapcompact, Self::Off];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::ContextFull => "context-full",
            Self::Handoff => "handoff",
            Self::Shake => "shake",
            Self::Snapcompact => "snapcompact",
            Self::Off => "off",
        }
    }
}

/// Thresholds, and how much is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompactionLimits {
    pub reserve_tokens: u64,
    pub keep_recent_tokens: u64,
    /// Not positive means no limit.
    pub threshold_percent: f64,
    pub threshold_tokens: f64,
}

/// When an idle session is compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleCompaction {
    pub threshold_tokens: u64,
    pub timeout: Duration,
}

/// Settings for summaries of abandoned branches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchSummaries {
    /// Also without a request.
    pub always: bool,
    pub reserve_tokens: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CompactionSettings {
    pub enabled: bool,
    pub strategy: CompactionStrategy,
    /// Also save documents of automatic handoffs to files.
    pub saves_handoffs: bool,
    pub limits: CompactionLimits,
    pub mid_turn: bool,
    pub auto_continue: bool,
    pub drop_useless: bool,
    pub supersede_reads: bool,
    pub remote: bool,
    pub idle: Option<IdleCompaction>,
    pub promotes: bool,
    pub branches: BranchSummaries,
}

impl Default for CompactionSettings {
    fn default() -> Self {
        Self::from_settings(&Settings::default())
    }
}

impl CompactionSettings {
    pub fn from_settings(settings: &Settings) -> Self {
        let own = settings.of(COMPACTION_SETTINGS);
        let on = |key: &str| own.get::<bool>(key);
        let number = |key: &str| own.get::<f64>(key);
        let tokens = |key: &str| match number(key) {
            tokens if tokens >= 0.0 => tokens as u64,
            _ => own.default(key),
        };
        let named = own.get::<String>("compaction.strategy");
        let strategy = CompactionStrategy::ALL.into_iter().find(|one| one.as_str() == named);
        let idle = IdleCompaction {
            threshold_tokens: tokens("compaction.idleThresholdTokens"),
            timeout: Duration::from_secs(tokens("compaction.idleTimeoutSeconds").clamp(1, 86_400)),
        };
        Self {
            enabled: on("compaction.enabled"),
            strategy: strategy.unwrap_or(CompactionStrategy::ContextFull),
            saves_handoffs: on("compaction.handoffSaveToDisk"),
            limits: CompactionLimits {
                reserve_tokens: tokens("compaction.reserveTokens"),
                keep_recent_tokens: tokens("compaction.keepRecentTokens"),
                threshold_percent: number("compaction.thresholdPercent"),
                threshold_tokens: number("compaction.thresholdTokens"),
            },
            mid_turn: on("compaction.midTurnEnabled"),
            auto_continue: on("compaction.autoContinue"),
            drop_useless: on("compaction.dropUseless"),
            supersede_reads: on("compaction.supersedeReads"),
            remote: on("compaction.remoteEnabled"),
            idle: on("compaction.idleEnabled").then_some(idle),
            promotes: on("contextPromotion.enabled"),
            branches: BranchSummaries {
                always: on("branchSummary.enabled"),
                reserve_tokens: tokens("branchSummary.reserveTokens"),
            },
        }
    }
}

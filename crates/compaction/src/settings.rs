//! What the user has set about compaction, context promotion and branch summaries.

use std::time::Duration;

use omp_config::Settings;
use omp_types::{Setting, SettingKind};

const STRATEGIES: &[&str] = &["context-full", "handoff", "shake", "snapcompact", "off"];
const TOKENS: SettingKind = SettingKind::Number { least: 0.0, most: 1e9 };
/// -1 leaves it to the default.
const OVERRIDE: SettingKind = SettingKind::Number { least: -1.0, most: 1e9 };

/// The settings of this folder.
pub const COMPACTION_SETTINGS: &[Setting] = &[
    Setting::new(
        "context",
        "compaction.enabled",
        SettingKind::Bool,
        "true",
        "Shorten the conversation before it fills the model's window",
    ),
    Setting::new(
        "context",
        "compaction.strategy",
        SettingKind::OneOf(STRATEGIES),
        "\"context-full\"",
        "How: a summary, a handoff document, mechanical shortening, or not at all",
    ),
    Setting::new(
        "context",
        "compaction.thresholdPercent",
        OVERRIDE,
        "-1",
        "Percent of the window that may fill up; -1 leaves room for an answer",
    ),
    Setting::new(
        "context",
        "compaction.thresholdTokens",
        OVERRIDE,
        "-1",
        "Tokens that may fill up; goes before the percentage",
    ),
    Setting::new("context", "compaction.reserveTokens", TOKENS, "16384", "Room that is left for an answer"),
    Setting::new(
        "context",
        "compaction.keepRecentTokens",
        TOKENS,
        "20000",
        "Tokens of the newest messages that stay as they are",
    ),
    Setting::new(
        "context",
        "compaction.midTurnEnabled",
        SettingKind::Bool,
        "true",
        "Also between the requests of one prompt",
    ),
    Setting::new(
        "context",
        "compaction.autoContinue",
        SettingKind::Bool,
        "true",
        "Have the model go on with unfinished work afterwards",
    ),
    Setting::new("context", "compaction.dropUseless", SettingKind::Bool, "true", "Blank results that said nothing"),
    Setting::new(
        "context",
        "compaction.supersedeReads",
        SettingKind::Bool,
        "true",
        "Blank reads of files that were read again",
    ),
    Setting::new(
        "context",
        "compaction.remoteEnabled",
        SettingKind::Bool,
        "true",
        "Let the provider shorten the conversation itself, and the endpoint below make summaries",
    )
    .off_stays(),
    Setting::new(
        "",
        "compaction.remoteEndpoint",
        SettingKind::Text,
        "",
        "Where summaries are made instead of by a model",
    )
    .by_user(),
    Setting::new(
        "context",
        "compaction.handoffSaveToDisk",
        SettingKind::Bool,
        "false",
        "Also write the document of an automatic handoff into a file beside the session",
    ),
    Setting::new("context", "compaction.idleEnabled", SettingKind::Bool, "false", "Also while nobody says anything")
        .by_user(),
    Setting::new(
        "context",
        "compaction.idleThresholdTokens",
        TOKENS,
        "200000",
        "Tokens from which an idle session is shortened",
    ),
    Setting::new(
        "context",
        "compaction.idleTimeoutSeconds",
        SettingKind::Number { least: 1.0, most: 86_400.0 },
        "300",
        "Seconds of silence before that",
    ),
    Setting::new(
        "context",
        "contextPromotion.enabled",
        SettingKind::Bool,
        "true",
        "Switch to the larger model that the models file names before shortening",
    )
    .off_stays(),
    Setting::new(
        "context",
        "branchSummary.enabled",
        SettingKind::Bool,
        "false",
        "Sum up the branch that is left when the session goes on from another entry",
    ),
    Setting::new(
        "context",
        "branchSummary.reserveTokens",
        TOKENS,
        "16384",
        "Room that is left when a branch is summarized",
    ),
];

/// How the context is kept small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactionStrategy {
    /// A model writes a summary.
    ContextFull,
    /// A model writes a document, with which the conversation begins anew.
    Handoff,
    /// Old tool output and thinking is shortened without a model.
    Shake,
    /// Images of the history; not built yet, so a summary is written.
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

/// When the context counts as full, and what stays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompactionLimits {
    pub reserve_tokens: u64,
    pub keep_recent_tokens: u64,
    /// Not positive: none.
    pub threshold_percent: f64,
    pub threshold_tokens: f64,
}

/// When a session is shortened that nobody talks to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleCompaction {
    pub threshold_tokens: u64,
    pub timeout: Duration,
}

/// What is told of branches that are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchSummaries {
    /// Also where nobody asks for it.
    pub always: bool,
    pub reserve_tokens: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CompactionSettings {
    pub enabled: bool,
    pub strategy: CompactionStrategy,
    /// Documents of automatic handoffs go into files, too.
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
        Self {
            enabled: true,
            strategy: CompactionStrategy::ContextFull,
            saves_handoffs: false,
            limits: CompactionLimits {
                reserve_tokens: 16_384,
                keep_recent_tokens: 20_000,
                threshold_percent: -1.0,
                threshold_tokens: -1.0,
            },
            mid_turn: true,
            auto_continue: true,
            drop_useless: true,
            supersede_reads: true,
            remote: true,
            idle: None,
            promotes: true,
            branches: BranchSummaries { always: false, reserve_tokens: 16_384 },
        }
    }
}

impl CompactionSettings {
    pub fn from_settings(settings: &Settings) -> Self {
        let default = Self::default();
        let on = |key: &str, or: bool| settings.get(key).unwrap_or(or);
        let number = |key: &str| settings.get::<f64>(key).filter(|number| number.is_finite());
        let tokens =
            |key: &str, or: u64| number(key).filter(|tokens| *tokens >= 0.0).map_or(or, |tokens| tokens as u64);
        let named: Option<String> = settings.get("compaction.strategy");
        let strategy = named.and_then(|name| CompactionStrategy::ALL.into_iter().find(|one| one.as_str() == name));
        let idle = IdleCompaction {
            threshold_tokens: tokens("compaction.idleThresholdTokens", 200_000),
            timeout: Duration::from_secs(tokens("compaction.idleTimeoutSeconds", 300).clamp(1, 86_400)),
        };
        Self {
            enabled: on("compaction.enabled", default.enabled),
            strategy: strategy.unwrap_or(default.strategy),
            saves_handoffs: on("compaction.handoffSaveToDisk", default.saves_handoffs),
            limits: CompactionLimits {
                reserve_tokens: tokens("compaction.reserveTokens", default.limits.reserve_tokens),
                keep_recent_tokens: tokens("compaction.keepRecentTokens", default.limits.keep_recent_tokens),
                threshold_percent: number("compaction.thresholdPercent").unwrap_or(-1.0),
                threshold_tokens: number("compaction.thresholdTokens").unwrap_or(-1.0),
            },
            mid_turn: on("compaction.midTurnEnabled", default.mid_turn),
            auto_continue: on("compaction.autoContinue", default.auto_continue),
            drop_useless: on("compaction.dropUseless", default.drop_useless),
            supersede_reads: on("compaction.supersedeReads", default.supersede_reads),
            remote: on("compaction.remoteEnabled", default.remote),
            idle: on("compaction.idleEnabled", false).then_some(idle),
            promotes: on("contextPromotion.enabled", default.promotes),
            branches: BranchSummaries {
                always: on("branchSummary.enabled", default.branches.always),
                reserve_tokens: tokens("branchSummary.reserveTokens", default.branches.reserve_tokens),
            },
        }
    }
}

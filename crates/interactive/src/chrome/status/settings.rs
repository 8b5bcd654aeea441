//! The settings of the status line.

use omp_types::SettingKind::{Bool, ListOf, Map, Number, OneOf, Text};
use omp_types::{ListItem, Setting};

use super::look::{PRESETS, SEPARATORS};
use super::segment::SEGMENTS;

const SEGMENT_LIST: omp_types::SettingKind = ListOf(ListItem::Word(SEGMENTS));

pub const STATUS_SETTINGS: &[Setting] = &[
    Setting::new(
        "Look",
        "statusLine.preset",
        OneOf(PRESETS),
        "\"default\"",
        "Which segments the status line shows; `custom` uses the two lists below.",
    )
    .titled("Status line"),
    Setting::new(
        "Look",
        "statusLine.separator",
        OneOf(SEPARATORS),
        "",
        "Separator between segments; each preset has its own.",
    )
    .titled("Status line separator"),
    Setting::new("", "statusLine.leftSegments", SEGMENT_LIST, "[]", "Segments on the left, if the preset is `custom`.")
        .titled("Segments on the left"),
    Setting::new(
        "",
        "statusLine.rightSegments",
        SEGMENT_LIST,
        "[]",
        "Segments on the right, if the preset is `custom`.",
    )
    .titled("Segments on the right"),
    Setting::new("", "statusLine.segmentOptions", Map, "{}", "Options of segments, with every preset.")
        .titled("Segment options"),
    Setting::new(
        "Look",
        "statusLine.sessionAccent",
        Bool,
        "true",
        "Give each session its own colour, derived from its title.",
    )
    .titled("Session colour"),
    Setting::new("Look", "statusLine.transparent", Bool, "false", "Draw the status line without a background.")
        .titled("Transparent status line"),
    Setting::new("", "statusLine.compactThinkingLevel", Bool, "false", "Shorten the thinking level: min, med.")
        .titled("Short thinking level"),
    Setting::new(
        "",
        "statusLine.command",
        Text,
        "\"\"",
        "Shell command whose first line of output is the `command` segment.",
    )
    .titled("Status line command")
    .by_user(),
    Setting::new(
        "",
        "statusLine.commandTimeout",
        Number { least: 0.1, most: 30.0 },
        "2",
        "Seconds after which the status line command is stopped.",
    )
    .titled("Time limit of the command")
    .by_user(),
    Setting::new(
        "",
        "statusLine.commandInterval",
        Number { least: 0.0, most: 3600.0 },
        "10",
        "Seconds between two runs of the status line command; 0 runs it only after each answer and tool call.",
    )
    .titled("Interval of the command")
    .by_user(),
];

//! The settings for the appearance of the terminal.

use omp_types::Setting;
use omp_types::SettingKind::{Bool, Number, OneOf, Text};

const fn count(most: f64) -> omp_types::SettingKind {
    Number { least: 0.0, most }
}

pub const SETTINGS: &[Setting] = &[
    Setting::new("Look", "theme.dark", Text, "", "theme on a dark background; dark"),
    Setting::new("Look", "theme.light", Text, "", "theme on a light background; light"),
    Setting::new("Look", "hideThinkingBlock", Bool, "false", "what the model thinks is not shown"),
    Setting::new(
        "Look",
        "tui.hyperlinks",
        OneOf(&["off", "auto", "always"]),
        "\"auto\"",
        "links that can be clicked, where the terminal can",
    ),
    Setting::new("Look", "tui.renderMermaid", Bool, "true", "Mermaid code blocks are drawn as diagrams"),
    Setting::new("Files", "terminal.showImages", Bool, "true", "images are drawn where the terminal can"),
    Setting::new(
        "Files",
        "tui.maxInlineImageColumns",
        count(10_000.0),
        "100",
        "columns of an image at most; 0: by the screen",
    ),
    Setting::new(
        "Files",
        "tui.maxInlineImageRows",
        count(10_000.0),
        "20",
        "rows of an image at most; 0: by the screen",
    ),
    Setting::new("Files", "tui.maxInlineImages", count(64.0), "8", "images drawn at a time; 0: 64"),
];

//! The settings for the appearance of the terminal.

use omp_types::Setting;
use omp_types::SettingKind::{Bool, Number, OneOf, Text};

const fn count(most: f64) -> omp_types::SettingKind {
    Number { least: 0.0, most }
}

pub const SETTINGS: &[Setting] = &[
    Setting::new("Look", "theme.dark", Text, "", "Theme for dark backgrounds; the default is dark.")
        .titled("Dark theme"),
    Setting::new("Look", "theme.light", Text, "", "Theme for light backgrounds; the default is light.")
        .titled("Light theme"),
    Setting::new("Look", "hideThinkingBlock", Bool, "false", "Do not show the model's thinking.")
        .titled("Hide thinking"),
    Setting::new(
        "Look",
        "tui.hyperlinks",
        OneOf(&["off", "auto", "always"]),
        "\"auto\"",
        "Make links clickable: never, if the terminal supports it, or always.",
    )
    .titled("Clickable links"),
    Setting::new("Look", "tui.renderMermaid", Bool, "true", "Draw Mermaid code blocks as diagrams.")
        .titled("Draw Mermaid diagrams"),
    Setting::new("Files", "terminal.showImages", Bool, "true", "Draw images if the terminal supports it.")
        .titled("Show images"),
    Setting::new(
        "Files",
        "tui.maxInlineImageColumns",
        count(10_000.0),
        "100",
        "Maximum width of an image in columns; 0 uses the screen width.",
    )
    .titled("Image width"),
    Setting::new(
        "Files",
        "tui.maxInlineImageRows",
        count(10_000.0),
        "20",
        "Maximum height of an image in rows; 0 uses the screen height.",
    )
    .titled("Image height"),
    Setting::new(
        "Files",
        "tui.maxInlineImages",
        count(64.0),
        "8",
        "Maximum number of images drawn at the same time; 0 means 64.",
    )
    .titled("Images on screen"),
];

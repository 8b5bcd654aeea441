//! The table of `docs/settings.md`, generated from the declared settings so that it cannot go stale.

use std::fmt::Write as _;

use omp_types::{ListItem, Reach, Setting, SettingKind};

/// The markers around the generated table.
#[cfg(test)]
pub const PAGE_BEGIN: &str = "<!-- settings: begin, written by `cargo run -p xtask -- docs` -->";
#[cfg(test)]
pub const PAGE_END: &str = "<!-- settings: end -->";

pub fn markdown(settings: &[Setting]) -> String {
    let mut page = String::from("| key | default | values | meaning |\n|---|---|---|---|\n");
    let mut settings = settings.to_vec();
    settings.sort_by_key(|setting| setting.key);
    for setting in settings {
        let default = match setting.default {
            "" => String::new(),
            default => format!("`{}`", default.trim_matches('"')),
        };
        let who = match setting.reach {
            Reach::User => " (user only)",
            Reach::OffStays => " (a project can only turn it off)",
            Reach::Anyone => "",
        };
        let name = if setting.kind.is_map() { format!("{}.<name>", setting.key) } else { setting.key.to_owned() };
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "| `{name}` | {default} | {} | **{}**: {}{who} |",
            values(setting.kind),
            setting.title,
            setting.about.replace('|', "\\|")
        );
    }
    page
}

fn values(kind: SettingKind) -> String {
    let words = |words: &[&str]| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" ");
    match kind {
        SettingKind::Bool => "`true` `false`".to_owned(),
        SettingKind::OneOf(all) | SettingKind::MapOf(all) => words(all),
        SettingKind::Number { least, most } => format!("{least} to {most}"),
        SettingKind::Text | SettingKind::Map => "text".to_owned(),
        SettingKind::List | SettingKind::ListOf(ListItem::Text) => "list".to_owned(),
        SettingKind::ListOf(ListItem::Path) => "paths from `/` or `~/`".to_owned(),
        SettingKind::ListOf(ListItem::Word(all)) => format!("list of {}", words(all)),
        SettingKind::ListOf(ListItem::WordOrPath(all)) => format!("{}, paths from `/` or `~/`", words(all)),
    }
}

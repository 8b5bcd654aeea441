//! How a crate declares the settings it owns. `omp` gathers the lists; files, screens, `omp config` and the JSON Schema are
//! made from them.

/// What values a setting takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SettingKind {
    Bool,
    OneOf(&'static [&'static str]),
    Number {
        least: f64,
        most: f64,
    },
    Text,
    List,
    /// Names with values of their own, such as `modelRoles`.
    Map,
}

/// One setting, declared once, by the crate that reads it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Dotted, such as `retry.maxRetries`.
    pub key: &'static str,
    pub kind: SettingKind,
    /// As JSON; empty when there is none.
    pub default: &'static str,
    pub about: &'static str,
    /// The group it is shown in; empty where it is not offered on a screen.
    pub tab: &'static str,
}

impl Setting {
    pub const fn new(
        tab: &'static str,
        key: &'static str,
        kind: SettingKind,
        default: &'static str,
        about: &'static str,
    ) -> Self {
        Self { key, kind, default, about, tab }
    }
}

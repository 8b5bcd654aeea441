//! Settings as declared by a crate: an unset setting has its declared default.

use omp_types::Setting;
use serde::de::DeserializeOwned;

use crate::Settings;

/// The settings of one declared list. An undeclared key is a programming error.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredSettings<'a> {
    settings: &'a Settings,
    declared: &'a [Setting],
}

impl Settings {
    pub fn of<'a>(&'a self, declared: &'a [Setting]) -> DeclaredSettings<'a> {
        DeclaredSettings { settings: self, declared }
    }
}

impl DeclaredSettings<'_> {
    /// Returns the effective value, or the default if it is unset or has another type.
    pub fn get<T: DeserializeOwned + Default>(&self, key: &str) -> T {
        self.settings.get(key).unwrap_or_else(|| self.default(key))
    }

    /// Returns the value from all layers except the project's, or the default.
    pub fn user<T: DeserializeOwned + Default>(&self, key: &str) -> T {
        self.settings.user(key).unwrap_or_else(|| self.default(key))
    }

    pub fn default<T: DeserializeOwned + Default>(&self, key: &str) -> T {
        Setting::default_of(self.declared, key)
    }
}

#[cfg(test)]
mod tests {
    use omp_types::SettingKind;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_nobody_has_set_has_its_declared_default() {
        let declared = [
            Setting::new("", "a.count", SettingKind::Text, "3", ""),
            Setting::new("", "a.list", SettingKind::List, "", ""),
        ];
        let mut settings = Settings::default();
        assert_eq!(settings.of(&declared).get::<u64>("a.count"), 3);
        assert_eq!(settings.of(&declared).user::<Vec<String>>("a.list"), Vec::<String>::new());
        settings.set_runtime("a.count", json!("many"));
        assert_eq!(settings.of(&declared).get::<u64>("a.count"), 3, "of another type");
        settings.set_runtime("a.count", json!(5));
        assert_eq!((settings.of(&declared).get::<u64>("a.count"), settings.of(&declared).user("a.count")), (5, 5));
    }
}

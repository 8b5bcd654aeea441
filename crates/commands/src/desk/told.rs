//! The replies of `/settings` in a session: the output of the command line as text.

use omp_config::Named;

use super::{SettingsDesk, shown};

impl SettingsDesk {
    /// Lists every setting with its value and source, or only those that are set.
    pub fn listed(&self, changed: bool) -> String {
        match self.list(changed) {
            empty if empty.is_empty() => "all settings have their default values".to_owned(),
            text => text,
        }
    }

    /// Describes one setting: its value, its source, and its allowed values.
    pub fn described(&self, key: &str) -> Result<String, String> {
        let key = self.key(key)?;
        let (value, from) = self.value(&key);
        let mut text = format!("{key} = {} ({})", shown(&value), self.told_from(&from));
        if let Some(Named::Setting(setting)) = self.known().find(&key) {
            text.push_str(&format!("\n{}: {}\nExpected: {}.", setting.title, setting.about, setting.kind.expected()));
        }
        Ok(text)
    }

    pub fn set_told(&self, key: &str, text: &str) -> Result<String, String> {
        let known = self.key(key)?;
        Ok(self.with_stronger(&known, self.set(key, text)??))
    }

    pub fn reset_told(&self, key: &str) -> Result<String, String> {
        let told = self.reset(key)??;
        Ok(self.with_stronger(key, told))
    }

    fn with_stronger(&self, key: &str, told: String) -> String {
        match self.stronger(key) {
            Some(stronger) => format!("{}\n{stronger}", told.trim_end()),
            None => told,
        }
    }
}

//! The desk for who types `/settings` in a session: what the command line prints, as text.

use omp_config::Named;

use super::{SettingsDesk, shown};

impl SettingsDesk {
    /// Every setting with its value and where that comes from, or those that are set somewhere.
    pub fn listed(&self, changed: bool) -> String {
        match self.list(changed) {
            empty if empty.is_empty() => "everything is as it comes".to_owned(),
            text => text,
        }
    }

    /// One setting: its value, where that comes from, and what it may be.
    pub fn described(&self, key: &str) -> Result<String, String> {
        let key = self.key(key)?;
        let (value, from) = self.value(&key);
        let mut text = format!("{key} = {} ({})", shown(&value), self.told_from(&from));
        if let Some(Named::Setting(setting)) = self.known().find(&key) {
            text.push_str(&format!("\n{}\nIt is {}.", setting.about, setting.kind.expected()));
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

//! Removes secrets permanently from output that is read elsewhere: pages, dumps, logs, recordings.

use std::borrow::Cow;

use omp_types::Redact;

use crate::found::SecretMode;
use crate::veil::{REDACTED, Veil};

impl Redact for Veil {
    fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let patterns = self.patterns();
        if patterns.is_empty() {
            return Cow::Borrowed(text);
        }
        patterns.replaced(text, |hit, _| {
            let mode = hit.wanted.and_then(|index| patterns.wanted(index)).map(|wanted| &wanted.mode);
            match mode {
                Some(SecretMode::Replace(Some(text))) => text.clone(),
                _ => REDACTED.to_owned(),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::found::{FoundSecret, SecretEntry, SecretKind, SecretOrigin};
    use crate::key::VeilKey;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let entry = |kind, content: &str, mode| FoundSecret {
            name: "n".into(),
            entry: SecretEntry { kind, content: content.into(), mode },
            origin: SecretOrigin::File,
        };
        let found = vec![
            entry(SecretKind::Plain, "hunter2", SecretMode::Obfuscate),
            entry(SecretKind::Plain, "sesame", SecretMode::Replace(Some("***".into()))),
            entry(SecretKind::Plain, "length", SecretMode::Replace(None)),
            entry(SecretKind::Regex("i".into()), "akia[0-9]+", SecretMode::Obfuscate),
        ];
        let (veil, told) = Veil::new(VeilKey::random(), found);
        assert!(told.is_empty());
        assert_eq!(veil.redact(text), expect);
        assert_eq!(veil.redact(&veil.redact(text)), expect, "twice");
    }

    #[test]
    fn nothing_stands_there_that_leads_back() {
        check("nothing", "nothing");
        check("a hunter2, a sesame", "a [redacted], a ***");
        check("length AKIA123.", "[redacted] [redacted].");
        check("hunter2hunter2", "[redacted][redacted]");
    }
}

//! Takes secrets out for good, for what is read elsewhere: pages, dumps, logs, recordings.

use std::borrow::Cow;

use omp_types::Redact;

use crate::found::Mode;
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
                Some(Mode::Replace(Some(text))) => text.clone(),
                _ => REDACTED.to_owned(),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::found::{Entry, Found, Kind, Origin};
    use crate::key::Key;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let entry = |kind, content: &str, mode| Found {
            name: "n".into(),
            entry: Entry { kind, content: content.into(), mode },
            origin: Origin::File,
        };
        let found = vec![
            entry(Kind::Plain, "hunter2", Mode::Obfuscate),
            entry(Kind::Plain, "sesame", Mode::Replace(Some("***".into()))),
            entry(Kind::Plain, "length", Mode::Replace(None)),
            entry(Kind::Regex("i".into()), "akia[0-9]+", Mode::Obfuscate),
        ];
        let (veil, told) = Veil::new(Key::random(), found);
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

//! Indentation difference between a searched text and its match in the file, so that new lines can be indented the same way.

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shift {
    Same,
    /// Every line of the file has this additional prefix.
    Deeper(String),
    /// Every line of the text has this additional prefix.
    Shallower(String),
    /// One indentation unit of the text corresponds to one of the file, such as four spaces to a tab.
    Units {
        text: String,
        file: String,
    },
}

impl Shift {
    /// Returns the shift that maps all lines of the text to those of the file, if there is one.
    pub fn between<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Option<Self> {
        let pairs: Vec<(&str, &str)> = pairs
            .filter(|(text, _)| !text.trim().is_empty())
            .map(|(text, file)| (indent(text), indent(file)))
            .collect();
        if pairs.iter().all(|(text, file)| text == file) {
            return Some(Shift::Same);
        }
        let (text, file) = *pairs.first()?;
        let guesses = [
            file.strip_suffix(text).map(|more| Shift::Deeper(more.into())),
            text.strip_suffix(file).map(|more| Shift::Shallower(more.into())),
            Self::units(&pairs),
        ];
        guesses
            .into_iter()
            .flatten()
            .find(|shift| pairs.iter().all(|(text, file)| shift.indent(text).as_deref() == Some(*file)))
    }

    fn units(pairs: &[(&str, &str)]) -> Option<Self> {
        let (text, file) = pairs.iter().find(|(text, file)| !text.is_empty() && !file.is_empty())?;
        let only = |indent: &str, char: char| indent.chars().all(|it| it == char);
        let (text_unit, file_unit) = if only(text, ' ') && only(file, '\t') && text.len().is_multiple_of(file.len()) {
            (" ".repeat(text.len() / file.len()), "\t".to_owned())
        } else if only(text, '\t') && only(file, ' ') && file.len().is_multiple_of(text.len()) {
            ("\t".to_owned(), " ".repeat(file.len() / text.len()))
        } else {
            return None;
        };
        Some(Shift::Units { text: text_unit, file: file_unit })
    }

    /// Returns a new line with adjusted indentation, or `None` if its indentation does not fit the shift.
    pub fn apply(&self, line: &str) -> Option<String> {
        if line.trim().is_empty() {
            return Some(line.to_owned());
        }
        let own = indent(line);
        self.indent(own).map(|shifted| shifted + &line[own.len()..])
    }

    fn indent(&self, own: &str) -> Option<String> {
        match self {
            Shift::Same => Some(own.into()),
            Shift::Deeper(more) => Some(format!("{more}{own}")),
            Shift::Shallower(less) => own.strip_prefix(less.as_str()).map(Into::into),
            Shift::Units { text, file } => {
                let units = own.len() / text.len();
                (own == text.repeat(units)).then(|| file.repeat(units))
            }
        }
    }
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &[&str], file: &[&str], new: &str, want: Option<&str>) {
        let shift = Shift::between(text.iter().copied().zip(file.iter().copied()));
        assert_eq!(shift.and_then(|shift| shift.apply(new)).as_deref(), want, "{text:?} {file:?}");
    }

    #[test]
    fn shifts() {
        check(&["a", "  b"], &["a", "  b"], "    x", Some("    x"));
        check(&["a", "  b"], &["    a", "      b"], "  x", Some("      x"));
        check(&["    a", "      b"], &["a", "  b"], "    x", Some("x"));
        check(&["    a"], &["  a"], "x", None);
        check(&["a", "  b"], &["  a", "  b"], "x", None);
        check(&["    a", "        b"], &["\ta", "\t\tb"], "            x", Some("\t\t\tx"));
        check(&["a", "    b"], &["a", "\tb"], "        x", Some("\t\tx"));
        check(&["\ta"], &["    a"], "\t\tx", Some("        x"));
        check(&["a", "", "b"], &[" a", "", " b"], "", Some(""));
    }
}

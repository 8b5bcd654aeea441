//! Parses sed scripts, which can run programs (`e`, `s///e`), write files (`w`, `s///w`) and be read from files.

use crate::ShellWord;
use crate::interpret::CommandMeaning;
use crate::options::is_long;

const LONG_FLAGS: &[&str] = &[
    "--quiet",
    "--silent",
    "--regexp-extended",
    "--separate",
    "--unbuffered",
    "--null-data",
    "--zero-terminated",
    "--posix",
    "--debug",
    "--sandbox",
    "--follow-symlinks",
    "--binary",
    "--version",
    "--help",
    "--in-place",
];

pub(crate) fn tell(meaning: &mut CommandMeaning<'_>) {
    let words = meaning.words()[1..].to_vec();
    let is_plain = scripts(&words)
        .is_some_and(|scripts| scripts.iter().all(|script| script.known && SedScanner::new(&script.text).is_plain()));
    if !is_plain {
        meaning.unknown("what the sed script does");
    }
}

/// Returns `None` if an option is unknown, or names a file that holds the script.
fn scripts(words: &[ShellWord]) -> Option<Vec<ShellWord>> {
    let (mut scripts, mut operand) = (Vec::new(), None);
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let text = word.text.as_str();
        if text == "--" {
            operand = operand.or(rest.next().cloned());
            break;
        } else if is_long("--expression", text) {
            scripts.push(match text.split_once('=') {
                Some((_, script)) => ShellWord { text: script.to_owned(), ..word.clone() },
                None => rest.next()?.clone(),
            });
        } else if text.starts_with("--") {
            LONG_FLAGS.iter().find(|flag| is_long(flag, text))?;
        } else if text.len() > 1 && text.starts_with('-') {
            scripts.extend(short(word, &mut rest)?);
        } else {
            operand = operand.or(Some(word.clone()));
        }
    }
    if scripts.is_empty() {
        scripts.extend(operand);
    }
    Some(scripts)
}

/// Returns the script in a bundle of short options.
fn short<'a>(word: &ShellWord, rest: &mut impl Iterator<Item = &'a ShellWord>) -> Option<Option<ShellWord>> {
    for (at, letter) in word.text.char_indices().skip(1) {
        let attached = &word.text[at + letter.len_utf8()..];
        match letter {
            'n' | 'E' | 'r' | 's' | 'u' | 'z' | 'b' | 'a' => {}
            // The rest is the suffix for backup files.
            'i' | 'I' => return Some(None),
            'e' if attached.is_empty() => return rest.next().cloned().map(Some),
            'e' => return Some(Some(ShellWord { text: attached.to_owned(), ..word.clone() })),
            'l' => {
                if attached.is_empty() {
                    rest.next()?;
                }
                return Some(None);
            }
            _ => return None,
        }
    }
    Some(None)
}

/// Scans a script and accepts only what GNU and BSD interpret alike.
struct SedScanner<'a> {
    rest: &'a str,
}

impl<'a> SedScanner<'a> {
    fn new(script: &'a str) -> Self {
        Self { rest: script }
    }

    fn is_plain(&mut self) -> bool {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\n', ';', '{', '}']);
            if self.rest.is_empty() {
                return true;
            }
            if self.command().is_none() {
                return false;
            }
        }
    }

    fn command(&mut self) -> Option<()> {
        self.addresses()?;
        match self.next()? {
            's' => {
                let delimiter = self.delimiter()?;
                self.pattern(delimiter)?;
                self.until(delimiter)?;
                self.skip(|char| char.is_ascii_digit() || "gpiImM".contains(char));
            }
            'y' => {
                let delimiter = self.delimiter()?;
                self.until(delimiter)?;
                self.until(delimiter)?;
            }
            'p' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'x' | '=' | 'P' | 'z' => {}
            'q' | 'Q' | 'l' => {
                self.skip(|char| char == ' ');
                self.skip(|char| char.is_ascii_digit());
            }
            'b' | 't' | 'T' | ':' => {
                self.skip(|char| char == ' ');
                self.skip(|char| char.is_ascii_alphanumeric() || char == '_');
            }
            '{' => return Some(()),
            _ => return None,
        }
        self.skip(|char| matches!(char, ' ' | '\t'));
        (self.rest.is_empty() || self.rest.starts_with([';', '\n', '}'])).then_some(())
    }

    fn addresses(&mut self) -> Option<()> {
        self.address()?;
        self.skip(|char| char == ' ');
        if let Some(behind) = self.rest.strip_prefix(',') {
            self.rest = behind.trim_start_matches([' ', '+', '~']);
            self.address()?;
        }
        self.skip(|char| matches!(char, ' ' | '!'));
        Some(())
    }

    fn address(&mut self) -> Option<()> {
        if let Some(behind) = self.rest.strip_prefix('/') {
            self.rest = behind;
            self.pattern('/')?;
            self.skip(|char| matches!(char, 'I' | 'M'));
        } else if let Some(behind) = self.rest.strip_prefix('$') {
            self.rest = behind;
        } else {
            self.skip(|char| char.is_ascii_digit() || char == '~');
        }
        Some(())
    }

    fn delimiter(&mut self) -> Option<char> {
        self.next().filter(|char| !char.is_alphanumeric() && !matches!(char, '\\' | '\n' | ' ' | '[' | ';'))
    }

    /// Reads a regular expression up to its delimiter. Delimiters in brackets are interpreted differently.
    fn pattern(&mut self, delimiter: char) -> Option<()> {
        let before = self.rest;
        self.until(delimiter)?;
        let pattern = &before[..before.len() - self.rest.len()];
        let is_open = pattern.rfind('[').is_some_and(|at| !pattern[at..].contains(']'));
        (!is_open).then_some(())
    }

    fn until(&mut self, delimiter: char) -> Option<()> {
        loop {
            match self.next()? {
                '\\' => drop(self.next()?),
                char if char == delimiter => return Some(()),
                _ => {}
            }
        }
    }

    fn next(&mut self) -> Option<char> {
        let char = self.rest.chars().next()?;
        self.rest = &self.rest[char.len_utf8()..];
        Some(char)
    }

    fn skip(&mut self, is_part: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(is_part);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_only_changes_text_is_told_from_what_runs_or_writes() {
        for (script, expect) in [
            ("sed -n '1,20p' a", true),
            ("sed -n 5p a", true),
            ("sed -n '$p' a", true),
            ("sed -n '/a/,/b/p' a", true),
            ("sed 's/\\./_/g; s|a/b|c|' a", true),
            ("sed -E 's/[a-z]+/x/2gI' a", true),
            ("sed '1,/x/d;$!N' a", true),
            ("sed -e s/a/b/ -e '/c/d' a", true),
            ("sed --expression=s/a/b/ a", true),
            ("sed '/a/{s/b/c/;p}' a", true),
            ("sed ':a;N;$!ba;s/\\n/,/g' a", true),
            ("sed y/abc/xyz/ a", true),
            ("sed 10q a", true),
            ("sed -i.bak s/a/b/ a", true),
            ("sed '1e id' a", false),
            ("sed -e'1e id' a", false),
            ("sed -ne '1e id' a", false),
            ("sed -ne1e a", false),
            ("sed --expression='1e id' a", false),
            ("sed --expr '1e id' a", false),
            ("sed -- '1e id' a", false),
            ("sed a --expression e", false),
            ("sed 's/a/id/e' a", false),
            ("sed 's/a/id/ge' a", false),
            ("sed 's/a/b/w x' a", false),
            ("sed 'w x' a", false),
            ("sed '/a/w x' a", false),
            ("sed '/a/{p;w x\n}' a", false),
            ("sed 's/a/b/;e' a", false),
            ("sed 'R x' a", false),
            ("sed -f x a", false),
            ("sed --fi=x a", false),
            ("sed -nf x a", false),
            ("sed 's/[/]/e;x/' a", false),
            ("sed 's/a\\/b/c' a", false),
            ("sed \"$X\" a", false),
            ("sed 'b a;e id' a", false),
            ("sed 'a text' a", false),
        ] {
            assert_eq!(crate::read(script).unknown.is_empty(), expect, "{script}");
        }
    }
}

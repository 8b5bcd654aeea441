//! Rules on commands: `git push *` against the words of a program as the shell would start it.
//!
//! Words are compared with words, never text with text, so that `git push` is not `git pushx` and a quoted argument
//! cannot pretend to be two.

/// The words of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandPattern {
    tokens: Vec<Token>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// `*` on its own: any number of words, none included.
    Any,
    Word(Vec<Piece>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Star,
    Char(char),
}

/// Whether a rule that forbids speaks of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forbids {
    Yes,
    No,
    /// Some of the words are not known before it runs.
    Perhaps,
}

impl CommandPattern {
    /// `*` stands for anything unless it is quoted; a rule may end in `:*` for ` *`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (text, open) = match text.strip_suffix(":*") {
            Some(text) => (text, true),
            None => (text, false),
        };
        let mut tokens = split(text)?;
        if open {
            tokens.push(Token::Any);
        }
        if tokens.is_empty() {
            return Err("it names no command".to_owned());
        }
        Ok(Self { tokens })
    }

    /// An allow says what it says: the very program, and every word known.
    pub fn allows(&self, words: &[String], whole: bool) -> bool {
        whole && !words.is_empty() && matches(&self.tokens, words, |token, word| token.fits(word))
    }

    /// A program is forbidden wherever it lies, and a verb of git whatever options stand before it.
    pub fn forbids(&self, words: &[String], whole: bool) -> Forbids {
        let mut answer = Forbids::No;
        for words in spellings(words) {
            if matches(&self.tokens, &words, |token, word| token.fits(word)) {
                return Forbids::Yes;
            }
            if !whole && self.may_be(&words) {
                answer = Forbids::Perhaps;
            }
        }
        answer
    }

    /// Whether words that only running decides could make it this command.
    fn may_be(&self, words: &[String]) -> bool {
        for (at, token) in self.tokens.iter().enumerate() {
            match words.get(at) {
                _ if *token == Token::Any => return true,
                Some(word) if is_open(word) => return true,
                Some(word) if token.fits(word) => {}
                _ => return words.is_empty(),
            }
        }
        words[self.tokens.len()..].iter().all(|word| is_open(word))
    }
}

/// Whether a word is not known before it runs, told by how it is written.
fn is_open(word: &str) -> bool {
    word.is_empty() || word.contains(['$', '`', '*', '?', '[', '{', '~', '(', '\u{2026}'])
}

/// Ways to say the same.
fn spellings(words: &[String]) -> Vec<Vec<String>> {
    let mut all = vec![words.to_vec()];
    let Some((program, rest)) = words.split_first() else { return all };
    let name = program.rsplit('/').next().unwrap_or(program).to_owned();
    if name == "git" {
        let mut rest = rest.iter();
        let mut verb = rest.next();
        while let Some(option) = verb.filter(|word| word.starts_with('-')) {
            if matches!(option.as_str(), "-c" | "-C" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path") {
                rest.next();
            }
            verb = rest.next();
        }
        all.push(std::iter::once(name.clone()).chain(verb.into_iter().chain(rest).cloned()).collect());
    }
    all.push(std::iter::once(name).chain(rest.iter().cloned()).collect());
    all
}

/// A word as a rule has to have it to mean exactly this word.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |char: char| char.is_alphanumeric() || "_-./=@%+,^~".contains(char);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        // A colon is plain but at the end, where `:*` could come of it.
        false if !word.is_empty() && word.chars().all(|char| plain(char) || char == ':') && !word.ends_with(':') => {
            word.to_owned()
        }
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

impl Token {
    fn fits(&self, word: &str) -> bool {
        match self {
            Token::Any => true,
            Token::Word(pieces) => {
                let chars: Vec<char> = word.chars().collect();
                wild(pieces, &chars, |piece| *piece == Piece::Star, |piece, char| *piece == Piece::Char(*char))
            }
        }
    }
}

fn matches(tokens: &[Token], words: &[String], fits: impl Fn(&Token, &str) -> bool) -> bool {
    wild(tokens, words, |token| *token == Token::Any, |token, word| fits(token, word))
}

/// Wildcards without ever trying more than pattern × text.
fn wild<P, T>(pattern: &[P], text: &[T], is_star: impl Fn(&P) -> bool, fits: impl Fn(&P, &T) -> bool) -> bool {
    let (mut at, mut seen) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while seen < text.len() {
        match pattern.get(at) {
            Some(piece) if is_star(piece) => {
                star = Some((at, seen));
                at += 1;
            }
            Some(piece) if fits(piece, &text[seen]) => (at, seen) = (at + 1, seen + 1),
            _ => {
                let Some((behind, taken)) = star else { return false };
                star = Some((behind, taken + 1));
                (at, seen) = (behind + 1, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(is_star)
}

/// Words as a shell reads them, with quotes; what is quoted means itself.
fn split(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut word: Option<(Vec<Piece>, bool)> = None;
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        if char.is_whitespace() {
            tokens.extend(word.take().map(finished));
            continue;
        }
        let (pieces, is_quoted) = word.get_or_insert_default();
        match char {
            '*' => pieces.push(Piece::Star),
            '\\' => pieces.push(Piece::Char(chars.next().ok_or("it ends with a backslash")?)),
            '\'' | '"' => {
                *is_quoted = true;
                quoted_part(char, &mut chars, pieces)?;
            }
            char => pieces.push(Piece::Char(char)),
        }
    }
    tokens.extend(word.take().map(finished));
    Ok(tokens)
}

fn quoted_part(quote: char, chars: &mut std::str::Chars<'_>, pieces: &mut Vec<Piece>) -> Result<(), String> {
    loop {
        match chars.next() {
            None => return Err(format!("a {quote} is not closed")),
            Some(char) if char == quote => return Ok(()),
            Some('\\') if quote == '"' => pieces.push(Piece::Char(chars.next().ok_or("a quote is not closed")?)),
            Some(char) => pieces.push(Piece::Char(char)),
        }
    }
}

fn finished((pieces, is_quoted): (Vec<Piece>, bool)) -> Token {
    if !is_quoted && pieces == [Piece::Star] { Token::Any } else { Token::Word(pieces) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split('|').map(str::to_owned).collect()
    }

    #[track_caller]
    fn check(pattern: &str, command: &str, allows: bool, forbids: Forbids) {
        let parsed = CommandPattern::parse(pattern).unwrap();
        assert_eq!(parsed.allows(&words(command), true), allows, "allow {pattern} / {command}");
        assert_eq!(parsed.forbids(&words(command), true), forbids, "deny {pattern} / {command}");
    }

    #[test]
    fn words_are_compared_with_words() {
        use Forbids::{No, Yes};
        for (pattern, command, allows, forbids) in [
            ("git push *", "git|push|origin|main", true, Yes),
            ("git push *", "git|push", true, Yes),
            ("git push *", "git|pushx", false, No),
            ("git push *", "git|push origin", false, No),
            ("git push *", "git push|x", false, No),
            ("git push *", "gitx|push", false, No),
            ("git push *", "/usr/bin/git|push", false, Yes),
            ("git push *", "./git|push", false, Yes),
            ("git push *", "git|-C|/x|--no-pager|push|-f", false, Yes),
            ("git push *", "git|-c|a=b|status", false, No),
            ("git push", "git|push|origin", false, No),
            ("npm run test:*", "npm|run|test|--watch", true, Yes),
            ("npm run test:*", "npm|run|test:unit", false, No),
            ("git * main", "git|log|--oneline|main", true, Yes),
            ("git * main", "git|log|maine", false, No),
            ("ls*", "lsof", true, Yes),
            ("ls *", "lsof", false, No),
            ("*", "anything|at|all", true, Yes),
            ("echo '*'", "echo|*", true, Yes),
            ("echo '*'", "echo|x", false, No),
            ("echo 'a b'", "echo|a b", true, Yes),
            ("echo 'a b'", "echo|a|b", false, No),
            ("echo \"it's\"", "echo|it's", true, Yes),
            ("echo ''", "echo|", true, Yes),
        ] {
            check(pattern, command, allows, forbids);
        }
    }

    #[test]
    fn unknown_words_are_never_allowed_and_perhaps_forbidden() {
        let pattern = CommandPattern::parse("git push *").unwrap();
        assert!(!pattern.allows(&words("git|push"), false));
        for (command, expect) in [
            ("git|$X", Forbids::Perhaps),
            ("$X|push", Forbids::Perhaps),
            ("git|push|$X", Forbids::Yes),
            ("git|status|$X", Forbids::No),
            ("git|-C|$X|push", Forbids::Yes),
            ("ls|$X", Forbids::No),
        ] {
            assert_eq!(pattern.forbids(&words(command), false), expect, "{command}");
        }
        assert_eq!(pattern.forbids(&[], false), Forbids::Perhaps);
        let exact = CommandPattern::parse("git push").unwrap();
        assert_eq!(exact.forbids(&words("git|push|$X"), false), Forbids::Perhaps);
    }

    #[test]
    fn what_is_no_command_is_refused() {
        for text in ["", "  ", "echo 'x", "echo \\", "echo \"x"] {
            assert!(CommandPattern::parse(text).is_err(), "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_quoted_word_means_exactly_itself(word in "[ -~é\n]{0,12}", other in "[ -~é\n]{0,12}") {
            let pattern = CommandPattern::parse(&format!("run {}", quoted(&word))).unwrap();
            proptest::prop_assert!(pattern.allows(&["run".into(), word.clone()], true));
            proptest::prop_assert_eq!(pattern.allows(&["run".into(), other.clone()], true), word == other);
        }
    }
}

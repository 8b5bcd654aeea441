//! Estimates the tokens of a text before a provider has counted them, without a vocabulary.
//!
//! Tokenizers split a text into words, numbers, punctuation and whitespace before looking anything up. This estimate splits
//! it in the same way and gives each piece the average cost of its kind and length. The tests compare it with o200k: within
//! 12% on prose, code, JSON, listings, compiler output, Chinese, Japanese, Korean, Russian and German. Other vocabularies
//! differ more, so a session corrects the estimate by its provider's counts.

#[cfg(test)]
mod tests;

use crate::content::Content;
use crate::message::Message;

/// The assumed cost of an image.
const IMAGE: u64 = 1_200;
/// Tokens for the role, ids and separators of a message.
const FRAME: u64 = 4;
/// Costs of pieces are summed in this fraction of a token.
const PARTS: u64 = 16;

/// Estimates the tokens of a text. One pass, no allocation.
pub fn estimate_tokens(text: &str) -> u64 {
    let mut counter = PieceCounter::default();
    for char in text.chars() {
        counter.take(char);
    }
    counter.finish()
}

/// Estimates the cost of a message when sent. Thinking counts: providers that want it back bill it.
pub fn estimate_message_tokens(message: &Message) -> u64 {
    FRAME + message.content().iter().map(of_block).sum::<u64>()
}

fn of_block(block: &Content) -> u64 {
    match block {
        Content::Text(text) => estimate_tokens(&text.text),
        Content::Thinking(thinking) => estimate_tokens(&thinking.thinking),
        Content::RedactedThinking(redacted) => estimate_tokens(&redacted.data),
        Content::Image(_) => IMAGE,
        Content::ToolCall(call) => {
            estimate_tokens(&call.name) + estimate_tokens(&serde_json::to_string(&call.arguments).unwrap_or_default())
        }
    }
}

/// The class of the characters of a piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CharacterClass {
    #[default]
    Nothing,
    /// Letters of one case, or a capital followed by lower-case letters.
    Small,
    Capitals,
    Digits,
    Blank,
    Break,
    Mark,
    /// Letters of an alphabet that vocabularies cover less than Latin.
    Alphabet,
    /// Each character is a word or a syllable.
    Ideograph,
    Kana,
    Hangul,
    /// Emoji, line drawing and other characters that are not letters.
    Sign,
}

/// Sums the costs of pieces character by character.
#[derive(Default)]
struct PieceCounter {
    kind: CharacterClass,
    length: u64,
    /// The class of the previous piece.
    before: CharacterClass,
    /// In fractions of a token.
    cost: u64,
}

impl PieceCounter {
    fn take(&mut self, char: char) {
        let kind = kind_of(char);
        // A capital begins a word, and a lower-case letter continues it.
        if kind == CharacterClass::Small && self.kind == CharacterClass::Capitals {
            if self.length > 1 {
                self.length -= 1;
                self.close();
            }
            (self.kind, self.length) = (CharacterClass::Small, 2);
            return;
        }
        if kind == self.kind {
            self.length += 1;
            return;
        }
        self.close();
        (self.kind, self.length) = (kind, 1);
    }

    fn close(&mut self) {
        self.cost += self.piece();
        self.before = self.kind;
    }

    fn piece(&self) -> u64 {
        let length = self.length;
        let after = self.before;
        match self.kind {
            CharacterClass::Nothing => 0,
            CharacterClass::Small => PARTS + 1 + length.saturating_sub(6) * 2,
            CharacterClass::Capitals => PARTS + length.saturating_sub(2) * 5,
            CharacterClass::Digits => {
                length.div_ceil(3) * PARTS + if after == CharacterClass::Blank { PARTS } else { 0 }
            }
            // A single space belongs to the following word, and a single punctuation mark often does.
            CharacterClass::Blank if length == 1 => 0,
            CharacterClass::Blank => PARTS,
            CharacterClass::Break if after == CharacterClass::Mark => 2,
            CharacterClass::Break => PARTS,
            CharacterClass::Mark if length == 1 && after != CharacterClass::Blank => 8,
            CharacterClass::Mark => PARTS + length.saturating_sub(3) * 5,
            CharacterClass::Alphabet => 6 + length * 3,
            CharacterClass::Ideograph => length * 10,
            CharacterClass::Kana | CharacterClass::Hangul => length * 10,
            CharacterClass::Sign => length * PARTS,
        }
    }

    fn finish(mut self) -> u64 {
        self.close();
        self.cost.div_ceil(PARTS)
    }
}

fn kind_of(char: char) -> CharacterClass {
    match char {
        'a'..='z' => CharacterClass::Small,
        'A'..='Z' => CharacterClass::Capitals,
        '0'..='9' => CharacterClass::Digits,
        '\n' | '\r' => CharacterClass::Break,
        ' ' | '\t' => CharacterClass::Blank,
        '\0'..='\x7f' => CharacterClass::Mark,
        '\u{c0}'..='\u{24f}' => CharacterClass::Small,
        '\u{370}'..='\u{10ff}' | '\u{1200}'..='\u{1fff}' => CharacterClass::Alphabet,
        '\u{3041}'..='\u{30ff}' => CharacterClass::Kana,
        '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' => CharacterClass::Ideograph,
        '\u{ac00}'..='\u{d7af}' => CharacterClass::Hangul,
        _ => CharacterClass::Sign,
    }
}

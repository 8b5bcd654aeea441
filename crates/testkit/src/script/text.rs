//! Text of an answer: one piece, given pieces, or a number of generated ones.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Each chunk becomes one event of the stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Text {
    Whole(String),
    Chunks(Vec<String>),
    Generated(Generated),
}

/// Word-sized chunks, always the same ones.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generated {
    pub tokens: usize,
    /// A last chunk that tests can look for.
    #[serde(default)]
    pub end: Option<String>,
}

impl Text {
    pub fn tokens(count: usize) -> Self {
        Text::Generated(Generated { tokens: count, end: None })
    }

    pub fn chunks(&self) -> Box<dyn Iterator<Item = Cow<'_, str>> + '_> {
        match self {
            Text::Whole(text) => Box::new(std::iter::once(Cow::from(text.as_str()))),
            Text::Chunks(chunks) => Box::new(chunks.iter().map(|chunk| Cow::from(chunk.as_str()))),
            Text::Generated(generated) => Box::new(generated.chunks()),
        }
    }

    /// Replaces every `{i}` by `number`.
    pub(super) fn numbered(&mut self, number: usize) {
        let number = number.to_string();
        match self {
            Text::Whole(text) => *text = text.replace("{i}", &number),
            Text::Chunks(chunks) => chunks.iter_mut().for_each(|chunk| *chunk = chunk.replace("{i}", &number)),
            Text::Generated(generated) => {
                generated.end = generated.end.as_ref().map(|end| end.replace("{i}", &number));
            }
        }
    }
}

impl Generated {
    fn chunks(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let words = (0..self.tokens).map(|position| {
            let word = WORDS[position % WORDS.len()];
            Cow::from(if position % LINE == LINE - 1 { format!("{word}.\n") } else { format!("{word} ") })
        });
        words.chain(self.end.as_deref().map(Cow::from))
    }
}

const LINE: usize = 16;

const WORDS: [&str; 17] = [
    "a", "steady", "stream", "of", "small", "words", "fills", "every", "frame", "so", "that", "readers", "can", "show",
    "how", "they", "cope",
];

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text::Whole(text.to_owned())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text::Whole(text)
    }
}

impl<const N: usize> From<[&str; N]> for Text {
    fn from(chunks: [&str; N]) -> Self {
        Text::Chunks(chunks.iter().map(|chunk| (*chunk).to_owned()).collect())
    }
}

/// Written by hand, because `untagged` would lose the position of an error in the file.
impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, a list of strings, or `tokens: N`")
    }

    fn visit_str<E>(self, text: &str) -> Result<Text, E> {
        Ok(Text::Whole(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Text, A::Error> {
        let mut chunks = Vec::new();
        while let Some(chunk) = list.next_element()? {
            chunks.push(chunk);
        }
        Ok(Text::Chunks(chunks))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Text, A::Error> {
        Generated::deserialize(MapAccessDeserializer::new(map)).map(Text::Generated)
    }
}

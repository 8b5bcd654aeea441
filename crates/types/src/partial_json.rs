//! Parses tool arguments while they stream in: builds a JSON object in place, delta by delta.
//!
//! Every byte is processed once and the object is never copied, so the total work is linear, however small the deltas are.
//! The result is only for display: a call runs with the strictly parsed whole text (see [`crate::MessageBuilder`]).

use serde_json::{Map, Value};

/// Limits the nesting, as the strict parser does.
const DEPTH_LIMIT: usize = 127;

/// The state of the parser. The values themselves are in the caller's object.
#[derive(Debug, Default)]
pub struct PartialJson {
    state: ExpectedToken,
    /// The open arrays and objects inside the root object, outermost first.
    open: Vec<JsonContainer>,
    /// The key of the next value.
    key: String,
    /// A number or word whose end has not arrived.
    bare: String,
    /// The first half of a surrogate pair.
    high_surrogate: Option<u16>,
    #[cfg(test)]
    steps: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum JsonContainer {
    Object,
    Array,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum ExpectedToken {
    /// Before the opening brace of the root.
    #[default]
    Start,
    KeyOrEnd,
    Key,
    Colon,
    Value,
    ValueOrEnd,
    CommaOrEnd,
    String(StringOf, Escape),
    /// A number, or one of the three words.
    Bare,
    End,
    /// The text is not a JSON object: the parsed part stays.
    Broken,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum StringOf {
    Key,
    Value,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Escape {
    None,
    Backslash,
    /// The number of hexadecimal digits read, and their value.
    Unicode(u8, u16),
}

impl PartialJson {
    /// Parses more text and updates `root`, which must be the same object every time. Strings are visible as far as they
    /// have arrived, numbers and words once they are complete.
    pub fn push(&mut self, delta: &str, root: &mut Map<String, Value>) {
        let mut rest = delta;
        while !rest.is_empty() && self.state != ExpectedToken::Broken {
            let taken = self.step(rest, root);
            rest = &rest[taken..];
        }
    }

    /// Consumes at least one byte, unless it only changes the state.
    fn step(&mut self, rest: &str, root: &mut Map<String, Value>) -> usize {
        #[cfg(test)]
        {
            self.steps += 1;
        }
        let byte = rest.as_bytes()[0];
        match self.state {
            ExpectedToken::String(of, escape) => return self.string(of, escape, rest, root),
            ExpectedToken::Bare => return self.bare(rest, root),
            _ if byte.is_ascii_whitespace() && byte != b'\x0c' => return 1,
            ExpectedToken::Start => {
                self.state = if byte == b'{' { ExpectedToken::KeyOrEnd } else { ExpectedToken::Broken }
            }
            ExpectedToken::KeyOrEnd | ExpectedToken::Key => self.key_start(byte),
            ExpectedToken::Colon => {
                self.state = if byte == b':' { ExpectedToken::Value } else { ExpectedToken::Broken }
            }
            ExpectedToken::Value | ExpectedToken::ValueOrEnd => return self.value_start(byte, root),
            ExpectedToken::CommaOrEnd => self.comma_or_end(byte),
            ExpectedToken::End | ExpectedToken::Broken => self.state = ExpectedToken::Broken,
        }
        1
    }

    fn key_start(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.key.clear();
                self.state = ExpectedToken::String(StringOf::Key, Escape::None);
            }
            b'}' if self.state == ExpectedToken::KeyOrEnd => self.close(JsonContainer::Object),
            _ => self.state = ExpectedToken::Broken,
        }
    }

    fn value_start(&mut self, byte: u8, root: &mut Map<String, Value>) -> usize {
        match byte {
            b'"' => {
                self.insert(root, Value::String(String::new()));
                self.state = ExpectedToken::String(StringOf::Value, Escape::None);
            }
            b'{' => self.open(JsonContainer::Object, root),
            b'[' => self.open(JsonContainer::Array, root),
            b']' if self.state == ExpectedToken::ValueOrEnd => self.close(JsonContainer::Array),
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                self.bare.clear();
                self.state = ExpectedToken::Bare;
                return 0;
            }
            _ => self.state = ExpectedToken::Broken,
        }
        1
    }

    fn comma_or_end(&mut self, byte: u8) {
        self.state = match (byte, self.container()) {
            (b',', JsonContainer::Object) => ExpectedToken::Key,
            (b',', JsonContainer::Array) => ExpectedToken::Value,
            (b'}', JsonContainer::Object) => return self.close(JsonContainer::Object),
            (b']', JsonContainer::Array) => return self.close(JsonContainer::Array),
            _ => ExpectedToken::Broken,
        };
    }

    fn open(&mut self, container: JsonContainer, root: &mut Map<String, Value>) {
        if self.open.len() + 1 >= DEPTH_LIMIT {
            self.state = ExpectedToken::Broken;
            return;
        }
        let (value, state) = match container {
            JsonContainer::Object => (Value::Object(Map::new()), ExpectedToken::KeyOrEnd),
            JsonContainer::Array => (Value::Array(Vec::new()), ExpectedToken::ValueOrEnd),
        };
        self.insert(root, value);
        self.open.push(container);
        self.state = state;
    }

    fn close(&mut self, container: JsonContainer) {
        let root_ends = self.open.is_empty();
        let matches = self.open.pop().unwrap_or(JsonContainer::Object) == container;
        self.state = match (matches, root_ends) {
            (false, _) => ExpectedToken::Broken,
            (true, true) => ExpectedToken::End,
            (true, false) => ExpectedToken::CommaOrEnd,
        };
    }

    fn container(&self) -> JsonContainer {
        self.open.last().copied().unwrap_or(JsonContainer::Object)
    }

    /// Consumes text up to a quote, a backslash or an invalid character, including that character.
    fn string(&mut self, of: StringOf, escape: Escape, rest: &str, root: &mut Map<String, Value>) -> usize {
        let byte = rest.as_bytes()[0];
        match escape {
            Escape::None => {}
            Escape::Backslash => return self.escaped(of, byte, root),
            Escape::Unicode(digits, value) => return self.hexadecimal(of, digits, value, byte, root),
        }
        let run = rest.bytes().position(|byte| byte == b'"' || byte == b'\\' || byte < b' ').unwrap_or(rest.len());
        if run > 0 {
            self.append(of, &rest[..run], root);
            return run;
        }
        self.state = match (byte, of) {
            (b'\\', _) => ExpectedToken::String(of, Escape::Backslash),
            (b'"', _) if self.high_surrogate.is_some() => ExpectedToken::Broken,
            (b'"', StringOf::Key) => ExpectedToken::Colon,
            (b'"', StringOf::Value) => ExpectedToken::CommaOrEnd,
            _ => ExpectedToken::Broken,
        };
        1
    }

    fn escaped(&mut self, of: StringOf, byte: u8, root: &mut Map<String, Value>) -> usize {
        let plain = match byte {
            b'"' => "\"",
            b'\\' => "\\",
            b'/' => "/",
            b'b' => "\u{8}",
            b'f' => "\u{c}",
            b'n' => "\n",
            b'r' => "\r",
            b't' => "\t",
            b'u' => {
                self.state = ExpectedToken::String(of, Escape::Unicode(0, 0));
                return 1;
            }
            _ => {
                self.state = ExpectedToken::Broken;
                return 1;
            }
        };
        self.state = ExpectedToken::String(of, Escape::None);
        self.append(of, plain, root);
        1
    }

    fn hexadecimal(&mut self, of: StringOf, digits: u8, value: u16, byte: u8, root: &mut Map<String, Value>) -> usize {
        let Some(digit) = char::from(byte).to_digit(16) else {
            self.state = ExpectedToken::Broken;
            return 1;
        };
        let value = (value << 4) | digit as u16;
        if digits < 3 {
            self.state = ExpectedToken::String(of, Escape::Unicode(digits + 1, value));
            return 1;
        }
        self.state = ExpectedToken::String(of, Escape::None);
        let first = self.high_surrogate.take();
        match (first, value) {
            (None, 0xD800..0xDC00) => self.high_surrogate = Some(value),
            (first, value) => match char::decode_utf16(first.into_iter().chain([value])).next() {
                Some(Ok(character)) => self.append(of, character.encode_utf8(&mut [0; 4]), root),
                _ => self.state = ExpectedToken::Broken,
            },
        }
        1
    }

    fn append(&mut self, of: StringOf, text: &str, root: &mut Map<String, Value>) {
        if self.high_surrogate.is_some() {
            self.state = ExpectedToken::Broken;
            return;
        }
        if of == StringOf::Key {
            self.key.push_str(text);
        } else if let Some(Value::String(value)) = self.innermost(root).and_then(OpenContainer::last_value) {
            value.push_str(text);
        }
    }

    fn bare(&mut self, rest: &str, root: &mut Map<String, Value>) -> usize {
        let belongs = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let run = rest.bytes().position(|byte| !belongs(byte));
        self.bare.push_str(&rest[..run.unwrap_or(rest.len())]);
        if run.is_some() {
            match serde_json::from_str(&self.bare) {
                Ok(value) => {
                    self.state = ExpectedToken::CommaOrEnd;
                    self.insert(root, value);
                }
                Err(_) => self.state = ExpectedToken::Broken,
            }
        }
        run.unwrap_or(rest.len())
    }

    fn insert(&mut self, root: &mut Map<String, Value>, value: Value) {
        let key = std::mem::take(&mut self.key);
        match self.innermost(root) {
            Some(OpenContainer::Object(object)) => {
                // A repeated key must be last, where the other code expects the newest value.
                object.swap_remove(&key);
                object.insert(key, value);
            }
            Some(OpenContainer::Array(array)) => array.push(value),
            None => self.state = ExpectedToken::Broken,
        }
    }

    /// Returns the innermost open container by following the newest value from the root.
    fn innermost<'a>(&mut self, root: &'a mut Map<String, Value>) -> Option<OpenContainer<'a>> {
        #[cfg(test)]
        {
            self.steps += self.open.len();
        }
        let mut place = OpenContainer::Object(root);
        for _ in &self.open {
            place = match place.last_value()? {
                Value::Object(object) => OpenContainer::Object(object),
                Value::Array(array) => OpenContainer::Array(array),
                _ => return None,
            };
        }
        Some(place)
    }
}

enum OpenContainer<'a> {
    Object(&'a mut Map<String, Value>),
    Array(&'a mut Vec<Value>),
}

impl<'a> OpenContainer<'a> {
    fn last_value(self) -> Option<&'a mut Value> {
        match self {
            OpenContainer::Object(object) => object.values_mut().next_back(),
            OpenContainer::Array(array) => array.last_mut(),
        }
    }
}

#[cfg(test)]
mod tests;

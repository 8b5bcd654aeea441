//! Finds `type`, `id` and `parentId` of a line without parsing it.
//!
//! Opening a session of 100,000 entries must not parse 67 MB of JSON to get 100,000 IDs. Keys may be in any order (`custom`
//! entries have theirs after the data), so values are skipped structurally, not searched: an `id` deep inside the data is
//! not the entry's. The scan ends as soon as all three are known; the rest is checked when the entry is parsed. If a key
//! occurs twice, the first one counts.

use std::borrow::Cow;

#[cfg(test)]
mod tests;

/// The three keys that define an entry's position in the tree.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct EntryHead<'a> {
    pub kind: SkimmedField<'a>,
    pub id: SkimmedField<'a>,
    pub parent: SkimmedField<'a>,
}

#[derive(Debug, Default, PartialEq)]
pub(crate) enum SkimmedField<'a> {
    #[default]
    Absent,
    Null,
    Text(Cow<'a, str>),
    /// A number, an object, or text that is not valid UTF-8 or JSON: not a usable value.
    Other,
}

/// Why a line has no head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SkimFault {
    NotAnObject,
    Broken,
    /// The bytes ended before the end of the object.
    Unfinished,
}

pub(crate) fn skim(line: &[u8]) -> Result<EntryHead<'_>, SkimFault> {
    let mut cursor = TokenCursor { bytes: line, at: 0 };
    if cursor.next_token()? != b'{' {
        return Err(SkimFault::NotAnObject);
    }
    cursor.at += 1;
    let mut head = EntryHead::default();
    if cursor.next_token()? == b'}' {
        return Ok(head);
    }
    loop {
        if cursor.next_token()? != b'"' {
            return Err(SkimFault::Broken);
        }
        let key = cursor.string()?;
        if cursor.next_token()? != b':' {
            return Err(SkimFault::Broken);
        }
        cursor.at += 1;
        match head.slot(&key) {
            Some(slot) => *slot = cursor.field()?,
            None => cursor.skip_value()?,
        }
        if head.is_complete() {
            return Ok(head);
        }
        match cursor.next_token()? {
            b',' => cursor.at += 1,
            b'}' => return Ok(head),
            _ => return Err(SkimFault::Broken),
        }
    }
}

impl<'a> EntryHead<'a> {
    fn slot(&mut self, key: &SkimmedField<'_>) -> Option<&mut SkimmedField<'a>> {
        let SkimmedField::Text(key) = key else { return None };
        let slot = match key.as_ref() {
            "type" => &mut self.kind,
            "id" => &mut self.id,
            "parentId" => &mut self.parent,
            _ => return None,
        };
        (*slot == SkimmedField::Absent).then_some(slot)
    }

    fn is_complete(&self) -> bool {
        self.kind != SkimmedField::Absent && self.id != SkimmedField::Absent && self.parent != SkimmedField::Absent
    }
}

impl<'a> SkimmedField<'a> {
    pub fn text(&self) -> Option<&str> {
        match self {
            SkimmedField::Text(text) => Some(text),
            _ => None,
        }
    }
}

struct TokenCursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> TokenCursor<'a> {
    /// Skips white space; the next byte is not consumed.
    fn next_token(&mut self) -> Result<u8, SkimFault> {
        while let Some(&byte) = self.bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
                return Ok(byte);
            }
            self.at += 1;
        }
        Err(SkimFault::Unfinished)
    }

    fn field(&mut self) -> Result<SkimmedField<'a>, SkimFault> {
        match self.next_token()? {
            b'"' => self.string(),
            b'n' => {
                let start = self.at;
                self.skip_value()?;
                Ok(if &self.bytes[start..self.at] == b"null" { SkimmedField::Null } else { SkimmedField::Other })
            }
            _ => self.skip_value().map(|()| SkimmedField::Other),
        }
    }

    /// The cursor is at the opening quote.
    fn string(&mut self) -> Result<SkimmedField<'a>, SkimFault> {
        let start = self.at;
        let escaped = self.skip_string()?;
        let quoted = &self.bytes[start..self.at];
        if escaped {
            return Ok(serde_json::from_slice::<String>(quoted)
                .map_or(SkimmedField::Other, |text| SkimmedField::Text(text.into())));
        }
        let inner = &quoted[1..quoted.len() - 1];
        if inner.iter().any(u8::is_ascii_control) {
            return Ok(SkimmedField::Other);
        }
        Ok(std::str::from_utf8(inner).map_or(SkimmedField::Other, |text| SkimmedField::Text(text.into())))
    }

    /// Skips a string and returns whether it contains a backslash.
    fn skip_string(&mut self) -> Result<bool, SkimFault> {
        self.at += 1;
        let mut escaped = false;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            match memchr::memchr2(b'"', b'\\', rest) {
                None => return Err(SkimFault::Unfinished),
                Some(found) if rest[found] == b'"' => {
                    self.at += found + 1;
                    return Ok(escaped);
                }
                Some(found) => {
                    escaped = true;
                    self.at += found + 2;
                }
            }
        }
    }

    fn skip_value(&mut self) -> Result<(), SkimFault> {
        match self.next_token()? {
            b'"' => self.skip_string().map(drop),
            b'{' | b'[' => self.skip_nested(),
            _ => self.skip_scalar(),
        }
    }

    fn skip_scalar(&mut self) -> Result<(), SkimFault> {
        let start = self.at;
        while let Some(&byte) = self.bytes.get(self.at) {
            if matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n') {
                return if self.at > start { Ok(()) } else { Err(SkimFault::Broken) };
            }
            self.at += 1;
        }
        Err(SkimFault::Unfinished)
    }

    /// Counts brackets instead of recursing, so that deep nesting cannot exhaust the stack.
    fn skip_nested(&mut self) -> Result<(), SkimFault> {
        let mut depth = 0usize;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.skip_string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
        Err(SkimFault::Unfinished)
    }
}

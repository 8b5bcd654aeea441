//! Splits JSON without losing a byte, unlike a parser that builds values.

/// A member of an object, with its value as written.
#[derive(Debug, PartialEq)]
pub struct JsonMember<'a> {
    pub name: String,
    pub value: &'a [u8],
}

/// Returns the members of the top-level object in order.
pub fn members(body: &[u8]) -> Result<Vec<JsonMember<'_>>, String> {
    let mut scan = JsonScan { bytes: body, at: 0 };
    let mut found = Vec::new();
    scan.expect(b'{')?;
    while scan.peek()? != b'}' {
        let name = scan.string()?;
        let name = serde_json::from_slice(name).map_err(|error| format!("a name in the body is broken: {error}"))?;
        scan.expect(b':')?;
        found.push(JsonMember { name, value: scan.value()? });
        if scan.peek()? == b',' {
            scan.at += 1;
        }
    }
    Ok(found)
}

/// Returns the body without `cache_control` members and their commas.
pub fn without_cache_markers(body: &[u8]) -> Result<Vec<u8>, String> {
    let mut scan = JsonScan { bytes: body, at: 0 };
    let mut kept = Vec::with_capacity(body.len());
    while scan.at < body.len() {
        if body[scan.at] != b'"' {
            kept.push(body[scan.at]);
            scan.at += 1;
            continue;
        }
        let text = scan.string()?;
        if text == MARKER && scan.peek() == Ok(b':') {
            scan.at += 1;
            scan.value()?;
            drop_comma(&mut scan, &mut kept);
        } else {
            kept.extend_from_slice(text);
        }
    }
    Ok(kept)
}

const MARKER: &[u8] = b"\"cache_control\"";

/// Removes the comma before a removed member, or the one after it if it was the first.
fn drop_comma(scan: &mut JsonScan<'_>, kept: &mut Vec<u8>) {
    while kept.last().is_some_and(u8::is_ascii_whitespace) {
        kept.pop();
    }
    if kept.last() == Some(&b',') {
        kept.pop();
    } else if scan.peek() == Ok(b',') {
        scan.at += 1;
    }
}

struct JsonScan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> JsonScan<'a> {
    /// Returns the next byte that is not whitespace, without consuming it.
    fn peek(&mut self) -> Result<u8, String> {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied().ok_or_else(|| "the body ends too early".to_owned())
    }

    fn expect(&mut self, byte: u8) -> Result<(), String> {
        if self.peek()? != byte {
            return Err(format!("the body is not JSON: no `{}` at byte {}", byte as char, self.at));
        }
        self.at += 1;
        Ok(())
    }

    /// Returns a string with its quotes.
    fn string(&mut self) -> Result<&'a [u8], String> {
        self.expect(b'"')?;
        let start = self.at - 1;
        while let Some(byte) = self.bytes.get(self.at) {
            self.at += if *byte == b'\\' { 2 } else { 1 };
            if *byte == b'"' {
                return Ok(&self.bytes[start..self.at]);
            }
        }
        Err("the body ends inside a string".to_owned())
    }

    /// Returns a value of any kind. Brackets are counted, not checked: the server that recorded the body has parsed it.
    fn value(&mut self) -> Result<&'a [u8], String> {
        self.peek()?;
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.bytes.get(self.at) {
                None => return Err("the body ends too early".to_owned()),
                Some(b'"') => {
                    self.string()?;
                }
                Some(b'{' | b'[') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b'}' | b']') if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                Some(_) => self.at += 1,
            }
            if depth == 0 && matches!(self.bytes.get(self.at), None | Some(b',' | b'}' | b']')) {
                return Ok(&self.bytes[start..self.at]);
            }
        }
    }
}

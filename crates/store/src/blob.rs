//! Stores images outside the session file: each once under the SHA-256 of its bytes, shared by all sessions.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use omp_types::{Content, Message};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::entry::EntryBody;
use crate::platform;
use crate::problem::Damage;

/// Base64 data shorter than this stays in the session file.
const INLINE_BELOW: usize = 1024;
const SCHEME: &str = "blob:sha256:";
const HASH_DIGITS: usize = 64;
/// Maximum number of damaged blobs kept per name.
const MOST_DAMAGED: u32 = 1000;

#[derive(Clone, Debug)]
pub struct BlobStore {
    dir: PathBuf,
}

impl BlobStore {
    /// Uses `<agent folder>/blobs`.
    pub fn new(agent_dir: &Path) -> Self {
        Self { dir: agent_dir.join("blobs") }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Stores the bytes and returns `blob:sha256:<hash>`. The file is written under a temporary name and renamed, so a blob
    /// is complete or absent. A damaged blob of that name is not overwritten but moved to `<hash>.damaged-<n>`.
    pub fn put(&self, bytes: &[u8]) -> io::Result<String> {
        let hash = hex_hash(bytes);
        let path = self.dir.join(&hash);
        if !holds(&path, bytes) {
            platform::create_private_folder(&self.dir)?;
            let mut file = tempfile::NamedTempFile::new_in(&self.dir)?;
            file.write_all(bytes)?;
            if path.symlink_metadata().is_ok() {
                move_aside(&path)?;
            }
            file.persist(path)?;
        }
        Ok(format!("{SCHEME}{hash}"))
    }

    /// Returns the bytes of a reference, checked against their hash.
    pub fn get(&self, reference: &str) -> Result<Vec<u8>, Damage> {
        let Some(hash) = hash_in(reference) else { return Err(Damage::MissingBlob(reference.to_owned())) };
        let path = self.dir.join(hash);
        // Reading a pipe or device in place of a blob would never end.
        if !std::fs::metadata(&path).is_ok_and(|found| found.is_file()) {
            return Err(Damage::MissingBlob(reference.to_owned()));
        }
        let bytes = std::fs::read(path).map_err(|_| Damage::MissingBlob(reference.to_owned()))?;
        if hex_hash(&bytes) == hash { Ok(bytes) } else { Err(Damage::DamagedBlob(reference.to_owned())) }
    }

    /// Returns the entry for writing to the file: large images are replaced by references.
    pub(crate) fn externalize<'a>(&self, body: &'a EntryBody) -> io::Result<Cow<'a, EntryBody>> {
        let large = match body {
            EntryBody::Message(message) => has_large_image(message),
            EntryBody::CustomMessage(entry) => entry.content.iter().any(is_large),
            _ => false,
        };
        if !large {
            return Ok(Cow::Borrowed(body));
        }
        let mut body = body.clone();
        match &mut body {
            EntryBody::Message(message) => self.put_images(Arc::make_mut(message))?,
            EntryBody::CustomMessage(entry) => self.put_content(&mut entry.content)?,
            _ => {}
        }
        Ok(Cow::Owned(body))
    }

    /// Replaces references by their images; references that cannot be resolved are kept and reported.
    pub(crate) fn rehydrate(&self, message: &mut Message) -> Vec<Damage> {
        let mut damages = Vec::new();
        let mut fetch = |data: &mut String| match self.get(data) {
            // Base64 has no colon, so this is a damaged reference.
            Err(_) if !data.starts_with(SCHEME) => damages.push(Damage::MissingBlob(data.clone())),
            Ok(bytes) => *data = BASE64.encode(bytes),
            Err(damage) => damages.push(damage),
        };
        for block in content_mut(message).into_iter().flatten() {
            if let Content::Image(image) = block
                && is_reference(&image.data)
            {
                fetch(&mut image.data);
            }
        }
        if let Some(details) = details_mut(message) {
            for_each_image(details, &mut |data| {
                if is_reference(data) {
                    fetch(data);
                }
            });
        }
        damages
    }

    fn put_images(&self, message: &mut Message) -> io::Result<()> {
        if let Some(content) = content_mut(message) {
            self.put_content(content)?;
        }
        let mut outcome = Ok(());
        if let Some(details) = details_mut(message) {
            for_each_image(details, &mut |data| {
                if outcome.is_ok() {
                    outcome = self.put_base64(data);
                }
            });
        }
        outcome
    }

    fn put_content(&self, content: &mut [Content]) -> io::Result<()> {
        for block in content {
            if let Content::Image(image) = block {
                self.put_base64(&mut image.data)?;
            }
        }
        Ok(())
    }

    /// Data that is not strict base64 could not be restored exactly and stays inline.
    fn put_base64(&self, data: &mut String) -> io::Result<()> {
        if data.len() >= INLINE_BELOW
            && let Ok(bytes) = BASE64.decode(data.as_bytes())
        {
            *data = self.put(&bytes)?;
        }
        Ok(())
    }
}

/// Returns whether the data is a reference, even a damaged one that cannot be resolved.
fn is_reference(data: &str) -> bool {
    data.starts_with(SCHEME) || (data.len() <= SCHEME.len() + HASH_DIGITS && data.contains([':', '\u{fffd}']))
}

fn holds(path: &Path, bytes: &[u8]) -> bool {
    let same_size = std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() == bytes.len() as u64);
    same_size && std::fs::read(path).is_ok_and(|found| found == bytes)
}

fn move_aside(path: &Path) -> io::Result<()> {
    for number in 1..=MOST_DAMAGED {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".damaged-{number}"));
        if Path::new(&name).symlink_metadata().is_err() {
            return std::fs::rename(path, name);
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "too many damaged copies"))
}

/// Only 64 lowercase hex digits are accepted, so no reference leads out of the folder.
fn hash_in(reference: &str) -> Option<&str> {
    let hash = reference.strip_prefix(SCHEME)?;
    let valid = hash.len() == HASH_DIGITS && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    valid.then_some(hash)
}

pub(crate) fn hex_hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(HASH_DIGITS), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn has_large_image(message: &Message) -> bool {
    let (content, details) = match message {
        Message::User(message) => (&message.content, &None),
        Message::Assistant(message) => (&message.content, &None),
        Message::ToolResult(message) => (&message.content, &message.details),
        Message::Custom(message) => (&message.content, &message.details),
        Message::Other(other) => return holds_large_image(&other.value),
    };
    content.iter().any(is_large) || details.as_ref().is_some_and(holds_large_image)
}

fn is_large(block: &Content) -> bool {
    matches!(block, Content::Image(image) if image.data.len() >= INLINE_BELOW)
}

fn holds_large_image(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(holds_large_image),
        Value::Object(fields) => {
            let large = fields.get("data").and_then(Value::as_str).is_some_and(|data| data.len() >= INLINE_BELOW);
            (large && is_image(fields)) || fields.values().any(holds_large_image)
        }
        _ => false,
    }
}

fn content_mut(message: &mut Message) -> Option<&mut Vec<Content>> {
    match message {
        Message::User(message) => Some(&mut message.content),
        Message::Assistant(message) => Some(&mut message.content),
        Message::ToolResult(message) => Some(&mut message.content),
        Message::Custom(message) => Some(&mut message.content),
        Message::Other(_) => None,
    }
}

fn details_mut(message: &mut Message) -> Option<&mut Value> {
    match message {
        Message::ToolResult(message) => message.details.as_mut(),
        Message::Custom(message) => message.details.as_mut(),
        Message::Other(other) => Some(&mut other.value),
        _ => None,
    }
}

fn for_each_image(value: &mut Value, visit: &mut impl FnMut(&mut String)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| for_each_image(item, visit)),
        Value::Object(fields) if is_image(fields) => {
            if let Some(Value::String(data)) = fields.get_mut("data") {
                visit(data);
            }
        }
        Value::Object(fields) => fields.values_mut().for_each(|field| for_each_image(field, visit)),
        _ => {}
    }
}

fn is_image(fields: &serde_json::Map<String, Value>) -> bool {
    fields.get("type").and_then(Value::as_str) == Some("image")
}

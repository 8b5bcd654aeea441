//! Converts the client's prompts to message content.

use std::path::Path;

use base64::Engine;
use omp_jsonrpc::RpcError;
use omp_types::{Content, ImageContent};

use crate::protocol::{EmbeddedResource, PromptBlock};

/// Caps the text of one block; more would not fit any model.
const MAX_TEXT: usize = 8 * 1024 * 1024;
/// Larger images are refused; smaller ones are scaled down to what providers accept.
const MAX_IMAGE: usize = 32 * 1024 * 1024;
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Refuses an empty prompt, and one with an unsupported block.
pub fn convert(blocks: Vec<PromptBlock>, cwd: &Path) -> Result<Vec<Content>, RpcError> {
    let content = blocks.into_iter().map(|block| one(block, cwd)).collect::<Result<Vec<_>, _>>()?;
    let says = |block: &Content| block.as_text().is_none_or(|text| !text.trim().is_empty());
    if content.iter().any(says) { Ok(content) } else { Err(refused("the prompt is empty")) }
}

fn one(block: PromptBlock, cwd: &Path) -> Result<Content, RpcError> {
    match block {
        PromptBlock::Text { text } => sized_text(text),
        PromptBlock::Image { data, mime_type } => picture(data, mime_type),
        PromptBlock::ResourceLink { uri, name, title } => sized_text(mention(&uri, &title.unwrap_or(name), cwd)),
        PromptBlock::Resource { resource: EmbeddedResource::Text { text, uri } } => {
            let end = if text.ends_with('\n') { "" } else { "\n" };
            sized_text(format!("<file name=\"{}\">\n{text}{end}</file>\n", name_of(&uri, cwd)))
        }
        PromptBlock::Resource { resource: EmbeddedResource::Blob { blob, uri, mime_type } } => match mime_type {
            Some(mime_type) if IMAGE_TYPES.contains(&mime_type.as_str()) => picture(blob, mime_type),
            _ => Err(refused(&format!("{uri} is neither text nor an image"))),
        },
        PromptBlock::Audio {} => Err(refused("omp does not take audio")),
    }
}

fn sized_text(text: String) -> Result<Content, RpcError> {
    if text.len() <= MAX_TEXT { Ok(Content::text(text)) } else { Err(refused("a text is larger than 8 MiB")) }
}

fn picture(data: String, mime_type: String) -> Result<Content, RpcError> {
    if !IMAGE_TYPES.contains(&mime_type.as_str()) {
        return Err(refused(&format!(
            "images of type `{mime_type}` cannot be shown to a model: use {}",
            IMAGE_TYPES.join(", ")
        )));
    }
    match base64::engine::general_purpose::STANDARD.decode(&data) {
        Err(_) => Err(refused("an image is not base64")),
        Ok(bytes) if bytes.len() > MAX_IMAGE => Err(refused("an image is larger than 32 MiB: make it smaller")),
        Ok(_) => Ok(Content::Image(ImageContent { data, mime_type })),
    }
}

/// Formats a file that the model may read itself.
fn mention(uri: &str, label: &str, cwd: &Path) -> String {
    let target = name_of(uri, cwd);
    if label == target { format!("[{target}]") } else { format!("[{label}]({target})") }
}

/// Names files by their path, relative to the working folder if inside it; anything else by its address.
fn name_of(uri: &str, cwd: &Path) -> String {
    let Some(path) = uri.strip_prefix("file://") else { return uri.replace('"', "%22") };
    // An address may contain line numbers after the path.
    let path = path.split(['#', '?']).next().unwrap_or(path);
    let path = decoded(path);
    let relative = Path::new(&path).strip_prefix(cwd).map(|path| path.to_string_lossy().into_owned());
    relative.unwrap_or(path).replace('"', "%22")
}

/// Decodes percent-encoded bytes such as `%20`.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match (first, hex.and_then(|hex| u8::from_str_radix(hex, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn refused(why: &str) -> RpcError {
    RpcError::new(RpcError::INVALID_PARAMS, why)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn converted(blocks: Value) -> Result<Vec<Content>, RpcError> {
        convert(serde_json::from_value(blocks).unwrap(), Path::new("/project"))
    }

    #[track_caller]
    fn check(block: Value, expect: &str) {
        let content = converted(json!([block])).unwrap();
        let shown = match &content[0] {
            Content::Image(image) => format!("[{} {}]", image.mime_type, image.data),
            other => other.as_text().unwrap().to_owned(),
        };
        assert_eq!(shown, expect);
    }

    #[test]
    fn blocks_become_content() {
        check(json!({"type": "text", "text": "hi"}), "hi");
        check(json!({"type": "image", "mimeType": "image/png", "data": "aGk="}), "[image/png aGk=]");
        let text = |uri: &str| json!({"type": "resource", "resource": {"uri": uri, "text": "fn a() {}"}});
        check(text("file:///project/src/a.rs"), "<file name=\"src/a.rs\">\nfn a() {}\n</file>\n");
        check(text("file:///project/a%20b.rs#L3"), "<file name=\"a b.rs\">\nfn a() {}\n</file>\n");
        check(text("file:///other/a.rs"), "<file name=\"/other/a.rs\">\nfn a() {}\n</file>\n");
        check(text("zed://x?\"y"), "<file name=\"zed://x?%22y\">\nfn a() {}\n</file>\n");
        let blob = json!({"uri": "file:///p.png", "blob": "aGk=", "mimeType": "image/png"});
        check(json!({"type": "resource", "resource": blob}), "[image/png aGk=]");
        let link = |name: &str| json!({"type": "resource_link", "uri": "file:///project/src/a.rs", "name": name});
        check(link("a.rs"), "[a.rs](src/a.rs)");
        check(link("src/a.rs"), "[src/a.rs]");
    }

    #[test]
    fn what_no_model_can_be_told_is_refused() {
        let image = |mime: &str, data: &str| json!([{"type": "image", "mimeType": mime, "data": data}]);
        for (blocks, why) in [
            (json!([]), "empty"),
            (json!([{"type": "text", "text": "  "}]), "empty"),
            (image("image/tiff", "aGk="), "image/tiff"),
            (image("image/png", "***"), "base64"),
            (image("image/png", &"AAAA".repeat(12 * 1024 * 1024)), "32 MiB"),
            (json!([{"type": "audio", "mimeType": "audio/wav", "data": "aGk="}]), "audio"),
            (json!([{"type": "resource", "resource": {"uri": "file:///a.bin", "blob": "aGk="}}]), "/a.bin"),
        ] {
            let error = converted(blocks).unwrap_err();
            assert!(error.message.contains(why), "{why}: {error:?}");
        }
    }
}

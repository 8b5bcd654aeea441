//! Converts command-line words, attached files and piped text into prompts.

use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine;
use omp_types::{Content, ImageContent, OWN_SCHEMES};
use omp_workspace::{known_schemes, scheme_of};

/// Caps attached or piped text; more would not fit any model.
const MAX_TEXT_BYTES: u64 = 8 * 1024 * 1024;
/// Larger images are not loaded; smaller ones are scaled down to what providers accept.
const MAX_IMAGE_BYTES: u64 = 32 * 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum InputError {
    #[error("cannot attach {}: {problem}\nhint: {hint}", path.display())]
    Attachment { path: PathBuf, problem: String, hint: &'static str },
    #[error("cannot attach {address}: it is a URL, not a file\nhint: {hint}")]
    Address { address: String, hint: String },
    #[error("cannot read standard input: {problem}\nhint: {hint}")]
    Stdin { problem: String, hint: &'static str },
    #[error("no message given\nhint: run omp -p \"your question\", or pipe text into omp -p")]
    Nothing,
}

/// Builds one prompt per message. Words that begin with `@` attach a file to the first one. Piped text comes before it in
/// its own block, because only typed text may contain a command.
pub fn build_prompts(
    words: &[String],
    piped: Option<String>,
    cwd: &Path,
    is_command: &dyn Fn(&str) -> bool,
) -> Result<Vec<Vec<Content>>, InputError> {
    let said = words.iter().filter(|word| !word.trim().is_empty());
    let (files, messages): (Vec<_>, Vec<_>) = said.partition(|word| word.starts_with('@') && word.len() > 1);
    let mut text = String::new();
    let mut images = Vec::new();
    for file in files {
        refuse_address(&file[1..])?;
        attach(&cwd.join(&file[1..]), &file[1..], &mut text, &mut images)?;
    }
    if let Some(piped) = piped.filter(|piped| !piped.trim().is_empty()) {
        text.push_str(&piped);
        if !messages.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    }
    let mut messages = one_message_or_many(&messages, is_command).into_iter();
    let typed = messages.next();
    if text.is_empty() && images.is_empty() && typed.is_none() {
        return Err(InputError::Nothing);
    }
    let attached = (!text.is_empty()).then(|| Content::text(text));
    let mut first: Vec<Content> =
        attached.into_iter().chain(typed.map(|typed| Content::text(typed.as_str()))).collect();
    first.extend(images.into_iter().map(Content::Image));
    let rest = messages.map(|message| vec![Content::text(message.as_str())]);
    Ok(std::iter::once(first).chain(rest).collect())
}

/// If no word contains a space, all words are one unquoted sentence: `omp fix the tests`. If a word contains a space it was
/// quoted, and each word is its own message. A slash command after other words is its own message too.
fn one_message_or_many(said: &[&String], is_command: &dyn Fn(&str) -> bool) -> Vec<String> {
    let is_quoted = said.iter().any(|word| word.contains(char::is_whitespace));
    let is_many = is_quoted || said.iter().skip(1).any(|word| is_command(word));
    match is_many || said.is_empty() {
        true => said.iter().map(|word| word.to_string()).collect(),
        false => vec![said.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(" ")],
    }
}

fn refuse_address(name: &str) -> Result<(), InputError> {
    let Some(scheme) = scheme_of(name) else { return Ok(()) };
    let hint = match OWN_SCHEMES.contains(&scheme) {
        true => "name it in the message, so that omp reads it".to_owned(),
        false => format!("attach files by path; omp can read these URLs: {}", known_schemes()),
    };
    Err(InputError::Address { address: name.to_owned(), hint })
}

/// Reads piped text. Returns `None` if nothing has arrived after `patience`, because many programs start others with an open
/// pipe that they never write to.
pub fn read_piped_within(input: impl Read + Send + 'static, patience: Duration) -> Result<Option<String>, InputError> {
    let (begun, first) = std::sync::mpsc::sync_channel(1);
    let (finished, rest) = std::sync::mpsc::sync_channel(1);
    // If nothing arrives, the thread keeps waiting until the process ends.
    let read = move || {
        let mut input = std::io::BufReader::new(input);
        let waited = input.fill_buf().map(drop);
        // After the timeout nobody receives this.
        let _ = begun.send(());
        let text = waited.map_err(stdin_failed).and_then(|()| read_piped(input));
        let _ = finished.send(text);
    };
    std::thread::Builder::new().spawn(read).map_err(stdin_failed)?;
    match first.recv_timeout(patience) {
        Err(_) => Ok(None),
        Ok(()) => rest.recv().map_or(Ok(None), |text| text.map(Some)),
    }
}

fn stdin_failed(error: std::io::Error) -> InputError {
    InputError::Stdin { problem: error.to_string(), hint: "pipe text into omp, or add `</dev/null` when there is none" }
}

/// Reads piped text, with a size limit.
pub fn read_piped(input: impl Read) -> Result<String, InputError> {
    let mut bytes = Vec::new();
    input.take(MAX_TEXT_BYTES + 1).read_to_end(&mut bytes).map_err(stdin_failed)?;
    if bytes.len() as u64 > MAX_TEXT_BYTES {
        let problem = format!("it has more than {} MiB", MAX_TEXT_BYTES >> 20);
        return Err(InputError::Stdin { problem, hint: "save it in a file and tell omp to read it" });
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn attach(path: &Path, name: &str, text: &mut String, images: &mut Vec<ImageContent>) -> Result<(), InputError> {
    let failed = |problem: String, hint| InputError::Attachment { path: path.to_owned(), problem, hint };
    let (file, metadata) =
        omp_workspace::open_regular(path).map_err(|error| failed(error.to_string(), "attach regular files only"))?;
    let size = metadata.len();
    let mut bytes = Vec::new();
    let limit = MAX_TEXT_BYTES.max(MAX_IMAGE_BYTES) + 1;
    file.take(limit).read_to_end(&mut bytes).map_err(|error| failed(error.to_string(), "check the file"))?;
    if let Some(mime_type) = omp_workspace::image_type(&bytes) {
        if size > MAX_IMAGE_BYTES {
            return Err(failed(format!("the image has {size} bytes"), "images can have at most 32 MiB"));
        }
        text.push_str(&format!("<file name=\"{name}\"></file>\n"));
        let data = base64::engine::general_purpose::STANDARD.encode(&bytes);
        images.push(ImageContent { data, mime_type: mime_type.to_owned() });
        return Ok(());
    }
    if size > MAX_TEXT_BYTES || bytes.len() as u64 > MAX_TEXT_BYTES {
        return Err(failed(
            format!("the file has {size} bytes"),
            "name the file in the message; omp reads the parts it needs",
        ));
    }
    let Ok(content) = String::from_utf8(bytes) else {
        return Err(failed("it is neither text nor an image".to_owned(), "name the file in the message instead"));
    };
    text.push_str(&format!("<file name=\"{name}\">\n{content}"));
    text.push_str(if content.ends_with('\n') { "</file>\n" } else { "\n</file>\n" });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

    fn folder() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.txt"), "alpha\n").unwrap();
        std::fs::write(dir.path().join("b.txt"), "no newline").unwrap();
        std::fs::write(dir.path().join("p.png"), PNG).unwrap();
        std::fs::write(dir.path().join("bin"), [0xff, 0xfe, 0x00]).unwrap();
        dir
    }

    fn build(words: &[&str], piped: Option<&str>) -> Result<Vec<Vec<Content>>, InputError> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        build_prompts(&words, piped.map(str::to_owned), folder().path(), &|word| word == "/new")
    }

    #[track_caller]
    fn check(words: &[&str], piped: Option<&str>, expect: &[&str]) {
        let prompts = build(words, piped).unwrap();
        let shown: Vec<String> = prompts
            .iter()
            .map(|prompt| {
                let parts = prompt.iter().map(|block| match block {
                    Content::Image(image) => format!("[{}]", image.mime_type),
                    other => other.as_text().unwrap_or_default().to_owned(),
                });
                parts.collect()
            })
            .collect();
        assert_eq!(shown, expect);
    }

    #[test]
    fn files_then_piped_text_then_the_first_message() {
        check(&["hi"], None, &["hi"]);
        check(&["one two", "three"], None, &["one two", "three"]);
        check(&[], Some("piped\n"), &["piped\n"]);
        check(&["sum up"], Some("piped"), &["piped\nsum up"]);
        check(&["@a.txt", "what?"], None, &["<file name=\"a.txt\">\nalpha\n</file>\nwhat?"]);
        check(&["what?", "@b.txt"], None, &["<file name=\"b.txt\">\nno newline\n</file>\nwhat?"]);
        check(&["@p.png", "see"], None, &["<file name=\"p.png\"></file>\nsee[image/png]"]);
        check(&["@"], None, &["@"]);
    }

    #[test]
    fn words_that_nobody_quoted_are_one_message() {
        check(&["fix", "the", "tests"], None, &["fix the tests"]);
        check(&["fix", "", " ", "it"], Some("log\n"), &["log\nfix it"]);
        check(
            &["@a.txt", "what", "is", "@b.txt", "it"],
            None,
            &["<file name=\"a.txt\">\nalpha\n</file>\n<file name=\"b.txt\">\nno newline\n</file>\nwhat is it"],
        );
        check(&["/model", "x"], None, &["/model x"]);
        check(&["look", "at", "/tmp"], None, &["look at /tmp"]);
        // Quoted words are separate messages.
        check(&["first do this", "then", "that"], None, &["first do this", "then", "that"]);
        check(&["tabs\tcount", "too"], None, &["tabs\tcount", "too"]);
        check(&["one", "/new", "two"], None, &["one", "/new", "two"]);
    }

    #[test]
    fn what_cannot_be_attached_is_named_with_a_hint() {
        for words in [&["@missing"][..], &["@bin"], &["@."], &[], &["@/dev/zero"]] {
            let error = build(words, Some("  ")).unwrap_err().to_string();
            assert!(error.contains("hint:"), "{words:?}: {error}");
        }
    }

    #[test]
    fn a_pipe_that_nobody_writes_to_is_not_waited_for() {
        let (reader, writer) = std::io::pipe().unwrap();
        assert_eq!(read_piped_within(reader, Duration::from_millis(20)).unwrap(), None);
        drop(writer);
        assert_eq!(read_piped_within(&b"text"[..], Duration::from_secs(60)).unwrap().as_deref(), Some("text"));
        assert_eq!(read_piped_within(&b""[..], Duration::from_secs(60)).unwrap().as_deref(), Some(""));
    }

    #[test]
    fn endless_input_is_refused() {
        let error = read_piped(std::io::repeat(b'x')).unwrap_err().to_string();
        assert!(error.contains("8 MiB") && error.contains("hint:"), "{error}");
    }
}

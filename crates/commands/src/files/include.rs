//! Files that a template names with `@`: read from the project with size limits and appended to the prompt.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use base64::Engine;
use omp_stdx::format;
use omp_types::ImageContent;
use omp_workspace::{FileError, FileReach, image_type, real_location};

/// Caps the bytes of one file.
const MAX_FILE: usize = 128 << 10;
/// Caps the bytes of all files of a prompt.
const MAX_ALL: usize = 512 << 10;
/// Caps the bytes of an image: providers refuse larger ones.
const MAX_PICTURE: usize = 5 << 20;
/// Bytes read to detect the type of an image.
const PICTURE_HEAD: u64 = 32;
/// Caps the images of a prompt.
const MAX_PICTURES: usize = 10;

#[derive(Debug, Default)]
pub struct Included {
    /// Appended to the prompt.
    pub text: String,
    pub images: Vec<ImageContent>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// Reads each file within `root` that the session may read; paths are relative to `cwd`.
pub fn include(files: &[String], cwd: &Path, root: &Path, reach: &FileReach) -> Included {
    let mut included = Included::default();
    let root = real_location(root);
    for written in files {
        let room = MAX_FILE.min(MAX_ALL.saturating_sub(included.text.len()));
        match read(&cwd.join(written), (&root, reach), room) {
            Ok(Some(IncludedFile::Text(text))) => included.add(written, text),
            Ok(Some(IncludedFile::Picture(_))) if included.images.len() == MAX_PICTURES => {
                included.refuse(written, &format!("a prompt can have at most {MAX_PICTURES} images"));
            }
            Ok(Some(IncludedFile::Picture(picture))) => {
                included.text.push_str(&format!("\n\n<file name=\"{written}\"></file>"));
                included.images.push(picture);
            }
            Ok(None) if !looks_like_a_path(written) => {}
            Ok(None) => included.refuse(written, "no such file"),
            Err(problem) => included.refuse(written, &problem),
        }
    }
    included
}

enum IncludedFile {
    Text(IncludedText),
    /// Appended after the text of the prompt.
    Picture(ImageContent),
}

struct IncludedText {
    text: String,
    /// The size of the whole file if it was truncated.
    cut_from: Option<u64>,
}

impl Included {
    fn add(&mut self, written: &str, content: IncludedText) {
        self.text.push_str(&format!("\n\n<file name=\"{written}\">\n{}", content.text));
        if !content.text.ends_with('\n') {
            self.text.push('\n');
        }
        if let Some(whole) = content.cut_from {
            let shown = format::bytes(content.text.len() as u64);
            let cut = format!("only the first {shown} of {} are included", format::bytes(whole));
            self.text.push_str(&format!("[{cut}]\n"));
            self.notes.push(format!("@{written}: {cut}"));
        }
        self.text.push_str("</file>");
    }

    fn refuse(&mut self, written: &str, problem: &str) {
        self.text.push_str(&format!("\n\n[@{written} is not included: {problem}]"));
        self.notes.push(format!("@{written} is not included: {problem}"));
    }
}

/// `@param` and `@alice` are words, not paths.
fn looks_like_a_path(written: &str) -> bool {
    written.contains(['/', '.', '\\'])
}

/// Returns `None` if the file does not exist.
fn read(path: &Path, (root, reach): (&Path, &FileReach), room: usize) -> Result<Option<IncludedFile>, String> {
    let outside = || "it is outside the project".to_owned();
    // Checks the path of the open file, because a link could lead outside.
    let mut file = match reach.open_where(path, |real| real.starts_with(root)) {
        Ok(file) => file.ok_or_else(outside)?,
        Err(FileError::NotFound(_)) if !real_location(path).starts_with(root) => return Err(outside()),
        Err(FileError::NotFound(_)) => return Ok(None),
        Err(FileError::Directory(_)) => return Err("it is a folder".to_owned()),
        Err(error) => return Err(error.shown_as(&shown(path, root)).to_string()),
    };
    let size = file.metadata().map_err(|error| error.to_string())?.len();
    let mut bytes = Vec::new();
    file.by_ref().take(PICTURE_HEAD).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if let Some(mime_type) = image_type(&bytes) {
        return picture(bytes, file, mime_type).map(Some);
    }
    if room == 0 {
        return Err(format!("the files of one prompt can have at most {} in total", format::bytes(MAX_ALL as u64)));
    }
    file.take((room as u64 + 1).saturating_sub(bytes.len() as u64))
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if bytes.contains(&0) {
        return Err("it is not text".to_owned());
    }
    let cut_from = (bytes.len() > room).then_some(size.max(bytes.len() as u64));
    let text = String::from_utf8_lossy(&bytes);
    let end = if cut_from.is_some() { text.floor_char_boundary(room) } else { text.len() };
    let whole_lines = text[..end].rfind('\n').filter(|_| cut_from.is_some()).map_or(end, |at| at + 1);
    Ok(Some(IncludedFile::Text(IncludedText { text: text[..whole_lines].to_owned(), cut_from })))
}

fn picture(mut bytes: Vec<u8>, rest: impl std::io::Read, mime_type: &str) -> Result<IncludedFile, String> {
    rest.take(MAX_PICTURE as u64).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() > MAX_PICTURE {
        return Err(format!("an image can have at most {}", format::bytes(MAX_PICTURE as u64)));
    }
    let data = base64::engine::general_purpose::STANDARD.encode(&bytes);
    Ok(IncludedFile::Picture(ImageContent { data, mime_type: mime_type.to_owned() }))
}

fn shown(path: &Path, root: &Path) -> String {
    let below: PathBuf = path.strip_prefix(root).unwrap_or(path).to_owned();
    below.display().to_string()
}

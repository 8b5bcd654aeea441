//! Archives: what lies in a folder of one, and the files in it, shown like other files.

use omp_agent::{Output, ToolError};
use omp_stdx::format::{bytes, plural};
use omp_stdx::sanitize::reveal_invisible;
use omp_workspace::archive::{Archive, ArchiveAddress, ArchiveChild, ArchiveError, ArchiveFolder, EntryKind};
use omp_workspace::{ResolvedPath, binary_reason};

use super::content::{self, Content};
use super::selector::{self, Selector};
use super::text::{self, Extract};
use super::{Details, document, image};
use crate::options::ReadOptions;

/// Entries of one folder that are shown.
const MAX_CHILDREN: usize = 500;

pub fn read(
    path: ResolvedPath,
    address: ArchiveAddress<'_>,
    options: &ReadOptions,
) -> Result<Output<Details>, ToolError> {
    let archive = Archive::new(&path.absolute, address.format);
    if let Some(folder) = archive.folder(address.inner).map_err(ToolError::reply)? {
        return Ok(listing(&path, address.inner.trim_matches('/'), &folder));
    }
    let (inner, data, selector) = entry(&archive, address.inner)?;
    let shown = ResolvedPath {
        absolute: format!("{}:{inner}", path.absolute.display()).into(),
        display: format!("{}:{inner}", path.display),
    };
    let head = &data[..data.len().min(8 * 1024)];
    match content::of(&shown.display, head, &selector)? {
        Content::Picture(kind) => image::show(&shown, data, kind, options),
        Content::Document(format) => document::show(&shown, data, format, selector),
        Content::Text => match binary_reason(head) {
            Some(reason) => Err(ToolError::Reply(format!(
                "{} holds {reason} ({}) and is not shown as text\nhint: unpack it with a shell command",
                shown.display,
                bytes(data.len() as u64)
            ))),
            None => {
                let size = data.len() as u64;
                let text = String::from_utf8_lossy(&data).into_owned();
                let title = (!selector.raw).then(|| format!("[{}]", shown.display));
                text::show(Extract { path: shown, text, title, notes: Vec::new(), size }, selector)
            }
        },
    }
}

/// The entry of the whole name, or else the one before a selector.
fn entry<'a>(archive: &Archive, typed: &'a str) -> Result<(&'a str, Vec<u8>, Selector), ToolError> {
    let missing = match archive.read(typed) {
        Ok(data) => return Ok((typed, data, Selector::default())),
        Err(error @ ArchiveError::NoSuchEntry(..)) => error,
        Err(error) => return Err(ToolError::reply(error)),
    };
    match selector::split(typed) {
        Some((inner, selector)) => {
            let data = archive.read(inner).map_err(ToolError::reply)?;
            Ok((inner, data, selector.map_err(ToolError::Reply)?))
        }
        None => Err(ToolError::reply(missing)),
    }
}

fn listing(path: &ResolvedPath, inner: &str, folder: &ArchiveFolder) -> Output<Details> {
    let mut text = format!("{}:{inner}", path.display);
    for child in folder.children.iter().take(MAX_CHILDREN) {
        text.push('\n');
        text.push_str(&described(child));
    }
    if folder.children.is_empty() {
        text.push_str("\n(nothing in it)");
    }
    let hidden = folder.children.len().saturating_sub(MAX_CHILDREN);
    let notes = [
        (hidden, "not shown; name one to see it"),
        (folder.not_listed, "further in the archive, only counted"),
        (folder.unreachable, "whose names lead out of the archive cannot be opened"),
    ];
    for (count, note) in notes.into_iter().filter(|(count, _)| *count > 0) {
        text.push_str(&format!("\n({} {note})", plural(count, "entry", "entries")));
    }
    let details =
        Details { is_directory: true, meta: crate::details::Meta::path(&path.absolute), ..Details::default() };
    let tree = text.lines().skip(1).collect::<Vec<_>>().join("\n");
    let display = super::DisplayContent { text: tree, start_line: 1, line_numbers: Vec::new() };
    Output::text(text, Details { display_content: Some(display), ..details })
}

fn described(child: &ArchiveChild) -> String {
    let name = child.name.replace(char::is_control, "\u{fffd}");
    let name = reveal_invisible(&name);
    match &child.kind {
        EntryKind::Folder => format!("{name}/  {}  {}", plural(child.files, "file", "files"), bytes(child.size)),
        EntryKind::File => format!("{name}  {}", bytes(child.size)),
        EntryKind::Link(Some(target)) => format!("{name} -> {}", reveal_invisible(target)),
        EntryKind::Link(None) => format!("{name}  link"),
        EntryKind::Other(kind) => format!("{name}  {kind}"),
    }
}

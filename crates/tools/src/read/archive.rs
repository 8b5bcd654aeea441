//! Archives: lists a folder of an archive and shows its files like other files.

use omp_agent::{Output, ToolError};
use omp_stdx::format::{bytes, plural};
use omp_stdx::sanitize::reveal_invisible;
use omp_stdx::truncate::{Keep, by_bytes};
use omp_workspace::archive::{Archive, ArchiveAddress, ArchiveChild, ArchiveError, ArchiveFolder, MemberKind};
use omp_workspace::{ResolvedPath, binary_reason};

use super::content::{self, ContentKind};
use super::selector::{self, Selector};
use super::text::{self, Extract};
use super::{Details, ReadCall, document, image};

/// Limits the entries shown of one folder.
const MAX_CHILDREN: usize = 500;
/// Limits the bytes of a listing.
const MAX_LISTING: usize = 50 * 1024;
/// Limits the length of a name or link target.
const MAX_NAME: usize = 1000;

pub fn read(reader: &ReadCall, path: ResolvedPath, address: ArchiveAddress<'_>) -> Result<Output<Details>, ToolError> {
    let cancel = reader.cancel.clone();
    let archive =
        Archive::new(&path.absolute, address.format).within(reader.files.reach()).unless(move || cancel.is_cancelled());
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
        ContentKind::Picture(kind) => image::show(&shown, data, kind, &reader.options),
        ContentKind::Document(format) => document::show(reader, &shown, data, format, selector),
        ContentKind::Text => match binary_reason(head) {
            Some(reason) => Err(ToolError::Reply(format!(
                "{} contains {reason} ({}) and is not shown as text\nhint: unpack it with a shell command",
                shown.display,
                bytes(data.len() as u64)
            ))),
            None => {
                let size = data.len() as u64;
                let text = String::from_utf8_lossy(&data).into_owned();
                let title = (!selector.raw).then(|| format!("[{}]", shown.display));
                text::show(Extract { path: shown, text, title, notes: Vec::new(), size }, selector, &reader.options)
            }
        },
    }
}

/// Finds the entry with the whole name, or else the one before a selector.
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
    let mut shown = 0;
    for child in folder.children.iter().take(MAX_CHILDREN).map(described) {
        if text.len() + child.len() > MAX_LISTING {
            break;
        }
        text.push('\n');
        text.push_str(&child);
        shown += 1;
    }
    if folder.children.is_empty() {
        text.push_str("\n(empty)");
    }
    let notes = [
        (folder.children.len() - shown, "not shown; read one by its name, or list all with tar -tf or unzip -l"),
        (folder.not_listed, "more in the archive; tar -tf or unzip -l lists them"),
        (folder.unreachable, "with names outside the archive cannot be opened"),
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
    let name = plain(&child.name);
    match &child.kind {
        MemberKind::Folder => format!("{name}/  {}  {}", plural(child.files, "file", "files"), bytes(child.size)),
        MemberKind::File => format!("{name}  {}", bytes(child.size)),
        MemberKind::Link(Some(target)) => format!("{name} -> {}", plain(target)),
        MemberKind::Link(None) => format!("{name}  link"),
        MemberKind::Other(kind) => format!("{name}  {kind}"),
    }
}

/// Formats a name on one line: makes invisible characters visible and shortens the middle of a long name.
fn plain(name: &str) -> String {
    let name = name.replace(char::is_control, "\u{fffd}");
    let cut = by_bytes(&name, MAX_NAME, Keep::Ends);
    match cut.head.len() + cut.tail.len() {
        shown if shown < name.len() => {
            let gap = format!("…(+{})…", bytes((name.len() - shown) as u64));
            reveal_invisible(&format!("{}{gap}{}", cut.head, cut.tail)).into_owned()
        }
        _ => reveal_invisible(&name).into_owned(),
    }
}

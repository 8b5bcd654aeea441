//! The last known state of a workspace on disk, so that the next session need not read every file again.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::digest::Digest;
use crate::node::{Node, Record, Stat, Target, Uncovered};
use crate::objects::replace;
use crate::rel_path::RelPath;
use crate::tree::{Names, Tree};

const MAGIC: &[u8; 8] = b"ompundo1";

pub(crate) fn save(tree: &Tree, place: &Path) -> io::Result<()> {
    let mut bytes = MAGIC.to_vec();
    for (folder, names) in &tree.folders {
        text(&mut bytes, folder.as_bytes());
        number(&mut bytes, names.len() as u64);
        for (name, record) in names.iter() {
            text(&mut bytes, name);
            write(&mut bytes, record);
        }
    }
    let digest = Digest::of(&bytes);
    bytes.extend_from_slice(&digest.0);
    replace(place, &bytes)
}

/// `None` when there is none that can be believed: then every file is read.
pub(crate) fn load(place: &Path) -> Option<Tree> {
    let bytes = std::fs::read(place).ok()?;
    let (content, digest) = bytes.split_at_checked(bytes.len().checked_sub(32)?)?;
    if Digest::of(content).0 != *digest {
        return None;
    }
    let mut rest = Reader(content.strip_prefix(MAGIC)?);
    let mut tree = Tree::default();
    while !rest.0.is_empty() {
        let folder = RelPath::from_bytes(rest.text()?)?;
        let count = rest.number()?;
        let mut names = Names::new();
        for _ in 0..count {
            let name = rest.text()?.into();
            names.push((name, rest.record()?));
        }
        tree.folders.insert(folder, Arc::new(names));
    }
    Some(tree)
}

/// Whether a file of the folder is one of these.
pub(crate) fn is_index(place: &Path) -> bool {
    place.extension().is_none()
}

pub(crate) fn remove(place: &Path) -> io::Result<()> {
    std::fs::remove_file(place)
}

fn text(bytes: &mut Vec<u8>, text: &[u8]) {
    number(bytes, text.len() as u64);
    bytes.extend_from_slice(text);
}

fn number(bytes: &mut Vec<u8>, number: u64) {
    bytes.extend_from_slice(&number.to_le_bytes());
}

fn write(bytes: &mut Vec<u8>, record: &Record) {
    let stat = &record.stat;
    for value in [stat.size, stat.mtime as u64, stat.ctime as u64, stat.inode, u64::from(stat.mode)] {
        number(bytes, value);
    }
    number(bytes, record.read_at as u64);
    match &record.node {
        Node::Folder { mode } => {
            bytes.push(0);
            number(bytes, u64::from(*mode));
        }
        Node::File { mode, size, hash } => {
            bytes.push(1);
            number(bytes, u64::from(*mode));
            number(bytes, *size);
            bytes.extend_from_slice(&hash.0);
        }
        Node::Link { target } => {
            bytes.push(2);
            text(bytes, &target.0);
        }
        Node::Uncovered { why } => {
            bytes.push(3);
            number(bytes, Uncovered::ALL.iter().position(|other| other == why).unwrap_or(0) as u64);
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        self.take(length)
    }

    fn record(&mut self) -> Option<Record> {
        let stat = Stat {
            size: self.number()?,
            mtime: self.number()? as i64,
            ctime: self.number()? as i64,
            inode: self.number()?,
            mode: self.number()? as u32,
        };
        let read_at = self.number()? as i64;
        let node = match self.take(1)? {
            [0] => Node::Folder { mode: self.number()? as u32 },
            [1] => Node::File {
                mode: self.number()? as u32,
                size: self.number()?,
                hash: Digest(self.take(32)?.try_into().ok()?),
            },
            [2] => Node::Link { target: Target(self.text()?.into()) },
            [3] => Node::Uncovered { why: *Uncovered::ALL.get(usize::try_from(self.number()?).ok()?)? },
            _ => return None,
        };
        Some(Record { stat, read_at, node })
    }
}

//! An open git pack: its objects and their contents.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use flate2::{Decompress, FlushDecompress, Status};
use omp_stdx::plain_file;

use super::index::offset_number;
use super::{ObjectKind, Oid};
use crate::folder::read_at;

const OID: usize = 20;
const FANOUT: u64 = 8;
const OIDS: u64 = FANOUT + 256 * 4;
/// Number of bytes of an entry that are enough to determine the object's size.
const BEGIN: usize = 256;
/// Maximum delta chain: git creates chains of 50, and of 4,095 if configured.
const LONGEST_CHAIN: usize = 4_096;
/// Size limits of the tree cache, and of a single tree in it.
const MOST_RECENT: usize = 4 << 20;
const LARGEST_RECENT: usize = 64 << 10;

pub(super) struct Pack {
    pub name: std::ffi::OsString,
    pack: File,
    idx: File,
    /// Number of objects whose ID starts with at most this byte.
    fanout: Vec<u32>,
    recent: Mutex<RecentTrees>,
}

/// Trees by offset: the tree of a commit is usually a delta of a neighbouring commit's.
#[derive(Default)]
struct RecentTrees {
    trees: HashMap<u64, Vec<u8>>,
    bytes: usize,
}

impl RecentTrees {
    fn add(&mut self, at: u64, kind: ObjectKind, content: &[u8]) {
        if kind != ObjectKind::Tree || content.len() > LARGEST_RECENT {
            return;
        }
        self.bytes += content.len();
        if self.bytes > MOST_RECENT {
            self.trees.clear();
            self.bytes = content.len();
        }
        self.trees.insert(at, content.to_vec());
    }
}

enum PackedKind {
    Whole(ObjectKind),
    Delta { base: u64 },
}

struct ObjectHeader {
    kind: PackedKind,
    /// Uncompressed size.
    size: u64,
    /// Offset of the compressed data.
    at: u64,
}

impl Pack {
    /// Returns `None` for anything but a pack with an index of version 2.
    pub fn open(idx: &Path) -> Option<Self> {
        let (pack, _) = plain_file::open(&idx.with_extension("pack")).ok()?;
        let name = idx.file_name()?.to_owned();
        let (idx, _) = plain_file::open(idx).ok()?;
        let head = exact(&idx, 0, OIDS as usize)?;
        if head[..8] != [0xff, b't', b'O', b'c', 0, 0, 0, 2] {
            return None;
        }
        let fanout: Vec<u32> = head[8..].chunks_exact(4).filter_map(|four| Some(big(four)? as u32)).collect();
        let is_sorted = fanout.is_sorted() && fanout.len() == 256;
        is_sorted.then(|| Self { name, pack, idx, fanout, recent: Mutex::default() })
    }

    fn count(&self) -> u64 {
        u64::from(self.fanout.last().copied().unwrap_or(0))
    }

    /// Returns the range of objects whose IDs start with a byte.
    fn bucket(&self, byte: u8) -> (u64, u64) {
        let begin = if byte == 0 { 0 } else { self.fanout[usize::from(byte) - 1] };
        (u64::from(begin), u64::from(self.fanout[usize::from(byte)]))
    }

    pub fn find(&self, oid: &Oid) -> Option<u64> {
        let (mut low, mut high) = self.bucket(oid.0[0]);
        while low < high {
            let middle = low + (high - low) / 2;
            let name = exact(&self.idx, OIDS + middle * OID as u64, OID)?;
            match name.as_slice().cmp(&oid.0) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return self.offset(middle),
            }
        }
        None
    }

    /// Finds those of the sorted IDs that are in this pack, with their offsets; the index is read once, in pieces.
    pub fn find_all(&self, wanted: &[Oid], mut found: impl FnMut(usize, u64)) {
        let mut at = 0;
        while let Some(first) = wanted.get(at) {
            let byte = first.0[0];
            let end = at + wanted[at..].partition_point(|oid| oid.0[0] == byte);
            let (begin, last) = self.bucket(byte);
            if let Some(names) = exact(&self.idx, OIDS + begin * OID as u64, (last - begin) as usize * OID) {
                let places = exact(&self.idx, self.offsets() + begin * 4, (last - begin) as usize * 4);
                let (names, _) = names.as_chunks::<OID>();
                for (number, oid) in wanted.iter().enumerate().take(end).skip(at) {
                    let Ok(place) = names.binary_search(&oid.0) else { continue };
                    let four = places.as_ref().and_then(|places| big(places.get(place * 4..place * 4 + 4)?));
                    if let Some(offset) = four.and_then(|four| self.far(four)) {
                        found(number, offset);
                    }
                }
            }
            at = end;
        }
    }

    fn offsets(&self) -> u64 {
        OIDS + self.count() * (OID as u64 + 4)
    }

    fn offset(&self, number: u64) -> Option<u64> {
        self.far(big(&exact(&self.idx, self.offsets() + number * 4, 4)?)?)
    }

    /// Reads an offset beyond 2 GiB from its separate table.
    fn far(&self, four: u64) -> Option<u64> {
        if four & 0x8000_0000 == 0 {
            return Some(four);
        }
        let at = self.offsets() + self.count() * 4 + (four & 0x7fff_ffff) * 8;
        big(&exact(&self.idx, at, 8)?)
    }

    fn header(&self, offset: u64, begin: &[u8]) -> Option<ObjectHeader> {
        let first = *begin.first()?;
        let mut size = u64::from(first & 0x0f);
        let mut length = 1;
        let mut shift = 4;
        while begin.get(length - 1)? & 0x80 != 0 {
            size |= u64::from(*begin.get(length)? & 0x7f).checked_shl(shift)?;
            shift += 7;
            length += 1;
        }
        let kind = match (first >> 4) & 7 {
            1 => PackedKind::Whole(ObjectKind::Commit),
            2 => PackedKind::Whole(ObjectKind::Tree),
            3 => PackedKind::Whole(ObjectKind::Blob),
            4 => PackedKind::Whole(ObjectKind::Tag),
            6 => {
                let (back, used) = offset_number(begin.get(length..)?)?;
                length += used;
                PackedKind::Delta { base: offset.checked_sub(back).filter(|_| back > 0)? }
            }
            7 => {
                let base = Oid(begin.get(length..length + OID)?.try_into().ok()?);
                length += OID;
                PackedKind::Delta { base: self.find(&base)? }
            }
            _ => return None,
        };
        Some(ObjectHeader { kind, size, at: offset + length as u64 })
    }

    fn begin(&self, offset: u64) -> Option<([u8; BEGIN], usize)> {
        let mut begin = [0; BEGIN];
        let mut length = 0;
        while length < BEGIN {
            match read_at(&self.pack, &mut begin[length..], offset + length as u64).ok()? {
                0 => break,
                read => length += read,
            }
        }
        Some((begin, length))
    }

    /// Returns the size of the object at an offset, or `None` if the start of the entry does not contain it.
    pub fn size(&self, offset: u64, inflate: &mut Decompress) -> Option<u64> {
        let (begin, length) = self.begin(offset)?;
        let begin = &begin[..length];
        let header = self.header(offset, begin)?;
        if let PackedKind::Whole(kind) = header.kind {
            return (kind == ObjectKind::Blob).then_some(header.size);
        }
        inflate.reset(true);
        let mut out = [0; 24];
        let input = begin.get((header.at - offset) as usize..)?;
        match inflate.decompress(input, &mut out, FlushDecompress::None).ok()? {
            Status::Ok | Status::StreamEnd | Status::BufError => {}
        }
        let out = &out[..usize::try_from(inflate.total_out()).ok()?];
        let (_, used) = delta_number(out)?;
        Some(delta_number(out.get(used..)?)?.0)
    }

    /// Reads the object at an offset unless it is larger than `largest`. Only its length is verified.
    pub fn read(&self, offset: u64, largest: u64) -> Option<(ObjectKind, Vec<u8>)> {
        let mut deltas = Vec::new();
        // Limit for all deltas of the chain together.
        let (mut at, mut room) = (offset, 2 * largest);
        let (kind, mut content) = loop {
            if let Some(tree) = self.recent().trees.get(&at) {
                break (ObjectKind::Tree, tree.clone());
            }
            let (begin, length) = self.begin(at)?;
            let header = self.header(at, &begin[..length])?;
            match header.kind {
                PackedKind::Whole(kind) => {
                    let content = self.inflated(&header, largest)?;
                    self.recent().add(at, kind, &content);
                    break (kind, content);
                }
                PackedKind::Delta { base } => {
                    room = room.checked_sub(header.size)?;
                    deltas.push((at, self.inflated(&header, largest).filter(|_| deltas.len() < LONGEST_CHAIN)?));
                    at = base;
                }
            }
        };
        while let Some((at, delta)) = deltas.pop() {
            content = applied(&content, &delta, largest)?;
            self.recent().add(at, kind, &content);
        }
        Some((kind, content))
    }

    fn recent(&self) -> MutexGuard<'_, RecentTrees> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn inflated(&self, header: &ObjectHeader, largest: u64) -> Option<Vec<u8>> {
        if header.size > largest {
            return None;
        }
        let stream = io::BufReader::with_capacity(16 << 10, FileFrom { file: &self.pack, at: header.at });
        let mut content = Vec::with_capacity(usize::try_from(header.size).ok()?.min(1 << 20));
        let mut stream = flate2::bufread::ZlibDecoder::new(stream).take(header.size + 1);
        stream.read_to_end(&mut content).ok()?;
        (content.len() as u64 == header.size).then_some(content)
    }
}

/// Reads a file from an offset, without moving its position.
struct FileFrom<'a> {
    file: &'a File,
    at: u64,
}

impl Read for FileFrom<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let read = read_at(self.file, room, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

fn exact(file: &File, at: u64, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    let mut from = FileFrom { file, at };
    from.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

fn big(bytes: &[u8]) -> Option<u64> {
    (bytes.len() <= 8).then(|| bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

/// Parses a variable-length number of a delta and returns its size in bytes.
fn delta_number(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0;
    for (at, byte) in bytes.iter().enumerate() {
        value |= u64::from(byte & 0x7f).checked_shl(u32::try_from(at).ok()? * 7)?;
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
    }
    None
}

/// Applies a delta to its base.
fn applied(base: &[u8], delta: &[u8], largest: u64) -> Option<Vec<u8>> {
    let (base_size, used) = delta_number(delta)?;
    let (size, more) = delta_number(delta.get(used..)?)?;
    if base_size != base.len() as u64 || size > largest {
        return None;
    }
    let mut content = Vec::with_capacity(usize::try_from(size).ok()?);
    let mut rest = delta.get(used + more..)?.iter();
    while let Some(&code) = rest.next() {
        if code & 0x80 == 0 {
            let (added, after) = rest.as_slice().split_at_checked(usize::from(code)).filter(|_| code != 0)?;
            content.extend_from_slice(added);
            rest = after.iter();
        } else {
            let mut field = |bits: std::ops::Range<u8>| {
                let mut value = 0;
                for (shift, bit) in bits.enumerate() {
                    if code & (1 << bit) != 0 {
                        value |= usize::from(*rest.next()?) << (8 * shift);
                    }
                }
                Some(value)
            };
            let (from, length) = (field(0..4)?, field(4..7)?);
            let length = if length == 0 { 0x10000 } else { length };
            content.extend_from_slice(base.get(from..from.checked_add(length)?)?);
        }
        if content.len() as u64 > size {
            return None;
        }
    }
    (content.len() as u64 == size).then_some(content)
}

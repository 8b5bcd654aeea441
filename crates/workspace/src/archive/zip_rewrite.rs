//! Replaces one entry of a zip archive. Local entries and directory records of the others are copied as bytes; only the
//! offsets after the replaced entry change.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use flate2::Crc;
use flate2::write::DeflateEncoder;
use zip::ZipArchive;

use super::rewrite::NEW_ENTRY_MODE;
use super::unpack::open;
use super::zip_file::{find, open_zip};
use super::{ArchiveError, damaged, shown};
use crate::open::FileError;
use crate::reach::FileReach;

const LOCAL: u32 = 0x0403_4b50;
const DESCRIPTOR: u32 = 0x0807_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
const UTF8_NAME: u16 = 1 << 11;
const HAS_DESCRIPTOR: u16 = 1 << 3;
/// Offset of the local header in a directory record.
const OFFSET_FIELD: usize = 42;
const MADE_ON_UNIX: u16 = 3 << 8 | 20;
const REGULAR_FILE: u32 = 0o100_000;

pub fn rewrite(
    path: &Path,
    reach: &FileReach,
    exists: bool,
    inner: &str,
    content: &[u8],
    output: &mut dyn Write,
) -> Result<(), ArchiveError> {
    let write_error = |error| ArchiveError::File(FileError::io(path, error));
    if !exists {
        let entry = NewEntry::pack(inner.as_bytes(), NEW_ENTRY_MODE, content).map_err(write_error)?;
        let mut directory = Vec::new();
        entry.central(0, &mut directory);
        return write_all(
            output,
            &[&entry.local(), &entry.packed, &directory, &end_record(1, directory.len(), entry.len(), b"")],
        )
        .map_err(write_error);
    }
    let old = OldZip::open(path, reach, inner)?;
    let (name, mode) =
        old.replaced.as_ref().map_or((inner.as_bytes().to_vec(), NEW_ENTRY_MODE), |it| (it.name.clone(), it.mode));
    let entry = NewEntry::pack(&name, mode, content).map_err(write_error)?;
    old.write(path, &entry, output)
}

/// Parsed state of the existing archive.
struct OldZip {
    zip: ZipArchive<BufReader<File>>,
    /// A second handle of the same file, for reading raw bytes.
    input: BufReader<File>,
    /// Directory records in their original order, with their positions in the file.
    records: Vec<ZipRecord>,
    replaced: Option<ReplacedMember>,
}

struct ZipRecord {
    header_start: u64,
    bytes: Vec<u8>,
}

struct ReplacedMember {
    record: usize,
    name: Vec<u8>,
    mode: u32,
    start: u64,
    end: u64,
}

impl OldZip {
    fn open(path: &Path, reach: &FileReach, inner: &str) -> Result<Self, ArchiveError> {
        let refuse = |why: &str| ArchiveError::NotRewritable(shown(path), format!("{why}\nhint: use a shell command"));
        let zip = open_zip(path, reach)?;
        let mut input = BufReader::new(open(path, reach)?.0);
        if zip.has_duplicate_names() {
            return Err(refuse("several of its entries have the same name"));
        }
        let target = find(&zip, inner);
        let mut places: Vec<(u64, u64, usize)> = Vec::with_capacity(zip.len());
        for index in 0..zip.len() {
            let entry = zip.by_index_data(index).map_err(|error| damaged(path, error))?;
            places.push((entry.central_header_start(), entry.header_start(), index));
        }
        places.sort_unstable();
        let mut records = Vec::with_capacity(places.len());
        for (central, header_start, _) in &places {
            let bytes = read_record(&mut input, *central).map_err(|error| damaged(path, error))?;
            if bytes[OFFSET_FIELD..OFFSET_FIELD + 4] == [0xff; 4] {
                return Err(refuse("it uses the format for archives above 4 GiB"));
            }
            records.push(ZipRecord { header_start: *header_start, bytes });
        }
        let replaced = match target {
            Some(index) => {
                let record = places.iter().position(|place| place.2 == index).unwrap_or_default();
                Some(replaced(&zip, &mut input, index, record).map_err(|error| damaged(path, error))?)
            }
            None => None,
        };
        let overlaps = |cut: &ReplacedMember| {
            let mut others = records.iter().enumerate().filter(|(number, _)| *number != cut.record);
            others.any(|(_, other)| (cut.start..cut.end).contains(&other.header_start))
        };
        if replaced.as_ref().is_some_and(overlaps) {
            return Err(refuse("its entries overlap"));
        }
        Ok(Self { zip, input, records, replaced })
    }

    fn write(mut self, path: &Path, entry: &NewEntry, output: &mut dyn Write) -> Result<(), ArchiveError> {
        let failed = |error| ArchiveError::File(FileError::io(path, error));
        let directory_start = self.zip.central_directory_start();
        let (cut_start, cut_end) =
            self.replaced.as_ref().map_or((directory_start, directory_start), |it| (it.start, it.end));
        let prefix = self.zip.offset();
        let comment = self.zip.comment().to_vec();
        let input = &mut self.input;
        copy_range(input, 0, cut_start, output).map_err(failed)?;
        write_all(output, &[&entry.local(), &entry.packed]).map_err(failed)?;
        copy_range(input, cut_end, directory_start, output).map_err(failed)?;
        let moved = |at: u64| if at < cut_start { at } else { at - (cut_end - cut_start) + entry.len() };
        let mut directory = Vec::new();
        for (number, record) in self.records.iter_mut().enumerate() {
            if self.replaced.as_ref().is_some_and(|it| it.record == number) {
                entry.central(cut_start - prefix, &mut directory);
                continue;
            }
            let offset = (moved(record.header_start) - prefix) as u32;
            record.bytes[OFFSET_FIELD..OFFSET_FIELD + 4].copy_from_slice(&offset.to_le_bytes());
            directory.extend_from_slice(&record.bytes);
        }
        let count = self.records.len() + usize::from(self.replaced.is_none());
        if self.replaced.is_none() {
            entry.central(cut_start - prefix, &mut directory);
        }
        if count >= usize::from(u16::MAX) {
            return Err(ArchiveError::NotRewritable(shown(path), "it has too many entries".into()));
        }
        let start = moved(directory_start) - prefix;
        write_all(output, &[&directory, &end_record(count as u16, directory.len(), start, &comment)]).map_err(failed)
    }
}

fn read_record(input: &mut BufReader<File>, at: u64) -> io::Result<Vec<u8>> {
    input.seek(SeekFrom::Start(at))?;
    let mut bytes = vec![0; 46];
    input.read_exact(&mut bytes)?;
    if u32_at(&bytes, 0) != CENTRAL {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "its directory is not where it should be"));
    }
    let rest: usize = [28, 30, 32].iter().map(|field| usize::from(u16_at(&bytes, *field))).sum();
    bytes.resize(46 + rest, 0);
    input.read_exact(&mut bytes[46..])?;
    Ok(bytes)
}

/// Returns where the bytes of an entry begin and end, including its trailing sizes.
fn replaced(
    zip: &ZipArchive<BufReader<File>>,
    input: &mut BufReader<File>,
    index: usize,
    record: usize,
) -> io::Result<ReplacedMember> {
    let entry = zip.by_index_data(index).map_err(io::Error::other)?;
    let (name, start, packed) = (entry.name_raw().to_vec(), entry.header_start(), entry.compressed_size());
    let mode = entry.unix_mode().map_or(NEW_ENTRY_MODE, |mode| mode & 0o7777);
    input.seek(SeekFrom::Start(start))?;
    let mut local = [0; 30];
    input.read_exact(&mut local)?;
    let data = start + 30 + u64::from(u16_at(&local, 26)) + u64::from(u16_at(&local, 28));
    let mut end = data + packed;
    if u16_at(&local, 6) & HAS_DESCRIPTOR != 0 {
        input.seek(SeekFrom::Start(end))?;
        let mut mark = [0; 4];
        input.read_exact(&mut mark)?;
        end += if u32::from_le_bytes(mark) == DESCRIPTOR { 16 } else { 12 };
    }
    Ok(ReplacedMember { record, name, mode, start, end })
}

/// An entry that is not in the archive yet.
struct NewEntry {
    name: Vec<u8>,
    mode: u32,
    method: u16,
    crc: u32,
    size: u32,
    packed: Vec<u8>,
    /// Time and date in DOS format.
    modified: (u16, u16),
}

impl NewEntry {
    fn pack(name: &[u8], mode: u32, content: &[u8]) -> io::Result<Self> {
        let mut crc = Crc::new();
        crc.update(content);
        let mut packer = DeflateEncoder::new(Vec::new(), flate2::Compression::default());
        packer.write_all(content)?;
        let deflated = packer.finish()?;
        let smaller = deflated.len() < content.len();
        let (method, packed) = if smaller { (DEFLATED, deflated) } else { (STORED, content.to_vec()) };
        let size = u32::try_from(content.len()).map_err(io::Error::other)?;
        u16::try_from(name.len()).map_err(io::Error::other)?;
        Ok(Self { name: name.to_vec(), mode, method, crc: crc.sum(), size, packed, modified: dos_now() })
    }

    /// Number of bytes before the next entry.
    fn len(&self) -> u64 {
        (30 + self.name.len() + self.packed.len()) as u64
    }

    fn local(&self) -> Vec<u8> {
        let mut bytes = LOCAL.to_le_bytes().to_vec();
        bytes.extend_from_slice(&20u16.to_le_bytes());
        self.shared_fields(&mut bytes);
        bytes.extend_from_slice(&self.name);
        bytes
    }

    fn central(&self, offset: u64, directory: &mut Vec<u8>) {
        directory.extend_from_slice(&CENTRAL.to_le_bytes());
        directory.extend_from_slice(&MADE_ON_UNIX.to_le_bytes());
        directory.extend_from_slice(&20u16.to_le_bytes());
        self.shared_fields(directory);
        // No comment, first disk, no internal attributes.
        directory.extend_from_slice(&[0; 6]);
        directory.extend_from_slice(&((REGULAR_FILE | self.mode) << 16).to_le_bytes());
        directory.extend_from_slice(&(offset as u32).to_le_bytes());
        directory.extend_from_slice(&self.name);
    }

    fn shared_fields(&self, bytes: &mut Vec<u8>) {
        for short in [UTF8_NAME, self.method, self.modified.0, self.modified.1] {
            bytes.extend_from_slice(&short.to_le_bytes());
        }
        for long in [self.crc, self.packed.len() as u32, self.size] {
            bytes.extend_from_slice(&long.to_le_bytes());
        }
        bytes.extend_from_slice(&(self.name.len() as u16).to_le_bytes());
        bytes.extend_from_slice(&[0; 2]);
    }
}

fn end_record(count: u16, directory: usize, start: u64, comment: &[u8]) -> Vec<u8> {
    let mut bytes = END.to_le_bytes().to_vec();
    for short in [0, 0, count, count] {
        bytes.extend_from_slice(&short.to_le_bytes());
    }
    bytes.extend_from_slice(&(directory as u32).to_le_bytes());
    bytes.extend_from_slice(&(start as u32).to_le_bytes());
    bytes.extend_from_slice(&(comment.len() as u16).to_le_bytes());
    bytes.extend_from_slice(comment);
    bytes
}

fn dos_now() -> (u16, u16) {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = civil_date((seconds / 86_400) as i64);
    let time = seconds % 86_400;
    let (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60);
    let date = (year.clamp(1980, 2107) - 1980) << 9 | month << 5 | day;
    ((hour << 11 | minute << 5 | (second / 2)) as u16, date as u16)
}

/// Converts days since 1970 to year, month and day, using 400-year cycles that start in March.
fn civil_date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

fn copy_range(input: &mut BufReader<File>, from: u64, to: u64, output: &mut dyn Write) -> io::Result<()> {
    input.seek(SeekFrom::Start(from))?;
    let copied = io::copy(&mut input.take(to - from), output)?;
    if copied == to - from { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

fn write_all(output: &mut dyn Write, parts: &[&[u8]]) -> io::Result<()> {
    parts.iter().try_for_each(|part| output.write_all(part))
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::civil_date;

    #[test]
    fn dates() {
        for (days, want) in [
            (0, (1970, 1, 1)),
            (11_016, (2000, 2, 29)),
            (11_017, (2000, 3, 1)),
            (20_819, (2027, 1, 1)),
            (20_818, (2026, 12, 31)),
        ] {
            assert_eq!(civil_date(days), want);
        }
    }
}

//! Reads a tar stream member by member with the exact header bytes, so that unchanged members can be copied verbatim.
//!
//! The `tar` crate parses the fields. The iteration is implemented here because that of the crate drops the extension
//! headers in front of a member.

use std::io::{self, Read};

use tar::{EntryType, Header, PaxExtensions};

use super::MemberKind;

pub const BLOCK: usize = 512;
/// Size limit for the long names and attributes in front of one member.
const MAX_HEAD: usize = 1024 * 1024;

pub struct TarStream<R> {
    input: R,
    /// Unread bytes of the current member, data and padding.
    data_left: u64,
    padding: u64,
}

/// One member; its data is still in the stream.
#[derive(Debug)]
pub struct Member {
    /// All header blocks of the member, including extensions, as they are in the stream.
    pub head: Vec<u8>,
    pub name: String,
    pub kind: MemberKind,
    pub size: u64,
    pub mode: Option<u32>,
    /// A global header, which belongs to no single file and is only copied.
    pub is_global: bool,
}

impl<R: Read> TarStream<R> {
    pub fn new(input: R) -> Self {
        Self { input, data_left: 0, padding: 0 }
    }

    /// Returns the next member, or `None` at the end marker or the end of the stream.
    pub fn next_member(&mut self) -> io::Result<Option<Member>> {
        self.skip_rest()?;
        let mut head = Vec::new();
        let mut extra = Extensions::default();
        loop {
            let Some(block) = self.read_block(head.is_empty())? else { return Ok(None) };
            if block.iter().all(|byte| *byte == 0) {
                return if head.is_empty() { Ok(None) } else { Err(broken("a long name without its file")) };
            }
            let header = Header::from_byte_slice(&block).clone();
            check_sum(&header)?;
            head.extend_from_slice(&block);
            let size = header.entry_size()?;
            match header.entry_type() {
                EntryType::GNULongName => extra.name = Some(c_string(self.read_head_data(&mut head, size)?)),
                EntryType::GNULongLink => extra.link = Some(c_string(self.read_head_data(&mut head, size)?)),
                EntryType::XHeader => extra.read_pax(&self.read_head_data(&mut head, size)?),
                _ => return self.member(head, &header, extra).map(Some),
            }
        }
    }

    /// Reads up to the end of the current member's data.
    pub fn data(&mut self) -> impl Read + '_ {
        DataOf(self)
    }

    /// Copies the data with its padding.
    pub fn copy_data(&mut self, output: &mut dyn io::Write) -> io::Result<()> {
        let all = self.data_left.saturating_add(self.padding);
        let copied = io::copy(&mut self.input.by_ref().take(all), output)?;
        (self.data_left, self.padding) = (0, 0);
        if copied == all { Ok(()) } else { Err(cut_off()) }
    }

    fn skip_rest(&mut self) -> io::Result<()> {
        self.copy_data(&mut io::sink())
    }

    fn member(&mut self, mut head: Vec<u8>, header: &Header, extra: Extensions) -> io::Result<Member> {
        let sparse = header.entry_type().is_gnu_sparse();
        let mut extended = sparse && header.as_gnu().is_some_and(|gnu| gnu.is_extended());
        while extended {
            let block = self.read_block(false)?.ok_or_else(cut_off)?;
            // In a block of a sparse map, the continuation flag follows the 21 pairs.
            extended = block[504] != 0;
            extend_head(&mut head, &block)?;
        }
        let size = match extra.size {
            Some(size) => size,
            None => header.entry_size()?,
        };
        self.data_left = size;
        self.padding = padding_of(size);
        let name = extra.name.unwrap_or_else(|| header.path_bytes().into_owned());
        let link = extra.link.or_else(|| header.link_name_bytes().map(|link| link.into_owned()));
        let kind = kind_of(header.entry_type(), &name, link, extra.sparse);
        Ok(Member {
            name: lossy(name),
            kind,
            size,
            mode: header.mode().ok(),
            is_global: header.entry_type().is_pax_global_extensions(),
            head,
        })
    }

    fn read_head_data(&mut self, head: &mut Vec<u8>, size: u64) -> io::Result<Vec<u8>> {
        let whole = size.saturating_add(padding_of(size));
        if whole > (MAX_HEAD - head.len().min(MAX_HEAD)) as u64 {
            return Err(broken("a header that is too long"));
        }
        let mut data = vec![0; whole as usize];
        self.input.read_exact(&mut data).map_err(|_| cut_off())?;
        extend_head(head, &data)?;
        data.truncate(size as usize);
        Ok(data)
    }

    fn read_block(&mut self, may_end: bool) -> io::Result<Option<[u8; BLOCK]>> {
        let mut block = [0; BLOCK];
        let mut filled = 0;
        while filled < BLOCK {
            match self.input.read(&mut block[filled..]) {
                Ok(0) if filled == 0 && may_end => return Ok(None),
                Ok(0) => return Err(cut_off()),
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Some(block))
    }
}

struct DataOf<'a, R>(&'a mut TarStream<R>);

impl<R: Read> Read for DataOf<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let stream = &mut *self.0;
        let count = stream.input.by_ref().take(stream.data_left).read(buffer)?;
        if count == 0 && stream.data_left > 0 && !buffer.is_empty() {
            return Err(cut_off());
        }
        stream.data_left -= count as u64;
        Ok(count)
    }
}

/// Values of the extension headers in front of a member.
#[derive(Default)]
struct Extensions {
    name: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    size: Option<u64>,
    sparse: bool,
}

impl Extensions {
    fn read_pax(&mut self, data: &[u8]) {
        for field in PaxExtensions::new(data).flatten() {
            match field.key_bytes() {
                b"path" => self.name = Some(field.value_bytes().to_vec()),
                b"linkpath" => self.link = Some(field.value_bytes().to_vec()),
                b"size" => self.size = field.value().ok().and_then(|value| value.parse().ok()),
                key if key.starts_with(b"GNU.sparse.") => self.sparse = true,
                _ => {}
            }
        }
    }
}

pub fn padding_of(size: u64) -> u64 {
    size.wrapping_neg() % BLOCK as u64
}

fn kind_of(kind: EntryType, name: &[u8], link: Option<Vec<u8>>, sparse: bool) -> MemberKind {
    match kind {
        EntryType::Directory => MemberKind::Folder,
        EntryType::Symlink | EntryType::Link => MemberKind::Link(link.map(lossy)),
        EntryType::GNUSparse => MemberKind::Other("a sparse file"),
        EntryType::Char | EntryType::Block => MemberKind::Other("a device"),
        EntryType::Fifo => MemberKind::Other("a named pipe"),
        EntryType::XGlobalHeader => MemberKind::Other("a header"),
        _ if sparse => MemberKind::Other("a sparse file"),
        // Old archives have no entry type for folders.
        EntryType::Regular if name.ends_with(b"/") => MemberKind::Folder,
        EntryType::Regular | EntryType::Continuous => MemberKind::File,
        _ => MemberKind::Other("a special entry"),
    }
}

fn check_sum(header: &Header) -> io::Result<()> {
    let bytes = header.as_bytes();
    let sum: u32 = bytes[..148].iter().chain(&bytes[156..]).map(|byte| u32::from(*byte)).sum();
    let claimed = header.cksum().map_err(|_| broken("a header without a checksum"))?;
    if claimed == sum + 8 * u32::from(b' ') { Ok(()) } else { Err(broken("a header with a wrong checksum")) }
}

fn extend_head(head: &mut Vec<u8>, bytes: &[u8]) -> io::Result<()> {
    if head.len() + bytes.len() > MAX_HEAD {
        return Err(broken("a header that is too long"));
    }
    head.extend_from_slice(bytes);
    Ok(())
}

fn c_string(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    bytes.truncate(end);
    bytes
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

fn cut_off() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "it ends in the middle of an entry")
}

//! Tests with archives made by the format crates, and with malformed ones made by hand.

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};

use proptest::prelude::*;
use tar::{EntryType, Header};
use zip::write::SimpleFileOptions;

use super::*;

const FORMATS: [(ArchiveFormat, &str); 3] =
    [(ArchiveFormat::Tar, "a.tar"), (ArchiveFormat::TarGz, "a.tgz"), (ArchiveFormat::Zip, "a.zip")];

struct Packed {
    folder: tempfile::TempDir,
    format: ArchiveFormat,
    name: &'static str,
}

impl Packed {
    fn new(format: ArchiveFormat, name: &'static str, entries: &[(&str, &[u8])]) -> Self {
        let packed = Self { folder: tempfile::tempdir().unwrap(), format, name };
        let bytes = match format {
            ArchiveFormat::Zip => zip_of(entries),
            ArchiveFormat::Tar => tar_of(entries),
            ArchiveFormat::TarGz => gzip(&tar_of(entries)),
        };
        std::fs::write(packed.path(), bytes).unwrap();
        packed
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join(self.name)
    }

    fn archive(&self) -> Archive {
        Archive::new(self.path(), self.format)
    }

    fn write(&self, inner: &str, content: &[u8]) -> Result<String, ArchiveError> {
        write_entry(&self.path(), &FileReach::default(), self.format, inner, content)
    }

    fn refusal(&self, inner: &str) -> String {
        let before = std::fs::read(self.path()).unwrap();
        let error = self.write(inner, b"new").unwrap_err().to_string();
        assert_eq!(std::fs::read(self.path()).unwrap(), before, "{inner}: a refused write changed the archive");
        assert_eq!(std::fs::read_dir(self.folder.path()).unwrap().count(), 1, "a temp file was left");
        error
    }
}

fn tar_of(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, data) in entries {
        raw_member(&mut bytes, name, EntryType::Regular, "", data);
    }
    bytes.extend_from_slice(&[0; 1024]);
    bytes
}

/// Writes a member without the checks of the `tar` crate.
fn raw_member(bytes: &mut Vec<u8>, name: &str, kind: EntryType, link: &str, data: &[u8]) {
    let kind = if name.ends_with('/') { EntryType::Directory } else { kind };
    let mut header = Header::new_gnu();
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.as_old_mut().linkname[..link.len()].copy_from_slice(link.as_bytes());
    header.set_entry_type(kind);
    header.set_mode(0o640);
    header.set_mtime(1_000_000);
    header.set_uid(1234);
    header.set_size(data.len() as u64);
    header.set_cksum();
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(data);
    bytes.resize(bytes.len().next_multiple_of(512), 0);
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

fn zip_of(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().unix_permissions(0o640);
    for (name, data) in entries {
        if name.ends_with('/') {
            writer.add_directory(*name, options).unwrap();
        } else {
            writer.start_file(*name, options).unwrap();
            writer.write_all(data).unwrap();
        }
    }
    writer.set_comment("about the whole").unwrap();
    writer.finish().unwrap().into_inner()
}

#[test]
fn entries_are_listed_and_read() {
    for (format, name) in FORMATS {
        let packed = Packed::new(format, name, &[("top.txt", b"top"), ("dir/", b""), ("./dir/a/b.txt", b"deep\n")]);
        let archive = packed.archive();
        assert_eq!(archive.read("top.txt").unwrap(), b"top");
        assert_eq!(archive.read("dir/a/b.txt").unwrap(), b"deep\n");
        assert_eq!(archive.read("./dir//a/b.txt").unwrap(), b"deep\n");
        let root = archive.folder("").unwrap().unwrap();
        let shown: Vec<_> = root.children.iter().map(|child| (child.name.as_str(), child.size, child.files)).collect();
        assert_eq!(shown, [("dir", 5, 1), ("top.txt", 3, 1)]);
        assert_eq!(archive.folder("dir/").unwrap().unwrap().children[0].kind, MemberKind::Folder);
        assert_eq!(archive.folder("dir/a").unwrap().unwrap().children[0].name, "b.txt");
        assert_eq!(archive.folder("di").unwrap(), None, "a prefix of a name is not a folder");
        assert_eq!(archive.read("dir").unwrap_err().to_string(), "'dir' is a folder in the archive, not a file");
        assert_eq!(
            archive.read("TOP.txt").unwrap_err().to_string(),
            "'TOP.txt' is not in the archive\nhint: there is 'top.txt'"
        );
    }
}

#[test]
fn names_that_lead_out_are_shown_but_never_opened() {
    for (format, name) in FORMATS {
        let packed =
            Packed::new(format, name, &[("../evil", b"x"), ("/etc/passwd", b"x"), ("C:/x", b"x"), ("ok", b"y")]);
        let archive = packed.archive();
        let listing = archive.list().unwrap();
        let reachable: Vec<_> = listing.entries.iter().map(|entry| entry.reachable).collect();
        assert_eq!(reachable, [false, false, false, true], "{name}");
        assert_eq!(archive.folder("").unwrap().unwrap().unreachable, 3);
        assert!(archive.read("../evil").unwrap_err().to_string().contains("'..'"));
        assert!(archive.read("/etc/passwd").unwrap_err().to_string().contains("absolute"));
        assert!(archive.read("etc/passwd").is_err(), "an absolute name is not a relative one");
        assert!(archive.read("evil").is_err());
        packed.write("ok", b"z").unwrap();
        assert_eq!(archive.list().unwrap().entries.len(), 4, "what is not addressed is kept as it is");
    }
}

#[test]
fn writes_that_would_lead_out_are_refused() {
    for (format, name) in FORMATS {
        let packed = Packed::new(format, name, &[("app/x", b"1"), ("app-evil/y", b"2"), ("file", b"3")]);
        for (inner, want) in [
            ("", "Archive write path must target a file inside the archive"),
            ("./", "Archive write path must target a file, not a directory"),
            ("app/", "Archive write path must target a file, not a directory"),
            ("app", "Archive write path must target a file, not a directory"),
            ("../x", "Archive path cannot contain '..'"),
            ("app/../../x", "Archive path cannot contain '..'"),
            ("/abs", "Archive path cannot be absolute"),
            ("\\abs", "Archive path cannot be absolute"),
            ("c:\\abs", "Archive path cannot be absolute"),
            ("file/below", "'file' is not a folder in it"),
            ("FILE", "'FILE' and 'file' would be the same file"),
        ] {
            let error = packed.refusal(inner);
            assert!(error.contains(want), "{name}:{inner}: {error}");
        }
        packed.write("app-", b"neither one nor the other").unwrap();
        assert_eq!(packed.archive().read("app-evil/y").unwrap(), b"2");
    }
}

#[test]
fn names_that_differ_only_in_their_unicode_form() {
    for (format, name) in FORMATS {
        let packed = Packed::new(format, name, &[("caf\u{e9}", b"one"), ("A", b"2"), ("a", b"3")]);
        assert!(packed.refusal("cafe\u{301}").contains("would be the same file"));
        packed.write("caf\u{e9}", b"new").unwrap();
        let archive = packed.archive();
        assert_eq!(archive.read("caf\u{e9}").unwrap(), b"new");
        assert!(archive.read("cafe\u{301}").is_err());
        assert_eq!(archive.read("A").unwrap(), b"2", "an archive that has both keeps both");
        packed.write("a", b"4").unwrap();
        assert_eq!((archive.read("A").unwrap(), archive.read("a").unwrap()), (b"2".to_vec(), b"4".to_vec()));
    }
}

#[test]
fn links_are_not_followed() {
    let packed = Packed::new(ArchiveFormat::Tar, "a.tar", &[]);
    let mut bytes = Vec::new();
    raw_member(&mut bytes, "link", EntryType::Symlink, "/etc", b"");
    raw_member(&mut bytes, "hard", EntryType::Link, "other", b"");
    raw_member(&mut bytes, "pipe", EntryType::Fifo, "", b"");
    raw_member(&mut bytes, "link/passwd", EntryType::Regular, "", b"in the archive");
    std::fs::write(packed.path(), [bytes, vec![0; 1024]].concat()).unwrap();
    let archive = packed.archive();
    assert_eq!(archive.read("link/passwd").unwrap(), b"in the archive");
    let error = |inner: &str| archive.read(inner).unwrap_err().to_string();
    assert_eq!(error("link"), "'link' is a link to '/etc' (not followed) in the archive, not a file");
    assert!(error("hard").contains("a link to 'other'"));
    assert!(error("pipe").contains("a named pipe"));
    assert!(packed.refusal("link/shadow").contains("'link' is not a folder"));
    assert!(packed.refusal("hard").contains("a link"));

    let packed = Packed::new(ArchiveFormat::Zip, "a.zip", &[]);
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    writer.add_symlink("link", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    std::fs::write(packed.path(), writer.finish().unwrap().into_inner()).unwrap();
    assert!(packed.archive().read("link").unwrap_err().to_string().contains("not followed"));
    assert!(packed.refusal("link").contains("a link"));
}

#[test]
fn bombs_are_refused() {
    let zeros = vec![0; 40 * 1024 * 1024];
    let packed = Packed::new(ArchiveFormat::Zip, "a.zip", &[("zeros", &zeros)]);
    assert!(packed.archive().read("zeros").unwrap_err().to_string().contains("decompression bomb"));
    let packed = Packed::new(ArchiveFormat::TarGz, "a.tgz", &[("zeros", &zeros), ("after", b"x")]);
    assert!(packed.archive().read("after").unwrap_err().to_string().contains("decompression bomb"));
    assert!(packed.archive().list().unwrap_err().to_string().contains("decompression bomb"));
    assert!(packed.refusal("new").contains("decompression bomb"));
    let mut claims = tar_of(&[("big", b"")]);
    let mut header = Header::from_byte_slice(&claims[..512]).clone();
    header.set_size(MAX_ENTRY + 1);
    header.set_cksum();
    claims[..512].copy_from_slice(header.as_bytes());
    let packed = Packed::new(ArchiveFormat::Tar, "a.tar", &[]);
    std::fs::write(packed.path(), claims).unwrap();
    assert!(packed.archive().read("big").unwrap_err().to_string().contains("more than the limit"));
}

#[test]
fn reading_that_is_cancelled_ends() {
    for (format, name) in &FORMATS[..2] {
        let packed = Packed::new(*format, name, &[("a", b"text")]);
        let archive = packed.archive().unless(|| true);
        let want = format!("reading {name} was cancelled");
        assert_eq!(archive.list().unwrap_err().to_string(), want);
        assert_eq!(archive.read("a").unwrap_err().to_string(), want);
        assert_eq!(packed.archive().unless(|| false).read("a").unwrap(), b"text");
    }
}

/// An archive that claims an entry of almost 16 exabytes, which breaks reads and sums that are not bounded.
#[test]
fn sizes_that_cannot_be() {
    let mut builder = tar::Builder::new(Vec::new());
    builder.append_pax_extensions([("size", u64::MAX.to_string().as_bytes())]).unwrap();
    let mut header = Header::new_ustar();
    header.set_size(4);
    header.set_cksum();
    builder.append_data(&mut header, "big", &b"data"[..]).unwrap();
    let packed = Packed::new(ArchiveFormat::Tar, "a.tar", &[]);
    std::fs::write(packed.path(), builder.into_inner().unwrap()).unwrap();
    assert!(packed.archive().read("big").unwrap_err().to_string().contains("more than the limit"));
    assert!(packed.archive().list().unwrap_err().to_string().contains("ends in the middle"));
    assert!(packed.refusal("new").contains("ends in the middle"));
}

/// The path no longer holds the archive that was read: it is another archive, a link to elsewhere, or missing.
#[cfg(unix)]
#[test]
fn an_archive_that_is_swapped_meanwhile_is_not_replaced() {
    type Swap = fn(&Path);
    let swaps: [Swap; 4] = [
        |path| std::fs::write(path, "grown").unwrap(),
        |path| {
            // Another file with the same size and time.
            let (bytes, time) = (std::fs::read(path).unwrap(), std::fs::metadata(path).unwrap().modified().unwrap());
            let other = path.with_extension("other");
            std::fs::write(&other, bytes).unwrap();
            std::fs::File::options().write(true).open(&other).unwrap().set_modified(time).unwrap();
            std::fs::rename(other, path).unwrap();
        },
        |path| {
            let elsewhere = path.with_extension("elsewhere");
            std::fs::write(&elsewhere, "not yours").unwrap();
            std::fs::remove_file(path).unwrap();
            std::os::unix::fs::symlink(elsewhere, path).unwrap();
        },
        |path| std::fs::remove_file(path).unwrap(),
    ];
    for swap in swaps {
        let packed = Packed::new(ArchiveFormat::Zip, "a.zip", &[("a", b"1")]);
        let path = packed.path();
        let old = std::fs::metadata(&path).unwrap();
        let mut copy = tempfile::NamedTempFile::new_in(packed.folder.path()).unwrap();
        copy.write_all(b"rewritten").unwrap();
        swap(&path);
        let before = std::fs::read(&path).ok();
        let error = rewrite::put_in_place(copy, path.clone(), Some(&old)).unwrap_err().to_string();
        assert!(error.contains("changed on disk"), "{error}");
        assert_eq!(std::fs::read(&path).ok(), before);
    }
}

#[test]
fn what_is_damaged_says_so() {
    for (format, name) in FORMATS {
        let packed = Packed::new(format, name, &[("a", b"text"), ("b", &[7; 3000])]);
        let whole = std::fs::read(packed.path()).unwrap();
        for bytes in [b"no archive at all, whatever its name is".repeat(20), whole[..whole.len() / 2].to_vec()] {
            std::fs::write(packed.path(), bytes).unwrap();
            let error = packed.archive().list().unwrap_err().to_string();
            assert!(error.starts_with(&format!("{name} is damaged")), "{error}");
            packed.refusal("a");
        }
    }
    let missing = Archive::new("/no/such.zip", ArchiveFormat::Zip);
    assert!(matches!(missing.list(), Err(ArchiveError::File(error)) if error.is_not_found()));
}

#[test]
fn new_archives_and_long_names() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!("{}/ü{}.txt", "d".repeat(99), "f".repeat(120));
    for (format, name) in FORMATS {
        let path = folder.path().join("deep/er").join(name);
        let archive = Archive::new(&path, format);
        for (inner, content) in [(long.as_str(), "first"), ("./b", ""), (&long, "second"), ("c\\d", "x")] {
            write_entry(&path, &FileReach::default(), format, inner, content.as_bytes()).unwrap();
        }
        assert_eq!(archive.read(&long).unwrap(), b"second", "{name}");
        assert_eq!(archive.read("b").unwrap(), b"");
        assert_eq!(archive.read("c/d").unwrap(), b"x");
        assert_eq!(archive.list().unwrap().entries.len(), 3);
    }
}

#[test]
fn extension_headers_stay_with_their_member() {
    let mut builder = tar::Builder::new(Vec::new());
    builder.append_pax_extensions([("path", &b"pax name"[..]), ("comment", b"kept")]).unwrap();
    let mut header = Header::new_ustar();
    header.set_size(4);
    header.set_cksum();
    builder.append_data(&mut header, "short", &b"data"[..]).unwrap();
    let mut header = Header::new_gnu();
    header.set_size(4);
    let long = "n".repeat(150);
    builder.append_data(&mut header, &long, &b"more"[..]).unwrap();
    let before = builder.into_inner().unwrap();
    let packed = Packed::new(ArchiveFormat::Tar, "a.tar", &[]);
    std::fs::write(packed.path(), &before).unwrap();
    assert_eq!(packed.archive().read("pax name").unwrap(), b"data");
    assert_eq!(packed.archive().read(&long).unwrap(), b"more");
    packed.write("new", b"!").unwrap();
    let after = std::fs::read(packed.path()).unwrap();
    let kept = before.len() - 1024;
    assert_eq!(after[..kept], before[..kept]);
}

#[cfg(unix)]
#[test]
fn links_to_archives_and_modes_are_kept() {
    use std::os::unix::fs::PermissionsExt;
    let packed = Packed::new(ArchiveFormat::Zip, "a.zip", &[("a", b"1")]);
    std::fs::set_permissions(packed.path(), std::fs::Permissions::from_mode(0o600)).unwrap();
    let link = packed.folder.path().join("link.zip");
    std::os::unix::fs::symlink(packed.path(), &link).unwrap();
    write_entry(&link, &FileReach::default(), ArchiveFormat::Zip, "a", b"2").unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(std::fs::metadata(packed.path()).unwrap().permissions().mode() & 0o777, 0o600);
    let mut zip = zip::ZipArchive::new(std::fs::File::open(packed.path()).unwrap()).unwrap();
    assert_eq!(zip.by_name("a").unwrap().unix_mode().unwrap() & 0o777, 0o640, "the entry keeps its mode");
}

/// Returns everything that another program sees of each entry, except the named one.
fn seen_by_others(packed: &Packed, except: &str) -> BTreeMap<String, Vec<u8>> {
    let mut seen = BTreeMap::new();
    let bytes = std::fs::read(packed.path()).unwrap();
    if packed.format == ArchiveFormat::Zip {
        let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
        assert_eq!(zip.comment(), b"about the whole");
        for index in 0..zip.len() {
            let mut raw = Vec::new();
            let mut entry = zip.by_index_raw(index).unwrap();
            entry.read_to_end(&mut raw).unwrap();
            let about =
                (entry.unix_mode(), entry.last_modified(), entry.crc32(), entry.compression(), entry.extra_data());
            seen.insert(entry.name().unwrap().into_owned(), [format!("{about:?}").into_bytes(), raw].concat());
        }
    } else {
        let mut plain = Vec::new();
        match packed.format {
            ArchiveFormat::TarGz => drop(flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut plain).unwrap()),
            _ => plain = bytes,
        }
        for entry in tar::Archive::new(&plain[..]).entries().unwrap() {
            let mut entry = entry.unwrap();
            let mut all = entry.header().as_bytes().to_vec();
            entry.read_to_end(&mut all).unwrap();
            seen.insert(String::from_utf8_lossy(&entry.path_bytes()).into_owned(), all);
        }
    }
    seen.remove(except);
    seen
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn writing_one_entry_leaves_all_others_identical(
        files in proptest::collection::btree_map("[a-f]{1,3}(/[a-f]{1,3}){0,2}\\.t", proptest::collection::vec(any::<u8>(), 0..2000), 1..8),
        picked in any::<proptest::sample::Index>(),
        is_new in any::<bool>(),
        content in proptest::collection::vec(any::<u8>(), 0..3000),
        kind in 0..3usize,
    ) {
        let entries: Vec<(&str, &[u8])> = files.iter().map(|(name, data)| (name.as_str(), data.as_slice())).collect();
        let (format, name) = FORMATS[kind];
        let packed = Packed::new(format, name, &entries);
        let target = if is_new { "new/entry" } else { entries[picked.index(entries.len())].0 };
        let before = seen_by_others(&packed, target);
        prop_assert_eq!(packed.write(target, &content).unwrap(), target);
        prop_assert_eq!(seen_by_others(&packed, target), before);
        prop_assert_eq!(packed.archive().read(target).unwrap(), content);
        let order: Vec<String> = packed.archive().list().unwrap().entries.into_iter().map(|entry| entry.path).collect();
        let mut want: Vec<String> = files.keys().cloned().collect();
        if is_new {
            want.push(target.into());
        }
        prop_assert_eq!(order, want);
    }
}

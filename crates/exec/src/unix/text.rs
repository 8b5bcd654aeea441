//! Passes text to a program on a descriptor of its own: an unnamed file, at a descriptor number that nothing else in omp
//! uses.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, IntoRawFd, RawFd};
use std::sync::LazyLock;

use nix::errno::Errno;
use nix::libc;

/// A file that no other process can open, and the descriptor number that the program reads.
#[derive(Debug)]
pub(crate) struct TextFile {
    file: File,
    slot: RawFd,
}

/// The descriptor number at which programs find the text. It is reserved once, so that no descriptor needed to start a
/// process can have it. Shells other than bash support only numbers up to 9, so reserve it early.
pub(crate) fn text_slot() -> Option<RawFd> {
    static SLOT: LazyLock<Option<RawFd>> = LazyLock::new(|| io::pipe().ok().map(|(reader, _)| reader.into_raw_fd()));
    *SLOT
}

pub(crate) fn text_file(text: &str) -> io::Result<TextFile> {
    let slot = text_slot().ok_or_else(|| io::Error::from(Errno::EMFILE))?;
    let mut file = nameless_file()?;
    file.write_all(text.as_bytes())?;
    file.seek(SeekFrom::Start(0))?;
    Ok(TextFile { file, slot })
}

/// Called between fork and exec: makes the program inherit the file.
pub(super) fn hand_over(text: &TextFile) -> io::Result<()> {
    // SAFETY: passes only integers.
    Errno::result(unsafe { libc::dup2(text.file.as_raw_fd(), text.slot) })?;
    Ok(())
}

#[cfg(target_os = "linux")]
fn nameless_file() -> io::Result<File> {
    use std::os::fd::FromRawFd;
    const NOT_TO_RUN: libc::c_uint = 8;
    // SAFETY: passes a C string and integers; the new descriptor has no other owner.
    unsafe {
        let make =
            |flags: libc::c_uint| libc::syscall(libc::SYS_memfd_create, c"command".as_ptr(), libc::MFD_CLOEXEC | flags);
        // Kernels before 6.3 do not support the flag; some newer ones require it.
        let mut made = make(NOT_TO_RUN);
        if made < 0 {
            made = make(0);
        }
        let made = Errno::result(made)?;
        Ok(File::from_raw_fd(made as RawFd))
    }
}

#[cfg(not(target_os = "linux"))]
fn nameless_file() -> io::Result<File> {
    tempfile::tempfile()
}

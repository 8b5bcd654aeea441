//! Systems without support for directory handles: nothing is covered, which is reported on opening.

use std::fs::File;
use std::io;
use std::path::Path;

use super::{FolderEntry, FolderNames};

/// Never constructed on this system.
pub(crate) enum Folder {}

impl Folder {
    pub fn open(_: &Path) -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "undo does not work on this system yet"))
    }

    pub fn found_of(_: &File) -> io::Result<FolderEntry> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn is_running(_: i32) -> bool {
        true
    }

    pub fn set_mode_of(_: &File, _: u32) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn child(&self, _: &[u8]) -> io::Result<Self> {
        match *self {}
    }

    pub fn itself(&self) -> io::Result<FolderEntry> {
        match *self {}
    }

    pub fn names(&self, _: usize, _: &dyn Fn() -> bool) -> io::Result<FolderNames> {
        match *self {}
    }

    pub fn look(&self, _: &[u8]) -> io::Result<Option<FolderEntry>> {
        match *self {}
    }

    pub fn file(&self, _: &[u8]) -> io::Result<File> {
        match *self {}
    }

    pub fn target(&self, _: &[u8]) -> io::Result<Box<[u8]>> {
        match *self {}
    }

    pub fn new_file(&self, _: &[u8]) -> io::Result<File> {
        match *self {}
    }

    pub fn set_own_mode(&self, _: u32) -> io::Result<()> {
        match *self {}
    }

    pub fn set_mode(&self, _: &[u8], _: u32) -> io::Result<()> {
        match *self {}
    }

    pub fn rename(&self, _: &[u8], _: &[u8]) -> io::Result<()> {
        match *self {}
    }

    pub fn remove_file(&self, _: &[u8]) -> io::Result<()> {
        match *self {}
    }

    pub fn remove_folder(&self, _: &[u8]) -> io::Result<()> {
        match *self {}
    }

    pub fn new_folder(&self, _: &[u8]) -> io::Result<()> {
        match *self {}
    }

    pub fn new_link(&self, _: &[u8], _: &[u8]) -> io::Result<()> {
        match *self {}
    }
}

pub(crate) fn read_at(_: &File, _: &mut [u8], _: u64) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn is_same_file(_: &File, _: &Path) -> bool {
    false
}

pub(crate) fn disk_use(metadata: &std::fs::Metadata) -> u64 {
    metadata.len()
}

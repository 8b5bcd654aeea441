//! The programs whose folders are read, each in a file of its own, and their order.

mod native;
mod plain_files;

use super::Provider;
use super::finder::Finder;

/// One program's places.
pub(crate) trait Vendor: Sync {
    fn provider(&self) -> Provider;
    fn find(&self, find: &mut Finder<'_>);
}

/// Every one there is, with its priority: higher wins, and the one that stands first among equals.
pub(crate) const VENDORS: &[(u32, &dyn Vendor)] = &[(100, &native::Native), (35, &plain_files::PlainFiles)];

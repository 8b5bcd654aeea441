//! Cline: the nearest `.clinerules`, a folder or a single file.

use super::super::finder::{Finder, Folder};
use super::super::{Level, Provider};
use super::Vendor;

pub(crate) struct Cline;

impl Vendor for Cline {
    fn provider(&self) -> Provider {
        Provider::Cline
    }

    fn find(&self, find: &mut Finder<'_>) {
        let places = find.project.iter().map(|folder| folder.join(".clinerules"));
        let Some(path) = places.into_iter().find(|path| find.disk().exists(path)) else { return };
        if find.disk().is_folder(&path) {
            find.rules(&Folder { path, level: Level::Project }, &[".md"]);
        } else {
            find.rule(&path, Level::Project, "clinerules".to_owned());
        }
    }
}

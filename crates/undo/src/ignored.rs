//! Determines which folders a project's `.gitignore` files exclude.

use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use omp_stdx::plain_file;

/// Size limit of an ignore file.
pub(crate) const LARGEST: u64 = 1 << 20;

/// The rules that apply in a folder: its own and those of its parents.
#[derive(Clone, Default)]
pub(crate) struct Ignored {
    innermost: Option<Arc<IgnoreLevel>>,
}

struct IgnoreLevel {
    rules: Gitignore,
    above: Option<Arc<IgnoreLevel>>,
}

impl Ignored {
    /// Reads the rules of the folders above the workspace, up to the repository root.
    pub fn above(workspace: &Path) -> Self {
        let folders: Vec<&Path> = workspace.ancestors().collect();
        let Some(top) = folders.iter().position(|folder| folder.join(".git").exists()) else { return Self::default() };
        let outer = folders[..=top].iter().skip(1).rev();
        outer.fold(Self::default(), |rules, folder| match plain_file::read(&folder.join(".gitignore"), LARGEST) {
            Ok(text) => rules.and(folder, &String::from_utf8_lossy(&text)),
            Err(_) => rules,
        })
    }

    /// Adds the rules of a folder's own file. Invalid patterns are skipped, as in git.
    pub fn and(&self, folder: &Path, text: &str) -> Self {
        let mut builder = GitignoreBuilder::new(folder);
        for line in text.lines() {
            drop(builder.add_line(None, line));
        }
        match builder.build() {
            Ok(rules) => Self { innermost: Some(Arc::new(IgnoreLevel { rules, above: self.innermost.clone() })) },
            Err(_) => self.clone(),
        }
    }

    pub fn names(&self, path: &Path, is_folder: bool) -> bool {
        let mut level = self.innermost.as_ref();
        while let Some(here) = level {
            match here.rules.matched(path, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => level = here.above.as_ref(),
            }
        }
        false
    }

    /// Returns whether both are the same object, not only equal rules.
    pub fn is(&self, other: &Self) -> bool {
        match (&self.innermost, &other.innermost) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_rule_decides() {
        let path = |text: &'static str| Path::new(text);
        let above = Ignored::default().and(path("/w"), "target/\n*.log\n/dist\n");
        let inner = above.and(path("/w/web"), "!target/\nnode_modules\n");
        assert!(above.names(path("/w/target"), true));
        assert!(above.names(path("/w/a/target"), true));
        assert!(!above.names(path("/w/target"), false));
        assert!(above.names(path("/w/dist"), true));
        assert!(!above.names(path("/w/a/dist"), true));
        assert!(!inner.names(path("/w/web/target"), true));
        assert!(inner.names(path("/w/web/a/node_modules"), true));
        assert!(inner.names(path("/w/web/x.log"), false));
    }
}

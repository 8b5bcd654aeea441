//! Splits a typed path that may contain a glob into the folder to start in and the pattern to match below it.

mod quick;

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

use quick::Quick;

use crate::path::{PathError, PathResolver, ResolvedPath};

/// A file, a folder, or a folder with a glob for the files below it.
#[derive(Clone, Debug)]
pub struct PathTarget {
    pub base: ResolvedPath,
    /// Matched against paths relative to the base; `None` matches all.
    pub glob: Option<Glob>,
}

/// A pattern for relative paths. `*` does not cross a folder boundary.
#[derive(Clone, Debug)]
pub struct Glob {
    exact: GlobMatcher,
    quick: Option<Quick>,
}

impl Glob {
    fn compile(glob: &str) -> Result<Self, TargetError> {
        Ok(Self { exact: exact(glob)?, quick: Quick::parse(glob) })
    }

    pub fn is_match(&self, relative: &Path) -> bool {
        match &self.quick {
            Some(quick) => quick.is_match(relative.as_os_str().as_encoded_bytes()),
            None => self.exact.is_match(relative),
        }
    }

    pub fn as_str(&self) -> &str {
        self.exact.glob().glob()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("\"{glob}\" is not a valid glob: {reason}\nhint: * ? [abc] {{a,b}} and ** are supported")]
    BadGlob { glob: String, reason: String },
}

impl PathTarget {
    /// Parses a typed path. A path that exists is taken literally, whatever characters it has; a glob without a folder in
    /// front of it matches at any depth.
    pub fn parse(typed: &str, paths: &PathResolver) -> Result<Self, TargetError> {
        let whole = paths.resolve(typed)?;
        let bare = typed.trim().trim_matches(['"', '\'', '`']);
        if whole.absolute.symlink_metadata().is_ok() {
            return Ok(Self { base: whole, glob: None });
        }
        if !bare.contains(GLOB_CHARACTERS) {
            let base = if bare.contains('\\') { paths.resolve(&bare.replace('\\', "/"))? } else { whole };
            return Ok(Self { base, glob: None });
        }
        let (base, glob) = split(bare);
        Ok(Self { base: paths.resolve(&base)?, glob: Some(Glob::compile(&glob)?) })
    }
}

const GLOB_CHARACTERS: [char; 4] = ['*', '?', '[', '{'];

/// Splits in front of the first path component that contains a glob.
fn split(typed: &str) -> (String, String) {
    let typed = typed.replace('\\', "/");
    let parts: Vec<&str> = typed.split('/').collect();
    let first = parts.iter().position(|part| part.contains(GLOB_CHARACTERS)).unwrap_or(parts.len());
    let glob = parts[first..].join("/");
    match first {
        0 if glob.starts_with("**/") => (".".into(), glob),
        0 => (".".into(), format!("**/{glob}")),
        1 if parts[0].is_empty() => ("/".into(), glob),
        _ => (parts[..first].join("/"), glob),
    }
}

fn exact(glob: &str) -> Result<GlobMatcher, TargetError> {
    GlobBuilder::new(glob)
        .literal_separator(true)
        .empty_alternates(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| TargetError::BadGlob { glob: glob.into(), reason: error.kind().to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(typed: &str, base: &str, glob: &str) {
        assert_eq!(split(typed), (base.to_owned(), glob.to_owned()));
    }

    #[test]
    fn splits_before_the_first_glob() {
        check("*.ts", ".", "**/*.ts");
        check("**/*.ts", ".", "**/*.ts");
        check("{a,b}/c.rs", ".", "**/{a,b}/c.rs");
        check("src/*.ts", "src", "*.ts");
        check("src/**/*.ts", "src", "**/*.ts");
        check("./*.ts", ".", "*.ts");
        check("/abs/dir/*.rs", "/abs/dir", "*.rs");
        check("/*.rs", "/", "*.rs");
        check("a/b?/c/[de].rs", "a", "b?/c/[de].rs");
        check("src\\**\\*.ts", "src", "**/*.ts");
    }

    #[test]
    fn stars_stay_within_a_folder() {
        let matches = |glob: &str, path: &str| Glob::compile(glob).unwrap().is_match(Path::new(path));
        assert!(matches("*.rs", "a.rs") && !matches("*.rs", "sub/a.rs"));
        assert!(matches("**/*.rs", "a.rs") && matches("**/*.rs", "x/y/a.rs"));
        assert!(matches("a{,b}.rs", "a.rs") && matches("a[bc]?.rs", "acd.rs"));
    }

    #[test]
    fn existing_names_are_not_globs() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("[id]")).unwrap();
        let paths = PathResolver::new(folder.path(), None);
        assert!(PathTarget::parse("[id]", &paths).unwrap().glob.is_none());
        assert!(PathTarget::parse("'[io]'", &paths).unwrap().glob.is_some());
        assert_eq!(PathTarget::parse("a\\b", &paths).unwrap().base.display, "a/b");
        assert!(matches!(PathTarget::parse("a[", &paths), Err(TargetError::BadGlob { .. })));
        assert!(matches!(PathTarget::parse("  ", &paths), Err(TargetError::Path(PathError::Empty))));
    }
}

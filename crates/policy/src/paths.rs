//! Rules on files: a glob matched against the real path, relative to the workspace, in `~/` or absolute.
//!
//! An allow rule is interpreted narrowly and a deny rule widely: if a spelling could mean two paths, the first covers only
//! the certain one and the second both.

use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use omp_types::{AccessMap, ContainMode, folded_path};

/// The base folders for paths in rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RulePlaces {
    /// The workspace with links resolved.
    pub workspace: PathBuf,
    /// The folder in which commands start, if that is not the workspace but a folder within it.
    pub folder: Option<PathBuf>,
    pub home: Option<PathBuf>,
    /// Whether `A` and `a` are the same file.
    pub folds_case: bool,
}

impl RulePlaces {
    pub fn new(workspace: &Path, home: Option<&Path>) -> Self {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folds_case = cfg!(any(target_os = "macos", windows));
        Self { workspace: real(workspace), folder: None, home: home.map(real), folds_case }
    }

    /// Sets the folder of the workspace in which commands start.
    #[must_use]
    pub fn started_in(mut self, folder: &Path) -> Self {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        self.folder = Some(folder).filter(|folder| *folder != self.workspace);
        self
    }

    /// The base folder for paths in calls.
    pub fn folder(&self) -> &Path {
        self.folder.as_deref().unwrap_or(&self.workspace)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct PathPattern {
    allows: GlobSet,
    forbids: GlobSet,
    /// The folders that certainly contain what is forbidden.
    bases: Vec<PathBuf>,
    /// The base folders of the patterns as the user meant them, without alternative interpretations.
    meant: Vec<PathBuf>,
}

impl PathPattern {
    pub fn parse(text: &str, places: &RulePlaces) -> Result<Self, String> {
        let text = text.trim();
        let own = placed(text, places)?;
        let mut wide = vec![own.clone()];
        if places.folder.is_some() {
            // A deny rule may name a file relative to the folder that omp was started in.
            let workspace = places.folder().to_owned();
            wide.push(placed(text, &RulePlaces { workspace, folder: None, ..places.clone() })?);
        }
        if let Some(inside) = text.strip_prefix('/').filter(|inside| !inside.starts_with('/')) {
            // Other programs interpret this as a path in the project.
            wide.push(placed(inside, places)?);
        }
        if !text.trim_end_matches('/').contains('/') && !text.starts_with('~') {
            wide.push(placed(&format!("**/{text}"), places)?);
        }
        wide.extend(wide.clone().iter().filter_map(|placed| placed.followed()));
        let forbidden: Vec<String> =
            wide.iter().flat_map(|placed| [folder_of(placed), placed.glob(), below(placed)]).collect();
        let bases: Vec<PathBuf> = wide.into_iter().map(|placed| placed.base).collect();
        // An absolute path is interpreted as one in the project only if the project has such a folder, or the root does
        // not.
        let has = |root: &Path| first_part(text).is_some_and(|first| root.join(first).exists());
        let is_absolute = text.starts_with("//") || has(Path::new("/")) && !has(&places.workspace);
        let meant = if text.starts_with('/') && is_absolute { vec![own.base.clone()] } else { bases.clone() };
        Ok(Self { allows: set(&[own.glob()], false)?, forbids: set(&forbidden, places.folds_case)?, bases, meant })
    }

    /// `real` has its links resolved.
    pub fn allows(&self, real: &Path) -> bool {
        !escapes(real) && self.allows.is_match(real)
    }

    pub fn forbids(&self, real: &Path) -> bool {
        self.forbids.is_match(real)
    }

    /// Whether something forbidden is below a folder.
    pub fn is_below(&self, folder: &Path) -> bool {
        self.bases.iter().any(|base| base.starts_with(folder))
    }

    /// Whether the access map already denies writing everything that was meant.
    pub fn is_out_of_reach(&self, map: &AccessMap) -> bool {
        self.meant.iter().all(|base| is_outside(base, map) && is_outside(&real(base), map))
    }
}

/// Whether the path is neither inside a writable folder nor above one. Guarded paths count as writable, because some of
/// them are only restored afterwards.
fn is_outside(base: &Path, map: &AccessMap) -> bool {
    let is_in = |one: &Path, other: &Path| Path::new(&*folded_path(one)).starts_with(&*folded_path(other));
    let mut roots = map.writable.iter().chain((map.mode != ContainMode::ReadOnly).then_some(&map.workspace));
    map.mode != ContainMode::Off && !roots.any(|root| is_in(base, root) || is_in(root, base))
}

/// Resolves links as far as the path exists.
fn real(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    match there {
        Some((above, real)) => path.strip_prefix(above).map_or_else(|_| real.clone(), |rest| real.join(rest)),
        None => path.to_owned(),
    }
}

fn first_part(text: &str) -> Option<&str> {
    text.split('/').find(|part| !part.is_empty())
}

/// A path with unresolved `..` is not a real path.
fn escapes(path: &Path) -> bool {
    !path.is_absolute() || path.components().any(|part| matches!(part, Component::ParentDir))
}

/// A fixed folder, and a glob below it.
#[derive(Clone, Debug)]
struct Placed {
    base: PathBuf,
    glob: String,
}

impl Placed {
    fn glob(&self) -> String {
        let base = globset::escape(&self.base.to_string_lossy());
        match self.glob.as_str() {
            "" => base,
            glob => format!("{}/{glob}", base.trim_end_matches('/')),
        }
    }

    /// The pattern with links in its fixed part resolved; `None` if that changes nothing.
    fn followed(&self) -> Option<Placed> {
        let base = self.base.canonicalize().ok().filter(|real| *real != self.base)?;
        Some(Placed { base, glob: self.glob.clone() })
    }
}

/// A rule that denies everything in a folder denies the folder too.
fn folder_of(placed: &Placed) -> String {
    let glob = placed.glob();
    glob.strip_suffix("/**").filter(|folder| !folder.is_empty()).map_or(glob.clone(), str::to_owned)
}

fn below(placed: &Placed) -> String {
    format!("{}/**", placed.glob().trim_end_matches('/'))
}

fn placed(text: &str, places: &RulePlaces) -> Result<Placed, String> {
    let (mut base, rest) = if let Some(rest) = text.strip_prefix("~/").or_else(|| (text == "~").then_some("")) {
        (places.home.clone().ok_or("the home folder is unknown")?, rest)
    } else if text.starts_with('/') {
        (PathBuf::from("/"), text.trim_start_matches('/'))
    } else {
        (places.workspace.clone(), text)
    };
    let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let certain = parts.iter().position(|part| part.contains(['*', '?', '[', ']', '{', '}', '\\']));
    let (known, glob) = parts.split_at(certain.unwrap_or(parts.len()));
    for part in known {
        match *part {
            ".." => drop(base.pop()),
            part => base.push(part),
        }
    }
    if glob.contains(&"..") {
        return Err("`..` after `*` is not supported".to_owned());
    }
    Ok(Placed { base, glob: glob.join("/") })
}

fn set(globs: &[String], folds_case: bool) -> Result<GlobSet, String> {
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        let glob = GlobBuilder::new(glob).literal_separator(true).case_insensitive(folds_case).build();
        builder.add(glob.map_err(|error| error.kind().to_string())?);
    }
    builder.build().map_err(|error| error.kind().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> RulePlaces {
        RulePlaces { workspace: "/w/app".into(), home: Some("/users/me".into()), ..RulePlaces::default() }
    }

    #[track_caller]
    fn check(pattern: &str, path: &str, allows: bool, forbids: bool) {
        let parsed = PathPattern::parse(pattern, &places()).unwrap();
        assert_eq!(parsed.allows(Path::new(path)), allows, "allow {pattern} / {path}");
        assert_eq!(parsed.forbids(Path::new(path)), forbids, "deny {pattern} / {path}");
    }

    #[test]
    fn globs_are_places() {
        for (pattern, path, allows, forbids) in [
            ("src/**", "/w/app/src/a/b.rs", true, true),
            ("./src/**", "/w/app/src/a.rs", true, true),
            ("src/**", "/w/app/srcx/a.rs", false, false),
            ("src/**", "/w/other/src/a.rs", false, false),
            ("src/**", "/w/app/src/../x", false, true),
            ("src/*", "/w/app/src/a/b.rs", false, true),
            ("src", "/w/app/src/a.rs", false, true),
            ("src/**", "/w/app/src", false, true),
            ("src/*.rs", "/w/app/src/a.rs", true, true),
            (".env", "/w/app/.env", true, true),
            (".env", "/w/app/deep/.env", false, true),
            ("~/.zshrc", "/users/me/.zshrc", true, true),
            ("~/.ssh/**", "/users/me/.ssh/id", true, true),
            ("~/.ssh/**", "/w/app/~/.ssh/id", false, false),
            ("/etc/passwd", "/etc/passwd", true, true),
            ("//etc/passwd", "/etc/passwd", true, true),
            ("/src/**", "/w/app/src/a", false, true),
            ("/src/**", "/src/a", true, true),
            ("../other/**", "/w/other/x", true, true),
            ("**", "/w/app/deep/x", true, true),
            ("**", "/w/x", false, false),
        ] {
            check(pattern, path, allows, forbids);
        }
        assert!(PathPattern::parse("src/*/../x", &places()).is_err());
        assert!(PathPattern::parse("src/[", &places()).is_err());
    }

    #[test]
    fn in_a_folder_of_the_workspace_allows_begin_at_its_top_and_denies_at_both() {
        let places = RulePlaces { folder: Some("/w/app/crates/a".into()), ..places() };
        for (pattern, path, allows, forbids) in [
            ("src/**", "/w/app/src/x", true, true),
            ("src/**", "/w/app/crates/a/src/x", false, true),
            ("../b/x", "/w/app/crates/b/x", false, true),
            ("~/.zshrc", "/users/me/.zshrc", true, true),
            ("src/**", "/w/app/crates/b/src/x", false, false),
        ] {
            let parsed = PathPattern::parse(pattern, &places).unwrap();
            let found = (parsed.allows(Path::new(path)), parsed.forbids(Path::new(path)));
            assert_eq!(found, (allows, forbids), "{pattern} {path}");
        }
    }

    #[test]
    fn where_the_disk_folds_case_so_do_rules_that_forbid() {
        let folding = PathPattern::parse(".env", &RulePlaces { folds_case: true, ..places() }).unwrap();
        assert!(folding.forbids(Path::new("/w/app/.ENV")) && !folding.allows(Path::new("/w/app/.ENV")));
        check(".env", "/w/app/.ENV", false, false);
    }

    #[cfg(unix)]
    #[test]
    fn a_rule_that_forbids_follows_links_and_an_allow_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("app")).unwrap();
        std::fs::create_dir_all(root.join("real")).unwrap();
        std::os::unix::fs::symlink(root.join("real"), root.join("app/link")).unwrap();
        let places = RulePlaces::new(&root.join("app"), None);
        let pattern = PathPattern::parse("link/**", &places).unwrap();
        assert!(pattern.forbids(&root.join("real/x")) && !pattern.allows(&root.join("real/x")));
    }
}

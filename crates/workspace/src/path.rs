//! Resolves every path that a model or a user types: makes it absolute, interprets it as the kernel would, and shortens it
//! for display.

use std::path::{Component, Path, PathBuf};

use omp_types::OWN_SCHEMES;

/// Resolves typed paths relative to a working folder.
#[derive(Clone, Debug)]
pub struct PathResolver {
    cwd: PathBuf,
    /// The working folder with links resolved: on macOS `/tmp` and `/private/tmp` are the same folder.
    real_cwd: Option<PathBuf>,
    home: Option<PathBuf>,
}

/// A path for the file system, and its form for display to people and models.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResolvedPath {
    pub absolute: PathBuf,
    /// Relative to the working folder if inside it, absolute otherwise; with `/` as the separator.
    pub display: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    #[error("the path is empty\nhint: give a file or folder, such as \"src/main.rs\"")]
    Empty,
    #[error("the path contains a NUL character, which no file name can")]
    Nul,
    #[error("\"{0}\" starts with ~ but the home folder is not known\nhint: give the absolute path")]
    NoHome(String),
    #[error("\"{0}\" names a file on another host\nhint: file:// works for local files only")]
    RemoteFileUrl(String),
    #[error("{0} is an address and not a file\nhint: {1}; for a file of this name, write ./{0}")]
    Address(String, String),
}

impl PathResolver {
    pub fn new(cwd: impl Into<PathBuf>, home: Option<PathBuf>) -> Self {
        let cwd = cwd.into();
        let real_cwd = std::fs::canonicalize(&cwd).ok().filter(|real| *real != cwd);
        Self { cwd, real_cwd, home }
    }

    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Resolves a typed path: drops quotes and a leading `@`, expands `~` and `file://`, and takes the rest relative to the
    /// working folder. The file need not exist.
    pub fn resolve(&self, typed: &str) -> Result<ResolvedPath, PathError> {
        let bare = unquote(typed);
        if bare.is_empty() {
            return Err(PathError::Empty);
        }
        if bare.contains('\0') {
            return Err(PathError::Nul);
        }
        refuse_address(bare)?;
        let absolute = follow_dots(&self.cwd.join(self.expand(bare)?));
        let display = self.display(&absolute);
        Ok(ResolvedPath { absolute, display })
    }

    /// Returns the display form of a path.
    pub fn display(&self, path: &Path) -> String {
        let inside = [Some(&self.cwd), self.real_cwd.as_ref()]
            .into_iter()
            .flatten()
            // Whole components are compared, so `/a/app-evil` is not inside `/a/app`.
            .find_map(|root| path.strip_prefix(root).ok());
        match inside {
            Some(relative) if relative.as_os_str().is_empty() => ".".into(),
            Some(relative) => with_slashes(relative),
            None => with_slashes(path),
        }
    }

    /// Returns whether a path lies in the working folder after all its links are resolved.
    pub fn is_inside(&self, path: &Path) -> bool {
        let root = self.real_cwd.as_ref().unwrap_or(&self.cwd);
        real_location(path).starts_with(root)
    }

    fn expand(&self, bare: &str) -> Result<PathBuf, PathError> {
        if let Some(url) = bare.strip_prefix("file://") {
            return local_file_url(url).ok_or_else(|| PathError::RemoteFileUrl(bare.into()));
        }
        if bare == "~" || bare.starts_with("~/") || (cfg!(windows) && bare.starts_with("~\\")) {
            let home = self.home.as_ref().ok_or_else(|| PathError::NoHome(bare.into()))?;
            return Ok(home.join(bare[1..].trim_start_matches(['/', '\\'])));
        }
        if let Some(mentioned) = bare.strip_prefix('@')
            && !mentioned.is_empty()
            && !self.cwd.join(bare).exists()
        {
            return self.expand(mentioned);
        }
        Ok(PathBuf::from(bare))
    }
}

/// Returns the scheme of a URI-like string: `issue` for `issue://1`. A drive letter is not a scheme.
pub fn scheme_of(typed: &str) -> Option<&str> {
    let bare = unquote(typed);
    let (scheme, _) = bare.strip_prefix('@').unwrap_or(bare).split_once("://")?;
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|char| char.is_ascii_alphanumeric() || "+.-".contains(char));
    is_scheme.then_some(scheme)
}

/// Lists the URI schemes that omp supports, for error messages.
pub fn known_schemes() -> String {
    OWN_SCHEMES.map(|scheme| format!("{scheme}://")).join(", ")
}

/// Refuses a URI, which would otherwise be taken for a file name that nobody meant.
fn refuse_address(bare: &str) -> Result<(), PathError> {
    let hint = match scheme_of(bare) {
        None => return Ok(()),
        Some(scheme) if scheme.eq_ignore_ascii_case("file") => return Ok(()),
        Some("http" | "https") => "fetch it with curl, through bash".to_owned(),
        Some(scheme) if OWN_SCHEMES.contains(&scheme) => format!("`read` opens {scheme}://"),
        Some(_) => format!("the addresses are {}, and `read` opens them", known_schemes()),
    };
    Err(PathError::Address(bare.trim_start_matches('@').to_owned(), hint))
}

/// Maximum number of links followed before a chain is considered a loop.
const MAX_LINKS: usize = 40;

/// Resolves a path as far as it exists, including links whose target does not exist yet; the rest is kept as written.
pub fn real_location(path: &Path) -> PathBuf {
    let mut missing = Vec::new();
    let mut existing = path.to_owned();
    let mut links = 0;
    loop {
        if let Ok(real) = std::fs::canonicalize(&existing) {
            return missing.iter().rev().fold(real, |real, part| real.join(part));
        }
        let (Some(parent), Some(name)) = (existing.parent(), existing.file_name()) else { return path.to_owned() };
        existing = match std::fs::read_link(&existing) {
            Ok(target) if links < MAX_LINKS => {
                links += 1;
                follow_dots(&parent.join(target))
            }
            _ => {
                missing.push(name.to_owned());
                parent.to_owned()
            }
        };
    }
}

fn unquote(typed: &str) -> &str {
    let bare = typed.trim();
    for quote in ['"', '\'', '`'] {
        if let Some(inner) = bare.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner.trim();
        }
    }
    bare
}

fn local_file_url(url: &str) -> Option<PathBuf> {
    let path = url.strip_prefix("localhost").unwrap_or(url);
    if !path.starts_with('/') {
        return None;
    }
    let decoded = percent_decode(path);
    let drive = cfg!(windows) && decoded.as_bytes().get(2) == Some(&b':');
    Some(PathBuf::from(if drive { &decoded[1..] } else { &decoded }))
}

fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let pair = tail.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        match pair.filter(|_| first == b'%').and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Removes `.` and `..`. After a symbolic link, `..` is the parent of the link's target, as in the kernel.
fn follow_dots(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if out.is_symlink()
                    && let Ok(real) = std::fs::canonicalize(&out)
                {
                    out = real;
                }
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

fn with_slashes(path: &Path) -> String {
    let text = path.to_string_lossy();
    if std::path::MAIN_SEPARATOR == '\\' { text.replace('\\', "/") } else { text.into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_no_paths() {
        let paths = PathResolver::new("/work", None);
        for (typed, hint) in [
            ("issue://1", "artifact://, agent://"),
            ("@mcp://x/y", "artifact://, agent://"),
            ("\"artifact://3\"", "`read` opens artifact://"),
            ("https://example.com/a", "curl"),
        ] {
            let told = paths.resolve(typed).unwrap_err().to_string();
            assert!(
                told.contains("is an address") && told.contains(hint) && told.contains("write ./"),
                "{typed}: {told}"
            );
        }
        for typed in ["./issue://1", "a/b://c", "C://x", "1a://x", "://", "x:/y"] {
            assert!(paths.resolve(typed).is_ok(), "{typed}");
        }
    }
}

//! The licences of the linked crates: a list of the crates, then each text once.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::error;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crate {
    pub name: String,
    pub version: String,
    /// An SPDX expression.
    pub licence: Option<String>,
    /// The licence file named in the crate's manifest.
    pub file: Option<PathBuf>,
    /// The folder with its sources, if they are on this machine.
    pub folder: Option<PathBuf>,
}

/// Prefixes of the names of licence files.
const NAMES: &[&str] = &["copying", "copyright", "licence", "license", "notice", "patents", "unlicense"];
/// Extensions of other files whose names have one of these prefixes.
const NOT_TEXT: &[&str] =
    &["c", "cc", "css", "h", "html", "js", "json", "png", "py", "rs", "sh", "svg", "toml", "ts", "yml"];
/// Folders of a crate that are not part of it.
const LEFT_OUT: &[&str] = &["node_modules", "target"];
const DEEPEST: usize = 8;
const LARGEST: u64 = 1 << 20;

pub fn page(crates: &[Crate]) -> Result<String, String> {
    let mut crates: Vec<&Crate> = crates.iter().collect();
    crates.sort_by_key(|one| (&one.name, &one.version));
    // Each text with the crates and files that have it, in the order of the crates.
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let mut texts: Vec<(String, Vec<String>)> = Vec::new();
    let mut list = String::new();
    for one in crates {
        let mut own: Vec<usize> = Vec::new();
        for file in files(one)? {
            let text = read(one, &file)?;
            let number = *numbers.entry(text.clone()).or_insert_with(|| {
                texts.push((text, Vec::new()));
                texts.len()
            });
            texts[number - 1].1.push(format!("{} {}: {}", one.name, one.version, shown(one, &file)));
            if !own.contains(&number) {
                own.push(number);
            }
        }
        let licence = one.licence.as_deref().unwrap_or("no SPDX expression, see its text");
        if own.is_empty() && one.licence.is_none() {
            let what = format!("{} {} has neither a licence nor a licence file", one.name, one.version);
            return Err(error(what, "ask its authors, or use another crate"));
        }
        let numbers: Vec<String> = own.iter().map(usize::to_string).collect();
        let where_to = match own.is_empty() {
            true => "no text included".to_owned(),
            false => format!("text {}", numbers.join(", ")),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(list, "{} {} - {licence} - {where_to}", one.name, one.version);
    }
    let mut page = format!("Licences of the crates that are part of omp, by their SPDX expressions.\n\n{list}");
    for (at, (text, users)) in texts.iter().enumerate() {
        let _ = write!(page, "\n{}\nText {}\n\n{}\n\n{text}\n", "=".repeat(80), at + 1, users.join("\n"));
    }
    Ok(page)
}

/// Returns the licence files of a crate, including those of code that it bundles.
fn files(one: &Crate) -> Result<Vec<PathBuf>, String> {
    let Some(folder) = &one.folder else { return Ok(Vec::new()) };
    let mut found: Vec<PathBuf> = one.file.iter().map(|file| folder.join(file)).collect();
    let mut walk = ignore::WalkBuilder::new(folder);
    walk.standard_filters(false).max_depth(Some(DEEPEST)).sort_by_file_name(Ord::cmp);
    walk.filter_entry(|entry| !LEFT_OUT.iter().any(|name| entry.file_name() == *name));
    for entry in walk.build() {
        let entry = entry.map_err(|why| {
            error(
                format!("cannot find the licence of {} {}: {why}", one.name, one.version),
                "fetch the sources again with `cargo fetch --locked`",
            )
        })?;
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        if is_file && is_licence(&entry.file_name().to_string_lossy()) && !found.iter().any(|it| it == entry.path()) {
            found.push(entry.into_path());
        }
    }
    Ok(found)
}

fn is_licence(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    // A folder or list named `licenses` is not a licence text.
    let begins = |word: &&&str| name.strip_prefix(**word).is_some_and(|rest| !rest.starts_with(char::is_alphabetic));
    NAMES.iter().find(begins).is_some() && !NOT_TEXT.contains(&ending)
}

fn read(one: &Crate, file: &Path) -> Result<String, String> {
    let failed = |why: &dyn std::fmt::Display| {
        let what = format!("cannot read the licence of {} {}, {}: {why}", one.name, one.version, shown(one, file));
        error(what, "fetch the sources again with `cargo fetch --locked`")
    };
    let size = file.metadata().map_err(|why| failed(&why))?.len();
    if size > LARGEST {
        return Err(failed(&format!("it has {size} bytes; the maximum is {LARGEST}")));
    }
    let bytes = std::fs::read(file).map_err(|why| failed(&why))?;
    // Old texts are Latin-1, whose bytes are the first characters of Unicode.
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| error.into_bytes().iter().map(|byte| char::from(*byte)).collect());
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    Ok(lines.join("\n").trim_matches('\n').to_owned())
}

fn shown(one: &Crate, file: &Path) -> String {
    let folder = one.folder.as_deref().unwrap_or(Path::new(""));
    file.strip_prefix(folder).unwrap_or(file).to_string_lossy().replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_licence_files() {
        for (name, want) in [
            ("LICENSE", true),
            ("LICENSE-MIT", true),
            ("License.md", true),
            ("LICENCE.txt", true),
            ("LICENSE-Apache-2.0_WITH_LLVM-exception", true),
            ("license.BSD-3-Clause", true),
            ("COPYING", true),
            ("NOTICE", true),
            ("UNLICENSE", true),
            ("license.rs", false),
            ("copyright.html", false),
            ("licensee", false),
            ("README.md", false),
        ] {
            assert_eq!(is_licence(name), want, "{name}");
        }
    }
}

//! Reads the commits that a repository's refs point to from git's files: HEAD, branches, stashes, remotes and tags.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use omp_stdx::plain_file;

use super::Oid;

/// Maximum number of refs read.
const MOST: usize = 20_000;
/// Size limit of a ref file.
const SHORT: u64 = 4 * 1024;
/// Size limit of the packed refs and of the stash log.
const LARGEST: u64 = 64 << 20;
/// Maximum folder depth, because branch names may contain slashes.
const DEEPEST: usize = 16;

/// Returns commits, or tags of commits, the most relevant first. Empty if there are none or the ref storage is not
/// supported.
pub(super) fn tips(git: &Path, common: &Path) -> Vec<Oid> {
    let mut refs = packed(common);
    // Loose refs are newer than packed ones.
    loose(common, "refs", 0, &mut refs);
    let mut tips: Vec<Oid> = head(git, &refs).into_iter().collect();
    let begins = ["refs/heads/", "refs/stash", "refs/remotes/", "refs/"];
    let rank = |name: &str| begins.iter().position(|begin| name.starts_with(begin));
    let mut rest: Vec<(Option<usize>, Oid)> = refs.iter().map(|(name, oid)| (rank(name), *oid)).collect();
    rest.extend(stashes(common).into_iter().map(|oid| (Some(1), oid)));
    rest.sort_by_key(|(rank, _)| *rank);
    tips.extend(rest.into_iter().map(|(_, oid)| oid));
    tips.truncate(MOST);
    tips
}

fn head(git: &Path, refs: &BTreeMap<String, Oid>) -> Option<Oid> {
    let text = plain_file::read_text(&git.join("HEAD"), SHORT).ok()?;
    match text.trim().strip_prefix("ref: ") {
        Some(name) => refs.get(name).copied(),
        None => Oid::from_hex(text.trim().as_bytes()),
    }
}

/// Returns the commit that is checked out; `None` if there is none yet.
pub(super) fn head_commit(git: &Path, common: &Path) -> Option<Oid> {
    let text = plain_file::read_text(&git.join("HEAD"), SHORT).ok()?;
    let Some(name) = text.trim().strip_prefix("ref: ") else { return Oid::from_hex(text.trim().as_bytes()) };
    // A name that leaves the folder was not written by git.
    let is_inside = name.starts_with("refs/") && !name.split('/').any(|part| part == "..");
    let loose = plain_file::read(&common.join(name), SHORT).ok().filter(|_| is_inside);
    loose.and_then(|text| Oid::from_hex(text.trim_ascii())).or_else(|| packed(common).get(name).copied())
}

fn packed(common: &Path) -> BTreeMap<String, Oid> {
    let text = plain_file::read(&common.join("packed-refs"), LARGEST).unwrap_or_default();
    let line = |line: &[u8]| {
        let (oid, name) = line.split_at_checked(40)?;
        Some((String::from_utf8(name.strip_prefix(b" ")?.to_vec()).ok()?, Oid::from_hex(oid)?))
    };
    text.split(|byte| *byte == b'\n').filter_map(line).take(MOST).collect()
}

fn loose(common: &Path, name: &str, depth: usize, refs: &mut BTreeMap<String, Oid>) {
    let entries = fs::read_dir(common.join(name)).into_iter().flatten().flatten();
    for entry in entries {
        let Some(inner) = entry.file_name().to_str().map(|inner| format!("{name}/{inner}")) else { continue };
        let Ok(kind) = entry.file_type() else { continue };
        if refs.len() >= MOST {
            return;
        }
        if kind.is_dir() && depth < DEEPEST {
            loose(common, &inner, depth + 1, refs);
        } else if kind.is_file()
            && let Ok(text) = plain_file::read(&entry.path(), SHORT)
            && let Some(oid) = Oid::from_hex(text.trim_ascii())
        {
            refs.insert(inner, oid);
        }
    }
}

/// All stashes but the newest are recorded only in the log.
fn stashes(common: &Path) -> Vec<Oid> {
    let text = plain_file::read(&common.join("logs/refs/stash"), LARGEST).unwrap_or_default();
    let lines = text.split(|byte| *byte == b'\n').take(MOST);
    lines.filter_map(|line| Oid::from_hex(line.split(|byte| *byte == b' ').nth(1)?)).collect()
}

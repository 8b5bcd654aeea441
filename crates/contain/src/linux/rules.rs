//! Landlock: restricts which files the process can open.

use std::fs::Metadata;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, Scope,
};

/// The newest rights known to omp; older kernels enforce those they know.
const NEWEST: ABI = ABI::V7;

const DEV: &str = "/dev";

/// Devices that every program may write to.
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm", "fd"];

/// The last rules and their inputs, since consecutive children mostly get the same rules.
static LAST: Mutex<Option<LastRules>> = Mutex::new(None);

struct LastRules {
    ground: Ground,
    rules: Arc<OwnedFd>,
    /// The number of children that have used them: each adds a rule of its own.
    given: usize,
}

/// After this many children the rules are rebuilt, so that they do not grow without limit.
const MOST_CHILDREN: usize = 64;

/// Everything that determines the files in the rules: a folder that was recreated is a different one, even under the same
/// name.
struct Ground {
    writable: Vec<(PathBuf, Option<InodeIdentity>)>,
    /// With links resolved.
    hidden: Vec<PathBuf>,
    /// Folders that were listed to find the readable parts, with their modification times.
    carved: Vec<(PathBuf, Option<SystemTime>)>,
    readable: Vec<PathBuf>,
}

/// Device, inode and birth time, because inodes are reused.
type InodeIdentity = (u64, u64, Option<SystemTime>);

/// Allows reading everywhere except in `hidden` and raw disks, and writing in `writable`.
pub(super) fn ruleset(writable: &[PathBuf], hidden: &[PathBuf]) -> Result<Arc<OwnedFd>, String> {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(last) = &mut *last
        && last.given < MOST_CHILDREN
        && last.ground.holds(writable, hidden)
    {
        last.given += 1;
        return Ok(last.rules.clone());
    }
    let ground = Ground::survey(writable, hidden);
    let rules = Arc::new(build(&ground)?);
    *last = Some(LastRules { ground, rules: rules.clone(), given: 1 });
    Ok(rules)
}

/// The kernel's bits, as far as this kernel supports them.
pub(super) fn terminal_rights() -> u64 {
    let known = match super::probe::landlock_version() {
        ..=2 => AccessFs::from_all(ABI::V1),
        3..=4 => AccessFs::from_all(ABI::V3),
        _ => AccessFs::from_all(NEWEST),
    };
    ((on_devices() | AccessFs::ReadDir) & known).bits()
}

fn on_devices() -> BitFlags<AccessFs> {
    AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev | AccessFs::ReadFile
}

fn build(ground: &Ground) -> Result<OwnedFd, String> {
    let build = || {
        let rights = AccessFs::from_all(NEWEST);
        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(rights)?
            // Signals are not scoped: a command may end processes of an earlier one, which is not in a common domain.
            .scope(Scope::AbstractUnixSocket)?
            .create()?
            .set_compatibility(CompatLevel::BestEffort);
        rules = allow(rules, Path::new("/"), AccessFs::ReadDir | AccessFs::Execute)?;
        for path in &ground.readable {
            rules = allow(rules, path, AccessFs::ReadFile.into())?;
        }
        for device in DEVICES {
            rules = allow(rules, &Path::new(DEV).join(device), on_devices())?;
        }
        for (path, _) in &ground.writable {
            rules = allow(rules, path, rights)?;
        }
        Ok::<_, landlock::RulesetError>(Option::<OwnedFd>::from(rules))
    };
    match build() {
        Ok(Some(rules)) => Ok(rules),
        Ok(None) => Err("this kernel has no Landlock".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// A path that no longer exists needs no rule.
fn allow(
    rules: RulesetCreated,
    path: &Path,
    rights: BitFlags<AccessFs>,
) -> Result<RulesetCreated, landlock::RulesetError> {
    let Ok(fd) = PathFd::new(path) else { return Ok(rules) };
    let of_files = AccessFs::from_file(NEWEST);
    let rights = if path.is_dir() { rights } else { rights & of_files };
    rules.add_rule(PathBeneath::new(fd, rights))
}

impl Ground {
    fn survey(writable: &[PathBuf], hidden: &[PathBuf]) -> Self {
        let hidden = real(hidden);
        let mut carved = vec![looked_into(Path::new(DEV))];
        let left_out: Vec<PathBuf> = hidden.iter().cloned().chain(open_disks()).collect();
        let mut readable = Vec::new();
        carve(Path::new("/"), &left_out, &mut readable, &mut carved);
        Self { writable: identified(writable), hidden, carved, readable }
    }

    fn holds(&self, writable: &[PathBuf], hidden: &[PathBuf]) -> bool {
        self.carved.iter().all(|known| looked_into(&known.0) == *known)
            && self.writable == identified(writable)
            && self.hidden == real(hidden)
    }
}

fn identified(paths: &[PathBuf]) -> Vec<(PathBuf, Option<InodeIdentity>)> {
    let identity = |metadata: Metadata| (metadata.dev(), metadata.ino(), metadata.created().ok());
    paths.iter().map(|path| (path.clone(), std::fs::metadata(path).ok().map(identity))).collect()
}

fn real(paths: &[PathBuf]) -> Vec<PathBuf> {
    paths.iter().filter_map(|path| omp_stdx::real_path::existing(path)).collect()
}

fn looked_into(folder: &Path) -> (PathBuf, Option<SystemTime>) {
    (folder.to_owned(), std::fs::metadata(folder).and_then(|metadata| metadata.modified()).ok())
}

/// Allows the folder in as few parts as are needed to exclude some.
fn carve(
    folder: &Path,
    left_out: &[PathBuf],
    pieces: &mut Vec<PathBuf>,
    carved: &mut Vec<(PathBuf, Option<SystemTime>)>,
) {
    if left_out.iter().any(|path| folder.starts_with(path)) {
        return;
    }
    if left_out.iter().all(|path| !path.starts_with(folder)) {
        return pieces.push(folder.to_owned());
    }
    carved.push(looked_into(folder));
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        // A link has no rights of its own.
        if !entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            carve(&entry.path(), left_out, pieces, carved);
        }
    }
}

/// Disks that this user could read directly.
fn open_disks() -> Vec<PathBuf> {
    let Ok(devices) = std::fs::read_dir(DEV) else { return Vec::new() };
    let disks = devices.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_block_device()));
    let may_open = |path: &PathBuf| nix::unistd::access(path, nix::unistd::AccessFlags::R_OK).is_ok();
    disks.map(|entry| entry.path()).filter(may_open).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_made_again_when_what_they_are_about_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let (hidden, writable) = (folder.path().join("hidden"), folder.path().join("writable"));
        std::fs::create_dir(&hidden).unwrap();
        let (hidden, writable) = ([hidden], [writable]);
        // Other programs create files in the temp folder, which is listed as well: one moment without changes is enough.
        let ground =
            (0..1000).map(|_| Ground::survey(&writable, &hidden)).find(|ground| ground.holds(&writable, &hidden));
        let ground = ground.unwrap();
        assert!(!ground.holds(&writable, &[]) && !ground.holds(&[], &hidden));

        std::fs::create_dir(&writable[0]).unwrap();
        assert!(!ground.holds(&writable, &hidden), "it is there now");
        let ground = Ground::survey(&writable, &hidden);
        std::fs::remove_dir(&writable[0]).unwrap();
        std::fs::create_dir(&writable[0]).unwrap();
        assert!(!ground.holds(&writable, &hidden), "another folder has its name");

        let ground = Ground::survey(&writable, &hidden);
        std::fs::write(folder.path().join("new"), "").unwrap();
        assert!(!ground.holds(&writable, &hidden), "there is another piece to read");
    }
}

//! Landlock: what files the kernel lets the process open, whatever it sees.

use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, Scope,
};

/// The newest rights that are known to omp; older kernels keep what they know.
const NEWEST: ABI = ABI::V7;

/// Devices that every program may write to.
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm", "fd"];

/// Reading everywhere but in `hidden` and the raw disks, writing in `writable`.
pub(super) fn ruleset(writable: &[PathBuf], hidden: &[PathBuf]) -> Result<OwnedFd, String> {
    let build = || {
        let rights = AccessFs::from_all(NEWEST);
        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(rights)?
            // Not signals: a command may end what an earlier one has left running, which is in no common domain.
            .scope(Scope::AbstractUnixSocket)?
            .create()?
            .set_compatibility(CompatLevel::BestEffort);
        rules = allow(rules, Path::new("/"), AccessFs::ReadDir | AccessFs::Execute)?;
        for path in readable(hidden) {
            rules = allow(rules, &path, AccessFs::ReadFile.into())?;
        }
        let on_devices = AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev | AccessFs::ReadFile;
        for device in DEVICES {
            rules = allow(rules, &Path::new("/dev").join(device), on_devices)?;
        }
        for path in writable {
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

/// What has gone meanwhile needs no rule.
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

/// All of the tree, in as few pieces as leave out what is hidden and the disks that this user could read in the raw.
fn readable(hidden: &[PathBuf]) -> Vec<PathBuf> {
    let mut left_out: Vec<PathBuf> = hidden.iter().filter_map(|path| path.canonicalize().ok()).collect();
    left_out.extend(open_disks());
    let mut pieces = Vec::new();
    carve(Path::new("/"), &left_out, &mut pieces);
    pieces
}

fn carve(folder: &Path, left_out: &[PathBuf], pieces: &mut Vec<PathBuf>) {
    if left_out.iter().any(|path| folder.starts_with(path)) {
        return;
    }
    if left_out.iter().all(|path| !path.starts_with(folder)) {
        return pieces.push(folder.to_owned());
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        // A link has no rights of its own.
        if !entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            carve(&entry.path(), left_out, pieces);
        }
    }
}

fn open_disks() -> Vec<PathBuf> {
    let Ok(devices) = std::fs::read_dir("/dev") else { return Vec::new() };
    let disks = devices.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_block_device()));
    let may_open = |path: &PathBuf| nix::unistd::access(path, nix::unistd::AccessFlags::R_OK).is_ok();
    disks.map(|entry| entry.path()).filter(may_open).collect()
}

//! Finds the other paths that mounts give to a folder: a folder that is mounted twice is reachable under both paths.

use std::path::{Path, PathBuf};

/// One line of `/proc/self/mountinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    device: String,
    /// The folder on the device that is mounted.
    root: PathBuf,
    pub point: PathBuf,
    pub kind: String,
}

pub fn here() -> Vec<Mount> {
    std::fs::read_to_string("/proc/self/mountinfo").map_or_else(|_| Vec::new(), |text| parse(&text))
}

pub fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(line).collect()
}

fn line(line: &str) -> Option<Mount> {
    let (mount, kind) = line.split_once(" - ")?;
    let mut fields = mount.split(' ').skip(2);
    let device = fields.next()?.to_owned();
    let (root, point) = (unescaped(fields.next()?), unescaped(fields.next()?));
    Some(Mount { device, root, point, kind: kind.split(' ').next()?.to_owned() })
}

/// Returns every other path that leads to `path` or to something in it.
pub fn aliases(mounts: &[Mount], path: &Path) -> Vec<PathBuf> {
    let holding = mounts.iter().rev().filter(|mount| path.starts_with(&mount.point));
    // If several mounts have the same mount point, the last one hides the others.
    let Some(home) = holding.reduce(|best, mount| if longer(mount, best) { mount } else { best }) else {
        return Vec::new();
    };
    let Ok(below) = path.strip_prefix(&home.point) else { return Vec::new() };
    let on_device = joined(&home.root, below);
    let others = mounts.iter().filter(|mount| mount.device == home.device && *mount != home);
    let found = others.filter_map(|mount| match on_device.strip_prefix(&mount.root) {
        Ok(below) => Some(joined(&mount.point, below)),
        Err(_) => mount.root.starts_with(&on_device).then(|| mount.point.clone()),
    });
    found.filter(|alias| !alias.starts_with(path)).collect()
}

fn longer(mount: &Mount, than: &Mount) -> bool {
    mount.point.components().count() > than.point.components().count()
}

/// Joins paths without the trailing slash that an empty second path would add.
fn joined(folder: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { folder.to_owned() } else { folder.join(below) }
}

/// Decodes blanks and similar characters, which are escaped like `\040`.
fn unescaped(field: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let digits = tail.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.filter(|_| first == b'\\').and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[3..];
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    path_of(bytes)
}

#[cfg(unix)]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFO: &str = "\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:20 / /proc rw - proc proc rw
24 22 8:2 /people /people rw - ext4 /dev/sda2 rw
25 22 8:2 /people/u /mnt/user\\040of\\040mine rw - ext4 /dev/sda2 rw
26 22 8:2 /people/u/.ssh/keys /mnt/keys rw - ext4 /dev/sda2 rw
27 22 8:2 / /media/disk rw - ext4 /dev/sda2 rw
28 22 8:3 /people/u /other rw - ext4 /dev/sda3 rw
nonsense
";

    #[track_caller]
    fn check(path: &str, expect: &[&str]) {
        let expect: Vec<PathBuf> = expect.iter().map(PathBuf::from).collect();
        assert_eq!(aliases(&parse(INFO), Path::new(path)), expect, "{path}");
    }

    #[test]
    fn what_is_mounted_twice_has_two_names() {
        check("/people/u/.ssh", &["/mnt/user of mine/.ssh", "/mnt/keys", "/media/disk/people/u/.ssh"]);
        check("/people/other/.ssh", &["/media/disk/people/other/.ssh"]);
        check("/mnt/user of mine/.aws", &["/people/u/.aws", "/media/disk/people/u/.aws"]);
        check("/people/u/.ssh/keys", &["/mnt/user of mine/.ssh/keys", "/mnt/keys", "/media/disk/people/u/.ssh/keys"]);
        check("/etc/shadow", &[]);
        check("relative", &[]);
    }
}

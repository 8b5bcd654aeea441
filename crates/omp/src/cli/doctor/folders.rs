//! Checks the home folder, omp's own folder and the sessions folder: their owners, their permissions and the free disk
//! space.

use std::path::Path;

use super::report::Finding;
use crate::folder::FolderSetup;

const HOME: &str = "home";
const SESSIONS: &str = "sessions";
/// With less free space than this, sessions soon cannot be written.
const LITTLE_ROOM: u64 = 200 << 20;
const NO_ROOM: u64 = 1 << 20;

pub fn check(setup: &FolderSetup) -> Vec<Finding> {
    vec![home(&setup.dirs.home, &setup.dirs.agent, &setup.dirs.models_file()), sessions(&setup.dirs.sessions())]
}

fn home(home: &Path, agent: &Path, keys: &Path) -> Finding {
    let shown = home.display();
    if !home.is_dir() {
        return Finding::failure(HOME, format!("{shown} is not a folder\nhint: set HOME to a folder that is yours"));
    }
    if let Err(error) = tempfile::tempfile_in(agent) {
        let agent = agent.display();
        let text = format!("{agent} is not writable: {error}\nhint: check that it is yours: `ls -ld {agent}`");
        return Finding::failure(HOME, text);
    }
    match system::too_open(home, agent, keys) {
        Some(problem) => Finding::warning(HOME, problem),
        None => Finding::fine(HOME, format!("{shown}; omp's own folder is {}", agent.display())),
    }
}

fn sessions(folder: &Path) -> Finding {
    let shown = folder.display();
    let made = std::fs::create_dir_all(folder).and_then(|()| tempfile::tempfile_in(folder));
    if let Err(error) = made {
        let text = format!("{shown} is not writable: {error}\nhint: check that it is yours, or use `--session-dir`");
        return Finding::failure(SESSIONS, text);
    }
    match system::room(folder) {
        Some(room) if room < NO_ROOM => {
            Finding::failure(SESSIONS, format!("no free space for {shown}\nhint: free some space"))
        }
        Some(room) if room < LITTLE_ROOM => {
            Finding::warning(SESSIONS, format!("only {} free for {shown}\nhint: free some space", size(room)))
        }
        Some(room) => Finding::fine(SESSIONS, format!("{shown}, {} free", size(room))),
        None => Finding::fine(SESSIONS, shown.to_string()),
    }
}

fn size(bytes: u64) -> String {
    match bytes >> 30 {
        0 => format!("{} MB", bytes >> 20),
        gigabytes => format!("{gigabytes} GB"),
    }
}

#[cfg(unix)]
mod system {
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    use omp_stdx::plain_file::read_text;

    /// Caps the size of a file that is read; lists of models and keys are smaller.
    const LARGEST: u64 = 1 << 20;

    /// Reports who else may change the home folder or read keys, with a hint.
    pub fn too_open(home: &Path, agent: &Path, keys: &Path) -> Option<String> {
        let own = nix::unistd::geteuid().as_raw();
        let data = std::fs::metadata(home).ok()?;
        let shown = home.display();
        if data.uid() != own {
            return Some(format!("{shown} belongs to another user\nhint: set HOME to a folder that is yours"));
        }
        if data.mode() & 0o022 != 0 {
            return Some(format!("other users can write to {shown}\nhint: chmod go-w {shown}"));
        }
        let is_open = |path: &Path, bits: u32| std::fs::metadata(path).is_ok_and(|data| data.mode() & bits != 0);
        if is_open(agent, 0o022) {
            let agent = agent.display();
            return Some(format!("other users can write to {agent}\nhint: chmod go-rwx {agent}"));
        }
        let holds_keys = || read_text(keys, LARGEST).is_ok_and(|text| text.contains("apiKey"));
        (is_open(keys, 0o044) && !is_private(home) && !is_private(agent) && holds_keys()).then(|| {
            let keys = keys.display();
            format!("other users can read the keys in {keys}\nhint: chmod go-rwx {keys}")
        })
    }

    /// Whether only the owner can enter a folder.
    fn is_private(folder: &Path) -> bool {
        std::fs::metadata(folder).is_ok_and(|data| data.mode() & 0o011 == 0)
    }

    /// Returns the number of bytes that this user can still write.
    pub fn room(folder: &Path) -> Option<u64> {
        let told = nix::sys::statvfs::statvfs(folder).ok()?;
        #[allow(clippy::useless_conversion, clippy::unnecessary_cast, reason = "the types differ between systems")]
        Some((told.blocks_available() as u64).saturating_mul(told.fragment_size() as u64))
    }
}

#[cfg(not(unix))]
mod system {
    use std::path::Path;

    pub fn too_open(_home: &Path, _agent: &Path, _keys: &Path) -> Option<String> {
        None
    }

    pub fn room(_folder: &Path) -> Option<u64> {
        None
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::super::report::FindingLevel;
    use super::*;

    #[test]
    fn folders_are_judged_by_who_may_use_them() {
        let temp = tempfile::tempdir().unwrap();
        let agent = temp.path().join("agent");
        let keys = agent.join("models.yml");
        std::fs::create_dir(&agent).unwrap();
        std::fs::write(&keys, "apiKey: x\n").unwrap();
        let mode = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        let check = |state: FindingLevel, says: &str| {
            let finding = home(temp.path(), &agent, &keys);
            assert_eq!(finding.state, state, "{finding:?}");
            assert!(finding.text.contains(says), "{finding:?}");
        };
        mode(temp.path(), 0o755);
        mode(&agent, 0o755);
        mode(&keys, 0o600);
        check(FindingLevel::Fine, "omp's own folder");
        mode(&keys, 0o644);
        check(FindingLevel::Warning, "read the keys in");
        mode(&agent, 0o777);
        check(FindingLevel::Warning, "other users can write to");
        mode(temp.path(), 0o777);
        check(FindingLevel::Warning, "chmod go-w");
        let gone = home(&temp.path().join("gone"), &agent, &keys);
        assert_eq!(gone.state, FindingLevel::Failure);
        let file = sessions(&keys.join("sessions"));
        assert_eq!(file.state, FindingLevel::Failure);
        assert!(sessions(&agent.join("sessions")).text.contains("free"));
    }
}

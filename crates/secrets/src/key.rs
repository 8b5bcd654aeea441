//! The key for numbering secrets: without the key a number reveals nothing about its secret, and a file cannot contain the
//! placeholder of a secret whose number its author does not know.

use std::io::Write as _;
use std::path::Path;

use omp_stdx::plain_file;
use sha2::{Digest, Sha256};

const FILE: &str = "secrets.key";
/// The machine ID, which programs must keep confidential.
const MACHINE: &str = "/etc/machine-id";
const SHORTEST_MACHINE: usize = 32;
const DIGITS: usize = 64;
const LONGEST_FILE: u64 = 1024;
/// Placeholders have nine digits.
const NUMBERS: u64 = 900_000_000;

#[derive(Clone)]
pub struct VeilKey {
    text: String,
}

impl VeilKey {
    /// Returns the user's key, created on first use. If it cannot be stored, returns a key for this run and a warning.
    pub fn of_agent(folder: &Path) -> (Self, Option<String>) {
        match kept(&folder.join(FILE)) {
            Ok(key) => (key, None),
            Err(error) => {
                let path = folder.join(FILE).display().to_string();
                let why = format!(
                    "{path} cannot be used: {error}\nhint: secrets are hidden, but calls cannot restore them after this session is resumed"
                );
                (Self::random(), Some(why))
            }
        }
    }

    /// Returns the user's key if it exists, otherwise one that is the same in every run of this user on this machine. Writes
    /// nothing. Without a machine ID, returns a key for this run.
    pub fn without_writing(folder: &Path) -> (Self, Option<String>) {
        let path = folder.join(FILE);
        let (kept, told) = match read(&path) {
            Ok(kept) => (kept, None),
            Err(error) => (None, Some(format!("{} cannot be used: {error}", path.display()))),
        };
        (kept.or_else(|| Self::of_machine(folder, Path::new(MACHINE))).unwrap_or_else(Self::random), told)
    }

    fn of_machine(folder: &Path, machine: &Path) -> Option<Self> {
        let number = plain_file::read_text(machine, LONGEST_FILE).ok()?;
        let number = number.trim();
        if number.len() < SHORTEST_MACHINE {
            return None;
        }
        let mut hash = Sha256::new();
        hash.update(b"omp secrets\n");
        hash.update(number.as_bytes());
        hash.update(folder.as_os_str().as_encoded_bytes());
        Some(Self { text: hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect() })
    }

    pub fn random() -> Self {
        let fresh: String = [uuid::Uuid::new_v4(), uuid::Uuid::new_v4()].map(|id| id.simple().to_string()).concat();
        Self { text: fresh }
    }

    /// Returns a deterministic nine-digit number for a secret.
    pub(crate) fn number(&self, secret: &str) -> u64 {
        let bytes = self.digest("number", secret);
        let number = bytes.iter().take(8).fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        number % NUMBERS + 100_000_000
    }

    /// Returns letters and digits in place of a secret, with the same number of characters.
    pub(crate) fn same_length(&self, secret: &str) -> String {
        const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
        let mut bytes = Vec::new();
        let mut text = String::new();
        for (index, _) in secret.chars().enumerate() {
            if index % 32 == 0 {
                bytes = self.digest(&format!("text {index}"), secret);
            }
            let byte = bytes.get(index % 32).copied().unwrap_or_default();
            text.push(char::from(LETTERS[usize::from(byte) % LETTERS.len()]));
        }
        text
    }

    fn digest(&self, purpose: &str, secret: &str) -> Vec<u8> {
        let mut hash = Sha256::new();
        for part in [&self.text, purpose, secret, &self.text] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        hash.finalize().to_vec()
    }
}

fn kept(path: &Path) -> Result<VeilKey, String> {
    if let Some(key) = read(path)? {
        return Ok(key);
    }
    let fresh = VeilKey::random();
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    }
    // Written to a temporary file and linked into place: of two concurrent runs, the second uses the key of the first.
    let beside = path.with_extension(format!("{}.new", uuid::Uuid::new_v4().simple()));
    let written = private(&beside).and_then(|mut file| file.write_all(fresh.text.as_bytes()));
    let linked = written.and_then(|()| std::fs::hard_link(&beside, path));
    let _ = std::fs::remove_file(&beside);
    match linked {
        Ok(()) => Ok(fresh),
        Err(error) => read(path)?.ok_or_else(|| error.to_string()),
    }
}

fn read(path: &Path) -> Result<Option<VeilKey>, String> {
    let text = match plain_file::read_text(path, LONGEST_FILE) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let text = text.trim().to_owned();
    match text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => Ok(Some(VeilKey { text })),
        false => Err("it does not contain a key".to_owned()),
    }
}

fn private(path: &Path) -> std::io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_is_the_users_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (first, told) = VeilKey::of_agent(&dir.path().join("agent"));
        assert_eq!(told, None);
        let (second, _) = VeilKey::of_agent(&dir.path().join("agent"));
        assert_eq!(first.number("sesame"), second.number("sesame"));
        assert_ne!(first.number("sesame"), VeilKey::random().number("sesame"));
        assert_eq!(first.number("sesame").to_string().len(), 9);
        let files: Vec<_> = std::fs::read_dir(dir.path().join("agent")).unwrap().collect();
        assert_eq!(files.len(), 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(dir.path().join("agent/secrets.key")).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn without_writing_it_is_the_kept_one_or_the_machines() {
        let dir = tempfile::tempdir().unwrap();
        let (agent, machine) = (dir.path().join("agent"), dir.path().join("machine-id"));
        std::fs::write(&machine, "0123456789abcdef0123456789abcdef\n").unwrap();
        let derived = || VeilKey::of_machine(&agent, &machine).unwrap().number("sesame");
        assert_eq!(derived(), derived());
        assert_ne!(derived(), VeilKey::of_machine(dir.path(), &machine).unwrap().number("sesame"));
        std::fs::write(&machine, "uninitialized\n").unwrap();
        assert!(VeilKey::of_machine(&agent, &machine).is_none());
        assert!(VeilKey::of_machine(&agent, &dir.path().join("none")).is_none());
        VeilKey::without_writing(&agent);
        assert!(!agent.exists());
        let (made, _) = VeilKey::of_agent(&agent);
        assert_eq!(VeilKey::without_writing(&agent).0.number("sesame"), made.number("sesame"));
    }

    #[test]
    fn a_broken_key_is_told_and_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE), "nonsense").unwrap();
        let (_, told) = VeilKey::of_agent(dir.path());
        assert!(told.unwrap().contains("does not contain a key"));
        assert_eq!(std::fs::read_to_string(dir.path().join(FILE)).unwrap(), "nonsense");
    }

    #[test]
    fn a_replacement_has_the_length_of_the_secret() {
        let key = VeilKey::random();
        for secret in ["hunter2", "ünïcode", &"long".repeat(40)] {
            let text = key.same_length(secret);
            assert_eq!(text.chars().count(), secret.chars().count());
            assert_eq!(text, key.same_length(secret));
        }
    }
}

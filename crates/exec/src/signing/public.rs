//! Provides public data for verifying signatures: copies of the public keyring and of the list of allowed signers, for the
//! program in the sandbox. The folders of the originals stay hidden.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use omp_stdx::{plain_file, real_path};
use omp_types::Touch;

use super::Office;
use super::settings::SignatureFormat;
use super::wire::{SigningQuestion, SigningRun};

/// Maximum bytes of a keyring.
const LARGEST: u64 = 64 << 20;
/// Files of gpg's folder. Its settings are excluded, because they may refer to anything.
pub(super) const KEYRING: &[&str] = &["pubring.kbx", "pubring.gpg", "trustdb.gpg"];

impl Office {
    /// How the program is to be run in the sandbox.
    pub(super) async fn where_public(&self, asked: &SigningQuestion) -> SigningRun {
        let program = match self.program(asked.format) {
            Ok(program) => program.display().to_string(),
            // As git does.
            Err(_) => String::new(),
        };
        let run = SigningRun { program, ..SigningRun::default() };
        match asked.format {
            SignatureFormat::Ssh => self.with_signers(run, &asked.args).await,
            SignatureFormat::OpenPgp | SignatureFormat::X509 => self.with_keyring(run).await,
        }
    }

    async fn with_keyring(&self, run: SigningRun) -> SigningRun {
        let from = PathBuf::from(self.keyring());
        // The user has made the path readable, or it was never hidden.
        if self.access.map().allows(Touch::Read, &real_path::of(&from)).is_ok() {
            return run;
        }
        let to = self.folder.path().join("keyring");
        let pairs: Vec<_> = KEYRING.iter().map(|name| (from.join(name), to.join(name))).collect();
        let keyring = to.display().to_string();
        match tokio::task::spawn_blocking(move || copy_all(&pairs)).await {
            Ok(Ok(1..)) => SigningRun { keyring, ..run },
            Ok(Err(error)) => SigningRun { note: unreadable(&from, &error.to_string()), ..run },
            _ => SigningRun { note: unreadable(&from, "there is no keyring to copy"), ..run },
        }
    }

    async fn with_signers(&self, run: SigningRun, args: &[String]) -> SigningRun {
        let map = self.access.map();
        let named = |file: &PathBuf| args.iter().any(|arg| Path::new(arg) == file);
        let is_hidden = |file: &PathBuf| map.allows(Touch::Read, &real_path::of(file)).is_err();
        let Some(from) = self.settings.allowed_signers().find(|file| named(file) && is_hidden(file)) else {
            return run;
        };
        let to = self.folder.path().join("signers").join("allowed");
        let (hidden, copy, pairs) = (from.display().to_string(), to.display().to_string(), vec![(from.clone(), to)]);
        match tokio::task::spawn_blocking(move || copy_all(&pairs)).await {
            Ok(Ok(1..)) => SigningRun { hidden, copy, ..run },
            _ => SigningRun { note: unreadable(&from, "it cannot be copied"), ..run },
        }
    }
}

fn unreadable(what: &Path, why: &str) -> String {
    format!(
        "omp could not show {} to the command, so signatures cannot be verified: {why}\nhint: verify them in a terminal of \
         your own",
        what.display()
    )
}

/// Returns the number of existing files. Files that have not changed since the last time are not copied again.
fn copy_all(pairs: &[(PathBuf, PathBuf)]) -> io::Result<usize> {
    let mut count = 0;
    for (from, to) in pairs {
        let Ok(data) = std::fs::metadata(from) else { continue };
        count += 1;
        let stamp = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        if std::fs::metadata(to)
            .is_ok_and(|copy| copy.modified().is_ok_and(|it| it == stamp) && copy.len() == data.len())
        {
            continue;
        }
        let bytes = plain_file::read(from, LARGEST)?;
        if let Some(folder) = to.parent() {
            DirBuilder::new().mode(0o700).recursive(true).create(folder)?;
        }
        // Written under another name first, because a command may read the file at any moment.
        let fresh = to.with_extension("new");
        std::fs::write(&fresh, bytes)?;
        std::fs::File::open(&fresh)?.set_modified(stamp)?;
        std::fs::rename(&fresh, to)?;
    }
    Ok(count)
}

//! A temporary folder that only this user can look into, gone when its owner is.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use omp_types::{Env, vars};

use crate::platform;
use crate::spawn::owner_mark;

/// Removed on drop; by the watchdog if omp is killed.
#[derive(Debug)]
pub(crate) struct PrivateFolder {
    path: PathBuf,
}

impl PrivateFolder {
    pub(crate) fn create(env: &Env) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let base = env.get(vars::TMPDIR).map(PathBuf::from).filter(|base| base.is_absolute());
        let base = base.unwrap_or_else(|| if cfg!(windows) { "C:\\Windows\\Temp".into() } else { "/tmp".into() });
        let path = base.join(format!("omp-{}-{}", owner_mark(), COUNT.fetch_add(1, Ordering::Relaxed)));
        // Fails where something of that name is there already: nobody can put a folder of theirs in our way.
        builder().create(&path)?;
        platform::remove_later(&path);
        Ok(Self { path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

#[cfg(unix)]
fn builder() -> std::fs::DirBuilder {
    use std::os::unix::fs::DirBuilderExt;
    let mut builder = std::fs::DirBuilder::new();
    builder.mode(0o700);
    builder
}

#[cfg(not(unix))]
fn builder() -> std::fs::DirBuilder {
    std::fs::DirBuilder::new()
}

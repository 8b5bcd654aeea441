//! Saves without blocking on the disk: a separate thread writes, and dropping the saver waits for it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use serde_json::Value;

use super::{SaveError, can_save, save_setting};

/// Limits the stored errors, because further ones are alike.
const MOST_ERRORS: usize = 16;

/// Saves settings one after the other. Dropping this waits until everything is saved.
#[derive(Debug)]
pub struct Saver {
    path: PathBuf,
    shared: Arc<Shared>,
    worker: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct Shared {
    work: Mutex<Work>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Work {
    /// Each key at most once, so the length is bounded by the number of settings.
    waiting: Vec<(String, Value)>,
    writing: bool,
    ended: bool,
    errors: Vec<SaveError>,
}

impl Saver {
    pub fn new(path: PathBuf) -> Self {
        Self { path, shared: Arc::default(), worker: Mutex::new(None) }
    }

    /// Queues a setting to be saved; null removes it. Failures that can be detected in advance are returned at once.
    pub fn save(&self, key: &str, value: &Value) -> Result<(), SaveError> {
        can_save(&self.path, key, value)?;
        let mut work = self.shared.lock();
        work.waiting.retain(|(waiting, _)| waiting != key);
        work.waiting.push((key.to_owned(), value.clone()));
        drop(work);
        self.shared.changed.notify_all();
        self.start();
        Ok(())
    }

    /// Waits until everything is written and returns the errors.
    pub fn flush(&self) -> Vec<SaveError> {
        let is_busy = |work: &mut Work| !work.waiting.is_empty() || work.writing;
        let idle = self.shared.changed.wait_while(self.shared.lock(), is_busy);
        std::mem::take(&mut idle.unwrap_or_else(PoisonError::into_inner).errors)
    }

    fn start(&self) {
        let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        if worker.is_some() {
            return;
        }
        let (path, shared) = (self.path.clone(), self.shared.clone());
        let spawned = std::thread::Builder::new().name("settings".to_owned()).spawn(move || shared.write_all(&path));
        match spawned {
            Ok(handle) => *worker = Some(handle),
            // Without a thread the settings are written synchronously.
            Err(_) => self.shared.write_waiting(&self.path),
        }
    }
}

impl Drop for Saver {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.changed.notify_all();
        let worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(worker) = worker {
            // The panic hook has already reported a panic of the writer.
            let _ = worker.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_all(&self, path: &Path) {
        loop {
            self.write_waiting(path);
            let is_idle = |work: &mut Work| work.waiting.is_empty() && !work.ended;
            let work = self.changed.wait_while(self.lock(), is_idle).unwrap_or_else(PoisonError::into_inner);
            if work.waiting.is_empty() {
                return;
            }
        }
    }

    fn write_waiting(&self, path: &Path) {
        loop {
            let mut work = self.lock();
            if work.waiting.is_empty() {
                return;
            }
            let (key, value) = work.waiting.remove(0);
            work.writing = true;
            drop(work);
            let saved = save_setting(path, &key, &value);
            let mut work = self.lock();
            work.writing = false;
            if let Err(error) = saved
                && work.errors.len() < MOST_ERRORS
            {
                work.errors.push(error);
            }
            drop(work);
            self.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_saved_is_there_after_a_flush_and_after_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("agent/config.yml");
        let saver = Saver::new(path.clone());
        assert!(saver.flush().is_empty() && !path.exists());
        saver.save("a", &json!(1)).unwrap();
        saver.save("a", &json!(2)).unwrap();
        saver.save("b.c", &json!("x")).unwrap();
        assert!(saver.flush().is_empty());
        assert_eq!(fs::read_to_string(&path).unwrap(), "a: 2\nb:\n  c: x\n");
        saver.save("a", &Value::Null).unwrap();
        drop(saver);
        assert_eq!(fs::read_to_string(&path).unwrap(), "b:\n  c: x\n");
    }

    #[test]
    fn what_cannot_be_saved_is_told_at_once_or_at_the_flush() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.yml");
        fs::write(&path, "a: 5\n").unwrap();
        let saver = Saver::new(path.clone());
        assert!(saver.save("a.b", &json!(1)).is_err());
        let no_folder = Saver::new(path.join("config.yml"));
        let told = no_folder.save("a", &json!(1)).map_or_else(|error| vec![error], |()| no_folder.flush());
        assert!(told[0].to_string().contains("hint:"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "a: 5\n");
    }

    #[test]
    fn savers_of_one_file_lose_nothing_of_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.yml");
        fs::write(&path, "# mine\nz: 1 # last\n").unwrap();
        std::thread::scope(|scope| {
            for writer in ["a", "b", "c", "d"] {
                let path = &path;
                scope.spawn(move || {
                    for n in 0..10 {
                        save_setting(path, &format!("{writer}.k{n}"), &json!(n)).unwrap();
                    }
                });
            }
        });
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches(": 7\n").count(), 4, "{text}");
        assert_eq!(text.lines().count(), 2 + 4 + 40, "{text}");
        assert!(text.starts_with("# mine\nz: 1 # last\n"));
    }
}

//! Programs that the user works with: an editor that gets the terminal, a clipboard tool that keeps its input.
//!
//! They belong to the user, so they are neither marked, nor ended with omp, nor contained. A spawn that has to be contained
//! is refused.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt;

use crate::child::ProcessExit;
use crate::spawn::{MARK_VARIABLE, Spawn, SpawnError};

impl Spawn {
    /// Runs to the end with omp's own three streams, which omp must not use meanwhile.
    pub async fn run_in_front(self) -> Result<ProcessExit, SpawnError> {
        self.is_the_users()?;
        let run = async {
            let mut command = self.command("", None);
            command.env_remove(MARK_VARIABLE).kill_on_drop(true);
            command.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
            command.spawn()?.wait().await
        };
        run.await.map(ProcessExit::from).map_err(|error| self.explain(error))
    }

    /// Runs with `input` on standard input and discards the output. Processes that it leaves behind keep running. `None` if
    /// it took longer than `deadline` and was killed.
    pub async fn feed(self, input: &[u8], deadline: Duration) -> Result<Option<ProcessExit>, SpawnError> {
        self.is_the_users()?;
        let run = async {
            let mut command = self.command("", None);
            command.env_remove(MARK_VARIABLE).kill_on_drop(true);
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
            #[cfg(unix)]
            command.process_group(0);
            let mut child = command.spawn()?;
            if let Some(mut stdin) = child.stdin.take() {
                match stdin.write_all(input).await {
                    // The program may exit without reading all input; its exit code says what that means.
                    Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
                    _ => drop(stdin),
                }
            }
            child.wait().await
        };
        match tokio::time::timeout(deadline, run).await {
            Err(_) => Ok(None),
            Ok(ended) => ended.map(|status| Some(ProcessExit::from(status))).map_err(|error| self.explain(error)),
        }
    }

    /// Starts a program that outlives omp, such as a browser. Returns its exit if it ends within `patience`.
    pub async fn hand_over(self, patience: Duration) -> Result<Option<ProcessExit>, SpawnError> {
        self.is_the_users()?;
        let mut command = self.command("", None);
        command.env_remove(MARK_VARIABLE);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn().map_err(|error| self.explain(error))?;
        match tokio::time::timeout(patience, child.wait()).await {
            Err(_) => Ok(None),
            Ok(ended) => ended.map(|status| Some(ProcessExit::from(status))).map_err(|error| self.explain(error)),
        }
    }

    fn is_the_users(&self) -> Result<(), SpawnError> {
        if !self.containment.is_on() {
            return Ok(());
        }
        let step = "only what the user starts runs outside of the session's own processes".to_owned();
        Err(SpawnError::NotContained { program: self.program.to_string_lossy().into_owned(), step })
    }
}

#[cfg(all(test, unix))]
mod tests {
    use omp_contain::Containment;
    use omp_types::Env;

    use super::*;
    use crate::environment::ChildEnv;

    fn shell(script: &str) -> Spawn {
        let env: Env = [("PATH", "/usr/bin:/bin")].into_iter().collect();
        Spawn::new("sh", ChildEnv::attended(&env), &Containment::of_user()).args(["-c", script])
    }

    #[tokio::test]
    async fn a_program_is_fed_and_tells_how_it_went() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("fed");
        let fed = shell(&format!("cat >'{}'; exit 3", file.display())).feed(b"hello", Duration::from_secs(30)).await;
        assert_eq!(fed.unwrap().unwrap().code, 3);
        assert_eq!(std::fs::read(file).unwrap(), b"hello");
    }

    #[tokio::test]
    async fn one_that_does_not_read_or_does_not_end_is_not_waited_for() {
        let large = vec![b'x'; 1 << 20];
        assert_eq!(shell("exit 0").feed(&large, Duration::from_secs(30)).await.unwrap().unwrap().code, 0);
        assert!(shell("sleep 600").feed(b"", Duration::from_millis(50)).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn what_is_handed_over_is_not_ended() {
        let folder = tempfile::tempdir().unwrap();
        let (go, done) = (folder.path().join("go"), folder.path().join("done"));
        let make_fifo = format!("mkfifo '{}' '{}'", go.display(), done.display());
        assert_eq!(shell(&make_fifo).hand_over(Duration::from_secs(30)).await.unwrap().unwrap().code, 0);
        // The program waits for input before it answers, so it can only answer if it was not killed.
        let script = format!("read word <'{}'; echo \"$word\" >'{}'", go.display(), done.display());
        assert!(shell(&script).hand_over(Duration::from_millis(50)).await.unwrap().is_none());
        let answer = tokio::task::spawn_blocking(move || {
            std::fs::write(go, "alive\n").unwrap();
            std::fs::read_to_string(done).unwrap()
        });
        assert_eq!(answer.await.unwrap(), "alive\n");
        assert_eq!(shell("exit 3").hand_over(Duration::from_secs(30)).await.unwrap().unwrap().code, 3);
    }

    #[tokio::test]
    async fn what_is_to_be_contained_is_not_run_in_front() {
        let folder = tempfile::tempdir().unwrap();
        let map = omp_types::AccessMap { workspace: folder.path().to_owned(), ..omp_types::AccessMap::default() };
        let contained = Containment::new(omp_types::Access::new(map));
        let script = format!("touch '{}'", folder.path().join("ran").display());
        let shell = || shell(&script).contained(&contained);
        let refused = [
            shell().run_in_front().await.map(drop),
            shell().feed(b"", Duration::from_secs(30)).await.map(drop),
            shell().hand_over(Duration::from_secs(30)).await.map(drop),
        ];
        for refused in refused {
            assert!(refused.unwrap_err().to_string().contains("its sandbox could not be set up"));
        }
        assert!(!folder.path().join("ran").exists());
    }

    #[tokio::test]
    async fn a_program_in_front_has_no_mark_and_its_exit_is_told() {
        assert_eq!(shell("test -z \"$OMP_SPAWN\" && exit 5").run_in_front().await.unwrap().code, 5);
        let missing = Spawn::new("no-such-editor", ChildEnv::default(), &Containment::of_user()).run_in_front().await;
        assert!(missing.unwrap_err().to_string().contains("hint:"));
    }
}

//! Checks at the start whether the system allows this user the threads that omp needs, since a later failure could not be
//! reported well.

use std::sync::mpsc::sync_channel;
use std::thread::Builder;

/// Threads for forking, watching, searching and waiting for files at the same time.
const NEEDED: usize = 8;
const STACK: usize = 64 * 1024;

/// An error is the message for a user who may not start more processes.
pub fn check_threads() -> Result<(), String> {
    let mut held = Vec::with_capacity(NEEDED);
    for _ in 0..NEEDED {
        let (hold, held_back) = sync_channel::<()>(0);
        let wait = move || {
            let _ = held_back.recv();
        };
        match Builder::new().stack_size(STACK).spawn(wait) {
            Ok(thread) => held.push((hold, thread)),
            Err(error) => return Err(told(&error)),
        }
    }
    for (hold, thread) in held {
        drop(hold);
        // The thread only waits and cannot fail.
        let _ = thread.join();
    }
    Ok(())
}

fn told(error: &std::io::Error) -> String {
    let limit = crate::platform::process_limit().map_or(String::new(), |limit| format!(", the limit is {limit}"));
    format!(
        "cannot start: this user has reached the limit of processes and threads ({error}{limit})\n\
         hint: end other programs, or raise the limit: `ulimit -u 1000`, nproc in /etc/security/limits.conf, \
         `--pids-limit` of a container"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_threads_here_and_what_is_told_elsewhere_says_what_helps() {
        assert_eq!(check_threads(), Ok(()));
        let told = told(&std::io::ErrorKind::WouldBlock.into());
        assert!(
            told.contains("limit of processes") && told.contains("\nhint: ") && told.contains("ulimit -u"),
            "{told}"
        );
    }
}

//! Test support: runs code as a user who is subject to file permissions, even if the tests run as root.

use nix::unistd::geteuid;

/// Runs `work` on a separate thread. If that thread had to change its user, the files that `work` uses must be accessible to
/// everybody.
pub fn as_ordinary_user<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let bound = || {
        if geteuid().is_root() {
            become_nobody();
        }
        work()
    };
    std::thread::scope(|scope| scope.spawn(bound).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Linux keeps the user ID for file access per thread, and threads started from this one inherit it.
#[cfg(target_os = "linux")]
fn become_nobody() {
    use nix::unistd::{Uid, setfsuid};
    let nobody = Uid::from_raw(65534);
    setfsuid(nobody);
    // `setfsuid` reports no failure, but returns the previous user ID.
    assert_eq!(setfsuid(nobody), nobody, "root could not become user {nobody}: does this container know only root?");
}

#[cfg(not(target_os = "linux"))]
fn become_nobody() {
    panic!("root can read and write everything: run this test as another user");
}

//! For tests: does a piece of work as a user whom permissions bind, also when the tests run as root.

use nix::unistd::geteuid;

/// Runs `work` on a thread of its own. Where that thread had to become somebody else, what it is to reach must be open
/// to everybody.
pub fn as_ordinary_user<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let bound = || {
        if geteuid().is_root() {
            become_nobody();
        }
        work()
    };
    std::thread::scope(|scope| scope.spawn(bound).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Linux keeps the user for file access per thread, and threads started from here take it over.
#[cfg(target_os = "linux")]
fn become_nobody() {
    use nix::unistd::{Uid, setfsuid};
    let nobody = Uid::from_raw(65534);
    setfsuid(nobody);
    // The call reports no failure, but tells who one was before.
    assert_eq!(setfsuid(nobody), nobody, "root could not become user {nobody}: does this container know only root?");
}

#[cfg(not(target_os = "linux"))]
fn become_nobody() {
    panic!("root can read and write everything: run this test as another user");
}

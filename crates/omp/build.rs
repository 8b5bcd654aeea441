//! Packs relative relocations (`DT_RELR`) if the C library of this machine can unpack them: glibc can from 2.36 on.
//!
//! There are about 100,000 of them. Unpacked they take 2.6 MB of the file, all of which the loader reads at every start.

#![expect(clippy::disallowed_methods, reason = "cargo describes the build by environment variables")]

/// Set by `cargo xtask dist`, whose binary must also start on systems with an older C library.
const PORTABLE: &str = "OMP_PORTABLE";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed={PORTABLE}");
    let is_for_this_machine = std::env::var_os("HOST") == std::env::var_os("TARGET");
    if is_for_this_machine && std::env::var_os(PORTABLE).is_none() && loader_unpacks_relocations() {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn loader_unpacks_relocations() -> bool {
    const FIRST: (u32, u32) = (2, 36);
    unsafe extern "C" {
        safe fn gnu_get_libc_version() -> *const std::ffi::c_char;
    }
    // SAFETY: glibc returns a static C string.
    let version = unsafe { std::ffi::CStr::from_ptr(gnu_get_libc_version()) };
    let mut numbers =
        version.to_bytes().split(|byte| *byte == b'.').filter_map(|part| str::from_utf8(part).ok()?.parse().ok());
    numbers.next().zip(numbers.next()).is_some_and(|version| version >= FIRST)
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn loader_unpacks_relocations() -> bool {
    false
}

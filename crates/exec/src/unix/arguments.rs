//! Hides omp's own arguments from other processes. `pkill -f "http.server 8000"` must not kill `omp -p "run python -m
//! http.server 8000"`, and `ps` must not show keys and prompts.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// Keeps only the program name and its flags visible. To be called once, after the arguments were read and before a second
/// thread exists: the arguments are overwritten.
pub fn hide_arguments() {
    let words: Vec<OsString> = std::env::args_os().collect();
    hide(&words);
}

/// The program, and flags without their values.
fn shown(words: &[OsString]) -> impl Iterator<Item = &[u8]> {
    let flags =
        words.iter().skip(1).map(|word| word.as_bytes()).filter(|word| word.starts_with(b"-") && word.len() > 1);
    let names = flags.map(|flag| flag.split(|byte| *byte == b'=').next().unwrap_or_default());
    words.first().map(|program| program.as_bytes()).into_iter().chain(names)
}

#[cfg(target_os = "linux")]
fn hide(words: &[OsString]) {
    let Some((start, end)) = std::fs::read("/proc/self/stat").ok().and_then(|stat| place(&stat)) else { return };
    let there: Vec<u8> = words.iter().flat_map(|word| [word.as_bytes(), &[0]].concat()).collect();
    let seen: Vec<u8> = shown(words).flat_map(|word| [word, &[0]].concat()).collect();
    // If the memory area does not match the arguments, it is not changed.
    if end.checked_sub(start) != Some(there.len()) || seen.len() > there.len() {
        return;
    }
    // SAFETY: the kernel reports that the arguments are there, in writable memory of this process that lives as long as it
    // does; there is no other thread yet.
    unsafe {
        let area = std::slice::from_raw_parts_mut(start as *mut u8, there.len());
        if *area == *there {
            area.fill(0);
            area[..seen.len()].copy_from_slice(&seen);
        }
    }
}

/// The start and end of the arguments: fields 48 and 49 of `/proc/self/stat`.
#[cfg(target_os = "linux")]
fn place(stat: &[u8]) -> Option<(usize, usize)> {
    let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let mut fields = std::str::from_utf8(&stat[after_name..]).ok()?.split_ascii_whitespace().skip(45);
    let mut next = || fields.next()?.parse::<usize>().ok().filter(|address| *address > 0);
    Some((next()?, next()?))
}

/// Every argument keeps its length, because the end of the last one is unknown.
#[cfg(target_os = "macos")]
fn hide(words: &[OsString]) {
    let shown: Vec<Vec<u8>> = shown(words).map(<[u8]>::to_vec).collect();
    // SAFETY: the system's own pointers to the arguments, which are C strings in writable memory; there is no other thread
    // yet.
    unsafe {
        let arguments = *nix::libc::_NSGetArgv();
        for (at, word) in words.iter().enumerate().skip(1) {
            let word = word.as_bytes();
            let kept = shown.iter().find(|shown| word.starts_with(shown)).map_or(0, Vec::len);
            let place = *arguments.add(at);
            for byte in kept..word.len() {
                *place.add(byte) = b' ' as nix::libc::c_char;
            }
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn hide(_words: &[OsString]) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_flags_are_shown() {
        let words = ["omp", "-p", "run it", "--api-key=sk", "--model", "x", "-", "--", "server.py"].map(OsString::from);
        let shown: Vec<&[u8]> = shown(&words).collect();
        assert_eq!(shown, [b"omp".as_slice(), b"-p", b"--api-key", b"--model", b"--"]);
        assert_eq!(super::shown(&[]).count(), 0);
    }

    #[test]
    fn the_place_is_where_the_kernel_says() {
        let stat = std::fs::read("/proc/self/stat").unwrap();
        let (start, end) = place(&stat).unwrap();
        assert_eq!(end - start, std::fs::read("/proc/self/cmdline").unwrap().len());
        assert_eq!(place(b"1 (x) S 0 0"), None);
        assert_eq!(place(b""), None);
    }
}

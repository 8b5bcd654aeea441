//! Variables that are too large to start a process with: the kernel limits one string to 128 KiB, and all together to about
//! 2 MiB.
//!
//! The shell gets them as code that it runs. Programs started by the shell still cannot have them, as in any shell.

use crate::ChildEnv;

/// Limit of `NAME=value` including its terminating byte.
const MAX_STRING: usize = 128 * 1024;
/// Limit of all variables together. Half of the usual limit on Linux is left for arguments.
const MAX_TOGETHER: usize = 1024 * 1024;

/// The variables that fit, and those that do not, largest first.
pub(crate) fn split(variables: ChildEnv) -> (ChildEnv, Vec<(String, String)>) {
    let size = |(name, value): &(&str, &str)| name.len() + value.len() + 2;
    let together: usize = variables.iter().map(|pair| size(&pair)).sum();
    if together <= MAX_TOGETHER && variables.iter().all(|pair| size(&pair) <= MAX_STRING) {
        return (variables, Vec::new());
    }
    let mut by_size: Vec<(&str, &str)> = variables.iter().collect();
    by_size.sort_by_key(|pair| std::cmp::Reverse(size(pair)));
    let (mut fitting, mut large, mut left) = (ChildEnv::default(), Vec::new(), together);
    for pair in by_size {
        if size(&pair) > MAX_STRING || left > MAX_TOGETHER {
            left -= size(&pair);
            large.push((pair.0.to_owned(), pair.1.to_owned()));
        } else {
            fitting = fitting.set(pair.0, pair.1);
        }
    }
    // No shell can set a variable with any other name.
    large.retain(|(name, _)| name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric()));
    (fitting, large)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sizes: &[(&str, usize)], expect: &[&str]) {
        let all = sizes.iter().fold(ChildEnv::default(), |env, (name, size)| env.set(*name, "x".repeat(*size)));
        let (fitting, large) = split(all);
        let names: Vec<&str> = large.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, expect);
        let all = sizes.iter().filter(|(name, _)| !name.contains('.')).count();
        assert_eq!(fitting.iter().count() + large.len(), all);
    }

    #[test]
    fn only_what_is_too_large_is_taken_out() {
        check(&[("A", 10), ("B", 1000)], &[]);
        check(&[("A", 128 * 1024 - 3)], &[]);
        check(&[("A", 128 * 1024 - 2), ("B", 5)], &["A"]);
        check(&[("odd.name", 200_000), ("B", 300_000), ("C", 400_000)], &["C", "B"]);
        let many: Vec<(String, usize)> = (0..12).map(|at| (format!("V{at:02}"), 100_000 + at)).collect();
        let many: Vec<(&str, usize)> = many.iter().map(|(name, size)| (name.as_str(), *size)).collect();
        check(&many, &["V11", "V10"]);
    }
}

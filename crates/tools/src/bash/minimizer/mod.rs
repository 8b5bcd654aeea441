//! Shortens the output of programs that print a lot on success: test runners, package managers, compilers, git.
//!
//! The rules are data, one file per family. A rule matches only lines of success and progress, and every other line stays,
//! so failures are always complete. A count replaces the dropped lines.

mod families;
#[cfg(test)]
mod tests;

use super::options::MinimizerOptions;

/// One kind of program and the lines that can be dropped.
#[derive(Debug)]
struct Family {
    /// Prefixes of commands: the program and, where it matters, its first arguments.
    commands: &'static [&'static str],
    noise: &'static [Noise],
    /// For programs whose success lines have no marker: classifies every line if the output as a whole shows what they are.
    passed: Option<FindPassed>,
}

type FindPassed = fn(&[&str]) -> Option<Vec<bool>>;

/// Matches a line that starts with, contains and ends with these. Surrounding whitespace is ignored.
#[derive(Debug)]
struct Noise {
    starts: &'static str,
    holds: &'static str,
    ends: &'static str,
}

const fn starts(text: &'static str) -> Noise {
    Noise { starts: text, holds: "", ends: "" }
}

/// Dropping fewer lines than this is not worth a footer.
const MIN_DROPPED: usize = 8;

/// The rules for one command line.
pub(super) struct Minimizer {
    families: Vec<&'static Family>,
}

impl Minimizer {
    /// Returns `None` if no program in `command` is known, or if its output is already filtered.
    pub(super) fn of(command: &str, options: &MinimizerOptions) -> Option<Self> {
        if !options.enabled || command.contains(['|', '>', '<', '`', '\n']) || command.contains("$(") {
            return None;
        }
        let steps: Vec<Vec<&str>> = command.split(['&', ';']).map(words).collect();
        let wanted = |words: &[&str]| {
            let program = words.first().copied().unwrap_or_default();
            let listed = |list: &[String]| list.iter().any(|name| name == program);
            (options.only.is_empty() || listed(&options.only)) && !listed(&options.except)
        };
        let families: Vec<_> = families::ALL
            .iter()
            .copied()
            .filter(|family| steps.iter().any(|words| wanted(words) && family.is_of(words)))
            .collect();
        (!families.is_empty()).then_some(Self { families })
    }

    /// Returns the text without noise, or `None` if there is too little noise.
    pub(super) fn shorten(&self, text: &str) -> Option<String> {
        let (mut short, mut dropped_here, mut dropped) = (String::new(), 0, 0);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let passed = self.families.iter().find_map(|family| family.passed?(&lines)).unwrap_or_default();
        for (number, line) in lines.iter().enumerate() {
            if passed.get(number).copied().unwrap_or(false) || self.is_noise(line) {
                dropped_here += 1;
                continue;
            }
            settle(&mut dropped_here, &mut dropped, &mut short);
            short.push_str(line);
        }
        settle(&mut dropped_here, &mut dropped, &mut short);
        (dropped >= MIN_DROPPED && short.len() * 4 <= text.len() * 3).then_some(short)
    }

    fn is_noise(&self, line: &str) -> bool {
        let line = line.trim();
        self.families.iter().any(|family| family.noise.iter().any(|noise| noise.is(line)))
    }
}

impl Family {
    fn is_of(&self, words: &[&str]) -> bool {
        self.commands.iter().any(|command| {
            let mut given = words.iter();
            command.split(' ').all(|part| given.next() == Some(&part))
        })
    }
}

impl Noise {
    fn is(&self, line: &str) -> bool {
        line.starts_with(self.starts) && line.ends_with(self.ends) && line.contains(self.holds)
    }
}

/// Writes how many lines were dropped here.
fn settle(here: &mut usize, all: &mut usize, short: &mut String) {
    if *here > 0 {
        short.push_str(&format!("[… {here} {} of success or progress]\n", if *here == 1 { "line" } else { "lines" }));
        *all += *here;
        *here = 0;
    }
}

/// Returns the words of one step starting at the program; wrappers are skipped.
fn words(step: &str) -> Vec<&str> {
    let mut words: Vec<&str> = step.split_ascii_whitespace().collect();
    while let Some(first) = words.first() {
        let wrappers: &[&[&str]] = &[
            &["uv", "run"],
            &["poetry", "run"],
            &["python", "-m"],
            &["python3", "-m"],
            &["bundle", "exec"],
            &["pnpm", "exec"],
            &["npx"],
            &["bunx"],
            &["sudo"],
            &["time"],
            &["env"],
        ];
        let wrapped = wrappers.iter().find(|wrapper| words.starts_with(wrapper)).map_or(0, |wrapper| wrapper.len());
        let skip = if first.contains('=') { 1 } else { wrapped };
        if skip == 0 {
            break;
        }
        words.drain(..skip);
    }
    // `cargo +nightly test`
    words.retain(|word| !word.starts_with('+'));
    if let Some(first) = words.first_mut() {
        *first = first.rsplit('/').next().unwrap_or(first);
    }
    words
}

//! Removes suffixes that hide output for no benefit: a trailing `| head` or `| tail`, and a `2>&1` without effect.
//!
//! The tool truncates long output itself, stores all of it and merges both streams. Only commands that are known to
//! terminate are changed: `yes | head` needs its `head`.

/// Builders, test runners and similar programs whose whole output is useful.
const KNOWN_TO_END: &[&str] = &[
    "bundle", "bun", "cargo", "clang", "cmake", "composer", "ctest", "deno", "dotnet", "eslint", "gcc", "git", "go",
    "gradle", "jest", "ls", "make", "meson", "mix", "mocha", "mvn", "mypy", "ninja", "npm", "npx", "phpunit", "pip",
    "pip3", "pnpm", "poetry", "pytest", "python", "python3", "rake", "rspec", "ruff", "rustc", "sbt", "swift", "tox",
    "tsc", "uv", "vitest", "yarn",
];

/// The command to run instead, and the removed suffix.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FixedCommand {
    pub command: String,
    pub taken: String,
}

/// Returns `None` if the command should run unchanged.
pub(super) fn fix(command: &str) -> Option<FixedCommand> {
    let mut kept = command.trim_end();
    if kept.contains("<<") || kept.contains('\n') {
        return None;
    }
    if let Some(pipe) = last_operator(kept).filter(|at| kept[*at..].starts_with('|'))
        && is_plain_cut(kept[pipe + 1..].trim())
    {
        let before = kept[..pipe].trim_end();
        let start = last_list_operator(before);
        if !before.ends_with(['|', '&']) && is_known(&before[start..]) {
            kept = before;
        }
    }
    if let Some(before) = kept.strip_suffix("2>&1").filter(|before| before.ends_with(' ')) {
        let start = last_operator(before).map_or(0, |at| at + 1);
        if !before[start..].contains(['>', '"', '\'', '`', '(']) && is_known(&before[last_list_operator(before)..]) {
            kept = before.trim_end();
        }
    }
    let taken = command.trim_end()[kept.len()..].trim().to_owned();
    (!taken.is_empty() && !kept.is_empty()).then(|| FixedCommand { command: kept.to_owned(), taken })
}

/// Accepts `head`, `head -20`, `tail -n 20`; rejects `tail -f`, `head -c 5`, `tail -n +3`.
fn is_plain_cut(command: &str) -> bool {
    let words: Vec<&str> = command.split_ascii_whitespace().collect();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let counts = match words[..] {
        [_] => true,
        [_, option] => option.strip_prefix("-n").or_else(|| option.strip_prefix('-')).is_some_and(is_number),
        [_, "-n", number] => is_number(number),
        _ => false,
    };
    matches!(words.first(), Some(&"head" | &"tail")) && counts
}

fn is_known(pipeline: &str) -> bool {
    let mut words = pipeline.split_ascii_whitespace().skip_while(|word| {
        word.split_once('=')
            .is_some_and(|(name, _)| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
    });
    let endless = pipeline.contains("--watch") || pipeline.contains("/dev/") || pipeline.contains(" -f");
    !endless && words.next().is_some_and(|word| KNOWN_TO_END.contains(&word))
}

/// Returns the start of the last pipeline, after `&&`, `||` or `;`.
fn last_list_operator(text: &str) -> usize {
    let mut end = text;
    while let Some(at) = last_operator(end) {
        let doubled = end[..at].ends_with(['|', '&']) || !end[at..].starts_with('|');
        if doubled {
            return at + 1;
        }
        end = &end[..at];
    }
    0
}

/// Finds the last `|`, `&` or `;` that is a shell operator. `2>&1` contains none.
fn last_operator(text: &str) -> Option<usize> {
    let (mut quote, mut depth, mut found) = (None, 0_i32, None);
    let mut previous = '\0';
    for (at, char) in text.char_indices() {
        match (quote, char) {
            (Some(open), _) if char == open && previous != '\\' => quote = None,
            (Some(_), _) => {}
            (None, _) if previous == '\\' => {}
            (None, '"' | '\'' | '`') => quote = Some(char),
            (None, '(' | '{') => depth += 1,
            (None, ')' | '}') => depth -= 1,
            (None, '&') if previous == '>' || previous == '<' => {}
            (None, '|' | '&' | ';') if depth == 0 => found = Some(at),
            _ => {}
        }
        previous = char;
    }
    found.filter(|_| quote.is_none() && depth == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(command: &str, expect: Option<(&str, &str)>) {
        let expect = expect.map(|(command, taken)| FixedCommand { command: command.into(), taken: taken.into() });
        assert_eq!(fix(command), expect, "{command}");
    }

    #[test]
    fn what_only_hides_goes() {
        check("cargo test | tail -20", Some(("cargo test", "| tail -20")));
        check("cargo test 2>&1 | tail -n 5", Some(("cargo test", "2>&1 | tail -n 5")));
        check("RUST_LOG=1 cargo build 2>&1", Some(("RUST_LOG=1 cargo build", "2>&1")));
        check("cd x && npm test 2>&1 | head", Some(("cd x && npm test", "2>&1 | head")));
        check("echo a; git log | head -n5", Some(("echo a; git log", "| head -n5")));
        check("git log --format='%h | %s' | head -3", Some(("git log --format='%h | %s'", "| head -3")));
        check("cargo test | grep FAIL | head -5", Some(("cargo test | grep FAIL", "| head -5")));
    }

    #[test]
    fn what_matters_stays() {
        for command in [
            "yes | head -5",
            "cat /dev/urandom | head -c 10",
            "cargo test | head -c 100",
            "cargo test | tail -n +3",
            "git log | tail -f",
            "npm test -- --watch | head",
            "echo 'a | head'",
            "cargo test | tail -5 && echo ok",
            "cargo test || tail -5",
            "x=$(cargo test | tail -5)",
            "(cargo test | tail -5)",
            "cargo test > log 2>&1",
            "python - <<EOF | head\n1\nEOF",
            "head -5 file",
            "find / 2>&1",
            "git show \"x 2>&1",
        ] {
            check(command, None);
        }
    }
}

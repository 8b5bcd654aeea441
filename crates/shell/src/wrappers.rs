//! Programs that start another one: their options are known, so that the other one is found.

use crate::interpret::CommandMeaning;
use crate::untold::UNTOLD;
use crate::words::is_name;
use crate::{Assignment, CommandRole, ShellWord};

/// The options of a program. An option that is not listed makes the rest unknown.
#[derive(Default)]
pub(crate) struct ProgramOptions {
    pub flags: &'static str,
    pub values: &'static str,
    pub long_flags: &'static [&'static str],
    pub long_values: &'static [&'static str],
}

struct Wrapper {
    names: &'static [&'static str],
    options: ProgramOptions,
    /// Number of operands before the command.
    operands: usize,
    role: CommandRole,
}

const fn wrapper(
    names: &'static [&'static str],
    flags: &'static str,
    values: &'static str,
    operands: usize,
) -> Wrapper {
    Wrapper {
        names,
        options: ProgramOptions { flags, values, long_flags: &[], long_values: &[] },
        operands,
        role: CommandRole::Wrapper,
    }
}

const fn with_long(
    mut wrapper: Wrapper,
    flags: &'static [&'static str],
    values: &'static [&'static str],
    role: CommandRole,
) -> Wrapper {
    (wrapper.options.long_flags, wrapper.options.long_values, wrapper.role) = (flags, values, role);
    wrapper
}

const WRAPPERS: &[Wrapper] = &[
    with_long(
        wrapper(&["sudo"], "ABbEHknPS", "CDghpRrTtUu", 0),
        &["--preserve-env", "--non-interactive", "--set-home", "--stdin", "--background"],
        &["--user", "--group", "--chdir", "--host", "--prompt", "--preserve-env"],
        CommandRole::Elsewhere,
    ),
    with_long(wrapper(&["doas"], "Ln", "Cu", 0), &[], &[], CommandRole::Elsewhere),
    with_long(
        wrapper(&["env"], "i0v", "uC", 0),
        &["--ignore-environment", "--null"],
        &["--unset", "--chdir"],
        CommandRole::Wrapper,
    ),
    wrapper(&["nohup", "busybox", "toybox", "nocorrect", "chronic", "ts", "catchsegv"], "", "", 0),
    with_long(wrapper(&["nice"], "", "n", 0), &[], &["--adjustment"], CommandRole::Wrapper),
    with_long(wrapper(&["ionice"], "t", "cn", 0), &["--ignore"], &["--class", "--classdata"], CommandRole::Wrapper),
    with_long(
        wrapper(&["timeout", "gtimeout"], "fpv", "ks", 1),
        &["--foreground", "--preserve-status", "--verbose"],
        &["--kill-after", "--signal"],
        CommandRole::Wrapper,
    ),
    with_long(
        wrapper(&["stdbuf", "gstdbuf"], "", "ioe", 0),
        &[],
        &["--input", "--output", "--error"],
        CommandRole::Wrapper,
    ),
    with_long(wrapper(&["setsid"], "cfw", "", 0), &["--ctty", "--fork", "--wait"], &[], CommandRole::Wrapper),
    with_long(
        wrapper(&["time", "gtime"], "apqv", "fo", 0),
        &["--append", "--portability", "--quiet", "--verbose"],
        &["--format", "--output"],
        CommandRole::Wrapper,
    ),
    with_long(
        wrapper(&["xargs", "gxargs"], "0oprtxil", "aEdILnPs", 0),
        &["--null", "--no-run-if-empty", "--verbose", "--exit", "--replace", "--max-lines", "--open-tty"],
        &["--arg-file", "--delimiter", "--max-args", "--max-procs", "--max-chars", "--replace", "--max-lines", "--eof"],
        CommandRole::Wrapper,
    ),
    wrapper(&["strace", "ltrace"], "cCdfFiknqrtTvwxyYzZSDA", "eoOpsuaEIPXb", 0),
    wrapper(&["repeat"], "", "", 1),
    wrapper(&["taskset"], "apc", "", 1),
    wrapper(&["chrt"], "abfimorRv", "DPT", 1),
    wrapper(&["faketime"], "fm", "", 1),
    wrapper(&["choom"], "", "n", 0),
    wrapper(&["unbuffer"], "p", "", 0),
    wrapper(
        &[
            "prlimit",
            "numactl",
            "fakeroot",
            "eatmydata",
            "valgrind",
            "rlwrap",
            "dbus-run-session",
            "xvfb-run",
            "torsocks",
        ],
        "",
        "",
        0,
    ),
    wrapper(&["caffeinate"], "dimsu", "tw", 0),
    with_long(wrapper(&["chroot"], "", "", 1), &["--skip-chdir"], &["--userspec", "--groups"], CommandRole::Elsewhere),
    with_long(
        wrapper(&["unshare"], "mUuinpCTfrc", "RwSG", 0),
        &["--mount", "--user", "--uts", "--ipc", "--net", "--pid", "--fork", "--map-root-user", "--mount-proc"],
        &["--root", "--wd", "--setuid", "--setgid"],
        CommandRole::Elsewhere,
    ),
    with_long(
        wrapper(
            &["runuser", "setpriv", "nsenter", "systemd-run", "machinectl", "pkexec", "gosu", "su-exec"],
            "",
            "",
            0,
        ),
        &[],
        &[],
        CommandRole::Elsewhere,
    ),
];

/// Returns whether a program of this name starts another one from its arguments.
pub(crate) fn starts_others(name: &str) -> bool {
    UNTOLD.contains(&name)
        || WRAPPERS.iter().any(|wrapper| wrapper.names.contains(&name))
        || matches!(name, "su" | "script" | "watch" | "ssh")
}

/// Returns whether the command was a wrapper.
pub(crate) fn tell(meaning: &mut CommandMeaning<'_>, name: &str) -> bool {
    let words = meaning.words().to_vec();
    match name {
        "find" | "gfind" => find(meaning, &words),
        "fd" | "fdfind" => option_with_command(meaning, &words, &["-x", "--exec", "-X", "--exec-batch"]),
        "rg" => option_with_command(meaning, &words, &["--pre", "--hostname-bin"]),
        "su" | "script" | "flock" => text_option(meaning, name, &words),
        "watch" => watch(meaning, &words),
        "ssh" => crate::ssh::tell(meaning, &words),
        _ if UNTOLD.contains(&name) => {
            meaning.unknown(format!("what `{name}` starts"));
            meaning.starts(
                words.into_iter().skip(1).skip_while(|word| word.text.starts_with('-')).collect(),
                Vec::new(),
                CommandRole::Elsewhere,
            );
        }
        _ if name.starts_with("ld-linux") || name.starts_with("ld-musl") || name == "ld.so" => {
            meaning.unknown("what the dynamic linker starts");
            meaning.starts(
                words.into_iter().skip(1).skip_while(|word| word.text.starts_with('-')).collect(),
                Vec::new(),
                CommandRole::Elsewhere,
            );
        }
        "env"
            if words
                .iter()
                .any(|word| word.text.starts_with("-S") || word.text.starts_with("--split") || word.text == "-vS") =>
        {
            split_string(meaning, &words);
        }
        _ => {
            let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.names.contains(&name)) else { return false };
            start_after(meaning, &wrapper.options, wrapper.operands, wrapper.role);
        }
    }
    true
}

/// Records the command after the options, assignments and operands of a wrapper.
pub(crate) fn start_after(
    meaning: &mut CommandMeaning<'_>,
    options: &ProgramOptions,
    operands: usize,
    role: CommandRole,
) {
    let words = meaning.words().to_vec();
    let name = meaning.command.program().unwrap_or_default().to_owned();
    let Some(mut at) = options.end(&words, name == "nice") else {
        meaning.unknown(format!("what `{name}` starts: its options are not known"));
        meaning.starts(
            words.into_iter().skip(1).skip_while(|word| word.text.starts_with('-')).collect(),
            Vec::new(),
            role,
        );
        return;
    };
    at += operands;
    let mut assignments = Vec::new();
    while let Some(assignment) =
        words.get(at).filter(|_| matches!(name.as_str(), "env" | "sudo" | "doas")).and_then(assignment)
    {
        assignments.push(assignment);
        at += 1;
    }
    let mut inner: Vec<ShellWord> = words.into_iter().skip(at).collect();
    if matches!(name.as_str(), "xargs" | "gxargs") {
        if inner.is_empty() {
            inner.push(ShellWord::known("echo"));
        }
        let is_placed = |word: &ShellWord| word.text.contains("{}") || word.text.contains('%');
        inner.iter_mut().skip(1).filter(|word| is_placed(word)).for_each(|word| word.known = false);
        if inner.iter().skip(1).any(|word| !word.known) && is_placed(&inner[0]) {
            inner[0].known = false;
        }
        let replaces = |word: &ShellWord| {
            let bundle = word.text.strip_prefix('-').filter(|bundle| !bundle.starts_with('-'));
            bundle.is_some_and(|bundle| bundle.contains(['I', 'i'])) || word.text.starts_with("--replace")
        };
        if meaning.words()[..at.min(meaning.words().len())].iter().any(replaces) {
            inner.iter_mut().for_each(|word| word.known &= !word.text.contains("{}"));
            replaced(meaning, &mut inner);
        }
        inner.push(ShellWord::unknown("…"));
    }
    meaning.starts(inner, assignments, role);
}

/// `xargs -I X`: words that contain X depend on stdin.
fn replaced(meaning: &CommandMeaning<'_>, inner: &mut [ShellWord]) {
    let words = meaning.words();
    let mark = words.iter().enumerate().find_map(|(at, word)| match word.text.strip_prefix("-I")? {
        "" => words.get(at + 1).map(|next| next.text.clone()),
        mark => Some(mark.to_owned()),
    });
    let mark = mark.filter(|mark| !mark.is_empty());
    inner
        .iter_mut()
        .filter(|word| mark.as_ref().is_none_or(|mark| word.text.contains(mark.as_str())))
        .for_each(|word| word.known = false);
}

fn assignment(word: &ShellWord) -> Option<Assignment> {
    let (name, value) = word.text.split_once('=')?;
    let value = ShellWord { text: value.to_owned(), value_at: None, ..word.clone() };
    is_name(name).then(|| Assignment { name: name.to_owned(), value })
}

impl ProgramOptions {
    /// Returns where the options end, if all of them are understood.
    pub fn end(&self, words: &[ShellWord], numbers: bool) -> Option<usize> {
        let mut at = 1;
        while let Some(word) = words.get(at) {
            let text = word.text.as_str();
            if !word.known {
                return None;
            } else if text == "--" {
                return Some(at + 1);
            } else if let Some(long) = text.strip_prefix("--") {
                let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
                let listed = |names: &[&str]| names.iter().any(|one| one.strip_prefix("--") == Some(name));
                match value {
                    Some(_) if listed(self.long_values) => {}
                    None if listed(self.long_flags) => {}
                    None if listed(self.long_values) => at += 1,
                    _ => return None,
                }
            } else if text.len() > 1 && text.starts_with('-') {
                let is_number =
                    numbers && text[1..].trim_start_matches(['-', '+']).bytes().all(|byte| byte.is_ascii_digit());
                at += if is_number { 0 } else { self.short(&text[1..])? };
            } else if text == "-" && self.flags.contains('0') {
                // `env -` is `env -i`.
            } else {
                return Some(at);
            }
            at += 1;
        }
        Some(at.min(words.len()))
    }

    /// Returns how many more words a bundle of short options takes.
    fn short(&self, bundle: &str) -> Option<usize> {
        for (at, letter) in bundle.char_indices() {
            if self.values.contains(letter) {
                return Some(usize::from(at + letter.len_utf8() == bundle.len()));
            }
            // `-i{}` and `-l3` of xargs have attached values.
            if matches!(letter, 'i' | 'l') && self.flags.contains("il") {
                return Some(0);
            }
            if !self.flags.contains(letter) {
                return None;
            }
        }
        Some(0)
    }
}

fn find(meaning: &mut CommandMeaning<'_>, words: &[ShellWord]) {
    if words.iter().any(|word| !word.known && word.text.contains(['$', '`'])) {
        meaning.unknown("what `find` does: its arguments are not known before it runs");
    }
    let mut at = 0;
    while at < words.len() {
        if matches!(words[at].text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            // A plus ends the command only after `{}`.
            let is_end = |place: &usize| {
                words[*place].text == ";" || (words[*place].text == "+" && words[place - 1].text == "{}")
            };
            let length = (at + 1..words.len()).take_while(|place| !is_end(place)).count();
            let mut inner = words[at + 1..at + 1 + length].to_vec();
            inner.iter_mut().for_each(|word| word.known &= !word.text.contains("{}"));
            meaning.starts(inner, Vec::new(), CommandRole::Itself);
            at += length;
        }
        at += 1;
    }
}

/// `fd -x command…`, `rg --pre command`.
fn option_with_command(meaning: &mut CommandMeaning<'_>, words: &[ShellWord], options: &[&str]) {
    let is_option = |word: &ShellWord| {
        options.iter().any(|option| word.text == *option || word.text.starts_with(&format!("{option}=")))
    };
    let bundled = |word: &ShellWord| {
        options.contains(&"-x")
            && word.text.starts_with('-')
            && !word.text.starts_with("--")
            && word.text.contains(['x', 'X'])
    };
    if words.iter().skip(1).any(|word| !word.known && (word.text.starts_with('$') || word.text.starts_with('`'))) {
        meaning.unknown("options that are decided when it runs");
    }
    let Some(at) = words.iter().position(|word| is_option(word) || bundled(word)) else { return };
    if !is_option(&words[at]) && !words[at].text.ends_with(['x', 'X']) {
        meaning.unknown("a program joined to its option");
    }
    let mut inner: Vec<ShellWord> = match words[at].text.split_once('=') {
        Some((_, program)) => vec![ShellWord { text: program.to_owned(), ..words[at].clone() }],
        None => words[at + 1..].iter().take_while(|word| word.text != ";").cloned().collect(),
    };
    inner.iter_mut().for_each(|word| word.known &= !word.text.contains('{'));
    inner.push(ShellWord::unknown("…"));
    meaning.starts(inner, Vec::new(), CommandRole::Itself);
}

/// `su -c text`, `script -c text`, `flock file -c text` or `flock file command`.
fn text_option(meaning: &mut CommandMeaning<'_>, name: &str, words: &[ShellWord]) {
    let role = if name == "su" { CommandRole::Elsewhere } else { CommandRole::Wrapper };
    let is_option = |word: &ShellWord| {
        word.text == "--command"
            || (word.text.starts_with('-') && !word.text.starts_with("--") && word.text.ends_with('c'))
    };
    if let Some(at) = words.iter().position(is_option) {
        meaning.runs_word(words.get(at + 1), true, role);
    } else if let Some(word) = words.iter().find(|word| word.text.starts_with("--command=")) {
        let text = word.text.trim_start_matches("--command=").to_owned();
        meaning.runs_word(Some(&ShellWord { text, ..word.clone() }), true, role);
    } else if name == "flock" {
        start_after(meaning, &ProgramOptions { flags: "exsnuoFv", values: "Ew", ..ProgramOptions::default() }, 1, role);
    } else {
        meaning.unknown(format!("a shell that `{name}` starts"));
    }
}

fn watch(meaning: &mut CommandMeaning<'_>, words: &[ShellWord]) {
    let options =
        ProgramOptions { flags: "bcdegtpwx", values: "n", long_values: &["--interval"], ..ProgramOptions::default() };
    match options.end(words, false) {
        Some(at) if words[at..].iter().all(|word| word.known) => {
            let text = words[at..].iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
            meaning.runs_text(&text, true, CommandRole::Wrapper);
        }
        _ => meaning.unknown("text that `watch` runs"),
    }
}

/// `env -S 'program arguments' more`.
fn split_string(meaning: &mut CommandMeaning<'_>, words: &[ShellWord]) {
    let text = words.iter().skip(1).map(|word| word.text.trim_start_matches("-S")).collect::<Vec<_>>().join(" ");
    meaning.unknown("a string that `env -S` splits");
    if words.iter().all(|word| word.known) {
        meaning.runs_text(text.trim_start_matches("--split-string="), true, CommandRole::Wrapper);
    }
}

//! Programs with their own ways to name written files.

use super::{SortedWords, WrittenPlace, part};
use crate::ShellWord;

fn here() -> ShellWord {
    ShellWord::known(".")
}

fn base(word: &ShellWord) -> ShellWord {
    let text = word.text.trim_end_matches('/');
    part(word, text.rsplit('/').next().unwrap_or(text))
}

fn below(folder: &ShellWord, name: &ShellWord) -> ShellWord {
    let text = format!("{}/{}", folder.text.trim_end_matches('/'), name.text);
    ShellWord { text, known: folder.known && name.known, ..folder.clone() }
}

/// A target, and what is created in it if it is a folder. The names of a folder's contents (`x/.`, `*`) are unknown.
fn into(target: &ShellWord, sources: &[ShellWord]) -> WrittenPlace {
    let named =
        |word: &ShellWord| word.known && !word.text.ends_with("/.") && !matches!(word.text.as_str(), "." | "..");
    let inside = if sources.iter().all(named) { sources.iter().map(base).collect() } else { Vec::new() };
    WrittenPlace { path: target.clone(), inside, ..WrittenPlace::default() }
}

/// Handles `cp a b`, `cp -t folder a b`; `ln -s x/y` creates `y`.
pub(super) fn target(parts: &SortedWords) -> Vec<WrittenPlace> {
    if let Some(folder) = parts.value(&["-t", "--target-directory"]) {
        return vec![into(folder, &parts.operands)];
    }
    match parts.operands.split_last() {
        Some((only, [])) => vec![WrittenPlace::at(base(only))],
        Some((last, sources)) => vec![into(last, sources)],
        None => Vec::new(),
    }
}

/// The sources of a move are removed.
pub(super) fn moves(parts: &SortedWords) -> Vec<WrittenPlace> {
    let sources = match parts.has(&["-t", "--target-directory"]) {
        true => parts.operands.len(),
        false => parts.operands.len().saturating_sub(1),
    };
    let gone = parts.operands.iter().take(sources).cloned().map(WrittenPlace::at);
    target(parts).into_iter().chain(gone).collect()
}

pub(super) fn install(parts: &SortedWords) -> Vec<WrittenPlace> {
    match parts.has(&["-d", "--directory"]) {
        true => parts.operands.iter().cloned().map(WrittenPlace::at).collect(),
        false => target(parts),
    }
}

/// Returns the last operand, unless it is on another machine.
pub(super) fn remote(parts: &SortedWords) -> Vec<WrittenPlace> {
    let Some((last, sources)) = parts.operands.split_last().filter(|(_, sources)| !sources.is_empty()) else {
        return Vec::new();
    };
    let is_remote = last.text.split('/').next().is_some_and(|first| first.contains(':'));
    if is_remote {
        return Vec::new();
    }
    // `x/` stands for its contents.
    let whole = sources.iter().all(|source| !source.text.ends_with('/'));
    vec![if whole { into(last, sources) } else { WrittenPlace::at(last.clone()) }]
}

/// Handles `chmod mode file…`; a mode may look like an option.
pub(super) fn mode(parts: &SortedWords) -> Vec<WrittenPlace> {
    let is_mode = parts.has(&["-r", "-w", "-x", "-X", "-s", "-t", "-u", "-g", "-o", "-a"]);
    let first = usize::from(!is_mode && !parts.has(&["--reference"]));
    parts.operands.iter().skip(first).cloned().map(WrittenPlace::at).collect()
}

pub(super) fn dd(parts: &SortedWords) -> Vec<WrittenPlace> {
    let target = |word: &ShellWord| Some(WrittenPlace::at(part(word, word.text.strip_prefix("of=")?)));
    parts.words.iter().filter_map(target).collect()
}

pub(super) fn sed(parts: &SortedWords) -> Vec<WrittenPlace> {
    let is_option = |word: &ShellWord| {
        let bundle: String = word.text.chars().take_while(|letter| !"efl".contains(*letter)).collect();
        word.text.starts_with("--in-place")
            || (word.text.starts_with('-') && !word.text.starts_with("--") && bundle.contains(['i', 'I']))
    };
    if !parts.words.iter().any(is_option) {
        return Vec::new();
    }
    let has_script = parts.has(&["-e", "-f", "--expression", "--file"]);
    // BSD's `-i ''`.
    let operands = parts.operands.iter().filter(|word| !(word.known && word.text.is_empty()));
    operands.skip(usize::from(!has_script)).cloned().map(WrittenPlace::at).collect()
}

/// Files named by its tests are in the table; `-delete` removes files below the starting points.
pub(super) fn find(parts: &SortedWords) -> Vec<WrittenPlace> {
    if !parts.words.iter().any(|word| word.text == "-delete") {
        return Vec::new();
    }
    let is_option = |word: &&ShellWord| matches!(word.text.as_str(), "-H" | "-L" | "-P");
    let starts: Vec<WrittenPlace> = parts
        .words
        .iter()
        .skip_while(is_option)
        .take_while(|word| !word.text.starts_with(['-', '(', '!']))
        .cloned()
        .map(WrittenPlace::at)
        .collect();
    if starts.is_empty() { vec![WrittenPlace::at(here())] } else { starts }
}

/// Handles `--output` of verbs that show differences, and `-o` of those that create files.
pub(super) fn git(parts: &SortedWords) -> Vec<WrittenPlace> {
    let verb = parts.operands.iter().find(|word| !word.text.contains('='));
    let makes_files = |name: &str| parts.words.iter().any(|word| word.text == name);
    let takes_short = verb.is_some() && (makes_files("format-patch") || makes_files("archive"));
    let mut found = made_by_verb(parts);
    for (at, word) in parts.words.iter().enumerate() {
        let (name, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
        let is_long = name.len() > 4 && ("--output".starts_with(name) || "--output-directory".starts_with(name));
        if (is_long && !word.text.contains('=')) || (takes_short && word.text == "-o") {
            found.extend(parts.words.get(at + 1).cloned().map(WrittenPlace::at));
        } else if is_long {
            found.push(WrittenPlace::at(part(word, value)));
        } else if let Some(value) = word.text.strip_prefix("-o").filter(|value| takes_short && !value.is_empty()) {
            found.push(WrittenPlace::at(part(word, value)));
        }
    }
    found
}

/// Verbs whose purpose is to create or remove files or folders.
fn made_by_verb(parts: &SortedWords) -> Vec<WrittenPlace> {
    let operands = git_operands(&parts.words);
    let texts: Vec<&str> = operands.iter().map(|word| word.text.as_str()).collect();
    let made: &[&ShellWord] = match texts.as_slice() {
        ["bundle", "create", _, ..] | ["worktree", "add" | "remove", _, ..] | ["clone", _, _, ..] => &operands[2..3],
        ["worktree", "move", _, _, ..] => &operands[2..4],
        _ => &[],
    };
    let named = ["--separate-git-dir=", "--prefix=", "--export-marks="];
    let is_named = |word: &ShellWord| Some(part(word, named.iter().find_map(|option| word.text.strip_prefix(option))?));
    let makes = matches!(texts.first(), Some(&("clone" | "init" | "checkout-index" | "fast-export" | "fast-import")));
    let options = parts.words.iter().filter(|_| makes).filter_map(is_named);
    made.iter()
        .map(|word| (*word).clone())
        .chain(options)
        .map(|path| WrittenPlace { meant: true, ..WrittenPlace::at(path) })
        .collect()
}

/// Returns the verb and its operands, without option values.
fn git_operands(words: &[ShellWord]) -> Vec<&ShellWord> {
    const VALUES: [&str; 18] = [
        "-C",
        "-c",
        "-b",
        "-B",
        "-o",
        "-u",
        "-j",
        "--branch",
        "--origin",
        "--depth",
        "--config",
        "--reference",
        "--template",
        "--jobs",
        "--filter",
        "--reason",
        "--shallow-since",
        "--separate-git-dir",
    ];
    let mut rest = words.iter();
    let mut operands = Vec::new();
    while let Some(word) = rest.next() {
        match word.text.as_str() {
            text if VALUES.contains(&text) => drop(rest.next()),
            text if text.starts_with('-') => {}
            _ => operands.push(word),
        }
    }
    operands
}

/// Creates a file in a named folder, or by a pattern.
pub(super) fn mktemp(parts: &SortedWords) -> Vec<WrittenPlace> {
    let folder = parts.value(&["-p", "--tmpdir"]).cloned();
    let file = parts.operands.first().cloned();
    match (folder, file) {
        (Some(folder), Some(file)) => vec![WrittenPlace::at(below(&folder, &file))],
        (one, other) => one.or(other).map(WrittenPlace::at).into_iter().collect(),
    }
}

pub(super) fn go(parts: &SortedWords) -> Vec<WrittenPlace> {
    const OUTPUTS: &[&str] = &[
        "o",
        "coverprofile",
        "cpuprofile",
        "memprofile",
        "blockprofile",
        "mutexprofile",
        "trace",
        "outputdir",
        "pkgdir",
    ];
    by_whole_name(parts, OUTPUTS)
}

pub(super) fn cargo(parts: &SortedWords) -> Vec<WrittenPlace> {
    by_whole_name(parts, &["target-dir", "root", "out-dir", "artifact-dir", "lockfile-path"])
}

/// Options that cannot be abbreviated, with one or two dashes, and a value after `=` or in the next word.
fn by_whole_name(parts: &SortedWords, outputs: &[&str]) -> Vec<WrittenPlace> {
    let own = parts.words.iter().take_while(|word| word.text != "--").enumerate();
    let mut found = Vec::new();
    for (at, word) in own.filter(|(_, word)| word.text.starts_with('-')) {
        let option = word.text.trim_start_matches('-');
        match option.split_once('=') {
            Some((name, value)) if outputs.contains(&name) => found.push(WrittenPlace::at(part(word, value))),
            None if outputs.contains(&option) => found.extend(parts.words.get(at + 1).cloned().map(WrittenPlace::at)),
            _ => {}
        }
    }
    found
}

/// Returns the last part of a URL, which programs use as file name.
fn name_of(url: &ShellWord) -> Option<ShellWord> {
    let path = url.text.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, behind)| behind);
    let (_, name) = path.rsplit_once('/')?;
    (url.known && !name.is_empty()).then(|| ShellWord::known(name))
}

/// `-O` uses the name in the URL, `-J` one from the server.
pub(super) fn curl(parts: &SortedWords) -> Vec<WrittenPlace> {
    if !parts.has(&["-O", "--remote-name", "--remote-name-all", "-J", "--remote-header-name"]) {
        return Vec::new();
    }
    let folder = parts.value(&["--output-dir"]).cloned().unwrap_or_else(here);
    let by_server = parts.has(&["-J", "--remote-header-name"]);
    let file = |url: &ShellWord| {
        name_of(url).filter(|_| !by_server).map_or_else(|| folder.clone(), |name| below(&folder, &name))
    };
    parts.operands.iter().map(|url| WrittenPlace::at(file(url))).collect()
}

pub(super) fn wget(parts: &SortedWords) -> Vec<WrittenPlace> {
    if let Some(file) = parts.value(&["-O", "--output-document"]) {
        return vec![WrittenPlace::at(file.clone())];
    }
    if parts.has(&["--spider", "--version", "--help"]) {
        return Vec::new();
    }
    let folder = parts.value(&["-P", "--directory-prefix"]).cloned().unwrap_or_else(here);
    let many = parts.has(&["-r", "--recursive", "-m", "--mirror", "-p", "-i", "--input-file", "--content-disposition"]);
    if many || parts.operands.is_empty() {
        return vec![WrittenPlace::at(folder)];
    }
    let name = |url: &ShellWord| match url.known {
        true => Some(name_of(url).unwrap_or_else(|| ShellWord::known("index.html"))),
        false => None,
    };
    let file = |url: &ShellWord| name(url).map_or_else(|| folder.clone(), |name| below(&folder, &name));
    parts.operands.iter().map(|url| WrittenPlace::at(file(url))).collect()
}

/// Letters without a dash are options too, whose values follow in order.
pub(super) fn tar(parts: &SortedWords) -> Vec<WrittenPlace> {
    let (mut letters, mut archive) = (String::new(), parts.value(&["-f", "--file"]));
    let mut folders: Vec<&ShellWord> = Vec::new();
    if let Some(bundle) = parts.words.first().filter(|word| !word.text.starts_with('-')) {
        letters.clone_from(&bundle.text);
        let mut values = parts.words.iter().skip(1);
        for letter in bundle.text.chars().filter(|letter| "fCTXbgHIKLNVF".contains(*letter)) {
            let value = values.next();
            match letter {
                'f' => archive = value,
                'C' => folders.extend(value),
                _ => {}
            }
        }
    }
    let is_folder = |(name, _): &&(String, Option<ShellWord>)| matches!(name.as_str(), "-C" | "--directory");
    folders.extend(parts.options.iter().filter(is_folder).filter_map(|(_, value)| value.as_ref()));
    let does =
        |letter: char, short: &str, long: &[&str]| letters.contains(letter) || parts.has(&[short]) || parts.has(long);
    let mut found = Vec::new();
    if does('x', "-x", &["--extract", "--get"]) && !does('O', "-O", &["--to-stdout"]) {
        let folder = one_after_the_other(&folders);
        let top = parts.options.iter().find(|(name, _)| name.starts_with("--one-top"));
        let top = top.and_then(|(_, value)| value.as_ref());
        found.push(WrittenPlace::at(top.map_or_else(|| folder.clone(), |top| one_after_the_other(&[&folder, top]))));
    }
    let changes = parts.has(&["--delete", "-A", "--catenate", "--concatenate"]);
    let makes =
        changes || does('c', "-c", &["--create"]) || does('r', "-r", &["--append"]) || does('u', "-u", &["--update"]);
    if makes {
        found.extend(archive.cloned().map(WrittenPlace::at));
    }
    found
}

/// `-C a -C b` is `a/b`.
fn one_after_the_other(folders: &[&ShellWord]) -> ShellWord {
    let go = |from: ShellWord, to: &&ShellWord| match from.text == "." || to.text.starts_with('/') || to.home {
        true => (*to).clone(),
        false => below(&from, to),
    };
    folders.iter().fold(here(), go)
}

pub(super) fn unzip(parts: &SortedWords) -> Vec<WrittenPlace> {
    if parts.has(&["-l", "-t", "-p", "-z", "-v", "-Z"]) {
        return Vec::new();
    }
    vec![WrittenPlace::at(parts.value(&["-d"]).cloned().unwrap_or_else(here))]
}

/// Returns the named file, or any file that the patch names.
pub(super) fn patch(parts: &SortedWords) -> Vec<WrittenPlace> {
    if parts.has(&["--dry-run", "-o", "--output"]) {
        return Vec::new();
    }
    let folder = parts.value(&["-d", "--directory"]);
    vec![WrittenPlace::at(match (folder, parts.operands.first()) {
        (Some(folder), Some(file)) if !file.text.starts_with('/') => below(folder, file),
        (_, Some(file)) => file.clone(),
        (Some(folder), None) => folder.clone(),
        (None, None) => here(),
    })]
}

/// Returns the first of the files that it creates.
pub(super) fn split(parts: &SortedWords) -> Vec<WrittenPlace> {
    let prefix = parts.operands.get(1).cloned().unwrap_or_else(|| ShellWord::known("x"));
    vec![WrittenPlace::at(ShellWord { text: format!("{}aa", prefix.text), ..prefix })]
}

pub(super) fn timed(parts: &SortedWords) -> Vec<WrittenPlace> {
    before_command(parts, "f")
}

pub(super) fn traced(parts: &SortedWords) -> Vec<WrittenPlace> {
    before_command(parts, "eOpsuaEIPXb")
}

/// Handles `-o file` among the options of a program that starts another one, whose own options come later.
fn before_command(parts: &SortedWords, values: &str) -> Vec<WrittenPlace> {
    let mut rest = parts.words.iter();
    let mut found = Vec::new();
    while let Some(word) = rest.next().filter(|word| word.text.starts_with('-') && word.text != "--") {
        let text = word.text.as_str();
        if text == "-o" || text == "--output" {
            found.extend(rest.next().cloned().map(WrittenPlace::at));
        } else if let Some(file) = text.strip_prefix("--output=").or_else(|| text.strip_prefix("-o")) {
            found.push(WrittenPlace::at(part(word, file)));
        } else if text.len() == 2 && values.contains(&text[1..]) {
            rest.next();
        } else if text.ends_with('o') && !text.starts_with("--") {
            found.extend(rest.next().cloned().map(WrittenPlace::at));
        }
    }
    found
}

/// Returns the file that is locked or recorded to.
pub(super) fn first(parts: &SortedWords) -> Vec<WrittenPlace> {
    let is_number = |word: &ShellWord| word.text.bytes().all(|byte| byte.is_ascii_digit());
    parts.operands.first().filter(|word| !is_number(word)).cloned().map(WrittenPlace::at).into_iter().collect()
}

/// Files are changed in place if an option says so.
pub(super) fn in_place(parts: &SortedWords) -> Vec<WrittenPlace> {
    match parts.has(&["-i", "-w", "--inplace", "--in-place", "--write"]) {
        true => parts.operands.iter().cloned().map(WrittenPlace::at).collect(),
        false => Vec::new(),
    }
}

pub(super) fn csplit(parts: &SortedWords) -> Vec<WrittenPlace> {
    let prefix = parts.value(&["-f", "--prefix"]).cloned().unwrap_or_else(|| ShellWord::known("xx"));
    vec![WrittenPlace::at(ShellWord { text: format!("{}00", prefix.text), ..prefix })]
}

/// Returns the archive; with `-m` the added files are removed.
pub(super) fn zip(parts: &SortedWords) -> Vec<WrittenPlace> {
    let taken = if parts.has(&["-m"]) { parts.operands.len() } else { 1 };
    parts.operands.iter().take(taken).cloned().map(WrittenPlace::at).collect()
}

pub(super) fn seven(parts: &SortedWords) -> Vec<WrittenPlace> {
    let verb = parts.operands.first().map_or("", |word| word.text.as_str());
    let folder = |word: &ShellWord| word.text.strip_prefix("-o").map(|folder| part(word, folder));
    match verb {
        "x" | "e" => vec![WrittenPlace::at(parts.words.iter().find_map(folder).unwrap_or_else(here))],
        "a" | "d" | "u" | "rn" => parts.operands.get(1).cloned().map(WrittenPlace::at).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// A new file replaces the original.
pub(super) fn compressed(parts: &SortedWords) -> Vec<WrittenPlace> {
    if parts.has(&["-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test", "-o"]) {
        return Vec::new();
    }
    parts.operands.iter().cloned().map(WrittenPlace::at).collect()
}

pub(super) fn cpio(parts: &SortedWords) -> Vec<WrittenPlace> {
    let mut found: Vec<WrittenPlace> = Vec::new();
    if parts.has(&["-i", "--extract"]) && !parts.has(&["-t", "--list"]) {
        found.push(WrittenPlace::at(here()));
    }
    if parts.has(&["-o", "--create"]) {
        found.extend(parts.value(&["-F", "-O"]).cloned().map(WrittenPlace::at));
    }
    found.extend(parts.operands.last().filter(|_| parts.has(&["-p", "--pass-through"])).cloned().map(WrittenPlace::at));
    found
}

/// Its options are words, not letters: `-fno-x` is unrelated to `-o`.
pub(super) fn compiler(parts: &SortedWords) -> Vec<WrittenPlace> {
    let mut found = Vec::new();
    for (at, word) in parts.words.iter().enumerate() {
        match word.text.as_str() {
            "-o" | "-MF" | "-MJ" => found.extend(parts.words.get(at + 1).cloned().map(WrittenPlace::at)),
            text => found.extend(text.strip_prefix("-o").map(|file| WrittenPlace::at(part(word, file)))),
        }
    }
    found
}

/// With other options it only shows or checks the file.
pub(super) fn made_key(parts: &SortedWords) -> Vec<WrittenPlace> {
    let only_looks = parts.has(&["-l", "-y", "-B", "-F", "-e", "-i", "-Y", "-L", "-H"]);
    parts.value(&["-f"]).filter(|_| !only_looks).cloned().map(WrittenPlace::at).into_iter().collect()
}

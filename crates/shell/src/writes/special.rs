//! Programs whose words say in their own way what is written.

use super::{Parts, Written, part};
use crate::Word;

fn here() -> Word {
    Word::known(".")
}

fn base(word: &Word) -> Word {
    let text = word.text.trim_end_matches('/');
    part(word, text.rsplit('/').next().unwrap_or(text))
}

fn below(folder: &Word, name: &Word) -> Word {
    let text = format!("{}/{}", folder.text.trim_end_matches('/'), name.text);
    Word { text, known: folder.known && name.known, ..folder.clone() }
}

/// A target, and what it gets if it is a folder. The contents of a folder (`x/.`, `*`) have no names yet.
fn into(target: &Word, sources: &[Word]) -> Written {
    let named = |word: &Word| word.known && !word.text.ends_with("/.") && !matches!(word.text.as_str(), "." | "..");
    let inside = if sources.iter().all(named) { sources.iter().map(base).collect() } else { Vec::new() };
    Written { path: target.clone(), inside, ..Written::default() }
}

/// `cp a b`, `cp -t folder a b`; `ln -s x/y` makes `y`.
pub(super) fn target(parts: &Parts) -> Vec<Written> {
    if let Some(folder) = parts.value(&["-t", "--target-directory"]) {
        return vec![into(folder, &parts.operands)];
    }
    match parts.operands.split_last() {
        Some((only, [])) => vec![Written::at(base(only))],
        Some((last, sources)) => vec![into(last, sources)],
        None => Vec::new(),
    }
}

/// What is moved is gone from where it was.
pub(super) fn moves(parts: &Parts) -> Vec<Written> {
    let sources = match parts.has(&["-t", "--target-directory"]) {
        true => parts.operands.len(),
        false => parts.operands.len().saturating_sub(1),
    };
    let gone = parts.operands.iter().take(sources).cloned().map(Written::at);
    target(parts).into_iter().chain(gone).collect()
}

pub(super) fn install(parts: &Parts) -> Vec<Written> {
    match parts.has(&["-d", "--directory"]) {
        true => parts.operands.iter().cloned().map(Written::at).collect(),
        false => target(parts),
    }
}

/// The last operand, unless it lies on another machine.
pub(super) fn remote(parts: &Parts) -> Vec<Written> {
    let Some((last, sources)) = parts.operands.split_last().filter(|(_, sources)| !sources.is_empty()) else {
        return Vec::new();
    };
    let is_remote = last.text.split('/').next().is_some_and(|first| first.contains(':'));
    if is_remote {
        return Vec::new();
    }
    // `x/` stands for what is in it.
    let whole = sources.iter().all(|source| !source.text.ends_with('/'));
    vec![if whole { into(last, sources) } else { Written::at(last.clone()) }]
}

/// `chmod mode file…`; a mode may look like an option.
pub(super) fn mode(parts: &Parts) -> Vec<Written> {
    let is_mode = parts.has(&["-r", "-w", "-x", "-X", "-s", "-t", "-u", "-g", "-o", "-a"]);
    let first = usize::from(!is_mode && !parts.has(&["--reference"]));
    parts.operands.iter().skip(first).cloned().map(Written::at).collect()
}

pub(super) fn dd(parts: &Parts) -> Vec<Written> {
    let target = |word: &Word| Some(Written::at(part(word, word.text.strip_prefix("of=")?)));
    parts.words.iter().filter_map(target).collect()
}

pub(super) fn sed(parts: &Parts) -> Vec<Written> {
    let is_option = |word: &Word| {
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
    operands.skip(usize::from(!has_script)).cloned().map(Written::at).collect()
}

/// What its tests name is told by the row; `-delete` takes what lies below the starting points.
pub(super) fn find(parts: &Parts) -> Vec<Written> {
    if !parts.words.iter().any(|word| word.text == "-delete") {
        return Vec::new();
    }
    let is_option = |word: &&Word| matches!(word.text.as_str(), "-H" | "-L" | "-P");
    let starts: Vec<Written> = parts
        .words
        .iter()
        .skip_while(is_option)
        .take_while(|word| !word.text.starts_with(['-', '(', '!']))
        .cloned()
        .map(Written::at)
        .collect();
    if starts.is_empty() { vec![Written::at(here())] } else { starts }
}

/// `--output` of all that shows differences, `-o` of what makes files.
pub(super) fn git(parts: &Parts) -> Vec<Written> {
    let verb = parts.operands.iter().find(|word| !word.text.contains('='));
    let makes_files = |name: &str| parts.words.iter().any(|word| word.text == name);
    let takes_short = verb.is_some() && (makes_files("format-patch") || makes_files("archive"));
    let mut found = made_by_verb(parts);
    for (at, word) in parts.words.iter().enumerate() {
        let (name, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
        let is_long = name.len() > 4 && ("--output".starts_with(name) || "--output-directory".starts_with(name));
        if (is_long && !word.text.contains('=')) || (takes_short && word.text == "-o") {
            found.extend(parts.words.get(at + 1).cloned().map(Written::at));
        } else if is_long {
            found.push(Written::at(part(word, value)));
        } else if let Some(value) = word.text.strip_prefix("-o").filter(|value| takes_short && !value.is_empty()) {
            found.push(Written::at(part(word, value)));
        }
    }
    found
}

/// Verbs that are there to make files or folders, or to take them away.
fn made_by_verb(parts: &Parts) -> Vec<Written> {
    let operands = git_operands(&parts.words);
    let texts: Vec<&str> = operands.iter().map(|word| word.text.as_str()).collect();
    let made: &[&Word] = match texts.as_slice() {
        ["bundle", "create", _, ..] | ["worktree", "add" | "remove", _, ..] | ["clone", _, _, ..] => &operands[2..3],
        ["worktree", "move", _, _, ..] => &operands[2..4],
        _ => &[],
    };
    let named = ["--separate-git-dir=", "--prefix=", "--export-marks="];
    let is_named = |word: &Word| Some(part(word, named.iter().find_map(|option| word.text.strip_prefix(option))?));
    let makes = matches!(texts.first(), Some(&("clone" | "init" | "checkout-index" | "fast-export" | "fast-import")));
    let options = parts.words.iter().filter(|_| makes).filter_map(is_named);
    made.iter()
        .map(|word| (*word).clone())
        .chain(options)
        .map(|path| Written { meant: true, ..Written::at(path) })
        .collect()
}

/// The verb and its operands, without what belongs to options.
fn git_operands(words: &[Word]) -> Vec<&Word> {
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

/// In a folder that is named, or by a pattern.
pub(super) fn mktemp(parts: &Parts) -> Vec<Written> {
    let folder = parts.value(&["-p", "--tmpdir"]).cloned();
    let file = parts.operands.first().cloned();
    match (folder, file) {
        (Some(folder), Some(file)) => vec![Written::at(below(&folder, &file))],
        (one, other) => one.or(other).map(Written::at).into_iter().collect(),
    }
}

pub(super) fn go(parts: &Parts) -> Vec<Written> {
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

pub(super) fn cargo(parts: &Parts) -> Vec<Written> {
    by_whole_name(parts, &["target-dir", "root", "out-dir", "artifact-dir", "lockfile-path"])
}

/// Options that nobody may shorten, with one dash or two, and a value behind a sign or in the next word.
fn by_whole_name(parts: &Parts, outputs: &[&str]) -> Vec<Written> {
    let own = parts.words.iter().take_while(|word| word.text != "--").enumerate();
    let mut found = Vec::new();
    for (at, word) in own.filter(|(_, word)| word.text.starts_with('-')) {
        let option = word.text.trim_start_matches('-');
        match option.split_once('=') {
            Some((name, value)) if outputs.contains(&name) => found.push(Written::at(part(word, value))),
            None if outputs.contains(&option) => found.extend(parts.words.get(at + 1).cloned().map(Written::at)),
            _ => {}
        }
    }
    found
}

/// A URL's last part, which programs take for the name of a file.
fn name_of(url: &Word) -> Option<Word> {
    let path = url.text.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, behind)| behind);
    let (_, name) = path.rsplit_once('/')?;
    (url.known && !name.is_empty()).then(|| Word::known(name))
}

/// `-O` saves under the name that the URL has, `-J` under one that the server says.
pub(super) fn curl(parts: &Parts) -> Vec<Written> {
    if !parts.has(&["-O", "--remote-name", "--remote-name-all", "-J", "--remote-header-name"]) {
        return Vec::new();
    }
    let folder = parts.value(&["--output-dir"]).cloned().unwrap_or_else(here);
    let by_server = parts.has(&["-J", "--remote-header-name"]);
    let file =
        |url: &Word| name_of(url).filter(|_| !by_server).map_or_else(|| folder.clone(), |name| below(&folder, &name));
    parts.operands.iter().map(|url| Written::at(file(url))).collect()
}

pub(super) fn wget(parts: &Parts) -> Vec<Written> {
    if let Some(file) = parts.value(&["-O", "--output-document"]) {
        return vec![Written::at(file.clone())];
    }
    if parts.has(&["--spider", "--version", "--help"]) {
        return Vec::new();
    }
    let folder = parts.value(&["-P", "--directory-prefix"]).cloned().unwrap_or_else(here);
    let many = parts.has(&["-r", "--recursive", "-m", "--mirror", "-p", "-i", "--input-file", "--content-disposition"]);
    if many || parts.operands.is_empty() {
        return vec![Written::at(folder)];
    }
    let name = |url: &Word| match url.known {
        true => Some(name_of(url).unwrap_or_else(|| Word::known("index.html"))),
        false => None,
    };
    let file = |url: &Word| name(url).map_or_else(|| folder.clone(), |name| below(&folder, &name));
    parts.operands.iter().map(|url| Written::at(file(url))).collect()
}

/// Letters without a dash are options too, whose values follow in their order.
pub(super) fn tar(parts: &Parts) -> Vec<Written> {
    let (mut letters, mut archive) = (String::new(), parts.value(&["-f", "--file"]));
    let mut folders: Vec<&Word> = Vec::new();
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
    let is_folder = |(name, _): &&(String, Option<Word>)| matches!(name.as_str(), "-C" | "--directory");
    folders.extend(parts.options.iter().filter(is_folder).filter_map(|(_, value)| value.as_ref()));
    let does =
        |letter: char, short: &str, long: &[&str]| letters.contains(letter) || parts.has(&[short]) || parts.has(long);
    let mut found = Vec::new();
    if does('x', "-x", &["--extract", "--get"]) && !does('O', "-O", &["--to-stdout"]) {
        let folder = one_after_the_other(&folders);
        let top = parts.options.iter().find(|(name, _)| name.starts_with("--one-top"));
        let top = top.and_then(|(_, value)| value.as_ref());
        found.push(Written::at(top.map_or_else(|| folder.clone(), |top| one_after_the_other(&[&folder, top]))));
    }
    let changes = parts.has(&["--delete", "-A", "--catenate", "--concatenate"]);
    let makes =
        changes || does('c', "-c", &["--create"]) || does('r', "-r", &["--append"]) || does('u', "-u", &["--update"]);
    if makes {
        found.extend(archive.cloned().map(Written::at));
    }
    found
}

/// `-C a -C b` is `a/b`.
fn one_after_the_other(folders: &[&Word]) -> Word {
    let go = |from: Word, to: &&Word| match from.text == "." || to.text.starts_with('/') || to.home {
        true => (*to).clone(),
        false => below(&from, to),
    };
    folders.iter().fold(here(), go)
}

pub(super) fn unzip(parts: &Parts) -> Vec<Written> {
    if parts.has(&["-l", "-t", "-p", "-z", "-v", "-Z"]) {
        return Vec::new();
    }
    vec![Written::at(parts.value(&["-d"]).cloned().unwrap_or_else(here))]
}

/// The file that is named, or whatever the patch names.
pub(super) fn patch(parts: &Parts) -> Vec<Written> {
    if parts.has(&["--dry-run", "-o", "--output"]) {
        return Vec::new();
    }
    let folder = parts.value(&["-d", "--directory"]);
    vec![Written::at(match (folder, parts.operands.first()) {
        (Some(folder), Some(file)) if !file.text.starts_with('/') => below(folder, file),
        (_, Some(file)) => file.clone(),
        (Some(folder), None) => folder.clone(),
        (None, None) => here(),
    })]
}

/// The first of the files that it makes.
pub(super) fn split(parts: &Parts) -> Vec<Written> {
    let prefix = parts.operands.get(1).cloned().unwrap_or_else(|| Word::known("x"));
    vec![Written::at(Word { text: format!("{}aa", prefix.text), ..prefix })]
}

pub(super) fn timed(parts: &Parts) -> Vec<Written> {
    before_command(parts, "f")
}

pub(super) fn traced(parts: &Parts) -> Vec<Written> {
    before_command(parts, "eOpsuaEIPXb")
}

/// `-o file` among the options of a program that starts another one, whose own options come after.
fn before_command(parts: &Parts, values: &str) -> Vec<Written> {
    let mut rest = parts.words.iter();
    let mut found = Vec::new();
    while let Some(word) = rest.next().filter(|word| word.text.starts_with('-') && word.text != "--") {
        let text = word.text.as_str();
        if text == "-o" || text == "--output" {
            found.extend(rest.next().cloned().map(Written::at));
        } else if let Some(file) = text.strip_prefix("--output=").or_else(|| text.strip_prefix("-o")) {
            found.push(Written::at(part(word, file)));
        } else if text.len() == 2 && values.contains(&text[1..]) {
            rest.next();
        } else if text.ends_with('o') && !text.starts_with("--") {
            found.extend(rest.next().cloned().map(Written::at));
        }
    }
    found
}

/// The file that is locked or recorded to.
pub(super) fn first(parts: &Parts) -> Vec<Written> {
    let is_number = |word: &Word| word.text.bytes().all(|byte| byte.is_ascii_digit());
    parts.operands.first().filter(|word| !is_number(word)).cloned().map(Written::at).into_iter().collect()
}

/// Files are changed where an option says so.
pub(super) fn in_place(parts: &Parts) -> Vec<Written> {
    match parts.has(&["-i", "-w", "--inplace", "--in-place", "--write"]) {
        true => parts.operands.iter().cloned().map(Written::at).collect(),
        false => Vec::new(),
    }
}

pub(super) fn csplit(parts: &Parts) -> Vec<Written> {
    let prefix = parts.value(&["-f", "--prefix"]).cloned().unwrap_or_else(|| Word::known("xx"));
    vec![Written::at(Word { text: format!("{}00", prefix.text), ..prefix })]
}

/// The archive; with `-m` what goes into it is gone.
pub(super) fn zip(parts: &Parts) -> Vec<Written> {
    let taken = if parts.has(&["-m"]) { parts.operands.len() } else { 1 };
    parts.operands.iter().take(taken).cloned().map(Written::at).collect()
}

pub(super) fn seven(parts: &Parts) -> Vec<Written> {
    let verb = parts.operands.first().map_or("", |word| word.text.as_str());
    let folder = |word: &Word| word.text.strip_prefix("-o").map(|folder| part(word, folder));
    match verb {
        "x" | "e" => vec![Written::at(parts.words.iter().find_map(folder).unwrap_or_else(here))],
        "a" | "d" | "u" | "rn" => parts.operands.get(1).cloned().map(Written::at).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// A file takes the place of another one.
pub(super) fn compressed(parts: &Parts) -> Vec<Written> {
    if parts.has(&["-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test", "-o"]) {
        return Vec::new();
    }
    parts.operands.iter().cloned().map(Written::at).collect()
}

pub(super) fn cpio(parts: &Parts) -> Vec<Written> {
    let mut found: Vec<Written> = Vec::new();
    if parts.has(&["-i", "--extract"]) && !parts.has(&["-t", "--list"]) {
        found.push(Written::at(here()));
    }
    if parts.has(&["-o", "--create"]) {
        found.extend(parts.value(&["-F", "-O"]).cloned().map(Written::at));
    }
    found.extend(parts.operands.last().filter(|_| parts.has(&["-p", "--pass-through"])).cloned().map(Written::at));
    found
}

/// Its options are words, not letters: `-fno-x` has nothing to do with `-o`.
pub(super) fn compiler(parts: &Parts) -> Vec<Written> {
    let mut found = Vec::new();
    for (at, word) in parts.words.iter().enumerate() {
        match word.text.as_str() {
            "-o" | "-MF" | "-MJ" => found.extend(parts.words.get(at + 1).cloned().map(Written::at)),
            text => found.extend(text.strip_prefix("-o").map(|file| Written::at(part(word, file)))),
        }
    }
    found
}

/// With other options it only shows or checks the file.
pub(super) fn made_key(parts: &Parts) -> Vec<Written> {
    let only_looks = parts.has(&["-l", "-y", "-B", "-F", "-e", "-i", "-Y", "-L", "-H"]);
    parts.value(&["-f"]).filter(|_| !only_looks).cloned().map(Written::at).into_iter().collect()
}

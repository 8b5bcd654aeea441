//! Which files well-known programs write, told from their words.
//!
//! One row a program. What is not listed here is no promise: the kernel's walls and the undo log hold for the rest.

mod special;

use crate::{Command, Word};

/// A place that a command writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    pub path: Word,
    /// What is made below, if `path` is a folder; nothing where that cannot be told.
    pub inside: Vec<Word>,
    /// To write it is what the command is for: who allows `cp` means this.
    pub meant: bool,
}

struct Writer {
    names: &'static [&'static str],
    /// Letters and long names of options that take a value.
    values: &'static str,
    long_values: &'static [&'static str],
    /// Options whose value is written, among those above.
    outputs: &'static [&'static str],
    what: What,
    /// To write is what it is for, not what an option makes it do.
    by_nature: bool,
}

enum What {
    /// Only what options name.
    Nothing,
    /// Every operand behind so many others.
    Operands(usize),
    /// The last operand, or the folder of `-t`.
    Target,
    Other(fn(&Parts) -> Vec<Written>),
}

const fn writer(names: &'static [&'static str], values: &'static str, what: What) -> Writer {
    Writer { names, values, long_values: &[], outputs: &[], what, by_nature: true }
}

const fn with_long(mut row: Writer, long_values: &'static [&'static str]) -> Writer {
    row.long_values = long_values;
    row
}

/// One that reads unless it is told to write.
const fn by_option(mut row: Writer, outputs: &'static [&'static str]) -> Writer {
    (row.outputs, row.by_nature) = (outputs, false);
    row
}

const COPIES: &[&str] =
    &["--suffix", "--target-directory", "--no-preserve", "--sparse", "--group", "--mode", "--owner", "--strip-program"];
const RSYNC: &[&str] = &[
    "--exclude",
    "--include",
    "--exclude-from",
    "--include-from",
    "--files-from",
    "--filter",
    "--rsh",
    "--rsync-path",
    "--suffix",
    "--compare-dest",
    "--copy-dest",
    "--link-dest",
    "--bwlimit",
    "--port",
    "--timeout",
    "--max-size",
    "--min-size",
    "--chmod",
    "--chown",
    "--out-format",
    "--log-file",
    "--backup-dir",
    "--temp-dir",
    "--partial-dir",
    "--write-batch",
];
const SORT: &[&str] = &[
    "--output",
    "--key",
    "--field-separator",
    "--buffer-size",
    "--temporary-directory",
    "--batch-size",
    "--compress-program",
    "--files0-from",
    "--parallel",
    "--random-source",
    "--sort",
];
const CURL: &[&str] = &[
    "--output",
    "--output-dir",
    "--dump-header",
    "--cookie-jar",
    "--trace",
    "--trace-ascii",
    "--stderr",
    "--etag-save",
    "--hsts",
    "--alt-svc",
    "--libcurl",
    "--ssl-sessions",
    "--data",
    "--data-binary",
    "--data-raw",
    "--data-urlencode",
    "--header",
    "--user",
    "--user-agent",
    "--request",
    "--form",
    "--url",
    "--proxy",
    "--max-time",
    "--connect-timeout",
    "--retry",
    "--cookie",
    "--referer",
    "--upload-file",
    "--config",
    "--write-out",
    "--cacert",
    "--cert",
    "--key",
    "--resolve",
    "--json",
];
const CURL_OUTPUTS: &[&str] = &[
    "-o",
    "--output",
    "-D",
    "--dump-header",
    "-c",
    "--cookie-jar",
    "--trace",
    "--trace-ascii",
    "--stderr",
    "--etag-save",
    "--hsts",
    "--alt-svc",
    "--libcurl",
    "--ssl-sessions",
];
const WGET: &[&str] = &[
    "--output-document",
    "--directory-prefix",
    "--output-file",
    "--append-output",
    "--save-cookies",
    "--warc-file",
    "--rejected-log",
    "--hsts-file",
    "--input-file",
    "--header",
    "--user",
    "--password",
    "--user-agent",
    "--tries",
    "--timeout",
    "--level",
    "--accept",
    "--reject",
    "--post-data",
    "--post-file",
    "--method",
    "--body-data",
    "--wait",
    "--limit-rate",
];
const TAR: &[&str] = &[
    "--file",
    "--directory",
    "--files-from",
    "--exclude-from",
    "--exclude",
    "--transform",
    "--index-file",
    "--listed-incremental",
    "--volno-file",
];
const PATCH: &[&str] = &["--directory", "--output", "--input", "--strip", "--reject-file", "--suffix", "--prefix"];
const SPLIT: &[&str] =
    &["--bytes", "--lines", "--number", "--suffix-length", "--line-bytes", "--additional-suffix", "--separator"];
const OUTPUT: &[&str] = &["--output", "--from-code", "--to-code", "--recipient", "--head-count"];
const SCRIPT: &[&str] = &["--command", "--log-in", "--log-out", "--log-io", "--log-timing", "--output-limit"];
const SCRIPT_OUTPUTS: &[&str] = &["-I", "--log-in", "-O", "--log-out", "-B", "--log-io", "-T", "--log-timing"];
const JOURNAL: &[&str] = &["--cursor-file", "--since", "--until", "--unit", "--lines", "--output", "--identifier"];
const PIP: &[&str] = &["--target", "--dest", "--log", "--report", "--prefix", "--root", "--src", "--requirement"];
const FIND: &[&str] = &["-fprintf", "-fprint", "-fprint0", "-fls"];

const WRITERS: &[Writer] = &[
    with_long(writer(&["cp", "gcp", "ln", "gln"], "St", What::Target), COPIES),
    with_long(writer(&["mv", "gmv"], "St", What::Other(special::moves)), COPIES),
    with_long(writer(&["install", "ginstall"], "gmoSt", What::Other(special::install)), COPIES),
    Writer {
        outputs: &["--log-file", "--backup-dir", "--temp-dir", "--partial-dir", "--write-batch", "-T"],
        ..with_long(writer(&["rsync"], "efTBM@", What::Other(special::remote)), RSYNC)
    },
    writer(&["scp"], "cFiJlDoPSX", What::Other(special::remote)),
    writer(&["tee", "gtee", "rm", "grm", "rmdir", "unlink"], "", What::Operands(0)),
    with_long(writer(&["mkdir", "gmkdir", "mkfifo"], "m", What::Operands(0)), &["--mode"]),
    with_long(writer(&["touch", "gtouch"], "drt", What::Operands(0)), &["--date", "--reference", "--time"]),
    with_long(writer(&["truncate", "gtruncate"], "rs", What::Operands(0)), &["--size", "--reference"]),
    with_long(writer(&["shred"], "ns", What::Operands(0)), &["--iterations", "--size", "--random-source"]),
    with_long(
        writer(&["chmod", "chown", "chgrp", "gchmod", "gchown"], "", What::Other(special::mode)),
        &["--reference", "--from"],
    ),
    writer(&["dd", "gdd"], "", What::Other(special::dd)),
    by_option(
        with_long(
            writer(&["sed", "gsed"], "efl", What::Other(special::sed)),
            &["--expression", "--file", "--line-length"],
        ),
        &[],
    ),
    by_option(with_long(writer(&["sort", "gsort"], "kotST", What::Nothing), SORT), &["-o", "--output"]),
    by_option(writer(&["tree"], "LPIoHT", What::Nothing), &["-o"]),
    by_option(writer(&["uniq", "guniq"], "fsw", What::Operands(1)), &[]),
    by_option(writer(&["find", "gfind"], "", What::Other(special::find)), FIND),
    by_option(writer(&["git"], "", What::Other(special::git)), &[]),
    by_option(
        with_long(writer(&["curl"], "AbcCdDeEFhHKmoPQrtTuUwxXyYz", What::Other(special::curl)), CURL),
        CURL_OUTPUTS,
    ),
    Writer {
        outputs: &["-o", "--output-file", "-a", "--append-output", "--save-cookies", "--warc-file", "--rejected-log"],
        ..with_long(writer(&["wget"], "aABDeiIlnoOPQRtTUwX", What::Other(special::wget)), WGET)
    },
    Writer {
        outputs: &["--index-file", "-g", "--listed-incremental", "--volno-file"],
        ..with_long(writer(&["tar", "gtar", "bsdtar"], "fCTXbgHIKLNVF", What::Other(special::tar)), TAR)
    },
    writer(&["unzip"], "dPx", What::Other(special::unzip)),
    Writer {
        outputs: &["-o", "--output", "-r", "--reject-file"],
        ..with_long(writer(&["patch", "gpatch"], "bBdDFgiopryYzV", What::Other(special::patch)), PATCH)
    },
    by_option(writer(&["time", "gtime"], "", What::Other(special::before_command)), &[]),
    by_option(writer(&["strace", "ltrace"], "", What::Other(special::before_command)), &[]),
    by_option(writer(&["flock"], "", What::Other(special::first)), &[]),
    by_option(with_long(writer(&["script"], "cEIOBTmo", What::Other(special::first)), SCRIPT), SCRIPT_OUTPUTS),
    by_option(with_long(writer(&["journalctl"], "cnSUpogutFD", What::Nothing), JOURNAL), &["--cursor-file"]),
    by_option(writer(&["tcpdump"], "BcCDEFGijmMQrsTVwWyz", What::Nothing), &["-w"]),
    by_option(writer(&["ss"], "fADFN", What::Nothing), &["-D"]),
    by_option(with_long(writer(&["iconv"], "fto", What::Nothing), OUTPUT), &["-o", "--output"]),
    by_option(with_long(writer(&["shuf", "gshuf"], "oin", What::Nothing), OUTPUT), &["-o", "--output"]),
    by_option(with_long(writer(&["sdiff"], "owW", What::Nothing), OUTPUT), &["-o", "--output"]),
    by_option(writer(&["xxd"], "clnosgR", What::Operands(1)), &[]),
    by_option(with_long(writer(&["xmllint", "xsltproc", "pandoc"], "o", What::Nothing), OUTPUT), &["-o", "--output"]),
    by_option(writer(&["openssl"], "", What::Nothing), &["-out", "-keyout", "-writerand", "-CAserial"]),
    by_option(with_long(writer(&["gpg", "gpg2"], "oruN", What::Nothing), OUTPUT), &["-o", "--output"]),
    by_option(writer(&["dot", "neato"], "oTKGNEl", What::Nothing), &["-o"]),
    by_option(writer(&["ssh"], "BbcDEeFIiJLlmOoPpQRSWw", What::Nothing), &["-E"]),
    by_option(writer(&["ssh-keygen"], "abCDEfFGIJKMmNnOPrRsTtUVWwYz", What::Nothing), &["-f"]),
    by_option(writer(&["yq"], "", What::Other(special::in_place)), &[]),
    by_option(writer(&["gofmt", "shfmt", "goimports"], "", What::Other(special::in_place)), &[]),
    by_option(
        with_long(writer(&["pip", "pip3"], "tdr", What::Nothing), PIP),
        &["-t", "--target", "-d", "--dest", "--log", "--report", "--prefix", "--root", "--src"],
    ),
    Writer {
        outputs: &["-o", "-MF", "-MJ"],
        ..writer(&["gcc", "g++", "cc", "c++", "clang", "clang++", "ld"], "oILlDUx", What::Nothing)
    },
    Writer { outputs: &["-o", "--out-dir"], ..with_long(writer(&["rustc"], "oLlC", What::Nothing), &["--out-dir"]) },
    writer(&["csplit", "gcsplit"], "bfn", What::Other(special::csplit)),
    Writer { outputs: &["-O", "--out"], ..with_long(writer(&["zip"], "bnOtx", What::Other(special::zip)), &["--out"]) },
    writer(&["7z", "7za", "7zr", "7zz"], "", What::Other(special::seven)),
    writer(&["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "lzma"], "S", What::Other(special::compressed)),
    Writer { outputs: &["-o"], ..writer(&["zstd", "unzstd", "lz4"], "o", What::Other(special::compressed)) },
    writer(&["cpio"], "EFHMIORVC", What::Other(special::cpio)),
    writer(&["sponge", "dos2unix", "unix2dos", "mknod", "fallocate"], "lo", What::Operands(0)),
    writer(&["chattr", "setfacl", "setfattr"], "mxnv", What::Operands(0)),
    with_long(writer(&["split", "gsplit"], "abClnt", What::Other(special::split)), SPLIT),
];

/// What the command writes, besides its redirects.
pub(crate) fn written(command: &Command) -> Vec<Written> {
    let Some(row) = row(command.program()) else { return Vec::new() };
    let parts = Parts::of(row, &command.words);
    let mut all: Vec<Written> =
        row.outputs.iter().flat_map(|name| parts.values(name)).cloned().map(Written::at).collect();
    all.extend(match &row.what {
        What::Nothing => Vec::new(),
        What::Operands(behind) => parts.operands.iter().skip(*behind).cloned().map(Written::at).collect(),
        What::Target => special::target(&parts),
        What::Other(tell) => tell(&parts),
    });
    all.retain(|written| !(written.path.known && written.path.text == "-"));
    all.iter_mut().for_each(|written| written.meant |= row.by_nature);
    all
}

fn row(program: Option<&str>) -> Option<&'static Writer> {
    let program = program?;
    WRITERS.iter().find(|row| row.names.contains(&program))
}

impl Written {
    fn at(path: Word) -> Self {
        Self { path, ..Self::default() }
    }
}

/// The words of a command, sorted.
#[derive(Default)]
struct Parts {
    operands: Vec<Word>,
    /// `-x`, `--long` or `-name` with what belongs to it.
    options: Vec<(String, Option<Word>)>,
    /// As they are written, without the program.
    words: Vec<Word>,
}

impl Parts {
    fn of(row: &Writer, words: &[Word]) -> Self {
        let words: Vec<Word> = words.iter().skip(1).cloned().collect();
        let mut parts = Self { words, ..Self::default() };
        let mut rest = parts.words.clone().into_iter();
        while let Some(word) = rest.next() {
            match word.text.as_str() {
                "--" => parts.operands.extend(rest.by_ref()),
                text if row.outputs.contains(&text) && !text.starts_with("--") && text.len() > 2 => {
                    parts.options.push((text.to_owned(), rest.next()));
                }
                text if text.starts_with("--") => parts.long(row, &word, &mut rest),
                text if text.len() > 1 && text.starts_with('-') => parts.short(row.values, &word, &mut rest),
                _ => parts.operands.push(word),
            }
        }
        parts
    }

    /// Programs take the beginning of a long option for the whole.
    fn long(&mut self, row: &Writer, word: &Word, rest: &mut impl Iterator<Item = Word>) {
        let (name, value) = match word.text.split_once('=') {
            Some((name, value)) => (name, Some(part(word, value))),
            None => (word.text.as_str(), None),
        };
        let exact = row.long_values.iter().find(|known| **known == name);
        let full = exact.or_else(|| row.long_values.iter().find(|known| name.len() > 2 && known.starts_with(name)));
        let value = match (full, value) {
            (Some(_), None) => rest.next(),
            (_, value) => value,
        };
        self.options.push((full.map_or(name, |full| full).to_owned(), value));
    }

    fn short(&mut self, values: &str, word: &Word, rest: &mut impl Iterator<Item = Word>) {
        let bundle = word.text.trim_start_matches('-');
        for (at, letter) in bundle.char_indices() {
            let name = format!("-{letter}");
            if !values.contains(letter) {
                self.options.push((name, None));
                continue;
            }
            let attached = &bundle[at + letter.len_utf8()..];
            let value = if attached.is_empty() { rest.next() } else { Some(part(word, attached)) };
            self.options.push((name, value));
            return;
        }
    }

    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Word> {
        self.options.iter().filter(move |(own, _)| own == name).filter_map(|(_, value)| value.as_ref())
    }

    /// The last of these options.
    fn value(&self, names: &[&str]) -> Option<&Word> {
        let mut all = self.options.iter().rev().filter(|(own, _)| names.contains(&own.as_str()));
        all.find_map(|(_, value)| value.as_ref())
    }

    fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(own, _)| names.contains(&own.as_str()))
    }
}

/// A piece of a word.
fn part(word: &Word, text: &str) -> Word {
    if word.known { Word::known(text) } else { Word::unknown(text) }
}

#[cfg(test)]
mod tests;

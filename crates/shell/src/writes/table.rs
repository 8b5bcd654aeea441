//! The programs whose written files are known. One row per program.

use super::{SortedWords, WrittenPlace, special};

pub(super) struct WritingProgram {
    pub names: &'static [&'static str],
    /// Options that take a value.
    pub values: &'static str,
    pub long_values: &'static [&'static str],
    /// Those of them whose value is written.
    pub outputs: &'static [&'static str],
    pub what: What,
    /// Writing is its purpose, not the effect of an option.
    pub by_nature: bool,
}

pub(super) enum What {
    /// Only files named by options.
    Nothing,
    /// Every operand after the given number of others.
    Operands(usize),
    /// The last operand, or the folder of `-t`.
    Target,
    Other(fn(&SortedWords) -> Vec<WrittenPlace>),
}

const fn writer(names: &'static [&'static str], values: &'static str, what: What) -> WritingProgram {
    WritingProgram { names, values, long_values: &[], outputs: &[], what, by_nature: true }
}

const fn with_long(mut row: WritingProgram, long_values: &'static [&'static str]) -> WritingProgram {
    row.long_values = long_values;
    row
}

/// A program that only reads unless an option makes it write.
const fn by_option(mut row: WritingProgram, outputs: &'static [&'static str]) -> WritingProgram {
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
    "--only-write-batch",
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
const PYTEST: &[&str] = &["--basetemp", "--junitxml", "--junit-xml", "--log-file", "--report-log"];
const FIND: &[&str] = &["-fprintf", "-fprint", "-fprint0", "-fls"];

pub(super) const WRITERS: &[WritingProgram] = &[
    with_long(writer(&["cp", "gcp", "ln", "gln"], "St", What::Target), COPIES),
    with_long(writer(&["mv", "gmv"], "St", What::Other(special::moves)), COPIES),
    with_long(writer(&["install", "ginstall"], "gmoSt", What::Other(special::install)), COPIES),
    WritingProgram {
        outputs: &[
            "--log-file",
            "--backup-dir",
            "--temp-dir",
            "--partial-dir",
            "--write-batch",
            "--only-write-batch",
            "-T",
        ],
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
    WritingProgram {
        outputs: &[
            "-o",
            "--output-file",
            "-a",
            "--append-output",
            "--save-cookies",
            "--warc-file",
            "--rejected-log",
            "--hsts-file",
        ],
        ..with_long(writer(&["wget"], "aABDeiIlnoOPQRtTUwX", What::Other(special::wget)), WGET)
    },
    WritingProgram {
        outputs: &["--index-file", "-g", "--listed-incremental", "--volno-file"],
        ..with_long(writer(&["tar", "gtar", "bsdtar"], "fCTXbgHIKLNVF", What::Other(special::tar)), TAR)
    },
    writer(&["unzip"], "dPx", What::Other(special::unzip)),
    WritingProgram {
        outputs: &["-o", "--output", "-r", "--reject-file"],
        ..with_long(writer(&["patch", "gpatch"], "bBdDFgiopryYzV", What::Other(special::patch)), PATCH)
    },
    by_option(writer(&["time", "gtime"], "", What::Other(special::timed)), &[]),
    by_option(writer(&["strace", "ltrace"], "", What::Other(special::traced)), &[]),
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
    by_option(
        writer(&["openssl"], "", What::Nothing),
        &["-out", "-keyout", "-writerand", "-CAserial", "-keylogfile", "-sess_out", "-outdir"],
    ),
    by_option(with_long(writer(&["gpg", "gpg2"], "oruN", What::Nothing), OUTPUT), &["-o", "--output"]),
    by_option(writer(&["dot", "neato"], "oTKGNEl", What::Nothing), &["-o"]),
    by_option(writer(&["ssh"], "BbcDEeFIiJLlmOoPpQRSWw", What::Nothing), &["-E"]),
    by_option(writer(&["ssh-keygen"], "abCDEfFGIJKMmNnOPrRsTtUVWwYz", What::Other(special::made_key)), &[]),
    by_option(writer(&["yq"], "", What::Other(special::in_place)), &[]),
    by_option(
        writer(
            &["gofmt", "shfmt", "goimports", "prettier", "clang-format", "autopep8", "yapf"],
            "",
            What::Other(special::in_place),
        ),
        &[],
    ),
    by_option(
        with_long(writer(&["pip", "pip3"], "tdr", What::Nothing), PIP),
        &["-t", "--target", "-d", "--dest", "--log", "--report", "--prefix", "--root", "--src"],
    ),
    writer(&["gcc", "g++", "cc", "c++", "clang", "clang++", "ld"], "", What::Other(special::compiler)),
    WritingProgram {
        outputs: &["-o", "--out-dir"],
        ..with_long(writer(&["rustc"], "oLlC", What::Nothing), &["--out-dir"])
    },
    with_long(
        writer(&["csplit", "gcsplit"], "bfn", What::Other(special::csplit)),
        &["--prefix", "--suffix-format", "--digits"],
    ),
    with_long(writer(&["mktemp", "gmktemp"], "p", What::Other(special::mktemp)), &["--suffix"]),
    writer(&["link"], "", What::Operands(1)),
    writer(&["mknod"], "mZ", What::Other(special::first)),
    by_option(writer(&["cargo"], "", What::Other(special::cargo)), &[]),
    by_option(with_long(writer(&["pytest", "py.test"], "", What::Nothing), PYTEST), PYTEST),
    by_option(writer(&["go"], "", What::Other(special::go)), &[]),
    WritingProgram {
        outputs: &["-O", "--out"],
        ..with_long(writer(&["zip"], "bnOtx", What::Other(special::zip)), &["--out"])
    },
    writer(&["7z", "7za", "7zr", "7zz"], "", What::Other(special::seven)),
    writer(&["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "lzma"], "S", What::Other(special::compressed)),
    WritingProgram { outputs: &["-o"], ..writer(&["zstd", "unzstd", "lz4"], "o", What::Other(special::compressed)) },
    writer(&["cpio"], "EFHMIORVC", What::Other(special::cpio)),
    writer(&["sponge", "dos2unix", "unix2dos", "fallocate"], "lo", What::Operands(0)),
    writer(&["setfacl", "setfattr"], "mxnv", What::Operands(0)),
    with_long(writer(&["split", "gsplit"], "abClnt", What::Other(special::split)), SPLIT),
];

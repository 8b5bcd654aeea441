//! Options by which programs that seem harmless start other programs, load code, or turn to other settings.
//!
//! One row for programs that share them. What is written is told elsewhere ([`crate::writes`]).

use crate::Word;
use crate::interpret::Meaning;

struct Row {
    names: &'static [&'static str],
    options: &'static [&'static str],
    /// How letters are read: `-vI x` is `-v -I x`.
    letters: Letters,
}

#[derive(PartialEq)]
enum Letters {
    Bundled,
    /// `-wrapper` is one option, and `-Bx` is `-B x`.
    Apart,
}

const fn row(names: &'static [&'static str], options: &'static [&'static str]) -> Row {
    Row { names, options, letters: Letters::Bundled }
}

const fn apart(names: &'static [&'static str], options: &'static [&'static str]) -> Row {
    Row { names, options, letters: Letters::Apart }
}

const ROWS: &[Row] = &[
    // Files and texts.
    row(&["sort"], &["--compress-program"]),
    row(&["install"], &["--strip-program"]),
    row(&["split"], &["--filter"]),
    row(&["diff3", "sdiff"], &["--diff-program"]),
    row(&["file"], &["-C", "--compile"]),
    row(
        &["tar", "bsdtar"],
        &[
            "--to-command",
            "--checkpoint-action",
            "--use-compress-program",
            "-I",
            "--rsh-command",
            "--rmt-command",
            "--info-script",
            "--new-volume-script",
            "-F",
            "--remove-files",
        ],
    ),
    row(&["cpio"], &["--rsh-command"]),
    row(&["zip"], &["--unzip-command"]),
    row(&["yq"], &["--security-enable-system-operator"]),
    row(&["pandoc"], &["-F", "--filter", "-L", "--lua-filter", "--pdf-engine", "-d", "--defaults", "--data-dir"]),
    apart(
        &["tex", "latex", "pdflatex", "xelatex", "lualatex"],
        &["-shell-escape", "-enable-write18", "-output-directory"],
    ),
    row(&["groff", "troff", "nroff"], &["-U", "-P", "-m", "-M", "-F"]),
    // Pagers and what calls them.
    row(
        &["man", "apropos", "whatis"],
        &[
            "-P",
            "--pager",
            "-H",
            "--html",
            "-X",
            "--gxditview",
            "-C",
            "--config-file",
            "-p",
            "--preprocessor",
            "-T",
            "-Z",
        ],
    ),
    row(&["less", "more", "most", "pg"], &["-k", "-K", "--lesskey", "-o", "-O", "--log-file", "--LOG-FILE", "-P"]),
    row(&["bat", "batcat", "delta", "mdcat", "glow"], &["--pager", "--config-file", "--pager-command"]),
    row(
        &["journalctl"],
        &[
            "--rotate",
            "--vacuum-size",
            "--vacuum-time",
            "--vacuum-files",
            "--flush",
            "--setup-keys",
            "--relinquish-var",
        ],
    ),
    row(&["systemctl"], &["-H", "--host", "-M", "--machine", "--root", "--image"]),
    // The network.
    row(
        &["curl"],
        &[
            "-K",
            "--config",
            "--unix-socket",
            "--abstract-unix-socket",
            "--engine",
            "--expand-output",
            "--expand-url",
            "--variable",
        ],
    ),
    row(&["wget"], &["-e", "--execute", "--use-askpass", "--config"]),
    row(&["rsync"], &["-e", "--rsh", "--rsync-path", "-M", "--remote-option", "--daemon", "--config"]),
    row(&["scp", "sftp"], &["-S", "-o", "-D", "-F", "-s"]),
    row(&["ssh-keygen"], &["-D"]),
    row(&["ssh-add"], &["-s", "-S"]),
    row(&["ssh-agent"], &["-c", "-s", "-d", "-D"]),
    row(&["tcpdump"], &["-z", "-W", "-G"]),
    apart(&["nmap"], &["--script", "-sC", "-A", "--datadir", "-oN", "-oX", "-oG", "-oA", "-oS"]),
    row(&["ss"], &["-K", "--kill"]),
    row(&["sysctl"], &["-w", "--write", "-p", "--load", "--system"]),
    row(&["dmesg"], &["-c", "-C", "--clear", "--read-clear"]),
    apart(&["openssl"], &["-engine", "-provider", "-provider-path", "-config"]),
    // Building.
    apart(
        &["gcc", "g++", "cc", "c++", "clang", "clang++"],
        &["-wrapper", "-fplugin", "-B", "-specs", "--specs", "-Xclang", "-fuse-ld", "@"],
    ),
    apart(&["ld", "nm", "objdump", "ar", "strip"], &["-plugin", "--plugin"]),
    apart(&["rustc"], &["-Clinker", "-Z", "@"]),
    apart(&["go"], &["-toolexec", "-exec", "-vettool", "-modfile", "-overlay", "-C"]),
    row(&["cargo"], &["--config", "-Z", "-C"]),
    // Packages.
    row(
        &["npm", "pnpm", "yarn", "npx", "bunx"],
        &[
            "--script-shell",
            "--shell",
            "--node-options",
            "--userconfig",
            "--globalconfig",
            "--init-module",
            "--editor",
            "--viewer",
            "--browser",
            "--git",
            "--prefix",
            "--registry",
            "-C",
            "--dir",
            "--cwd",
            "-c",
            "--call",
        ],
    ),
    row(
        &["pip", "pip3"],
        &[
            "--python",
            "--install-option",
            "--global-option",
            "--build-option",
            "--config-settings",
            "-C",
            "-i",
            "--index-url",
            "--extra-index-url",
            "-f",
            "--find-links",
            "--trusted-host",
            "--proxy",
        ],
    ),
    // Machines.
    row(&["docker", "podman"], &["-H", "--host", "--config", "--context"]),
    row(&["kubectl"], &["--kubeconfig", "-s", "--server"]),
    row(&["helm"], &["--post-renderer", "--kubeconfig", "--kube-apiserver"]),
    apart(&["terraform", "tofu"], &["-chdir", "-plugin-dir"]),
];

/// Programs that do what text tells them, which is not read here.
const OBEDIENT: &[&str] = &[
    "vim",
    "vi",
    "nvim",
    "gvim",
    "view",
    "rvim",
    "rview",
    "vimdiff",
    "ex",
    "ed",
    "red",
    "nano",
    "pico",
    "emacs",
    "emacsclient",
    "hx",
    "kak",
    "micro",
    "joe",
    "mcedit",
    "gdb",
    "lldb",
    "m4",
    "dc",
    "sqlite",
    "sqlite3",
    "psql",
    "mysql",
    "mariadb",
    "mongo",
    "mongosh",
    "duckdb",
    "mail",
    "mailx",
    "mutt",
    "crontab",
    "xdg-open",
    "open",
    "run-parts",
    "run-mailcap",
    "ftp",
    "lftp",
    "telnet",
    "octave",
    "gnuplot",
    "ghci",
    "irb",
    "iex",
    "psysh",
    "rename",
    "prename",
];

/// Says whether there is anything to say.
pub(crate) fn tell(meaning: &mut Meaning<'_>, name: &str) {
    let name =
        name.strip_prefix('g').filter(|plain| matches!(*plain, "sort" | "tar" | "install" | "split")).unwrap_or(name);
    let words = meaning.words()[1..].to_vec();
    let only_asks = !words.is_empty()
        && words.iter().all(|word| word.known && matches!(word.text.as_str(), "--version" | "--help"));
    if OBEDIENT.contains(&name) && !only_asks {
        meaning.unknown(format!("what `{name}` is told to do"));
    }
    let own = words.split(|word| word.known && word.text == "--").next().unwrap_or_default();
    if let Some(row) = ROWS.iter().find(|row| row.names.contains(&name)) {
        let is_risky = |word: &Word| may_be_option(word) || row.options.iter().any(|option| row.is(option, &word.text));
        if let Some(word) = own.iter().find(|word| is_risky(word)) {
            meaning.unknown(format!("what `{}` makes `{name}` do", shortened(&word.text)));
        }
    }
    if has_other_risk(name, own) {
        meaning.unknown(format!("what `{name}` is made to do"));
    }
}

/// An expansion could turn out to be any of the options.
fn may_be_option(word: &Word) -> bool {
    !word.known && word.text.starts_with(['$', '`'])
}

fn shortened(text: &str) -> &str {
    text.char_indices().nth(40).map_or(text, |(end, _)| &text[..end])
}

impl Row {
    fn is(&self, option: &str, word: &str) -> bool {
        if option.starts_with("--") {
            return is_long(option, word);
        }
        match self.letters {
            Letters::Bundled => has_letter(option, word),
            Letters::Apart => {
                word.starts_with(option) || word.strip_prefix('-').is_some_and(|word| word.starts_with(option))
            }
        }
    }
}

/// The beginning of a long option is taken for the whole.
pub(crate) fn is_long(option: &str, word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    name.len() > 2 && name.starts_with("--") && option.starts_with(name)
}

pub(crate) fn has_letter(option: &str, word: &str) -> bool {
    let bundle = word.strip_prefix('-').filter(|bundle| !bundle.starts_with('-'));
    bundle.zip(option.strip_prefix('-')).is_some_and(|(bundle, letter)| bundle.contains(letter))
}

/// What no row of options says.
fn has_other_risk(name: &str, words: &[Word]) -> bool {
    let first = words.iter().find(|word| !word.text.starts_with('-')).map_or("", |word| word.text.as_str());
    let any = |risk: &dyn Fn(&str) -> bool| words.iter().any(|word| risk(&word.text));
    match name {
        // Letters without a dash.
        "tar" | "bsdtar" => words
            .first()
            .is_some_and(|word| !word.text.starts_with('-') && word.text.len() < 12 && word.text.contains(['I', 'F'])),
        "zip" => any(&|word| word.starts_with("-TT")),
        "less" | "more" | "most" | "pg" => any(&|word| word.starts_with('+')),
        "cargo" => any(&|word| word.starts_with('+')),
        "make" | "gmake" => any(&|word| word.contains('=') || is_long("--eval", word) || word.starts_with("-E")),
        "sysctl" => any(&|word| word.contains('=')),
        "systemctl" => matches!(first, "edit" | "link" | "import-environment" | "set-environment"),
        "ip" => first == "netns" || any(&|word| matches!(word, "-b" | "-batch" | "--batch")),
        "date" => any(&|word| word.starts_with("-s") || word.starts_with("-us") || is_long("--set", word)),
        "rustc" => any(&|word| word.starts_with("linker")),
        "go" => any(&|word| word == "-w") && first == "env",
        "history" => any(&|word| word.starts_with('-')),
        _ => false,
    }
}

#[cfg(test)]
mod tests;

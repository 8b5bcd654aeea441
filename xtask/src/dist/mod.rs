//! Builds a release archive for this machine: the binary and its files, with the same bytes in every run.

mod archive;
mod licences;
mod man;
mod metadata;
mod version;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Output;

use archive::ArchiveFile;
use metadata::{Metadata, Toolchain};
use version::ReleaseVersion;

const PROFILE: &str = "dist";
const SHELLS: &[(&str, &str)] = &[("bash", "omp.bash"), ("fish", "omp.fish"), ("zsh", "_omp")];
const DOCUMENTS: &[&str] = &["CHANGELOG.md", "LICENSE", "README.md"];
const USAGE: &str = "cargo run -p xtask -- dist [--skip-build] [--binary FILE] [--out DIR]";

pub fn run(root: &Path, args: &[String]) -> Result<String, String> {
    let options = Options::parse(args)?;
    let toolchain = Toolchain::ask(root)?;
    let metadata = Metadata::ask(root, &toolchain.host)?;
    let version = ReleaseVersion::of(root, &metadata.version_of("omp")?)?;
    let built = metadata.target_directory.join(PROFILE);
    let binary = options.binary.unwrap_or_else(|| built.join(format!("omp{}", std::env::consts::EXE_SUFFIX)));
    if !options.skip_build {
        build(root, &metadata, &toolchain.host)?;
    }
    let mut crates = metadata.linked("omp")?;
    crates.push(toolchain.standard_library());
    let package = ReleasePackage {
        name: format!("omp-{}-{}", version.name, toolchain.host),
        seconds: version.seconds,
        entries: entries(root, &binary, &version, licences::page(&crates)?)?,
    };
    let out = options.out.unwrap_or(built);
    let mut report = package.write(&out)?;
    report.push_str(&told_folders(&package, &metadata));
    Ok(report)
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    skip_build: bool,
    binary: Option<PathBuf>,
    out: Option<PathBuf>,
}

impl Options {
    fn parse(args: &[String]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let mut value =
                |what| rest.next().map(PathBuf::from).ok_or_else(|| error(format!("{arg} needs {what}"), USAGE));
            match arg.as_str() {
                "--skip-build" => options.skip_build = true,
                // A given binary is not built.
                "--binary" => (options.skip_build, options.binary) = (true, Some(value("a file")?)),
                "--out" => options.out = Some(value("a folder")?),
                _ => return Err(error(format!("dist: unknown argument `{arg}`"), USAGE)),
            }
        }
        Ok(options)
    }
}

fn build(root: &Path, metadata: &Metadata, host: &str) -> Result<(), String> {
    let status = build_command(root, metadata, host).status();
    let status = status.map_err(|why| error(format!("cannot start cargo: {why}"), "install Rust with rustup"))?;
    match status.success() {
        true => Ok(()),
        false => Err(error(
            "omp was not built: cargo failed".to_owned(),
            "fix what cargo reports above, or pack an existing binary with --binary FILE",
        )),
    }
}

/// Builds with the paths of the sources remapped, so that messages of the binary do not contain paths of this machine.
fn build_command(root: &Path, metadata: &Metadata, host: &str) -> std::process::Command {
    let renamed = metadata.renamed_folders(root);
    let flags = renamed.iter().map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()));
    let flags = toml::Value::Array(flags.map(toml::Value::String).collect());
    let mut command = command("cargo", root);
    command.args(["build", "--offline", "--locked", "--profile", PROFILE, "-p", "omp", "--config"]);
    command.arg(format!("target.{host}.rustflags={flags}"));
    // The binary must also start on systems with an older C library: see `crates/omp/build.rs`.
    command.env("OMP_PORTABLE", "1");
    if !cfg!(windows) {
        command.env("CFLAGS", c_flags(&renamed));
    }
    command
}

/// The C compiler splits its flags at spaces, so a folder with a space is not remapped.
#[expect(clippy::disallowed_methods, reason = "a task of this repository: keeps the user's settings")]
fn c_flags(renamed: &[(PathBuf, &str)]) -> OsString {
    let mut flags = std::env::var_os("CFLAGS").unwrap_or_default();
    for (from, to) in renamed.iter().filter(|(from, _)| !from.to_string_lossy().contains(char::is_whitespace)) {
        flags.push(format!(" -ffile-prefix-map={}={to}", from.display()));
    }
    flags
}

fn entries(root: &Path, binary: &Path, version: &ReleaseVersion, licences: String) -> Result<Vec<ArchiveFile>, String> {
    let bytes = std::fs::read(binary).map_err(|why| {
        error(
            format!("cannot read the binary {}: {why}", binary.display()),
            "run dist without --skip-build to build it, or name one with --binary FILE",
        )
    })?;
    // Without a slash, the program would be looked up in PATH.
    let binary = std::path::absolute(binary).unwrap_or_else(|_| binary.to_owned());
    let name = format!("omp{}", std::env::consts::EXE_SUFFIX);
    let mut entries = vec![ArchiveFile { path: name, bytes, is_program: true }];
    let mut add = |path: String, bytes: Vec<u8>| entries.push(ArchiveFile { path, bytes, is_program: false });
    for (shell, file) in SHELLS {
        add(format!("completions/{file}"), ask(root, &binary, &["completions", shell])?.into_bytes());
    }
    let page = man::page(version, &|words| ask(root, &binary, words))?;
    add("man/man1/omp.1".to_owned(), page.into_bytes());
    add("LICENSES-OF-DEPENDENCIES.txt".to_owned(), licences.into_bytes());
    for path in DOCUMENTS {
        let text = std::fs::read(root.join(path)).map_err(|why| {
            error(format!("cannot read {path}, which is part of the archive: {why}"), "run this in a complete checkout")
        })?;
        add((*path).to_owned(), text);
    }
    Ok(entries)
}

/// Returns the output of the binary without line wrapping, because man pages are wrapped when they are shown.
fn ask(root: &Path, binary: &Path, words: &[&str]) -> Result<String, String> {
    let shown = format!("{} {}", binary.display(), words.join(" "));
    let hint = "the binary must run on this machine and know `completions` and `--help`";
    let mut command = command(binary, root);
    command.args(words).env("COLUMNS", "10000").env("NO_COLOR", "1").env_remove("CLICOLOR_FORCE");
    let output = output(command, &shown, hint)?;
    match String::from_utf8(output.stdout) {
        Ok(text) if !text.trim().is_empty() => Ok(text),
        _ => Err(error(format!("`{shown}` printed no text"), hint)),
    }
}

struct ReleasePackage {
    name: String,
    seconds: u64,
    entries: Vec<ArchiveFile>,
}

impl ReleasePackage {
    /// Writes the archive and its checksum, and returns a summary.
    fn write(&self, out: &Path) -> Result<String, String> {
        let file = format!("{}.tar.gz", self.name);
        let failed = |path: &Path, why: std::io::Error| {
            error(format!("cannot write {}: {why}", path.display()), "check the folder, or name another with --out DIR")
        };
        std::fs::create_dir_all(out).map_err(|why| failed(out, why))?;
        let path = out.join(&file);
        let bytes = archive::packed(&self.name, self.seconds, &self.entries).map_err(|why| failed(&path, why))?;
        let digest = archive::digest(&bytes);
        // Written under a temporary name, so that no incomplete archive has the final name.
        let part = out.join(format!("{file}.part"));
        std::fs::write(&part, &bytes).map_err(|why| failed(&part, why))?;
        std::fs::rename(&part, &path).map_err(|why| failed(&path, why))?;
        let sum = out.join(format!("{file}.sha256"));
        std::fs::write(&sum, format!("{digest}  {file}\n")).map_err(|why| failed(&sum, why))?;
        let mut report = format!("wrote {} ({} bytes)\nsha256 {digest}\n", path.display(), bytes.len());
        for entry in archive::sorted(&self.entries) {
            report.push_str(&format!("  {:>10}  {}\n", entry.bytes.len(), entry.path));
        }
        Ok(report)
    }
}

/// Returns a note if something in the archive still contains paths of the crates' sources on this machine.
fn told_folders(package: &ReleasePackage, metadata: &Metadata) -> String {
    let folders = metadata.source_folders();
    let mut notes = String::new();
    for entry in &package.entries {
        let times =
            |folder: &&Path| memchr::memmem::find_iter(&entry.bytes, folder.to_string_lossy().as_bytes()).count();
        let count: usize = folders.iter().map(times).sum();
        if count > 0 {
            let what = "cargo's source folder on this machine";
            notes.push_str(&format!("note: {} names {what}, {count} times\n", entry.path));
        }
    }
    if !notes.is_empty() {
        notes.push_str("hint: build without --skip-build and --binary, and without RUSTFLAGS set\n");
    }
    notes
}

#[expect(clippy::disallowed_methods, reason = "a task of this repository, not omp")]
fn command(program: impl AsRef<std::ffi::OsStr>, folder: &Path) -> std::process::Command {
    let mut command = std::process::Command::new(program);
    command.current_dir(folder).stdin(std::process::Stdio::null());
    command
}

/// Returns the output of a program, or its error message.
fn output(mut command: std::process::Command, shown: &str, hint: &str) -> Result<Output, String> {
    let output = command.output().map_err(|why| error(format!("cannot start `{shown}`: {why}"), hint))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(error(format!("`{shown}` failed ({}): {}", output.status, said.trim()), hint));
    }
    Ok(output)
}

fn error(what: String, hint: &str) -> String {
    format!("error: {what}\nhint: {hint}\n")
}

#[cfg(test)]
mod tests;

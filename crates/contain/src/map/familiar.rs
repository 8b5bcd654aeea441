//! The usual targets of links in a workspace, besides the workspace: programs, toolchains, packages and caches.

use std::path::{Path, PathBuf};

use omp_types::Env;

/// Programs and libraries of the system.
const SYSTEM: &[&str] = &[
    "/usr",
    "/opt",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/nix",
    "/gnu",
    "/snap",
    "/var/lib/flatpak",
    "/System",
    "/Library",
    "/Applications",
];

/// Folders below the home folder in which languages and package managers install files.
const TOOLCHAINS: &[&str] = &[
    ".cargo/registry",
    ".cargo/git",
    ".cargo/bin",
    ".rustup",
    ".nvm",
    ".fnm",
    ".volta",
    ".bun",
    ".deno",
    ".pyenv",
    ".rbenv",
    ".asdf",
    ".sdkman",
    ".goenv",
    ".ghcup",
    ".elan",
    ".conda",
    "miniconda3",
    "anaconda3",
    "miniforge3",
    "go/pkg",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/uv",
    ".local/share/mise",
    ".local/share/fnm",
    ".local/share/pnpm",
    ".local/share/virtualenvs",
    ".local/share/pipx",
    ".virtualenvs",
    ".cache",
    ".npm",
    ".npm-global",
    ".yarn",
    ".gradle/caches",
    ".gradle/wrapper",
    ".m2/repository",
    ".nuget/packages",
    ".gem",
    ".pub-cache",
    ".stack",
    ".cabal",
    "Library/Caches",
    "Library/pnpm",
];

/// Variables that name such folders.
const TOOLCHAIN_VARIABLES: &[&str] = &[
    "RUSTUP_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "ASDF_DATA_DIR",
    "VOLTA_HOME",
    "PNPM_HOME",
    "GOROOT",
    "JAVA_HOME",
    "CONDA_PREFIX",
    "VIRTUAL_ENV",
    "XDG_CACHE_HOME",
];

/// Hidden paths inside them stay hidden.
pub(super) fn places(home: &Path, env: &Env) -> Vec<PathBuf> {
    let named = TOOLCHAIN_VARIABLES.iter().filter_map(|name| super::named(env, name)).map(PathBuf::from);
    let mut places: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    places.extend(TOOLCHAINS.iter().map(|name| home.join(name)));
    // A variable that names the root, or all home folders, does not name a toolchain.
    places.extend(named.filter(|path| path.components().count() > 2 && !home.starts_with(path)));
    places.push(super::temp_folder(env));
    places
}

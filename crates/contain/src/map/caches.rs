//! Caches of package managers and compilers: their content can be downloaded again.
//!
//! No cache is created here. A missing one is writable as soon as it exists, and is created when a command that needs it
//! runs: so a home folder gets no caches of unused programs.

use std::path::{Path, PathBuf};

use omp_types::{Env, UnusedCache};

use super::looks::Looks;
use super::{MapSources, named};

struct KnownCache {
    /// Relative to the home folder.
    place: &'static str,
    /// The programs that use it. If there are none, it is used if it exists.
    programs: &'static [&'static str],
    /// A file in projects of these programs.
    mark: &'static str,
}

const fn of(place: &'static str, programs: &'static [&'static str], mark: &'static str) -> KnownCache {
    KnownCache { place, programs, mark }
}

const fn existing(place: &'static str) -> KnownCache {
    of(place, &[], "")
}

const CACHES: &[KnownCache] = &[
    of(".cargo/registry", &["cargo"], "Cargo.toml"),
    of(".cargo/git", &["cargo"], "Cargo.toml"),
    existing(".cargo/.package-cache"),
    existing(".cargo/.package-cache-mutate"),
    existing(".cargo/.global-cache"),
    of(".npm", &["npm", "npx"], "package-lock.json"),
    of(".cache/pip", &["pip", "pip3", "pipx"], "requirements.txt"),
    of(".cache/uv", &["uv", "uvx"], "uv.lock"),
    of(".cache/go-build", &["go"], "go.mod"),
    of("go/pkg", &["go"], "go.mod"),
    of(".cache/yarn", &["yarn"], "yarn.lock"),
    existing(".yarn/berry/cache"),
    of(".local/share/pnpm/store", &["pnpm", "pnpx"], "pnpm-lock.yaml"),
    of(".cache/pnpm", &["pnpm", "pnpx"], "pnpm-lock.yaml"),
    of(".bun/install/cache", &["bun", "bunx"], "bun.lock"),
    of(".cache/deno", &["deno"], "deno.lock"),
    existing(".gradle/caches"),
    of(".m2/repository", &["mvn", "mvnw"], "pom.xml"),
    existing(".cache/sccache"),
    existing(".cache/ccache"),
    existing(".ccache"),
    of(".cache/zig", &["zig"], "build.zig"),
    existing(".cache/node-gyp"),
    existing(".cache/typescript"),
    existing(".cache/ms-playwright"),
    existing(".cache/huggingface"),
    existing(".nuget/packages"),
    existing(".cache/bazel"),
    existing(".cabal/packages"),
    existing(".stack"),
];

/// Variables that set the path of a cache.
const MOVED: &[&str] =
    &["CARGO_TARGET_DIR", "GOCACHE", "GOMODCACHE", "PIP_CACHE_DIR", "UV_CACHE_DIR", "npm_config_cache"];

/// The paths of the caches.
pub(super) struct Caches {
    paths: Vec<PathBuf>,
    marks: Vec<PathBuf>,
}

#[derive(Default)]
pub(super) struct UsableCaches {
    /// Includes missing ones.
    pub(super) writable: Vec<PathBuf>,
    pub(super) missing: Vec<UnusedCache>,
}

impl Caches {
    pub(super) fn of(sources: &MapSources<'_>) -> Self {
        let cargo_home = cargo_home(sources.env);
        let path = |known: &KnownCache| match (known.of_cargo(), &cargo_home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => sources.home.join(known.place),
        };
        Self {
            paths: CACHES.iter().map(path).collect(),
            marks: CACHES.iter().flat_map(|it| it.marks(sources)).collect(),
        }
    }

    /// The files that would show a project of their programs.
    pub(super) fn marks(&self) -> impl Iterator<Item = &PathBuf> {
        self.marks.iter()
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.paths.iter()
    }

    pub(super) fn find(self, sources: &MapSources<'_>, looks: &Looks) -> UsableCaches {
        let mut found = UsableCaches::default();
        for (known, path) in CACHES.iter().zip(self.paths) {
            if !looks.exists(&path) {
                if known.programs.is_empty() || !path.is_absolute() {
                    continue;
                }
                let moved = cargo_home(sources.env).filter(|_| known.of_cargo().is_some());
                let home = moved.as_deref().and_then(Path::parent).unwrap_or(sources.home);
                found.missing.push(UnusedCache {
                    path: looks.real(&path),
                    home: home.to_owned(),
                    programs: known.programs,
                    is_expected: known.is_expected(sources, looks),
                });
            }
            found.writable.push(path);
        }
        let moved = MOVED.iter().filter_map(|name| named(sources.env, name)).map(PathBuf::from);
        found.writable.extend(moved.filter(|path| path.is_absolute() && path.components().count() > 2));
        found
    }
}

impl KnownCache {
    fn marks(&self, sources: &MapSources<'_>) -> impl Iterator<Item = PathBuf> {
        let folders = [sources.workspace, sources.cwd].into_iter().filter(|_| !self.mark.is_empty());
        folders.map(|folder| folder.join(self.mark))
    }

    fn of_cargo(&self) -> Option<&'static str> {
        self.place.strip_prefix(".cargo/")
    }

    /// In a project of such a program, a script or a Makefile may start it as well.
    fn is_expected(&self, sources: &MapSources<'_>, looks: &Looks) -> bool {
        self.marks(sources).any(|mark| looks.exists(&mark))
            && self.programs.iter().any(|program| is_installed(program, sources.env))
    }
}

fn cargo_home(env: &Env) -> Option<PathBuf> {
    named(env, "CARGO_HOME").map(PathBuf::from)
}

fn is_installed(program: &str, env: &Env) -> bool {
    named(env, "PATH").is_some_and(|path| path.split(':').any(|folder| Path::new(folder).join(program).is_file()))
}

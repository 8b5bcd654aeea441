//! Metadata from cargo and rustc: the linked crates, the folders of their sources, the target.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::licences::Crate;
use super::{command, error, output};

#[derive(Deserialize)]
pub struct Metadata {
    packages: Vec<CargoPackage>,
    workspace_members: BTreeSet<String>,
    resolve: CargoResolve,
    pub target_directory: PathBuf,
}

#[derive(Deserialize)]
struct CargoPackage {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    license_file: Option<PathBuf>,
    manifest_path: PathBuf,
    targets: Vec<Target>,
    /// The table `[package.metadata]`, in which cargo allows anything.
    #[serde(default)]
    metadata: serde_json::Value,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
}

#[derive(Deserialize)]
struct CargoResolve {
    nodes: Vec<ResolvedNode>,
}

#[derive(Deserialize)]
struct ResolvedNode {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    /// None for an ordinary dependency, else `dev` or `build`.
    kind: Option<String>,
}

impl Metadata {
    /// Reads it offline, from crates that were fetched already.
    pub fn ask(root: &Path, host: &str) -> Result<Self, String> {
        let words = ["metadata", "--offline", "--locked", "--format-version", "1", "--filter-platform"];
        let shown = format!("cargo {}", words.join(" "));
        let mut command = command("cargo", root);
        command.args(words).arg(host);
        let asked = output(command, &shown, "run `cargo fetch --locked` where the registry can be reached")?;
        Self::parse(&asked.stdout)
    }

    pub fn parse(json: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(json)
            .map_err(|why| error(format!("cannot parse the output of `cargo metadata`: {why}"), "try `cargo metadata`"))
    }

    pub fn version_of(&self, name: &str) -> Result<String, String> {
        self.member(name).map(|member| member.version.clone())
    }

    fn member(&self, name: &str) -> Result<&CargoPackage, String> {
        let mut members = self.packages.iter().filter(|package| self.workspace_members.contains(&package.id));
        members
            .find(|package| package.name == name)
            .ok_or_else(|| error(format!("the workspace has no crate `{name}`"), "run this in a complete checkout"))
    }

    /// Returns the external crates that are linked into a member. Those of build scripts and macros are left out, and
    /// those of tests unless a member requests them. Features are those of the whole workspace, so the list can have
    /// too many crates, but never too few.
    pub fn linked(&self, name: &str) -> Result<Vec<Crate>, String> {
        let packages: BTreeMap<&str, &CargoPackage> = self.packages.iter().map(|one| (one.id.as_str(), one)).collect();
        let nodes: BTreeMap<&str, &ResolvedNode> =
            self.resolve.nodes.iter().map(|one| (one.id.as_str(), one)).collect();
        let mut seen = BTreeSet::new();
        let mut open = vec![self.member(name)?.id.as_str()];
        while let Some(id) = open.pop() {
            if seen.insert(id)
                && let Some(node) = nodes.get(id)
            {
                let with_dev = self.workspace_members.contains(id)
                    && packages.get(id).is_some_and(|package| package.links_dev_dependencies());
                let linked = node.deps.iter().filter(|one| one.is_linked(with_dev));
                let linked = linked.filter(|one| !packages.get(one.pkg.as_str()).is_some_and(|one| one.is_macro()));
                open.extend(linked.map(|one| one.pkg.as_str()));
            }
        }
        let foreign = seen.into_iter().filter(|id| !self.workspace_members.contains(*id));
        Ok(foreign.filter_map(|id| packages.get(id)).map(|package| package.as_crate()).collect())
    }

    /// Folders with external crates.
    pub fn source_folders(&self) -> BTreeSet<&Path> {
        let foreign = self.packages.iter().filter(|package| !self.workspace_members.contains(&package.id));
        foreign.filter_map(|package| package.manifest_path.parent()?.parent()).collect()
    }

    /// Folders of this machine, and what the binary shows instead. The last match applies.
    pub fn renamed_folders(&self, root: &Path) -> Vec<(PathBuf, &'static str)> {
        let mut renamed = vec![(root.to_owned(), "."), (self.target_directory.clone(), "target")];
        renamed.extend(self.source_folders().into_iter().map(|folder| (folder.to_owned(), "dependencies")));
        renamed
    }
}

impl Dependency {
    fn is_linked(&self, with_dev: bool) -> bool {
        self.dep_kinds.iter().any(|one| match one.kind.as_deref() {
            None => true,
            Some(kind) => with_dev && kind == "dev",
        })
    }
}

impl CargoPackage {
    /// Its build script compiles their sources into the program.
    fn links_dev_dependencies(&self) -> bool {
        self.metadata["omp"]["dev-dependencies-are-linked"] == true
    }

    fn is_macro(&self) -> bool {
        self.targets.iter().any(|target| target.kind.iter().any(|kind| kind == "proc-macro"))
    }

    fn as_crate(&self) -> Crate {
        Crate {
            name: self.name.clone(),
            version: self.version.clone(),
            licence: self.license.clone(),
            file: self.license_file.clone(),
            folder: self.manifest_path.parent().map(Path::to_owned),
        }
    }
}

pub struct Toolchain {
    pub host: String,
    release: String,
}

impl Toolchain {
    pub fn ask(root: &Path) -> Result<Self, String> {
        let hint = "install Rust with rustup; rust-toolchain.toml names the version";
        let mut command = command("rustc", root);
        command.arg("-vV");
        let about = output(command, "rustc -vV", hint)?;
        let about = String::from_utf8_lossy(&about.stdout).into_owned();
        let line = |name: &str| {
            let found = about.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
            found.ok_or_else(|| error(format!("`rustc -vV` has no line `{name}`"), hint))
        };
        Ok(Self { host: line("host: ")?, release: line("release: ")? })
    }

    /// Linked like a crate, but toolchains do not all come with the same licence text.
    pub fn standard_library(&self) -> Crate {
        Crate {
            name: "std, the standard library of Rust".to_owned(),
            version: self.release.clone(),
            licence: Some("MIT OR Apache-2.0".to_owned()),
            file: None,
            folder: None,
        }
    }
}

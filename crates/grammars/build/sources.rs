//! Where the sources of the grammar crates lie, as cargo tells.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

pub struct PackageFolders {
    workspace: PathBuf,
    folders: BTreeMap<String, PathBuf>,
}

impl PackageFolders {
    /// Asks for the dependencies of the crate in `manifest_folder`. What was not fetched yet is fetched: a build does not
    /// need dev-dependencies, so it may be the first to want them.
    pub fn ask(manifest_folder: &Path, host: &str) -> Result<Self, String> {
        let manifest = manifest_folder.join("Cargo.toml");
        let answer = metadata(&manifest, host, true).or_else(|_| metadata(&manifest, host, false))?;
        let metadata: Value =
            serde_json::from_slice(&answer).map_err(|why| format!("what cargo tells is not JSON: {why}"))?;
        Self::read(&metadata, &manifest)
            .ok_or_else(|| format!("what cargo tells of {} is not understood", manifest.display()))
    }

    pub fn of(&self, package: &str) -> Result<&Path, String> {
        let hint = "hint: it must be a dev-dependency of omp-grammars";
        self.folders.get(package).map(PathBuf::as_path).ok_or_else(|| format!("cargo tells no `{package}`\n{hint}"))
    }

    /// Changes when a grammar gets another version.
    pub fn lockfile(&self) -> PathBuf {
        self.workspace.join("Cargo.lock")
    }

    fn read(metadata: &Value, manifest: &Path) -> Option<Self> {
        let packages: BTreeMap<&str, &Value> =
            metadata["packages"].as_array()?.iter().filter_map(|one| Some((one["id"].as_str()?, one))).collect();
        let path_of = |package: &Value| Some(PathBuf::from(package["manifest_path"].as_str()?));
        let own = packages.iter().find(|(_, package)| path_of(package).as_deref() == Some(manifest))?.0;
        let node = metadata["resolve"]["nodes"].as_array()?.iter().find(|node| node["id"] == **own)?;
        let mut folders = BTreeMap::new();
        for dependency in node["deps"].as_array()? {
            let package = packages.get(dependency["pkg"].as_str()?)?;
            folders.insert(package["name"].as_str()?.to_owned(), path_of(package)?.parent()?.to_owned());
        }
        Some(Self { workspace: metadata["workspace_root"].as_str()?.into(), folders })
    }
}

fn metadata(manifest: &Path, host: &str, offline: bool) -> Result<Vec<u8>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command.args(["metadata", "--locked", "--format-version", "1", "--filter-platform", host, "--manifest-path"]);
    command.arg(manifest);
    if offline {
        command.arg("--offline");
    }
    let output = command.output().map_err(|why| format!("cannot start cargo: {why}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "the sources of the grammars cannot be found: `cargo metadata` says\n{}\nhint: run `cargo fetch --locked` where the \
         registry can be reached, then build again",
        said.trim_end()
    ))
}

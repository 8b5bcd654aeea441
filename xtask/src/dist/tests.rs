//! Packs a script in place of omp, and lists the licences of made-up crates.

use std::io::Read as _;

use super::licences::Crate;
use super::*;

fn version() -> ReleaseVersion {
    ReleaseVersion { name: "1.2.0".into(), seconds: 1_000_000_000, day: "2001-09-09".into() }
}

fn checkout() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for path in DOCUMENTS {
        std::fs::write(root.path().join(path), format!("this is {path}\n")).unwrap();
    }
    root
}

#[cfg(unix)]
mod packing {
    use super::*;

    fn script() -> PathBuf {
        crate::root().join("xtask/src/dist/fixtures/omp.sh")
    }

    fn package(root: &Path) -> ReleasePackage {
        let entries = entries(root, &script(), &version(), "the licences\n".to_owned()).unwrap();
        ReleasePackage { name: "omp-1.2.0-machine".into(), seconds: version().seconds, entries }
    }

    /// Path, mode, text.
    fn unpacked(file: &Path) -> Vec<(String, u32, String)> {
        let bytes = std::fs::read(file).unwrap();
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(bytes.as_slice()));
        let mut found = Vec::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let header = entry.header().clone();
            assert_eq!((header.uid().unwrap(), header.gid().unwrap(), header.mtime().unwrap()), (0, 0, 1_000_000_000));
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            found.push((entry.path().unwrap().display().to_string(), header.mode().unwrap(), text));
        }
        found
    }

    #[test]
    fn the_archive_holds_all_in_order() {
        let (root, out) = (checkout(), tempfile::tempdir().unwrap());
        let out = out.path().join("new/folder");
        let report = package(root.path()).write(&out).unwrap();
        let found = unpacked(&out.join("omp-1.2.0-machine.tar.gz"));
        let names: Vec<(&str, u32)> = found.iter().map(|(path, mode, _)| (path.as_str(), *mode)).collect();
        let want = [
            ("omp-1.2.0-machine/CHANGELOG.md", 0o644),
            ("omp-1.2.0-machine/LICENSE", 0o644),
            ("omp-1.2.0-machine/LICENSES-OF-DEPENDENCIES.txt", 0o644),
            ("omp-1.2.0-machine/README.md", 0o644),
            ("omp-1.2.0-machine/completions/_omp", 0o644),
            ("omp-1.2.0-machine/completions/omp.bash", 0o644),
            ("omp-1.2.0-machine/completions/omp.fish", 0o644),
            ("omp-1.2.0-machine/man/man1/omp.1", 0o644),
            ("omp-1.2.0-machine/omp", 0o755),
        ];
        assert_eq!(names, want);
        let text =
            |name: &str| found.iter().find(|(path, ..)| path.ends_with(name)).map(|(.., text)| text.as_str()).unwrap();
        assert_eq!(text("/omp"), std::fs::read_to_string(script()).unwrap());
        assert_eq!(text("README.md"), "this is README.md\n");
        assert_eq!(text("DEPENDENCIES.txt"), "the licences\n");
        assert_eq!(text("_omp"), "# completion for zsh\n");
        assert!(text("omp.1").contains(".SS \"omp read\"\nPrint a file\n"), "{}", text("omp.1"));
        assert!(text("omp.1").contains("(10000 columns)"), "{}", text("omp.1"));
        assert!(report.contains("completions/_omp"), "{report}");
        let mut left: Vec<_> =
            std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        left.sort();
        assert_eq!(left, ["omp-1.2.0-machine.tar.gz", "omp-1.2.0-machine.tar.gz.sha256"]);
    }

    #[test]
    fn two_runs_give_the_same_bytes_and_the_checksum_is_theirs() {
        let (root, one, two) = (checkout(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let other = checkout();
        package(root.path()).write(one.path()).unwrap();
        let mut again = package(other.path());
        again.entries.reverse();
        again.write(two.path()).unwrap();
        let read = |folder: &Path, name: &str| std::fs::read(folder.join(name)).unwrap();
        for name in ["omp-1.2.0-machine.tar.gz", "omp-1.2.0-machine.tar.gz.sha256"] {
            assert!(read(one.path(), name) == read(two.path(), name), "{name}");
        }
        let archive = "omp-1.2.0-machine.tar.gz";
        let sum = String::from_utf8(read(one.path(), "omp-1.2.0-machine.tar.gz.sha256")).unwrap();
        assert_eq!(sum, format!("{}  {archive}\n", archive::digest(&read(one.path(), archive))));
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(archive::digest(b"abc"), known);
    }

    #[test]
    fn errors_say_what_and_hint() {
        let root = checkout();
        let gone = root.path().join("omp");
        let fail = |binary: &Path| entries(root.path(), binary, &version(), String::new()).unwrap_err();
        let problem = fail(&gone);
        assert!(problem.contains("cannot read the binary") && problem.contains("hint: run dist without"), "{problem}");
        let problem = ask(root.path(), &script(), &["nonsense"]).unwrap_err();
        assert!(problem.contains("what is nonsense?") && problem.contains("hint: "), "{problem}");
        std::fs::remove_file(root.path().join("LICENSE")).unwrap();
        let problem = fail(&script());
        assert!(problem.contains("cannot read LICENSE") && problem.contains("hint: "), "{problem}");
    }
}

#[test]
fn options() {
    let parse = |words: &[&str]| Options::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
    assert_eq!(parse(&[]).unwrap(), Options::default());
    let all = Options { skip_build: true, binary: Some("b".into()), out: Some("o".into()) };
    assert_eq!(parse(&["--binary", "b", "--out", "o"]).unwrap(), all);
    assert_eq!(parse(&["--skip-build"]).unwrap(), Options { skip_build: true, ..Options::default() });
    for words in [&["--out"][..], &["--binary"], &["--fast"]] {
        let problem = parse(words).unwrap_err();
        assert!(problem.contains(words[0]) && problem.contains("\nhint: cargo run"), "{problem}");
    }
}

/// The folders of four made-up crates, and cargo's metadata of them.
fn fixture(root: &Path) -> Metadata {
    let package = |name: &str, licence: Option<&str>, kind: &str| {
        serde_json::json!({"id": name, "name": name, "version": "1.0.0", "license": licence, "license_file": null,
            "manifest_path": root.join("sources").join(name).join("Cargo.toml"), "targets": [{"kind": [kind]}],
            "metadata": (name == "omp-c").then(|| serde_json::json!({"omp": {"dev-dependencies-are-linked": true}}))})
    };
    let node = |name: &str, deps: &[(&str, Option<&str>)]| {
        let deps: Vec<_> = deps
            .iter()
            .map(|(name, kind)| serde_json::json!({"pkg": name, "dep_kinds": [{"kind": kind, "target": null}]}))
            .collect();
        serde_json::json!({"id": name, "deps": deps})
    };
    let json = serde_json::json!({
        "packages": [
            package("omp", Some("MIT"), "bin"), package("omp-own", Some("MIT"), "lib"),
            package("omp-c", Some("MIT"), "lib"), package("grammar", Some("MIT"), "lib"),
            package("plain", Some("MIT"), "lib"), package("twin", Some("MIT OR Apache-2.0"), "lib"),
            package("bare", Some("ISC"), "lib"), package("derive", Some("MIT"), "proc-macro"),
            package("parser", Some("MIT"), "lib"), package("check", Some("MIT"), "lib"), package("cc", Some("MIT"), "lib"),
        ],
        "workspace_members": ["omp", "omp-own", "omp-c"],
        "resolve": {"nodes": [
            node("omp", &[("omp-own", None), ("check", Some("dev")), ("cc", Some("build"))]),
            node("omp-own", &[("plain", None), ("derive", None), ("omp-c", None)]),
            node("omp-c", &[("grammar", Some("dev")), ("cc", Some("build"))]), node("grammar", &[("check", Some("dev"))]),
            node("plain", &[("twin", None)]), node("twin", &[("bare", None), ("plain", None)]), node("bare", &[]),
            node("derive", &[("parser", None)]), node("parser", &[]), node("check", &[]), node("cc", &[]),
        ]},
        "target_directory": root.join("target"),
    });
    for (path, text) in [
        ("plain/LICENSE", "Do as you like.\r\n"),
        ("plain/src/lib.rs", "code"),
        ("plain/vendor/NOTICE", "Some of it is old."),
        ("plain/node_modules/x/LICENSE", "Not part of it."),
        ("twin/LICENSE-MIT", "\nDo as you like.  \n\n"),
        ("twin/LICENSE-APACHE", "Do it with care."),
        ("bare/Cargo.toml", ""),
        ("grammar/Cargo.toml", ""),
    ] {
        let path = root.join("sources").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    Metadata::parse(json.to_string().as_bytes()).unwrap()
}

#[test]
fn licences_of_what_is_linked_each_text_once() {
    let root = tempfile::tempdir().unwrap();
    let crates = fixture(root.path()).linked("omp").unwrap();
    let line = "=".repeat(80);
    let want = format!(
        "Licences of the crates that are part of omp, by their SPDX expressions.\n\n\
         bare 1.0.0 - ISC - no text included\n\
         grammar 1.0.0 - MIT - no text included\n\
         plain 1.0.0 - MIT - text 1, 2\n\
         twin 1.0.0 - MIT OR Apache-2.0 - text 3, 1\n\
         \n{line}\nText 1\n\nplain 1.0.0: LICENSE\ntwin 1.0.0: LICENSE-MIT\n\nDo as you like.\n\
         \n{line}\nText 2\n\nplain 1.0.0: vendor/NOTICE\n\nSome of it is old.\n\
         \n{line}\nText 3\n\ntwin 1.0.0: LICENSE-APACHE\n\nDo it with care.\n"
    );
    assert_eq!(licences::page(&crates).unwrap(), want);
}

#[test]
fn a_crate_without_any_licence_is_an_error() {
    let nothing = Crate { name: "x".into(), version: "1.0.0".into(), licence: None, file: None, folder: None };
    let problem = licences::page(&[nothing]).unwrap_err();
    assert!(problem.contains("x 1.0.0 has neither") && problem.contains("hint: "), "{problem}");
}

#[test]
fn folders_of_the_machine_are_renamed_and_told() {
    let root = tempfile::tempdir().unwrap();
    let metadata = fixture(root.path());
    let sources = root.path().join("sources");
    let renamed = metadata.renamed_folders(Path::new("/tmp/checkout"));
    assert_eq!(renamed.last().unwrap(), &(sources.clone(), "dependencies"));
    let command = build_command(root.path(), &metadata, "machine");
    let words: Vec<String> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
    let is_portable = command.get_envs().any(|(name, value)| name == "OMP_PORTABLE" && value.is_some());
    assert!(is_portable, "systems with an older C library could not start it");
    assert_eq!(words[..7], ["build", "--offline", "--locked", "--profile", "dist", "-p", "omp"]);
    let flags: toml::Table = words[8].parse().unwrap();
    let flags = flags["target"]["machine"]["rustflags"].as_array().unwrap();
    let want = format!("--remap-path-prefix={}=dependencies", sources.display());
    assert_eq!(flags.last().unwrap().as_str().unwrap(), want);
    let bytes = format!("a {0}/plain/src/lib.rs b {0}/twin", sources.display()).into_bytes();
    let entries = vec![ArchiveFile { path: "omp".into(), bytes, is_program: true }];
    let mut package = ReleasePackage { name: "omp".into(), seconds: 0, entries };
    let told = told_folders(&package, &metadata);
    assert!(told.contains("omp names") && told.contains("2 times") && told.contains("\nhint: "), "{told}");
    package.entries[0].bytes = b"dependencies/plain".to_vec();
    assert_eq!(told_folders(&package, &metadata), "");
}

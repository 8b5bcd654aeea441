//! Compiles the grammars without their parse tables, and writes the tables compressed beside them.
//!
//! The tables of 29 grammars take 38 MB and are nearly all zero; compressed they take 2 MB. Compilers are also slow with
//! them, which is why they are read from the text of `parser.c` and the C compiler never sees them.

#![expect(clippy::disallowed_methods, reason = "cargo describes the build by environment variables")]

#[path = "src/list.rs"]
mod list;
#[path = "build/sources.rs"]
mod sources;
#[path = "build/tables.rs"]
mod tables;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

use list::{GrammarSource, SOURCES};
use sources::PackageFolders;
use tables::{ParserText, Tables};

/// Higher levels save 0.3 MB of all tables and take 25 times as long.
const LEVEL: i32 = 9;

#[expect(clippy::print_stderr, reason = "cargo shows it to whoever builds")]
fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    for path in ["build.rs", "build", "src/list.rs"] {
        println!("cargo:rerun-if-changed={path}");
    }
    let out = PathBuf::from(variable("OUT_DIR")?);
    let folders = PackageFolders::ask(Path::new(&variable("CARGO_MANIFEST_DIR")?), &variable("HOST")?)?;
    println!("cargo:rerun-if-changed={}", folders.lockfile().display());
    let compiler = compiler(&variable("PROFILE")?);
    let built = build_all(&folders, &compiler, &out)?;

    let mut library = compiler;
    library.objects(built.iter().flat_map(|grammar| &grammar.objects));
    library.try_compile("omp-grammars").map_err(|why| format!("cannot link the grammars: {why}"))?;
    write(&out.join("packed.rs"), packed_list(&built)?.as_bytes())
}

fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|why| format!("{name}: {why}\nhint: cargo sets it; run this by `cargo build`"))
}

/// The compiler as the grammar crates themselves would use it.
fn compiler(profile: &str) -> cc::Build {
    let mut compiler = cc::Build::new();
    compiler.std("c11").warnings(false).debug(false);
    compiler.opt_level_str(if profile == "release" { "s" } else { "0" });
    if env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|env| env == "msvc") {
        compiler.flag("-utf-8");
    }
    compiler
}

struct BuiltGrammar {
    source: &'static GrammarSource,
    /// Numbers of entries, not of bytes.
    lengths: [usize; 3],
    packed: PathBuf,
    objects: Vec<PathBuf>,
}

/// Builds as many grammars at once as cargo allows jobs.
fn build_all(folders: &PackageFolders, compiler: &cc::Build, out: &Path) -> Result<Vec<BuiltGrammar>, String> {
    let jobs = env::var("NUM_JOBS").ok().and_then(|jobs| jobs.parse().ok()).unwrap_or(1).clamp(1, SOURCES.len());
    let renames_paths = compiler.is_flag_supported("-fmacro-prefix-map=a=b").unwrap_or(false);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut built = Vec::new();
        while let Some(source) = SOURCES.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut compiler = compiler.clone();
            let folder = folders.of(source.package)?;
            if renames_paths {
                // Assertions of scanners name their file, and the path of this machine is nobody's business.
                compiler.flag(format!("-fmacro-prefix-map={}={}", folder.display(), source.package));
            }
            built.push(build(source, &folder.join(source.folder), compiler, &out.join(source.function))?);
        }
        Ok(built)
    };
    let built: Result<Vec<Vec<BuiltGrammar>>, String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        let ended = workers.into_iter().map(|worker| worker.join().map_err(|_| "a worker panicked".to_owned())?);
        ended.collect()
    });
    let mut built: Vec<BuiltGrammar> = built?.into_iter().flatten().collect();
    built.sort_by_key(|grammar| grammar.source.grammar as usize);
    Ok(built)
}

fn build(
    source: &'static GrammarSource,
    folder: &Path,
    mut compiler: cc::Build,
    out: &Path,
) -> Result<BuiltGrammar, String> {
    let parser = folder.join("parser.c");
    let failed = |why: String| {
        format!(
            "{} cannot be taken apart: {why}\nhint: build.rs reads what the tree-sitter CLI writes; compare with an \
             older version of `{}`",
            parser.display(),
            source.package
        )
    };
    let text = fs::read_to_string(&parser).map_err(|why| failed(why.to_string()))?;
    let text = ParserText::parse(&text).map_err(failed)?;
    let tables = text.tables().map_err(failed)?;
    let rest = text.without_tables(source.function, &fill_function(source)).map_err(failed)?;

    fs::create_dir_all(out).map_err(|why| format!("cannot make {}: {why}", out.display()))?;
    let (stub, packed) = (out.join("parser.c"), out.join("tables.zst"));
    write(&stub, rest.as_bytes())?;
    let bytes = zstd::bulk::compress(&tables.to_bytes(), LEVEL).map_err(|why| failed(why.to_string()))?;
    write(&packed, &bytes)?;

    // Under another name than in the grammar's own crate: tests link both. They share one scanner, which is the same.
    compiler.define(source.function, own_name(source).as_str());
    compiler.include(folder).file(&stub).out_dir(out);
    let scanner = folder.join("scanner.c");
    if scanner.exists() {
        compiler.file(scanner);
    }
    let objects =
        compiler.try_compile_intermediates().map_err(|why| format!("cannot compile {}: {why}", source.package))?;
    let Tables { large, small, map } = &tables;
    Ok(BuiltGrammar { source, lengths: [large.len(), small.len(), map.len()], packed, objects })
}

fn own_name(source: &GrammarSource) -> String {
    format!("omp_{}", source.function)
}

fn fill_function(source: &GrammarSource) -> String {
    format!("omp_fill_{}", source.function)
}

/// The Rust side: an entry for every grammar, in their order.
fn packed_list(built: &[BuiltGrammar]) -> Result<String, String> {
    let mut functions = String::new();
    let mut entries = String::new();
    for (at, BuiltGrammar { source, lengths: [large, small, map], packed, .. }) in built.iter().enumerate() {
        if source.grammar as usize != at {
            return Err(format!("{:?} is not at its place in src/list.rs", source.grammar));
        }
        let (language, fill) = (own_name(source), fill_function(source));
        // Writing to a string cannot fail.
        let _ = writeln!(functions, "    fn {language}() -> *const ();");
        let _ = writeln!(functions, "    fn {fill}(large: *const u16, small: *const u16, map: *const u32);");
        let _ = writeln!(
            entries,
            "    PackedGrammar {{ tables: include_bytes!({packed:?}), large: {large}, small: {small}, map: {map}, \
             language: {language}, fill: {fill} }},"
        );
    }
    let count = built.len();
    Ok(format!("unsafe extern \"C\" {{\n{functions}}}\n\nstatic PACKED: [PackedGrammar; {count}] = [\n{entries}];\n"))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(path, bytes).map_err(|why| format!("cannot write {}: {why}", path.display()))
}

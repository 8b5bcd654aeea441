//! Every grammar is the same as in its own crate: its tables entry by entry, its names, and the trees it makes.

mod samples;
#[path = "../../build/tables.rs"]
mod tables;

use omp_grammars::{Grammar, SOURCES};
use samples::SAMPLES;
use tree_sitter::{Language, Parser};
use tree_sitter_language::LanguageFn;

/// The grammars of the crates, with tables that the C compiler laid out.
const ORIGINALS: [(Grammar, LanguageFn); 29] = [
    (Grammar::Bash, tree_sitter_bash::LANGUAGE),
    (Grammar::C, tree_sitter_c::LANGUAGE),
    (Grammar::Cpp, tree_sitter_cpp::LANGUAGE),
    (Grammar::CSharp, tree_sitter_c_sharp::LANGUAGE),
    (Grammar::Css, tree_sitter_css::LANGUAGE),
    (Grammar::Dart, tree_sitter_dart::LANGUAGE),
    (Grammar::Elixir, tree_sitter_elixir::LANGUAGE),
    (Grammar::Go, tree_sitter_go::LANGUAGE),
    (Grammar::Haskell, tree_sitter_haskell::LANGUAGE),
    (Grammar::Hcl, tree_sitter_hcl::LANGUAGE),
    (Grammar::Html, tree_sitter_html::LANGUAGE),
    (Grammar::Java, tree_sitter_java::LANGUAGE),
    (Grammar::JavaScript, tree_sitter_javascript::LANGUAGE),
    (Grammar::Json, tree_sitter_json::LANGUAGE),
    (Grammar::Kotlin, tree_sitter_kotlin_sg::LANGUAGE),
    (Grammar::Lua, tree_sitter_lua::LANGUAGE),
    (Grammar::Markdown, tree_sitter_md::LANGUAGE),
    (Grammar::Nix, tree_sitter_nix::LANGUAGE),
    (Grammar::Php, tree_sitter_php::LANGUAGE_PHP_ONLY),
    (Grammar::Python, tree_sitter_python::LANGUAGE),
    (Grammar::Ruby, tree_sitter_ruby::LANGUAGE),
    (Grammar::Rust, tree_sitter_rust::LANGUAGE),
    (Grammar::Scala, tree_sitter_scala::LANGUAGE),
    (Grammar::Solidity, tree_sitter_solidity::LANGUAGE),
    (Grammar::Swift, tree_sitter_swift::LANGUAGE),
    (Grammar::Tsx, tree_sitter_typescript::LANGUAGE_TSX),
    (Grammar::TypeScript, tree_sitter_typescript::LANGUAGE_TYPESCRIPT),
    (Grammar::Yaml, tree_sitter_yaml::LANGUAGE),
    (Grammar::Zig, tree_sitter_zig::LANGUAGE),
];

/// How `TSLanguage` begins, in every version.
#[repr(C)]
struct LanguageHead {
    abi_version: u32,
    symbol_count: u32,
    alias_count: u32,
    token_count: u32,
    external_token_count: u32,
    state_count: u32,
    large_state_count: u32,
    production_id_count: u32,
    field_count: u32,
    max_alias_sequence_length: u16,
    parse_table: *const u16,
    small_parse_table: *const u16,
    small_parse_table_map: *const u32,
}

struct LanguageTables<'a> {
    counts: [u32; 9],
    large: &'a [u16],
    small: &'a [u16],
    map: &'a [u32],
}

fn tables_of(language: LanguageFn) -> LanguageTables<'static> {
    // SAFETY: the function returns a language that lives as long as the process, and the counts tell the lengths.
    unsafe {
        let head = &*language.into_raw()().cast::<LanguageHead>();
        let large_states = head.large_state_count as usize;
        let large = std::slice::from_raw_parts(head.parse_table, large_states * head.symbol_count as usize);
        let map = std::slice::from_raw_parts(head.small_parse_table_map, head.state_count as usize - large_states);
        // No field tells the length of the lists: it is where the last one ends.
        let at = |index: usize| *head.small_parse_table.add(index);
        let end_of = |start: u32| {
            let start = start as usize;
            (0..at(start)).fold(start + 1, |at_group, _| at_group + 2 + at(at_group + 1) as usize)
        };
        let length = map.iter().map(|start| end_of(*start)).max().unwrap_or_default();
        let small = std::slice::from_raw_parts(head.small_parse_table, length);
        let counts = [
            head.abi_version,
            head.symbol_count,
            head.alias_count,
            head.token_count,
            head.external_token_count,
            head.state_count,
            head.production_id_count,
            head.field_count,
            head.max_alias_sequence_length.into(),
        ];
        LanguageTables { counts, large, small, map }
    }
}

#[test]
fn every_table_is_that_of_the_crate() {
    assert!(Grammar::all().eq(ORIGINALS.iter().map(|(grammar, _)| *grammar)));
    for (grammar, original) in ORIGINALS {
        let (want, got) = (tables_of(original), tables_of(grammar.language()));
        assert_eq!(got.counts, want.counts, "{grammar:?}");
        // Not by `assert_eq!`, which would print millions of numbers.
        assert!(got.large == want.large, "{grammar:?}: another ts_parse_table");
        assert!(got.small == want.small, "{grammar:?}: another ts_small_parse_table");
        assert!(got.map == want.map, "{grammar:?}: another ts_small_parse_table_map");
        assert!(want.large.len() > 50 && want.small.len() > 100, "{grammar:?}: that is no grammar");
    }
}

#[test]
fn every_name_is_that_of_the_crate() {
    for (grammar, original) in ORIGINALS {
        let (got, want) = (Language::new(grammar.language()), Language::new(original));
        assert_eq!(got.name(), want.name(), "{grammar:?}");
        assert_eq!((got.node_kind_count(), got.field_count()), (want.node_kind_count(), want.field_count()));
        for id in 0..want.node_kind_count() as u16 {
            let about = |language: &Language| {
                let kind = language.node_kind_for_id(id).map(str::to_owned);
                (kind, language.node_kind_is_named(id), language.node_kind_is_visible(id))
            };
            assert_eq!(about(&got), about(&want), "{grammar:?}");
        }
        for id in 0..=want.field_count() as u16 {
            assert_eq!(got.field_name_for_id(id), want.field_name_for_id(id), "{grammar:?}");
        }
    }
}

/// Each grammar with code of its own language, and with that of all others, which makes it recover from errors.
#[test]
fn every_tree_is_that_of_the_crate() {
    assert!(Grammar::all().eq(SAMPLES.iter().map(|(grammar, _)| *grammar)));
    let mut parser = Parser::new();
    let mut tree = |language: &Language, code: &str| {
        parser.set_language(language).unwrap();
        parser.parse(code, None).unwrap().root_node().to_sexp()
    };
    for (grammar, original) in ORIGINALS {
        let (packed, original) = (Language::new(grammar.language()), Language::new(original));
        for (of, code) in SAMPLES {
            let got = tree(&packed, code);
            assert_eq!(got, tree(&original, code), "{grammar:?} for code in {of:?}");
            assert!(of != grammar || !got.contains("ERROR"), "{grammar:?}: {got}");
        }
    }
}

#[test]
fn threads_may_ask_at_the_same_time() {
    let asked: Vec<usize> = std::thread::scope(|scope| {
        let ask = || {
            let mut parser = Parser::new();
            parser.set_language(&Language::new(Grammar::Kotlin.language())).unwrap();
            parser.parse("fun main() { println(1) }", None).unwrap().root_node().descendant_count()
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(asked[0] > 5 && asked.iter().all(|count| *count == asked[0]), "{asked:?}");
}

#[test]
fn the_list_is_in_order() {
    for (at, source) in SOURCES.iter().enumerate() {
        assert_eq!(source.grammar as usize, at, "{:?}", source.grammar);
    }
}

//! The grammars, and where the source of each lies. `build.rs` reads this list as well.

/// A language whose parser is part of omp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Grammar {
    Bash,
    C,
    Cpp,
    CSharp,
    Css,
    Dart,
    Elixir,
    Go,
    Haskell,
    Hcl,
    Html,
    Java,
    JavaScript,
    Json,
    Kotlin,
    Lua,
    Markdown,
    Nix,
    Php,
    Python,
    Ruby,
    Rust,
    Scala,
    Solidity,
    Swift,
    Tsx,
    TypeScript,
    Yaml,
    Zig,
}

pub struct GrammarSource {
    pub grammar: Grammar,
    /// The crate that holds the source: a dev-dependency, so that cargo fetches it and compiles it for tests only.
    pub package: &'static str,
    /// The folder of `parser.c` in it.
    pub folder: &'static str,
    /// The C function of `parser.c` that returns the language.
    pub function: &'static str,
}

/// In the order of [`Grammar`].
pub const SOURCES: &[GrammarSource] = &[
    source(Grammar::Bash, "tree-sitter-bash", "src", "tree_sitter_bash"),
    source(Grammar::C, "tree-sitter-c", "src", "tree_sitter_c"),
    source(Grammar::Cpp, "tree-sitter-cpp", "src", "tree_sitter_cpp"),
    source(Grammar::CSharp, "tree-sitter-c-sharp", "src", "tree_sitter_c_sharp"),
    source(Grammar::Css, "tree-sitter-css", "src", "tree_sitter_css"),
    source(Grammar::Dart, "tree-sitter-dart", "src", "tree_sitter_dart"),
    source(Grammar::Elixir, "tree-sitter-elixir", "src", "tree_sitter_elixir"),
    source(Grammar::Go, "tree-sitter-go", "src", "tree_sitter_go"),
    source(Grammar::Haskell, "tree-sitter-haskell", "src", "tree_sitter_haskell"),
    source(Grammar::Hcl, "tree-sitter-hcl", "src", "tree_sitter_hcl"),
    source(Grammar::Html, "tree-sitter-html", "src", "tree_sitter_html"),
    source(Grammar::Java, "tree-sitter-java", "src", "tree_sitter_java"),
    source(Grammar::JavaScript, "tree-sitter-javascript", "src", "tree_sitter_javascript"),
    source(Grammar::Json, "tree-sitter-json", "src", "tree_sitter_json"),
    source(Grammar::Kotlin, "tree-sitter-kotlin-sg", "src", "tree_sitter_kotlin"),
    source(Grammar::Lua, "tree-sitter-lua", "src", "tree_sitter_lua"),
    source(Grammar::Markdown, "tree-sitter-md", "tree-sitter-markdown/src", "tree_sitter_markdown"),
    source(Grammar::Nix, "tree-sitter-nix", "src", "tree_sitter_nix"),
    source(Grammar::Php, "tree-sitter-php", "php_only/src", "tree_sitter_php_only"),
    source(Grammar::Python, "tree-sitter-python", "src", "tree_sitter_python"),
    source(Grammar::Ruby, "tree-sitter-ruby", "src", "tree_sitter_ruby"),
    source(Grammar::Rust, "tree-sitter-rust", "src", "tree_sitter_rust"),
    source(Grammar::Scala, "tree-sitter-scala", "src", "tree_sitter_scala"),
    source(Grammar::Solidity, "tree-sitter-solidity", "src", "tree_sitter_solidity"),
    source(Grammar::Swift, "tree-sitter-swift", "src", "tree_sitter_swift"),
    source(Grammar::Tsx, "tree-sitter-typescript", "tsx/src", "tree_sitter_tsx"),
    source(Grammar::TypeScript, "tree-sitter-typescript", "typescript/src", "tree_sitter_typescript"),
    source(Grammar::Yaml, "tree-sitter-yaml", "src", "tree_sitter_yaml"),
    source(Grammar::Zig, "tree-sitter-zig", "src", "tree_sitter_zig"),
];

const fn source(
    grammar: Grammar,
    package: &'static str,
    folder: &'static str,
    function: &'static str,
) -> GrammarSource {
    GrammarSource { grammar, package, folder, function }
}

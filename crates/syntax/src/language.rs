//! Detects the language of a file, and lists the supported ones.

use std::borrow::Cow;
use std::path::Path;

use ast_grep_core::matcher::PatternBuilder;
use ast_grep_core::meta_var::MetaVariable;
use ast_grep_core::tree_sitter::{LanguageExt, StrDoc};
use ast_grep_core::{Language as _, Pattern, PatternError};
use ast_grep_language::SupportLang;
use omp_grammars::Grammar;

/// A language that can be parsed. `ast-grep-language` knows how its patterns are written, `omp-grammars` its grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Language(SupportLang);

impl Language {
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        SupportLang::all_langs().iter().copied().map(Self)
    }

    /// Returns the name used in arguments and messages.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(language, _)| *language == self.0).map_or("", |(_, name)| name)
    }

    /// Finds a language by a common name: `rust`, `rs`, `c++`, `C#`.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.trim().to_ascii_lowercase();
        let known = || NAMES.iter().find(|(_, known)| *known == name).map(|(language, _)| *language);
        let other = || OTHER_NAMES.iter().find(|(other, _)| *other == name).map(|(_, language)| *language);
        name.parse().ok().or_else(known).or_else(other).map(Self)
    }

    /// Finds a language by extension or, for files without one, by file name.
    pub fn from_path(path: &Path) -> Option<Self> {
        if let Some(found) = SupportLang::from_path(path) {
            return Some(Self(found));
        }
        let name = path.file_name()?.to_str()?;
        let by_name = FILE_NAMES.iter().find(|(known, _)| *known == name);
        let extension = path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
        let by_extension = || {
            let extension = extension.as_deref()?;
            let lower = SupportLang::from_path(Path::new(&format!("x.{extension}")));
            lower.or_else(|| EXTENSIONS.iter().find(|(known, _)| *known == extension).map(|(_, found)| *found))
        };
        by_name.map(|(_, found)| *found).or_else(by_extension).map(Self)
    }

    /// Finds a language by path, else by the interpreter in a script's first line.
    pub fn detect(path: &Path, source: &str) -> Option<Self> {
        Self::from_path(path).or_else(|| Self::from_shebang(source.lines().next()?))
    }

    fn from_shebang(line: &str) -> Option<Self> {
        let command = line.strip_prefix("#!")?;
        let mut words = command.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
        let mut program = words.next()?;
        if program == "env" {
            program = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
        }
        // python3.12 is python.
        let program = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        INTERPRETERS.iter().find(|(known, _)| *known == program).map(|(_, found)| Self(*found))
    }

    /// Returns whether it is a language for prose rather than code.
    pub fn is_prose(self) -> bool {
        self.0 == SupportLang::Markdown
    }

    /// Returns the code to put around a statement or an expression, where it cannot stand alone in a file.
    pub(crate) fn functions(self) -> &'static [(&'static str, &'static str)] {
        match self.0 {
            L::Go => &[("package p\nfunc f() {\n", "\n}\n")],
            L::C | L::Cpp | L::Dart => &[("void f() {\n", "\n}\n"), ("void f() {\n", ";\n}\n")],
            L::Solidity => &[
                ("contract C { function f() public {\n", "\n} }\n"),
                ("contract C { function f() public {\n", ";\n} }\n"),
            ],
            _ => &[],
        }
    }

    fn grammar(self) -> Grammar {
        match self.0 {
            L::Bash => Grammar::Bash,
            L::C => Grammar::C,
            L::Cpp => Grammar::Cpp,
            L::CSharp => Grammar::CSharp,
            L::Css => Grammar::Css,
            L::Dart => Grammar::Dart,
            L::Elixir => Grammar::Elixir,
            L::Go => Grammar::Go,
            L::Haskell => Grammar::Haskell,
            L::Hcl => Grammar::Hcl,
            L::Html => Grammar::Html,
            L::Java => Grammar::Java,
            L::JavaScript => Grammar::JavaScript,
            L::Json => Grammar::Json,
            L::Kotlin => Grammar::Kotlin,
            L::Lua => Grammar::Lua,
            L::Markdown => Grammar::Markdown,
            L::Nix => Grammar::Nix,
            L::Php => Grammar::Php,
            L::Python => Grammar::Python,
            L::Ruby => Grammar::Ruby,
            L::Rust => Grammar::Rust,
            L::Scala => Grammar::Scala,
            L::Solidity => Grammar::Solidity,
            L::Swift => Grammar::Swift,
            L::Tsx => Grammar::Tsx,
            L::TypeScript => Grammar::TypeScript,
            L::Yaml => Grammar::Yaml,
            L::Zig => Grammar::Zig,
        }
    }
}

/// The methods of [`SupportLang`] that need a grammar would panic: omp builds it without any.
impl ast_grep_core::Language for Language {
    fn pre_process_pattern<'q>(&self, query: &'q str) -> Cow<'q, str> {
        self.0.pre_process_pattern(query)
    }

    fn meta_var_char(&self) -> char {
        self.0.meta_var_char()
    }

    fn expando_char(&self) -> char {
        self.0.expando_char()
    }

    fn extract_meta_var(&self, source: &str) -> Option<MetaVariable> {
        self.0.extract_meta_var(source)
    }

    fn kind_to_id(&self, kind: &str) -> u16 {
        self.get_ts_language().id_for_node_kind(kind, true)
    }

    fn field_to_id(&self, field: &str) -> Option<u16> {
        self.get_ts_language().field_id_for_name(field).map(std::num::NonZero::get)
    }

    fn build_pattern(&self, builder: &PatternBuilder) -> Result<Pattern, PatternError> {
        builder.build(|source| StrDoc::try_new(source, *self))
    }
}

impl LanguageExt for Language {
    fn get_ts_language(&self) -> tree_sitter::Language {
        tree_sitter::Language::new(self.grammar().language())
    }
}

impl std::fmt::Display for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

use SupportLang as L;

const NAMES: &[(SupportLang, &str)] = &[
    (L::Bash, "bash"),
    (L::C, "c"),
    (L::Cpp, "cpp"),
    (L::CSharp, "csharp"),
    (L::Css, "css"),
    (L::Dart, "dart"),
    (L::Elixir, "elixir"),
    (L::Go, "go"),
    (L::Haskell, "haskell"),
    (L::Hcl, "hcl"),
    (L::Html, "html"),
    (L::Java, "java"),
    (L::JavaScript, "javascript"),
    (L::Json, "json"),
    (L::Kotlin, "kotlin"),
    (L::Lua, "lua"),
    (L::Markdown, "markdown"),
    (L::Nix, "nix"),
    (L::Php, "php"),
    (L::Python, "python"),
    (L::Ruby, "ruby"),
    (L::Rust, "rust"),
    (L::Scala, "scala"),
    (L::Solidity, "solidity"),
    (L::Swift, "swift"),
    (L::Tsx, "tsx"),
    (L::TypeScript, "typescript"),
    (L::Yaml, "yaml"),
    (L::Zig, "zig"),
];

const OTHER_NAMES: &[(&str, SupportLang)] = &[
    ("c#", L::CSharp),
    ("sh", L::Bash),
    ("shell", L::Bash),
    ("terraform", L::Hcl),
    ("tf", L::Hcl),
    ("mjs", L::JavaScript),
    ("htm", L::Html),
];

/// Extensions in addition to those that the grammars list.
const EXTENSIONS: &[(&str, SupportLang)] = &[
    ("hxx", L::Cpp),
    ("h++", L::Cpp),
    ("ipp", L::Cpp),
    ("pyw", L::Python),
    ("rake", L::Ruby),
    ("ru", L::Ruby),
    ("podspec", L::Ruby),
    ("phtml", L::Php),
    ("jsonc", L::Json),
    ("geojson", L::Json),
    ("webmanifest", L::Json),
    ("es6", L::JavaScript),
    ("mdown", L::Markdown),
    ("mkd", L::Markdown),
];

const FILE_NAMES: &[(&str, SupportLang)] = &[
    (".bashrc", L::Bash),
    (".bash_profile", L::Bash),
    (".profile", L::Bash),
    (".zshrc", L::Bash),
    ("PKGBUILD", L::Bash),
    ("Gemfile", L::Ruby),
    ("Rakefile", L::Ruby),
    ("Podfile", L::Ruby),
    ("Vagrantfile", L::Ruby),
    ("Brewfile", L::Ruby),
    ("SConstruct", L::Python),
    ("BUILD", L::Python),
    ("WORKSPACE", L::Python),
    ("flake.lock", L::Json),
    ("composer.lock", L::Json),
    (".babelrc", L::Json),
    (".eslintrc", L::Json),
    (".prettierrc", L::Json),
    (".clang-format", L::Yaml),
];

const INTERPRETERS: &[(&str, SupportLang)] = &[
    ("sh", L::Bash),
    ("bash", L::Bash),
    ("dash", L::Bash),
    ("zsh", L::Bash),
    ("ksh", L::Bash),
    ("python", L::Python),
    ("pypy", L::Python),
    ("uv", L::Python),
    ("ruby", L::Ruby),
    ("node", L::JavaScript),
    ("nodejs", L::JavaScript),
    ("deno", L::TypeScript),
    ("bun", L::TypeScript),
    ("ts-node", L::TypeScript),
    ("tsx", L::TypeScript),
    ("php", L::Php),
    ("lua", L::Lua),
    ("luajit", L::Lua),
    ("elixir", L::Elixir),
    ("runhaskell", L::Haskell),
    ("runghc", L::Haskell),
    ("scala", L::Scala),
    ("swift", L::Swift),
    ("kotlin", L::Kotlin),
    ("dart", L::Dart),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, source: &str, expect: &str) {
        let found = Language::detect(Path::new(path), source);
        assert_eq!(found.map_or("-", Language::name), expect, "{path}");
    }

    #[test]
    fn by_path_and_by_shebang() {
        check("src/main.rs", "", "rust");
        check("A.JAVA", "", "java");
        check("x.tsx", "", "tsx");
        check("Gemfile", "", "ruby");
        check("a/.bashrc", "", "bash");
        check("x.hxx", "", "cpp");
        check("data.geojson", "", "json");
        check("run", "#!/usr/bin/env -S python3.12 -u\n", "python");
        check("run", "#!/bin/sh\n", "bash");
        check("run", "#!/usr/bin/env FOO=1 node\n", "javascript");
        check("run", "#!/usr/bin/perl\n", "-");
        check("run", "#!/usr/bin/env\n", "-");
        check("run", "", "-");
        check("notes.txt", "text", "-");
        check("x.lua", "#!/bin/sh\n", "lua");
    }

    #[test]
    fn every_language_has_a_name_that_leads_back() {
        assert!(Language::all().len() >= 25);
        for language in Language::all() {
            assert!(!language.name().is_empty(), "{language:?}");
            assert_eq!(Language::from_name(language.name()), Some(language));
        }
        for (name, expect) in
            [("C#", "csharp"), ("C++", "cpp"), (" Py ", "python"), ("sh", "bash"), ("ts", "typescript")]
        {
            assert_eq!(Language::from_name(name).map_or("-", Language::name), expect);
        }
        assert_eq!(Language::from_name("cobol"), None);
    }
}

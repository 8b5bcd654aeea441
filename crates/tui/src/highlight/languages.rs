//! The table of known languages.

use super::language::{HighlightLanguage, HighlightMode, Quirks, Quote};

const fn quote(mark: &'static str) -> Quote {
    Quote { open: mark, close: mark, escapes: true, lines: false }
}

const fn lines(mark: &'static str) -> Quote {
    Quote { open: mark, close: mark, escapes: true, lines: true }
}

const fn verbatim(open: &'static str, close: &'static str) -> Quote {
    Quote { open, close, escapes: false, lines: true }
}

const DOUBLE: &[Quote] = &[quote("\"")];
const BOTH: &[Quote] = &[quote("\""), quote("'")];
const BOTH_OVER_LINES: &[Quote] = &[lines("\""), lines("'")];
const SCRIPT: &[Quote] = &[quote("\""), quote("'"), lines("`")];
const TRIPLE: &[Quote] = &[lines("\"\"\""), quote("\""), quote("'")];
const PYTHON: &[Quote] = &[lines("\"\"\""), lines("'''"), quote("\""), quote("'")];
const TOML: &[Quote] = &[lines("\"\"\""), verbatim("'''", "'''"), quote("\""), quote("'")];
const SHELL: &[Quote] = &[lines("\""), verbatim("'", "'")];
const GO: &[Quote] = &[quote("\""), quote("'"), verbatim("`", "`")];
const CSHARP: &[Quote] = &[lines("\"\"\""), verbatim("@\"", "\""), quote("\""), quote("'")];
const SQL: &[Quote] = &[verbatim("'", "'"), quote("\""), quote("`")];
const POWERSHELL: &[Quote] = &[verbatim("@\"", "\"@"), verbatim("@'", "'@"), quote("\""), verbatim("'", "'")];

const SLASHES: &[&str] = &["//"];
const HASH: &[&str] = &["#"];
const STARS: &[(&str, &str)] = &[("/*", "*/")];

const CODE: HighlightLanguage = HighlightLanguage {
    names: "",
    line_comments: SLASHES,
    block_comments: STARS,
    strings: BOTH,
    keywords: "",
    types: "",
    word_chars: "",
    mode: HighlightMode::Code,
    quirks: 0,
};

const SCRIPT_WORDS: &str = "abstract as async await break case catch class const continue debugger declare default \
    delete do else enum export extends false finally for from function get if implements import in infer instanceof \
    interface is keyof let module namespace new null of override private protected public readonly return satisfies set \
    static super switch this throw true try type typeof undefined var void while with yield";
const SCRIPT_TYPES: &str = "any bigint boolean never number object string symbol unknown";
const C_WORDS: &str = "alignas alignof auto break case const constexpr continue default define do elif else endif enum \
    error extern false for goto if ifdef ifndef include inline line nullptr pragma register restrict return sizeof static \
    static_assert struct switch thread_local true typedef typeof undef union volatile while NULL";
const C_TYPES: &str = "bool char double float int int16_t int32_t int64_t int8_t intptr_t long ptrdiff_t short signed \
    size_t ssize_t uint16_t uint32_t uint64_t uint8_t uintptr_t unsigned void wchar_t";
const CPP_WORDS: &str = "alignas alignof and auto break case catch class co_await co_return co_yield concept const \
    const_cast consteval constexpr constinit continue decltype default define delete do dynamic_cast elif else endif enum \
    explicit export extern false final for friend goto if ifdef ifndef import include inline module mutable namespace new \
    noexcept not nullptr operator or override pragma private protected public register reinterpret_cast requires return \
    sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef typeid \
    typename undef union using virtual volatile while NULL";

const CAPITALS: u32 = Quirks::CAPITAL_TYPES;

pub static LANGUAGES: &[HighlightLanguage] = &[
    HighlightLanguage {
        names: "rust rs",
        strings: &[lines("\"")],
        keywords: "as async await break const continue crate dyn else enum extern false fn for if impl in let \
            loop macro_rules match mod move mut pub ref return self static struct super trait true \
            type union unsafe use where while yield",
        types: "Self bool char f32 f64 i128 i16 i32 i64 i8 isize str u128 u16 u32 u64 u8 usize",
        quirks: Quirks::NESTED | Quirks::LIFETIMES | Quirks::RAW_HASHES | Quirks::BANG_WORDS | CAPITALS,
        ..CODE
    },
    HighlightLanguage { names: "c h", keywords: C_WORDS, types: C_TYPES, word_chars: "#", quirks: 0, ..CODE },
    HighlightLanguage {
        names: "cpp c++ cc cxx hpp hh hxx cuda cu ino",
        keywords: CPP_WORDS,
        types: C_TYPES,
        word_chars: "#",
        quirks: Quirks::RAW_PARENS | CAPITALS,
        ..CODE
    },
    HighlightLanguage {
        names: "cs csharp c#",
        strings: CSHARP,
        keywords: "abstract as async await base break case catch checked class const continue default \
            delegate do else enum event explicit extern false finally fixed for foreach get goto if \
            implicit in init interface internal is lock namespace new null operator out override \
            params private protected public readonly record ref return sealed set sizeof stackalloc \
            static struct switch this throw true try typeof unchecked unsafe using var virtual \
            volatile when where while with yield",
        types: "bool byte char decimal double dynamic float int long nint object sbyte short string uint \
            ulong ushort void",
        quirks: CAPITALS,
        ..CODE
    },
    HighlightLanguage {
        names: "java",
        strings: TRIPLE,
        keywords: "abstract assert break case catch class const continue default do else enum extends false \
            final finally for goto if implements import instanceof interface native new non-sealed \
            null package permits private protected public record return sealed static strictfp super \
            switch synchronized this throw throws transient true try var void volatile while yield",
        types: "boolean byte char double float int long short",
        quirks: Quirks::SIGILS | CAPITALS,
        ..CODE
    },
    HighlightLanguage {
        names: "kotlin kt kts",
        strings: TRIPLE,
        keywords: "abstract actual annotation as break by catch class companion const constructor continue \
            crossinline data do dynamic else enum expect external false final finally for fun get if \
            import in infix init inline inner interface internal is it lateinit noinline null object \
            open operator out override package private protected public reified return sealed set \
            super suspend tailrec this throw true try typealias val var vararg when where while",
        quirks: Quirks::NESTED | Quirks::SIGILS | CAPITALS,
        ..CODE
    },
    HighlightLanguage {
        names: "swift",
        strings: TRIPLE,
        keywords: "actor as associatedtype async await break case catch class continue convenience default \
            defer deinit do dynamic else enum extension fallthrough false fileprivate final for func \
            get guard if import in indirect init inout internal is lazy let mutating nil nonisolated \
            open operator override precedencegroup private protocol public repeat required rethrows \
            return self set some static struct subscript super switch throw throws true try typealias \
            unowned var weak where while",
        types: "Any Self",
        quirks: Quirks::NESTED | Quirks::SIGILS | CAPITALS,
        ..CODE
    },
    HighlightLanguage {
        names: "go golang",
        strings: GO,
        keywords: "break case chan const continue default defer else fallthrough false for func go goto if \
            import interface iota map nil package range return select struct switch true type var",
        types: "any bool byte comparable complex128 complex64 error float32 float64 int int16 int32 int64 \
            int8 rune string uint uint16 uint32 uint64 uint8 uintptr",
        ..CODE
    },
    HighlightLanguage {
        names: "js javascript mjs cjs jsx node",
        strings: SCRIPT,
        keywords: SCRIPT_WORDS,
        word_chars: "$",
        quirks: CAPITALS,
        ..CODE
    },
    HighlightLanguage {
        names: "ts typescript mts cts tsx",
        strings: SCRIPT,
        keywords: SCRIPT_WORDS,
        types: SCRIPT_TYPES,
        word_chars: "$",
        quirks: Quirks::SIGILS | CAPITALS,
        ..CODE
    },
    HighlightLanguage {
        names: "python py pyi python3 py3 ipython",
        line_comments: HASH,
        block_comments: &[],
        strings: PYTHON,
        keywords: "False None True and as assert async await break case class continue def del elif else \
            except finally for from global if import in is lambda match nonlocal not or pass raise \
            return self try while with yield",
        types: "bool bytes dict float frozenset int list object set str tuple type",
        quirks: Quirks::SIGILS | CAPITALS,
        ..CODE
    },
    HighlightLanguage {
        names: "ruby rb rake gemspec",
        line_comments: HASH,
        block_comments: &[("=begin", "=end")],
        strings: BOTH_OVER_LINES,
        keywords: "BEGIN END alias and begin break case class def defined? do else elsif end ensure extend \
            false for if in include module next nil not or prepend private protected public raise redo \
            require require_relative rescue retry return self super then true undef unless until when \
            while yield attr_accessor attr_reader attr_writer",
        quirks: Quirks::SIGILS | Quirks::HERE | Quirks::BANG_WORDS | CAPITALS,
        ..CODE
    },
    HighlightLanguage {
        names: "php php8",
        line_comments: &["//", "#"],
        strings: BOTH_OVER_LINES,
        keywords: "abstract and array as break callable case catch class clone const continue declare default \
            do echo else elseif empty enum extends false final finally fn for foreach function global \
            goto if implements include include_once instanceof insteadof interface isset list match \
            namespace new null or print private protected public readonly require require_once return \
            self static switch throw trait true try unset use var while xor yield",
        types: "bool float int iterable mixed never object string void",
        quirks: Quirks::SIGILS | Quirks::HERE | CAPITALS,
        ..CODE
    },
    HighlightLanguage {
        names: "perl pl pm",
        line_comments: HASH,
        block_comments: &[("=pod", "=cut"), ("=head", "=cut")],
        strings: BOTH_OVER_LINES,
        keywords: "and cmp continue die do else elsif eq for foreach given gt if last le local lt my ne next \
            no not or our package print redo require return say sub unless until use when while xor",
        quirks: Quirks::SIGILS | Quirks::HERE,
        ..CODE
    },
    HighlightLanguage {
        names: "lua luau",
        line_comments: &["--"],
        block_comments: &[("--[[", "]]")],
        keywords: "and break do else elseif end false for function goto if in local nil not or repeat return \
            then true until while self",
        quirks: Quirks::LONG_BRACKETS,
        ..CODE
    },
    HighlightLanguage {
        names: "bash sh shell zsh ksh fish console shellsession shell-session",
        line_comments: HASH,
        block_comments: &[],
        strings: SHELL,
        keywords: "alias break case continue declare do done elif else esac eval exec exit export fi for \
            function if in local readonly return select set shift source then time trap unset until \
            while",
        word_chars: "-./",
        quirks: Quirks::SIGILS | Quirks::HERE | Quirks::COMMANDS,
        ..CODE
    },
    HighlightLanguage {
        names: "powershell ps1 psm1 pwsh",
        line_comments: HASH,
        block_comments: &[("<#", "#>")],
        strings: POWERSHELL,
        keywords: "begin break catch class continue data do dynamicparam else elseif end enum exit filter \
            finally for foreach from function hidden if in param process return static switch throw \
            trap try until using while",
        types: "bool int string",
        word_chars: "-",
        quirks: Quirks::SIGILS | Quirks::COMMANDS | Quirks::IGNORE_CASE,
        ..CODE
    },
    HighlightLanguage {
        names: "sql mysql postgres postgresql psql sqlite plsql tsql",
        line_comments: &["--"],
        strings: SQL,
        keywords: "add all alter and any as asc begin between by cascade case check column commit constraint \
            create cross database default delete desc distinct drop else end except exists explain \
            false for foreign from full function grant group having if ilike in index inner insert \
            intersect into is join key lateral left like limit materialized natural not null offset on \
            or order outer over partition primary procedure recursive references replace returning \
            revoke right rollback select set table then to transaction trigger true truncate union \
            unique update using values view when where window with",
        types: "bigint blob boolean bytea char date decimal double float int integer interval json jsonb \
            numeric real serial smallint text time timestamp timestamptz uuid varchar",
        quirks: Quirks::IGNORE_CASE,
        ..CODE
    },
    HighlightLanguage {
        names: "html htm xml xhtml svg vue svelte xsl xslt plist rss astro",
        mode: HighlightMode::Markup,
        ..CODE
    },
    HighlightLanguage {
        names: "css scss less sass",
        line_comments: SLASHES,
        strings: BOTH,
        keywords: "@charset @container @else @extend @font-face @for @forward @function @if @import @include \
            @keyframes @layer @media @mixin @page @return @supports @use !default !important",
        word_chars: "-@!$",
        quirks: Quirks::KEYS,
        ..CODE
    },
    HighlightLanguage {
        names: "json jsonc json5 jsonl ndjson webmanifest",
        strings: BOTH,
        keywords: "false null true",
        quirks: Quirks::KEYS,
        ..CODE
    },
    HighlightLanguage {
        names: "yaml yml",
        line_comments: HASH,
        block_comments: &[],
        keywords: "false no null off on true yes ~",
        word_chars: "-./",
        mode: HighlightMode::Keys(':'),
        ..CODE
    },
    HighlightLanguage {
        names: "toml",
        line_comments: HASH,
        block_comments: &[],
        strings: TOML,
        keywords: "false inf nan true",
        mode: HighlightMode::Keys('='),
        ..CODE
    },
    HighlightLanguage {
        names: "ini cfg conf properties env dotenv editorconfig gitconfig",
        line_comments: &["#", ";"],
        block_comments: &[],
        keywords: "false no off on true yes",
        word_chars: "-./",
        mode: HighlightMode::Keys('='),
        ..CODE
    },
    HighlightLanguage { names: "markdown md mdx", mode: HighlightMode::Markdown, ..CODE },
    HighlightLanguage { names: "diff patch", mode: HighlightMode::Diff, ..CODE },
    HighlightLanguage {
        names: "dockerfile docker containerfile",
        line_comments: HASH,
        block_comments: &[],
        keywords: "add arg cmd copy entrypoint env expose from healthcheck label onbuild run shell stopsignal \
            user volume workdir as",
        word_chars: "-./",
        quirks: Quirks::SIGILS | Quirks::IGNORE_CASE,
        ..CODE
    },
    HighlightLanguage {
        names: "makefile make mk gnumakefile",
        line_comments: HASH,
        block_comments: &[],
        keywords: "define else endef endif export ifdef ifeq ifndef ifneq include override unexport vpath \
            .PHONY",
        word_chars: "-./",
        quirks: Quirks::SIGILS | Quirks::KEYS,
        ..CODE
    },
    HighlightLanguage {
        names: "haskell hs",
        line_comments: &["--"],
        block_comments: &[("{-", "-}")],
        strings: DOUBLE,
        keywords: "as case class data default deriving do else forall foreign hiding if import in infix \
            infixl infixr instance let module newtype of qualified then type where",
        word_chars: "'",
        quirks: Quirks::NESTED | CAPITALS,
        ..CODE
    },
    HighlightLanguage {
        names: "elixir ex exs",
        line_comments: HASH,
        block_comments: &[],
        strings: PYTHON,
        keywords: "after alias and case catch cond def defdelegate defexception defimpl defmacro defmodule \
            defp defprotocol defstruct do else end false fn for if import in nil not or quote raise \
            receive require rescue super throw true try unless unquote use when with",
        quirks: Quirks::SIGILS | Quirks::BANG_WORDS | CAPITALS,
        ..CODE
    },
    HighlightLanguage {
        names: "erlang erl hrl",
        line_comments: &["%"],
        block_comments: &[],
        keywords: "after and andalso band begin bnot bor bsl bsr bxor case catch cond div end fun if let \
            maybe not of or orelse receive rem try when xor -module -export -import -record -define \
            -include -spec -type",
        ..CODE
    },
    HighlightLanguage {
        names: "scala sc sbt",
        strings: TRIPLE,
        keywords: "abstract case catch class def do else enum export extends extension false final finally \
            for given if implicit import in inline lazy match new null object opaque override package \
            private protected return sealed super then this throw trait true try type using val var \
            while with yield",
        quirks: Quirks::NESTED | Quirks::SIGILS | CAPITALS,
        ..CODE
    },
    HighlightLanguage {
        names: "dart",
        strings: PYTHON,
        keywords: "abstract as assert async await base break case catch class const continue covariant \
            default deferred do else enum export extends extension external factory false final \
            finally for get if implements import in interface is late library mixin new null on \
            operator part required rethrow return sealed set show static super switch sync this throw \
            true try typedef var when while with yield",
        types: "bool double dynamic int num void",
        quirks: Quirks::NESTED | Quirks::SIGILS | CAPITALS,
        ..CODE
    },
    HighlightLanguage {
        names: "zig zon",
        block_comments: &[],
        keywords: "align allowzero and anyframe anytype asm async await break callconv catch comptime const \
            continue defer else enum errdefer error export extern false fn for if inline linksection \
            noalias noinline null opaque or orelse packed pub resume return struct suspend switch test \
            threadlocal true try undefined union unreachable usingnamespace var volatile while",
        types: "anyerror anyopaque bool comptime_float comptime_int f16 f32 f64 i16 i32 i64 i8 isize \
            noreturn type u16 u32 u64 u8 usize void",
        quirks: Quirks::SIGILS | CAPITALS,
        ..CODE
    },
    HighlightLanguage {
        names: "nim nims",
        line_comments: HASH,
        block_comments: &[("#[", "]#")],
        strings: TRIPLE,
        keywords: "addr and as asm bind block break case cast concept const continue converter defer discard \
            distinct div do elif else end enum except export false finally for from func if import in \
            include interface is isnot iterator let macro method mixin mod nil not notin object of or \
            out proc ptr raise ref return shl shr static template true try tuple type using var when \
            while xor yield",
        types: "bool char float int int32 int64 seq string uint",
        quirks: Quirks::NESTED | CAPITALS,
        ..CODE
    },
    HighlightLanguage {
        names: "r rscript",
        line_comments: HASH,
        block_comments: &[],
        strings: BOTH_OVER_LINES,
        keywords: "FALSE Inf NA NULL NaN TRUE break else for function if in next repeat return while library",
        word_chars: ".",
        ..CODE
    },
    HighlightLanguage {
        names: "julia jl",
        line_comments: HASH,
        block_comments: &[("#=", "=#")],
        strings: &[lines("\"\"\""), quote("\"")],
        keywords: "abstract baremodule begin break catch const continue do else elseif end export false \
            finally for function global if import in isa let local macro module mutable nothing \
            primitive quote return struct true try type using where while",
        quirks: Quirks::NESTED | Quirks::SIGILS | Quirks::BANG_WORDS | CAPITALS,
        ..CODE
    },
    HighlightLanguage {
        names: "clojure clj cljs cljc edn",
        line_comments: &[";"],
        block_comments: &[],
        strings: &[lines("\"")],
        keywords: "case catch cond condp def definterface defmacro defmethod defmulti defn defn- defprotocol \
            defrecord deftype do doseq dotimes false finally fn for if if-let if-not let letfn loop \
            nil ns quote recur require throw true try var when when-let when-not",
        word_chars: "-*+!?<>=/:",
        quirks: Quirks::LISP,
        ..CODE
    },
    HighlightLanguage {
        names: "lisp el elisp emacs-lisp scheme scm racket rkt cl common-lisp",
        line_comments: &[";"],
        block_comments: &[("#|", "|#")],
        strings: &[lines("\"")],
        keywords: "and begin case catch cond define defconst defcustom defmacro defparameter defstruct defun \
            defvar do dolist dotimes else if lambda let let* letrec loop nil or progn provide quote \
            require return set! setf setq t unless unwind-protect when while",
        word_chars: "-*+!?<>=/:",
        quirks: Quirks::NESTED | Quirks::LISP,
        ..CODE
    },
    HighlightLanguage {
        names: "vim viml vimscript",
        line_comments: &["\""],
        block_comments: &[],
        keywords: "abort autocmd augroup break call catch command continue echo else elseif endfor \
            endfunction endif endtry endwhile execute finally for function if in inoremap let map nmap \
            nnoremap noremap normal return set setlocal silent source syntax try unlet vnoremap while",
        word_chars: ":",
        quirks: Quirks::COMMENT_AT_START,
        ..CODE
    },
];

//! The built-in rules: few, about mistakes that are never wanted, and hard to trigger by accident.

use omp_config::{ItemSource, Level, Provider, Rule};

struct Builtin {
    name: &'static str,
    condition: &'static [&'static str],
    ast_condition: &'static [&'static str],
    scope: &'static [&'static str],
    globs: &'static [&'static str],
    content: &'static str,
}

const EDITS: &[&str] = &["tool:edit", "tool:write"];
const CODE: &[&str] =
    &["*.{rs,py,go,js,jsx,ts,tsx,mjs,cjs,java,kt,swift,c,cc,cpp,h,hpp,cs,rb,php,scala,zig,dart,sh,sql,css,html,vue}"];

const BUILTIN: &[Builtin] = &[
    Builtin {
        name: "no-elided-code",
        condition: &[
            r"(?im)^\s*(//|#|--|/\*|<!--|\{/\*)\s*(\.{3}|…)\s*\(?(the )?(rest|remainder|remaining|existing|other|previous|same)\b[^\n]{0,60}(code|file|function|method|implementation|content|import|same|unchanged|as before|here)",
            r"(?im)^\s*(//|#|--|/\*|<!--|\{/\*)\s*(the )?(rest|remainder) of (the |this )?(file|code|function|method|class|module|implementation)\s*(is |stays |remains )?(unchanged|the same|as before|goes here|omitted|here)",
        ],
        ast_condition: &[],
        scope: EDITS,
        globs: CODE,
        content: "Never write a comment in place of code that is already there, such as one saying that the rest stays the \
                  same. What you write is saved exactly as it is, so the code behind such a comment is lost. Write the \
                  whole text, or use `edit` to change only the lines that differ.",
    },
    Builtin {
        name: "no-unfinished-rust",
        condition: &[],
        ast_condition: &["todo!($$$ARGS)", "unimplemented!($$$ARGS)"],
        scope: EDITS,
        globs: &["*.rs"],
        content: "Do not leave `todo!()` or `unimplemented!()` behind: the code compiles and then panics. Write the code \
                  now. If it cannot be written yet, return an error that says what is missing, and tell the user. If the \
                  user asked for a stub, say so in your answer and go on.",
    },
    Builtin {
        name: "no-conflict-markers",
        condition: &[r"(?m)^<{7} [^\n]*\n(?s:.*)\n={7}\n(?s:.*)\n>{7} "],
        ast_condition: &[],
        scope: EDITS,
        globs: CODE,
        content: "What you are writing holds the markers of a merge conflict. Decide between the two sides, or join them, \
                  and write the result without the `<<<<<<<`, `=======` and `>>>>>>>` lines.",
    },
    Builtin {
        name: "no-skipped-checks",
        condition: &[r#"\bgit\s+(-[cC]\s+\S+\s+)*(commit|push)\b[^\n;&|"]{0,200}\s--no-verify\b"#],
        ast_condition: &[],
        scope: &["tool:bash"],
        globs: &[],
        content: "Do not pass `--no-verify`: the checks that run before a commit or a push are there because somebody wants \
                  them. Run without it; when a check fails, fix what it reports or tell the user. If the user has asked \
                  for `--no-verify` in this conversation, repeat the command as it was.",
    },
];

pub fn builtin_rules() -> Vec<Rule> {
    let list = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let rule = |builtin: &Builtin| Rule {
        name: builtin.name.to_owned(),
        content: builtin.content.to_owned(),
        // Without a description they are not listed for the model either if the stream is not watched.
        description: None,
        globs: list(builtin.globs),
        always_apply: false,
        condition: list(builtin.condition),
        ast_condition: list(builtin.ast_condition),
        scope: list(builtin.scope),
        interrupt_mode: None,
        source: ItemSource {
            provider: Provider::Builtin,
            level: Level::User,
            path: format!("builtin-rules/{}.md", builtin.name).into(),
        },
    };
    BUILTIN.iter().map(rule).collect()
}

//! Which streams a rule watches: text, thinking, tool arguments, and files by path.

use std::path::Path;

use globset::{Glob, GlobBuilder, GlobMatcher};

/// The source of a chunk of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamPart<'a> {
    Text,
    Thinking,
    Tool {
        name: &'a str,
        /// The files it is about, in every form that a glob may match.
        paths: &'a [String],
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Scope {
    pub text: bool,
    pub thinking: bool,
    any_tool: bool,
    tools: Vec<ToolScope>,
}

#[derive(Clone, Debug)]
struct ToolScope {
    name: Option<String>,
    glob: Option<GlobMatcher>,
}

impl Scope {
    /// An empty scope means text and every tool. Returns a warning for each invalid word.
    pub fn new(words: &[String]) -> (Self, Vec<String>) {
        if words.is_empty() {
            return (Self { text: true, thinking: false, any_tool: true, tools: Vec::new() }, Vec::new());
        }
        let mut warnings = Vec::new();
        let mut scope = Self { text: false, thinking: false, any_tool: false, tools: Vec::new() };
        for word in words.iter().map(|word| word.trim()).filter(|word| !word.is_empty()) {
            match word.to_ascii_lowercase().as_str() {
                "text" => scope.text = true,
                "thinking" => scope.thinking = true,
                "tool" | "toolcall" => scope.any_tool = true,
                _ => match tool_scope(word) {
                    Ok(ToolScope { name: None, glob: None }) => scope.any_tool = true,
                    Ok(tool) => scope.tools.push(tool),
                    Err(why) => warnings.push(format!(
                        "scope `{word}` is ignored: {why}\nhint: use text, thinking, tool, tool:edit or tool:edit(*.rs)"
                    )),
                },
            }
        }
        (scope, warnings)
    }

    pub fn is_reachable(&self) -> bool {
        self.text || self.thinking || self.any_tool || !self.tools.is_empty()
    }

    pub fn admits(&self, place: StreamPart<'_>) -> bool {
        match place {
            StreamPart::Text => self.text,
            StreamPart::Thinking => self.thinking,
            StreamPart::Tool { name, paths } => {
                let admits = |tool: &ToolScope| {
                    tool.name.as_ref().is_none_or(|known| known.eq_ignore_ascii_case(name))
                        && tool.glob.as_ref().is_none_or(|glob| paths.iter().any(|path| glob.is_match(path)))
                };
                self.any_tool || self.tools.iter().any(admits)
            }
        }
    }
}

/// Parses `tool:edit(*.rs)`, `tool(*.rs)`, `edit(*.rs)`, `edit`.
fn tool_scope(word: &str) -> Result<ToolScope, String> {
    let (name, pattern) = match word.split_once('(') {
        Some((name, rest)) => (name, Some(rest.strip_suffix(')').ok_or("its bracket is not closed")?.trim())),
        None => (word, None),
    };
    let name = match name.split_once(':') {
        Some((prefix, name)) if prefix.eq_ignore_ascii_case("tool") => Some(name),
        Some(_) => return Err("only `tool:` can come before a colon".to_owned()),
        None => Some(name).filter(|name| !name.eq_ignore_ascii_case("tool")),
    };
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    };
    if name.is_some_and(|name| !is_name(name)) {
        return Err("it does not name a tool".to_owned());
    }
    let glob = match pattern {
        Some("") => return Err("its brackets are empty".to_owned()),
        Some(pattern) => Some(glob(pattern)?.compile_matcher()),
        None => None,
    };
    Ok(ToolScope { name: name.map(str::to_owned), glob })
}

pub(crate) fn glob(pattern: &str) -> Result<Glob, String> {
    let pattern = pattern.trim().trim_start_matches("./");
    let built = GlobBuilder::new(pattern).literal_separator(true).backslash_escape(true).build();
    built.map_err(|error| format!("`{pattern}` is not a glob: {}", error.kind()))
}

/// Returns the forms of a path that globs may match: as written, relative to the working folder, and the bare file name.
pub fn path_candidates(path: &str, cwd: &Path) -> Vec<String> {
    let written = path.replace('\\', "/");
    let written = written.trim_start_matches("./");
    let inside = Path::new(written).strip_prefix(cwd).ok().map(|inside| inside.to_string_lossy().into_owned());
    let name = written.rsplit('/').next().map(str::to_owned);
    let mut candidates = vec![written.to_owned()];
    candidates.extend(inside.into_iter().chain(name).filter(|other| !other.is_empty()));
    candidates.dedup();
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns one letter per admitted source: Text, tHinking, Edit of a.rs, edit of src/b.ts, Bash.
    fn admitted(words: &[&str]) -> (String, usize) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let (scope, warnings) = Scope::new(&words);
        let cwd = Path::new("/tmp/project");
        let (rust, script) = (path_candidates("/tmp/project/deep/a.rs", cwd), path_candidates("./src/b.ts", cwd));
        let places = [
            ('t', StreamPart::Text),
            ('h', StreamPart::Thinking),
            ('r', StreamPart::Tool { name: "edit", paths: &rust }),
            ('s', StreamPart::Tool { name: "write", paths: &script }),
            ('b', StreamPart::Tool { name: "bash", paths: &[] }),
        ];
        let admitted: String =
            places.iter().filter(|(_, place)| scope.admits(*place)).map(|(letter, _)| *letter).collect();
        assert_eq!(scope.is_reachable(), !scope.tools.is_empty() || !admitted.is_empty());
        (admitted, warnings.len())
    }

    #[test]
    fn words_name_streams() {
        for (words, expect, warnings) in [
            (&[][..], "trsb", 0),
            (&["text"], "t", 0),
            (&["Thinking"], "h", 0),
            (&["tool"], "rsb", 0),
            (&["toolcall"], "rsb", 0),
            (&["tool:edit"], "r", 0),
            (&["tool:Edit(*.rs)"], "r", 0),
            (&["edit(*.ts)"], "", 0),
            (&["write(src/*.ts)"], "s", 0),
            (&["tool(deep/*.rs)"], "r", 0),
            (&["tool(**/*.{rs,ts})"], "rs", 0),
            (&["bash", "thinking"], "hb", 0),
            (&["tool:"], "", 1),
            (&["mcp:edit"], "", 1),
            (&["edit(*.rs"], "", 1),
            (&["edit([)"], "", 1),
            (&["text", "edit()"], "t", 1),
        ] {
            assert_eq!(admitted(words), (expect.to_owned(), warnings), "{words:?}");
        }
    }
}

//! Compiles a rule's `condition`: a regular expression in JavaScript syntax, matched in linear time.
//!
//! Rule files are shared with programs that use JavaScript's engine, so `\w`, `\d` and `\b` are ASCII-only and a brace that
//! is not a repetition is literal. Features that need backtracking (look-around, back-references) are not supported: no
//! stream may make matching slow.

use regex_automata::nfa::thompson::{Compiler, Config, NFA};
use regex_syntax::ast::{self, AssertionKind, Ast, ClassPerl, ClassPerlKind, Span, Visitor};
use regex_syntax::hir::Hir;

/// Length limit of a condition.
const MAX_PATTERN: usize = 8 * 1024;
/// Memory limit of a compiled condition in bytes.
const MAX_SIZE: usize = 256 * 1024;
/// Limit on the nesting of groups.
const MAX_DEPTH: u32 = 60;

/// A condition that can be matched.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    hir: Hir,
    /// Compiled size in bytes.
    pub size: usize,
}

impl Condition {
    /// The error is a message for the user, with a hint.
    pub fn new(pattern: &str) -> Result<Self, String> {
        if pattern.len() > MAX_PATTERN {
            return Err(format!("it has {} bytes, at most {MAX_PATTERN} are allowed", pattern.len()));
        }
        let (text, tree) = parsed(pattern)?;
        let hir = regex_syntax::ParserBuilder::new().utf8(false).nest_limit(MAX_DEPTH).build();
        let hir = { hir }.parse(&as_ascii(&text, &tree)).map_err(|error| explained(&error))?;
        let apart = Compiler::new().configure(nfa_config().nfa_size_limit(Some(MAX_SIZE))).build_from_hir(&hir);
        let apart = apart.map_err(|_| {
            "it is too large\nhint: use smaller repetitions, such as `x{1,20}` instead of `x{1,2000}`".to_owned()
        })?;
        Ok(Self { hir, size: apart.memory_usage() })
    }
}

/// Compiles all conditions into one automaton. Returns `None` if there are none.
pub(crate) fn together(conditions: &[Condition]) -> Option<NFA> {
    let hirs: Vec<&Hir> = conditions.iter().map(|condition| &condition.hir).collect();
    if hirs.is_empty() {
        return None;
    }
    Compiler::new().configure(nfa_config()).build_many_from_hir(&hirs).ok()
}

fn nfa_config() -> Config {
    Config::new().utf8(false).which_captures(regex_automata::nfa::thompson::WhichCaptures::None)
}

fn parsed(pattern: &str) -> Result<(String, Ast), String> {
    match tree_of(pattern) {
        Ok(tree) => Ok((pattern.to_owned(), tree)),
        Err(error) => {
            let lenient = with_plain_braces(pattern);
            match tree_of(&lenient) {
                Ok(tree) => Ok((lenient, tree)),
                Err(_) => Err(explained(&error)),
            }
        }
    }
}

fn tree_of(pattern: &str) -> Result<Ast, Box<regex_syntax::Error>> {
    let parsed = ast::parse::ParserBuilder::new().nest_limit(MAX_DEPTH).build().parse(pattern);
    parsed.map_err(|error| Box::new(regex_syntax::Error::Parse(error)))
}

fn explained(error: &regex_syntax::Error) -> String {
    use regex_syntax::ast::ErrorKind;
    let hint = match error {
        regex_syntax::Error::Parse(error) => match error.kind() {
            ErrorKind::UnsupportedLookAround => {
                return "look-around is not supported, because it can make matching slow\nhint: match the surrounding text instead, or use astCondition"
                    .to_owned();
            }
            ErrorKind::UnsupportedBackreference => {
                return "back-references are not supported, because they can make matching slow\nhint: repeat a metavariable in astCondition instead"
                    .to_owned();
            }
            _ => error.kind().to_string(),
        },
        regex_syntax::Error::Translate(error) => error.kind().to_string(),
        _ => "it is not a regular expression".to_owned(),
    };
    format!("{hint}\nhint: in YAML, single quotes keep backslashes as they are")
}

/// Escapes every `{` that does not start a repetition, which JavaScript treats as literal.
fn with_plain_braces(pattern: &str) -> String {
    let mut text = String::with_capacity(pattern.len() + 8);
    let mut rest = pattern.char_indices();
    while let Some((at, letter)) = rest.next() {
        match letter {
            '\\' => {
                text.push(letter);
                text.extend(rest.next().map(|(_, escaped)| escaped));
            }
            '{' if !counts(&pattern[at + 1..]) => text.push_str("\\{"),
            _ => text.push(letter),
        }
    }
    text
}

/// Returns whether the text continues a repetition: `3}`, `3,}`, `3,5}`.
fn counts(rest: &str) -> bool {
    let Some((inner, _)) = rest.split_once('}') else { return false };
    let (least, most) = inner.split_once(',').unwrap_or((inner, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    !least.is_empty() && digits(least) && digits(most)
}

/// Replaces classes and boundaries by their JavaScript (ASCII) meaning.
fn as_ascii(pattern: &str, tree: &Ast) -> String {
    let Ok(mut places) = ast::visit(tree, ClassPlaces::default()) else { return pattern.to_owned() };
    places.sort_by_key(|(span, _)| span.start.offset);
    let mut text = String::with_capacity(pattern.len() + 32);
    let mut done = 0;
    for (span, replacement) in places {
        text.push_str(&pattern[done..span.start.offset]);
        text.push_str(replacement);
        done = span.end.offset;
    }
    text.push_str(&pattern[done..]);
    text
}

#[derive(Default)]
struct ClassPlaces(Vec<(Span, &'static str)>);

impl ClassPlaces {
    fn class(&mut self, class: &ClassPerl) {
        let text = match (&class.kind, class.negated) {
            (ClassPerlKind::Digit, false) => "[0-9]",
            (ClassPerlKind::Digit, true) => "[^0-9]",
            (ClassPerlKind::Word, false) => "[0-9A-Za-z_]",
            (ClassPerlKind::Word, true) => "[^0-9A-Za-z_]",
            (ClassPerlKind::Space, _) => return,
        };
        self.0.push((class.span, text));
    }
}

impl Visitor for ClassPlaces {
    type Output = Vec<(Span, &'static str)>;
    type Err = ();

    fn finish(self) -> Result<Self::Output, ()> {
        Ok(self.0)
    }

    fn visit_pre(&mut self, node: &Ast) -> Result<(), ()> {
        match node {
            Ast::ClassPerl(class) => self.class(class),
            Ast::Assertion(assertion) => {
                let text = match assertion.kind {
                    AssertionKind::WordBoundary => r"(?-u:\b)",
                    AssertionKind::NotWordBoundary => r"(?-u:\B)",
                    AssertionKind::WordBoundaryStart | AssertionKind::WordBoundaryStartAngle => r"(?-u:\b{start})",
                    AssertionKind::WordBoundaryEnd | AssertionKind::WordBoundaryEndAngle => r"(?-u:\b{end})",
                    AssertionKind::WordBoundaryStartHalf => r"(?-u:\b{start-half})",
                    AssertionKind::WordBoundaryEndHalf => r"(?-u:\b{end-half})",
                    _ => return Ok(()),
                };
                self.0.push((assertion.span, text));
            }
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ast::ClassSetItem) -> Result<(), ()> {
        if let ast::ClassSetItem::Perl(class) = item {
            self.class(class);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, expect: Result<&str, &str>) {
        let made = parsed(pattern).map(|(text, tree)| as_ascii(&text, &tree));
        match (Condition::new(pattern), expect) {
            (Ok(_), Ok(expect)) => assert_eq!(made.unwrap(), expect),
            (Err(error), Err(expect)) => assert!(error.contains(expect), "{pattern}: {error}"),
            (got, expect) => panic!("{pattern}: {got:?}, not {expect:?}"),
        }
    }

    #[test]
    fn letters_mean_what_they_mean_in_javascript() {
        check(r"\bfoo\b", Ok(r"(?-u:\b)foo(?-u:\b)"));
        check(r"[\w.-]+@\d", Ok(r"[[0-9A-Za-z_].-]+@[0-9]"));
        check(r"[^\W]\D\s", Ok(r"[^[^0-9A-Za-z_]][^0-9]\s"));
        check(r"(?i)pre.existing", Ok(r"(?i)pre.existing"));
        check(r"catch\s*\(\w\)\s*{}", Ok(r"catch\s*\([0-9A-Za-z_]\)\s*\{}"));
        check(r"\{a{2,3}b{", Ok(r"\{a{2,3}b\{"));
        check(r"a\/b", Ok(r"a\/b"));
    }

    #[test]
    fn what_needs_backtracking_or_room_is_refused() {
        check(r"foo(?=bar)", Err("look-around"));
        check(r"(?<!a)b", Err("look-around"));
        check(r"(a)\1", Err("back-references"));
        check(r"(unclosed", Err("unclosed group"));
        check(r"((\w{100}){100}){100}", Err("too large"));
        check(&"a".repeat(9000), Err("at most 8192"));
        check(&format!("{}a{}", "(".repeat(200), ")".repeat(200)), Err("nest"));
    }
}

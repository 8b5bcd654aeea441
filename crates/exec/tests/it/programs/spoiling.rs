//! Broken scripts: valid ones with a token inserted, removed or doubled. If a shell still accepts such a script, the parser
//! has to interpret it in the same way, or report that it cannot.

use super::scripts::{Scripts, Shell};

/// Tokens that have a meaning somewhere, among them characters that only look like line ends.
const SIGNS: &[&str] = &[
    "\\\n",
    "\n",
    ";",
    "&",
    "&&",
    "|",
    "||",
    "(",
    ")",
    "((",
    "))",
    "{",
    "}",
    "{ ",
    "; }",
    "[[",
    "]]",
    "[[ ",
    " ]]",
    "[",
    "]",
    "'",
    "\"",
    "\\",
    "`",
    "$",
    "$(",
    "${",
    "$((",
    "$'",
    "$\"",
    "${x:-",
    "<",
    ">",
    "<<",
    "<<-",
    "<<E\n",
    "\nE\n",
    "<<<",
    "<(",
    ">(",
    ">&",
    "<&",
    "&>",
    ">|",
    "|&",
    ";;",
    ";&",
    "#",
    " #",
    "!",
    " ! ",
    "=",
    "+=",
    "a=",
    "a=(",
    "a[",
    "*",
    "?",
    "~",
    ",",
    "..",
    "%",
    "^",
    "@",
    ":",
    "-",
    "--",
    " -p ",
    " -- ",
    "\t",
    " ",
    "\r",
    "é",
    "\u{a0}",
    "\u{b}",
    "in",
    " in ",
    "do ",
    "done",
    "then ",
    "fi",
    "esac",
    "case ",
    "if ",
    "for ",
    "while ",
    "time ",
    "time -p\t",
    "coproc ",
    "function ",
    "eval ",
    "exec ",
    "command ",
    "builtin ",
    "1",
    "2>",
    "3<",
    "{a,b}",
    "@(",
    "!(",
    "+(",
    "\\\r\n",
    "()",
    "() ",
    "x",
    "EOF\n",
    "$x",
    "\"$x\"",
];

impl Scripts {
    /// A script with up to three faults.
    pub fn spoilt(&mut self) -> String {
        let mut text: Vec<char> = self.next().map(|script| script.text.chars().collect()).unwrap_or_default();
        for _ in 0..=self.number(3) {
            let at = self.number(text.len().max(1));
            let length = (1 + self.number(3)).min(text.len() - at.min(text.len()));
            match self.number(8) {
                0 => drop(text.drain(at..at + length)),
                1 => {
                    let copy: Vec<char> = text[at..at + length].to_vec();
                    let to = self.number(text.len() + 1);
                    text.splice(to..to, copy);
                }
                2 => drop(text.splice(at..at + length, self.sign().chars())),
                _ => drop(text.splice(at..at, self.sign().chars())),
            }
        }
        text.into_iter().collect()
    }

    /// Random tokens in a row, between programs.
    pub fn heap(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..4 + self.number(12) {
            match self.number(3) {
                0 => text.push_str(self.name()),
                _ => text.push_str(self.sign()),
            }
            if self.number(2) == 0 {
                text.push(' ');
            }
        }
        text
    }

    fn sign(&mut self) -> &'static str {
        let sign = self.pick(SIGNS);
        // dash treats the dollar of `$'…'` as a plain character, which the parser does not know.
        if self.shell == Shell::Dash && matches!(sign, "$'" | "$\"") { "$" } else { sign }
    }
}

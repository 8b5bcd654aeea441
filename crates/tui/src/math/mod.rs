//! Converts TeX formulas to Unicode text as far as one line allows: `\frac{a}{b}` is `a/b`, `x^2` is `x²`.
//!
//! Unknown commands stay as written, so nothing is lost.

mod symbols;

use symbols::{accent, alphabet, script, symbol};

/// Limits the nesting; deeper formulas stay as written.
const DEEPEST: usize = 24;

/// Converts a formula without its dollar signs. `\\` becomes a line break.
pub fn to_unicode(tex: &str) -> String {
    let mut reader = MathReader { rest: tex, depth: 0 };
    let out = reader.sequence(None);
    let lines: Vec<String> = out.split('\n').map(squeeze).filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

struct MathReader<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> MathReader<'a> {
    /// Consumes up to the closing brace or the end.
    fn sequence(&mut self, close: Option<char>) -> String {
        let mut out = String::new();
        while let Some(char) = self.rest.chars().next() {
            if Some(char) == close {
                self.rest = &self.rest[char.len_utf8()..];
                break;
            }
            self.item(char, &mut out);
        }
        out
    }

    fn item(&mut self, char: char, out: &mut String) {
        match char {
            '\\' => self.command(out),
            '{' => out.push_str(&self.argument()),
            '^' | '_' => {
                self.rest = &self.rest[1..];
                let body = self.argument();
                push_script(out, char, &body);
            }
            '\'' => self.single("′", out),
            '*' => self.single("∗", out),
            '-' => self.single("−", out),
            '&' | '~' => self.single(" ", out),
            '\n' | '\t' => self.single(" ", out),
            other => {
                out.push(other);
                self.rest = &self.rest[other.len_utf8()..];
            }
        }
    }

    fn single(&mut self, shown: &str, out: &mut String) {
        out.push_str(shown);
        self.rest = &self.rest[1..];
    }

    /// Consumes a group in braces, a command, or one character.
    fn argument(&mut self) -> String {
        self.rest = self.rest.trim_start();
        let Some(first) = self.rest.chars().next() else { return String::new() };
        if self.depth >= DEEPEST {
            self.rest = &self.rest[first.len_utf8()..];
            return first.to_string();
        }
        self.depth += 1;
        let out = match first {
            '{' => {
                self.rest = &self.rest[1..];
                self.sequence(Some('}'))
            }
            '\\' => {
                let mut out = String::new();
                self.command(&mut out);
                out
            }
            other => {
                self.rest = &self.rest[other.len_utf8()..];
                other.to_string()
            }
        };
        self.depth -= 1;
        out
    }

    /// Returns the text in braces verbatim.
    fn verbatim(&mut self) -> &'a str {
        let body = self.rest.trim_start();
        let Some(inner) = body.strip_prefix('{') else { return "" };
        let end = inner.find('}').unwrap_or(inner.len());
        self.rest = inner.get(end + 1..).unwrap_or_default();
        &inner[..end]
    }

    fn command(&mut self, out: &mut String) {
        let body = &self.rest[1..];
        let letters = body.bytes().take_while(u8::is_ascii_alphabetic).count();
        if letters == 0 {
            return self.escaped(out);
        }
        let name = &body[..letters];
        self.rest = &body[letters..];
        match name {
            "frac" | "dfrac" | "tfrac" | "cfrac" => {
                let (over, under) = (self.argument(), self.argument());
                out.push_str(&format!("{}/{}", grouped(&over), grouped(&under)));
            }
            "binom" => {
                let (over, under) = (self.argument(), self.argument());
                out.push_str(&format!("C({over}, {under})"));
            }
            "sqrt" => self.root(out),
            "text" | "textrm" | "textbf" | "textit" | "mathrm" | "operatorname" | "mbox" | "texttt" | "mathtt" => {
                out.push_str(self.verbatim());
            }
            "left" | "right" | "big" | "Big" | "bigg" | "Bigg" | "bigl" | "bigr" | "Bigl" | "Bigr" => {
                self.rest = self.rest.trim_start();
                // An invisible delimiter.
                self.rest = self.rest.strip_prefix('.').unwrap_or(self.rest);
            }
            "displaystyle" | "textstyle" | "limits" | "nolimits" | "mathstrut" | "nonumber" => {}
            "begin" | "end" => {
                self.verbatim();
                out.push('\n');
            }
            "mathbf" | "boldsymbol" | "bm" | "mathit" | "mathsf" | "mathnormal" => out.push_str(&self.argument()),
            "mathbb" | "mathcal" | "mathscr" | "mathfrak" => {
                let body = self.argument();
                out.extend(body.chars().map(|char| alphabet(name, char)));
            }
            "not" => {
                let body = self.argument();
                out.push_str(&format!("{}\u{338}", body.trim()));
            }
            _ => self.named(name, out),
        }
    }

    fn named(&mut self, name: &str, out: &mut String) {
        if let Some(mark) = accent(name) {
            let body = self.argument();
            for char in body.chars() {
                out.push(char);
                out.push(mark);
            }
        } else if let Some(shown) = symbol(name) {
            out.push_str(shown);
            // A word must not run into the following text.
            if shown.bytes().all(|byte| byte.is_ascii_alphabetic()) && self.rest.starts_with(char::is_alphanumeric) {
                out.push(' ');
            }
        } else {
            out.push('\\');
            out.push_str(name);
            if self.rest.starts_with('{') {
                let body = self.argument();
                out.push_str(&format!("{{{body}}}"));
            }
        }
    }

    fn root(&mut self, out: &mut String) {
        let mut index = "";
        if let Some(inner) = self.rest.strip_prefix('[')
            && let Some((degree, rest)) = inner.split_once(']')
        {
            (index, self.rest) = (degree, rest);
        }
        let sign = match index {
            "" | "2" => "√".to_owned(),
            "3" => "∛".to_owned(),
            "4" => "∜".to_owned(),
            other => script('^', other).map_or_else(|| format!("[{other}]√"), |raised| format!("{raised}√")),
        };
        let body = self.argument();
        out.push_str(&sign);
        out.push_str(&grouped(&body));
    }

    /// `\{`, `\,`, `\\` and the like.
    fn escaped(&mut self, out: &mut String) {
        let Some(char) = self.rest[1..].chars().next() else {
            out.push('\\');
            self.rest = "";
            return;
        };
        self.rest = &self.rest[1 + char.len_utf8()..];
        match char {
            '\\' => out.push('\n'),
            ',' | ':' | ';' | ' ' => out.push(' '),
            '!' => {}
            '|' => out.push('‖'),
            other => out.push(other),
        }
    }
}

/// Adds superscript or subscript characters if Unicode has them, else the sign and the text, in parentheses if it is long.
fn push_script(out: &mut String, sign: char, body: &str) {
    let body = body.trim();
    match script(sign, body) {
        Some(shown) => out.push_str(&shown),
        None => {
            out.push(sign);
            let single = body.chars().count() == 1;
            if single { out.push_str(body) } else { out.push_str(&format!("({body})")) }
        }
    }
}

/// Adds parentheses unless the text is one word or number.
fn grouped(body: &str) -> String {
    let body = body.trim();
    let simple =
        body.chars().all(|char| char.is_alphanumeric() || matches!(char, '.' | '′' | '⁰'..='ₜ' | '²' | '³' | '¹'));
    if simple || (body.starts_with('(') && body.ends_with(')') && body.matches('(').count() == 1) {
        body.to_owned()
    } else {
        format!("({body})")
    }
}

fn squeeze(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn formulas() {
        for (tex, want) in [
            ("E = mc^2", "E = mc²"),
            (r"\alpha + \beta_{12} \leq \Omega", "α + β₁₂ ≤ Ω"),
            (r"\frac{a}{b} + \frac{x+1}{2y}", "a/b + (x+1)/2y"),
            (r"\sqrt{2} \sqrt{x+1} \sqrt[3]{x} \sqrt[n]{x}", "√2 √(x+1) ∛x ⁿ√x"),
            (r"\sum_{i=1}^{n} x_i", "∑ᵢ₌₁ⁿ xᵢ"),
            (r"\int_0^\infty e^{-x} dx", "∫₀^∞ e⁻ˣ dx"),
            (r"x \in \mathbb{R}, A \subseteq B", "x ∈ ℝ, A ⊆ B"),
            (r"\lim_{x \to 0} \sin(x)", "lim_(x → 0) sin(x)"),
            (r"\text{if } x > 0", "if x > 0"),
            (r"\left( \frac{1}{2} \right)", "( 1/2 )"),
            (r"\hat{x} \vec{v}", "x\u{302} v\u{20d7}"),
            (r"a \\ b", "a\nb"),
            (r"\begin{aligned} a &= b \\ c &= d \end{aligned}", "a = b\nc = d"),
            (r"\unknown{x} \foo", r"\unknown{x} \foo"),
            (r"x' - y", "x′ − y"),
            (r"\{a, b\}\,c", "{a, b} c"),
            (r"2^{10}_{ab", "2¹⁰_(ab)"),
            (r"O(n \log n)", "O(n log n)"),
            (r"a \times b \cdot c \neq d", "a × b · c ≠ d"),
            ("\\", "\\"),
            ("", ""),
        ] {
            assert_eq!(to_unicode(tex), want, "{tex}");
        }
        to_unicode(&"{".repeat(100_000));
        to_unicode(&"\\frac".repeat(10_000));
    }

    proptest! {
        #[test]
        fn anything_ends(tex in "([a-z0-9{}^_\\\\ ]|\\\\(frac|sqrt|left|hat|alpha|begin|not)|é){0,60}") {
            to_unicode(&tex);
        }
    }
}

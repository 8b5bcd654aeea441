//! Words, redirects and here-documents.

use super::scripts::{Scripts, Shell};

impl Scripts {
    pub fn words(&mut self, depth: usize) -> String {
        (0..self.number(4)).map(|_| format!(" {}", self.word(depth))).collect()
    }

    fn word(&mut self, depth: usize) -> String {
        let is_nested = depth <= self.deepest && self.number(3) == 0;
        match is_nested {
            true => self.nesting_word(depth + 1),
            false => self.flat_word(),
        }
    }

    /// Words that run nothing, among them some that are parsed differently than they look. None contains a line end: bash
    /// writes its log by lines, and concurrent programs would write between them.
    fn flat_word(&mut self) -> String {
        let everywhere = [
            "plain",
            "'single; p0 | p1 $(p2) `p3`'",
            "\"double; p0 && p1 \\$(p2) \\`p3\\`\"",
            "a\\;b\\&c\\|d\\$\\(p0\\)",
            "$x",
            "\"$@\"",
            "a#b",
            "~/file",
            "--option=1",
            "a\\ b",
            "''",
            "\"\"",
            "\"a\\\"b\"",
            "\"a$\"",
            "a$",
            "'~'",
            "\\~/x",
            "\"$HOME/x\"",
            "$HOME",
            "${HOME}/y",
            "~",
            "a~b",
            "a:~",
            "\"\\n\\t\\\\\"",
            "\\\\",
            "a\\\nb",
            "\"a\\\nb\"",
            "a'b'\"c\"",
            "a=b",
            "'a=b'",
            "x=~/a",
            "--a=~/b",
            "%1",
            "^a",
            "!x",
            "]",
            "{}",
            "{a}",
            "@",
            "-",
            "--",
            "-n",
            "a,b",
            "\"${x}\"",
            "${x:-d}",
            "*.none",
            "a?c",
            "[ab]",
            "\"[ab]*?\"",
            "\"!\"",
            "é",
            "'é ü'",
            "\\é",
            "\"~\"",
            "~/'a b'",
            "\"$HOME\"/'c'",
            "+",
            "a+=b",
            "a[1]=b",
            "\"$x$y\"",
            "\"$#\"",
            "$?",
            "\\'",
            "\\\"",
            "\"'\"",
            "'\"'",
            "a\"\"b",
            "1",
            "0x10",
            ".",
            "..",
            "/",
            "//a",
            "a/",
            "#b",
            "a\\#b",
            "\"#c\"",
            "\r",
            "a\rb",
            "\"\\\r\"",
        ];
        let wide =
            ["$'a\\tb'", "$'\\u00e9\\x41\\101'", "$'it\\'s'", "$\"d\"", "{a,b}", "x{1..2}y", "{a,'b c'}", "a{,b}"];
        // dash treats the dollar as a plain character, which the parser does not know.
        match self.number(6) {
            0 if self.shell != Shell::Dash => self.pick(&wide).to_owned(),
            _ => match self.pick(&everywhere) {
                // Would be a comment.
                "#b" => "\\#b".to_owned(),
                word => word.to_owned(),
            },
        }
    }

    fn nesting_word(&mut self, depth: usize) -> String {
        let a = self.line(depth);
        let p = self.name();
        match self.number(26) {
            0 => format!("$({a})"),
            1 => format!("\"a $({a}) b\""),
            2 => format!("`{}`", self.program()),
            3 => format!("\"`{p} a`\""),
            4 => format!("${{x:-$({a})}}"),
            5 => format!("\"${{x:-\"$({a})\"}}\""),
            6 => format!("$(( 1 + ${{#x}} ))$({a})"),
            7 => format!("${{x:+no}}${{y-`{p}`}}"),
            8 => format!("\"nested $(echo \"deep $({a})\")\""),
            9 => format!("$( ({a}) )"),
            10 => format!("$(({a}) ; ({p}))"),
            11 => format!("x=$({a})"),
            12 => format!("`echo \\`{p}\\``"),
            13 => format!("$( # p0 ) '\n{a} )"),
            14 => format!("$(case a in a) {a} ;; (b) p0 ;; esac)"),
            15 => format!("${{x#$({a})}}'}}'"),
            16 => format!("\"$x\"'a'$({a})\"'$({})'\"", self.name()),
            17 => format!("~/\"$({a})\""),
            18 => format!("$({a}\n{p}\n)"),
            19 => format!("\"$( {p} \"$x\" ')' \\) )\""),
            20 => format!("\"`{p} \\\"a b\\\"`\""),
            21 => format!("${{x:=`{p}`}}"),
            22 => format!("\"${{x:-a\\}}$({a})}}\""),
            23 => format!("\"$(( ( 1 + 2 ) * 3 )) $({p} $(( 1 )) )\""),
            24 => format!("$(if {p}; then {a}; fi)"),
            _ => format!("a$({p})b`{p}`c"),
        }
    }

    pub fn redirect(&mut self, depth: usize) -> String {
        let can_follow = depth == 0;
        match self.number(16) {
            0 => " >/dev/null".to_owned(),
            1 => " 2>&1".to_owned(),
            2 => " </dev/null".to_owned(),
            3 => " >>out 2>err".to_owned(),
            4 => format!(" >\"out$({})\"", self.line(depth + 1)),
            5 | 6 if can_follow => self.expanding_heredoc(),
            7 if can_follow => {
                self.heredocs.push("\t$(nothing) `runs` here; p0\n\tEND\n".to_owned());
                " <<-'END'".to_owned()
            }
            8 if can_follow => {
                let p = self.name();
                self.heredocs.push(format!("a \\$({p}) \\`{p}\\` \\\\$({p})\n\tE O F\nE O F\n"));
                " <<\"E O F\"".replace("\"E O F\"", self.pick(&["'E O F'", "\"E O F\"", "E\\ O\\ F"]))
            }
            9 if can_follow => {
                let (p, q) = (self.name(), self.name());
                self.heredocs.push(format!("one $({p})\nA\n"));
                self.heredocs.push(format!("two `{q} \"a\"`\nB\n"));
                " <<A 3<<B".to_owned()
            }
            10 => " 3>&-".to_owned(),
            11 => " 2>err >&2 <x/f".to_owned(),
            12 => " 1<>out".to_owned(),
            13 => " >|out".to_owned(),
            _ => String::new(),
        }
    }

    fn expanding_heredoc(&mut self) -> String {
        let (p, q, r) = (self.name(), self.name(), self.name());
        let body = match self.number(4) {
            0 => format!("text $({p}) 'quoted $({q})'\n`{r}`"),
            1 => format!("\"a $({p} \"b c\")\" \\$({q}) \\\\$({r})\nx\\\ny"),
            2 => format!("${{x:-$({p})}} ${{y:-`{q}`}}\n$(( 1 + 1 )) # $({r})"),
            _ => format!("$({p} ')' a; {q})\n EOF\nEOF {r}"),
        };
        match self.number(2) {
            0 => {
                self.heredocs.push(format!("{body}\nEOF\n"));
                " <<EOF".to_owned()
            }
            _ => {
                self.heredocs.push(format!("\t{body}\n\tEOF\n"));
                " <<-EOF".to_owned()
            }
        }
    }
}

//! Scripts made by chance from the constructs of the shell language.

/// Programs that only write their name down.
pub(crate) const PROGRAMS: &[&str] = &["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9"];

/// An endless row of scripts, always the same for a seed.
pub(crate) struct Scripts {
    state: u64,
    heredocs: Vec<String>,
}

impl Scripts {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1, heredocs: Vec::new() }
    }

    fn number(&mut self, below: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 33) as usize % below
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.number(from.len())]
    }

    /// A program, with its name written in one of many ways.
    fn program(&mut self) -> String {
        let name = self.pick(PROGRAMS);
        let digit = &name[1..];
        match self.number(14) {
            0 => format!("'{name}'"),
            1 => format!("\"p\"{digit}"),
            2 => format!("p\\{digit}"),
            3 => format!("p''{digit}"),
            4 => format!("\\p{digit}"),
            5 => format!("p\\\n{digit}"),
            6 => format!("\"\"{name}"),
            _ => name.to_owned(),
        }
    }

    fn word(&mut self, depth: usize) -> String {
        let inner = |this: &mut Self| this.line(depth + 1);
        match self.number(if depth > 2 { 9 } else { 26 }) {
            0 => "plain".to_owned(),
            1 => "'single; p0 | p1 $(p2) `p3`'".to_owned(),
            2 => "\"double; p0 && p1 \\$(p2) \\`p3\\`\"".to_owned(),
            3 => "a\\;b\\&c\\|d\\$\\(p0\\)".to_owned(),
            4 => "$x".to_owned(),
            5 => "\"$@\"".to_owned(),
            6 => "a#b".to_owned(),
            7 => "~/file".to_owned(),
            8 => "--option=1".to_owned(),
            9 => format!("$({})", inner(self)),
            10 => format!("\"a $({}) b\"", inner(self)),
            11 => format!("`{}`", self.program()),
            12 => format!("\"`{} a`\"", self.pick(PROGRAMS)),
            13 => format!("${{x:-$({})}}", inner(self)),
            14 => format!("\"${{x:-\"$({})\"}}\"", inner(self)),
            15 => format!("$(( 1 + ${{#x}} ))$({})", inner(self)),
            16 => format!("${{x:+no}}${{y-`{}`}}", self.pick(PROGRAMS)),
            17 => format!("\"nested $(echo \"deep $({})\")\"", inner(self)),
            18 => format!("$( ({}) )", inner(self)),
            19 => format!("$(({}) ; ({}))", inner(self), self.pick(PROGRAMS)),
            20 => format!("x=$({})", inner(self)),
            21 => format!("`echo \\`{}\\``", self.pick(PROGRAMS)),
            22 => format!("$( # p0 ) '\n{} )", inner(self)),
            23 => format!("$(case a in a) {} ;; (b) p0 ;; esac)", inner(self)),
            24 => format!("${{x#$({})}}'}}'", inner(self)),
            _ => format!("\"$x\"'a'$({})\"'$({})'\"", inner(self), inner(self)),
        }
    }

    fn words(&mut self, depth: usize) -> String {
        (0..self.number(3)).map(|_| format!(" {}", self.word(depth))).collect()
    }

    fn redirect(&mut self, depth: usize) -> String {
        match self.number(9) {
            0 => " >/dev/null".to_owned(),
            1 => " 2>&1".to_owned(),
            2 => " </dev/null".to_owned(),
            3 => " >>out 2>err".to_owned(),
            4 => format!(" >\"out$({})\"", self.line(depth + 1)),
            5 if depth < 2 => {
                let body = format!(
                    "text $({}) 'quoted $({})'\n`{}`",
                    self.pick(PROGRAMS),
                    self.pick(PROGRAMS),
                    self.pick(PROGRAMS)
                );
                self.heredocs.push(format!("{body}\nEOF\n"));
                " <<EOF".to_owned()
            }
            6 if depth < 2 => {
                self.heredocs.push("\t$(nothing) `runs` here; p0\n\tEND\n".to_owned());
                " <<-'END'".to_owned()
            }
            7 => " 3>&-".to_owned(),
            _ => String::new(),
        }
    }

    fn simple(&mut self, depth: usize) -> String {
        let assignment = match self.number(12) {
            0 => "A=1 ".to_owned(),
            1 => format!("B=$({}) ", self.line(depth + 1)),
            2 => "C='a b' D=\"$x\" ".to_owned(),
            _ => String::new(),
        };
        let program = self.program();
        let words = self.words(depth);
        let redirect = if self.number(5) == 0 { self.redirect(depth) } else { String::new() };
        format!("{assignment}{program}{words}{redirect}")
    }

    fn wrapped(&mut self, depth: usize) -> String {
        let (program, words) = (self.program(), self.words(depth));
        let quoted = |text: String| format!("'{}'", text.replace('\'', "'\\''"));
        match self.number(20) {
            0 => format!("env A=1 -u B {program}{words}").replace("A=1 -u B", "-u B A=1"),
            1 => format!("sudo -n -u root {program}{words}"),
            2 => format!("timeout -k 1 5 {program}{words}"),
            3 => format!("nice -n 5 {program}{words}"),
            4 => format!("nohup {program}{words}"),
            5 => format!("stdbuf -oL {program}{words}"),
            6 => format!("echo a | xargs -n 1 {program}"),
            7 => format!("find . -name x -exec {program} {{}} \\;"),
            8 => format!("command {program}{words}"),
            9 => format!("(exec {program}{words})"),
            10 => format!("eval {}", quoted(self.plain_line(depth + 1))),
            11 => format!("bash -c {}", quoted(self.plain_line(depth + 1))),
            12 => format!("sh -c {}", quoted(self.pick(PROGRAMS).to_owned())),
            13 => format!("(trap {} EXIT)", quoted(self.plain_line(depth + 1))),
            14 => format!("env sudo timeout 3 nice {program}"),
            15 => format!("bash -ec \"{} a; {}\"", self.pick(PROGRAMS), self.pick(PROGRAMS)),
            16 => format!("eval \"eval '{}'\"", self.pick(PROGRAMS)),
            17 => format!("bash -c \"bash -c '{}; {}'\"", self.pick(PROGRAMS), self.pick(PROGRAMS)),
            18 => format!("xargs -I X {program} X"),
            _ => format!("export E=$({})", self.line(depth + 1)),
        }
    }

    /// A line that holds no here-document.
    fn plain_line(&mut self, depth: usize) -> String {
        let kept = std::mem::take(&mut self.heredocs);
        let line = self.line(depth.max(2));
        self.heredocs = kept;
        line
    }

    fn compound(&mut self, depth: usize) -> String {
        let one = |this: &mut Self| this.line(depth + 1);
        let (a, b) = (one(self), one(self));
        let p = self.pick(PROGRAMS);
        match self.number(18) {
            0 => format!("({a})"),
            1 => format!("{{ {a}; }}"),
            2 => format!("if {a}; then {b}; else {p}; fi"),
            3 => format!("if ! {a}\nthen {b}\nelif {p}; then :\nfi"),
            4 => format!("for i in 1 2; do {a}; done"),
            5 => format!("for i in a $({a}); do {b}; done"),
            6 => format!("while {a}; do {b}; break; done"),
            7 => format!("until {a}; do break; done"),
            8 => format!("case $x in a) {a};; b|c) {b};; *) {p};; esac"),
            9 => format!("case \"$({a})\" in (*) {b} ;; esac"),
            10 => format!("f() {{ {a}; }}; f"),
            11 => format!("g() ( {a} ); g >/dev/null"),
            12 => format!("{{ {a}; }} >/dev/null 2>&1"),
            13 => format!("({a}; {b}) | {p}"),
            14 => format!("! {a}"),
            15 => format!("(({a}) ; {b})"),
            16 => format!("{{ {a} & wait; }}"),
            _ => format!("x=$({a}) y=`{p}`"),
        }
    }

    /// What only bash and zsh understand.
    fn extended(&mut self, depth: usize) -> String {
        let a = self.line(depth + 1);
        let (p, q) = (self.pick(PROGRAMS), self.pick(PROGRAMS));
        match self.number(14) {
            0 => format!("[[ -n $({a}) && a == a* ]] || {p}"),
            1 => format!("(( 1 + 2 )) && {p}"),
            2 => format!("{p} <({a})"),
            3 => format!("{p} > >({q})"),
            4 => format!("{p} <<< \"$({a})\""),
            5 => format!("bash <<< '{p}; {q}'"),
            6 => format!("{p} |& {q}"),
            7 => format!("{p} &>/dev/null"),
            8 => format!("function h {{ {a}; }}; h"),
            9 => format!("for ((i=0; i<2; i++)); do {a}; done"),
            10 => format!("arr=(a $({a}) b)"),
            11 => format!("$'\\x70{}' a", &p[1..]),
            12 => format!("[[ ab =~ ^(a|b) ]]; {a}"),
            _ => format!("time {p}; time -p {q}"),
        }
    }

    fn line(&mut self, depth: usize) -> String {
        if depth > 3 {
            return self.program();
        }
        match self.number(12) {
            0 | 1 if depth < 3 => self.compound(depth),
            2 | 3 => self.wrapped(depth),
            4 if depth < 3 => self.extended(depth),
            5 => {
                let operator = self.pick(&[" && ", " || ", "; ", " | ", " & "]);
                format!("{}{operator}{}", self.simple(depth + 1), self.simple(depth + 1))
            }
            _ => self.simple(depth),
        }
    }
}

impl Iterator for Scripts {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let mut script = String::new();
        for _ in 0..=self.number(2) {
            let line = self.line(0);
            let comment = if self.number(8) == 0 { " # p0; $(p1) '" } else { "" };
            script.push_str(&format!("{line}{comment}\n"));
            let bodies = std::mem::take(&mut self.heredocs);
            script.extend(bodies);
        }
        Some(script)
    }
}

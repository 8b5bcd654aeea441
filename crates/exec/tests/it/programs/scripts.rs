//! Random scripts made from the constructs of the shell language.

/// Programs that only record their arguments.
pub(crate) const PROGRAMS: &[&str] = &["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shell {
    Bash,
    Dash,
    Zsh,
}

impl Shell {
    pub(crate) fn path(self) -> &'static str {
        match self {
            Shell::Bash => "/bin/bash",
            Shell::Dash => "/bin/dash",
            Shell::Zsh => "/bin/zsh",
        }
    }
}

pub(crate) struct Script {
    pub text: String,
    /// Contains a line that is meant to be undecidable.
    pub tricky: bool,
}

/// An endless sequence of scripts, which is the same for a seed.
pub(crate) struct Scripts {
    state: u64,
    pub shell: Shell,
    /// How deep the current script may nest: most are small, so that many are run in little time.
    pub deepest: usize,
    /// Here-document bodies that follow the line.
    pub heredocs: Vec<String>,
    functions: usize,
}

impl Scripts {
    pub(crate) fn new(seed: u64, shell: Shell) -> Self {
        Self {
            state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            shell,
            deepest: 0,
            heredocs: Vec::new(),
            functions: 0,
        }
    }

    pub fn number(&mut self, below: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 33) as usize % below
    }

    pub fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.number(from.len())]
    }

    /// A program by its plain name.
    pub fn name(&mut self) -> &'static str {
        self.pick(PROGRAMS)
    }

    /// A unique function name: a function that called itself would fill the machine with processes.
    pub fn function(&mut self) -> String {
        self.functions += 1;
        format!("f{}", self.functions)
    }

    /// A program, with its name written in one of many ways.
    pub fn program(&mut self) -> String {
        let name = self.name();
        let digit = &name[1..];
        match self.number(16) {
            0 => format!("'{name}'"),
            1 => format!("\"p\"{digit}"),
            2 => format!("p\\{digit}"),
            3 => format!("p''{digit}"),
            4 => format!("\\p{digit}"),
            5 => format!("p\\\n{digit}"),
            6 => format!("\"\"{name}"),
            7 => format!("p\"\\\n{digit}\""),
            _ => name.to_owned(),
        }
    }

    fn simple(&mut self, depth: usize) -> String {
        let assignment = match self.number(14) {
            0 => "A=1 ".to_owned(),
            1 => format!("B=$({}) ", self.line(depth + 1)),
            2 => "C='a b' D=\"$x\" ".to_owned(),
            3 => "E+=1 F=~/x ".to_owned(),
            _ => String::new(),
        };
        let before = if self.number(25) == 0 { ">/dev/null " } else { "" };
        let program = self.program();
        let words = self.words(depth);
        let redirect = if self.number(5) == 0 { self.redirect(depth) } else { String::new() };
        format!("{assignment}{before}{program}{words}{redirect}")
    }

    fn compound(&mut self, depth: usize) -> String {
        let (a, b) = (self.line(depth + 1), self.line(depth + 1));
        let (p, f) = (self.name(), self.function());
        match self.number(28) {
            26 | 27 => self.with_document(depth),
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
            10 => format!("{f}() {{ {a}; }}; {f} a b"),
            11 => format!("{f}() ( {a} ); {f} >/dev/null"),
            12 => format!("{{ {a}; }} >/dev/null 2>&1"),
            13 => format!("({a}; {b}) | {p}"),
            14 => format!("! {a}"),
            15 => format!("(({a}) ; {b})"),
            16 => format!("{{ {a} & wait; }}"),
            17 => format!("x=$({a}) y=`{p}`"),
            // The function runs, not the program of the same name.
            18 => format!("cat() {{ {p} \"$@\"; }}; cat z; {a}"),
            19 => format!("case a in $({p})) : ;; a | \"$({a})\" ) {b}\nesac"),
            20 => format!("case x in [a-z]) {a} ;; '*') {p} ;; esac"),
            21 => format!("for i\ndo {a}\ndone; {p} \"$#\""),
            22 => format!("if {a}; then\n  {b}\nfi </dev/null 2>&1 | {p}"),
            23 => format!("{a} &\n{p}; wait"),
            24 => format!("while :; do case y in (y) {a}; break;; esac; done"),
            _ => format!("{a} \\\n && {p} \\\n a"),
        }
    }

    /// Here-documents whose text is inside something else.
    fn with_document(&mut self, depth: usize) -> String {
        let (a, b) = (self.line(depth + 1), self.line(depth + 1));
        let (p, f) = (self.name(), self.function());
        match self.number(8) {
            0 => format!("{{ {p} <<E\n$({a}) \\$(no)\nE\n}}"),
            1 => format!("if {p} <<'E'\n$(no); `no`\nE\nthen {a}; fi"),
            2 => format!("for i in 1; do {p} <<-E && {b}\n\t`{p}` \"x\n\tE\ndone"),
            3 => format!("{f}() {{ {p} a <<E; }}\n$({a})\nE\n{f}"),
            4 => format!("({p} <<A | {f}=1 {p} <<B\nB $({a})\nA\nA\nB\n)"),
            5 => format!("case x in x) {p} \"a\nb\" <<E ;;\n$({p}) ;; esac\nE\nesac"),
            6 => format!("if ! {p} <<E\n$({a})\nE\nthen :; else {b}; fi"),
            _ => format!("{{ {p} <<E || \\\n{p} a\n'$({a})'\nE\n}}"),
        }
    }

    /// Syntax that only bash and zsh support.
    fn extended(&mut self, depth: usize) -> String {
        let a = self.line(depth + 1);
        let (p, q, f) = (self.name(), self.name(), self.function());
        match self.number(26) {
            0 => format!("[[ -n $({a}) && a == a* ]] || {p}"),
            1 => format!("(( 1 + 2 )) && {p}"),
            2 => format!("{p} <({a})"),
            3 => format!("{p} > >({q})"),
            4 => format!("{p} <<< \"$({a})\""),
            5 => format!("bash <<< '{p}; {q} a'"),
            6 => format!("{p} |& {q}"),
            7 => format!("{p} &>/dev/null"),
            8 => format!("function {f} {{ {a}; }}; {f}"),
            9 => format!("for (({f}=0; {f}<2; {f}++)); do {a}; done"),
            10 => format!("arr=(a $({a}) b)"),
            11 if self.shell != Shell::Dash => format!("$'\\x70{}' a", &p[1..]),
            12 => format!("[[ ab =~ ^(a|b) ]]; {a}"),
            13 => format!("[[ $({p}) =~ x || ( -z $({a}) && ! -e y ) ]]"),
            14 => format!("select i in a b; do {a}; break; done <<< 1"),
            15 if self.shell == Shell::Bash => format!("coproc {p} a; {q}"),
            16 if self.shell == Shell::Bash => format!("coproc NAME {{ {a}; }}"),
            17 => format!("{p} >| out; {q} &>> out"),
            18 => format!("case a in b) : ;& a) {a} ;;& *) {p} ;; esac"),
            19 if self.shell != Shell::Dash => format!("{p} $'a\\'b' $\"c\" {{a,b}}{{1..3}}"),
            20 => format!("(( $({p}) 1 )) || {a}"),
            21 => format!("{{ {a}; }} > >({p}) 2> >({q} a)"),
            22 => format!("x=a; {p} \"${{x/a/$({a})}}\" ${{x:0:1}} ${{x^^}} \"${{#x}}\""),
            23 => format!("function {f} () {{ {a}; }}; {q}; {f} a"),
            24 if self.shell != Shell::Dash => format!("{p} {{fd}}</dev/null; {a}"),
            _ => format!("time {p}; time -p {q}"),
        }
    }

    pub fn line(&mut self, depth: usize) -> String {
        if depth > self.deepest {
            return format!("{}{}", self.program(), self.words(depth));
        }
        match self.number(12) {
            0..=2 => self.compound(depth),
            3 | 4 => self.wrapped(depth),
            5 => self.extended(depth),
            6 => {
                let operator = self.pick(&[" && ", " || ", "; ", " | ", " & ", " |\n", " &&\n", "&&", "|", ";"]);
                format!("{}{operator}{}", self.simple(depth + 1), self.simple(depth + 1))
            }
            _ => self.simple(depth),
        }
    }

    /// A line without a here-document.
    pub fn plain_line(&mut self, depth: usize) -> String {
        let kept = std::mem::take(&mut self.heredocs);
        let mut line = self.line(depth);
        while !self.heredocs.is_empty() {
            self.heredocs.clear();
            line = self.line(depth);
        }
        self.heredocs = kept;
        line
    }
}

impl Iterator for Scripts {
    type Item = Script;

    fn next(&mut self) -> Option<Script> {
        self.deepest = [0, 0, 0, 1, 1, 1, 1, 2, 2, 3][self.number(10)];
        let mut script = Script { text: String::new(), tricky: false };
        for _ in 0..=self.number(2) {
            let is_trick = self.number(12) == 0;
            let line = if is_trick { self.trick() } else { self.line(0) };
            script.tricky |= is_trick;
            let comment = if self.number(8) == 0 { " # p0; $(p1) '" } else { "" };
            script.text.push_str(&format!("{line}{comment}\n"));
            script.text.extend(std::mem::take(&mut self.heredocs));
        }
        Some(script)
    }
}

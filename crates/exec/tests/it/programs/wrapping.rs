//! Commands that start others in a way that can be detected.

use super::scripts::Scripts;

pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

impl Scripts {
    pub fn wrapped(&mut self, depth: usize) -> String {
        let (program, words) = (self.program(), self.words(depth));
        let (p, q) = (self.name(), self.name());
        match self.number(46) {
            0 => format!("env -u B A=1 {program}{words}"),
            1 => format!("sudo -n -u root {program}{words}"),
            2 => format!("timeout -k 1 5 {program}{words}"),
            3 => format!("nice -n 5 {program}{words}"),
            4 => format!("nohup {program}{words}"),
            5 => format!("stdbuf -oL {program}{words}"),
            6 => format!("echo a | xargs -n 1 {program}"),
            7 => format!("find x -name f -exec {program} {{}} \\;"),
            8..=11 => format!("command {program}{words}"),
            12 | 13 => format!("(exec {program}{words})"),
            14..=17 => format!("eval {}", quoted(&self.plain_line(depth + 1))),
            18 | 19 => format!("bash -c {}", quoted(&self.plain_line(depth + 1))),
            20 => format!("sh -c {}", quoted(&format!("{p} \"$0\" a; {q} b"))),
            21..=23 => format!("(trap {} EXIT)", quoted(&self.plain_line(depth + 1))),
            24 => format!("env sudo timeout 3 nice {program}"),
            25 => format!("bash -ec \"{p} a; {q}\""),
            26 => format!("eval \"eval '{p}'\""),
            27 => format!("bash -c \"bash -c '{p}; {q}'\""),
            28 => format!("echo b | xargs -I X {program} X aXb c"),
            29 => format!("export E=$({})", self.line(depth + 1)),
            30 => format!("setsid -w {program}{words}"),
            31 => format!("ionice -c 3 {program}"),
            32 => format!("find x -type f -execdir {program} a {{}} b +"),
            33 => format!("find x \\( -name f -o -name g \\) -exec {p} {{}} \\; -exec {q} b{{}} ';'"),
            34 => format!("printf 'a b\\nc' | xargs -0 -P 2 -r {program} -- x"),
            35 => format!("watch -n 1 {p} a '; {q} b'"),
            36 => format!("ssh -p 22 host {p} a '&& {q}'"),
            37 => format!("busybox {program}{words}"),
            38 => format!("doas -u root {program}"),
            39 => format!("timeout --kill-after=1 --signal KILL 5 {program}"),
            40 => format!("env -C x timeout -s KILL 5 {p} a; {q}"),
            41 => format!("echo a | xargs -n1 sh -c '{p} \"$@\"' _"),
            42 => format!("flock x/f -c '{p} a'; flock x/f {q} b"),
            43 => format!("eval {p} 'a;' {q} b"),
            44 => format!("eval \"\n{p} a\n{q}\""),
            _ => format!("env A=b bash -c '{p} $A' _ c"),
        }
    }
}

//! Writes the man page from the `--help` output of the binary and of each command.

use std::fmt::Write as _;

use super::error;
use super::version::ReleaseVersion;

/// Runs the binary with these arguments and returns its output.
type AskBinary<'a> = &'a dyn Fn(&[&str]) -> Result<String, String>;

const DEEPEST: usize = 4;
const MOST_COMMANDS: usize = 200;

pub fn page(version: &ReleaseVersion, ask: AskBinary<'_>) -> Result<String, String> {
    let mut helps = Vec::new();
    collect(&mut Vec::new(), ask, &mut helps)?;
    let mut page = format!(
        ".TH OMP 1 \"{}\" \"omp {}\" \"User Commands\"\n.nh\n.ad l\n",
        escaped(&version.day),
        escaped(&version.name)
    );
    let mut helps = helps.into_iter();
    if let Some((_, help)) = helps.next() {
        write_whole(&mut page, &help);
    }
    let commands: Vec<(String, Help)> = helps.collect();
    if !commands.is_empty() {
        page.push_str(".SH \"COMMANDS IN DETAIL\"\n");
    }
    for (name, help) in &commands {
        write_command(&mut page, name, help);
    }
    Ok(page)
}

/// Collects the help of a command and of its subcommands.
fn collect(words: &mut Vec<String>, ask: AskBinary<'_>, helps: &mut Vec<(String, Help)>) -> Result<(), String> {
    let mut asked: Vec<&str> = words.iter().map(String::as_str).collect();
    asked.push("--help");
    if words.is_empty() {
        asked.push("all");
    }
    let help = Help::parse(&ask(&asked)?);
    let name = [&["omp".to_owned()], &words[..]].concat().join(" ");
    if help.usage.is_empty() {
        let what = format!("`{name} --help` cannot be parsed: it has no line `Usage:`");
        return Err(error(what, "fix xtask/src/dist/man.rs"));
    }
    let commands = help.commands();
    helps.push((name, help));
    if words.len() >= DEEPEST || helps.len() > MOST_COMMANDS {
        return Err(error(
            "omp has more commands than the man page allows".to_owned(),
            "raise the limit in xtask/src/dist/man.rs",
        ));
    }
    for command in commands {
        words.push(command);
        collect(words, ask, helps)?;
        words.pop();
    }
    Ok(())
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Help {
    about: Vec<String>,
    usage: Vec<String>,
    sections: Vec<ManSection>,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct ManSection {
    /// Empty for a paragraph.
    heading: String,
    lines: Vec<String>,
}

const COMMANDS: &str = "Commands";
const USAGE: &str = "Usage: ";
/// Lines that are indented more belong to the entry above them.
const DEEPEST_ENTRY: usize = 6;

impl Help {
    fn parse(text: &str) -> Self {
        let mut help = Self::default();
        let mut lines = text.lines().map(str::trim_end).peekable();
        while let Some(line) = lines.next_if(|line| !line.starts_with(USAGE)) {
            help.about.push(line.to_owned());
        }
        while let Some(line) = lines.next_if(|line| !line.is_empty()) {
            help.usage.push(line.trim_start_matches(USAGE).trim().to_owned());
        }
        for line in lines.skip_while(|line| line.is_empty()) {
            let is_heading = !line.starts_with(' ') && line.ends_with(':');
            let is_paragraph = !line.starts_with(' ') && !line.is_empty() && !is_heading;
            let follows_heading = help.sections.last().is_some_and(|last| !last.heading.is_empty());
            if is_heading {
                help.sections.push(ManSection { heading: line.trim_end_matches(':').to_owned(), lines: Vec::new() });
            } else if help.sections.is_empty() || is_paragraph && follows_heading {
                help.sections.push(ManSection { heading: String::new(), lines: vec![line.to_owned()] });
            } else if let Some(last) = help.sections.last_mut() {
                last.lines.push(line.to_owned());
            }
        }
        help
    }

    /// The names of the subcommands, except `help`.
    fn commands(&self) -> Vec<String> {
        let sections = self.sections.iter().filter(|section| section.heading == COMMANDS);
        let terms = sections.flat_map(|section| section.entries()).map(|(term, _)| term);
        terms.filter(|term| term != "help").collect()
    }
}

impl ManSection {
    /// The term and the lines of its description.
    fn entries(&self) -> Vec<(String, Vec<String>)> {
        let mut entries: Vec<(String, Vec<String>)> = Vec::new();
        for line in &self.lines {
            let trimmed = line.trim_start();
            if line.len() - trimmed.len() <= DEEPEST_ENTRY && !trimmed.is_empty() {
                let (term, text) = trimmed.split_once("  ").unwrap_or((trimmed, ""));
                let text = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
                entries.push((term.to_owned(), text.into_iter().collect()));
            } else if let Some((_, text)) = entries.last_mut() {
                text.push(trimmed.to_owned());
            }
        }
        entries
    }

    fn has_entries(&self) -> bool {
        let first = self.lines.iter().map(|line| line.trim_start()).find(|line| !line.is_empty());
        self.heading == COMMANDS || first.is_some_and(|line| line.starts_with(['-', '<', '[']))
    }

    fn write(&self, page: &mut String) {
        if self.has_entries() {
            for (term, text) in self.entries().iter().filter(|(term, _)| !is_of_every_command(term)) {
                write_entry(page, term, text);
            }
            return;
        }
        let lines: Vec<&str> = self.lines.iter().map(String::as_str).collect();
        let lines = lines.join("\n");
        match self.heading.is_empty() {
            true => page.push_str(".PP\n"),
            false => page.push_str(".PP\n.nf\n"),
        }
        for line in lines.trim_matches('\n').lines() {
            push_line(page, line);
            if self.heading.is_empty() {
                page.push_str(".br\n");
            }
        }
        if !self.heading.is_empty() {
            page.push_str(".fi\n");
        }
    }
}

/// Writes the main part of the page: each part of the help is a section.
fn write_whole(page: &mut String, help: &Help) {
    let (first, more) = help.about.split_first().map_or(("", &[][..]), |(first, more)| (first.as_str(), more));
    // Writing to a string cannot fail.
    let _ = write!(page, ".SH NAME\nomp \\- {}\n.SH SYNOPSIS\n", escaped(first));
    write_usage(page, &help.usage);
    if more.iter().any(|line| !line.is_empty()) {
        page.push_str(".SH DESCRIPTION\n");
        write_text(page, more);
    }
    for section in &help.sections {
        if !section.heading.is_empty() {
            let _ = writeln!(page, ".SH \"{}\"", escaped(&section.heading.to_uppercase()));
        }
        section.write(page);
    }
}

fn write_command(page: &mut String, name: &str, help: &Help) {
    let _ = writeln!(page, ".SS \"{}\"", escaped(name));
    write_text(page, &help.about);
    page.push_str(".PP\n");
    write_usage(page, &help.usage);
    for section in &help.sections {
        let only_help = section.has_entries() && section.entries().iter().all(|(term, _)| is_of_every_command(term));
        if only_help || section.heading == COMMANDS {
            continue;
        }
        if !section.heading.is_empty() {
            let _ = writeln!(page, ".PP\n\\fI{}\\fR", escaped(&section.heading));
        }
        section.write(page);
    }
}

fn is_of_every_command(term: &str) -> bool {
    matches!(term, "help" | "-h, --help")
}

fn write_usage(page: &mut String, usage: &[String]) {
    for line in usage {
        let _ = writeln!(page, "\\fB{}\\fR\n.br", escaped(line));
    }
}

fn write_entry(page: &mut String, term: &str, text: &[String]) {
    let _ = writeln!(page, ".TP\n\\fB{}\\fR", escaped(term));
    write_text(page, text);
}

/// Joins lines into paragraphs, separated by empty lines. Lists keep their lines.
fn write_text(page: &mut String, text: &[String]) {
    let mut parted = false;
    let mut begun = false;
    for line in text {
        if line.is_empty() {
            parted = begun;
            continue;
        }
        if parted {
            page.push_str(".sp\n");
        } else if begun && line.starts_with("- ") {
            page.push_str(".br\n");
        }
        (parted, begun) = (false, true);
        push_line(page, line);
    }
}

fn push_line(page: &mut String, line: &str) {
    // roff reads a dot or a quote at the start of a line as a request.
    if line.starts_with(['.', '\'']) {
        page.push_str("\\&");
    }
    page.push_str(&escaped(line));
    page.push('\n');
}

/// Escapes characters that roff would replace by typographic ones.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\\' => out.push_str("\\e"),
            '-' => out.push_str("\\-"),
            '"' => out.push_str("\\(dq"),
            '\'' => out.push_str("\\(aq"),
            '`' => out.push_str("\\(ga"),
            '^' => out.push_str("\\(ha"),
            '~' => out.push_str("\\(ti"),
            ' '..='\u{7e}' => out.push(char),
            char if char.is_control() => {}
            char => drop(write!(out, "\\[u{:04X}]", u32::from(char))),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "Does it\n\nUsage: omp [OPTIONS]\n       omp <COMMAND>\n\nCommands:\n  sub   Does a part\n  help  Print this\n\n\
        Arguments:\n  [MESSAGE]...\n          What to do\n\nOptions:\n      --mode <MODE>\n          What to print\n\n\
        \x20         Possible values:\n          - a: One\n          - b: Two\n\n  -h, --help\n          Print help\n\n\
        Examples:\n  omp \"…\" 'x'\n  .hidden\n\nExit codes: 0 done\nsub: 1 not\n";
    const SUB: &str =
        "Does a part\n\nUsage: omp sub\n\nOptions:\n  -x, --long <N>  A number\n  -h, --help      Print help\n";

    fn written(answers: &[(&str, &str)]) -> Result<String, String> {
        let version = ReleaseVersion { name: "1.2.0".into(), seconds: 0, day: "2026-11-17".into() };
        page(&version, &|words| {
            let words = words.join(" ");
            let found = answers.iter().find(|(asked, _)| *asked == words);
            found.map(|(_, text)| (*text).to_owned()).ok_or(words)
        })
    }

    #[test]
    fn every_command_is_on_the_page() {
        let page = written(&[("--help all", WHOLE), ("sub --help", SUB)]).unwrap();
        let want = ".TH OMP 1 \"2026\\-11\\-17\" \"omp 1.2.0\" \"User Commands\"\n.nh\n.ad l\n\
            .SH NAME\nomp \\- Does it\n.SH SYNOPSIS\n\\fBomp [OPTIONS]\\fR\n.br\n\\fBomp <COMMAND>\\fR\n.br\n\
            .SH \"COMMANDS\"\n.TP\n\\fBsub\\fR\nDoes a part\n\
            .SH \"ARGUMENTS\"\n.TP\n\\fB[MESSAGE]...\\fR\nWhat to do\n\
            .SH \"OPTIONS\"\n.TP\n\\fB\\-\\-mode <MODE>\\fR\nWhat to print\n.sp\nPossible values:\n.br\n\\- a: One\n.br\n\\- b: Two\n\
            .SH \"EXAMPLES\"\n.PP\n.nf\n  omp \\(dq\\[u2026]\\(dq \\(aqx\\(aq\n  .hidden\n.fi\n\
            .PP\nExit codes: 0 done\n.br\nsub: 1 not\n.br\n\
            .SH \"COMMANDS IN DETAIL\"\n.SS \"omp sub\"\nDoes a part\n.PP\n\\fBomp sub\\fR\n.br\n\
            .PP\n\\fIOptions\\fR\n.TP\n\\fB\\-x, \\-\\-long <N>\\fR\nA number\n";
        assert_eq!(page, want);
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        assert_eq!(written(&[("--help all", WHOLE)]), Err("sub --help".to_owned()));
        assert!(written(&[("--help all", "nonsense\n")]).unwrap_err().contains("no line `Usage:`"));
        let endless = "a\n\nUsage: omp\n\nCommands:\n  sub  Again\n";
        let version = ReleaseVersion { name: String::new(), seconds: 0, day: String::new() };
        let problem = page(&version, &|_| Ok(endless.to_owned())).unwrap_err();
        assert!(problem.contains("more commands") && problem.contains("hint: "), "{problem}");
    }

    #[test]
    fn roff_sees_no_requests_and_no_escapes() {
        let mut page = String::new();
        push_line(&mut page, ".so \\x 'a' `b` ^~\u{7}");
        assert_eq!(page, "\\&.so \\ex \\(aqa\\(aq \\(gab\\(ga \\(ha\\(ti\n");
    }
}

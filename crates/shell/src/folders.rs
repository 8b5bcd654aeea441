//! Determines the working folder of each command: that of the shell, that of an option (`git -C x`), or unknown.
//!
//! `cd` affects all commands after it, an option only its own command and those that it starts. In `cd x && a && b` the
//! folder of `a` and `b` is known, because they run only if `cd` succeeded; after that list it is not.

use crate::options::is_long;
use crate::{CommandRole, ShellCommand, ShellScript, ShellWord};

/// The folders that a command writes to, as steps from the start folder of the script. `None` if unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stand {
    /// Folder for the paths in its own words.
    pub own: Option<Vec<ShellWord>>,
    /// Folder for its redirects: the shell opens them before the command changes its folder.
    pub redirects: Option<Vec<ShellWord>>,
}

impl ShellScript {
    /// Returns whether the shell itself changes its folder. With `is_led`, the first command is a `cd` whose folder counts
    /// as the start.
    pub fn moves(&self, is_led: bool) -> bool {
        self.scopes(is_led).any(<[String]>::is_empty)
    }

    /// Returns the folders of each command.
    pub fn stands(&self, is_led: bool) -> Vec<Stand> {
        let followed = self.followed(is_led);
        let moves: Vec<&[String]> =
            self.scopes(is_led).filter(|scope| followed.is_none() || !scope.is_empty()).collect();
        let has_moves = !moves.is_empty() || followed.as_ref().is_some_and(|places| !places.is_empty());
        let is_lost = |command: &ShellCommand| {
            moves.iter().any(|scope| command.via.starts_with(scope)) || (has_moves && runs_later(command))
        };
        let mut stands: Vec<Stand> = Vec::with_capacity(self.commands.len());
        // Start folders of the commands that each command starts.
        let mut inner: Vec<Option<Vec<ShellWord>>> = Vec::with_capacity(self.commands.len());
        for (at, command) in self.commands.iter().enumerate() {
            let outer = command.inside.filter(|_| command.is_started);
            let shell = match outer {
                Some(at) => inner.get(at).cloned().flatten(),
                // In the words of another command: the shell runs it in its own folder.
                None => match command.inside.and_then(|at| stands.get(at)) {
                    Some(around) => around.redirects.clone(),
                    None => match followed.as_ref().and_then(|places| places.get(at)) {
                        Some(place) => place.clone(),
                        None => Some(Vec::new()),
                    },
                },
            };
            let shell = shell.filter(|_| !is_lost(command));
            let redirects = match outer.filter(|_| command.shares_redirects).and_then(|at| stands.get(at)) {
                Some(starter) => starter.redirects.clone(),
                None => shell.clone(),
            };
            let led = |to: Leads| match to {
                Leads::Nowhere => shell.clone(),
                Leads::Into(steps) => shell.clone().map(|shell| [shell, steps].concat()),
                Leads::Astray => None,
            };
            inner.push(led(leads_inner(command)));
            stands.push(Stand { own: led(leads_itself(command)), redirects });
        }
        stands
    }

    /// Follows the `cd` commands of the script itself: the folder of the shell at each command, `None` where it is unknown.
    /// Empty if there are none, and `None` if one of them is in a loop, a branch or a function, or means something else.
    fn followed(&self, is_led: bool) -> Option<Vec<Option<Vec<ShellWord>>>> {
        let is_move = |at: usize, command: &ShellCommand| {
            at >= usize::from(is_led) && moves_the_shell(command) && scope(&command.via).is_empty()
        };
        let mut moves = self.commands.iter().enumerate().filter(|(at, command)| is_move(*at, command)).peekable();
        if moves.peek().is_none() {
            return Some(Vec::new());
        }
        let is_plain =
            |command: &ShellCommand| command.depth == 0 && command.via.is_empty() && command.inside.is_none();
        let redefined = self.defined.iter().any(|name| name == "cd");
        if redefined || !moves.all(|(_, command)| is_plain(command)) {
            return None;
        }
        let mut shell = Some(Vec::new());
        // The list in which the last `cd` has certainly succeeded.
        let mut sure_in = None;
        let mut places = Vec::with_capacity(self.commands.len());
        for (at, command) in self.commands.iter().enumerate() {
            if sure_in.is_some() && sure_in != command.and_list {
                shell = None;
            }
            places.push(shell.clone());
            if is_move(at, command) {
                let step = step_of(command).filter(|_| command.and_list.is_some() && !self.is_piped(command));
                shell = shell.zip(step).map(|(shell, step)| [shell, vec![step]].concat());
                sure_in = command.and_list.or(Some(usize::MAX));
            }
        }
        Some(places)
    }

    /// Whether it is part of a pipe, so that a shell of its own may run it.
    fn is_piped(&self, command: &ShellCommand) -> bool {
        let Some((pipeline, _)) = command.pipes.first() else { return false };
        let together =
            |other: &ShellCommand| other.pipes.first().is_some_and(|(number, at)| number == pipeline && *at > 0);
        self.commands.iter().any(together)
    }

    /// Scopes of the commands that change a shell's folder.
    fn scopes(&self, is_led: bool) -> impl Iterator<Item = &[String]> {
        let moves = self.commands.iter().skip(usize::from(is_led)).filter(|command| moves_the_shell(command));
        moves.map(|command| scope(&command.via))
    }
}

fn moves_the_shell(command: &ShellCommand) -> bool {
    matches!(command.program(), Some("cd" | "chdir" | "pushd" | "popd"))
}

/// The folder of a `cd` that can lead to one place only. `..` is left out: `cd` resolves it by name, programs by the real path.
fn step_of(command: &ShellCommand) -> Option<ShellWord> {
    let [program, to] = command.words.as_slice() else { return None };
    let is_clear = to.known
        && !to.text.is_empty()
        && !to.text.starts_with(['-', '+'])
        && !to.text.split('/').any(|part| part == "..");
    (program.text == "cd" && command.assignments.is_empty() && is_clear).then(|| to.clone())
}

/// The scope up to the innermost subshell, whose folder change ends with it.
fn scope(via: &[String]) -> &[String] {
    const SAME_SHELL: &[&str] = &["eval", "command", "builtin", "noglob", "-", "trap", "alias", "exec", "<<"];
    let is_apart = |via: &String| !SAME_SHELL.contains(&via.as_str()) && !via.starts_with("function ");
    let end = via.iter().rposition(is_apart).map_or(0, |last| last + 1);
    &via[..end]
}

/// Returns whether the command may run when the shell is in another folder than at its position in the script.
fn runs_later(command: &ShellCommand) -> bool {
    command.via.iter().any(|via| via.starts_with("function ") || matches!(via.as_str(), "trap" | "alias"))
}

/// Relative to the folder of the shell.
enum Leads {
    Nowhere,
    Into(Vec<ShellWord>),
    Astray,
}

/// Returns the folder for the paths in its own words.
fn leads_itself(command: &ShellCommand) -> Leads {
    let words = command.words.get(1..).unwrap_or_default();
    match command.program() {
        Some("git") => by_option(globals(words, GIT_VALUES), 'C', None),
        Some("go") => by_option(words.get(..2).unwrap_or(words), 'C', None),
        Some("cargo" | "make" | "gmake" | "ninja") => by_option(words, 'C', Some("--directory")),
        _ => Leads::Nowhere,
    }
}

/// Returns the start folder of the commands that it starts.
fn leads_inner(command: &ShellCommand) -> Leads {
    let words = command.words.get(1..).unwrap_or_default();
    let has = |texts: &[&str]| words.iter().any(|word| texts.contains(&word.text.as_str()));
    match command.program() {
        Some("env") => by_option(globals(words, "uCS"), 'C', Some("--chdir")),
        Some("sudo") if has(&["-i", "--login"]) => Leads::Astray,
        Some("sudo") => by_option(globals(words, "CDghpRrTtUu"), 'D', Some("--chdir")),
        Some("doas") => Leads::Nowhere,
        Some("su") if has(&["-", "-l", "--login"]) => Leads::Astray,
        Some("su") => Leads::Nowhere,
        Some("find" | "gfind") if has(&["-execdir", "-okdir"]) => Leads::Astray,
        // Git runs them at the top of the repository, or in a submodule.
        Some("git") => Leads::Astray,
        Some("parallel") if words.iter().any(|word| word.text.starts_with("--w")) => Leads::Astray,
        _ if command.role == CommandRole::Elsewhere => Leads::Astray,
        _ => Leads::Nowhere,
    }
}

/// Short options of git before its verb that take a value.
const GIT_VALUES: &str = "Cc";

/// Returns the options before the first operand; those in `values` take the next word.
fn globals<'a>(words: &'a [ShellWord], values: &str) -> &'a [ShellWord] {
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.text.len() > 1 && word.text.starts_with('-')) {
        let takes_next = match word.text.strip_prefix("--") {
            Some(long) => {
                !long.contains('=') && matches!(long, "chdir" | "user" | "group" | "unset" | "namespace" | "exec-path")
            }
            None => word.text.ends_with(|last| values.contains(last)),
        };
        at += if takes_next { 2 } else { 1 };
    }
    &words[..at.min(words.len())]
}

/// Handles `-C x`, `-Cx`, `-kC x`, `--directory x` and `--directory=x`, in sequence.
fn by_option(words: &[ShellWord], letter: char, long: Option<&str>) -> Leads {
    let mut steps = Vec::new();
    let mut rest = words.iter().take_while(|word| word.text != "--");
    while let Some(word) = rest.next() {
        let text = word.text.as_str();
        if !word.known && text.starts_with(['$', '`']) {
            // It could be any option.
            return Leads::Astray;
        }
        if text.starts_with("--") {
            if long.is_some_and(|long| is_long(long, text)) {
                let value = text.split_once('=').map(|(_, value)| ShellWord { text: value.to_owned(), ..word.clone() });
                steps.extend(value.or_else(|| rest.next().cloned()));
            }
        } else if let Some(at) = text.strip_prefix('-').and_then(|bundle| bundle.find(letter)) {
            let attached = &text[at + 1 + letter.len_utf8()..];
            let value = ShellWord { text: attached.to_owned(), ..word.clone() };
            steps.extend(if attached.is_empty() { rest.next().cloned() } else { Some(value) });
        }
    }
    match steps {
        steps if steps.is_empty() => Leads::Nowhere,
        steps if steps.iter().all(|step| step.known) => Leads::Into(steps),
        _ => Leads::Astray,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats `program:own` for each command, with `>redirects` if different; `?` if unknown.
    fn told(script: &str) -> String {
        let script = crate::read(script);
        let steps = |steps: &Option<Vec<ShellWord>>| match steps {
            Some(steps) => steps.iter().map(|step| format!("/{}", step.text)).collect(),
            None => "?".to_owned(),
        };
        let one = |(command, stand): (&ShellCommand, Stand)| {
            let (own, redirects) = (steps(&stand.own), steps(&stand.redirects));
            let behind = if own == redirects { String::new() } else { format!(">{redirects}") };
            format!("{}:{own}{behind}", command.program().unwrap_or("…"))
        };
        let stands = script.stands(false);
        script.commands.iter().zip(stands).map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn an_option_leads_only_its_own_command_elsewhere() {
        for (script, expect) in [
            ("git -C x status; rm ../y", "git:/x> rm:"),
            ("git -C x -C z status && rm ../y", "git:/x/z> rm:"),
            ("git -C $X status; rm ../y", "git:?> rm:"),
            ("git -c user.name=a -C x add b; rm y", "git:/x> rm:"),
            ("git commit -C HEAD; rm y", "git: rm:"),
            ("git diff -C; rm y", "git: rm:"),
            ("make -C x all; rm ../y", "make:/x> rm:"),
            ("make -kCx; rm ../y", "make:/x> rm:"),
            ("make --directory=x; make --directory z; rm ../y", "make:/x> make:/z> rm:"),
            ("tar -C x -xf a; rm ../y", "tar: rm:"),
            ("npm --prefix x install; rm ../y", "npm: rm:"),
            ("go -C x build; rm y", "go:/x> rm:"),
            ("grep -C 3 a b; rm y", "grep: rm:"),
            ("curl -C - -o x u; rm y", "curl: rm:"),
        ] {
            assert_eq!(told(script), expect, "{script}");
        }
    }

    #[test]
    fn what_a_command_starts_works_where_that_leads() {
        for (script, expect) in [
            ("env -C x rm ../y; rm z", "env: rm: rm:/x>"),
            ("env -iCx tee y", "env: tee:/x>"),
            ("env --chdir=x A=b tee y > z", "env: tee:/x>"),
            ("env --chdir x sh -c 'rm y > z'", "env: sh:/x> rm:/x"),
            ("env -C x tee $(rm y)", "env: rm: tee:/x>"),
            ("env A=b tee -C y", "env: tee:"),
            ("sudo -D x rm y", "sudo: rm:/x>"),
            ("sudo -u me rm y", "sudo: rm:"),
            ("sudo -i rm y", "sudo: rm:?>"),
            ("find . -execdir rm y ';'; rm z", "find: rm: rm:?>"),
            ("find . -exec rm y ';'", "find: rm:"),
            ("git submodule foreach 'rm y'; rm z", "git: rm: rm:?"),
            ("git rebase -x 'rm y' main", "git: rm:?"),
            ("ssh host rm y; rm z", "ssh: rm: rm:?"),
            ("timeout 5 nice rm y", "timeout: nice: rm:"),
            ("bash -c 'rm y'", "bash: rm:"),
        ] {
            assert_eq!(told(script), expect, "{script}");
        }
    }

    #[test]
    fn a_shell_that_moves_takes_its_own_commands_along() {
        for (script, expect) in [
            ("cd x; rm y", "cd: rm:?"),
            ("rm z; cd x\nrm y", "rm: cd: rm:?"),
            ("rm y; if a; then cd x; fi", "rm:? a:? cd:?"),
            ("(cd x && make); rm ../y", "cd:? make:? rm:"),
            ("a $(cd x && pwd); rm y", "a: cd:? pwd:? rm:"),
            ("bash -c 'cd x; rm y'; rm z", "bash: rm: cd:? rm:?"),
            ("eval 'cd x'; rm y", "eval:? rm:? cd:?"),
            ("f() { rm y; }; (cd x; f)", "rm:? cd:? f:?"),
            ("trap 'rm y' EXIT; (cd x)", "trap: cd:? rm:?"),
            ("pushd x; rm y", "pushd: rm:?"),
            ("{ cd x; }; rm y", "cd:? rm:?"),
        ] {
            assert_eq!(told(script), expect, "{script}");
        }
        for (script, expect) in [
            ("mkdir -p x && cd x && touch a | tee b", "mkdir: cd: touch:/x tee:/x"),
            ("cd x && cd y/z && rm a > b", "cd: cd:/x rm:/x/y/z"),
            ("cd x &&\n rm a", "cd: rm:/x"),
            ("time cd x && rm a", "cd: rm:/x"),
            ("a; cd x && rm b; rm c", "a: cd: rm:/x rm:?"),
            ("cd x && { rm a; } && (rm b)", "cd: rm:/x rm:/x"),
            ("cd x && env -C y rm a", "cd: env:/x rm:/x/y>/x"),
            ("cd x && a $(rm b)", "cd: a:/x rm:/x"),
            ("cd x && bash -c 'rm a'", "cd: bash:/x rm:/x"),
            ("cd x && if a; then rm b; fi", "cd: a:/x rm:/x"),
            // Here it may not have moved, or nobody knows where to.
            ("cd x || a && rm b", "cd: a:? rm:?"),
            ("a || cd x && rm b", "a: cd: rm:?"),
            ("! cd x && rm b", "cd: rm:?"),
            ("cd x && a || rm b", "cd: a:/x rm:?"),
            ("cd x & rm b", "cd: rm:?"),
            ("cd x | rm b", "cd: rm:?"),
            ("cd x | cat && rm b", "cd: cat:? rm:?"),
            ("cd $X && rm b", "cd: rm:?"),
            ("cd - && rm b", "cd: rm:?"),
            ("cd .. && rm b", "cd: rm:?"),
            ("cd -P x && rm b", "cd: rm:?"),
            ("cd && rm b", "cd: rm:?"),
            ("CDPATH=/y cd x && rm b", "cd: rm:?"),
            ("cd x && rm a && cd .. && rm b", "cd: rm:/x cd:/x rm:?"),
            ("cd x && pushd y && rm b", "cd: pushd:/x rm:?"),
            ("cd x && eval 'cd y' && rm b", "cd:? eval:? rm:? cd:?"),
            ("cd() { :; }; cd x && rm b", "::? cd:? rm:?"),
            ("f() { rm a; }; cd x && f", "rm:? cd: f:/x"),
        ] {
            assert_eq!(told(script), expect, "{script}");
        }
        let script = crate::read("cd x && rm y > z && env -C w tee a");
        let own: Vec<Option<usize>> = script.stands(true).iter().map(|it| it.own.as_ref().map(Vec::len)).collect();
        assert_eq!(own, [Some(0), Some(0), Some(0), Some(1)]);
    }
}

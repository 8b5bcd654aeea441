//! How each kind of shell receives a command, and how it dumps its state afterwards.
//!
//! The command is not passed as an argument: `pkill -f "http.server 8000"` would match it there and kill the shell that
//! runs it. The shell reads it from a file descriptor, which it closes before it runs anything, so the command can also be
//! larger than the size limit of an argument.

use std::path::Path;

use crate::declared::WHOLE;

/// A family of shells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShellDialect {
    Bash,
    Zsh,
    Fish,
    /// dash, busybox and any other shell that is configured.
    Posix,
}

/// Separates the setup from the command if the shell reads both from one descriptor.
const END_OF_SETUP: char = '\u{1}';

/// What a shell dumps when it exits.
pub(crate) struct ShellDump<'a> {
    pub(crate) folder: &'a Path,
    /// Whether to dump functions and aliases too: there can be thousands.
    pub(crate) definitions: bool,
}

impl ShellDialect {
    pub(crate) fn of(program: &Path) -> Self {
        match program.file_stem().and_then(|name| name.to_str()) {
            Some("bash") => Self::Bash,
            Some("zsh") => Self::Zsh,
            Some("fish") => Self::Fish,
            _ => Self::Posix,
        }
    }

    /// The script for `-c`: reads [`Self::text`] from the descriptor `slot` and runs it. The command gets no arguments and
    /// no variables of omp, and its line numbers start at one.
    pub(crate) fn boot(self, slot: i32) -> String {
        match self {
            // Bash has a variable for the command of `-c`. A variable of our own would have to be unset by the text that is
            // run: error messages would show that, and it would not happen if the text cannot be parsed.
            Self::Bash => format!(
                "IFS= read -r -d $'\\001' -u {slot} OMP_SETUP; IFS= read -r -d '' -u {slot} BASH_EXECUTION_STRING; \
                 exec {slot}<&-; eval \"$OMP_SETUP\"; \\builtin unset OMP_SETUP; eval \"$BASH_EXECUTION_STRING\""
            ),
            // Zsh would otherwise read byte by byte, and does not support a descriptor above 9 in `exec 12<&-`.
            Self::Zsh => format!(
                "OMP_FD={slot}; OMP_SETUP=\"$(<&{slot})\"; exec {{OMP_FD}}<&-; OMP_FD=(\"${{(@ps:\\001:)OMP_SETUP}}\"); \
                 OMP_SETUP=\"$OMP_FD[1]\"; OMP_COMMAND=\"${{(pj:\\001:)OMP_FD[2,-1]}}\"; \
                 eval \"$OMP_SETUP\"; eval \"\\builtin unset OMP_SETUP OMP_COMMAND OMP_FD;$OMP_COMMAND\""
            ),
            Self::Fish => format!("command cat <&{slot} | read -z OMP_SETUP; eval $OMP_SETUP"),
            Self::Posix if slot > 9 => format!("eval \"$(command -p cat /dev/fd/{slot})\""),
            Self::Posix => format!("eval \"$(command -p cat <&{slot})\""),
        }
    }

    /// The script for systems where no descriptor can be inherited; the text is the only argument.
    pub(crate) fn boot_from_argument(self) -> &'static str {
        match self {
            Self::Fish => "eval $argv[1]",
            _ => "eval \"$1\"",
        }
    }

    pub(crate) fn text(self, setup: &str, command: &str, slot: Option<i32>) -> String {
        match (self, slot) {
            (Self::Bash | Self::Zsh, Some(_)) => format!("{setup}{END_OF_SETUP}{command}"),
            (Self::Fish, _) => format!("set -e OMP_SETUP; set -e argv\n{setup}\n{command}"),
            (_, Some(slot)) if slot <= 9 => format!("exec {slot}<&-\n{setup}\neval {}", self.quoted(command)),
            (_, Some(_)) => format!("{setup}\neval {}", self.quoted(command)),
            (_, None) => format!("shift\n{setup}\neval {}", self.quoted(command)),
        }
    }

    pub(crate) fn quoted(self, text: &str) -> String {
        match self {
            Self::Fish => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
            _ => format!("'{}'", text.replace('\'', "'\\''")),
        }
    }

    fn path(self, folder: &Path, file: &str) -> String {
        self.quoted(&folder.join(file).to_string_lossy())
    }

    /// Shell code that exports one variable.
    pub(crate) fn export(self, name: &str, value: &str) -> String {
        match self {
            Self::Fish => format!("set -gx {name} {}\n", self.quoted(value)),
            _ => format!("export {name}={}\n", self.quoted(value)),
        }
    }

    /// Shell code that makes the shell dump its state when it exits, however the command ends it.
    pub(crate) fn dump(self, dump: &ShellDump<'_>) -> String {
        let ShellDump { folder, definitions } = dump;
        let env = self.path(folder, "env");
        let whole = WHOLE.trim_end();
        let mut body = String::new();
        if let Some(print) = self.dump_definitions().filter(|_| *definitions) {
            body = format!("{{ {print}; echo; echo \"{whole}\"; }} >|{}; ", self.path(folder, "defs.new"));
        }
        match self {
            // Exported functions are printed as `declare -fx NAME`.
            Self::Bash => {
                let functions = self.path(folder, "exported.new");
                body += &format!(
                    "\\builtin declare -Fx >|{functions}; {{ \\builtin declare -p; echo \"{whole}\"; }} >|{env}"
                );
            }
            Self::Zsh => {
                let plain = self.path(folder, "plain.new");
                body += &format!(
                    "() {{ emulate -L zsh; local __omp_n __omp_v; local -a __omp_l; \
                     for __omp_n in ${{(k)parameters[(R)*export*]}}; do print -rN -- \"$__omp_n=${{(P)__omp_n}}\"; done >|{env}; \
                     for __omp_n __omp_v in \"${{(@kv)parameters}}\"; do case $__omp_n:$__omp_v in \
                     (*:*(special|export|readonly|hide|local|tied|undefined)*|ZSH_*|OMP_*|TTY:*|signals:*|(|READ)NULLCMD:*) ;; \
                     (*) __omp_l+=($__omp_n) ;; esac; done; \
                     {{ (( $#__omp_l )) && typeset -p -- $__omp_l; echo; echo \"{whole}\"; }} >|{plain}; }}"
                );
            }
            Self::Fish => {
                return format!("function __omp_leave --on-event fish_exit; command env -0 >{env} 2>/dev/null; end\n");
            }
            // No program can be started if a variable is too large.
            Self::Posix => {
                body += &format!("command -p env -0 >|{env} || {{ export -p; echo \"{whole}\"; }} >|{env}");
            }
        }
        format!("trap {} EXIT\n", self.quoted(&format!("{{ {body}; }} 2>/dev/null")))
    }

    /// Shell code that reads the files with the dumped functions and aliases.
    pub(crate) fn recall(self, folder: &Path) -> String {
        let (first, files): (&str, &[&str]) = match self {
            Self::Bash => ("shopt -s expand_aliases\n", &["options", "defs", "exported"]),
            Self::Zsh => ("", &["options", "defs"]),
            Self::Fish | Self::Posix => ("", &[]),
        };
        let read = |file: &&str| {
            let file = self.path(folder, file);
            format!("if [ -s {file} ]; then . {file} 2>/dev/null; fi\n")
        };
        first.to_owned() + &files.iter().map(read).collect::<String>()
    }

    /// Prints functions and aliases as code.
    pub(crate) fn dump_definitions(self) -> Option<&'static str> {
        match self {
            Self::Bash => Some("\\builtin declare -f; \\builtin alias -p"),
            // A zsh alias would prevent a function of the same name from being parsed.
            Self::Zsh => Some("echo unalias -a; functions; alias -L"),
            Self::Fish | Self::Posix => None,
        }
    }
}

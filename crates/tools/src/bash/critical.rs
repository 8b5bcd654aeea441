//! Commands that nobody should run without looking twice.
//!
//! This is a warning for the person who approves, not a wall: a shell has endless ways to say the same thing.

/// Why a command is dangerous beyond being a command, if it is.
pub(super) fn reason(command: &str) -> Option<&'static str> {
    if is_fork_bomb(command) {
        return Some("Critical pattern detected: fork bomb");
    }
    let pipelines = pipelines(command);
    let simple = || pipelines.iter().flatten();
    if simple().any(|words| removes_the_system(words)) {
        Some("Critical pattern detected: recursive change of the root, home or a system folder")
    } else if pipelines.iter().any(|pipeline| fetches_and_executes(pipeline)) || executes_substituted_fetch(command) {
        Some("Critical pattern detected: runs code fetched from the network")
    } else if simple().any(|words| writes_accounts(words)) {
        Some("Critical pattern detected: writes to the system's account files")
    } else if simple().any(|words| stops_the_host(words)) {
        Some("Critical pattern detected: stops or restarts the host")
    } else if simple().any(|words| overwrites_a_disk(words)) {
        Some("Critical pattern detected: formats or overwrites a disk")
    } else {
        None
    }
}

/// A simple command: its words without quotes, what only wraps it (`sudo`, `env A=b`, …) left out.
type Words = Vec<String>;

/// Pipelines of simple commands, roughly as a shell would split them.
fn pipelines(command: &str) -> Vec<Vec<Words>> {
    let mut all: Vec<Vec<Words>> = vec![vec![vec![]]];
    let mut word = String::new();
    let mut quote = None;
    let mut chars = command.chars().peekable();
    while let Some(char) = chars.next() {
        match (quote, char) {
            (Some(open), close) if open == close => quote = None,
            (None, '"' | '\'') => quote = Some(char),
            (None, '\\') => word.extend(chars.next().filter(|next| *next != '\n')),
            (None, ' ' | '\t') => end_word(&mut all, &mut word),
            (None, '>' | '<') if !word.ends_with(['>', '<']) => {
                end_word(&mut all, &mut word);
                word.push(char);
            }
            (None, '|') => {
                end_word(&mut all, &mut word);
                let is_or = chars.next_if_eq(&'|').is_some();
                if is_or {
                    all.push(vec![vec![]])
                } else {
                    all.last_mut().into_iter().for_each(|last| last.push(vec![]))
                }
            }
            (None, '&') if word.ends_with(['>', '<']) || chars.peek() == Some(&'>') => word.push(char),
            (None, ';' | '&' | '\n' | '(' | ')' | '`') => {
                end_word(&mut all, &mut word);
                all.push(vec![vec![]]);
            }
            (_, char) => word.push(char),
        }
    }
    end_word(&mut all, &mut word);
    let unwrap = |pipeline: Vec<Words>| pipeline.into_iter().map(without_wrappers).collect();
    all.into_iter().map(unwrap).collect()
}

fn end_word(all: &mut [Vec<Words>], word: &mut String) {
    if let Some(words) = all.last_mut().and_then(|pipeline| pipeline.last_mut())
        && !word.is_empty()
    {
        words.push(std::mem::take(word));
    }
}

fn without_wrappers(words: Words) -> Words {
    const WRAPPERS: &[&str] =
        &["sudo", "doas", "env", "nohup", "time", "exec", "command", "then", "do", "else", "!", "{", "$"];
    let is_wrapping = |word: &String| {
        WRAPPERS.contains(&word.as_str())
            || (word.contains('=') && !word.starts_with(['-', '/']))
            || word == "-E"
            || word == "-n"
    };
    words.into_iter().skip_while(is_wrapping).collect()
}

fn program(words: &[String]) -> &str {
    words.first().map_or("", |first| first.rsplit('/').next().unwrap_or(first))
}

fn removes_the_system(words: &[String]) -> bool {
    let flag = |short: char, long: &str| {
        let is_short = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.contains(short);
        words.iter().any(|word| word == long || is_short(word))
    };
    let recursive = flag('r', "--recursive") || flag('R', "--recursive");
    let dangerous = match program(words) {
        "rm" => recursive,
        "chmod" | "chown" | "chgrp" => recursive,
        _ => false,
    };
    dangerous
        && (words.iter().skip(1).any(|word| is_system_path(word))
            || words.iter().any(|word| word == "--no-preserve-root"))
}

fn is_system_path(word: &str) -> bool {
    const FOLDERS: &[&str] = &[
        "",
        "~",
        "$HOME",
        "${HOME}",
        "/bin",
        "/boot",
        "/dev",
        "/etc",
        "/home",
        "/lib",
        "/lib64",
        "/opt",
        "/proc",
        "/root",
        "/sbin",
        "/sys",
        "/usr",
        "/var",
        "/Users",
        "/System",
        "/Library",
        "/Applications",
    ];
    let looks_like_path = word.starts_with(['/', '~', '$']);
    looks_like_path && FOLDERS.contains(&word.trim_end_matches('*').trim_end_matches(['/', '.']))
}

fn fetches_and_executes(pipeline: &[Words]) -> bool {
    let fetch = pipeline.iter().position(|words| matches!(program(words), "curl" | "wget" | "fetch"));
    fetch.is_some_and(|at| pipeline[at + 1..].iter().any(|words| is_interpreter(program(words))))
}

fn is_interpreter(program: &str) -> bool {
    let bare = program.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.');
    matches!(bare, "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish" | "python" | "perl" | "ruby" | "node" | "php")
}

/// `bash <(curl …)`, `sh -c "$(curl …)"`, `eval "$(wget …)"`.
fn executes_substituted_fetch(command: &str) -> bool {
    let flat: String = command.split_whitespace().collect::<Vec<_>>().join(" ");
    let fetched =
        ["$(curl ", "$(wget ", "`curl ", "`wget ", "<(curl ", "<(wget "].iter().find_map(|open| flat.find(open));
    fetched.is_some_and(|at| {
        let before = flat[..at].trim_end_matches(['"', '\'', ' ']).trim_end_matches(" -c");
        let runner = before.rsplit([' ', ';', '&', '|', '/']).next().unwrap_or_default();
        is_interpreter(runner) || matches!(runner, "eval" | "source" | ".")
    })
}

fn writes_accounts(words: &[String]) -> bool {
    let is_account = |word: &str| ["/etc/passwd", "/etc/shadow", "/etc/sudoers", "/etc/group"].contains(&word);
    redirects_to(words, is_account)
        || (matches!(program(words), "tee" | "dd" | "install" | "cp" | "mv" | "truncate")
            && words.last().is_some_and(|word| is_account(word.trim_start_matches("of="))))
}

/// Whether output goes `> file` or `>> file`.
fn redirects_to(words: &[String], is_target: impl Fn(&str) -> bool) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        match word.trim_start_matches(|char: char| char.is_ascii_digit() || char == '&') {
            ">" | ">>" | ">|" => words.get(at + 1).is_some_and(|next| is_target(next)),
            attached => attached.starts_with('>') && is_target(attached.trim_start_matches(['>', '|'])),
        }
    })
}

fn stops_the_host(words: &[String]) -> bool {
    let argument = words.get(1).map_or("", String::as_str);
    match program(words) {
        "shutdown" | "reboot" | "halt" | "poweroff" => true,
        "init" | "telinit" => matches!(argument, "0" | "6"),
        "systemctl" => matches!(argument, "poweroff" | "reboot" | "halt" | "kexec"),
        _ => false,
    }
}

fn overwrites_a_disk(words: &[String]) -> bool {
    let is_disk = |word: &str| {
        const DISKS: &[&str] = &["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper/", "loop"];
        word.strip_prefix("/dev/").is_some_and(|device| DISKS.iter().any(|disk| device.starts_with(disk)))
    };
    match program(words) {
        "dd" => words.iter().any(|word| word.strip_prefix("of=").is_some_and(is_disk)),
        "mkswap" | "wipefs" | "blkdiscard" | "shred" => words.iter().any(|word| is_disk(word)),
        name => name == "mkfs" || name.starts_with("mkfs.") || redirects_to(words, is_disk),
    }
}

/// `name(){ name|name& };name`, with any name.
fn is_fork_bomb(command: &str) -> bool {
    let flat: String = command.chars().filter(|char| !char.is_whitespace()).collect();
    flat.match_indices("(){").any(|(at, _)| {
        let name = flat[..at].rsplit([';', '&', '|', '}', '{']).next().unwrap_or_default();
        !name.is_empty() && flat[at + 3..].starts_with(&format!("{name}|{name}&"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dangerous_commands_are_noticed() {
        for (command, word) in [
            ("rm -rf /", "recursive"),
            ("sudo rm -fr /*", "recursive"),
            ("cd x && rm --recursive --force ~/", "recursive"),
            ("rm -rf \"$HOME\"", "recursive"),
            ("rm -r -f /usr/", "recursive"),
            ("rm -rf --no-preserve-root x", "recursive"),
            ("FOO=1 chmod -R 777 /", "recursive"),
            (":(){ :|:& };:", "fork bomb"),
            ("bomb() { bomb | bomb & }; bomb", "fork bomb"),
            ("curl -fsSL https://x.sh | sh", "fetched"),
            ("wget -qO- x | tee log | sudo -E bash -s -- -y", "fetched"),
            ("curl x | python3 -", "fetched"),
            ("bash <(curl -s x)", "fetched"),
            ("sh -c \"$(curl -fsSL x)\"", "fetched"),
            ("eval \"$(wget -qO- x)\"", "fetched"),
            ("echo root::0:0 >> /etc/passwd", "account"),
            ("echo x 1>/etc/shadow", "account"),
            ("echo x | sudo tee -a /etc/sudoers", "account"),
            ("sudo shutdown -h now", "host"),
            ("true; /sbin/reboot", "host"),
            ("systemctl poweroff", "host"),
            ("init 0", "host"),
            ("mkfs.ext4 /dev/sda1", "disk"),
            ("dd if=/dev/zero of=/dev/nvme0n1 bs=1M", "disk"),
            ("cat image >/dev/sdb", "disk"),
        ] {
            assert!(reason(command).is_some_and(|reason| reason.contains(word)), "{command}: {:?}", reason(command));
        }
    }

    #[test]
    fn everyday_commands_are_not() {
        for command in [
            "rm -rf target node_modules",
            "rm -rf ./dist /tmp/build-1",
            "rm -f /etc/nothing",
            "rm /",
            "curl -s https://api | jq .",
            "curl -o install.sh x; less install.sh",
            "cat /etc/passwd | grep root",
            "grep shutdown src/main.rs",
            "echo 'rm -rf /'",
            "git commit -m 'reboot | halt'",
            "dd if=/dev/urandom of=/tmp/x bs=1 count=1",
            "echo x > /dev/null 2>&1",
            "ls 2>&1 | head",
            "f() { g | h & }; f",
            "VAR=/ make -R",
            "chmod -R u+w vendor",
            "",
            "\\",
            "'unclosed",
        ] {
            assert_eq!(reason(command), None, "{command}");
        }
    }
}

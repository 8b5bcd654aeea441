//! Files with credentials of the user.

use super::program;
use crate::{RedirectKind, ShellCommand, ShellWord};

/// Returns whether the command uses, or may use, the content of such a file.
pub(super) fn touches_credentials(command: &ShellCommand) -> bool {
    let in_words = match program(command) {
        "ls" | "test" | "[" | "stat" | "chmod" | "mkdir" | "echo" | "printf" | "ssh-keygen" | "ssh" => false,
        "find" => has_any(command, &["-exec", "-execdir", "-ok", "-okdir", "-delete"]) && names_one(command),
        "git" => has_any(command, &["diff", "hash-object", "show", "grep", "apply", "add"]) && names_one(command),
        // `-i key` is the intended use of keys.
        "scp" | "sftp" | "rsync" => {
            let sent = |(at, word): (usize, &ShellWord)| {
                !matches!(command.words[at].text.as_str(), "-i" | "-F") && is_credential(word)
            };
            command.words.iter().skip(1).enumerate().any(sent)
        }
        _ => names_one(command),
    };
    in_words
        || command
            .redirects
            .iter()
            .any(|redirect| redirect.kind != RedirectKind::Text && is_credential(&redirect.target))
}

fn has_any(command: &ShellCommand, words: &[&str]) -> bool {
    command.words.iter().any(|word| words.contains(&word.text.as_str()))
}

fn names_one(command: &ShellCommand) -> bool {
    command.words.iter().skip(1).any(is_credential)
}

fn is_credential(word: &ShellWord) -> bool {
    const FOLDERS: &[&str] = &[
        ".ssh/",
        ".gnupg/",
        ".aws/",
        ".config/gcloud/",
        ".azure/",
        ".password-store/",
        ".local/share/keyrings/",
        "Library/Keychains/",
    ];
    const FILES: &[&str] = &[
        ".netrc",
        ".git-credentials",
        ".docker/config.json",
        ".kube/config",
        ".config/gh/hosts.yml",
        ".npmrc",
        ".pypirc",
        ".pgpass",
        ".cargo/credentials.toml",
        ".cargo/credentials",
        ".claude/.credentials.json",
        ".codex/auth.json",
        ".vault-token",
        ".terraform.d/credentials.tfrc.json",
    ];
    let text = word.text.strip_prefix('@').unwrap_or(&word.text);
    if matches!(text, "/etc/shadow" | "/etc/gshadow") || (text.starts_with("/proc/") && text.ends_with("/environ")) {
        return true;
    }
    let is_home = word.home
        || (!word.known && (text.contains("~/") || text.starts_with('~') || text.contains("HOME")))
        || matches!(text.split('/').nth(1), Some("home" | "root" | "Users"));
    let public = text.ends_with(".pub") || text.ends_with("known_hosts") || text.ends_with(".ssh/config");
    let inside = FOLDERS.iter().any(|folder| {
        text.contains(&format!("/{folder}")) || text.ends_with(&format!("/{}", folder.trim_end_matches('/')))
    });
    is_home && !public && (inside || FILES.iter().any(|file| text.ends_with(&format!("/{file}"))))
}

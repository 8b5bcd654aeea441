//! Commands for another machine, and programs that `ssh` itself starts on this one.

use crate::interpret::CommandMeaning;
use crate::wrappers::ProgramOptions;
use crate::{CommandRole, ShellWord};

pub(crate) fn tell(meaning: &mut CommandMeaning<'_>, words: &[ShellWord]) {
    let options = ProgramOptions {
        flags: "46AaCfGgKkMNnqsTtVvXxYy",
        values: "BbcDEeIiJLlmOoPpQRSWw",
        ..ProgramOptions::default()
    };
    let end = options.end(words, false);
    if words.get(1..end.unwrap_or(words.len())).is_some_and(has_risk) {
        meaning.unknown("a command that `ssh` runs here");
    }
    match end {
        Some(at) if words.len() <= at + 1 => meaning.unknown("a shell that `ssh` starts"),
        Some(at) if words.get(at..).is_some_and(|rest| rest.iter().all(|word| word.known)) => {
            let text = words.iter().skip(at + 1).map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
            meaning.runs_text(&text, true, CommandRole::Elsewhere);
        }
        _ => meaning.unknown("what `ssh` runs"),
    }
}

/// Options that load settings or libraries, and settings that are not known to be harmless.
fn has_risk(options: &[ShellWord]) -> bool {
    const HARMLESS: &[&str] = &[
        "stricthostkeychecking",
        "batchmode",
        "connecttimeout",
        "connectionattempts",
        "serveraliveinterval",
        "serveralivecountmax",
        "tcpkeepalive",
        "loglevel",
        "user",
        "port",
        "hostname",
        "identityfile",
        "identitiesonly",
        "compression",
        "preferredauthentications",
        "passwordauthentication",
        "pubkeyauthentication",
        "requesttty",
        "addressfamily",
    ];
    options.iter().enumerate().any(|(at, word)| {
        let bundle = word.text.strip_prefix('-').unwrap_or_default();
        let Some(letter) = bundle.find(['o', 'F', 'I', 'w', 'S']) else { return false };
        let attached = &bundle[letter + 1..];
        let setting = if attached.is_empty() { options.get(at + 1).map_or("", |next| &next.text) } else { attached };
        let key = setting.split(['=', ' ']).next().unwrap_or_default().to_ascii_lowercase();
        !bundle[letter..].starts_with('o') || !HARMLESS.contains(&key.as_str())
    })
}

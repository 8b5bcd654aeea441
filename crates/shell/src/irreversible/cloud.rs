//! Which commands of cloud command lines only read.

/// Commands about the program itself: its login, its settings, its help.
const OWN: &[&str] = &[
    "auth",
    "account",
    "components",
    "config",
    "configure",
    "feedback",
    "find",
    "help",
    "info",
    "init",
    "interactive",
    "login",
    "logout",
    "sso",
    "topic",
    "upgrade",
    "version",
];

/// Verbs that read, also as the first part of a longer verb (`describe-instances`).
const READING: &[&str] = &[
    "batch-get",
    "cat",
    "check",
    "describe",
    "detect",
    "du",
    "estimate",
    "filter",
    "get",
    "hash",
    "head",
    "help",
    "list",
    "lookup",
    "ls",
    "presign",
    "preview",
    "print",
    "query",
    "read",
    "search",
    "show",
    "simulate",
    "stat",
    "tail",
    "validate",
    "version",
    "wait",
];

/// Verbs that write. What stands behind one is the name of a thing.
const WRITING: &[&str] = &[
    "add", "apply", "attach", "bind", "call", "cancel", "cp", "create", "delete", "deploy", "detach", "disable",
    "enable", "execute", "export", "failover", "grant", "import", "invoke", "move", "mv", "patch", "promote",
    "publish", "purge", "put", "register", "remove", "replace", "reset", "resize", "restart", "restore", "revoke",
    "rm", "rollback", "rsync", "run", "scale", "scp", "set", "ssh", "start", "stop", "submit", "sync", "undelete",
    "update", "upload",
];

pub(crate) fn only_reads(program: &str, operands: &[&str]) -> bool {
    let Some(first) = operands.first() else { return true };
    if OWN.contains(first) || (operands.len() < 2 && program != "gsutil") {
        return true;
    }
    downloads(operands) || reads(operands)
}

/// The first verb decides.
pub(crate) fn reads(operands: &[&str]) -> bool {
    let is = |verbs: &[&str], word: &str| {
        verbs.iter().any(|verb| word.strip_prefix(verb).is_some_and(|rest| rest.is_empty() || rest.starts_with('-')))
    };
    let verb = operands.iter().find(|word| is(READING, word) || is(WRITING, word));
    verb.is_some_and(|verb| is(READING, verb))
}

/// `aws s3 cp s3://bucket/x .`: the target is on this machine.
fn downloads(operands: &[&str]) -> bool {
    let is_remote = |place: &str| place.starts_with("s3://") || place.starts_with("gs://");
    let copies = operands.iter().any(|word| matches!(*word, "cp" | "sync" | "rsync"));
    let places = operands.iter().filter(|word| is_remote(word)).count();
    copies && places == 1 && operands.last().is_some_and(|last| !is_remote(last))
}

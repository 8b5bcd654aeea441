//! Whether a user can approve access that is closed to commands, and how this is worded for the model.

/// Ends hints and descriptions if a user can approve access.
const ASKED: &str = ": the user is asked";

/// Whether a user can approve access in this session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asking {
    User,
    Nobody,
}

impl Asking {
    /// Describes a parameter together with the consequence of using it.
    pub fn described(self, what: &str) -> String {
        match self {
            Asking::User => format!("{what}{ASKED}."),
            Asking::Nobody => {
                format!("{what}: refused in this run because nobody can be asked, unless the settings allow it.")
            }
        }
    }

    /// Rewords hints if no user can be asked: they name the setting instead of the argument.
    pub fn worded(self, sentences: Vec<String>) -> Vec<String> {
        match self {
            Asking::User => sentences,
            Asking::Nobody => sentences.into_iter().map(without_asking).collect(),
        }
    }
}

fn without_asking(sentence: String) -> String {
    let Some((before, after)) = sentence.split_once(ASKED) else { return sentence };
    let argument = before.rsplit_once(" with `").map(|(_, argument)| argument.trim_end_matches('`'));
    // The other hints already name their setting.
    let paths = argument.and_then(|argument| argument.strip_prefix("write: "));
    let setting = paths.map(|paths| format!(". `containment.writable: {paths}` in config.yml allows it"));
    format!(
        "hint: nobody can be asked in this run; continue without it and say so{}{after}",
        setting.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sentence: &str, expect: &str) {
        let sentences = vec![sentence.to_owned()];
        assert_eq!(Asking::User.worded(sentences.clone()), sentences);
        assert_eq!(Asking::Nobody.worded(sentences), [expect]);
    }

    #[test]
    fn where_nobody_is_the_setting_is_named() {
        check(
            "hint: if that is needed, run it again with `write: [\"/srv/x\"]`: the user is asked",
            "hint: nobody can be asked in this run; continue without it and say so. `containment.writable: [\"/srv/x\"]` in \
             config.yml allows it",
        );
        check(
            "hint: run it again with `read: [\"/x\"]`: the user is asked. `containment.shown` in config.yml shows it permanently",
            "hint: nobody can be asked in this run; continue without it and say so. `containment.shown` in config.yml shows it \
             permanently",
        );
        check("Sandbox: this session is read-only.", "Sandbox: this session is read-only.");
    }
}

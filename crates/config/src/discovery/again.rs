//! Reads the file of an item again when it is used, because it may have changed since discovery.

use std::path::Path;

use serde_json::{Map, Value};

use super::catalogue::Source;
use super::files::{Files, Limit};
use super::repository_root;

/// Limits the size of a command or skill, which is text written by a person.
const MAX_BYTES: usize = 256 << 10;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Again {
    /// The front matter, with names in camel case.
    pub fields: Map<String, Value>,
    /// The text without the front matter.
    pub body: String,
}

/// Reads the Markdown file of an item like discovery does: a project's file must still be inside the project. Errors are
/// sentences for the user.
pub fn read_again(source: &Source, cwd: &Path) -> Result<Again, String> {
    let mut files = Files::new(&repository_root(cwd));
    let Some(content) = files.read(&source.path, source.level, Limit::Whole(MAX_BYTES)) else {
        let told = files.into_warnings().into_iter().next();
        return Err(told.unwrap_or_else(|| format!("{} no longer exists", source.path.display())));
    };
    let document = content.document();
    Ok(Again { fields: document.fields.clone(), body: document.body.clone() })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;
    use crate::{Level, Provider};

    fn source(path: &Path, level: Level) -> Source {
        Source { provider: Provider::Native, level, path: path.to_owned() }
    }

    #[test]
    fn a_file_that_has_changed_is_read_as_it_is_now() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.md");
        for text in ["---\nallowed-tools: Bash\n---\nOne $1\n", "---\nallowed-tools: Bash\n---\nTwo $1\n"] {
            fs::write(&path, text).unwrap();
            let again = read_again(&source(&path, Level::Project), folder.path()).unwrap();
            assert_eq!(Value::Object(again.fields), json!({"allowedTools": "Bash"}));
            assert!(text.contains(again.body.as_str()) && !again.body.contains("---"), "{}", again.body);
        }
    }

    #[test]
    fn what_is_gone_too_large_or_elsewhere_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let refusal = |name: &str| {
            let path = folder.path().join(name);
            read_again(&source(&path, Level::Project), folder.path()).unwrap_err()
        };
        assert!(refusal("gone.md").ends_with("gone.md no longer exists"));
        fs::write(folder.path().join("big.md"), "x".repeat(MAX_BYTES + 1)).unwrap();
        assert!(refusal("big.md").contains("more than 256 kB"));
        #[cfg(unix)]
        {
            fs::write(elsewhere.path().join("secret"), "s").unwrap();
            std::os::unix::fs::symlink(elsewhere.path().join("secret"), folder.path().join("link.md")).unwrap();
            assert!(refusal("link.md").contains("outside the project"));
        }
        drop(elsewhere);
    }
}

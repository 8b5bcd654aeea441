//! Files that a conversation has read and changed, formatted as a small tree.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use omp_types::{CallFactSources, Message, TouchedFiles};
use serde_json::{Map, Value, json};

/// Maximum number of files listed for the model.
const MAX_TOLD: usize = 20;
/// Maximum number of files per kind kept in the session file.
const MAX_KEPT: usize = 1_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileOps {
    pub read: BTreeSet<String>,
    pub modified: BTreeSet<String>,
}

/// Collects the files that the calls in these messages have read and written. Failed calls are ignored.
pub(crate) fn file_operations(messages: &[Arc<Message>], facts: &CallFactSources) -> FileOps {
    let failed: HashSet<&str> = messages.iter().filter_map(|message| failed_call(message)).collect();
    let answers = messages.iter().filter_map(|message| message.as_assistant());
    let mut files = FileOps::default();
    for call in answers.flat_map(|answer| answer.tool_calls()).filter(|call| !failed.contains(call.id.as_str())) {
        files.note(facts.of(call, None).files);
    }
    files
}

fn failed_call(message: &Message) -> Option<&str> {
    match message {
        Message::ToolResult(result) if result.is_error => Some(&result.tool_call_id),
        _ => None,
    }
}

impl FileOps {
    fn note(&mut self, touched: TouchedFiles) {
        self.read.extend(touched.read.iter().filter_map(|path| file(path)));
        self.modified.extend(touched.modified.iter().filter_map(|path| file(path)));
    }

    /// Reads the data of the previous compaction, if it was made here: details of an extension have their own format.
    pub fn from_details(details: Option<&Value>) -> Self {
        let list = |name: &str| -> BTreeSet<String> {
            let list = details.and_then(|details| details.get(name)).and_then(Value::as_array);
            list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let mut read = list("readFiles");
        read.extend(list("readModifiedFiles"));
        Self { read, modified: list("modifiedFiles") }
    }

    /// Uses `readFiles` and `modifiedFiles`, which other programs know; the modified files that were also read are stored
    /// separately.
    pub fn to_details(&self) -> Map<String, Value> {
        let list = |files: &mut dyn Iterator<Item = &String>| json!(files.take(MAX_KEPT).collect::<Vec<_>>());
        let mut details = Map::new();
        details.insert("readFiles".into(), list(&mut self.read.difference(&self.modified)));
        details.insert("modifiedFiles".into(), list(&mut self.modified.iter()));
        details.insert("readModifiedFiles".into(), list(&mut self.read.intersection(&self.modified)));
        details
    }

    pub fn merge(&mut self, newer: FileOps) {
        self.read.extend(newer.read);
        self.modified.extend(newer.modified);
    }

    /// Empty if no file was touched. Changed files come first if not all can be listed.
    pub fn tag(&self) -> String {
        let only_read = self.read.difference(&self.modified);
        let told: BTreeSet<&String> = self.modified.iter().chain(only_read).take(MAX_TOLD).collect();
        if told.is_empty() {
            return String::new();
        }
        let mut root = Folder::default();
        for path in &told {
            root.add(path, self.marker(path));
        }
        let mut text = String::from("<files>\n");
        root.tell(0, &mut text);
        let omitted = self.read.union(&self.modified).count() - told.len();
        if omitted > 0 {
            text.push_str(&format!("… ({omitted} more files omitted)\n"));
        }
        text + "</files>"
    }

    fn marker(&self, path: &str) -> &'static str {
        match (self.read.contains(path), self.modified.contains(path)) {
            (true, true) => "RW",
            (false, true) => "Write",
            _ => "Read",
        }
    }
}

/// Subfolders and files of a folder.
#[derive(Default)]
struct Folder<'a> {
    files: Vec<(&'a str, &'static str)>,
    folders: BTreeMap<&'a str, Folder<'a>>,
}

impl<'a> Folder<'a> {
    fn add(&mut self, path: &'a str, marker: &'static str) {
        // An absolute path keeps its leading slash in the name of its first folder.
        let slash = path[1.min(path.len())..].find('/').map(|at| at + 1);
        match slash {
            Some(at) => self.folders.entry(&path[..at]).or_default().add(path[at..].trim_start_matches('/'), marker),
            None => self.files.push((path, marker)),
        }
    }

    fn tell(&self, depth: usize, out: &mut String) {
        for (name, marker) in &self.files {
            out.push_str(&format!("{name} ({marker})\n"));
        }
        for (name, folder) in &self.folders {
            // A folder that contains only one folder gets no line of its own.
            let (mut path, mut folder) = (format!("{name}/"), folder);
            while let (true, 1, Some((name, only))) =
                (folder.files.is_empty(), folder.folders.len(), folder.folders.first_key_value())
            {
                path.push_str(&format!("{name}/"));
                folder = only;
            }
            out.push_str(&format!("{} {path}\n", "#".repeat(depth + 1)));
            folder.tell(depth + 1, out);
        }
    }
}

/// Returns only paths on disk.
fn file(path: &str) -> Option<String> {
    let path = path.trim().trim_matches(['"', '\'', '`']);
    let path = path.strip_prefix("./").unwrap_or(path);
    let plain = !path.is_empty() && path != "." && !path.contains("://") && !path.contains('\n');
    plain.then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Line, facts, messages};

    fn files_of(calls: &[(&str, Value)]) -> FileOps {
        let call = |(at, (tool, arguments)): (usize, &(&str, Value))| {
            Line::Call(at.to_string(), (*tool).into(), arguments.clone())
        };
        file_operations(&messages(&calls.iter().enumerate().map(call).collect::<Vec<_>>()), &facts())
    }

    #[test]
    fn a_tree_with_what_was_done_to_each_file() {
        let files = files_of(&[
            ("read", json!({"path": "packages/agent/src/compaction/compaction.ts"})),
            ("read", json!({"path": "packages/agent/src/compaction/utils.ts"})),
            ("write", json!({"path": "packages/agent/src/compaction/utils.ts"})),
            ("write", json!({"path": "packages/agent/src/compaction/prompts/file-operations.md"})),
            ("read", json!({"path": "skill://rust"})),
            ("read", json!({"path": "./README.md"})),
            ("read", json!({"path": "/etc/hosts"})),
            ("write", json!({"path": "src/a.rs"})),
            ("write", json!({"path": "src/b.rs"})),
            ("bash", json!({"command": "ls", "path": "no"})),
            ("read", json!({"path": 3})),
        ]);
        insta::assert_snapshot!(files.tag(), @"
        <files>
        README.md (Read)
        # /etc/
        hosts (Read)
        # packages/agent/src/compaction/
        compaction.ts (Read)
        utils.ts (RW)
        ## prompts/
        file-operations.md (Write)
        # src/
        a.rs (Write)
        b.rs (Write)
        </files>
        ");
        assert_eq!(FileOps::from_details(Some(&Value::Object(files.to_details()))), files);
        assert_eq!(files.to_details()["readFiles"].as_array().map(Vec::len), Some(3));
    }

    #[test]
    fn calls_that_failed_count_for_nothing_and_no_files_make_no_tag() {
        let mut said = messages(&Line::read("1", "gone.rs", "File not found"));
        let Message::ToolResult(mut failed) = (*said[1]).clone() else { panic!("a result") };
        failed.is_error = true;
        said[1] = Arc::new(Message::ToolResult(failed));
        assert_eq!(file_operations(&said, &facts()).tag(), "");
        assert_eq!(FileOps::from_details(Some(&json!({"readFiles": "odd", "modifiedFiles": [1]}))), FileOps::default());
    }

    #[test]
    fn changed_files_come_first_when_there_are_too_many() {
        let mut files = FileOps::default();
        files.read.extend((0..30).map(|at| format!("a{at:02}.rs")));
        files.modified.insert("z.rs".into());
        let tag = files.tag();
        assert!(tag.contains("z.rs (Write)\n… (11 more files omitted)\n</files>"), "{tag}");
        assert_eq!(tag.lines().count(), 20 + 3);
    }
}

//! What is shown, not how: a small tree of semantic blocks that every front end draws in its own way.
//!
//! A view is a pure function of what was saved, so a live, a resumed and an exported session look the same. Nothing
//! here knows terminals, colours or widths.

/// How one tool call (or another card) looks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// What it is about, in a few words: `read src/main.rs`.
    pub title: String,
    /// Smaller facts next to the title: a line range, a count, a duration.
    pub notes: Vec<String>,
    pub status: Status,
    pub blocks: Vec<Block>,
    /// Whether the text of the result is shown below the blocks. Without blocks it always is.
    pub with_output: bool,
    /// Which rows stay where not all can be shown.
    pub keep: Keep,
    /// Where the part of the result's text begins that only the model needs.
    pub model_only_from: Option<&'static str>,
    pub kind: CallKind,
    /// What the call works on, in the words of the title but without the verb.
    pub subject: Option<String>,
    /// Files that it works on, as they were typed or in full. Patterns and addresses are none.
    pub files: Vec<ViewFile>,
    /// The command line that it runs.
    pub command: Option<String>,
    /// The file whose whole new content is the text of the code block.
    pub whole_file: Option<String>,
}

/// What sort of thing a call does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallKind {
    Read,
    Edit,
    Search,
    Execute,
    /// Nothing outside of the conversation.
    Think,
    #[default]
    Other,
}

/// Which rows of something long stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    #[default]
    Head,
    Tail,
}

/// A file that a call works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewFile {
    pub path: String,
    pub line: Option<usize>,
}

impl ViewFile {
    pub fn new(path: impl Into<String>) -> Self {
        Self { path: path.into(), line: None }
    }

    pub fn at(self, line: Option<usize>) -> Self {
        Self { line, ..self }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    #[default]
    Running,
    Done,
    Failed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Prose, wrapped by the front end.
    Text(String),
    /// Source text, kept line by line.
    Code {
        /// File extension or language name, for highlighting.
        language: Option<String>,
        text: String,
        /// Number of the first line, when the lines are numbered.
        first_line: Option<usize>,
    },
    Diff(Diff),
    /// A list of which only a part may be shown.
    Lines {
        lines: Vec<String>,
        /// How many more there are.
        hidden: usize,
    },
    Table {
        header: Vec<String>,
        rows: Vec<Vec<String>>,
    },
    Image {
        mime_type: String,
        /// Base64.
        data: String,
    },
    Progress {
        done: u64,
        total: Option<u64>,
        label: String,
    },
}

/// The changes of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// As it was typed or in full.
    pub path: Option<String>,
    /// Whether the path stands above the lines: there are several files.
    pub is_named: bool,
    pub lines: Vec<DiffLine>,
}

impl Diff {
    pub fn new(lines: Vec<DiffLine>) -> Self {
        Self { lines, ..Self::default() }
    }

    pub fn of(self, path: impl Into<String>) -> Self {
        Self { path: Some(path.into()), ..self }
    }

    pub fn named(self, is_named: bool) -> Self {
        Self { is_named, ..self }
    }

    /// What stands above the lines.
    pub fn heading(&self) -> Option<&str> {
        self.path.as_deref().filter(|_| self.is_named)
    }

    /// The line of the first change.
    pub fn first_change(&self) -> Option<usize> {
        let changed = self.lines.iter().find(|line| matches!(line.kind, DiffKind::Added | DiffKind::Removed));
        changed.map(|line| line.line)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffLine {
    pub kind: DiffKind,
    /// Line number in the new file for added and kept lines, in the old file for removed ones.
    pub line: usize,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffKind {
    Added,
    Removed,
    Kept,
    /// Lines left out between two hunks.
    Gap,
}

impl View {
    pub fn new(title: impl Into<String>, status: Status) -> Self {
        Self { title: title.into(), status, ..Self::default() }
    }

    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Whether front ends show the text of the result besides.
    pub fn shows_output(&self) -> bool {
        self.blocks.is_empty() || self.with_output
    }

    pub fn with_output(mut self) -> Self {
        self.with_output = true;
        self
    }

    /// Files that the call works on, each once.
    pub fn files(mut self, files: impl IntoIterator<Item = ViewFile>) -> Self {
        for file in files {
            if !self.files.iter().any(|known| known.path == file.path) {
                self.files.push(file);
            }
        }
        self
    }

    pub fn subject(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    pub fn block(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }
}

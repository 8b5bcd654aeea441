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
    Diff(Vec<DiffLine>),
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

    pub fn block(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }
}

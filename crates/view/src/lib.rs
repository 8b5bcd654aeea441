//! The content of a card, independent of its appearance: a small tree of semantic blocks that every front end draws in its
//! own way.
//!
//! A view is a pure function of stored data, so a live, a resumed and an exported session look the same. Nothing here
//! depends on terminals, colours or widths.

mod unified;

pub use unified::unified_diff_lines;

/// The content of a card, usually of one tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// A short title: `read src/main.rs`.
    pub title: String,
    /// Details next to the title: a line range, a count, a duration.
    pub notes: Vec<String>,
    pub status: Status,
    pub blocks: Vec<Block>,
    /// Whether the text of the result is shown below the blocks. Without blocks it always is.
    pub with_output: bool,
    /// Whether front ends may show the blocks at a place of their own, and the card as its title only.
    pub shown_beside: bool,
    /// Which rows are kept if not all can be shown.
    pub keep: Keep,
    /// Marks the start of the result's text that only the model needs.
    pub model_only_from: Option<&'static str>,
    pub kind: CallKind,
    /// The object of the call, as in the title but without the verb.
    pub subject: Option<String>,
    /// Files of the call, as typed or as full paths. Excludes patterns and addresses.
    pub files: Vec<ViewFile>,
    /// The command line that the call runs.
    pub command: Option<String>,
    /// The file whose whole new content is the text of the code block.
    pub whole_file: Option<String>,
}

/// The kind of action of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallKind {
    Read,
    Edit,
    Search,
    Execute,
    /// Has no effect outside the conversation.
    Think,
    #[default]
    Other,
}

/// Which rows of a long text are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    #[default]
    Head,
    Tail,
}

/// A file of a call.
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
    /// Source text, shown line by line.
    Code {
        /// File extension or language name, for highlighting.
        language: Option<String>,
        text: String,
        /// Number of the first line, if the lines are numbered.
        first_line: Option<usize>,
    },
    Diff(Diff),
    /// A list that may be shown only in part.
    Lines {
        lines: Vec<String>,
        /// The number of omitted entries.
        hidden: usize,
    },
    Table {
        header: Vec<String>,
        rows: Vec<Vec<String>>,
    },
    Image {
        mime_type: String,
        /// Encoded as base64.
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
    /// The path, as typed or in full.
    pub path: Option<String>,
    /// Whether the path is shown above the lines, because there are several files.
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

    /// Returns the heading above the lines.
    pub fn heading(&self) -> Option<&str> {
        self.path.as_deref().filter(|_| self.is_named)
    }

    /// Returns the line of the first change.
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
    /// Lines omitted between two hunks.
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

    /// Cuts off the part of a result that is meant for the model only.
    pub fn for_people(&self, mut text: String) -> String {
        if let Some(end) = self.model_only_from.and_then(|mark| text.rfind(mark)) {
            text.truncate(end);
        }
        text
    }

    /// Whether front ends show the text of the result as well.
    pub fn shows_output(&self) -> bool {
        self.blocks.is_empty() || self.with_output
    }

    pub fn with_output(mut self) -> Self {
        self.with_output = true;
        self
    }

    /// Sets the files of the call, without duplicates.
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

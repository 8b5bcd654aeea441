//! Content of prompts, of messages and of tool calls.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::lenient;

/// A part of the user's prompt.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum PromptBlock {
    Text {
        text: String,
    },
    Image {
        data: String,
        mime_type: String,
    },
    Audio {},
    ResourceLink {
        uri: String,
        name: String,
        #[serde(default, deserialize_with = "lenient")]
        title: Option<String>,
    },
    Resource {
        resource: EmbeddedResource,
    },
}

#[derive(Debug, Deserialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum EmbeddedResource {
    Text {
        text: String,
        uri: String,
    },
    Blob {
        blob: String,
        uri: String,
        #[serde(default, deserialize_with = "lenient")]
        mime_type: Option<String>,
    },
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ContentBlock {
    Text { text: String },
    Image { data: String, mime_type: String },
}

/// What a tool call shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ToolCallContent {
    Content {
        content: ContentBlock,
    },
    Diff {
        path: PathBuf,
        #[serde(skip_serializing_if = "Option::is_none")]
        old_text: Option<String>,
        new_text: String,
    },
    Terminal {
        terminal_id: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolCallLocation {
    pub path: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    Read,
    Edit,
    Search,
    Execute,
    Think,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolCallStatus {
    Pending,
    InProgress,
    Completed,
    Failed,
}

//! x
pub struct Markdown;

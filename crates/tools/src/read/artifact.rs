//! `artifact://3`: the full output of an earlier call, shown as it is.

use omp_agent::ToolError;
use omp_workspace::ResolvedPath;

use super::selector::{self, Selector};
use crate::artifacts::Artifacts;

pub const SCHEME: &str = "artifact://";

/// The file behind an `artifact://` address, with the lines it asks for.
pub fn locate(artifacts: &dyn Artifacts, address: &str) -> Result<(ResolvedPath, Selector), ToolError> {
    let (id, selector) = match selector::split(address) {
        Some((id, selector)) => (id, selector.map_err(ToolError::Reply)?),
        None => (address, Selector::default()),
    };
    let number: u64 = id.parse().map_err(|_| ToolError::Reply(format!("artifact:// ID must be numeric, got: {id}")))?;
    let kept = artifacts.list().map_err(ToolError::reply)?;
    match kept.iter().find(|(known, _)| *known == number) {
        Some((_, file)) => {
            let path = ResolvedPath { absolute: file.clone(), display: format!("{SCHEME}{number}") };
            // Line tags are for editing, and an output is not edited.
            Ok((path, Selector { raw: true, ..selector }))
        }
        None if kept.is_empty() => Err(ToolError::Reply(format!("{SCHEME}{number}: this session keeps no artifacts"))),
        None => {
            let ids = kept.iter().map(|(id, _)| id.to_string()).collect::<Vec<_>>().join(", ");
            Err(ToolError::Reply(format!("{SCHEME}{number} does not exist; there are: {ids}")))
        }
    }
}

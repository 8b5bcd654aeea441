//! `artifact://3`: the full output of an earlier call.

use std::sync::Arc;

use omp_workspace::ResolvedPath;

use super::{Resource, UrlContent, joined};
use crate::artifacts::Artifacts;

pub struct ArtifactResource(pub Arc<dyn Artifacts>);

impl Resource for ArtifactResource {
    fn scheme(&self) -> &'static str {
        "artifact"
    }

    fn read(&self, id: &str) -> Result<UrlContent, String> {
        let number: u64 = id.parse().map_err(|_| format!("artifact:// ID must be numeric, got: {id}"))?;
        let kept = self.0.list().map_err(|error| error.to_string())?;
        if let Some((_, file)) = kept.iter().find(|(known, _)| *known == number) {
            let path = ResolvedPath { absolute: file.clone(), display: format!("artifact://{number}") };
            return Ok(UrlContent::File { path, editable: false });
        }
        Err(match self.0.folder() {
            _ if !kept.is_empty() => {
                let ids: Vec<String> = kept.iter().map(|(id, _)| id.to_string()).collect();
                format!("artifact://{number} does not exist; there are: {}", joined(&ids))
            }
            None => "No session - artifacts unavailable".to_owned(),
            Some(folder) if !folder.is_dir() => "No artifacts directory found".to_owned(),
            Some(_) => format!("artifact://{number}: this session has no artifacts yet"),
        })
    }

    fn list(&self) -> Result<Vec<String>, String> {
        let kept = self.0.list().map_err(|error| error.to_string())?;
        Ok(kept.iter().map(|(id, _)| id.to_string()).collect())
    }
}

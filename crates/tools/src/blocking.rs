//! Runs blocking file work off the async threads and maps its failure to a tool error.

use omp_agent::ToolError;

/// Runs blocking work to its end, even if the call is dropped meanwhile.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(ToolError::Reply(format!("the file operation failed: {error}"))),
    }
}

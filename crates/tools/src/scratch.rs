//! Test support for tools: a temporary folder, and calls through `AnyTool` as the agent loop makes them.

use std::path::PathBuf;
use std::sync::Arc;

use omp_agent::{AnyTool, Approval, ArrivingCall, Outcome, ToolCx, ToolError, ToolOutput};
use omp_view::View;
use serde_json::Value;

use crate::files::Files;

pub struct Scratch {
    pub folder: tempfile::TempDir,
    pub files: Arc<Files>,
}

impl Scratch {
    pub fn new(contents: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files = Arc::new(Files::new(folder.path(), None));
        let scratch = Self { folder, files };
        contents.iter().for_each(|(path, text)| scratch.put(path, text.as_bytes()));
        scratch
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub fn put(&self, path: &str, content: &[u8]) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub fn get(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }

    pub fn call(&self, tool: &dyn AnyTool, arguments: Value) -> Result<ToolOutput, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run(tool, arguments, &ToolCx::detached("call"))).map_err(|error| error.to_string())
    }

    /// Returns the text that the model gets; errors are marked.
    pub fn text(&self, tool: &dyn AnyTool, arguments: Value) -> String {
        match self.call(tool, arguments) {
            Ok(output) => output.content.iter().filter_map(|content| content.as_text()).collect(),
            Err(error) => format!("error: {error}"),
        }
    }

    pub fn view(&self, tool: &dyn AnyTool, arguments: Value) -> View {
        let output = self.call(tool, arguments.clone()).unwrap();
        let details = output.details.unwrap_or_default();
        tool.render(&arguments, Outcome::Done { details: &details, is_error: output.is_error })
    }
}

/// Plans a call and runs it without approval.
pub async fn run(tool: &dyn AnyTool, arguments: Value, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
    tool.plan(Arc::new(arguments)).map_err(ToolError::Reply)?.run(cx.clone()).await
}

pub fn approval(tool: &dyn AnyTool, arguments: &Value) -> Approval {
    tool.plan(Arc::new(arguments.clone())).unwrap().approval().clone()
}

pub fn outlook(tool: &dyn AnyTool, arguments: &Value) -> Option<View> {
    tool.plan(Arc::new(arguments.clone())).unwrap().preview()
}

/// Renders a call whose arguments are still arriving.
pub fn arriving(tool: &dyn AnyTool, id: &str, arguments: &Value) -> Option<View> {
    tool.preview(&ArrivingCall { id, arguments, is_whole: false })
}

/// Renders a call whose arguments are complete.
pub fn whole(tool: &dyn AnyTool, id: &str, arguments: &Value) -> Option<View> {
    tool.preview(&ArrivingCall { id, arguments, is_whole: true })
}

//! The result of a tool in the format of Claude Code's hooks: with the fields of its tools, if ours have the same data.

use omp_session::ToolOutput;
use serde_json::{Value, json};

/// `input` is the call in Claude's format. The result always has the text for the model and the details of the tool.
pub(crate) fn response(tool: &str, input: &Value, output: &ToolOutput) -> Value {
    let texts: Vec<&str> = output.content.iter().filter_map(|block| block.as_text()).collect();
    let text = texts.join("\n");
    let details = output.details.clone();
    let theirs = as_claude_tells(tool, input, &text, details.as_ref().unwrap_or(&Value::Null));
    let mut told = json!({"stdout": text, "text": text, "success": !output.is_error, "is_error": output.is_error,
        "details": details});
    if let (Value::Object(told), Value::Object(theirs)) = (&mut told, theirs) {
        told.extend(theirs);
    }
    told
}

fn as_claude_tells(tool: &str, input: &Value, text: &str, details: &Value) -> Value {
    let path = &input["file_path"];
    match tool {
        // Our shell has one stream for both.
        "bash" => json!({"stderr": "", "interrupted": false, "isImage": false}),
        "write" => {
            let kind = if details["created"] == true { "create" } else { "update" };
            json!({"filePath": path, "type": kind, "content": input["content"]})
        }
        "edit" | "ast_edit" => json!({"filePath": path, "oldString": input["old_string"],
            "newString": input["new_string"], "replaceAll": input["replace_all"]}),
        "read" => {
            let shown = &details["displayContent"];
            let lines = shown["lineNumbers"].as_array().map(Vec::len);
            json!({"type": "text", "file": {"filePath": path, "content": shown["text"].as_str().unwrap_or(text),
                "startLine": shown["startLine"], "numLines": lines, "totalLines": details["totalLines"]}})
        }
        "find" => json!({"filenames": details["files"], "numFiles": details["fileCount"],
            "truncated": details["truncated"]}),
        "search" => json!({"mode": "content", "content": text, "numFiles": details["totalFiles"]}),
        _ => json!({}),
    }
}

#[cfg(test)]
mod tests {
    use omp_types::Content;

    use super::*;

    #[test]
    fn each_tool_gives_back_what_claudes_does() {
        let file =
            json!({"file_path": "/w/a", "content": "x", "old_string": "b", "new_string": "c", "replace_all": true});
        let shown =
            json!({"displayContent": {"text": "one\ntwo", "startLine": 3, "lineNumbers": [3, 4]}, "totalLines": 9});
        for (tool, details, expect) in [
            ("bash", json!({}), json!({"stdout": "out", "stderr": "", "interrupted": false, "isImage": false})),
            ("write", json!({"created": true}), json!({"filePath": "/w/a", "type": "create", "content": "x"})),
            ("write", json!({}), json!({"filePath": "/w/a", "type": "update", "success": true})),
            ("edit", json!({}), json!({"filePath": "/w/a", "oldString": "b", "newString": "c", "replaceAll": true})),
            (
                "read",
                shown.clone(),
                json!({"type": "text", "details": shown, "file": {"filePath": "/w/a", "content": "one\ntwo", "startLine": 3,
                    "numLines": 2, "totalLines": 9}}),
            ),
            (
                "find",
                json!({"files": ["a"], "fileCount": 1, "truncated": false}),
                json!({"filenames": ["a"], "numFiles": 1}),
            ),
            ("search", json!({"totalFiles": 2}), json!({"mode": "content", "content": "out", "numFiles": 2})),
            ("mcp__x__y", json!({}), json!({"text": "out", "is_error": false})),
        ] {
            let content = vec![Content::text("out")];
            let output = ToolOutput { content, details: Some(details), ..ToolOutput::default() };
            let told = response(tool, &file, &output);
            for (key, value) in expect.as_object().unwrap() {
                assert_eq!(told[key], *value, "{tool} {key}");
            }
        }
    }
}

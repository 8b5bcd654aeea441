//! Model listings in the format of each provider.

use serde_json::{Value, json};

/// Returns the answer to a GET if the path lists models or describes the server.
pub fn listing(path: &str, models: &[String]) -> Option<Value> {
    let path = path.split('?').next().unwrap_or(path).trim_end_matches('/');
    match path {
        "/v1beta/models" => Some(google(models)),
        "/api/tags" => Some(ollama(models)),
        "/props" => Some(llama_cpp(models)),
        _ if path.ends_with("/models") => Some(openai(models)),
        _ => None,
    }
}

/// OpenAI's listing; `display_name` and `has_more` make it valid for Anthropic too.
fn openai(models: &[String]) -> Value {
    let data = models.iter().map(|id| {
        json!({
            "id": id, "object": "model", "type": "model", "display_name": id,
            "created": 1_700_000_000, "created_at": "2025-01-01T00:00:00Z", "owned_by": "testkit",
        })
    });
    json!({"object": "list", "data": data.collect::<Vec<_>>(), "has_more": false})
}

fn google(models: &[String]) -> Value {
    let models = models.iter().map(|id| {
        json!({
            "name": format!("models/{id}"), "version": "001", "displayName": id,
            "inputTokenLimit": 1_048_576, "outputTokenLimit": 65_536,
            "supportedGenerationMethods": ["generateContent", "countTokens"],
        })
    });
    json!({"models": models.collect::<Vec<_>>()})
}

fn ollama(models: &[String]) -> Value {
    let models = models.iter().map(|id| {
        json!({
            "name": id, "model": id, "modified_at": "2025-01-01T00:00:00Z", "size": 4_683_087_332_u64,
            "digest": "0a8c26691023dca3c3a0a8c26691023dca3c3a0a8c26691023dca3c3a0a8c266",
            "details": {
                "parent_model": "", "format": "gguf", "family": "mock", "families": ["mock"],
                "parameter_size": "8.0B", "quantization_level": "Q4_K_M",
            },
        })
    });
    json!({"models": models.collect::<Vec<_>>()})
}

fn llama_cpp(models: &[String]) -> Value {
    let first = models.first().map_or("model", String::as_str);
    json!({
        "default_generation_settings": {"id": 0, "n_ctx": 32_768, "params": {"temperature": 0.8}},
        "total_slots": 1,
        "model_path": format!("models/{first}.gguf"),
        "chat_template": "",
        "modalities": {"vision": false, "audio": false},
    })
}

//! Front matter of a command or a skill that applies to its prompt: another model, fewer tools.

use std::sync::Arc;

use omp_session::{CallLimit, Session};
use omp_types::{Model, ThinkingLevel};
use serde_json::{Map, Value};

use super::{CommandPlace, allowed};
use crate::WORKING;

#[derive(Default)]
pub struct CommandTerms {
    pub model: Option<(Arc<Model>, Option<ThinkingLevel>)>,
    pub limit: Option<CallLimit>,
}

impl CommandTerms {
    /// `name` is the command without the slash. The user is notified of another model; an unavailable one is an error.
    pub async fn of(
        name: &str,
        fields: &Map<String, Value>,
        place: &CommandPlace,
        session: &Session,
    ) -> Result<Self, String> {
        let limit = allowed::limit(&format!("/{name}"), fields.get("allowedTools"));
        let wanted = fields.get("model").and_then(Value::as_str).map(str::trim);
        let Some(wanted) = wanted.filter(|wanted| !matches!(*wanted, "" | "inherit")) else {
            return Ok(Self { model: None, limit });
        };
        let found = place.models.resolve(wanted).await;
        let found = found.map_err(|problem| {
            format!(
                "/{name} asks for the model `{wanted}`, which is not available: {problem}\nhint: change `model` in its file"
            )
        })?;
        let now = session.snapshot();
        let thinking = found.thinking.filter(|level| *level != now.thinking);
        if found.model.selector() == now.model.selector() && thinking.is_none() {
            return Ok(Self { model: None, limit });
        }
        if session.works().await {
            return Err(format!("/{name} asks for another model, {}: {WORKING}", found.model.selector()));
        }
        session.tell(format!("/{name}: {} answers this prompt", found.model.selector()));
        Ok(Self { model: Some((found.model, thinking)), limit })
    }
}

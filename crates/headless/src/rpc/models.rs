//! Sets the model and its thinking level. While the model works, the change waits for the end of its work.

use std::borrow::Cow;
use std::sync::Arc;

use omp_session::Command;
use omp_types::{Model, ThinkingLevel};
use omp_wire::{
    CycledModelReply, EnabledRequest, FastModeReply, LevelReply, ModelsReply, NewsFrame, SetModelRequest,
    ThinkingRequest,
};
use serde_json::Value;

use super::current::Current;
use super::frame::{DONE, Outcome, data};
use super::input::Request;
use super::prompting::send;
use super::queues::settled;
use super::server::Server;

pub async fn set_model(server: &Server, current: &Current, request: &Request) -> Outcome {
    let SetModelRequest { provider, model_id } = request.fields()?;
    let found = server.host.models().into_iter().find(|model| model.provider == provider && model.id == model_id);
    let model = found.ok_or_else(|| format!("Model not found: {provider}/{model_id}"))?;
    switch(server, current, &model).await?;
    data(&*model)
}

/// Switches to the next model of the list.
pub async fn cycle_model(server: &Server, current: &Current) -> Outcome {
    let models = server.host.models();
    let now = &current.session.snapshot().model;
    let at = models.iter().position(|model| model.provider == now.provider && model.id == now.id);
    let next = at.map_or(0, |at| at + 1);
    let Some(model) = models.get(next).or(models.first()).filter(|_| models.len() > 1) else {
        return data(&Value::Null);
    };
    switch(server, current, model).await?;
    let thinking = current.session.snapshot().thinking.as_str();
    data(&CycledModelReply { model: Cow::Borrowed(&**model), thinking_level: thinking.into(), is_scoped: false })
}

pub fn get_available_models(server: &Server) -> Outcome {
    data(&ModelsReply { models: server.host.models() })
}

async fn switch(server: &Server, current: &Current, model: &Arc<Model>) -> Outcome {
    send(current, Command::SetModel(model.clone())).await?;
    settled(current.session.until(|state| state.running || state.model == *model).await)?;
    server.output.frame(&NewsFrame::ModelChanged);
    DONE
}

pub async fn set_thinking_level(server: &Server, current: &Current, request: &Request) -> Outcome {
    let ThinkingRequest { level } = request.fields()?;
    think(server, current, level.parse()?).await
}

pub async fn cycle_thinking_level(server: &Server, current: &Current) -> Outcome {
    let snapshot = current.session.snapshot();
    let levels = levels_of(&snapshot.model);
    let after = levels.iter().find(|level| **level > snapshot.thinking).or(levels.first());
    let Some(level) = after.filter(|_| levels.len() > 1) else { return data(&Value::Null) };
    think(server, current, *level).await?;
    data(&LevelReply { level: *level })
}

async fn think(server: &Server, current: &Current, level: ThinkingLevel) -> Outcome {
    send(current, Command::SetThinking(level)).await?;
    settled(current.session.until(|state| state.running || state.thinking == level).await)?;
    server.output.frame(&NewsFrame::ThinkingLevelChanged { thinking_level: level.as_str().into() });
    DONE
}

/// Returns the levels that a model supports, weakest first; none if it has no thinking.
fn levels_of(model: &Model) -> Vec<ThinkingLevel> {
    if !model.reasoning {
        return Vec::new();
    }
    let Some(support) = model.thinking.as_ref().filter(|support| !support.efforts.is_empty()) else {
        return ThinkingLevel::ALL.to_vec();
    };
    let takes = |level: &ThinkingLevel| match level {
        ThinkingLevel::Off => !support.requires_effort,
        level => {
            let word = support.effort_map.get(level.as_str()).map_or(level.as_str(), String::as_str);
            support.efforts.iter().any(|effort| effort == word)
        }
    };
    ThinkingLevel::ALL.into_iter().filter(takes).collect()
}

/// No model here supports a fast mode.
pub fn set_fast_mode(request: &Request) -> Outcome {
    let EnabledRequest { enabled } = request.fields()?;
    if enabled {
        return Err("Fast mode is unavailable for the current model.".into());
    }
    data(&FastModeReply::default())
}

#[cfg(test)]
mod tests {
    use omp_types::ThinkingSupport;

    use super::*;

    #[track_caller]
    fn check(reasoning: bool, support: Option<ThinkingSupport>, expect: &[&str]) {
        let mut model = omp_testkit::mock_model();
        (model.reasoning, model.thinking) = (reasoning, support);
        let levels: Vec<_> = levels_of(&model).into_iter().map(ThinkingLevel::as_str).collect();
        assert_eq!(levels, expect);
    }

    #[test]
    fn a_model_offers_the_levels_it_takes() {
        let support = |efforts: &[&str]| ThinkingSupport {
            efforts: efforts.iter().map(|effort| (*effort).to_owned()).collect(),
            ..ThinkingSupport::default()
        };
        check(false, Some(support(&["low"])), &[]);
        check(true, None, &["off", "minimal", "low", "medium", "high", "xhigh"]);
        check(true, Some(support(&["low", "high"])), &["off", "low", "high"]);
        let forced = ThinkingSupport { requires_effort: true, ..support(&["low", "max"]) };
        let map = [("xhigh".to_owned(), "max".to_owned())].into();
        check(true, Some(ThinkingSupport { effort_map: map, ..forced }), &["low", "xhigh"]);
    }
}

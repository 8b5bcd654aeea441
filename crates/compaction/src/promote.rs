//! Context promotion: switches to a larger sibling model before anything is removed.
//!
//! The model's own `contextPromotionTarget` is always allowed. Another model is used only after the provider refused the
//! conversation, and only if it is as capable and not more expensive, because the user has not asked for it.

use std::sync::Arc;

use omp_types::Model;

/// Returns the configured larger model, if it can be used.
pub(crate) fn target(current: &Model, available: &[Arc<Model>]) -> Option<Arc<Model>> {
    let named = current.context_promotion_target.as_deref()?.trim();
    let found = available
        .iter()
        .find(|model| model.selector() == named)
        .or_else(|| available.iter().find(|model| model.provider == current.provider && model.id == named))?;
    (found.context_window > current.context_window && current.context_window > 0).then(|| found.clone())
}

/// Returns the smallest larger model of the same provider and API that is as capable and not more expensive.
pub(crate) fn next_larger(current: &Model, available: &[Arc<Model>]) -> Option<Arc<Model>> {
    let fits = |model: &&Arc<Model>| {
        model.provider == current.provider
            && model.api == current.api
            && current.context_window > 0
            && model.context_window > current.context_window
            && (model.reasoning || !current.reasoning)
            && current.input.iter().all(|kind| model.accepts(*kind))
            && model.cost.input <= current.cost.input
            && model.cost.output <= current.cost.output
    };
    available.iter().filter(fits).min_by_key(|model| model.context_window).cloned()
}

#[cfg(test)]
mod tests {
    use omp_testkit::mock_model;

    use super::*;

    #[test]
    fn only_a_larger_model_that_is_named_and_can_be_used() {
        let model = |provider: &str, id: &str, context_window: u64| {
            Arc::new(Model { provider: provider.into(), id: id.into(), context_window, ..mock_model() })
        };
        let available =
            [model("other", "big", 900), model("p", "big", 800), model("p", "small", 10), model("p", "same", 100)];
        let check = |named: Option<&str>, window: u64, expect: Option<&str>| {
            let mut current = (*model("p", "now", window)).clone();
            current.context_promotion_target = named.map(str::to_owned);
            assert_eq!(target(&current, &available).map(|found| found.selector()).as_deref(), expect, "{named:?}");
        };
        check(Some("big"), 100, Some("p/big"));
        check(Some("other/big"), 100, Some("other/big"));
        check(Some("p/small"), 100, None);
        check(Some("same"), 100, None);
        check(Some("gone"), 100, None);
        check(Some("big"), 0, None);
        check(None, 100, None);
    }

    #[test]
    fn the_next_larger_one_is_as_able_and_no_dearer() {
        let model = |id: &str, context_window: u64, input: f64| {
            let cost = omp_types::Prices { input, output: 2.0, ..Default::default() };
            Model { provider: "p".into(), id: id.into(), context_window, cost, ..mock_model() }
        };
        let current = model("now", 100, 1.0);
        let check = |others: &[Model], expect: Option<&str>| {
            let others: Vec<_> = others.iter().cloned().map(Arc::new).collect();
            let found = next_larger(&current, &others);
            assert_eq!(found.as_ref().map(|found| found.id.as_str()), expect, "{others:?}");
        };
        check(&[model("huge", 900, 1.0), model("large", 200, 0.5), model("same", 100, 1.0)], Some("large"));
        check(&[model("dear", 200, 1.1)], None);
        check(&[Model { provider: "other".into(), ..model("large", 200, 1.0) }], None);
        check(&[Model { api: omp_types::Api::OpenaiResponses, ..model("large", 200, 1.0) }], None);
        check(&[Model { input: vec![omp_types::InputKind::Text], ..model("blind", 200, 1.0) }], None);
        check(&[], None);
    }
}

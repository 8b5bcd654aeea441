//! Context promotion: a model whose entry names a larger sibling is exchanged for it before anything is thrown away.
//!
//! Only the model's own `contextPromotionTarget` counts. Any other larger model of the provider may cost ten times as
//! much, and nobody has asked for it.

use std::sync::Arc;

use omp_types::Model;

/// The model to go on with, if there is one that can be used and holds more.
pub(crate) fn target(current: &Model, available: &[Arc<Model>]) -> Option<Arc<Model>> {
    let named = current.context_promotion_target.as_deref()?.trim();
    let found = available
        .iter()
        .find(|model| model.selector() == named)
        .or_else(|| available.iter().find(|model| model.provider == current.provider && model.id == named))?;
    (found.context_window > current.context_window && current.context_window > 0).then(|| found.clone())
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
}

//! Maps thinking levels to the provider's own terms.

use omp_types::{Model, ThinkingLevel};

/// Returns the provider's term for a level: the nearest one that the model offers, the stronger of two equally near. `None`
/// if off.
pub(crate) fn word(model: &Model, level: ThinkingLevel) -> Option<&str> {
    let effort = model.effort(level)?;
    let renamed = model.thinking.as_ref().and_then(|thinking| thinking.effort_map.get(effort));
    Some(renamed.map_or(effort, String::as_str))
}

/// Returns the weakest level that the model offers, for models that cannot disable thinking.
pub(crate) fn weakest(model: &Model) -> Option<&str> {
    word(model, ThinkingLevel::Minimal)
}

/// Returns whether the model always thinks.
pub(crate) fn always_on(model: &Model) -> bool {
    model.thinking.as_ref().is_some_and(|thinking| thinking.requires_effort)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::sample;
    use omp_types::{Api, ThinkingSupport};

    #[track_caller]
    fn check(efforts: &[&str], map: &[(&str, &str)], expect: &str) {
        let mut model = sample::model(Api::OpenaiCompletions);
        model.thinking = (!efforts.is_empty()).then(|| ThinkingSupport {
            efforts: efforts.iter().map(|effort| (*effort).to_owned()).collect(),
            effort_map: map.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect(),
            ..ThinkingSupport::default()
        });
        let words: Vec<_> = ThinkingLevel::ALL.into_iter().map(|level| word(&model, level).unwrap_or("-")).collect();
        assert_eq!(words.join(" "), expect);
    }

    #[test]
    fn levels_are_clamped_to_the_nearest_offered() {
        check(&["minimal", "low", "medium", "high", "xhigh"], &[], "- minimal low medium high xhigh");
        check(&["minimal", "low", "medium", "high"], &[], "- minimal low medium high high");
        check(&["low", "medium", "high"], &[], "- low low medium high high");
        check(&["low", "high"], &[], "- low low high high high");
        check(&["high", "max"], &[], "- high high high high max");
        check(&["low", "high", "max"], &[], "- low low high high max");
        check(&["medium", "high"], &[], "- medium medium medium high high");
        check(&["low", "medium", "xhigh"], &[], "- low low medium xhigh xhigh");
        check(&[], &[], "- low low medium high high");
        check(&["brisk"], &[], "- brisk brisk brisk brisk brisk");
    }

    #[test]
    fn words_are_renamed_after_clamping() {
        check(&["minimal", "low", "medium", "high"], &[("minimal", "none")], "- none low medium high high");
        check(
            &["minimal", "high"],
            &[("minimal", "default"), ("high", "default")],
            "- default default default default default",
        );
    }
}

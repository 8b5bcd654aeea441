//! Fills templates with named gaps (`{{name}}`) strictly: a gap without a value and a value without a gap are errors.
//!
//! Values are inserted unchanged and not scanned for gaps. A line that consists of a gap only is removed if its value is
//! empty.

/// An error in a built-in template; tests fill every one of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error("the template has no value for `{{{{{0}}}}}`")]
    NoValue(String),
    #[error("the template has no place for `{0}`")]
    NoPlace(String),
    #[error("the template has `{{{{` without `}}}}`")]
    Unclosed,
}

pub(crate) fn fill(template: &str, values: &[(&str, &str)]) -> Result<String, TemplateError> {
    let mut used = vec![false; values.len()];
    let mut filled = String::with_capacity(template.len());
    for line in template.split_inclusive('\n') {
        let before = filled.len();
        let only_gaps = fill_line(line, values, &mut used, &mut filled)?;
        if only_gaps && filled[before..].trim().is_empty() {
            filled.truncate(before);
        }
    }
    match used.iter().position(|used| !used) {
        Some(unused) => Err(TemplateError::NoPlace(values[unused].0.to_owned())),
        None => Ok(filled),
    }
}

/// Whether the line had gaps and nothing else.
fn fill_line(
    line: &str,
    values: &[(&str, &str)],
    used: &mut [bool],
    filled: &mut String,
) -> Result<bool, TemplateError> {
    let (mut rest, mut gaps, mut words) = (line, false, false);
    while let Some(start) = rest.find("{{") {
        let (before, gap) = (&rest[..start], &rest[start + 2..]);
        let end = gap.find("}}").ok_or(TemplateError::Unclosed)?;
        let name = &gap[..end];
        let known = values.iter().position(|(known, _)| *known == name);
        let known = known.ok_or_else(|| TemplateError::NoValue(name.to_owned()))?;
        used[known] = true;
        gaps = true;
        words |= !before.trim().is_empty();
        filled.push_str(before);
        filled.push_str(values[known].1);
        rest = &gap[end + 2..];
    }
    filled.push_str(rest);
    Ok(gaps && !words && rest.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(template: &str, values: &[(&str, &str)], expect: Result<&str, &str>) {
        let filled = fill(template, values).map_err(|error| error.to_string());
        assert_eq!(filled.as_deref().map_err(String::as_str), expect, "{template:?}");
    }

    #[test]
    fn gaps_are_filled_once_and_values_are_not_looked_into() {
        check("", &[], Ok(""));
        check("a\n", &[], Ok("a\n"));
        check("{{a}} and {{b}}, {{a}}", &[("a", "1"), ("b", "{{a}}")], Ok("1 and {{a}}, 1"));
        check("x\n{{a}}\ny\n", &[("a", "1\n2")], Ok("x\n1\n2\ny\n"));
    }

    #[test]
    fn an_empty_value_takes_its_line_along_but_no_other() {
        check("x\n{{a}}\ny\n", &[("a", "")], Ok("x\ny\n"));
        check("x\n- {{a}}\n\ny", &[("a", "")], Ok("x\n- \n\ny"));
        check("x\n{{a}}{{b}}\ny", &[("a", ""), ("b", "")], Ok("x\ny"));
    }

    #[test]
    fn whatever_does_not_fit_is_a_mistake() {
        check("{{a}}", &[], Err("the template has no value for `{{a}}`"));
        check("a", &[("a", "1")], Err("the template has no place for `a`"));
        check("{{a", &[("a", "1")], Err("the template has `{{` without `}}`"));
        check("{{ a }}", &[("a", "1")], Err("the template has no value for `{{ a }}`"));
    }
}

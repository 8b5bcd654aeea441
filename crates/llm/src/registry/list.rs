//! `--list-models`: formats the available models as aligned text.

use std::collections::BTreeMap;
use std::fmt::Write;

use omp_types::{InputKind, Model};

use super::{ModelCandidate, Registry};
use crate::resolve::{Matcher, ModelGlob};

const HEADER: [&str; 8] = ["", "model", "context", "max out", "$/M in", "$/M out", "thinking", "images"];

impl Registry {
    /// Lists canonical names first, then one row per model, marked with `*` if a key is available. Without a filter only
    /// those are shown; with a filter, every known model that matches.
    pub fn list_text(&self, filter: Option<&str>) -> String {
        let filter = filter.map(str::trim).filter(|filter| !filter.is_empty());
        let shown: Vec<ModelCandidate<'_>> = match filter {
            None => self.available_candidates().collect(),
            Some(filter) => self.filtered(filter),
        };
        if shown.is_empty() {
            return self.nothing_shown(filter);
        }
        let available = shown.iter().filter(|candidate| self.candidate_obstacle(**candidate).is_none()).count();
        let mut text = self.canonical_section(&shown);
        text += &self.model_section(&shown);
        let all = self.candidates().count();
        let _ = match filter {
            None => {
                let models = models(available);
                write!(text, "\n{models} available of {all} known; `omp --list-models WORD` searches all\n")
            }
            Some(_) => write!(text, "\n{}, {available} available (*), of {all} known\n", models(shown.len())),
        };
        if available == 0 {
            text += &self.key_hint("these need", shown);
        }
        text
    }

    fn filtered(&self, filter: &str) -> Vec<ModelCandidate<'_>> {
        if let Some(glob) = ModelGlob::new(filter) {
            return self.candidates().filter(|candidate| glob.matches(*candidate)).collect();
        }
        let mut matcher = Matcher::new(filter);
        self.candidates().filter(|candidate| matcher.matches(*candidate)).collect()
    }

    fn nothing_shown(&self, filter: Option<&str>) -> String {
        match filter {
            Some(filter) => {
                let keys = self.key_hint("more models need", self.candidates().collect());
                format!("no model matches `{filter}`\n{}\n{keys}", self.suggestion(filter))
            }
            None => format!(
                "no model is available\n{}\nhint: `omp --list-models WORD` searches all known models\n",
                crate::resolve::HOW_TO_GET_A_MODEL
            ),
        }
    }

    /// Names the keys that would make more of these models usable.
    fn key_hint(&self, need: &str, of: Vec<ModelCandidate<'_>>) -> String {
        match self.unlocking_keys(of).as_slice() {
            [] => String::new(),
            keys => format!("hint: {need} a key, such as {}; `omp setup` takes one\n", keys.join(", ")),
        }
    }

    /// Formats one line per canonical ID that several providers offer, with those providers.
    fn canonical_section(&self, shown: &[ModelCandidate<'_>]) -> String {
        let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for candidate in shown {
            if let Some(id) = self.canonical_id(candidate.provider(), candidate.id()) {
                let mark = if self.candidate_obstacle(*candidate).is_none() { "*" } else { "" };
                groups.entry(id.into_owned()).or_default().push(format!("{}{mark}", candidate.provider()));
            }
        }
        groups.retain(|_, providers| providers.len() > 1);
        if groups.is_empty() {
            return String::new();
        }
        let width = groups.keys().map(String::len).max().unwrap_or_default();
        let mut text = String::from("canonical\n");
        for (id, providers) in &groups {
            let _ = writeln!(text, "  {id:width$}  {}", providers.join(" "));
        }
        text.push('\n');
        text
    }

    fn model_section(&self, shown: &[ModelCandidate<'_>]) -> String {
        let mut rows: Vec<[String; 8]> = vec![HEADER.map(str::to_owned)];
        rows.extend(shown.iter().map(|candidate| {
            let available = self.candidate_obstacle(*candidate).is_none();
            row(&self.model(*candidate), available)
        }));
        aligned(&rows)
    }
}

fn models(count: usize) -> String {
    if count == 1 { "1 model".to_owned() } else { format!("{count} models") }
}

fn row(model: &Model, available: bool) -> [String; 8] {
    let thinking = match &model.thinking {
        Some(thinking) => thinking.efforts.join(","),
        None if model.reasoning => "yes".to_owned(),
        None => "-".to_owned(),
    };
    [
        if available { "*" } else { "" }.to_owned(),
        model.selector(),
        tokens(model.context_window),
        tokens(model.max_tokens),
        price(model.cost.input),
        price(model.cost.output),
        thinking,
        if model.accepts(InputKind::Image) { "yes" } else { "-" }.to_owned(),
    ]
}

fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{}K", count / 1_000),
        _ => format!("{}M", (count as f64 / 100_000.0).floor() / 10.0),
    }
}

/// Formats up to four decimals without trailing zeros.
fn price(dollars: f64) -> String {
    if dollars == 0.0 {
        return "-".to_owned();
    }
    let text = format!("{dollars:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Right-aligns numbers.
fn aligned(rows: &[[String; 8]]) -> String {
    let widths: [usize; 8] =
        std::array::from_fn(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default());
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(widths).enumerate() {
            let _ = match column {
                0 => write!(line, "{cell:width$}"),
                2..=5 => write!(line, "  {cell:>width$}"),
                _ => write!(line, "  {cell:width$}"),
            };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_model_is_no_models() {
        assert_eq!([0, 1, 2].map(models), ["0 models", "1 model", "2 models"]);
    }

    #[test]
    fn numbers_are_short() {
        let sizes =
            [(512, "512"), (8_192, "8K"), (128_000, "128K"), (1_000_000, "1M"), (1_048_576, "1M"), (1_550_000, "1.5M")];
        for (count, expect) in sizes {
            assert_eq!(tokens(count), expect);
        }
        for (dollars, expect) in [(0.0, "-"), (3.0, "3"), (0.25, "0.25"), (0.003625, "0.0036"), (12.5, "12.5")] {
            assert_eq!(price(dollars), expect);
        }
    }
}

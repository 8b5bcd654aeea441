//! The built-in models: two sorted tables in the binary, read line by line when somebody asks.
//!
//! The tables are written by `cargo run -p xtask -- catalog <model-catalog.json>`. Nothing is parsed at start-up: one
//! model is found by binary search over the lines, and a scan over all of them builds no model it does not return.

use omp_types::{Api, InputKind, Model, Prices, ThinkingSupport};

const PROVIDERS: &str = include_str!("../data/providers.tsv");
const MODELS: &str = include_str!("../data/models.tsv");

/// Assumed for models whose limits nobody published.
pub(crate) const DEFAULT_CONTEXT: u64 = 128_000;
pub(crate) const DEFAULT_MAX_TOKENS: u64 = 16_384;

/// One line of `models.tsv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    line: &'static str,
}

/// One line of `providers.tsv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Provider {
    pub name: &'static str,
    pub api: &'static str,
    pub base_url: &'static str,
}

pub(crate) fn find(provider: &str, id: &str) -> Option<Entry> {
    let key = format!("{provider}/{id}");
    lines_from(MODELS, &key).next().filter(|line| first_column(line) == key).map(|line| Entry { line })
}

/// All models, by provider and then by id.
pub(crate) fn entries() -> impl Iterator<Item = Entry> {
    MODELS.lines().skip(1).map(|line| Entry { line })
}

pub(crate) fn entries_of(provider: &str) -> impl Iterator<Item = Entry> {
    let prefix = format!("{provider}/");
    lines_from(MODELS, &prefix).take_while(move |line| line.starts_with(&prefix)).map(|line| Entry { line })
}

pub(crate) fn provider(name: &str) -> Option<Provider> {
    let line = lines_from(PROVIDERS, name).next()?;
    Some(read_provider(line)).filter(|provider| provider.name == name)
}

pub(crate) fn providers() -> impl Iterator<Item = Provider> {
    PROVIDERS.lines().skip(1).map(read_provider)
}

impl Entry {
    /// `provider/id`.
    pub fn selector(self) -> &'static str {
        first_column(self.line)
    }

    pub fn provider(self) -> &'static str {
        self.split_selector().0
    }

    pub fn id(self) -> &'static str {
        self.split_selector().1
    }

    pub fn name(self) -> &'static str {
        self.column(Column::Name)
    }

    /// The wire that serves the model, before `models.yml` has its say.
    pub fn api(self) -> Api {
        match self.column(Column::Api) {
            "" => wire_of(provider(self.provider()).map_or("", |provider| provider.api)),
            own => wire_of(own),
        }
    }

    pub fn base_url(self) -> &'static str {
        match self.column(Column::BaseUrl) {
            "" => provider(self.provider()).map_or("", |provider| provider.base_url),
            own => own,
        }
    }

    pub fn to_model(self) -> Model {
        let context_window = self.context_window().unwrap_or(DEFAULT_CONTEXT);
        Model {
            id: self.id().to_owned(),
            name: self.name().to_owned(),
            api: self.api(),
            provider: self.provider().to_owned(),
            base_url: self.base_url().to_owned(),
            reasoning: !self.column(Column::Reasoning).is_empty(),
            input: self.input(),
            cost: self.prices().unwrap_or_default(),
            context_window,
            max_tokens: self.max_tokens().unwrap_or(DEFAULT_MAX_TOKENS.min(context_window)),
            headers: Default::default(),
            thinking: self.thinking(),
            compat: serde_json::Value::Null,
            context_promotion_target: Some(self.column(Column::PromotesTo))
                .filter(|target| !target.is_empty())
                .map(str::to_owned),
        }
    }

    fn context_window(self) -> Option<u64> {
        self.column(Column::Context).parse().ok()
    }

    fn max_tokens(self) -> Option<u64> {
        self.column(Column::MaxTokens).parse().ok()
    }

    fn prices(self) -> Option<Prices> {
        let mut numbers = self.column(Column::Prices).split(',').map_while(|number| number.parse().ok());
        Some(Prices {
            input: numbers.next()?,
            output: numbers.next()?,
            cache_read: numbers.next()?,
            cache_write: numbers.next()?,
        })
    }

    fn input(self) -> Vec<InputKind> {
        let mut kinds = vec![InputKind::Text];
        if self.column(Column::Input).split(',').any(|kind| kind == "image") {
            kinds.push(InputKind::Image);
        }
        kinds
    }

    fn thinking(self) -> Option<ThinkingSupport> {
        let (mode, efforts) = self.column(Column::Thinking).split_once(' ')?;
        let more = self.column(Column::ThinkingMore);
        let more: ThinkingSupport = serde_json::from_str(more).unwrap_or_default();
        Some(ThinkingSupport {
            mode: mode.to_owned(),
            efforts: efforts.split(',').map(str::to_owned).collect(),
            ..more
        })
    }

    fn split_selector(self) -> (&'static str, &'static str) {
        self.selector().split_once('/').unwrap_or_default()
    }

    fn column(self, column: Column) -> &'static str {
        self.line.split('\t').nth(column as usize).unwrap_or_default()
    }
}

/// The columns of `models.tsv` after the selector, in order.
#[derive(Clone, Copy)]
enum Column {
    Name = 1,
    Context,
    MaxTokens,
    Prices,
    Input,
    Reasoning,
    Thinking,
    ThinkingMore,
    Api,
    BaseUrl,
    PromotesTo,
}

/// OpenRouter is listed under an API name of its own but speaks chat completions.
fn wire_of(api: &str) -> Api {
    if api == "openrouter" { Api::OpenaiCompletions } else { Api::from(api) }
}

fn read_provider(line: &'static str) -> Provider {
    let mut columns = line.split('\t');
    let mut next = || columns.next().unwrap_or_default();
    Provider { name: next(), api: next(), base_url: next() }
}

fn first_column(line: &str) -> &str {
    line.split('\t').next().unwrap_or_default()
}

/// The lines from the first one whose key is not below `key`.
fn lines_from(table: &'static str, key: &str) -> std::str::Lines<'static> {
    let (mut low, mut high) = (0, table.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let start = table.as_bytes()[..middle].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let line = table[start..].lines().next().unwrap_or_default();
        if first_column(line) < key {
            low = start + line.len() + 1;
        } else {
            high = start;
        }
    }
    table.get(low..).unwrap_or_default().lines()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_whole_and_sorted() {
        assert_eq!(providers().count(), 64);
        assert_eq!(entries().count(), 4214);
        assert!(entries().zip(entries().skip(1)).all(|(one, next)| one.selector() < next.selector()));
        assert_eq!(providers().map(|provider| entries_of(provider.name).count()).sum::<usize>(), 4214);
        assert!(providers().all(|known| provider(known.name) == Some(known)));
    }

    #[test]
    fn every_model_is_found_by_name() {
        for entry in entries() {
            assert_eq!(find(entry.provider(), entry.id()), Some(entry));
        }
        for (provider, id) in [("anthropic", "claude"), ("", ""), ("zzz", "z"), ("#", ""), ("anthropic", "")] {
            assert_eq!(find(provider, id), None);
        }
        assert_eq!(provider("anthropi"), None);
        assert_eq!(entries_of("minima").count(), 0);
    }

    /// Writes a line again from what was read of it; fields that were not understood would be missing.
    fn rewritten(entry: Entry) -> String {
        let number = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
        let prices = entry.prices().map(|cost| {
            [cost.input, cost.output, cost.cache_read, cost.cache_write].map(|price| price.to_string()).join(",")
        });
        let thinking = entry.thinking();
        let more = thinking.as_ref().map_or(String::new(), |thinking| {
            let mut value = serde_json::to_value(thinking).unwrap();
            value.as_object_mut().unwrap().retain(|key, _| key != "mode" && key != "efforts");
            if value.as_object().unwrap().is_empty() { String::new() } else { value.to_string() }
        });
        let model = entry.to_model();
        let own = provider(entry.provider()).unwrap();
        let api = match model.api.as_str() {
            "openai-completions" if own.api == "openrouter" => "",
            api if api == own.api => "",
            api => api,
        };
        let base_url = if model.base_url == own.base_url { "" } else { &model.base_url };
        let columns = [
            model.selector(),
            model.name.clone(),
            number(entry.context_window()),
            number(entry.max_tokens()),
            prices.unwrap_or_default(),
            if model.accepts(InputKind::Image) { "text,image" } else { "" }.to_owned(),
            if model.reasoning { "reasoning" } else { "" }.to_owned(),
            thinking.map_or(String::new(), |thinking| format!("{} {}", thinking.mode, thinking.efforts.join(","))),
            more,
            api.to_owned(),
            base_url.to_owned(),
            model.context_promotion_target.unwrap_or_default(),
        ];
        columns.join("\t").trim_end_matches('\t').to_owned()
    }

    #[test]
    fn every_line_is_understood_whole() {
        for entry in entries() {
            let (expect, got) = (entry.line.to_owned(), rewritten(entry));
            assert_eq!(got, expect);
        }
    }

    #[test]
    fn unknown_limits_get_defaults() {
        let model = find("aimlapi", "act_two").unwrap().to_model();
        assert_eq!((model.context_window, model.max_tokens), (DEFAULT_CONTEXT, DEFAULT_MAX_TOKENS));
        assert_eq!(find("openrouter", "openai/gpt-5").unwrap().api(), Api::OpenaiCompletions);
    }
}

//! The built-in models: two sorted tables in the binary, read line by line on demand.
//!
//! The tables are written by `cargo run -p xtask -- catalog <model-catalog.json>`. Nothing is parsed at start-up: a single
//! model is found by binary search over the lines, and a scan over all of them builds only the models that it returns.

use std::sync::LazyLock;

use omp_types::{Api, InputKind, Model, Prices, ThinkingSupport};

const PROVIDERS: &str = include_str!("../data/providers.tsv");
const MODELS: &str = include_str!("../data/models.tsv");

/// Default for models without published limits.
pub(crate) const DEFAULT_CONTEXT: u64 = 128_000;
pub(crate) const DEFAULT_MAX_TOKENS: u64 = 16_384;

/// One line of `models.tsv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CatalogLine {
    line: &'static str,
}

/// One line of `providers.tsv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProviderLine {
    pub name: &'static str,
    pub api: &'static str,
    pub base_url: &'static str,
}

pub(crate) fn find(provider: &str, id: &str) -> Option<CatalogLine> {
    let key = format!("{provider}/{id}");
    lines_from(MODELS, &key).next().filter(|line| first_column(line) == key).map(|line| CatalogLine { line })
}

/// Returns all models, sorted by provider and then by ID.
pub(crate) fn entries() -> impl Iterator<Item = CatalogLine> {
    MODELS.lines().skip(1).map(|line| CatalogLine { line })
}

pub(crate) fn entries_of(provider: &str) -> impl Iterator<Item = CatalogLine> {
    let prefix = format!("{provider}/");
    lines_from(MODELS, &prefix).take_while(move |line| line.starts_with(&prefix)).map(|line| CatalogLine { line })
}

pub(crate) fn provider(name: &str) -> Option<ProviderLine> {
    let index = PROVIDER_LIST.binary_search_by_key(&name, |provider| provider.name).ok()?;
    PROVIDER_LIST.get(index).copied()
}

pub(crate) fn providers() -> impl Iterator<Item = ProviderLine> {
    PROVIDER_LIST.iter().copied()
}

/// Parsed once, because every model of a scan needs its provider.
static PROVIDER_LIST: LazyLock<Vec<ProviderLine>> =
    LazyLock::new(|| PROVIDERS.lines().skip(1).map(read_provider).collect());

impl CatalogLine {
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
        self.column(CatalogColumn::Name)
    }

    /// Returns the wire API of the model, before overrides in `models.yml`.
    pub fn api(self) -> Api {
        api_of(self.provider(), self.column(CatalogColumn::Api))
    }

    pub fn base_url(self) -> &'static str {
        base_url_of(self.provider(), self.column(CatalogColumn::BaseUrl))
    }

    pub fn to_model(self) -> Model {
        let columns = self.columns();
        let column = |column: CatalogColumn| columns[column as usize];
        let provider = self.provider();
        let context_window = column(CatalogColumn::Context).parse().unwrap_or(DEFAULT_CONTEXT);
        Model {
            id: self.id().to_owned(),
            name: column(CatalogColumn::Name).to_owned(),
            api: api_of(provider, column(CatalogColumn::Api)),
            provider: provider.to_owned(),
            base_url: base_url_of(provider, column(CatalogColumn::BaseUrl)).to_owned(),
            reasoning: !column(CatalogColumn::Reasoning).is_empty(),
            input: input(column(CatalogColumn::Input)),
            cost: prices(column(CatalogColumn::Prices)).unwrap_or_default(),
            context_window,
            max_tokens: column(CatalogColumn::MaxTokens).parse().unwrap_or(DEFAULT_MAX_TOKENS.min(context_window)),
            headers: Default::default(),
            thinking: thinking(column(CatalogColumn::Thinking), column(CatalogColumn::ThinkingMore)),
            compat: serde_json::Value::Null,
            context_promotion_target: Some(column(CatalogColumn::PromotesTo))
                .filter(|target| !target.is_empty())
                .map(str::to_owned),
        }
    }

    fn split_selector(self) -> (&'static str, &'static str) {
        self.selector().split_once('/').unwrap_or_default()
    }

    fn column(self, column: CatalogColumn) -> &'static str {
        self.line.split('\t').nth(column as usize).unwrap_or_default()
    }

    /// Missing columns at the end are empty.
    fn columns(self) -> [&'static str; COLUMNS] {
        let mut columns = [""; COLUMNS];
        for (column, text) in columns.iter_mut().zip(self.line.split('\t')) {
            *column = text;
        }
        columns
    }
}

const COLUMNS: usize = CatalogColumn::PromotesTo as usize + 1;

/// The columns of `models.tsv` after the selector, in order.
#[derive(Clone, Copy)]
enum CatalogColumn {
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

fn api_of(provider_name: &str, own: &str) -> Api {
    match own {
        "" => wire_of(provider(provider_name).map_or("", |provider| provider.api)),
        own => wire_of(own),
    }
}

fn base_url_of(provider_name: &str, own: &'static str) -> &'static str {
    match own {
        "" => provider(provider_name).map_or("", |provider| provider.base_url),
        own => own,
    }
}

fn prices(text: &str) -> Option<Prices> {
    let mut numbers = text.split(',').map_while(|number| number.parse().ok());
    Some(Prices {
        input: numbers.next()?,
        output: numbers.next()?,
        cache_read: numbers.next()?,
        cache_write: numbers.next()?,
    })
}

fn input(kinds: &str) -> Vec<InputKind> {
    match kinds.split(',').any(|kind| kind == "image") {
        true => vec![InputKind::Text, InputKind::Image],
        false => vec![InputKind::Text],
    }
}

fn thinking(text: &str, more: &str) -> Option<ThinkingSupport> {
    let (mode, efforts) = text.split_once(' ')?;
    let more = if more.is_empty() { None } else { serde_json::from_str(more).ok() };
    let efforts = efforts.split(',').map(str::to_owned).collect();
    Some(ThinkingSupport { mode: mode.to_owned(), efforts, ..more.unwrap_or_default() })
}

/// OpenRouter has an API name of its own but uses chat completions.
fn wire_of(api: &str) -> Api {
    if api == "openrouter" { Api::OpenaiCompletions } else { Api::from(api) }
}

fn read_provider(line: &'static str) -> ProviderLine {
    let mut columns = line.split('\t');
    let mut next = || columns.next().unwrap_or_default();
    ProviderLine { name: next(), api: next(), base_url: next() }
}

fn first_column(line: &str) -> &str {
    line.split('\t').next().unwrap_or_default()
}

/// Returns the lines starting at the first one whose key is not below `key`.
fn lines_from(table: &'static str, key: &str) -> std::str::Lines<'static> {
    let (mut low, mut high) = (0, table.len());
    while low < high {
        let middle = table.floor_char_boundary(low + (high - low) / 2);
        let start = table[..middle].rfind('\n').map_or(0, |at| at + 1);
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

    /// Serializes a parsed line again; fields that were not parsed would be missing.
    fn rewritten(entry: CatalogLine) -> String {
        let number = |text: &str| text.parse::<u64>().map_or(String::new(), |number| number.to_string());
        let prices = prices(entry.column(CatalogColumn::Prices)).map(|cost| {
            [cost.input, cost.output, cost.cache_read, cost.cache_write].map(|price| price.to_string()).join(",")
        });
        let model = entry.to_model();
        let more = model.thinking.as_ref().map_or(String::new(), |thinking| {
            let mut value = serde_json::to_value(thinking).unwrap();
            value.as_object_mut().unwrap().retain(|key, _| key != "mode" && key != "efforts");
            if value.as_object().unwrap().is_empty() { String::new() } else { value.to_string() }
        });
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
            number(entry.column(CatalogColumn::Context)),
            number(entry.column(CatalogColumn::MaxTokens)),
            prices.unwrap_or_default(),
            if model.accepts(InputKind::Image) { "text,image" } else { "" }.to_owned(),
            if model.reasoning { "reasoning" } else { "" }.to_owned(),
            model
                .thinking
                .map_or(String::new(), |thinking| format!("{} {}", thinking.mode, thinking.efforts.join(","))),
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

//! Reads the parse tables from the text of a `parser.c` that the tree-sitter CLI wrote, and takes them out of it.

use std::collections::HashMap;

/// The three tables, as the C compiler would lay them out.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// A row for every large state, a column for every symbol.
    pub large: Vec<u16>,
    /// Lists of symbols for the other states.
    pub small: Vec<u16>,
    /// For every other state, where it begins in `small`.
    pub map: Vec<u32>,
}

impl Tables {
    /// `map`, `large`, `small`, little-endian: in this order all are aligned.
    pub fn to_bytes(&self) -> Vec<u8> {
        let map = self.map.iter().flat_map(|entry| entry.to_le_bytes());
        map.chain(self.large.iter().chain(&self.small).flat_map(|entry| entry.to_le_bytes())).collect()
    }
}

pub struct ParserText<'a> {
    text: &'a str,
    symbols: HashMap<&'a str, u32>,
    large_states: u32,
    states: u32,
    symbol_count: u32,
}

const LARGE: &str = "static const uint16_t ts_parse_table[LARGE_STATE_COUNT][SYMBOL_COUNT] = {";
const SMALL: &str = "static const uint16_t ts_small_parse_table[] = {";
const MAP: &str = "static const uint32_t ts_small_parse_table_map[] = {";
const END: &str = "\n};";

impl<'a> ParserText<'a> {
    pub fn parse(text: &'a str) -> Result<Self, String> {
        Ok(Self {
            text,
            symbols: symbols(text),
            large_states: constant(text, "LARGE_STATE_COUNT")?,
            states: constant(text, "STATE_COUNT")?,
            symbol_count: constant(text, "SYMBOL_COUNT")?,
        })
    }

    pub fn tables(&self) -> Result<Tables, String> {
        let tables = Tables {
            large: self.large(self.initializer(LARGE)?).map_err(|why| format!("in ts_parse_table: {why}"))?,
            small: self.list(self.initializer(SMALL)?).map_err(|why| format!("in ts_small_parse_table: {why}"))?,
            map: self.list(self.initializer(MAP)?).map_err(|why| format!("in ts_small_parse_table_map: {why}"))?,
        };
        let small_states = self.states.checked_sub(self.large_states).ok_or("fewer states than large ones")?;
        if tables.map.len() != small_states as usize {
            return Err(format!("{small_states} small states, but {} entries for them", tables.map.len()));
        }
        Ok(tables)
    }

    /// The same program without tables. Its language has version 0, which every parser refuses, until the function
    /// `fill` has been called with the tables.
    pub fn without_tables(&self, language: &str, fill: &str) -> Result<String, String> {
        let mut text = self.text.to_owned();
        for start in [LARGE, SMALL, MAP] {
            let from = text.find(start).ok_or_else(|| format!("no `{start}`"))?;
            let length = text[from..].find(END).ok_or("a table has no end")? + END.len();
            text.replace_range(from..from + length, "");
        }
        // Older grammars call the field `version`.
        let version = if text.contains(".abi_version = ") { "abi_version" } else { "version" };
        for (old, new) in [
            ("static const TSLanguage language = {".to_owned(), "static TSLanguage language = {"),
            (format!(".{version} = LANGUAGE_VERSION,"), ""),
            (".parse_table = &ts_parse_table[0][0],".to_owned(), ""),
            (".small_parse_table = ts_small_parse_table,".to_owned(), ""),
            (".small_parse_table_map = ts_small_parse_table_map,".to_owned(), ""),
        ] {
            if text.matches(&old).count() != 1 {
                return Err(format!("`{old}` is not there exactly once"));
            }
            text = text.replace(&old, new);
        }
        text.push_str(&format!(
            "
void {fill}(const uint16_t *large, const uint16_t *small, const uint32_t *map) {{
  TSLanguage *language = (TSLanguage *){language}();
  language->parse_table = large;
  language->small_parse_table = small;
  language->small_parse_table_map = map;
  language->{version} = LANGUAGE_VERSION;
}}
"
        ));
        Ok(text)
    }

    fn initializer(&self, start: &str) -> Result<Tokens<'a, '_>, String> {
        let from = self.text.find(start).ok_or_else(|| format!("no `{start}`"))? + start.len();
        let length = self.text[from..].find(END).ok_or("a table has no end")?;
        Ok(Tokens { rest: &self.text.as_bytes()[from..from + length], parser: self })
    }

    /// `[STATE(1)] = { [sym_a] = ACTIONS(5), ... }, ...`
    fn large(&self, mut tokens: Tokens<'a, '_>) -> Result<Vec<u16>, String> {
        let columns = self.symbol_count as usize;
        let mut table = vec![0; self.large_states as usize * columns];
        let mut rows: Vec<&mut [u16]> = table.chunks_exact_mut(columns.max(1)).collect();
        while !tokens.is_empty() {
            let state = tokens.designator()?.ok_or("a row without a state")?;
            let row = rows.get_mut(state as usize).ok_or_else(|| format!("no row {state}"))?;
            tokens.expect(b'{')?;
            while !tokens.takes(b'}') {
                let symbol = tokens.designator()?.ok_or("an entry without a symbol")?;
                let entry = row.get_mut(symbol as usize).ok_or_else(|| format!("no column {symbol}"))?;
                *entry = tokens.number()?;
                tokens.expect(b',')?;
            }
            tokens.expect(b',')?;
        }
        Ok(table)
    }

    /// `[0] = 2, ACTIONS(3), sym_a, ...`: after an index the entries follow one another.
    fn list<N: TryFrom<u32> + Copy + Default>(&self, mut tokens: Tokens<'a, '_>) -> Result<Vec<N>, String> {
        let mut list = Vec::new();
        let mut at = 0;
        while !tokens.is_empty() {
            if let Some(index) = tokens.designator()? {
                at = index as usize;
            }
            if at != list.len() {
                return Err(format!("index {at} after {} entries", list.len()));
            }
            list.push(tokens.number()?);
            tokens.expect(b',')?;
            at += 1;
        }
        Ok(list)
    }
}

fn constant(text: &str, name: &str) -> Result<u32, String> {
    let found = text.lines().find_map(|line| line.strip_prefix("#define ")?.strip_prefix(name)?.strip_prefix(' '));
    found.and_then(|value| value.trim().parse().ok()).ok_or_else(|| format!("no `#define {name}` with a number"))
}

/// The values of all enums; names differ by their prefixes.
fn symbols(text: &str) -> HashMap<&str, u32> {
    let mut symbols = HashMap::from([("ts_builtin_sym_end", 0)]);
    let mut is_in_enum = false;
    for line in text.lines() {
        if line.starts_with("enum ") {
            is_in_enum = true;
        } else if line.starts_with('}') {
            is_in_enum = false;
        } else if line.starts_with("static const uint16_t ts_parse_table") {
            break;
        } else if is_in_enum
            && let Some((name, value)) = line.trim().trim_end_matches(',').split_once(" = ")
            && let Ok(value) = value.parse()
        {
            symbols.insert(name, value);
        }
    }
    symbols
}

/// What is left of an initializer.
struct Tokens<'a, 'p> {
    rest: &'a [u8],
    parser: &'p ParserText<'a>,
}

impl<'a> Tokens<'a, '_> {
    fn is_empty(&mut self) -> bool {
        self.rest = self.rest.trim_ascii_start();
        self.rest.is_empty()
    }

    fn takes(&mut self, wanted: u8) -> bool {
        self.rest = self.rest.trim_ascii_start();
        let Some(rest) = self.rest.strip_prefix(&[wanted]) else { return false };
        self.rest = rest;
        true
    }

    fn expect(&mut self, wanted: u8) -> Result<(), String> {
        if self.takes(wanted) { Ok(()) } else { Err(self.unexpected(&format!("`{}`", char::from(wanted)))) }
    }

    /// `[value] =`, if there is one.
    fn designator(&mut self) -> Result<Option<u32>, String> {
        if !self.takes(b'[') {
            return Ok(None);
        }
        let value = self.value()?;
        self.expect(b']')?;
        self.expect(b'=')?;
        Ok(Some(value))
    }

    fn number<N: TryFrom<u32>>(&mut self) -> Result<N, String> {
        let value = self.value()?;
        N::try_from(value).map_err(|_| format!("{value} does not fit"))
    }

    /// A number, a symbol, or one of three macros around a number.
    fn value(&mut self) -> Result<u32, String> {
        let word = self.word();
        let Some(first) = word.bytes().next() else { return Err(self.unexpected("a value")) };
        if first.is_ascii_digit() {
            return word.parse().map_err(|_| format!("`{word}` is no number"));
        }
        if !self.takes(b'(') {
            return self.parser.symbols.get(word).copied().ok_or_else(|| format!("no symbol `{word}`"));
        }
        let inner = self.word();
        let number: u32 = inner.parse().map_err(|_| format!("`{inner}` is no number"))?;
        self.expect(b')')?;
        match word {
            "STATE" | "ACTIONS" => Ok(number),
            "SMALL_STATE" => {
                number.checked_sub(self.parser.large_states).ok_or_else(|| format!("state {number} is a large one"))
            }
            _ => Err(format!("`{word}` is not known")),
        }
    }

    fn word(&mut self) -> &'a str {
        self.rest = self.rest.trim_ascii_start();
        let end = self.rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        // The bytes are ASCII.
        str::from_utf8(word).unwrap_or_default()
    }

    fn unexpected(&self, wanted: &str) -> String {
        let next = String::from_utf8_lossy(&self.rest[..self.rest.len().min(20)]).into_owned();
        format!("{wanted} was expected before `{next}`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
#define STATE_COUNT 4
#define LARGE_STATE_COUNT 2
#define SYMBOL_COUNT 3

enum ts_symbol_identifiers {
  sym_a = 1,
  sym_b = 2,
};

static const uint16_t ts_parse_table[LARGE_STATE_COUNT][SYMBOL_COUNT] = {
  [0] = {
    [ts_builtin_sym_end] = ACTIONS(1),
  },
  [STATE(1)] = {
    [sym_b] = STATE(3),
    [sym_a] = ACTIONS(65535),
  },
};

static const uint16_t ts_small_parse_table[] = {
  [0] = 1,
    ACTIONS(3), 1,
      sym_b,
  [4] = 0,
};

static const uint32_t ts_small_parse_table_map[] = {
  [SMALL_STATE(2)] = 0,
  [SMALL_STATE(3)] = 4,
};

const TSLanguage *tree_sitter_x(void) {
  static const TSLanguage language = {
    .version = LANGUAGE_VERSION,
    .state_count = STATE_COUNT,
    .parse_table = &ts_parse_table[0][0],
    .small_parse_table = ts_small_parse_table,
    .small_parse_table_map = ts_small_parse_table_map,
    .lex_fn = ts_lex,
  };
  return &language;
}
";

    fn read(text: &str) -> Result<Tables, String> {
        ParserText::parse(text)?.tables()
    }

    #[test]
    fn entries_are_laid_out_as_in_c() {
        let want = Tables { large: vec![1, 0, 0, 0, 65535, 3], small: vec![1, 3, 1, 2, 0], map: vec![0, 4] };
        assert_eq!(read(TEXT), Ok(want));
        let bytes = Tables { large: vec![1], small: vec![0x1234], map: vec![0x0102_0304] }.to_bytes();
        assert_eq!(bytes, [4, 3, 2, 1, 1, 0, 0x34, 0x12]);
    }

    #[test]
    fn the_rest_has_no_table_and_no_version() {
        let rest = ParserText::parse(TEXT).unwrap().without_tables("tree_sitter_x", "fill_x").unwrap();
        assert!(!rest.contains("ACTIONS(") && !rest.contains("ts_small_parse_table"), "{rest}");
        let language = rest.split_once("static TSLanguage language = {").unwrap().1;
        assert!(language.contains(".state_count = STATE_COUNT,\n") && !language.contains(".version"), "{language}");
        let fill = language.split_once("void fill_x(").unwrap().1;
        assert!(
            fill.contains("(TSLanguage *)tree_sitter_x()") && fill.contains("->version = LANGUAGE_VERSION;"),
            "{fill}"
        );
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        for (old, new, want) in [
            ("sym_a]", "sym_c]", "in ts_parse_table: no symbol `sym_c`"),
            ("[STATE(1)]", "[STATE(2)]", "in ts_parse_table: no row 2"),
            ("65535", "65536", "in ts_parse_table: 65536 does not fit"),
            ("[4] = 0", "[5] = 0", "in ts_small_parse_table: index 5 after 4 entries"),
            ("ACTIONS(3)", "OTHER(3)", "in ts_small_parse_table: `OTHER` is not known"),
            ("ACTIONS(3), 1,", "ACTIONS(3) 1,", "in ts_small_parse_table: `,` was expected before `1,"),
            ("SMALL_STATE(2)", "SMALL_STATE(1)", "in ts_small_parse_table_map: state 1 is a large one"),
            ("  [SMALL_STATE(3)] = 4,\n", "", "2 small states, but 1 entries for them"),
            ("#define SYMBOL_COUNT 3\n", "", "no `#define SYMBOL_COUNT` with a number"),
            ("ts_parse_table[LARGE", "ts_parse_tables[LARGE", "no `static const uint16_t ts_parse_table["),
        ] {
            let problem = read(&TEXT.replace(old, new)).unwrap_err();
            assert!(problem.starts_with(want), "{problem}");
        }
        let twice = TEXT.replace(".parse_table =", ".other_table =");
        let problem = ParserText::parse(&twice).unwrap().without_tables("tree_sitter_x", "fill_x").unwrap_err();
        assert_eq!(problem, "`.parse_table = &ts_parse_table[0][0],` is not there exactly once");
    }
}

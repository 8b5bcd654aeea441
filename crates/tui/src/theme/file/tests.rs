//! Tests valid and invalid theme files.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn whole(change: impl FnOnce(&mut Value)) -> String {
    let colors: Map<String, Value> = Token::ALL.iter().map(|token| (token.name().to_owned(), json!("base"))).collect();
    let mut theme = json!({ "name": "mine", "vars": { "base": "#010203" }, "colors": colors });
    change(&mut theme);
    theme.to_string()
}

#[test]
fn colors_come_in_every_form() {
    let (theme, warnings) = Theme::parse(
        &whole(|theme| {
            theme["vars"]["far"] = json!("near");
            theme["vars"]["near"] = json!(200);
            theme["colors"]["accent"] = json!("far");
            theme["colors"]["error"] = json!("#f80");
            theme["colors"]["warning"] = json!("#FF880080");
            theme["colors"]["text"] = json!("");
            theme["colors"]["dim"] = json!(7);
            theme["colors"]["link"] = json!("#0088fa");
            theme["$schema"] = json!("https://example.com");
            theme["export"] = json!({ "pageBg": "#000000" });
        }),
        "mine",
    )
    .unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    for (token, color) in [
        (Token::Accent, Color::Indexed(200)),
        (Token::Error, Color::Rgb(0xff, 0x88, 0)),
        (Token::Warning, Color::Rgb(0xff, 0x88, 0)),
        (Token::Text, Color::Default),
        (Token::Dim, Color::Indexed(7)),
        (Token::Border, Color::Rgb(1, 2, 3)),
    ] {
        assert_eq!(theme.color(token), color, "{token:?}");
    }
    assert_eq!(theme.name, "mine");
}

#[track_caller]
fn warns(change: impl FnOnce(&mut Value), expect: &str) -> Theme {
    let (theme, warnings) = Theme::parse(&whole(change), "mine").unwrap();
    assert_eq!(warnings.join("\n"), expect);
    theme
}

#[test]
fn mistakes_are_told_and_the_rest_is_used() {
    let theme = warns(
        |theme| theme["colors"]["accent"] = json!("bose"),
        "accent: unknown variable \"bose\"; did you mean \"base\"?",
    );
    assert_eq!(theme.color(Token::Accent), Theme::dark().color(Token::Accent));
    warns(|theme| theme["colors"]["acccent"] = json!("base"), "unknown colour \"acccent\"; did you mean \"accent\"?");
    warns(|theme| theme["colors"]["dim"] = json!(256), "dim: 256 is not a colour of the palette (0 to 255)");
    warns(|theme| theme["colors"]["dim"] = json!("#12"), "dim: \"#12\" is not a colour: it is written #rrggbb");
    warns(|theme| theme["colors"]["dim"] = json!("#+12345"), "dim: \"#+12345\" is not a colour: it is written #rrggbb");
    warns(
        |theme| theme["colors"]["dim"] = json!([]),
        "dim: [] is not a colour: #rrggbb, 0 to 255, the name of a variable, or \"\"",
    );
    warns(|theme| theme["colour"] = json!({}), "unknown part \"colour\"; did you mean \"colors\"?");
    warns(
        |theme| {
            theme["vars"]["a"] = json!("b");
            theme["vars"]["b"] = json!("a");
            theme["colors"]["dim"] = json!("a");
        },
        "dim: the variable \"a\" refers to itself",
    );
}

#[test]
fn what_is_missing_comes_from_the_theme_that_suits() {
    let without = |theme: &mut Value, names: &[&str]| {
        let colors = theme["colors"].as_object_mut().unwrap();
        names.iter().for_each(|name| {
            colors.remove(*name);
        });
    };
    let dark = warns(
        |theme| without(theme, &["dim", "mdHr"]),
        "taken from the theme \"dark\", because not in the file: dim, mdHr",
    );
    assert_eq!(dark.color(Token::Dim), Theme::dark().color(Token::Dim));
    let light = warns(
        |theme| {
            theme["vars"]["base"] = json!("#ffffff");
            without(theme, &["dim"]);
        },
        "taken from the theme \"light\", because not in the file: dim",
    );
    assert_eq!(light.color(Token::Dim), Theme::light().color(Token::Dim));
    // Older files lack this colour.
    let older = warns(|theme| without(theme, &["thinkingMax"]), "");
    assert_eq!(older.color(Token::ThinkingMax), older.color(Token::ThinkingXhigh));
}

#[test]
fn symbols_of_a_file() {
    let theme = warns(
        |theme| {
            theme["symbols"] = json!({
                "preset": "ascii",
                "overrides": { "nav.cursor": "»", "lang.rust": "R", "status.succes": "y", "navcursor": "x" },
                "spinnerFrames": { "activity": ["a", "b"] },
            });
        },
        "unknown symbol \"navcursor\"; did you mean \"nav.cursor\"?",
    );
    let symbols = theme.symbols();
    assert_eq!((symbols.get(Symbol::NavCursor), symbols.get(Symbol::TreeVertical)), ("»", "|"));
    assert_eq!((symbols.frame(Spinner::Activity, 1), symbols.frame(Spinner::Status, 1)), ("b", "/"));
    warns(
        |theme| {
            theme["symbols"] = json!({
                "preset": "emoji",
                "overrides": { "nav.cursor": "\u{1b}[2J" },
                "spinnerFrames": [1],
            });
        },
        "symbols.preset is \"emoji\", but can be unicode, nerd or ascii\n\
         symbols.overrides.nav.cursor is not a text of at most 8 columns\n\
         symbols.spinnerFrames is not a list of texts, nor one each for status and activity",
    );
}

#[test]
fn what_is_no_theme_says_so() {
    for (json, expect) in [
        ("", "the theme \"x\" is not JSON: EOF while parsing a value at line 1 column 0"),
        ("{\"colors\": {", "the theme \"x\" is not JSON: EOF while parsing an object at line 1 column 12"),
        ("[]", "the theme \"x\" has no \"colors\""),
        ("{\"colors\": []}", "the theme \"x\" has no \"colors\""),
    ] {
        let error = Theme::parse(json, "x").unwrap_err().to_string();
        assert_eq!(error.split("\nhint: ").next(), Some(expect));
    }
}

#[test]
fn the_example_of_the_documentation_is_whole() {
    let page = include_str!("../../../../../docs/themes.md");
    let example = page.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let (theme, warnings) = Theme::parse(example, "harbour").unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    assert_eq!((theme.color(Token::Text), theme.color(Token::Dim)), (Color::Default, Color::Indexed(245)));
    let listed = page.split("The symbols:").nth(1).unwrap();
    for symbol in Symbol::ALL {
        let (_, last) = symbol.name().split_once('.').unwrap();
        assert!(listed.contains(last), "{}", symbol.name());
    }
}

#[test]
fn many_mistakes_are_told_in_few_lines() {
    let (_, warnings) = Theme::parse(
        &whole(|theme| {
            for at in 0..100 {
                theme["colors"][format!("zzzzzzzzzzzzzz{at}")] = json!(1);
            }
        }),
        "x",
    )
    .unwrap();
    assert_eq!((warnings.len(), warnings.last().map(String::as_str)), (21, Some("and 80 more")));
}

proptest! {
    #[test]
    fn no_file_is_too_odd(json in any::<String>(), value in "[#a-f0-9]{0,12}") {
        let _ = Theme::parse(&json, "x");
        let _ = Theme::parse(&whole(|theme| theme["colors"]["dim"] = json!(value)), "x");
    }
}

//! Tests `calc` as the agent loop calls it.

use serde_json::json;

use super::*;
use crate::scratch::Scratch;

fn text(expressions: &[&str]) -> String {
    let calculation = |it: &&str| json!({"expression": it, "prefix": "", "suffix": ""});
    let calculations: Vec<_> = expressions.iter().map(calculation).collect();
    Scratch::new(&[]).text(&Calc, json!({"calculations": calculations}))
}

#[test]
fn values() {
    for (expression, want) in [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("2 ** 3 ** 2", "512"),
        ("-2 ** 2", "-4"),
        ("2 ** -1", "0.5"),
        ("10 - 4 - 3", "3"),
        ("8 / 4 / 2", "1"),
        ("-7 % 3", "-1"),
        ("5.5 % 2", "1.5"),
        ("+-+3", "-3"),
        (".5 + 1.", "1.5"),
        ("1e3", "1000"),
        ("2.5E-3", "0.0025"),
        ("0xff + 0B11 + 0o17", "273"),
        ("0.1 + 0.2", "0.30000000000000004"),
        ("1e21", "1e+21"),
        ("123456789 ** 3", "1.8816763717891548e+24"),
        ("1 / 10000000", "1e-7"),
        ("1e20", "100000000000000000000"),
        ("-0", "0"),
        ("0 * -1", "0"),
        ("10 / 3", "3.3333333333333335"),
    ] {
        assert_eq!(text(&[expression]), want, "{expression}");
    }
}

#[test]
fn what_is_wrong() {
    let deep = "(".repeat(300);
    let signs = "-".repeat(9000) + "1";
    let long = "1+".repeat(6000);
    for (expression, want) in [
        ("", "Expression is empty"),
        ("  ", "Expression is empty"),
        ("sqrt(16)", "Invalid character \"s\" in expression"),
        ("2 ^ 3", "Invalid character \"^\" in expression"),
        ("1 +", "Unexpected end of expression"),
        ("1 2", "Unexpected token in expression"),
        ("* 2", "Unexpected token in expression"),
        ("(1 + 2", "Missing closing parenthesis"),
        ("1)", "Unexpected token in expression"),
        ("1 / 0", "Expression result is not a finite number"),
        ("0 / 0", "Expression result is not a finite number"),
        ("10 ** 400", "Expression result is not a finite number"),
        ("0x", "Invalid number \"0x\" in expression"),
        ("0b12", "Invalid number \"0b12\" in expression"),
        ("1.2.3", "Invalid number \"1.2.\" in expression"),
        (".", "Invalid number \".\" in expression"),
        ("1e+", "Invalid exponent in \"1e+\""),
        ("1 + é", "Invalid character \"é\" in expression"),
        (&deep, "Expression is nested deeper than 200 levels"),
        (&signs, "Expression is nested deeper than 200 levels"),
        (&long, "Expression is longer than 10000 bytes"),
    ] {
        let got = text(&["1", expression]);
        assert!(got.starts_with(&format!("error: {want}: ")), "{expression}: {got}");
    }
    assert_eq!(text(&[]), "error: give 1 to 200 calculations, not 0");
}

#[test]
fn results_stand_between_prefix_and_suffix() {
    let arguments = json!({"calculations": [
        {"expression": "6 * 7", "prefix": "= ", "suffix": " km"},
        {"expression": "1", "prefix": "", "suffix": ""},
    ]});
    let scratch = Scratch::new(&[]);
    let output = scratch.call(&Calc, arguments.clone()).unwrap();
    assert_eq!(output.content[0].as_text(), Some("= 42 km\n1"));
    assert_eq!(
        output.details.unwrap(),
        json!({"results": [
            {"expression": "6 * 7", "value": 42.0, "output": "= 42 km"},
            {"expression": "1", "value": 1.0, "output": "1"},
        ]})
    );
    let view = scratch.view(&Calc, arguments);
    assert_eq!(view.title, "calc 2 expressions");
    assert_eq!(view.blocks, [Block::Lines { lines: vec!["6 * 7 = = 42 km".into(), "1 = 1".into()], hidden: 0 }]);
}

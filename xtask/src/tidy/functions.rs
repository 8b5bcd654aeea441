//! No function body is longer than a screen and a half.

use super::Violation;
use super::workspace::Workspace;

const LONGEST: usize = 90;

pub fn check(workspace: &Workspace) -> Vec<Violation> {
    workspace
        .rust_files()
        .flat_map(|(path, _, rust)| rust.items("fn").into_iter().map(move |item| (path, rust, item)))
        .filter_map(|(path, rust, item)| {
            let lines = rust.line_at(item.body.end) - rust.line_at(item.body.start);
            (lines.saturating_sub(1) > LONGEST).then(|| Violation {
                path: path.to_owned(),
                line: item.line,
                rule: "function-length",
                what: format!("`{}` has {} lines, at most {LONGEST} are allowed", item.name, lines - 1),
                hint: "split it by what its parts do; aim at 40 lines",
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str, lines: usize) -> String {
        format!("fn {name}() {{\n{}}}\n", "    work();\n".repeat(lines))
    }

    #[test]
    fn long_functions_are_caught() {
        let text = [function("fits", LONGEST), function("long", LONGEST + 1)].concat();
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", function("rows", 200));
        let found = check(&Workspace::of([("crates/a/src/lib.rs", text + &tests)]));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].line, found[0].what.as_str()), (93, "`long` has 91 lines, at most 90 are allowed"));
    }
}

//! Limits the length of functions, except those that only dispatch.

use super::Violation;
use super::dispatch::is_dispatch;
use super::workspace::Workspace;

const LONGEST: usize = 90;

pub fn check(workspace: &Workspace) -> Vec<Violation> {
    workspace
        .rust_files()
        .flat_map(|(path, _, rust)| rust.items("fn").into_iter().map(move |item| (path, rust, item)))
        .filter_map(|(path, rust, item)| {
            let lines = rust.line_at(item.body.end) - rust.line_at(item.body.start);
            let too_long = lines.saturating_sub(1) > LONGEST && !is_dispatch(&rust.code[item.body]);
            too_long.then(|| Violation {
                path: path.to_owned(),
                line: item.line,
                rule: "function-length",
                what: format!("`{}` has {} lines, at most {LONGEST} are allowed", item.name, lines - 1),
                hint: "split it by what its parts do; aim for 40 lines (a `match` of short arms that names every case may be longer)",
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
    fn a_long_dispatch_is_not_caught() {
        let arms: String = (0..100).map(|number| format!("        Key::K{number} => work({number}),\n")).collect();
        let plain = format!("fn plain(key: Key) {{\n    match key {{\n{arms}    }}\n}}\n");
        let open = format!("fn open(key: Key) {{\n    match key {{\n{arms}        _ => {{}}\n    }}\n}}\n");
        let found = check(&Workspace::of([("crates/a/src/lib.rs", plain + &open)]));
        let found: Vec<&str> = found.iter().map(|violation| violation.what.as_str()).collect();
        assert_eq!(found, ["`open` has 103 lines, at most 90 are allowed"]);
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

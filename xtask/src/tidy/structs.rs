//! Limits the number of fields of a struct.

use super::Violation;
use super::workspace::Workspace;

const MOST: usize = 25;

pub fn check(workspace: &Workspace) -> Vec<Violation> {
    workspace
        .rust_files()
        .flat_map(|(path, _, rust)| rust.items("struct").into_iter().map(move |item| (path, rust, item)))
        .filter_map(|(path, rust, item)| {
            let count = fields(&rust.code[item.body]);
            (count > MOST).then(|| Violation {
                path: path.to_owned(),
                line: item.line,
                rule: "struct-fields",
                what: format!("`{}` has {count} fields, at most {MOST} are allowed", item.name),
                hint: "group related fields into structs; aim for 12",
            })
        })
        .collect()
}

/// Colons outside of brackets that are not part of a path.
fn fields(body: &str) -> usize {
    let bytes = body.as_bytes();
    let mut depth = 0usize;
    let mut count = 0;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b':' if depth == 0 && bytes.get(at + 1) != Some(&b':') && (at == 0 || bytes[at - 1] != b':') => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted() {
        assert_eq!(fields("\n    #[doc(a: b)]\n    pub a: std::sync::Arc<u8>,\n    b: fn(x: u8),\n"), 2);
    }

    #[test]
    fn wide_structs_are_caught() {
        let wide = |count: usize| format!("struct S {{\n{}}}\n", "    f: u8,\n".repeat(count));
        assert_eq!(check(&Workspace::of([("crates/a/src/lib.rs", wide(MOST))])), []);
        let found = check(&Workspace::of([("crates/a/src/lib.rs", wide(MOST + 1))]));
        assert_eq!(found[0].what, "`S` has 26 fields, at most 25 are allowed");
    }
}

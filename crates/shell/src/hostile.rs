//! Tests with hostile input: the reader neither panics nor takes long.

use std::time::{Duration, Instant};

use proptest::prelude::*;

#[test]
fn nesting_and_repetition_cost_no_more_than_their_length() {
    let shapes = [
        "(",
        "((",
        "$(",
        "$((",
        "${x:-",
        "`",
        "\"",
        "'",
        "{ ",
        "if ",
        "<(",
        "a=(",
        "$(( $(",
        "((a) ",
        "{a ",
        "<<E\n",
        "[[ ( ",
        "case x in a) ",
        "bash -c \"",
        "eval ",
        "f() ",
        "! ",
        "time ",
        "coproc ",
        "x | ",
        "x;",
        "a[",
        "${a[",
        "\\",
        "#",
        "&&",
        "sudo ",
        "env A=b ",
        "$'\\x",
    ];
    for shape in shapes {
        let script = shape.repeat(120_000 / shape.len());
        let start = Instant::now();
        let read = crate::read(&script);
        assert!(start.elapsed() < Duration::from_secs(20), "{shape:?} took {:?}", start.elapsed());
        assert!(read.commands.len() <= crate::MAX_COMMANDS && read.unknown.len() <= 20, "{shape:?}");
    }
    assert!(!crate::read(&"a".repeat(crate::MAX_SCRIPT + 1)).unknown.is_empty());
}

proptest! {
    #[test]
    fn no_input_panics(parts in prop::collection::vec(prop::sample::select(vec![
        "(", ")", "((", "))", "{", "}", "$", "$(", "${", "`", "\"", "'", "\\", "\n", ";", ";;", "&", "|", "<", ">", "<<", "E", "<<<", "<(", "#",
        "if", "then", "fi", "case", "in", "esac", "for", "do", "done", "[[", "]]", "=", "a", "é", "~", "*", "[", "]", " ", " ", "0", "2>&1",
        "eval", "bash", "-c", "find", "-exec", "xargs", "git", "-I", "sudo", "env", "-S", "function", "coproc", "trap", "alias", "x=", "$'", "\\x",
    ]), 0..40)) {
        let _ = crate::read(&parts.concat()).critical(|_| false);
        let spaced = crate::read(&parts.join(" "));
        let _ = (spaced.critical(|_| false), spaced.is_covered_by(&[]));
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,60}") {
        let _ = crate::read(&text).critical(|_| false);
    }
}

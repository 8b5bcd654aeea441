//! Golden tests of outlines, and invariants of every outline.

use super::*;

/// Formats kept lines with numbers, and `…` with the range for hidden ones.
fn shown(source: &str, language: &str, limits: OutlineLimits) -> String {
    let Some(outline) = outline(source, Language::from_name(language).unwrap(), limits).unwrap() else {
        return "whole".into();
    };
    let lines: Vec<&str> = source.lines().collect();
    let mut out = Vec::new();
    for segment in &outline.segments {
        match segment.kept {
            true => out.extend((segment.first..=segment.last).map(|at| format!("{at}:{}", lines[at - 1]))),
            false => out.push(format!("… {}-{}", segment.first, segment.last)),
        }
    }
    out.join("\n")
}

/// Hides everything that can be hidden.
const TIGHT: OutlineLimits =
    OutlineLimits { min_body_lines: 2, min_comment_lines: 4, min_total_lines: 1, unfold_until: 0, unfold_limit: 0 };

const RUST: &str = r#"//! A thing.
use std::fmt;

/// What it is:
/// one,
/// two,
/// three.
pub struct Thing {
    a: u8,
    b: u8,
}

impl Thing {
    /// Makes one.
    pub fn new() -> Self {
        let a = 1;
        let b = 2;
        Self { a, b }
    }

    fn short(&self) -> u8 { self.a }
}

mod inner {
    pub fn deep(
        a: u8,
    ) -> u8 {
        match a {
            0 => 1,
            _ => 2,
        }
    }
}
"#;

#[test]
fn rust() {
    insta::assert_snapshot!(shown(RUST, "rust", TIGHT), @"
    1://! A thing.
    2:use std::fmt;
    3:
    4:/// What it is:
    … 5-7
    8:pub struct Thing {
    … 9-10
    11:}
    12:
    13:impl Thing {
    14:    /// Makes one.
    15:    pub fn new() -> Self {
    … 16-18
    19:    }
    20:
    21:    fn short(&self) -> u8 { self.a }
    22:}
    23:
    24:mod inner {
    25:    pub fn deep(
    26:        a: u8,
    27:    ) -> u8 {
    … 28-31
    32:    }
    33:}
    ");
}

#[test]
fn python() {
    let source = r#"import os

class A(Base):
    """What it is.

    More of it.
    """

    def one(self, a):
        b = a
        return b

    @property
    def two(self):
        if self.x:
            return 1
        return 2


def three():
    return [
        1,
        2,
    ]
"#;
    insta::assert_snapshot!(shown(source, "python", TIGHT), @r#"
    1:import os
    2:
    3:class A(Base):
    4:    """What it is.
    … 5-6
    7:    """
    8:
    9:    def one(self, a):
    … 10-11
    12:
    13:    @property
    14:    def two(self):
    … 15-17
    18:
    19:
    20:def three():
    … 21-24
    "#);
}

#[test]
fn typescript() {
    let source = r#"/*
 * Licence
 * text
 */
import { a } from "a";

export interface Shape {
    area(): number;
    name: string;
}

export class Circle implements Shape {
    private r = 1;

    area(): number {
        const pi = 3;
        return pi * this.r;
    }
}

export const table = {
    one: 1,
    two: 2,
};

export function f(
    a: string,
    b: string,
): void {
    a();
    b();
}
"#;
    insta::assert_snapshot!(shown(source, "typescript", TIGHT), @r#"
    1:/*
    … 2-3
    4: */
    5:import { a } from "a";
    6:
    7:export interface Shape {
    8:    area(): number;
    9:    name: string;
    10:}
    11:
    12:export class Circle implements Shape {
    13:    private r = 1;
    14:
    15:    area(): number {
    … 16-17
    18:    }
    19:}
    20:
    21:export const table = {
    … 22-23
    24:};
    25:
    26:export function f(
    27:    a: string,
    28:    b: string,
    29:): void {
    … 30-31
    32:}
    "#);
}

#[test]
fn go() {
    let source = r#"package a

import (
	"fmt"
	"os"
)

type T struct {
	A int
	B int
}

// F does.
func (t *T) F() error {
	fmt.Println(t.A)
	return nil
}
"#;
    insta::assert_snapshot!(shown(source, "go", TIGHT), @r#"
    1:package a
    2:
    3:import (
    4:	"fmt"
    5:	"os"
    6:)
    7:
    8:type T struct {
    … 9-10
    11:}
    12:
    13:// F does.
    14:func (t *T) F() error {
    … 15-16
    17:}
    "#);
}

#[test]
fn java() {
    let source = r#"package a;

public class A extends B {
    private final int x;

    /**
     * Makes
     * one.
     */
    public A(int x) {
        super();
        this.x = x;
    }

    enum Kind {
        ONE,
        TWO,
    }
}
"#;
    insta::assert_snapshot!(shown(source, "java", TIGHT), @"
    1:package a;
    2:
    3:public class A extends B {
    4:    private final int x;
    5:
    6:    /**
    … 7-8
    9:     */
    10:    public A(int x) {
    … 11-12
    13:    }
    14:
    15:    enum Kind {
    … 16-17
    18:    }
    19:}
    ");
}

#[test]
fn ruby() {
    let source = r#"module M
  class A < B
    attr_reader :x

    def one(a)
      b = a
      b + 1
    end

    def two = 2
  end
end
"#;
    insta::assert_snapshot!(shown(source, "ruby", TIGHT), @"
    1:module M
    2:  class A < B
    3:    attr_reader :x
    4:
    5:    def one(a)
    … 6-7
    8:    end
    9:
    10:    def two = 2
    11:  end
    12:end
    ");
}

#[test]
fn c() {
    let source = r#"#include <stdio.h>

struct point {
    int x;
    int y;
};

static int add(int a, int b)
{
    int c = a;
    return c + b;
}
"#;
    insta::assert_snapshot!(shown(source, "c", TIGHT), @"
    1:#include <stdio.h>
    2:
    3:struct point {
    4:    int x;
    5:    int y;
    6:};
    7:
    8:static int add(int a, int b)
    9:{
    … 10-11
    12:}
    ");
}

#[test]
fn elixir_and_data_and_prose() {
    let elixir = "defmodule A do\n  def one(a) do\n    b = a\n    b + 1\n  end\nend\n";
    insta::assert_snapshot!(shown(elixir, "elixir", TIGHT), @"
    1:defmodule A do
    2:  def one(a) do
    … 3-4
    5:  end
    6:end
    ");
    let json = "{\n  \"a\": {\n    \"b\": 1,\n    \"c\": 2\n  },\n  \"d\": 3\n}\n";
    insta::assert_snapshot!(shown(json, "json", TIGHT), @r#"
    1:{
    2:  "a": {
    … 3-4
    5:  },
    6:  "d": 3
    7:}
    "#);
    let yaml = "a:\n  b: 1\n  c: 2\nd:\n  - 1\n  - 2\n";
    insta::assert_snapshot!(shown(yaml, "yaml", TIGHT), @"
    1:a:
    … 2-3
    4:d:
    … 5-6
    ");
    let markdown = "# A\n\none\ntwo\nthree\n\n## B\n\n```\na\nb\n```\n";
    insta::assert_snapshot!(shown(markdown, "markdown", TIGHT), @"
    1:# A
    2:
    3:one
    … 4-5
    6:
    7:## B
    8:
    9:```
    … 10-11
    12:```
    ");
}

#[test]
fn bodies_open_until_there_is_enough_to_see() {
    let function = |name: &str, lines: usize| format!("fn {name}() {{\n{}}}\n", "    x();\n".repeat(lines));
    let source = function("a", 10) + &function("b", 30) + &function("c", 5);
    let kept = |until, limit| {
        let limits = OutlineLimits { unfold_until: until, unfold_limit: limit, ..TIGHT };
        outline(&source, Language::from_name("rust").unwrap(), limits)
            .unwrap()
            .map(|it| (it.kept_lines(), it.elided_lines()))
    };
    assert_eq!(kept(0, 0), Some((6, 45)));
    assert_eq!(kept(10, 30), Some((16, 35)), "the first one opened is enough");
    assert_eq!(kept(20, 30), Some((21, 30)), "the second would be too much, the third fits");
    assert_eq!(kept(50, 100), None, "all are open");
}

#[test]
fn short_files_are_shown_whole() {
    assert_eq!(shown(RUST, "rust", OutlineLimits { min_total_lines: 100, ..TIGHT }), "whole");
    assert_eq!(shown("", "rust", TIGHT), "whole");
}

/// For any file: the segments cover it without gap, alternate, and never hide the first line.
#[test]
fn segments_cover_every_line() {
    let sources =
        [RUST, "{{{{\n\n\n\n\n", "fn a( {\r\n b\r\n c\r\n d\r\n}\r\n", "\u{feff}{\n1\n2\n3\n}", "é(\n[\nü\n\n\n]"];
    for language in Language::all() {
        for source in sources {
            let Some(outline) = outline(source, language, TIGHT).unwrap() else { continue };
            assert!(outline.segments[0].kept, "{language}: {outline:?}");
            let mut next = 1;
            for segment in &outline.segments {
                assert!(segment.first == next && segment.last >= segment.first, "{language}: {outline:?}");
                next = segment.last + 1;
            }
            assert_eq!(next, source.lines().count() + 1, "{language}");
            assert!(outline.segments.windows(2).all(|pair| pair[0].kept != pair[1].kept), "{language}");
        }
    }
}

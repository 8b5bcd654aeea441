//! Some code in every language.

use omp_grammars::Grammar;

pub const SAMPLES: [(Grammar, &str); 29] = [
    (
        Grammar::Bash,
        r###"if [ -f "$1" ]; then
  for a in "${list[@]}"; do echo "$a" | sed 's/x/y/'; done
fi
cat <<EOF
$x
EOF
"###,
    ),
    (
        Grammar::C,
        r###"#include <stdio.h>
struct a { int b; };
int main(void) { struct a x = {1}; for (int i = 0; i < 3; i++) printf("%d", x.b); return 0; }
"###,
    ),
    (
        Grammar::Cpp,
        r###"namespace n { template <typename T> class A : public B { public: T f() const { return [&] { return x; }(); } }; }
auto s = R"(raw)";
"###,
    ),
    (
        Grammar::CSharp,
        r###"namespace N { class A { public int P { get; set; } async Task F() { await G(x => $"{x}"); } } }
"###,
    ),
    (
        Grammar::Css,
        r###"@media (min-width: 1px) { a:hover > b.c, #d { color: rgb(1, 2, 3); top: -1px; } }
"###,
    ),
    (
        Grammar::Dart,
        r###"class A extends B { final int a; A(this.a); Future<void> f() async { await g("${a}"); } }
"###,
    ),
    (
        Grammar::Elixir,
        r###"defmodule A do
  def f(x), do: x |> Enum.map(&(&1 + 1))
  @doc """
  text #{1}
  """
end
"###,
    ),
    (
        Grammar::Go,
        r###"package a

import "fmt"

type A struct{ b map[string]int }

func (a *A) F() (int, error) { defer g(); return fmt.Println(`x`) }
"###,
    ),
    (
        Grammar::Haskell,
        r###"module A where

import Data.List (sort)

f :: Int -> Int
f x = case x of
  0 -> 1
  n | n > 1 -> let y = 2 in y
    | otherwise -> 0
"###,
    ),
    (
        Grammar::Hcl,
        r###"resource "a" "b" {
  c = [for x in var.d : "${x}-e" if x != 1]
  f = <<EOT
text
EOT
}
"###,
    ),
    (
        Grammar::Html,
        r###"<!DOCTYPE html>
<html><body><p class="a">x<br><b>y</b><script>if (a < b) c()</script></body></html>
"###,
    ),
    (
        Grammar::Java,
        r###"package a;
import java.util.*;
class A<T> implements B { @Override public int f(List<T> x) { return switch (1) { case 1 -> 2; default -> 3; }; } }
"###,
    ),
    (
        Grammar::JavaScript,
        r###"import a from "b";
class A extends B { #p = 1; async *f() { for await (const x of y) yield `${x}`; } }
const r = /a+/g, j = <A b={1}/>
"###,
    ),
    (
        Grammar::Json,
        r###"{"a": [1, -2.5e3, true, null, "\u00e9\n"], "b": {}}
"###,
    ),
    (
        Grammar::Kotlin,
        r###"package a

data class A(val b: Int = 1) { fun f(): String? = when (b) { 1 -> "x$b"; else -> null } }
"###,
    ),
    (
        Grammar::Lua,
        r###"local t = { a = 1, [2] = "b" }
function t:f(...) for k, v in pairs(self) do print(k, v) end return [[x]] end
"###,
    ),
    (
        Grammar::Markdown,
        r###"# A

Text *b* `c`.

- d
  1. e

```rust
fn f() {}
```

| g | h |
|---|---|
| i | j |
"###,
    ),
    (
        Grammar::Nix,
        r###"{ pkgs ? import <nixpkgs> {}, ... }@args: let a = 1; in rec { b = "${toString a}"; c = with pkgs; [ d ]; }
"###,
    ),
    (
        Grammar::Php,
        r###"<?php
namespace A;
class B { public function __construct(private ?int $c = null) {} function f() { return fn($x) => "$x {$this->c}"; } }
"###,
    ),
    (
        Grammar::Python,
        r###"import a

@d
async def f(x: int = 1, *args, **kw) -> None:
    """Text."""
    with a as b:
        return [f"{y!r}" for y in b if y]

class A(B):
    pass
"###,
    ),
    (
        Grammar::Ruby,
        r###"class A < B
  attr_reader :c
  def f(x, y: 1) = x.map { |z| "#{z}" }
end
puts <<~T
  text
T
a = %w[b c] if d&.e
"###,
    ),
    (
        Grammar::Rust,
        r###"use std::io;

/// Text.
#[derive(Debug)]
pub struct A<'a, T: B> { c: &'a T }

impl<T> A<'_, T> { async fn f(&self) -> Option<u8> { let x = r#"y"#; match x { "a" => None, _ => g!(1)? } } }
"###,
    ),
    (
        Grammar::Scala,
        r###"package a

case class A(b: Int) extends B:
  def f: Option[Int] = b match
    case 1 => Some(2)
    case _ => None

object C { val s = s"$x" }
"###,
    ),
    (
        Grammar::Solidity,
        r###"pragma solidity ^0.8.0;
contract A is B { mapping(address => uint) c; event E(uint d); function f(uint x) public view returns (uint) { require(x > 0, "e"); return c[msg.sender]; } }
"###,
    ),
    (
        Grammar::Swift,
        r###"import A

struct B: C { var d: Int? { get { 1 } }
  func f<T>(_ x: T) async throws -> String where T: E { guard let y = d else { return "\(x)" }
    return "z" } }
"###,
    ),
    (
        Grammar::Tsx,
        r###"export const A: FC<P> = ({ a }) => <div className="b">{a as string}<C {...a} /></div>;
"###,
    ),
    (
        Grammar::TypeScript,
        r###"enum A { B = 1 }
interface C<T extends D> { readonly e?: T[keyof T]; }
export abstract class F { constructor(private g: number) {} h = <T,>(x: T): x is T => true; }
"###,
    ),
    (
        Grammar::Yaml,
        r###"a: &x
  - 1
  - {b: "c", d: [e, f]}
g: |
  text
  more
h: *x
"###,
    ),
    (
        Grammar::Zig,
        r###"const std = @import("std");

pub fn main() !void {
    var a: ?u8 = null;
    if (a) |x| { std.debug.print("{d}\n", .{x}); }
    defer b();
}
"###,
    ),
];

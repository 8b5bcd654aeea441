//! Arithmetic expressions: tokens, then recursive descent.

use super::number;

const MAX_LENGTH: usize = 10_000;
/// Limits nested parentheses and signs, because the parser recurses for each.
const MAX_DEPTH: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq)]
enum CalcToken {
    Number(f64),
    Power,
    /// `+ - * / % ( )`
    Sign(char),
}

pub fn evaluate(expression: &str) -> Result<f64, String> {
    if expression.len() > MAX_LENGTH {
        return Err(format!("Expression is longer than {MAX_LENGTH} bytes"));
    }
    let tokens = tokens_of(expression)?;
    if tokens.is_empty() {
        return Err("Expression is empty".to_owned());
    }
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0 };
    let value = parser.sum()?;
    if parser.at < tokens.len() {
        return Err("Unexpected token in expression".to_owned());
    }
    if !value.is_finite() {
        return Err("Expression result is not a finite number".to_owned());
    }
    // Adding 0.0 turns minus zero into zero.
    Ok(value + 0.0)
}

fn tokens_of(expression: &str) -> Result<Vec<CalcToken>, String> {
    let mut tokens = Vec::new();
    let mut rest = expression.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, after) = match first {
            '0'..='9' | '.' => number::literal(rest).map(|(value, after)| (CalcToken::Number(value), after))?,
            '*' if rest.starts_with("**") => (CalcToken::Power, &rest[2..]),
            '+' | '-' | '*' | '/' | '%' | '(' | ')' => (CalcToken::Sign(first), &rest[1..]),
            other => return Err(format!("Invalid character \"{other}\" in expression")),
        };
        tokens.push(token);
        rest = after.trim_start();
    }
    Ok(tokens)
}

struct Parser<'a> {
    tokens: &'a [CalcToken],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<CalcToken> {
        self.tokens.get(self.at).copied()
    }

    fn take(&mut self) -> Option<CalcToken> {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.product()?;
        while let Some(CalcToken::Sign(sign @ ('+' | '-'))) = self.peek() {
            self.at += 1;
            let right = self.product()?;
            value = if sign == '+' { value + right } else { value - right };
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut value = self.signed()?;
        while let Some(CalcToken::Sign(sign @ ('*' | '/' | '%'))) = self.peek() {
            self.at += 1;
            let right = self.signed()?;
            value = match sign {
                '*' => value * right,
                '/' => value / right,
                _ => value % right,
            };
        }
        Ok(value)
    }

    fn signed(&mut self) -> Result<f64, String> {
        let Some(CalcToken::Sign(sign @ ('+' | '-'))) = self.peek() else { return self.power() };
        self.at += 1;
        let value = self.deeper(Self::signed)?;
        Ok(if sign == '-' { -value } else { value })
    }

    /// Right-associative, and accepts a sign on its right side: `2 ** -1`.
    fn power(&mut self) -> Result<f64, String> {
        let base = self.atom()?;
        if self.peek() != Some(CalcToken::Power) {
            return Ok(base);
        }
        self.at += 1;
        let exponent = self.deeper(Self::signed)?;
        Ok(base.powf(exponent))
    }

    fn atom(&mut self) -> Result<f64, String> {
        match self.take() {
            Some(CalcToken::Number(value)) => Ok(value),
            Some(CalcToken::Sign('(')) => {
                let value = self.deeper(Self::sum)?;
                match self.take() {
                    Some(CalcToken::Sign(')')) => Ok(value),
                    _ => Err("Missing closing parenthesis".to_owned()),
                }
            }
            Some(_) => Err("Unexpected token in expression".to_owned()),
            None => Err("Unexpected end of expression".to_owned()),
        }
    }

    fn deeper(&mut self, parse: fn(&mut Self) -> Result<f64, String>) -> Result<f64, String> {
        if self.depth == MAX_DEPTH {
            return Err(format!("Expression is nested deeper than {MAX_DEPTH} levels"));
        }
        self.depth += 1;
        let value = parse(self);
        self.depth -= 1;
        value
    }
}

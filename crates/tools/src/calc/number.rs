//! Parses and formats numbers as JavaScript does, because models expect this from a calculator.

/// Splits a literal off the start of the text, which must start with a digit or a dot.
pub fn literal(text: &str) -> Result<(f64, &str), String> {
    let prefixed = [("0x", 16), ("0b", 2), ("0o", 8)];
    let head = text.get(..2).unwrap_or_default().to_ascii_lowercase();
    if let Some((prefix, radix)) = prefixed.into_iter().find(|(prefix, _)| head == *prefix) {
        let digits = &text[2..];
        let end = digits.find(|char: char| !char.is_ascii_alphanumeric()).unwrap_or(digits.len());
        return whole(&digits[..end], radix)
            .map(|value| (value, &digits[end..]))
            .ok_or_else(|| format!("Invalid number \"{prefix}{}\" in expression", &digits[..end]));
    }
    let (literal, rest) = text.split_at(decimal_end(text)?);
    let value = literal.parse().map_err(|_| format!("Invalid number \"{literal}\" in expression"))?;
    Ok((value, rest))
}

fn whole(digits: &str, radix: u32) -> Option<f64> {
    let values: Option<Vec<u32>> = digits.chars().map(|char| char.to_digit(radix)).collect();
    let values = values.filter(|values| !values.is_empty())?;
    Some(values.iter().fold(0.0, |sum, value| sum * f64::from(radix) + f64::from(*value)))
}

fn decimal_end(text: &str) -> Result<usize, String> {
    let digits =
        |from: usize| text[from..].find(|char: char| !char.is_ascii_digit()).map_or(text.len(), |at| from + at);
    let mut end = digits(0);
    if text[end..].starts_with('.') {
        end = digits(end + 1);
    }
    if end == 1 && text.starts_with('.') {
        return Err("Invalid number \".\" in expression".to_owned());
    }
    if text[end..].starts_with('.') {
        return Err(format!("Invalid number \"{}\" in expression", &text[..=end]));
    }
    if !text[end..].starts_with(['e', 'E']) {
        return Ok(end);
    }
    let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
    let exponent = digits(end + 1 + sign);
    if exponent == end + 1 + sign {
        return Err(format!("Invalid exponent in \"{}\"", &text[..exponent]));
    }
    Ok(exponent)
}

/// Formats like JavaScript's `String(value)`: plain digits from 1e-6 up to 1e21, an exponent beyond.
pub fn shown(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{value:e}");
        return if text.contains("e-") { text } else { text.replacen('e', "e+", 1) };
    }
    value.to_string()
}

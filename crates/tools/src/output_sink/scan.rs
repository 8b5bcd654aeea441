//! Scans text sixteen bytes at a time: the sink processes every byte of every output twice.

/// Returns the number of leading bytes that are line breaks, tabs or printable ASCII.
pub(super) fn plain_prefix(bytes: &[u8]) -> usize {
    let (steps, _) = bytes.as_chunks::<STEP>();
    let whole = steps.iter().position(|step| has_special(u128::from_ne_bytes(*step))).unwrap_or(steps.len()) * STEP;
    let rest = &bytes[whole..];
    whole + rest.iter().position(|byte| !is_plain(*byte)).unwrap_or(rest.len())
}

pub(super) fn line_breaks(bytes: &[u8]) -> u64 {
    let (steps, rest) = bytes.as_chunks::<STEP>();
    let mut count = 0_u64;
    for step in steps {
        count += u64::from(zeros(u128::from_ne_bytes(*step) ^ each(b'\n')).count_ones());
    }
    count + rest.iter().filter(|byte| **byte == b'\n').count() as u64
}

const STEP: usize = 16;
const HIGH: u128 = each(0x80);

const fn each(byte: u8) -> u128 {
    u128::from_ne_bytes([byte; STEP])
}

fn is_plain(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\t' | 0x20..=0x7e)
}

/// Whether any byte is not plain.
fn has_special(step: u128) -> bool {
    if step & HIGH != 0 {
        return true;
    }
    // All bytes are below 0x80, so adding up to 0x7f to each produces no carry.
    let not_below_space = step + each(0x60);
    let delete = step + each(1);
    let controls = (!not_below_space | delete) & HIGH;
    controls & !zeros(step ^ each(b'\n')) & !zeros(step ^ each(b'\t')) != 0
}

/// Sets the highest bit of every byte that is zero.
fn zeros(step: u128) -> u128 {
    !(((step & !HIGH) + !HIGH) | step) & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_place() {
        for byte in 0..=u8::MAX {
            for at in 0..40 {
                let mut text = *b"plain text, with\ttabs\nand line breaks...";
                text[at] = byte;
                let slow = text.iter().position(|byte| !is_plain(*byte)).unwrap_or(text.len());
                assert_eq!(plain_prefix(&text), slow, "{byte} at {at}");
                let breaks = text.iter().filter(|byte| **byte == b'\n').count() as u64;
                assert_eq!(line_breaks(&text), breaks, "{byte} at {at}");
            }
        }
        assert_eq!((plain_prefix(b""), line_breaks(b"")), (0, 0));
        assert_eq!(line_breaks(&[b'\n'; 100]), 100);
    }
}

//! The contrast of two colours, as defined by the WCAG.

use crate::style::Color;

/// A colour given by its light, as a terminal reports its background.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    /// Returns the relative luminance, from 0 for black to 1 for white.
    pub fn luminance(self) -> f64 {
        let linear = |value: u8| match f64::from(value) / 255.0 {
            low if low <= 0.040_45 => low / 12.92,
            high => ((high + 0.055) / 1.055).powf(2.4),
        };
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }

    /// Returns the contrast, from 1 for equal colours to 21 for black on white; text needs 4.5.
    pub fn contrast(self, other: Rgb) -> f64 {
        let (one, two) = (self.luminance(), other.luminance());
        (one.max(two) + 0.05) / (one.min(two) + 0.05)
    }

    /// Whether black text is more readable on it than white text.
    pub fn is_light(self) -> bool {
        self.contrast(Rgb(0, 0, 0)) > self.contrast(Rgb(255, 255, 255))
    }

    pub fn of(color: Color) -> Option<Rgb> {
        match color {
            Color::Rgb(red, green, blue) => Some(Rgb(red, green, blue)),
            _ => None,
        }
    }
}

impl From<Rgb> for Color {
    fn from(Rgb(red, green, blue): Rgb) -> Self {
        Color::Rgb(red, green, blue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contrast_is_that_of_the_guidelines() {
        let (black, white) = (Rgb(0, 0, 0), Rgb(255, 255, 255));
        assert!((black.contrast(white) - 21.0).abs() < 1e-9);
        assert!((white.contrast(white) - 1.0).abs() < 1e-9);
        // The lightest grey that passes on white.
        assert!(Rgb(0x76, 0x76, 0x76).contrast(white) >= 4.5 && Rgb(0x77, 0x77, 0x77).contrast(white) < 4.5);
    }

    #[test]
    fn backgrounds_are_light_or_dark() {
        for (color, light) in [
            (Rgb(0, 0, 0), false),
            (Rgb(0x28, 0x2c, 0x34), false),
            (Rgb(0x00, 0x2b, 0x36), false),
            (Rgb(0xfd, 0xf6, 0xe3), true),
            (Rgb(0xff, 0xff, 0xff), true),
            (Rgb(0x80, 0x80, 0x80), true),
        ] {
            assert_eq!(color.is_light(), light, "{color:?}");
        }
    }
}

//! The output of the parser, closed once there is enough text or it took too long.

use std::time::{Duration, Instant};

use pdf_extract::{MediaBox, OutputDev, OutputError, PlainTextOutput, Transform};

use crate::sealed;

/// Time limit for one page.
const MAX_TIME: Duration = Duration::from_secs(10);

pub struct Bounded<'a> {
    text: PlainTextOutput<&'a mut String>,
    left: usize,
    until: Instant,
}

impl<'a> Bounded<'a> {
    pub fn new(text: &'a mut String, most: usize) -> Self {
        Self { text: PlainTextOutput::new(text), left: most, until: Instant::now() + MAX_TIME }
    }
}

impl OutputDev for Bounded<'_> {
    fn begin_page(
        &mut self,
        number: u32,
        media_box: &MediaBox,
        art_box: Option<(f64, f64, f64, f64)>,
    ) -> Result<(), OutputError> {
        self.text.begin_page(number, media_box, art_box)
    }

    fn end_page(&mut self) -> Result<(), OutputError> {
        self.text.end_page()
    }

    fn output_character(
        &mut self,
        transform: &Transform,
        width: f64,
        spacing: f64,
        font_size: f64,
        character: &str,
    ) -> Result<(), OutputError> {
        self.left = self.left.saturating_sub(character.len());
        if self.left == 0 || Instant::now() > self.until || sealed::is_over() {
            return Err(OutputError::IoError(std::io::Error::other("it has too much text, or takes too long")));
        }
        self.text.output_character(transform, width, spacing, font_size, character)
    }

    fn begin_word(&mut self) -> Result<(), OutputError> {
        self.text.begin_word()
    }

    fn end_word(&mut self) -> Result<(), OutputError> {
        self.text.end_word()
    }

    fn end_line(&mut self) -> Result<(), OutputError> {
        self.text.end_line()
    }
}

//! A submitted message.

use omp_types::{Content, ImageContent};

use super::files::named_pictures;
use super::outside::Outside;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Submission {
    /// The text with pasted content expanded, trimmed.
    pub text: String,
    /// Pasted images, in the order of their markers.
    pub images: Vec<ImageContent>,
    /// Images named with `@` that were not read yet.
    pub attachments: Vec<String>,
}

impl Submission {
    pub fn new(typed: &str, images: Vec<ImageContent>) -> Self {
        let text = typed.trim().to_owned();
        let is_message = !text.starts_with(['!', '/']);
        let attachments = if is_message { named_pictures(&text) } else { Vec::new() };
        Self { text, images, attachments }
    }

    /// Restores the submission of a prompt, to edit it or send it again.
    pub fn of(prompt: &omp_session::Prompt) -> Self {
        let (text, attached) = prompt.typed();
        let pictures = attached.iter().filter_map(|block| match block {
            Content::Image(image) => Some(image.clone()),
            _ => None,
        });
        Self { text, images: pictures.collect(), attachments: Vec::new() }
    }

    /// Returns the content for the model: the text with file names as typed, and all images. Unreadable images are reported;
    /// their names stay in the text.
    pub async fn content(self, outside: &dyn Outside) -> (Vec<Content>, Vec<String>) {
        let mut problems = Vec::new();
        let mut images = self.images;
        for path in &self.attachments {
            match outside.read_image(path).await {
                Ok(image) => images.push(image),
                Err(problem) => problems.push(problem),
            }
        }
        let content = std::iter::once(Content::text(self.text)).chain(images.into_iter().map(Content::Image));
        (content.collect(), problems)
    }
}

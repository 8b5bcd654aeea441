//! What was written, as it is sent.

use omp_types::{Content, ImageContent};

use super::files::named_pictures;
use super::outside::Outside;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Submission {
    /// With everything that was pasted in its place, and without white space around it.
    pub text: String,
    /// Pictures that were pasted, in the order of their markers.
    pub images: Vec<ImageContent>,
    /// Pictures that are named with `@` and were not read yet.
    pub attachments: Vec<String>,
}

impl Submission {
    pub fn new(typed: &str, images: Vec<ImageContent>) -> Self {
        let text = typed.trim().to_owned();
        let is_message = !text.starts_with(['!', '/']);
        let attachments = if is_message { named_pictures(&text) } else { Vec::new() };
        Self { text, images, attachments }
    }

    /// What was sent, to be changed or sent again.
    pub fn of(prompt: &omp_session::Prompt) -> Self {
        let (text, attached) = prompt.typed();
        let pictures = attached.iter().filter_map(|block| match block {
            Content::Image(image) => Some(image.clone()),
            _ => None,
        });
        Self { text, images: pictures.collect(), attachments: Vec::new() }
    }

    /// What the model is sent: the text, with the names of files as they were typed, and all pictures. What cannot be
    /// read is told; its name stays in the text.
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

//! Converts the images of prompts so that providers accept them, for all front ends.
//!
//! An image that a provider refuses would stay in the conversation and make every later request fail. An image that cannot
//! be converted is left out, and both the user and the model are notified.

use omp_pictures::{PictureLimits, prepare_encoded};
use omp_types::{Content, ImageContent};

use crate::control::Control;
use crate::{Command, Prompt};

/// Converts the images of a command.
pub(crate) async fn prepared(command: Command, control: &Control) -> Command {
    match command {
        Command::Prompt(prompt) => Command::Prompt(with_pictures(prompt, control).await),
        Command::Steer(prompt) => Command::Steer(with_pictures(prompt, control).await),
        Command::FollowUp(prompt) => Command::FollowUp(with_pictures(prompt, control).await),
        other => other,
    }
}

async fn with_pictures(mut prompt: Prompt, control: &Control) -> Prompt {
    if !prompt.content.iter().any(|block| matches!(block, Content::Image(_))) {
        return prompt;
    }
    let original = prompt.content.clone();
    // Converting a large image takes a good part of a second.
    let Ok((content, notes)) = tokio::task::spawn_blocking(move || prepare_all(original)).await else { return prompt };
    notes.into_iter().for_each(|note| control.tell(note));
    prompt.content = content;
    prompt
}

fn prepare_all(content: Vec<Content>) -> (Vec<Content>, Vec<String>) {
    let mut notes = Vec::new();
    let mut number = 0;
    let prepared = content.into_iter().map(|block| {
        let Content::Image(image) = block else { return block };
        number += 1;
        match prepare_encoded(&image.data, PictureLimits::default()) {
            Ok(picture) => Content::Image(ImageContent { data: picture.data, mime_type: picture.mime_type.to_owned() }),
            Err(why) => {
                notes.push(format!("image {number} of the prompt was not sent: {why}"));
                Content::text(format!("[An image was left out because {why}.]"))
            }
        }
    });
    (prepared.collect(), notes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &str =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

    fn image(data: &str, mime_type: &str) -> Content {
        Content::Image(ImageContent { data: data.into(), mime_type: mime_type.into() })
    }

    #[test]
    fn good_pictures_stay_and_bad_ones_are_told() {
        let (content, notes) = prepare_all(vec![
            Content::text("look"),
            image(PNG, "image/jpeg"),
            image("aGk=", "image/png"),
            image(&format!("data:image/png;base64,{PNG}"), "image/png"),
        ]);
        assert_eq!(content[0], Content::text("look"));
        assert_eq!(content[1], image(PNG, "image/png"), "the bytes tell the type");
        assert!(content[2].as_text().unwrap().contains("left out because it is not an image"));
        assert_eq!(content[3], image(PNG, "image/png"));
        assert_eq!(notes.len(), 1);
        assert!(notes[0].starts_with("image 2 of the prompt was not sent: "), "{notes:?}");
    }
}

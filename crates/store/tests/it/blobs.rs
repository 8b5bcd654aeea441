//! Tests of moving images to the blob store and back.

use std::sync::Arc;

use omp_store::{BlobStore, Damage, EntryBody};
use omp_types::{Content, ImageContent, Message, UserMessage};

use crate::Place;

fn image(data: String) -> UserMessage {
    UserMessage::new(vec![Content::Image(ImageContent { data, mime_type: "image/png".into() })])
}

/// Writes one message with this image; returns the stored data, the data read back, and the problems.
fn round_trip(place: &Place, data: &str, meanwhile: impl FnOnce(&BlobStore)) -> (String, String, Vec<Damage>) {
    let mut writer = place.writer();
    writer.append(&EntryBody::Message(Arc::new(Message::User(image(data.into()))))).unwrap();
    let file = std::fs::read_to_string(writer.path()).unwrap();
    let entry: serde_json::Value = serde_json::from_str(file.lines().last().unwrap()).unwrap();
    let stored = entry["message"]["content"][0]["data"].as_str().unwrap().to_owned();
    meanwhile(&place.blobs());
    let mut session = place.open(writer.path());
    let context = session.context();
    let Message::User(UserMessage { content, .. }) = &context.messages[0] else { panic!("not a user message") };
    let Content::Image(read) = &content[0] else { panic!("not an image") };
    (stored, read.data.clone(), session.report().problems.iter().map(|problem| problem.damage.clone()).collect())
}

#[test]
fn large_images_are_stored_once_outside_the_file() {
    let place = Place::new();
    let data = "QUJD".repeat(256);
    let (stored, read, problems) = round_trip(&place, &data, |_| {});
    assert!(stored.starts_with("blob:sha256:") && stored.len() == 76, "{stored}");
    assert_eq!((read, problems), (data.clone(), vec![]));
    let (again, _, _) = round_trip(&place, &data, |_| {});
    assert_eq!(again, stored);
    let blobs: Vec<_> = std::fs::read_dir(place.path().join("blobs")).unwrap().collect();
    assert_eq!(blobs.len(), 1);
    assert_eq!(place.blobs().get(&stored).unwrap(), "ABC".repeat(256).into_bytes());
}

#[test]
fn small_images_and_what_is_not_base64_stay_inline() {
    let place = Place::new();
    for data in ["QUJD".repeat(255), "not base64!".repeat(200)] {
        let (stored, read, problems) = round_trip(&place, &data, |_| {});
        assert_eq!((stored.as_str(), read.as_str(), problems), (data.as_str(), data.as_str(), vec![]));
    }
}

#[test]
fn a_lost_or_damaged_blob_keeps_its_reference() {
    let place = Place::new();
    let data = "QUJD".repeat(300);
    let only_blob = |blobs: &BlobStore| std::fs::read_dir(blobs.dir()).unwrap().next().unwrap().unwrap().path();
    let (stored, read, problems) = round_trip(&place, &data, |blobs| {
        let path = only_blob(blobs);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[7] ^= 1;
        std::fs::write(path, bytes).unwrap();
    });
    assert_eq!((read, problems), (stored.clone(), vec![Damage::DamagedBlob(stored)]));
    let (stored, read, problems) = round_trip(&place, &data, |blobs| std::fs::remove_file(only_blob(blobs)).unwrap());
    assert_eq!((read, problems), (stored.clone(), vec![Damage::MissingBlob(stored)]));
}

#[test]
fn a_reference_cannot_lead_out_of_the_store() {
    let place = Place::new();
    std::fs::create_dir(place.path().join("blobs")).unwrap();
    std::fs::write(place.path().join("secret"), "s").unwrap();
    for reference in ["blob:sha256:../secret", "blob:sha256:", "blob:sha256:ABC", "secret"] {
        assert!(matches!(place.blobs().get(reference), Err(Damage::MissingBlob(_))), "{reference}");
    }
}

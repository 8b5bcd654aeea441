//! Tests: a session truncated at any byte loads all entries before the cut and can be continued.

use proptest::prelude::*;
use serde_json::json;

use omp_store::{Custom, EntryBody, LoadedSession};

use crate::{Place, texts, user};

fn any_entry() -> impl Strategy<Value = EntryBody> {
    prop_oneof![
        ".{0,40}".prop_map(|text| user(&text)),
        ".{0,20}".prop_map(|data| {
            EntryBody::Custom(Custom { custom_type: "t".into(), data: Some(json!({ "id": data, "parentId": [data] })) })
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn everything_before_the_cut_is_there(
        entries in prop::collection::vec(any_entry(), 1..12),
        cut in any::<prop::sample::Index>(),
    ) {
        let place = Place::new();
        let mut writer = place.writer();
        for entry in &entries {
            writer.append(entry).unwrap();
        }
        let path = writer.path().to_owned();
        drop(writer);
        let whole = std::fs::read(&path).unwrap();
        let all = texts(&place.open(&path).context());

        let cut = cut.index(whole.len() + 1);
        std::fs::write(&path, &whole[..cut]).unwrap();
        let lines = whole[..cut].iter().filter(|byte| **byte == b'\n').count();
        // A line that lacks only its newline is complete as well.
        let lines = lines + usize::from(whole.get(cut) == Some(&b'\n'));
        let Ok(mut session) = LoadedSession::open(&path, place.blobs()) else {
            prop_assert!(lines < 2, "refused though the header was whole");
            return Ok(());
        };
        prop_assert_eq!(session.entry_count(), lines - 2);
        let before = texts(&session.context());
        prop_assert!(all.starts_with(&before));

        let (mut writer, _) = session.into_writer().unwrap();
        writer.append(&user("after")).unwrap();
        let mut again = place.open(&path);
        let after = texts(&again.context());
        prop_assert!(again.report().is_empty(), "{}", again.report());
        prop_assert_eq!(&after[..before.len()], &before[..]);
        prop_assert_eq!(after.last().map(String::as_str), Some("after"));
        let kept = whole[..cut].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        prop_assert!(std::fs::read(&path).unwrap().starts_with(&whole[..kept]));
    }
}

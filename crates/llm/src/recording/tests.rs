//! Tests of what a recording contains and what it must not.

use omp_http::HttpErrorKind;
use serde_json::json;

use super::*;

fn record(exchange: impl FnOnce(&Recording)) -> String {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("r.jsonl");
    let secrets = SecretNeedles::collect(&Env::default(), ["models-yml-key"]);
    let recording = Recording::with_secrets(&path, Path::new("/tmp/project"), secrets).unwrap();
    exchange(&recording);
    assert_eq!(recording.problem(), None);
    std::fs::read_to_string(path).unwrap()
}

fn pairs(headers: &[(&str, &str)]) -> Vec<(String, String)> {
    headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Removes the times, which differ between runs.
fn timeless(text: &str) -> String {
    let line = |line: &str| {
        let mut value: Value = serde_json::from_str(line).unwrap();
        let fields = value.as_object_mut().unwrap();
        for key in ["at", "created", "program"] {
            fields.remove(key);
        }
        format!("{value}\n")
    };
    text.lines().map(line).collect()
}

#[test]
fn an_exchange_is_written_line_by_line() {
    let text = record(|recording| {
        let about = json!({"model": {"id": "m", "note": "models-yml-key"}});
        let mut exchange = recording.asked(&OutgoingRequest {
            method: "POST",
            url: "https://host/v1?key=query-key",
            headers: &pairs(&[("x-api-key", "header-key"), ("Cookie", "a=b"), ("x-team", "models-yml-key")]),
            body: br#"{"text":"header-key and models-yml-key"}"#,
            about: Some(&about),
        });
        let headers =
            [("content-type", "text/event-stream"), ("set-cookie", "id=1"), ("x-ratelimit-reset-tokens", "6s")];
        exchange.answered(200, &headers.into_iter().collect());
        exchange.received(b"data: hea");
        exchange.received(b"der-key\n\n");
        exchange.received(b"\xff models-yml");
        exchange.ended();
    });
    insta::assert_snapshot!(timeless(&text));
}

#[test]
fn every_end_is_told() {
    let ends: [fn(&mut dyn Exchange); 3] = [
        |_| {},
        |exchange| exchange.failed(&HttpError::new(HttpErrorKind::Reset, "broke: models-yml-key")),
        |exchange| exchange.ended(),
    ];
    let text = record(|recording| {
        for end in ends {
            let request = OutgoingRequest { method: "GET", url: "http://h/", headers: &[], body: b"", about: None };
            end(&mut *recording.asked(&request));
        }
    });
    insta::assert_snapshot!(timeless(&text));
}

#[test]
fn a_file_that_cannot_be_made_is_told_with_what_to_do() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("r.jsonl");
    std::fs::write(&path, "dear").unwrap();
    let failure = |path: &Path| match Recording::with_secrets(path, Path::new("/"), SecretNeedles::default()) {
        Ok(_) => panic!("it was made"),
        Err(error) => error.to_string(),
    };
    assert!(failure(&path).contains("hint: recordings are not overwritten"), "{}", failure(&path));
    assert!(failure(&temp.path().join("no/r.jsonl")).contains("hint: the folder must exist"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "dear");
}

#[cfg(unix)]
#[test]
fn the_file_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("r.jsonl");
    let recording = Recording::with_secrets(&path, Path::new("/"), SecretNeedles::default()).unwrap();
    assert_eq!(std::fs::metadata(recording.path()).unwrap().permissions().mode() & 0o777, 0o600);
}

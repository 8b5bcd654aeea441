//! Tests the sources of certificates, and the errors if they cannot be used.

use super::*;

fn env(pairs: &[(&str, &str)]) -> Env {
    pairs.iter().copied().collect()
}

#[track_caller]
fn check_error(pairs: &[(&str, &str)], expect: &str) {
    let error = secure(&env(pairs)).unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Tls);
    assert!(error.to_string().contains(expect), "{error}");
    assert!(error.to_string().contains("hint:"), "{error}");
}

/// A self-signed CA made for this test; it signs nothing.
const CA: &str = include_str!("test-ca.pem");

#[test]
fn the_bundle_replaces_the_system_and_more_can_be_added() {
    let bundle = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(bundle.path(), CA).unwrap();
    let file = bundle.path().to_str().unwrap();
    let only = env(&[("SSL_CERT_FILE", file)]);
    assert_eq!(roots(&only).unwrap().len(), 1);
    let escaped = CA.replace('\n', "\\n");
    let both = env(&[("SSL_CERT_FILE", file), ("NODE_EXTRA_CA_CERTS", &escaped)]);
    assert_eq!(roots(&both).unwrap().len(), 2);
}

#[test]
fn unusable_certificates_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    check_error(&[("NODE_EXTRA_CA_CERTS", "/nowhere/ca.pem")], "NODE_EXTRA_CA_CERTS cannot be used");
    check_error(&[("SSL_CERT_FILE", folder)], "SSL_CERT_FILE cannot be used");
    check_error(&[("NODE_EXTRA_CA_CERTS", "-----BEGIN NOTHING-----\n")], "no PEM certificate");
    check_error(&[("SSL_CERT_FILE", "-----BEGIN CERTIFICATE-----\n%%\n-----END CERTIFICATE-----")], "no PEM");
}

#[test]
fn a_client_certificate_comes_with_its_key() {
    let ca = [("SSL_CERT_FILE", CA)];
    let with = |more: &[(&'static str, &'static str)]| [&ca[..], more].concat();
    check_error(&with(&[("CLAUDE_CODE_CLIENT_CERT", CA)]), "CLAUDE_CODE_CLIENT_KEY is not");
    check_error(&with(&[("CLAUDE_CODE_CLIENT_KEY", "x")]), "CLAUDE_CODE_CLIENT_CERT is not");
    check_error(&with(&[("CLAUDE_CODE_CLIENT_CERT", CA), ("CLAUDE_CODE_CLIENT_KEY", CA)]), "no private key");
}

//! Certificates of one's own, on both sides.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use omp_http::{Client, HttpConfig, HttpError, HttpErrorKind};
use omp_types::Env;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

const CA: &str = include_str!("certs/ca.pem");
const CLIENT_CERT: &str = include_str!("certs/client.pem");
const CLIENT_KEY: &str = include_str!("certs/client.key");

/// Serves one request over TLS; with `ask` only to those who show a certificate of the CA.
fn serve(ask: bool) -> String {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let chain = vec![CertificateDer::from_pem_slice(include_bytes!("certs/server.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("certs/server.key")).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(CA.as_bytes()).unwrap()).unwrap();
    let builder = ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions().unwrap();
    let builder = match ask {
        true => builder.with_client_cert_verifier(
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap(),
        ),
        false => builder.with_no_client_auth(),
    };
    let config = Arc::new(builder.with_single_cert(chain, key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        let mut stream = StreamOwned::new(ServerConnection::new(config).unwrap(), socket);
        let mut buffer = [0; 4096];
        if stream.read(&mut buffer).is_ok() {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello");
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    });
    url
}

async fn get(url: &str, pairs: &[(&str, &str)]) -> Result<String, HttpError> {
    let client = Client::new(&pairs.iter().copied().collect::<Env>(), HttpConfig::default());
    let body = client.get_bytes(url, &[], Duration::from_secs(60), 100).await?;
    Ok(String::from_utf8_lossy(&body).into_owned())
}

#[tokio::test]
async fn an_unknown_authority_is_refused_until_it_is_added() {
    let error = get(&serve(false), &[("SSL_CERT_FILE", CLIENT_CERT)]).await.unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Tls, "{error}");
    assert!(error.to_string().contains("hint:") && error.to_string().contains("NODE_EXTRA_CA_CERTS"), "{error}");
    let extra = [("SSL_CERT_FILE", CLIENT_CERT), ("NODE_EXTRA_CA_CERTS", CA)];
    assert_eq!(get(&serve(false), &extra).await.unwrap(), "hello");
    assert_eq!(get(&serve(false), &[("SSL_CERT_FILE", CA)]).await.unwrap(), "hello");
}

#[tokio::test]
async fn a_client_certificate_is_shown_to_who_asks() {
    let shown =
        [("SSL_CERT_FILE", CA), ("CLAUDE_CODE_CLIENT_CERT", CLIENT_CERT), ("CLAUDE_CODE_CLIENT_KEY", CLIENT_KEY)];
    assert_eq!(get(&serve(true), &shown).await.unwrap(), "hello");
    assert!(get(&serve(true), &[("SSL_CERT_FILE", CA)]).await.is_err());
}

#[tokio::test]
async fn plain_text_on_a_secure_port_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut buffer = [0; 512];
        let _ = socket.read(&mut buffer);
        let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    let error = get(&url, &[("SSL_CERT_FILE", CA)]).await.unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Tls, "{error}");
}

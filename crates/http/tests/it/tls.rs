//! Tests custom certificates on both sides.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use omp_http::{Client, HttpConfig, HttpError, HttpErrorKind};
use omp_types::Env;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

pub const CA: &str = include_str!("certs/ca.pem");
const CLIENT_CERT: &str = include_str!("certs/client.pem");
const CLIENT_KEY: &str = include_str!("certs/client.key");

/// Serves one request over TLS; with `ask` only to clients with a certificate of the CA.
pub fn serve(ask: bool) -> SocketAddr {
    let config = Arc::new(server_config(ask));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
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
    address
}

/// The server certificate of `certs/`, valid for `localhost` and `127.0.0.1`.
pub fn server_config(ask: bool) -> ServerConfig {
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
    builder.with_single_cert(chain, key).unwrap()
}

async fn get(server: SocketAddr, pairs: &[(&str, &str)]) -> Result<String, HttpError> {
    let client = Client::new(&pairs.iter().copied().collect::<Env>(), HttpConfig::default());
    let body = client.get_bytes(&format!("https://{server}/"), &[], Duration::from_secs(60), 100).await?;
    Ok(String::from_utf8_lossy(&body).into_owned())
}

/// Returns the ways to give a certificate: as text, with escaped line ends, and as a file.
fn spellings(pem: &str, folder: &Path, name: &str) -> [String; 3] {
    let file = folder.join(name);
    std::fs::write(&file, pem).unwrap();
    [pem.to_owned(), pem.replace('\n', "\\n"), file.to_str().unwrap().to_owned()]
}

#[tokio::test]
async fn an_unknown_authority_is_refused_until_it_is_added() {
    let error = get(serve(false), &[("SSL_CERT_FILE", CLIENT_CERT)]).await.unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Tls, "{error}");
    assert!(error.to_string().contains("hint:") && error.to_string().contains("NODE_EXTRA_CA_CERTS"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    for ca in &spellings(CA, folder.path(), "ca.pem") {
        let extra = [("SSL_CERT_FILE", CLIENT_CERT), ("NODE_EXTRA_CA_CERTS", ca)];
        assert_eq!(get(serve(false), &extra).await.unwrap(), "hello", "NODE_EXTRA_CA_CERTS={ca}");
        assert_eq!(get(serve(false), &[("SSL_CERT_FILE", ca)]).await.unwrap(), "hello", "SSL_CERT_FILE={ca}");
    }
}

#[tokio::test]
async fn a_client_certificate_is_shown_to_who_asks() {
    let folder = tempfile::tempdir().unwrap();
    let certificates = spellings(CLIENT_CERT, folder.path(), "client.pem");
    let keys = spellings(CLIENT_KEY, folder.path(), "client.key");
    for (cert, key) in certificates.iter().zip(&keys) {
        let shown = [("SSL_CERT_FILE", CA), ("CLAUDE_CODE_CLIENT_CERT", cert), ("CLAUDE_CODE_CLIENT_KEY", key)];
        assert_eq!(get(serve(true), &shown).await.unwrap(), "hello", "CLAUDE_CODE_CLIENT_CERT={cert}");
    }
    assert!(get(serve(true), &[("SSL_CERT_FILE", CA)]).await.is_err());
}

#[tokio::test]
async fn plain_text_on_a_secure_port_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut buffer = [0; 512];
        let _ = socket.read(&mut buffer);
        let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    let error = get(server, &[("SSL_CERT_FILE", CA)]).await.unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Tls, "{error}");
}

//! The TLS settings: trusted certificates and the client certificate.

use std::sync::Arc;

use omp_types::{Env, EnvVar, vars};
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use crate::error::{HttpError, HttpErrorKind};

/// Limits the size of a certificate file; the bundles of systems are a fiftieth of it.
const FILE_LIMIT: u64 = 16 << 20;

/// Returns the settings for `https`. It reads the system's certificates, so it is called only when a request needs them.
pub(crate) fn secure(env: &Env) -> Result<ClientConfig, HttpError> {
    let builder = versions()?.with_root_certificates(roots(env)?);
    let mut config = match identity(env)? {
        Some((chain, key)) => builder.with_client_auth_cert(chain, key).map_err(|error| {
            let message = format!("the client certificate and its key cannot be used: {error}\nhint: check CLAUDE_CODE_CLIENT_CERT and CLAUDE_CODE_CLIENT_KEY");
            HttpError::new(HttpErrorKind::Tls, message)
        })?,
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Returns settings that trust no certificate, for a client that only uses plain `http`.
pub(crate) fn none() -> Result<ClientConfig, HttpError> {
    Ok(versions()?.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

type WantsRoots = rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>;

fn versions() -> Result<WantsRoots, HttpError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| HttpError::new(HttpErrorKind::Tls, format!("TLS cannot be set up: {error}")))
}

fn roots(env: &Env) -> Result<RootCertStore, HttpError> {
    let mut store = RootCertStore::empty();
    if env.get(vars::SSL_CERT_FILE).is_some() {
        store.add_parsable_certificates(certificates(env, vars::SSL_CERT_FILE)?);
    } else {
        // Single invalid certificates are common and harmless; an empty store is reported below.
        store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    store.add_parsable_certificates(certificates(env, vars::NODE_EXTRA_CA_CERTS)?);
    if store.is_empty() {
        let message = "this machine has no trusted certificates\nhint: install the `ca-certificates` package, or set \
                       SSL_CERT_FILE to a PEM file";
        return Err(HttpError::new(HttpErrorKind::Tls, message));
    }
    Ok(store)
}

type ClientCertificate = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn identity(env: &Env) -> Result<Option<ClientCertificate>, HttpError> {
    let alone = |given: EnvVar, missing: EnvVar| {
        let message =
            format!("{} is set but {} is not\nhint: a client certificate needs both", given.name, missing.name);
        Err(HttpError::new(HttpErrorKind::Tls, message))
    };
    let (cert, key) = (vars::CLAUDE_CODE_CLIENT_CERT, vars::CLAUDE_CODE_CLIENT_KEY);
    match (env.get(cert).is_some(), env.get(key).is_some()) {
        (false, false) => Ok(None),
        (true, false) => alone(cert, key),
        (false, true) => alone(key, cert),
        (true, true) => {
            let pem = pem_text(env, key)?.unwrap_or_default();
            let key = PrivateKeyDer::from_pem_slice(&pem).map_err(|_| unusable(key, "it contains no private key"))?;
            Ok(Some((certificates(env, cert)?, key)))
        }
    }
}

fn certificates(env: &Env, var: EnvVar) -> Result<Vec<CertificateDer<'static>>, HttpError> {
    let Some(pem) = pem_text(env, var)? else { return Ok(Vec::new()) };
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        _ => Err(unusable(var, "it contains no PEM certificate")),
    }
}

/// Returns the value itself if it is PEM (line ends may be written as `\n`), else the content of the named file.
fn pem_text(env: &Env, var: EnvVar) -> Result<Option<Vec<u8>>, HttpError> {
    let Some(value) = env.get(var) else { return Ok(None) };
    if value.contains("-----BEGIN") {
        return Ok(Some(value.replace("\\n", "\n").into_bytes()));
    }
    let unreadable = |why: &dyn std::fmt::Display| unusable(var, &format!("`{value}` cannot be read: {why}"));
    let meta = std::fs::metadata(value).map_err(|error| unreadable(&error))?;
    if !meta.is_file() || meta.len() > FILE_LIMIT {
        return Err(unreadable(&"it is not a file of reasonable size"));
    }
    std::fs::read(value).map(Some).map_err(|error| unreadable(&error))
}

fn unusable(var: EnvVar, why: &str) -> HttpError {
    let message = format!("{} cannot be used: {why}\nhint: it takes a path to a PEM file, or PEM text", var.name);
    HttpError::new(HttpErrorKind::Tls, message)
}

#[cfg(test)]
mod tests;

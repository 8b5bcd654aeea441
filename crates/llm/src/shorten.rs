//! Lets a provider compact a conversation: one request, one JSON response, with time and size limits.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use omp_http::{BodyStream, Client, StreamingResponse};
use omp_types::{ErrorKind, Model, ModelError, Shortened};

use crate::errors;
use crate::stream::{secrets, start_of};
use crate::wire::{WireCall, compact};

/// Timeout, without which a dropped connection would block forever.
const PATIENCE: Duration = Duration::from_secs(180);
/// Size limit of a response, which is stored in the session file and sent with every request.
const LARGEST: usize = 8 << 20;

pub(crate) async fn shorten(client: Client, call: WireCall, model: Arc<Model>) -> Result<Shortened, ModelError> {
    let secrets = secrets(&call.headers);
    let done = match tokio::time::timeout(PATIENCE, exchange(client, call, &model)).await {
        Ok(done) => done,
        Err(_) => Err(ModelError::new(ErrorKind::Network, format!("no answer within {} seconds", PATIENCE.as_secs()))),
    };
    done.map_err(|mut error| {
        errors::name_model(&model, &mut error);
        for secret in &secrets {
            error.message = error.message.replace(secret, "[key]");
        }
        error
    })
}

async fn exchange(client: Client, call: WireCall, model: &Model) -> Result<Shortened, ModelError> {
    let sent = client.post_stream(&call.url, &call.headers, call.body).await;
    let StreamingResponse { status, headers, body } = sent.map_err(|error| errors::transport(model, &error))?;
    if !(200..300).contains(&status) {
        return Err(errors::status(model, status, &headers, &start_of(body).await));
    }
    compact::decode(model, &whole(body, model).await?)
}

async fn whole(mut body: BodyStream, model: &Model) -> Result<Vec<u8>, ModelError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(|error| errors::transport(model, &error))?;
        if bytes.len() + chunk.len() > LARGEST {
            return Err(errors::protocol(model, format_args!("it is larger than {} MiB", LARGEST >> 20)));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

//! Tests HTTP/2, negotiated in the TLS handshake: streamed, shared by requests, aborted by either side.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::StreamExt;
use h2::server::SendResponse;
use h2::{Reason, RecvStream, SendStream};
use http::{Request, Response, Version};
use omp_http::{BodyStream, Client, HttpConfig, HttpErrorKind, SseDecoder, StreamingResponse};
use omp_types::Env;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;

use crate::tls::{CA, server_config};

/// Speaks HTTP/2 only, and leaves the answers to the test.
struct Http2 {
    url: String,
    connections: Arc<AtomicUsize>,
    asked: mpsc::Receiver<Asked>,
}

struct Asked {
    /// The protocol that the handshake negotiated.
    protocol: Option<Vec<u8>>,
    request: Request<RecvStream>,
    respond: SendResponse<Bytes>,
}

impl Http2 {
    async fn start() -> Self {
        let mut config = server_config(false);
        config.alpn_protocols = vec![b"h2".to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}/v1?k=1", listener.local_addr().unwrap());
        let connections = Arc::new(AtomicUsize::new(0));
        let (tell, asked) = mpsc::channel(8);
        let count = connections.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(serve(acceptor.clone(), socket, tell.clone()));
            }
        });
        Self { url, connections, asked }
    }

    /// Sends a request and starts its answer.
    async fn exchange(&mut self, client: &Client, body: &str) -> (BodyStream, SendStream<Bytes>) {
        let sending = client.post_stream(&self.url, &[], body.as_bytes().to_vec());
        let answering = async {
            let asked = self.asked.recv().await.unwrap();
            Ok(asked.answer(body).await)
        };
        let (response, answer) = tokio::try_join!(sending, answering).unwrap();
        let StreamingResponse { status, headers, body } = response;
        assert_eq!((status, headers.get("content-type")), (200, Some("text/event-stream")));
        (body, answer)
    }
}

async fn serve(acceptor: TlsAcceptor, socket: TcpStream, tell: mpsc::Sender<Asked>) {
    let Ok(stream) = acceptor.accept(socket).await else { return };
    let protocol = stream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);
    let mut connection = h2::server::handshake(stream).await.unwrap();
    while let Some(Ok((request, respond))) = connection.accept().await {
        if tell.send(Asked { protocol: protocol.clone(), request, respond }).await.is_err() {
            break;
        }
    }
}

impl Asked {
    async fn answer(mut self, expected_body: &str) -> SendStream<Bytes> {
        assert_eq!(self.protocol.as_deref(), Some(b"h2".as_slice()));
        assert_eq!(self.request.version(), Version::HTTP_2);
        assert_eq!(self.request.uri().path_and_query().unwrap(), "/v1?k=1");
        let mut body = Vec::new();
        while let Some(chunk) = self.request.body_mut().data().await {
            body.extend_from_slice(&chunk.unwrap());
        }
        assert_eq!(String::from_utf8_lossy(&body), expected_body);
        let head = Response::builder().header("content-type", "text/event-stream").body(()).unwrap();
        self.respond.send_response(head, false).unwrap()
    }
}

fn client() -> Client {
    Client::new(&[("SSL_CERT_FILE", CA)].into_iter().collect::<Env>(), HttpConfig::default())
}

fn send(answer: &mut SendStream<Bytes>, piece: &'static str, last: bool) {
    answer.send_data(Bytes::from_static(piece.as_bytes()), last).unwrap();
}

/// Returns the events that the next chunk completes; none at the end of the body.
async fn next_events(body: &mut BodyStream, decoder: &mut SseDecoder) -> Option<Vec<String>> {
    let chunk = body.next().await?.unwrap();
    let mut events = Vec::new();
    decoder.push(&chunk, |name, data| events.push(format!("{name}={data}"))).unwrap();
    Some(events)
}

/// Every piece is sent only after the previous one was read: a buffered answer would never end.
#[tokio::test]
async fn events_arrive_one_by_one() {
    let mut server = Http2::start().await;
    let (mut body, mut answer) = server.exchange(&client(), "{}").await;
    let mut decoder = SseDecoder::new();
    let pieces = [
        ("event: a\ndata: 1\n\n", &["a=1"] as &[&str]),
        ("data: ", &[]),
        ("2\n\ndata: 3\n\n", &["message=2", "message=3"]),
    ];
    for (piece, expect) in pieces {
        send(&mut answer, piece, false);
        assert_eq!(next_events(&mut body, &mut decoder).await.unwrap(), expect);
    }
    send(&mut answer, "data: 4\n\n", true);
    assert_eq!(next_events(&mut body, &mut decoder).await.unwrap(), ["message=4"]);
    assert_eq!(next_events(&mut body, &mut decoder).await, None);
}

#[tokio::test]
async fn requests_share_one_connection() {
    let mut server = Http2::start().await;
    let client = client();
    let (mut first, mut first_answer) = server.exchange(&client, "1").await;
    let (mut second, mut second_answer) = server.exchange(&client, "2").await;
    send(&mut second_answer, "data: two\n\n", true);
    assert_eq!(next_events(&mut second, &mut SseDecoder::new()).await.unwrap(), ["message=two"]);
    send(&mut first_answer, "data: one\n\n", true);
    assert_eq!(next_events(&mut first, &mut SseDecoder::new()).await.unwrap(), ["message=one"]);
    assert_eq!(server.connections.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_stream_broken_off_by_the_server_is_an_error() {
    let mut server = Http2::start().await;
    let client = client();
    let (mut body, mut answer) = server.exchange(&client, "{}").await;
    send(&mut answer, "data: half", false);
    assert_eq!(&body.next().await.unwrap().unwrap()[..], b"data: half");
    answer.send_reset(Reason::INTERNAL_ERROR);
    let error = body.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Reset, "{error}");
    assert!(!error.to_string().contains("k=1"), "{error}");
    assert!(body.next().await.is_none());
    let (mut after, mut answer) = server.exchange(&client, "{}").await;
    send(&mut answer, "data: again\n\n", true);
    assert_eq!(next_events(&mut after, &mut SseDecoder::new()).await.unwrap(), ["message=again"]);
}

#[tokio::test]
async fn an_answer_nobody_wants_any_more_is_called_off() {
    let mut server = Http2::start().await;
    let client = client();
    let (body, mut answer) = server.exchange(&client, "{}").await;
    drop(body);
    let reason = std::future::poll_fn(|cx| answer.poll_reset(cx)).await.unwrap();
    assert_eq!(reason, Reason::CANCEL);
}

//! Tests the same events in many byte layouts.

use std::io::Read;
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;
use omp_testkit::{Framing, Script, Server, Split, Text, Turn, Wire};

use crate::client::{Answer, Client, Ending};

fn turn() -> Turn {
    Turn::text(["grün ", "🦀"])
}

async fn answer(wire: Wire, framing: Framing) -> Answer {
    let server = Server::start(turn().framing(framing)).await.unwrap();
    let answer = Client::connect(&server).await.ask(wire).await;
    assert_eq!(answer.ending, Ending::Complete);
    answer
}

async fn plain(wire: Wire) -> Answer {
    answer(wire, Framing::default()).await
}

fn split(split: Split) -> Framing {
    Framing { split: Some(split), ..Framing::default() }
}

#[tokio::test]
async fn each_event_is_a_chunk_of_its_own() {
    for wire in Wire::ALL {
        let answer = plain(wire).await;
        assert_eq!(answer.chunks.len(), answer.data().len(), "{wire:?}");
    }
}

#[tokio::test]
async fn bodies_are_split_where_asked() {
    for wire in Wire::ALL {
        let whole = plain(wire).await.body();
        let bytes = answer(wire, split(Split::EveryByte)).await;
        assert!(bytes.chunks.iter().all(|chunk| chunk.len() == 1));
        assert_eq!(bytes.body(), whole);

        let sevens = answer(wire, split(Split::Every(7))).await;
        assert!(sevens.chunks.iter().all(|chunk| chunk.len() <= 7));
        assert_eq!(sevens.body(), whole);

        let at = answer(wire, split(Split::At(vec![1, 9]))).await;
        assert_eq!((at.chunks[0].len(), at.chunks[1].len()), (1, 8));
        assert_eq!(at.body(), whole);
    }
}

#[tokio::test]
async fn gzip_carries_the_same_bytes_even_when_split() {
    for wire in Wire::ALL {
        let framing = Framing { gzip: true, split: Some(Split::Every(3)), ..Framing::default() };
        let answer = answer(wire, framing).await;
        assert_eq!(answer.header("content-encoding"), Some("gzip"));
        let mut text = String::new();
        GzDecoder::new(answer.body().as_slice()).read_to_string(&mut text).unwrap();
        assert_eq!(text, plain(wire).await.text());
    }
}

#[tokio::test]
async fn lines_can_be_laid_out_in_every_legal_way() {
    for wire in Wire::ALL {
        let sound = plain(wire).await.data();
        let crlf = answer(wire, Framing { crlf: true, ..Framing::default() }).await;
        assert!(!crlf.text().replace("\r\n", "").contains('\n'));
        assert_eq!(crlf.data(), sound);

        let comments = answer(wire, Framing { comments: true, ..Framing::default() }).await;
        assert_eq!(comments.text().matches(": keep-alive").count(), sound.len());
        assert_eq!(comments.data(), sound);

        let bom = answer(wire, Framing { bom: true, ..Framing::default() }).await;
        assert_eq!(bom.body()[..3], [0xef, 0xbb, 0xbf]);
        assert_eq!(bom.data(), sound);

        let bare = answer(wire, Framing { no_final_newline: true, ..Framing::default() }).await;
        assert!(!bare.text().ends_with('\n'));
        assert_eq!(bare.data(), sound);

        let multi = answer(wire, Framing { multi_line: true, ..Framing::default() }).await;
        assert!(multi.text().contains("data: {\ndata: ") || multi.text().contains("data: {\r\ndata: "));
        assert_eq!(multi.data().iter().map(|data| data.replace('\n', "")).collect::<Vec<_>>(), sound);
    }
}

#[tokio::test]
async fn the_script_sets_the_framing_of_turns_that_do_not() {
    let script = Script::new([turn(), turn().framing(Framing::default())]).framing(split(Split::EveryByte));
    let server = Server::start(script).await.unwrap();
    let mut client = Client::connect(&server).await;
    assert!(client.ask(Wire::Anthropic).await.chunks.iter().all(|chunk| chunk.len() == 1));
    assert!(client.ask(Wire::Anthropic).await.chunks.iter().all(|chunk| chunk.len() > 1));
}

#[tokio::test]
async fn delays_come_between_events() {
    let server = Server::start(turn().delay_ms(2)).await.unwrap();
    let started = Instant::now();
    let answer = Client::connect(&server).await.ask(Wire::Anthropic).await;
    assert!(started.elapsed() >= Duration::from_millis(2) * answer.data().len() as u32);
}

#[tokio::test]
async fn fifty_thousand_tokens_are_fifty_thousand_events() {
    for (wire, tokens) in Wire::ALL.into_iter().zip([50_000, 5_000, 5_000, 5_000]) {
        let server = Server::start(Turn::text(Text::tokens(tokens))).await.unwrap();
        let events = Client::connect(&server).await.ask(wire).await.data().len();
        assert!((tokens..tokens + 20).contains(&events), "{wire:?}: {events}");
    }
}

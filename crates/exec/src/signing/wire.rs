//! The messages between the stand-in program and omp on the socket: one in each direction, each a list of pieces with
//! length prefixes.

use std::io::{self, Read, Write};

use super::request::LARGEST_PAYLOAD;
use super::settings::SignatureFormat;

/// Maximum bytes of a message: a payload and the fields around it.
pub(super) const LARGEST: usize = LARGEST_PAYLOAD + 64 * 1024;
/// Maximum pieces of a message.
const MOST_PIECES: usize = 64;

/// The request, with everything git has started the program with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SigningQuestion {
    pub(super) format: SignatureFormat,
    /// The program that git would start without omp; `None` for the default one.
    pub(super) configured: Option<String>,
    /// The folder in which the command has gpg's keys.
    pub(super) keyring: String,
    /// The public key that git has written to a file.
    pub(super) literal: String,
    /// Empty unless this is a signing request.
    pub(super) payload: Vec<u8>,
    pub(super) args: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SigningAnswer {
    /// omp has run the program.
    Ran { code: u8, output: Vec<u8>, errors: Vec<u8> },
    /// Contains the reason.
    Refused(String),
    /// The program is to be run in the sandbox, where git has started it.
    Run(SigningRun),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SigningRun {
    /// Empty for the program that git would start without omp.
    pub(super) program: String,
    /// The folder where gpg finds the public keys, if they were copied.
    pub(super) keyring: String,
    /// An argument that is a file hidden from the command, and the path of its copy.
    pub(super) hidden: String,
    pub(super) copy: String,
    /// A message to be printed as well.
    pub(super) note: String,
}

impl SigningQuestion {
    pub(super) fn encode(&self) -> Vec<u8> {
        let configured = self.configured.as_deref();
        let mut pieces = vec![
            self.format.name().as_bytes(),
            if configured.is_some() { b"1" } else { b"0" },
            configured.unwrap_or_default().as_bytes(),
            self.keyring.as_bytes(),
            self.literal.as_bytes(),
            &self.payload,
        ];
        pieces.extend(self.args.iter().map(String::as_bytes));
        encode(&pieces)
    }

    pub(super) fn decode(body: &[u8]) -> Option<Self> {
        let mut pieces = decode(body)?.into_iter();
        let mut next = || pieces.next();
        let format = text(next()?)?;
        let format = SignatureFormat::ALL.into_iter().find(|known| known.name() == format)?;
        let (is_configured, configured) = (next()? == b"1", text(next()?)?);
        let (keyring, literal, payload) = (text(next()?)?, text(next()?)?, next()?.to_vec());
        let args = pieces.map(text).collect::<Option<Vec<String>>>()?;
        Some(Self { format, configured: is_configured.then_some(configured), keyring, literal, payload, args })
    }
}

impl SigningAnswer {
    pub(super) fn encode(&self) -> Vec<u8> {
        match self {
            Self::Ran { code, output, errors } => encode(&[b"ran", &[*code], output, errors]),
            Self::Refused(why) => encode(&[b"refused", why.as_bytes()]),
            Self::Run(SigningRun { program, keyring, hidden, copy, note }) => {
                let pieces = [program, keyring, hidden, copy, note].map(|piece| piece.as_bytes());
                encode(&[&[b"run".as_slice()], &pieces[..]].concat())
            }
        }
    }

    pub(super) fn decode(body: &[u8]) -> Option<Self> {
        match decode(body)?.as_slice() {
            [b"ran", [code], output, errors] => {
                Some(Self::Ran { code: *code, output: output.to_vec(), errors: errors.to_vec() })
            }
            [b"refused", why] => text(why).map(Self::Refused),
            [b"run", program, keyring, hidden, copy, note] => Some(Self::Run(SigningRun {
                program: text(program)?,
                keyring: text(keyring)?,
                hidden: text(hidden)?,
                copy: text(copy)?,
                note: text(note)?,
            })),
            _ => None,
        }
    }
}

/// Sends `asked` and waits for the answer.
pub(super) fn ask(stream: &mut (impl Read + Write), asked: &SigningQuestion) -> io::Result<SigningAnswer> {
    stream.write_all(&asked.encode())?;
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    let mut body = vec![0; length.min(LARGEST)];
    stream.read_exact(&mut body)?;
    SigningAnswer::decode(&body).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}

/// Encodes the pieces, prefixed by the total length.
fn encode(pieces: &[&[u8]]) -> Vec<u8> {
    let length = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX).to_le_bytes();
    let mut body = Vec::new();
    for piece in pieces {
        body.extend(length(piece.len()));
        body.extend_from_slice(piece);
    }
    [length(body.len()).as_slice(), &body].concat()
}

fn decode(mut body: &[u8]) -> Option<Vec<&[u8]>> {
    let mut pieces = Vec::new();
    while !body.is_empty() {
        let (length, rest) = body.split_first_chunk::<4>()?;
        let (piece, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        pieces.push(piece);
        body = rest;
        if pieces.len() > MOST_PIECES {
            return None;
        }
    }
    Some(pieces)
}

fn text(bytes: &[u8]) -> Option<String> {
    String::from_utf8(bytes.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked() -> SigningQuestion {
        SigningQuestion {
            format: SignatureFormat::Ssh,
            configured: Some(String::new()),
            keyring: "k".to_owned(),
            literal: "ssh-rsa A".to_owned(),
            payload: vec![0, 255, 10],
            args: vec!["-Y".to_owned(), String::new()],
        }
    }

    #[test]
    fn what_is_said_is_heard() {
        for asked in [asked(), SigningQuestion { configured: None, args: Vec::new(), ..asked() }] {
            assert_eq!(SigningQuestion::decode(&asked.encode()[4..]), Some(asked));
        }
        let run = SigningRun { program: "p".to_owned(), copy: "c".to_owned(), ..SigningRun::default() };
        let ran = SigningAnswer::Ran { code: 2, output: vec![255], errors: Vec::new() };
        for answer in [ran, SigningAnswer::Refused("no".to_owned()), SigningAnswer::Run(run)] {
            assert_eq!(SigningAnswer::decode(&answer.encode()[4..]), Some(answer));
        }
    }

    #[test]
    fn noise_is_not() {
        let whole = asked().encode()[4..].to_vec();
        for cut in 0..whole.len() {
            // A message cut between two pieces is a shorter list.
            let heard = SigningQuestion::decode(&whole[..cut]);
            assert!(heard.is_none_or(|heard| heard.args.len() < 2), "{cut}");
        }
        assert_eq!(SigningQuestion::decode(&[255; 64]), None);
        assert_eq!(SigningQuestion::decode(&[0; 4 * (MOST_PIECES + 2)]), None);
        assert_eq!(SigningAnswer::decode(b""), None);
    }
}

//! Parses `conflict://3`, `conflict://3/theirs`, `conflict://*`.

use super::ConflictError;

const SCHEME: &str = "conflict://";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictId {
    One(u32),
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Ours,
    Theirs,
    Base,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConflictUri {
    pub id: ConflictId,
    pub side: Option<Side>,
    /// A file path preceded the address, which needs none.
    pub had_file: bool,
}

impl ConflictUri {
    /// Returns `None` if the text is not a conflict address.
    pub fn parse(typed: &str) -> Option<Result<Self, ConflictError>> {
        let typed = typed.trim();
        let (had_file, rest) = match typed.strip_prefix(SCHEME) {
            Some(rest) => (false, rest),
            None => (true, typed.split_once(":conflict://")?.1),
        };
        Some(Self::parse_rest(typed, rest).map(|uri| Self { had_file, ..uri }))
    }

    fn parse_rest(typed: &str, rest: &str) -> Result<Self, ConflictError> {
        let wrong = |why: &str| Err(ConflictError::Uri(format!("Invalid conflict URI '{typed}': {why}")));
        let (id, side) = match rest.split_once('/') {
            Some((id, side)) => (id, Some(side)),
            None => (rest, None),
        };
        if id == "*" {
            return match side {
                None => Ok(Self { id: ConflictId::All, side: None, had_file: false }),
                Some(_) => wrong("'conflict://*' takes no side; use a number"),
            };
        }
        let id = match id.parse::<u32>() {
            Ok(0) => return wrong("id must be ≥ 1."),
            Ok(id) => ConflictId::One(id),
            Err(_) => {
                return wrong(
                    "it must be 'conflict://<N>', 'conflict://<N>/<side>' or 'conflict://*', with a number that `read` gave",
                );
            }
        };
        let side = match side {
            None => None,
            Some("ours") => Some(Side::Ours),
            Some("theirs") => Some(Side::Theirs),
            Some("base") => Some(Side::Base),
            Some(_) => return wrong("the side must be 'ours', 'theirs' or 'base'"),
        };
        Ok(Self { id, side, had_file: false })
    }
}

//! Line-based languages: diffs, Markdown, markup, and key-value files.

use super::lexer::{Emit, OpenConstruct};
use crate::theme::Token;

pub fn diff(line: &str, emit: Emit<'_>) {
    let heads = ["+++", "---", "diff ", "index ", "@@"];
    let token = match line.as_bytes().first() {
        _ if heads.iter().any(|head| line.starts_with(head)) => Token::SyntaxKeyword,
        Some(b'+') => Token::ToolDiffAdded,
        Some(b'-') => Token::ToolDiffRemoved,
        _ => Token::ToolDiffContext,
    };
    emit(line, Some(token));
}

pub fn markdown(line: &str, state: &mut OpenConstruct, emit: Emit<'_>) {
    let body = line.trim_start();
    let indent = &line[..line.len() - body.len()];
    let fence = ["```", "~~~"].into_iter().find(|fence| body.starts_with(fence));
    if let OpenConstruct::Raw(open) = &*state {
        let closes = body.trim_end().starts_with(open.as_str());
        emit(line, Some(Token::SyntaxString));
        if closes {
            *state = OpenConstruct::Code;
        }
        return;
    }
    if let Some(fence) = fence {
        *state = OpenConstruct::Raw(fence.to_owned());
        return emit(line, Some(Token::SyntaxString));
    }
    if body.starts_with('#') {
        return emit(line, Some(Token::SyntaxKeyword));
    }
    if body.starts_with('>') {
        return emit(line, Some(Token::SyntaxComment));
    }
    emit(indent, None);
    let bullet = if ["- ", "* ", "+ "].iter().any(|bullet| body.starts_with(bullet)) { 1 } else { 0 };
    emit(&body[..bullet], Some(Token::SyntaxOperator));
    for (index, piece) in body[bullet..].split_inclusive('`').enumerate() {
        emit(piece, (index % 2 == 1).then_some(Token::SyntaxString));
    }
}

pub fn markup(line: &str, state: &mut OpenConstruct, emit: Emit<'_>) {
    let mut rest = line;
    while !rest.is_empty() {
        let taken = match state {
            OpenConstruct::Comment(..) => {
                let end = rest.find("-->").map(|at| at + 3);
                emit(&rest[..end.unwrap_or(rest.len())], Some(Token::SyntaxComment));
                *state = if end.is_some() { OpenConstruct::Code } else { OpenConstruct::Comment(0, 1) };
                end.unwrap_or(rest.len())
            }
            OpenConstruct::Tag => inside_tag(rest, state, emit),
            _ if rest.starts_with("<!--") => {
                emit("<!--", Some(Token::SyntaxComment));
                *state = OpenConstruct::Comment(0, 1);
                4
            }
            _ => outside_tag(rest, state, emit),
        };
        rest = &rest[taken..];
    }
}

fn outside_tag(rest: &str, state: &mut OpenConstruct, emit: Emit<'_>) -> usize {
    let after = rest.strip_prefix('<').map(|body| body.trim_start_matches(['/', '?', '!']));
    if let Some(name) = after.filter(|name| name.starts_with(char::is_alphabetic)) {
        let open = rest.len() - name.len();
        let length = name.find(|char: char| !(char.is_alphanumeric() || "-_:.".contains(char))).unwrap_or(name.len());
        emit(&rest[..open], Some(Token::SyntaxPunctuation));
        emit(&name[..length], Some(Token::SyntaxKeyword));
        *state = OpenConstruct::Tag;
        return open + length;
    }
    let end = rest.char_indices().skip(1).find(|(_, char)| *char == '<').map_or(rest.len(), |(at, _)| at);
    emit(&rest[..end], None);
    end
}

fn inside_tag(rest: &str, state: &mut OpenConstruct, emit: Emit<'_>) -> usize {
    let first = rest.chars().next().unwrap_or(' ');
    let (length, token) = match first {
        ' ' => (1, None),
        '>' => (1, Some(Token::SyntaxPunctuation)),
        '"' | '\'' => (rest[1..].find(first).map_or(rest.len(), |at| at + 2), Some(Token::SyntaxString)),
        char if char.is_alphabetic() => {
            let end = rest.find(|char: char| !(char.is_alphanumeric() || "-_:.".contains(char)));
            (end.unwrap_or(rest.len()), Some(Token::SyntaxVariable))
        }
        other => (other.len_utf8(), Some(Token::SyntaxPunctuation)),
    };
    if first == '>' {
        *state = OpenConstruct::Code;
    }
    emit(&rest[..length], token);
    length
}

/// Emits the key at the start of a line and returns the rest.
pub fn key<'a>(line: &'a str, separator: char, emit: Emit<'_>) -> &'a str {
    let body = line.trim_start_matches([' ', '-']);
    if body.starts_with(['#', ';', '"', '\'', '{']) {
        return line;
    }
    if separator == '=' && body.starts_with('[') {
        let end = body.find(['#', ';']).unwrap_or(body.len());
        emit(&line[..line.len() - body.len() + end], Some(Token::SyntaxType));
        return &body[end..];
    }
    let Some(at) = body.find(separator) else { return line };
    let valued = separator == '=' || body[at + 1..].is_empty() || body[at + 1..].starts_with(' ');
    let named = !body[..at].contains(['#', '"', '\'', '{', '[']);
    if !valued || !named {
        return line;
    }
    emit(&line[..line.len() - body.len()], Some(Token::SyntaxOperator));
    emit(&body[..at], Some(Token::SyntaxVariable));
    emit(&body[at..=at], Some(Token::SyntaxPunctuation));
    &body[at + 1..]
}

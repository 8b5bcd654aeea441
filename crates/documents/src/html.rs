//! HTML pages: their readable content, without scripts.

use htmd::HtmlToMarkdown;
use htmd::options::{BulletListMarker, Options};

use crate::package::decoded;
use crate::{ConvertedDocument, DocumentError, DocumentLimits};

const SKIPPED: [&str; 7] = ["script", "style", "noscript", "template", "svg", "iframe", "head"];

/// Elements without an end tag, or whose end tag is optional.
const NOT_NESTED: [&str; 29] = [
    "area", "base", "body", "br", "col", "colgroup", "dd", "dt", "embed", "head", "hr", "html", "img", "input", "li",
    "link", "meta", "option", "p", "param", "source", "tbody", "td", "tfoot", "th", "thead", "tr", "track", "wbr",
];

/// Size limit; larger pages are machine-made, and building the tree takes many times their size.
const MAX_BYTES: usize = 8 * 1024 * 1024;

pub fn convert(bytes: &[u8], limits: DocumentLimits) -> Result<ConvertedDocument, DocumentError> {
    if bytes.len() > MAX_BYTES {
        return Err(DocumentError::FileTooLarge { most: MAX_BYTES });
    }
    Ok(ConvertedDocument { markdown: to_markdown(&decoded(bytes), limits)?, left_out: Vec::new() })
}

pub fn to_markdown(html: &str, limits: DocumentLimits) -> Result<String, DocumentError> {
    // The converter recurses through the tree.
    if nesting(html) > limits.depth {
        return Err(DocumentError::TooDeep { most: limits.depth });
    }
    let options = Options {
        bullet_list_marker: BulletListMarker::Dash,
        ul_bullet_spacing: 1,
        ol_number_spacing: 1,
        ..Options::default()
    };
    let converter = HtmlToMarkdown::builder().skip_tags(SKIPPED.to_vec()).options(options).build();
    converter.convert(html).map_err(DocumentError::broken)
}

/// Returns the maximum nesting depth, computed from the tags alone.
fn nesting(html: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for tag in html.split('<').skip(1) {
        let closes = tag.starts_with('/');
        let name = tag.trim_start_matches('/');
        let end = name.find(|char: char| !char.is_ascii_alphanumeric()).unwrap_or(name.len());
        let name = name[..end].to_ascii_lowercase();
        if name.is_empty() || NOT_NESTED.contains(&name.as_str()) {
            continue;
        }
        depth = if closes { depth.saturating_sub(1) } else { depth + 1 };
        deepest = deepest.max(depth);
    }
    deepest
}

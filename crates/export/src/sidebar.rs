//! The tree of a conversation as a list of links: side branches are indented, labels shown, the active path marked.

use crate::markup::Html;
use crate::talk::SidebarOutline;

/// Deeper branches are shown at the last depth.
const DEPTHS: [&str; 7] = ["d0", "d1", "d2", "d3", "d4", "d5", "d6"];

pub(crate) fn sidebar(html: &mut Html, outline: &SidebarOutline) {
    html.raw("<ol class=\"tree\">");
    for (run, depth) in outline.tree.outline() {
        let active = outline.tree.runs[run].active;
        for (position, mention) in &outline.mentions[run] {
            html.raw("<li class=\"").raw(DEPTHS[depth.min(DEPTHS.len() - 1)]).raw(" ").raw(mention.class);
            html.raw(if active { " on\"" } else { "\"" }).attr("data-run", &outline.run_anchor(run)).raw(">");
            html.raw("<a").attr("href", &format!("#{}", outline.entry_anchor(*position))).raw(">");
            html.text(if mention.text.is_empty() { "…" } else { &mention.text }).raw("</a>");
            if let Some(label) = outline.labels.get(position) {
                html.element(" <b class=\"label\">", label, "</b>");
            }
            html.raw("</li>");
        }
    }
    html.raw("</ol>");
    if outline.left_out > 0 {
        html.raw("<p class=\"cut\">").number(outline.left_out as u64).raw(" more are only on the page</p>");
    }
}

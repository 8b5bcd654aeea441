//! A piece of editor text with its markers, so that cut, undo and yank never lose the content behind a marker.

use std::ops::Range;
use std::sync::Arc;

/// A range of text that the cursor treats as one unit and that represents other content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    /// In bytes of the containing text.
    pub range: Range<usize>,
    pub means: MarkerMeaning,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MarkerMeaning {
    /// A pasted text that is too long to show.
    Paste(Arc<str>),
    /// Content that the application holds under this id.
    Attachment(u64),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fragment {
    pub text: String,
    /// Sorted and disjoint.
    pub markers: Vec<Marker>,
}

impl Fragment {
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), markers: Vec::new() }
    }

    pub fn marker(label: String, means: MarkerMeaning) -> Self {
        Self { markers: vec![Marker { range: 0..label.len(), means }], text: label }
    }

    pub fn append(&mut self, other: &Fragment) {
        let by = self.text.len();
        self.text.push_str(&other.text);
        self.markers.extend(other.markers.iter().map(|marker| marker.moved(by)));
    }

    /// Returns a part of it. No end of the range may be inside a marker.
    pub fn slice(&self, range: Range<usize>) -> Fragment {
        let within = |marker: &&Marker| range.start <= marker.range.start && marker.range.end <= range.end;
        let moved = |marker: &Marker| Marker {
            range: marker.range.start - range.start..marker.range.end - range.start,
            means: marker.means.clone(),
        };
        let markers = self.markers.iter().filter(within).map(moved).collect();
        Fragment { text: self.text[range.clone()].to_owned(), markers }
    }

    /// Returns the text with pasted content in place of its markers.
    pub fn expanded(&self) -> String {
        let mut whole = String::with_capacity(self.text.len());
        let mut done = 0;
        for marker in &self.markers {
            let MarkerMeaning::Paste(content) = &marker.means else { continue };
            whole.push_str(&self.text[done..marker.range.start]);
            whole.push_str(content);
            done = marker.range.end;
        }
        whole.push_str(&self.text[done..]);
        whole
    }

    /// Returns the approximate memory use.
    pub fn weight(&self) -> usize {
        self.text.len() + self.markers.iter().map(Marker::weight).sum::<usize>()
    }
}

impl Marker {
    pub fn moved(&self, by: usize) -> Marker {
        Marker { range: self.range.start + by..self.range.end + by, means: self.means.clone() }
    }

    fn weight(&self) -> usize {
        match &self.means {
            MarkerMeaning::Paste(content) => content.len() + 64,
            MarkerMeaning::Attachment(_) => 64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pastes_are_put_back_and_attachments_stay() {
        let mut all = Fragment::plain("see ");
        all.append(&Fragment::marker("[paste #1 +2 lines]".into(), MarkerMeaning::Paste("a\nb".into())));
        all.append(&Fragment::plain(" and "));
        all.append(&Fragment::marker("[image #1]".into(), MarkerMeaning::Attachment(7)));
        assert_eq!(all.expanded(), "see a\nb and [image #1]");
        assert_eq!(all.markers[1].range, 28..38);
    }
}

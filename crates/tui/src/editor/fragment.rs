//! A piece of what is being written: text together with the markers in it, so that cutting, undoing and yanking never
//! lose what a marker stands for.

use std::ops::Range;
use std::sync::Arc;

/// A stretch of text that is one unit for the cursor and stands for something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    /// In bytes of the text it is in.
    pub range: Range<usize>,
    pub means: MarkerMeaning,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MarkerMeaning {
    /// Text that is too long to be shown.
    Paste(Arc<str>),
    /// Something that the application holds under this number.
    Attachment(u64),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fragment {
    pub text: String,
    /// In order, and apart from each other.
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

    /// The text with everything that was pasted in its place.
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

    /// About how much memory it takes.
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

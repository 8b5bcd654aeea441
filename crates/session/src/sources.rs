//! Items that are added and removed together with their source: tools of the session, of an RPC host or of a server; slash
//! commands.

/// The source of the items that a session is opened with.
pub const OWN_SOURCE: &str = "omp";

/// The items of each source. Sources are in the order in which they were added.
pub(crate) struct Sources<T> {
    sources: Vec<(String, Vec<T>)>,
}

impl<T> Default for Sources<T> {
    fn default() -> Self {
        Self { sources: Vec::new() }
    }
}

impl<T> Sources<T> {
    /// Replaces the items of a source. A source without items keeps its position.
    pub fn set(&mut self, source: &str, items: Vec<T>) {
        match self.sources.iter_mut().find(|(known, _)| known == source) {
            Some((_, known)) => *known = items,
            None => self.sources.push((source.to_owned(), items)),
        }
    }

    /// Returns each item with its source. If two have the same name, the first keeps it; the others are in the second list.
    pub fn by_name(&self, name: impl Fn(&T) -> String) -> (Vec<&T>, Vec<(&str, String)>) {
        let (mut names, mut kept, mut left_out) = (std::collections::HashSet::new(), Vec::new(), Vec::new());
        for (source, item) in
            self.sources.iter().flat_map(|(source, items)| items.iter().map(move |item| (source, item)))
        {
            let name = name(item);
            match names.contains(&name) {
                true => left_out.push((source.as_str(), name)),
                false => {
                    names.insert(name);
                    kept.push(item);
                }
            }
        }
        (kept, left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_keep_their_order_and_the_first_keeps_a_name() {
        let mut sources = Sources::default();
        sources.set(OWN_SOURCE, vec!["read", "bash"]);
        sources.set("a", vec!["x", "read"]);
        sources.set("b", vec!["y"]);
        let all = |sources: &Sources<&'static str>| {
            let (kept, left_out) = sources.by_name(|name| (*name).to_owned());
            let left_out: Vec<String> = left_out.iter().map(|(source, name)| format!("{source}:{name}")).collect();
            (kept.into_iter().copied().collect::<Vec<_>>().join(" "), left_out.join(" "))
        };
        assert_eq!(all(&sources), ("read bash x y".to_owned(), "a:read".to_owned()));
        sources.set("a", Vec::new());
        assert_eq!(all(&sources), ("read bash y".to_owned(), String::new()));
        sources.set("a", vec!["z"]);
        assert_eq!(all(&sources).0, "read bash z y", "it is where it was");
    }
}

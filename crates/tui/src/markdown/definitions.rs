//! Link reference definitions, `[label]: address`.

/// Limits the definitions of one text.
const MOST: usize = 1000;

#[derive(Default)]
pub struct Definitions(Vec<(String, String)>);

impl Definitions {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn truncate(&mut self, length: usize) {
        self.0.truncate(length);
    }

    /// Finds a label; the first definition wins.
    pub fn find(&self, label: &str) -> Option<&str> {
        if self.0.is_empty() {
            return None;
        }
        let label = normal(label);
        self.0.iter().find(|(other, _)| *other == label).map(|(_, address)| address.as_str())
    }

    pub fn extend(&mut self, more: Vec<(String, String)>) {
        for (label, address) in more {
            if self.0.len() < MOST {
                self.0.push((normal(&label), address));
            }
        }
    }
}

fn normal(label: &str) -> String {
    label.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

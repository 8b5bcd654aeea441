//! The ledger: the user's messages, kept verbatim through every compaction.
//!
//! A summary describes what happened; the user's wishes must not depend on its quality. All user messages count, because a
//! program cannot distinguish a constraint from a remark. When they become too much, long pastes lose their middle first;
//! short messages stay until they alone fill many times the limit.

use omp_types::{Attribution, Content, Message, UserMessage, estimate_tokens};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::cut::ConversationEntry;
use crate::shorten::middle_out;

/// Number of tokens above which long pastes are shortened.
const ROOM: u64 = 8_000;
/// Number of tokens above which the oldest messages are replaced by a reference.
const MOST: u64 = 4 * ROOM;
/// Messages up to this size are never shortened.
const SHORT: u64 = 400;
/// Number of characters kept of a long message: always fewer than those of a short one.
const KEPT: usize = 1_000;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ledger {
    items: Vec<Item>,
    dropped: Option<Dropped>,
}

/// One message of the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Item {
    /// The entry with the full message.
    pub entry: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shortened: bool,
}

/// The oldest messages, dropped when even the short ones are too many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Dropped {
    count: u64,
    first: String,
    last: String,
}

impl Ledger {
    /// Reads the ledger of the previous compaction of this branch.
    pub fn from_details(details: Option<&Value>) -> Self {
        let field = |name: &str| details.and_then(|details| details.get(name)).cloned();
        let items = field("ledger").and_then(|items| serde_json::from_value(items).ok());
        let dropped = field("ledgerDropped").and_then(|dropped| serde_json::from_value(dropped).ok());
        Self { items: items.unwrap_or_default(), dropped }
    }

    /// Adds the user's messages from entries that leave the context.
    pub fn note(&mut self, entries: &[ConversationEntry]) {
        for entry in entries {
            if let Message::User(user) = &*entry.message
                && user.attribution != Some(Attribution::Agent)
                && let Some(text) = said(user, entry)
            {
                self.add(Item { entry: entry.id.as_str().to_owned(), text, shortened: false });
            }
        }
        self.fit(ROOM, MOST);
    }

    /// Shortens messages above `room` tokens, and then drops the oldest above `most`. For models with a small context
    /// window.
    pub fn fit(&mut self, room: u64, most: u64) {
        let costs: Vec<u64> = self.items.iter().map(cost).collect();
        let mut total: u64 = costs.iter().sum();
        let mut long: Vec<usize> =
            (0..costs.len()).filter(|at| costs[*at] > SHORT && !self.items[*at].shortened).collect();
        long.sort_by_key(|at| std::cmp::Reverse(costs[*at]));
        for at in long {
            if total <= room {
                return;
            }
            self.items[at].shorten();
            total = total + cost(&self.items[at]) - costs[at];
        }
        let mut gone = 0;
        while total > most && gone + 1 < self.items.len() {
            total -= cost(&self.items[gone]);
            gone += 1;
        }
        self.drop_oldest(gone);
    }

    pub fn items(&self) -> &[Item] {
        &self.items
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty() && self.dropped.is_none()
    }

    /// Formats the ledger for the summary message; empty if there is nothing.
    pub fn text(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        let mut text = String::from(
            "<user-said>\nWhat the user said before, word for word, oldest first. It still holds unless the user took it \
             back later.\n",
        );
        if let Some(Dropped { count, first, last }) = &self.dropped {
            text.push_str(&format!("\n({count} still older messages: history://{first}..{last})\n"));
        }
        for (number, item) in self.items.iter().enumerate() {
            text.push_str(&format!("\n[{}] {}\n", number + 1, item.text));
        }
        text + "</user-said>"
    }

    /// Returns an object to be merged into a compaction's details.
    pub fn to_details(&self) -> Value {
        match &self.dropped {
            None => json!({ "ledger": self.items }),
            Some(dropped) => json!({ "ledger": self.items, "ledgerDropped": dropped }),
        }
    }

    /// A repeated message is kept at its last position, because it applies again from there.
    fn add(&mut self, item: Item) {
        self.items.retain(|known| known.entry != item.entry && known.text != item.text);
        self.items.push(item);
    }

    fn drop_oldest(&mut self, count: usize) {
        let gone: Vec<Item> = self.items.drain(..count).collect();
        let (Some(first), Some(last)) = (gone.first(), gone.last()) else { return };
        let earlier = self.dropped.take();
        self.dropped = Some(Dropped {
            count: earlier.as_ref().map_or(0, |dropped| dropped.count) + gone.len() as u64,
            first: earlier.map_or_else(|| first.entry.clone(), |dropped| dropped.first),
            last: last.entry.clone(),
        });
    }
}

impl Item {
    fn shorten(&mut self) {
        let gap = |missing| format!("\n[… {missing} characters left out; `read` history://{} …]\n", self.entry);
        let text = middle_out(&self.text, KEPT, gap).into_owned();
        // Scripts with one token per letter reach the limit with fewer characters.
        if estimate_tokens(&text) < estimate_tokens(&self.text) {
            self.text = text;
            self.shortened = true;
        }
    }
}

fn cost(item: &Item) -> u64 {
    estimate_tokens(&item.text) + 4
}

/// Returns the text of a message; images are only mentioned. Text that a command expanded is not the user's own: only a
/// reference is kept.
fn said(user: &UserMessage, entry: &ConversationEntry) -> Option<String> {
    let text = match &entry.typed {
        Some(typed) => format!("{typed}\n(a command; what it stands for: `read` history://{})", entry.id),
        None => user.content.iter().filter_map(Content::as_text).collect::<Vec<_>>().join("\n"),
    };
    let pictures = user.content.iter().filter(|block| matches!(block, Content::Image(_))).count();
    match (text.trim().is_empty(), pictures) {
        (true, _) => None,
        (false, 0) => Some(text),
        (false, 1) => Some(text + "\n(with a picture)"),
        (false, several) => Some(format!("{text}\n(with {several} pictures)")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Line, entries};
    use proptest::prelude::*;

    fn noted(texts: &[String]) -> Ledger {
        let mut ledger = Ledger::default();
        ledger.note(&entries(&texts.iter().cloned().map(Line::User).collect::<Vec<_>>()));
        ledger
    }

    fn again(ledger: &Ledger) -> Ledger {
        let file = serde_json::to_string(&ledger.to_details()).unwrap();
        Ledger::from_details(Some(&serde_json::from_str(&file).unwrap()))
    }

    #[test]
    fn only_the_words_of_the_user_are_kept_and_they_are_kept_exactly() {
        let mut said = entries(&[
            Line::User("  Use tabs.\n\nNever spaces.".into()),
            Line::Answer("yes".into()),
            Line::Note("a reminder".into()),
            Line::User("   ".into()),
            Line::User("go on".into()),
            Line::User("go on".into()),
        ]);
        let mut by_agent = UserMessage::text("made up by a program");
        by_agent.attribution = Some(Attribution::Agent);
        said.push(ConversationEntry {
            id: "x".into(),
            message: std::sync::Arc::new(Message::User(by_agent)),
            typed: None,
        });
        let mut ledger = Ledger::default();
        ledger.note(&said);
        insta::assert_snapshot!(ledger.text(), @"
        <user-said>
        What the user said before, word for word, oldest first. It still holds unless the user took it back later.

        [1]   Use tabs.

        Never spaces.

        [2] go on
        </user-said>
        ");
        assert_eq!(again(&ledger), ledger);
        assert_eq!(Ledger::default().text(), "");
    }

    #[test]
    fn a_command_is_kept_as_it_was_typed_and_not_as_what_it_stands_for() {
        let mut said =
            entries(&[Line::User("Review src by these fifty rules: …".into()), Line::User("Be kind.".into())]);
        said[0].typed = Some("/review src".to_owned());
        let mut ledger = Ledger::default();
        ledger.note(&said);
        let text = ledger.text();
        assert!(
            text.contains("[1] /review src\n(a command; what it stands for: `read` history://00000000)\n"),
            "{text}"
        );
        assert!(!text.contains("fifty rules") && text.contains("[2] Be kind."), "{text}");
        assert_eq!(again(&ledger), ledger);
    }

    #[test]
    fn long_pastes_lose_their_middle_and_short_words_nothing() {
        let paste = format!("look at this\n{}\nand fix it", "log line\n".repeat(10_000));
        let ledger = noted(&["Never push.".into(), paste, "Be brief.".into()]);
        let text = ledger.text();
        for part in ["[1] Never push.", "look at this", "`read` history://00000001 …]", "and fix it", "[3] Be brief."]
        {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(text.len() < 2_000);
        assert_eq!(again(&again(&ledger)).text(), text);
    }

    #[test]
    fn what_is_too_much_even_so_is_pointed_to() {
        let ledger =
            noted(&(0..5_000).map(|at| format!("constraint number {at}: {}", "x".repeat(60))).collect::<Vec<_>>());
        let text = ledger.text();
        assert!(estimate_tokens(&text) < MOST + MOST / 4, "{}", estimate_tokens(&text));
        assert!(text.contains("still older messages: history://00000000..0000"), "{}", &text[..300]);
        assert!(text.contains("constraint number 4999:"));
    }

    #[test]
    fn odd_details_make_an_empty_ledger() {
        for details in [json!(null), json!({"ledger": 3}), json!({"ledger": [{"text": 1}]}), json!([])] {
            assert_eq!(Ledger::from_details(Some(&details)), Ledger::default(), "{details}");
        }
    }

    proptest! {
        #[test]
        fn short_words_survive_any_number_of_compactions(texts in prop::collection::vec("[a-zä\"<\\\\ \n]{1,80}", 0..60), parts in 1_usize..8) {
            let all = entries(&texts.iter().cloned().map(Line::User).collect::<Vec<_>>());
            let mut ledger = Ledger::default();
            for part in all.chunks(all.len().div_ceil(parts).max(1)) {
                ledger.note(part);
                ledger = again(&ledger);
            }
            let text = ledger.text();
            for said in texts.iter().filter(|said| !said.trim().is_empty()) {
                prop_assert!(text.contains(said.as_str()), "{said:?}");
            }
        }
    }
}

//! `/tree`, `/label` and `/branch`: show the conversation as a tree, label entries, and continue from another entry.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use omp_compaction::BranchNote;
use omp_session::{Session, SlashCommand, SlashReply, TreeNode, Wish, tree_text};

use crate::session::said_in_file;

/// Caps the lines shown of a tree; the newest are last.
const SHOWN: usize = 500;

pub struct TreeCommand;

impl SlashCommand for TreeCommand {
    fn name(&self) -> &str {
        "tree"
    }

    fn description(&self) -> &str {
        "Show the session tree, or continue from another entry"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[entry [summarize [how]]]")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let nodes = session.tree().map_err(|error| error.to_string())?;
            if arguments.is_empty() {
                return Ok(SlashReply::Text(shown(&nodes)));
            }
            let (entry, note) = with_note(arguments);
            let node = find(&nodes, entry)?;
            let leaf = if node.is_said_anew() { node.parent.clone() } else { Some(node.id.clone()) };
            session.go_to_with(leaf, note).await.map_err(|error| error.to_string())?;
            Ok(SlashReply::Text(match node.is_said_anew() {
                true => format!("the session continues before {}: {}", node.id, node.text),
                false => format!("the session continues after {}: {}", node.id, node.text),
            }))
        }
        .boxed()
    }
}

/// Parses `<entry> summarize <how>`. A label may contain spaces.
fn with_note(arguments: &str) -> (&str, BranchNote) {
    match arguments.split_once(" summarize") {
        Some((entry, how)) if how.is_empty() || how.starts_with(' ') => {
            let how = Some(how.trim().to_owned()).filter(|how| !how.is_empty());
            (entry.trim(), BranchNote::Summary(how))
        }
        _ => (arguments, BranchNote::AsSet),
    }
}

fn shown(nodes: &[TreeNode]) -> String {
    if nodes.is_empty() {
        return "this session has no messages yet".to_owned();
    }
    let hidden = nodes.len().saturating_sub(SHOWN);
    let note = if hidden > 0 { format!("… {hidden} earlier entries\n") } else { String::new() };
    note + tree_text(&nodes[hidden..]).trim_end()
}

/// Returns the only entry whose id begins with this text, or that has this label.
fn find<'a>(nodes: &'a [TreeNode], wanted: &str) -> Result<&'a TreeNode, String> {
    let labelled = nodes.iter().filter(|node| node.label.as_deref() == Some(wanted));
    let named = nodes.iter().filter(|node| node.id.as_str().starts_with(wanted));
    let mut found: Vec<&TreeNode> = labelled.chain(named).collect();
    found.dedup_by_key(|node| node.id.clone());
    match found.as_slice() {
        [one] => Ok(one),
        [] => Err(format!("this session has no entry `{wanted}`\nhint: /tree lists the entries")),
        many => Err(format!("`{wanted}` matches {} entries\nhint: give more of the id", many.len())),
    }
}

pub struct LabelCommand;

impl SlashCommand for LabelCommand {
    fn name(&self) -> &str {
        "label"
    }

    fn description(&self) -> &str {
        "Name an entry of the session tree, or remove its name"
    }

    fn arguments(&self) -> Option<&str> {
        Some("<entry> [name]")
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let (entry, name) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
            if entry.is_empty() {
                return Err("no entry given\nhint: usage: /label <entry> [name]; /tree lists the entries".to_owned());
            }
            let nodes = session.tree().map_err(|error| error.to_string())?;
            let node = find(&nodes, entry)?;
            let name = Some(name.trim()).filter(|name| !name.is_empty());
            session.label(&node.id, name).map_err(|error| error.to_string())?;
            Ok(SlashReply::Text(match name {
                Some(name) => format!("{} is now called {name}", node.id),
                None => format!("{} no longer has a name", node.id),
            }))
        }
        .boxed()
    }
}

pub struct BranchCommand;

impl SlashCommand for BranchCommand {
    fn name(&self) -> &str {
        "branch"
    }

    fn description(&self) -> &str {
        "Continue in a new session from an earlier message"
    }

    fn arguments(&self) -> Option<&str> {
        Some("[entry]")
    }

    fn switches_session(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, arguments: &'a str, session: &'a Session) -> BoxFuture<'a, Result<SlashReply, String>> {
        async move {
            let file = said_in_file(session).await?;
            let nodes = session.tree().map_err(|error| error.to_string())?;
            if arguments.is_empty() {
                let said: Vec<TreeNode> = nodes.into_iter().filter(|node| node.active && node.who == "user").collect();
                return Ok(SlashReply::Text(format!("{}\nhint: usage: /branch <entry>", shown(&said))));
            }
            let node = find(&nodes, arguments)?;
            let leaf = if node.is_said_anew() { node.parent.clone() } else { Some(node.id.clone()) };
            Ok(SlashReply::Switch(Wish::Branch { file, leaf }))
        }
        .boxed()
    }
}

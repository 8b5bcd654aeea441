//! The tree of the session: every entry on any branch that the session can return to.

use std::collections::HashMap;

use omp_session::{BranchPoint, EntryId, TreeFilter, TreeNode};
use omp_tui::{Input, Key, KeyCode, Line, ListWindow, Mods, Space, Token};

use super::field::Field;
use super::query::Query;
use super::sheet::{Sheet, one_line};
use super::{Dialog, DialogStep};
use crate::action::{Action, Chooser, Destination};
use crate::keymap::KeyContext;

/// Caps the indentation, so that room for text is left.
const DEEPEST: usize = 8;

/// The data that the tree shows.
#[derive(Clone, Debug, Default)]
pub struct TreeView {
    /// The nodes for each of [`TreeDialog::FILTERS`], in that order.
    pub trees: Vec<Vec<TreeNode>>,
    /// The user's messages in full; nodes contain only their beginning.
    pub points: Vec<BranchPoint>,
    /// The current entry of the session.
    pub leaf: Option<EntryId>,
}

#[derive(Debug)]
pub struct TreeDialog {
    view: TreeView,
    filter: usize,
    search: Field,
    folded: Vec<EntryId>,
    /// Indices of the visible nodes in the filtered tree.
    shown: Vec<usize>,
    /// The number of children of each node of the filtered tree.
    children: Vec<usize>,
    pointer: ListWindow,
    /// A label that is being typed.
    labelling: Option<Field>,
}

impl TreeDialog {
    pub const FILTERS: [TreeFilter; 5] =
        [TreeFilter::Default, TreeFilter::NoTools, TreeFilter::UserOnly, TreeFilter::LabeledOnly, TreeFilter::All];
    pub const FILTER_NAMES: [&'static str; 5] = ["default", "no-tools", "user-only", "labeled-only", "all"];
    /// Pressed with alt.
    const FILTER_KEYS: [char; 5] = ['d', 't', 'u', 'l', 'a'];

    pub fn new(mut view: TreeView) -> Self {
        view.trees.resize(Self::FILTERS.len(), Vec::new());
        let mut dialog = Self {
            view,
            filter: 0,
            search: Field::default(),
            folded: Vec::new(),
            shown: Vec::new(),
            children: Vec::new(),
            pointer: ListWindow::default(),
            labelling: None,
        };
        dialog.show();
        dialog.point_at_the_end();
        dialog
    }

    /// Selects an initial filter; an unknown name is ignored.
    pub fn filtered(mut self, name: &str) -> Self {
        if let Some(filter) = Self::FILTER_NAMES.iter().position(|known| *known == name) {
            self.filter = filter;
            self.show();
            self.point_at_the_end();
        }
        self
    }

    fn nodes(&self) -> &[TreeNode] {
        &self.view.trees[self.filter]
    }

    /// Recomputes the visible nodes.
    fn show(&mut self) {
        let query = Query::new(self.search.text());
        let nodes = &self.view.trees[self.filter];
        let mut children = vec![0; nodes.len()];
        let mut hidden = vec![false; nodes.len()];
        let mut shown = Vec::with_capacity(nodes.len());
        for (at, node) in nodes.iter().enumerate() {
            if let Some(above) = node.above {
                children[above] += 1;
                hidden[at] = hidden[above] || (!self.folded.is_empty() && self.folded.contains(&nodes[above].id));
            }
            // A search includes folded nodes.
            if query.is_empty() && !hidden[at] || !query.is_empty() && query.is_in(&searched(node)) {
                shown.push(at);
            }
        }
        (self.children, self.shown) = (children, shown);
        self.pointer.select(self.pointer.selected().min(self.shown.len().saturating_sub(1)));
    }

    /// Selects the current entry, or its nearest visible ancestor.
    fn point_at_the_end(&mut self) {
        let last = self.shown.iter().rposition(|at| self.nodes()[*at].active);
        self.pointer.select(last.unwrap_or(self.shown.len().saturating_sub(1)));
    }

    fn pointed(&self) -> Option<usize> {
        self.shown.get(self.pointer.selected()).copied()
    }

    fn set_filter(&mut self, filter: usize) -> DialogStep {
        let before = self.pointed().map(|at| self.nodes()[at].id.clone());
        self.filter = filter;
        self.show();
        let same = before.and_then(|id| self.shown.iter().position(|at| self.nodes()[*at].id == id));
        match same {
            Some(at) => self.pointer.select(at),
            None => self.point_at_the_end(),
        }
        DialogStep::Redraw
    }

    fn go(&self) -> DialogStep {
        let Some(node) = self.pointed().map(|at| &self.nodes()[at]) else { return DialogStep::Ignored };
        if self.view.leaf.as_ref() == Some(&node.id) {
            return DialogStep::Close(Some(Action::Tell("The session is already here.".to_owned())));
        }
        if !node.is_said_anew() {
            return goes(Some(node.id.clone()), None);
        }
        let whole = self.view.points.iter().find(|point| point.entry == node.id);
        let text = whole.map_or_else(|| node.text.clone(), |point| point.text.clone());
        goes(node.parent.clone(), Some(text))
    }

    /// A node can be folded where a branch begins or ends.
    fn can_fold(&self, at: usize) -> bool {
        let begins_branch = self.nodes()[at].above.is_none_or(|above| self.children[above] > 1);
        self.children[at] > 1 || (self.children[at] == 1 && begins_branch)
    }

    fn is_folded(&self, at: usize) -> bool {
        self.folded.contains(&self.nodes()[at].id)
    }

    fn fold_or_up(&mut self) -> DialogStep {
        let Some(at) = self.pointed() else { return DialogStep::Ignored };
        if self.can_fold(at) && !self.is_folded(at) {
            self.folded.push(self.nodes()[at].id.clone());
            self.show();
            return DialogStep::Redraw;
        }
        let above = self.shown[..self.pointer.selected()].iter().rposition(|at| self.can_fold(*at));
        self.pointer.select(above.unwrap_or(0));
        DialogStep::Redraw
    }

    fn unfold_or_down(&mut self) -> DialogStep {
        let Some(at) = self.pointed() else { return DialogStep::Ignored };
        if self.is_folded(at) {
            let id = self.nodes()[at].id.clone();
            self.folded.retain(|folded| *folded != id);
            self.show();
            return DialogStep::Redraw;
        }
        let next = self.pointer.selected() + 1;
        let below = self.shown.iter().skip(next).position(|at| self.can_fold(*at)).map(|below| next + below);
        self.pointer.select(below.unwrap_or(self.shown.len() - 1));
        DialogStep::Redraw
    }

    fn write_label(&mut self, input: &Input) -> DialogStep {
        let Some(field) = &mut self.labelling else { return DialogStep::Ignored };
        let Input::Key(key) = input else { return super::picked(field.input(input)) };
        if super::is_cancel(*key) {
            self.labelling = None;
            return DialogStep::Redraw;
        }
        if *key != Key::plain(KeyCode::Enter) {
            return super::picked(field.input(input));
        }
        let label = Some(field.text().trim().to_owned()).filter(|label| !label.is_empty());
        self.labelling = None;
        let Some(entry) = self.pointed().map(|at| self.nodes()[at].id.clone()) else { return DialogStep::Redraw };
        self.relabel(&entry, label.as_ref());
        DialogStep::Do(Action::Label { entry, label })
    }

    /// Updates the label in every tree, and the list of labelled nodes.
    fn relabel(&mut self, entry: &EntryId, label: Option<&String>) {
        let same = |tree: &mut Vec<TreeNode>| {
            tree.iter_mut().find(|node| node.id == *entry).map(|node| {
                node.label = label.cloned();
                node.clone()
            })
        };
        let labelled: Vec<_> = self.view.trees.iter_mut().filter_map(same).collect();
        let only = &mut self.view.trees[3];
        if label.is_none() {
            *only = without(std::mem::take(only), entry);
        } else if let Some(node) = labelled.first().filter(|_| !only.iter().any(|node| node.id == *entry)) {
            only.push(TreeNode { above: None, depth: 0, ..node.clone() });
        }
        self.show();
    }

    fn row(&self, at: usize, selected: bool, space: &Space<'_>) -> Line {
        let node = &self.nodes()[at];
        let theme = space.theme;
        let style = theme.fg(if selected { Token::Accent } else { Token::Text });
        let quiet = if selected { style } else { theme.fg(Token::Muted) };
        let fold = match (self.can_fold(at), self.is_folded(at)) {
            (_, true) => "▸ ",
            (true, false) => "▾ ",
            (false, false) => "  ",
        };
        let mut line = Line::styled(super::sheet::mark(selected), style);
        line.push("  ".repeat(node.depth.min(DEEPEST)), quiet).push(fold, quiet);
        line.push(if node.active { "• " } else { "" }, theme.fg(Token::Accent));
        if let Some(label) = &node.label {
            line.push(format!("[{}] ", one_line(label)), theme.fg(Token::Warning));
        }
        line.push(format!("{}: ", one_line(author(node))), quiet).push(one_line(&node.text), style);
        omp_tui::text::clip(line, space.width)
    }
}

fn goes(entry: Option<EntryId>, text: Option<String>) -> DialogStep {
    DialogStep::Close(Some(Action::GoTo(Destination { entry, text, chosen_in: Chooser::Tree })))
}

/// Removes a node; its children become roots.
fn without(nodes: Vec<TreeNode>, gone: &EntryId) -> Vec<TreeNode> {
    let mut places = HashMap::new();
    let mut kept: Vec<TreeNode> = Vec::with_capacity(nodes.len());
    for (at, mut node) in nodes.into_iter().enumerate() {
        if node.id != *gone {
            places.insert(at, kept.len());
            node.above = node.above.and_then(|above| places.get(&above).copied());
            kept.push(node);
        }
    }
    kept
}

/// Who or what an entry is from: the user, the model, a tool.
fn author(node: &TreeNode) -> &str {
    node.tool.as_deref().unwrap_or(&node.who)
}

fn searched(node: &TreeNode) -> String {
    format!("{} {} {}", node.label.as_deref().unwrap_or_default(), author(node), node.text).to_lowercase()
}

impl Dialog for TreeDialog {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let note = format!("{} of {} · {}", self.shown.len(), self.nodes().len(), Self::FILTER_NAMES[self.filter]);
        let mut sheet = Sheet::new(space, "Session tree", &note);
        let space = &sheet.inner();
        sheet.push(self.search.draw("> ", "type to search", space));
        sheet.section();
        if self.shown.is_empty() {
            sheet.muted(if self.nodes().is_empty() { "  Nothing here." } else { "  No matches." });
        }
        for at in self.pointer.visible(self.shown.len(), sheet.room()) {
            sheet.push(self.row(self.shown[at], at == self.pointer.selected(), space));
        }
        if let Some(field) = &mut self.labelling {
            sheet.unfocus();
            sheet.section();
            sheet.push(field.draw("Label: ", "none", space));
            return sheet.finish(&[("enter", "keep"), ("esc", "back")]);
        }
        let keys =
            [("enter", "go here"), ("esc", "close"), ("shift+l", "label"), ("ctrl+o", "filter"), ("alt+←→", "fold")];
        sheet.finish(&keys)
    }

    fn input(&mut self, input: &Input) -> DialogStep {
        if self.labelling.is_some() {
            return self.write_label(input);
        }
        let filters = Self::FILTERS.len();
        if let Input::Key(key) = input {
            match (key.mods, key.code) {
                (Mods::NONE, KeyCode::Escape) if !self.search.is_empty() => self.search.clear(),
                _ if super::is_cancel(*key) => return DialogStep::Close(None),
                (Mods::NONE, KeyCode::Enter) => return self.go(),
                (Mods::CTRL, KeyCode::Char('o')) => return self.set_filter((self.filter + 1) % filters),
                (mods, KeyCode::Char('o' | 'O')) if mods == Mods::CTRL.with(Mods::SHIFT) => {
                    return self.set_filter((self.filter + filters - 1) % filters);
                }
                (Mods::ALT, KeyCode::Char(char)) if Self::FILTER_KEYS.contains(&char) => {
                    return self.set_filter(Self::FILTER_KEYS.iter().position(|key| *key == char).unwrap_or(0));
                }
                (_, KeyCode::Char('L')) if key.typed().is_some() => return self.start_label(),
                (Mods::SHIFT, KeyCode::Char('l')) => return self.start_label(),
                (Mods::CTRL | Mods::ALT, KeyCode::Left) => return self.fold_or_up(),
                (Mods::CTRL | Mods::ALT, KeyCode::Right) => return self.unfold_or_down(),
                (Mods::NONE, KeyCode::Left) => return self.moved(KeyCode::PageUp),
                (Mods::NONE, KeyCode::Right) => return self.moved(KeyCode::PageDown),
                _ if self.pointer.key(key, self.shown.len()) => return DialogStep::Redraw,
                _ if !self.search.input(input) => return DialogStep::Ignored,
                _ => {}
            }
        } else if !self.search.input(input) {
            return DialogStep::Ignored;
        }
        self.show();
        DialogStep::Redraw
    }

    fn context(&self) -> KeyContext {
        KeyContext::Tree
    }
}

impl TreeDialog {
    fn start_label(&mut self) -> DialogStep {
        let Some(at) = self.pointed() else { return DialogStep::Ignored };
        self.labelling = Some(Field::with(self.nodes()[at].label.as_deref().unwrap_or_default()));
        DialogStep::Redraw
    }

    fn moved(&mut self, code: KeyCode) -> DialogStep {
        super::picked(self.pointer.key(&Key::plain(code), self.shown.len()))
    }
}

#[cfg(test)]
pub(super) mod tests;

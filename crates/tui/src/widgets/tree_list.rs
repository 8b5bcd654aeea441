//! A tree to select a node from. Branches can be folded; a chain of only children is not indented, and guides deeper than
//! the screen is wide are clipped at the left, so that labels always have room.

use omp_stdx::display_width;

use super::list_row::list_sign;
use super::{Fuzzy, ListRow, ListWindow, one_line};
use crate::component::{Component, Reaction, Space};
use crate::input::{Input, Key, KeyCode, Mods};
use crate::line::Line;
use crate::text::clip;
use crate::theme::{Symbol, Token};

const DEFAULT_ROWS: usize = 15;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeListNode {
    /// Index of the parent, which precedes this node; `None` for a root.
    pub parent: Option<usize>,
    pub label: String,
    pub detail: String,
    pub hint: String,
    /// The user's current position in the tree.
    pub current: bool,
}

#[derive(Clone, Debug, Default)]
pub struct TreeList {
    nodes: Vec<TreeListNode>,
    children: Vec<Vec<usize>>,
    folded: Vec<bool>,
    /// The matched graphemes of each label; `None` for nodes that the filter hides.
    hits: Vec<Option<Vec<u32>>>,
    /// Nothing is folded while there is a filter.
    filtering: bool,
    rows: Vec<TreeRow>,
    window: ListWindow,
    max_rows: Option<usize>,
    indent_chains: bool,
    empty: String,
}

/// A visible node.
#[derive(Clone, Copy, Debug)]
struct TreeRow {
    node: usize,
    /// Whether it has visible siblings, so that guides are drawn.
    branches: bool,
    is_last: bool,
    /// The row of its parent.
    parent: Option<usize>,
}

impl TreeList {
    pub fn new(nodes: Vec<TreeListNode>) -> Self {
        let mut children = vec![Vec::new(); nodes.len()];
        for (at, node) in nodes.iter().enumerate() {
            if let Some(parent) = node.parent.filter(|parent| *parent < at) {
                children[parent].push(at);
            }
        }
        let count = nodes.len();
        let mut tree = Self { nodes, children, folded: vec![false; count], ..Self::default() };
        tree.hits = vec![Some(Vec::new()); count];
        tree.empty = "Nothing matches".to_owned();
        tree.lay_out(None);
        if let Some(current) = tree.nodes.iter().position(|node| node.current) {
            tree.select(current);
        }
        tree
    }

    pub fn max_rows(mut self, rows: usize) -> Self {
        self.max_rows = Some(rows.max(1));
        self
    }

    pub fn empty_text(mut self, text: impl Into<String>) -> Self {
        self.empty = text.into();
        self
    }

    /// Indents only children as well.
    pub fn indent_chains(mut self) -> Self {
        self.indent_chains = true;
        self.lay_out(self.selected());
        self
    }

    /// Returns the index among all nodes.
    pub fn selected(&self) -> Option<usize> {
        self.rows.get(self.window.selected()).map(|row| row.node)
    }

    /// Selects a node and unfolds its ancestors.
    pub fn select(&mut self, node: usize) {
        let mut above = self.parent(node);
        while let Some(parent) = above {
            self.folded[parent] = false;
            above = self.parent(parent);
        }
        self.lay_out(Some(node));
    }

    /// Shows matching nodes and their ancestors.
    pub fn set_filter(&mut self, filter: &str) {
        let selected = self.selected();
        let entries = self.nodes.iter().map(|node| (node.label.as_str(), node.detail.as_str()));
        self.hits = vec![None; self.nodes.len()];
        self.filtering = !filter.is_empty();
        let found = Fuzzy::new(filter).filter(entries);
        let best = found.first().map(|found| found.index);
        for found in found {
            let mut above = self.parent(found.index);
            self.hits[found.index] = Some(found.graphemes);
            while let Some(parent) = above.filter(|parent| self.hits[*parent].is_none()) {
                self.hits[parent] = Some(Vec::new());
                above = self.parent(parent);
            }
        }
        self.lay_out(if self.filtering { best } else { selected });
    }

    pub fn is_folded(&self, node: usize) -> bool {
        self.folded.get(node).copied().unwrap_or_default()
    }

    /// Hides the descendants of the selected node. Returns whether there were any.
    pub fn fold(&mut self) -> bool {
        self.set_folded(true)
    }

    pub fn unfold(&mut self) -> bool {
        self.set_folded(false)
    }

    fn set_folded(&mut self, folded: bool) -> bool {
        let Some(node) = self.selected().filter(|node| !self.children[*node].is_empty()) else { return false };
        let changes = self.folded[node] != folded;
        self.folded[node] = folded;
        self.lay_out(Some(node));
        changes
    }

    fn parent(&self, node: usize) -> Option<usize> {
        self.nodes.get(node)?.parent.filter(|parent| *parent < node)
    }

    fn lay_out(&mut self, select: Option<usize>) {
        let is_shown = |node: &usize| self.hits[*node].is_some();
        let roots: Vec<usize> =
            (0..self.nodes.len()).filter(|node| self.parent(*node).is_none()).filter(is_shown).collect();
        let mut rows: Vec<TreeRow> = Vec::new();
        let mut waiting: Vec<TreeRow> = Vec::new();
        let push = |waiting: &mut Vec<TreeRow>, siblings: &[usize], parent: Option<usize>| {
            let branches = parent.is_some() && (siblings.len() > 1 || self.indent_chains);
            let family = siblings.iter().enumerate().rev();
            waiting.extend(family.map(|(at, node)| TreeRow {
                node: *node,
                branches,
                is_last: at + 1 == siblings.len(),
                parent,
            }));
        };
        push(&mut waiting, &roots, None);
        while let Some(row) = waiting.pop() {
            rows.push(row);
            if self.filtering || !self.folded[row.node] {
                let below: Vec<usize> = self.children[row.node].iter().copied().filter(is_shown).collect();
                push(&mut waiting, &below, Some(rows.len() - 1));
            }
        }
        self.rows = rows;
        let at = select.and_then(|node| self.rows.iter().position(|row| row.node == node));
        self.window.select(at.unwrap_or(0));
    }

    /// Returns the guides before a row, clipped at the left if they are too wide.
    fn guides(&self, at: usize, space: &Space<'_>) -> String {
        let symbols = space.theme.symbols();
        let (branch, last) = (symbols.get(Symbol::TreeBranch), symbols.get(Symbol::TreeLast));
        let through = display_width::pad(symbols.get(Symbol::TreeVertical), 3).into_owned();
        let mut parts: Vec<String> = Vec::new();
        let mut row = Some(at);
        let mut width = 0;
        while let Some(index) = row.filter(|_| width <= space.width / 2) {
            let TreeRow { branches, is_last, parent, .. } = self.rows[index];
            if branches {
                parts.push(match (index == at, is_last) {
                    (true, true) => format!("{last} "),
                    (true, false) => format!("{branch} "),
                    (false, true) => "   ".to_owned(),
                    (false, false) => through.clone(),
                });
                width += 3;
            }
            row = parent;
        }
        let is_cut = width > space.width / 2;
        if is_cut {
            parts.pop();
            parts.push("… ".to_owned());
        }
        parts.into_iter().rev().collect()
    }

    fn draw_row(&self, at: usize, space: &Space<'_>) -> Line {
        let node = &self.nodes[self.rows[at].node];
        let symbols = space.theme.symbols();
        let selected = at == self.window.selected();
        let mut line = Line::styled(list_sign(space, selected), space.theme.fg(Token::Accent));
        line.push(self.guides(at, space), space.theme.fg(Token::Dim));
        if !self.filtering && self.folded[self.rows[at].node] {
            line.push(format!("{} ", symbols.get(Symbol::NavExpand)), space.theme.fg(Token::Muted));
        }
        if node.current {
            line.push(format!("{} ", symbols.get(Symbol::StatusDone)), space.theme.fg(Token::Success));
        }
        let hits = self.hits[self.rows[at].node].as_deref().unwrap_or_default();
        let row = ListRow { selected, label: &node.label, hits, detail: &node.detail, hint: &node.hint };
        let taken = line.width().min(space.width);
        line.spans.extend(row.draw_bare(&space.narrower(taken), display_width::width(&node.label)).spans);
        clip(line, space.width)
    }

    /// Folds, or moves to the parent if there is nothing to fold.
    fn fold_or_up(&mut self) {
        if self.fold() {
            return;
        }
        if let Some(parent) = self.rows.get(self.window.selected()).and_then(|row| row.parent) {
            self.window.select(parent);
        }
    }

    fn unfold_or_down(&mut self) {
        if !self.unfold() && self.window.selected() + 1 < self.rows.len() {
            self.window.select(self.window.selected() + 1);
        }
    }
}

impl Component for TreeList {
    fn draw(&mut self, space: &Space<'_>) -> Vec<Line> {
        let rows = self.max_rows.unwrap_or(DEFAULT_ROWS).min(space.height.saturating_sub(4)).max(1);
        let visible = self.window.visible(self.rows.len(), rows);
        let mut lines: Vec<Line> = visible.map(|at| self.draw_row(at, space)).collect();
        if self.rows.is_empty() {
            let text = display_width::ellipsize(&one_line(&self.empty), space.width).into_owned();
            lines.push(Line::styled(text, space.theme.fg(Token::Muted)));
        }
        lines.extend(self.window.position(self.rows.len(), space));
        lines
    }

    fn input(&mut self, input: &Input) -> Reaction {
        let Input::Key(key) = input else { return Reaction::Ignored };
        let Key { code, mods } = *key;
        let folds = mods.is_empty() || mods == Mods::CTRL || mods == Mods::ALT;
        match code {
            KeyCode::Left if folds => self.fold_or_up(),
            KeyCode::Right if folds => self.unfold_or_down(),
            _ if self.window.key(key, self.rows.len()) => {}
            _ => return Reaction::Ignored,
        }
        Reaction::Taken
    }
}
